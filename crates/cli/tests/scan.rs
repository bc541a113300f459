//! `noesc scan`: what is read and what is skipped, statuses, places, forms, the baseline.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use std::ffi::OsStr;
use std::fs::{create_dir, create_dir_all};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use common::{Folder, escaped, fed, noesc, ran, spawned, status};
use scanning::{CRITICAL, HIGH, INFO, LOW, sarif_of, scanned, scanned_json};
use serde_json::json;

/// The scan of stdin, every finding shown: its lines without the summary.
#[track_caller]
fn lines_of(input: impl AsRef<[u8]>) -> Vec<String> {
    let ended = fed(noesc(["scan", "--show", "info", "-"]), input.as_ref());
    let mut lines: Vec<_> = ended.out().lines().map(str::to_owned).collect();
    assert!(lines.pop().unwrap().starts_with("scanned 1 file ("));
    lines
}

#[test]
fn every_severity_meets_every_level() {
    let folder = Folder::new("levels");
    let names = ["info", "low", "high", "critical"];
    for (name, bytes) in names.iter().zip([INFO, LOW, HIGH, CRITICAL]) {
        folder.write(name, bytes);
    }
    folder.write("none", "plain\ttext\r\n");
    for (i, found) in names.iter().enumerate() {
        for (j, level) in names.iter().enumerate() {
            let ended = scanned(&folder, &["--fail-on", level, found]);
            assert_eq!(ended.code(), i32::from(i >= j), "{found} {level}");
            // What does not fail is not shown, but counted.
            assert_eq!(ended.out().lines().count() > 1, i >= j, "{found} {level}");
            assert!(ended.out().contains(&format!(" {found}")), "{}", ended.out());
        }
        assert_eq!(scanned(&folder, &["--fail-on", "never", found]).code(), 0);
        assert_eq!(scanned(&folder, &[found]).code(), i32::from(i >= 2), "the default is high");
    }
    assert_eq!(scanned(&folder, &["--fail-on", "info", "none"]).code(), 0);
}

#[test]
fn a_line_for_each_kind_in_the_order_of_paths_and_a_summary() {
    let folder = Folder::new("human");
    folder.write("b", [HIGH, HIGH, HIGH, HIGH].concat());
    folder.write("a", [b"\n\n".as_slice(), LOW].concat());
    create_dir(folder.path("a.d")).unwrap();
    folder.write("a.d/c", "\u{430}dmin\n");
    scanned(&folder, &["--show", "low", "."]).is(
        "a:3:2: low: erase: a sequence erases text\n\
         a.d/c:1:1: high: mixed-script: a word passes for Latin, with letters of another script \
         in it\n\
         b:1:3: high: clipboard-write: a sequence writes the clipboard (3 more)\n\
         scanned 3 files (76 bytes); found 5 high, 1 low\n",
        "",
        1,
    );
    scanned(&folder, &["--show", "critical", "a"]).is(
        "scanned 1 file (9 bytes); found 1 low (not shown)\n",
        "",
        0,
    );
    scanned(&folder, &["a", "./a", "a"]).is(
        "scanned 1 file (9 bytes); found 1 low (not shown)\n",
        "",
        0,
    );
}

#[test]
fn the_log_has_a_summary_whatever_the_form_unless_it_is_quiet() {
    let folder = Folder::new("quiet");
    folder.write("f", HIGH);
    folder.write("g", LOW);
    let line = "f:1:3: high: clipboard-write: a sequence writes the clipboard\n";
    for format in ["json", "sarif"] {
        let ended = scanned(&folder, &["--format", format, "."]);
        let said = "noesc: scanned 2 files (22 bytes); found 1 high, 1 low (not shown)\n";
        assert_eq!((ended.err(), ended.code()), (said, 1));
        for flag in ["-q", "--quiet"] {
            let quiet = scanned(&folder, &[flag, "--format", format, "."]);
            assert_eq!((quiet.out(), quiet.err(), quiet.code()), (ended.out(), "", 1));
        }
    }
    scanned(&folder, &["-q", "."]).is(line, "", 1);
    scanned(&folder, &["-q", "g"]).is("", "", 0);
    let said = "noesc: error: can not read \"gone\": no such file or folder\n";
    assert!(scanned(&folder, &["-q", "g", "gone"]).err().starts_with(said));
}

#[test]
fn lines_and_columns_are_those_of_a_lossy_reader() {
    let erase = "low: erase: a sequence erases text";
    for (input, place) in [
        (&b"\x1b[K"[..], "1:1"),
        (b"\n\n\x1b[K", "3:1"),
        (b"a\r\n\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\x1b[K\n", "2:4"),
        (b"e\xcc\x81\t\x1b[K", "1:4"),
        (b"\xe2\x80\xe2\x80\xff\x1b[K", "1:4"), // two cut characters and a byte that is none
        (b"one\rtwo\x1b[K", "1:8"),             // a CR ends no line
    ] {
        let lines = lines_of(input);
        let wanted = format!("-:{place}: {erase}");
        assert!(lines.contains(&wanted), "{}: {lines:?}", escaped(input));
    }
}

#[test]
fn places_have_offsets_and_ends() {
    let folder = Folder::new("places");
    folder.write("f", "\u{e9}\n x \u{430}\u{200b}dmin, y\n\x1b]0;\u{e9}\nb\x07\n");
    let log = scanned_json(&folder, &["--show", "low", "f"]);
    let findings = &log["files"][0]["findings"];
    let at = |kind: &str| {
        let all = findings.as_array().unwrap();
        let found =
            all.iter().find(|found| found["kind"] == kind).unwrap_or_else(|| panic!("{kind}"));
        assert_eq!(found["count"], 1);
        found["places"][0].clone()
    };
    // What is unseen in a word neither parts it nor shifts it.
    assert_eq!(
        at("mixed-script"),
        json!({ "line": 2, "column": 4, "end_line": 2, "end_column": 10, "offset": 6, "length": 9 })
    );
    assert_eq!(
        at("invisible-zero-width"),
        json!({ "line": 2, "column": 5, "end_line": 2, "end_column": 6, "offset": 8, "length": 3 })
    );
    assert_eq!(
        at("held-back-lines"),
        json!({ "line": 3, "column": 1, "end_line": 4, "end_column": 3, "offset": 19, "length": 9 })
    );
    assert_eq!(log["summary"]["found"]["critical"], 1);
    assert_eq!(log["schema"], "noesc.scan/1");
}

#[test]
fn nothing_of_the_input_is_in_what_is_printed() {
    let folder = Folder::new("payload");
    folder.write("f", b"\x1b]52;c;SECRET\x07 \x1b]0;SECRET\x07 SECRET\xd0\xb0\n");
    for format in ["human", "json", "sarif"] {
        let ended = scanned(&folder, &["--show", "info", "--format", format, "f"]);
        assert!(!ended.out().contains("SECRET"), "{format}");
        assert!(ended.out().contains("clipboard-write"), "{format}");
    }
}

#[test]
fn hidden_files_are_scanned_and_ignore_files_only_respected_when_asked() {
    let folder = Folder::new("hidden");
    create_dir_all(folder.path(".git/hooks")).unwrap();
    create_dir(folder.path(".hidden")).unwrap();
    folder.write(".git/hooks/pre-push", HIGH);
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    folder.write(".hidden/.file", HIGH);
    folder.write(".gitignore", "build\n");
    folder.write("build", HIGH);
    let paths = |arguments: &[&str]| -> Vec<String> {
        let log = scanned_json(&folder, arguments);
        let files = log["files"].as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&["."]), [".git/hooks/pre-push", ".hidden/.file", "build"]);
    assert_eq!(paths(&["--respect-ignore", "."]), [".git/hooks/pre-push", ".hidden/.file"]);
    // Who names a file wants it scanned.
    assert_eq!(paths(&["--respect-ignore", "build"]), ["build"]);
}

#[test]
fn objects_of_git_are_skipped_and_nothing_that_hides_among_them() {
    let folder = Folder::new("objects");
    for store in ["work/.git", "bare"] {
        create_dir_all(folder.path(format!("{store}/objects/0a"))).unwrap();
        create_dir_all(folder.path(format!("{store}/objects/pack"))).unwrap();
        create_dir(folder.path(format!("{store}/refs"))).unwrap();
        folder.write(format!("{store}/HEAD"), "ref: refs/heads/main\n");
        let name = "1".repeat(38);
        folder.write(format!("{store}/objects/0a/{name}"), HIGH);
        folder.write(format!("{store}/objects/pack/pack-{}.pack", "2".repeat(40)), HIGH);
        folder.write(format!("{store}/objects/0a/evil.md"), HIGH);
    }
    // The same names where there is no store.
    create_dir_all(folder.path("plain/objects/0a")).unwrap();
    folder.write(format!("plain/objects/0a/{}", "1".repeat(38)), HIGH);
    let log = scanned_json(&folder, &["."]);
    assert_eq!(log["summary"]["skipped"]["stored"], 4);
    let files = log["files"].as_array().unwrap();
    let paths: Vec<_> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    let object = format!("plain/objects/0a/{}", "1".repeat(38));
    let evil = ["bare/objects/0a/evil.md", &object, "work/.git/objects/0a/evil.md"];
    assert_eq!(paths, evil);
}

#[test]
fn a_repository_that_git_made_has_a_store() {
    let folder = Folder::new("git");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        command.args(arguments).current_dir(&folder.0);
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", escaped(&output.stderr));
    };
    git(&["init", "-q", "."]);
    folder.write("file", "text\n");
    git(&["add", "file"]);
    git(&["commit", "-q", "-m", "one"]);
    assert_eq!(scanned_json(&folder, &["."])["summary"]["skipped"]["stored"], 3);
    git(&["gc", "-q"]);
    let packed = scanned_json(&folder, &["."]);
    assert!(packed["summary"]["skipped"]["stored"].as_u64().unwrap() >= 2, "{packed}");
    assert_eq!(packed["summary"]["found"]["high"], 0);
}

#[test]
fn binary_is_a_nul_within_the_first_8_kib() {
    let folder = Folder::new("binary");
    let with_nul_at = |at: usize| [&b"x".repeat(at)[..], b"\0", HIGH].concat();
    for (at, binary) in [(0, 1), (8190, 1), (8191, 1), (8192, 0), (8193, 0)] {
        folder.write("f", with_nul_at(at));
        let log = scanned_json(&folder, &["f"]);
        assert_eq!(log["summary"]["skipped"]["binary"], binary, "{at}");
        assert_eq!(log["summary"]["files"], 1 - binary, "{at}");
        assert_eq!(log["summary"]["found"]["high"], 1 - binary, "{at}");
    }
}

#[test]
fn noise_is_binary_and_a_text_before_it_is_not() {
    let folder = Folder::new("noise");
    // Every byte but NUL: ENQ and words of mixed script are there by chance.
    let mut seed = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    })
    .filter(|&byte| byte != 0)
    .take(8192)
    .collect();
    for len in [64, 768, 8192] {
        folder.write("f", &noise[..len]);
        assert_eq!(scanned_json(&folder, &["f"])["summary"]["skipped"]["binary"], 1, "{len}");
    }
    folder.write("f", [HIGH, &b"x".repeat(8192), &noise].concat());
    let log = scanned_json(&folder, &["f"]);
    assert_eq!(log["summary"]["skipped"]["binary"], 0);
    assert!(log["summary"]["found"]["high"].as_u64() >= Some(1), "{log}");
    // Neither ill-formed bytes nor controls alone make a text binary.
    let (koi8, controls) = (b"\xd0\xd2\xc9\xd7\xc5\xd4 ".repeat(99), b"\x01".repeat(99));
    for text in [koi8, controls] {
        folder.write("f", [HIGH, &text].concat());
        assert_eq!(scanned_json(&folder, &["f"])["summary"]["found"]["high"], 1);
    }
}

#[test]
fn utf_16_with_a_bom_is_decoded() {
    let folder = Folder::new("utf-16");
    let text = "\u{e9}\nx \u{430}dmin\u{1b}[2K\n";
    let units: Vec<u16> = std::iter::once(0xFEFF).chain(text.encode_utf16()).collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    for (bytes, name) in [(little, "utf-16le"), (big, "utf-16be")] {
        folder.write("f", bytes);
        scanned(&folder, &["--show", "low", "f"]).is(
            "f:2:3: high: mixed-script: a word passes for Latin, with letters of another script \
             in it\n\
             f:2:8: low: erase: a sequence erases text\n\
             f:byte 0: low: utf-16-suspected: the text looks like UTF-16, in the bytes as they \
             are\nscanned 1 file (30 bytes); found 1 high, 2 low\n",
            "",
            1,
        );
        assert_eq!(scanned_json(&folder, &["f"])["files"][0]["encoding"], name);
        // Offsets into the decoded text are none of the file.
        let sarif = sarif_of(&folder, &["f"]);
        let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(
            region,
            &json!({ "startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 8 })
        );
    }
    folder.write("f", b"\xff\xfe\0\0x\0\0\0");
    assert_eq!(scanned_json(&folder, &["f"])["summary"]["skipped"]["binary"], 1);
}

#[test]
fn links_are_followed_only_where_they_are_named() {
    let folder = Folder::new("links");
    create_dir(folder.path("d")).unwrap();
    folder.write("d/file", HIGH);
    symlink(".", folder.path("d/loop")).unwrap();
    symlink("file", folder.path("d/link")).unwrap();
    symlink("nothing", folder.path("d/dangling")).unwrap();
    symlink("d", folder.path("to-d")).unwrap();
    symlink("d/file", folder.path("to-file")).unwrap();
    for (root, file) in [("d", "d/file"), ("to-d", "to-d/file")] {
        scanned(&folder, &[root]).is(
            &format!(
                "{file}:1:3: high: clipboard-write: a sequence writes the clipboard\n\
                 scanned 1 file (15 bytes); skipped 3 symlinks; found 1 high\n"
            ),
            "",
            1,
        );
    }
    assert!(scanned(&folder, &["to-file"]).out().starts_with("to-file:1:3: high: "));
}

#[test]
fn pipes_devices_and_sockets_are_never_waited_for() {
    let folder = Folder::new("special");
    let made = Command::new("mkfifo").arg(folder.path("fifo")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(folder.path("socket")).unwrap();
    folder.write("file", HIGH);
    let said = "scanned 1 file (15 bytes); skipped 2 special; found 1 high\n";
    assert!(scanned(&folder, &["."]).out().ends_with(said));
    scanned(&folder, &["fifo", "/dev/null"]).is(
        "scanned 0 files (0 bytes); skipped 2 special; found nothing\n",
        "",
        0,
    );
}

#[test]
fn what_can_not_be_read_gives_2_after_the_rest_was_scanned() {
    let folder = Folder::new("unread");
    folder.write("file", HIGH);
    symlink("nothing", folder.path("dangling")).unwrap();
    let said = "file:1:3: high: clipboard-write: a sequence writes the clipboard\n\
                scanned 1 file (15 bytes); could not read 3; found 1 high\n";
    let errors = "noesc: error: can not read \"dangling\": no such file or folder\n\
                  noesc: error: can not read \"file/x\": a part of the path is no folder\n\
                  noesc: error: can not read \"gone\\x1b[m\": no such file or folder\n\
                  noesc: hint: \"noesc scan .\" scans all below this folder, \"noesc scan -\" \
                  scans stdin\n";
    let paths = ["gone\x1b[m", "file", "dangling", "file/x"];
    scanned(&folder, &paths).is(said, errors, 2);
    scanned(&folder, &[&["--fail-on", "never"], &paths[..]].concat()).is(said, errors, 2);
    let log = scanned_json(&folder, &paths);
    assert_eq!(log["unread"][0], json!({ "path": "dangling", "reason": "no such file or folder" }));
    assert_eq!(log["summary"]["unread"], 3);
}

#[test]
fn a_file_and_a_folder_without_permission_are_told() {
    let folder = Folder::new("permission");
    create_dir(folder.path("d")).unwrap();
    folder.write("d/file", HIGH);
    folder.write("secret", HIGH);
    folder.write("open", HIGH);
    let mode = |name: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    mode("open", 0o644);
    mode("d", 0);
    mode("secret", 0);
    let mut command = noesc(["scan", "."]);
    if std::fs::File::open(folder.path("secret")).is_ok() {
        // Nothing stops root: another user scans, with a copy where that user can run it.
        use std::os::unix::process::CommandExt;
        mode(".", 0o755);
        command = Command::new(folder.copy_of_noesc());
        command.args(["scan", "."]).uid(65534).gid(65534);
    }
    command.current_dir(&folder.0);
    let ended = ran(command);
    mode("d", 0o755);
    assert_eq!(
        ended.err(),
        "noesc: error: can not read \"d\": permission denied\n\
         noesc: error: can not read \"secret\": permission denied\n"
    );
    assert!(ended.out().starts_with("open:1:3: high: "), "{}", ended.out());
    assert_eq!(ended.code(), 2);
}

#[test]
fn names_are_escaped_whatever_they_hold() {
    let folder = Folder::new("names");
    let names: [(&[u8], &str, &str); 4] = [
        (b"a\x1b]0;x\x07", r"a\x1b]0;x\x07", "a%1B%5D0%3Bx%07"),
        (b"b\xff", r"b\xff", "b%FF"),
        (b"c\n:1:1: high", r"c\x0a:1:1: high", "c%0A%3A1%3A1%3A%20high"),
        (b"d\xe2\x80\x8e", r"d\xe2\x80\x8e", "d%E2%80%8E"),
    ];
    for (name, ..) in names {
        folder.write(OsStr::from_bytes(name), HIGH);
    }
    let human = scanned(&folder, &["."]);
    let log = scanned_json(&folder, &["."]);
    let sarif = sarif_of(&folder, &["."]);
    for (i, (_, shown, uri)) in names.iter().enumerate() {
        let line = human.out().lines().nth(i).unwrap();
        assert!(line.starts_with(&format!("{shown}:1:3: high: clipboard")), "{line:?}");
        assert_eq!(log["files"][i]["path"], *shown);
        let place = &sarif["runs"][0]["results"][i]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], *uri);
    }
}

#[test]
fn stdin_is_a_file_of_its_own() {
    let ended = fed(noesc(["scan", "-"]), &[b"\n".as_slice(), HIGH].concat());
    ended.is(
        "-:2:3: high: clipboard-write: a sequence writes the clipboard\n\
         scanned 1 file (16 bytes); found 1 high\n",
        "",
        1,
    );
    fed(noesc(["scan", "-"]), b"").is("scanned 1 file (0 bytes); found nothing\n", "", 0);
    // More than what is read whole, with the finding at its end.
    let large = [b"plain text\n".repeat(200_000), HIGH.to_vec()].concat();
    let ended = fed(noesc(["scan", "-"]), &large);
    assert!(ended.out().starts_with("-:200001:3: high: clipboard-write: "), "{}", ended.out());
}

/// Files of every size around the limit below which they are read whole.
#[test]
fn a_large_file_is_scanned_as_a_small_one() {
    let folder = Folder::new("large");
    let end = "x \u{430}dmin \x1b]52;c;aGk=\x07\n";
    let chunk = 256 * 1024;
    for len in [chunk - 9, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 * chunk - 7, 5 * chunk - 3] {
        // Characters of three bytes, so that some are cut by a chunk's end.
        let mut text = "\u{2014}".repeat((len - end.len()) / 3);
        text.push_str(&"-".repeat(len - end.len() - text.len()));
        let column = text.chars().count() + 3;
        text.push_str(end);
        assert_eq!(text.len(), len);
        folder.write("f", &text);
        let log = scanned_json(&folder, &["f"]);
        let findings = log["files"][0]["findings"].as_array().unwrap();
        let word = &findings[0]["places"][0];
        assert_eq!(findings.len(), 2, "{len}");
        assert_eq!((&word["line"], &word["column"]), (&json!(1), &json!(column)), "{len}");
        assert_eq!(word["offset"], json!(len - end.len() + 2), "{len}");
        assert_eq!(log["summary"]["bytes"], json!(len));
        // Letters of the set alone: the boundary is not asked.
        folder.write("f", text.replace(['\x1b', '\x07'], " "));
        let word = scanned_json(&folder, &["f"])["files"][0]["findings"][0].clone();
        assert_eq!(word["places"][0]["column"], json!(column), "{len}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_flat_whatever_the_size() {
    let folder = Folder::new("flat");
    let clean = b"plain text, and a little more of it\n".repeat(1 << 20);
    let dirty = "\u{430}dmin \x1b[31m\u{200b}\x1b]0;x\x07".repeat(800 << 10);
    folder.write("clean", &clean);
    folder.write("dirty", &dirty);
    drop((clean, dirty));
    let mut command = noesc(["scan", "."]);
    command.current_dir(&folder.0);
    let mut child = spawned(command);
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = peak.max(kib.unwrap_or(0_u64));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(status(&mut child).code(), Some(1));
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    assert!(peak > 1024 && peak < 16 * 1024 + threads * 4 * 1024, "{peak} KiB");
}

#[test]
fn a_grave_word_is_listed_whatever_stands_before_it() {
    let folder = Folder::new("grave");
    folder.write("f", format!("{}\u{430}dmin\n", "\u{3b1}max\n".repeat(20)));
    scanned(&folder, &["f"]).is(
        "f:21:1: high: mixed-script: a word passes for Latin, with letters of another script in \
         it\nscanned 1 file (127 bytes); found 1 high, 20 low (not shown)\n",
        "",
        1,
    );
}

/// Another encoding makes words by chance; a few stray bytes do not make another encoding.
#[test]
fn words_in_what_is_hardly_utf_8_are_low() {
    let severity = |ill_formed: usize, well_formed: usize| {
        let text = [
            b"\xa4 ".repeat(ill_formed),
            "\u{e9} ".repeat(well_formed).into_bytes(),
            "\u{430}dmin\n".into(),
        ];
        let lines = lines_of(text.concat());
        let line = lines.iter().find(|line| line.contains("mixed-script")).unwrap();
        line.split(": ").nth(1).unwrap().to_owned()
    };
    assert_eq!(severity(31, 0), "high");
    assert_eq!(severity(32, 0), "low");
    assert_eq!(severity(33, 31), "low");
    assert_eq!(severity(33, 32), "high");
}

#[test]
fn ill_formed_text_names_the_encoding_it_may_be_in() {
    let lines = lines_of(b"na\xefve, caf\xe9, d\xe9j\xe0 vu, gar\xe7on\n");
    assert_eq!(
        lines,
        ["-:1:3: low: encoding-suspected: ill-formed UTF-8, perhaps windows-1252 (4 more)"]
    );
}

/// The first example of the guide, as the guide shows it.
#[test]
fn the_guide_shows_what_is_printed() {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scan.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let folder = Folder::new("guide");
    let block = |start: &str| {
        let text = guide.split_once(&format!("\n```{start}\n")).unwrap().1;
        text.split_once("```\n").unwrap().0.to_owned()
    };
    let made = Command::new("sh").args(["-c", &block("sh")]).current_dir(&folder.0).status();
    assert!(made.unwrap().success());
    let mut command = noesc(["scan", "."]);
    command.current_dir(folder.path("sample"));
    let ended = ran(command);
    assert_eq!(format!("$ noesc scan .\n{}", ended.out()), block("text"));
}

/// The hook that others use names what there is.
#[test]
fn the_hook_scans_the_files_it_is_given() {
    let hooks = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.pre-commit-hooks.yaml");
    let hooks = std::fs::read_to_string(hooks).unwrap();
    let value = |key: &str| {
        let line = hooks.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        line.trim().to_owned()
    };
    assert_eq!(value("entry:"), "noesc scan");
    assert_eq!(value("args:"), "[\"--\"]");
    let folder = Folder::new("hook");
    folder.write("-q", HIGH);
    let ended = scanned(&folder, &["--", "-q"]);
    assert!(ended.out().starts_with("-q:1:3: high: "), "{}", ended.out());
}

#[test]
fn what_several_paths_reach_is_scanned_once() {
    let folder = Folder::new("scan-once");
    create_dir_all(folder.path("a/b")).unwrap();
    folder.write("a/b/f", HIGH);
    folder.write("g", LOW);
    symlink("g", folder.path("link")).unwrap();
    let absolute = folder.name("g");
    for (paths, wanted) in [
        (&["g", "./g", "g", &absolute, "link"][..], 1),
        (&[".", "."], 2),
        (&[".", &folder.name("")], 2),
        (&[".", "g"], 2),
        (&["g", "."], 2),
        (&[".", "a/b"], 2),
        (&["a/b/f", "a", "a/b"], 1),
        (&["a", "a/../a/b/f"], 1),
    ] {
        let log = scanned_json(&folder, &[&["--show", "info"], paths].concat());
        assert_eq!(log["summary"]["files"], wanted, "{paths:?}");
        assert_eq!(log["files"].as_array().unwrap().len(), wanted, "{paths:?}");
    }
    // Under the first name that was given, and the same each time.
    let log = scanned_json(&folder, &["--show", "info", "link", "g", "."]);
    assert_eq!(log["files"][1]["path"], "link");
    // A path that is given is scanned, whatever ignores it.
    folder.write(".ignore", "g");
    let log = scanned_json(&folder, &["--respect-ignore", "--show", "info", ".", "g"]);
    assert_eq!(log["files"].as_array().unwrap().len(), 2);
}

//! `noesc filter`, `audit` and `unaudit`: bytes in, a view out.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use common::{Folder, fed, filtered, json, noesc, ran, see, shell, signal, spawned, status};
use serde_json::{Value, json};

#[test]
fn each_setting_does_what_it_says() {
    let style = "\x1b[1mb\x1b[0m";
    let cr = "10%\r50%\r100%\ndone\n";
    let invisible = "a\u{202e}b\u{200b}c";
    let hidden = "a\x1b[8mb\x1b[0mc";
    let kept = ["--style", "keep"].as_slice();
    for (flags, input, view) in [
        (&[][..], "", ""),
        (&[], style, "b"),
        (&["--profile", "agent"], style, "b"),
        (&["--profile", "display"], style, style),
        (&["--profile", "audit"], style, r"\x1b[1mb\x1b[0m"),
        (&["--mark"], style, "\u{241b}b\u{241b}"),
        (&["--removed", "mark"], style, "\u{241b}b\u{241b}"),
        (&["--removed", "visualize"], style, "\u{241b}b\u{241b}"),
        (&["--removed", "strip"], style, "b"),
        (&[], cr, "10%\n50%\n100%\ndone\n"),
        (&["--cr", "newline"], cr, "10%\n50%\n100%\ndone\n"),
        (&["--cr", "collapse"], cr, "10%\n100%\ndone\n"),
        (&["--cr", "overwrite"], cr, "100%\ndone\n"),
        (&["--cr", "drop"], cr, "10%50%100%\ndone\n"),
        (&["--cr", "mark"], cr, "10%\u{241b}50%\u{241b}100%\ndone\n"),
        (&["--profile", "display", "--cr", "newline"], cr, "10%\n50%\n100%\ndone\n"),
        (&["--invisible", "drop"], invisible, "abc"),
        (&["--invisible", "show"], invisible, "a<U+202E>bc"),
        (&["--invisible", "keep"], invisible, invisible),
        (kept, style, style),
        (&["--profile", "display", "--style", "remove"], style, "b"),
        (kept, "\x1b[1mb", "\x1b[1mb\x1b[0m"),
        (kept, hidden, "ab\x1b[0mc"),
        (&["--style", "keep", "--conceal", "sequence"], "\x1b[1;8mb", "b"),
        (&["--style", "keep", "--conceal", "parameter"], "\x1b[1;8mb", "\x1b[1mb\x1b[0m"),
        (&["--separators", "newline"], "a\x0bb\x0cc\u{2028}d", "a\nb\nc\nd"),
        (&["--separators", "drop"], "a\x0bb\x0cc\u{2028}d", "abcd"),
        (&["--hidden-text", "keep"], hidden, "abc"),
        (&["--hidden-text", "mark"], hidden, "a\u{27e6}b\u{27e7}c"),
        (&["--profile", "display", "--off"], "\x1b]0;x\x07a", "\x1b]0;x\x07a"),
        (&["--no-config"], style, "b"),
    ] {
        let ended = filtered(&[&["-q"], flags].concat(), input);
        assert_eq!((ended.out(), ended.err(), ended.code()), (view, "", 0), "{flags:?}");
    }
}

#[test]
fn off_closes_a_style_all_the_same() {
    let ended = filtered(&["--profile", "display", "--off"], "\x1b[31mred");
    assert_eq!(ended.out(), "\x1b[31mred\x1b[0m");
}

#[test]
fn input_in_a_declared_encoding() {
    for (label, input, view) in [
        ("gbk", &b"\xC4\xE3\xBA\xC3\n"[..], "你好\n"),
        ("GB18030", b"\xC4\xE3", "你"),
        ("shift_jis", b"\x93\xfa\x96\x7b", "日本"),
        ("euc-kr", b"\xc7\xd1", "한"),
        ("windows-1252", b"caf\xe9 \x80", "café €"),
        ("latin1", b"caf\xe9", "café"),
        ("utf-16le", b"o\0k\0\n\0", "ok\n"),
        ("utf-16be", b"\0o\0k\0\n", "ok\n"),
        ("utf-8", "é".as_bytes(), "é"),
        ("UTF8", "é".as_bytes(), "é"),
        // A second byte that is an introducer's, and a control among the characters.
        ("shift_jis", b"\x83\x5b\x1b[31mx", "ゼx"),
        ("gbk", b"\xC4\xE3\x1b]0;t\x07\xBA\xC3", "你好"),
        // Controls that only exist once decoded.
        ("utf-16le", b"\x1b\0]\x000\0;\0t\0\x07\0o\0k\0", "ok"),
        ("iso-8859-2", b"a\x9b31mb", "ab"),
        // What the encoding does not have.
        ("gbk", b"a\xC4\n", "a\u{fffd}\n"),
        ("utf-16le", b"a\0b", "a\u{fffd}"),
    ] {
        let ended = filtered(&["-q", "--encoding", label], input);
        assert_eq!((ended.out(), ended.err(), ended.code()), (view, "", 0), "{label} {input:?}");
    }
}

/// The report of `noesc filter` with these flags, and its view.
fn report(flags: &[&str], input: impl AsRef<[u8]>) -> (Value, String) {
    let name: String = std::thread::current().name().unwrap().to_owned();
    let folder = Folder::new(&name);
    let path = folder.name("report");
    let ended = filtered(&[flags, &["-q", "--report", &path]].concat(), input);
    assert_eq!((ended.err(), ended.code()), ("", 0));
    (json(path.as_ref()), ended.out().to_owned())
}

#[test]
fn the_report_counts_and_never_quotes() {
    let (report, view) = report(&[], b"\x1b[1ma\x07\x1b]0;SECRET\x07\x1b]52;c;SECRET\x07\xff\rb\n");
    assert_eq!(view, "a\u{fffd}\nb\n");
    assert!(!report.to_string().contains("SECRET"));
    let wanted = json!({
        "removed": {"bytes": 34, "sequences": 3, "controls": 2, "characters": 0},
        "classes": {"csi": 1, "osc": 2},
        "kinds": {"clipboard-write": 1, "style": 1, "window-title": 1},
        "controls": {"bel": 1, "cr": 1},
        "endings": {"complete": 3},
        "ill_formed": 1,
        "held_back": {"bytes": 19, "lines": 0},
    });
    for (key, value) in wanted.as_object().unwrap() {
        if key != "removed" {
            assert_eq!(&report[key], value, "{key}: {report}");
        }
    }
    let kinds: Vec<_> = report["findings"].as_array().unwrap().iter().collect();
    assert_eq!(kinds[0]["kind"], "clipboard-write");
    assert_eq!(kinds[0]["severity"], "high");
    assert_eq!(kinds[0]["spans"], json!([[17, 14]]));
}

#[test]
fn nothing_to_report_is_an_empty_object() {
    assert_eq!(report(&[], "a\tb\n").0, json!({}));
    assert_eq!(report(&[], "").0, json!({}));
}

#[test]
fn an_encoding_that_nobody_declared_is_named_and_not_used() {
    let text = "Le café était fermé, et la forêt déjà dorée à l'été.\n";
    let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    let (found, view) = report(&[], &bytes);
    assert!(view.starts_with("Le caf\u{fffd} "));
    let finding = &found["findings"][0];
    assert_eq!(finding["kind"], "encoding-suspected");
    assert_eq!(finding["severity"], "low");
    assert_eq!(finding["encoding"], "windows-1252");
    let (declared, view) = report(&["--encoding", "windows-1252"], &bytes);
    assert_eq!((declared, view.as_str()), (json!({}), text));
    let wide: Vec<u8> = "plain text\n".bytes().flat_map(|b| [b, 0]).collect();
    let (found, _) = report(&[], wide);
    assert_eq!(found["findings"][0]["kind"], "utf-16-suspected");
}

#[test]
fn a_grave_finding_is_told_on_stderr() {
    let grave = "\x1b]52;c;YQ==\x07a\x1b]52;c;YQ==\x07\n";
    let said = "noesc: high: clipboard-write ×2, first at byte 0\n";
    filtered(&[], grave).is("a\n", said, 0);
    filtered(&["--quiet"], grave).is("a\n", "", 0);
    // A string that held lines back is the gravest.
    let ended = filtered(&[], "a\x1b_x\ny\nz\x1b\\b\n");
    assert!(ended.err().starts_with("noesc: critical: held-back-lines"), "{:?}", ended.err());
    assert_eq!(ended.err().lines().count(), 1);
    // A payload, however long or hostile, is no part of it.
    let ended = filtered(&[], "\x1b]52;c;noesc: \u{202e}\x1b]9;x");
    assert_eq!(ended.err().lines().count(), 1);
    assert!(!ended.err().contains('\u{202e}') && !ended.err().contains('\x1b'));
    // And what terminals act on all day is not worth a word.
    let harmless = "\x1b]0;t\x07\x1b[1;31mx\x1b[0m\x1b[2K\r\x1b[1A\x1b]8;;u\x07y\u{200b}\n";
    assert_eq!(filtered(&[], harmless).err(), "");
}

/// What a view is made of: a line of the spans file.
#[derive(Debug)]
struct Run {
    view: (usize, usize),
    raw: (usize, usize),
    fate: String,
}

fn runs(path: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(path).unwrap();
    let number = |line: &Value, key: &str| line[key].as_u64().unwrap() as usize;
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|line: Value| Run {
            view: (number(&line, "view"), number(&line, "view_len")),
            raw: (number(&line, "raw"), number(&line, "raw_len")),
            fate: line["fate"].as_str().unwrap().to_owned(),
        })
        .collect()
}

#[test]
fn spans_tile_the_input_and_the_view() {
    let folder = Folder::new("spans");
    let path = folder.name("spans");
    let input = b"a\x1b[1mb\r\nc\rd\xffe\x1b]0;t\x07\xc2\x9b1mf\x1b[\x07m\x7fg\x1b[31";
    for flags in [
        &[][..],
        &["--mark"],
        &["--cr", "overwrite"],
        &["--cr", "collapse"],
        &["--profile", "display"],
        &["--profile", "audit"],
    ] {
        let ended = filtered(&[flags, &["-q", "--spans", &path]].concat(), input);
        let mut runs = runs(path.as_ref());
        let view = &ended.stdout;
        for run in &runs {
            let kept = &input[run.raw.0..run.raw.0 + run.raw.1];
            let shown = &view[run.view.0..run.view.0 + run.view.1];
            match run.fate.as_str() {
                "kept" => assert_eq!(kept, shown),
                "replaced" => assert!(!kept.is_empty() && !shown.is_empty()),
                "inserted" => assert!(kept.is_empty() && !shown.is_empty()),
                "removed" => assert!(!kept.is_empty() && shown.is_empty()),
                other => panic!("{other:?}"),
            }
        }
        let tiled = |runs: &[Run], part: fn(&Run) -> (usize, usize)| {
            let mut at = 0;
            for run in runs.iter().map(part).filter(|run| run.1 > 0) {
                assert_eq!(run.0, at, "{flags:?}: {runs:?}");
                at += run.1;
            }
            at
        };
        runs.sort_by_key(|run| run.raw);
        assert_eq!(tiled(&runs, |run| run.raw), input.len(), "{flags:?}");
        runs.sort_by_key(|run| run.view);
        assert_eq!(tiled(&runs, |run| run.view), view.len(), "{flags:?}");
    }
}

#[test]
fn a_file_and_stdin_are_the_same() {
    let folder = Folder::new("file");
    let path = folder.write("input", "a\x1b[1mb");
    ran(noesc(["filter", &path])).is("ab", "", 0);
    filtered(&["-"], "a\x1b[1mb").is("ab", "", 0);
    fed(noesc(["audit", "-"]), b"a\x1b").is(r"a\x1b", "", 0);
    ran(noesc(["audit", &path])).is(r"a\x1b[1mb", "", 0);
    let path = folder.write("audit", r"a\x1b");
    ran(noesc(["unaudit", &path])).is("a\x1b", "", 0);
    // A name that begins with a dash is one after `--`.
    let mut command = noesc(["filter", "--", "-x"]);
    folder.write("-x", "dash");
    command.current_dir(&folder.0);
    ran(command).is("dash", "", 0);
}

/// A filter that waits for more.
fn live(arguments: &[&str]) -> Child {
    let mut command = noesc(arguments);
    command.stdin(Stdio::piped());
    spawned(command)
}

#[test]
fn what_a_read_decides_is_written_before_the_next() {
    for (arguments, view) in [
        (&["filter"][..], "part"),
        (&["filter", "--profile", "display"], "part"),
        (&["filter", "--cr", "collapse"], "part"),
        (&["audit"], r"\x1b[1mpart"),
    ] {
        let mut child = live(arguments);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"\x1b[1mpart").unwrap();
        let view = if arguments.contains(&"display") { "\x1b[1mpart" } else { view };
        see(child.stdout.as_mut().unwrap(), view);
        stdin.write_all(b" more\n").unwrap();
        see(
            child.stdout.as_mut().unwrap(),
            if view.contains('\\') { r" more\x0a" } else { " more\n" },
        );
        drop(stdin);
        assert_eq!(status(&mut child).code(), Some(0));
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_silently() {
    for verb in ["filter", "audit", "unaudit"] {
        let mut child = live(&[verb]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"first").unwrap();
        let mut byte = [0];
        child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
        std::thread::spawn(move || while stdin.write_all(b"more").is_ok() {});
        let ended = common::ended(child);
        ended.is("", "", 0);
    }
    ran(shell(r#"yes | "$N" filter | head -1"#)).is("y\n", "", 0);
    ran(shell(r#"yes | { "$N" filter; echo $? >&2; } | head -1"#)).is("y\n", "0\n", 0);
}

#[test]
fn a_reader_that_goes_away_ends_it_where_nothing_is_written() {
    for arguments in ["filter", "filter --profile display", "explain", "explain --summary"] {
        let script = format!(r#"{{ "$N" {arguments} /dev/zero; echo $? >&2; }} | true"#);
        ran(shell(&script)).is("", "0\n", 0);
    }
    for (verb, begin, more) in
        [("filter", "", "\x1b[m"), ("filter", "\x1b]", "\0"), ("explain", "\x1b]", "\0")]
    {
        let mut child = live(&[verb]);
        let mut stdin = child.stdin.take().unwrap();
        drop(child.stdout.take());
        stdin.write_all(begin.as_bytes()).unwrap();
        let more = more.repeat(1000);
        std::thread::spawn(move || while stdin.write_all(more.as_bytes()).is_ok() {});
        common::ended(child).is("", "", 0);
    }
    // An output that is no pipe has no reader to lose.
    ran(shell(r#"printf '\0' | "$N" filter >/dev/null"#)).is("", "", 0);
}

#[test]
fn a_signal_ends_it_as_it_ends_any_filter() {
    use std::os::unix::process::ExitStatusExt;
    let mut child = live(&["filter"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"up\n").unwrap();
    see(child.stdout.as_mut().unwrap(), "up\n");
    signal("TERM", child.id());
    assert_eq!(status(&mut child).signal(), Some(15));
}

#[test]
fn audit_and_unaudit_are_inverse() {
    let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).cycle().take(200_000).collect();
    let audit = fed(noesc(["audit"]), &bytes);
    assert!(audit.stdout.iter().all(|byte| (0x20..=0x7e).contains(byte)));
    assert_eq!(fed(noesc(["unaudit"]), &audit.stdout).stdout, bytes);
    let profile = filtered(&["-q", "--profile", "audit"], &bytes);
    assert_eq!(profile.stdout, audit.stdout);
    // An editor's line end is none of the view.
    fed(noesc(["unaudit"]), b"a\\x0a\n").is("a\n", "", 0);
    fed(noesc(["unaudit"]), b"").is("", "", 0);
    fed(noesc(["audit"]), b"").is("", "", 0);
}

#[test]
fn audit_lines_are_for_reading() {
    fed(noesc(["audit", "--lines"]), b"a\nb\\\nc").is("a\\x0a\nb\\x5c\\x0a\nc", "", 0);
}

#[test]
fn unaudit_gives_what_came_before_the_fault() {
    let ended = fed(noesc(["unaudit"]), b"good\\x1b\xff");
    assert_eq!((ended.stdout.as_slice(), ended.code()), (&b"good\x1b"[..], 2));
    assert!(ended.err().contains("at byte 8"), "{:?}", ended.err());
}

#[test]
fn no_output_takes_the_place_of_a_file_in_use() {
    let folder = Folder::new("in-use");
    let input = folder.write("input", "kept\n");
    let other = folder.name("other");
    for arguments in [
        vec!["filter", "--report", &input, &input],
        vec!["filter", "--spans", &input, &input],
        vec!["filter", "--report", &other, "--spans", &other, &input],
        vec!["filter", "--report", "-", &input],
    ] {
        let ended = ran(noesc(&arguments));
        assert_eq!((ended.code(), ended.out()), (2, ""), "{arguments:?}");
        assert_eq!(std::fs::read(&input).unwrap(), b"kept\n");
    }
    let mut command = noesc(["run", "--report", &input, "--", "cat"]);
    command.stdin(std::fs::File::open(&input).unwrap());
    assert_eq!(ran(command).code(), 125);
    assert_eq!(std::fs::read(&input).unwrap(), b"kept\n");
    // What is printed goes to a file of that name.
    for script in [
        r#""$N" filter --report "$F" "$I" >>"$F""#,
        r#""$N" filter --spans "$F" "$I" >>"$F""#,
        r#""$N" filter --report "$F" "$I" 2>>"$F""#,
        r#""$N" filter --report /dev/stdout "$I" >>"$F""#,
        r#""$N" run --report "$F" -- echo x >>"$F""#,
        r#""$N" run --report "$F" --format json -- echo x >>"$F""#,
        r#""$N" run --report "$F" -- echo x 2>>"$F""#,
        r#""$N" run --report "$F" --facts-fd 3 -- echo x 3>>"$F""#,
    ] {
        std::fs::write(&other, "kept\n").unwrap();
        let mut command = shell(script);
        command.env("F", &other).env("I", &input);
        let ended = ran(command);
        assert_eq!((ended.out(), ended.code() == 0), ("", false), "{script}");
        // Where stderr is that file, it is said there.
        let kept = std::fs::read_to_string(&other).unwrap();
        let said = kept.strip_prefix("kept\n").unwrap().to_owned() + ended.err();
        let name = if script.contains("/dev/stdout") { "/dev/stdout" } else { &other };
        let flag = if script.contains("--spans") { "--spans" } else { "--report" };
        let wanted = format!("noesc: error: \"{flag}\" can not be \"{name}\": the file is in use");
        assert_eq!(said.lines().next(), Some(wanted.as_str()), "{script}");
    }
    // A terminal, a pipe or a device is no such file.
    ran(shell(r#"echo x | "$N" filter --report /dev/stdout | cat"#)).is("x\n{}\n", "", 0);
    ran(shell(r#"echo x | "$N" filter --report /dev/null >/dev/null"#)).is("", "", 0);
    // A longer file of before is emptied.
    std::fs::write(&other, "x".repeat(10_000)).unwrap();
    ran(noesc(["filter", "--report", &other, &input])).is("kept\n", "", 0);
    assert_eq!(std::fs::read(&other).unwrap(), b"{}\n");
}

#[test]
fn nothing_is_said_of_findings_to_a_reader_that_went_away() {
    let folder = Folder::new("silent");
    let path = folder.name("report");
    let input = r#"{ printf '\033]52;c;YQ==\007'; yes | head -c 1000000; }"#;
    for reader in ["true", "head -1 >/dev/null"] {
        let script = format!(r#"{input} | "$N" filter --report "$R" | {{ sleep 0.1; {reader}; }}"#);
        let mut command = shell(&script);
        command.env("R", &path);
        ran(command).is("", "", 0);
        assert_eq!(json(path.as_ref())["kinds"]["clipboard-write"], 1);
    }
}

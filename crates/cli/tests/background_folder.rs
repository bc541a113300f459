//! The folder of a run: what is in it, who may look, and what is made of one that was tampered
//! with.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backgrounds::Home;
use common::{ran, shell};
use serde_json::{Value, json};

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let of = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => files(&entry.path()),
        false => vec![entry.path()],
    };
    entries.flat_map(of).collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Whether it is said that the folder of runs is of no use, for this reason.
#[track_caller]
fn refused_root(home: &Home, arguments: &[&str], why: &str, code: i32) {
    let message = format!("can not use the folder of runs \"{}\": {why}", home.runs().display());
    home.noesc(arguments).refused(&message, code);
}

#[test]
fn folders_and_files_are_the_users_alone() {
    for umask in ["000", "022", "077"] {
        let home = Home::new(&format!("bg-modes-{umask}"));
        let script = format!(r#"umask {umask}; "$N" run --detach -- sh -c 'sleep 60 & echo up'"#);
        let run = home.shell(&script).out().trim_end().to_owned();
        home.noesc(&["wait", "-q", &run]).is("up\n", "", 0);
        for folder in ["", "noesc", "noesc/runs"] {
            assert_eq!(mode(&home.folder.path("state").join(folder)), 0o700, "{umask} {folder}");
        }
        assert_eq!(mode(&home.of(&run)), 0o700);
        let names = ["drained", "record.json", "stderr.txt", "stdout.txt"];
        assert_eq!(home.names(&run), names);
        for name in names {
            assert_eq!(mode(&home.of(&run).join(name)), 0o600, "{umask} {name}");
        }
    }
}

#[test]
fn a_root_that_is_open_to_others_is_refused() {
    let home = Home::new("bg-open");
    let run = home.start(&[], "echo a");
    home.noesc(&["wait", &run]).is("a\n", "", 0);
    for open in [0o755, 0o710, 0o701, 0o770, 0o720, 0o702] {
        set_mode(&home.runs(), open);
        let why = format!("it is open to others (mode {open:04o})");
        refused_root(&home, &["ps"], &why, 2);
        refused_root(&home, &["wait", &run], &why, 125);
        refused_root(&home, &["stop", &run], &why, 2);
        refused_root(&home, &["run", "--detach", "--", "true"], &why, 125);
    }
    // Another run does without.
    let ended = home.noesc(&["run", "-q", "--", "sh", "-c", "sleep 5 & echo $!"]);
    assert_eq!((ended.err(), ended.code()), ("", 0));
    common::signal("KILL", ended.out().trim_end().parse().unwrap());
    set_mode(&home.runs(), 0o700);
    assert_eq!(home.listed(&["--all"]).len(), 1);
}

#[test]
fn a_root_that_is_no_folder_of_ours_is_refused() {
    let home = Home::new("bg-link");
    let run = home.start(&[], "echo a");
    home.noesc(&["wait", &run]).is("a\n", "", 0);
    let elsewhere = home.folder.path("elsewhere");
    std::fs::rename(home.runs(), &elsewhere).unwrap();
    symlink(&elsewhere, home.runs()).unwrap();
    refused_root(&home, &["ps"], "it is no folder", 2);
    refused_root(&home, &["run", "--detach", "--", "true"], "it is no folder", 125);
    std::fs::remove_file(home.runs()).unwrap();
    File::create(home.runs()).unwrap();
    refused_root(&home, &["ps"], "it is no folder", 2);
    std::fs::remove_file(home.runs()).unwrap();
    std::fs::rename(&elsewhere, home.runs()).unwrap();
    // Who is not root can give nothing away.
    let ours = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(home.runs()).unwrap());
    if std::os::unix::fs::chown(home.runs(), Some(ours ^ 65534), None).is_ok() {
        refused_root(&home, &["ps"], "it is another user's", 2);
        refused_root(&home, &["run", "--detach", "--", "true"], "it is another user's", 125);
        std::os::unix::fs::chown(home.runs(), Some(ours), None).unwrap();
    }
    assert_eq!(home.listed(&["--all"]).len(), 1);
}

#[test]
fn only_what_is_inert_is_stored() {
    let home = Home::new("bg-inert");
    let script = home.folder.write(
        "script",
        "printf 'a\\033]52;c;PAYLOADS\\007b\\033[31mred\\033[0m\\n\\033PPAYLOADS\\033\\\\'\n\
         printf '\\302\\235PAYLOADS\\302\\234c\\377\\n\\342\\200\\256d\\n' >&2\n\
         sleep 0.4; printf '\\033]0;PAYLOADS\\007e\\n\\033]8;;PAYLOADS'\n",
    );
    for flags in [&[][..], &["--profile", "display"], &["--cr", "overwrite"], &["--mark"]] {
        let arguments = [&["run", "--detach"], flags, &["--", "sh", &script]].concat();
        let run = home.noesc(&arguments).out().trim_end().to_owned();
        for wait in ["300ms", "30s"] {
            home.noesc(&["wait", "-q", "--time-max", wait, &run]);
            for file in files(&home.of(&run)) {
                let bytes = std::fs::read(&file).unwrap();
                let shown = bytes.escape_ascii().to_string();
                assert!(!holds(&bytes, b"PAYLOADS"), "{flags:?} {file:?}: {shown}");
                let text = String::from_utf8(bytes).expect(&shown);
                let is_inert = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
                assert!(text.chars().all(is_inert), "{flags:?} {file:?}: {shown}");
            }
        }
        let stdout = std::fs::read_to_string(home.of(&run).join("stdout.txt")).unwrap();
        assert_eq!(stdout.replace('\u{241b}', ""), "abred\ne\n", "{flags:?}");
    }
}

#[test]
fn a_profile_that_keeps_colours_keeps_them_in_the_record_alone() {
    let home = Home::new("bg-colours");
    let run = home.start(&["--profile", "display"], "printf '\\033[31mred\\033[0m\\n'");
    home.noesc(&["wait", &run]).is("red\n", "", 0);
    let head = &home.record(&run)["streams"]["stdout"]["view"]["head"];
    assert_eq!(head, "\u{1b}[31mred\u{1b}[0m\n");
    // An audit view is the same after it has passed once more.
    let run = home.start(&["--profile", "audit"], "printf '\\033\\\\'");
    home.noesc(&["wait", &run]).is(r"\x1b\x5c", "", 0);
    assert_eq!(home.record(&run)["streams"]["stdout"]["view"]["head"], r"\x1b\x5c");
    // What no format or folder may hold is refused before anything is run.
    for format in ["lines", "fence", "xml"] {
        let flags = ["run", "--detach", "--profile", "display", "--format", format, "--", "true"];
        let message = format!("\"--format {format}\" does not go with style kept");
        home.noesc(&flags).refused(&message, 125);
    }
    let flags = ["run", "--detach", "--profile", "display", "--off", "--", "true"];
    home.noesc(&flags).refused("\"--off\" does not go with \"--detach\"", 125);
    assert_eq!(home.listed(&["--all"]).len(), 2);
}

#[test]
fn an_artifact_is_not_stored() {
    let home = Home::new("bg-artifact");
    let flags = ["--format", "json", "--expect", "artifact"];
    let ended = home.detached(&flags, "printf BYTE; printf 'S OF IT\\n'; echo err >&2");
    let record: Value = serde_json::from_str(ended.out()).unwrap();
    let run = record["run"].as_str().unwrap();
    assert_eq!(record["expected"]["met"], true);
    assert_eq!(record["streams"]["stdout"]["view"]["omitted"]["bytes"], 12);
    for file in files(&home.of(run)) {
        // The command itself is in the record.
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains("BYTES"), "{text}");
    }
    let said = "err\nnoesc: 12 bytes of the view of stdout are not stored\n";
    home.noesc(&["wait", run]).is("", said, 0);
}

/// A run that has ended, and its folder.
fn ended(home: &Home) -> (String, PathBuf) {
    let run = home.start(&[], "echo a");
    home.noesc(&["wait", &run]).is("a\n", "", 0);
    let folder = home.of(&run);
    (run, folder)
}

/// Makes a socket in a folder, whose own path may be longer than that of a socket.
fn listen(folder: &Path, name: &str) {
    use std::os::fd::AsRawFd;
    let folder = File::open(folder).unwrap();
    let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
    drop(std::os::unix::net::UnixListener::bind(path).unwrap());
}

#[test]
fn what_is_no_file_is_not_opened() {
    let home = Home::new("bg-no-file");
    let elsewhere = home.folder.write("elsewhere", "elsewhere\n");
    let (good, _) = ended(&home);
    for kind in ["fifo", "link", "folder", "socket"] {
        let (run, folder) = ended(&home);
        for name in ["record.json", "stdout.txt", "stderr.txt", "collected", "drained"] {
            let path = folder.join(name);
            let _ = std::fs::remove_file(&path);
            match kind {
                "fifo" => assert!(ran(shell(&format!("mkfifo {}", path.display()))).code() == 0),
                "link" => symlink(&elsewhere, &path).unwrap(),
                "folder" => std::fs::create_dir(&path).unwrap(),
                _ => listen(&folder, name),
            }
        }
        let rows = home.listed(&["--all"]);
        let row = rows.iter().find(|row| row["run"] == run.as_str()).unwrap();
        assert_eq!((&row["state"], &row["outcome"]), (&json!("ended"), &json!(null)));
        assert_eq!(
            (&row["unread"], &row["drained_bytes"]),
            (&json!("it is no plain file"), &json!(0))
        );
        // The others are told all the same.
        let row = rows.iter().find(|row| row["run"] == good.as_str()).unwrap();
        assert_eq!((&row["outcome"], &row["unread"]), (&json!("exited 0"), &json!(null)));
        let table = home.noesc(&["ps", "--all"]);
        let line = table.out().lines().find(|line| line.starts_with(&run)).unwrap();
        assert!(line.ends_with("  (no record: it is no plain file)"), "{line}");
        for format in ["text", "json", "lines", "fence", "xml"] {
            let message = format!("can not read the record of {run}: it is no plain file");
            home.noesc(&["wait", "--format", format, &run]).refused(&message, 125);
        }
        home.noesc(&["stop", &run]).is("", &format!("noesc: {run} had ended before\n"), 0);
        // Nor is it in the way of new ones, or of its own removal.
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "elsewhere\n");
    }
}

#[test]
fn a_record_that_is_not_there_yet_is_awaited_by_wait_alone() {
    let home = Home::new("bg-no-record");
    let go = home.folder.name("go");
    let script = format!("while ! test -e {go}; do sleep 0.02; done; echo a; sleep 60");
    let ids = [(); 5].map(|()| home.start(&[], &script));
    // One that has begun is written once more a moment later.
    common::eventually(|| {
        let records = ids.iter().map(|run| home.of(run).join("record.json"));
        let removed = records.filter(|path| std::fs::remove_file(path).is_ok()).count();
        std::thread::sleep(Duration::from_secs(1));
        if removed == 0 { Ok(()) } else { Err(removed) }
    });
    for row in home.listed(&[]) {
        assert_eq!((&row["state"], &row["outcome"]), (&json!("running"), &json!(null)));
        assert_eq!(row["unread"], "no such file or folder");
    }
    let wait = ["wait", "-q", "--time-max", "0s", "--format", "json", &ids[0]];
    let waiting = common::spawned(home.at(common::noesc(wait)));
    std::thread::sleep(Duration::from_millis(100));
    // What is printed makes a new one.
    home.folder.write("go", "");
    let ended = common::ended(waiting);
    assert_eq!((ended.err(), ended.code()), ("", 124));
    // It is not awaited for ever.
    std::fs::remove_file(home.of(&ids[1]).join("record.json")).unwrap_or_default();
    home.noesc(&["stop", &ids[1]]).is("", "", 0);
    std::fs::remove_file(home.of(&ids[1]).join("record.json")).unwrap();
    let message = format!("can not read the record of {}: no such file or folder", ids[1]);
    home.noesc(&["wait", &ids[1]]).refused(&message, 125);
}

#[test]
fn a_transcript_that_is_no_file_is_told() {
    let home = Home::new("bg-no-transcript");
    let elsewhere = home.folder.write("elsewhere", "elsewhere\n");
    let (run, folder) = ended(&home);
    std::fs::remove_file(folder.join("stdout.txt")).unwrap();
    symlink(elsewhere, folder.join("stdout.txt")).unwrap();
    let message = format!("can not read the stdout of {run}: it is no plain file");
    home.noesc(&["wait", &run]).refused(&message, 125);
    // The record has it as well.
    assert_eq!(home.record(&run)["streams"]["stdout"]["view"]["head"], "a\n");
}

#[test]
fn a_run_is_a_folder_with_the_name_of_an_id() {
    let home = Home::new("bg-names");
    let (run, folder) = ended(&home);
    let other = run.replace(&run[..8], "00000000");
    symlink(&folder, home.runs().join(&other)).unwrap();
    File::create(home.runs().join(run.replace(&run[..8], "00000001"))).unwrap();
    for name in ["x", "\u{1b}[2J", &run[..35], "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
        std::fs::create_dir(home.runs().join(name)).unwrap();
    }
    let rows = home.listed(&["--all"]);
    assert_eq!((rows.len(), &rows[0]["run"]), (1, &json!(run)));
    home.noesc(&["wait", &other]).refused(&format!("there is no run \"{other}\""), 125);
}

#[test]
fn a_record_of_another_run_is_none() {
    let home = Home::new("bg-other");
    let ((one, from), (_, to)) = (ended(&home), ended(&home));
    std::fs::copy(from.join("record.json"), to.join("record.json")).unwrap();
    let other = home.listed(&["--all"])[1].clone();
    assert_eq!(other["unread"], "it is of another run");
    home.noesc(&["wait", &one]).is("a\n", "", 0);
}

#[test]
fn a_lock_that_another_process_holds_elsewhere_is_not_believed() {
    let home = Home::new("bg-foreign-lock");
    let (run, folder) = ended(&home);
    let locked = home.folder.write("locked", "");
    let file = File::options().write(true).open(&locked).unwrap();
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for name in ["collected", "drained"] {
        let _ = std::fs::remove_file(folder.join(name));
        symlink(&locked, folder.join(name)).unwrap();
    }
    // Otherwise it would be this process that is asked to end.
    assert_eq!(home.state(&run), "ended");
    home.noesc(&["stop", &run]).is("", &format!("noesc: {run} had ended before\n"), 0);
}

#[test]
fn a_folder_that_is_removed_ends_nothing() {
    let home = Home::new("bg-removed");
    let (go, done) = (home.folder.name("go"), home.folder.path("done"));
    let wait = format!("while ! test -e {go}; do sleep 0.05; done");
    let script = format!("{wait}; echo more; echo done >{}", done.display());
    let run = home.start(&[], &script);
    std::fs::remove_dir_all(home.of(&run)).unwrap();
    home.noesc(&["wait", &run]).refused(&format!("there is no run \"{run}\""), 125);
    home.folder.write("go", "");
    assert_eq!(backgrounds::until_written(done), "done");
}

#[test]
fn a_file_that_can_not_be_written_ends_nothing() {
    let home = Home::new("bg-full");
    let script = r#"ulimit -f 16; "$N" run --detach -- sh -c '
        i=0; while test $i -lt 3000; do echo "line $i of many"; i=$((i+1)); done; exit 6'"#;
    let run = home.shell(script).out().trim_end().to_owned();
    let folder = home.of(&run);
    common::eventually(|| match home.state(&run).as_str() {
        "ended" => Ok(()),
        other => Err(other.to_owned()),
    });
    // What was told last is what there is room for; nothing half written stands for a record.
    let names = home.names(&run);
    assert_eq!(names, ["record.json", "stderr.txt", "stdout.txt"]);
    let stored = std::fs::metadata(folder.join("stdout.txt")).unwrap().len();
    assert!(stored > 0 && stored <= 16 * 1024, "{stored}");
    // The facts had room.
    let ended = home.noesc(&["wait", &run]);
    assert_eq!((ended.out().len() as u64, ended.code()), (stored, 6));
}

#[test]
fn a_disk_that_is_full_ends_nothing() {
    let home = Home::new("bg-disk");
    std::fs::create_dir(home.folder.path("state")).unwrap();
    // Seen by what runs below alone, and gone with it.
    let script = r#"exec unshare -rm sh -c '
        mount -t tmpfs -o size=128k,mode=700 none "$XDG_STATE_HOME" || exit 99
        run=$("$N" run --detach -- sh -c "yes line | head -c 500000; exit 6")
        "$N" wait $run >"$OUT"; echo $?
        "$N" ps --all --json'"#;
    let mut command = home.at(shell(script));
    command.env("OUT", home.folder.path("out"));
    let ended = ran(command);
    if ended.code() == 99 || ended.err().starts_with("unshare: ") {
        // Not everybody may make a file system.
        return;
    }
    let mut lines = ended.out().lines();
    assert_eq!(lines.next(), Some("6"), "{ended:?}");
    let row: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!((&row["outcome"], &row["bytes"]), (&json!("exited 6"), &json!(500_000)));
    let out = std::fs::read_to_string(home.folder.path("out")).unwrap();
    assert!(out.len() > 10_000 && out.len() < 128 * 1024, "{}", out.len());
    assert!("line\n".repeat(out.len() / 5 + 1).starts_with(&out));
}

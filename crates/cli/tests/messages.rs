//! Every text of the command itself, compared with the files in `snapshots/`.
//! `SNAPSHOTS=overwrite cargo test` writes them anew; the diff is the review.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]

mod common;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use common::{Folder, binary, escaped, fed, noesc, ran};
use snapbox::assert_data_eq;
use snapbox::prelude::*;

/// Command lines and what came of them, as one text.
struct Session {
    folder: Folder,
    text: String,
}

impl Session {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        folder.write("file", "text\n");
        folder.program("script", "#!/nonexistent/interpreter\n");
        std::fs::create_dir(folder.path("folder")).unwrap();
        Self { folder, text: String::new() }
    }

    /// A command line that is refused: one message and one hint on stderr, nothing on stdout.
    fn refused(&mut self, arguments: &[&[u8]]) {
        self.refused_for(arguments, b"");
    }

    fn refused_for(&mut self, arguments: &[&[u8]], input: &[u8]) {
        let mut command = noesc(arguments.iter().map(|argument| OsStr::from_bytes(argument)));
        command.current_dir(&self.folder.0);
        let ended = fed(command, input);
        let shown = |argument: &&[u8]| match argument {
            [] => "''".to_owned(),
            argument => escaped(argument),
        };
        let line: Vec<_> = arguments.iter().map(shown).collect();
        let line = line.join(" ");
        let said = ended.err();
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{line}: {said:?}");
        assert!(!said.contains('\u{202e}'), "{line}: {said:?}");
        let lines: Vec<_> = said.split_terminator('\n').collect();
        assert_eq!(lines.len(), 2, "{line}: {said:?}");
        assert!(lines[0].starts_with("noesc: error: "), "{line}: {said:?}");
        assert!(lines[1].starts_with("noesc: hint: "), "{line}: {said:?}");
        writeln!(self.text, "$ noesc {line}\n{said}exit {}\n", ended.code()).unwrap();
        assert_eq!(ended.out(), "", "{line}");
    }
}

/// One command line a row, in words.
fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes).collect()
}

#[test]
fn help() {
    let text = |arguments: &[&str]| {
        let ended = ran(noesc(arguments));
        assert_eq!((ended.err(), ended.code()), ("", 0), "{arguments:?}");
        assert!(!ended.out().chars().any(|c| c.is_control() && c != '\n'));
        // The help pads empty lines; a tracked file may not.
        let lines = ended.out().lines().map(str::trim_end);
        lines.flat_map(|line| [line, "\n"]).collect::<String>().raw()
    };
    assert_data_eq!(text(&["--help"]), snapbox::file!["snapshots/help.txt"].raw());
    assert_data_eq!(text(&["-h"]), snapbox::file!["snapshots/help-short.txt"].raw());
    let verbs = verbs(ran(noesc(["-h"])).out());
    assert!(verbs.len() >= 7, "{verbs:?}");
    for verb in verbs {
        let file = format!("{}/tests/snapshots/help-{verb}.txt", env!("CARGO_MANIFEST_DIR"));
        let wanted = snapbox::Data::read_from(file.as_ref(), None);
        assert_data_eq!(text(&[&verb, "--help"]), wanted.raw());
    }
}

/// The verbs that the help lists.
fn verbs(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    let list = list.split("\n\n").next().unwrap_or_default();
    list.lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
        .filter(|verb| !verb.is_empty())
        .collect()
}

#[test]
fn nothing_at_all_is_a_misuse_and_gets_the_help() {
    let ended = ran(noesc([""; 0]));
    assert_eq!((ended.out(), ended.code()), ("", 2));
    assert_eq!(ended.err(), ran(noesc(["-h"])).out());
}

#[test]
fn the_version() {
    for flag in ["--version", "-V"] {
        ran(noesc([flag])).is(&format!("noesc {}\n", env!("CARGO_PKG_VERSION")), "", 0);
    }
}

#[test]
fn what_is_misunderstood() {
    let mut session = Session::new("misunderstood");
    for line in [
        "frobnicate",
        "filtr",
        "help",
        "--bogus",
        "filter --bogus",
        "filter --mrak",
        "filter -x",
        "filter -q=3",
        "filter one two",
        "filter --mark=yes",
        "filter --mark --mark",
        "filter --mark --removed mark",
        "filter --cr",
        "filter --cr bogus",
        "filter --cr=overwite",
        "filter --cr drop --cr drop",
        "filter --profile bogus",
        "filter --invisible bogus",
        "filter --style bogus",
        "filter --conceal bogus",
        "filter --separators bogus",
        "filter --removed bogus",
        "filter --hidden-text bogus",
        "filter --report",
        "filter --encoding",
        "audit --bogus",
        "audit --mark",
        "unaudit --lines",
        "run",
        "run --",
        "run --bogus -- true",
        "run --cr bogus -- true",
        "run --spans file -- true",
        "run --view-bytes-max 1k -- true",
        "run --view-bytes-max -1 -- true",
        "run --view-bytes-max 99999999999GiB -- true",
        "run --keep-fd 2 -- true",
        "run --keep-fd 99 -- true",
        "run --facts-fd 99 -- true",
        "run --detach --stdin -- true",
        "run --detach --report report -- true",
        "run --detach --facts-fd 3 -- true",
        "run --detach --transcript-bytes-max 1k -- true",
        "completions",
        "completions tcsh",
        "man frobnicate",
    ] {
        session.refused(&words(line));
    }
    session.refused(&[b"filter", b""]);
    session.refused(&[b"filter", b"--report", b""]);
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/misunderstood.txt"].raw());
}

#[test]
fn verbs_of_runs_that_are_misunderstood() {
    let mut session = Session::new("misunderstood-runs");
    for line in [
        "ps run",
        "wait",
        "wait --time-max 5 run",
        "wait --time-max s run",
        "wait --time-max -1s run",
        "wait --time-max 1e9s run",
        "wait --format lines one other",
        "wait run",
        "stop",
        "stop --force run",
        "stop run",
        "scan",
        "store frobnicate",
        "store hold",
        "store hold run",
        "store export run",
        "store prune --raw-keep soon",
        "store doctor --since missing --no-config --config file",
        "show",
        "show run --lines 0",
        "show run --lines 9-3",
        "search run",
        "digest run --equals xyz",
        "runs --limit 0",
        "open run",
        "open run --reason why --as hex",
        "open run --reason why --as raw --range 0+1",
        "open run --reason why --range 5",
        "open run --reason why --to file",
        "init --identity",
        "decide run maybe --reason why",
        "decide run approved",
        "ledger frobnicate",
        "ledger checkpoint",
    ] {
        session.refused(&words(line));
    }
    let expected = snapbox::file!["snapshots/misunderstood-runs.txt"];
    assert_data_eq!(session.text.raw(), expected.raw());
}

#[test]
fn limits_that_are_misunderstood() {
    let mut session = Session::new("limits");
    for line in [
        "run --time-max 5 -- true",
        "run --time-max 5x -- true",
        "run --time-max 0s -- true",
        "run --time-max 9000h -- true",
        "run --time-max 0.5ms -- true",
        "run --time-max 5s:halt -- true",
        "run --time-max",
        "run --idle-max forever -- true",
        "run --rate-max 1k -- true",
        "run --rate-max 99999999999GiB -- true",
        "run --format json --capture-bytes-max 0 -- true",
        "run --processes-max -1 -- true",
        "run --processes-max some -- true",
        "run --drain-max none -- true",
        "run --linger 1s:stop -- true",
        "run --linger-max 5 -- true",
        "run --grace soon -- true",
        "run --time-max 1s --time-max 2s -- true",
        "run --pty --size 80 -- true",
        "run --pty --size 0x24 -- true",
        "run --pty --size 80x1001 -- true",
        "run --record-command some -- true",
    ] {
        session.refused(&words(line));
    }
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/limits.txt"].raw());
}

#[test]
fn settings_that_do_not_go_together() {
    let mut session = Session::new("settings");
    for line in [
        "filter --cr overwrite --profile display",
        "filter --cr overwrite --style keep",
        "run --cr overwrite --profile display -- true",
        "filter --off",
        "filter --off --profile audit",
        "run --off -- true",
        "filter --conceal parameter",
        "filter --profile display --style remove --conceal parameter",
        "run --view-bytes-max 1KiB -- true",
        "run --format text --view-bytes-max 1KiB -- true",
        "run --capture-bytes-max 1KiB -- true",
        "run --linger 250ms --linger-max 100ms -- true",
        "run --size 100x30 -- true",
        "filter --encoding bogus",
        "filter --encoding iso-2022-jp",
        "filter --encoding ISO-2022-KR",
        "filter --encoding hz-gb-2312",
        "filter --encoding utf-7",
        "filter --encoding replacement",
        "run --encoding bogus -- true",
        "run --encoding utf-7 -- true",
    ] {
        session.refused(&words(line));
    }
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/settings.txt"].raw());
}

#[test]
fn files_that_can_not_be_used() {
    let mut session = Session::new("files");
    for line in [
        "filter missing",
        "filter file/below",
        "filter folder",
        "audit missing",
        "audit folder",
        "unaudit missing",
        "unaudit folder",
        // A file of the kernel that opens and can not be read at its start.
        "filter /proc/self/mem",
        "filter --report missing/report",
        "filter --report folder",
        "filter --spans missing/spans",
        "filter --report /dev/full",
        "run --report missing/report -- echo unseen",
        "run --report /dev/full -- true",
    ] {
        session.refused(&words(line));
    }
    session.refused_for(&words("filter --spans /dev/full"), b"\x1b[m");
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/files.txt"].raw());
}

#[test]
fn a_file_that_may_not_be_read() {
    let folder = Folder::new("unreadable");
    let name = folder.write("secret", "x");
    std::fs::set_permissions(&name, PermissionsExt::from_mode(0o000)).unwrap();
    let mut command = noesc(["filter", &name]);
    if std::fs::read(&name).is_ok() {
        // Root reads everything: ask as somebody else, if they can reach the command at all.
        let nobody = |command: &mut std::process::Command| {
            command.uid(65534).gid(65534);
        };
        let mut probe = noesc(["--version"]);
        nobody(&mut probe);
        if probe.output().is_err() {
            return;
        }
        nobody(&mut command);
    }
    ran(command).refused(&format!("can not open \"{name}\": permission denied"), 2);
}

#[test]
fn texts_that_are_no_audit_view() {
    let mut session = Session::new("unaudit");
    for text in [
        &b"\x1b[31m"[..],
        b"\xff",
        b"\xe2\x80\xae",
        b"\\",
        b"\\n",
        b"\\x4",
        b"\\xG0",
        b"\\x0A",
        b"\\x41",
        b"\n\n",
    ] {
        writeln!(session.text, "$ printf '{}' |", escaped(text)).unwrap();
        session.refused_for(&[b"unaudit"], text);
    }
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/unaudit.txt"].raw());
}

#[test]
fn commands_that_can_not_be_run() {
    let mut session = Session::new("spawn");
    for line in [
        "run missing",
        "run ./missing",
        "run -- --missing",
        "run ./file",
        "run ./folder",
        "run ./file/below",
        "run ./script",
        "run FOO=1 cmd",
        "run ./FOO=1",
    ] {
        session.refused(&words(line));
    }
    session.refused(&[b"run", b"--", b"echo a | cat"]);
    session.refused(&[b"run", b"--", b"ls *"]);
    session.refused(&[b"run", b"--pty", b"./file"]);
    session.refused(&[b"run", b"--", b"a b=c"]);
    session.refused(&[b"run", b""]);
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/spawn.txt"].raw());
}

/// What a terminal or a reader would act on: a title, the bell, a second line, a reordering
/// override, C1, and what is no UTF-8.
const HOSTILE: &[u8] = b"a\x1b]0;x\x07\r\nnoesc: b\xe2\x80\xae\xc2\x9b31m\x9b\xff";

#[test]
fn hostile_names() {
    let mut session = Session::new("hostile");
    let utf8 = &HOSTILE[..HOSTILE.len() - 2];
    for name in [HOSTILE, utf8] {
        let joined = |front: &[u8]| [front, name].concat();
        session.refused(&[name]);
        session.refused(&[&joined(b"--")]);
        session.refused(&[b"filter", name]);
        session.refused(&[b"filter", &joined(b"--")]);
        session.refused(&[b"filter", &joined(b"-")]);
        session.refused(&[b"filter", &joined(b"--mark=")]);
        session.refused(&[b"filter", b"file", name]);
        for flag in [
            &b"--profile"[..],
            b"--cr",
            b"--invisible",
            b"--style",
            b"--conceal",
            b"--separators",
            b"--removed",
            b"--hidden-text",
            b"--encoding",
        ] {
            session.refused(&[b"filter", flag, name]);
        }
        session.refused(&[b"filter", b"--report", &joined(b"missing/")]);
        session.refused(&[b"filter", &joined(b"--report=missing/")]);
        session.refused(&[b"filter", b"--spans", &joined(b"missing/")]);
        for flag in [&b"--time-max"[..], b"--rate-max", b"--processes-max", b"--size"] {
            session.refused(&[b"run", flag, name, b"true"]);
        }
        session.refused(&[b"run", &joined(b"--time-max=5s:"), b"true"]);
        session.refused(&[b"audit", name]);
        session.refused(&[b"unaudit", name]);
        session.refused(&[b"run", name]);
        session.refused(&[b"run", &joined(b"./")]);
        session.refused(&[b"run", &joined(b"--")]);
        session.refused(&[b"run", b"--report", &joined(b"missing/"), b"true"]);
    }
    assert_data_eq!(session.text.raw(), snapbox::file!["snapshots/hostile.txt"].raw());
}

#[test]
fn hostile_files_that_are_there() {
    let session = Session::new("there");
    let mut name = OsString::from_vec(HOSTILE.to_vec());
    let path = session.folder.path(&name);
    std::fs::write(&path, "text").unwrap();
    let run = |arguments: &[&OsStr]| {
        let mut command = noesc(arguments);
        command.current_dir(&session.folder.0);
        ran(command)
    };
    run(&[OsStr::new("filter"), &name]).is("text", "", 0);
    let mut command = OsString::from("./");
    command.push(&name);
    let shown = escaped(HOSTILE).replace("\\r", "\\x0d").replace("\\n", "\\x0a");
    run(&[OsStr::new("run"), &command])
        .refused(&format!("can not run \"./{shown}\": not executable"), 126);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    run(&[OsStr::new("filter"), &name])
        .refused(&format!("can not read \"{shown}\": it is a folder"), 2);
    run(&[OsStr::new("run"), &command])
        .refused(&format!("can not run \"./{shown}\": it is a folder"), 126);
    name.push("/report");
    run(&[OsStr::new("filter"), OsStr::new("--report"), &name]).is("", "", 0);
}

#[test]
fn our_own_name_is_no_input() {
    for name in [HOSTILE, &HOSTILE[..HOSTILE.len() - 2], b"\x1b[31m", b""] {
        for (arguments, code) in [(&["--help"][..], 0), (&["run", "-h"], 0), (&["filtr"], 2)] {
            let mut command = std::process::Command::new(binary());
            let named = ran(noesc(arguments));
            command.arg0(OsStr::from_bytes(name)).args(arguments).env_remove("COLUMNS");
            ran(command).is(named.out(), named.err(), code);
        }
    }
}

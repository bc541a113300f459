//! The contract of a run: what is started, how that is recorded, and what it may not do to us.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod contract;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use common::{Ended, Folder, noesc, ran};
use contract::{Told, told};
use serde_json::{Value, json};

/// A run whose command can't be started: its record and its status.
fn unstarted(flags: &[&str], argv: &[&str]) -> (Value, i32) {
    let flags = ["run", "--format", "json"].iter().chain(flags).chain(&["--"]);
    let mut command = noesc(flags.chain(argv));
    // A folder that may not be searched would make a name one that may not be executed.
    command.env("PATH", "/usr/bin:/bin");
    let ended = ran(command);
    assert!(ended.err().starts_with("noesc: error: can not run "), "{ended:?}");
    let record: Value = serde_json::from_str(ended.out()).unwrap();
    assert_eq!(record["outcome"]["kind"], "spawn_failed");
    (record, ended.code())
}

#[test]
fn why_a_command_was_not_started_is_told() {
    let folder = Folder::new("unstarted");
    let file = folder.write("file", "no program");
    let script = folder.program("script", "#!/nonexistent/interpreter\n");
    for (name, reason, code) in [
        ("nosuch-command", "not-found", 127),
        ("./nosuch-command", "not-found", 127),
        (&script, "interpreter-not-found", 127),
        (&file, "not-executable", 126),
        ("/", "is-folder", 126),
    ] {
        let (record, status) = unstarted(&[], &[name, "argument"]);
        assert_eq!((&record["outcome"]["reason"], status), (&json!(reason), code), "{name}");
        assert_eq!(record["streams"], json!({}), "{name}");
        assert_eq!(record["command"]["argv"], json!([name, "argument"]));
    }
}

#[test]
fn a_shell_runs_a_line_when_it_is_asked_for() {
    let line = r#"for x in "$0" "$@"; do echo "$x"; done | tac; exit 3"#;
    let run = told(&["--shell"], &[line, "one two", "*"]);
    assert_eq!(run.all("stdout"), "*\none two\nsh\n");
    assert_eq!((run.outcome(), run.code), (json!({"kind": "exited", "code": 3}), 3));
    assert_eq!(run.record["command"]["shell"], true);
    assert_eq!(run.record["command"]["argv"], json!(["sh", "-c", line, "sh", "one two", "*"]));
    ran(noesc(["run", "--shell", "--", "echo a | cat; exit 4"])).is("a\n", "", 4);
    ran(noesc(["run", "--shell", "echo $1", "--shell"])).is("--shell\n", "", 0);
    ran(noesc(["run", "--shell", "--", ""])).is("", "", 0);
    // Without it a shell that is named is a program like any other.
    let run = told(&[], &["sh", "-c", "echo a | cat"]);
    assert_eq!((run.all("stdout"), &run.record["command"]["shell"]), ("a\n", &json!(false)));
}

#[test]
fn how_much_of_a_command_is_recorded_is_said() {
    let argv = ["echo", "secret-argument"];
    let run = told(&[], &argv);
    let command = &run.record["command"];
    assert_eq!(command["recorded"], "full");
    assert_eq!(command["argv"], json!(argv));
    let executable = command["executable"].clone();
    assert!(executable.as_str().unwrap().ends_with("/echo"));
    assert!(command["cwd"].is_string());

    let run = told(&["--record-command", "executable"], &argv);
    let command = &run.record["command"];
    assert_eq!(command["recorded"], "executable");
    assert_eq!((&command["argv"], &command["cwd"]), (&json!([]), &json!(null)));
    assert_eq!(command["executable"], executable);
    assert!(command.get("argv_hmac").is_none());

    let digest = || told(&["--record-command", "digest"], &argv);
    let (one, other) = (digest(), digest());
    let command = &one.record["command"];
    assert_eq!(command["recorded"], "digest");
    assert_eq!((&command["argv"], &command["cwd"]), (&json!([]), &json!(null)));
    assert_eq!(command["executable"], json!(null));
    assert_eq!(command["argv_hmac"].as_str().unwrap().len(), 64);
    // The key is of one run: nobody can compare two commands by it, or confirm a guess.
    assert_ne!(command["argv_hmac"], other.record["command"]["argv_hmac"]);

    for run in [&one, &other] {
        let mut record = run.record.clone();
        record.as_object_mut().unwrap().remove("streams");
        assert!(!record.to_string().contains("secret-argument"), "{record}");
    }
    let lines = ["run", "--format", "lines", "--record-command", "digest", "--"];
    let ended = ran(noesc(lines.iter().chain(&["true", "secret-argument"])));
    assert!(!ended.out().contains("secret-argument"), "{ended:?}");
}

/// Tries to write to what the collector and its supervisor have open, and to descriptors that were
/// open in the process that started noesc.
const INTRUDES: &str = r#"
    collector=$(sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$PPID/stat)
    for pid in $PPID $collector; do
        for fd in 0 1 2 3 4 5 6 7 8 9; do
            if (echo forged >/proc/$pid/fd/$fd) 2>/dev/null; then echo "wrote $fd" >&2; fi
        done
        if ls /proc/$pid/fd >/dev/null 2>&1; then echo "listed" >&2; fi
        if (: </proc/$pid/mem) 2>/dev/null; then echo "opened memory" >&2; fi
    done
    for fd in 3 4 5 6 7 8; do
        if (eval "echo forged >&$fd") 2>/dev/null; then echo "inherited $fd" >&2; fi
    done
    echo done $collector
"#;

/// A command as an unprivileged user, with the program where that user reaches it.
struct Unprivileged {
    folder: Folder,
}

const NOBODY: u32 = 65534;

impl Unprivileged {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        std::fs::set_permissions(&folder.0, PermissionsExt::from_mode(0o755)).unwrap();
        folder.copy_of_noesc();
        Self { folder }
    }

    /// A shell with a file of its caller's at descriptor 5, which runs noesc there. Gives what the
    /// file holds at the end, too.
    fn ran(&self, flags: &str, script: &str) -> (Ended, String) {
        self.within(&format!(r#"exec "$F/noesc" run {flags} -- sh -c "$S""#), script)
    }

    fn within(&self, line: &str, script: &str) -> (Ended, String) {
        let secret = self.folder.write("secret", "");
        std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o666)).unwrap();
        let line = format!(r#"exec 5>>"$F/secret"; {line}"#);
        let mut command = common::heedful("sh");
        command.args(["-c", &line]).env("F", &self.folder.0).env("S", script);
        command.env("XDG_CONFIG_HOME", common::NO_CONFIG).stdin(Stdio::null());
        command.current_dir("/");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        (ran(command), std::fs::read_to_string(secret).unwrap())
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self")
        .is_ok_and(|seen| std::os::unix::fs::MetadataExt::uid(&seen) == 0)
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_can_not_write_to_what_the_collector_has_open() {
    let user = Unprivileged::new("intruder");
    for flags in ["--format json", "--format json --pty"] {
        let (ended, secret) = user.ran(flags, INTRUDES);
        let run = Told::of(&ended);
        let stream = if flags.contains("pty") { "pty" } else { "stdout" };
        let text = run.all(stream);
        assert!(text.starts_with("done ") && text.lines().count() == 1, "{text:?}");
        let number = text.trim().strip_prefix("done ").unwrap();
        assert!(number.parse::<u32>().is_ok_and(|pid| pid > 1), "{text:?}");
        if stream == "stdout" {
            assert_eq!(run.all("stderr"), "");
        }
        assert_eq!(secret, "");
        let collector = json!({"undumpable": true, "privileged": false, "attended": true});
        assert_eq!(run.record["collector"], collector);
    }
    // In text too, where what it printed is all that there is.
    let (ended, secret) = user.ran("", INTRUDES);
    assert!(ended.out().starts_with("done ") && ended.out().lines().count() == 1, "{ended:?}");
    assert_eq!((ended.err(), secret.as_str(), ended.code()), ("", "", 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_can_write_to_what_another_parent_has_open() {
    let user = Unprivileged::new("victim");
    // Of the two processes above, neither is the one of the tests, which would be written to.
    let (ended, secret) = user.within(r#"sh -c 'sh -c "$S"; :'; :"#, INTRUDES);
    assert!(ended.err().contains("wrote 5\n"), "{ended:?}");
    assert!(ended.err().contains("inherited 5\n"), "{ended:?}");
    assert!(ended.err().contains("listed\n"), "{ended:?}");
    assert!(secret.contains("forged\n"), "{secret:?}");
}

#[test]
fn a_descriptor_is_inherited_when_it_is_named() {
    let user = Unprivileged::new("keeper");
    let (ended, secret) = user.ran("--keep-fd 5", "echo mine >&5");
    ended.is("", "", 0);
    assert_eq!(secret, "mine\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_with_the_right_to_look_into_us_is_said_to_have_it() {
    let run = told::<&str>(&[], &["true"]);
    assert_eq!(run.record["collector"]["privileged"], is_root());
    assert_eq!(run.record["collector"]["undumpable"], true);
}

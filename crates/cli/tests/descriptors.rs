//! Outputs that take no more, and standard descriptors that are not there.

mod common;

use common::{Folder, json, ran, shell};

/// Exits with the status of noesc, which a full device has its say about.
const FULL: &str = "can not write to \"stdout\": no space left";

#[test]
fn a_full_device_is_an_error() {
    for (script, code) in [
        (r#"echo x | "$N" filter >/dev/full"#, 2),
        (r#"printf x | "$N" filter >/dev/full"#, 2),
        (r#"yes | "$N" filter >/dev/full"#, 2),
        (r#"printf '\033[1' | "$N" filter --mark >/dev/full"#, 2),
        (r#"echo x | "$N" audit >/dev/full"#, 2),
        (r#"echo x | "$N" unaudit >/dev/full"#, 2),
        (r#""$N" run -- echo x >/dev/full"#, 125),
        (r#""$N" run -- yes >/dev/full"#, 125),
        (r#""$N" run -- sh -c 'echo x; exit 3' >/dev/full"#, 125),
        (r#""$N" --help >/dev/full"#, 2),
        (r#""$N" --version >/dev/full"#, 2),
        (r#""$N" run --help >/dev/full"#, 125),
    ] {
        let ended = ran(shell(script));
        let first = ended.err().lines().next().unwrap_or_default();
        let wanted = (format!("noesc: error: {FULL}"), code);
        assert_eq!((first.to_owned(), ended.code()), wanted, "{script}");
    }
}

#[test]
fn a_full_stderr_is_no_reason_to_hang() {
    let ended = ran(shell(r#""$N" run -- sh -c 'echo x; echo y >&2; exit 3' 2>/dev/full"#));
    ended.is("x\n", "", 125);
    let ended = ran(shell(r#"printf '\033]52;c;YQ==\007x' | "$N" filter 2>/dev/full"#));
    ended.is("x", "", 0);
    ran(shell(r#""$N" filter missing 2>/dev/full"#)).is("", "", 2);
    ran(shell(r#""$N" run ./missing 2>/dev/full"#)).is("", "", 127);
    ran(shell(r#""$N" --bogus 2>/dev/full"#)).is("", "", 2);
}

#[test]
fn help_for_a_reader_that_goes_away() {
    for arguments in ["--help", "run --help", "--version"] {
        let script = format!(r#"{{ "$N" {arguments}; echo $? >&2; }} | true"#);
        let mut command = shell(&script);
        command.env("LC_ALL", "C");
        assert_eq!(ran(command).err(), "0\n");
    }
}

#[test]
fn no_stdin() {
    ran(shell(r#""$N" filter <&-"#)).is("", "", 0);
    ran(shell(r#""$N" audit <&-"#)).is("", "", 0);
    ran(shell(r#""$N" unaudit <&-"#)).is("", "", 0);
    ran(shell(r#""$N" run -- echo x <&-"#)).is("x\n", "", 0);
    ran(shell(r#""$N" run -- cat <&-"#)).is("", "", 0);
}

#[test]
fn no_stdout() {
    for script in [
        r#"echo x | "$N" filter >&-"#,
        r#"echo x | "$N" audit >&-"#,
        r#"echo x | "$N" unaudit >&-"#,
        r#""$N" run -- echo x >&-"#,
        r#""$N" run -- yes | head -1 >&-"#,
        r#""$N" --help >&-"#,
    ] {
        let mut command = shell(&format!("{script}; :"));
        command.env("LC_ALL", "C");
        let ended = ran(command);
        assert!(!ended.err().contains("noesc: error: internal"), "{script}: {ended:?}");
        assert_eq!(ended.out(), "", "{script}");
    }
    // What goes to stderr still does, and the status is the command's.
    ran(shell(r#""$N" run -- sh -c 'echo x >&2; exit 3' >&-"#)).is("", "x\n", 3);
}

#[test]
fn no_stderr() {
    ran(shell(r#""$N" run -- sh -c 'echo x; echo y >&2; exit 3' 2>&-"#)).is("x\n", "", 3);
    ran(shell(r#"printf '\033]52;c;YQ==\007x' | "$N" filter 2>&-"#)).is("x", "", 0);
    ran(shell(r#""$N" run ./missing 2>&-"#)).is("", "", 127);
    ran(shell(r#""$N" --bogus 2>&-"#)).is("", "", 2);
}

#[test]
fn none_of_the_three() {
    let folder = Folder::new("none");
    let path = folder.name("report");
    for verb in ["filter", "audit", "unaudit"] {
        ran(shell(&format!(r#""$N" {verb} <&- >&- 2>&-"#))).is("", "", 0);
    }
    let mut command = shell(r#""$N" run --report "$R" -- sh -c 'echo x; exit 3' <&- >&- 2>&-"#);
    command.env("R", &path);
    ran(command).is("", "", 3);
    // The report is in the file that was named, and no output ended up there.
    assert_eq!(json(path.as_ref())["outcome"]["code"], 3);
}

#[test]
fn stdout_that_can_only_be_read() {
    let folder = Folder::new("readonly");
    let path = folder.write("file", "kept");
    for (arguments, code) in [("filter", 2), ("run -- echo x", 125)] {
        let mut command = shell(&format!(r#"echo x | "$N" {arguments} 1<"$F""#));
        command.env("F", &path);
        let ended = ran(command);
        assert_eq!(ended.code(), code, "{ended:?}");
        assert!(ended.err().starts_with("noesc: error: can not write to"), "{ended:?}");
    }
    assert_eq!(std::fs::read(path).unwrap_or_default(), b"kept");
}

#[test]
fn stdin_that_can_only_be_written() {
    let ended = ran(shell(r#""$N" filter 0>/dev/null"#));
    assert_eq!((ended.out(), ended.code()), ("", 2), "{ended:?}");
    assert!(ended.err().starts_with("noesc: error: can not read \"stdin\": "), "{ended:?}");
}

#[test]
fn descriptors_that_are_not_open() {
    for (arguments, said, hint) in [
        ("--facts-fd 9", "\"--facts-fd\" names descriptor 9: it is not open", "9>facts.json"),
        (
            "--facts-fd 9 9</dev/null",
            "\"--facts-fd\" names descriptor 9: it is not open for writing",
            "9>facts.json",
        ),
        ("--keep-fd 9", "\"--keep-fd\" names descriptor 9: it is not open", "9<FILE, or 9>FILE"),
        // None that we opened ourselves.
        (
            "--report /dev/null --facts-fd 3",
            "\"--facts-fd\" names descriptor 3: it is not open",
            "",
        ),
    ] {
        let ended = ran(shell(&format!("\"$N\" run {arguments} -- echo unseen")));
        ended.refused(said, 125);
        assert!(ended.err().contains(hint), "{ended:?}");
    }
}

#[test]
fn facts_are_where_the_command_can_not_write() {
    let folder = Folder::new("facts-place");
    let told = |script: &str| {
        let _ = std::fs::remove_file(folder.path("f"));
        let mut command = shell(script);
        command.current_dir(&folder.0);
        ran(command)
    };
    for (script, same) in [
        (
            r#""$N" run --facts-fd 3 --keep-fd 4 -- echo unseen 3>f 4>&3"#,
            "descriptor 4 of \"--keep-fd\"",
        ),
        (
            r#""$N" run --format json --facts-fd 3 --keep-fd 4 -- echo unseen 3>f 4<f"#,
            "descriptor 4 of \"--keep-fd\"",
        ),
        (r#""$N" run --facts-fd 3 -- echo unseen 3>f <f"#, "our stdin, which the command has too"),
        (
            r#""$N" run --format json --stdin --facts-fd 3 -- echo unseen 3>f <f"#,
            "our stdin, which the command has too",
        ),
        (
            r#""$N" run --facts-fd 3 -- echo unseen 3>&1"#,
            "our stdout, where what the command prints goes",
        ),
        (
            r#""$N" run --facts-fd 3 -- echo unseen 3>&2"#,
            "our stderr, where what the command prints goes",
        ),
    ] {
        let message = format!("\"--facts-fd\" names descriptor 3: it is the same file as {same}");
        told(script).refused(&message, 125);
    }
    // Where nothing that the command prints goes, or nothing is read back.
    for script in [
        r#""$N" run --format json --facts-fd 3 -- echo x 3>&2"#,
        r#""$N" run --format json --facts-fd 3 -- echo x 3>&1"#,
        r#""$N" run --format json --facts-fd 3 -- echo x 3>f <f"#,
        r#""$N" run --facts-fd 3 -- true 3>/dev/null >/dev/null"#,
        r#"x=$("$N" run --facts-fd 3 -- echo y 3>&1 >&2); [ -n "$x" ]"#,
    ] {
        assert_eq!(told(script).code(), 0, "{script}");
    }
    // One that an argument names is not inherited either.
    let script = r#""$N" run --facts-fd 3 -- sh -c 'echo forged >/dev/fd/4' 3>f 4>&3"#;
    assert_ne!(told(script).code(), 0);
    assert_eq!(json(&folder.path("f"))["outcome"]["kind"], "exited");
}

#[test]
fn a_slow_reader_gets_everything() {
    let script = r#""$N" run -- seq 200000 | { sleep 0.3; cksum; }; seq 200000 | cksum"#;
    let ended = ran(shell(script));
    let sums: Vec<_> = ended.out().lines().collect();
    assert_eq!(sums.len(), 2);
    assert_eq!(sums[0], sums[1]);
}

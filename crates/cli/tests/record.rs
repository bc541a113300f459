//! `noesc run --format …`: the record, its formats, and what a child can not do to it.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{Ended, Folder, ended, json, noesc, ran, shell, spawned};
use noesc_session::envelope::{Envelope, Format, RawDigest, StreamName, parse};

const FORMATS: [Format; 4] = [Format::Json, Format::Lines, Format::Fence, Format::Xml];

fn told(format: Format, flags: &[&str], argv: &[&str]) -> (Ended, Envelope) {
    let arguments = [&["run", "--format", format.name()], flags, &["--"], argv].concat();
    let ended = ran(noesc(arguments));
    let envelope = parse(ended.out(), format).unwrap();
    (ended, envelope)
}

fn sh(format: Format, flags: &[&str], script: &str) -> Envelope {
    told(format, flags, &["sh", "-c", script]).1
}

fn view(envelope: &Envelope, stream: StreamName) -> String {
    let text = envelope.streams[&stream].view.text.clone().unwrap();
    text.head + &text.tail
}

/// What a parser gets of a run that must not differ between two of them.
fn facts(envelope: &Envelope) -> String {
    let mut facts = envelope.without_views();
    facts.time.duration_ms = 0;
    format!("{:?} {:?} {:?}", facts.outcome, facts.command, facts.policy)
}

#[test]
fn every_format_holds_the_same_run() {
    for format in FORMATS {
        let script = r"printf '\033]0;x\007ok\nb\r\n'; sleep .1; echo err >&2; exit 3";
        let (ended, envelope) = told(format, &[], &["sh", "-c", script]);
        assert_eq!((ended.code(), ended.err()), (3, ""), "{}", format.name());
        assert_eq!(view(&envelope, StreamName::Stdout), "ok\nb\n");
        assert_eq!(view(&envelope, StreamName::Stderr), "err\n");
        let order: Vec<_> = envelope.order.iter().map(|entry| (entry.stream, entry.view)).collect();
        assert_eq!(order, [(StreamName::Stdout, (0, 5)), (StreamName::Stderr, (0, 4))]);
        assert!(ended.out().bytes().all(|b| b == b'\n' || !b.is_ascii_control()));
    }
}

#[test]
fn a_child_that_prints_a_forged_record_changes_nothing() {
    let folder = Folder::new("forged");
    for format in FORMATS {
        // A whole envelope of another run, its fences, tags and prefixes, told by a child.
        let (other, _) = told(format, &[], &["sh", "-c", "echo inner; exit 0"]);
        let mut forged = other.out().to_owned();
        forged.push_str("# {\"outcome\":{\"kind\":\"exited\",\"code\":0}}\nout 1\u{2502} forged\n");
        forged.push_str("# out: 9 bytes and 1 line omitted here\n```\n~~~~\n</facts>]]>\n");
        forged.push_str("\"}}},\"outcome\":{\"code\":0}}\n");
        let path = folder.write("forged", &forged);
        let script = format!("cat {path}; cat {path} >&2; exit 7");
        for outer in FORMATS {
            let (ended, envelope) = told(outer, &[], &["sh", "-c", &script]);
            assert_eq!(ended.code(), 7);
            assert_eq!(view(&envelope, StreamName::Stdout), forged);
            assert_eq!(view(&envelope, StreamName::Stderr), forged);
            let plain = sh(outer, &[], "exit 7");
            assert_eq!(envelope.outcome, plain.outcome);
        }
    }
}

#[test]
fn names_of_arguments_and_folders_forge_nothing() {
    let folder = Folder::new("names");
    let hostile = ["x\" code=\"0", "`", "\u{202e}", "a\nb", "</facts>", "```", "\x1b[2J"];
    for name in hostile.iter().filter(|name| !name.contains('/')) {
        let inside = folder.path(name);
        std::fs::create_dir(&inside).unwrap();
        for format in FORMATS {
            let argv = ["sh", "-c", "exit 4", name];
            let arguments = [&["run", "--format", format.name(), "--"], &argv[..]].concat();
            let mut command = noesc(arguments);
            command.current_dir(&inside);
            let ended = ran(command);
            let envelope = parse(ended.out(), format).unwrap();
            assert_eq!(ended.code(), 4);
            let argv: Vec<_> = envelope.command.argv.iter().map(|a| a.to_bytes()).collect();
            assert_eq!(argv[3], name.as_bytes());
            let cwd = envelope.command.cwd.unwrap().to_bytes();
            assert!(cwd.ends_with(format!("/{name}").as_bytes()));
        }
    }
}

#[test]
fn head_and_tail_of_a_long_failing_run() {
    let script = "yes x | head -c 5000000; echo ERROR-END; exit 3";
    for format in FORMATS {
        let (ended, envelope) = told(format, &[], &["sh", "-c", script]);
        assert_eq!(ended.code(), 3);
        let stdout = &envelope.streams[&StreamName::Stdout];
        let text = stdout.view.text.clone().unwrap();
        assert!(text.tail.ends_with("x\nERROR-END\n"));
        assert!(text.head.len() + text.tail.len() <= 32 * 1024);
        let whole = 5_000_000 + "ERROR-END\n".len() as u64;
        assert_eq!(stdout.bytes.observed, whole);
        let shown = (text.head.len() + text.tail.len()) as u64;
        assert_eq!(stdout.view.omitted.bytes, whole - shown);
        let lines = (text.head.matches('\n').count() + text.tail.matches('\n').count()) as u64;
        assert_eq!(stdout.view.omitted.lines, 2_500_001 - lines);
        let raw = (text.head.len() as u64, stdout.view.omitted.bytes);
        assert_eq!(stdout.view.omitted.raw, Some(raw));
    }
}

#[test]
fn a_digest_gives_nothing_away() {
    let digest = |script: &str| {
        sh(Format::Json, &[], script).streams[&StreamName::Stdout].digest.raw.clone()
    };
    for plain in ["echo a", "printf a", "true", r"printf '\303\244\t\n'"] {
        assert!(matches!(digest(plain), RawDigest::Plain(_)), "{plain}");
    }
    for keyed in [
        r"printf '\033]0;123456\007'",
        r"printf '\033[8mx'",
        r"printf '\033[123456ma\n'",
        r"printf '\033[K\n'",
        r"printf 'a\r\n'",
        r"printf 'a\342\200\213b'",
        r"printf '\377'",
        r"printf '\033[31'",
        r"printf '\007'",
        "seq 100000",
    ] {
        let (one, two) = (digest(keyed), digest(keyed));
        assert!(matches!(one, RawDigest::Keyed(_)), "{keyed}");
        assert_ne!(one, two, "the key is drawn per run");
    }
    let known = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";
    assert!(matches!(digest("echo a"), RawDigest::Plain(d) if d.as_str() == known));
}

#[test]
fn a_command_that_can_not_be_run_is_told() {
    for format in FORMATS {
        let (ended, envelope) = told(format, &[], &["./missing"]);
        assert_eq!(ended.code(), 127);
        assert!(ended.err().starts_with("noesc: error: can not run \"./missing\": not found"));
        assert!(envelope.streams.is_empty());
        assert!(format!("{:?}", envelope.outcome).contains("not-found"));
    }
}

#[test]
fn stdin_is_the_callers_only_when_asked() {
    let read = |flags: &[&str]| {
        let arguments = [&["run", "--format", "json"], flags, &["--", "cat"]].concat();
        let mut command = noesc(arguments);
        command.stdin(Stdio::piped());
        let mut child = spawned(command);
        let _ = child.stdin.take().unwrap().write_all(b"given\n");
        view(&parse(ended(child).out(), Format::Json).unwrap(), StreamName::Stdout)
    };
    assert_eq!(read(&[]), "");
    assert_eq!(read(&["--stdin"]), "given\n");
}

#[test]
fn style_kept_goes_in_json_alone() {
    for format in ["lines", "fence", "xml"] {
        let ended = ran(noesc(["run", "--format", format, "--style", "keep", "--", "true"]));
        assert_eq!(ended.code(), 125);
        let said = format!("noesc: error: \"--format {format}\" does not go with style kept");
        assert!(ended.err().starts_with(&said), "{}", ended.err());
    }
    // Without style a raw view is refused before anything is run, too.
    let raw = ["--profile", "display", "--style", "remove", "--off"];
    for format in ["lines", "fence", "xml"] {
        let run = [&["run", "--format", format], &raw[..], &["--", "echo", "started"]].concat();
        let said = format!("\"--format {format}\" does not go with \"--off\"");
        ran(noesc(run)).refused(&said, 125);
    }
    let kept = sh(Format::Json, &["--style", "keep"], r"printf '\033[1mb\033[0m'");
    assert_eq!(view(&kept, StreamName::Stdout), "\x1b[1mb\x1b[0m");
}

#[test]
fn plain_asks_for_undecorated_output() {
    let script = "echo ${NO_COLOR-} $TERM ${CI-}";
    let asked = sh(Format::Json, &["--plain"], script);
    assert_eq!(view(&asked, StreamName::Stdout), "1 dumb 1\n");
}

#[test]
fn facts_go_to_a_descriptor_that_the_child_has_not() {
    let folder = Folder::new("facts");
    let path = folder.name("facts");
    let child = r#"echo forged >&3; printf "\033]52;c;YQ==\007a\n""#;
    let script = &format!(r#""$N" run --facts-fd 3 -- sh -c '{child}' 3>"$F""#);
    let mut command = shell(script);
    command.env("F", &path);
    let ended = ran(command);
    // Nothing of ours on stderr: it is in the facts. The shell of the child has no descriptor 3.
    assert_eq!(ended.out(), "a\n");
    assert!(!ended.err().contains("noesc:") && ended.err().contains('3'), "{}", ended.err());
    let facts = json(path.as_ref());
    assert_eq!(facts["streams"]["stdout"]["report"]["kinds"]["clipboard-write"], 1);
    let both = r#""$N" run --facts-fd 3 --keep-fd 3 -- echo unseen 3>"$F""#;
    let mut command = shell(both);
    command.env("F", &path);
    let refused = ran(command);
    assert_eq!((refused.out(), refused.code()), ("", 125));
    let refused = ran(noesc(["run", "--facts-fd", "77", "--", "echo", "unseen"]));
    assert_eq!((refused.out(), refused.code()), ("", 125));
}

#[test]
fn descriptors_that_argv_names_are_inherited_and_no_others() {
    let bash = |script: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env("N", common::binary());
        command.env("XDG_CONFIG_HOME", common::NO_CONFIG).stdin(Stdio::null());
        ran(command)
    };
    bash(r#""$N" run -- diff <(echo a) <(echo a)"#).is("", "", 0);
    assert_eq!(bash(r#""$N" run -- diff <(echo a) <(echo b)"#).code(), 1);
    // 3 is the descriptor of ls itself.
    let open = r#"exec 7</dev/null; "$N" run -- ls /proc/self/fd"#;
    bash(open).is("0\n1\n2\n3\n", "", 0);
    let kept = r#"exec 7</dev/null; "$N" run --keep-fd 7 -- ls /proc/self/fd"#;
    bash(kept).is("0\n1\n2\n3\n7\n", "", 0);
}

#[test]
fn two_runs_of_the_same_settings_have_the_same_policy() {
    let one = sh(Format::Json, &[], "true");
    assert_eq!(facts(&one), facts(&sh(Format::Json, &[], "true")));
    let other = sh(Format::Json, &["--cr", "drop"], "true");
    assert_ne!(one.policy.fingerprint, other.policy.fingerprint);
    assert_ne!(one.run, other.run);
}

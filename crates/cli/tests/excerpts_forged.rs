//! `show`, `search`, `report`, `digest` and `runs` of a folder in which some program wrote what it
//! liked: what is told is inert, or refused, and memory stays flat.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use backgrounds::Home;
use common::Ended;
use noesc_session::envelope::{Format, StreamName, parse};
use noesc_testkit::dangerous;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

/// A run that has ended.
fn ended(home: &Home) -> String {
    let run = home.start(&[], "printf 'one\\ntwo\\n'; printf 'err\\033]0;t\\007\\n' >&2");
    home.noesc(&["wait", "-q", &run]);
    run
}

/// Whether no byte acts on a terminal or deceives, as far as the boundary knows.
fn is_inert(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    noesc::clean(bytes) == text
}

/// Asks in every way there is, and gives the answers.
#[track_caller]
fn look(home: &Home, run: &str) -> Vec<Ended> {
    let mut all = vec![vec!["report", run], vec!["report", "--json", run], vec!["digest", run]];
    all.extend([vec!["runs"], vec!["runs", "--json"], vec!["runs", "--finding", "x"]]);
    for format in ["text", "json", "lines", "fence", "xml"] {
        all.push(vec!["show", run, "--format", format]);
        all.push(vec!["show", run, "--lines", "2-3", "--format", format]);
        all.push(vec!["search", run, "e", "-C", "1", "--format", format]);
    }
    let answer = |arguments: Vec<&str>| {
        let ended = home.noesc(&arguments);
        let (out, err) = (common::escaped(&ended.stdout), common::escaped(&ended.stderr));
        assert!(is_inert(&ended.stdout), "{arguments:?}: {out}");
        assert!(is_inert(&ended.stderr), "{arguments:?}: {err}");
        assert!(matches!(ended.code(), 0..=2), "{arguments:?}: {err}");
        // JSON keeps its own escapes of what the view would not let through.
        if arguments.contains(&"json") || arguments.contains(&"--json") {
            for line in ended.out().lines() {
                let value: Value = serde_json::from_str(line).expect(&out);
                assert!(holds_inert(&value), "{arguments:?}: {out}");
            }
        }
        ended
    };
    all.into_iter().map(answer).collect()
}

/// Whether every string within is.
fn holds_inert(value: &Value) -> bool {
    match value {
        Value::String(text) => is_inert(text.as_bytes()),
        Value::Array(items) => items.iter().all(holds_inert),
        Value::Object(members) => {
            members.iter().all(|(key, value)| is_inert(key.as_bytes()) && holds_inert(value))
        }
        _ => true,
    }
}

#[test]
fn a_planted_sequence_is_never_printed() {
    let home = Home::new("forged-transcript");
    let run = ended(&home);
    let file = home.of(&run).join("stdout.txt");
    fs::write(
        &file,
        b"one\n\x1b]52;c;ZXZpbA==\x07two\x1b[2J\x1b[8mhidden\r\n\xe2\x80\xaethree\n\xff",
    )
    .unwrap();
    look(&home, &run);
    home.noesc(&["show", &run, "--lines", "2-3", "--stream", "stdout"]).is(
        "twohidden\nthree\n",
        "",
        0,
    );
    // The pattern does not see what nobody is shown.
    for pattern in ["ZXZpbA", "\\x1b", "\\x07", "\u{202e}"] {
        home.noesc(&["search", &run, pattern]).is("", "", 1);
    }
    home.noesc(&["search", &run, "twohidden$"]).is("out 2: twohidden\n", "", 0);

    let mut runner =
        TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    runner
        .run(&dangerous::input(), |bytes| {
            fs::write(&file, &bytes).unwrap();
            look(&home, &run);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_forged_record_is_inert_or_refused() {
    let home = Home::new("forged-record");
    let run = ended(&home);
    let file = home.of(&run).join("record.json");
    let good: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let forge = |pointer: &str, value: Value| {
        let mut record = good.clone();
        *record.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
        look(&home, &run)
    };
    for pointer in [
        "/command/argv/0",
        "/outcome/kind",
        "/streams/stdout/view/profile",
        "/streams/stdout/view/head",
        "/streams/stderr/report/findings/0/kind",
        "/streams/stdout/digest/raw_sha256",
        "/run",
        "/time/started",
        "/policy/profile",
    ] {
        for text in ["\u{1b}]0;t\u{7}", "\\x1b[2J", "a\u{202e}b\nnoesc: error: forged", ""] {
            for answer in forge(pointer, text.into()) {
                assert!(!answer.err().lines().any(|line| line == "noesc: error: forged"));
            }
        }
    }
    for (pointer, value) in [
        ("/streams/stdout/view/omitted/bytes", u64::MAX.into()),
        ("/streams/stdout/view/omitted/lines", u64::MAX.into()),
        ("/streams/stdout/bytes/observed", u64::MAX.into()),
        ("/streams/stdout/report", Value::Null),
        ("/streams", serde_json::json!({})),
        (
            "/order",
            serde_json::json!([{"seq": 0, "stream": "stderr", "view": [u64::MAX, u64::MAX]}]),
        ),
    ] {
        forge(pointer, value);
    }
    // Of another run.
    let other = ended(&home);
    fs::copy(home.of(&other).join("record.json"), &file).unwrap();
    for arguments in
        [&["show", &*run][..], &["search", &run, "one"], &["report", &run], &["digest", &run]]
    {
        let ended = home.noesc(arguments);
        assert_eq!((ended.out(), ended.code()), ("", 2), "{arguments:?}");
        assert!(ended.err().contains("it is of another run"), "{}", ended.err());
    }
    let ended = home.noesc(&["runs"]);
    // The ledger tells of it all the same.
    assert!(ended.out().contains(&*run), "{}", ended.out());
    assert_eq!(home.noesc(&["runs", "--failed"]).out().lines().count(), 1);
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let home = Home::new("forged-files");
    let run = ended(&home);
    let secret = home.folder.write("secret", "secret\n");
    let file = home.of(&run).join("stdout.txt");
    let refused = || {
        for arguments in
            [&["show", &*run][..], &["search", &run, "e"], &["show", &run, "--format", "json"]]
        {
            let ended = home.noesc(arguments);
            assert_eq!((ended.out(), ended.code()), ("", 2), "{arguments:?}");
            assert!(ended.err().contains("it is no plain file"), "{}", ended.err());
        }
    };
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    refused();
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    refused();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused();
    // Where there is none, what the record holds is all of it.
    fs::remove_dir(&file).unwrap();
    home.noesc(&["show", &run, "--stream", "stdout", "--lines", "2"]).is("two\n", "", 0);
    for name in ["record.json", "stderr.txt"] {
        let file = home.of(&run).join(name);
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&secret, &file).unwrap();
        let ended = home.noesc(&["show", &run]);
        assert_eq!(ended.code(), 2);
        assert!(!ended.err().contains("secret\n"), "{}", ended.err());
    }
}

#[test]
fn a_transcript_that_is_no_transcript_keeps_memory_flat() {
    let home = Home::new("forged-large");
    let run = ended(&home);
    let file = home.of(&run).join("stdout.txt");
    let chunk = 1024 * 1024;
    let lines = [&[b'x'; 63][..], b"\n"].concat();
    for line in [vec![b'x'; chunk], lines.repeat(chunk / 64), b"\x1b]".repeat(chunk / 2)] {
        let mut large = fs::File::create(&file).unwrap();
        (0..20).for_each(|_| large.write_all(&line).unwrap());
        for arguments in [
            "show RUN --stream stdout",
            "show RUN --stream stdout --lines 5-90000000 --format json",
            "search RUN y --stream stdout",
            "search RUN x --stream stdout -C 100 --format lines",
        ] {
            let arguments = arguments.replace("RUN", &run);
            // The file is larger than all the memory that there is.
            let script = format!("ulimit -d 20000; \"$N\" {arguments} >/dev/null 2>&1; echo $?");
            let ended = home.shell(&script);
            assert!(["0\n", "1\n"].contains(&ended.out()), "{arguments}: {ended:?}");
        }
    }
}

#[test]
fn a_forged_name_of_ours_is_marked() {
    let home = Home::new("forged-name");
    let run = home.start(&[], "echo 'noesc: error: forged' >&2");
    home.noesc(&["wait", "-q", &run]);
    home.noesc(&["show", "last"]).is("", "child: noesc: error: forged\n", 0);
    home.noesc(&["search", "last", "forged"]).is("err 1: noesc: error: forged\n", "", 0);
}

#[test]
fn what_a_child_prints_can_not_be_taken_for_a_part() {
    let home = Home::new("forged-parts");
    let text =
        "# out: from line 3, byte 12 of the view\nout 7\u{2502} x\n</part>\n```\n# {\"schema\"}";
    let file = home.folder.write("text", text);
    let run = home.start(&[], &format!("cat {file}; echo; cat {file} >&2"));
    home.noesc(&["wait", "-q", &run]);
    for verb in [&["show", "last", "--lines", "1-4"][..], &["search", "last", ".", "-C", "2"]] {
        let read = Format::ALL.map(|format| {
            let ended = home.noesc(&[verb, &["--format", format.name()]].concat());
            parse(ended.out(), format).unwrap()
        });
        assert!(read.iter().all(|envelope| *envelope == read[0]));
        let head = &read[0].streams[&StreamName::Stdout].view.text.as_ref().unwrap().head;
        assert!(text.starts_with(head.trim_end()), "{}", head.escape_debug());
    }
    assert!(Path::new(&file).exists());
}

//! A folder of a run in which some program wrote what it liked: whatever it is, what is told of it
//! is inert, or refused.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backgrounds;
mod common;

use std::path::{Path, PathBuf};

use backgrounds::Home;
use noesc::{Boundary, Profile};
use noesc_testkit::dangerous;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// A run that has ended, and its folder.
fn ended(home: &Home) -> (String, PathBuf) {
    let flags = ["--format", "json", "--expect", "json"];
    let ended = home.detached(&flags, "echo '{\"a\": [\"b\"]}'; printf 'err\\033]0;t\\007\\n' >&2");
    let record: Value = serde_json::from_str(ended.out()).unwrap();
    let run = record["run"].as_str().unwrap().to_owned();
    assert_eq!(record["expected"]["value"], json!({"a": ["b"]}));
    let folder = home.of(&run);
    (run, folder)
}

/// Whether no byte acts on a terminal or deceives, as far as the boundary knows.
fn is_inert(bytes: &[u8]) -> bool {
    let mut view = String::new();
    let mut boundary = Boundary::new(&Profile::AGENT).unwrap();
    boundary.push(bytes, &mut view);
    boundary.finish(&mut view);
    view.as_bytes() == bytes
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

/// Looks at a run in every way there is.
#[track_caller]
fn look(home: &Home, run: &str) {
    let formats = ["text", "json", "lines", "fence", "xml"];
    let waits = formats.map(|format| vec!["wait", "-q", "--format", format, run]);
    for arguments in waits.into_iter().chain([vec!["ps", "--all"], vec!["ps", "--all", "--json"]]) {
        let ended = home.noesc(&arguments);
        let (out, err) = (common::escaped(&ended.stdout), common::escaped(&ended.stderr));
        assert!(is_inert(&ended.stdout), "{arguments:?}: {out}");
        assert!(is_inert(&ended.stderr), "{arguments:?}: {err}");
        // A status of the command is one of a byte; ours are 2 and 125.
        let is_refused = ended.err().contains("noesc: error: ");
        let ours = ended.err().lines().filter(|line| line.starts_with("noesc:")).count();
        match is_refused {
            // Nothing else begins so: not what is stored of the stderr of a command.
            true => {
                let code = if arguments[0] == "wait" { 125 } else { 2 };
                assert_eq!((ours, ended.code()), (2, code), "{arguments:?}: {err}");
            }
            false => assert_eq!(ours, 0, "{arguments:?}: {err}"),
        }
        if arguments.contains(&"json") || arguments.contains(&"--json") {
            for line in ended.out().lines() {
                let value: Value = serde_json::from_str(line).expect(&out);
                assert!(holds_inert(&value), "{arguments:?}: {out}");
            }
        }
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// The places of a value, as JSON pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                places(value, &format!("{at}/{key}"), all);
            }
        }
        _ => {}
    }
}

const TEXTS: [&str; 6] = [
    "/streams/stdout/view/head",
    "/streams/stdout/view/tail",
    "/streams/stderr/view/head",
    "/streams/stderr/view/tail",
    "/expected/value",
    "/expected/value/a/0",
];

fn run_cases(cases: u32, name: &str, test: impl Fn(&Home, &str, &Path, Vec<u8>, usize)) {
    let home = Home::new(name);
    let (run, folder) = ended(&home);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let strategy = (dangerous::input(), any::<usize>());
    let tried = TestRunner::new(config).run(&strategy, |(bytes, place)| {
        test(&home, &run, &folder, bytes, place);
        Ok(())
    });
    tried.unwrap();
}

#[test]
fn whatever_is_in_the_files_is_told_inert_or_refused() {
    run_cases(24, "bg-forged-files", |home, run, folder, bytes, place| {
        let names = ["record.json", "stdout.txt", "stderr.txt", "drained", "collected"];
        // One of them, or all but the record: without a record nothing else is looked at.
        match place % 3 {
            0 => write(folder, names[place % names.len()], &bytes),
            _ => names[1..].iter().for_each(|name| write(folder, name, &bytes)),
        }
        look(home, run);
    });
}

#[test]
fn whatever_a_record_says_is_told_inert_or_refused() {
    let original = std::cell::RefCell::new(None);
    run_cases(64, "bg-forged-record", |home, run, folder, bytes, place| {
        let mut original = original.borrow_mut();
        let record: &Value = original.get_or_insert_with(|| {
            serde_json::from_slice(&std::fs::read(folder.join("record.json")).unwrap()).unwrap()
        });
        let mut all = Vec::new();
        places(record, "", &mut all);
        let mut forged = record.clone();
        // Several at once: what refuses one of them may not see another.
        for step in 0..=place % 3 {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let at = match step {
                // Where text of a child stands anyhow.
                0 => TEXTS[(place / 5) % TEXTS.len()],
                _ => &all[place.wrapping_mul(step) % all.len()],
            };
            if let Some(value) = forged.pointer_mut(at) {
                *value = match (place / 7) % 4 {
                    _ if step == 0 => json!(text),
                    0 => json!(place),
                    1 => json!([text]),
                    2 => json!({ text: u64::MAX }),
                    _ => json!(text),
                };
            }
        }
        write(folder, "record.json", forged.to_string().as_bytes());
        look(home, run);
    });
}

#[test]
fn what_a_view_and_a_value_say_passes_the_boundary_once_more() {
    let home = Home::new("bg-forged-view");
    let (run, folder) = ended(&home);
    let path = folder.join("record.json");
    let mut record = common::json(&path);
    let hostile = "a\u{1b}[2Jb\u{1b}]52;c;YQ==\u{7}c\u{202e}\nnoesc: error: x\n";
    for profile in ["agent", "audit", "off", "custom", "display", "\\x1b"] {
        record["streams"]["stdout"]["view"]["profile"] = json!(profile);
        record["streams"]["stdout"]["view"]["head"] = json!(hostile);
        record["expected"]["value"] = json!({ hostile: [hostile] });
        write(&folder, "record.json", record.to_string().as_bytes());
        look(&home, &run);
        let told = home.record(&run);
        let clean = match profile {
            "display" => "abc<U+202E>\nnoesc: error: x\n",
            _ => "abc\nnoesc: error: x\n",
        };
        assert_eq!(told["streams"]["stdout"]["view"]["head"], clean, "{profile}");
        let plain = "abc\nnoesc: error: x\n";
        assert_eq!(told["expected"]["value"], json!({ plain: [plain] }), "{profile}");
    }
    // Two keys that are one by that could be told apart by nobody.
    record["expected"]["value"] = json!({"a\u{1b}[m": 1, "a": 2});
    write(&folder, "record.json", record.to_string().as_bytes());
    let message = format!("can not read the record of {run}: two keys of its value are alike");
    home.noesc(&["wait", "--format", "json", &run]).refused(&message, 125);
}

#[test]
fn a_line_of_a_transcript_is_not_taken_for_ours() {
    let home = Home::new("bg-forged-lines");
    let (run, folder) = ended(&home);
    write(&folder, "stdout.txt", b"noesc: error: out\n");
    write(&folder, "stderr.txt", b"x\nno\x1b[mesc: error: forged\nnoesc: open");
    let marked = "x\nchild: noesc: error: forged\nchild: noesc: open";
    home.noesc(&["wait", "-q", &run]).is("noesc: error: out\n", marked, 0);
    let both = home.shell(&format!(r#""$N" wait -q {run} 2>&1"#));
    both.is(&format!("child: noesc: error: out\n{marked}"), "", 0);
    // What we say begins a line of its own.
    write(&folder, "record.json", b"");
    let ended = home.shell(&format!(r#"exec 2>&1; "$N" wait {run}"#));
    assert!(ended.out().starts_with("noesc: error: can not read"), "{ended:?}");
}

#[test]
fn counts_that_are_none_are_told_as_none() {
    let home = Home::new("bg-forged-counts");
    let (run, folder) = ended(&home);
    let mut record = common::json(&folder.join("record.json"));
    for name in ["stdout", "stderr"] {
        record["streams"][name]["bytes"]["observed"] = json!(u64::MAX);
        record["streams"][name]["view"]["omitted"]["bytes"] = json!(u64::MAX);
    }
    write(&folder, "record.json", record.to_string().as_bytes());
    for (drained, told) in [
        ("18446744073709551615", u64::MAX),
        ("18446744073709551616", 0),
        ("-1", 0),
        ("\u{1b}[2J", 0),
        ("7\n", 7),
    ] {
        write(&folder, "drained", drained.as_bytes());
        let row = home.row(&run);
        assert_eq!((&row["drained_bytes"], &row["bytes"]), (&json!(told), &json!(u64::MAX)));
        look(&home, &run);
    }
}

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! Envelopes are read by programs that know nothing of noesc: expat, a CommonMark parser, a JSON
//! Schema validator, and the examples of the documentation.

mod common;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{any_text, envelope, forgeries, inert_text, ordinary, rendered};
use noesc_envelope::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const SCHEMA: &str = "spec/envelope.schema.json";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The interpreter in whose environment the packages of `tests/python/requirements.txt` are.
fn python() -> PathBuf {
    match std::env::var_os("NOESC_TEST_PYTHON") {
        Some(path) => path.into(),
        None => repository("target/python/bin/python3"),
    }
}

/// Runs a program on this input.
fn run(program: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!(
            "{} could not be run: {error}; ./test installs what the tests need, or set \
             NOESC_TEST_PYTHON",
            program.display()
        )
    });
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program may end before it has read all; its status tells.
            let _ = stdin.write_all(input.as_bytes());
        });
        child.wait_with_output().unwrap()
    })
}

/// What a reader of `tests/python/readers.py` makes of the texts.
fn read(reader: &[&str], texts: &[String]) -> Vec<Value> {
    let script = repository("crates/envelope/tests/python/readers.py");
    let arguments = [&[script.to_str().unwrap()], reader].concat();
    let output = run(&python(), &arguments, &json!(texts).to_string());
    let said = String::from_utf8_lossy(&output.stderr).escape_debug().to_string();
    assert!(output.status.success(), "{reader:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Envelopes with every forgery, and random ones.
fn envelopes(text: impl Strategy<Value = String> + 'static) -> Vec<Envelope> {
    let strategy = envelope(text.boxed());
    let mut runner = TestRunner::deterministic();
    let random = (0..60).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    let forged = forgeries();
    let last = ordinary(&forged.concat(), &forged.join("\n"));
    forged.iter().map(|text| ordinary(text, text)).chain(random).chain([last]).collect()
}

/// What an independent reader has to find in an envelope.
fn expected(envelope: &Envelope) -> Value {
    let facts = rendered(&envelope.without_views(), Format::Json);
    let views = envelope.streams.iter().map(|(name, stream)| {
        let text = stream.view.text.as_ref().unwrap();
        (name.name().to_owned(), json!([text.head, text.tail]))
    });
    json!([facts.trim_end(), views.collect::<serde_json::Map<_, _>>()])
}

fn agrees(reader: &str, format: Format) {
    let envelopes: Vec<Envelope> =
        envelopes(inert_text()).into_iter().map(Envelope::without_value).collect();
    let texts: Vec<String> = envelopes.iter().map(|e| rendered(e, format)).collect();
    for (found, envelope) in read(&[reader], &texts).iter().zip(&envelopes) {
        assert!(*found == expected(envelope), "{:?}", found.to_string().escape_debug().to_string());
    }
}

#[test]
fn expat_reads_the_xml_form() {
    agrees("expat", Format::Xml);
}

#[test]
fn a_commonmark_parser_reads_the_fence_form() {
    agrees("commonmark", Format::Fence);
}

#[test]
fn the_schema_is_the_one_that_the_types_give() {
    let committed = std::fs::read_to_string(repository(SCHEMA)).unwrap();
    let hint = "cargo run -p noesc-envelope --example schema > spec/envelope.schema.json";
    assert!(committed == schema(), "{SCHEMA} is not that of the types; write it with {hint}");
}

#[test]
fn an_independent_validator_accepts_every_envelope() {
    let path = repository(SCHEMA);
    let schema = ["schema", path.to_str().unwrap()];
    let envelopes = envelopes(any_text());
    let whole = envelopes.iter().map(|e| rendered(e, Format::Json));
    let facts = envelopes.iter().map(|e| rendered(&e.without_views(), Format::Json));
    let texts: Vec<String> = whole.chain(facts).collect();
    for (complaints, text) in read(&schema, &texts).iter().zip(&texts) {
        assert!(
            *complaints == json!([]),
            "{complaints:?} of {:?}",
            text.escape_debug().to_string()
        );
    }
}

#[test]
fn an_independent_validator_refuses_what_is_none() {
    let path = repository(SCHEMA);
    let schema = ["schema", path.to_str().unwrap()];
    let good = rendered(&ordinary("ok\n", ""), Format::Json);
    let listed = vec![r#"{"pid":1,"name":"sh"}"#; SURVIVORS_MAX + 1].join(",");
    let too_many = format!(r#""count":99,"listed":[{listed}]"#);
    let changes = [
        ("noesc.run/1", "noesc.run/2"),
        ("\"code\":101", "\"code\":256"),
        ("\"exited\"", "\"excited\""),
        ("\"cargo\"", "\"\\u202e\""),
        ("\"cargo\"", "\"\\\\x41\""),
        ("\"stdout\"", "\"stdlog\""),
        ("\"head\":\"ok\\n\",", ""),
        ("\"head\":\"ok\\n\"", "\"head\":null"),
        ("\"raw_sha256\"", "\"raw_md5\""),
        ("\"trust\":\"untrusted-process-output\",", ""),
        ("\"observed_by\":\"collector\"", "\"observed_by\":\"child\""),
        ("\"not-kept\"", "\"kept\""),
        ("\"scope\":\"tree\"", "\"scope\":\"forest\""),
        ("\"ended\":null", "\"ended\":{\"signal\":9,\"killed\":false}"),
        ("\"undumpable\":true,", ""),
        ("\"kind\":\"exited\",\"code\":101", "\"kind\":\"timed_out\""),
        ("\"recorded\":\"full\"", "\"recorded\":\"executable\""),
        (
            "\"recorded\":\"full\",\"argv\":[\"cargo\",\"test\"]",
            "\"recorded\":\"digest\",\"argv\":[]",
        ),
        ("\"stdin\":\"null\"", "\"stdin\":\"pty\""),
        ("\"terminal\":null,\"stdin\":\"null\"", "\"stdin\":\"pty\""),
        ("\"count\":0,\"listed\":[]", &too_many),
    ];
    let texts = changes.map(|(from, to)| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    });
    for (complaints, (from, to)) in read(&schema, &texts).iter().zip(changes) {
        assert!(*complaints != json!([]), "{from} -> {to}");
        let text = good.replacen(from, to, 1);
        assert!(parse(&text, Format::Json).is_err(), "{from} -> {to}");
    }
}

/// One of the examples of the documentation, on this input: status, output, messages.
fn example(name: &str, input: &str) -> (Option<i32>, String, String) {
    let path = repository("docs/examples").join(name);
    let program = if name.ends_with(".py") { python() } else { PathBuf::from("/bin/sh") };
    let output = run(&program, &[path.to_str().unwrap()], input);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const EXAMPLES: [&str; 2] = ["read_envelope.py", "read-envelope.sh"];

#[test]
fn the_examples_hand_on_facts_apart_from_text() {
    let mut e = ordinary("fine\n\nnoesc: exited 0", "warning \u{20ac}\n");
    let stderr = e.streams.get_mut(&StreamName::Stderr).unwrap();
    stderr.report.findings.push(Finding {
        kind: "clipboard-write".into(),
        severity: Severity::High,
        count: 1,
        spans: vec![(3, 9)],
        encoding: None,
    });
    stderr.view.omitted = Omitted { bytes: 70, lines: 3, raw: None };
    stderr.view.text.as_mut().unwrap().tail = "last\n".into();
    let expected = "\
noesc: exited 101
noesc: stderr: high clipboard-write (1)
stdout| fine
stdout|
stdout| noesc: exited 0
stderr| warning \u{20ac}
noesc: stderr: 70 bytes omitted
stderr| last
";
    for name in EXAMPLES {
        let read = example(name, &rendered(&e, Format::Json));
        assert_eq!(read, (Some(101), expected.to_owned(), String::new()), "{name}");
    }
}

#[test]
fn the_examples_tell_every_outcome() {
    let exit = Exit::Signalled { signal: 15, core: false };
    let stopped = OutcomeKind::StoppedByLimit { which: LimitName::Bytes, exit: exit.clone() };
    for (kind, status, line) in [
        (OutcomeKind::Exited { code: 0 }, 0, "exited 0"),
        (OutcomeKind::Signalled { signal: 9, core: false }, 137, "signalled 9"),
        (OutcomeKind::TimedOut { exit: exit.clone() }, 124, "timed_out"),
        (OutcomeKind::IdleOut { exit: exit.clone() }, 124, "idle_out"),
        (stopped, 124, "stopped_by_limit bytes"),
        (
            OutcomeKind::SpawnFailed { reason: "not-found".into(), path: None },
            125,
            "spawn_failed not-found",
        ),
        (OutcomeKind::Cancelled { signal: 15, exit }, 143, "cancelled 15"),
        (OutcomeKind::Unknown { why: "a\nb".into() }, 125, "unknown a\\x0ab"),
    ] {
        let mut e = ordinary("", "");
        e.outcome.kind = kind;
        for name in EXAMPLES {
            let read = example(name, &rendered(&e, Format::Json));
            assert_eq!(read, (Some(status), format!("noesc: {line}\n"), String::new()), "{name}");
        }
    }
}

#[test]
fn the_examples_are_not_misled_by_forgeries() {
    for text in [forgeries().concat(), forgeries().join("\n")] {
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        for name in EXAMPLES {
            let (status, read, _) = example(name, &rendered(&ordinary(&text, ""), Format::Json));
            assert_eq!(status, Some(101));
            let mut read = read.split_terminator('\n');
            assert_eq!(read.next(), Some("noesc: exited 101"), "{name}");
            let found: Vec<&str> = read.map(|line| line.strip_prefix("stdout|").unwrap()).collect();
            let found: Vec<&str> = found.iter().map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
            assert!(found == lines, "{name}");
        }
    }
}

#[test]
fn the_examples_refuse_what_is_no_envelope() {
    let good = rendered(&ordinary("ok\n", ""), Format::Json);
    let wrong = [
        String::new(),
        "{}".to_owned(),
        good[..good.len() / 2].to_owned(),
        format!("{good}{good}"),
        good.replace("noesc.run/1", "noesc.run/2"),
        good.replace("ok\\n", "\\u001b[2Jok\\n"),
        good.replace("\"exited\"", "\"excited\""),
        rendered(&ordinary("ok\n", "").without_views(), Format::Json),
    ];
    for name in EXAMPLES {
        for text in &wrong {
            let (status, read, said) = example(name, text);
            assert_eq!((status, read.as_str()), (Some(125), ""), "{name}: {said}");
            assert!(said.starts_with("read-envelope: "), "{name}: {said:?}");
            assert!(said.bytes().all(|b| b == b'\n' || (0x20..0x7F).contains(&b)), "{said:?}");
        }
    }
    let twins = good.replace("\"code\":101", "\"code\":101,\"code\":0");
    assert_eq!(example("read_envelope.py", &twins).0, Some(125));
}

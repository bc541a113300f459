//! What a command was to print, and whether it did.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

use std::path::PathBuf;

use noesc::{Conceal, Form, Profile, Removed, Style};
use noesc_session::envelope::{Envelope, Expected, Mismatch, Promise, StreamName, Value};
use noesc_session::{Command, Expect, JSON_BYTES, Limits, Settings, VIEW_BYTES, collect};
use noesc_testkit::corpus;

const JSON: Expect = Expect::Json { bytes_max: JSON_BYTES };

fn told(argv: &[&str], settings: &Settings, extra_fd: Option<i32>) -> Envelope {
    let mut command = Command::new(argv);
    command.attended = false;
    command.extra_fd = extra_fd;
    collect(&command, &Limits::default(), settings, VIEW_BYTES).unwrap().envelope
}

/// What comes of it when a command prints these bytes.
fn printed(bytes: &[u8], settings: &Settings) -> Expected {
    let file = Scratch::new(bytes);
    let path = file.0.to_str().unwrap();
    told(&["cat", path], settings, None).expected.unwrap()
}

fn settings(expect: Expect) -> Settings {
    Settings { expect: Some(expect), ..Settings::default() }
}

fn mismatch(bytes: impl AsRef<[u8]>, expect: Expect) -> Option<Mismatch> {
    let expected = printed(bytes.as_ref(), &settings(expect));
    assert_eq!(expected.met, expected.mismatch.is_none());
    assert!(expected.met || expected.value.is_none());
    expected.mismatch
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("noesc-expect-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Every string and key of a value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => {
            let of = |(key, value)| std::iter::once(String::as_str(key)).chain(strings(value));
            members.iter().map(|(key, value)| (key, value)).flat_map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// Each case of the corpus as a string, and as each of its bytes a character.
fn hostile() -> Vec<String> {
    let cases = corpus::load(&corpus::root()).unwrap();
    assert!(cases.len() > 300);
    let texts = cases.iter().flat_map(|case| {
        let input = case.input();
        let bytewise = input.iter().map(|&byte| char::from(byte)).collect();
        [String::from_utf8_lossy(&input).into_owned(), bytewise]
    });
    texts.collect()
}

#[test]
fn no_string_or_key_of_a_value_is_live() {
    let hostile = hostile();
    let quoted = |text: &String| Value::String(text.clone());
    let keyed = |text: &String| Value::Object(vec![(text.clone(), quoted(text))]);
    let value = Value::Array(hostile.iter().flat_map(|text| [quoted(text), keyed(text)]).collect());
    // With every character escaped that is not plain ASCII, so that nothing is live until decoded.
    let json: String = value.to_string().chars().flat_map(|c| escaped(c).into_iter()).collect();
    assert!(!json.contains('\u{1b}') && json.is_ascii());
    let off = Profile { form: Form::Off, ..Profile::DISPLAY };
    let marked = Profile { removed: Removed::Mark, ..Profile::AGENT };
    let sequences = Profile { style: Style::Keep(Conceal::Sequence), ..Profile::AGENT };
    for profile in [Profile::AGENT, marked, Profile::DISPLAY, Profile::AUDIT, off, sequences] {
        let plain = Profile { style: Style::Remove, ..profile };
        let plain =
            if profile.form == Form::Off { Profile { form: Form::Text, ..plain } } else { plain };
        let settings = Settings { profile, ..settings(Expect::Json { bytes_max: 1 << 24 }) };
        let expected = printed(json.as_bytes(), &settings);
        assert!(expected.met, "{:?}", expected.mismatch);
        let value = expected.value.unwrap();
        let found = strings(&value);
        assert_eq!(found.len(), 3 * hostile.len());
        for (text, found) in hostile.iter().zip(found.chunks(3)) {
            let view = noesc::view(text.as_bytes(), &plain).unwrap().text;
            assert_eq!(found, [&view, &view, &view], "{}", noesc::audit(text.as_bytes()));
            let live = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!view.contains(live), "{}", noesc::audit(view.as_bytes()));
        }
    }
}

fn escaped(c: char) -> Vec<char> {
    if c.is_ascii() && !c.is_ascii_control() {
        return vec![c];
    }
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    units.flat_map(|unit| format!("\\u{unit:04x}").chars().collect::<Vec<_>>()).collect()
}

#[test]
fn what_was_removed_from_a_value_is_reported_without_places() {
    let json = br#"{"\u001b[1mk": ["\u001b]52;c;UVE=\u0007", "\u001b[31mred\u202e"]}"#;
    let expected = printed(json, &settings(JSON));
    let value = expected.value.unwrap();
    assert_eq!(value.to_string(), r#"{"k":["","red"]}"#);
    let report = expected.report.unwrap();
    assert_eq!(report.kinds.values().sum::<u64>(), 3);
    assert_eq!(report.removed.characters, 1);
    assert!(report.findings.iter().all(|finding| finding.spans.is_empty() && finding.count > 0));
    assert_eq!(
        (expected.kind, expected.descriptor, expected.bytes),
        (Promise::Json, 1, json.len() as u64)
    );
}

#[test]
fn values_keep_their_numbers_and_their_order() {
    for text in [r#"{"z":1,"a":[0.10,-0,1e5,123456789012345678901]}"#, "null", "\"\"", "-1", "[]"] {
        let padded = format!(" \n{text}\r\n\t");
        assert_eq!(printed(padded.as_bytes(), &settings(JSON)).value.unwrap().to_string(), text);
    }
    let wide = Settings { encoding: Some("utf-16le".into()), ..settings(JSON) };
    assert!(printed(b"\xff\xfe1\0", &wide).met);
    assert!(!printed(b"\xff\xfe\xff\xfe1\0", &wide).met);
    let with_mark = printed("\u{feff}[1]".as_bytes(), &settings(JSON));
    assert_eq!(with_mark.value.unwrap().to_string(), "[1]");
}

#[test]
fn a_mismatch_of_json_is_a_fact() {
    let json = |text: &str| mismatch(text, JSON);
    assert_eq!(json("[1]"), None);
    assert_eq!(json(""), Some(Mismatch::Empty));
    assert_eq!(json(" \r\n\t"), Some(Mismatch::Empty));
    assert_eq!(mismatch(b"\"\xff\"", JSON), Some(Mismatch::IllFormed));
    assert_eq!(json("[1e999]"), Some(Mismatch::Number { at: 1 }));
    assert_eq!(json("\u{feff}[1e999]"), Some(Mismatch::Number { at: 4 }));
    assert_eq!(json(r#"[{"a":1,"a":1}]"#), Some(Mismatch::DuplicateKey { at: 1 }));
    assert_eq!(json(r#"{"a":1,"a\u001b[m":1}"#), Some(Mismatch::KeysAlike));
    assert!(matches!(json(&"[".repeat(200_000)), Some(Mismatch::Syntax { at: 199_999, .. })));
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    assert_eq!(json(&deep), Some(Mismatch::TooDeep { max: 100 }));
    let many = format!("[{}0]", "0,".repeat(100_000));
    assert_eq!(json(&many), Some(Mismatch::TooMany { max: 100_000 }));
    for text in
        ["{'a':1}", "[1] [2]", "{\"a\":1}\n{\"a\":2}\n", "[1,]", "ok", "\u{1b}[0m[1]", "NaN"]
    {
        assert!(matches!(json(text), Some(Mismatch::Syntax { .. })), "{text:?}");
    }
}

#[test]
fn json_is_held_up_to_its_limit() {
    let limited = |bytes_max| mismatch("[1,2,3]", Expect::Json { bytes_max });
    assert_eq!((limited(8), limited(7)), (None, None));
    assert_eq!(limited(6), Some(Mismatch::TooLong { max: 6 }));
    assert_eq!(limited(0), Some(Mismatch::TooLong { max: 0 }));
    // The limit is of decoded bytes.
    let decoded = |bytes_max| {
        let encoding = Some("latin1".to_owned());
        let settings = Settings { encoding, ..settings(Expect::Json { bytes_max }) };
        printed(b"\"\xe9\"", &settings)
    };
    assert_eq!(decoded(4).value, Some(Value::String("é".into())));
    assert_eq!(decoded(3).mismatch, Some(Mismatch::TooLong { max: 3 }));
    let whole = format!("[{}]", " ".repeat(JSON_BYTES - 2));
    assert_eq!(mismatch(&whole, JSON), None);
    assert_eq!(mismatch(whole + "\n", JSON), Some(Mismatch::TooLong { max: JSON_BYTES as u64 }));
}

#[test]
fn text_is_well_formed_and_has_no_nul() {
    let text = |bytes: &[u8]| mismatch(bytes, Expect::Text);
    assert_eq!(text(b""), None);
    assert_eq!(text(b"\x1b[31mred\x1b[0m\r\n"), None);
    assert_eq!(text(b"caf\xe9"), Some(Mismatch::IllFormed));
    assert_eq!(text(b"a\0b"), Some(Mismatch::Nul));
    // Wherever it stands, under any profile, also where no view holds it.
    for inside in [&b"\x1b]0;a\0b\x07"[..], b"\x1b[1\0m", b"\x1bP\0\x1b\\"] {
        assert_eq!(text(inside), Some(Mismatch::Nul));
    }
    for inside in [&b"\x1b]0;a\xffb\x07"[..], b"\x1b_\xc0\x80\x1b\\", b"a\xe2\x82"] {
        assert_eq!(text(inside), Some(Mismatch::IllFormed));
    }
    for profile in [Profile::AUDIT, Profile::DISPLAY] {
        let settings = Settings { profile, ..settings(Expect::Text) };
        assert_eq!(printed(b"a\xff", &settings).mismatch, Some(Mismatch::IllFormed));
        assert!(printed("caf\u{e9}".as_bytes(), &settings).met);
    }
    let wide = Settings { encoding: Some("utf-16le".into()), ..settings(Expect::Text) };
    assert_eq!(printed(b"\x1b\0]\0\0\xd8x\0\x07\0", &wide).mismatch, Some(Mismatch::IllFormed));
    assert_eq!(printed(b"\x1b\0]\0\0\0\x07\0", &wide).mismatch, Some(Mismatch::Nul));
    // A character that two chunks share.
    let long = "\u{20ac}".repeat(100_000);
    assert_eq!(text(long.as_bytes()), None);
    let latin = Settings { encoding: Some("latin1".into()), ..settings(Expect::Text) };
    assert!(printed(b"caf\xe9", &latin).met);
}

#[test]
fn an_artifact_is_counted_and_not_shown() {
    let script = r"printf 'PK\003\004\200\n'; echo note >&2";
    let envelope = told(&["sh", "-c", script], &settings(Expect::Artifact), None);
    let stdout = &envelope.streams[&StreamName::Stdout].view;
    let text = stdout.text.as_ref().unwrap();
    assert_eq!((text.head.as_str(), text.tail.as_str()), ("", ""));
    assert!(stdout.omitted.bytes > 0);
    let stderr = envelope.streams[&StreamName::Stderr].view.text.as_ref().unwrap();
    assert_eq!(stderr.head, "note\n");
    let expected = envelope.expected.unwrap();
    assert_eq!((expected.met, expected.bytes, expected.value), (true, 6, None));
    assert_eq!(mismatch("", Expect::Artifact), Some(Mismatch::Empty));
}

#[test]
fn json_may_come_at_a_descriptor_of_its_own() {
    let script = r#"echo log; echo '{"ok":true}' >&7; exit 3"#;
    let envelope = told(&["sh", "-c", script], &settings(JSON), Some(7));
    let expected = envelope.expected.unwrap();
    assert_eq!((expected.descriptor, expected.bytes, expected.eof), (7, 12, true));
    assert_eq!(expected.value.unwrap().to_string(), r#"{"ok":true}"#);
    let stdout = envelope.streams[&StreamName::Stdout].view.text.as_ref().unwrap();
    assert_eq!(stdout.head, "log\n");
    let nothing = told(&["echo", "[1]"], &settings(JSON), Some(7)).expected.unwrap();
    assert_eq!(nothing.mismatch, Some(Mismatch::Empty));
}

#[test]
fn what_was_not_seen_to_its_end_is_no_value() {
    let script = "echo '[1]'; sleep 30 & exit 0";
    let expected = told(&["sh", "-c", script], &settings(JSON), None).expected.unwrap();
    assert_eq!((expected.eof, expected.mismatch), (false, Some(Mismatch::Incomplete)));
    let none = told(&["/nonexistent/command"], &settings(JSON), None);
    assert!(none.expected.is_none());
}

#[test]
fn a_record_without_views_has_no_value() {
    let envelope = told(&["echo", r#"{"a":"b"}"#], &settings(JSON), None);
    let facts = envelope.without_views().expected.unwrap();
    assert_eq!((facts.met, facts.value), (true, None));
    assert_eq!(envelope.limits.json_bytes_max, Some(JSON_BYTES as u64));
    assert_eq!(told(&["true"], &Settings::default(), None).limits.json_bytes_max, None);
}

use std::time::UNIX_EPOCH;

use serde_json::json;

use super::*;

fn key() -> CollectorKey {
    CollectorKey::from_seed("example.com/ledger", &[7; 32]).unwrap()
}

fn rendered(event: &impl Serialize) -> Result<Vec<u8>, Fault> {
    render(&key(), (3, Digest([0xab; 32])), UNIX_EPOCH, Kind::Run, event)
}

/// A line without its LF.
fn line(event: &impl Serialize) -> String {
    let line = String::from_utf8(rendered(event).unwrap()).unwrap();
    line.strip_suffix('\n').unwrap().to_owned()
}

#[test]
fn a_record_is_one_line_of_the_form_in_the_specification() {
    let line = line(&json!({"run": "one"}));
    let expected = format!(
        "{{\"index\":3,\"previous\":\"{}\",\"time\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"run\",\
         \"event\":{{\"run\":\"one\"}},\"signature\":\"",
        "ab".repeat(32)
    );
    assert_eq!(&line[..expected.len()], expected);
    assert_eq!(line.len(), expected.len() + 88 + 2);
    let record = Record::parse(line.as_bytes()).unwrap();
    assert_eq!((record.index, record.previous), (3, Digest([0xab; 32])));
    assert_eq!((record.kind, record.event), ("run", "{\"run\":\"one\"}"));
    assert_eq!(record.hash(), leaf_hash(line.as_bytes()));
    assert_eq!(record.check(3, Digest([0xab; 32]), key().verifier()), Ok(()));
}

#[test]
fn an_event_of_any_text_becomes_printable_ascii_and_comes_back() {
    let event =
        json!({"t\u{202e}": "a\u{1b}[m\n\u{7f}\u{9b}\u{e9}\u{1f600}\\\"", "n": [1, null, true]});
    let line = line(&event);
    assert!(line.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
    let record = Record::parse(line.as_bytes()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(record.event).unwrap(), event);
}

#[test]
fn an_event_that_is_no_object_makes_no_record() {
    let unfit = Fault::Form { expected: "a JSON object", at: 0 };
    for event in [json!(null), json!([1]), json!("{}"), json!(1)] {
        assert_eq!(rendered(&event), Err(unfit.clone()));
    }
    // What no reader could read back, the writer does not write.
    let deep = |n| (0..n).fold(json!({}), |inner, _| json!({"a": inner}));
    assert!(rendered(&deep(126)).is_ok());
    assert_eq!(rendered(&deep(127)), Err(unfit));
}

#[test]
fn a_record_holds_record_bytes_max_and_no_more() {
    let base = line(&json!({"a": ""})).len() + 1;
    for (bytes, fits) in
        [(RECORD_BYTES_MAX - 1, true), (RECORD_BYTES_MAX, true), (RECORD_BYTES_MAX + 1, false)]
    {
        let event = json!({"a": "x".repeat(bytes - base)});
        let made = rendered(&event);
        assert_eq!(
            made.as_ref().map(Vec::len),
            if fits { Ok(bytes) } else { Err(&Fault::TooLong) }
        );
        if let Ok(made) = made {
            assert!(Record::parse(&made[..bytes - 1]).is_ok());
        }
    }
    let long = vec![b' '; RECORD_BYTES_MAX];
    assert_eq!(Record::parse(&long).unwrap_err(), Fault::TooLong);
    let expected = Fault::Form { expected: "the next key", at: 0 };
    assert_eq!(Record::parse(&long[1..]).unwrap_err(), expected);
}

#[test]
fn a_kind_is_a_word_of_at_most_its_limit() {
    for (bytes, fits) in [
        (0, false),
        (KIND_BYTES_MAX - 1, true),
        (KIND_BYTES_MAX, true),
        (KIND_BYTES_MAX + 1, false),
    ] {
        assert_eq!(word(&"k".repeat(bytes)).is_some(), fits, "{bytes}");
    }
    assert!(Kind::ALL.iter().all(|kind| word(kind.as_str()).is_some()));
    assert!(Kind::ALL.iter().all(|&kind| Kind::from_word(kind.as_str()) == Some(kind)));
    // A later version's word is a record too: cutting it as torn would lose it.
    let later = line(&json!({})).replace("\"run\"", "\"run-again\"");
    let record = Record::parse(later.as_bytes()).unwrap();
    assert_eq!(Kind::from_word(record.kind), None);
}

#[test]
fn other_forms_of_the_same_are_no_record() {
    let line = line(&json!({"run": "one"}));
    for (from, to) in [
        ("{\"index\":3", "{ \"index\":3"),
        ("\"index\":3", "\"index\":03"),
        ("\"index\":3", "\"index\":+3"),
        ("\"index\":3", "\"index\":3.0"),
        ("\"previous\":\"ab", "\"previous\":\"AB"),
        ("T00:00:00.000Z", "T00:00:00Z"),
        ("\"kind\":\"run\"", "\"kind\":\"Run\""),
        ("\"kind\":\"run\"", "\"kind\":\"\""),
        ("\"kind\":\"run\"", "\"kind\":\"run\",\"kind\":\"run\""),
        ("{\"run\":\"one\"}", "{\"run\":\"one\"} "),
        ("{\"run\":\"one\"}", "{\"run\":\"\u{e9}\"}"),
        ("{\"run\":\"one\"}", "{\"run\":\"\t\"}"),
        ("{\"run\":\"one\"}", "[]"),
        ("{\"run\":\"one\"}", ""),
        ("\"signature\":\"", "\"signature\":\"A"),
        ("==\"}", "=\"}"),
        ("==\"}", "==\"} "),
    ] {
        let other = line.replacen(from, to, 1);
        assert_ne!(other, line, "{from}");
        assert!(matches!(Record::parse(other.as_bytes()), Err(Fault::Form { .. })), "{to}");
    }
    for len in 0..line.len() {
        assert!(Record::parse(&line.as_bytes()[..len]).is_err(), "{len}");
    }
}

#[test]
fn a_record_out_of_its_place_says_what_was_expected() {
    let line = line(&json!({}));
    let record = Record::parse(line.as_bytes()).unwrap();
    let (previous, other) = (record.previous, Digest([1; 32]));
    let stranger = CollectorKey::from_seed("example.com/ledger", &[8; 32]).unwrap();
    for (found, text) in [
        (record.check(4, previous, key().verifier()), "expected the index 4, found 3".to_owned()),
        (
            record.check(3, other, key().verifier()),
            format!("expected {other} as the hash of the record before, found {previous}"),
        ),
        (
            record.check(3, previous, stranger.verifier()),
            "expected a signature of the collector's key, found another one".to_owned(),
        ),
    ] {
        assert_eq!(found.unwrap_err().to_string(), text);
    }
}

#[test]
fn a_signature_of_other_text_is_none_of_a_record() {
    let line = line(&json!({}));
    let (signed, signature) = split_signature(&line).unwrap();
    let bare = line.replace(signature, &key().sign(signed.as_bytes()));
    let record = Record::parse(bare.as_bytes()).unwrap();
    assert_eq!(record.check_signature(key().verifier()), Err(Fault::Signature));
}

//! What a ledger is: records in a chain, on disk before they are acknowledged, and verified.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use common::{Place, WAIT, moment};
use noesc_evidence::{
    CollectorKey, Digest, Fault, KeyError, Kind, Ledger, LedgerError, RECORD_BYTES_MAX,
    RESERVE_BYTES, Tree, leaf_hash, verify,
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn records_are_numbered_chained_and_the_leaves_of_the_tree() {
    let place = Place::new();
    place.fill(3);
    let bytes = place.bytes();
    let lines: Vec<&[u8]> = bytes.strip_suffix(b"\n").unwrap().split(|&b| b == b'\n').collect();
    let mut previous = Digest::default();
    for (n, line) in lines.iter().enumerate() {
        let record: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(record["index"], n);
        assert_eq!(record["previous"], previous.to_string());
        assert_eq!((&record["kind"], &record["event"]), (&json!("run"), &json!({"n": n})));
        previous = leaf_hash(line);
    }
    let verified = place.verify().unwrap();
    let tree: Tree = lines.iter().map(|line| leaf_hash(line)).collect();
    assert_eq!((verified.records, verified.root), (3, tree.root()));
}

#[test]
fn an_empty_ledger_is_in_order_and_a_missing_one_is_an_error() {
    let place = Place::new();
    let error = place.verify().unwrap_err();
    assert!(matches!(error, LedgerError::Io { doing: "open", .. }), "{error}");
    assert_eq!(place.open().unwrap().records(), 0);
    assert_eq!(place.verify().unwrap().root, Tree::default().root());
}

#[test]
fn files_are_for_their_user_alone() {
    let place = Place::new();
    place.fill(1);
    for name in ["ledger", "ledger.reserve", "key"] {
        let seen = std::fs::metadata(place.folder.join(name)).unwrap();
        assert_eq!(seen.permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(std::fs::read_dir(&place.folder).unwrap().count(), 3);
}

#[test]
fn a_key_is_made_once_and_read_only_where_nobody_else_can() {
    let place = Place::new();
    let error = CollectorKey::create(&place.key_file, "example.com/other").unwrap_err();
    assert!(matches!(error, KeyError::Exists { .. }), "{error}");
    let loaded = CollectorKey::load(&place.key_file).unwrap();
    assert_eq!(loaded.verifier(), place.key.verifier());
    for mode in [0o640, 0o604, 0o620, 0o601] {
        std::fs::set_permissions(&place.key_file, PermissionsExt::from_mode(mode)).unwrap();
        let error = CollectorKey::load(&place.key_file).unwrap_err();
        assert!(matches!(error, KeyError::Mode { .. }), "{mode:o}");
    }
    let link = place.folder.join("link");
    std::os::unix::fs::symlink(&place.key_file, &link).unwrap();
    assert!(matches!(CollectorKey::load(&link), Err(KeyError::Io { .. })));
    assert!(matches!(CollectorKey::load(&place.folder), Err(KeyError::Mode { .. })));
    assert!(matches!(CollectorKey::create(&link, "a"), Err(KeyError::Exists { .. })));
}

#[test]
fn a_clock_that_was_set_back_is_reported_and_no_error() {
    let place = Place::new();
    let mut ledger = place.open().unwrap();
    for n in [5, 6, 6, 2, 3, 1] {
        ledger.append(moment(n), Kind::Run, &json!({})).unwrap();
    }
    drop(ledger);
    let verified = place.verify().unwrap();
    assert_eq!((verified.backwards, verified.first_backwards), (2, Some(3)));
}

#[test]
fn a_second_writer_waits_for_a_while_and_then_says_so() {
    let place = Place::new();
    let first = place.open().unwrap();
    let wait = Duration::from_millis(30);
    let start = std::time::Instant::now();
    let error = Ledger::open(&place.ledger, &place.key, wait).unwrap_err();
    assert!(matches!(error, LedgerError::Busy { .. }), "{error}");
    assert!(error.to_string().ends_with("was in use by others for 30 ms"), "{error}");
    assert!(start.elapsed() >= wait);
    let error = verify(&place.ledger, place.key.verifier(), Duration::ZERO).unwrap_err();
    assert!(matches!(error, LedgerError::Busy { .. }), "{error}");
    std::thread::scope(|scope| {
        let second = scope.spawn(|| place.open().unwrap().records());
        std::thread::sleep(wait);
        drop(first);
        assert_eq!(second.join().unwrap(), 0);
    });
}

#[test]
fn what_is_no_plain_file_is_no_ledger() {
    let place = Place::new();
    place.fill(1);
    let link = place.folder.join("link");
    std::os::unix::fs::symlink(&place.ledger, &link).unwrap();
    assert!(matches!(verify(&link, place.key.verifier(), WAIT), Err(LedgerError::Io { .. })));
    let null = std::path::Path::new("/dev/null");
    assert!(matches!(Ledger::open(&link, &place.key, WAIT), Err(LedgerError::Io { .. })));
    assert!(matches!(Ledger::open(null, &place.key, WAIT), Err(LedgerError::NotAFile { .. })));
    let read = verify(null, place.key.verifier(), WAIT);
    assert!(matches!(read, Err(LedgerError::NotAFile { .. })));
    let missing = Ledger::open(&place.folder.join("a\u{202e}b/ledger"), &place.key, WAIT);
    let error = missing.unwrap_err().to_string();
    assert!(error.starts_with("cannot open the ledger "), "{}", error.escape_default());
    assert!(error.contains("/a\\xe2\\x80\\xaeb/ledger: "), "{}", error.escape_default());
}

#[test]
fn an_event_that_makes_no_record_leaves_the_ledger_as_it_was() {
    let place = Place::new();
    let mut ledger = place.open().unwrap();
    let long = json!({"a": "x".repeat(RESERVE_BYTES)});
    for event in [json!([]), long] {
        let error = ledger.append(moment(0), Kind::Run, &event).unwrap_err();
        assert!(matches!(error, LedgerError::Event { .. }), "{error}");
    }
    assert_eq!(ledger.append(moment(0), Kind::Run, &json!({})).unwrap(), 0);
}

#[test]
fn a_ledger_takes_records_of_record_bytes_max_and_no_more() {
    let place = Place::new();
    place.fill(1);
    // What a record has besides the text; the index has one digit in all of them.
    let event = |len: usize| json!({"a": "x".repeat(len)});
    let before = place.bytes().len();
    place.open().unwrap().append(moment(0), Kind::Run, &event(0)).unwrap();
    let base = place.bytes().len() - before;
    let bytes = |len: usize| place.open().unwrap().append(moment(0), Kind::Run, &event(len - base));
    assert_eq!(bytes(RECORD_BYTES_MAX - 1).unwrap(), 2);
    assert_eq!(bytes(RECORD_BYTES_MAX).unwrap(), 3);
    assert_eq!(bytes(RECORD_BYTES_MAX).unwrap(), 4);
    let error = bytes(RECORD_BYTES_MAX + 1).unwrap_err();
    assert!(matches!(error, LedgerError::Event { fault: Fault::TooLong }), "{error}");
    assert_eq!(place.verify().unwrap().records, 5);
    assert_eq!(place.bytes().len(), before + base + 3 * RECORD_BYTES_MAX - 1);
}

#[test]
fn a_reader_keeps_no_writer_waiting() {
    let place = Place::new();
    place.fill(2);
    let read = noesc_evidence::read(&place.ledger, place.key.verifier(), WAIT, |record, _| {
        let mut ledger = Ledger::open(&place.ledger, &place.key, Duration::ZERO).unwrap();
        ledger.append(moment(9), Kind::Run, &json!({"read": record.index})).unwrap();
    });
    // It reads what there was when it began.
    assert_eq!(read.unwrap().records, 2);
    assert_eq!(place.verify().unwrap().records, 4);
}

#[test]
fn nobody_writes_behind_a_record_of_another_key() {
    let place = Place::new();
    let starts = place.fill(2);
    let other = CollectorKey::create(&place.folder.join("other"), "example.com/ledger").unwrap();
    let error = Ledger::open(&place.ledger, &other, WAIT).unwrap_err();
    let LedgerError::Damaged { index: Some(1), offset, fault: Fault::Signature } = error else {
        panic!("{error}")
    };
    assert_eq!(offset, starts[1] as u64);
    let error = verify(&place.ledger, other.verifier(), WAIT).unwrap_err();
    let text = "record 0 of the ledger, at byte 0: expected a signature of the collector's key, \
                found another one";
    assert_eq!(error.to_string(), text);
    assert_eq!(place.verify().unwrap().records, 2);
}

#[test]
fn a_checkpoint_covers_what_was_there_and_is_a_record_itself() {
    let place = Place::new();
    place.fill(3);
    let before = place.verify().unwrap();
    let checkpoint = place.open().unwrap().checkpoint(moment(9)).unwrap();
    assert_eq!((checkpoint.size(), checkpoint.root()), (3, before.root));
    let said = format!("{{\"root\":\"{}\",\"size\":3}}", before.root);
    assert_eq!(place.told()[3], ("checkpoint".to_owned(), said));
    assert_eq!(place.verify_since(&checkpoint).unwrap().records, 4);
    let note = checkpoint.to_string();
    let read = noesc_evidence::Checkpoint::parse(note.as_bytes(), place.key.verifier()).unwrap();
    assert_eq!(read, checkpoint);
}

#[test]
fn no_checkpoint_is_made_of_a_damaged_ledger() {
    let place = Place::new();
    place.fill(3);
    let mut bytes = place.bytes();
    bytes[20] ^= 1;
    place.write(&bytes);
    let error = place.open().unwrap().checkpoint(moment(9)).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { index: Some(0), offset: 0, .. }), "{error}");
    assert_eq!(place.bytes(), bytes);
}

#[test]
fn a_reserve_that_is_missing_or_short_is_made_anew() {
    let place = Place::new();
    let mut ledger = place.open().unwrap();
    let reserve = place.folder.join("ledger.reserve");
    for len in [RESERVE_BYTES - 1, RESERVE_BYTES, RESERVE_BYTES + 1] {
        std::fs::write(&reserve, vec![0; len]).unwrap();
        assert_eq!(ledger.has_reserve(), len >= RESERVE_BYTES, "{len}");
        ledger.append(moment(0), Kind::Run, &json!({})).unwrap();
        assert!(ledger.has_reserve());
        assert_eq!(std::fs::metadata(&reserve).unwrap().len(), RESERVE_BYTES.max(len) as u64);
    }
    std::fs::remove_file(&reserve).unwrap();
    assert!(!ledger.has_reserve());
    drop(ledger);
    assert!(place.open().unwrap().has_reserve());
}

#[derive(Clone, Debug)]
enum Step {
    Append(Kind, String),
    Reopen,
    Checkpoint,
    /// The tail is torn, with so many bytes of what may be a record left.
    Tear(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = proptest::collection::vec(any::<char>(), 0..20).prop_map(String::from_iter);
    let kind = prop_oneof![Just(Kind::Run), Just(Kind::Decision), Just(Kind::Retention)];
    let step = prop_oneof![
        6 => (kind, text).prop_map(|(kind, text)| Step::Append(kind, text)),
        2 => Just(Step::Reopen),
        1 => Just(Step::Checkpoint),
        1 => (1..300_usize).prop_map(Step::Tear),
    ];
    proptest::collection::vec(step, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_of_events_is_told_again(steps in steps()) {
        let place = Place::new();
        let (mut expected, mut checkpoints) = (Vec::new(), Vec::new());
        let mut ledger = Some(place.open().unwrap());
        for step in steps {
            let open = ledger.as_mut().unwrap();
            match step {
                Step::Append(kind, text) => {
                    let event = json!({"text": text});
                    let index = open.append(moment(0), kind, &event).unwrap();
                    prop_assert_eq!(index, expected.len() as u64);
                    expected.push((kind.as_str().to_owned(), Some(event)));
                }
                Step::Reopen => {
                    drop(ledger.take());
                    ledger = Some(place.open().unwrap());
                }
                Step::Checkpoint => {
                    checkpoints.push(open.checkpoint(moment(0)).unwrap());
                    expected.push(("checkpoint".to_owned(), None));
                }
                Step::Tear(len) => {
                    drop(ledger.take());
                    let bytes = place.bytes();
                    let part: Vec<u8> = bytes.iter().copied().chain([b'{']).take(len)
                        .take_while(|&byte| byte != b'\n').collect();
                    place.write(&[bytes, part.clone()].concat());
                    ledger = Some(place.open().unwrap());
                    let cut = Digest(<sha2::Sha256 as sha2::Digest>::digest(&part).into());
                    let said = json!({"cut_bytes": part.len(), "cut_sha256": cut.to_string()});
                    expected.push(("recovered".to_owned(), Some(said)));
                }
            }
        }
        drop(ledger);
        let told = place.told();
        prop_assert_eq!(told.len(), expected.len());
        for ((kind, event), (expected_kind, expected)) in told.into_iter().zip(expected) {
            prop_assert_eq!(kind, expected_kind);
            if let Some(expected) = expected {
                prop_assert_eq!(serde_json::from_str::<Value>(&event).unwrap(), expected);
            }
        }
        for checkpoint in checkpoints {
            prop_assert!(place.verify_since(&checkpoint).is_ok());
        }
    }
}

//! The example in spec/evidence.md, made anew and compared byte by byte.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "functions that tests share")]

mod common;

use std::time::{Duration, UNIX_EPOCH};

use common::{Place, WAIT};
use noesc_evidence::{
    Checkpoint, CollectorKey, Kind, Ledger, VerifierKey, prove_inclusion, verify_inclusion,
};
use serde_json::json;

/// The blocks of the specification that are marked as one part of the example.
fn block(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/evidence.md");
    let text = std::fs::read_to_string(path).unwrap();
    let start = format!("```{name}\n");
    let (_, rest) = text.split_once(&start).expect("the specification has the block");
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_example_of_the_specification_is_what_is_written() {
    let place = Place::new();
    let key_file = place.folder.join("example-key");
    std::fs::copy(&place.key_file, &key_file).unwrap();
    std::fs::write(&key_file, block("private")).unwrap();
    let key = CollectorKey::load(&key_file).unwrap();
    assert_eq!(format!("{}\n", key.verifier()), block("public"));

    let time = UNIX_EPOCH + Duration::from_millis(1_767_323_045_678);
    let mut ledger = Ledger::open(&place.ledger, &key, WAIT).unwrap();
    let second = json!({"reason": "caf\u{e9} \u{1f600}", "run": "one"});
    ledger.append(time, Kind::Run, &json!({"run": "one"})).unwrap();
    ledger.append(time + Duration::from_secs(1), Kind::Decision, &second).unwrap();
    let checkpoint = ledger.checkpoint(time + Duration::from_secs(2)).unwrap();
    drop(ledger);
    assert_eq!(String::from_utf8(place.bytes()).unwrap(), block("ledger"));
    assert_eq!(checkpoint.to_string(), block("checkpoint"));
}

#[test]
fn the_example_is_verified_with_the_public_key_alone() {
    let place = Place::new();
    place.write(block("ledger").as_bytes());
    let key = VerifierKey::parse(block("public").trim_end()).unwrap();
    let checkpoint = Checkpoint::parse(block("checkpoint").as_bytes(), &key).unwrap();
    let mut leaves = Vec::new();
    let read = |record: &noesc_evidence::Record<'_>, _| leaves.push(record.hash());
    assert_eq!(noesc_evidence::read(&place.ledger, &key, WAIT, read).unwrap().records, 3);
    noesc_evidence::verify_since(&place.ledger, &key, &checkpoint, WAIT).unwrap();
    let proof = prove_inclusion(&leaves[..2], 1).unwrap();
    let tree = (checkpoint.size(), checkpoint.root());
    assert!(verify_inclusion(leaves[1], 1, tree, &proof));
}

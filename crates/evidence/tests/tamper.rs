//! What is done to a ledger behind its back is caught.
#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use common::{Place, moment};
use noesc_evidence::{Fault, Kind, LedgerError};
use serde_json::json;

const COUNT: usize = 4;

/// A ledger of some records and a checkpoint over all of them, which is not in the ledger.
fn filled() -> (Place, Vec<usize>, noesc_evidence::Checkpoint) {
    let place = Place::new();
    let starts = place.fill(COUNT as u64);
    let bytes = place.bytes();
    let checkpoint = place.open().unwrap().checkpoint(moment(9)).unwrap();
    place.write(&bytes);
    (place, starts, checkpoint)
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn every_single_bit_counts_and_the_record_is_named() {
    let (place, starts, _) = filled();
    let bytes = place.bytes()[..starts[3]].to_vec();
    for bit in 0..bytes.len() * 8 {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        place.write(&other);
        let changed = starts.iter().rposition(|&start| start <= bit / 8).unwrap();
        let LedgerError::Damaged { index: Some(index), offset, .. } = place.verify().unwrap_err()
        else {
            panic!("bit {bit}")
        };
        assert_eq!((index, offset), (changed as u64, starts[changed] as u64), "bit {bit}");
    }
}

#[test]
fn no_record_can_be_removed_but_the_last() {
    let (place, starts, checkpoint) = filled();
    let lines = lines(&place.bytes());
    for (at, &start) in starts[..COUNT - 1].iter().enumerate() {
        let mut others = lines.clone();
        others.remove(at);
        place.write(&others.concat());
        let LedgerError::Damaged { index, offset, fault } = place.verify().unwrap_err() else {
            panic!("{at}")
        };
        assert_eq!((index, offset), (Some(at as u64), start as u64));
        assert_eq!(fault, Fault::Index { expected: at as u64, found: at as u64 + 1 });
    }
    place.write(&lines[..COUNT - 1].concat());
    assert_eq!(place.verify().unwrap().records, COUNT as u64 - 1);
    let error = place.verify_since(&checkpoint).unwrap_err();
    assert_eq!(error.to_string(), "expected at least the 4 records of the checkpoint, found 3");
}

#[test]
fn no_record_can_be_moved_or_put_between() {
    let (place, _, _) = filled();
    let lines = lines(&place.bytes());
    for from in 0..COUNT {
        for to in 0..COUNT {
            let mut moved = lines.clone();
            let line = moved.remove(from);
            moved.insert(to, line.clone());
            place.write(&moved.concat());
            assert_eq!(place.verify().is_ok(), from == to, "{from} to {to}");
            let mut inserted = lines.clone();
            inserted.insert(to, line);
            place.write(&inserted.concat());
            assert!(place.verify().is_err(), "{from} put at {to}");
        }
        for blank in ["\n", " \n", "{}\n"] {
            let mut inserted = lines.clone();
            inserted.insert(from, blank.into());
            place.write(&inserted.concat());
            assert!(place.verify().is_err(), "a blank at {from}");
        }
    }
}

#[test]
fn what_is_signed_anew_before_a_checkpoint_is_caught() {
    let (place, _, checkpoint) = filled();
    assert_eq!(place.verify_since(&checkpoint).unwrap().records, COUNT as u64);
    place.write(b"");
    let mut ledger = place.open().unwrap();
    for n in 0..COUNT as u64 + 2 {
        // All the same but for one word.
        let event = if n == 1 { json!({"n": 7}) } else { json!({"n": n}) };
        ledger.append(moment(n), Kind::Run, &event).unwrap();
    }
    drop(ledger);
    assert_eq!(place.verify().unwrap().records, COUNT as u64 + 2);
    let error = place.verify_since(&checkpoint).unwrap_err();
    assert!(matches!(error, LedgerError::Changed { size: 4, .. }), "{error}");
}

#[test]
fn the_end_can_be_torn_at_every_byte_and_the_ledger_says_how_much_was_cut() {
    let (place, starts, checkpoint) = filled();
    let bytes = place.bytes();
    for record in [1, COUNT - 1] {
        let (start, end) = (starts[record], starts[record + 1]);
        for len in start..end {
            place.write(&bytes[..len]);
            let torn = place.verify();
            match len == start {
                true => assert_eq!(torn.unwrap().records, record as u64),
                false => assert!(
                    matches!(torn, Err(LedgerError::Damaged { fault: Fault::Incomplete, .. })),
                    "{len}"
                ),
            }
            let index = place.open().unwrap().append(moment(9), Kind::Run, &json!({})).unwrap();
            let recovered = u64::from(len > start);
            assert_eq!(index, record as u64 + recovered);
            let told = place.told();
            assert_eq!(told.len() as u64, index + 1);
            if len > start {
                let said = format!("{{\"cut_bytes\":{},\"cut_sha256\":\"", len - start);
                assert_eq!(told[record].0, "recovered");
                assert!(told[record].1.starts_with(&said), "{len}");
            }
            assert!(place.verify_since(&checkpoint).is_err(), "{len}");
        }
    }
}

#[test]
fn an_ill_formed_last_record_is_cut_and_one_before_is_an_error() {
    let (place, starts, _) = filled();
    let bytes = place.bytes();
    // A page that was never written, in the middle of the last record: its LF is there.
    let mut zeros = bytes.clone();
    zeros[starts[COUNT - 1] + 40..starts[COUNT] - 40].fill(0);
    place.write(&zeros);
    assert_eq!(place.open().unwrap().records(), COUNT as u64);
    assert_eq!(place.told()[COUNT - 1].0, "recovered");
    for at in 0..COUNT - 1 {
        let mut zeros = bytes.clone();
        zeros[starts[at] + 40..starts[at + 1] - 40].fill(0);
        place.write(&zeros);
        let LedgerError::Damaged { index, offset, .. } = place.verify().unwrap_err() else {
            panic!("{at}")
        };
        assert_eq!((index, offset), (Some(at as u64), starts[at] as u64));
    }
    // With a torn tail behind it, a writer meets it too, and changes nothing.
    let mut both = bytes[..starts[2] + 9].to_vec();
    both[starts[1] + 3] = b'\x1b';
    place.write(&both);
    let error = place.open().unwrap_err();
    let expected = format!(
        "the record at byte {} of the ledger: expected printable ASCII at byte 3 of it, found \
         something else",
        starts[1]
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(place.bytes(), both);
}

#[test]
fn bytes_missing_from_an_earlier_record_are_named() {
    let (place, starts, _) = filled();
    let bytes = place.bytes();
    for cut in starts[1] + 1..starts[2] {
        place.write(&[&bytes[..cut], &bytes[starts[2]..]].concat());
        let LedgerError::Damaged { index, offset, .. } = place.verify().unwrap_err() else {
            panic!("{cut}")
        };
        assert_eq!((index, offset), (Some(1), starts[1] as u64), "{cut}");
    }
}

#[test]
fn a_tail_longer_than_a_record_is_not_torn_but_an_error() {
    let max = noesc_evidence::RECORD_BYTES_MAX;
    for (len, fits) in [(max - 1, true), (max, true), (max + 1, false)] {
        let (place, starts, _) = filled();
        let long = [place.bytes(), vec![b'x'; len]].concat();
        place.write(&long);
        let fault = if fits { Fault::Incomplete } else { Fault::TooLong };
        let LedgerError::Damaged { fault: found, .. } = place.verify().unwrap_err() else {
            panic!("{len}")
        };
        assert_eq!(found, fault, "{len}");
        let opened = place.open().map(|ledger| ledger.records());
        match fits {
            true => {
                assert_eq!(opened.unwrap(), COUNT as u64 + 1);
                assert_eq!(place.verify().unwrap().records, COUNT as u64 + 1);
                assert!(place.bytes().len() < long.len());
            }
            false => {
                let error = opened.unwrap_err();
                let LedgerError::Damaged { index: None, offset, fault: Fault::TooLong } = error
                else {
                    panic!("{error}")
                };
                assert_eq!(offset, starts[COUNT] as u64);
                assert_eq!(place.bytes(), long);
            }
        }
    }
}

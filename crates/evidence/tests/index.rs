#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic)]
//! The index of runs: derived from the ledger, caught up at every question, and made anew whenever
//! it is of no use.

mod common;

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use common::{Place, WAIT, moment};
use noesc_evidence::*;
use serde_json::{Value, json};

/// The id of the n-th run; they sort as they began.
fn id(n: u64) -> String {
    format!("{n:08x}-0000-7000-8000-000000000000")
}

fn run(n: u64) -> Value {
    let severity = ["none", "low", "high"][(n % 3) as usize];
    let findings: &[&str] = if n.is_multiple_of(3) { &["clipboard-write", "title"] } else { &[] };
    json!({
        "run": id(n), "started": format!("2026-01-{:02}T00:00:00.000Z", n + 1),
        "ended": "2026-02-01T00:00:00.000Z", "command": format!("make target-{n}"),
        "outcome": if n.is_multiple_of(2) { "exited" } else { "signalled" }, "code": n % 4,
        "findings": findings,
        "severity": severity, "bytes": n * 10,
        "evidence": "not-kept", "artifact": null,
    })
}

fn append(place: &Place, events: impl IntoIterator<Item = Value>) {
    let mut ledger = place.open().unwrap();
    for event in events {
        ledger.append(moment(0), Kind::Run, &event).unwrap();
    }
}

fn path(place: &Place) -> PathBuf {
    place.folder.join("index.sqlite")
}

fn ask(place: &Place, query: &Query) -> Answer {
    let index = RunIndex::at(path(place));
    let ledger = (place.ledger.as_path(), place.key.verifier());
    index.ask(ledger, WAIT, &[], usize::MAX, &|_| true, query).unwrap()
}

/// The numbers of the runs that an answer has.
fn numbers(answer: &Answer) -> Vec<u64> {
    answer.runs.iter().map(|run| u64::from_str_radix(&run.run[..8], 16).unwrap()).collect()
}

fn all(place: &Place) -> Vec<u64> {
    let answer = ask(place, &Query::default());
    assert!(answer.fault.is_none(), "{:?}", answer.fault);
    numbers(&answer)
}

#[test]
fn runs_come_the_newest_first_and_new_ones_are_caught_up() {
    let place = Place::new();
    assert_eq!(all(&place), [0_u64; 0]);
    append(&place, (0..5).map(run));
    assert_eq!(all(&place), [4, 3, 2, 1, 0]);
    let mode = fs::metadata(path(&place)).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    append(&place, (5..7).map(run));
    assert_eq!(all(&place), [6, 5, 4, 3, 2, 1, 0]);
    // Nothing is left beside it.
    let names: HashSet<_> =
        fs::read_dir(&place.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("index.sqlite-")));
}

#[test]
fn a_question_is_answered_as_the_filter_says() {
    let place = Place::new();
    append(&place, (0..24).map(run));
    let word = |text: &str| Some(text.to_owned());
    let none = Query::default;
    let queries = [
        Query { outcome: word("exited"), ..none() },
        Query { outcome: word("exit"), ..none() },
        Query { failed: true, ..none() },
        Query { finding: word("title"), ..none() },
        Query { finding: word("titl"), ..none() },
        Query { finding: word("clipboard-write"), failed: true, ..none() },
        Query { severity: word("none"), ..none() },
        Query { severity: word("low"), ..none() },
        Query { severity: word("medium"), ..none() },
        Query { severity: word("critical"), ..none() },
        Query { severity: word("bogus"), ..none() },
        Query { since: word("2026-01-05T00:00:00.000Z"), ..none() },
        Query {
            since: word("2026-01-05T00:00:00.000Z"),
            until: word("2026-01-09T00:00:00.000Z"),
            ..none()
        },
    ];
    let events: Vec<_> =
        (0..24).rev().map(|n| RunEvent::parse(&run(n).to_string()).unwrap()).collect();
    for query in queries {
        let found = ask(&place, &query).runs;
        let expected: Vec<_> = events.iter().filter(|run| query.fits(run)).cloned().collect();
        assert_eq!(found, expected, "{query:?}");
    }
    assert_eq!(numbers(&ask(&place, &Query { failed: true, ..none() })).len(), 18);
}

#[test]
fn a_limit_and_a_condition_of_the_caller_hold() {
    let place = Place::new();
    append(&place, (0..9).map(run));
    let ask = |limit, fits: &dyn Fn(&RunEvent) -> bool| {
        let ledger = (place.ledger.as_path(), place.key.verifier());
        let ids = [id(3), id(77)];
        RunIndex::at(path(&place)).ask(ledger, WAIT, &ids, limit, fits, &Query::default()).unwrap()
    };
    for (limit, found) in [(0, 0), (1, 1), (8, 8), (9, 9), (10, 9)] {
        assert_eq!(ask(limit, &|_| true).runs.len(), found);
    }
    let answer = ask(2, &|run| run.command.ends_with('1') || run.command.ends_with('5'));
    assert_eq!(numbers(&answer), [5, 1]);
    assert_eq!(answer.known, HashSet::from([id(3)]));
}

#[test]
fn an_index_that_is_of_no_use_is_made_anew() {
    let place = Place::new();
    append(&place, (0..3).map(run));
    assert_eq!(all(&place), [2, 1, 0]);
    let good = fs::read(path(&place)).unwrap();
    let half = good[..good.len() / 2].to_vec();
    let mut torn = good.clone();
    torn[4096..].fill(0x5A);
    let mut other = good.clone();
    // The version of its shape.
    other[63] ^= 1;
    for bytes in [b"no database at all".to_vec(), Vec::new(), half, torn, other] {
        fs::write(path(&place), bytes).unwrap();
        assert_eq!(all(&place), [2, 1, 0]);
        assert_eq!(all(&place), [2, 1, 0]);
    }
    fs::remove_file(path(&place)).unwrap();
    assert_eq!(all(&place), [2, 1, 0]);
}

#[test]
fn what_is_no_file_is_not_opened_and_a_link_not_followed() {
    let place = Place::new();
    append(&place, (0..3).map(run));
    let elsewhere = place.folder.join("elsewhere");
    fs::write(&elsewhere, "theirs").unwrap();
    std::os::unix::fs::symlink(&elsewhere, path(&place)).unwrap();
    assert_eq!(all(&place), [2, 1, 0]);
    assert_eq!(fs::read(&elsewhere).unwrap(), b"theirs");

    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(place.folder.join(name)).status();
        assert!(made.unwrap().success());
    };
    fs::remove_file(path(&place)).unwrap();
    pipe("index.sqlite");
    assert_eq!(all(&place), [2, 1, 0]);
    // What SQLite would read beside it.
    for name in ["index.sqlite-journal", "index.sqlite-wal"] {
        pipe(name);
        assert_eq!(all(&place), [2, 1, 0]);
    }
    fs::remove_file(path(&place)).unwrap();
    // A folder can not be taken away so: it is done without.
    fs::create_dir(path(&place)).unwrap();
    fs::write(path(&place).join("kept"), "").unwrap();
    assert_eq!(all(&place), [2, 1, 0]);
    assert!(path(&place).join("kept").exists());
}

#[test]
fn a_folder_in_which_nothing_can_be_written_is_done_without() {
    let place = Place::new();
    append(&place, (0..3).map(run));
    let index = RunIndex::at(place.folder.join("missing").join("index.sqlite"));
    let ledger = (place.ledger.as_path(), place.key.verifier());
    let answer = index.ask(ledger, WAIT, &[], 9, &|_| true, &Query::default()).unwrap();
    assert_eq!(numbers(&answer), [2, 1, 0]);
}

#[test]
fn another_ledger_in_its_place_is_read_from_its_beginning() {
    let place = Place::new();
    append(&place, (0..6).map(run));
    assert_eq!(all(&place).len(), 6);
    // Cut to its first records, and written on otherwise.
    let bytes = place.bytes();
    let lines: Vec<_> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    place.write(&lines[..4].concat());
    assert_eq!(all(&place), [3, 2, 1, 0]);
    append(&place, (10..20).map(run));
    assert_eq!(all(&place).len(), 14);
    // Another one of the same length.
    place.write(b"");
    append(&place, (20..26).map(run));
    assert_eq!(all(&place), [25, 24, 23, 22, 21, 20]);
    fs::remove_file(&place.ledger).unwrap();
    assert_eq!(all(&place), [0_u64; 0]);
}

#[test]
fn a_damaged_ledger_gives_what_is_in_order_and_says_why_no_more() {
    let place = Place::new();
    append(&place, (0..6).map(run));
    let mut bytes = place.bytes();
    let line = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(3).unwrap().0;
    bytes[line + 40] ^= 1;
    place.write(&bytes);
    for _ in 0..2 {
        let answer = ask(&place, &Query::default());
        assert_eq!(numbers(&answer), [3, 2, 1, 0]);
        let fault = answer.fault.unwrap();
        assert!(matches!(fault, LedgerError::Damaged { index: Some(4), .. }), "{fault}");
    }
    let other = CollectorKey::create(&place.folder.join("other"), "example.com/other").unwrap();
    let index = RunIndex::at(place.folder.join("new.sqlite"));
    let ledger = (place.ledger.as_path(), other.verifier());
    let answer = index.ask(ledger, WAIT, &[], 9, &|_| true, &Query::default()).unwrap();
    assert!(answer.runs.is_empty() && answer.fault.is_some());
}

#[test]
fn many_events_are_taken_in_at_once_and_a_later_one_of_a_run_counts() {
    let place = Place::new();
    append(&place, (0..1030).map(|n| json!({"run": id(n), "outcome": "exited"})));
    append(
        &place,
        [json!({"run": id(7), "outcome": "unknown"}), json!({"run": "none"}), json!({})],
    );
    let mut ledger = place.open().unwrap();
    ledger.append(moment(0), Kind::Decision, &json!({"run": id(5000)})).unwrap();
    ledger.checkpoint(moment(0)).unwrap();
    drop(ledger);
    assert_eq!(all(&place).len(), 1030);
    let unknown = Query { outcome: Some("unknown".into()), ..Query::default() };
    assert_eq!(numbers(&ask(&place, &unknown)), [7]);
}

#[test]
fn a_ledger_is_read_on_from_where_it_was_read_to() {
    let place = Place::new();
    append(&place, (0..4).map(run));
    let read = |from: Position| {
        let mut seen = Vec::new();
        let key = place.key.verifier();
        let end = read_from(&place.ledger, key, from, WAIT, |record, position| {
            assert_eq!(position.records, record.index + 1);
            assert_eq!(position.hash, record.hash());
            seen.push(record.index);
        });
        end.map(|end| (seen, end))
    };
    let (seen, end) = read(Position::default()).unwrap();
    assert_eq!((seen, end.records, end.end), (vec![0, 1, 2, 3], 4, place.bytes().len() as u64));
    assert_eq!(read(end).unwrap(), (vec![], end));
    append(&place, [run(4)]);
    let (seen, next) = read(end).unwrap();
    assert_eq!((seen, next.last), (vec![4], end.end));
    for wrong in [
        Position { records: 3, ..end },
        Position { records: 0, ..end },
        Position { last: end.last + 1, ..end },
        Position { end: end.end - 1, ..end },
        Position { end: end.end + 1, ..end },
        Position { end: u64::MAX, last: 0, ..end },
        Position { hash: Digest([7; 32]), ..end },
        Position { end: 1, ..Position::default() },
    ] {
        let error = read(wrong).unwrap_err();
        assert!(matches!(error, LedgerError::Moved { .. }), "{wrong:?}: {error}");
    }
    // A record behind it is believed no more than any other.
    let mut bytes = place.bytes();
    let at = usize::try_from(end.end).unwrap() + 30;
    bytes[at] ^= 1;
    place.write(&bytes);
    let error = read(end).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { index: Some(4), .. }), "{error}");
}

#[test]
fn hostile_events_are_inert_and_bounded() {
    let place = Place::new();
    let long = "x".repeat(COMMAND_BYTES_MAX + 5);
    append(
        &place,
        [json!({
            "run": id(1), "command": format!("a\u{1b}]0;t\u{7}\u{202e}{long}"), "outcome": long,
            "findings": vec!["a b\u{1b}"; WORDS_MAX + 1], "severity": "\u{9b}31m", "code": "7",
            "started": 12, "bytes": -4, "evidence": ["x"], "artifact": "\u{1b}c",
        })],
    );
    for _ in 0..2 {
        let answer = ask(&place, &Query::default());
        let run = &answer.runs[0];
        let shown = format!("{run:?}");
        assert!(shown.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", shown.escape_debug());
        assert!(run.command.starts_with("a\\x1b]0;t\\x07\\xe2\\x80\\xae"));
        assert_eq!(run.command.len(), COMMAND_BYTES_MAX);
        assert_eq!(run.outcome.len(), WORD_BYTES_MAX);
        assert_eq!(run.findings.len(), WORDS_MAX);
        assert_eq!((run.code, run.bytes, run.severity.as_str()), (None, 0, "none"));
    }
    for (given, kept) in [(-1_isize, -1_isize), (0, 0), (1, 0)] {
        let length = |max: usize, by: isize| max.checked_add_signed(by).unwrap();
        let command = "y".repeat(length(COMMAND_BYTES_MAX, given));
        let word = "z".repeat(length(WORD_BYTES_MAX, given));
        let findings = vec!["f"; length(WORDS_MAX, given)];
        let event =
            json!({"run": id(1), "command": command, "outcome": word, "findings": findings});
        let run = RunEvent::parse(&event.to_string()).unwrap();
        assert_eq!(run.command.len(), length(COMMAND_BYTES_MAX, kept));
        assert_eq!(run.outcome.len(), length(WORD_BYTES_MAX, kept));
        assert_eq!(run.findings.len(), length(WORDS_MAX, kept));
    }
}

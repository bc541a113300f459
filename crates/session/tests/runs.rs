//! The folders of runs: their limits, and who goes on with them.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use noesc_session::envelope::{Envelope, OutcomeKind, RunId, StreamName};
use noesc_session::{
    Background, Command, FindError, Keeper, Limits, RECORD_BYTES_MAX, RecordError, Runs, Settings,
    StoredRun, VIEW_BYTES, collect, collect_in_background,
};

/// A folder for one test, gone when dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("noesc-runs-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn runs(&self) -> Runs {
        Runs::at(self.0.join("runs"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn sh(script: &str) -> Command {
    let mut command = Command::new(["sh", "-c", script]);
    command.attended = false;
    command
}

/// A script collected into a folder to its end.
fn stored(runs: &Runs, script: &str, transcript_bytes_max: u64) -> StoredRun {
    let background = Background { runs: runs.clone(), transcript_bytes_max, front: None };
    let (command, settings) = (sh(script), Settings::default());
    let run =
        collect_in_background(&command, &Limits::default(), &settings, VIEW_BYTES, background);
    runs.find(run.unwrap().envelope.run.as_str()).unwrap()
}

fn text(run: &StoredRun, stream: StreamName) -> String {
    std::io::read_to_string(run.transcript(stream).unwrap().unwrap()).unwrap()
}

fn record() -> Envelope {
    let settings = Settings::default();
    collect(&sh("echo a"), &Limits::default(), &settings, VIEW_BYTES).unwrap().envelope
}

/// The id of a run that began so many milliseconds after another.
fn id(ms: u64) -> RunId {
    RunId::new(1_700_000_000_000 + ms, [7; 10])
}

/// Makes a run that has ended.
fn make(runs: &Runs, like: &Envelope, ms: u64) -> RunId {
    let envelope = Envelope { run: id(ms), ..like.clone() };
    let folder = runs.create(&envelope.run).unwrap();
    folder.write_record(&envelope).unwrap();
    envelope.run
}

fn ids(runs: &Runs) -> Vec<RunId> {
    runs.list().unwrap().iter().map(|run| run.id().clone()).collect()
}

#[test]
fn a_transcript_holds_the_bytes_of_its_limit_and_no_more() {
    let place = Place::new("transcript");
    let runs = place.runs();
    for (script, max, out, err) in [
        ("printf abcd; printf xy >&2", 5, "abcd", "xy"),
        ("printf abcde; printf xyxyx >&2", 5, "abcde", "xyxyx"),
        ("printf abcdef; printf xyxyxy >&2", 5, "abcde", "xyxyx"),
        // What comes after a piece that found no room is no continuation of it.
        (r"printf 'ab\342\202\254'; sleep 0.1; printf c", 4, "ab", ""),
        (r"printf 'ab\342\202\254'; sleep 0.1; printf c", 5, "ab\u{20ac}", ""),
        (r"printf 'ab\342\202\254'; sleep 0.1; printf c", 6, "ab\u{20ac}c", ""),
        ("echo a", 0, "", ""),
    ] {
        let run = stored(&runs, script, max);
        assert_eq!(text(&run, StreamName::Stdout), out, "{script:?} {max}");
        assert_eq!(text(&run, StreamName::Stderr), err, "{script:?} {max}");
        // The record is not cut by that, and tells the limit.
        let record = run.record().unwrap();
        assert_eq!(record.limits.transcript_bytes_max, Some(max));
        assert!(record.streams[&StreamName::Stdout].view.text.as_ref().unwrap().head.len() > 1);
    }
}

#[test]
fn a_run_is_found_by_a_part_of_its_id_or_as_the_newest() {
    let place = Place::new("found");
    let (runs, like) = (place.runs(), record());
    assert!(matches!(runs.find("last"), Err(FindError::None)));
    let (newer, older) = (make(&runs, &like, 1 << 32), make(&runs, &like, 0));
    assert_eq!(runs.find("last").unwrap().id(), &newer);
    assert_eq!(runs.find(&older.as_str()[..8]).unwrap().id(), &older);
    assert!(matches!(runs.find("0"), Err(FindError::Several(..))));
    assert!(matches!(runs.find("las"), Err(FindError::None)));
    assert!(matches!(runs.find(""), Err(FindError::None)));
}

#[test]
fn a_run_that_goes_on_is_known_as_such() {
    let place = Place::new("kept");
    let runs = place.runs();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let (there, go) = (runs.clone(), place.0.join("go"));
    let wait = format!("echo on; while ! test -e {}; do sleep 0.02; done", go.display());
    let command = sh(&wait);
    let front = File::from(std::os::fd::OwnedFd::from(writer));
    let collector = std::thread::spawn(move || {
        let background = Background { runs: there, transcript_bytes_max: 1024, front: Some(front) };
        let settings = Settings::default();
        collect_in_background(&command, &Limits::default(), &settings, VIEW_BYTES, background)
    });
    let mut told = String::new();
    std::io::Read::read_to_string(&mut reader, &mut told).unwrap();
    let (run, rest) = told.split_once('\n').unwrap();
    assert_eq!(rest, "started\n");
    let goes_on = runs.find(run).unwrap();
    // That it is ours does not make it look ended, nor does looking end its lock.
    let keeper = Keeper::Collector { pid: Some(std::process::id()) };
    for _ in 0..2 {
        assert_eq!(goes_on.keeper(), Some(keeper));
    }
    assert_eq!(ids(&runs).len(), 1);
    // A process does not ask itself to end.
    assert!(goes_on.stop().is_err());
    assert!(!goes_on.wait(Some(Instant::now() + Duration::from_millis(120))));
    let record = goes_on.record().unwrap();
    assert!(matches!(record.outcome.kind, OutcomeKind::Unknown { .. }));
    File::create(&go).unwrap();
    assert!(goes_on.wait(None));
    collector.join().unwrap().unwrap();
    assert_eq!(goes_on.keeper(), None);
}

/// Replaces the record by the same one, with blanks behind it up to this length.
fn lengthen(path: &Path, length: u64) {
    let mut text = std::fs::read(path).unwrap();
    text.resize(usize::try_from(length).unwrap(), b' ');
    File::create(path).unwrap().write_all(&text).unwrap();
}

#[test]
fn a_record_is_read_up_to_its_limit() {
    let place = Place::new("record");
    let (runs, like) = (place.runs(), record());
    let run = make(&runs, &like, 0);
    let path = runs.root().join(run.as_str()).join("record.json");
    let stored = runs.find(run.as_str()).unwrap();
    for length in [RECORD_BYTES_MAX - 1, RECORD_BYTES_MAX] {
        lengthen(&path, length);
        assert_eq!(stored.record().unwrap().run, run);
    }
    lengthen(&path, RECORD_BYTES_MAX + 1);
    match stored.record() {
        Err(RecordError::Io(error)) => assert_eq!(error.to_string(), "it is too large"),
        other => panic!("{other:?}"),
    }
}

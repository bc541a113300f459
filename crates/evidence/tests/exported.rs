//! Files of exported runs: what is taken, and what is not.
#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, moment};
use noesc_evidence::{
    EXPORT_HEADER_BYTES_MAX, ExportError, Exported, Kind, RunEntry, Store, export,
};

/// A run without an artifact, told of in a store, and an export of it.
fn exported(place: &Place) -> PathBuf {
    let store = Store::at(&place.folder);
    let entry = RunEntry { run: "one".into(), ..RunEntry::default() };
    let mut ledger = store.ledger(&place.key).unwrap();
    ledger.append(moment(0), Kind::Run, &entry).unwrap();
    drop(ledger);
    let path = place.folder.join("export");
    let checkpoint = export(&store, &place.key, &["one"], &path).unwrap();
    assert_eq!(checkpoint.size(), 1);
    path
}

fn refused(path: &Path, text: &str) -> ExportError {
    fs::write(path, text).unwrap();
    Exported::read(path).unwrap_err()
}

#[test]
fn a_header_has_a_most() {
    let place = Place::new();
    let path = exported(&place);
    let text = fs::read_to_string(&path).unwrap();
    let (magic, header) = text.split_once('\n').unwrap();
    let max = usize::try_from(EXPORT_HEADER_BYTES_MAX).unwrap();
    for (bytes, is_taken) in [(max - 1, true), (max, true), (max + 1, false)] {
        let blanks = " ".repeat(bytes - header.len());
        fs::write(&path, format!("{magic}\n{blanks}{header}")).unwrap();
        assert_eq!(Exported::read(&path).is_ok(), is_taken, "{bytes}");
    }
}

#[test]
fn another_key_a_foreign_record_and_a_wrong_proof_are_refused() {
    let (place, other) = (Place::new(), Place::new());
    let path = exported(&place);
    let text = fs::read_to_string(&path).unwrap();
    let key = place.key.verifier().to_string();
    let wrong = text.replace(&key, &other.key.verifier().to_string());
    assert!(matches!(refused(&path, &wrong), ExportError::Checkpoint(_)));
    let wrong = text.replace(r#""proof":[]"#, &format!(r#""proof":["{}"]"#, "0".repeat(64)));
    assert!(matches!(refused(&path, &wrong), ExportError::Record { .. }));
    let many = vec![format!("\"{}\"", "0".repeat(64)); 100_000].join(",");
    let wrong = text.replace(r#""proof":[]"#, &format!(r#""proof":[{many}]"#));
    assert!(matches!(refused(&path, &wrong), ExportError::Record { .. }));
    let wrong = text.replace(r#"{"run":"one","artifact""#, r#"{"run":"two","artifact""#);
    assert!(matches!(refused(&path, &wrong), ExportError::Record { .. }));
    let wrong = text.replace(r#"{"run":"one","artifact""#, r#"{"run":"../x","artifact""#);
    assert!(matches!(refused(&path, &wrong), ExportError::Form { .. }));
    let wrong = text.replace(r#""bytes":0"#, r#""bytes":18446744073709551615"#);
    assert!(matches!(refused(&path, &wrong), ExportError::Form { .. }));
    fs::write(&path, text).unwrap();
    let read = Exported::read(&path).unwrap();
    assert_eq!((read.runs.len(), read.runs[0].entry.run.as_str()), (1, "one"));
}

#[test]
fn a_run_that_is_not_told_of_gives_no_file() {
    let place = Place::new();
    exported(&place);
    let path = place.folder.join("other");
    let error = export(&Store::at(&place.folder), &place.key, &["two"], &path).unwrap_err();
    assert!(matches!(error, ExportError::Unknown { .. }));
    assert!(!path.exists());
}

//! Runs in one file that is verified elsewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod storing;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use noesc_evidence::{ExportError, Exported};
use serde_json::json;
use storing::{DAY, Kept};

#[test]
fn an_export_holds_what_proves_it() {
    let mut kept = Kept::new("export");
    let gone = kept.run(20 * DAY);
    let runs = [kept.run(DAY), kept.run(Duration::ZERO)];
    kept.noesc(&["store", "hold", &runs[0].id, "--reason", "case 7"]).code();
    kept.noesc(&["store", "prune"]).code();
    let file = kept.folder.path("evidence.noesc");
    let to = file.to_str().unwrap();
    let arguments = ["store", "export", &runs[0].id, &runs[1].id, &gone.id, "--to", to];
    let ended = kept.noesc(&arguments);
    assert_eq!(ended.code(), 0, "{}", ended.err());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let exported = Exported::read(&file).unwrap();
    let key = kept.key().verifier().to_string();
    assert_eq!(exported.key.to_string(), key);
    assert!(ended.out().ends_with(&format!("key {key}\n")), "{}", ended.out());
    assert_eq!(exported.runs.len(), 3);
    let [first, held, _] = &exported.runs[..] else { panic!() };
    // By their ids, which begin with their times.
    assert_eq!((first.run.as_str(), first.artifact.is_none()), (gone.id.as_str(), true));
    assert_eq!((held.run.as_str(), held.records.len()), (runs[0].id.as_str(), 2));
    for run in exported.runs {
        let Some((_, artifact)) = run.artifact else { continue };
        let mut opened = artifact.unlock(&kept.identity).unwrap();
        let mut bytes = [0; 99];
        let count = opened.read_at(0, 0, &mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"what was printed");
    }
    // A second time there is a file already, and it stays.
    let before = fs::read(&file).unwrap();
    let ended = kept.noesc(&arguments);
    assert_eq!((ended.code(), fs::read(&file).unwrap() == before), (2, true), "{}", ended.err());
    let (stats, _) = kept.json(&["store", "stats", "--json"]);
    assert_eq!(stats["checkpoint"]["records"], json!(exported.checkpoint.size()));
}

#[test]
fn any_byte_that_is_another_is_refused() {
    let mut kept = Kept::new("export-changed");
    let run = kept.run(Duration::ZERO);
    let file = kept.folder.path("evidence.noesc");
    kept.noesc(&["store", "export", &run.id, "--to", file.to_str().unwrap()]).code();
    let bytes = fs::read(&file).unwrap();
    let changed = kept.folder.path("changed");
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        fs::write(&changed, &other).unwrap();
        let read = Exported::read(&changed);
        assert!(read.is_err(), "byte {at} of {}", bytes.len());
    }
    for length in (0..bytes.len()).step_by(7) {
        fs::write(&changed, &bytes[..length]).unwrap();
        assert!(Exported::read(&changed).is_err(), "{length}");
    }
    fs::write(&changed, [&bytes[..], b"x"].concat()).unwrap();
    assert!(matches!(Exported::read(&changed), Err(ExportError::Form { .. })));
}

#[test]
fn what_can_not_be_exported_leaves_no_file() {
    let mut kept = Kept::new("export-refused");
    let run = kept.run(Duration::ZERO);
    fs::write(&run.artifact, "").unwrap();
    let file = kept.folder.path("evidence.noesc");
    let ended = kept.noesc(&["store", "export", &run.id, "--to", file.to_str().unwrap()]);
    assert_eq!((ended.code(), file.exists()), (2, false), "{}", ended.err());
    let ended = kept.noesc(&["store", "export", "ffff", "--to", file.to_str().unwrap()]);
    ended.refused("there is no run \"ffff\"", 2);
}

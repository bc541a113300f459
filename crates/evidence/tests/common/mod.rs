//! A folder with a key and a ledger, and the example that writes one in a process of its own.
#![allow(dead_code, clippy::unwrap_used, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use noesc_evidence::{Checkpoint, CollectorKey, Kind, Ledger, LedgerError, Verified};
use serde_json::json;

/// Long enough for any writer on a busy machine.
pub(crate) const WAIT: Duration = Duration::from_secs(60);

pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) ledger: PathBuf,
    pub(crate) key_file: PathBuf,
    pub(crate) key: CollectorKey,
}

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("evidence").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let key_file = folder.join("key");
        let key = CollectorKey::create(&key_file, "example.com/ledger").unwrap();
        Self { ledger: folder.join("ledger"), folder, key_file, key }
    }

    pub(crate) fn open(&self) -> Result<Ledger<'_>, LedgerError> {
        Ledger::open(&self.ledger, &self.key, WAIT)
    }

    /// Writes `count` records, and returns where each begins and where the last one ends.
    pub(crate) fn fill(&self, count: u64) -> Vec<usize> {
        let mut starts = vec![self.bytes().len()];
        let mut ledger = self.open().unwrap();
        for n in 0..count {
            ledger.append(moment(n), Kind::Run, &json!({"n": n})).unwrap();
            starts.push(self.bytes().len());
        }
        starts
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.ledger).unwrap_or_default()
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.ledger, bytes).unwrap();
    }

    pub(crate) fn verify(&self) -> Result<Verified, LedgerError> {
        noesc_evidence::verify(&self.ledger, self.key.verifier(), WAIT)
    }

    pub(crate) fn verify_since(&self, checkpoint: &Checkpoint) -> Result<Verified, LedgerError> {
        noesc_evidence::verify_since(&self.ledger, self.key.verifier(), checkpoint, WAIT)
    }

    /// Kind and event of every record.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let mut told = Vec::new();
        noesc_evidence::read(&self.ledger, self.key.verifier(), WAIT, |record, _| {
            told.push((record.kind.to_owned(), record.event.to_owned()));
        })
        .unwrap();
        told
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn moment(n: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000 + n)
}

/// The example `ledger`; `cargo test -p noesc-evidence` builds it before any test runs.
pub(crate) fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples/ledger");
    assert!(path.exists(), "run `cargo build -p noesc-evidence --examples` first");
    path
}

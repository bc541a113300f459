//! A folder with a ledger for the tests of this crate, and keys that cost no passphrase.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::approver::ApproverKey;
use crate::key::CollectorKey;
use crate::ledger::Ledger;
use crate::recipients::{RecipientsAction, RecipientsChange, append_recipients};
use crate::record::Kind;

/// Long enough for any writer on a busy machine.
pub(crate) const WAIT: Duration = Duration::from_secs(60);

pub(crate) struct Place {
    folder: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) key: CollectorKey,
}

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("noesc-evidence-place-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let key = CollectorKey::from_seed("example.com/ledger", &[7; 32]).unwrap();
        Self { path: folder.join("ledger"), folder, key }
    }

    /// A ledger that names an approver.
    pub(crate) fn of(approver: &ApproverKey) -> Self {
        let place = Self::new();
        place.name(approver, None);
        place
    }

    pub(crate) fn open(&self) -> Ledger<'_> {
        Ledger::open(&self.path, &self.key, WAIT).unwrap()
    }

    /// Names an approver, as the one before, where there is one.
    pub(crate) fn name(&self, approver: &ApproverKey, before: Option<&ApproverKey>) {
        let change = RecipientsChange {
            action: RecipientsAction::Init,
            recipients: &[],
            from: &[],
            approver: Some(approver.verifier()),
            before,
        };
        append_recipients(&mut self.open(), moment(0), &change).unwrap();
    }

    /// Writes what any holder of the collector's key can.
    pub(crate) fn write(&self, kind: Kind, event: &Value) {
        self.open().append(moment(0), kind, event).unwrap();
    }

    /// The event that was written last.
    pub(crate) fn last(&self) -> Value {
        let mut last = None;
        self.open().read(|record| last = Some(record.event.to_owned())).unwrap();
        serde_json::from_str(&last.unwrap()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn approver(seed: u8) -> ApproverKey {
    let name = format!("noesc.approver/{seed:08x}");
    ApproverKey::of(CollectorKey::from_seed(&name, &[seed; 32]).unwrap())
}

pub(crate) fn moment(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
}

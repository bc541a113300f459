//! How long what is kept is kept, and what the ledger says of it when it is deleted.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::entry::Usage;
use crate::error::LedgerError;
use crate::key::CollectorKey;
use crate::ledger::io_error;
use crate::record::Kind;
use crate::store::{Store, latest_usage};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is kept of a run but for what the ledger says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Its sealed raw bytes.
    Artifact,
    /// Its clean views, and its record.
    Transcript,
}

impl What {
    /// The word in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Transcript => "transcript",
        }
    }
}

/// How long each is kept; `None` is for ever. The ledger is always kept.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use noesc_evidence::{Policy, What};
/// let (policy, now) = (Policy::default(), SystemTime::now());
/// let then = now - Duration::from_secs(15 * 24 * 3600);
/// assert!(policy.is_due(What::Artifact, then, now));
/// assert!(!policy.is_due(What::Transcript, then, now));
/// // What comes from the future has no age.
/// assert!(!policy.is_due(What::Artifact, now + Duration::from_secs(1), now));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Sealed raw bytes.
    pub raw_keep: Option<Duration>,
    /// Transcripts and records.
    pub transcript_keep: Option<Duration>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { raw_keep: Some(14 * DAY), transcript_keep: Some(90 * DAY) }
    }
}

impl Policy {
    /// How long this is kept.
    #[must_use]
    pub const fn keep(&self, what: What) -> Option<Duration> {
        match what {
            What::Artifact => self.raw_keep,
            What::Transcript => self.transcript_keep,
        }
    }

    /// Whether what is from a moment is to be deleted now.
    #[must_use]
    pub fn is_due(&self, what: What, from: SystemTime, now: SystemTime) -> bool {
        let age = now.duration_since(from).ok();
        self.keep(what).zip(age).is_some_and(|(keep, age)| age >= keep)
    }

    /// The shortest time that anything is kept.
    #[must_use]
    pub fn shortest(&self) -> Option<Duration> {
        self.raw_keep.into_iter().chain(self.transcript_keep).min()
    }
}

/// That something is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The run that it was of.
    pub run: String,
    /// What it is.
    pub what: What,
    /// The name of the artifact, where it is one.
    pub artifact: Option<String>,
    /// Bytes that it had, by the record of the run.
    pub bytes: u64,
    /// Its digests: of the raw bytes of each stream, as in the record of the run, or of each file.
    pub digests: BTreeMap<String, String>,
    /// It was gone before: something else has deleted it.
    #[serde(default)]
    pub was_missing: bool,
    /// What all that is kept takes without it.
    pub store: Usage,
}

/// The event of a `retention` record. All texts are escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Retention {
    /// Something is deleted. The record is on disk before anything is.
    Deleted(Tombstone),
    /// A run is not to be pruned.
    Held {
        /// Which.
        run: String,
        /// Why.
        reason: Option<String>,
    },
    /// It may be pruned again.
    Released {
        /// Which.
        run: String,
        /// Why.
        reason: Option<String>,
    },
    /// What is kept was counted on disk, and was not what the ledger said.
    Counted {
        /// As the ledger said.
        before: Usage,
        /// As it is.
        store: Usage,
    },
}

impl Store {
    /// Writes that something is deleted; what the store takes without it stands in the record then,
    /// if it was counted before.
    ///
    /// On a disk without room the reserve of the ledger is used for it: otherwise nothing could
    /// ever be deleted.
    ///
    /// # Errors
    /// As [`Ledger::append`](crate::Ledger::append).
    pub fn record_deleted(
        &self,
        key: &CollectorKey,
        tombstone: Tombstone,
        was_counted: bool,
    ) -> Result<u64, LedgerError> {
        self.record_retention(key, |usage| {
            let mut tombstone = tombstone.clone();
            let bytes = if was_counted { tombstone.bytes } else { 0 };
            tombstone.store = Usage {
                bytes: usage.bytes.saturating_sub(bytes),
                files: usage.files.saturating_sub(u64::from(bytes > 0)),
            };
            Retention::Deleted(tombstone)
        })
    }

    /// Writes that runs are held, or are no longer.
    ///
    /// # Errors
    /// As [`Ledger::append`](crate::Ledger::append).
    pub fn record_hold(&self, key: &CollectorKey, hold: &Retention) -> Result<u64, LedgerError> {
        self.record_retention(key, |_| hold.clone())
    }

    /// Writes that what is kept takes something else than the ledger said. Runs that end meanwhile
    /// count: what is given is the difference.
    ///
    /// # Errors
    /// As [`Ledger::append`](crate::Ledger::append).
    pub fn record_counted(
        &self,
        key: &CollectorKey,
        told: Usage,
        found: Usage,
    ) -> Result<u64, LedgerError> {
        let moved = |now: u64, told: u64, found: u64| match found >= told {
            true => now.saturating_add(found - told),
            false => now.saturating_sub(told - found),
        };
        self.record_retention(key, |before| {
            let store = Usage {
                bytes: moved(before.bytes, told.bytes, found.bytes),
                files: moved(before.files, told.files, found.files),
            };
            Retention::Counted { before, store }
        })
    }

    fn record_retention(
        &self,
        key: &CollectorKey,
        event: impl Fn(Usage) -> Retention,
    ) -> Result<u64, LedgerError> {
        let mut ledger = self.ledger(key)?;
        let path = self.ledger_path();
        let before = latest_usage(ledger.file(), ledger.end()).map_err(io_error("read", &path))?;
        let event = event(before.unwrap_or_default());
        match ledger.append(SystemTime::now(), Kind::Retention, &event) {
            // The reserve was given up for a record that says so, and has room for this one.
            Err(LedgerError::Full { .. }) => {
                ledger.append(SystemTime::now(), Kind::Retention, &event)
            }
            written => written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_flat_and_read_back() {
        let tombstone = Tombstone {
            run: "r".into(),
            what: What::Transcript,
            artifact: None,
            bytes: 3,
            digests: BTreeMap::new(),
            was_missing: false,
            store: Usage { bytes: 1, files: 1 },
        };
        let event = Retention::Deleted(tombstone);
        let text = serde_json::to_string(&event).unwrap();
        let wanted = concat!(
            r#"{"action":"deleted","run":"r","what":"transcript","artifact":null,"bytes":3,"#,
            r#""digests":{},"was_missing":false,"store":{"bytes":1,"files":1}}"#,
        );
        assert_eq!(text, wanted);
        assert_eq!(serde_json::from_str::<Retention>(&text).unwrap(), event);
    }

    #[test]
    fn the_least_age_is_due_and_none_is_for_ever() {
        let now = SystemTime::now();
        let policy = Policy { raw_keep: Some(Duration::ZERO), transcript_keep: None };
        assert!(policy.is_due(What::Artifact, now, now));
        assert!(!policy.is_due(What::Transcript, SystemTime::UNIX_EPOCH, now));
        let policy = Policy::default();
        assert!(policy.is_due(What::Artifact, now - 14 * DAY, now));
        assert!(!policy.is_due(What::Artifact, now - 14 * DAY + Duration::from_millis(1), now));
    }
}

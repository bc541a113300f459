//! What the ledger says of all runs: what is kept of each, what was deleted, and what is held.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::artifact::ArtifactId;
use crate::entry::{RunEntry, Usage};
use crate::error::LedgerError;
use crate::key::VerifierKey;
use crate::moment;
use crate::record::{Kind, Record};
use crate::retention::{Retention, What};
use crate::store::{LEDGER_WAIT, Store};
use crate::verify::{self, Verified};

/// How far a moment may lie in the future: clocks of several machines differ by less.
pub const CLOCK_SLACK: Duration = Duration::from_secs(5 * 60);

/// Records whose moments are compared, to see whether the clock is right.
const CLOCK_RECORDS: usize = 16;

/// A longer time without any record is one in which the clock was set, perhaps.
const CLOCK_GAP_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// A step back that is none of a clock that is put right by a little.
const CLOCK_BACK_MAX: Duration = Duration::from_secs(24 * 3600);

/// Why a run is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// As it was given; escaped.
    pub reason: Option<String>,
    /// Since when.
    pub since: String,
}

/// What the ledger says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The number of its record.
    pub record: u64,
    /// When that was written, or the latest moment of a record before it: a clock that was behind
    /// makes no run old. A moment that lies in the future does not count for others.
    pub time: Option<SystemTime>,
    /// Its artifact, if it has one.
    pub artifact: Option<ArtifactId>,
    /// Bytes of that.
    pub artifact_bytes: u64,
    /// Bytes of its transcripts.
    pub transcript_bytes: u64,
    /// Digests of its raw bytes.
    pub raw: BTreeMap<String, String>,
    /// There is a tombstone of its artifact.
    pub is_artifact_deleted: bool,
    /// There is a tombstone of its transcripts.
    pub is_transcript_deleted: bool,
    /// Why it is held, if it is.
    pub hold: Option<Hold>,
}

impl Told {
    /// Whether there is a tombstone.
    #[must_use]
    pub fn is_deleted(&self, what: What) -> bool {
        match what {
            What::Artifact => self.is_artifact_deleted,
            What::Transcript => self.is_transcript_deleted,
        }
    }

    /// Bytes that it took.
    #[must_use]
    pub fn bytes(&self, what: What) -> u64 {
        match what {
            What::Artifact => self.artifact_bytes,
            What::Transcript => self.transcript_bytes,
        }
    }
}

/// What the ledger says, all in all.
#[derive(Clone, Debug, Default)]
pub struct Chronicle {
    /// By the id of the run.
    pub runs: BTreeMap<String, Told>,
    /// Holds of runs that no record tells of yet.
    holds: BTreeMap<String, Option<Hold>>,
    /// Fingerprints of all that any artifact was sealed to.
    pub recipients: BTreeSet<String>,
    /// The last run was sealed to others than were confirmed.
    pub recipients_changed: bool,
    /// What all that is kept takes, as the last record says that tells.
    pub usage: Usage,
    /// The last `checkpoint` record: when, and how many records it covers.
    pub checkpoint: Option<(SystemTime, u64)>,
    /// The moment of the last record.
    pub last: Option<SystemTime>,
    /// How many records were read.
    pub records: u64,
    /// The latest moment so far that is not in the future.
    latest: Option<SystemTime>,
    /// Moments of the last records.
    recent: Vec<SystemTime>,
}

impl Chronicle {
    /// Reads the ledger and verifies it. What stands before a fault is there all the same. `now` is
    /// what the clock says: a later moment is wrong.
    pub fn read(
        store: &Store,
        key: &VerifierKey,
        now: SystemTime,
    ) -> (Self, Result<Verified, LedgerError>) {
        let mut chronicle = Self::default();
        let read = verify::read(&store.ledger_path(), key, LEDGER_WAIT, |record, _| {
            chronicle.take(record, now);
        });
        (chronicle, read)
    }

    fn take(&mut self, record: &Record<'_>, now: SystemTime) {
        self.records += 1;
        let own = moment::parse(record.time);
        if let Some(own) = own {
            self.last = Some(own);
            if self.recent.len() == CLOCK_RECORDS {
                self.recent.remove(0);
            }
            self.recent.push(own);
        }
        let is_past = |moment: &SystemTime| *moment <= now + CLOCK_SLACK;
        self.latest = self.latest.max(own.filter(is_past));
        if let Some(usage) = Usage::told(record.event) {
            self.usage = usage;
        }
        match Kind::from_word(record.kind) {
            Some(Kind::Run | Kind::Recovered) => {
                let time = own.filter(|own| !is_past(own)).or(self.latest);
                self.take_run(record, time);
            }
            Some(Kind::Retention) => self.take_retention(record),
            Some(Kind::Checkpoint) => {
                let size = serde_json::from_str(record.event).map(|told: TellsSize| told.size);
                self.checkpoint = own.map(|own| (own, size.unwrap_or_default()));
            }
            _ => {}
        }
    }

    fn take_run(&mut self, record: &Record<'_>, time: Option<SystemTime>) {
        let Ok(entry) = serde_json::from_str::<RunEntry>(record.event) else { return };
        if !is_run_id(&entry.run) {
            return;
        }
        self.recipients.extend(entry.recipients);
        if record.kind == Kind::Run.as_str() {
            self.recipients_changed = entry.recipients_changed;
        }
        let hold = self.holds.remove(&entry.run).flatten();
        let told = self.runs.entry(entry.run).or_insert_with(|| Told { hold, ..Told::default() });
        told.record = record.index;
        told.time = time;
        told.artifact = entry.artifact.and_then(|name| name.parse().ok()).or(told.artifact);
        told.artifact_bytes = told.artifact_bytes.max(entry.artifact_bytes);
        told.transcript_bytes = told.transcript_bytes.max(entry.transcript_bytes);
        told.raw = entry.raw;
    }

    fn take_retention(&mut self, record: &Record<'_>) {
        let (run, hold) = match serde_json::from_str(record.event) {
            Ok(Retention::Deleted(tombstone)) => {
                if !is_run_id(&tombstone.run) {
                    return;
                }
                let Some(told) = self.runs.get_mut(&tombstone.run) else {
                    // Of a run that was never told of: it had transcripts alone.
                    let told = Told { is_transcript_deleted: true, ..Told::default() };
                    self.runs.insert(tombstone.run, told);
                    return;
                };
                match tombstone.what {
                    What::Artifact => told.is_artifact_deleted = true,
                    What::Transcript => told.is_transcript_deleted = true,
                }
                return;
            }
            Ok(Retention::Held { run, reason }) => {
                (run, Some(Hold { reason, since: record.time.to_owned() }))
            }
            Ok(Retention::Released { run, .. }) => (run, None),
            Ok(Retention::Counted { .. }) | Err(_) => return,
        };
        match self.runs.get_mut(&run) {
            Some(told) => told.hold = hold,
            None if is_run_id(&run) => drop(self.holds.insert(run, hold)),
            None => {}
        }
    }

    /// Why a run is held, also one that no record tells of.
    #[must_use]
    pub fn hold(&self, run: &str) -> Option<&Hold> {
        match self.runs.get(run) {
            Some(told) => told.hold.as_ref(),
            None => self.holds.get(run)?.as_ref(),
        }
    }

    /// How many runs are held.
    #[must_use]
    pub fn held(&self) -> usize {
        let unknown = self.holds.values().flatten().count();
        self.runs.values().filter(|told| told.hold.is_some()).count() + unknown
    }

    /// Why the clock may be wrong, by the last records; `None` where there is no reason to think
    /// so.
    #[must_use]
    pub fn clock_doubt(&self, now: SystemTime) -> Option<&'static str> {
        let moments = self.recent.iter().copied().chain([now]);
        for (before, after) in moments.clone().zip(moments.skip(1)) {
            if before.duration_since(after).is_ok_and(|back| back > CLOCK_BACK_MAX) {
                return Some("it went back by more than a day");
            }
            if after.duration_since(before).is_ok_and(|gap| gap > CLOCK_GAP_MAX) {
                return Some("it went on by more than 30 days without a record");
            }
        }
        let last = self.recent.last().filter(|last| **last > now + CLOCK_SLACK);
        last.map(|_| "the last record is in the future")
    }
}

/// Bytes of the id of a run.
const RUN_ID_BYTES_MAX: usize = 64;

/// Whether a text can be the id of a run: it names a folder, and is shown. What a record says of
/// anything else is passed over.
pub(crate) fn is_run_id(text: &str) -> bool {
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=RUN_ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_of_id)
}

/// When a run began, by its id, which begins with its time.
#[must_use]
pub fn begun(run: &str) -> SystemTime {
    let digits: String = run.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    UNIX_EPOCH + Duration::from_millis(u64::from_str_radix(&digits, 16).unwrap_or_default())
}

#[derive(serde::Deserialize)]
struct TellsSize {
    size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_nowhere_and_has_a_most() {
        for (text, wanted) in [
            ("", false),
            ("0198c1a2-0000-7000-8000-000000000001", true),
            ("../x", false),
            ("a b", false),
            ("\u{202e}", false),
        ] {
            assert_eq!(is_run_id(text), wanted, "{text}");
        }
        let max = RUN_ID_BYTES_MAX;
        for (length, wanted) in [(max - 1, true), (max, true), (max + 1, false)] {
            assert_eq!(is_run_id(&"a".repeat(length)), wanted, "{length}");
        }
    }

    #[test]
    fn a_clock_is_in_doubt_by_more_than_a_most() {
        let now = SystemTime::now();
        let doubt = |before: SystemTime| {
            let recent = vec![before];
            Chronicle { recent, ..Chronicle::default() }.clock_doubt(now)
        };
        let (ms, slack) = (Duration::from_millis(1), CLOCK_SLACK);
        assert_eq!(Chronicle::default().clock_doubt(now), None);
        assert_eq!(doubt(now - CLOCK_GAP_MAX), None);
        assert!(doubt(now - CLOCK_GAP_MAX - ms).is_some());
        assert_eq!(doubt(now + slack), None);
        assert!(doubt(now + slack + ms).is_some());
        assert!(doubt(now + CLOCK_BACK_MAX + ms).unwrap().contains("went back"));
    }
}

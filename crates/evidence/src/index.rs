//! What the ledger tells of runs, in an order in which it can be asked for.
//!
//! The index is derived: it can be deleted at any time, and is made anew where it is missing,
//! damaged, or of another ledger. It knows up to which record it has read, and reads on from there.

mod sqlite;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use noesc_text::AuditEscape;
use serde_json::{Map, Value};

use crate::error::LedgerError;
use crate::key::VerifierKey;
use crate::record::Kind;
use crate::verify::{Position, read_from};

pub use sqlite::SqliteIndex;

/// Words of how grave a finding is, the least first.
pub const SEVERITIES: [&str; 6] = ["none", "info", "low", "medium", "high", "critical"];

/// Bytes of a command that an index holds.
pub const COMMAND_BYTES_MAX: usize = 1024;

/// Bytes of any other word that an index holds.
pub const WORD_BYTES_MAX: usize = 128;

/// Kinds of findings of a run that an index holds: more than there are.
pub const WORDS_MAX: usize = 64;

/// Events that are applied at once.
const BATCH: usize = 512;

/// What the ledger tells of a run. Every text is printable ASCII, and bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEvent {
    /// The id of the run.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// When it ended.
    pub ended: String,
    /// Its arguments, joined by blanks.
    pub command: String,
    /// The kind of its outcome.
    pub outcome: String,
    /// Its exit status, or 128+n.
    pub code: Option<i64>,
    /// The kinds of its findings.
    pub findings: Vec<String>,
    /// The gravest: one of [`SEVERITIES`].
    pub severity: String,
    /// Bytes observed.
    pub bytes: u64,
    /// What became of the original.
    pub evidence: String,
    /// The name of the artifact.
    pub artifact: Option<String>,
}

impl RunEvent {
    /// Reads the event of a `run` record. `None` where it names no run. What is missing is empty:
    /// other versions tell less, or more.
    #[must_use]
    pub fn parse(event: &str) -> Option<Self> {
        let event: Map<String, Value> = serde_json::from_str(event).ok()?;
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let word = |key: &str| inert(text(key), WORD_BYTES_MAX);
        let is_id = |id: &str| {
            id.len() == 36 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-'))
        };
        let findings = event.get("findings").and_then(Value::as_array);
        let findings = findings.into_iter().flatten().filter_map(Value::as_str).take(WORDS_MAX);
        let findings = findings.map(|kind| inert(kind, WORD_BYTES_MAX).replace(' ', "_"));
        Some(Self {
            run: Some(text("run")).filter(|id| is_id(id))?.to_owned(),
            started: word("started"),
            ended: word("ended"),
            command: inert(text("command"), COMMAND_BYTES_MAX),
            outcome: word("outcome"),
            code: event.get("code").and_then(Value::as_i64),
            findings: findings.collect(),
            severity: word("severity"),
            bytes: event.get("bytes").and_then(Value::as_u64).unwrap_or_default(),
            evidence: word("evidence"),
            artifact: event.get("artifact").and_then(Value::as_str).map(|_| word("artifact")),
        })
    }

    fn rank(&self) -> usize {
        SEVERITIES.iter().position(|word| *word == self.severity).unwrap_or_default()
    }
}

/// A text that acts on nothing: what is not printable ASCII is escaped. The ledger holds escaped
/// texts, but any program that can read the key can write there.
fn inert(text: &str, max: usize) -> String {
    let text = match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => text.to_owned(),
        false => AuditEscape(text.as_bytes()).to_string(),
    };
    match text.len() > max {
        true => text.get(..max).unwrap_or_default().to_owned(),
        false => text,
    }
}

/// Which runs are asked for. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The kind of the outcome.
    pub outcome: Option<String>,
    /// Those alone that did not exit with 0.
    pub failed: bool,
    /// A kind of findings.
    pub finding: Option<String>,
    /// One of [`SEVERITIES`], or graver.
    pub severity: Option<String>,
    /// Begun at this moment or later, RFC 3339 in UTC with milliseconds.
    pub since: Option<String>,
    /// Begun before this moment.
    pub until: Option<String>,
}

impl Query {
    /// Whether a run is meant.
    #[must_use]
    pub fn fits(&self, run: &RunEvent) -> bool {
        let rank = |word: &String| SEVERITIES.iter().position(|other| other == word);
        self.outcome.as_ref().is_none_or(|outcome| *outcome == run.outcome)
            && (!self.failed || run.outcome != "exited" || run.code != Some(0))
            && self.finding.as_ref().is_none_or(|kind| run.findings.contains(kind))
            && self.severity.as_ref().is_none_or(|word| rank(word).is_some_and(|r| run.rank() >= r))
            && self.since.as_ref().is_none_or(|moment| run.started >= *moment)
            && self.until.as_ref().is_none_or(|moment| run.started < *moment)
    }
}

/// Why an index is of no use. It can be made anew.
#[derive(Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// Its file can not be used.
    Io(io::Error),
    /// Another process uses it.
    Busy,
    /// It holds something else than was written.
    Damaged(String),
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot use the index: {error}"),
            Self::Busy => f.write_str("the index is in use by others"),
            Self::Damaged(why) => {
                write!(f, "the index is damaged: {}", AuditEscape(why.as_bytes()))
            }
        }
    }
}

impl std::error::Error for IndexError {}

/// Where the events of runs are found again.
pub trait Index {
    /// How far the ledger has been read into it.
    ///
    /// # Errors
    /// [`IndexError`], as of all that follow.
    fn position(&self) -> Result<Position, IndexError>;

    /// Takes events, and the position up to which the ledger has been read: both or none. A later
    /// event of a run takes the place of an earlier one.
    fn apply(&mut self, events: &[RunEvent], to: Position) -> Result<(), IndexError>;

    /// Forgets all, and begins at the beginning.
    fn clear(&mut self) -> Result<(), IndexError>;

    /// Hands on the runs that are meant, the newest first, while the visitor asks for more.
    fn query(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(RunEvent) -> bool,
    ) -> Result<(), IndexError>;

    /// Whether there is an event of a run.
    fn has(&self, run: &str) -> Result<bool, IndexError>;
}

/// What is known of runs by now.
#[derive(Debug, Default)]
pub struct Answer {
    /// The runs that are meant, the newest first.
    pub runs: Vec<RunEvent>,
    /// Those of the ids that were asked about of which there is an event.
    pub known: HashSet<String>,
    /// Why the ledger could not be read to its end.
    pub fault: Option<LedgerError>,
}

/// The index in a file, which is made anew whenever it is of no use.
#[derive(Clone, Debug)]
pub struct RunIndex {
    path: PathBuf,
}

impl RunIndex {
    /// The index at this path, which need not be there yet.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads on in the ledger and gives up to `limit` runs that are meant, the newest first, and
    /// which of `ids` it knows. An index that is of no use is made anew, or done without.
    ///
    /// # Errors
    /// When not even an index in memory can be had.
    pub fn ask(
        &self,
        (ledger, key): (&Path, &VerifierKey),
        wait: Duration,
        ids: &[String],
        limit: usize,
        fits: &dyn Fn(&RunEvent) -> bool,
        query: &Query,
    ) -> Result<Answer, IndexError> {
        let answer = |mut index: SqliteIndex| -> Result<Answer, IndexError> {
            let fault = catch_up(&mut index, ledger, key, wait)?;
            let mut runs = Vec::new();
            index.query(query, &mut |run| {
                if runs.len() < limit && fits(&run) {
                    runs.push(run);
                }
                runs.len() < limit
            })?;
            let mut known = HashSet::new();
            for id in ids {
                if index.has(id)? {
                    known.insert(id.clone());
                }
            }
            Ok(Answer { runs, known, fault })
        };
        match SqliteIndex::open(&self.path).and_then(answer) {
            Ok(answer) => return Ok(answer),
            // It is in order, and somebody else's for now.
            Err(IndexError::Busy) => {}
            Err(_) => {
                let anew =
                    SqliteIndex::remove(&self.path).and_then(|()| SqliteIndex::open(&self.path));
                if let Ok(answer) = anew.and_then(answer) {
                    return Ok(answer);
                }
            }
        }
        SqliteIndex::in_memory().and_then(answer)
    }
}

/// Reads the ledger on from where the index has read it to. What is in order is taken in before
/// what is not; why the rest is not in it is given. Where the index is of another ledger, it begins
/// anew. A ledger that is not there has nothing in it.
///
/// # Errors
/// When the index is of no use.
pub(crate) fn catch_up(
    index: &mut impl Index,
    ledger: &Path,
    key: &VerifierKey,
    wait: Duration,
) -> Result<Option<LedgerError>, IndexError> {
    loop {
        let from = index.position()?;
        let (mut events, mut reached, mut failed) = (Vec::new(), from, None);
        let mut is_full = false;
        let read = read_from(ledger, key, from, wait, |record, position| {
            if failed.is_some() {
                return;
            }
            // A run whose collector was killed is told of by whoever found it so.
            if [Kind::Run, Kind::Recovered].iter().any(|kind| record.kind == kind.as_str()) {
                events.extend(RunEvent::parse(record.event));
            }
            reached = position;
            is_full = events.len() >= BATCH;
            if is_full {
                failed = index.apply(&events, reached).err();
                events.clear();
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if reached != from {
            index.apply(&events, reached)?;
        }
        match read {
            Ok(_) => return Ok(None),
            Err(LedgerError::Io { ref source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                index.clear()?;
                return Ok(None);
            }
            // It can't be so twice: the beginning is where it was.
            Err(LedgerError::Moved { .. }) if from != Position::default() => index.clear()?,
            Err(error) => return Ok(Some(error)),
        }
    }
}

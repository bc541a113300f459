//! What a collector that was killed has left: it is made whole, and the ledger tells of it.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, ErrorKind};

use noesc_envelope::{RunId, Timestamp};
use noesc_evidence::{
    Artifact, ArtifactError, ArtifactId, Artifacts, KeyError, Kind, LEDGER_WAIT, LedgerError,
    RunEntry, Store, begun,
};

use crate::keep::{self, words_of};
use crate::runs::Runs;
use crate::stored::StoredRun;

/// A run that was not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Which.
    pub run: RunId,
    /// What there is of its raw bytes.
    pub artifact: Option<ArtifactId>,
    /// Whether the artifact ends with what was known when the run was over. Otherwise what came
    /// after its last segment is missing.
    pub is_complete: bool,
}

/// Why a run could not be made whole.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecoverError {
    /// The folder of a run, or all of them, can not be read or written.
    Io(io::Error),
    /// The ledger can not be read or written.
    Ledger(LedgerError),
    /// There is no key for it.
    Key(KeyError),
    /// What a run has left is no artifact.
    Artifact(RunId, ArtifactError),
}

impl fmt::Display for RecoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => f.write_str(&words_of(error)),
            Self::Ledger(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Artifact(run, error) => write!(f, "{run}: {error}"),
        }
    }
}

impl std::error::Error for RecoverError {}

impl From<io::Error> for RecoverError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Makes every run whole that nobody goes on with and that was not ended: cuts the torn end of its
/// artifact, gives that its name, and writes a `recovered` record. Whoever does the same at this
/// moment is passed over.
///
/// # Errors
/// [`RecoverError`], for the first run that can not be made whole. It stays as it is; the others
/// are whole then.
pub fn recover(store: &Store) -> Result<Vec<Recovered>, RecoverError> {
    let runs = Runs::at(store.runs_path()).list()?;
    let left: Vec<StoredRun> = runs.into_iter().filter(|run| run.left_by().is_some()).collect();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let key = store.key().map_err(RecoverError::Key)?;
    let mut known = HashSet::new();
    match noesc_evidence::read(&store.ledger_path(), key.verifier(), LEDGER_WAIT, |record, _| {
        // Others name a run as well: a hold, a decision.
        let is_of_run = [Kind::Run, Kind::Recovered].map(Kind::as_str).contains(&record.kind);
        let entry = serde_json::from_str::<RunEntry>(record.event).ok().filter(|_| is_of_run);
        known.extend(entry.map(|entry| entry.run));
    }) {
        Ok(_) => {}
        Err(LedgerError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        // A torn tail is cut by who writes next; what is before it is known by now.
        Err(_) => drop(store.ledger(&key).map_err(RecoverError::Ledger)?),
    }
    let (mut recovered, mut failed) = (Vec::new(), None);
    for run in left {
        let Some((lock, held)) = run.take_over()? else { continue };
        let one = match rescue(store, run.id()) {
            Ok(one) => one,
            Err(error) => {
                failed.get_or_insert(error);
                continue;
            }
        };
        if !known.contains(run.id().as_str()) {
            let mut entry = entry(&run, &one);
            store
                .record_run(&key, Kind::Recovered, &mut entry, None)
                .map_err(RecoverError::Ledger)?;
        }
        run.unmark(lock);
        drop(held);
        recovered.push(one.told(run.id()));
    }
    failed.map_or(Ok(recovered), Err)
}

/// What there is of a run.
struct Rescued {
    artifact: Option<(ArtifactId, Artifact)>,
    /// It was finished before the collector was killed.
    is_complete: bool,
}

impl Rescued {
    fn told(&self, run: &RunId) -> Recovered {
        let artifact = self.artifact.as_ref().map(|(id, _)| *id);
        Recovered { run: run.clone(), artifact, is_complete: self.is_complete }
    }
}

fn rescue(store: &Store, run: &RunId) -> Result<Rescued, RecoverError> {
    let failed = |error| RecoverError::Artifact(run.clone(), error);
    let (finished, was_begun) = store.of_run(run.as_str())?;
    // What was begun gets its last name when it is finished: while it is there, what has such a
    // name is not ours.
    if let (Some(id), false) = (finished.first(), was_begun) {
        let artifact = store.open(run.as_str(), *id).map_err(failed)?;
        artifact.verify(*id).map_err(failed)?;
        return Ok(Rescued { artifact: Some((*id, artifact)), is_complete: true });
    }
    let artifact = store.rescue(run.as_str()).map_err(failed)?;
    Ok(Rescued { artifact, is_complete: false })
}

/// What the ledger says of it.
fn entry(run: &StoredRun, rescued: &Rescued) -> RunEntry {
    let mut entry = match run.record() {
        Ok(record) => keep::entry(&record, run.transcript_bytes()),
        Err(_) => RunEntry {
            run: run.id().to_string(),
            started: Timestamp::from(begun(run.id().as_str())).to_string(),
            outcome: "unknown".into(),
            severity: "none".into(),
            transcript_bytes: run.transcript_bytes(),
            ..RunEntry::default()
        },
    };
    let why = match (&rescued.artifact, rescued.is_complete) {
        (Some((id, artifact)), is_complete) => {
            entry.artifact = Some(id.to_string());
            entry.artifact_bytes = artifact.bytes();
            entry.segments = artifact.segments() as u64;
            entry.evidence = "sealed".into();
            match is_complete {
                true => "the collector was killed when all was sealed",
                false => "the collector was killed: what came after the last segment is missing",
            }
        }
        (None, _) => {
            entry.evidence = "failed".into();
            "the collector was killed before anything was sealed"
        }
    };
    entry.reason = Some(why.into());
    entry
}

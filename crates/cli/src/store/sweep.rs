//! What is deleted by policy, one thing after another, each with a tombstone first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::fail::reason;
use noesc_evidence::{
    Artifacts, CLOCK_SLACK, Chronicle, CollectorKey, LedgerError, Policy, Store, Told, Tombstone,
    Usage, What, begun, crash_point, open_plain,
};
use noesc_session::{Runs, StoredRun};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::disk::OnDisk;

/// What is to be deleted of which store.
pub(super) struct Sweep<'a> {
    pub(super) store: &'a Store,
    pub(super) key: &'a CollectorKey,
    pub(super) chronicle: &'a Chronicle,
    pub(super) policy: Policy,
    pub(super) now: SystemTime,
    /// Nothing is deleted.
    pub(super) is_dry: bool,
    /// How much is deleted at most.
    pub(super) max: usize,
}

/// What was deleted, and what was not.
#[derive(Debug, Default, Serialize)]
pub(super) struct Swept {
    pub(super) deleted: Vec<Deleted>,
    pub(super) bytes: u64,
    /// Folders of runs of which nothing is left but what the ledger says.
    pub(super) folders: usize,
    pub(super) held: Vec<String>,
    pub(super) running: Vec<String>,
    /// Runs whose collector was killed and that are not whole yet.
    pub(super) unfinished: Vec<String>,
    /// Runs that are from the future, by the clock.
    pub(super) future: Vec<String>,
    /// Runs of which something can't be deleted, and why.
    pub(super) failed: Vec<String>,
    /// Not all was deleted: it was too much for once.
    pub(super) has_more: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Deleted {
    pub(super) run: String,
    pub(super) what: What,
    pub(super) bytes: u64,
    /// It was gone before.
    pub(super) was_missing: bool,
}

/// Why the work was not done.
pub(super) enum SweepError {
    Io(io::Error),
    Ledger(LedgerError),
}

impl From<io::Error> for SweepError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<LedgerError> for SweepError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl Sweep<'_> {
    /// Looks at every run, the oldest first.
    pub(super) fn run(&self, mut step: impl FnMut()) -> Result<Swept, SweepError> {
        let stored = Runs::at(self.store.runs_path()).list()?;
        let stored: BTreeMap<&str, &StoredRun> =
            stored.iter().map(|run| (run.id().as_str(), run)).collect();
        let known = self.chronicle.runs.keys().map(String::as_str);
        let runs: BTreeSet<&str> = stored.keys().copied().chain(known).collect();
        let mut swept = Swept::default();
        for run in runs {
            // One run that can't be swept keeps no other.
            match self.look(run, stored.get(run).copied(), &mut swept) {
                Err(SweepError::Io(error)) => {
                    swept.failed.push(format!("{run}: {}", reason(&error)))
                }
                looked => looked?,
            }
            if swept.has_more {
                break;
            }
            step();
        }
        Ok(swept)
    }

    fn look(
        &self,
        run: &str,
        stored: Option<&StoredRun>,
        swept: &mut Swept,
    ) -> Result<(), SweepError> {
        if stored.is_some_and(|stored| stored.keeper().is_some() || stored.is_attended()) {
            swept.running.push(run.to_owned());
            return Ok(());
        }
        let told = self.chronicle.runs.get(run);
        let mut disk = OnDisk::read(self.store, run)?;
        if disk.is_locked {
            swept.unfinished.push(run.to_owned());
            return Ok(());
        }
        if self.chronicle.hold(run).is_some() {
            swept.held.push(run.to_owned());
            return Ok(());
        }
        let from = told.and_then(|told| told.time).unwrap_or_else(|| since(run, &disk));
        if from > self.now + CLOCK_SLACK {
            swept.future.push(run.to_owned());
            return Ok(());
        }
        for what in [What::Artifact, What::Transcript] {
            if !self.policy.is_due(what, from, self.now) || !is_left(what, told, &disk) {
                continue;
            }
            if swept.deleted.len() == self.max {
                swept.has_more = true;
                return Ok(());
            }
            let deleted = self.delete(run, what, told, &disk)?;
            swept.bytes += deleted.bytes;
            swept.deleted.push(deleted);
        }
        if !self.is_dry {
            disk = OnDisk::read(self.store, run)?;
        }
        let is_due = |what| self.policy.is_due(what, from, self.now);
        let is_over = is_due(What::Artifact) && is_due(What::Transcript);
        if let (true, true, false, Some(stored)) = (is_over, disk.is_bare(), self.is_dry, stored) {
            stored.remove()?;
            swept.folders += 1;
        }
        Ok(())
    }

    /// Deletes one thing. Where there is a tombstone already, a prune before was killed.
    fn delete(
        &self,
        run: &str,
        what: What,
        told: Option<&Told>,
        disk: &OnDisk,
    ) -> Result<Deleted, SweepError> {
        let found = disk.bytes(what, told);
        let bytes = found.unwrap_or(0);
        let deleted = Deleted { run: run.to_owned(), what, bytes, was_missing: found.is_none() };
        if self.is_dry {
            return Ok(deleted);
        }
        let artifact = told.and_then(|told| told.artifact).filter(|_| what == What::Artifact);
        crash_point("prune-begun");
        if !told.is_some_and(|told| told.is_deleted(what)) {
            let digests = match what {
                What::Artifact => told.map(|told| told.raw.clone()).unwrap_or_default(),
                What::Transcript => digests(disk),
            };
            self.store.record_deleted(
                self.key,
                Tombstone {
                    run: run.to_owned(),
                    what,
                    artifact: artifact.map(|id| id.to_string()),
                    bytes,
                    digests,
                    was_missing: found.is_none(),
                    store: Usage::default(),
                },
                told.is_some(),
            )?;
        }
        crash_point("prune-tombstoned");
        match (what, artifact) {
            // Nothing is looked for where nothing was found.
            _ if found.is_none() => {}
            (What::Artifact, Some(id)) => drop(self.store.remove(run, id)?),
            (What::Artifact, None) => {}
            (What::Transcript, _) => remove_transcripts(disk)?,
        }
        crash_point("prune-deleted");
        Ok(deleted)
    }
}

/// Whether there is something to delete, or to say of what is gone.
fn is_left(what: What, told: Option<&Told>, disk: &OnDisk) -> bool {
    let is_there = disk.bytes(what, told).is_some();
    is_there || told.is_some_and(|told| !told.is_deleted(what) && told.bytes(what) > 0)
}

/// When a run began of which the ledger says nothing: as its id says, or the last change of its
/// folder.
fn since(run: &str, disk: &OnDisk) -> SystemTime {
    let changed = fs::symlink_metadata(&disk.path).and_then(|seen| seen.modified());
    changed.map_or(begun(run), |changed| changed.max(begun(run)))
}

/// The digest of each file of a transcript, and of the record.
fn digests(disk: &OnDisk) -> BTreeMap<String, String> {
    let digest = |name: &str| digest(&disk.path.join(name)).ok();
    disk.of_transcript().filter_map(|name| Some((name.to_owned(), digest(name)?))).collect()
}

fn digest(path: &Path) -> io::Result<String> {
    let mut file = open_plain(path, OpenOptions::new().read(true))?;
    let mut sha256 = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => sha256.update(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let hex = sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(format!("sha256:{hex}"))
}

fn remove_transcripts(disk: &OnDisk) -> io::Result<()> {
    for name in disk.of_transcript() {
        match fs::remove_file(disk.path.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    match File::open(&disk.path) {
        Ok(folder) => folder.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

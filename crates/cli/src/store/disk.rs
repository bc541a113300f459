//! What there is of a run on disk, whatever the ledger says.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use noesc_evidence::{ArtifactFile, ArtifactId, Chronicle, Store, Told, Usage, What};
use noesc_session::envelope::RunId;
use noesc_session::{RECORD, RunFile};

/// The folder of a run. Links are not followed; what has an unknown name is passed over.
#[derive(Debug, Default)]
pub(super) struct OnDisk {
    pub(super) path: PathBuf,
    /// Finished artifacts, each with its bytes.
    pub(super) sealed: Vec<(ArtifactId, u64)>,
    /// One that was begun and not finished.
    pub(super) has_part: bool,
    /// Names and bytes of transcripts.
    pub(super) transcripts: Vec<(String, u64)>,
    pub(super) has_record: bool,
    /// A collector goes on with it, or was killed.
    pub(super) is_locked: bool,
}

impl OnDisk {
    /// What there is of a run; nothing where it has no folder of its own, or its id is none: a
    /// record leads nowhere else.
    pub(super) fn read(store: &Store, run: &str) -> io::Result<Self> {
        let path = store.runs_path().join(run);
        let mut found = Self { path: path.clone(), ..Self::default() };
        if RunId::try_from(run.to_owned()).is_err() {
            return Ok(found);
        }
        let is_folder = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            seen => seen?.is_dir(),
        };
        if !is_folder {
            return Ok(found);
        }
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let (name, seen) = (entry.file_name(), entry.metadata());
            let (Some(name), Ok(seen)) = (name.to_str(), seen) else { continue };
            found.take(name, &seen);
        }
        found.transcripts.sort();
        Ok(found)
    }

    fn take(&mut self, name: &str, seen: &Metadata) {
        match ArtifactFile::named(name) {
            Some(ArtifactFile::Finished(id)) => self.sealed.push((id, seen.len())),
            Some(ArtifactFile::Begun) => self.has_part = true,
            None => {}
        }
        match RunFile::named(name) {
            Some(RunFile::Transcript(_)) => self.transcripts.push((name.to_owned(), seen.len())),
            Some(RunFile::Record) => self.has_record = true,
            Some(RunFile::Lock) => self.is_locked = true,
            None => {}
        }
    }

    /// Whether neither raw bytes nor a view nor a record is there.
    pub(super) fn is_bare(&self) -> bool {
        self.sealed.is_empty() && !self.has_part && !self.has_transcript()
    }

    pub(super) fn has_transcript(&self) -> bool {
        !self.transcripts.is_empty() || self.has_record
    }

    /// Names of the files that go when the transcript goes: the views, and the record.
    pub(super) fn of_transcript(&self) -> impl Iterator<Item = &str> {
        let views = self.transcripts.iter().map(|(name, _)| name.as_str());
        views.chain(self.has_record.then_some(RECORD))
    }

    /// Bytes of the artifact that the ledger names; `None` when it is not there.
    pub(super) fn artifact(&self, told: Option<&Told>) -> Option<u64> {
        let id = told?.artifact?;
        self.sealed.iter().find(|(sealed, _)| *sealed == id).map(|(_, bytes)| *bytes)
    }

    /// Bytes of one of both, as a quota counts them; `None` when it is not there.
    pub(super) fn bytes(&self, what: What, told: Option<&Told>) -> Option<u64> {
        match what {
            What::Artifact => self.artifact(told),
            What::Transcript if self.has_transcript() => {
                Some(self.transcripts.iter().map(|(_, bytes)| bytes).sum())
            }
            What::Transcript => None,
        }
    }
}

/// What the runs of a chronicle take, without what is to be deleted by a tombstone.
pub(super) fn usage(store: &Store, chronicle: &Chronicle) -> io::Result<Usage> {
    let mut usage = Usage::default();
    for (run, told) in &chronicle.runs {
        let disk = OnDisk::read(store, run)?;
        for what in [What::Artifact, What::Transcript] {
            let bytes = disk.bytes(what, Some(told)).filter(|_| !told.is_deleted(what));
            usage.bytes += bytes.unwrap_or(0);
            usage.files += u64::from(bytes.is_some_and(|bytes| bytes > 0));
        }
    }
    Ok(usage)
}

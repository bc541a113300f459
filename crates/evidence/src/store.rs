//! The place of all that is kept: a folder of this user alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::artifact::{Artifact, ArtifactError, ArtifactId};
use crate::crash::crash_point;
use crate::entry::{RunEntry, Usage};
use crate::error::LedgerError;
use crate::files;
use crate::identity::Recipients;
use crate::key::{CollectorKey, KeyError};
use crate::ledger::{Ledger, io_error};
use crate::recipients::{
    RecipientsAction, RecipientsChange, RecipientsState, append_recipients, state_of,
};
use crate::record::Kind;
use crate::seal::CLOSING_BYTES;
use crate::tail;
use crate::tree::Digest;

/// How long another writer of the ledger is waited for. It holds it for as long as a disk takes to
/// sync a record.
pub const LEDGER_WAIT: Duration = Duration::from_secs(10);

/// The artifact of a run while it is written.
const PART: &str = "sealed.part";

/// What the name of the file of a finished artifact ends with.
const SEALED: &str = ".sealed";

/// What may be kept: of one run, and of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of an artifact.
    pub artifact_bytes_max: u64,
    /// Bytes of all artifacts and transcripts.
    pub store_bytes_max: u64,
    /// Artifacts and transcripts.
    pub store_files_max: u64,
    /// Bytes that each run can have, however much others took.
    pub run_reserve_bytes: u64,
}

impl Default for Quota {
    /// Some days of builds. A gibibyte of output is an accident or an attack.
    fn default() -> Self {
        Self {
            artifact_bytes_max: 2 << 30,
            store_bytes_max: 16 << 30,
            store_files_max: 200_000,
            run_reserve_bytes: 8 << 20,
        }
    }
}

impl Quota {
    /// Bytes that the artifact of a new run may have; `None` when there is no room for one.
    ///
    /// A run takes half of what is free at most, and never of the last eighth, which is for the
    /// reserves: one that floods uses up the room of no later one.
    ///
    /// ```
    /// use noesc_evidence::{Quota, Usage};
    /// let quota = Quota { store_bytes_max: 8 << 30, ..Quota::default() };
    /// assert_eq!(quota.room(Usage { bytes: 0, files: 0 }), Some(2 << 30));
    /// assert_eq!(quota.room(Usage { bytes: 6 << 30, files: 0 }), Some(1 << 29));
    /// assert_eq!(quota.room(Usage { bytes: 7 << 30, files: 0 }), Some(8 << 20));
    /// assert_eq!(quota.room(Usage { bytes: 8 << 30, files: 0 }), None);
    /// ```
    #[must_use]
    pub fn room(&self, used: Usage) -> Option<u64> {
        let free = self.store_bytes_max.saturating_sub(used.bytes);
        let shared = free.saturating_sub(self.store_bytes_max / 8) / 2;
        let room = shared.max(self.run_reserve_bytes).min(self.artifact_bytes_max).min(free);
        (used.files < self.store_files_max && room > CLOSING_BYTES).then_some(room)
    }
}

/// Where artifacts are, each by its run.
pub trait Artifacts {
    /// Begins the artifact of a run.
    ///
    /// # Errors
    /// When there is one already, or no place for it.
    fn begin(&self, run: &str) -> io::Result<File>;

    /// Makes what was begun the artifact of the run: durable, and known by its name.
    ///
    /// # Errors
    /// When it can not be made durable.
    fn settle(&self, run: &str, id: ArtifactId) -> io::Result<()>;

    /// Removes what was begun, when it is to be none.
    ///
    /// # Errors
    /// When it can not be removed.
    fn abandon(&self, run: &str) -> io::Result<()>;

    /// Opens the artifact of a run.
    ///
    /// # Errors
    /// [`ArtifactError`] when it is missing or in no form of one.
    fn open(&self, run: &str, id: ArtifactId) -> Result<Artifact, ArtifactError>;

    /// Removes the artifact of a run and gives how many bytes it had; none when it was gone.
    ///
    /// # Errors
    /// When it can not be removed.
    fn remove(&self, run: &str, id: ArtifactId) -> io::Result<u64>;

    /// What the artifact of a run is called, where it is not known from elsewhere: the finished
    /// ones, and whether one was begun.
    ///
    /// # Errors
    /// When the place can not be read.
    fn of_run(&self, run: &str) -> io::Result<(Vec<ArtifactId>, bool)>;

    /// Takes what a collector that was killed has begun as it is: without a torn end.
    ///
    /// # Errors
    /// [`ArtifactError`] when it is in no form of an artifact.
    fn rescue(&self, run: &str) -> Result<Option<(ArtifactId, Artifact)>, ArtifactError>;
}

/// A folder with a ledger, the key of its collector, and a folder for each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store in this folder, which need not be there yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its ledger.
    #[must_use]
    pub fn ledger_path(&self) -> PathBuf {
        self.root.join("ledger")
    }

    /// The key that signs the ledger.
    #[must_use]
    pub fn key_path(&self) -> PathBuf {
        self.root.join("collector.key")
    }

    /// The index, which can be made anew from the ledger.
    #[must_use]
    pub fn index_path(&self) -> PathBuf {
        self.root.join("index.sqlite")
    }

    /// The folder of the folders of all runs.
    #[must_use]
    pub fn runs_path(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Makes the folder if it is not there, and sees that it is this user's alone.
    ///
    /// # Errors
    /// As [`make_own_folder`](crate::make_own_folder).
    pub fn prepare(&self) -> io::Result<()> {
        files::make_own_folder(&self.root)
    }

    /// The key that signs the ledger; the first time it is made.
    ///
    /// # Errors
    /// [`KeyError`] when it can not be read or made. It is not made where there is a ledger
    /// already: that was signed with another one.
    pub fn key(&self) -> Result<CollectorKey, KeyError> {
        let path = self.key_path();
        match CollectorKey::load(&path) {
            Err(KeyError::Io { source, .. })
                if source.kind() == ErrorKind::NotFound && !self.ledger_path().exists() => {}
            loaded => return loaded,
        }
        let failed = |source| KeyError::Io { doing: "make", path: path.clone(), source };
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
        let name = format!("noesc.ledger/{}", &Digest::of(&random).to_string()[..16]);
        match CollectorKey::create(&path, &name) {
            // Another run was quicker.
            Err(KeyError::Exists { .. }) => CollectorKey::load(&path),
            created => created,
        }
    }

    /// The ledger, for writing.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn ledger<'k>(&self, key: &'k CollectorKey) -> Result<Ledger<'k>, LedgerError> {
        Ledger::open(&self.ledger_path(), key, LEDGER_WAIT)
    }

    /// What is kept takes, as the last record says that tells of it.
    ///
    /// # Errors
    /// When the ledger can not be read; that there is none yet is no error.
    pub fn usage(&self) -> io::Result<Usage> {
        let file = match files::open(&self.ledger_path(), OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Usage::default()),
            file => file?,
        };
        let end = file.metadata()?.len();
        Ok(latest_usage(&file, end)?.unwrap_or_default())
    }

    /// Writes what became of a run, with what the store takes now, and whether the recipients that
    /// are configured are others than were confirmed: that is judged by the ledger that is written,
    /// while nobody else can write. The first run that finds it so has a `recipients` record before
    /// its own. Returns the number of the record when it is on disk.
    ///
    /// # Errors
    /// As [`Ledger::append`].
    pub fn record_run(
        &self,
        key: &CollectorKey,
        kind: Kind,
        entry: &mut RunEntry,
        configured: Option<&Recipients>,
    ) -> Result<u64, LedgerError> {
        let mut ledger = self.ledger(key)?;
        let path = self.ledger_path();
        if kind == Kind::Run {
            entry.recipients_changed = self.note_recipients(&mut ledger, key, configured)?;
        }
        let before = latest_usage(ledger.file(), ledger.end()).map_err(io_error("read", &path))?;
        let mut usage = before.unwrap_or_default();
        for bytes in [entry.artifact_bytes, entry.transcript_bytes] {
            usage.bytes = usage.bytes.saturating_add(bytes);
            usage.files = usage.files.saturating_add(u64::from(bytes > 0));
        }
        entry.store = usage;
        ledger.append(SystemTime::now(), kind, entry)
    }

    /// Whether the recipients are others than were confirmed; what is new about them is recorded.
    fn note_recipients(
        &self,
        ledger: &mut Ledger<'_>,
        key: &CollectorKey,
        configured: Option<&Recipients>,
    ) -> Result<bool, LedgerError> {
        let path = self.ledger_path();
        let state = state_of(ledger.file(), ledger.end(), key.verifier(), configured)
            .map_err(io_error("read", &path))?;
        let (action, from) = match state {
            RecipientsState::Same => return Ok(false),
            RecipientsState::Changed { is_recorded: true, .. } => return Ok(true),
            RecipientsState::Changed { from, .. } => (RecipientsAction::Changed, from),
            // The first that are named: whoever comes after them has changed.
            RecipientsState::Unset if configured.is_some() => (RecipientsAction::Init, Vec::new()),
            RecipientsState::Unset => return Ok(false),
        };
        let recipients: Vec<_> = configured.iter().flat_map(|all| all.iter()).cloned().collect();
        let (approver, before) = (None, None);
        let change =
            RecipientsChange { action, recipients: &recipients, from: &from, approver, before };
        append_recipients(ledger, SystemTime::now(), &change)?;
        Ok(action == RecipientsAction::Changed)
    }

    fn folder(&self, run: &str) -> PathBuf {
        self.runs_path().join(run)
    }

    fn artifact_path(&self, run: &str, id: ArtifactId) -> PathBuf {
        self.folder(run).join(format!("{}{SEALED}", id.hex()))
    }
}

/// A file of an artifact in the folder of its run, by its name.
///
/// ```
/// use noesc_evidence::ArtifactFile;
///
/// assert_eq!(ArtifactFile::named("sealed.part"), Some(ArtifactFile::Begun));
/// assert_eq!(ArtifactFile::named("not-hex.sealed"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactFile {
    /// A whole one.
    Finished(ArtifactId),
    /// One that was begun, and goes on or was cut short.
    Begun,
}

impl ArtifactFile {
    /// What has this name; `None` where it is no artifact.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_suffix(SEALED) {
            Some(hex) => ArtifactId::from_hex(hex).map(Self::Finished),
            None => (name == PART).then_some(Self::Begun),
        }
    }
}

pub(crate) fn latest_usage(file: &File, end: u64) -> io::Result<Option<Usage>> {
    tail::latest(file, end, |record| Usage::told(record.event))
}

impl Artifacts for Store {
    fn begin(&self, run: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        files::open(&self.folder(run).join(PART), options.write(true).create_new(true))
    }

    fn settle(&self, run: &str, id: ArtifactId) -> io::Result<()> {
        let path = self.artifact_path(run, id);
        fs::rename(self.folder(run).join(PART), &path)?;
        crash_point("artifact-renamed");
        files::sync_folder(&path)?;
        files::sync_folder(&self.folder(run))?;
        crash_point("artifact-settled");
        Ok(())
    }

    fn abandon(&self, run: &str) -> io::Result<()> {
        fs::remove_file(self.folder(run).join(PART))
    }

    fn open(&self, run: &str, id: ArtifactId) -> Result<Artifact, ArtifactError> {
        Artifact::open(&self.artifact_path(run, id))
    }

    fn remove(&self, run: &str, id: ArtifactId) -> io::Result<u64> {
        let path = self.artifact_path(run, id);
        let bytes = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            seen => seen?.len(),
        };
        fs::remove_file(&path)?;
        files::sync_folder(&path)?;
        Ok(bytes)
    }

    fn of_run(&self, run: &str) -> io::Result<(Vec<ArtifactId>, bool)> {
        let (mut finished, mut was_begun) = (Vec::new(), false);
        for entry in fs::read_dir(self.folder(run))? {
            match entry?.file_name().to_str().and_then(ArtifactFile::named) {
                Some(ArtifactFile::Finished(id)) => finished.push(id),
                Some(ArtifactFile::Begun) => was_begun = true,
                None => {}
            }
        }
        Ok((finished, was_begun))
    }

    fn rescue(&self, run: &str) -> Result<Option<(ArtifactId, Artifact)>, ArtifactError> {
        let part = self.folder(run).join(PART);
        let artifact = match Artifact::open(&part) {
            Err(ArtifactError::Io(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            artifact => artifact?,
        };
        if artifact.segments() == 0 {
            fs::remove_file(&part)?;
            return Ok(None);
        }
        let file = files::open(&part, OpenOptions::new().write(true))?;
        file.set_len(artifact.bytes())?;
        file.sync_all()?;
        let id = artifact.id()?;
        self.settle(run, id)?;
        Ok(Some((id, self.open(run, id)?)))
    }
}

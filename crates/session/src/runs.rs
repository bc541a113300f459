//! Runs that go on when the command that started them is over, each in a folder of its own.
//!
//! A folder holds the record, replaced as a whole whenever there is something new, and the
//! transcript of each stream: its clean view, never a raw byte. Whoever collects a run, or listens
//! to what outlived it, holds a lock in its folder: so a run that ended is told from one that goes
//! on, and who is to be asked to end it is known without a number that may have become another
//! process's.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use noesc_envelope::{Envelope, Escaped, Format, OutcomeKind, RunId, STILL_RUNNING, StreamName};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use rustix::process::{Flock, FlockType, Pid, PidfdFlags, Signal};

use crate::record::nonces;

/// Runs that have ended and are kept. Beyond it the oldest go when a new one begins.
pub const RUNS_ENDED_MAX: usize = 100;

/// Bytes of a record that are read back: far more than the largest view budget that is of use.
pub const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;

const RECORD: &str = "record.json";
/// Locked by the collector of a run.
const COLLECTED: &str = "collected";
/// Locked by the listener to what outlived a run; holds how many bytes that printed.
const DRAINED: &str = "drained";

/// How often a lock is looked at that can't be waited for.
const LOOK: Duration = Duration::from_millis(50);

/// The folder of all runs of a user.
#[derive(Clone, Debug)]
pub struct Runs {
    root: PathBuf,
}

/// Why a run was not found.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// No id begins so.
    None,
    /// Several do; the first two of them.
    Several(String, String),
    /// The folder of runs can not be read.
    Io(io::Error),
}

impl Runs {
    /// The runs in this folder, which need not be there yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where they are.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder of all runs, if it is not there, and sees that it is this user's alone.
    ///
    /// # Errors
    /// When it can not be made, is another user's or is open to others.
    pub fn prepare(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.root)?;
        let seen = std::fs::symlink_metadata(&self.root)?;
        let is_ours = seen.uid() == rustix::process::geteuid().as_raw();
        if !seen.is_dir() || !is_ours || seen.permissions().mode() & 0o077 != 0 {
            let why = "it is not this user's alone (owner and mode 0700)";
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        Ok(())
    }

    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// When it can not be made, or the folder of all runs is another user's or open to others.
    pub fn create(&self, run: &RunId) -> io::Result<RunFolder> {
        self.prepare()?;
        self.forget_oldest();
        let path = self.root.join(run.as_str());
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(RunFolder { path })
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// When the folder can not be read. That there is none yet is no error.
    pub fn list(&self) -> io::Result<Vec<StoredRun>> {
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
        let ids = entries.flatten().filter_map(name).filter_map(|id| RunId::try_from(id).ok());
        let mut runs: Vec<_> = ids.map(|id| self.stored(id)).collect();
        // An id begins with its time.
        runs.sort_by(|one, other| one.id.as_str().cmp(other.id.as_str()));
        Ok(runs)
    }

    /// The one run whose id begins so.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find(&self, beginning: &str) -> Result<StoredRun, FindError> {
        let runs = self.list().map_err(FindError::Io)?;
        let mut found = runs.into_iter().filter(|run| run.id.as_str().starts_with(beginning));
        match (found.next(), found.next()) {
            (None, _) => Err(FindError::None),
            (Some(run), None) => Ok(run),
            (Some(one), Some(other)) => {
                Err(FindError::Several(one.id.as_str().into(), other.id.as_str().into()))
            }
        }
    }

    fn stored(&self, id: RunId) -> StoredRun {
        let path = self.root.join(id.as_str());
        StoredRun { id, path }
    }

    fn forget_oldest(&self) {
        let runs = self.list().unwrap_or_default();
        let ended: Vec<_> = runs.into_iter().filter(|run| run.keeper().is_none()).collect();
        let excess = (ended.len() + 1).saturating_sub(RUNS_ENDED_MAX);
        for run in ended.iter().take(excess) {
            let _ = run.remove();
        }
    }
}

/// The folder of one run, for who writes it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    fn create_file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(self.path.join(name))
    }

    /// The lock of a collector, held until the file is dropped.
    pub(crate) fn hold(&self) -> io::Result<File> {
        let file = self.create_file(COLLECTED)?;
        rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    /// The file for the bytes of what outlives the run.
    pub(crate) fn count_file(&self) -> io::Result<File> {
        self.create_file(DRAINED)
    }

    /// The file for a clean view.
    pub(crate) fn transcript(&self, stream: StreamName) -> io::Result<File> {
        self.create_file(&transcript_name(stream))
    }

    /// Replaces the record, so that a reader finds the one before or this one.
    ///
    /// # Errors
    /// When it can not be rendered or written.
    pub fn write_record(&self, envelope: &Envelope) -> io::Result<()> {
        let text = noesc_envelope::render(envelope, Format::Json, &mut nonces())
            .map_err(|error| io::Error::other(error.to_string()))?;
        let new = self.path.join("record.new");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(new, self.path.join(RECORD))
    }

    /// Removes the folder and all that is in it.
    ///
    /// # Errors
    /// When it can not be removed.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_dir_all(self.path)
    }
}

fn transcript_name(stream: StreamName) -> String {
    format!("{}.txt", stream.name())
}

/// Who goes on with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keeper {
    /// A process that collects it.
    Collector {
        /// Its id.
        pid: u32,
    },
    /// A process that listens to what outlived it.
    Listener {
        /// Its id.
        pid: u32,
        /// Bytes that it has read.
        bytes: u64,
    },
}

impl Keeper {
    /// The process id.
    #[must_use]
    pub fn pid(self) -> u32 {
        match self {
            Self::Collector { pid } | Self::Listener { pid, .. } => pid,
        }
    }
}

/// Why a record could not be read back.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// It can not be read.
    Io(io::Error),
    /// It is no record: something else wrote there.
    Malformed(String),
}

/// One run, for who looks at it.
#[derive(Clone, Debug)]
pub struct StoredRun {
    id: RunId,
    path: PathBuf,
}

impl StoredRun {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Who goes on with it; `None` when it has ended.
    #[must_use]
    pub fn keeper(&self) -> Option<Keeper> {
        if let Some(pid) = holder(&self.path.join(COLLECTED)) {
            return Some(Keeper::Collector { pid });
        }
        let drained = self.path.join(DRAINED);
        let pid = holder(&drained)?;
        Some(Keeper::Listener { pid, bytes: self.drained_bytes() })
    }

    /// Bytes that were printed by what outlived the run.
    #[must_use]
    pub fn drained_bytes(&self) -> u64 {
        let text = read_bounded(&self.path.join(DRAINED), 64).unwrap_or_default();
        String::from_utf8_lossy(&text).trim().parse().unwrap_or(0)
    }

    /// The record as it is by now. Its views have passed the boundary once more, since any program
    /// of this user can write where it is kept.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&self) -> Result<Envelope, RecordError> {
        let mut record = self.parsed()?;
        let lost = OutcomeKind::Unknown { why: "collector-lost".into() };
        if is_running(&record) && self.keeper().is_none() {
            // Nobody will write a later one, unless it was written just now.
            record = self.parsed()?;
            if is_running(&record) {
                record.outcome.kind = lost;
            }
        }
        for stream in record.streams.values_mut() {
            let profile = profile_of(&stream.view.profile);
            if let Some(text) = &mut stream.view.text {
                text.head = clean(&text.head, &profile);
                text.tail = clean(&text.tail, &profile);
            }
        }
        Ok(record)
    }

    fn parsed(&self) -> Result<Envelope, RecordError> {
        let bytes = read_bounded(&self.path.join(RECORD), RECORD_BYTES_MAX);
        let bytes = bytes.map_err(RecordError::Io)?;
        let malformed = |error: &dyn std::fmt::Display| RecordError::Malformed(error.to_string());
        let text = String::from_utf8(bytes).map_err(|error| malformed(&error))?;
        let record =
            noesc_envelope::parse(&text, Format::Json).map_err(|error| malformed(&error))?;
        match record.run == self.id {
            true => Ok(record),
            false => Err(RecordError::Malformed("it is of another run".into())),
        }
    }

    /// The transcript of a stream, to be put through a boundary before it is shown; `None` where
    /// there is none.
    ///
    /// # Errors
    /// When it can not be opened.
    pub fn transcript(&self, stream: StreamName) -> io::Result<Option<File>> {
        match File::open(self.path.join(transcript_name(stream))) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// Waits until nobody goes on with it, at most until a moment. Whether that is so.
    #[must_use]
    pub fn wait(&self, until: Option<Instant>) -> bool {
        while let Some(keeper) = self.keeper() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            wait_for_end(keeper.pid(), left);
        }
        true
    }

    /// Asks who goes on with it to end it: `SIGTERM` to the whole tree, `SIGKILL` after the grace.
    /// False when nobody does.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn stop(&self) -> io::Result<bool> {
        let Some(keeper) = self.keeper() else { return Ok(false) };
        let Some(pid) = pid_of(keeper.pid()) else { return Ok(false) };
        let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
            return Ok(false);
        };
        // The descriptor is of the process that had the number then: it is the right one if it
        // still has the lock.
        if self.keeper().map(Keeper::pid) != Some(keeper.pid()) {
            return Ok(false);
        }
        rustix::process::pidfd_send_signal(&pidfd, Signal::TERM)?;
        Ok(true)
    }

    /// Removes what is kept of it.
    ///
    /// # Errors
    /// When it can not be removed.
    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_dir_all(&self.path)
    }
}

/// Whether a record was made while the run went on.
fn is_running(record: &Envelope) -> bool {
    matches!(&record.outcome.kind, OutcomeKind::Unknown { why } if why.as_str() == STILL_RUNNING)
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Waits until a process has ended, or a time is over.
fn wait_for_end(pid: u32, at_most: Option<Duration>) {
    let pidfd =
        pid_of(pid).and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    let Some(pidfd) = pidfd else {
        std::thread::sleep(at_most.unwrap_or(LOOK).min(LOOK));
        return;
    };
    let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
    let _ = poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], timeout.as_ref());
}

/// Who holds the lock of a file.
fn holder(path: &Path) -> Option<u32> {
    // To ask for a lock for writing the file has to be open for it.
    let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    let lock = rustix::process::fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)).ok()??;
    u32::try_from(lock.pid?.as_raw_nonzero().get()).ok()
}

fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, "it is too large")),
        false => Ok(bytes),
    }
}

/// The profile for views of this name; that of an agent where the name is none.
fn profile_of(name: &Escaped) -> noesc::Profile {
    name.as_str().parse().unwrap_or(noesc::Profile::AGENT)
}

fn clean(view: &str, profile: &noesc::Profile) -> String {
    let mut clean = String::new();
    // The profiles that have a name go together with themselves.
    if let Ok(mut boundary) = noesc::Boundary::new(profile) {
        boundary.push(view.as_bytes(), &mut clean);
        boundary.finish(&mut clean);
    }
    clean
}

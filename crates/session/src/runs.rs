//! Runs that go on when the command that started them is over, each in a folder of its own.
//!
//! A folder holds the record, replaced as a whole whenever there is something new, and the
//! transcript of each stream: its clean view, never a raw byte. Whoever collects a run, or listens
//! to what outlived it, holds a lock in its folder: so a run that ended is told from one that goes
//! on, and who is to be asked to end it is known without a number that may have become another
//! process's.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use noesc_envelope::{Envelope, Format, RunId, StreamName};
use noesc_evidence::{file_bytes_max, is_own_folder, make_own_folder, open_plain};

use crate::lock::Held;
use crate::record::nonces;
use crate::stored::StoredRun;

/// Bytes of a record that are read back: far more than the largest view budget that is of use.
pub const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The file of the record of a run, in its folder.
pub const RECORD: &str = "record.json";
/// Locked by the collector of a run in the background.
pub(crate) const COLLECTED: &str = "collected";
/// Locked by the collector of a run in the foreground. Whoever looks for runs that go on passes
/// these over: who started one waits for it.
pub(crate) const ATTENDED: &str = "attended";
/// Locked by the listener to what outlived a run; holds how many bytes that printed.
pub(crate) const DRAINED: &str = "drained";

/// What the name of a lock ends with that is not held yet.
const NEW: &str = ".new";

/// What stands for the id of the newest run.
const LAST: &str = "last";

/// The folder of all runs of a user.
#[derive(Clone, Debug)]
pub struct Runs {
    root: PathBuf,
}

/// Why a run was not found.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// No id begins or ends so.
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
        make_own_folder(&self.root)
    }

    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// When it can not be made, or the folder of all runs is another user's or open to others.
    pub fn create(&self, run: &RunId) -> io::Result<RunFolder> {
        self.prepare()?;
        let path = self.root.join(run.as_str());
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(RunFolder { path })
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// When the folder can not be read, is another user's or is open to others. That there is none
    /// yet is no error.
    pub fn list(&self) -> io::Result<Vec<StoredRun>> {
        if !is_own_folder(&self.root)? {
            return Ok(Vec::new());
        }
        let entries = std::fs::read_dir(&self.root)?.flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let ids = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let ids = ids.filter_map(|id| RunId::try_from(id).ok());
        let mut runs: Vec<_> = ids.map(|id| self.stored(id)).collect();
        // An id begins with its time.
        runs.sort_by(|one, other| one.id().as_str().cmp(other.id().as_str()));
        Ok(runs)
    }

    /// The one run whose id begins or ends so, or the newest for `last`. None begins with nothing.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find(&self, part: &str) -> Result<StoredRun, FindError> {
        let runs = self.list().map_err(FindError::Io)?;
        if part == LAST {
            // One that goes on in the foreground may be the one that asks.
            return runs.into_iter().rev().find(|run| !run.is_attended()).ok_or(FindError::None);
        }
        // An id begins with its time, so that those of one minute differ at their ends.
        let is_meant = |run: &StoredRun| {
            let id = run.id().as_str();
            !part.is_empty() && (id.starts_with(part) || id.ends_with(part))
        };
        let mut found = runs.into_iter().filter(is_meant);
        match (found.next(), found.next()) {
            (None, _) => Err(FindError::None),
            (Some(run), None) => Ok(run),
            (Some(one), Some(other)) => {
                Err(FindError::Several(one.id().as_str().into(), other.id().as_str().into()))
            }
        }
    }

    fn stored(&self, id: RunId) -> StoredRun {
        let path = self.root.join(id.as_str());
        StoredRun::new(id, path)
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

    /// The lock of a collector, held until it is dropped. It has its name when it is held, so that
    /// nobody finds one that is not.
    pub(crate) fn hold(&self, lock: &str) -> io::Result<Held> {
        let new = format!("{lock}{NEW}");
        let held = Held::take(self.create_file(&new)?)?;
        std::fs::rename(self.path.join(new), self.path.join(lock))?;
        Ok(held)
    }

    /// Takes the name of a lock away: whoever held it has left nothing undone.
    pub(crate) fn unmark(&self, lock: &str) {
        let _ = std::fs::remove_file(self.path.join(lock));
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
        if text.len() as u64 > file_bytes_max() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let new = self.path.join("record.new");
        // Never one that somebody else has put there.
        let _ = std::fs::remove_file(&new);
        let written = self.create_file("record.new").and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            std::fs::rename(&new, self.path.join(RECORD))
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    /// The same with what there will be no later one of. On a disk that is full there may be room
    /// for the facts alone; they are worth more than the end of a transcript.
    pub(crate) fn write_last_record(&self, envelope: &Envelope) -> io::Result<()> {
        if self.write_record(envelope).is_ok() {
            return Ok(());
        }
        let facts = envelope.without_views();
        self.write_record(&facts).or_else(|_| {
            for stream in StreamName::ALL {
                let path = self.path.join(transcript_name(stream));
                if let Ok(file) = open_plain(&path, OpenOptions::new().write(true)) {
                    let length = file.metadata().map_or(0, |seen| seen.len());
                    let _ = file.set_len(length / 2);
                }
            }
            self.write_record(&facts)
        })
    }

    /// Removes the folder and what is in it, as far as that goes.
    pub(crate) fn clear(&self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }

    /// Removes the folder and all that is in it.
    ///
    /// # Errors
    /// When it can not be removed.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_dir_all(self.path)
    }
}

/// A file in the folder of a run, by its name.
///
/// ```
/// use noesc_session::{RunFile, envelope::StreamName};
///
/// assert_eq!(RunFile::named("stdout.txt"), Some(RunFile::Transcript(StreamName::Stdout)));
/// assert_eq!(RunFile::named("collected.new"), Some(RunFile::Lock));
/// assert_eq!(RunFile::named("record.json.new"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// The record.
    Record,
    /// The view of a stream.
    Transcript(StreamName),
    /// A collector's: as long as it is there, the collector goes on or was killed.
    Lock,
}

impl RunFile {
    /// What has this name; `None` where it is none of these.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_suffix(NEW).unwrap_or(name) {
            COLLECTED | ATTENDED => return Some(Self::Lock),
            _ if name == RECORD => return Some(Self::Record),
            _ => {}
        }
        StreamName::ALL
            .into_iter()
            .find(|stream| name == transcript_name(*stream))
            .map(Self::Transcript)
    }
}

pub(crate) fn transcript_name(stream: StreamName) -> String {
    format!("{}.txt", stream.name())
}

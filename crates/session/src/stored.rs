//! One run in its folder, for who looks at it.
//!
//! Any program of this user can write there. So nothing is opened but regular files, nothing is
//! read without a bound, and what a record or a transcript holds passes the boundary before anybody
//! is shown it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use noesc::{Boundary, Profile};
use noesc_envelope::{Envelope, Format, OutcomeKind, RunId, StreamName};
use noesc_evidence::open_plain;

use crate::expect::cleaned;
use crate::lock::{Held, Holder, Process, holder};
use crate::runs::{ATTENDED, COLLECTED, DRAINED, RECORD, RECORD_BYTES_MAX, transcript_name};

/// How often it is looked at what can't be waited for.
const LOOK: Duration = Duration::from_millis(50);

/// How long it may take until what was printed is in the record: twice the time after which that is
/// written again.
const RECORD_TAKES: Duration = Duration::from_millis(400);

/// How long a record is awaited of a run that has just begun.
const RECORD_TAKES_MAX: Duration = Duration::from_secs(2);

/// Who goes on with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keeper {
    /// A process that collects it.
    Collector {
        /// Its id; `None` when it is not among the processes that are seen from here.
        pid: Option<u32>,
    },
    /// A process that listens to what outlived it.
    Listener {
        /// Its id; `None` when it is not among the processes that are seen from here.
        pid: Option<u32>,
    },
}

impl Keeper {
    /// The process id, where it is known.
    #[must_use]
    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Collector { pid } | Self::Listener { pid } => pid,
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
    pub(crate) fn new(id: RunId, path: PathBuf) -> Self {
        Self { id, path }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Who goes on with it; `None` when it has ended.
    #[must_use]
    pub fn keeper(&self) -> Option<Keeper> {
        if let Holder::Held { pid } = holder(&self.path.join(COLLECTED)) {
            return Some(Keeper::Collector { pid });
        }
        match holder(&self.path.join(DRAINED)) {
            Holder::Held { pid } => Some(Keeper::Listener { pid }),
            Holder::Nobody => None,
        }
    }

    /// Whether it goes on in the foreground of who started it.
    #[must_use]
    pub fn is_attended(&self) -> bool {
        holder(&self.path.join(ATTENDED)) != Holder::Nobody
    }

    /// The lock that a collector has left which did not come to the end of it.
    pub(crate) fn left_by(&self) -> Option<&'static str> {
        [ATTENDED, COLLECTED].into_iter().find(|lock| {
            let path = self.path.join(lock);
            std::fs::symlink_metadata(&path).is_ok() && holder(&path) == Holder::Nobody
        })
    }

    /// Takes such a lock over; `None` when somebody else was quicker.
    pub(crate) fn take_over(&self) -> io::Result<Option<(&'static str, Held)>> {
        let Some(lock) = self.left_by() else { return Ok(None) };
        let file = open_plain(&self.path.join(lock), OpenOptions::new().read(true).write(true))?;
        Ok(Held::take(file).ok().map(|held| (lock, held)))
    }

    /// Says that nothing is missing of it any more.
    pub(crate) fn unmark(&self, lock: &str) {
        let _ = std::fs::remove_file(self.path.join(lock));
    }

    /// Bytes of its transcripts.
    #[must_use]
    pub fn transcript_bytes(&self) -> u64 {
        let paths =
            StreamName::ALL.into_iter().map(|stream| self.path.join(transcript_name(stream)));
        paths.filter_map(|path| std::fs::symlink_metadata(path).ok()).map(|seen| seen.len()).sum()
    }

    fn is_collected(&self) -> bool {
        matches!(self.keeper(), Some(Keeper::Collector { .. })) || self.is_attended()
    }

    /// Bytes that were printed by what outlived the run.
    #[must_use]
    pub fn drained_bytes(&self) -> u64 {
        let text = read_bounded(&self.path.join(DRAINED), 64).unwrap_or_default();
        String::from_utf8_lossy(&text).trim().parse().unwrap_or(0)
    }

    /// When something was last written of it.
    pub(crate) fn written(&self) -> Option<SystemTime> {
        let seen = [self.path.join(RECORD), self.path.clone()].map(std::fs::symlink_metadata);
        seen.into_iter().flatten().find_map(|seen| seen.modified().ok())
    }

    /// The record as it is by now; of a run that has just begun the first one is awaited, for two
    /// seconds at most.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn awaited_record(&self) -> Result<Envelope, RecordError> {
        let until = Instant::now() + RECORD_TAKES_MAX;
        loop {
            match self.record() {
                Err(RecordError::Io(error))
                    if error.kind() == ErrorKind::NotFound
                        && self.keeper().is_some()
                        && Instant::now() < until =>
                {
                    std::thread::sleep(LOOK);
                }
                // It may have been written, and its writer ended, meanwhile.
                Err(RecordError::Io(error)) if error.kind() == ErrorKind::NotFound => {
                    return self.record();
                }
                read => return read,
            }
        }
    }

    /// The record as it is by now. Its views and its value have passed the boundary once more,
    /// since any program of this user can write where it is kept.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&self) -> Result<Envelope, RecordError> {
        let mut record = self.parsed()?;
        if record.outcome.kind.is_running() && !self.is_collected() {
            // Nobody will write a later one, unless it was written just now.
            record = self.parsed()?;
            if record.outcome.kind.is_running() {
                record.outcome.kind = OutcomeKind::Unknown { why: "collector-lost".into() };
            }
        } else if record.outcome.kind.is_running() {
            // It was written when something was printed. What has been printed up to the time in
            // which it is written again is in it.
            let since = self.written().and_then(|written| written.elapsed().ok());
            let since = since.unwrap_or_default().saturating_sub(RECORD_TAKES);
            if !since.is_zero() {
                let ms = u64::try_from(since.as_millis()).unwrap_or_default();
                record.time.duration_ms = record.time.duration_ms.saturating_add(ms);
                record.time.ended = (SystemTime::now() - RECORD_TAKES).into();
            }
        }
        if std::fs::symlink_metadata(self.path.join(DRAINED)).is_ok() {
            record.processes.drained_bytes = Some(self.drained_bytes());
        }
        for stream in record.streams.values_mut() {
            let profile = profile_of(stream.view.profile.as_str());
            if let Some(text) = &mut stream.view.text {
                text.head = clean(&text.head, &profile);
                text.tail = clean(&text.tail, &profile);
            }
        }
        if let Some(expected) = &mut record.expected {
            let value = expected.value.take().map(cleaned).transpose();
            let alike = |_| RecordError::Malformed("two keys of its value are alike".into());
            expected.value = value.map_err(alike)?;
        }
        Ok(record)
    }

    /// Waits until a record that is asked for holds what has been printed by now.
    pub fn settle(&self) {
        let (before, until) = (self.written(), Instant::now() + RECORD_TAKES);
        while self.is_collected() && self.written() == before && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
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
    /// When it can not be opened, or is no regular file.
    pub fn transcript(&self, stream: StreamName) -> io::Result<Option<File>> {
        match open_plain(&self.path.join(transcript_name(stream)), OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// Waits until its record is the last one, at most until a moment. Whether that is so.
    /// Processes that it left behind may go on.
    #[must_use]
    pub fn wait(&self, until: Option<Instant>) -> bool {
        self.wait_while(until, |keeper| matches!(keeper, Keeper::Collector { .. }))
    }

    /// Waits while somebody goes on with it of whom this holds, at most until a moment. Whether
    /// nobody does.
    fn wait_while(&self, until: Option<Instant>, holds: impl Fn(Keeper) -> bool) -> bool {
        while let Some(keeper) = self.keeper().filter(|keeper| holds(*keeper)) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            match self.process(keeper) {
                Some(process) => process.wait(left),
                None => std::thread::sleep(left.unwrap_or(LOOK).min(LOOK)),
            }
        }
        true
    }

    /// The process that goes on with it. That it still has the lock when it is looked at tells that
    /// its number has not become another's.
    fn process(&self, keeper: Keeper) -> Option<Process> {
        let process = Process::open(keeper.pid()?)?;
        (self.keeper() == Some(keeper)).then_some(process)
    }

    /// Asks who goes on with it to end it: `SIGTERM` to the whole tree, `SIGKILL` after the grace.
    /// Gives who was asked; `None` when nobody goes on with it.
    ///
    /// # Errors
    /// When the system refuses, or it is a process that is not seen from here.
    pub fn stop(&self) -> io::Result<Option<Keeper>> {
        while let Some(keeper) = self.keeper() {
            match self.process(keeper) {
                Some(process) => return process.ask().map(|()| Some(keeper)),
                // Otherwise somebody else goes on with it since.
                None if self.keeper() == Some(keeper) => {
                    return Err(io::Error::other("its process is not seen from here"));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Waits until nobody goes on with it. Whoever takes over from the one that was asked is asked,
    /// too. Whether it has ended.
    ///
    /// # Errors
    /// As [`stop`](Self::stop).
    pub fn wait_stopped(&self, mut asked: Keeper, until: Instant) -> io::Result<bool> {
        loop {
            if self.wait_while(Some(until), |keeper| keeper == asked) {
                match self.stop()? {
                    None => return Ok(true),
                    Some(next) => asked = next,
                }
            } else {
                return Ok(false);
            }
        }
    }

    /// Removes what is kept of it.
    ///
    /// # Errors
    /// When it can not be removed.
    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_dir_all(&self.path)
    }
}

fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_plain(path, OpenOptions::new().read(true))?;
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(io::Error::other("it is too large")),
        false => Ok(bytes),
    }
}

/// The profile that views of this name pass once more: they keep what it keeps, and what no name
/// has is taken away.
fn profile_of(name: &str) -> Profile {
    match name {
        "display" => Profile::DISPLAY,
        "custom" => Profile { style: Profile::DISPLAY.style, ..Profile::AGENT },
        _ => Profile::AGENT,
    }
}

fn clean(view: &str, profile: &Profile) -> String {
    let mut clean = String::new();
    // These settings go together.
    if let Ok(mut boundary) = Boundary::new(profile) {
        boundary.push(view.as_bytes(), &mut clean);
        boundary.finish(&mut clean);
    }
    clean
}

//! What a run that is collected in the background leaves in its folder while it goes on.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use noesc::{Boundary, Form, Profile, Style};
use noesc_envelope::{RunId, StreamName};
use noesc_evidence::file_bytes_max;

use crate::keep::Place;
use crate::runs::{RunFolder, Runs};

/// How often the record is written anew, when there is something new.
const RECORD_EVERY: Duration = Duration::from_millis(200);

/// View bytes of each stream that are stored by default: some hundred thousand lines, and a bound
/// for a server that never ends.
pub const TRANSCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// What is told of a run while it goes on: by its record, and to whoever waits.
pub(crate) struct Room {
    /// Whoever waits for the first that there is to see. Closed when there is.
    front: Option<File>,
    quiet: Duration,
    quiet_max: Duration,
    started: Option<Instant>,
    last_bytes: Option<Instant>,
    /// Since when the record in the folder is not the latest.
    stale_since: Option<Instant>,
}

impl Room {
    /// Of a run that is quiet after such a time, and at the latest after the other.
    pub(crate) fn new((quiet, quiet_max): (Duration, Duration)) -> Self {
        Self { front: None, quiet, quiet_max, started: None, last_bytes: None, stale_since: None }
    }

    /// Tells whoever waits the id of the run, and later that it has started, each on a line. The
    /// file is closed when the run has been quiet after it printed something, has ended, or the
    /// longest quiet time is over.
    pub(crate) fn greet(&mut self, run: &RunId, mut front: File) {
        let _ = writeln!(front, "{run}");
        self.front = Some(front);
    }

    /// The run has started: whoever waits learns it.
    pub(crate) fn started(&mut self) {
        let now = Instant::now();
        self.started = Some(now);
        self.stale_since = Some(now);
        if let Some(front) = &mut self.front {
            let _ = writeln!(front, "started");
        }
    }

    pub(crate) fn bytes_came(&mut self) {
        let now = Instant::now();
        self.last_bytes = Some(now);
        self.stale_since.get_or_insert(now);
    }

    /// When the record is to be written next.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let record = self.stale_since.map(|since| since + RECORD_EVERY);
        record.into_iter().chain(self.seen_at()).min()
    }

    /// Whether there is something to do.
    pub(crate) fn is_due(&self) -> bool {
        self.wake_at().is_some_and(|at| at <= Instant::now())
    }

    /// When whoever waits has seen enough.
    fn seen_at(&self) -> Option<Instant> {
        self.front.as_ref()?;
        let last = self.started? + self.quiet_max;
        let quiet = self.last_bytes.map(|at| at + self.quiet);
        quiet.into_iter().chain([last]).min()
    }

    /// The record was written.
    pub(crate) fn is_fresh(&mut self) {
        let now = Instant::now();
        self.stale_since = None;
        if self.seen_at().is_some_and(|at| now >= at) {
            self.front = None;
        }
    }
}

/// The clean view of a stream as it is stored, up to a number of bytes. No style is in it, whatever
/// the profile: it is inert for any reader of the file.
pub(crate) struct Transcript {
    file: Option<File>,
    room: u64,
    bytes: u64,
    /// What takes the style away that a view has.
    plain: Option<Boundary>,
}

impl Transcript {
    pub(crate) fn new(
        folder: &RunFolder,
        stream: StreamName,
        profile: &Profile,
        max: u64,
    ) -> io::Result<Self> {
        let is_styled = profile.form == Form::Off || matches!(profile.style, Style::Keep(_));
        // The settings of a profile with a name go together.
        let plain = is_styled.then(|| Boundary::new(&Profile::AGENT).ok()).flatten();
        let room = max.min(file_bytes_max());
        Ok(Self { file: Some(folder.transcript(stream)?), room, bytes: 0, plain })
    }

    pub(crate) fn push(&mut self, view: &str) {
        match &mut self.plain {
            Some(plain) => {
                let mut text = String::new();
                plain.push(view.as_bytes(), &mut text);
                self.write(&text);
            }
            None => self.write(view),
        }
    }

    /// Bytes that are stored.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(&mut self) {
        if let Some(mut plain) = self.plain.take() {
            let mut text = String::new();
            plain.finish(&mut text);
            self.write(&text);
        }
    }

    /// Appends what finds room. A disk that is full ends it, and nothing else.
    fn write(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let piece = &text[..text.floor_char_boundary(room)];
        if file.write_all(piece.as_bytes()).is_err() || piece.len() < text.len() {
            self.file = None;
        }
        self.room -= piece.len() as u64;
        self.bytes += piece.len() as u64;
    }
}

/// The folder of a run that is over, for what outlives it.
pub(crate) struct Outliving<'a> {
    runs: Option<&'a Runs>,
    run: &'a RunId,
    folder: Option<RunFolder>,
}

impl<'a> Outliving<'a> {
    pub(crate) fn new(runs: Option<&'a Runs>, run: &'a RunId) -> Self {
        Self { runs, run, folder: None }
    }

    /// The file for the count. That there is no place for it is no reason to fail.
    pub(crate) fn count_file(&mut self, place: Option<&Place>) -> Option<std::os::fd::OwnedFd> {
        if let Some(place) = place {
            return place.folder.count_file().ok().map(Into::into);
        }
        let folder = self.runs?.create(self.run).ok()?;
        let file = folder.count_file().ok()?;
        self.folder = Some(folder);
        Some(file.into())
    }

    /// The record of the run, for whoever asks what outlived it.
    pub(crate) fn write_record(&self, record: impl FnOnce() -> noesc_envelope::Envelope) {
        if let Some(folder) = &self.folder {
            // The result of the run reaches the caller all the same.
            let _ = folder.write_record(&record());
        }
    }
}

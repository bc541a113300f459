//! A run whose views are collected into its record.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::{Instant, SystemTime};

use noesc::ProfileError;
use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Sink, Stream, Survivors};
use noesc_envelope::{Envelope, Excerpt, Order, StreamName};

use crate::answer::Answers;
use crate::expect::{Expect, Watch};
use crate::keep::{Keeping, words_of};
use crate::live::Settings;
use crate::record::{Identity, NoRandomness, envelope, limits as recorded_limits};
use crate::room::{Outliving, Room, Transcript};
use crate::runs::{ATTENDED, COLLECTED, Runs};
use crate::tap::Tap;

/// View bytes per stream that a record holds, head and tail together: a few hundred lines, which
/// is what a reader takes in at once.
pub const VIEW_BYTES: usize = 32 * 1024;

/// Why a run could not be begun.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectError {
    /// The settings do not go together.
    Profile(ProfileError),
    /// There are no random bytes for the id of the run.
    NoRandomness(NoRandomness),
    /// The folder of the run can not be made.
    Folder(std::io::Error),
    /// The run can not be kept, and has to be.
    Evidence(String),
}

impl std::fmt::Display for CollectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Profile(error) => error.fmt(f),
            Self::NoRandomness(error) => error.fmt(f),
            Self::Folder(error) => {
                write!(f, "no folder for it: {}", words_of(error))
            }
            Self::Evidence(why) => write!(f, "no evidence of it can be kept: {why}"),
        }
    }
}

impl std::error::Error for CollectError {}

/// A run that was collected.
#[derive(Debug)]
pub struct Collected {
    /// The record with its views.
    pub envelope: Envelope,
    /// What the collector observed.
    pub captured: Captured,
}

/// Runs a command and collects its views, of each stream at most `view_bytes_max` bytes.
///
/// Memory is flat whatever the output.
///
/// # Errors
/// [`CollectError`], before anything was started. An encoding that can't be used is read as UTF-8;
/// check it with [`Decoder::for_label`](crate::Decoder::for_label) first.
///
/// ```
/// use noesc_session::{Command, Limits, Settings, VIEW_BYTES, collect};
///
/// let command = Command::new(["sh", "-c", r"printf '\033[31mred\n'; exit 3"]);
/// let run = collect(&command, &Limits::default(), &Settings::default(), VIEW_BYTES)?;
/// let stdout = &run.envelope.streams[&noesc_envelope::StreamName::Stdout];
/// assert_eq!(stdout.view.text.as_ref().unwrap().head, "red\n");
/// # Ok::<(), noesc_session::CollectError>(())
/// ```
pub fn collect(
    command: &Command,
    limits: &Limits,
    settings: &Settings,
    view_bytes_max: usize,
) -> Result<Collected, CollectError> {
    let identity = Identity::draw().map_err(CollectError::NoRandomness)?;
    let recorded = recorded_limits(limits, settings, Some(view_bytes_max));
    let facts = Facts { identity: &identity, command, settings, limits: recorded };
    let collector = Collector::new(facts, view_bytes_max, ATTENDED)?;
    Ok(collector.run(limits))
}

/// How a run is collected in the background.
#[derive(Debug)]
pub struct Background {
    /// Where its folder is made.
    pub runs: Runs,
    /// View bytes of each stream that are stored.
    pub transcript_bytes_max: u64,
    /// Where the id of the run is told when its folder is there, and `started` when it has started,
    /// each on a line; or `failed: ` and why, where nothing was begun. Closed when the run has
    /// printed something and been quiet for the linger time, when it has ended, or when the longest
    /// linger time is over.
    pub front: Option<File>,
}

/// Runs a command and collects it into a folder of its own, where the record and the transcripts
/// are by all times not older than a fifth of a second.
///
/// # Errors
/// [`CollectError`], before anything was started.
pub fn collect_in_background(
    command: &Command,
    limits: &Limits,
    settings: &Settings,
    view_bytes_max: usize,
    background: Background,
) -> Result<Collected, CollectError> {
    let identity;
    let begun = match Identity::draw() {
        Ok(drawn) => {
            identity = drawn;
            let recorded = recorded_limits(limits, settings, Some(view_bytes_max));
            let transcript_bytes_max = Some(background.transcript_bytes_max);
            let recorded = noesc_envelope::Limits { transcript_bytes_max, ..recorded };
            let facts = Facts { identity: &identity, command, settings, limits: recorded };
            Collector::in_folder(facts, limits, view_bytes_max, &background)
        }
        Err(error) => Err(CollectError::NoRandomness(error)),
    };
    match begun {
        Ok(mut collector) => {
            let run = &collector.facts.identity.run;
            if let (Some(room), Some(front)) = (&mut collector.room, background.front) {
                room.greet(run, front);
            }
            Ok(collector.run(limits))
        }
        Err(error) => {
            if let Some(mut front) = background.front {
                let _ = writeln!(front, "failed: {error}");
            }
            Err(error)
        }
    }
}

/// What a record says that is known before the run.
struct Facts<'a> {
    identity: &'a Identity,
    command: &'a Command,
    settings: &'a Settings,
    limits: noesc_envelope::Limits,
}

impl Facts<'_> {
    fn record(
        &self,
        captured: &Captured,
        streams: Vec<(StreamName, noesc_envelope::Stream)>,
        order: Vec<noesc_envelope::OrderEntry>,
    ) -> Envelope {
        let Self { identity, command, settings, limits } = self;
        envelope(identity, command, captured, settings, limits.clone(), streams, order)
    }
}

struct Collector<'a> {
    facts: Facts<'a>,
    paths: Vec<Path>,
    order: Order,
    watch: Option<Watch>,
    answers: Option<Answers>,
    outliving: Outliving<'a>,
    keeping: Keeping<'a>,
    room: Option<Room>,
    /// What is known of the run while it goes on.
    so_far: Option<Captured>,
}

/// One stream from the child to its excerpt.
struct Path {
    stream: Stream,
    name: StreamName,
    tap: Tap,
    excerpt: Excerpt,
    /// It is for a program: no reader is given any of it.
    is_artifact: bool,
    transcript: Option<Transcript>,
    /// Number of the last chunk; what the end of the stream decides came with it.
    seq: u64,
}

impl Path {
    fn new(
        (stream, name): (Stream, StreamName),
        tap: Tap,
        view_bytes_max: usize,
        is_artifact: bool,
    ) -> Self {
        let excerpt = Excerpt::new(if is_artifact { 0 } else { view_bytes_max });
        Self { stream, name, tap, excerpt, is_artifact, transcript: None, seq: 0 }
    }

    /// The stream as it is by now.
    fn record(
        &mut self,
        captured: &Captured,
        facts: &Facts<'_>,
    ) -> (StreamName, noesc_envelope::Stream) {
        let observed = observed(captured, self.stream);
        let selection = Some(self.excerpt.clone().finish());
        let profile = facts.settings.profile.name();
        let key = (&facts.identity.key, facts.settings.keyed_digests);
        (self.name, self.tap.record(&observed, profile, selection, key))
    }

    /// Hands on what the tap has decided.
    fn pass_on(&mut self, order: &mut Order, is_kept: bool) {
        let view = &self.tap.view;
        self.excerpt.push(view);
        if let Some(transcript) = self.transcript.as_mut().filter(|_| is_kept) {
            transcript.push(view);
        }
        order.push(self.seq, self.name, view.len() as u64);
    }
}

/// What was seen of one stream.
pub(crate) fn observed(captured: &Captured, stream: Stream) -> noesc_capture::StreamRecord {
    match stream {
        Stream::Stdout => captured.stdout,
        Stream::Stderr => captured.stderr,
        Stream::Extra => captured.extra.unwrap_or_default(),
        Stream::Pty => captured.pty.unwrap_or_default(),
    }
}

/// The streams of a command that have a view.
pub(crate) fn viewed(command: &Command) -> &'static [(Stream, StreamName)] {
    match command.terminal {
        Some(_) => &[(Stream::Pty, StreamName::Pty)],
        None => &[(Stream::Stdout, StreamName::Stdout), (Stream::Stderr, StreamName::Stderr)],
    }
}

impl<'a> Collector<'a> {
    fn new(
        facts: Facts<'a>,
        view_bytes_max: usize,
        lock: &'static str,
    ) -> Result<Self, CollectError> {
        let Facts { command, settings, identity, .. } = facts;
        let mut paths = Vec::new();
        for (stream, name) in viewed(command) {
            let is_artifact =
                *stream != Stream::Stderr && settings.expect == Some(Expect::Artifact);
            let tap = Tap::new(settings, true).map_err(CollectError::Profile)?;
            paths.push(Path::new((*stream, *name), tap, view_bytes_max, is_artifact));
        }
        let keeping = Keeping::begin(settings, identity, command, viewed(command), lock)
            .map_err(CollectError::Evidence)?;
        let transcript_bytes_max = keeping.transcript_bytes_max();
        let mut collector = Self {
            paths,
            order: Order::default(),
            watch: Watch::new(command, settings),
            answers: Answers::new(command, &settings.answers),
            outliving: Outliving::new(settings.runs.as_ref(), &identity.run),
            keeping,
            room: None,
            so_far: None,
            facts,
        };
        if transcript_bytes_max > 0 {
            collector.store(transcript_bytes_max)?;
        }
        Ok(collector)
    }

    /// One that has a folder for what it collects.
    fn in_folder(
        facts: Facts<'a>,
        limits: &Limits,
        view_bytes_max: usize,
        background: &Background,
    ) -> Result<Self, CollectError> {
        let run = &facts.identity.run;
        let mut collector = Self::new(facts, view_bytes_max, COLLECTED)?;
        collector.keeping.make_place(&background.runs, run).map_err(CollectError::Folder)?;
        collector.store(background.transcript_bytes_max)?;
        collector.room = Some(Room::new((limits.linger, limits.linger_max)));
        Ok(collector)
    }

    /// Stores the views from now on, each up to so many bytes.
    fn store(&mut self, bytes_max: u64) -> Result<(), CollectError> {
        let Some(place) = self.keeping.place() else { return Ok(()) };
        for path in self.paths.iter_mut().filter(|path| path.transcript.is_none()) {
            let max = if path.is_artifact { 0 } else { bytes_max };
            let profile = &self.facts.settings.profile;
            let transcript = Transcript::new(&place.folder, path.name, profile, max);
            path.transcript = Some(transcript.map_err(CollectError::Folder)?);
        }
        Ok(())
    }

    fn run(mut self, limits: &Limits) -> Collected {
        let captured = noesc_capture::run(self.facts.command, limits, &mut self);
        let expected = self.watch.take().and_then(|watch| watch.finish(&captured));
        let envelope = Envelope { expected, ..self.record(&captured) };
        self.outliving.write_record(|| envelope.clone());
        let taps = self.paths.iter().map(|path| (path.name, &path.tap, path.transcript.as_ref()));
        let envelope = self.keeping.finish(envelope, taps);
        Collected { envelope, captured }
    }

    fn record(&mut self, captured: &Captured) -> Envelope {
        let facts = &self.facts;
        let streams = self.paths.iter_mut().map(|path| path.record(captured, facts)).collect();
        self.facts.record(captured, streams, self.order.clone().finish())
    }

    /// The descriptor of a promise has no view.
    fn path(&mut self, stream: Stream) -> Option<(&mut Path, &mut Order)> {
        let path = self.paths.iter_mut().find(|path| path.stream == stream)?;
        Some((path, &mut self.order))
    }

    /// Counts what came, for a record before the end.
    fn note(&mut self, chunk: &Chunk<'_>) {
        let Some(room) = &mut self.room else { return };
        room.bytes_came();
        let Some(so_far) = &mut self.so_far else { return };
        let record = match chunk.stream {
            Stream::Stdout => &mut so_far.stdout,
            Stream::Stderr => &mut so_far.stderr,
            Stream::Extra => so_far.extra.get_or_insert_default(),
            Stream::Pty => so_far.pty.get_or_insert_default(),
        };
        record.bytes += chunk.bytes.len() as u64;
        record.kept += chunk.kept as u64;
        record.lines += chunk.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    }

    fn end_of(&mut self, stream: Stream, end: End) {
        let Some(so_far) = &mut self.so_far else { return };
        match stream {
            Stream::Stdout => so_far.stdout.end = end,
            Stream::Stderr => so_far.stderr.end = end,
            Stream::Extra => so_far.extra.get_or_insert_default().end = end,
            Stream::Pty => so_far.pty.get_or_insert_default().end = end,
        }
    }
}

impl Sink for Collector<'_> {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if let Some(watch) = &mut self.watch {
            watch.push(&chunk);
        }
        if let Some(answers) = &mut self.answers {
            answers.push(&chunk);
        }
        self.note(&chunk);
        self.keeping.push(&chunk);
        let Some((path, order)) = self.path(chunk.stream) else { return Flow::Continue };
        path.seq = chunk.seq;
        let (kept, rest) = chunk.bytes.split_at_checked(chunk.kept).unwrap_or((chunk.bytes, b""));
        for (bytes, is_kept) in [(kept, true), (rest, false)] {
            if !bytes.is_empty() {
                path.tap.push(bytes, &mut path.excerpt);
                path.pass_on(order, is_kept);
            }
        }
        Flow::Continue
    }

    fn end(&mut self, stream: Stream, end: End) -> Flow {
        self.end_of(stream, end);
        let Some((path, order)) = self.path(stream) else { return Flow::Continue };
        path.tap.finish(&mut path.excerpt);
        path.pass_on(order, true);
        if let Some(transcript) = &mut path.transcript {
            transcript.finish();
        }
        Flow::Continue
    }

    fn started(&mut self, so_far: &Captured) {
        if self.room.is_none() {
            let record = self.record(so_far);
            self.keeping.begun(|| record);
        }
        if self.room.is_some() {
            self.so_far = Some(so_far.clone());
            // Whoever learns that it has started finds its record.
            self.renew();
        }
        if let Some(room) = &mut self.room {
            room.started();
        }
    }

    fn wake_at(&self) -> Option<Instant> {
        let room = self.room.as_ref().and_then(Room::wake_at);
        room.into_iter().chain(self.keeping.wake_at()).min()
    }

    fn wake(&mut self) {
        self.keeping.wake();
        if self.room.as_ref().is_some_and(Room::is_due) {
            self.renew();
        }
    }

    fn typed(&mut self) -> Vec<u8> {
        self.answers.as_mut().map(Answers::take).unwrap_or_default()
    }

    fn outlived(&mut self, survivors: &Survivors) -> Option<OwnedFd> {
        survivors.count?;
        self.outliving.count_file(self.keeping.place())
    }
}

impl Collector<'_> {
    /// Writes the record as it is by now.
    fn renew(&mut self) {
        let Some(mut so_far) = self.so_far.take() else { return };
        so_far.ended = SystemTime::now();
        so_far.duration = so_far.ended.duration_since(so_far.started).unwrap_or_default();
        for path in &mut self.paths {
            path.tap.look();
        }
        let record = self.record(&so_far);
        self.so_far = Some(so_far);
        if let (Some(room), Some(place)) = (&mut self.room, self.keeping.place()) {
            let _ = place.folder.write_record(&record);
            room.is_fresh();
        }
    }
}

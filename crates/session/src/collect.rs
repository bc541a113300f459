//! A run whose views are collected into its record.

use noesc::ProfileError;
use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Sink, Stream};
use noesc_envelope::{Envelope, Excerpt, Order, StreamName};

use crate::expect::{Expect, Watch};
use crate::live::Settings;
use crate::record::{Identity, NoRandomness, envelope, limits as recorded_limits};
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
}

impl std::fmt::Display for CollectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Profile(error) => error.fmt(f),
            Self::NoRandomness(error) => error.fmt(f),
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
    let mut collector = Collector::new(command, settings, view_bytes_max)?;
    let captured = noesc_capture::run(command, limits, &mut collector);
    let Collector { paths, order, watch } = collector;
    let expected = watch.and_then(|watch| watch.finish(&captured));
    let profile = settings.profile.name();
    let streams = paths.into_iter().map(|path| path.record(&captured, profile, &identity));
    let streams = streams.collect();
    let recorded = recorded_limits(limits, settings, Some(view_bytes_max));
    let envelope =
        envelope(&identity, command, &captured, settings, recorded, streams, order.finish());
    Ok(Collected { envelope: Envelope { expected, ..envelope }, captured })
}

struct Collector {
    paths: Vec<Path>,
    order: Order,
    watch: Option<Watch>,
}

/// One stream from the child to its excerpt.
struct Path {
    stream: Stream,
    name: StreamName,
    tap: Tap,
    excerpt: Excerpt,
    /// Number of the last chunk; what the end of the stream decides came with it.
    seq: u64,
}

impl Path {
    fn new(stream: Stream, name: StreamName, tap: Tap, view_bytes_max: usize) -> Self {
        Self { stream, name, tap, excerpt: Excerpt::new(view_bytes_max), seq: 0 }
    }

    fn record(
        self,
        captured: &Captured,
        profile: &str,
        identity: &Identity,
    ) -> (StreamName, noesc_envelope::Stream) {
        let observed = observed(captured, self.stream);
        let selection = Some(self.excerpt.finish());
        (self.name, self.tap.record(&observed, profile, selection, &identity.key))
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

impl Collector {
    fn new(
        command: &Command,
        settings: &Settings,
        view_bytes_max: usize,
    ) -> Result<Self, CollectError> {
        let mut paths = Vec::new();
        for (stream, name) in viewed(command) {
            // What is for a program no reader is given.
            let is_artifact =
                *stream != Stream::Stderr && settings.expect == Some(Expect::Artifact);
            let tap = Tap::new(settings, true).map_err(CollectError::Profile)?;
            let max = if is_artifact { 0 } else { view_bytes_max };
            paths.push(Path::new(*stream, *name, tap, max));
        }
        Ok(Self { paths, order: Order::default(), watch: Watch::new(command, settings) })
    }

    /// The descriptor of a promise has no view.
    fn path(&mut self, stream: Stream) -> Option<(&mut Path, &mut Order)> {
        let path = self.paths.iter_mut().find(|path| path.stream == stream)?;
        Some((path, &mut self.order))
    }
}

impl Sink for Collector {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if let Some(watch) = &mut self.watch {
            watch.push(&chunk);
        }
        let Some((path, order)) = self.path(chunk.stream) else { return Flow::Continue };
        path.seq = chunk.seq;
        path.tap.push(chunk.bytes, &mut path.excerpt);
        path.excerpt.push(&path.tap.view);
        order.push(chunk.seq, path.name, path.tap.view.len() as u64);
        Flow::Continue
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        let Some((path, order)) = self.path(stream) else { return Flow::Continue };
        path.tap.finish(&mut path.excerpt);
        path.excerpt.push(&path.tap.view);
        order.push(path.seq, path.name, path.tap.view.len() as u64);
        Flow::Continue
    }
}

//! A run whose views are collected into its record.

use noesc::ProfileError;
use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Sink, Stream};
use noesc_envelope::{Envelope, Excerpt, Order, StreamName};

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
    let path = || Path::new(settings, view_bytes_max).map_err(CollectError::Profile);
    let mut collector = Collector { stdout: path()?, stderr: path()?, order: Order::default() };
    let captured = noesc_capture::run(command, limits, &mut collector);
    let profile = settings.profile.name();
    let Collector { stdout, stderr, order } = collector;
    let streams = vec![
        (StreamName::Stdout, stdout.record(&captured.stdout, profile, &identity)),
        (StreamName::Stderr, stderr.record(&captured.stderr, profile, &identity)),
    ];
    let recorded = recorded_limits(limits, Some(view_bytes_max));
    let envelope =
        envelope(&identity, command, &captured, settings, recorded, streams, order.finish());
    Ok(Collected { envelope, captured })
}

struct Collector {
    stdout: Path,
    stderr: Path,
    order: Order,
}

/// One stream from the child to its excerpt.
struct Path {
    tap: Tap,
    excerpt: Excerpt,
    /// Number of the last chunk; what the end of the stream decides came with it.
    seq: u64,
}

impl Path {
    fn new(settings: &Settings, view_bytes_max: usize) -> Result<Self, ProfileError> {
        let excerpt = Excerpt::new(view_bytes_max);
        Ok(Self { tap: Tap::new(settings, true)?, excerpt, seq: 0 })
    }

    fn record(
        self,
        observed: &noesc_capture::StreamRecord,
        profile: &str,
        identity: &Identity,
    ) -> noesc_envelope::Stream {
        self.tap.record(observed, profile, Some(self.excerpt.finish()), &identity.key)
    }
}

impl Collector {
    fn path(&mut self, stream: Stream) -> (&mut Path, &mut Order, StreamName) {
        match stream {
            Stream::Stdout => (&mut self.stdout, &mut self.order, StreamName::Stdout),
            Stream::Stderr => (&mut self.stderr, &mut self.order, StreamName::Stderr),
        }
    }
}

impl Sink for Collector {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        let (path, order, name) = self.path(chunk.stream);
        path.seq = chunk.seq;
        path.tap.push(chunk.bytes, &mut path.excerpt);
        path.excerpt.push(&path.tap.view);
        order.push(chunk.seq, name, path.tap.view.len() as u64);
        Flow::Continue
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        let (path, order, name) = self.path(stream);
        path.tap.finish(&mut path.excerpt);
        path.excerpt.push(&path.tap.view);
        order.push(path.seq, name, path.tap.view.len() as u64);
        Flow::Continue
    }
}

//! The transparent wrapper: stdout's view to stdout, stderr's view to stderr, as they come.

use std::os::fd::BorrowedFd;

use noesc::{Profile, ProfileError, Report};
use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Outlet, Sink, Stream};
use noesc_envelope::{Envelope, Expected, StreamName};

use crate::collect::CollectError;
use crate::expect::{Expect, Watch};
use crate::name::NameGuard;
use crate::record::{Identity, envelope, limits as recorded_limits};
use crate::tap::Tap;

/// How a run's streams are shown.
#[derive(Debug, Default)]
pub struct Settings {
    /// What survives.
    pub profile: Profile,
    /// The label of the encoding that the child writes, where it is not UTF-8.
    pub encoding: Option<String>,
    /// What the command is to print, where its caller said so.
    pub expect: Option<Expect>,
    /// Whether a live run makes a record too; its digests cost time.
    pub record: bool,
    /// Our stdout and stderr are one output, so that a line of the child's stdout could be taken
    /// for ours too. All goes to `stderr` then.
    pub one_output: bool,
}

/// What is known of a run when it is over.
#[derive(Debug)]
pub struct Ran {
    /// What the collector observed.
    pub captured: Captured,
    /// What the boundary did to the child's standard output.
    pub stdout: RanStream,
    /// The same of its standard error.
    pub stderr: RanStream,
    /// What the command was to print, and whether it did, without its value, where its caller said
    /// so.
    pub expected: Option<Expected>,
    /// The record of the run, without views (they went out live), where it was wanted.
    pub record: Option<Envelope>,
}

/// What became of one stream.
#[derive(Debug, Default)]
pub struct RanStream {
    /// What was removed, and what a reader should know.
    pub report: Report,
    /// A write to our own output failed otherwise than by its reader going away.
    pub failure: Option<std::io::ErrorKind>,
    /// The last line of the view has no line end.
    pub is_line_open: bool,
}

/// Runs a command and writes the views of its two streams to `stdout` and `stderr` as they are
/// decided.
///
/// A line of the child's stderr that begins as ours do (`noesc:`) is written as `child: noesc:`,
/// and one of its stdout where both are one output. A record is made where the settings ask for it.
///
/// # Errors
/// [`CollectError`], before anything was started. An encoding that can't be used is read as UTF-8;
/// check it with [`Decoder::for_label`](crate::Decoder::for_label) first.
pub fn live(
    command: &Command,
    limits: &Limits,
    settings: &Settings,
    stdout: Outlet,
    stderr: Outlet,
) -> Result<Ran, CollectError> {
    let identity = Identity::draw().map_err(CollectError::NoRandomness)?;
    let mut wrapper = Wrapper::new(settings, stdout, stderr).map_err(CollectError::Profile)?;
    wrapper.watch = Watch::new(command, settings);
    let captured = noesc_capture::run(command, limits, &mut wrapper);
    let expected = wrapper.watch.take().and_then(|watch| watch.finish(&captured));
    // What went out live is not told again.
    let expected = expected.map(|expected| Expected { value: None, ..expected });
    let record = settings.record.then(|| {
        let profile = settings.profile.name();
        let streams = vec![
            (
                StreamName::Stdout,
                wrapper.stdout.record(&captured.stdout, profile, None, &identity.key),
            ),
            (
                StreamName::Stderr,
                wrapper.stderr.record(&captured.stderr, profile, None, &identity.key),
            ),
        ];
        let limits = recorded_limits(limits, settings, None);
        let record = envelope(&identity, command, &captured, settings, limits, streams, Vec::new());
        Envelope { expected: expected.clone(), ..record }
    });
    let (stdout, stderr) = wrapper.done();
    Ok(Ran { captured, stdout, stderr, expected, record })
}

struct Wrapper {
    stdout: Tap,
    stderr: Tap,
    /// Where stdout's view goes; `None` where our stdout and stderr are one output.
    out: Option<Output>,
    err: Output,
    /// Streams that have not ended.
    open: u8,
    watch: Option<Watch>,
}

impl Wrapper {
    fn new(settings: &Settings, stdout: Outlet, stderr: Outlet) -> Result<Self, ProfileError> {
        let tap = || Tap::new(settings, settings.record);
        Ok(Self {
            stdout: tap()?,
            stderr: tap()?,
            out: (!settings.one_output).then(|| Output::new(stdout, None)),
            err: Output::new(stderr, Some(NameGuard::default())),
            open: 2,
            watch: None,
        })
    }

    /// A descriptor of the child's own has no place in what a reader of ours is shown.
    fn parts(&mut self, stream: Stream) -> Option<(&mut Tap, &mut Output)> {
        match (stream, &mut self.out) {
            (Stream::Stdout, Some(out)) => Some((&mut self.stdout, out)),
            (Stream::Stdout, None) => Some((&mut self.stdout, &mut self.err)),
            (Stream::Stderr, _) => Some((&mut self.stderr, &mut self.err)),
            (Stream::Extra, _) => None,
        }
    }

    /// Where stdout's view goes.
    fn out(&self) -> &Output {
        self.out.as_ref().unwrap_or(&self.err)
    }

    fn done(self) -> (RanStream, RanStream) {
        let ran = |tap: &Tap, output: &Output| {
            let failure = output.outlet.failure();
            RanStream {
                report: tap.report().clone(),
                failure: failure.filter(|&kind| kind != std::io::ErrorKind::BrokenPipe),
                is_line_open: output.is_line_open,
            }
        };
        (ran(&self.stdout, self.out()), ran(&self.stderr, &self.err))
    }
}

/// An output of ours. Where it takes both streams, the guard sees them as a reader does.
struct Output {
    outlet: Outlet,
    names: Option<NameGuard>,
    is_line_open: bool,
}

impl Output {
    fn new(outlet: Outlet, names: Option<NameGuard>) -> Self {
        Self { outlet, names, is_line_open: false }
    }

    fn push(&mut self, view: &str) -> Flow {
        match &mut self.names {
            Some(names) => names.push(view, self.outlet.buffer()),
            None => self.outlet.buffer().extend_from_slice(view.as_bytes()),
        }
        if let Some(last) = view.as_bytes().last() {
            self.is_line_open = *last != b'\n';
        }
        self.outlet.write()
    }

    /// Nothing follows.
    fn finish(&mut self) -> Flow {
        if let Some(names) = &mut self.names {
            names.finish(self.outlet.buffer());
        }
        self.outlet.write()
    }
}

impl Sink for Wrapper {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if let Some(watch) = &mut self.watch {
            watch.push(&chunk);
        }
        let Some((tap, output)) = self.parts(chunk.stream) else { return Flow::Continue };
        tap.push(chunk.bytes, &mut ());
        output.push(&tap.view)
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        let still_open = self.open.saturating_sub(1);
        let is_last = still_open == 0 || self.out.is_some();
        let Some((tap, output)) = self.parts(stream) else { return Flow::Continue };
        tap.finish(&mut ());
        let flow = output.push(&tap.view);
        let flow = if is_last { output.finish() } else { flow };
        self.open = still_open;
        flow
    }

    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => Some(self.out().outlet.fd()),
            Stream::Stderr => Some(self.err.outlet.fd()),
            Stream::Extra => None,
        }
    }

    fn writable(&mut self, stream: Stream) -> Flow {
        self.parts(stream).map_or(Flow::Continue, |(_, output)| output.outlet.write())
    }
}

//! The transparent wrapper: stdout's view to stdout, stderr's view to stderr, as they come.

use std::os::fd::BorrowedFd;

use noesc::{Profile, ProfileError, Report};
use noesc_capture::{
    Captured, Chunk, Command, End, Flow, Limits, Outlet, Sink, Stream, StreamRecord,
};
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
    /// for ours too.
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
    /// What the command was to print, and whether it did, where its caller said so.
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
    let path =
        |outlet, guarded| Path::new(settings, outlet, guarded).map_err(CollectError::Profile);
    let mut wrapper = Wrapper {
        stdout: path(stdout, settings.one_output)?,
        stderr: path(stderr, true)?,
        watch: Watch::new(command, settings),
    };
    let captured = noesc_capture::run(command, limits, &mut wrapper);
    let report = wrapper.stdout.tap.report();
    let expected = wrapper.watch.take().and_then(|watch| watch.finish(&captured, report));
    let record = settings.record.then(|| {
        let profile = settings.profile.name();
        let streams = vec![
            (StreamName::Stdout, wrapper.stdout.record(&captured.stdout, profile, &identity)),
            (StreamName::Stderr, wrapper.stderr.record(&captured.stderr, profile, &identity)),
        ];
        let limits = recorded_limits(limits, settings, None);
        let record = envelope(&identity, command, &captured, settings, limits, streams, Vec::new());
        Envelope { expected: expected.clone(), ..record }.without_value()
    });
    let (stdout, stderr) = (wrapper.stdout.done(), wrapper.stderr.done());
    Ok(Ran { captured, stdout, stderr, expected, record })
}

struct Wrapper {
    stdout: Path,
    stderr: Path,
    watch: Option<Watch>,
}

/// One stream from the child to our own output.
struct Path {
    tap: Tap,
    outlet: Outlet,
    names: Option<NameGuard>,
    is_line_open: bool,
}

impl Path {
    fn new(settings: &Settings, outlet: Outlet, guarded: bool) -> Result<Self, ProfileError> {
        Ok(Self {
            tap: Tap::new(settings, settings.record)?,
            outlet,
            names: guarded.then(NameGuard::default),
            is_line_open: false,
        })
    }

    fn push(&mut self, bytes: &[u8]) -> Flow {
        self.tap.push(bytes, &mut ());
        self.write()
    }

    fn finish(&mut self) -> Flow {
        self.tap.finish(&mut ());
        let flow = self.write();
        if let Some(names) = &mut self.names {
            names.finish(self.outlet.buffer());
            return self.outlet.write();
        }
        flow
    }

    fn write(&mut self) -> Flow {
        match &mut self.names {
            Some(names) => names.push(&self.tap.view, self.outlet.buffer()),
            None => self.outlet.buffer().extend_from_slice(self.tap.view.as_bytes()),
        }
        if let Some(last) = self.tap.view.as_bytes().last() {
            self.is_line_open = *last != b'\n';
        }
        self.outlet.write()
    }

    fn done(self) -> RanStream {
        let failure = self.outlet.failure().filter(|&kind| kind != std::io::ErrorKind::BrokenPipe);
        RanStream { report: self.tap.report().clone(), failure, is_line_open: self.is_line_open }
    }

    fn record(
        &self,
        observed: &StreamRecord,
        profile: &str,
        identity: &Identity,
    ) -> noesc_envelope::Stream {
        self.tap.record(observed, profile, None, &identity.key)
    }
}

impl Wrapper {
    /// A stream of the child's own has no place in what a terminal shows.
    fn path(&mut self, stream: Stream) -> Option<&mut Path> {
        match stream {
            Stream::Stdout => Some(&mut self.stdout),
            Stream::Stderr => Some(&mut self.stderr),
            Stream::Extra => None,
        }
    }
}

impl Sink for Wrapper {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if let Some(watch) = &mut self.watch {
            watch.push(&chunk);
        }
        self.path(chunk.stream).map_or(Flow::Continue, |path| path.push(chunk.bytes))
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        self.path(stream).map_or(Flow::Continue, Path::finish)
    }

    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => Some(self.stdout.outlet.fd()),
            Stream::Stderr => Some(self.stderr.outlet.fd()),
            Stream::Extra => None,
        }
    }

    fn writable(&mut self, stream: Stream) -> Flow {
        self.path(stream).map_or(Flow::Continue, |path| path.outlet.write())
    }
}

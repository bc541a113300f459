//! The transparent wrapper: stdout's view to stdout, stderr's view to stderr, as they come.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use noesc::{Profile, Report};
use noesc_capture::{Captured, Chunk, Command, End, Flow, Limits, Outlet, Sink, Stream, Survivors};
use noesc_envelope::{Envelope, Expected, Recorded, StreamName};

use crate::answer::{Answer, Answers};
use crate::collect::{CollectError, observed, viewed};
use crate::expect::{Expect, Watch};
use crate::keep::{Evidence, Keeping};
use crate::name::NameGuard;
use crate::record::{Identity, envelope, limits as recorded_limits};
use crate::room::{Outliving, Transcript};
use crate::runs::{ATTENDED, Runs};
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
    /// How much of the command is recorded.
    pub recorded: Recorded,
    /// The command is a shell that was asked for.
    pub shell: bool,
    /// Questions to a terminal of its own that the command is answered; none by default.
    pub answers: Vec<Answer>,
    /// Where a run that something outlives gets a folder; nowhere by default.
    pub runs: Option<Runs>,
    /// What is to be kept of the run; nothing by default.
    pub evidence: Option<Evidence>,
    /// Digests of raw bytes are given under the key of the run in any case.
    pub keyed_digests: bool,
    /// Our stdout and stderr are one output, so that a line of the child's stdout could be taken
    /// for ours too. All goes to `stderr` then.
    pub one_output: bool,
}

/// What is known of a run when it is over.
#[derive(Debug)]
pub struct Ran {
    /// What the collector observed.
    pub captured: Captured,
    /// What became of each stream: stdout and stderr, or the terminal of the child.
    pub streams: Vec<(StreamName, RanStream)>,
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
    let facts = Facts { command, limits, settings, identity: &identity };
    let mut wrapper = Wrapper::new(facts, stdout, stderr)?;
    let captured = noesc_capture::run(command, limits, &mut wrapper);
    let expected = wrapper.watch.take().and_then(|watch| watch.finish(&captured));
    // What went out live is not told again.
    let expected = expected.map(|expected| Expected { value: None, ..expected });
    let record = || Envelope { expected: expected.clone(), ..wrapper.record(&captured) };
    wrapper.outliving.write_record(record);
    let is_told = settings.record || wrapper.keeping.is_told();
    let record = is_told.then(record).map(|record| {
        let taps = wrapper.taps.iter();
        let taps = taps.map(|path| (path.name, &path.tap, path.transcript.as_ref()));
        wrapper.keeping.finish(record, taps)
    });
    Ok(Ran { captured, streams: wrapper.done(), expected, record })
}

/// One stream from the child to our output.
struct Path {
    stream: Stream,
    name: StreamName,
    tap: Tap,
    transcript: Option<Transcript>,
}

/// What a record says that is known before the run.
struct Facts<'a> {
    command: &'a Command,
    limits: &'a Limits,
    settings: &'a Settings,
    identity: &'a Identity,
}

struct Wrapper<'a> {
    facts: Facts<'a>,
    taps: Vec<Path>,
    /// Where stdout's view goes; `None` where our stdout and stderr are one output.
    out: Option<Output>,
    err: Output,
    /// Streams that have not ended.
    open: usize,
    watch: Option<Watch>,
    answers: Option<Answers>,
    outliving: Outliving<'a>,
    keeping: Keeping<'a>,
}

impl Path {
    /// Stores what the tap has decided.
    fn store(&mut self) {
        if let Some(transcript) = &mut self.transcript {
            transcript.push(&self.tap.view);
        }
    }
}

impl<'a> Wrapper<'a> {
    fn new(facts: Facts<'a>, stdout: Outlet, stderr: Outlet) -> Result<Self, CollectError> {
        let Facts { command, settings, identity, .. } = facts;
        let keeping = Keeping::begin(settings, identity, command, viewed(command), ATTENDED)
            .map_err(CollectError::Evidence)?;
        let has_digests = settings.record || keeping.is_kept();
        let mut taps = Vec::new();
        for (stream, name) in viewed(command) {
            let tap = Tap::new(settings, has_digests).map_err(CollectError::Profile)?;
            let transcript = keeping.place().filter(|_| keeping.transcript_bytes_max() > 0);
            let transcript = transcript.and_then(|place| {
                let max = keeping.transcript_bytes_max();
                // The run is worth more than its transcript.
                Transcript::new(&place.folder, *name, &settings.profile, max).ok()
            });
            taps.push(Path { stream: *stream, name: *name, tap, transcript });
        }
        Ok(Self {
            facts,
            open: taps.len(),
            taps,
            out: (!settings.one_output).then(|| Output::new(stdout, None)),
            err: Output::new(stderr, Some(NameGuard::default())),
            watch: Watch::new(command, settings),
            answers: Answers::new(command, &settings.answers),
            outliving: Outliving::new(settings.runs.as_ref(), &identity.run),
            keeping,
        })
    }

    /// The record as it is by now. Without digests nothing is known of what went out live.
    fn record(&self, captured: &Captured) -> Envelope {
        let Facts { command, limits, settings, identity } = self.facts;
        let profile = settings.profile.name();
        let has_digests = settings.record || self.keeping.is_kept();
        let taps = self.taps.iter().filter(|_| has_digests);
        let streams = taps.map(|Path { stream, name, tap, .. }| {
            let key = (&identity.key, settings.keyed_digests);
            (*name, tap.record(&observed(captured, *stream), profile, None, key))
        });
        let (streams, limits) = (streams.collect(), recorded_limits(limits, settings, None));
        envelope(identity, command, captured, settings, limits, streams, Vec::new())
    }

    /// A descriptor of the child's own has no place in what a reader of ours is shown.
    fn parts(&mut self, stream: Stream) -> Option<(&mut Path, &mut Output)> {
        let path = self.taps.iter_mut().find(|path| path.stream == stream)?;
        let output = match (stream, &mut self.out) {
            (Stream::Stderr, _) | (_, None) => &mut self.err,
            (_, Some(out)) => out,
        };
        Some((path, output))
    }

    /// Where the view of a stream goes.
    fn output(&self, stream: Stream) -> &Output {
        match (stream, &self.out) {
            (Stream::Stderr, _) | (_, None) => &self.err,
            (_, Some(out)) => out,
        }
    }

    fn done(self) -> Vec<(StreamName, RanStream)> {
        let ran = |Path { stream, name, tap, .. }: &Path| {
            let output = self.output(*stream);
            let failure = output.outlet.failure();
            let ran = RanStream {
                report: tap.report().clone(),
                failure: failure.filter(|&kind| kind != std::io::ErrorKind::BrokenPipe),
                is_line_open: output.is_line_open,
            };
            (*name, ran)
        };
        self.taps.iter().map(ran).collect()
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
        if let Some(last) = view.as_bytes().last() {
            self.is_line_open = *last != b'\n';
        }
        match &mut self.names {
            Some(names) => {
                names.push(view, self.outlet.buffer());
                self.outlet.write()
            }
            None => self.outlet.push(view.as_bytes()),
        }
    }

    /// Nothing follows.
    fn finish(&mut self) -> Flow {
        if let Some(names) = &mut self.names {
            names.finish(self.outlet.buffer());
        }
        self.outlet.write()
    }
}

impl Sink for Wrapper<'_> {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow {
        if let Some(watch) = &mut self.watch {
            watch.push(&chunk);
        }
        if let Some(answers) = &mut self.answers {
            answers.push(&chunk);
        }
        self.keeping.push(&chunk);
        let Some((path, output)) = self.parts(chunk.stream) else { return Flow::Continue };
        path.tap.push(chunk.bytes, &mut ());
        path.store();
        output.push(&path.tap.view)
    }

    fn end(&mut self, stream: Stream, _: End) -> Flow {
        let still_open = self.open.saturating_sub(1);
        let is_last = still_open == 0 || self.out.is_some();
        let Some((path, output)) = self.parts(stream) else { return Flow::Continue };
        path.tap.finish(&mut ());
        path.store();
        if let Some(transcript) = &mut path.transcript {
            transcript.finish();
        }
        let flow = output.push(&path.tap.view);
        let flow = if is_last { output.finish() } else { flow };
        self.open = still_open;
        flow
    }

    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        (stream != Stream::Extra).then(|| self.output(stream).outlet.fd())
    }

    fn abandoned(&mut self, stream: Stream) {
        if let Some((_, output)) = self.parts(stream) {
            output.outlet.abandon();
        }
    }

    fn writable(&mut self, stream: Stream) -> Flow {
        self.parts(stream).map_or(Flow::Continue, |(_, output)| output.outlet.write())
    }

    fn started(&mut self, so_far: &Captured) {
        self.keeping.begun(|| self.record(so_far));
    }

    fn wake_at(&self) -> Option<Instant> {
        self.keeping.wake_at()
    }

    fn wake(&mut self) {
        self.keeping.wake();
    }

    fn typed(&mut self) -> Vec<u8> {
        self.answers.as_mut().map(Answers::take).unwrap_or_default()
    }

    fn outlived(&mut self, survivors: &Survivors) -> Option<OwnedFd> {
        survivors.count?;
        self.outliving.count_file(self.keeping.place())
    }
}

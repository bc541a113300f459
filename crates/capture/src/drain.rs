//! The run: one poll loop over the pipes, the process, signals and what we write to.

use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::outcome::{Captured, Cutoff, End, Exit, Observer, Outcome, StreamRecord, Unknown};
use crate::reap::Process;
use crate::signal::{CANCELLING, Signals};
use crate::spawn::{SpawnFailure, Spawned, spawn};
use crate::terminal::{Terminal, is_orphaned};
use crate::{CHUNK_BYTES_MAX, Chunk, Command, Flow, Limits, Sink, Stream};

/// The most streams that a run has.
const STREAMS: usize = 3;

/// How often a sink is tried again that is blocked on nothing that can be polled.
const RETRY: Duration = Duration::from_millis(10);

/// How often the process is looked at where no descriptor tells of its end.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `command` to its end and hands its output to `sink` as it arrives.
///
/// Returns when the process has ended and both streams have ended or were cut off, and the sink is
/// not blocked. Memory does not grow with the output. Never fails: what went wrong is the
/// [`Outcome`].
#[must_use]
pub fn run(command: &Command, limits: &Limits, sink: &mut impl Sink) -> Captured {
    let undumpable = command.undumpable && make_undumpable();
    let signals = if command.attended { Signals::take() } else { None };
    let mut terminal =
        signals.is_some().then(|| Terminal::open(command.stdin == crate::Stdin::Inherit)).flatten();
    let (started, clock) = (SystemTime::now(), Instant::now());
    let attended = signals.is_some();
    let mut captured = Captured {
        outcome: Outcome::Unknown { why: Unknown::NotStarted },
        observed_by: Observer::Collector,
        exit: Exit::Unknown { why: Unknown::NotStarted },
        pid: None,
        executable: None,
        stdin: command.stdin,
        attended,
        undumpable,
        started,
        ended: started,
        duration: Duration::ZERO,
        chunks: 0,
        stdout: StreamRecord::default(),
        stderr: StreamRecord::default(),
        extra: command.extra_fd.map(|_| StreamRecord::default()),
    };
    match spawn(command, terminal.as_mut()) {
        Err(SpawnFailure { reason, path, executable }) => {
            captured.outcome = Outcome::SpawnFailed { reason, path };
            captured.executable = executable;
        }
        Ok(Spawned { process, executable, pipes }) => {
            captured.pid = u32::try_from(process.pid().as_raw_nonzero().get()).ok();
            captured.executable = Some(executable);
            let lanes = pipes.into_iter().map(|(stream, pipe)| Lane::new(stream, pipe)).collect();
            let mut run = Run::new(sink, *limits, process, lanes, signals, terminal);
            run.drain();
            run.conclude(&mut captured);
        }
    }
    captured.duration = clock.elapsed();
    captured.ended = SystemTime::now();
    captured
}

/// One stream on its way from the child to the sink.
struct Lane {
    stream: Stream,
    pipe: Option<PipeReader>,
    blocked: bool,
    /// What was in the pipe when the process ended: no deadline cuts it.
    owed: u64,
    record: StreamRecord,
}

impl Lane {
    fn new(stream: Stream, pipe: PipeReader) -> Self {
        let record = StreamRecord::default();
        Self { stream, pipe: Some(pipe), blocked: false, owed: 0, record }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn is_done(&self) -> bool {
        !self.is_open() && !self.blocked
    }

    /// Ends the stream; the sink learns it now.
    fn end(&mut self, end: End, sink: &mut impl Sink) {
        if self.pipe.take().is_some() {
            self.owed = 0;
            self.record.end = end;
            self.follow(|sink, stream| sink.end(stream, end), sink);
        }
    }

    /// Lets the sink do something and does what its answer asks for.
    fn follow<S: Sink>(&mut self, act: impl FnOnce(&mut S, Stream) -> Flow, sink: &mut S) {
        let flow = act(sink, self.stream);
        self.blocked = flow == Flow::Blocked;
        if flow == Flow::Closed {
            self.end(End { eof: false, cutoff: Cutoff::Caller }, sink);
            self.blocked = false;
        }
    }
}

/// A signal to noesc that was passed on.
struct Cancel {
    signal: i32,
    kill_at: Instant,
    killed: bool,
}

struct Run<'s, S> {
    sink: &'s mut S,
    limits: Limits,
    process: Process,
    lanes: Vec<Lane>,
    signals: Option<Signals>,
    terminal: Option<Terminal>,
    buffer: Vec<u8>,
    chunks: u64,
    exit: Option<Exit>,
    stopped: bool,
    cancel: Option<Cancel>,
    /// When the last byte arrived or the process ended, plus the time blocked on the sink since.
    quiet_since: Instant,
    linger_end: Instant,
    looked: Instant,
}

impl<'s, S: Sink> Run<'s, S> {
    fn new(
        sink: &'s mut S,
        limits: Limits,
        process: Process,
        lanes: Vec<Lane>,
        signals: Option<Signals>,
        terminal: Option<Terminal>,
    ) -> Self {
        let now = Instant::now();
        Self {
            sink,
            limits,
            process,
            lanes,
            signals,
            terminal,
            buffer: vec![0; CHUNK_BYTES_MAX],
            chunks: 0,
            exit: None,
            stopped: false,
            cancel: None,
            quiet_since: now,
            linger_end: now,
            looked: now,
        }
    }

    fn drain(&mut self) {
        while !(self.exit.is_some() && self.lanes.iter().all(Lane::is_done)) {
            let ready = self.wait_unhurried();
            for (index, ready) in ready.into_iter().enumerate() {
                if ready {
                    self.advance(index);
                }
            }
            self.take_signals();
            self.look_at_process();
            self.keep_deadlines();
        }
    }

    /// Waits; while the sink is blocked, the clock of the linger time stands still.
    fn wait_unhurried(&mut self) -> [bool; STREAMS] {
        let blocked = self.lanes.iter().any(|lane| lane.blocked);
        let before = Instant::now();
        let ready = self.wait();
        if blocked {
            let waited = before.elapsed();
            self.quiet_since += waited;
            self.linger_end += waited;
        }
        ready
    }

    /// Waits until something can be done. Says for each stream whether it can go on.
    fn wait(&self) -> [bool; STREAMS] {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(STREAMS + 2);
        let mut places = [None; STREAMS];
        let mut timeout = self.next_deadline();
        for (lane, place) in self.lanes.iter().zip(&mut places) {
            let fd = match (lane.blocked, &lane.pipe) {
                (true, _) => match self.sink.blocked_on(lane.stream) {
                    Some(fd) => PollFd::from_borrowed_fd(fd, PollFlags::OUT),
                    None => {
                        timeout = Some(timeout.map_or(RETRY, |timeout| timeout.min(RETRY)));
                        continue;
                    }
                },
                (false, Some(pipe)) => PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN),
                (false, None) => continue,
            };
            *place = Some(fds.len());
            fds.push(fd);
        }
        let ended = if self.exit.is_none() { self.process.fd() } else { None };
        let signalled = self.signals.as_ref().and_then(|_| Signals::fd());
        for fd in ended.into_iter().chain(signalled) {
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap_or_default());
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return [false; STREAMS];
        }
        let mut ready = [false; STREAMS];
        for ((ready, place), lane) in ready.iter_mut().zip(places).zip(&self.lanes) {
            *ready = match place.and_then(|place| fds.get(place)) {
                Some(fd) => !fd.revents().is_empty(),
                None => lane.blocked,
            };
        }
        ready
    }

    /// Moves one stream on by one write of the sink, or by one read.
    fn advance(&mut self, index: usize) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        if lane.blocked {
            lane.follow(|sink, stream| sink.writable(stream), self.sink);
            return;
        }
        let Some(pipe) = &mut lane.pipe else { return };
        match pipe.read(&mut self.buffer) {
            Ok(0) => lane.end(End { eof: true, cutoff: Cutoff::None }, self.sink),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => lane.end(End { eof: false, cutoff: Cutoff::None }, self.sink),
            Ok(count) => {
                let bytes = self.buffer.get(..count).unwrap_or_default();
                let offset = lane.record.bytes;
                let chunk = Chunk { seq: self.chunks, stream: lane.stream, offset, bytes };
                self.chunks += 1;
                self.quiet_since = Instant::now();
                lane.owed = lane.owed.saturating_sub(chunk.bytes.len() as u64);
                lane.record.bytes += chunk.bytes.len() as u64;
                lane.record.lines += line_feeds(bytes);
                lane.follow(|sink, _| sink.chunk(chunk), self.sink);
            }
        }
    }

    fn look_at_process(&mut self) {
        if self.exit.is_some() {
            return;
        }
        self.looked = Instant::now();
        self.exit = self.process.peek();
        if self.exit.is_none() {
            if let Some(signal) =
                self.signals.is_some().then(|| self.process.stopped_by()).flatten()
            {
                self.follow_stop(signal);
            }
            return;
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.take_back();
        }
        for lane in &mut self.lanes {
            let waiting = lane.pipe.as_ref().map(rustix::io::ioctl_fionread);
            lane.owed = waiting.and_then(Result::ok).unwrap_or(0);
        }
        self.quiet_since = self.looked;
        self.linger_end = self.looked + self.limits.linger_max;
    }

    /// Whether nothing but silence is waited for.
    fn is_lingering(&self) -> bool {
        self.exit.is_some() && self.lanes.iter().all(|lane| !lane.blocked && lane.owed == 0)
    }

    fn linger_until(&self) -> Instant {
        (self.quiet_since + self.limits.linger).min(self.linger_end)
    }

    fn next_deadline(&self) -> Option<Duration> {
        let linger = self.is_lingering().then(|| self.linger_until());
        let kill =
            self.cancel.as_ref().filter(|cancel| !cancel.killed).map(|cancel| cancel.kill_at);
        let unseen = self.exit.is_none() && self.process.fd().is_none();
        let look = unseen.then(|| self.looked + LOOK);
        let next = [linger, kill, look].into_iter().flatten().min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    fn keep_deadlines(&mut self) {
        let now = Instant::now();
        if self.cancel.as_ref().is_some_and(|cancel| !cancel.killed && now >= cancel.kill_at) {
            self.kill();
        }
        if self.exit.is_none() {
            return;
        }
        if self.cancel.as_ref().is_some_and(|cancel| cancel.killed) {
            // Told to stop, and the process is gone.
            self.cut_off(Cutoff::Caller);
        } else if self.is_lingering() && now >= self.linger_until() {
            self.cut_off(Cutoff::WriterAlive);
        }
    }

    fn cut_off(&mut self, cutoff: Cutoff) {
        if self.cancel.is_some() && self.lanes.iter().any(Lane::is_open) {
            // What outlives a cancelled run in its group is ended with it.
            self.process.signal_group(Signal::KILL);
        }
        for lane in &mut self.lanes {
            lane.end(End { eof: false, cutoff }, self.sink);
            // A reader that does not read any more is not waited for.
            lane.blocked &= cutoff != Cutoff::Caller;
        }
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.as_mut().and_then(Signals::next) {
            let Some(signal) = Signal::from_named_raw(number) else { continue };
            if CANCELLING.contains(&signal) {
                self.pass_on(signal);
            } else if signal == Signal::TSTP {
                self.process.signal_group(signal);
            } else if signal == Signal::CONT && self.stopped {
                self.resume(false);
            }
        }
    }

    fn pass_on(&mut self, signal: Signal) {
        if self.cancel.is_some() || self.exit.is_some() {
            // A second one, or there is nothing left to pass it on to.
            let first = self.cancel.as_ref().map_or(signal.as_raw(), |cancel| cancel.signal);
            self.cancel = Some(Cancel { signal: first, kill_at: Instant::now(), killed: false });
            self.kill();
            return;
        }
        self.process.signal_group(signal);
        if self.stopped {
            // A stopped process would only find it when it is continued.
            self.resume(false);
        }
        let kill_at = Instant::now() + self.limits.grace;
        self.cancel = Some(Cancel { signal: signal.as_raw(), kill_at, killed: false });
    }

    fn kill(&mut self) {
        self.process.signal_group(Signal::KILL);
        if let Some(cancel) = &mut self.cancel {
            cancel.killed = true;
        }
    }

    /// The child was stopped: stops with it, as the shell expects of a job.
    fn follow_stop(&mut self, number: i32) {
        self.stopped = true;
        let Some(signal) = Signal::from_named_raw(number) else { return };
        let asks = signal == Signal::TTIN || signal == Signal::TTOU;
        let (Some(terminal), Some(signals)) = (&mut self.terminal, &mut self.signals) else {
            return;
        };
        let group = self.process.pid();
        if asks && terminal.give(group, true) {
            self.resume(false);
            return;
        }
        if is_orphaned() {
            // Nobody could continue us. The kernel would have discarded a terminal stop of ours;
            // to a group that waits for a terminal it cannot have it would have sent SIGHUP.
            if asks {
                self.process.signal_group(Signal::HUP);
            }
            if signal != Signal::STOP {
                self.resume(false);
            }
            return;
        }
        let since = Instant::now();
        terminal.take_back();
        terminal.unblocked(|| signals.stop_self(signal));
        if let Some(cancel) = &mut self.cancel {
            cancel.kill_at += since.elapsed();
        }
        self.resume(asks);
    }

    /// Continues the group, with the terminal if it is ours to give.
    fn resume(&mut self, asks: bool) {
        self.stopped = false;
        if let Some(terminal) = &mut self.terminal {
            terminal.give(self.process.pid(), asks);
        }
        self.process.signal_group(Signal::CONT);
    }

    fn conclude(mut self, captured: &mut Captured) {
        self.process.collect();
        let exit = self.exit.unwrap_or(Exit::Unknown { why: Unknown::NotTold(0) });
        captured.exit = exit;
        captured.outcome = match (self.cancel, exit) {
            (Some(cancel), exit) => Outcome::Cancelled { signal: cancel.signal, exit },
            (None, Exit::Exited { code }) => Outcome::Exited { code },
            (None, Exit::Signalled { signal, core }) => Outcome::Signalled { signal, core },
            (None, Exit::Unknown { why }) => Outcome::Unknown { why },
        };
        captured.chunks = self.chunks;
        for lane in self.lanes {
            match lane.stream {
                Stream::Stdout => captured.stdout = lane.record,
                Stream::Stderr => captured.stderr = lane.record,
                Stream::Extra => captured.extra = Some(lane.record),
            }
        }
    }
}

/// Counts in pieces that fit into a byte, which the compiler turns into vector code.
fn line_feeds(bytes: &[u8]) -> u64 {
    let is_lf = |count: u8, byte: &u8| count.wrapping_add(u8::from(*byte == b'\n'));
    bytes.chunks(255).map(|piece| u64::from(piece.iter().fold(0, is_lf))).sum()
}

#[cfg(target_os = "linux")]
fn make_undumpable() -> bool {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn make_undumpable() -> bool {
    false
}

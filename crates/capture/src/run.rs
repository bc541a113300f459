//! The run: one poll loop over the outputs, the process, signals and what we write to.

mod attend;
mod wait;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use self::attend::SAME_SIGNAL;
use crate::clock::{Cause, Clock};
use crate::lane::Lane;
use crate::outcome::{
    Captured, Cutoff, Ended, Exit, Observer, Outcome, Scope, StreamRecord, Survivors, Unknown,
};
use crate::process::{Left, News, Process};
use crate::pty::Keyboard;
use crate::signal::Signals;
use crate::spawn::{SpawnFailure, Spawned, spawn};
use crate::terminal::Terminal;
use crate::{AtLimit, CHUNK_BYTES_MAX, Chunk, Command, Limits, Sink, Stdin, Stream};

/// The most streams that a run has.
const STREAMS: usize = 3;

/// How often the process is looked at where no descriptor tells of its end.
const LOOK: Duration = Duration::from_millis(20);

/// How long processes that have closed their outputs may take to end before they count as ones
/// that outlive the run, and how often they are looked at.
const ENDING_TAKES_MAX: Duration = Duration::from_millis(50);
const ENDING_LOOK: Duration = Duration::from_millis(2);

/// How long after `SIGKILL` the tree is waited for.
const KILL_TAKES_MAX: Duration = Duration::from_secs(1);

/// Runs `command` to its end and hands its output to `sink` as it arrives.
///
/// Returns when the process has ended and its streams have ended or were cut off, and the sink is
/// not blocked; or when a limit says so. Memory does not grow with the output. Never fails: what
/// went wrong is the [`Outcome`].
#[must_use]
pub fn run(command: &Command, limits: &Limits, sink: &mut impl Sink) -> Captured {
    let undumpable = command.undumpable && make_undumpable();
    let signals = if command.attended { Signals::take() } else { None };
    let inherits = command.stdin == Stdin::Inherit;
    // A child with a terminal of its own has nothing to do with ours.
    let shares_terminal = signals.is_some() && command.terminal.is_none();
    let mut terminal = shares_terminal.then(|| Terminal::open(inherits)).flatten();
    let (started, clock) = (SystemTime::now(), Instant::now());
    let mut captured = unstarted(command, started);
    captured.attended = signals.as_ref().is_some_and(Signals::are_heeded);
    captured.undumpable = undumpable;
    match spawn(command, terminal.as_mut()) {
        Err(SpawnFailure { reason, path, executable }) => {
            captured.outcome = Outcome::SpawnFailed { reason, path };
            captured.executable = executable;
        }
        Ok(Spawned { process, executable, outputs, terminal: own }) => {
            captured.pid = u32::try_from(process.pid().as_raw_nonzero().get()).ok();
            captured.executable = Some(executable);
            captured.outcome = Outcome::Unknown { why: Unknown::StillRunning };
            captured.exit = Exit::Unknown { why: Unknown::StillRunning };
            captured.scope = process.scope();
            sink.started(&captured);
            let keyboard = keyboard(command, &outputs);
            let lanes = outputs.into_iter().map(|(stream, source)| Lane::new(stream, source));
            let mut run = Run {
                sink,
                limits: *limits,
                process,
                lanes: lanes.collect(),
                own,
                keyboard,
                signals,
                terminal,
                buffer: vec![0; CHUNK_BYTES_MAX],
                chunks: 0,
                exit: None,
                is_gone: false,
                stopped: false,
                ending: None,
                verdict: None,
                returns: false,
                clock: Clock::new(*limits),
                looked: Instant::now(),
            };
            run.collect();
            run.conclude(&mut captured);
        }
    }
    captured.duration = clock.elapsed();
    captured.ended = SystemTime::now();
    captured
}

/// What is known of a run before its process is there.
fn unstarted(command: &Command, started: SystemTime) -> Captured {
    Captured {
        outcome: Outcome::Unknown { why: Unknown::NotStarted },
        observed_by: Observer::Collector,
        exit: Exit::Unknown { why: Unknown::NotStarted },
        pid: None,
        executable: None,
        stdin: command.stdin,
        attended: false,
        undumpable: false,
        privileged: is_privileged(),
        scope: Scope::Group,
        ended_by: None,
        survivors: Survivors::default(),
        started,
        ended: started,
        duration: Duration::ZERO,
        chunks: 0,
        stdout: StreamRecord::default(),
        stderr: StreamRecord::default(),
        extra: command.extra_fd.map(|_| StreamRecord::default()),
        pty: command.terminal.map(|_| StreamRecord::default()),
    }
}

/// What is typed into the terminal of the child, if it has one.
fn keyboard(command: &Command, outputs: &[(Stream, OwnedFd)]) -> Option<Keyboard> {
    let (_, terminal) = outputs.iter().find(|(stream, _)| *stream == Stream::Pty)?;
    let terminal = terminal.try_clone().ok()?;
    Some(Keyboard::new(terminal, command.stdin == Stdin::Inherit))
}

/// The tree is being ended.
struct Ending {
    cause: Cause,
    signal: i32,
    since: Instant,
    kill_at: Instant,
    killed: bool,
    /// When waiting is over.
    give_up: Option<Instant>,
}

struct Run<'s, S> {
    sink: &'s mut S,
    limits: Limits,
    process: Process,
    lanes: Vec<Lane>,
    /// The child's side of its terminal, as long as it runs: it may close its own and open the
    /// terminal again, which must not look like the end.
    own: Option<OwnedFd>,
    keyboard: Option<Keyboard>,
    signals: Option<Signals>,
    terminal: Option<Terminal>,
    buffer: Vec<u8>,
    chunks: u64,
    exit: Option<Exit>,
    /// Nothing of the tree is alive.
    is_gone: bool,
    stopped: bool,
    ending: Option<Ending>,
    /// What the outcome is, where it is not how the process ended.
    verdict: Option<Cause>,
    /// The run returns at once, whatever goes on.
    returns: bool,
    clock: Clock,
    looked: Instant,
}

impl<S: Sink> Run<'_, S> {
    fn collect(&mut self) {
        while !self.is_over() {
            let ready = self.wait_unhurried();
            for (lane, abandoned) in self.lanes.iter_mut().zip(ready.abandoned) {
                if abandoned && lane.is_open() {
                    self.sink.abandoned(lane.stream);
                    lane.cut_off(Cutoff::Caller, false, self.sink);
                    lane.blocked = false;
                }
            }
            for (index, ready) in ready.lanes.into_iter().enumerate() {
                if ready {
                    self.advance(index);
                }
            }
            if let Some(keyboard) = &mut self.keyboard {
                if ready.typed {
                    keyboard.read();
                }
                if ready.typing {
                    keyboard.write();
                }
            }
            if ready.signals {
                self.take_signals();
            }
            if ready.end {
                self.process.ended();
            }
            if ready.process || ready.signals {
                self.look_at_process();
            }
            self.keep_deadlines();
        }
    }

    fn is_over(&self) -> bool {
        let is_ended = self.ending.is_none() || self.is_gone || self.has_given_up();
        self.returns || (self.exit.is_some() || self.has_given_up()) && is_ended && self.is_read()
    }

    fn is_read(&self) -> bool {
        self.lanes.iter().all(Lane::is_done)
    }

    fn has_given_up(&self) -> bool {
        let give_up = self.ending.as_ref().and_then(|ending| ending.give_up);
        give_up.is_some_and(|at| Instant::now() >= at)
    }

    /// Moves one stream on by one write of the sink, or by one read.
    fn advance(&mut self, index: usize) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        if lane.blocked {
            lane.follow(|sink, stream| sink.writable(stream), self.sink);
            return;
        }
        let Some(source) = &lane.source else { return };
        let count = match rustix::io::read(source, &mut self.buffer) {
            Ok(0) => return lane.end(true, self.sink),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return,
            // So Linux tells that nobody has the other side of a terminal.
            Err(rustix::io::Errno::IO) if lane.stream == Stream::Pty => {
                return lane.end(true, self.sink);
            }
            Err(_) => return lane.end(false, self.sink),
        };
        let bytes = self.buffer.get(..count).unwrap_or_default();
        let limit = self.limits.capture_bytes_max;
        let kept = lane.kept_of(count, limit.map(|limit| limit.max));
        let offset = lane.record.bytes;
        let chunk = Chunk { seq: self.chunks, stream: lane.stream, offset, bytes, kept };
        self.chunks += 1;
        self.clock.bytes_came(count as u64);
        lane.owed = lane.owed.saturating_sub(count as u64);
        lane.record.bytes += count as u64;
        lane.record.kept += kept as u64;
        lane.record.lines += line_feeds(bytes);
        lane.follow(|sink, _| sink.chunk(chunk), self.sink);
        let is_over = lane.keeps && kept < count;
        if let Some(keyboard) = self.keyboard.as_mut().filter(|_| lane.stream == Stream::Pty) {
            keyboard.press(&self.sink.typed());
        }
        if let Some(limit) = limit.filter(|_| is_over) {
            self.strike(Cause::Bytes, limit.then, Some(index));
        }
    }

    fn look_at_process(&mut self) {
        self.looked = Instant::now();
        while let Some(news) = self.process.news() {
            match news {
                News::Ended { exit, is_alone } => self.process_ended(exit, is_alone),
                News::Stopped(signal) if self.exit.is_none() => {
                    self.follow_stop(signal);
                    // What arrived meanwhile was taken from where it is waited for.
                    self.take_signals();
                }
                News::Stopped(_) => {}
                News::Gone => self.is_gone = true,
            }
        }
    }

    fn process_ended(&mut self, exit: Exit, is_alone: bool) {
        if self.exit.is_some() {
            return;
        }
        self.exit = Some(exit);
        self.is_gone = is_alone;
        self.own = None;
        if let Some(terminal) = &mut self.terminal {
            terminal.take_back();
        }
        for lane in &mut self.lanes {
            let waiting = lane.source.as_ref().map(rustix::io::ioctl_fionread);
            lane.owed = waiting.and_then(Result::ok).unwrap_or(0);
        }
        self.clock.process_ended();
        if self.ending.is_some() && !is_alone {
            self.process.ask_tree();
        }
    }

    /// Whether nothing but silence is waited for.
    fn is_lingering(&self) -> bool {
        let is_ended = self.ending.is_none() || self.is_gone;
        let is_idle = |lane: &Lane| !lane.blocked && lane.owed == 0;
        self.exit.is_some() && is_ended && self.lanes.iter().all(is_idle)
    }

    fn keep_deadlines(&mut self) {
        let now = Instant::now();
        if self.sink.wake_at().is_some_and(|at| now >= at) {
            self.sink.wake();
        }
        match &self.ending {
            Some(Ending { give_up: None, kill_at, .. }) if now >= *kill_at => self.kill(),
            Some(Ending { give_up: Some(at), cause, .. }) => {
                // A reader that does not read any more is not waited for.
                let is_urgent = self.is_gone && matches!(cause, Cause::Signal(_));
                if is_urgent || now >= *at {
                    let cutoff = cause.cutoff();
                    self.cut_off(cutoff, false);
                    self.lanes.iter_mut().for_each(|lane| lane.blocked = false);
                }
            }
            Some(_) => {}
            None => {
                let process = &mut self.process;
                if let Some((cause, then)) = self.clock.struck(|max| process.count(max)) {
                    // It may have ended by itself just now.
                    self.look_at_process();
                    self.strike(cause, then, None);
                }
            }
        }
        if self.is_lingering() && Instant::now() >= self.clock.linger_until() {
            // One that nobody holds any more is at its end, or will be when it is read.
            let held = self.lanes.iter_mut().filter(|lane| !lane.is_released());
            for lane in held {
                lane.cut_off(Cutoff::WriterAlive, true, self.sink);
            }
        }
    }

    /// Stops reading. Whoever writes may go on where the outputs `stay` open.
    fn cut_off(&mut self, cutoff: Cutoff, stay: bool) {
        for lane in &mut self.lanes {
            lane.cut_off(cutoff, stay, self.sink);
        }
    }

    /// A limit was passed, of one stream or of the run.
    fn strike(&mut self, cause: Cause, then: AtLimit, index: Option<usize>) {
        if self.ending.is_some() {
            return;
        }
        if self.exit.is_some() && then != AtLimit::Drain {
            // How the process ended is known. What it printed is read to its end; for what it left
            // behind nobody lingers.
            self.clock.hurry();
            return;
        }
        let lanes = self.lanes.iter_mut().enumerate();
        let concerned = lanes.filter(|(at, _)| index.is_none_or(|index| index == *at));
        concerned.for_each(|(_, lane)| {
            lane.mark(cause.cutoff());
            lane.keeps &= then != AtLimit::Drain;
        });
        match then {
            AtLimit::Drain => self.clock.drain(),
            AtLimit::Stop => self.end(cause, Signal::TERM),
            AtLimit::Partial => {
                self.verdict = Some(cause);
                self.cut_off(cause.cutoff(), true);
                self.returns = true;
            }
        }
    }

    /// Begins to end the tree.
    fn end(&mut self, cause: Cause, signal: Signal) {
        self.verdict = Some(cause);
        self.process.signal_group(signal);
        if self.stopped {
            // A stopped process would only find it when it is continued.
            self.resume(false);
        }
        if !matches!(cause, Cause::Signal(_)) || self.exit.is_some() {
            self.process.ask_tree();
        }
        let since = Instant::now();
        let kill_at = since + self.limits.grace;
        let signal = signal.as_raw();
        self.ending = Some(Ending { cause, signal, since, kill_at, killed: false, give_up: None });
    }

    /// Kills what is left. Where nothing is, only the reader is waited for, and not much longer.
    fn kill(&mut self) {
        if !self.is_gone {
            self.process.kill_tree();
        }
        if let Some(ending) = &mut self.ending {
            ending.killed |= !self.is_gone;
            ending.give_up = Some(Instant::now() + KILL_TAKES_MAX);
        }
    }

    /// Who outlives the run. What has closed its outputs may be about to end.
    fn survivors(&mut self) -> Survivors {
        let is_read = self.lanes.iter().all(|lane| lane.record.end.eof);
        let until = Instant::now() + if is_read { ENDING_TAKES_MAX } else { Duration::ZERO };
        loop {
            let survivors = self.process.survivors();
            if survivors.count.is_none_or(|count| count == 0) || Instant::now() >= until {
                return survivors;
            }
            std::thread::sleep(ENDING_LOOK);
        }
    }

    fn conclude(mut self, captured: &mut Captured) {
        captured.scope = self.process.scope();
        let not_seen = match self.returns {
            true => Unknown::StillRunning,
            false => Unknown::NotTold(0),
        };
        captured.exit = self.exit.unwrap_or(Exit::Unknown { why: not_seen });
        captured.outcome = match (self.verdict, captured.exit) {
            (Some(cause), exit) => cause.outcome(exit),
            (None, Exit::Exited { code }) => Outcome::Exited { code },
            (None, Exit::Signalled { signal, core }) => Outcome::Signalled { signal, core },
            (None, Exit::Unknown { why }) => Outcome::Unknown { why },
        };
        captured.ended_by = self
            .ending
            .as_ref()
            .map(|ending| Ended { signal: ending.signal, killed: ending.killed });
        captured.chunks = self.chunks;
        captured.survivors = match (self.is_gone, captured.scope) {
            (true, Scope::Tree) => Survivors { count: Some(0), listed: Vec::new() },
            _ => self.survivors(),
        };
        if captured.survivors.count.is_none() {
            // Without a list of processes the supervisor sees no more than that.
            captured.scope = Scope::Group;
        }
        let mut left = Left::default();
        for lane in self.lanes {
            left.outputs.extend(lane.left);
            match lane.stream {
                Stream::Stdout => captured.stdout = lane.record,
                Stream::Stderr => captured.stderr = lane.record,
                Stream::Extra => captured.extra = Some(lane.record),
                Stream::Pty => captured.pty = Some(lane.record),
            }
        }
        left.outlives = captured.survivors.count.is_none_or(|count| count > 0);
        if left.outlives {
            left.count = self.sink.outlived(&captured.survivors);
        }
        self.process.release(left);
        if let Some(Ending { cause: Cause::Signal(_), since, .. }) = self.ending
            && let Some(signals) = &mut self.signals
        {
            signals.absorb(since + SAME_SIGNAL);
        }
    }
}

/// Counts in pieces that fit into a byte, which the compiler turns into vector code.
fn line_feeds(bytes: &[u8]) -> u64 {
    let is_lf = |count: u8, byte: &u8| count.wrapping_add(u8::from(*byte == b'\n'));
    bytes.chunks(255).map(|piece| u64::from(piece.iter().fold(0, is_lf))).sum()
}

#[cfg(target_os = "linux")]
pub(crate) fn make_undumpable() -> bool {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn make_undumpable() -> bool {
    false
}

/// Whether a child of ours may look into any process.
fn is_privileged() -> bool {
    rustix::process::geteuid().is_root() || has_ptrace()
}

#[cfg(target_os = "linux")]
fn has_ptrace() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE))
}

#[cfg(not(target_os = "linux"))]
fn has_ptrace() -> bool {
    false
}

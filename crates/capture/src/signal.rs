//! Signals to noesc, as bytes in a pipe that the run polls.
//!
//! Handlers belong to the whole process, so one run at a time has them. What was set before is put
//! back when the run ends, and a signal that was ignored before (`nohup`) stays ignored.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libc::c_int;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::PipeFlags;
use rustix::process::{Signal, kill_current_process_group, kill_process};

/// Passed on to the child's group as they are, and its end is then waited for.
pub(crate) const CANCELLING: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// Passed on too, and nothing more follows: what they mean is between the sender and the child.
pub(crate) const FORWARDED: [Signal; 2] = [Signal::USR1, Signal::USR2];

/// Needed to follow the child, ignored before or not.
const FOLLOWING: [Signal; 2] = [Signal::CHILD, Signal::CONT];

/// How long a stop that was asked for may take to be over. A stop that takes place ends with
/// `SIGCONT`; one that the kernel discards (an orphaned group) must not be waited for.
const STOP_SETTLES: Duration = Duration::from_millis(200);

/// Lives as long as the process, so that a late handler never writes to a reused descriptor.
static PIPE: OnceLock<(OwnedFd, OwnedFd)> = OnceLock::new();
static HELD: AtomicBool = AtomicBool::new(false);

/// The handlers, held until dropped.
pub(crate) struct Signals {
    saved: Vec<(c_int, libc::sigaction)>,
    /// What was blocked before.
    mask: Option<Mask>,
    queue: VecDeque<c_int>,
}

impl Signals {
    /// Sets the handlers; `None` while another run has them, or when there is no descriptor left.
    pub(crate) fn take() -> Option<Self> {
        if HELD.swap(true, Ordering::AcqRel) {
            return None;
        }
        let mut signals = Self { saved: Vec::new(), mask: None, queue: VecDeque::new() };
        open_pipe()?;
        signals.fill();
        signals.queue.clear();
        for signal in CANCELLING.into_iter().chain(FORWARDED).chain([Signal::TSTP]) {
            signals.handle(signal, true);
        }
        for signal in FOLLOWING {
            signals.handle(signal, false);
        }
        signals.unblock();
        Some(signals)
    }

    /// Whether those that end a run are passed on: neither all of them were ignored before.
    pub(crate) fn are_heeded(&self) -> bool {
        let is_handled = |signal: &Signal| self.saved.iter().any(|(n, _)| *n == signal.as_raw());
        CANCELLING.iter().any(is_handled)
    }

    /// Lets the signals come that are handled: whoever started us may have blocked them.
    fn unblock(&mut self) {
        let (mut set, mut before) = (empty_set(), empty_set());
        // SAFETY: both point to initialised sets of ours, the numbers are those of signals, and
        // changing the calling thread's mask has no other precondition.
        unsafe {
            for (number, _) in &self.saved {
                libc::sigaddset(&raw mut set, *number);
            }
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, &raw mut before);
        }
        self.mask = Some(Mask(before));
    }

    /// Readable when a signal has arrived.
    pub(crate) fn fd() -> Option<BorrowedFd<'static>> {
        PIPE.get().map(|(reader, _)| reader.as_fd())
    }

    /// The next signal that arrived.
    pub(crate) fn next(&mut self) -> Option<c_int> {
        self.fill();
        self.queue.pop_front()
    }

    /// Stops this process with `signal`, and with a stop of the terminal its whole group, as the
    /// terminal would have. Returns once it was continued, or at once when the kernel discards
    /// the stop.
    pub(crate) fn stop_self(&mut self, signal: Signal) {
        let handled = self.saved.iter().any(|(number, _)| *number == signal.as_raw());
        let default = with_handler(libc::SIG_DFL);
        let ours = handled.then(|| exchange(signal.as_raw(), Some(&default))).flatten();
        let _ = match signal {
            Signal::STOP => kill_process(rustix::process::getpid(), signal),
            _ => kill_current_process_group(signal),
        };
        let until = Instant::now() + STOP_SETTLES;
        while !self.continued() && Instant::now() < until {
            wait_readable(Duration::from_millis(20));
        }
        if let Some(ours) = ours {
            exchange(signal.as_raw(), Some(&ours));
        }
    }

    /// Takes what still arrives until then, and forgets it.
    pub(crate) fn absorb(&mut self, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            wait_readable(left);
            self.fill();
            self.queue.clear();
        }
    }

    fn continued(&mut self) -> bool {
        self.fill();
        let found = self.queue.iter().position(|signal| *signal == libc::SIGCONT);
        found.is_some_and(|at| self.queue.remove(at).is_some())
    }

    fn handle(&mut self, signal: Signal, unless_ignored: bool) {
        let number = signal.as_raw();
        let ignored =
            || exchange(number, None).is_some_and(|old| old.sa_sigaction == libc::SIG_IGN);
        if unless_ignored && ignored() {
            return;
        }
        let handler: extern "C" fn(c_int) = on_signal;
        if let Some(old) = exchange(number, Some(&with_handler(handler as libc::sighandler_t))) {
            self.saved.push((number, old));
        }
    }

    fn fill(&mut self) {
        let Some((reader, _)) = PIPE.get() else { return };
        let mut bytes = [0_u8; 64];
        while let Ok(count @ 1..) = rustix::io::read(reader, &mut bytes) {
            self.queue.extend(bytes.iter().take(count).map(|byte| c_int::from(*byte)));
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (number, old) in &self.saved {
            exchange(*number, Some(old));
        }
        if let Some(mask) = self.mask {
            mask.set();
        }
        HELD.store(false, Ordering::Release);
    }
}

/// Whether a file that may not grow is an error here ([`outlive_file_limits`]).
static OUTLIVES: AtomicBool = AtomicBool::new(false);

/// Lets a write beyond the length that a file may have (`ulimit -f`) fail, as any other write does,
/// where it would end this process. What a run starts is ended by it as ever.
pub fn outlive_file_limits() {
    let is_set = exchange(libc::SIGXFSZ, Some(&with_handler(libc::SIG_IGN))).is_some();
    OUTLIVES.store(is_set, Ordering::Release);
}

/// Makes this process the one that a program expects to start in: nothing blocked, nothing handled,
/// `SIGPIPE` deadly. What is ignored otherwise (`nohup`) stays so, unless it `heeds` all. For a
/// child between fork and exec: system calls only.
pub(crate) fn reset(heeds: bool) {
    let default = with_handler(libc::SIG_DFL);
    for number in 1..SIGNALS_END {
        let is_ignored =
            exchange(number, None).is_some_and(|old| old.sa_sigaction == libc::SIG_IGN);
        let is_ours = number == libc::SIGPIPE
            || (number == libc::SIGXFSZ && OUTLIVES.load(Ordering::Acquire));
        if heeds || !is_ignored || is_ours {
            // Those that can't be changed are as they should be.
            exchange(number, Some(&default));
        }
    }
    Mask(empty_set()).set();
}

/// The standard signals are those below.
const SIGNALS_END: c_int = 32;

/// The signals of a supervisor, as something to poll. Every signal is blocked, for good.
#[cfg(target_os = "linux")]
pub(crate) struct Inbox(OwnedFd);

#[cfg(target_os = "linux")]
impl Inbox {
    /// # Errors
    /// When there is no descriptor left.
    pub(crate) fn open() -> std::io::Result<Self> {
        use std::os::fd::FromRawFd;
        // Where it is ignored, the kernel would collect children by itself.
        exchange(libc::SIGCHLD, Some(&with_handler(libc::SIG_DFL)));
        let mut all = empty_set();
        let mut wanted = empty_set();
        // SAFETY: both sets are initialised and ours; the signals are valid numbers; signalfd
        // reads the set and gives a descriptor that nobody else has, or -1.
        let fd = unsafe {
            libc::sigfillset(&raw mut all);
            Mask(all).set();
            libc::sigaddset(&raw mut wanted, libc::SIGCHLD);
            libc::sigaddset(&raw mut wanted, libc::SIGTERM);
            libc::signalfd(-1, &raw const wanted, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd == -1 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: signalfd has just made it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The next signal that arrived.
    pub(crate) fn next(&self) -> Option<c_int> {
        let mut bytes = [0_u8; size_of::<libc::signalfd_siginfo>()];
        let count = rustix::io::read(&self.0, &mut bytes).ok()?;
        // The number is the first member.
        let number = bytes.get(..count)?.first_chunk()?;
        c_int::try_from(u32::from_ne_bytes(*number)).ok()
    }
}

#[cfg(target_os = "linux")]
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsRawFd for Inbox {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

/// Keeps `SIGTTOU` from this thread: a group in the background may then write to the terminal and
/// hand it over. Inherited by a child, which has to undo it.
pub(crate) struct TtouBlocked {
    before: libc::sigset_t,
}

impl TtouBlocked {
    pub(crate) fn new() -> Self {
        let mut before = empty_set();
        let mut set = empty_set();
        // SAFETY: both point to initialised sets of ours; SIGTTOU is a valid signal number, and
        // changing the calling thread's mask has no other precondition.
        unsafe {
            libc::sigaddset(&raw mut set, libc::SIGTTOU);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
        }
        Self { before }
    }

    /// Does `act` as if nothing were blocked.
    pub(crate) fn lifted(&self, act: impl FnOnce()) {
        Mask(self.before).set();
        act();
        std::mem::forget(Self::new());
    }
}

impl Drop for TtouBlocked {
    fn drop(&mut self) {
        Mask(self.before).set();
    }
}

/// A thread's signal mask.
#[derive(Clone, Copy)]
struct Mask(libc::sigset_t);

impl Mask {
    /// Makes it the calling thread's. One system call and nothing else, so also right between
    /// fork and exec.
    fn set(self) {
        // SAFETY: the set is initialised and outlives the call; the third pointer may be null.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_signal(number: c_int) {
    // Only async-signal-safe work: an atomic load and a raw write that touches no errno. A full
    // pipe means that the run has enough to read already.
    if let (Some((_, writer)), Ok(byte)) = (PIPE.get(), u8::try_from(number)) {
        let _ = rustix::io::write(writer, &[byte]);
    }
}

fn open_pipe() -> Option<()> {
    if PIPE.get().is_none() {
        let ends = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Only the run that holds HELD comes here, so nothing is replaced.
        let _ = PIPE.set(ends);
    }
    Some(())
}

fn wait_readable(at_most: Duration) {
    if let (Some(fd), Ok(timeout)) = (Signals::fd(), Timespec::try_from(at_most)) {
        let _ = poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timeout));
    }
}

fn empty_set() -> libc::sigset_t {
    // SAFETY: a signal set is plain integers, for which all zeros is a value; sigemptyset then
    // writes the set that it is given.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        set
    }
}

fn with_handler(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: sigaction is plain integers and an optional function pointer; all zeros is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_mask = empty_set();
    action.sa_flags = libc::SA_RESTART;
    action
}

/// Reads the action of a signal and, if one is given, puts another in its place.
fn exchange(number: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut old = with_handler(libc::SIG_DFL);
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `new` is null or points to a whole action: SIG_DFL, SIG_IGN, `on_signal` (which does
    // only what a handler may), or one that sigaction gave us; `old` is ours to write.
    let result = unsafe { libc::sigaction(number, new, &raw mut old) };
    (result == 0).then_some(old)
}

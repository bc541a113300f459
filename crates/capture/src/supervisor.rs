//! The process between the collector and the child: it sees the whole tree, ends it, and listens
//! to what outlives a run.
//!
//! It is a fork of the collector that executes no program, so it needs none of its own wherever
//! this library runs, and is undumpable from its first moment if the collector is. Being a *child
//! subreaper*, it becomes the parent of every process of the tree that loses its own. It holds one
//! end of a socket: as long as the other end is open the collector's word counts, and when the
//! collector dies without one, the tree is ended. It keeps no descriptor of the collector's caller.
//!
//! As after any fork, nothing here allocates, takes a lock or can panic.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group, waitid,
};

use crate::descriptors::close_range;
use crate::launch::{Image, Place, Setup, quit, start};
use crate::leftover::{Leftover, PIPES};
use crate::signal::Inbox;
use crate::wire::{Fate, Order, PIDS_MAX, Word};

/// How often the tree is looked at while it is asked to end: what loses its parent then becomes
/// ours without a signal to us.
const LOOK: Duration = Duration::from_millis(20);

/// The same while it is killed.
const KILL_LOOK: Duration = Duration::from_millis(2);

/// How long killing is tried when nobody waits for it. What does not end by `SIGKILL` within it is
/// in the hands of the kernel, or of another user.
const KILL_TAKES_MAX: Duration = Duration::from_secs(5);

/// Between `SIGTERM` and `SIGKILL` when those that outlive a run are told to end.
const GRACE: Duration = Duration::from_secs(2);

/// Processes that are remembered as asked to end. Beyond it one may be asked twice.
const ASKED_MAX: usize = 256;

/// Starts the child and supervises it. For the child of a fork alone.
pub(crate) fn supervise(socket: &OwnedFd, image: &Image, setup: &Setup) -> ! {
    let failed = |error: &std::io::Error| -> ! {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
        let _ = say(socket, &Word::Failed { errno: errno.raw_os_error() });
        quit(1)
    };
    let signals = match Inbox::open() {
        Ok(signals) => signals,
        Err(error) => failed(&error),
    };
    let _ = rustix::process::setpgid(None, None);
    let _ = rustix::process::set_child_subreaper(Pid::from_raw(1));
    let started = start(image, setup, |child, opener| {
        if let Place::Group { .. } = setup.place {
            // Done by both: neither side may signal the group before it exists. The leader of a
            // group could not begin a session.
            let _ = rustix::process::setpgid(Some(child), Some(child));
        }
        let _ = say(socket, &Word::Started { pid: child.as_raw_nonzero().get() });
        // Before the program begins, which may stop us: whoever waits for the end of a pipe must
        // not wait for us.
        close_all_but([socket.as_raw_fd(), signals.as_raw_fd(), opener]);
    });
    let child = match started {
        Ok(child) => child,
        Err(error) => failed(&error),
    };
    let mut supervisor = Supervisor {
        socket,
        signals: &signals,
        child,
        exit: None,
        aim: Aim::Watch,
        is_told_gone: false,
        give_up: None,
        leftover: None,
        asked: [0; ASKED_MAX],
        asked_count: 0,
    };
    supervisor.run();
    // Whoever sees the socket close finds no trace of the child.
    let _ = collect(child);
    quit(0)
}

fn say(socket: &OwnedFd, word: &Word) -> rustix::io::Result<()> {
    let mut bytes = [0; Word::BYTES_MAX];
    let length = word.encode(&mut bytes);
    let bytes = bytes.get(..length).unwrap_or_default();
    rustix::io::retry_on_intr(|| send(socket, bytes, SendFlags::NOSIGNAL)).map(|_| ())
}

/// Standard descriptors become `/dev/null`, all others but these are closed.
fn close_all_but(mut kept: [i32; 3]) {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    if let Ok(null) = rustix::fs::open(c"/dev/null", flags, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
        // Among those that are closed next.
        std::mem::forget(null);
    } else {
        close_range(0, 2);
    }
    kept.sort_unstable();
    let mut low = 3;
    for fd in kept {
        close_range(low, fd - 1);
        low = low.max(fd + 1);
    }
    close_range(low, i32::MAX);
}

/// What is done about the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Watch,
    /// Everything is asked to end.
    Ask,
    /// Everything is killed.
    Kill,
}

struct Supervisor<'a> {
    socket: &'a OwnedFd,
    signals: &'a Inbox,
    child: Pid,
    /// How the child ended. It is never collected, so that its number and its group's stay taken.
    exit: Option<Fate>,
    aim: Aim,
    is_told_gone: bool,
    /// When killing is given up, or when asking becomes killing. Without a collector only.
    give_up: Option<Instant>,
    /// What outlives the run, when that is over.
    leftover: Option<Leftover>,
    asked: [i32; ASKED_MAX],
    asked_count: usize,
}

impl Supervisor<'_> {
    fn run(&mut self) {
        loop {
            let (ordered, signalled) = self.wait();
            if let Some(leftover) = &mut self.leftover {
                leftover.read();
            }
            if signalled {
                self.take_signals();
            }
            if ordered && !self.obey() {
                return;
            }
            self.look();
            match self.aim {
                Aim::Watch => {}
                Aim::Ask => self.ask_all(),
                Aim::Kill => self.kill_all(),
            }
            if self.leftover.is_some() || self.give_up.is_some() {
                if self.is_over() {
                    break;
                }
            } else {
                self.tell_if_gone();
            }
        }
        if let Some(leftover) = &mut self.leftover {
            leftover.finish();
        }
    }

    /// Waits for an order, a signal, or what is left of the output.
    fn wait(&self) -> (bool, bool) {
        let look = match self.aim {
            _ if self.is_told_gone => None,
            Aim::Watch => None,
            Aim::Ask => Some(LOOK),
            Aim::Kill => Some(KILL_LOOK),
        };
        let count = self.leftover.as_ref().and_then(Leftover::next_count);
        let timeout = look.into_iter().chain(count).min();
        let timeout = timeout.map(|time| Timespec::try_from(time).unwrap_or_default());
        let is_collected = self.leftover.is_none() && self.give_up.is_none();
        let mut fds = [
            PollFd::new(self.signals, PollFlags::IN),
            PollFd::new(self.socket, PollFlags::IN),
            PollFd::new(self.signals, PollFlags::IN),
            PollFd::new(self.signals, PollFlags::IN),
            PollFd::new(self.signals, PollFlags::IN),
        ];
        let mut length = 1 + usize::from(is_collected);
        let pipes = self.leftover.iter().flat_map(Leftover::pipes);
        for (place, pipe) in fds.iter_mut().skip(length).zip(pipes) {
            *place = PollFd::new(pipe, PollFlags::IN);
            length += 1;
        }
        let polled = fds.get_mut(..length).unwrap_or_default();
        if poll(polled, timeout.as_ref()).is_err() {
            return (false, false);
        }
        let [signals, socket, ..] = fds;
        (is_collected && !socket.revents().is_empty(), !signals.revents().is_empty())
    }

    /// Does what the collector says. False: nothing is left to be done.
    fn obey(&mut self) -> bool {
        let mut fds = [const { None }; PIPES + 1];
        match hear(self.socket, &mut fds) {
            Some(Order::AskAll) if self.aim == Aim::Watch => self.aim = Aim::Ask,
            Some(Order::AskAll) => {}
            Some(Order::KillAll) => self.aim = Aim::Kill,
            Some(Order::Count) => {
                let word = self.count();
                let _ = say(self.socket, &word);
            }
            Some(order @ (Order::Release | Order::ReleaseCounted)) => {
                let is_empty = fds.iter().all(Option::is_none);
                if is_empty && self.exit.is_some() && self.others() == Some(0) {
                    return false;
                }
                let _ = rustix::thread::set_name(c"noesc-drain");
                // No folder of the caller's is kept from being unmounted.
                let _ = rustix::process::chdir(c"/");
                self.leftover = Some(Leftover::new(fds, order == Order::ReleaseCounted));
                let _ = say(self.socket, &Word::Listening);
                self.aim = Aim::Watch;
                self.asked_count = 0;
            }
            None => {
                // The collector is gone, and did not say that the run is over.
                self.aim = Aim::Kill;
                self.give_up = Some(Instant::now() + KILL_TAKES_MAX);
            }
        }
        true
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            // As long as there is a collector, signals are its business.
            if signal == libc::SIGTERM && self.leftover.is_some() && self.aim == Aim::Ask {
                // A second one.
                self.aim = Aim::Kill;
                self.give_up = Some(Instant::now() + KILL_TAKES_MAX);
            } else if signal == libc::SIGTERM && self.leftover.is_some() && self.aim == Aim::Watch {
                let _ = kill_process_group(self.child, Signal::TERM);
                let _ = kill_process_group(self.child, Signal::CONT);
                self.aim = Aim::Ask;
                self.give_up = Some(Instant::now() + GRACE);
            }
        }
    }

    /// Tells what became of the child, and collects what became ours and ended.
    fn look(&mut self) {
        if self.exit.is_none() {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(self.child), options) {
                Ok(Some(status)) => self.exit = Some(Fate::of(&status)),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => self.exit = Some(Fate::Unknown(error.raw_os_error())),
            }
            // Its children are ours by now, so that being alone is final.
            let others = self.others();
            if let Some(fate) = self.exit {
                let _ = say(self.socket, &Word::Ended { fate, is_alone: others == Some(0) });
            } else if let Ok(Some(status)) =
                waitid(WaitId::Pid(self.child), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG)
                && let Some(signal) = status.stopping_signal()
            {
                let _ = say(self.socket, &Word::Stopped { signal });
            }
        } else {
            self.others();
        }
    }

    /// How many are ours besides the child; those that have ended are collected. `None` where the
    /// system does not tell.
    fn others(&self) -> Option<usize> {
        loop {
            let (mut count, mut collected) = (0, 0);
            let is_known = each_child(|pid| {
                if pid != self.child {
                    match collect(pid) {
                        Ok(Some(_)) => collected += 1,
                        Ok(None) => count += 1,
                        // No child of ours any more.
                        Err(_) => {}
                    }
                }
            });
            // What one that has ended left behind became ours after the list was read.
            if collected == 0 {
                return is_known.then_some(count);
            }
        }
    }

    /// Asks everything to end that was not asked yet. The child's group was asked by the
    /// collector. What is a child of something that does not end becomes ours when that is killed.
    fn ask_all(&mut self) {
        let (child, asked, count) = (self.child, &mut self.asked, &mut self.asked_count);
        each_child(|pid| {
            let number = pid.as_raw_nonzero().get();
            if asked.iter().take(*count).any(|asked| *asked == number) {
                return;
            }
            if rustix::process::getpgid(Some(pid)) != Ok(child) {
                let _ = kill_process(pid, Signal::TERM);
                // A stopped process would only find it when it is continued.
                let _ = kill_process(pid, Signal::CONT);
            }
            if let Some(place) = asked.get_mut(*count % ASKED_MAX) {
                *place = number;
            }
            *count += 1;
        });
        if self.leftover.is_some() && self.give_up.is_some_and(|at| Instant::now() >= at) {
            self.aim = Aim::Kill;
            self.give_up = Some(Instant::now() + KILL_TAKES_MAX);
        }
    }

    fn kill_all(&self) {
        let _ = kill_process_group(self.child, Signal::KILL);
        each_child(|pid| {
            let _ = kill_process(pid, Signal::KILL);
        });
    }

    /// Whether nothing of the tree is known to be alive; false where that can't be told.
    fn is_alone(&self) -> bool {
        self.exit.is_some() && self.others() == Some(0)
    }

    fn tell_if_gone(&mut self) {
        if self.aim != Aim::Watch && !self.is_told_gone && self.is_alone() {
            self.is_told_gone = say(self.socket, &Word::Gone).is_ok();
        }
    }

    /// Whether nothing is left that is waited for, without a collector. Where processes can't be
    /// told, it is their output alone.
    fn is_over(&self) -> bool {
        if self.aim == Aim::Kill && self.give_up.is_some_and(|at| Instant::now() >= at) {
            return true;
        }
        let is_read = |left: &Leftover| self.aim != Aim::Watch || left.is_at_end();
        self.exit.is_some()
            && self.leftover.as_ref().is_none_or(is_read)
            && self.others().is_none_or(|others| others == 0)
    }

    /// Who is alive of the tree.
    fn count(&mut self) -> Word {
        self.look();
        let mut pids = [0; PIDS_MAX];
        let mut count = 0;
        let is_known = each_child(|pid| {
            if pid == self.child && self.exit.is_some() {
                return;
            }
            if let Some(place) = usize::try_from(count).ok().and_then(|at| pids.get_mut(at)) {
                *place = pid.as_raw_nonzero().get();
            }
            count += 1;
        });
        Word::Alive { is_known, count, pids }
    }
}

/// The next order and what came with it. `None` when the collector is gone.
fn hear(socket: &OwnedFd, fds: &mut [Option<OwnedFd>]) -> Option<Order> {
    let mut byte = [0_u8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PIPES + 1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        let buffers = &mut [IoSliceMut::new(&mut byte)];
        recvmsg(socket, buffers, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    });
    let message = received.ok()?;
    let mut places = fds.iter_mut();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = part {
            received.zip(&mut places).for_each(|(fd, place)| *place = Some(fd));
        }
    }
    let is_whole = message.bytes == 1 && !message.flags.contains(ReturnFlags::CTRUNC);
    Order::decode(byte[0]).filter(|_| is_whole)
}

/// Collects one that has ended.
fn collect(pid: Pid) -> rustix::io::Result<Option<WaitIdStatus>> {
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG)
}

/// Does `act` with each child of this process, ended or not. False where the system has no list.
fn each_child(mut act: impl FnMut(Pid)) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(list) = rustix::fs::open(c"/proc/thread-self/children", flags, Mode::empty()) else {
        return false;
    };
    let mut bytes = [0_u8; 4096];
    let mut number = 0_i32;
    while let Ok(count @ 1..) = rustix::io::retry_on_intr(|| rustix::io::read(&list, &mut bytes)) {
        for byte in bytes.iter().take(count) {
            match byte {
                b'0'..=b'9' => {
                    number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
                }
                _ => {
                    if let Some(pid) = Pid::from_raw(number) {
                        act(pid);
                    }
                    number = 0;
                }
            }
        }
    }
    true
}

//! Signals, as something to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::process::{getpid, kill_current_process_group, kill_process};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To end, by this signal.
    End(i32),
    /// To stop until the user goes on.
    Stop,
    /// To draw anew: the size changed, or somebody else used the terminal.
    Draw,
    /// Going on after a stop that could not be seen.
    GoOn,
}

/// Signals are held back from the thread while this lives, and come through a descriptor. Their
/// handlers stay what they are: what was blocked before is blocked again at the end.
#[derive(Debug)]
pub(crate) struct Signals {
    descriptor: SignalFd,
    set: SigSet,
    before: SigSet,
}

const ENDING: [Signal; 4] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];

impl Signals {
    pub(crate) fn hold() -> io::Result<Self> {
        let mut set = SigSet::empty();
        for signal in ENDING.into_iter().chain([Signal::SIGTSTP, Signal::SIGCONT, Signal::SIGWINCH])
        {
            set.add(signal);
        }
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        match SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC) {
            Ok(descriptor) => Ok(Self { descriptor, set, before }),
            Err(error) => {
                let _ = before.thread_set_mask();
                Err(error.into())
            }
        }
    }

    /// Readable when there is one.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    pub(crate) fn next(&self) -> Option<Asked> {
        let read = self.descriptor.read_signal().ok().flatten()?;
        let number = i32::try_from(read.ssi_signo).unwrap_or(0);
        Some(match Signal::try_from(number) {
            Ok(Signal::SIGTSTP) => Asked::Stop,
            Ok(Signal::SIGCONT) => Asked::GoOn,
            Ok(signal) if ENDING.contains(&signal) => Asked::End(number),
            _ => Asked::Draw,
        })
    }

    /// Stops the process, with its group where a key of the terminal asked for it. Comes back once
    /// it goes on; at once where nobody could make it go on.
    pub(crate) fn stop(&self, group: bool) {
        let _ = self.before.thread_set_mask();
        let stop = rustix::process::Signal::TSTP;
        let _ = match group {
            true => kill_current_process_group(stop),
            false => kill_process(getpid(), stop),
        };
        let _ = self.set.thread_block();
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}

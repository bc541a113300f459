//! The process that was started: its end, its stops, its group.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::{Exit, Unknown};

/// A child that is its own group's leader. Its status is peeked at and collected only when the run
/// is over, so that neither its pid nor its group's id can become another process's meanwhile.
pub(crate) struct Process {
    pid: Pid,
    pidfd: Option<OwnedFd>,
    collected: bool,
}

impl Process {
    pub(crate) fn new(pid: Pid) -> Self {
        Self { pid, pidfd: open_pidfd(pid), collected: false }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable once the process has ended; `None` where the system has no such thing.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        use std::os::fd::AsFd;
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// How it ended, if it has.
    pub(crate) fn peek(&mut self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.wait(options)
    }

    /// The signal that stopped it, once per stop.
    pub(crate) fn stopped_by(&self) -> Option<i32> {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        waitid(WaitId::Pid(self.pid), options).ok().flatten()?.stopping_signal()
    }

    /// Sends `signal` to every process of the group. A group that is gone is no error.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if !self.collected {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Collects the status of a process that has ended. From now on its id may be reused.
    pub(crate) fn collect(&mut self) {
        if !self.collected {
            self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            self.collected = true;
        }
    }

    fn wait(&mut self, options: WaitIdOptions) -> Option<Exit> {
        loop {
            match waitid(WaitId::Pid(self.pid), options) {
                Ok(status) => return status.map(|status| exit_of(&status)),
                Err(Errno::INTR) => {}
                Err(error) => {
                    self.collected = true;
                    let why = match error {
                        Errno::CHILD => Unknown::CollectedElsewhere,
                        other => Unknown::NotTold(other.raw_os_error()),
                    };
                    return Some(Exit::Unknown { why });
                }
            }
        }
    }
}

impl Drop for Process {
    /// Only a sink that panicked leaves a process uncollected: it is not left behind.
    fn drop(&mut self) {
        if !self.collected {
            self.signal_group(Signal::KILL);
            self.wait(WaitIdOptions::EXITED);
        }
    }
}

fn exit_of(status: &rustix::process::WaitIdStatus) -> Exit {
    if let Some(code) = status.exit_status() {
        // POSIX: the low eight bits are the status; some systems hand out more through waitid.
        return Exit::Exited { code: code.to_le_bytes()[0] };
    }
    match status.terminating_signal() {
        Some(signal) => Exit::Signalled { signal, core: status.dumped() },
        None => Exit::Unknown { why: Unknown::NotTold(0) },
    }
}

#[cfg(target_os = "linux")]
fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_pidfd(_: Pid) -> Option<OwnedFd> {
    None
}

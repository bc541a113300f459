//! A child of this process itself: its group is all that is known of its tree.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::process::News;
use crate::wire::Fate;
use crate::{Exit, Unknown};

pub(crate) struct Child {
    pid: Pid,
    pidfd: Option<OwnedFd>,
    is_collected: bool,
    has_ended: bool,
    expects_gone: bool,
    /// What it means that it is no child of ours.
    otherwise: Unknown,
}

impl Child {
    pub(crate) fn new(pid: Pid) -> Self {
        Self::inherited(pid, Unknown::CollectedElsewhere)
    }

    pub(crate) fn inherited(pid: Pid, otherwise: Unknown) -> Self {
        let pidfd = open_pidfd(pid);
        let (is_collected, has_ended, expects_gone) = (false, false, false);
        Self { pid, pidfd, is_collected, has_ended, expects_gone, otherwise }
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        // Of one that has ended it would be readable for ever.
        self.pidfd.as_ref().filter(|_| !self.has_ended).map(AsFd::as_fd)
    }

    pub(crate) fn is_collected(&self) -> bool {
        self.is_collected
    }

    pub(crate) fn expect_gone(&mut self) {
        self.expects_gone = true;
    }

    pub(crate) fn news(&mut self) -> Option<News> {
        if !self.has_ended {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if let Some(exit) = self.wait(options) {
                self.has_ended = true;
                return Some(News::Ended { exit, is_alone: false });
            }
            let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
            let stopped = waitid(WaitId::Pid(self.pid), options).ok().flatten();
            return stopped?.stopping_signal().map(News::Stopped);
        }
        // Whether others of the group have ended can't be told while it holds its leader.
        std::mem::take(&mut self.expects_gone).then_some(News::Gone)
    }

    /// Collects the status of a process that has ended. From now on its number may be reused.
    pub(crate) fn collect(&mut self) {
        if !self.is_collected {
            self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            self.is_collected = true;
        }
    }

    fn wait(&mut self, options: WaitIdOptions) -> Option<Exit> {
        let waited = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options));
        match waited {
            Ok(status) => status.map(|status| Fate::of(&status).exit()),
            Err(error) => {
                self.is_collected = true;
                let why = match error {
                    Errno::CHILD => self.otherwise,
                    other => Unknown::NotTold(other.raw_os_error()),
                };
                Some(Exit::Unknown { why })
            }
        }
    }
}

impl Drop for Child {
    /// Only a sink that panicked leaves a process uncollected: it is not left behind.
    fn drop(&mut self) {
        if !self.is_collected {
            let _ = kill_process_group(self.pid, Signal::KILL);
            self.wait(WaitIdOptions::EXITED);
        }
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

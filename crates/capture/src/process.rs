//! The process that was started, as the collector knows it: its end, its stops, its tree.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Exit;
use crate::outcome::{Scope, Survivors};
use crate::own::Child;
#[cfg(target_os = "linux")]
use crate::{
    Unknown,
    link::{Link, Lost},
};

/// What a run leaves.
#[derive(Default)]
pub(crate) struct Left {
    /// Whether something of the tree is, or may be, alive.
    pub(crate) outlives: bool,
    /// What it writes to.
    pub(crate) outputs: Vec<OwnedFd>,
    /// Where to count what it writes.
    pub(crate) count: Option<OwnedFd>,
}

/// What was learnt of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It has ended. Alone: nothing of its tree is alive either.
    Ended { exit: Exit, is_alone: bool },
    /// A signal stopped it.
    Stopped(i32),
    /// After the tree was told to end: nothing of it is alive.
    Gone,
}

/// A child that leads its own group. Its status is collected only when the run is over, so that
/// neither its number nor its group's can become another process's meanwhile.
pub(crate) struct Process {
    pid: Pid,
    keeper: Keeper,
}

/// Who is the parent of the child.
enum Keeper {
    #[cfg(target_os = "linux")]
    Supervisor(Link),
    Own(Child),
}

impl Process {
    /// A child of a supervisor.
    #[cfg(target_os = "linux")]
    pub(crate) fn supervised(pid: Pid, link: Link) -> Self {
        Self { pid, keeper: Keeper::Supervisor(link) }
    }

    /// A child of this process.
    pub(crate) fn own(pid: Pid) -> Self {
        Self { pid, keeper: Keeper::Own(Child::new(pid)) }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable when there are news; `None` where the system has no such thing.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => Some(link.fd()),
            Keeper::Own(child) => child.fd(),
        }
    }

    /// Whether there are news of which [`fd`](Self::fd) does not tell.
    pub(crate) fn has_heard(&self) -> bool {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.has_heard(),
            Keeper::Own(_) => false,
        }
    }

    /// What was learnt since the last call.
    pub(crate) fn news(&mut self) -> Option<News> {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => match link.news() {
                Ok(news) => news,
                Err(Lost) => {
                    // The child ends with it; what else is of its group is not left behind either.
                    self.signal_group(Signal::KILL);
                    let why = Unknown::SupervisorLost;
                    self.keeper = Keeper::Own(Child::inherited(self.pid, why));
                    self.news()
                }
            },
            Keeper::Own(child) => child.news(),
        }
    }

    /// How much of what the child starts is seen and ended.
    pub(crate) fn scope(&self) -> Scope {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(_) => Scope::Tree,
            Keeper::Own(_) => Scope::Group,
        }
    }

    /// Sends `signal` to every process of the group. A group that is gone is no error.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let Keeper::Own(child) = &self.keeper
            && child.is_collected()
        {
            return;
        }
        let _ = kill_process_group(self.pid, signal);
    }

    /// Readable when the child has ended, until [`ended`](Self::ended) is called; `None` where
    /// [`fd`](Self::fd) tells it.
    pub(crate) fn end_fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.end_fd(),
            Keeper::Own(_) => None,
        }
    }

    /// The child has ended: whoever has to tell how is to go on, if somebody stopped it.
    pub(crate) fn ended(&mut self) {
        #[cfg(target_os = "linux")]
        if let Keeper::Supervisor(link) = &mut self.keeper {
            link.ended();
        }
    }

    /// Asks what is not of the group to end, too.
    pub(crate) fn ask_tree(&mut self) {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.order(crate::wire::Order::AskAll),
            Keeper::Own(child) => child.expect_gone(),
        }
    }

    /// Kills the group and everything else that is known of the tree.
    pub(crate) fn kill_tree(&mut self) {
        self.signal_group(Signal::KILL);
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.order(crate::wire::Order::KillAll),
            Keeper::Own(child) => child.expect_gone(),
        }
    }

    /// How many processes the tree has, counted up to one more than `max`; `None` where that can
    /// not be told.
    pub(crate) fn count(&mut self, max: u32) -> Option<u32> {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.count(max),
            Keeper::Own(_) => None,
        }
    }

    /// Who is alive of the tree.
    pub(crate) fn survivors(&mut self) -> Survivors {
        match &mut self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.survivors(),
            Keeper::Own(_) => Survivors::default(),
        }
    }

    /// Ends the run. What is left of the tree keeps its pipes, where that can be.
    pub(crate) fn release(self, left: Left) {
        match self.keeper {
            #[cfg(target_os = "linux")]
            Keeper::Supervisor(link) => link.release(&left),
            Keeper::Own(mut child) => child.collect(),
        }
    }
}

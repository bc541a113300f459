//! The controlling terminal: which process group it is in the hands of.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::Pid;
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::signal::TtouBlocked;

/// The terminal that this process is controlled by, and the right to hand it to the child.
pub(crate) struct Terminal {
    fd: OwnedFd,
    own_group: Pid,
    /// The child's group is to have the terminal whenever we have it.
    wanted: bool,
    given: bool,
    ttou: TtouBlocked,
}

impl Terminal {
    /// The controlling terminal, if there is one. `inherits` says that the child reads our
    /// standard input: only then is it given the terminal before it asks for it.
    pub(crate) fn open(inherits: bool) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::open("/dev/tty", flags, Mode::empty()).ok()?;
        tcgetpgrp(&fd).ok()?;
        let wanted = inherits && rustix::termios::isatty(rustix::stdio::stdin()) && !in_pipeline();
        let own_group = rustix::process::getpgrp();
        Some(Self { fd, own_group, wanted, given: false, ttou: TtouBlocked::new() })
    }

    /// The terminal for the child's set-up, if the child is to have it from the start: it cannot
    /// read before it may.
    pub(crate) fn for_child(&mut self) -> io::Result<Option<OwnedFd>> {
        self.given = self.wanted && self.is_ours();
        self.given.then(|| self.fd.as_fd().try_clone_to_owned()).transpose()
    }

    /// Whether our own group is the foreground group.
    pub(crate) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.fd).is_ok_and(|group| group == self.own_group)
    }

    /// Hands the terminal to `group` if we have it and `group` wants it or has just `asked`. We may
    /// have it again after we gave it: a shell gives it to its job once more when it is late.
    pub(crate) fn give(&mut self, group: Pid, asked: bool) -> bool {
        if !(self.wanted || asked) || !self.is_ours() {
            return false;
        }
        self.given = tcsetpgrp(&self.fd, group).is_ok();
        self.given
    }

    /// Takes the terminal back if the child has it.
    pub(crate) fn take_back(&mut self) {
        if self.given {
            let _ = tcsetpgrp(&self.fd, self.own_group);
            // Whoever had the terminal once has it again when we are continued.
            self.wanted = true;
            self.given = false;
        }
    }

    /// Does `act` with the signal mask that this thread had before the run.
    pub(crate) fn unblocked(&self, act: impl FnOnce()) {
        self.ttou.lifted(act);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// Whether the kernel discards terminal stops of our group because nobody could continue it: no
/// member has a parent in another group of the session. Judged by our own parent.
pub(crate) fn is_orphaned() -> bool {
    use rustix::process::{getpgid, getpgrp, getppid, getsid};
    let Some(parent) = getppid() else { return true };
    let same_session = getsid(Some(parent)).ok() == getsid(None).ok();
    // A parent in our own group (a script) is as able to be continued as its own parent is.
    let cares = same_session && getpgid(Some(parent)).is_ok();
    let leads = getsid(None).is_ok_and(|session| session == getpgrp());
    !cares || leads
}

/// Whether an output of ours goes to another program. That program may need the terminal itself
/// (`noesc run -- a | less`), so the child gets it only when it asks.
fn in_pipeline() -> bool {
    let is_pipe = |fd: std::os::fd::BorrowedFd<'_>| {
        let kind = rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
        matches!(kind, Ok(FileType::Fifo | FileType::Socket))
    };
    is_pipe(rustix::stdio::stdout()) || is_pipe(rustix::stdio::stderr())
}

/// A descriptor for the terminal on standard input that cannot write to it.
pub(crate) fn stdin_read_only() -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let stdin = rustix::stdio::stdin();
    // After `su` the terminal belongs to somebody else; /dev/tty opens all the same.
    rustix::fs::open(self_path(&stdin), flags, Mode::empty())
        .or_else(|_| rustix::fs::open("/dev/tty", flags, Mode::empty()))
        .map_err(io::Error::from)
}

/// The path by which this process can open what a descriptor refers to once more.
pub(crate) fn self_path(fd: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{}", fd.as_raw_fd()))
}

//! Locks that tell who goes on with a run, and the processes that hold them.
//!
//! They are those of `fcntl`, which name their holder. Such a lock is a process's: it goes when the
//! process ends, however that happens, and also when the process closes any descriptor of the file.
//! So a process never opens again what it has locked itself, but remembers it.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::FlockOperation;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use noesc_evidence::open_plain;

pub(crate) use process::Process;

/// Files that this process has locked, by device and number.
static OWN: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

fn own() -> MutexGuard<'static, Vec<(u64, u64)>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id(seen: &Metadata) -> (u64, u64) {
    (seen.dev(), seen.ino())
}

/// A lock of this process, given up when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    id: (u64, u64),
    _file: File,
}

impl Held {
    /// Takes the lock of a file that was just made.
    pub(crate) fn take(file: File) -> io::Result<Self> {
        let id = id(&file.metadata()?);
        // Before there is a lock to lose.
        own().push(id);
        let held = Self { id, _file: file };
        rustix::fs::fcntl_lock(&held._file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        own().retain(|id| *id != self.id);
    }
}

/// Who holds the lock of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    /// A process; its number, where it is known here.
    Held {
        pid: Option<u32>,
    },
}

/// Who holds the lock of a file. One that is not there, or no file, has none.
pub(crate) fn holder(path: &Path) -> Holder {
    if std::fs::symlink_metadata(path).is_ok_and(|seen| own().contains(&id(&seen))) {
        return Holder::Held { pid: Some(std::process::id()) };
    }
    // To ask for a lock for writing the file has to be open for it.
    let Ok(file) = open_plain(path, OpenOptions::new().read(true).write(true)) else {
        return Holder::Nobody;
    };
    match fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)) {
        Ok(Some(lock)) => {
            // Of a process on another machine or in another container there is none.
            let pid = lock.pid.map(|pid| pid.as_raw_nonzero().get());
            Holder::Held { pid: pid.and_then(|pid| u32::try_from(pid).ok()) }
        }
        Ok(None) | Err(_) => Holder::Nobody,
    }
}

#[cfg(target_os = "linux")]
mod process {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// Another process, by a descriptor that is never another one's.
    pub(crate) struct Process(OwnedFd);

    impl Process {
        /// The process that has this number now; `None` when there is none, or it is this one.
        pub(crate) fn open(pid: u32) -> Option<Self> {
            let number = i32::try_from(pid).ok().filter(|_| pid != std::process::id())?;
            pidfd_open(Pid::from_raw(number)?, PidfdFlags::empty()).ok().map(Self)
        }

        /// Waits until it has ended, or a time is over.
        pub(crate) fn wait(&self, at_most: Option<Duration>) {
            let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
            let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], timeout.as_ref());
        }

        /// Sends `SIGTERM`. That it has ended is no error.
        pub(crate) fn ask(&self) -> io::Result<()> {
            match pidfd_send_signal(&self.0, Signal::TERM) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod process {
    use std::io;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    /// Another process, by its number.
    pub(crate) struct Process(Pid);

    impl Process {
        /// The process that has this number now; `None` when it is this one.
        pub(crate) fn open(pid: u32) -> Option<Self> {
            let number = i32::try_from(pid).ok().filter(|_| pid != std::process::id())?;
            Pid::from_raw(number).map(Self)
        }

        /// Waits a little: its end can't be waited for.
        pub(crate) fn wait(&self, at_most: Option<Duration>) {
            let look = Duration::from_millis(50);
            std::thread::sleep(at_most.unwrap_or(look).min(look));
        }

        /// Sends `SIGTERM`. That it has ended is no error.
        pub(crate) fn ask(&self) -> io::Result<()> {
            match kill_process(self.0, Signal::TERM) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
    }
}

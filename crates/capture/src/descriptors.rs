//! Which descriptors a process has, and which a child inherits.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Descriptors above 2 that a child inherits; all others close when it executes its program.
#[derive(Debug)]
pub(crate) struct Inherited {
    /// In order.
    keep: Vec<RawFd>,
    /// Others that the system lists, where it can't be told to close a range.
    #[cfg(not(target_os = "linux"))]
    listed: Vec<RawFd>,
}

impl Inherited {
    pub(crate) fn new(keep: &[RawFd]) -> Self {
        let mut keep: Vec<RawFd> = keep.iter().copied().filter(|fd| *fd > 2).collect();
        keep.sort_unstable();
        keep.dedup();
        #[cfg(not(target_os = "linux"))]
        let listed = listed(&keep);
        Self {
            keep,
            #[cfg(not(target_os = "linux"))]
            listed,
        }
    }

    /// Marks the others. For a child between fork and exec: system calls only.
    #[cfg(target_os = "linux")]
    pub(crate) fn close_others(&self) {
        let mut first = 3;
        for fd in &self.keep {
            in_range(first, fd - 1, libc::CLOSE_RANGE_CLOEXEC);
            first = fd.saturating_add(1);
        }
        in_range(first, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn close_others(&self) {
        for fd in &self.listed {
            // SAFETY: F_SETFD takes an integer and touches no memory. A number that was closed
            // meanwhile, as that of the listing itself, gives an error and nothing else.
            unsafe { libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// Descriptors above 2 but `keep`. Only numbers that can be read from the system are known.
#[cfg(not(target_os = "linux"))]
fn listed(keep: &[RawFd]) -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|fd| *fd > 2 && !keep.contains(fd)).collect()
}

/// Makes `child` start on its own: in a session without a terminal, with every signal as it is by
/// default, and with none of this process's descriptors above 2 but `keep`, so that nobody waits
/// for it who waits for the end of a pipe.
///
/// ```
/// let mut child = std::process::Command::new("true");
/// noesc_capture::detach(&mut child, &[]);
/// assert!(child.status()?.success());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn detach(child: &mut std::process::Command, keep: &[RawFd]) {
    use std::os::unix::process::CommandExt;
    let inherited = Inherited::new(keep);
    // SAFETY: runs between fork and exec. What is called makes system calls only; the vector was
    // made before the fork and is only read; nothing allocates, takes a lock or can panic.
    unsafe {
        child.pre_exec(move || {
            crate::signal::reset(true);
            rustix::process::setsid()?;
            inherited.close_others();
            Ok(())
        });
    }
}

/// What a poll tells of a descriptor at this moment. System calls only.
pub(crate) fn polled(fd: &OwnedFd, flags: PollFlags) -> PollFlags {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(fd, flags)];
    match poll(&mut fds, Some(&now)) {
        Ok(_) => fds[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}

/// The same descriptor at a number above 2, where a child's set-up does not overwrite it.
pub(crate) fn above_standard(fd: OwnedFd) -> io::Result<OwnedFd> {
    match fd.as_raw_fd() {
        0..=2 => Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?),
        _ => Ok(fd),
    }
}

/// Keeps `number` from being given to anything that is opened until the child has been started:
/// what opens there would be overwritten in the child.
///
/// # Errors
/// When `number` is one of the first three, or none that the system gives (`EBADF`, `EINVAL`).
pub(crate) fn reserve(fd: &OwnedFd, number: RawFd) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(Errno::BADF.into());
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, number)?)
}

/// Closes every descriptor from `first` to `last`, both included. System calls only.
#[cfg(target_os = "linux")]
pub(crate) fn close_range(first: RawFd, last: RawFd) {
    in_range(first, last, 0);
}

/// Closes every descriptor from `first`, which is above 2, to `last`, both included, or marks it to
/// be closed by an exec. System calls only.
#[cfg(target_os = "linux")]
fn in_range(first: RawFd, last: RawFd, flags: libc::c_uint) {
    if first > last {
        return;
    }
    let (low, high) = (first as libc::c_uint, last as libc::c_uint);
    // SAFETY: the caller is a forked process that uses none of these numbers any more; the call
    // takes integers alone, and none of them is negative.
    if unsafe { libc::syscall(libc::SYS_close_range, low, high, flags) } != -1 {
        return;
    }
    // Linux before 5.11. A process seldom has more than its soft limit allows.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let end = limit.and_then(|limit| RawFd::try_from(limit).ok()).unwrap_or(RawFd::MAX);
    for fd in first..=last.min(end) {
        // SAFETY: as above; a number that is not open gives an error and nothing else.
        unsafe {
            match flags {
                0 => libc::close(fd),
                _ => libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC),
            }
        };
    }
}

/// Takes the lock of a file, held until this process ends. System calls only.
#[cfg(target_os = "linux")]
pub(crate) fn lock(file: &OwnedFd) -> bool {
    // SAFETY: flock is plain integers, for which all zeros is a value: all of the file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    // SAFETY: the descriptor is open, and the call only reads the structure.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) != -1 }
}

//! Which descriptors a process has, and which a child inherits.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;

/// Descriptors above 2 that a child is not to inherit. Only numbers that can be read from the
/// system are known; a system without `/dev/fd` lets the child inherit all of them.
pub(crate) fn unwanted(keep: &[RawFd]) -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|fd| *fd > 2 && !keep.contains(fd)).collect()
}

/// Makes `child` start on its own: in a session without a terminal, and with none of this process's
/// descriptors above 2 but `keep`, so that nobody waits for it who waits for the end of a pipe.
///
/// ```
/// let mut child = std::process::Command::new("true");
/// noesc_capture::detach(&mut child, &[]);
/// assert!(child.status()?.success());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn detach(child: &mut std::process::Command, keep: &[RawFd]) {
    use std::os::unix::process::CommandExt;
    let unwanted = unwanted(keep);
    // SAFETY: runs between fork and exec. setsid and fcntl are async-signal-safe; the vector was
    // made before the fork and is only read; nothing allocates, takes a lock or can panic.
    unsafe {
        child.pre_exec(move || {
            rustix::process::setsid()?;
            for fd in &unwanted {
                // A number that was closed meanwhile, as that of the listing itself, does no harm.
                libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            Ok(())
        });
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
    if first > last {
        return;
    }
    // SAFETY: the caller is a forked process that uses none of these numbers any more; the call
    // takes integers alone. 3 is the smallest first number, so none is negative.
    let closed = unsafe {
        libc::syscall(libc::SYS_close_range, first as libc::c_uint, last as libc::c_uint, 0)
    };
    if closed == -1 {
        // Linux before 5.9. A process seldom has more than its soft limit allows.
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let end = limit.and_then(|limit| RawFd::try_from(limit).ok()).unwrap_or(RawFd::MAX);
        for fd in first..=last.min(end) {
            // SAFETY: as above; a number that is not open gives an error and nothing else.
            unsafe { libc::close(fd) };
        }
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

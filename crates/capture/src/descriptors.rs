//! Which of the caller's descriptors a child inherits.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;

/// Descriptors above 2 that the child is not to inherit. Only numbers that can be read from the
/// system are known; a system without `/dev/fd` lets the child inherit all of them.
fn unwanted(keep: &[i32]) -> Vec<libc::c_int> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|fd| *fd > 2 && !keep.contains(fd)).collect()
}

/// Makes `child` close every descriptor above 2 but `keep` when it executes its program. Those
/// that are marked so already stay so.
///
/// The closure is set even when there is nothing to close: with one the child is started by
/// `execvp`, which hands a script without `#!` to `sh` as other wrappers do, without one it is not.
pub(crate) fn close(child: &mut std::process::Command, keep: &[i32]) {
    let unwanted = unwanted(keep);
    // SAFETY: runs between fork and exec. `fcntl` is async-signal-safe; the vector was made before
    // the fork and is only read; nothing allocates, takes a lock or can panic.
    unsafe {
        child.pre_exec(move || {
            for fd in &unwanted {
                // A number that was the listing's own descriptor is closed by now: no harm.
                libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            Ok(())
        });
    }
}

/// Makes `child` find `fd` at descriptor `number` when it executes its program.
///
/// # Errors
/// When `number` is one of the first three, or none that the system gives (`EBADF`, `EINVAL`).
pub(crate) fn place(child: &mut std::process::Command, fd: OwnedFd, number: i32) -> io::Result<()> {
    if number <= 2 {
        return Err(rustix::io::Errno::BADF.into());
    }
    // The number is taken here too until the child has been started: else the descriptor by which
    // the child tells of a failure could get it, and would be lost.
    let reserved = rustix::io::fcntl_dupfd_cloexec(&fd, number)?;
    // SAFETY: runs between fork and exec. `dup2` and `fcntl` are async-signal-safe; the descriptors
    // live in the closure; nothing allocates, takes a lock or can panic.
    unsafe {
        child.pre_exec(move || {
            // Onto itself, `dup2` does nothing and leaves the mark that closes it.
            let is_there = [fd.as_raw_fd(), reserved.as_raw_fd()].contains(&number);
            let done = match is_there {
                true => libc::fcntl(number, libc::F_SETFD, 0),
                false => libc::dup2(fd.as_raw_fd(), number),
            };
            if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    Ok(())
}

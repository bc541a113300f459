//! Which of the caller's descriptors a child inherits.

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

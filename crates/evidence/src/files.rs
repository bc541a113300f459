//! Opening, locking and syncing files.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use noesc_text::AuditEscape;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// How often a lock that another one holds is tried again.
const LOCK_EVERY: Duration = Duration::from_millis(5);

/// A path as a message shows it.
pub(crate) fn shown(path: &Path) -> impl std::fmt::Display {
    AuditEscape(path.as_os_str().as_bytes())
}

/// Opens a file, follows no symbolic link at its end and waits for nobody. A new one has mode 0600.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.mode(0o600).custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

/// Makes the name of a file durable.
pub(crate) fn sync_folder(of: &Path) -> io::Result<()> {
    let folder = match of.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

/// Takes a lock that lasts until the file is closed. `false` when others held it all the time.
pub(crate) fn lock(file: &File, is_shared: bool, wait: Duration) -> io::Result<bool> {
    let start = Instant::now();
    let how = match is_shared {
        true => FlockOperation::NonBlockingLockShared,
        false => FlockOperation::NonBlockingLockExclusive,
    };
    loop {
        match flock(file, how) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {
                let left = wait.saturating_sub(start.elapsed());
                if left.is_zero() {
                    return Ok(false);
                }
                std::thread::sleep(left.min(LOCK_EVERY));
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Gives a lock up before the file is closed.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::Unlock)?)
}

//! Opening, locking and syncing files.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
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

/// Opens a plain file as [`OpenOptions`] say, and nothing else: a pipe could make us wait, a link
/// lead elsewhere. A new one has mode 0600.
///
/// # Errors
/// When it can not be opened, or is something else.
pub fn open_plain(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let not_plain = || io::Error::other("it is no plain file");
    match open(path, options) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_plain()),
        Err(error) => match fs::symlink_metadata(path) {
            Ok(seen) if !seen.is_file() => Err(not_plain()),
            _ => Err(error),
        },
    }
}

/// Whether there is a folder at the path, which has to be this user's alone.
///
/// # Errors
/// When it is something else, another user's or open to others: who can write there could have us
/// show a run that never was.
pub fn is_own_folder(path: &Path) -> io::Result<bool> {
    let seen = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        seen => seen?,
    };
    let mode = seen.mode() & 0o7777;
    let is_ours = seen.uid() == rustix::process::geteuid().as_raw();
    match (seen.is_dir(), is_ours, mode & 0o077) {
        (true, true, 0) => Ok(true),
        (false, ..) => Err(io::Error::other("it is no folder")),
        (_, false, _) => Err(io::Error::other("it is another user's")),
        _ => Err(io::Error::other(format!("it is open to others (mode {mode:04o})"))),
    }
}

/// Makes a folder, if it is not there, and sees that it is this user's alone.
///
/// # Errors
/// As [`is_own_folder`], or when it can not be made.
pub fn make_own_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    is_own_folder(path).map(drop)
}

/// The length that the system lets a file of ours have (`ulimit -f`): whoever writes beyond it may
/// be sent a signal that ends it.
#[must_use]
pub fn file_bytes_max() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    limit.current.unwrap_or(u64::MAX)
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

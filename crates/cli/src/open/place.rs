//! Raw bytes into a file: where that may be, and that it is new.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};

use super::original::Opening;
use crate::fail::{Failure, Result, quoted};
use crate::say::say;

/// Bytes that are written at once.
const PIECE: usize = 1024 * 1024;

/// A folder that is held, so that it stays the one that was checked, and the name of a new file.
pub(super) struct Place<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
    path: &'a Path,
}

/// Refuses a place where an agent looks: the store, and the folder that it works in.
pub(super) fn check<'a>(to: &'a Path, store: &Path) -> Result<Place<'a>> {
    let shown = quoted(to.as_os_str());
    let refuse = |what: &str| {
        Err(Failure::new(format!("raw bytes are not written into {what}: {shown}"))
            .hint("name a file elsewhere, best of another account or another machine"))
    };
    let name = to
        .file_name()
        .ok_or_else(|| Failure::new(format!("{shown} names no file")).hint("name a new one"))?;
    let (held, folder) = folder_of(to)?;
    if std::fs::canonicalize(store).is_ok_and(|store| folder.starts_with(store)) {
        return refuse("the store");
    }
    let cwd = std::env::current_dir().and_then(std::fs::canonicalize);
    if cwd.is_ok_and(|cwd| folder.starts_with(cwd)) {
        return refuse("the working folder");
    }
    if statat(&held, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Err(Failure::new(format!("there is a file already: {shown}"))
            .hint("raw bytes go into a new one"));
    }
    Ok(Place { folder: held, name, path: to })
}

/// The folder of a file, and where it is.
fn folder_of(to: &Path) -> Result<(OwnedFd, PathBuf)> {
    let folder = match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = |error| {
        Failure::io("can not use the folder", folder.as_os_str(), &std::io::Error::from(error))
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = openat(CWD, folder, flags, Mode::empty()).map_err(failed)?;
    // Of what is held, where the system tells it; of the path, where not.
    let by_number = format!("/proc/self/fd/{}", held.as_raw_fd());
    let path = std::fs::read_link(by_number).or_else(|_| std::fs::canonicalize(folder));
    let path =
        path.map_err(|error| Failure::io("can not use the folder", folder.as_os_str(), &error))?;
    Ok((held, path))
}

/// Writes them, after the ledger knows what is written.
pub(super) fn write(
    opening: &mut Opening<'_>,
    range: Option<(u64, u64)>,
    to: &Place<'_>,
    tell: &mut dyn FnMut(&str, u64) -> Result<()>,
) -> Result<ExitCode> {
    let end = opening.bytes();
    let (offset, count) = range.unwrap_or((0, end));
    let count = count.min(end.saturating_sub(offset));
    tell(&opening.keyed(offset, count)?, count)?;
    let unwritten =
        |error: std::io::Error| Failure::io("can not write", to.path.as_os_str(), &error);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(&to.folder, to.name, flags, Mode::RUSR | Mode::WUSR);
    let mut file = File::from(made.map_err(|errno| unwritten(errno.into()))?);
    let (mut at, last) = (offset, offset + count);
    let mut piece = vec![0; PIECE];
    while at < last {
        let want = usize::try_from(last - at).unwrap_or(PIECE).min(PIECE);
        let read = opening.piece(at, &mut piece[..want])?;
        file.write_all(&piece[..read]).map_err(unwritten)?;
        if read == 0 {
            break;
        }
        at += read as u64;
    }
    file.sync_all().map_err(unwritten)?;
    if let Some(fault) = opening.fault() {
        say(&fault);
    }
    let shown = quoted(to.path.as_os_str());
    say(&format!("{count} raw bytes are in {shown}: whatever runs as this user can read them"));
    Ok(ExitCode::SUCCESS)
}

//! Raw bytes into a file: where that may be, and that it is new.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::original::Opening;
use crate::fail::{Failure, Result, quoted};
use crate::say::say;

/// Bytes that are written at once.
const PIECE: usize = 1024 * 1024;

/// Refuses a place where an agent looks: the store, and the folder that it works in.
pub(super) fn check(to: &Path, store: &Path) -> Result<()> {
    let shown = quoted(to.as_os_str());
    let refuse = |what: &str| {
        Err(Failure::new(format!("raw bytes are not written into {what}: {shown}"))
            .hint("name a file elsewhere, best of another account or another machine"))
    };
    let folder = folder_of(to)?;
    if std::fs::canonicalize(store).is_ok_and(|store| folder.starts_with(store)) {
        return refuse("the store");
    }
    let cwd = std::env::current_dir().and_then(std::fs::canonicalize);
    if cwd.is_ok_and(|cwd| folder.starts_with(cwd)) {
        return refuse("the working folder");
    }
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(Failure::new(format!("there is a file already: {shown}"))
            .hint("raw bytes go into a new one"));
    }
    Ok(())
}

fn folder_of(to: &Path) -> Result<PathBuf> {
    let folder = match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::canonicalize(folder)
        .map_err(|error| Failure::io("can not use the folder", folder.as_os_str(), &error))
}

/// Writes them, after the ledger knows what is written.
pub(super) fn write(
    opening: &mut Opening<'_>,
    range: Option<(u64, u64)>,
    to: &Path,
    tell: &mut dyn FnMut(&str, u64) -> Result<()>,
) -> Result<ExitCode> {
    let end = opening.bytes();
    let (offset, count) = range.unwrap_or((0, end));
    let count = count.min(end.saturating_sub(offset));
    tell(&opening.keyed(offset, count)?, count)?;
    let unwritten = |error: std::io::Error| Failure::io("can not write", to.as_os_str(), &error);
    let mut options = OpenOptions::new();
    let mut file: File =
        options.write(true).create_new(true).mode(0o600).open(to).map_err(unwritten)?;
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
    let shown = quoted(to.as_os_str());
    say(&format!("{count} raw bytes are in {shown}: whatever runs as this user can read them"));
    Ok(ExitCode::SUCCESS)
}

//! Folders and files: what they are, whose they are, and who can read them.

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use noesc_evidence::{Store, open_plain};

use super::Looked;
use crate::fail::{Result, quoted, reason};
use crate::kept::unusable;

const THE_INDEX: &[u8] = b"SQLite format 3\0";

/// Whether the folders are this user's alone, so that what they hold can be believed; `None` where
/// there is no folder.
pub(super) fn look(store: &Store, looked: &mut Looked) -> Result<Option<bool>> {
    let failed = |error: io::Error| unusable(store, &error);
    let root = fs::symlink_metadata(store.root()).map_err(failed)?;
    let mut is_sound = folder(store.root(), &root, looked);
    if !root.is_dir() {
        return Ok(None);
    }
    for entry in fs::read_dir(store.root()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(seen) = fs::symlink_metadata(entry.path()) else { continue };
        match entry.path() == store.runs_path() {
            true => {
                is_sound &= folder(&entry.path(), &seen, looked);
                if seen.is_dir() {
                    runs(&entry.path(), looked);
                }
            }
            false => file(&entry.path(), &seen, looked),
        }
    }
    index(store, looked);
    Ok(Some(is_sound))
}

/// The folders of all runs.
fn runs(path: &Path, looked: &mut Looked) {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return unreadable(path, &error, looked),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(seen) = fs::symlink_metadata(&path) else { continue };
        if !folder(&path, &seen, looked) || !seen.is_dir() {
            continue;
        }
        match fs::read_dir(&path) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    let Ok(seen) = fs::symlink_metadata(entry.path()) else { continue };
                    file(&entry.path(), &seen, looked);
                }
            }
            Err(error) => unreadable(&path, &error, looked),
        }
    }
}

fn unreadable(path: &Path, error: &io::Error, looked: &mut Looked) {
    let message = format!("can not read {}: {}", quoted(path.as_os_str()), reason(error));
    looked.fault("unreadable", message, "give it back to yourself: chmod 700");
}

fn folder(path: &Path, seen: &Metadata, looked: &mut Looked) -> bool {
    let name = quoted(path.as_os_str());
    if !seen.is_dir() {
        let hint = "move it away: something else has put it there";
        looked.fault("no-folder", format!("{name} is no folder"), hint);
        return false;
    }
    if !is_ours(seen) {
        let hint = "nothing in it can be believed: move it away, or take it over with chown";
        looked.fault("owner", format!("{name} is another user's"), hint);
        return false;
    }
    mode(&name, seen, "others could write there: chmod 700", looked)
}

fn file(path: &Path, seen: &Metadata, looked: &mut Looked) {
    let name = quoted(path.as_os_str());
    if !seen.is_file() {
        let hint = "remove it: noesc has not made it, and does not follow it";
        looked.fault("no-file", format!("{name} is no plain file"), hint);
    } else if !is_ours(seen) {
        looked.fault("owner", format!("{name} is another user's"), "see who put it there");
    } else {
        mode(&name, seen, "others could read it: chmod 600", looked);
    }
}

fn mode(name: &str, seen: &Metadata, hint: &'static str, looked: &mut Looked) -> bool {
    let mode = seen.mode() & 0o7777;
    if mode & 0o077 != 0 {
        looked.fault("mode", format!("{name} is open to others (mode {mode:04o})"), hint);
        return false;
    }
    true
}

fn is_ours(seen: &Metadata) -> bool {
    seen.uid() == rustix::process::geteuid().as_raw()
}

/// The index is removed, and made anew from the ledger when it is asked: any program of this user
/// can have written there what the ledger does not say.
fn index(store: &Store, looked: &mut Looked) {
    let path = store.index_path();
    let Ok(seen) = fs::symlink_metadata(&path) else { return };
    let head = open_plain(&path, OpenOptions::new().read(true)).and_then(|file| {
        let mut head = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, THE_INDEX.len() as u64), &mut head)?;
        Ok(head)
    });
    let is_index = head.is_ok_and(|head| head.is_empty() || head == THE_INDEX);
    if seen.is_file() && !is_index {
        match fs::remove_file(&path) {
            Ok(()) => looked.note("index", "the index was damaged: it is made anew"),
            Err(_) => looked.fault("index", "the index is damaged", "remove index.sqlite"),
        }
    } else if seen.is_file() {
        let _ = fs::remove_file(&path);
    }
}

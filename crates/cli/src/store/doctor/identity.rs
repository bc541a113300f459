//! Secret keys that open what is sealed, and that anybody of this user can read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use noesc_evidence::{Chronicle, Store, exposed, open_plain};

use super::Looked;
use crate::config::Config;
use crate::fail::{Result, quoted};

/// Bytes of a file that may hold an identity.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Files of a folder that are looked at.
const FILES_MAX: usize = 2000;

/// How deep folders of keys are looked into.
const DEPTH_MAX: usize = 3;

pub(super) fn look(
    config: &Config,
    store: &Store,
    chronicle: Option<&Chronicle>,
    looked: &mut Looked,
) -> Result<()> {
    let mut recipients: BTreeSet<String> =
        chronicle.map(|chronicle| chronicle.recipients.clone()).unwrap_or_default();
    let configured = crate::evidence::configured(config)?;
    recipients.extend(configured.iter().flat_map(|recipients| recipients.fingerprints()));
    if recipients.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    for path in candidates(config, store) {
        let Some(found) = path.canonicalize().ok().filter(|path| seen.insert(path.clone())) else {
            continue;
        };
        for recipient in read(&found).iter().flat_map(|bytes| exposed(bytes)) {
            let fingerprint = recipient.fingerprint();
            if recipients.contains(&fingerprint) {
                let name = quoted(path.as_os_str());
                let message = format!("{name} opens what is sealed to {fingerprint}, unprotected");
                let hint = "any program of yours can open what was sealed: move the file to \
                            another machine, and take a new identity by \"noesc init\"";
                looked.fault("identity-exposed", message, hint);
            }
        }
    }
    Ok(())
}

/// What a file holds, if it is a small one.
fn read(path: &Path) -> Option<Vec<u8>> {
    let file = open_plain(path, OpenOptions::new().read(true)).ok()?;
    if file.metadata().ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Files that are named, and those of folders where such keys usually are.
fn candidates(config: &Config, store: &Store) -> Vec<PathBuf> {
    let named = ["identity", "approver_identity"].into_iter().filter_map(|key| config.given(key));
    let mut files: Vec<PathBuf> = named.map(PathBuf::from).collect();
    let mut folders = vec![store.root().to_owned()];
    if let Ok(base) = etcetera::choose_base_strategy() {
        let (home, config) = (base.home_dir().to_owned(), base.config_dir());
        folders.extend([config.join("noesc"), config.join("age"), config.join("sops/age")]);
        folders.push(home.join(".config/age"));
        folders.push(home.join(".config/sops/age"));
        folders.push(home.join(".age"));
        files.push(home.join(".age"));
        below(&home, 1, is_key_name, &mut files);
    }
    // What is kept of runs holds no key of noesc, and can be a lot.
    for folder in folders {
        below(&folder, if folder == store.root() { 1 } else { DEPTH_MAX }, |_| true, &mut files);
    }
    if let Ok(here) = std::env::current_dir() {
        below(&here, 1, is_key_name, &mut files);
    }
    files
}

fn is_key_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let ends = [".age", ".txt", ".key", ".agekey"].iter().any(|end| name.ends_with(end));
    ends || ["key", "identity", ".env"].iter().any(|word| name.contains(word))
}

/// Plain files of a folder, and of those in it.
fn below(folder: &Path, depth: usize, is_meant: fn(&OsStr) -> bool, to: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().take(FILES_MAX) {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 1 {
            below(&entry.path(), depth - 1, is_meant, to);
        } else if !kind.is_dir() && is_meant(&entry.file_name()) {
            to.push(entry.path());
        }
    }
}

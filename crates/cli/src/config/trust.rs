//! `noesc config trust`: files of projects whose other keys are taken, by their digests.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use etcetera::BaseStrategy;

use super::{PROJECT_FILE, file};
use crate::fail::{Failure, Result, quoted};
use crate::say::say;

/// Bytes of the list: thousands of files.
const TRUSTED_BYTES_MAX: u64 = 1024 * 1024;

/// Where it is remembered which files are trusted.
fn place() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(state.join("noesc").join("trusted"))
}

/// How a file stands in the list, behind its digest.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    noesc::audit(whole.as_os_str().as_bytes())
}

/// The lines of the list: a digest, a blank, a name.
fn listed(place: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    match std::fs::File::open(place) {
        Ok(file) => file.take(TRUSTED_BYTES_MAX).read_to_string(&mut text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(text)
}

/// Whether a project's file is trusted as it is now. One that was trusted and has changed is said.
pub(super) fn is_trusted(path: &Path, sha256: &str) -> bool {
    let Some(text) = place().and_then(|place| listed(&place).ok()) else { return false };
    let name = name_of(path);
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let known = lines.find(|(_, known)| *known == name);
    if known.is_some_and(|(digest, _)| digest != sha256) {
        let path = quoted(path.as_os_str());
        say(&format!("warning: {path} was changed since it was trusted; look at it again"));
    }
    known.is_some_and(|(digest, _)| digest == sha256)
}

/// Remembers the digest of a project's file: the nearest one, or the one that is named.
pub(super) fn trust(named: Option<&Path>) -> Result<ExitCode> {
    let hint = format!("go to a folder with a {PROJECT_FILE}, or name the file");
    let path = named.map(Path::to_path_buf).or_else(file::project_path);
    let path = path.ok_or_else(|| Failure::new("there is no file of a project").hint(&*hint))?;
    let name = quoted(path.as_os_str());
    if !path.is_file() {
        return Err(Failure::new(format!("{name} is no file")).hint(hint));
    }
    let read = file::read_leniently(&path).map_err(|error| error.failure(&path))?;
    let place = place().ok_or_else(|| {
        Failure::new("there is no place to remember it: no home folder is known")
            .hint("set HOME, or XDG_STATE_HOME")
    })?;
    let failed = |error: &std::io::Error| {
        Failure::io("can not write to", place.as_os_str(), error)
            .hint("see that the folder is yours and can be written to")
    };
    let known = name_of(&path);
    let old = listed(&place).map_err(|error| failed(&error))?;
    let others = old.lines().filter(|line| line.split_once(' ').is_none_or(|(_, to)| to != known));
    let mut text: String = others.flat_map(|line| [line, "\n"]).collect();
    text.push_str(&format!("{} {known}\n", read.sha256));
    if text.len() as u64 > TRUSTED_BYTES_MAX {
        return Err(Failure::new("too many files are trusted").hint("remove lines of the list"));
    }
    replace(&place, &text).map_err(|error| failed(&error))?;
    say(&format!("{name} is trusted until it is changed"));
    for (key, value) in &read.values {
        let value = noesc::audit(value.as_bytes());
        let is_taken = key.is_look || key.project.is_some_and(|only| only == value);
        let taken = if is_taken { "is taken" } else { "is never taken from a project" };
        say(&format!("{} = \"{value}\" {taken}", key.name));
    }
    Ok(ExitCode::SUCCESS)
}

fn replace(place: &Path, text: &str) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(place).map_err(|error| error.error).map(drop)
}

//! Descriptors that the caller opened for us or for the command.

use std::fs::Metadata;
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::args::{RunArgs, RunFormat};
use crate::fail::{Failure, Result};
use crate::file_id::{FileId, file_id};

const FORGED: &str = "what the command can write to is no place for facts";

/// What is open at a descriptor; `None` where nothing is, or the system does not say what.
fn seen_at(fd: i32) -> Option<Metadata> {
    std::fs::metadata(format!("/dev/fd/{fd}")).ok()
}

fn id_at(fd: i32) -> Option<FileId> {
    seen_at(fd).as_ref().map(file_id)
}

/// Whether two descriptors are of one file, pipe or terminal.
pub(crate) fn is_same(one: i32, other: i32) -> bool {
    one == other || id_at(one).is_some_and(|one| Some(one) == id_at(other))
}

/// Refuses descriptors that are not open, and facts where the command could write too. To be asked
/// before we open anything ourselves.
pub(crate) fn check(args: &RunArgs) -> Result<()> {
    // Without this folder nothing is known.
    if Path::new("/dev/fd").is_dir() {
        let closed = args.keep_fd.iter().find(|fd| id_at(**fd).is_none());
        if let Some(fd) = closed {
            return Err(Failure::new(format!(
                "\"--keep-fd\" names descriptor {fd}: it is not open"
            ))
            .hint(format!("open it in the shell: {fd}<FILE, or {fd}>FILE")));
        }
    }
    match args.facts_fd {
        Some(fd) => check_facts(fd, args),
        None => Ok(()),
    }
}

fn check_facts(fd: i32, args: &RunArgs) -> Result<()> {
    let refused = |why: &str| Failure::new(format!("\"--facts-fd\" names descriptor {fd}: {why}"));
    let hint = format!("open it in the shell: {fd}>facts.json");
    let Some(seen) = seen_at(fd) else { return Err(refused("it is not open").hint(hint)) };
    if !is_writable(fd) {
        return Err(refused("it is not open for writing").hint(hint));
    }
    if args.keep_fd.contains(&fd) {
        return Err(
            Failure::new("\"--facts-fd\" and \"--keep-fd\" name one descriptor").hint(FORGED)
        );
    }
    if let Some(kept) = args.keep_fd.iter().find(|kept| is_same(**kept, fd)) {
        let why = format!("it is the same file as descriptor {kept} of \"--keep-fd\"");
        return Err(refused(&why).hint(FORGED));
    }
    let is_text = args.format == RunFormat::Text;
    // From a terminal or `/dev/null` nothing is read back as a record; a terminal is open to every
    // command that is started there.
    let is_device = seen.file_type().is_char_device();
    for (standard, name, passes) in [
        (0, "stdin, which the command has too", is_text || args.stdin),
        (1, "stdout, where what the command prints goes", is_text),
        (2, "stderr, where what the command prints goes", is_text),
    ] {
        if passes && !is_device && is_same(standard, fd) {
            let why = format!("it is the same file as our {name}");
            return Err(refused(&why).hint(FORGED));
        }
    }
    Ok(())
}

/// Whether a descriptor is open for writing; a system that does not say is believed to let us.
fn is_writable(fd: i32) -> bool {
    let flags = || -> io::Result<u32> {
        let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let digits = line.unwrap_or_default().trim();
        u32::from_str_radix(digits, 8).map_err(|error| Error::new(ErrorKind::InvalidData, error))
    };
    // O_ACCMODE is 3, O_RDONLY is 0.
    flags().map_or(true, |flags| flags & 3 != 0)
}

//! Where a verb reads from and writes to.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::LazyLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::fail::{Failure, Result};
use crate::file_id::{FileId, file_id};
use crate::say::stdout_took;

/// Bytes read at once: what a Linux pipe holds by default.
const CHUNK_BYTES: usize = 64 * 1024;

const READABLE: &str = "give a file that you can read, or \"-\" for stdin";

/// An open input and its name for messages.
pub(crate) struct Input {
    reader: File,
    name: std::ffi::OsString,
    chunk: Vec<u8>,
    any: bool,
}

impl Input {
    /// Opens a file; `-` or nothing is stdin.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let chunk = vec![0; CHUNK_BYTES];
        match path {
            None => {
                let reader = descriptor(io::stdin()).map_err(|error| {
                    Failure::io("can not read", OsStr::new("stdin"), &error).hint(READABLE)
                })?;
                Ok(Self { reader, name: "stdin".into(), chunk, any: false })
            }
            Some(path) if path == Path::new("-") => Self::open(None),
            Some(path) => match File::open(path) {
                Ok(reader) => Ok(Self { reader, name: path.into(), chunk, any: false }),
                Err(error) => {
                    Err(Failure::io("can not open", path.as_os_str(), &error).hint(READABLE))
                }
            },
        }
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        &self.reader
    }

    /// The next bytes, at most 64 KiB; empty at the end.
    pub(crate) fn next(&mut self) -> Result<&[u8]> {
        loop {
            match self.reader.read(&mut self.chunk) {
                Ok(n) => {
                    self.any |= n > 0;
                    return Ok(&self.chunk[..n]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let failure = Failure::io("can not read", &self.name, &error);
                    let hint = if self.any { "what was read before is written" } else { READABLE };
                    return Err(failure.hint(hint));
                }
            }
        }
    }
}

/// Whether the reader of our output still wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Yes,
    No,
}

/// Writes to stdout at once. A reader that went away is no error; where there is nothing to write,
/// it is asked for, so that input without output is not read for ever.
pub(crate) fn write(bytes: &[u8]) -> Result<Wanted> {
    static STDOUT: LazyLock<io::Result<File>> = LazyLock::new(|| descriptor(io::stdout()));
    let mut stdout = STDOUT.as_ref().map_err(|error| unwritten(OsStr::new("stdout"), error))?;
    match stdout.write_all(bytes) {
        Ok(()) if bytes.is_empty() && has_no_reader(stdout) => Ok(Wanted::No),
        Ok(()) => {
            stdout_took(bytes);
            Ok(Wanted::Yes)
        }
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Wanted::No),
        Err(error) => Err(unwritten(OsStr::new("stdout"), &error)),
    }
}

/// Whether the other end of an output is closed, as far as the system tells.
fn has_no_reader(output: &File) -> bool {
    let mut output = [PollFd::new(output, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut output, Some(&at_once)).is_ok()
        && output[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// A standard descriptor as a file: the standard library takes one that can't be used for empty,
/// or for written.
fn descriptor(stream: impl AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

/// Creates a file that a flag names, before anything else happens. A file that is our stdout or
/// stderr, or one of `used`, the input or another output, is refused and stays as it is.
pub(crate) fn create(flag: &str, path: &Path, used: &[&File]) -> Result<File> {
    let flag = format!("\"{flag}\"");
    if path == Path::new("-") {
        return Err(Failure::new(format!("{flag} takes the name of a file"))
            .hint("\"./-\" is a file of that name"));
    }
    // Not emptied before it is known to be no other file in use.
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    let created = opened.and_then(|file| {
        let Some(id) = id_of(&file)? else { return Ok((file, false)) };
        let is_used = is_output(id) || used.iter().any(|file| is_at(file, id));
        if !is_used {
            file.set_len(0)?;
        }
        Ok((file, is_used))
    });
    match created {
        Ok((file, false)) => Ok(file),
        Ok((_, true)) => Err(in_use(&flag, path)),
        Err(error) => Err(Failure::io(&format!("{flag} can not create"), path.as_os_str(), &error)
            .hint("name a file in a folder that exists and that you can write to")),
    }
}

/// That a quoted flag names a file that is read or written otherwise.
pub(crate) fn in_use(flag: &str, path: &Path) -> Failure {
    let name = crate::fail::quoted(path.as_os_str());
    Failure::new(format!("{flag} can not be {name}: the file is in use"))
        .hint("name a file that is neither read nor written otherwise")
}

/// `None` of anything else than a regular file.
fn id_of(file: &File) -> io::Result<Option<FileId>> {
    let seen = file.metadata()?;
    Ok(seen.is_file().then(|| file_id(&seen)))
}

/// Whether an open file is this regular one.
pub(crate) fn is_at(file: &File, there: FileId) -> bool {
    id_of(file).is_ok_and(|id| id == Some(there))
}

/// Whether our stdout or stderr is this regular file.
pub(crate) fn is_output(there: FileId) -> bool {
    let files = [descriptor(io::stdout()), descriptor(io::stderr())];
    files.iter().flatten().any(|file| is_at(file, there))
}

/// Our stdin, where there is one.
pub(crate) fn stdin() -> Option<File> {
    descriptor(io::stdin()).ok()
}

/// That an output took no more. It holds what was written before.
pub(crate) fn unwritten(name: &OsStr, error: &io::Error) -> Failure {
    Failure::io("can not write to", name, error).hint("the output is cut; write it elsewhere")
}

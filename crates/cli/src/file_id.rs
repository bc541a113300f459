//! Which file something is, whatever its name: device and number.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Device and number of a file, pipe or terminal.
pub(crate) type FileId = (u64, u64);

pub(crate) fn file_id(seen: &Metadata) -> FileId {
    (seen.dev(), seen.ino())
}

/// What is open there.
pub(crate) fn seen_at(fd: impl AsFd) -> io::Result<Metadata> {
    File::from(fd.as_fd().try_clone_to_owned()?).metadata()
}

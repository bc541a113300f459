//! Writing to a reader that may be slow or gone, without blocking the run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::fs::{FileType, Mode, OFlags};

use crate::Flow;
use crate::descriptors::polled;

/// What a blocking descriptor is given at once after it was reported writable: a pipe takes this
/// much without blocking (`PIPE_BUF` of Linux).
const PIECE_BYTES: usize = 4096;

/// One output of ours and what is still to be written to it.
///
/// It holds what the sink gave it and has not been written, so a sink that follows
/// [`Flow::Blocked`] makes it hold no more than what one chunk became.
///
/// ```
/// use std::io::Read;
/// use noesc_capture::{Flow, Outlet};
///
/// let (mut reader, writer) = std::io::pipe()?;
/// let mut outlet = Outlet::new(writer.into());
/// outlet.buffer().extend_from_slice(b"hello");
/// assert_eq!(outlet.write(), Flow::Continue);
/// drop(outlet);
/// let mut read = String::new();
/// reader.read_to_string(&mut read)?;
/// assert_eq!(read, "hello");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Outlet {
    fd: OwnedFd,
    mode: WriteMode,
    pending: Vec<u8>,
    written: usize,
    closed: bool,
    failure: Option<io::ErrorKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteMode {
    /// A description of our own that never blocks.
    NonBlocking,
    /// A file: a write never waits for a reader.
    File,
    /// A blocking description that others share: small pieces, each after a poll.
    Pieces,
}

impl Outlet {
    /// An outlet that writes to `fd`.
    ///
    /// The open file description that `fd` shares with other processes is left as it is; for a
    /// pipe or a terminal the outlet opens one of its own that does not block, where the system
    /// lets it.
    #[must_use]
    pub fn new(fd: OwnedFd) -> Self {
        let (fd, mode) = match file_type(&fd) {
            Some(FileType::Fifo) => reopen(fd),
            Some(FileType::CharacterDevice) if rustix::termios::isatty(&fd) => reopen(fd),
            Some(FileType::Socket) | None => (fd, WriteMode::Pieces),
            Some(_) => (fd, WriteMode::File),
        };
        Self { fd, mode, pending: Vec::new(), written: 0, closed: false, failure: None }
    }

    /// An outlet for a duplicate of `fd`.
    ///
    /// # Errors
    /// The descriptor could not be duplicated.
    pub fn duplicate(fd: impl AsFd) -> io::Result<Self> {
        Ok(Self::new(fd.as_fd().try_clone_to_owned()?))
    }

    /// Where to append what is to be written.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Writes these bytes behind what is pending, and keeps what can't be written without waiting.
    /// The same as appending them and [`write`](Self::write), without a copy of what goes out at
    /// once.
    pub fn push(&mut self, bytes: &[u8]) -> Flow {
        if !self.pending.is_empty() {
            self.pending.extend_from_slice(bytes);
            return self.write();
        }
        let mut rest = bytes;
        while !self.closed && !rest.is_empty() {
            match self.write_some(rest) {
                Some(count) => rest = rest.get(count..).unwrap_or_default(),
                None => {
                    self.pending.extend_from_slice(rest);
                    return Flow::Blocked;
                }
            }
        }
        self.flow()
    }

    /// Writes what it can without waiting. [`Flow::Blocked`] when something is left,
    /// [`Flow::Closed`] (now and ever after) when a write failed.
    pub fn write(&mut self) -> Flow {
        let pending = std::mem::take(&mut self.pending);
        while !self.closed && self.written < pending.len() {
            match self.write_some(pending.get(self.written..).unwrap_or_default()) {
                Some(count) => self.written += count,
                None => {
                    self.pending = pending;
                    return Flow::Blocked;
                }
            }
        }
        self.pending = pending;
        self.pending.clear();
        self.written = 0;
        self.flow()
    }

    fn flow(&self) -> Flow {
        if self.closed { Flow::Closed } else { Flow::Continue }
    }

    /// One write, of some of the bytes; `None` when it would wait.
    fn write_some(&mut self, bytes: &[u8]) -> Option<usize> {
        let piece = match self.mode {
            WriteMode::Pieces if polled(&self.fd, PollFlags::OUT).is_empty() => return None,
            WriteMode::Pieces => bytes.get(..PIECE_BYTES).unwrap_or(bytes),
            WriteMode::NonBlocking | WriteMode::File => bytes,
        };
        match rustix::io::write(&self.fd, piece) {
            Ok(count) => Some(count),
            Err(rustix::io::Errno::INTR) => Some(0),
            Err(rustix::io::Errno::AGAIN) => None,
            Err(error) => {
                self.closed = true;
                self.failure = Some(io::Error::from(error).kind());
                Some(0)
            }
        }
    }

    /// Gives up: its reader went away. [`Flow::Closed`] from now on.
    pub fn abandon(&mut self) {
        self.closed = true;
        self.failure.get_or_insert(io::ErrorKind::BrokenPipe);
    }

    /// The descriptor that a poll for writing should wait for.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Why the outlet closed: [`io::ErrorKind::BrokenPipe`] when its reader went away.
    #[must_use]
    pub fn failure(&self) -> Option<io::ErrorKind> {
        self.failure
    }
}

fn file_type(fd: &OwnedFd) -> Option<FileType> {
    rustix::fs::fstat(fd).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Opens what `fd` refers to once more, so that `O_NONBLOCK` is ours alone: set on the shared
/// description it would surprise every other process that writes there.
fn reopen(fd: OwnedFd) -> (OwnedFd, WriteMode) {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(crate::terminal::self_path(&fd), flags, Mode::empty()) {
        Ok(own) => (own, WriteMode::NonBlocking),
        Err(_) => (fd, WriteMode::Pieces),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_finds_no_room_is_kept_and_comes_in_order() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut outlet = Outlet::new(writer.into());
        // More than the pipe takes, twice.
        let pieces = [vec![b'a'; 100_000], vec![b'b'; 100_000]];
        assert_eq!(outlet.push(&pieces[0]), Flow::Blocked);
        assert_eq!(outlet.push(&pieces[1]), Flow::Blocked);
        let reading = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            read
        });
        while outlet.write() == Flow::Blocked {
            std::thread::yield_now();
        }
        assert_eq!(outlet.push(b"end"), Flow::Continue);
        drop(outlet);
        assert!(reading.join().unwrap() == [&pieces[0][..], &pieces[1], b"end"].concat());
    }
}

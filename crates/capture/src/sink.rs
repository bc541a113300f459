//! Where the bytes of a run go.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use crate::{Captured, Survivors};

/// The most bytes that one [`Chunk`] holds: what a Linux pipe holds by default, so that one read
/// empties it.
pub const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// Which of the outputs of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Descriptor 1 of the child.
    Stdout,
    /// Descriptor 2 of the child.
    Stderr,
    /// The descriptor that [`Command::extra_fd`](crate::Command::extra_fd) names.
    Extra,
    /// The terminal that [`Command::terminal`](crate::Command::terminal) asks for.
    Pty,
}

/// What one read returned.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// The place of this chunk in the order in which the collector saw the chunks of *all*
    /// streams, from 0. Nothing is claimed about the order in which they were written.
    pub seq: u64,
    /// The stream that the bytes came from.
    pub stream: Stream,
    /// Offset of the first byte in its stream.
    pub offset: u64,
    /// 1 to [`CHUNK_BYTES_MAX`] bytes.
    pub bytes: &'a [u8],
    /// How many of them, from the first, are to be kept: beyond a limit none are. All were read.
    pub kept: usize,
}

impl<'a> Chunk<'a> {
    /// A chunk of which all is to be kept, for whoever tests a sink.
    #[must_use]
    pub fn new(seq: u64, stream: Stream, offset: u64, bytes: &'a [u8]) -> Self {
        Self { seq, stream, offset, bytes, kept: bytes.len() }
    }
}

/// What a sink says after it was given something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Ready for the next chunk of this stream.
    Continue,
    /// Something is still to be written to [`Sink::blocked_on`]. The stream's pipe is not read
    /// until [`Sink::writable`] says otherwise, so that a slow reader slows the child down.
    Blocked,
    /// Nobody reads this stream any more. Its pipe is closed, so that the child gets `SIGPIPE`;
    /// the run goes on until the child ends. The cut-off is [`Cutoff::Caller`].
    ///
    /// [`Cutoff::Caller`]: crate::Cutoff::Caller
    Closed,
}

/// Takes the bytes of a run.
///
/// A sink that writes somewhere that may be slow keeps what it could not write, answers
/// [`Flow::Blocked`] and names the descriptor that it waits for (an [`Outlet`] does all of this):
/// then signals are passed on, deadlines kept and the other stream read meanwhile. A sink may also
/// block inside of [`Sink::chunk`]; then everything waits for it, the other stream and signals
/// included.
///
/// [`Outlet`]: crate::Outlet
pub trait Sink {
    /// Takes what one read returned, at once after it was read.
    fn chunk(&mut self, chunk: Chunk<'_>) -> Flow;

    /// Learns that no chunk of `stream` follows. Called exactly once per stream of a process that
    /// was started, also after [`Flow::Closed`]; never when the process could not be started.
    fn end(&mut self, stream: Stream, end: crate::End) -> Flow;

    /// What the sink writes `stream` to. While the last answer for the stream was
    /// [`Flow::Blocked`], it must become writable before the stream goes on; with `None` the sink
    /// is simply tried again every 10 ms. Otherwise it tells that its reader went away, even when
    /// there is nothing to write.
    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        let _ = stream;
        None
    }

    /// Learns that nobody reads any more what [`Sink::blocked_on`] names, and that the pipe of
    /// `stream` is closed for it.
    fn abandoned(&mut self, stream: Stream) {
        let _ = stream;
    }

    /// Writes more of what is left of `stream`. Called only after [`Flow::Blocked`].
    fn writable(&mut self, stream: Stream) -> Flow {
        let _ = stream;
        Flow::Continue
    }

    /// What is to be typed into the terminal of the child now. Asked after each chunk of
    /// [`Stream::Pty`]; what a child does not read is dropped beyond 4 KiB.
    fn typed(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// When [`Sink::wake`] is to be called, if nothing comes before.
    fn wake_at(&self) -> Option<Instant> {
        None
    }

    /// The time that [`Sink::wake_at`] named is here.
    fn wake(&mut self) {}

    /// The process was started: what is known of the run so far.
    fn started(&mut self, so_far: &Captured) {
        let _ = so_far;
    }

    /// Learns, when the run is over, that processes of the tree outlive it. The number of bytes
    /// that they print from now on is written into the file that it gives, in
    /// [`COUNT_DIGITS`](crate::COUNT_DIGITS) digits and a line end, and the one who does that
    /// holds the file's lock until the last of them has ended.
    fn outlived(&mut self, survivors: &Survivors) -> Option<OwnedFd> {
        let _ = survivors;
        None
    }
}

//! Where the bytes of a run go.

use std::os::fd::BorrowedFd;

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

    /// The descriptor that must become writable before `stream` goes on. Asked only while the last
    /// answer for the stream was [`Flow::Blocked`]; with `None` the sink is simply tried again
    /// every 10 ms.
    fn blocked_on(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        let _ = stream;
        None
    }

    /// Writes more of what is left of `stream`. Called only after [`Flow::Blocked`].
    fn writable(&mut self, stream: Stream) -> Flow {
        let _ = stream;
        Flow::Continue
    }
}

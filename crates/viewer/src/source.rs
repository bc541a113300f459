//! Reads of one stream.

use std::io;
use std::ops::Range;

use crate::original::Original;

/// Bytes asked for at once.
pub(crate) const READ_BYTES_MAX: usize = 256 * 1024;

/// Bytes of a stream that are shown: so many that no sum of offsets overflows.
pub(crate) const STREAM_BYTES_MAX: u64 = 1 << 62;

/// One stream of an original.
pub(crate) struct Source<'a> {
    original: &'a mut dyn Original,
    stream: usize,
    bytes: u64,
}

impl<'a> Source<'a> {
    pub(crate) fn new(original: &'a mut dyn Original, stream: usize) -> Self {
        let bytes = original.streams().get(stream).map_or(0, |of| of.bytes);
        let bytes = bytes.min(STREAM_BYTES_MAX);
        Self { original, stream, bytes }
    }

    /// The length that the stream is said to have.
    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    /// Some bytes of a range, at least one unless the range is empty or lies behind the end, and
    /// at most [`READ_BYTES_MAX`].
    pub(crate) fn some(&mut self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let end = range.end.min(self.bytes);
        let wanted = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; wanted.min(READ_BYTES_MAX)];
        if buffer.is_empty() {
            return Ok(buffer);
        }
        loop {
            match self.original.read_at(self.stream, range.start, &mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => return Err(ended_early(range.start)),
                Ok(read) => {
                    buffer.truncate(read);
                    return Ok(buffer);
                }
            }
        }
    }

    /// All bytes of a range, but for those behind the end. Meant for short ranges.
    pub(crate) fn all(&mut self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let piece = self.some(range.start + bytes.len() as u64..range.end)?;
            if piece.is_empty() {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&piece);
        }
    }
}

fn ended_early(at: u64) -> io::Error {
    let message = format!("the stream ends at byte {at}, before its length");
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

//! The bytes of one file, as often as they are wanted and never more than a chunk of them at once.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};

use noesc_session::Decoder;

/// Files up to this size are read whole. Larger ones are read in chunks, once for each question
/// that is put to them, so that a thread holds no more than this of any file.
pub(super) const WHOLE_BYTES_MAX: usize = 1 << 20;

/// Bytes of a larger file in one chunk.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

/// Where a NUL makes a file binary, as for git and grep.
pub(super) const SNIFF_BYTES: usize = 8 * 1024;

/// What a file was read into; used again for the next one.
#[derive(Default)]
pub(super) struct Buffer(Vec<u8>);

/// The bytes of one file.
pub(super) struct Source<'a> {
    bytes: Bytes<'a>,
    /// The label of the encoding that a BOM declares; offsets are then into the decoded text.
    pub(super) decoded: Option<&'static str>,
    /// Bytes read at the first pass.
    pub(super) len: u64,
}

enum Bytes<'a> {
    Whole(&'a [u8]),
    Large(&'a File, &'a mut [u8]),
}

impl<'a> Source<'a> {
    /// Reads a file whole, or finds that it is too large for that. `expected` is its length as the
    /// file system knows it; files of the process file system are longer.
    pub(super) fn read(
        mut file: &'a File,
        expected: u64,
        buffer: &'a mut Buffer,
    ) -> io::Result<Self> {
        let Buffer(buffer) = buffer;
        let wanted = usize::try_from(expected).unwrap_or(usize::MAX);
        if wanted <= WHOLE_BYTES_MAX
            && let Some(len) = read_whole(&mut file, wanted, buffer)?
        {
            return Ok(Self::whole(&buffer[..len]));
        }
        file.rewind()?;
        buffer.resize(buffer.len().max(CHUNK_BYTES), 0);
        Ok(Self::of(Bytes::Large(file, &mut buffer[..CHUNK_BYTES]), expected))
    }

    /// Bytes that are there already.
    pub(super) fn whole(bytes: &'a [u8]) -> Self {
        Self::of(Bytes::Whole(bytes), bytes.len() as u64)
    }

    fn of(bytes: Bytes<'a>, len: u64) -> Self {
        Self { bytes, decoded: None, len }
    }

    /// The first bytes, to tell what it is.
    pub(super) fn head(&mut self) -> io::Result<&[u8]> {
        match &mut self.bytes {
            Bytes::Whole(bytes) => Ok(&bytes[..bytes.len().min(SNIFF_BYTES)]),
            Bytes::Large(file, chunk) => {
                file.rewind()?;
                let n = fill(file, &mut chunk[..SNIFF_BYTES])?;
                Ok(&chunk[..n])
            }
        }
    }

    /// Gives all of it, from the start, as raw bytes or as decoded text. Ends early when `take`
    /// returns false.
    pub(super) fn chunks(&mut self, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
        let Some(label) = self.decoded else { return self.raw(take).map(drop) };
        let Ok(Some(mut decoder)) = Decoder::for_label(label) else { return Ok(()) };
        let mut text = Vec::new();
        let all = self.raw(&mut |chunk| {
            // In pieces, so that the text of a whole file isn't held as well.
            chunk.chunks(CHUNK_BYTES).all(|piece| {
                text.clear();
                decoder.push(piece, &mut text);
                take(&text)
            })
        })?;
        if all {
            text.clear();
            decoder.finish(&mut text);
            take(&text);
        }
        Ok(())
    }

    /// Whether the end was reached.
    fn raw(&mut self, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        match &mut self.bytes {
            Bytes::Whole(bytes) => Ok(take(bytes)),
            Bytes::Large(file, chunk) => {
                file.rewind()?;
                let mut len = 0;
                loop {
                    let n = fill(file, chunk)?;
                    len += n as u64;
                    if n == 0 {
                        self.len = len;
                        return Ok(true);
                    }
                    if !take(&chunk[..n]) {
                        return Ok(false);
                    }
                }
            }
        }
    }
}

/// Reads to the end and gives the length, or `None` when there is more than is read whole.
fn read_whole(file: &mut &File, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    // One byte more than there should be tells that there is more.
    let mut room = (wanted + 1).max(4096);
    let mut filled = 0;
    while filled <= WHOLE_BYTES_MAX {
        if buffer.len() < room {
            buffer.resize(room, 0);
        }
        let n = read(file, &mut buffer[filled..room])?;
        filled += n;
        if n == 0 || filled == wanted {
            return Ok(Some(filled));
        }
        if filled == room {
            room = WHOLE_BYTES_MAX + 1;
        }
    }
    Ok(None)
}

fn read(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(to) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Fills the chunk as far as the file goes.
fn fill(from: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match read(from, &mut chunk[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Whether a file of this length, which the file system knows as `expected`, is read whole.
    fn is_whole(len: usize, expected: u64) -> bool {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let mut buffer = Buffer::default();
        let mut source = Source::read(&file, expected, &mut buffer).unwrap();
        assert_eq!(source.head().unwrap(), &bytes[..len.min(SNIFF_BYTES)]);
        let mut read = Vec::new();
        source
            .chunks(&mut |chunk| {
                read.extend_from_slice(chunk);
                true
            })
            .unwrap();
        assert!(read == bytes, "{len}, expected {expected}");
        assert_eq!(source.len, len as u64);
        matches!(source.bytes, Bytes::Whole(_))
    }

    #[test]
    fn what_is_larger_than_the_limit_is_read_in_chunks() {
        assert!(is_whole(WHOLE_BYTES_MAX - 1, WHOLE_BYTES_MAX as u64 - 1));
        assert!(is_whole(WHOLE_BYTES_MAX, WHOLE_BYTES_MAX as u64));
        assert!(!is_whole(WHOLE_BYTES_MAX + 1, WHOLE_BYTES_MAX as u64 + 1));
    }

    #[test]
    fn a_length_that_is_wrong_costs_nothing_of_the_file() {
        for len in [0, 1, 4095, 4096, 4097, 100_000, WHOLE_BYTES_MAX] {
            assert!(is_whole(len, 0), "{len}");
            // One more than is read whole is what the file system says of the last.
            assert_eq!(is_whole(len, len as u64 + 1), len < WHOLE_BYTES_MAX, "{len}");
        }
        assert!(!is_whole(WHOLE_BYTES_MAX + 1, 0));
        assert!(!is_whole(10, u64::MAX));
    }
}

//! The part of a stream that is on the screen.

use std::io;
use std::ops::Range;

use crate::index::{Index, Pieces};
use crate::piece::Piece;
use crate::source::Source;

/// Bytes that were read for the screen, and what they are.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// What was asked for.
    pub(crate) wanted: Range<u64>,
    pub(crate) stream: usize,
    /// From the beginning of `wanted`; fewer where they could not be read.
    pub(crate) bytes: Vec<u8>,
    pub(crate) pieces: Pieces,
    /// It could be exact once more was read.
    pub(crate) read_up_to: u64,
    pub(crate) error: Option<io::Error>,
}

impl Page {
    pub(crate) fn read(
        source: &mut Source<'_>,
        index: &mut Index,
        stream: usize,
        wanted: Range<u64>,
    ) -> Self {
        let mut page = Self { wanted: wanted.clone(), stream, ..Self::default() };
        loop {
            match source.some(wanted.start + page.bytes.len() as u64..wanted.end) {
                Ok(piece) if piece.is_empty() => break,
                Ok(piece) => page.bytes.extend_from_slice(&piece),
                Err(error) => {
                    page.error = Some(error);
                    break;
                }
            }
        }
        let end = wanted.start + page.bytes.len() as u64;
        match index.pieces(source, wanted.start, end) {
            Ok(pieces) => page.pieces = pieces,
            Err(error) => page.error = Some(error),
        }
        page.read_up_to = index.read_up_to();
        page
    }

    /// The bytes from an offset on, at most so many.
    pub(crate) fn row(&self, at: u64, length: usize) -> &[u8] {
        let from = usize::try_from(at.saturating_sub(self.wanted.start)).unwrap_or(usize::MAX);
        let from = from.min(self.bytes.len());
        &self.bytes[from..(from + length).min(self.bytes.len())]
    }

    /// The piece that a byte belongs to.
    pub(crate) fn piece(&self, at: u64) -> Option<&Piece> {
        let list = &self.pieces.list;
        let after = list.partition_point(|piece| piece.tile.start <= at);
        list[..after].last().filter(|piece| piece.tile.contains(&at))
    }
}

//! UTF-8 across chunks, for the form that lets everything pass.

use crate::sheet::{Sheet, Written};
use crate::span::SpanReceiver;

/// The bytes of a character that a chunk border cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lossy {
    cut: Vec<u8>,
}

impl Lossy {
    pub(crate) fn push<S: SpanReceiver>(
        &mut self,
        chunk: &[u8],
        at: u64,
        written: &mut Written,
        to: &mut Sheet<'_, S>,
    ) {
        let mut from = at - self.cut.len() as u64;
        let mut bytes = std::mem::take(&mut self.cut);
        bytes.extend_from_slice(chunk);
        let whole = whole_prefix(&bytes);
        self.cut = bytes.split_off(whole);
        for piece in bytes.utf8_chunks() {
            let valid = piece.valid();
            if !valid.is_empty() {
                written.kept(from, valid, to);
                from += valid.len() as u64;
            }
            let invalid = piece.invalid().len() as u64;
            if invalid > 0 {
                written.replaced(from, invalid, "\u{FFFD}", to);
                from += invalid;
            }
        }
        self.cut.shrink_to(4);
    }

    pub(crate) fn finish<S: SpanReceiver>(
        &mut self,
        at: u64,
        written: &mut Written,
        to: &mut Sheet<'_, S>,
    ) {
        let cut = std::mem::take(&mut self.cut);
        if !cut.is_empty() {
            written.replaced(at - cut.len() as u64, cut.len() as u64, "\u{FFFD}", to);
        }
    }
}

/// Length without a character at the end that more bytes could complete.
fn whole_prefix(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    for at in start..bytes.len() {
        let tail = &bytes[at..];
        if let Err(error) = std::str::from_utf8(tail)
            && error.valid_up_to() == 0
            && error.error_len().is_none()
        {
            return at;
        }
    }
    bytes.len()
}

//! A stretch of a chunk of which nothing but the obvious is to be said.

use crate::masks::{self, BLOCK, BLOCKS, Masks, Words};
use crate::path::{Path, in_use};
use crate::swar;

/// Bytes of one stretch: what was found of it is still in the nearest cache when it is written.
pub const STRETCH_BYTES_MAX: usize = BLOCK * BLOCKS;

/// The head of a chunk, as far as every byte of it is one of these:
///
/// * *text*: 20–7E, TAB, LF, and well-formed characters from U+00A0 on; some of them are special,
///   neither bases (see [`noesc_text::is_base`]) nor kept where they stand, whatever is before
///   their neighbours (see [`noesc_text::is_at_home`]);
/// * a CR;
/// * part of an ESC or of `ESC [` and parameters that an ESC or a byte from 80 on cuts short;
/// * part of a complete `ESC [`, parameters, final byte: nothing else inside, and shorter than
///   every limit. It is *plain* when it is SGR that sets neither a background nor conceal, in any
///   reading, or EL without a private marker; the others are odd, and so may be some that are
///   neither.
///
/// ```
/// use noesc_scan::Stretch;
///
/// let stretch = Stretch::of(b"a\x1b[31mred\x1b[0m\x1b]0;title\x07");
/// let mut text = String::new();
/// stretch.append_to(&mut text);
/// assert_eq!((stretch.len(), stretch.sequences(), text.as_str()), (13, 2, "ared"));
/// ```
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    raw: &'a [u8],
    masks: Masks,
    /// CRs that become LF: set in `masks.text` too.
    line_ends: Words,
    any_line_end: bool,
}

/// A piece of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, as long as it goes.
    Text(&'a str),
    /// A CR.
    Cr,
    /// A control sequence that was cut short: an ESC, or `ESC [` and parameters.
    Aborted(&'a [u8]),
    /// A complete control sequence.
    Sequence {
        /// Its bytes.
        bytes: &'a [u8],
        /// It is plain.
        is_plain: bool,
    },
}

/// A run of sequences that were cut short, each by the next one but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted {
    /// Where the first one begins.
    pub start: usize,
    /// Behind the last one.
    pub end: usize,
    /// How many there are.
    pub count: u32,
    /// How many of them are an ESC alone.
    pub escapes: u32,
}

impl<'a> Stretch<'a> {
    /// The stretch at the head of these bytes, of at most [`STRETCH_BYTES_MAX`]; empty when the
    /// first one is for the rows. What an end of the bytes cuts is not part of it.
    #[must_use]
    #[inline]
    pub fn of(raw: &'a [u8]) -> Self {
        let mut stretch =
            Self { raw, masks: Masks::NONE, line_ends: [0; BLOCKS], any_line_end: false };
        match in_use() {
            Path::Rows => {}
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => crate::x86::fill_avx512(raw, &mut stretch.masks),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => crate::x86::fill_avx2(raw, &mut stretch.masks),
            _ => swar::fill(raw, &mut stretch.masks),
        }
        stretch.raw = &raw[..stretch.masks.len];
        stretch
    }

    /// Bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.masks.len
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.masks.len == 0
    }

    /// The bytes.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// How many sequences it holds.
    #[must_use]
    pub fn sequences(&self) -> usize {
        self.count(&self.masks.ends)
    }

    /// How many of these are EL.
    #[must_use]
    pub fn erases(&self) -> usize {
        self.count(&self.masks.erases)
    }

    /// The last byte of the first EL that ends at `from` or later.
    #[must_use]
    pub fn next_erase(&self, from: usize) -> Option<usize> {
        masks::next(&self.masks.erases, from)
    }

    /// Whether an EL ends at `end`.
    #[must_use]
    pub fn is_erase(&self, end: usize) -> bool {
        masks::is_set(&self.masks.erases, end)
    }

    /// Whether it holds a sequence that is odd.
    #[must_use]
    pub fn has_odd(&self) -> bool {
        self.masks.any_odd
    }

    /// Whether it holds a sequence that was cut short.
    #[must_use]
    pub fn has_aborted(&self) -> bool {
        self.masks.any_abort
    }

    /// The first run at `from` or later of sequences cut short, with nothing between them.
    #[must_use]
    pub fn next_aborted(&self, from: usize) -> Option<Aborted> {
        let first = masks::next(&self.masks.aborts, from)?;
        let start = first + 1 - self.sequence(first).len();
        // What is behind them is text, a CR, or a complete sequence with an end of its own.
        let mut end = masks::next(&self.masks.text, first).unwrap_or(self.len());
        for words in [&self.masks.ends, &self.masks.crs] {
            end = masks::next(words, first).unwrap_or(end).min(end);
        }
        let last = masks::last(&self.masks.aborts, end).unwrap_or(first);
        Some(Aborted {
            start,
            end: last + 1,
            count: masks::count(&self.masks.aborts, start, last + 1),
            escapes: masks::count(&self.masks.aborted_escapes, start, last + 1),
        })
    }

    /// Whether it holds a CR.
    #[must_use]
    pub fn has_cr(&self) -> bool {
        self.masks.any_cr
    }

    /// The last byte of the first sequence that ends at `from` or later; of the first odd one.
    #[must_use]
    pub fn next_end(&self, from: usize, odd: bool) -> Option<usize> {
        masks::next(if odd { &self.masks.odd } else { &self.masks.ends }, from)
    }

    /// The last byte of the last plain style that ends before `to`.
    #[must_use]
    pub fn last_style(&self, to: usize) -> Option<usize> {
        let Masks { ends, erases, odd, .. } = &self.masks;
        let to = to.min(self.len());
        (0..to.div_ceil(BLOCK)).rev().find_map(|block| {
            let reach = (to - block * BLOCK).min(BLOCK);
            let styles = ends[block] & !erases[block] & !odd[block] & (!0 >> (BLOCK - reach));
            (styles != 0).then(|| block * BLOCK + 63 - styles.leading_zeros() as usize)
        })
    }

    /// The place of the first CR at `from` or later, unless it became a line end.
    #[must_use]
    pub fn next_cr(&self, from: usize) -> Option<usize> {
        masks::next(&self.masks.crs, from)
    }

    /// The place of the first byte of text, or of a line end that was a CR, at `from` or later.
    #[must_use]
    pub fn next_text(&self, from: usize) -> Option<usize> {
        masks::next(&self.masks.text, from)
    }

    /// The place of the last byte of text before `to`, a line end that was a CR included.
    #[must_use]
    pub fn last_text(&self, to: usize) -> Option<usize> {
        masks::last(&self.masks.text, to)
    }

    /// The sequence whose last byte is at `end`.
    #[must_use]
    pub fn sequence(&self, end: usize) -> &'a [u8] {
        let bytes = &self.raw[..=end];
        let start = bytes.iter().rposition(|&b| b == 0x1B).unwrap_or(end);
        &bytes[start..]
    }

    /// Ends it before `len`, which is the border of a piece; within a character it is the beginning
    /// of that.
    pub fn cut(&mut self, len: usize) {
        let mut len = len.min(self.masks.len);
        while len > 0 && self.raw.get(len).is_some_and(|b| (0x80..0xC0).contains(b)) {
            len -= 1;
        }
        self.masks.cut(len);
        for (line_ends, text) in self.line_ends.iter_mut().zip(self.masks.text) {
            *line_ends &= text;
        }
        self.raw = &self.raw[..len];
    }

    /// Makes each CR a line end that stands directly behind text and, sequences aside, before text,
    /// no LF among it, and passes over each before an LF. Gives how many it made.
    pub fn end_lines(&mut self) -> usize {
        let mut made = 0;
        for block in 0..self.len().div_ceil(BLOCK) {
            let mut rest = self.masks.crs[block];
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                rest &= rest - 1;
                let at = block * BLOCK + bit.trailing_zeros() as usize;
                let Some(&[before, _, after]) = at
                    .checked_sub(1)
                    .and_then(|before| self.raw.get(before..before + 3))
                    .and_then(|three| three.first_chunk())
                else {
                    continue;
                };
                let mut after = after;
                if !masks::is_set(&self.masks.text, at + 1) {
                    // Sequences may stand between, but no other CR.
                    let text = masks::next(&self.masks.text, at + 1);
                    let cr = masks::next(&self.masks.crs, at + 1);
                    match text {
                        Some(text) if cr.is_none_or(|cr| cr > text) => after = self.raw[text],
                        _ => continue,
                    }
                }
                if after == b'\n' {
                    self.masks.crs[block] &= !bit;
                } else if before != b'\n' && masks::is_set(&self.masks.text, at - 1) {
                    self.masks.crs[block] &= !bit;
                    self.masks.text[block] |= bit;
                    self.line_ends[block] |= bit;
                    made += 1;
                }
            }
        }
        self.any_line_end |= made > 0;
        made
    }

    /// Makes the CR at `at` a line end: an LF stands in its place.
    pub fn end_line(&mut self, at: usize) {
        if self.raw.get(at) == Some(&b'\r') {
            let bit = 1 << (at % BLOCK);
            self.masks.crs[at / BLOCK] &= !bit;
            self.masks.text[at / BLOCK] |= bit;
            self.line_ends[at / BLOCK] |= bit;
            self.any_line_end = true;
        }
    }

    /// Bytes of text, line ends that were CRs included.
    #[must_use]
    pub fn text_len(&self) -> usize {
        self.count(&self.masks.text)
    }

    /// How many CRs became line ends.
    #[must_use]
    pub fn line_ends(&self) -> usize {
        if self.any_line_end { self.count(&self.line_ends) } else { 0 }
    }

    /// Appends the text.
    pub fn append_to(&self, to: &mut String) {
        // SAFETY: what is written is whole well-formed characters: the text of a stretch is found
        // to be so, a cut is at the border of a character, and an LF takes the place of a CR.
        let bytes = unsafe { to.as_mut_vec() };
        let line_ends = self.any_line_end.then_some(&self.line_ends);
        match in_use() {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => {
                crate::x86::compress_avx512(self.raw, &self.masks.text, line_ends, bytes);
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => crate::x86::compress_avx2(self.raw, &self.masks.text, line_ends, bytes),
            _ => swar::compress(self.raw, &self.masks.text, line_ends, bytes),
        }
    }

    /// Whether it holds a character that is to be judged.
    #[must_use]
    pub fn has_special(&self) -> bool {
        self.masks.any_special
    }

    /// The place of the first character at `from` or later that is to be judged.
    #[must_use]
    pub fn next_special(&self, from: usize) -> Option<usize> {
        masks::next(&self.masks.special, from)
    }

    /// The text directly before `at`, which is the border of a character, up to what is no text and
    /// at most 64 bytes of it, and its place. A line end that was a CR is no text here.
    #[must_use]
    pub fn run_before(&self, at: usize) -> (usize, &'a str) {
        let at = at.min(self.len());
        let mut start = at - masks::run_before(&self.masks.text, at).min(at);
        if self.any_line_end {
            start = start.max(masks::last(&self.line_ends, at).map_or(0, |last| last + 1));
        }
        while start < at && self.raw.get(start).is_some_and(|b| (0x80..0xC0).contains(b)) {
            start += 1;
        }
        (start, self.text(start, at))
    }

    /// The text from `at` on, which is the border of a character, up to what is no text.
    #[must_use]
    pub fn run_from(&self, at: usize) -> &'a str {
        let mut end = masks::next_clear(&self.masks.text, at).min(self.len());
        if self.any_line_end {
            end = end.min(masks::next(&self.line_ends, at).unwrap_or(end));
        }
        self.text(at, end)
    }

    /// A run of text, or nothing where its ends are within characters.
    fn text(&self, from: usize, to: usize) -> &'a str {
        let bytes = self.raw.get(from..to).unwrap_or_default();
        let cuts = |at: usize| self.raw.get(at).is_some_and(|b| (0x80..0xC0).contains(b));
        if bytes.is_empty() || cuts(from) || cuts(to) {
            return "";
        }
        debug_assert!(str::from_utf8(bytes).is_ok());
        // SAFETY: a run of text in a stretch is whole well-formed characters; see `append_to`. Both
        // ends are borders of characters.
        unsafe { str::from_utf8_unchecked(bytes) }
    }

    /// How many bits of the words of its bytes are set.
    fn count(&self, words: &Words) -> usize {
        let words = &words[..self.len().div_ceil(BLOCK)];
        match in_use() {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 | Path::Avx2 => crate::x86::count(words),
            _ => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Its pieces, in order, each with its place.
    #[must_use]
    pub fn pieces(&self) -> Pieces<'_, 'a> {
        Pieces { stretch: self, at: 0 }
    }
}

/// Bytes of room behind what is appended that vector code may write to: who reserves as much more
/// than the length of the input spares a reallocation.
pub const SLACK: usize = 64;

/// The pieces of a stretch; see [`Stretch::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'s, 'a> {
    stretch: &'s Stretch<'a>,
    at: usize,
}

impl<'a> Iterator for Pieces<'_, 'a> {
    type Item = (usize, Piece<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let Stretch { raw, masks, .. } = self.stretch;
        let at = self.at;
        let first = *raw.get(at)?;
        if masks::is_set(&masks.text, at) {
            self.at = masks::next_clear(&masks.text, at).min(raw.len());
            return Some((at, Piece::Text(self.stretch.text(at, self.at))));
        }
        if first == b'\r' {
            self.at += 1;
            return Some((at, Piece::Cr));
        }
        let end = masks::next(&masks.ends, at).unwrap_or(raw.len());
        if let Some(abort) = masks::next(&masks.aborts, at).filter(|&abort| abort < end) {
            self.at = abort + 1;
            return Some((at, Piece::Aborted(&raw[at..=abort])));
        }
        if end == raw.len() {
            return None;
        }
        let is_plain = !masks::is_set(&masks.odd, end);
        self.at = end + 1;
        Some((at, Piece::Sequence { bytes: &raw[at..=end], is_plain }))
    }
}

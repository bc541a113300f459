//! The scan of any processor: what it has no vectors for, it finds sequence by sequence.

use crate::masks::{Masks, Words, below, next, next_clear, set, set_run};
use crate::screen::{Found, find, without_joiner};
use crate::stretch::STRETCH_BYTES_MAX;

/// Parameters of a sequence that is taken here; the rows take longer ones.
const PARAMETERS_MAX: usize = 64;

/// Bytes compared at once.
const STEP: usize = 32;

/// Whether a byte is text of its own: TAB, LF, 20–7E.
const fn is_ascii_text(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x0A | 0x20..=0x7E)
}

/// How many bytes of ASCII text there are.
#[inline]
fn ascii_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(word) = bytes.get(len..).and_then(|rest| rest.first_chunk()) {
        let others = others(u64::from_le_bytes(*word));
        if others != 0 {
            return len + others.trailing_zeros() as usize / 8;
        }
        len += 8;
        if len == STEP {
            // Long text. No early exit within a block, so that it becomes vector code where there
            // are vectors.
            let blocks = bytes[len..].chunks_exact(STEP);
            let is_text = |block: &&[u8]| block.iter().fold(true, |all, &b| all & is_ascii_text(b));
            len += STEP * blocks.take_while(is_text).count();
        }
    }
    len + bytes[len..].iter().take_while(|&&b| is_ascii_text(b)).count()
}

/// The highest bit of each byte of a word that is not 20–7E, TAB or LF.
#[inline]
const fn others(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7F * ONES;
    // The highest bit of each byte that is zero: no sum carries into the next one.
    const fn zeros(word: u64) -> u64 {
        !((word & LOW).wrapping_add(LOW) | word | LOW)
    }
    let below = zeros(word & (0xE0 * ONES));
    let tab_lf = zeros(word ^ (0x09 * ONES)) | zeros(word ^ (0x0A * ONES));
    let del = zeros(word ^ LOW);
    word & !LOW | below & !tab_lf | del
}

/// How many bytes of text there are at `at`: ASCII text and whole characters that are kept.
pub(crate) fn text_len(raw: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        end += ascii_len(&raw[end..]);
        let begin = end;
        while raw.get(end).is_some_and(|byte| *byte >= 0x80) {
            match find(raw, end) {
                Found::Text(len) => end += len,
                _ => return end - at,
            }
        }
        if end == begin {
            return end - at;
        }
    }
}

/// Where the text ends that goes on at `from`.
pub(crate) fn text(raw: &[u8], from: usize) -> usize {
    without_joiner(raw, from + text_len(raw, from))
}

/// Finds a stretch at the head of `raw`.
pub(crate) fn fill(raw: &[u8], masks: &mut Masks) {
    let whole = raw;
    let raw = &raw[..raw.len().min(STRETCH_BYTES_MAX)];
    let mut at = 0;
    while at < raw.len() {
        let text = text_len(raw, at);
        set_run(&mut masks.text, at, at + text);
        at += text;
        match raw.get(at) {
            Some(b'\r') => {
                masks.any_cr = true;
                set(&mut masks.crs, at);
                at += 1;
            }
            Some(0x1B) => {
                let Some((len, found)) = sequence(&raw[at..]) else { break };
                at += len;
                masks.any_odd |= found == Sequence::Odd;
                masks.any_abort |= matches!(found, Sequence::Aborted | Sequence::AbortedEscape);
                let (first, second) = match found {
                    Sequence::Style => (&mut masks.ends, None),
                    Sequence::Erase => (&mut masks.ends, Some(&mut masks.erases)),
                    Sequence::Odd => (&mut masks.ends, Some(&mut masks.odd)),
                    Sequence::Aborted => (&mut masks.aborts, None),
                    Sequence::AbortedEscape => {
                        (&mut masks.aborts, Some(&mut masks.aborted_escapes))
                    }
                };
                set(first, at - 1);
                if let Some(words) = second {
                    set(words, at - 1);
                }
            }
            Some(_) => match find(raw, at) {
                Found::Special(len) => {
                    masks.any_special = true;
                    set(&mut masks.special, at);
                    set_run(&mut masks.text, at, at + len);
                    at += len;
                }
                _ => break,
            },
            None => break,
        }
    }
    masks.len = at;
    masks.cut(without_joiner(whole, at));
}

/// What a control sequence is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    Style,
    Erase,
    Odd,
    Aborted,
    AbortedEscape,
}

/// The length of the control sequence at the head of these bytes, which begin with ESC, and what it
/// is. `None`: it is another sequence, or its end is not here.
fn sequence(bytes: &[u8]) -> Option<(usize, Sequence)> {
    match *bytes {
        // What most sequences are: nothing, one digit, or two that begin no 4x, 8x or 10.
        [_, b'[', b'm', ..] => return Some((3, Sequence::Style)),
        [_, b'[', b'K', ..] => return Some((3, Sequence::Erase)),
        [_, b'[', b'0'..=b'3' | b'5'..=b'7' | b'9', b'm', ..] => {
            return Some((4, Sequence::Style));
        }
        [_, b'[', b'2' | b'3' | b'5'..=b'7' | b'9', b'0'..=b'9', b'm', ..] => {
            return Some((5, Sequence::Style));
        }
        [_, b'[', ..] => {}
        [_, 0x1B | 0x80.., ..] => return Some((1, Sequence::AbortedEscape)),
        _ => return None,
    }
    let mut hides = false;
    // Where a parameter begins; where it does but for a zero; after a 1 in either place.
    let (mut token, mut behind_zero, mut behind_one) = (true, false, false);
    let bytes = &bytes[..bytes.len().min(PARAMETERS_MAX + 3)];
    for (i, &byte) in bytes.iter().enumerate().skip(2) {
        match byte {
            b'0'..=b'9' => {
                hides |= (token || behind_zero) && matches!(byte, b'4' | b'8');
                hides |= (behind_zero || behind_one) && byte == b'0';
                (token, behind_zero, behind_one) =
                    (false, token && byte == b'0', (token || behind_zero) && byte == b'1');
            }
            b':' | b';' => (token, behind_zero, behind_one) = (true, false, false),
            b'<'..=b'?' => hides = true,
            b'm' if !hides => return Some((i + 1, Sequence::Style)),
            b'K' if !hides => return Some((i + 1, Sequence::Erase)),
            0x40..=0x7E => return Some((i + 1, Sequence::Odd)),
            0x1B | 0x80.. => return Some((i, Sequence::Aborted)),
            _ => return None,
        }
    }
    None
}

/// Appends the bytes of `raw` that are in `text`, run by run; an LF for those in `line_ends`.
pub(crate) fn compress(raw: &[u8], text: &Words, line_ends: Option<&Words>, to: &mut Vec<u8>) {
    let (mut at, begin) = (0, to.len());
    while let Some(from) = next(text, at) {
        at = next_clear(text, from).min(raw.len());
        match raw[from..].first_chunk::<16>() {
            // A copy of a size that is known is a few instructions.
            Some(run) if at - from <= run.len() => {
                let len = to.len() + at - from;
                to.extend_from_slice(run);
                to.truncate(len);
            }
            _ => to.extend_from_slice(&raw[from..at]),
        }
    }
    let Some(line_ends) = line_ends else { return };
    let mut before = begin;
    for (word, &line_ends) in text.iter().zip(line_ends) {
        let mut rest = line_ends;
        while rest != 0 {
            let bit = rest.trailing_zeros() as usize;
            to[before + (word & below(bit)).count_ones() as usize] = b'\n';
            rest &= rest - 1;
        }
        before += word.count_ones() as usize;
    }
}

//! The scan of any processor: what it has no vectors for, it finds sequence by sequence.

use crate::masks::{Masks, Words, below, next, next_clear, set_run};
use crate::screen::{base_len, special_len};
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
    for block in bytes.chunks_exact(STEP) {
        // No early exit within a block, so that it becomes vector code where there are vectors.
        if !block.iter().fold(true, |all, &b| all & is_ascii_text(b)) {
            break;
        }
        len += STEP;
    }
    len + bytes[len..].iter().take_while(|&&b| is_ascii_text(b)).count()
}

/// How many bytes of text there are: ASCII text and whole bases.
pub(crate) fn text_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    loop {
        len += ascii_len(&bytes[len..]);
        match base_len(&bytes[len..]) {
            0 => return len,
            n => len += n,
        }
    }
}

/// Finds a stretch at the head of `raw`.
pub(crate) fn fill(raw: &[u8], masks: &mut Masks) {
    let raw = &raw[..raw.len().min(STRETCH_BYTES_MAX)];
    let mut at = 0;
    while at < raw.len() {
        let text = text_len(&raw[at..]);
        set_run(&mut masks.text, at, at + text);
        at += text;
        match raw.get(at) {
            Some(b'\r') => {
                masks.any_cr = true;
                set_run(&mut masks.crs, at, at + 1);
                at += 1;
            }
            Some(0x1B) => {
                let Some((len, found)) = sequence(&raw[at..]) else { break };
                at += len;
                masks.any_odd |= found == Found::Odd;
                masks.any_abort |= matches!(found, Found::Aborted | Found::AbortedEscape);
                let (first, second) = match found {
                    Found::Style => (&mut masks.ends, None),
                    Found::Erase => (&mut masks.ends, Some(&mut masks.erases)),
                    Found::Odd => (&mut masks.ends, Some(&mut masks.odd)),
                    Found::Aborted => (&mut masks.aborts, None),
                    Found::AbortedEscape => (&mut masks.aborts, Some(&mut masks.aborted_escapes)),
                };
                set_run(first, at - 1, at);
                if let Some(words) = second {
                    set_run(words, at - 1, at);
                }
            }
            Some(_) => match special_len(&raw[at..]) {
                0 => break,
                len => {
                    masks.any_special = true;
                    set_run(&mut masks.special, at, at + 1);
                    set_run(&mut masks.text, at, at + len);
                    at += len;
                }
            },
            None => break,
        }
    }
    masks.len = at;
}

/// What a control sequence is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Style,
    Erase,
    Odd,
    Aborted,
    AbortedEscape,
}

/// The length of the control sequence at the head of these bytes, which begin with ESC, and what it
/// is. `None`: it is another sequence, or its end is not here.
fn sequence(bytes: &[u8]) -> Option<(usize, Found)> {
    match bytes.get(1)? {
        b'[' => {}
        0x1B | 0x80.. => return Some((1, Found::AbortedEscape)),
        _ => return None,
    }
    let mut hides = false;
    // Where a parameter begins; where it does but for a zero; after a 1 in either place.
    let (mut token, mut behind_zero, mut behind_one) = (true, false, false);
    for (i, &byte) in bytes.iter().enumerate().take(PARAMETERS_MAX + 3).skip(2) {
        match byte {
            b'0'..=b'9' => {
                hides |= (token || behind_zero) && matches!(byte, b'4' | b'8');
                hides |= (behind_zero || behind_one) && byte == b'0';
                (token, behind_zero, behind_one) =
                    (false, token && byte == b'0', (token || behind_zero) && byte == b'1');
            }
            b':' | b';' => (token, behind_zero, behind_one) = (true, false, false),
            b'<'..=b'?' => hides = true,
            b'm' if !hides => return Some((i + 1, Found::Style)),
            b'K' if !hides => return Some((i + 1, Found::Erase)),
            0x40..=0x7E => return Some((i + 1, Found::Odd)),
            0x1B | 0x80.. => return Some((i, Found::Aborted)),
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
        to.extend_from_slice(&raw[from..at]);
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

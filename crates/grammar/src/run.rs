//! How far one kind of byte goes: the step that a faster scanner may replace. The rows stay the
//! definition.

/// Says how many bytes at the head of a chunk are of one kind. A parser may be lent a faster one
/// than its own; an answer that is too low costs speed alone, one that is too high breaks every
/// promise.
pub trait Scanner {
    /// Bytes of a control string that are nothing but payload: none of BEL, LF, CR, CAN, SUB, ESC,
    /// 9C and C2–F4.
    fn payload_len(&self, bytes: &[u8]) -> usize;

    /// Bytes between two values, these included.
    fn range_len(&self, bytes: &[u8], first: u8, last: u8) -> usize;
}

/// Byte by byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByteByByte;

impl Scanner for ByteByByte {
    fn payload_len(&self, bytes: &[u8]) -> usize {
        let ends =
            |b: &&u8| matches!(b, 0x07 | 0x0A | 0x0D | 0x18 | 0x1A | 0x1B | 0x9C | 0xC2..=0xF4);
        bytes.iter().take_while(|b| !ends(b)).count()
    }

    fn range_len(&self, bytes: &[u8], first: u8, last: u8) -> usize {
        bytes.iter().take_while(|b| (first..=last).contains(*b)).count()
    }
}

/// Whether a byte is text of its own: TAB, LF, 20–7E.
const fn is_ascii_text(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x0A | 0x20..=0x7E)
}

/// The longest prefix that is whole well-formed text: ASCII text and characters from U+00A0 on.
/// Linear in the length of what it returns.
pub(crate) fn text_prefix(bytes: &[u8]) -> &str {
    let mut end = 0;
    loop {
        end += ascii_prefix(&bytes[end..]);
        let before = end;
        loop {
            let len = char_len(&bytes[end..]);
            if len == 0 {
                break;
            }
            end += len;
        }
        if end == before {
            break;
        }
    }
    // The bytes were just found well-formed. Falling back to "no text" costs speed, never safety:
    // the rows then take them one by one.
    core::str::from_utf8(&bytes[..end]).unwrap_or_default()
}

fn ascii_prefix(bytes: &[u8]) -> usize {
    let mut end = 0;
    for block in bytes.chunks_exact(32) {
        // No early exit within a block, so that it becomes vector code.
        if !block.iter().fold(true, |all, &b| all & is_ascii_text(b)) {
            break;
        }
        end += 32;
    }
    end + bytes[end..].iter().take_while(|&&b| is_ascii_text(b)).count()
}

/// Length of the whole well-formed character from U+00A0 on that begins here, 2 to 4; else 0.
pub(crate) fn char_len(bytes: &[u8]) -> usize {
    let tail = |i: usize| matches!(bytes.get(i), Some(0x80..=0xBF));
    let second = |first: u8, last: u8| bytes.get(1).is_some_and(|b| (first..=last).contains(b));
    let Some(&lead) = bytes.first() else { return 0 };
    match lead {
        0xC2 if second(0xA0, 0xBF) => 2,
        0xC3..=0xDF if tail(1) => 2,
        0xE0 if second(0xA0, 0xBF) && tail(2) => 3,
        0xE1..=0xEC | 0xEE..=0xEF if tail(1) && tail(2) => 3,
        0xED if second(0x80, 0x9F) && tail(2) => 3,
        0xF0 if second(0x90, 0xBF) && tail(2) && tail(3) => 4,
        0xF1..=0xF3 if tail(1) && tail(2) && tail(3) => 4,
        0xF4 if second(0x80, 0x8F) && tail(2) && tail(3) => 4,
        _ => 0,
    }
}

//! How far one kind of byte goes.

use crate::path::{Path, in_use};
use crate::stretch::SLACK;
use crate::swar;

/// Bytes that [`text_into`] takes in one call, and so reserves room for: large chunks come in.
const TAKEN_BYTES_MAX: usize = 64 << 10;

/// Appends the text at the head of a chunk (what it is, [`Stretch`](crate::Stretch) says) and gives
/// its length in bytes. It may stop short of what is not text, by less than 128 bytes.
///
/// ```
/// let mut text = String::new();
/// let line = "plain text\n".repeat(50);
/// let taken = noesc_scan::text_into(line.as_bytes(), &mut text);
/// assert_eq!(text, line[..taken]);
/// ```
pub fn text_into(raw: &[u8], to: &mut String) -> usize {
    let raw = &raw[..raw.len().min(TAKEN_BYTES_MAX)];
    to.reserve(raw.len() + SLACK);
    // SAFETY: what is written is whole well-formed characters.
    let bytes = unsafe { to.as_mut_vec() };
    match in_use() {
        Path::Rows => 0,
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => crate::x86::text_avx512(raw, bytes),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => crate::x86::text_avx2(raw, bytes),
        _ => {
            let len = swar::text(raw, 0);
            bytes.extend_from_slice(&raw[..len]);
            len
        }
    }
}

/// The bytes as text, where all of them are: see [`Stretch`](crate::Stretch). `None` where one is
/// not, and where the end leaves something open.
///
/// ```
/// assert_eq!(noesc_scan::as_text("na\u{ef}ve\n".as_bytes()), Some("na\u{ef}ve\n"));
/// assert_eq!(noesc_scan::as_text(b"\x1b[m"), None);
/// ```
#[must_use]
pub fn as_text(raw: &[u8]) -> Option<&str> {
    let whole = match in_use() {
        Path::Rows => return None,
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => crate::x86::text_len_avx512(raw),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => crate::x86::text_len_avx2(raw),
        Path::Swar => 0,
        #[cfg(not(target_arch = "x86_64"))]
        _ => 0,
    };
    let is_text = swar::text(raw, whole) == raw.len();
    // SAFETY: a text is whole well-formed characters.
    is_text.then(|| unsafe { str::from_utf8_unchecked(raw) })
}

/// How many bytes at the head of the payload of a control string are nothing but payload: no
/// BEL, LF, CR, CAN, SUB, ESC or 9C, and no lead of a character, C2–F4.
///
/// ```
/// assert_eq!(noesc_scan::payload_len(b"0;title\x07"), 7);
/// ```
#[must_use]
pub fn payload_len(bytes: &[u8]) -> usize {
    match in_use() {
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 | Path::Avx2 => crate::x86::payload_avx2(bytes),
        _ => payload_by_step(bytes),
    }
}

/// Whether a byte of a control string is payload and nothing else.
const fn is_payload(byte: u8) -> bool {
    !matches!(byte, 0x07 | 0x0A | 0x0D | 0x18 | 0x1A | 0x1B | 0x9C | 0xC2..=0xF4)
}

pub(crate) fn payload_by_step(bytes: &[u8]) -> usize {
    prefix(bytes, is_payload)
}

/// How many bytes at the head lie between two values, these included; none where the first is the
/// greater one.
///
/// ```
/// assert_eq!(noesc_scan::range_len(b"31;1m", 0x30, 0x3F), 4);
/// ```
#[must_use]
pub fn range_len(bytes: &[u8], first: u8, last: u8) -> usize {
    match in_use() {
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 | Path::Avx2 if first <= last => crate::x86::range_avx2(bytes, first, last),
        _ => prefix(bytes, |b| (first..=last).contains(&b)),
    }
}

/// The length of the prefix of such bytes, compared a step at a time.
fn prefix(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let mut len = 0;
    for block in bytes.chunks_exact(32) {
        if !block.iter().fold(true, |all, &b| all & is(b)) {
            break;
        }
        len += 32;
    }
    len + bytes[len..].iter().take_while(|&&b| is(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_at_once_than_room_is_made_for() {
        for len in [TAKEN_BYTES_MAX - 1, TAKEN_BYTES_MAX, TAKEN_BYTES_MAX + 1] {
            let (raw, mut text) = ("x".repeat(len), String::new());
            let taken = text_into(raw.as_bytes(), &mut text);
            assert_eq!(text, raw[..taken], "{len}");
            assert!((len.min(TAKEN_BYTES_MAX) - 127..=TAKEN_BYTES_MAX).contains(&taken), "{len}");
        }
    }
}

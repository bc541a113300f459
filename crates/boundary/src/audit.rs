//! The strict view: printable ASCII and `\xNN`, and the way back.

use noesc_text::{AuditEscape, Unescape, UnescapeError, escape_byte};

use crate::sheet::{Sheet, Written};
use crate::span::SpanReceiver;

/// The audit view of bytes: 20–7E less `\` as they are, every other byte as `\xNN`. On one line.
///
/// `unaudit(audit(x)) == x`, and `audit(a) + audit(b) == audit(a + b)` (P8).
///
/// ```
/// assert_eq!(noesc::audit(b"a\x1b[m\\\n"), r"a\x1b[m\x5c\x0a");
/// ```
#[must_use]
pub fn audit(bytes: &[u8]) -> String {
    AuditEscape(bytes).to_string()
}

/// The bytes that [`audit`] was given.
///
/// # Errors
/// When the text is none that `audit` could have written, with the offset of the first byte that
/// shows it.
///
/// ```
/// assert_eq!(noesc::unaudit(r"a\x1b[m")?, b"a\x1b[m");
/// assert_eq!(noesc::unaudit("a\n").unwrap_err().offset, 1);
/// # Ok::<(), noesc::UnescapeError>(())
/// ```
pub fn unaudit(text: &str) -> Result<Vec<u8>, UnescapeError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut unescape = Unescape::default();
    for &byte in text.as_bytes() {
        bytes.extend(unescape.push(byte)?);
    }
    unescape.finish()?;
    Ok(bytes)
}

/// Appends the audit view of a chunk.
pub(crate) fn escape_into<S: SpanReceiver>(
    chunk: &[u8],
    at: u64,
    written: &mut Written,
    to: &mut Sheet<'_, S>,
) {
    let plain = |byte: &u8| matches!(byte, 0x20..=0x7E) && *byte != b'\\';
    let mut at = at;
    for piece in chunk.chunk_by(|a, b| plain(a) && plain(b)) {
        match piece {
            [byte] if !plain(byte) => {
                let escaped = escape_byte(*byte);
                let text = str::from_utf8(escaped.as_bytes()).unwrap_or_default();
                written.replaced(at, 1, text, to);
            }
            text => written.kept(at, str::from_utf8(text).unwrap_or_default(), to),
        }
        at += piece.len() as u64;
    }
}

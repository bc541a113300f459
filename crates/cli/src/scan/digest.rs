//! Digests as text.

use std::fmt::Write;

/// Lower-case hex digits.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

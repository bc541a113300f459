//! The visible notation of a character.

use core::fmt;

/// Writes a character as `<U+202E>`: its code point in upper-case hex, at least four digits.
///
/// Not reversible: a child can print the same text. The audit escape is.
///
/// ```
/// use noesc_text::Visible;
/// assert_eq!(Visible('\u{202e}').to_string(), "<U+202E>");
/// assert_eq!(Visible('\u{e0001}').to_string(), "<U+E0001>");
/// assert_eq!(Visible('\0').to_string(), "<U+0000>");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visible(pub char);

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<U+{:04X}>", u32::from(self.0))
    }
}

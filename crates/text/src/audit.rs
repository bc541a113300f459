//! The audit escape: any bytes as printable ASCII, and back without loss.
//!
//! Bytes 20–7E less `\` stand for themselves, every other byte is `\xNN` in lower-case hex. Each
//! byte has one form alone, whatever is beside it, so `audit(a) + audit(b) == audit(a + b)`, and
//! text that audit did not write is refused on the way back.

use core::fmt;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// One byte in its audit form: one or four ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EscapedByte {
    ascii: [u8; 4],
    len: u8,
}

impl EscapedByte {
    /// The form as ASCII bytes, one or four of them.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.ascii[..usize::from(self.len)]
    }
}

impl fmt::Display for EscapedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|&byte| fmt::Write::write_char(f, char::from(byte)))
    }
}

/// True when the audit form of a byte is the byte itself.
#[inline]
const fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7E) && byte != b'\\'
}

/// The audit form of one byte.
///
/// ```
/// use noesc_text::escape_byte;
/// assert_eq!(escape_byte(b'a').as_bytes(), b"a");
/// assert_eq!(escape_byte(0x1b).to_string(), "\\x1b");
/// assert_eq!(escape_byte(b'\\').to_string(), "\\x5c");
/// ```
#[inline]
pub const fn escape_byte(byte: u8) -> EscapedByte {
    if is_plain(byte) {
        return EscapedByte { ascii: [byte, 0, 0, 0], len: 1 };
    }
    let (high, low) = (HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]);
    EscapedByte { ascii: [b'\\', b'x', high, low], len: 4 }
}

/// Displays bytes in their audit form: printable ASCII alone, four times the length at most.
///
/// ```
/// use noesc_text::AuditEscape;
/// assert_eq!(AuditEscape(b"a\x1b[m\\\n").to_string(), "a\\x1b[m\\x5c\\x0a");
/// assert_eq!(AuditEscape(b"").to_string(), "");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuditEscape<'a>(pub &'a [u8]);

impl fmt::Display for AuditEscape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(&first) = rest.first() {
            let plain = rest.iter().take_while(|&&byte| is_plain(byte)).count();
            match core::str::from_utf8(&rest[..plain]) {
                Ok(text) if plain > 0 => f.write_str(text)?,
                _ => write!(f, "{}", escape_byte(first))?,
            }
            rest = &rest[plain.max(1)..];
        }
        Ok(())
    }
}

/// What about a piece of text audit cannot have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnescapeReason {
    /// A byte outside 20–7E.
    NotPrintable,
    /// A `\` that `x` and two lower-case hex digits do not follow.
    NotAnEscape,
    /// An escape of a byte that audit writes as itself.
    Needless,
    /// The text ends inside an escape.
    Cut,
}

/// Why text is not in the audit form, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnescapeError {
    /// Offset in bytes of the byte, or of the `\` of the escape, that is wrong.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: UnescapeReason,
}

impl fmt::Display for UnescapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            UnescapeReason::NotPrintable => "a byte outside 20-7e, which audit escapes",
            UnescapeReason::NotAnEscape => "a backslash without x and two lower-case hex digits",
            UnescapeReason::Needless => "an escape of a byte that audit writes as itself",
            UnescapeReason::Cut => "the end of the text inside an escape",
        };
        write!(f, "at byte {}: {what}", self.offset)
    }
}

impl core::error::Error for UnescapeError {}

/// The way back from the audit form, byte by byte, with a state of fixed size.
///
/// ```
/// use noesc_text::{Unescape, UnescapeError};
/// fn unaudit(text: &str) -> Result<Vec<u8>, UnescapeError> {
///     let (mut back, mut raw) = (Unescape::default(), Vec::new());
///     for &byte in text.as_bytes() {
///         raw.extend(back.push(byte)?);
///     }
///     back.finish()?;
///     Ok(raw)
/// }
/// assert_eq!(unaudit("a\\x1b[m"), Ok(b"a\x1b[m".to_vec()));
/// assert_eq!(unaudit("ok \\x41").unwrap_err().offset, 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Unescape {
    offset: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Plain,
    Backslash,
    X,
    High(u8),
    Failed(UnescapeError),
}

impl Unescape {
    /// Takes one byte of text; gives the byte that it completes, if it does.
    ///
    /// # Errors
    /// When audit cannot have written the text so far. Every later call gives the same error.
    #[inline]
    pub fn push(&mut self, byte: u8) -> Result<Option<u8>, UnescapeError> {
        let stepped = self.step(byte);
        self.offset = self.offset.saturating_add(1);
        match stepped {
            Ok((state, completed)) => {
                self.state = state;
                Ok(completed)
            }
            Err(error) => {
                self.state = State::Failed(error);
                Err(error)
            }
        }
    }

    /// Ends the text.
    ///
    /// # Errors
    /// When it ends inside an escape, or had failed before.
    pub fn finish(self) -> Result<(), UnescapeError> {
        let inside = match self.state {
            State::Plain => return Ok(()),
            State::Failed(error) => return Err(error),
            State::Backslash => 1,
            State::X => 2,
            State::High(_) => 3,
        };
        Err(UnescapeError {
            offset: self.offset.saturating_sub(inside),
            reason: UnescapeReason::Cut,
        })
    }

    fn step(&self, byte: u8) -> Result<(State, Option<u8>), UnescapeError> {
        let wrong = |back: u64, reason| {
            Err(UnescapeError { offset: self.offset.saturating_sub(back), reason })
        };
        match (self.state, byte) {
            (State::Failed(error), _) => Err(error),
            (State::Plain, b'\\') => Ok((State::Backslash, None)),
            (State::Plain, byte) if is_plain(byte) => Ok((State::Plain, Some(byte))),
            (State::Plain, _) => wrong(0, UnescapeReason::NotPrintable),
            (State::Backslash, b'x') => Ok((State::X, None)),
            (State::Backslash, _) => wrong(1, UnescapeReason::NotAnEscape),
            (State::X, digit) => match hex_value(digit) {
                Some(high) => Ok((State::High(high), None)),
                None => wrong(2, UnescapeReason::NotAnEscape),
            },
            (State::High(high), digit) => match hex_value(digit).map(|low| high << 4 | low) {
                Some(byte) if is_plain(byte) => wrong(3, UnescapeReason::Needless),
                Some(byte) => Ok((State::Plain, Some(byte))),
                None => wrong(3, UnescapeReason::NotAnEscape),
            },
        }
    }
}

const fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

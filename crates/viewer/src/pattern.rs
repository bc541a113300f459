//! What is searched for.

use memchr::memmem;

/// Bytes of a pattern.
pub(crate) const PATTERN_BYTES_MAX: usize = 256;

/// Bytes to search for, with ASCII letters of either case or as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    bytes: Vec<u8>,
    any_case: bool,
}

impl Pattern {
    /// `x1b 5d 35` is bytes in hexadecimal; all else is text, with `\xNN` for a byte.
    pub(crate) fn parse(text: &str, any_case: bool) -> Result<Self, &'static str> {
        let bytes = match text.strip_prefix('x').and_then(hex) {
            Some(bytes) => bytes,
            None => unescaped(text),
        };
        match bytes.len() {
            0 => Err("nothing to search for"),
            1..=PATTERN_BYTES_MAX if any_case => {
                Ok(Self { bytes: bytes.to_ascii_lowercase(), any_case })
            }
            1..=PATTERN_BYTES_MAX => Ok(Self { bytes, any_case }),
            _ => Err("longer than 256 bytes"),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The first place in a chunk.
    pub(crate) fn first(&self, chunk: &mut [u8]) -> Option<u64> {
        if self.any_case {
            chunk.make_ascii_lowercase();
        }
        memmem::find(chunk, &self.bytes).map(|at| at as u64)
    }

    /// The last place in a chunk.
    pub(crate) fn last(&self, chunk: &mut [u8]) -> Option<u64> {
        if self.any_case {
            chunk.make_ascii_lowercase();
        }
        memmem::rfind(chunk, &self.bytes).map(|at| at as u64)
    }
}

/// Pairs of hexadecimal digits, with or without blanks between them.
fn hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !word.len().is_multiple_of(2) || !word.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        for at in (0..word.len()).step_by(2) {
            bytes.push(u8::from_str_radix(word.get(at..at + 2)?, 16).ok()?);
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Text with `\xNN` as the byte; any other `\` is itself.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.strip_prefix("\\x").and_then(|after| after.get(..2));
        let byte = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                bytes.extend_from_slice(&rest.as_bytes()[..length]);
                rest = &rest[length..];
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        Pattern::parse(text, false).unwrap().bytes
    }

    #[test]
    fn hex_is_told_from_text() {
        assert_eq!(bytes("x1b 5d 35 32"), b"\x1b]52");
        assert_eq!(bytes("x1B5d"), b"\x1b]");
        assert_eq!(bytes("x1b 5"), b"x1b 5");
        assert_eq!(bytes("xylophone"), b"xylophone");
        assert_eq!(bytes("x"), b"x");
        assert_eq!(bytes("\\x1b[\\x5c\\q\\x"), b"\x1b[\\\\q\\x");
        assert_eq!(bytes("\u{e9}"), "\u{e9}".as_bytes());
    }

    #[test]
    fn a_pattern_has_a_length() {
        assert!(Pattern::parse("", false).is_err());
        for (length, fits) in [
            (PATTERN_BYTES_MAX - 1, true),
            (PATTERN_BYTES_MAX, true),
            (PATTERN_BYTES_MAX + 1, false),
        ] {
            assert_eq!(Pattern::parse(&"q".repeat(length), false).is_ok(), fits);
        }
    }

    #[test]
    fn case_counts_unless_told_otherwise() {
        let find = |any| Pattern::parse("Ab", any).unwrap().first(&mut b"xaB AB Ab"[..].to_vec());
        assert_eq!((find(false), find(true)), (Some(7), Some(1)));
        let last = |any| Pattern::parse("ab", any).unwrap().last(&mut b"ab aB"[..].to_vec());
        assert_eq!((last(false), last(true)), (Some(0), Some(3)));
    }
}

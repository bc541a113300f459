//! The finds of the search: units that were slow, each an input of its own.

/// What the search found, one a line.
const FINDS: &str = include_str!("../../finds.txt");

/// A unit, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Find {
    pub(crate) unit: Vec<u8>,
    pub(crate) comment: String,
}

/// The finds in their order. A line that does not parse is an error, which names its number.
pub(crate) fn finds() -> Result<Vec<Find>, String> {
    let lines = FINDS.lines().enumerate();
    let held = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    held.map(|(index, line)| {
        parse(line).ok_or_else(|| format!("finds.txt:{}: no unit, tab and comment", index + 1))
    })
    .collect()
}

/// A line: the unit, escaped, a tab, and a comment.
fn parse(line: &str) -> Option<Find> {
    let (unit, comment) = line.split_once('\t')?;
    let unit = unescape(unit)?;
    let comment = comment.trim().to_owned();
    (!unit.is_empty() && !comment.is_empty()).then_some(Find { unit, comment })
}

/// As [`<[u8]>::escape_ascii`], but that no unit begins as a comment does.
pub(crate) fn escape(unit: &[u8]) -> String {
    unit.escape_ascii().to_string().replace('#', "\\x23")
}

/// What [`escape`] was given.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte @ (b'\\' | b'\'' | b'"') => byte,
            _ => return None,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_finds_parses() {
        let found = finds().unwrap();
        assert!(found.iter().all(|find| find.unit.len() <= crate::search::UNIT_BYTES_MAX));
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(&escape(&bytes)).unwrap(), bytes);
        assert!(!escape(b"#").starts_with('#'));
    }

    #[test]
    fn what_is_no_unit_with_a_comment_is_none() {
        for line in ["", "a", "a\t", "\tcomment", "\\q\tc", "\\x1\tc", "\\xzz\tc", "\\\tc"] {
            assert_eq!(parse(line), None, "{}", line.escape_debug());
        }
        assert_eq!(parse("\\x1b[\tnested").unwrap().unit, b"\x1b[");
    }
}

//! The audit escape and its way back.

use noesc_text::{AuditEscape, Unescape, UnescapeError, UnescapeReason, escape_byte};
use proptest::prelude::*;

fn unescape(text: &[u8]) -> Result<Vec<u8>, UnescapeError> {
    let (mut back, mut raw) = (Unescape::default(), Vec::new());
    for &byte in text {
        raw.extend(back.push(byte)?);
    }
    back.finish()?;
    Ok(raw)
}

#[test]
fn every_byte_has_the_form_of_the_specification_and_comes_back() {
    for byte in 0..=u8::MAX {
        let expected = match byte {
            b'\\' => "\\x5c".to_string(),
            0x20..=0x7E => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        };
        assert_eq!(escape_byte(byte).to_string(), expected);
        assert_eq!(escape_byte(byte).as_bytes(), expected.as_bytes());
        assert_eq!(AuditEscape(&[byte]).to_string(), expected);
        assert_eq!(unescape(expected.as_bytes()), Ok(vec![byte]));
    }
}

#[test]
fn what_audit_cannot_have_written_is_refused_where_it_stands() {
    use UnescapeReason::{Cut, Needless, NotAnEscape, NotPrintable};
    let rows: &[(&[u8], u64, UnescapeReason)] = &[
        (b"ab\n", 2, NotPrintable),
        (b"\x7f", 0, NotPrintable),
        (b"a\x80", 1, NotPrintable),
        (b"\xc3\xa9", 0, NotPrintable),
        (b"ab\\n", 2, NotAnEscape),
        (b"\\\\", 0, NotAnEscape),
        (b"\\X1b", 0, NotAnEscape),
        (b"a\\xg0", 1, NotAnEscape),
        (b"a\\x1B", 1, NotAnEscape),
        (b"a\\x1", 1, Cut),
        (b"a\\x", 1, Cut),
        (b"a\\", 1, Cut),
        (b"\\x1b\\x41", 4, Needless),
        (b"\\x20", 0, Needless),
        (b"\\x7e", 0, Needless),
    ];
    for &(text, offset, reason) in rows {
        let expected = Err(UnescapeError { offset, reason });
        assert_eq!(unescape(text), expected, "{}", text.escape_ascii());
    }
    // One outside each end of the plain range, and the one exception inside it.
    assert_eq!(unescape(b"\\x1f\\x7f\\x5c"), Ok(vec![0x1f, 0x7f, b'\\']));
}

#[test]
fn a_failed_way_back_stays_failed() {
    let mut back = Unescape::default();
    let error = UnescapeError { offset: 0, reason: UnescapeReason::NotPrintable };
    assert_eq!(back.push(b'\n'), Err(error));
    assert_eq!(back.push(b'a'), Err(error));
    assert_eq!(back.finish(), Err(error));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_way_back_is_exact_and_the_escape_joins(
        a in prop::collection::vec(any::<u8>(), 0..64),
        b in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let escaped = AuditEscape(&a).to_string();
        prop_assert!(escaped.bytes().all(|b| matches!(b, 0x20..=0x7E)));
        prop_assert_eq!(unescape(escaped.as_bytes()), Ok(a.clone()));
        let both = [a.as_slice(), b.as_slice()].concat();
        prop_assert_eq!(escaped + &AuditEscape(&b).to_string(), AuditEscape(&both).to_string());
    }

    /// Whatever is accepted is what audit writes: there is no second form of anything.
    #[test]
    fn accepted_text_is_the_one_form(text in "(\\\\x[0-9a-f]{2}|[ -~]|\\\\|\\n|x){0,12}") {
        if let Ok(raw) = unescape(text.as_bytes()) {
            prop_assert_eq!(AuditEscape(&raw).to_string(), text);
        }
    }
}

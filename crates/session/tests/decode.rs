//! Declared encodings: any split gives the same text, ill-formed input is told apart, and no
//! encoding makes a control byte out of anything but itself.

#![allow(clippy::unwrap_used)]

use noesc::Profile;
use noesc_session::{Decoder, EncodingError, Viewer};

/// Every encoding that can be declared, by a label of the Encoding Standard.
const LABELS: &[&str] = &[
    "big5",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "gbk",
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "shift_jis",
    "utf-16be",
    "utf-16le",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "x-mac-cyrillic",
    "x-user-defined",
];

fn decoder(label: &str) -> Decoder {
    Decoder::for_label(label).unwrap().unwrap()
}

fn decoded<'a>(label: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut decoder = decoder(label);
    for chunk in chunks {
        decoder.push(chunk, &mut text);
    }
    decoder.finish(&mut text);
    text
}

/// Bytes that mean something to one encoding or another: every pair of a few, and every byte.
fn sample() -> Vec<u8> {
    let pieces: &[u8] = &[0x00, 0x1b, 0x30, 0x5b, 0x7e, 0x80, 0x81, 0x8e, 0x9b, 0xa4, 0xd8, 0xff];
    let pairs = pieces.iter().flat_map(|a| pieces.iter().flat_map(move |b| [*a, *b]));
    pairs.chain(0..=255).chain(b"end".iter().copied()).collect()
}

#[test]
fn any_split_gives_the_same_text() {
    let sample = sample();
    for label in LABELS {
        let whole = decoded(label, [sample.as_slice()]);
        assert_eq!(decoded(label, sample.chunks(1)), whole, "{label}");
        for at in 0..sample.len() {
            let (head, tail) = sample.split_at(at);
            assert_eq!(decoded(label, [head, tail]), whole, "{label} at {at}");
        }
    }
}

#[test]
fn ascii_stays_ascii() {
    let ascii: Vec<u8> = (0..0x80).collect();
    for label in LABELS.iter().filter(|label| !label.starts_with("utf-16")) {
        assert_eq!(decoded(label, [ascii.as_slice()]), ascii, "{label}");
    }
}

#[test]
fn the_view_is_inert_whatever_is_declared() {
    let sample = sample();
    for label in LABELS {
        let mut view = String::new();
        let mut viewer = Viewer::new(&Profile::AGENT, Some(decoder(label))).unwrap();
        viewer.push(&sample, &mut view, &mut ());
        let report = viewer.finish(&mut view, &mut ());
        let is_inert = |c: char| !c.is_control() || c == '\n' || c == '\t';
        assert!(view.chars().all(is_inert), "{label}: {view:?}");
        // The suspicion is about what nobody declared.
        assert!(report.findings.iter().all(|finding| finding.kind != "encoding-suspected"));
    }
}

#[test]
fn what_an_encoding_lacks_is_counted_as_ill_formed() {
    for (label, bytes, view, count) in [
        ("gbk", &b"a\xff\nb"[..], "a\u{fffd}\nb", 1),
        ("gbk", b"a\x81", "a\u{fffd}", 1),
        ("shift_jis", b"\x81", "\u{fffd}", 1),
        ("utf-16le", b"\x00\xd8a\0", "\u{fffd}a", 1),
        ("utf-16le", b"a\0b", "a\u{fffd}", 1),
        ("windows-1252", b"\x80", "€", 0),
    ] {
        let mut shown = String::new();
        let mut viewer = Viewer::new(&Profile::AGENT, Some(decoder(label))).unwrap();
        viewer.push(bytes, &mut shown, &mut ());
        let report = viewer.finish(&mut shown, &mut ());
        assert_eq!((shown.as_str(), report.ill_formed), (view, count), "{label} {bytes:?}");
    }
}

#[test]
fn a_mark_of_byte_order_is_of_the_encoding() {
    assert_eq!(decoded("utf-16le", [&b"\xff\xfea\0"[..]]), b"a");
    assert_eq!(decoded("utf-16be", [&b"\xfe\xff\0a"[..]]), b"a");
    // And decides nothing about another.
    assert_eq!(decoded("windows-1252", [&b"\xff\xfe"[..]]), "ÿþ".as_bytes());
}

#[test]
fn labels_that_can_not_be_declared() {
    for label in ["", "bogus", "utf-32", "utf-16le x", "\x1b[m", "é"] {
        assert_eq!(Decoder::for_label(label).unwrap_err(), EncodingError::Unknown, "{label:?}");
    }
    for label in [
        "iso-2022-jp",
        "ISO-2022-JP",
        " iso-2022-jp ",
        "csISO2022JP",
        "iso-2022-kr",
        "iso-2022-cn",
        "hz-gb-2312",
        "utf-7",
        "replacement",
    ] {
        let refused = Decoder::for_label(label).unwrap_err();
        assert_eq!(refused, EncodingError::NotAsciiCompatible, "{label:?}");
    }
    for label in ["utf-8", "UTF8", "unicode-1-1-utf-8", " utf-8\n"] {
        assert!(Decoder::for_label(label).unwrap().is_none(), "{label:?}");
    }
}

#[test]
fn pieces_at_the_size_of_the_buffer() {
    // Below, at and above the bytes that are decoded at once.
    for length in [(16 << 10) - 1, 16 << 10, (16 << 10) + 1, (64 << 10) + 1] {
        let bytes = [b"x".repeat(length - 1), b"\xC4\xE3".to_vec()].concat();
        let text = decoded("gbk", [bytes.as_slice()]);
        assert_eq!(text.len(), length - 1 + 3);
        assert!(text.ends_with("x你".as_bytes()));
    }
}

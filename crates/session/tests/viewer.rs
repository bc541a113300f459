//! The watch for encodings that nobody declared: named, never used, and the same for any split.

#![allow(clippy::unwrap_used)]

use noesc::{Profile, Report};
use noesc_session::Viewer;

fn viewed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (String, Report) {
    let mut view = String::new();
    let mut viewer = Viewer::new(&Profile::AGENT, None).unwrap();
    for chunk in chunks {
        viewer.push(chunk, &mut view, &mut ());
    }
    let report = viewer.finish(&mut view, &mut ());
    (view, report)
}

fn suspected(bytes: &[u8]) -> Option<&'static str> {
    let (_, report) = viewed([bytes]);
    let finding = report.findings.iter().find(|finding| finding.kind == "encoding-suspected");
    finding.and_then(|finding| finding.encoding)
}

const FRENCH: &[u8] = b"Le caf\xe9 \xe9tait ferm\xe9, et la for\xeat d\xe9j\xe0 dor\xe9e.\n";
const RUSSIAN: &[u8] = b"\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0?\n";
const JAPANESE: &[u8] = b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67\n";

#[test]
fn the_likely_encoding_is_named() {
    assert_eq!(suspected(FRENCH), Some("windows-1252"));
    assert_eq!(suspected(RUSSIAN), Some("windows-1251"));
    assert_eq!(suspected(JAPANESE), Some("Shift_JIS"));
}

#[test]
fn plain_text_before_it_uses_up_no_room() {
    for before in [255, 256, 257, 70_000] {
        let bytes = [&vec![b'a'; before][..], RUSSIAN].concat();
        assert_eq!(suspected(&bytes), suspected(RUSSIAN), "{before}");
    }
}

#[test]
fn well_formed_text_is_not_suspected() {
    assert_eq!(suspected(b""), None);
    assert_eq!(suspected(b"plain\n"), None);
    assert_eq!(suspected("Le café déjà doré: 日本語\n".as_bytes()), None);
}

#[test]
fn wide_text_is_its_own_finding() {
    let wide: Vec<u8> = "é plain text\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (_, report) = viewed([wide.as_slice()]);
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&"utf-16-suspected"), "{kinds:?}");
    assert!(!kinds.contains(&"encoding-suspected"), "{kinds:?}");
}

#[test]
fn any_split_gives_the_same_report() {
    let ascii = b"ascii first\n".repeat(3);
    for text in [FRENCH, RUSSIAN, JAPANESE] {
        let bytes = [ascii.as_slice(), text, b"and last\n", text].concat();
        let whole = viewed([bytes.as_slice()]);
        assert_eq!(viewed(bytes.chunks(1)), whole, "{text:?}");
        for at in 0..bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(viewed([head, tail]), whole, "{text:?} at {at}");
        }
    }
}

#[test]
fn any_split_gives_the_same_report_at_the_detectors_bound() {
    // The detector reads 64 KiB of what is not plain ASCII: below, at and above.
    for length in [(64 << 10) - 1, 64 << 10, (64 << 10) + 1] {
        let bytes: Vec<u8> = FRENCH.iter().copied().cycle().take(length).collect();
        let whole = viewed([bytes.as_slice()]);
        for size in [1, 7, 4096, 65_535] {
            assert_eq!(viewed(bytes.chunks(size)), whole, "{length} by {size}");
        }
    }
}

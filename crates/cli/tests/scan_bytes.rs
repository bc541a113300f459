//! `noesc scan`: what is read as bytes: texts of UTF-16, stdin.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use common::{Folder, fed, noesc};
use scanning::{HIGH, sarif_of, scanned, scanned_json, validate};
use serde_json::json;

fn utf_16le(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_bom_of_utf_16_hides_no_sequence() {
    let folder = Folder::new("bom");
    for bom in [b"\xff\xfe", b"\xfe\xff"] {
        let bytes = [bom, &b"\x1b]52;c;aGk=\x07\n"[..]].concat();
        let said = "byte 2: high: clipboard-write: a sequence writes the clipboard, in the bytes \
                    as they are\nscanned 1 file (15 bytes); found 1 high, ";
        folder.write("f", &bytes);
        let ended = scanned(&folder, &["f"]);
        assert!(ended.out().starts_with(&format!("f:{said}")), "{ended:?}");
        assert_eq!(ended.code(), 1);
        let ended = fed(noesc(["scan", "-"]), &bytes);
        assert!(ended.out().starts_with(&format!("-:{said}")), "{ended:?}");
        let log = scanned_json(&folder, &["f"]);
        assert_eq!(
            log["files"][0]["findings"],
            json!([{ "kind": "clipboard-write", "severity": "high", "in": "bytes", "count": 1,
                "places": [{ "offset": 2, "length": 12 }] }])
        );
        let sarif = sarif_of(&folder, &["f"]);
        let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region, &json!({ "byteOffset": 2, "byteLength": 12 }));
        validate(&sarif.to_string());
        // It is known apart from the same in the text.
        scanned(&folder, &["--write-baseline", "known", "f"]);
        assert_eq!(scanned(&folder, &["--baseline", "known", "f"]).code(), 0);
        let more = [&bytes, HIGH].concat();
        folder.write("f", more);
        assert_eq!(scanned(&folder, &["--baseline", "known", "f"]).code(), 1);
    }
    // Controls within, which terminals pass over.
    folder.write("f", b"\xff\xfe\x1b\0]\x0052;c;aGk=\x07\n");
    assert_eq!(scanned(&folder, &["f"]).code(), 1);
}

#[test]
fn a_text_of_utf_16_is_suspected_to_be_one() {
    let folder = Folder::new("bom-low");
    folder.write("f", utf_16le("plain\n"));
    scanned(&folder, &["--show", "low", "f"]).is(
        "f:byte 0: low: utf-16-suspected: the text looks like UTF-16, in the bytes as they are\n\
         scanned 1 file (14 bytes); found 1 low\n",
        "",
        0,
    );
}

/// A message of a commit is never binary.
#[test]
fn stdin_is_text_whatever_it_holds() {
    let noise: Vec<u8> = (1..=255_u8).cycle().take(4096).collect();
    let folder = Folder::new("text");
    for start in [&b"\0"[..], b"\xff\xfe\0\0", b"\xff\xfe\0", &noise] {
        let bytes = [start, b"\x18\n", HIGH].concat();
        let ended = fed(noesc(["scan", "-"]), &bytes);
        assert!(ended.out().contains(": high: clipboard-write: "), "{ended:?}");
        assert!(ended.out().contains("\nscanned 1 file ("), "{ended:?}");
        folder.write("f", &bytes);
        if start != b"\xff\xfe\0" {
            let skipped = &scanned_json(&folder, &["f"])["summary"]["skipped"];
            assert_eq!(skipped["binary"], 1);
        }
    }
}

/// U+5D1B and U+5A1B are `ESC ]` and `ESC Z` in UTF-16LE.
#[test]
fn characters_that_spell_introducers_are_no_findings() {
    let folder = Folder::new("chance");
    let text = "\u{5d1b}\u{8d77}\u{4e8e}\u{6771}\u{65b9}\u{3002}\n\u{5a1b}\u{6a02}\u{7bc0}\
                \u{76ee}\u{5b1b}\u{5165}\u{5bae}\n";
    for text in [text.to_owned(), text.repeat(5000)] {
        folder.write("f", utf_16le(&text));
        let log = scanned_json(&folder, &["--show", "info", "f"]);
        let found = &log["summary"]["found"];
        assert_eq!((&found["high"], &found["critical"]), (&json!(0), &json!(0)), "{log}");
    }
    let units: Vec<u16> = std::iter::once(0xFEFF).chain(text.encode_utf16()).collect();
    folder.write("f", units.into_iter().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    assert_eq!(scanned(&folder, &["f"]).code(), 0);
}

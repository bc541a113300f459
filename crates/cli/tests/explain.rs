//! `noesc explain`: the verb; what it writes is tested in its own crate.

mod common;

use common::{Folder, fed, noesc, ran};

const INPUT: &[u8] = b"a\x1b[31mb\x1b]52;c;c2VjcmV0\x07\r\n\xe2\x80\xae";

#[test]
fn items_summary_payload_and_json() {
    let folder = Folder::new("explain");
    let file = folder.write("input", INPUT);
    let rows = ran(noesc(["explain", &file])).out().to_owned();
    assert!(rows.contains("SGR: foreground red") && rows.contains("clipboard-write    HIGH"));
    assert!(rows.contains("<U+202E>") && !rows.contains("c2VjcmV0"), "{rows}");
    let shown = ran(noesc(["explain", "--payload", &file])).out().to_owned();
    assert!(shown.contains("52;c;c2VjcmV0"), "{shown}");
    let summary = ran(noesc(["explain", "--summary", &file])).out().to_owned();
    assert!(summary.contains("clipboard-write") && !summary.contains("SGR:"), "{summary}");
    let json = ran(noesc(["explain", "--json", &file])).out().to_owned();
    for line in json.lines() {
        let item: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(item.is_object(), "{line}");
    }
}

#[test]
fn it_reads_stdin_and_colours_only_when_asked() {
    let plain = fed(noesc(["explain"]), INPUT);
    assert_eq!((plain.code(), plain.err()), (0, ""));
    assert!(plain.stdout.iter().all(|b| *b == b'\n' || !b.is_ascii_control()));
    let coloured = fed(noesc(["explain", "--color", "always"]), INPUT);
    assert!(coloured.stdout.contains(&0x1b));
}

#[test]
fn a_width_is_a_number_of_columns() {
    for wrong in ["10", "71", "1001", "65608", "-1", "wide"] {
        let said =
            format!("\"--width\" can not be \"{wrong}\": it is a number of columns, 72 to 1000");
        ran(noesc(["explain", &format!("--width={wrong}")])).refused(&said, 2);
    }
    for right in ["72", "1000"] {
        assert_eq!(fed(noesc(["explain", "--width", right]), INPUT).code(), 0);
    }
}

#[test]
fn a_missing_file_is_named() {
    let ended = ran(noesc(["explain", "no\x1b[2Jsuch"]));
    assert_eq!(ended.code(), 2);
    assert!(ended.err().starts_with("noesc: error: can not open \"no\\x1b[2Jsuch\""));
}

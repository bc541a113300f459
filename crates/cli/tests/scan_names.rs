//! `noesc scan`: what is in the names of files and folders.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use std::ffi::OsStr;
use std::fs::create_dir_all;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use common::Folder;
use scanning::{HIGH, sarif_of, scanned, scanned_json, validate};
use serde_json::json;

#[test]
fn names_are_looked_at_as_text_is() {
    let folder = Folder::new("names-found");
    let ill_formed = OsStr::from_bytes(b"\xff\xfe\x1b]52;c;aGk=\x07");
    folder.write("a\u{202e}txt.exe", "");
    folder.write("b\u{e9}\u{4e2d}", "");
    folder.write("\u{430}dmin", b"\0binary");
    folder.write(ill_formed, "");
    create_dir_all(folder.path("d\u{202e}e/plain")).unwrap();
    symlink("nothing", folder.path("l\u{202e}\u{202e}")).unwrap();
    let ended = scanned(&folder, &["."]);
    ended.is(
        "a\\xe2\\x80\\xaetxt.exe: high: invisible-bidi-control: a bidi control reorders the text \
         around it, in its name\n\
         d\\xe2\\x80\\xaee: high: invisible-bidi-control: a bidi control reorders the text \
         around it, in its name\n\
         l\\xe2\\x80\\xae\\xe2\\x80\\xae: high: invisible-bidi-control: a bidi control reorders \
         the text around it, in its name (1 more)\n\
         \\xd0\\xb0dmin: high: mixed-script: a word passes for Latin, with letters of another \
         script in it, in its name\n\
         \\xff\\xfe\\x1b]52;c;aGk=\\x07: high: clipboard-write: a sequence writes the clipboard, \
         in its name\n\
         scanned 3 files (0 bytes); skipped 1 binary, 1 symlink; found 6 high, 1 low (not \
         shown)\n",
        "",
        1,
    );
}

#[test]
fn a_name_and_what_is_in_the_file_are_told_apart() {
    let folder = Folder::new("names-forms");
    folder.write("d/\u{202e}".replace('/', "-"), "x\u{202e}\n");
    let log = scanned_json(&folder, &["."]);
    assert_eq!(log["files"].as_array().unwrap().len(), 1);
    let findings = &log["files"][0]["findings"];
    assert_eq!(
        findings[0],
        json!({ "kind": "invisible-bidi-control", "severity": "high", "in": "name", "count": 1,
            "places": [] })
    );
    assert_eq!(findings[1]["places"][0]["line"], 1);
    let sarif = sarif_of(&folder, &["."]);
    validate(&sarif.to_string());
    let results = &sarif["runs"][0]["results"];
    let place = json!({ "artifactLocation": { "uri": "d-%E2%80%AE" } });
    assert_eq!(results[0]["locations"][0]["physicalLocation"], place);
    let said = "A bidi control reorders the text around it, in its name.";
    assert_eq!(results[0]["message"]["text"], said);
    // A baseline that knows the name knows nothing of the file.
    folder.write("d-\u{202e}", "x\n");
    assert_eq!(scanned(&folder, &["--write-baseline", "known", "."]).code(), 0);
    scanned(&folder, &["--baseline", "known", "."]).is(
        "scanned 1 file (2 bytes); found nothing; 1 known from the baseline\n",
        "",
        0,
    );
    folder.write("d-\u{202e}", "x\u{202e}\n");
    assert_eq!(scanned(&folder, &["--baseline", "known", "."]).code(), 1);
    folder.write("e\u{202e}", "");
    assert_eq!(scanned(&folder, &["--baseline", "known", "."]).code(), 1);
}

#[test]
fn a_path_that_is_given_has_a_name_and_its_folders_none() {
    let folder = Folder::new("names-roots");
    create_dir_all(folder.path("d\u{202e}/e")).unwrap();
    folder.write("d\u{202e}/e/f", HIGH);
    let found = |path: &str| scanned_json(&folder, &[path])["summary"]["found"]["high"].clone();
    assert_eq!(found("."), 2);
    assert_eq!(found("d\u{202e}"), 2);
    assert_eq!(found("d\u{202e}/"), 2);
    assert_eq!(found("d\u{202e}/e/f"), 1);
    assert_eq!(found("d\u{202e}/e/.."), 1);
}

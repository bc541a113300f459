//! `noesc scan --format sarif`: what the standard wants, and what is said in it.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use std::ffi::OsStr;
use std::fs::create_dir;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use common::Folder;
use scanning::{CRITICAL, HIGH, INFO, LOW, sarif_of, scanned, validate, validated};
use serde_json::{Value, json};

#[test]
fn sarif_is_what_its_schema_wants() {
    let folder = Folder::new("sarif");
    let all = [CRITICAL, HIGH, LOW, b"\xff", &b"\x1b[2J".repeat(30), "p\u{430}y".as_bytes()];
    folder.write("all", all.concat());
    folder.write("info", INFO);
    folder.write(OsStr::from_bytes(b"name \xff\n"), HIGH);
    create_dir(folder.path("d")).unwrap();
    folder.write("d/none", "");
    symlink("nothing", folder.path("dangling")).unwrap();
    for arguments in
        [&["--show", "info", "."][..], &["."], &["d"], &["--show", "info", ".", "dangling"]]
    {
        validate(scanned(&folder, &[&["--format", "sarif"], arguments].concat()).out());
    }
    // The schema says no to what it should.
    assert_eq!(validated("{\"version\":\"2.1.0\",\"runs\":[{}]}").code(), 1);
}

#[test]
fn sarif_says_where_and_how_grave() {
    let folder = Folder::new("sarif-places");
    folder.write("a b", ["\u{e9} ".as_bytes(), HIGH, HIGH, LOW].concat());
    let log = sarif_of(&folder, &["--show", "low", "."]);
    let run = &log["runs"][0];
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    let results = run["results"].as_array().unwrap();
    let levels: Vec<_> = results.iter().map(|result| result["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "error", "warning"]);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    assert_eq!(
        results[0]["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": { "uri": "a%20b" },
            "region": {
                "startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 17,
                "byteOffset": 5, "byteLength": 12,
            },
        })
    );
    // A fingerprint is that of the line, wherever it goes; no two results share one.
    let prints = |log: &Value| -> Vec<String> {
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let print = |result: &Value| result["partialFingerprints"]["noescLine/v1"].clone();
        results.map(|result| print(result).as_str().unwrap().to_owned()).collect()
    };
    let before = prints(&log);
    folder.write("a b", ["\n\nnew\n\u{e9} ".as_bytes(), HIGH, HIGH, LOW].concat());
    assert_eq!(prints(&sarif_of(&folder, &["--show", "low", "."])), before);
    folder.write("a b", [HIGH, HIGH].concat());
    let same = prints(&sarif_of(&folder, &["."]));
    assert_ne!(same[0], same[1]);
}

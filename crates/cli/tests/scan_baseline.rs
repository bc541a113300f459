//! `noesc scan --baseline`: what is accepted, and what is not.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod scanning;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use common::{Folder, json, ran, shell};
use scanning::{HIGH, LOW, scanned, scanned_json, validate};
use serde_json::json;

#[test]
fn a_baseline_accepts_what_it_knows_and_nothing_else() {
    let folder = Folder::new("baseline");
    let name = folder.name("known.json");
    folder.write("f", [HIGH, LOW, HIGH].concat());
    folder.write("g", "\u{430}dmin\n");
    let ended = scanned(&folder, &["--write-baseline", &name, "--show", "low", "f", "g"]);
    assert_eq!((ended.code(), ended.err()), (0, ""));
    let known = |paths: &[&str]| {
        let all = [&["--baseline", &name, "--fail-on", "low"], paths].concat();
        (scanned(&folder, &all).code(), scanned_json(&folder, &all))
    };
    let (code, log) = known(&["f", "g"]);
    assert_eq!((code, &log["files"], &log["summary"]["known"]), (0, &json!([]), &json!(4)));
    let ended = scanned(&folder, &["--baseline", &name, "f", "g"]);
    ended.is("scanned 2 files (44 bytes); found nothing; 4 known from the baseline\n", "", 0);
    // Lines may move.
    folder.write("f", [b"one\ntwo\n".as_slice(), HIGH, b"three\n", HIGH, LOW].concat());
    assert_eq!(known(&["f", "g"]).0, 0);
    // One more of the same, the same in another file, in another line, or of another kind.
    folder.write("f", [HIGH, HIGH, HIGH].concat());
    let (code, log) = known(&["f"]);
    assert_eq!((code, &log["files"][0]["findings"][0]["count"]), (1, &json!(1)));
    assert_eq!(log["files"][0]["findings"][0]["places"][0]["line"], 3);
    folder.write("h", HIGH);
    assert_eq!(known(&["h"]).0, 1);
    folder.write("g", "\u{430}dmin!\n");
    assert_eq!(known(&["g"]).0, 1);
    folder.write("f", b"x \x1b]52;c;?\x07\n");
    assert_eq!(known(&["f"]).0, 1);
}

#[test]
fn a_baseline_counts_what_has_no_listed_place() {
    let folder = Folder::new("baseline-more");
    let name = folder.name("known.json");
    folder.write("f", HIGH.repeat(12));
    assert_eq!(scanned(&folder, &["--write-baseline", &name, "f"]).code(), 0);
    let count = |copies: usize| {
        folder.write("f", HIGH.repeat(copies));
        let log = scanned_json(&folder, &["--baseline", &name, "f"]);
        log["files"][0]["findings"][0]["count"].as_u64().unwrap_or(0)
    };
    assert_eq!([11, 12, 13, 15].map(count), [0, 0, 1, 3]);
    folder.write("f", HIGH.repeat(13));
    scanned(&folder, &["--baseline", &name, "f"]).is(
        "f: high: clipboard-write: a sequence writes the clipboard (1 more)\n\
         scanned 1 file (195 bytes); found 1 high; 12 known from the baseline\n",
        "",
        1,
    );
    validate(scanned(&folder, &["--baseline", &name, "--format", "sarif", "f"]).out());
}

#[test]
fn a_baseline_is_not_scanned_itself() {
    let folder = Folder::new("baseline-within");
    folder.write("f", HIGH);
    let written = ["--write-baseline", "./known.json", "."];
    let first = scanned(&folder, &written);
    assert!(first.out().starts_with("f:1:3: high: clipboard-write"), "{first:?}");
    assert_eq!(scanned(&folder, &written).out(), first.out());
    let ended = scanned(&folder, &["--baseline", "known.json", "."]);
    ended.is("scanned 1 file (15 bytes); found nothing; 1 known from the baseline\n", "", 0);
    let ended = scanned(&folder, &["."]);
    assert!(ended.out().contains("scanned 2 files"), "{ended:?}");
}

#[test]
fn a_baseline_takes_the_place_of_a_baseline_alone() {
    let folder = Folder::new("baseline-over");
    let hostile = folder.write("README", HIGH);
    folder.write("known", "");
    for name in ["new", "known", "known"] {
        let ended = scanned(&folder, &["--write-baseline", name, ".", "known"]);
        assert_eq!(ended.code(), 0, "{name}");
    }
    std::os::unix::fs::symlink("README", folder.path("link")).unwrap();
    for (name, path, why) in [
        ("README", ".", "it holds no baseline"),
        ("link", ".", "it holds no baseline"),
        ("README", "README", "it holds no baseline"),
    ] {
        let said = format!("\"--write-baseline\" can not be \"{name}\": {why}");
        scanned(&folder, &["--write-baseline", name, path]).refused(&said, 2);
    }
    for script in [
        r#""$N" scan --write-baseline empty - <empty"#,
        r#""$N" scan --write-baseline empty . >empty"#,
    ] {
        folder.write("empty", "");
        let mut command = shell(script);
        command.current_dir(&folder.0);
        ran(command).refused("\"--write-baseline\" can not be \"empty\": the file is in use", 2);
    }
    assert_eq!(std::fs::read(hostile).unwrap(), HIGH);
    let mut command = shell(r#""$N" scan --format json --write-baseline /dev/null README"#);
    command.current_dir(&folder.0);
    assert_eq!(ran(command).code(), 0);
}

#[test]
fn one_finding_is_accepted_beside_what_is_known() {
    let folder = Folder::new("baseline-add");
    for name in ["a", "b", "c", "d"] {
        folder.write(name, HIGH);
    }
    folder.write("low", LOW);
    scanned(&folder, &["--write-baseline", "known", "--show", "low", "a", "low"]);
    let add = |paths: &[&str]| {
        let both = ["--baseline", "known", "--write-baseline", "known"];
        scanned(&folder, &[&both, paths].concat())
    };
    // What is new is shown, accepted, and the rest kept, whatever it was shown from.
    add(&["b"]).is(
        "b:1:3: high: clipboard-write: a sequence writes the clipboard\n\
         scanned 1 file (15 bytes); found 1 high\n",
        "",
        0,
    );
    let entries = || -> Vec<(String, u64)> {
        let log = json(&folder.path("known"));
        let entry = |entry: &serde_json::Value| {
            (entry["path"].as_str().unwrap().to_owned(), entry["count"].as_u64().unwrap())
        };
        log["findings"].as_array().unwrap().iter().map(entry).collect()
    };
    let of = |names: &[(&str, u64)]| -> Vec<(String, u64)> {
        names.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    assert_eq!(entries(), of(&[("a", 1), ("b", 1), ("low", 1)]));
    let ended = scanned(&folder, &["--baseline", "known", "--fail-on", "low", "."]);
    assert_eq!(ended.out().lines().count(), 3, "c and d are new: {ended:?}");
    // The same again changes nothing; a second such line is added.
    let before = std::fs::read(folder.path("known")).unwrap();
    add(&["a", "b", "low"]);
    assert_eq!(std::fs::read(folder.path("known")).unwrap(), before);
    folder.write("a", [HIGH, HIGH].concat());
    add(&["a"]);
    assert_eq!(entries(), of(&[("a", 2), ("b", 1), ("low", 1)]));
    // What was looked for and is gone goes; what was not, or could not be read, stays.
    folder.write("a", HIGH);
    folder.write("b", "text\n");
    std::fs::remove_file(folder.path("low")).unwrap();
    assert_eq!(add(&["a", "b", "low"]).code(), 2);
    assert_eq!(entries(), of(&[("a", 1), ("low", 1)]));
    // To another file: neither is scanned, and the first stays as it was.
    let known = std::fs::read(folder.path("known")).unwrap();
    folder.write("new", "");
    scanned(&folder, &["--baseline", "known", "--write-baseline", "new", "c", "new", "known"]);
    assert_eq!(std::fs::read(folder.path("known")).unwrap(), known);
    std::fs::rename(folder.path("new"), folder.path("known")).unwrap();
    assert_eq!(entries(), of(&[("a", 1), ("c", 1), ("low", 1)]));
}

#[test]
fn a_baseline_holds_nothing_of_the_input() {
    let folder = Folder::new("baseline-form");
    let name = folder.write("known.json", "");
    folder.write(OsStr::from_bytes(b"f\x1b"), HIGH);
    assert_eq!(scanned(&folder, &["--write-baseline", &name, "."]).code(), 0);
    let text = std::fs::read_to_string(folder.path("known.json")).unwrap();
    assert_eq!(text.lines().count(), 3, "one entry a line: {text:?}");
    let log = json(&folder.path("known.json"));
    let digest = "bff3a5ba8dd6b8a8de9dcb1a1a7fbb7ac5d6d6bd9e1cd4d1ed4ec59b3cf0b47e";
    let entry = &log["findings"][0];
    assert_eq!(entry["line"].as_str().unwrap().len(), digest.len());
    assert_eq!(entry["path"], r"f\x1b");
    let keys: Vec<_> = entry.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["count", "kind", "line", "path", "severity"]);
    // With nothing to accept it is one all the same.
    folder.write("none", "");
    assert_eq!(scanned(&folder, &["--write-baseline", &name, "none"]).code(), 0);
    assert_eq!(scanned(&folder, &["--baseline", &name, "none"]).code(), 0);
}

#[test]
fn what_is_no_baseline_is_refused() {
    let folder = Folder::new("no-baseline");
    folder.write("f", HIGH);
    let refused = |text: &str, message: &str| {
        folder.write("known", text);
        let ended = scanned(&folder, &["--baseline", "known", "f"]);
        let said = format!("\"known\" is no baseline: {message}");
        ended.refused(&said, 2);
        let hint = "noesc: hint: \"noesc scan --write-baseline FILE\" writes one";
        assert_eq!(ended.err().lines().nth(1), Some(hint));
    };
    let entry = |entry: &str| {
        format!("{{\"schema\":\"noesc.scan-baseline/1\",\"findings\":[{{{entry}}}]}}")
    };
    refused("", "it ends too early, at line 1 column 1");
    refused("{\n", "it ends too early, at line 2 column 1");
    refused("{\n  \"schema\" 1}", "it is no JSON, at line 2 column 12");
    let unknown = "{\"schema\":\"s\",\n\"other\": 1}";
    let field = "a field is missing, unknown or of another type, at line";
    refused(unknown, &format!("{field} 2 column 7"));
    refused(&entry("\"path\":1"), &format!("{field} 1 column 55"));
    // Nothing hides in a file that is not scanned.
    let character = "a character that no scan has written, at line";
    refused("{\n\"\u{202e}", &format!("{character} 2 column 2"));
    refused("\u{feff}{}", &format!("{character} 1 column 1"));
    refused("{\"schema\":\"\u{1b}", &format!("{character} 1 column 12"));
    refused("{\"schema\":\"other\\u001b\",\"findings\":[]}", r#"its schema is "other\x1b""#);
    refused(
        &entry("\"path\":\"f\",\"kind\":\"k\",\"severity\":\"grave\",\"count\":1"),
        "a severity is \"grave\"",
    );
    let ended = scanned(&folder, &["--baseline", "gone", "f"]);
    ended.refused("\"--baseline\" can not read \"gone\": no such file or folder", 2);
    scanned(&folder, &["--show", "never", "f"]).refused("\"--show\" can not be \"never\"", 2);
}

//! `noesc run --expect`: what a command was to print, and whether it did.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use common::{Folder, json, noesc, ran, ran_sh, shell};
use serde_json::{Value, json};

fn told(flags: &[&str], script: &str) -> Value {
    let ended = ran_sh(&[&["--format", "json"], flags].concat(), script);
    serde_json::from_str(ended.out()).unwrap()
}

#[test]
fn the_record_carries_the_value_marked_untrusted() {
    let script = r#"printf '{"k\\u001b[1m":"\\u001b]52;c;UVE=\\u0007hi","n":[1,null]}'; exit 3"#;
    let record = told(&["--expect", "json"], script);
    let expected = &record["expected"];
    assert_eq!(expected["value"], json!({"k": "hi", "n": [1, null]}));
    assert_eq!(expected["trust"], "untrusted-process-output");
    assert_eq!((&expected["met"], &expected["kind"]), (&json!(true), &json!("json")));
    assert_eq!(expected["report"]["kinds"], json!({"clipboard-write": 1, "style": 1}));
    assert_eq!(record["outcome"]["code"], 3);
    assert_eq!(record["limits"]["json_bytes_max"], 1 << 20);
    assert!(told(&[], script).get("expected").is_none());
}

#[test]
fn json_at_a_descriptor_of_its_own_leaves_stdout_to_people() {
    let flags = ["--expect", "json", "--json-fd", "3"];
    let record = told(&flags, r#"echo building; echo '{"ok":true}' >&3"#);
    assert_eq!(record["expected"]["value"], json!({"ok": true}));
    assert_eq!(record["expected"]["descriptor"], 3);
    assert_eq!(record["streams"]["stdout"]["view"]["head"], "building\n");
    // A forged value on stdout is no value.
    let record = told(&flags, r#"echo '{"ok":true}'"#);
    assert_eq!(record["expected"]["mismatch"], json!({"reason": "empty"}));
}

#[test]
fn a_mismatch_is_told_and_the_status_is_the_commands() {
    let record = told(&["--expect", "json"], "echo '[1,'; exit 4");
    assert_eq!(record["expected"]["met"], false);
    assert_eq!(record["expected"]["mismatch"]["reason"], "syntax");
    assert_eq!(record["outcome"]["code"], 4);
    let small = told(&["--expect", "json", "--json-bytes-max", "3"], "echo '[1]'");
    assert_eq!(small["expected"]["mismatch"], json!({"reason": "too-long", "max": 3}));
    let small = told(&["--expect", "json", "--json-bytes-max", "4"], "echo '[1]'");
    assert_eq!(small["expected"]["value"], json!([1]));
    let text = told(&["--expect", "text"], r"printf 'a\000'");
    assert_eq!(text["expected"]["mismatch"], json!({"reason": "nul"}));
}

#[test]
fn the_live_wrapper_passes_all_and_says_when_a_promise_was_broken() {
    let kept = ran_sh(&["--expect", "json"], "echo '[1]'; exit 5");
    kept.is("[1]\n", "", 5);
    let broken = ran_sh(&["--expect", "json"], "echo '[1] x'; exit 5");
    let said = "noesc: expected json at descriptor 1: not met, it is not JSON: trailing \
                characters, near byte 4\n";
    broken.is("[1] x\n", said, 5);
    ran_sh(&["--expect", "json", "--quiet"], "echo x").is("x\n", "", 0);
    let folder = Folder::new("expect-facts");
    let path = folder.name("facts.json");
    ran_sh(&["--expect", "json", "--report", &path], "echo '{\"a\":1}'");
    let facts = json(path.as_ref());
    assert_eq!(facts["expected"]["met"], true);
    assert!(facts["expected"].get("value").is_none());
}

#[test]
fn other_formats_tell_whether_and_not_what() {
    for format in ["lines", "fence", "xml"] {
        let ended = ran_sh(&["--format", format, "--expect", "json"], "echo '[1234567]'");
        assert_eq!(ended.code(), 0, "{}", ended.err());
        assert!(ended.out().contains(r#""met":true"#));
        // A limit has a value too; this one is an array.
        assert!(!ended.out().contains(r#""value":["#));
    }
    let lines = ran_sh(&["--format", "lines", "--expect", "json"], "echo '[1234567]'");
    assert!(lines.out().contains("\n# expected json at descriptor 1: met\n"), "{}", lines.out());
}

#[test]
fn an_artifact_is_counted_and_not_shown() {
    let record = told(&["--expect", "artifact"], r"printf 'PK\003\004 binary\n'; echo done >&2");
    assert_eq!(record["streams"]["stdout"]["view"]["head"], "");
    assert_eq!(record["streams"]["stdout"]["bytes"]["observed"], 12);
    assert_eq!(record["streams"]["stderr"]["view"]["head"], "done\n");
    assert!(record["streams"]["stdout"]["digest"].get("raw_hmac").is_some());
}

#[test]
fn flags_that_do_not_go_together_are_refused_before_anything_is_run() {
    for (flags, message) in [
        (&["--json-fd", "3"][..], "no JSON is expected"),
        (&["--json-bytes-max", "3"], "no JSON is expected"),
        (&["--expect", "text", "--json-fd", "3"], "no JSON is expected"),
        (&["--expect", "artifact"], "\"--expect artifact\" has no text to show"),
        (&["--expect", "json", "--json-fd", "3"], "\"--json-fd\" needs a place for the value"),
    ] {
        ran_sh(flags, "echo started").refused(message, 125);
    }
    let taken = "\"--json-fd\" names a descriptor that is given away";
    for flag in ["--keep-fd", "--facts-fd"] {
        let script = format!(
            r#""$N" run --format json --expect json --json-fd 3 {flag} 3 -- echo x 3>/dev/null"#
        );
        ran(shell(&script)).refused(taken, 125);
    }
    for number in ["2", "-1", "x"] {
        let flags = ["run", "--expect", "json", "--json-fd", number, "--", "echo", "started"];
        let refused = ran(noesc(flags));
        assert_eq!((refused.out(), refused.code()), ("", 125));
    }
}

//! The contract of a run: what of its output arrives, and what is said of the rest.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod contract;

use contract::{told, told_sh};
use serde_json::json;

#[test]
fn the_end_of_a_long_failing_run_is_there() {
    let run = told_sh(&[], "yes x | head -c 5000000; echo ERROR-END; exit 3");
    let (head, tail) = run.view("stdout");
    assert!(head.starts_with("x\nx\n") && head.ends_with("x\n"));
    assert!(tail.ends_with("x\nx\nERROR-END\n"), "{tail:?}");
    // A view of inert text is the text: what is left out can be told by arithmetic.
    let shown = (head.len() + tail.len()) as u64;
    let lines = (head.matches('\n').count() + tail.matches('\n').count()) as u64;
    let omitted = &run.stream("stdout")["view"]["omitted"];
    assert_eq!(omitted["bytes"], 5_000_010 - shown);
    assert_eq!(omitted["lines"], 2_500_001 - lines);
    assert!(shown <= 32 * 1024, "{shown}");
    assert_eq!(run.bytes("stdout"), (5_000_010, 5_000_010));
    assert_eq!(run.stream("stdout")["lines"], 2_500_001);
    assert_eq!(run.end("stdout"), (true, "none", true));
    assert_eq!(run.outcome(), json!({"kind": "exited", "code": 3}));
    assert_eq!(run.code, 3);
}

#[test]
fn a_character_that_comes_in_two_pieces_is_one() {
    let run = told_sh(&[], r#"printf "\342"; sleep .2; printf "\211\244\n""#);
    assert_eq!(run.all("stdout"), "\u{2264}\n");
    assert_eq!(run.stream("stdout")["report"], json!({}));
}

/// Grapheme clusters in which nothing may be broken: joined emoji, a letter with its mark.
const CLUSTERS: [&str; 11] = [
    "A",
    "A",
    "A",
    "A",
    "\u{20ac}",
    "\u{20ac}",
    "\u{20ac}",
    "\u{20ac}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    " ",
    "e\u{301}",
];

#[test]
fn a_view_of_any_size_breaks_no_character_and_no_cluster() {
    let text = CLUSTERS.concat();
    assert_eq!(text.len(), 38);
    for max in 1..=60_usize {
        let run = told(&["--view-bytes-max", &max.to_string()], &["printf", "%s", &text]);
        let (head, tail) = run.view("stdout");
        let wholes = (0..=CLUSTERS.len()).map(|count| CLUSTERS[..count].concat());
        assert!(wholes.into_iter().any(|whole| whole == head), "{max}: head {head:?}");
        let wholes = (0..=CLUSTERS.len()).map(|count| CLUSTERS[count..].concat());
        assert!(wholes.into_iter().any(|whole| whole == tail), "{max}: tail {tail:?}");
        assert!(head.len() + tail.len() <= max, "{max}: {head:?} {tail:?}");
        let omitted = run.stream("stdout")["view"]["omitted"]["bytes"].as_u64().unwrap();
        assert_eq!(omitted as usize, text.len() - head.len() - tail.len(), "{max}");
        if max >= text.len() {
            assert_eq!((head, tail), (text.as_str(), ""), "{max}");
        }
    }
}

#[test]
fn a_declared_encoding_is_decoded() {
    let run = told(&["--encoding", "gbk"], &["printf", r"\304\343\272\303\n"]);
    assert_eq!(run.all("stdout"), "\u{4f60}\u{597d}\n");
    assert_eq!(run.stream("stdout")["report"], json!({}));
    assert_eq!(run.stream("stdout")["encoding"], "GBK");
}

#[test]
fn an_undeclared_encoding_is_named_and_not_used() {
    let run = told::<&str>(&[], &["printf", r"\304\343\272\303\n"]);
    assert_eq!(run.all("stdout"), "\u{fffd}\u{fffd}\u{fffd}\n");
    let report = &run.stream("stdout")["report"];
    assert_eq!(report["ill_formed"], 3);
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &finding["count"]), (&json!("encoding-suspected"), &json!(3)));
    // Four bytes are well-formed in several encodings; a few words settle it.
    assert!(finding["encoding"].is_string(), "{finding}");
    let words = concat!(
        r"\304\343\272\303\243\254\312\300\275\347\241\243",
        r"\325\342\312\307\322\273\266\316\326\320\316\304\n",
    );
    let run = told::<&str>(&[], &["printf", words]);
    let finding = &run.stream("stdout")["report"]["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["encoding"]),
        (&json!("encoding-suspected"), &json!("GBK"))
    );
    assert!(run.stream("stdout").get("encoding").is_none());
}

#[test]
fn utf_16_is_suspected_and_nothing_blanked() {
    let run = told::<&str>(&[], &["printf", r"W\0i\0n\0\r\0\n\0"]);
    assert_eq!(run.all("stdout"), "Win\n");
    let report = &run.stream("stdout")["report"];
    assert_eq!(report["controls"], json!({"nul": 5}));
    assert_eq!(report["findings"][0]["kind"], "utf-16-suspected");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1));
}

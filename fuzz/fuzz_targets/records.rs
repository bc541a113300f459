#![no_main]
//! The record of a run: what the formats and JSON values make of any text. The first byte chooses:
//! the rest is parsed as an envelope, or is the views of one, or is a value.

use libfuzzer_sys::fuzz_target;
use noesc_envelope::{Format, StreamName, Text, Value, parse, render};

#[path = "../../crates/envelope/tests/common/mod.rs"]
mod common;

fuzz_target!(|bytes: &[u8]| {
    let [choice, input @ ..] = bytes else { return };
    let text = String::from_utf8_lossy(input);
    let format = Format::ALL[usize::from(choice >> 2) % Format::ALL.len()];
    match choice % 4 {
        0 => parsed(&text, format),
        1 => carried(&text, format, usize::from(choice >> 4)),
        2 => tampered(&text, format),
        _ => value(&text),
    }
});

/// What parses is what its own rendering gives.
fn parsed(text: &str, format: Format) {
    if let Ok(envelope) = parse(text, format) {
        let again = render(&envelope, format, &mut common::nonces());
        if let Ok(again) = again {
            assert_eq!(parse(&again, format), Ok(envelope));
        }
    }
}

/// A child that prints this, head and tail, changes nothing but the views.
fn carried(text: &str, format: Format, cut: usize) {
    let inert = noesc::clean(text.as_bytes());
    // JSON carries any text.
    let stderr = if format == Format::Json { text } else { &inert };
    let mut envelope = common::ordinary(&inert, stderr);
    let at = inert.floor_char_boundary(inert.len() * cut / 16);
    let stdout = envelope.streams.get_mut(&StreamName::Stdout).unwrap();
    stdout.view.text = Some(Text { head: inert[..at].into(), tail: inert[at..].into() });
    stdout.view.omitted.bytes = cut as u64;
    stdout.view.omitted.lines = 1;
    let rendered = common::rendered(&envelope, format);
    assert_eq!(parse(&rendered, format), Ok(envelope));
}

/// A rendering with something put into it is refused, or is another whole envelope.
fn tampered(text: &str, format: Format) {
    let mut rendered = common::rendered(&common::ordinary("one\ntwo\n", "three"), format);
    let at = text.len() % rendered.len();
    rendered.insert_str(rendered.floor_char_boundary(at), text);
    parsed(&rendered, format);
}

/// A value is the same when it is written and read again, and serde_json agrees that it is JSON.
fn value(text: &str) {
    match Value::parse(text) {
        Ok(value) => {
            assert_eq!(Value::parse(&value.to_string()), Ok(value));
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
        }
        Err(error) => drop(error.to_string()),
    }
}

#![no_main]
//! The parser: events tile the input, chunks make no difference, the slow second parser agrees.
//!
//! The first byte is the length of the chunks; the rest is the input.

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/grammar/tests/common/mod.rs"]
mod common;

fuzz_target!(|bytes: &[u8]| {
    let Some((&len, input)) = bytes.split_first() else { return };
    common::agrees(input);
    let want = common::whole(input);
    let chunks = input.chunks(usize::from(len).max(1));
    assert_eq!(common::trace(input, chunks), want, "{}", input.escape_ascii());
    let (a, b) = input.split_at(usize::from(len).min(input.len()));
    assert_eq!(common::trace(input, [a, b]), want, "{}", input.escape_ascii());
});

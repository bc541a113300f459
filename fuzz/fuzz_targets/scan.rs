#![no_main]
//! The scan: every path finds what a slow reference finds.
//!
//! The first byte is how much text stands before the input, and whether every cut is tried.

use libfuzzer_sys::fuzz_target;
use noesc_scan::{available, force};

#[path = "../../crates/scan/tests/common/mod.rs"]
mod common;

fuzz_target!(|bytes: &[u8]| {
    let [before, input @ ..] = bytes else { return };
    // Of just this length, so that a look beyond it is seen.
    let text = vec![b'a'; usize::from(*before) % 80];
    let raw = [&text, input].concat().into_boxed_slice();
    let items = common::items(&raw);
    for path in available() {
        force(Some(path));
        let mut held = common::finds(&raw, &items, path).and_then(|()| common::measures(&raw));
        if *before >= 240 && raw.len() < 300 {
            let cuts = || common::cuts(&raw, &items).and_then(|()| common::ends_lines(&raw));
            held = held.and_then(|()| cuts());
        }
        if let Err(reason) = held {
            panic!("{}: {reason:.2000}\n{:.2000}", path.name(), raw.escape_ascii());
        }
    }
});

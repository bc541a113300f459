//! No byte of an original, of a name or of an error reaches a cell as it is.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::io;

use common::{assert_inert, hostile, screen};
use noesc_testkit::dangerous;
use noesc_text::Unescape;
use noesc_viewer::{Bytes, Key, Original, Start, StreamInfo, Viewer};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Fails now and then, with a message of its own.
struct Failing {
    inner: Bytes,
    message: String,
    every: usize,
    reads: usize,
}

impl Original for Failing {
    fn streams(&self) -> &[StreamInfo] {
        self.inner.streams()
    }

    fn read_at(&mut self, stream: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.every > 0 && self.reads.is_multiple_of(self.every) {
            return Err(io::Error::other(self.message.clone()));
        }
        // Reads may be short.
        let length = buffer.len().min(1 + self.reads % 100);
        self.inner.read_at(stream, offset, &mut buffer[..length])
    }
}

#[derive(Clone, Debug)]
enum Act {
    Press(Key),
    Type(String),
    Resize(u16, u16),
    Work,
}

fn key() -> impl Strategy<Value = Key> {
    let named = [
        Key::Enter,
        Key::Esc,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Ctrl('d'),
        Key::Ctrl('u'),
        Key::Ctrl('l'),
    ];
    let meant = "hjklgG0$nNsf;,civyI? b".chars().map(Key::Char).collect::<Vec<_>>();
    prop_oneof![
        2 => proptest::sample::select(named.to_vec()),
        6 => proptest::sample::select(meant),
        1 => any::<char>().prop_filter("leaves", |c| *c != 'q').prop_map(Key::Char),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let typed = prop_oneof![
        "/[ -~]{0,8}",
        "/x( ?[0-9a-f]{2}){1,3}",
        ":[0-9]{1,4}",
        ":0x[0-9a-f]{1,3}",
        ":line [0-9]{1,3}",
        "/\\PC{0,4}",
    ];
    prop_oneof![
        8 => key().prop_map(Act::Press),
        2 => typed.prop_map(Act::Type),
        2 => (0_u16..140, 0_u16..40).prop_map(|(columns, rows)| Act::Resize(columns, rows)),
        2 => Just(Act::Work),
    ]
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_is_printable_ascii(
        streams in prop::collection::vec((dangerous::input(), dangerous::input()), 0..3),
        title in dangerous::input(),
        message in dangerous::input(),
        every in 0_usize..8,
        acts in prop::collection::vec(act(), 0..40),
        colour: bool,
        offset in 0_u64..3000,
    ) {
        let names: Vec<String> = streams.iter().map(|(name, _)| lossy(name)).collect();
        let named = names.iter().map(String::as_str).zip(streams.into_iter().map(|of| of.1));
        let inner = Bytes::new(named);
        let message = lossy(&message);
        let mut original = Failing { inner, message, every, reads: 0 };
        let start = Start { title: lossy(&title), stream: 1, offset, colour };
        let mut viewer = Viewer::new(&mut original, &start);
        let mut area = Rect::new(0, 0, 80, 24);
        for act in acts {
            match act {
                Act::Press(key) => viewer.key(key),
                Act::Type(text) => {
                    text.chars().map(Key::Char).chain([Key::Enter]).for_each(|key| viewer.key(key));
                }
                Act::Resize(columns, rows) => area = Rect::new(0, 0, columns, rows),
                Act::Work => while viewer.work() {},
            }
            viewer.work();
            let mut buffer = Buffer::empty(area);
            viewer.draw(&mut buffer);
            assert_inert(&buffer);
        }
        for copied in viewer.seen().copied {
            prop_assert!(copied.text.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        }
    }
}

/// The bytes that the rows of a screen say, once by the hexadecimal and once by the text.
fn told(rows: &[String], text_at: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut hex, mut text) = (Vec::new(), Vec::new());
    let mut unescape = Unescape::default();
    for row in rows {
        // A blank at the end of the text is no padding.
        let row = format!("{row:<80}");
        let digits = &row[6..text_at];
        let bytes: Vec<u8> =
            digits.split_whitespace().map(|hex| u8::from_str_radix(hex, 16).unwrap()).collect();
        let mut told = row[text_at..].bytes();
        let mut here = Vec::new();
        while here.len() < bytes.len() {
            here.extend(unescape.push(told.next().unwrap()).unwrap());
        }
        hex.extend(bytes);
        text.extend(here);
    }
    unescape.finish().unwrap();
    (hex, text)
}

#[test]
fn the_rows_of_all_pages_are_the_bytes() {
    let bytes = hostile();
    assert!((0x1_0000..0x10_0000).contains(&bytes.len()), "the columns are counted for these");
    let mut original = Bytes::new([("corpus", bytes.clone())]);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    let (mut hex, mut text) = (Vec::new(), Vec::new());
    while hex.len() < bytes.len() {
        let rows = screen(&mut viewer, 80, 23);
        let (a, b) = told(&rows[1..16], 6 + 24 + 1);
        hex.extend(a);
        text.extend(b);
        viewer.key(Key::PageDown);
    }
    assert!(hex == bytes, "the hexadecimal is another");
    assert!(text == bytes, "the text is another");
    let seen = viewer.seen().ranges;
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].bytes, 0..bytes.len() as u64);
}

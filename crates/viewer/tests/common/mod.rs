//! What the tests share. Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io;

use noesc_testkit::corpus::{load, root};
use noesc_viewer::{Key, Original, StreamInfo, Viewer};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// The screen as rows without the blanks at their ends.
pub fn screen(viewer: &mut Viewer<'_>, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| viewer.draw(frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    assert_inert(buffer);
    let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_owned()).collect()
}

/// No cell holds anything but one printable ASCII character.
#[track_caller]
pub fn assert_inert(buffer: &ratatui::buffer::Buffer) {
    for cell in buffer.content() {
        assert!(matches!(cell.symbol().as_bytes(), [b' '..=b'~']), "{:?}", cell.symbol());
    }
}

/// Presses keys, and does what work they ask for.
pub fn press(viewer: &mut Viewer<'_>, keys: impl IntoIterator<Item = Key>) {
    for key in keys {
        viewer.key(key);
        while viewer.work() {}
    }
}

/// Types text, and Enter.
pub fn enter(viewer: &mut Viewer<'_>, text: &str) {
    press(viewer, text.chars().map(Key::Char).chain([Key::Enter]));
}

/// All bytes of the corpus.
pub fn hostile() -> Vec<u8> {
    let cases = load(&root()).unwrap_or_else(|error| panic!("{error}"));
    cases.iter().flat_map(noesc_testkit::corpus::Case::input).collect()
}

/// A stream of so many bytes, each made from its offset, that counts what is read.
pub struct Made {
    streams: [StreamInfo; 1],
    byte: fn(u64) -> u8,
    /// Bytes that were read in all.
    pub read: u64,
    /// The most that were asked for at once.
    pub at_once: usize,
}

impl Made {
    pub fn new(bytes: u64, byte: fn(u64) -> u8) -> Self {
        let streams = [StreamInfo { name: "made".to_owned(), bytes }];
        Self { streams, byte, read: 0, at_once: 0 }
    }
}

impl Original for Made {
    fn streams(&self) -> &[StreamInfo] {
        &self.streams
    }

    fn read_at(&mut self, _: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.streams[0].bytes.saturating_sub(offset);
        let length = buffer.len().min(usize::try_from(rest).unwrap());
        for (at, byte) in (offset..).zip(&mut buffer[..length]) {
            *byte = (self.byte)(at);
        }
        self.read += length as u64;
        self.at_once = self.at_once.max(buffer.len());
        Ok(length)
    }
}

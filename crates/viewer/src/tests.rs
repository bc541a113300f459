//! Limits that only the inside can see: one below, at, one above.

use noesc_testkit::dangerous;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::index::{GAP_BYTES_MAX, Index, LOOKAHEAD_BYTES_MAX, Pieces};
use crate::key::Key;
use crate::keys::{KEYS_WAITING_MAX, PROMPT_CHARS_MAX};
use crate::original::{Bytes, Original, Start, StreamInfo};
use crate::piece::{PAYLOAD_SHOWN_BYTES_MAX, Piece, Sort};
use crate::source::{READ_BYTES_MAX, STREAM_BYTES_MAX, Source};
use crate::viewer::{COPIED_BYTES_MAX, Mode, Viewer};

fn one(bytes: Vec<u8>) -> Bytes {
    Bytes::new([("stdout", bytes)])
}

#[test]
fn a_read_has_a_length() {
    for (bytes, read) in [
        (READ_BYTES_MAX - 1, READ_BYTES_MAX - 1),
        (READ_BYTES_MAX, READ_BYTES_MAX),
        (READ_BYTES_MAX + 1, READ_BYTES_MAX),
    ] {
        let mut original = one(vec![b'a'; bytes]);
        let mut source = Source::new(&mut original, 0);
        assert_eq!(source.some(0..u64::MAX).unwrap().len(), read);
        assert_eq!(source.all(0..u64::MAX).unwrap().len(), bytes);
    }
}

#[test]
fn a_small_gap_is_read_without_being_asked() {
    let mut original = one(vec![b'a'; 2 * 1024 * 1024]);
    let mut source = Source::new(&mut original, 0);
    for (from, exact) in
        [(GAP_BYTES_MAX - 1, true), (GAP_BYTES_MAX, true), (GAP_BYTES_MAX + 1, false)]
    {
        let pieces = Index::new().pieces(&mut source, from, from + 16).unwrap();
        assert_eq!((pieces.exact, pieces.line.is_some()), (exact, exact));
    }
}

#[test]
fn the_end_of_a_piece_is_looked_for_nearby() {
    for (controls, sort) in [
        (16 + LOOKAHEAD_BYTES_MAX - 2, Sort::Control),
        (16 + LOOKAHEAD_BYTES_MAX - 1, Sort::Control),
        (16 + LOOKAHEAD_BYTES_MAX, Sort::Open),
    ] {
        let mut bytes = vec![0; usize::try_from(controls).unwrap()];
        bytes.push(b'a');
        let mut original = one(bytes);
        let mut source = Source::new(&mut original, 0);
        let pieces = Index::new().pieces(&mut source, 0, 16).unwrap();
        let sorts: Vec<Sort> = pieces.list.iter().map(|piece| piece.sort).collect();
        assert_eq!(sorts, [sort]);
    }
}

#[test]
fn a_payload_is_shown_up_to_a_length() {
    for (bytes, shown) in [
        (PAYLOAD_SHOWN_BYTES_MAX - 1, PAYLOAD_SHOWN_BYTES_MAX - 1),
        (PAYLOAD_SHOWN_BYTES_MAX, PAYLOAD_SHOWN_BYTES_MAX),
        (PAYLOAD_SHOWN_BYTES_MAX + 1, PAYLOAD_SHOWN_BYTES_MAX),
    ] {
        let mut original = one([b"\x1b]", &vec![b'a'; bytes][..], b"\x07"].concat());
        let mut source = Source::new(&mut original, 0);
        let pieces = Index::new().pieces(&mut source, 0, 16).unwrap();
        assert_eq!(pieces.list[0].payload.len(), shown);
    }
}

#[test]
fn a_prompt_takes_so_many_characters() {
    for (typed, taken) in [
        (PROMPT_CHARS_MAX - 1, PROMPT_CHARS_MAX - 1),
        (PROMPT_CHARS_MAX, PROMPT_CHARS_MAX),
        (PROMPT_CHARS_MAX + 1, PROMPT_CHARS_MAX),
    ] {
        let mut original = one(Vec::new());
        let mut viewer = Viewer::new(&mut original, &Start::default());
        viewer.key(Key::Char('/'));
        (0..typed).for_each(|_| viewer.key(Key::Char('a')));
        let wanted = Mode::Prompt { sign: '/', text: "a".repeat(taken) };
        assert!(viewer.mode == wanted);
    }
}

#[test]
fn copies_have_a_limit_in_all() {
    for (last, copied) in [
        (COPIED_BYTES_MAX - 1, COPIED_BYTES_MAX - 1),
        (COPIED_BYTES_MAX, COPIED_BYTES_MAX),
        (COPIED_BYTES_MAX + 1, 16),
    ] {
        let mut original = one(vec![b'a'; 100_000]);
        let mut viewer = Viewer::new(&mut original, &Start::default());
        for length in [16, last - 16] {
            viewer.jump(0);
            viewer.key(Key::Char('v'));
            viewer.jump(length - 1);
            viewer.key(Key::Char('y'));
        }
        let all: usize = viewer.seen().copied.iter().map(|copied| copied.text.len()).sum();
        assert_eq!(all as u64, copied);
    }
}

#[test]
fn so_many_keys_wait_for_work() {
    for (pressed, taken) in [
        (KEYS_WAITING_MAX - 1, KEYS_WAITING_MAX - 1),
        (KEYS_WAITING_MAX, KEYS_WAITING_MAX),
        (KEYS_WAITING_MAX + 1, KEYS_WAITING_MAX),
    ] {
        let mut original = one(vec![b'a'; 1000]);
        let mut viewer = Viewer::new(&mut original, &Start::default());
        viewer.key(Key::Char('n'));
        (0..pressed).for_each(|_| viewer.key(Key::Right));
        while viewer.work() {}
        assert_eq!(viewer.here().cursor, taken as u64);
    }
}

/// Zeros, without end.
struct Endless([StreamInfo; 1]);

impl Original for Endless {
    fn streams(&self) -> &[StreamInfo] {
        &self.0
    }

    fn read_at(&mut self, _: usize, _: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(0);
        Ok(buffer.len())
    }
}

#[test]
fn a_stream_has_a_length_at_most() {
    for (bytes, shown) in [
        (STREAM_BYTES_MAX - 1, STREAM_BYTES_MAX - 1),
        (STREAM_BYTES_MAX, STREAM_BYTES_MAX),
        (STREAM_BYTES_MAX + 1, STREAM_BYTES_MAX),
        (u64::MAX, STREAM_BYTES_MAX),
    ] {
        let mut original = Endless([StreamInfo { name: "stdout".to_owned(), bytes }]);
        assert_eq!(Source::new(&mut original, 0).len(), shown);
        let start = Start { offset: u64::MAX, ..Start::default() };
        let mut viewer = Viewer::new(&mut original, &start);
        assert_eq!(viewer.here().cursor, shown - 1);
        for key in "jl$ kGb,;ivy/a".chars().map(Key::Char).chain([Key::Enter]) {
            viewer.key(key);
            viewer.work();
            viewer.key(Key::Esc);
            viewer.draw(&mut Buffer::empty(Rect::new(0, 0, 80, 24)));
        }
    }
}

/// What each byte is, and of what.
fn told(pieces: &Pieces, from: u64, to: u64) -> Vec<(Sort, u64, u64, String)> {
    let piece = |at| pieces.list.iter().find(|piece| piece.tile.contains(&at));
    let tell =
        |piece: &Piece| (piece.sort, piece.bytes.start, piece.bytes.end, piece.title.clone());
    (from..to).map(|at| tell(piece(at).unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever was read before, a part of a stream is what one pass over all of it says.
    #[test]
    fn a_part_is_as_the_whole_says(
        unit in dangerous::input(),
        repeated in 1_usize..200,
        places in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..200), 1..12),
    ) {
        let bytes = unit.repeat(repeated);
        prop_assume!((1..200_000).contains(&bytes.len()));
        let mut original = one(bytes.clone());
        let mut source = Source::new(&mut original, 0);
        let mut index = Index::new();
        let mut whole: Option<Pieces> = None;
        for (place, length) in places {
            let from = place.index(bytes.len()) as u64;
            let to = (from + length).min(bytes.len() as u64);
            let part = index.pieces(&mut source, from, to).unwrap();
            // One pass from the beginning, without what is kept between reads.
            let whole = whole.get_or_insert_with(|| {
                Index::new().pieces(&mut source, 0, bytes.len() as u64).unwrap()
            });
            let lines = bytes[..from as usize].iter().filter(|byte| **byte == b'\n').count();
            prop_assert_eq!(part.line, Some(lines as u64 + 1));
            for (a, b) in told(&part, from, to).iter().zip(told(whole, from, to)) {
                // What ends far behind the part is open there.
                let far = a.0 == Sort::Open && b.2 >= to + LOOKAHEAD_BYTES_MAX;
                prop_assert!(a == &b || far, "{:?} {:?}", a, b);
            }
        }
    }
}

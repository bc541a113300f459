//! Limits that only the inside can see: one below, at, one above.

use crate::index::{GAP_BYTES_MAX, Index, LOOKAHEAD_BYTES_MAX};
use crate::key::Key;
use crate::keys::PROMPT_CHARS_MAX;
use crate::original::{Bytes, Start};
use crate::piece::{PAYLOAD_SHOWN_BYTES_MAX, Sort};
use crate::source::{READ_BYTES_MAX, Source};
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

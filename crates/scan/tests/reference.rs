//! Every path finds what a slow reference finds, wherever the bytes lie in memory.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

mod common;
mod memory;

use std::sync::{Mutex, PoisonError};

use common::Item;
use memory::{Aligned, Fenced};
use noesc_scan::{Path, STRETCH_BYTES_MAX, Stretch, available, force, in_use, range_len};
use noesc_testkit::dangerous;
use noesc_testkit::share::{cases, share};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A path is chosen for the whole process.
static CHOOSING: Mutex<()> = Mutex::new(());

/// The paths to test: all of this processor, or the one that the environment asks for.
fn paths() -> Vec<Path> {
    match std::env::var_os("NOESC_SCAN") {
        Some(name) => available().into_iter().filter(|path| name == path.name()).collect(),
        None => available(),
    }
}

/// Where inputs are put.
struct Places {
    fenced: Fenced,
    aligned: Aligned,
    tried: usize,
}

impl Places {
    fn new() -> Self {
        Self { fenced: Fenced::new(), aligned: Aligned::new(), tried: 0 }
    }

    /// Fails where a path finds something else than it must.
    #[track_caller]
    fn hold(&mut self, raw: &[u8]) {
        self.hold_by(raw, common::finds);
    }

    /// Each time in another place: further from a border of 64 among bytes that would go with
    /// them, or where memory begins or ends.
    #[track_caller]
    fn hold_by(&mut self, raw: &[u8], check: Check) {
        self.tried += 1;
        let items = common::items(raw);
        let (tried, around) = (self.tried, [0x80, b'm', b'a', 0xFF][self.tried / 64 % 4]);
        let (here, place) = match tried % 8 {
            0 => (self.fenced.at_start(raw), "where memory begins".to_owned()),
            1 | 4 | 7 => (self.fenced.at_end(raw), "where memory ends".to_owned()),
            _ => (self.aligned.at(tried, raw, around), format!("{tried} behind 64, {around:02X}")),
        };
        let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
        for path in paths() {
            force(Some(path));
            if let Err(reason) = check(here, &items, path) {
                let name = path.name();
                panic!("{name}, {place}: {reason:.2000}\ninput: b\"{:.4000}\"", raw.escape_ascii());
            }
        }
        force(None);
    }
}

type Check = fn(&[u8], &[Item], Path) -> Result<(), String>;

/// Everything, slowly: each cut, CRs as line ends, and lengths besides.
fn deep(raw: &[u8], items: &[Item], path: Path) -> Result<(), String> {
    common::finds(raw, items, path)?;
    common::cuts(raw, items)?;
    common::ends_lines(raw)?;
    common::measures(raw)
}

/// What the rows, or more than one look, may be needed for.
const TRICKY: &[&[u8]] = &[
    b"\x1b[31m",
    b"\x1b[m",
    b"\x1b[K",
    b"\x1b[0K",
    b"\x1b[48;5;1m",
    b"\x1b[08m",
    b"\x1b[100m",
    b"\x1b[1;007m",
    b"\x1b[?25l",
    b"\x1b[2 q",
    b"\x1b[3\r1m",
    b"\x1b[31",
    b"\x1b[",
    b"\x1b",
    b"\x1b\x1b[m",
    b"\x1b[m\x1b",
    b"\x1b\x1b\x1b\x1b[",
    b"\x1b[3\x1b[m",
    b"\x1b[48\x1b[1m",
    b"\x1b\xe4\xb8\xad",
    b"\x1b[1;\x9b",
    b"\x1b\xc2\x9b",
    b"\x1b[1\xff",
    b"\x1b]0;",
    b"\x1b[31;\xe4\xb8\xad",
    b"\r",
    b"\r\n",
    b"\r\r",
    b"\0",
    b"\x07",
    b"\x7f",
    b"\xc2",
    b"\xc2\x9b",
    b"\xc2\x85",
    b"\xc2\xa2",
    b"\xcc\x81",
    b"\xd7\x90",
    b"\xe2",
    b"\xe2\x80",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8d",
    b"\xe2\x80\x8c",
    b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9",
    b"\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d",
    b"\xd8\xa8\xe2\x80\x8c\xd8\xa8",
    b"\xf0\x9f\x98\x80\xef\xb8\x8f",
    b"\xe2\x80\xa8",
    b"\xe4\xb8\xad",
    b"\xf0",
    b"\xf0\x9f",
    b"\xf0\x9f\x98",
    b"\xf0\x9f\x98\x80",
    b"\xf0\x9f\x8f\xbb",
    b"\x80",
    b"\x9b",
    b"\x80\x80\x80",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf5",
    b"\xff",
    b"\xee\x80\x80",
    b"\xef\xbf\xbe",
];

/// What stands around it.
const FILLS: &[&[u8]] = &[
    b"a",
    b"\xc3\xa9",
    b"\xe4\xb8\xad",
    b"\xf0\x9f\x98\x80",
    b"a\x1b[m",
    b"text \xe2\x86\x92 ",
    b"\x1b[1;31mx",
    b"e\xcc\x81",
    b"\xc3\xa9\xcc\x81",
    b"\xf0\x9f\x91\xa9\xe2\x80\x8d",
    b"\x1b[1\x1b[mb\x1b\xc3\xa9",
    b"a\r\n",
];

/// `len` bytes of `fill` with `tricky` at `at`; what is cut by either end is cut.
fn around(fill: &[u8], len: usize, at: usize, tricky: &[u8]) -> Vec<u8> {
    let mut raw: Vec<u8> = fill.iter().copied().cycle().take(at).collect();
    // A whole number of times, so that nothing but the tricky bytes is cut.
    raw.truncate(at / fill.len() * fill.len());
    raw.resize(at, b'-');
    raw.extend(tricky);
    raw.extend(fill.iter().copied().cycle().take(len.saturating_sub(raw.len())));
    raw.truncate(len);
    raw
}

#[test]
fn the_path_that_is_asked_for_is_gone() {
    if let Some(name) = std::env::var_os("NOESC_SCAN") {
        let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(name, in_use().name());
    }
}

/// Whether a place is so many bytes before a border of 64, or so many behind it.
fn is_near_border(at: usize, before: usize, behind: usize) -> bool {
    (at + before) % 64 <= before + behind
}

#[test]
fn something_tricky_at_every_place_of_every_length() {
    let mut places = Places::new();
    let near_the_end = [-1, 0, 1, 3, 63, 64, 66, 67, 68];
    let near_the_end = near_the_end.map(|n| STRETCH_BYTES_MAX.saturating_add_signed(n));
    for (n, len) in (0..=256).chain(near_the_end).enumerate().filter(|(n, _)| n % share() == 0) {
        for at in len.saturating_sub(256)..=len {
            // All of them where it matters most, else one after another.
            let is_near = is_near_border(at, 8, 2) && is_near_border(len, 2, 4);
            let count = if is_near { TRICKY.len() } else { 1 };
            for m in 0..count {
                let (fill, tricky) = (n + m + at, (n * 7 + at + m) % TRICKY.len());
                places.hold(&around(FILLS[fill % FILLS.len()], len, at, TRICKY[tricky]));
            }
        }
    }
}

#[test]
fn something_tricky_at_every_distance_from_a_border_of_memory() {
    let mut places = Places::new();
    for (n, tricky) in TRICKY.iter().enumerate().filter(|(n, _)| n % share() == 0) {
        for place in 0..64 {
            for at in (n % 4..=130).step_by(4) {
                places.tried = place; // so many bytes behind a border, or next to a fence
                places.hold(&around(FILLS[(n + at) % FILLS.len()], 150, at, tricky));
            }
        }
    }
}

#[test]
fn every_byte_at_every_place_of_a_block() {
    let mut places = Places::new();
    for byte in (0..=0xFF_u8).filter(|&byte| usize::from(byte) % share() == 0) {
        for at in 0..64 {
            for n in 0..3 {
                let fill = FILLS[(usize::from(byte) + at + 3 * n) % FILLS.len()];
                let mut raw = around(fill, 200, 64 + at, b"");
                raw[64 + at] = byte;
                places.hold(&raw);
            }
            // In place of each byte of a sequence.
            let mut raw = around(b"a", 150, 64, b"");
            raw.splice(60 + at..60 + at, *b"\x1b[38;5;17m");
            raw[60 + at + usize::from(byte) % 10] = byte.rotate_left(4);
            places.hold(&raw);
        }
    }
}

#[test]
fn every_pair_of_bytes_across_a_border() {
    let mut places = Places::new();
    for first in 0..=0xFF_u8 {
        for second in (0..=0xFF_u8).filter(|&b| usize::from(b) % share() == 0) {
            let n = usize::from(first) + usize::from(second);
            let mut raw = around(FILLS[n % FILLS.len()], 140, 60 + n % 5, &[first, second]);
            raw.truncate(100 + n % 40);
            places.hold(&raw);
        }
    }
}

/// Bytes with which a character begins, goes on, or does not.
const PARTS: [u8; 20] = [
    0x00, 0x1B, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xD7, 0xE0, 0xE2, 0xED,
    0xEF, 0xF0, 0xF4, 0xFF,
];

#[test]
fn characters_whole_cut_and_ill_formed_across_a_border() {
    let mut places = Places::new();
    let leads: Vec<u8> = (0x80..=0xFF).collect();
    let all = leads.len() * PARTS.len().pow(3);
    for n in (0..all).step_by(3 * share()) {
        let part = |place: u32| PARTS[n / leads.len() / PARTS.len().pow(place) % PARTS.len()];
        let bytes = [leads[n % leads.len()], part(0), part(1), part(2)];
        let fill = FILLS[(n / 7) % FILLS.len()];
        places.hold_by(&around(fill, 80, 58 + n % 7, &bytes), common::finds_text);
    }
}

/// A stretch at a time.
#[test]
fn every_character_is_text_or_not() {
    let mut text = String::new();
    for (n, c) in ('\u{80}'..=char::MAX).step_by(share()).enumerate() {
        text.push(c);
        match n % 61 {
            0 => text.push_str("plain"),
            7 | 20 | 21 => text.push('\u{4e2d}'),
            40 => text.push('\u{1f600}'),
            _ => {}
        }
    }
    let items =
        |rest: &str| common::items(&rest.as_bytes()[..rest.len().min(STRETCH_BYTES_MAX + 9)]);
    let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths().into_iter().filter(|&path| path != Path::Rows) {
        force(Some(path));
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let len = rest.ceil_char_boundary(STRETCH_BYTES_MAX + 4);
            let held = common::finds_text(&rest.as_bytes()[..len], &items(&rest[..len]), path);
            assert_eq!(held, Ok(()), "{}, from U+{:04X}", path.name(), u32::from(first));
            let taken = Stretch::of(rest.as_bytes()).len();
            assert!(taken > 0 || first < '\u{a0}' || "\u{200c}\u{200d}".contains(first));
            rest = &rest[taken.max(first.len_utf8())..];
        }
    }
    force(None);
}

/// What is not plain is told of one by one, so that what is ordinary must be plain.
#[test]
fn ordinary_styles_are_plain() {
    let styles = [
        "",
        "0",
        "1",
        "22",
        "31",
        "1;32",
        "39",
        "90",
        "97",
        "0;1;31",
        "38;5;9",
        "38;5;123",
        "38;2;1;2;3",
        "01;31",
        "3",
    ];
    let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths().into_iter().filter(|&path| path != Path::Rows) {
        force(Some(path));
        for last in ['m', 'K'] {
            for style in styles {
                let sequence = format!("\x1b[{style}{last}");
                let stretch = Stretch::of(sequence.as_bytes());
                let (sequences, erases) = (stretch.sequences(), usize::from(last == 'K'));
                let got = (stretch.has_odd(), sequences, stretch.erases());
                assert_eq!(got, (false, 1, erases), "{}: {style}{last}", path.name());
            }
        }
    }
    force(None);
}

/// Every parameter string of up to six of the bytes that matter, in every reading.
#[test]
fn every_short_style() {
    const BYTES: &[u8] = b"0148;:3?";
    let mut places = Places::new();
    for len in 0..=6 {
        for number in (0..BYTES.len().pow(len)).step_by(share()) {
            let parameter = |place| BYTES[number / BYTES.len().pow(place) % BYTES.len()];
            let parameters: Vec<u8> = (0..len).map(parameter).collect();
            let last = b"mK"[usize::from(number % 5 == 0)];
            let sequence = [b"\x1b[", parameters.as_slice(), &[last]].concat();
            let raw = around(b"a\x1b[1mb", 72, 50 + number % 15, &sequence);
            places.hold_by(&raw, common::finds_text);
        }
    }
}

#[test]
fn numbers_of_styles_up_to_a_thousand() {
    let mut places = Places::new();
    for number in (0..1100).step_by(share()) {
        for zeros in ["", "0", "00", "000"] {
            for style in [
                format!("\x1b[{zeros}{number}m"),
                format!("\x1b[1;{zeros}{number}m"),
                format!("\x1b[4:{zeros}{number}m"),
                format!("\x1b[{zeros}{number};1m"),
                format!("\x1b[38;5;{zeros}{number}m"),
                format!("\x1b[{zeros}{number}K"),
            ] {
                places.hold(&around(b"ab", 90, 50 + number % 20, style.as_bytes()));
            }
        }
    }
}

/// One below, at, and one above the lengths from which sequences are left to the rows.
#[test]
fn long_sequences() {
    let mut places = Places::new();
    let lens = (58..=68).chain(120..=135).chain(185..=200).chain(250..=262).chain([2000, 2100]);
    for (n, len) in lens.enumerate().filter(|(n, _)| n % share() == 0) {
        for at in 0..=130 {
            for (fill, last) in [("1;", 'm'), ("3", 'm'), ("38;5;", 'm'), ("?", 'h'), ("0", 'K')] {
                let parameters: String = fill.chars().cycle().take(len).collect();
                let tricky = format!("\x1b[{parameters}{last}");
                places.hold(&around(FILLS[n % FILLS.len()], at + len + 80, at, tricky.as_bytes()));
            }
        }
    }
}

/// A stretch has a limit of bytes, whatever lies across it.
#[test]
fn what_lies_across_the_end_of_a_stretch() {
    let mut places = Places::new();
    for (n, tricky) in TRICKY.iter().enumerate().filter(|(n, _)| n % share() == 0) {
        for at in STRETCH_BYTES_MAX - 12..=STRETCH_BYTES_MAX + 2 {
            let (one, other) = (FILLS[(n + at) % FILLS.len()], FILLS[(n * 7 + at) % FILLS.len()]);
            places.hold(&around(one, STRETCH_BYTES_MAX + 100, at, tricky));
            places.hold(&around(other, STRETCH_BYTES_MAX + 3, at, tricky));
        }
    }
    for len in [STRETCH_BYTES_MAX - 1, STRETCH_BYTES_MAX, STRETCH_BYTES_MAX + 1] {
        let raw = vec![b'a'; len];
        assert_eq!(Stretch::of(&raw).len(), len.min(STRETCH_BYTES_MAX));
    }
}

#[test]
fn lengths_of_one_kind_of_byte() {
    let mut places = Places::new();
    for byte in 0..=0xFF_u8 {
        for len in (0..200_usize).step_by(3 * share()) {
            for fill in [b'a', 0x35, 0x80, 0xFE] {
                let mut raw = vec![fill; len + 70];
                raw[len] = byte;
                places.hold_by(&raw, |raw, _, _| common::measures(raw));
            }
        }
    }
}

/// No range is none, on each path.
#[test]
fn a_range_that_is_empty() {
    let _alone = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths() {
        force(Some(path));
        for len in [1, 63, 64, 65, 200] {
            assert_eq!(range_len(&vec![0x35; len], 0x3F, 0x30), 0, "{}", path.name());
        }
    }
    force(None);
}

/// Bytes of a small alphabet, most of them such that a stretch goes on.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let plain: &[&[u8]] =
        &[b"a", b"text ", b"\t", b"\n", b"\r\n", b"\xc2\xa2", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80"];
    let part: &[&[u8]] = &[
        b"\x1b", b"[", b"\x1b[", b";", b":", b"0", b"1", b"4", b"8", b"31", b"m", b"K", b"\r",
        b"?", b" ", b"~",
    ];
    let odd: &[&[u8]] = &[
        b"\0",
        b"\x7f",
        b"\xc2",
        b"\x9b",
        b"\xe2",
        b"\x80",
        b"\xae",
        b"\xf0",
        b"\x9f",
        b"\x98",
        b"\xcc\x81",
        b"\xe2\x80\x8d",
        b"\xff",
    ];
    let style: &[&[u8]] = &[b"\x1b[m", b"\x1b[1;31m", b"\x1b[K", b"\x1b[41m", b"\x1b[38;5;8m"];
    let rest = prop_oneof![60 => select(plain), 8 => select(part), 12 => select(style)];
    let rare = prop_oneof![200 => rest.clone(), 1 => select(odd)];
    let all = prop_oneof![select(plain), select(part), select(odd), select(style)];
    prop_oneof![
        vec(all, 0..60).prop_map(|parts| parts.concat()),
        vec(rare.clone(), 0..200).prop_map(|parts| parts.concat()),
        vec(rest, 0..1400).prop_map(|parts| parts.concat()),
        // The same again and again, with something at the end.
        (vec(rare, 1..5), 1..80_usize, dangerous::piece()).prop_map(|(unit, times, last)| [
            unit.concat().repeat(times),
            last
        ]
        .concat()),
    ]
}

proptest! {
    #![proptest_config(cases(6000))]

    #[test]
    fn bytes_of_a_small_alphabet(raw in soup()) {
        Places::new().hold(&raw);
    }

    #[test]
    fn dangerous_inputs(a in dangerous::input(), b in soup(), place in 0..64_usize) {
        let mut places = Places::new();
        places.tried = place;
        places.hold(&a);
        places.hold(&[b, a].concat());
    }

    #[test]
    fn deceiving_texts(raw in dangerous::deceiving_text(), head in 0..70_usize) {
        let mut places = Places::new();
        places.tried = head;
        places.hold(&[vec![b'a'; head], raw].concat());
    }

    #[test]
    fn random_bytes(raw in vec(any::<u8>(), 0..200), head in 0..130_usize) {
        let mut places = Places::new();
        places.tried = head;
        places.hold(&[vec![b'a'; head], raw].concat());
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn cuts_and_line_ends(a in soup(), b in dangerous::input(), place in 0..64_usize) {
        let mut places = Places::new();
        places.tried = place;
        for raw in [&a, &b, &[&a[..], &b].concat()] {
            places.hold_by(&raw[..raw.len().min(700)], deep);
        }
    }
}

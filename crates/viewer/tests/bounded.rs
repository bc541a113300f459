//! Gigabytes: what is read and kept does not depend on how many there are.

// Functions that tests share count as code outside of tests.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Made, enter, press, screen};
use noesc_viewer::{Key, Start, Viewer};

const GIB: u64 = 1 << 30;

/// What opening, or a jump, may read: the screen, and some KiB around it.
const SCREEN_BYTES: u64 = 300_000;

/// A line of 16 bytes, and in each GiB one window title.
fn lines(at: u64) -> u8 {
    match at % GIB {
        within @ 4096..4106 => b"\x1b]0;title\x07"[usize::try_from(within - 4096).unwrap()],
        within if within % 16 == 15 => b'\n',
        _ => b'.',
    }
}

#[test]
fn opening_reads_the_screen() {
    for byte in [lines, |_| 0, |_| 0x1B, |_| 0xFF, |_| b'a', |_| b'\n'] {
        let mut made = Made::new(8 * GIB, byte);
        let mut viewer = Viewer::new(&mut made, &Start::default());
        screen(&mut viewer, 120, 50);
        assert!(made.read < SCREEN_BYTES, "{}", made.read);
    }
}

#[test]
fn a_jump_reads_what_is_near() {
    for byte in [lines, |_| 0, |_| 0x1B, |_| 0xFF, |_| b'a', |_| b'\n'] {
        for offset in [8 * GIB, 5 * GIB + 4100] {
            let mut made = Made::new(8 * GIB, byte);
            let mut viewer = Viewer::new(&mut made, &Start { offset, ..Start::default() });
            let rows = screen(&mut viewer, 120, 50);
            // It says that what it shows is a guess.
            assert!(rows[49].contains(" ~"), "{:?}", rows[49]);
            assert!(made.read < SCREEN_BYTES, "{}", made.read);
            assert!(made.at_once <= 256 * 1024);
        }
    }
}

#[test]
fn a_sequence_far_inside_is_named() {
    let mut made = Made::new(8 * GIB, lines);
    let mut viewer = Viewer::new(&mut made, &Start::default());
    enter(&mut viewer, &format!(":{}", 5 * GIB + 4100));
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[15], " OSC 0  window-title LOW");
    assert!(rows[17].contains(&format!("bytes {}-", 5 * GIB + 4096)), "{:?}", rows[17]);
}

#[test]
fn a_search_is_given_up() {
    let mut made = Made::new(8 * GIB, |_| b'a');
    let mut viewer = Viewer::new(&mut made, &Start::default());
    for keys in ["n", "/b", ":line 9", "I"] {
        keys.chars().for_each(|key| viewer.key(Key::Char(key)));
        if keys.len() > 1 {
            viewer.key(Key::Enter);
        }
        for _ in 0..4 {
            assert!(viewer.work());
        }
        let rows = screen(&mut viewer, 80, 24);
        assert!(rows[23].contains("(Esc gives up)"), "{:?}", rows[23]);
        // A key that waits is forgotten.
        viewer.key(Key::End);
        viewer.key(Key::Esc);
        assert!(!viewer.is_working());
        let rows = screen(&mut viewer, 80, 24);
        assert!(rows[23].starts_with("given up "), "{:?}", rows[23]);
        assert!(rows[23].contains(" 0 0x0"), "{:?}", rows[23]);
    }
    assert!(made.read < 64 * 256 * 1024, "{}", made.read);
}

/// 8,192 findings, four bytes behind each multiple of 16: twice as many as are listed.
fn both_ways(byte: fn(u64) -> u8, said: &str) {
    let mut made = Made::new(8192 * 16, byte);
    let mut viewer = Viewer::new(&mut made, &Start::default());
    press(&mut viewer, [Key::Char('I')]);
    let to = |viewer: &mut Viewer<'_>, key, at: u64| {
        press(viewer, [Key::Char(key)]);
        let rows = screen(viewer, 80, 24);
        let wanted = format!("{said} at byte {} ", at * 16 + 4);
        assert!(rows[23].starts_with(&wanted), "{wanted}: {:?}", rows[23]);
    };
    for at in [0_u64, 4000, 4094, 4095, 4096, 4097, 6000, 8190] {
        enter(&mut viewer, &format!(":{}", at * 16 + 4));
        to(&mut viewer, 'n', at + 1);
        to(&mut viewer, 'N', at);
        // From between two.
        viewer.key(Key::Right);
        to(&mut viewer, 'N', at);
        viewer.key(Key::Left);
        to(&mut viewer, 'n', at);
    }
    press(&mut viewer, "GnN".chars().map(Key::Char));
    let rows = screen(&mut viewer, 80, 24);
    assert!(rows[23].starts_with(&format!("{said} at byte {} ", 8191 * 16 + 4)), "{:?}", rows[23]);
    press(&mut viewer, "gN".chars().map(Key::Char));
    let rows = screen(&mut viewer, 80, 24);
    assert!(rows[23].starts_with("no finding before this "), "{:?}", rows[23]);
}

#[test]
fn slight_findings_beyond_the_list_are_found_both_ways() {
    let byte = |at: u64| b"aaaa\xf3\xa0\x81\x81bbbbbbbb"[usize::try_from(at % 16).unwrap()];
    both_ways(byte, "low: tag");
}

#[test]
fn grave_findings_beyond_the_list_are_found_both_ways() {
    let byte = |at: u64| b"aaaa\x1b]0;\nb\x07bbbbb"[usize::try_from(at % 16).unwrap()];
    both_ways(byte, "critical: held-back-lines");
}

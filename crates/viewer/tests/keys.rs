//! What the keys do, without a terminal.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use std::io;

use common::{enter, press, screen};
use noesc_viewer::{Bytes, Key, Original, SeenRange, Start, StreamInfo, Viewer};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

fn one(bytes: &[u8]) -> Bytes {
    Bytes::new([("stdout", bytes.to_vec())])
}

/// The last row of an ordinary screen.
fn status(viewer: &mut Viewer<'_>) -> String {
    screen(viewer, 80, 24).pop().unwrap()
}

/// The offset of the cursor.
fn cursor(viewer: &mut Viewer<'_>) -> u64 {
    let status = status(viewer);
    let words: Vec<&str> = status.split(' ').collect();
    let hex = words.iter().rposition(|word| word.starts_with("0x")).unwrap();
    words[hex - 1].trim_start_matches('~').parse().unwrap()
}

fn keys(text: &str) -> impl Iterator<Item = Key> {
    text.chars().map(Key::Char)
}

#[test]
fn a_sequence_is_named() {
    let mut original = one(b"plain\n\x1b]52;c;aGk=\x07more\xe2\x80\xae\xff\r\n");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    press(&mut viewer, keys("n"));
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[1], r"0000 70 6c 61 69 6e 0a 1b 5d  plain\x0a\x1b]");
    assert_eq!(rows[3], r"0010 3d 07 6d 6f 72 65 e2 80  =\x07more\xe2\x80");
    assert_eq!(
        rows[15..21],
        [
            " OSC 52  clipboard-write HIGH",
            " OSC 52: write the clipboard (c)",
            " bytes 6-17 (0x6), 12 in all",
            " complete, 12 bytes, ended by BEL, 7-bit",
            " payload: 9 bytes, 0 line ends",
            " 52;c;aGk=",
        ]
    );
    assert!(rows[23].starts_with("high: clipboard-write at byte 6  "));
    press(&mut viewer, keys("n"));
    let rows = screen(&mut viewer, 80, 24);
    assert!(rows[23].starts_with("high: bidi-control at byte 22  "), "{:?}", rows[23]);
    assert_eq!(rows[16..18], [" bidi-control", " bytes 22-24 (0x16), 3 in all"]);
    press(&mut viewer, keys("n"));
    assert!(status(&mut viewer).starts_with("no finding behind this "));
}

#[test]
fn a_sequence_with_something_inside_is_one() {
    let mut original = one(b"\x1b[\x07\x0e1mtext\x1b[3");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    for (offset, title) in [
        (0, " CSI 1 m  style"),
        (1, " CSI 1 m  style"),
        (2, " control BEL x 1"),
        (3, " control SO x 1 LOW"),
        (5, " CSI 1 m  style"),
        (7, " text"),
        (12, " CSI 3  other LOW"),
    ] {
        enter(&mut viewer, &format!(":{offset}"));
        assert_eq!(screen(&mut viewer, 80, 24)[15], title, "{offset}");
    }
    assert!(screen(&mut viewer, 80, 24)[18].starts_with(" unterminated, 3 bytes"));
}

#[test]
fn an_introducer_on_the_next_line_is_told() {
    let mut original = one(b"\x1b\n[31mtext that goes on for a while");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    press(&mut viewer, keys("n"));
    let rows = screen(&mut viewer, 80, 24);
    assert!(rows[23].starts_with("high: split-introducer at byte 2 "), "{:?}", rows[23]);
    assert_eq!(rows[15], " text HIGH");
    assert!(rows.contains(&" finding: split-introducer".to_owned()));
}

#[test]
fn arrows_and_letters_move_the_cursor() {
    let mut original = one(&[b'a'; 1000]);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    screen(&mut viewer, 80, 24);
    for (keys, to) in [
        ("l", 1),
        ("j", 9),
        ("k", 1),
        ("k", 1),
        ("h", 0),
        ("h", 0),
        ("$", 7),
        ("0", 0),
        ("G", 999),
        ("j", 999),
        ("l", 999),
        ("g", 0),
        (" ", 112),
        ("b", 0),
    ] {
        press(&mut viewer, keys.chars().map(Key::Char));
        assert_eq!(cursor(&mut viewer), to, "{keys}");
    }
    for (key, to) in [
        (Key::Right, 1),
        (Key::Down, 9),
        (Key::Up, 1),
        (Key::Left, 0),
        (Key::PageDown, 112),
        (Key::Ctrl('d'), 168),
        (Key::Ctrl('u'), 112),
        (Key::PageUp, 0),
        (Key::End, 999),
        (Key::Home, 0),
    ] {
        press(&mut viewer, [key]);
        assert_eq!(cursor(&mut viewer), to, "{key:?}");
    }
}

#[test]
fn a_colon_goes_to_an_offset_or_a_line() {
    let mut original = one(b"one\ntwo\r\n\nfour");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    for (typed, to) in
        [(":5", 5), (":0xB", 11), (":line 1", 0), (":line 2", 4), (":line 4", 10), (":line 3", 9)]
    {
        enter(&mut viewer, typed);
        assert_eq!(cursor(&mut viewer), to, "{typed}");
    }
    assert!(status(&mut viewer).contains(" line 3 "));
    for (typed, said) in [
        (":14", "the stream has 14 bytes "),
        (":line 5", "the stream has fewer lines "),
        (":line 0", "a line is a number from 1 on "),
        (":what", "expected :OFFSET, :0xOFFSET or :line N "),
    ] {
        enter(&mut viewer, typed);
        let status = status(&mut viewer);
        assert!(status.starts_with(said), "{status:?}");
        assert_eq!(cursor(&mut viewer), 9);
    }
    enter(&mut viewer, ":q");
    assert!(viewer.is_done());
}

#[test]
fn lines_are_counted_far_on() {
    let bytes = b"0123456\n".repeat(200_000);
    let mut original = one(&bytes);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    for line in [200_000, 1, 65_537, 131_073, 2, 199_999] {
        enter(&mut viewer, &format!(":line {line}"));
        assert_eq!(cursor(&mut viewer), (line - 1) * 8);
        assert!(status(&mut viewer).contains(&format!(" line {line} ")));
    }
}

#[test]
fn text_and_bytes_are_searched_both_ways() {
    let mut original = one(b"Abc \x1b]52;c;\x07 abc \x1b]52;p;\x07 aBC");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    let mut go = |text: &str| {
        match text.strip_suffix('\n') {
            Some(typed) => enter(&mut viewer, typed),
            None => press(&mut viewer, keys(text)),
        }
        cursor(&mut viewer)
    };
    assert_eq!(go("/abc\n"), 13);
    assert_eq!(go(";"), 13);
    assert_eq!(go("c"), 13);
    assert_eq!(go("g/abc\n"), 0);
    assert_eq!(go(";"), 13);
    assert_eq!(go(";"), 26);
    assert_eq!(go(","), 13);
    assert_eq!(go(","), 0);
    assert_eq!(go(","), 0);
    assert_eq!(go("/x1b 5d 35 32\n"), 4);
    assert_eq!(go("/\n"), 17);
    assert_eq!(go("/\\x1b]52;C\n"), 17);
    assert_eq!(go("g/\\x1b]52;P\n"), 17);
    assert!(status(&mut viewer).starts_with("byte 17 "));
    enter(&mut viewer, "/nothing");
    assert!(status(&mut viewer).starts_with("not found before the end "));
    press(&mut viewer, keys(","));
    assert!(status(&mut viewer).starts_with("not found after the beginning "));
}

#[test]
fn a_pattern_is_found_across_reads() {
    const READ: usize = 256 * 1024;
    for at in [READ - 1, READ - 3, READ, 2 * READ - 4, 1] {
        let mut bytes = vec![b'a'; 3 * READ];
        bytes[at..at + 5].copy_from_slice(b"\x1b]52;");
        let mut original = one(&bytes);
        let mut viewer = Viewer::new(&mut original, &Start::default());
        enter(&mut viewer, "/x1b 5d 35 32 3b");
        assert_eq!(cursor(&mut viewer), at as u64);
        press(&mut viewer, keys("G,"));
        assert_eq!(cursor(&mut viewer), at as u64);
        press(&mut viewer, keys(","));
        assert!(status(&mut viewer).starts_with("not found after the beginning "));
    }
}

#[test]
fn the_list_goes_to_a_finding() {
    let mut original = one(b"\x1b]52;c;\x07\r\x1b[2J \x1b]0;x\n\x07\xff");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    press(&mut viewer, keys("If"));
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(
        rows[1..6],
        [
            " 4 findings, low or worse; 100% is read",
            "          0 high     clipboard-write",
            "          9 low      erase",
            "         14 low      window-title",
            "         14 critical held-back-lines",
        ]
    );
    press(&mut viewer, keys("ss"));
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(
        rows[1..4],
        [
            " 1 findings, critical or worse; 100% is read",
            "         14 critical held-back-lines",
            "",
        ]
    );
    press(&mut viewer, [Key::Enter]);
    assert_eq!(cursor(&mut viewer), 14);
    assert!(status(&mut viewer).starts_with("critical: held-back-lines at byte 14 "));
    press(&mut viewer, keys("gn"));
    assert_eq!(cursor(&mut viewer), 14);
    press(&mut viewer, keys("sgn"));
    assert!(status(&mut viewer).starts_with("info: carriage-return at byte 8 "));
}

#[test]
fn what_is_copied_is_text() {
    let mut original = one(b"ab\x1b]0;t\\\x07\ncd");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    screen(&mut viewer, 80, 24);
    // What is under the cursor.
    press(&mut viewer, keys("lly"));
    assert!(status(&mut viewer).starts_with("7 byte(s) copied as text"));
    // From the mark to the cursor, in either direction.
    press(&mut viewer, keys("Gvhhy"));
    let copied = viewer.seen().copied;
    let told: Vec<_> = copied.iter().map(|c| (c.bytes.clone(), c.text.as_str())).collect();
    assert_eq!(told, [(2..9, "\\x1b]0;t\\x5c\\x07"), (9..12, "\\x0acd")]);
}

#[test]
fn streams_keep_their_places() {
    let mut original =
        Bytes::new([("stdout", b"one".to_vec()), ("std\x1berr", b"\x1b[2Jtwo".to_vec())]);
    let start = Start { title: "a \x1b]0;b".to_owned(), stream: 7, ..Start::default() };
    let mut viewer = Viewer::new(&mut original, &start);
    assert_eq!(screen(&mut viewer, 80, 24)[0], " std\\x1berr [2/2] 7 bytes  a \\x1b]0;b");
    press(&mut viewer, keys("G"));
    press(&mut viewer, [Key::Tab]);
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[0], " stdout [1/2] 3 bytes  a \\x1b]0;b");
    assert_eq!(rows[1], "0000 6f 6e 65                 one");
    assert!(rows[23].starts_with("stream stdout "));
    press(&mut viewer, [Key::BackTab]);
    assert_eq!(cursor(&mut viewer), 6);
    let range = |stream, bytes| SeenRange { stream, bytes };
    assert_eq!(viewer.seen().ranges, [range(0, 0..3), range(1, 0..7)]);
}

#[test]
fn only_what_was_on_the_screen_is_seen() {
    let mut original = one(&[b'a'; 10_000]);
    let mut viewer = Viewer::new(&mut original, &Start { offset: 5000, ..Start::default() });
    assert_eq!(viewer.seen().ranges, []);
    screen(&mut viewer, 80, 24);
    let range = |bytes| SeenRange { stream: 0, bytes };
    assert_eq!(viewer.seen().ranges, [range(4968..5080)]);
    // What a search passes is not seen.
    enter(&mut viewer, "/b");
    press(&mut viewer, keys("G"));
    screen(&mut viewer, 80, 24);
    assert_eq!(viewer.seen().ranges, [range(4968..5080), range(9960..10_000)]);
}

#[test]
fn a_payload_in_the_panel_is_seen() {
    let mut bytes = b"\x1b]0;".to_vec();
    bytes.resize(300, b'p');
    bytes.extend(b"\x07end");
    let mut original = one(&bytes);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    screen(&mut viewer, 80, 24);
    assert_eq!(viewer.seen().ranges, [SeenRange { stream: 0, bytes: 0..301 }]);
}

#[test]
fn forty_columns_are_enough() {
    let mut original = one(b"plain\n\x1b]52;c;aGk=\x07more");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    screen(&mut viewer, 40, 12);
    press(&mut viewer, keys("n"));
    let rows = screen(&mut viewer, 40, 12);
    assert_eq!(
        rows,
        [
            " stdout [1/1] 22 bytes",
            "0000 70 6c 61 69  plai",
            "0004 6e 0a 1b 5d  n\\x0a\\x1b]",
            "0008 35 32 3b 63  52;c",
            "000c 3b 61 47 6b  ;aGk",
            "0010 3d 07 6d 6f  =\\x07mo",
            "0014 72 65        re",
            " OSC 52  clipboard-write HIGH",
            " OSC 52: write the clipboard (c)",
            " bytes 6-17 (0x6), 12 in all",
            " 52;c;aGk=",
            "high: clipboard-write at byte 6",
        ]
    );
}

#[test]
fn a_resize_keeps_the_cursor_on_the_screen() {
    let mut original = one(&[b'a'; 5000]);
    let mut viewer = Viewer::new(&mut original, &Start { offset: 3001, ..Start::default() });
    for (columns, rows) in [(80, 24), (200, 60), (20, 5), (1, 1), (0, 0), (80, 2), (130, 10)] {
        screen(&mut viewer, columns, rows);
        assert_eq!(cursor(&mut viewer), 3001);
        let shown = viewer.seen().ranges;
        assert!(shown.iter().any(|range| range.bytes.contains(&3001)));
    }
}

#[test]
fn an_empty_stream_says_so() {
    let mut original = one(b"");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    press(&mut viewer, keys("jnN;fbIiy$G"));
    press(&mut viewer, [Key::Esc]);
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[..2], [" stdout [1/1] 0 bytes", "no bytes"]);
    assert_eq!(viewer.seen().ranges, []);
    enter(&mut viewer, "/a");
    assert!(status(&mut viewer).starts_with("not found before the end "));
}

#[test]
fn help_lists_the_keys_and_ends() {
    let mut original = one(b"abc");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    press(&mut viewer, keys("?"));
    let mut rows = screen(&mut viewer, 40, 24);
    press(&mut viewer, [Key::PageDown]);
    rows.extend(screen(&mut viewer, 40, 24));
    for row in [" n N                next, previous findi", " q                  leave"] {
        assert!(rows.iter().any(|shown| shown.starts_with(row)), "{row:?}");
    }
    press(&mut viewer, [Key::Esc]);
    assert_eq!(screen(&mut viewer, 80, 24)[1], "0000 61 62 63                 abc");
    press(&mut viewer, keys("q"));
    assert!(viewer.is_done());
}

#[test]
fn keys_wait_for_work() {
    let mut original = one(b"\x1b[2J \x1b[2J \x1b[2J");
    let mut viewer = Viewer::new(&mut original, &Start::default());
    keys("nnfN").for_each(|key| viewer.key(key));
    viewer.key(Key::Enter);
    while viewer.work() {}
    assert_eq!(cursor(&mut viewer), 5);
}

#[test]
fn without_colours_there_is_none() {
    let mut original = one(&common::hostile());
    for colour in [false, true] {
        let start = Start { colour, ..Start::default() };
        let mut viewer = Viewer::new(&mut original, &start);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 100));
        let (mut coloured, mut styled) = (false, false);
        for key in "nv   f?".chars() {
            press(&mut viewer, [Key::Char(key)]);
            viewer.draw(&mut buffer);
            coloured |=
                buffer.content().iter().any(|c| c.fg != Color::Reset || c.bg != Color::Reset);
            styled |= buffer.content().iter().any(|c| c.modifier.contains(Modifier::UNDERLINED));
        }
        assert_eq!((coloured, styled), (colour, !colour));
    }
}

/// Has no bytes from 64 on.
struct Broken([StreamInfo; 1]);

impl Original for Broken {
    fn streams(&self) -> &[StreamInfo] {
        &self.0
    }

    fn read_at(&mut self, _: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match 64_u64.checked_sub(offset) {
            None | Some(0) => Err(io::Error::other("segment \x1b]0;3\x07 is damaged")),
            Some(rest) => {
                let length = buffer.len().min(usize::try_from(rest).unwrap());
                buffer[..length].fill(b'a');
                Ok(length)
            }
        }
    }
}

#[test]
fn what_can_not_be_read_is_said_and_the_rest_shown() {
    let mut original = Broken([StreamInfo { name: "stdout".to_owned(), bytes: 1000 }]);
    let mut viewer = Viewer::new(&mut original, &Start::default());
    let rows = screen(&mut viewer, 80, 24);
    assert_eq!(rows[8], "0038 61 61 61 61 61 61 61 61  aaaaaaaa");
    assert_eq!(rows[9], "0040 (not read)");
    let said = r"can't read: segment \x1b]0;3\x07 is damaged";
    assert!(rows[23].starts_with(said), "{:?}", rows[23]);
    for keys in ["n", "/b", "I", ":line 3"] {
        press(&mut viewer, keys.chars().map(Key::Char));
        if keys.len() > 1 {
            press(&mut viewer, [Key::Enter]);
        }
        let status = status(&mut viewer);
        assert!(status.starts_with(said), "{keys}: {status:?}");
    }
}

//! Each limit one below, at, and one above; and what a line end does at them.

use noesc_grammar::{
    CSI_BYTES_MAX, Class, ESCAPE_BYTES_MAX, Ending, Event, Kind, Parser, RAW_HOLD_MAX,
    STRING_BYTES_MAX,
};

/// Class, ending, kind and payload of each sequence; and the text.
fn read(input: &[u8]) -> (Vec<(Class, Ending, Kind, u64)>, String) {
    let (mut sequences, mut text) = (Vec::new(), String::new());
    let mut parser = Parser::new();
    let mut receiver = |_: u64, event: Event<'_>| match event {
        Event::End(s) => sequences.push((s.class, s.ending, s.kind, s.payload)),
        Event::Text(piece) => text.push_str(piece),
        Event::IllFormed { .. } => text.push('\u{FFFD}'),
        _ => {}
    };
    parser.push(input, &mut receiver);
    parser.finish(&mut receiver);
    (sequences, text)
}

fn framed(head: &[u8], fill: u8, n: usize, tail: &[u8]) -> Vec<u8> {
    [head, &vec![fill; n], tail].concat()
}

#[test]
fn csi_bytes() {
    for (n, ending) in [
        (CSI_BYTES_MAX - 1, Ending::Complete),
        (CSI_BYTES_MAX, Ending::Complete),
        (CSI_BYTES_MAX + 1, Ending::Overlong),
        (100 * CSI_BYTES_MAX, Ending::Overlong),
    ] {
        let (sequences, text) = read(&framed(b"a\x1b[", b'1', n, b"mb"));
        assert_eq!(sequences, [(Class::Csi, ending, Kind::Style, 0)]);
        assert_eq!(text, "ab");
        // Parameters and intermediates count together.
        let mut input = framed(b"\x1b[", b'1', n - 1, b" q");
        assert_eq!(read(&input).0[0].1, ending);
        // Overlong names an aborted one too.
        input.truncate(n + 1);
        input.extend(b"11\x18");
        let aborted = if n > CSI_BYTES_MAX { Ending::Overlong } else { read(&input).0[0].1 };
        assert_eq!(read(&input).0[0].1, aborted);
    }
}

#[test]
fn escape_bytes() {
    for (n, ending) in [
        (ESCAPE_BYTES_MAX - 1, Ending::Complete),
        (ESCAPE_BYTES_MAX, Ending::Complete),
        (ESCAPE_BYTES_MAX + 1, Ending::Overlong),
    ] {
        let (sequences, text) = read(&framed(b"a\x1b", b' ', n, b"Fb"));
        assert_eq!(sequences, [(Class::Escape, ending, Kind::Other, 0)]);
        assert_eq!(text, "ab");
    }
}

#[test]
fn string_bytes() {
    let max = usize::try_from(STRING_BYTES_MAX).unwrap();
    for introducer in [&b"\x1b]"[..], b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_"] {
        for (n, ending) in [
            (max - 1, Ending::Complete),
            (max, Ending::Complete),
            (max + 1, Ending::Overlong),
            (10 * max, Ending::Overlong),
        ] {
            let (sequences, text) = read(&framed(introducer, b'x', n, b"\x07b"));
            assert_eq!((sequences[0].1, sequences[0].3), (ending, n as u64));
            assert_eq!(text, "b");
        }
        // A line end is payload below the limit, and ends the string from it on.
        for (n, text) in [(max - 1, "b"), (max, "\nlineb"), (max + 1, "\nlineb")] {
            for end in [&b"\n"[..], b"\r"] {
                let input = framed(introducer, b'x', n, &[end, b"line\x07b"].concat());
                let (sequences, got) = read(&input);
                let text = if end == b"\r" { text.trim_start_matches('\n') } else { text };
                assert_eq!(got, text);
                assert_eq!(sequences[0].1, Ending::Overlong);
            }
        }
    }
}

#[test]
fn raw_strings() {
    for introducer in [b"\x90", b"\x98", b"\x9D", b"\x9E", b"\x9F"] {
        for terminator in [&b"\x07"[..], b"\x1b\\", b"\x9C", b"\xC2\x9C"] {
            for n in [0, 1, RAW_HOLD_MAX - 1, RAW_HOLD_MAX] {
                let (sequences, text) =
                    read(&framed(introducer, b'x', n, &[terminator, b"b"].concat()));
                assert_eq!((sequences[0].1, sequences[0].3), (Ending::Complete, n as u64));
                assert_eq!(text, "b");
            }
            let n = RAW_HOLD_MAX + 1;
            let (_, text) = read(&framed(introducer, b'x', n, &[terminator, b"b"].concat()));
            assert!(text.starts_with(&format!("\u{FFFD}{}", "x".repeat(n))));
        }
    }
}

#[test]
fn what_ends_a_raw_string_unread() {
    for (input, text) in [
        (&b"\x9D0;words\nb"[..], "\u{FFFD}0;words\nb"),
        (b"\x9D0;\x1b[31mb", "\u{FFFD}0;b"),
        (b"\x9D0;\xC2\xA0b", "\u{FFFD}0;\u{A0}b"),
        (b"\x9D0;\xC3\xA9b", "\u{FFFD}0;\u{E9}b"),
        (b"\x9D0;\x9D1;x\x07b", "\u{FFFD}0;b"),
        (b"\x9D0;", "\u{FFFD}0;"),
        (b"\x9D0;\x1b", "\u{FFFD}0;"),
        (b"\x9D0;\xC2", "\u{FFFD}0;\u{FFFD}"),
    ] {
        assert_eq!(read(input).1, text, "{}", input.escape_ascii());
    }
}

/// The state is a few hundred bytes, whatever passed.
#[test]
fn the_state_has_a_fixed_size() {
    assert!(size_of::<Parser>() <= 512);
}

//! Text of others in a terminal program: classes, floor, titles and links, fitting.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

use std::fmt::Write as _;
use std::io::Write as _;

use noesc::fit::{Fitted, single_line, truncate};
use noesc::osc::{hyperlink, title};
use noesc::{
    Content, ContentClass, Filter, Floor, FmtWriter, Profile, Sanitize, Writer, second_pass,
};
use noesc_testkit::{corpus, dangerous};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

const SETTINGS: [Sanitize; 3] = [Sanitize::Strip, Sanitize::Visualize, Sanitize::Off];

fn filtered(mut filter: impl Filter, pieces: &[&[u8]]) -> String {
    let mut view = String::new();
    pieces.iter().for_each(|piece| filter.push(piece, &mut view));
    filter.finish(&mut view);
    view
}

/// What of a text is not a style sequence.
fn without_style(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| !c.is_ascii_digit() && !";:".contains(c)).unwrap();
        assert!(after[end..].starts_with('m'), "{}", audit(text));
        let parameters = &after[..end];
        // An 8 may be a colour behind 38, 48 or 58.
        let alone = !["38", "48", "58"].iter().any(|colour| parameters.contains(colour));
        assert!(!alone || parameters.split(';').all(|p| p != "8"), "{}", audit(text));
        rest = &after[end + 1..];
    }
    out + rest
}

/// Text as it can be printed.
fn audit(text: &str) -> String {
    noesc::audit(text.as_bytes())
}

fn is_live(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// What the floor keeps besides style, taken out.
fn without_chrome(text: &str) -> String {
    let mut rest = text.replace("\x1b[K", "");
    while let Some(at) = rest.find("\x1b]8;") {
        let len = rest[at..].find("\x1b\\").unwrap() + 2;
        let link = &rest[at..at + len - 2][1..];
        assert!(link.bytes().all(|b| (0x20..0x7F).contains(&b)), "{}", audit(link));
        rest.replace_range(at..at + len, "");
    }
    rest
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn content_of_every_class_is_inert(bytes in dangerous::input(), keeps in any::<bool>()) {
        for class in ContentClass::ALL {
            for sanitize in [Sanitize::Strip, Sanitize::Visualize] {
                let content = Content::new(class).sanitize(sanitize).style(keeps);
                let view = filtered(content, &[&bytes]);
                let plain = without_style(&view);
                prop_assert!(!plain.contains(is_live), "{}", audit(&plain));
                let styled = keeps && class != ContentClass::Derived;
                prop_assert!(styled || plain == view);
                // A style that is open at the end is closed.
                if let Some(last) = view.rfind("\x1b[") {
                    let end = view[last..].find('m').unwrap();
                    let parameters = &view[last + 2..last + end];
                    prop_assert!(parameters.split(';').all(|p| p == "0"), "{parameters}");
                }
            }
        }
    }

    #[test]
    fn derived_is_one_line_whatever_the_setting(bytes in dangerous::input()) {
        for sanitize in SETTINGS {
            let content = Content::new(ContentClass::Derived).sanitize(sanitize);
            let view = filtered(content, &[&bytes]);
            prop_assert!(!view.contains(|c: char| c.is_control()), "{}", audit(&view));
        }
    }

    #[test]
    fn any_cut_gives_the_same(bytes in dangerous::input(), at in any::<prop::sample::Index>()) {
        let at = at.index(bytes.len() + 1);
        let halves = [&bytes[..at], &bytes[at..]];
        let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
        for class in ContentClass::ALL {
            for sanitize in SETTINGS {
                let content = || Content::new(class).sanitize(sanitize);
                let whole = filtered(content(), &[&bytes]);
                prop_assert_eq!(&filtered(content(), &halves), &whole);
                prop_assert_eq!(&filtered(content(), &bytewise), &whole);
            }
        }
        let whole = filtered(Floor::new(), &[&bytes]);
        prop_assert_eq!(&filtered(Floor::new(), &halves), &whole);
        prop_assert_eq!(&filtered(Floor::new(), &bytewise), &whole);
    }

    #[test]
    fn the_floor_keeps_chrome_and_nothing_else(bytes in dangerous::input()) {
        let view = filtered(Floor::new(), &[&bytes]);
        let plain = without_style(&without_chrome(&view));
        prop_assert!(!plain.contains(is_live), "{}", audit(&plain));
        // Besides, it is the view of a terminal program.
        let display = noesc::view(&bytes, &Profile::DISPLAY).unwrap().text;
        prop_assert_eq!(without_chrome(&view), display);
        prop_assert_eq!(filtered(Floor::new(), &[view.as_bytes()]), view);
    }

    #[test]
    fn a_second_pass_over_a_view_changes_nothing(bytes in dangerous::input()) {
        for class in ContentClass::ALL {
            let view = filtered(Content::new(class), &[&bytes]);
            prop_assert!(matches!(second_pass(&view, class), std::borrow::Cow::Borrowed(_)));
            let text = String::from_utf8_lossy(&bytes);
            let passed = second_pass(&text, class);
            prop_assert!(!without_style(&passed).contains(is_live));
        }
    }

    #[test]
    fn what_is_truncated_fits(bytes in dangerous::input(), columns in 0..40_usize) {
        let text = String::from_utf8_lossy(&bytes);
        for class in ContentClass::ALL {
            let fitted = truncate(&text, columns, class);
            prop_assert!(fitted.columns <= columns);
            let plain = without_style(&fitted.text);
            prop_assert!(!plain.contains(is_live));
            for line in plain.split('\n').filter(|line| !line.contains('\t')) {
                prop_assert!(line.width() <= columns, "{}", audit(line));
            }
            let whole = truncate(&text, usize::MAX, class);
            prop_assert_eq!(&whole.text, &filtered(Content::new(class), &[text.as_bytes()]));
            prop_assert!(!whole.is_cut);
        }
    }

    #[test]
    fn a_single_line_hides_nothing(bytes in dangerous::input(), columns in 8..60_usize) {
        let whole = single_line(&bytes, usize::MAX);
        prop_assert_eq!(unescaped(&whole.text), bytes.as_slice(), "{}", whole.text);
        prop_assert!(!whole.text.contains(|c: char| c.is_control()));
        prop_assert!(!whole.text.contains("  "));
        let line = single_line(&bytes, columns);
        prop_assert!(line.columns <= columns && line.text.width() <= columns);
        prop_assert_eq!(line.is_cut, whole.columns > columns);
        let (before, left) = cut(&line);
        prop_assert_eq!(left.is_some(), line.is_cut, "{}", line.text);
        prop_assert!(whole.text.starts_with(before));
    }

    #[test]
    fn titles_and_links_end_where_we_end_them(bytes in dangerous::input()) {
        let text = String::from_utf8_lossy(&bytes);
        let title = title(&text);
        let inner = title.strip_prefix("\x1b]2;").unwrap().strip_suffix("\x1b\\").unwrap();
        prop_assert!(!inner.contains(|c: char| c.is_control()));
        let link = hyperlink(&text, &text);
        prop_assert!(!without_chrome(&link.text).contains(|c: char| c.is_control()));
    }
}

/// The bytes that a line shows.
fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            bytes.extend(c.to_string().bytes());
            continue;
        }
        let kind = rest.chars().next().unwrap();
        rest = &rest[kind.len_utf8()..];
        let mut braced = || {
            let (inner, after) = rest[1..].split_once('}').unwrap();
            rest = after;
            inner
        };
        match kind {
            '\\' => bytes.push(b'\\'),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            's' => bytes.extend(vec![b' '; braced().parse().unwrap()]),
            'u' => {
                let code = u32::from_str_radix(braced(), 16).unwrap();
                bytes.extend(char::from_u32(code).unwrap().to_string().bytes());
            }
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).unwrap());
                rest = &rest[2..];
            }
            other => panic!("{other:?} in {line:?}"),
        }
    }
    bytes
}

/// What stands before the mark of a cut, found as a reader would: the one backslash that begins no
/// escape.
fn cut(line: &Fitted) -> (&str, Option<usize>) {
    let mut rest = line.text.as_str();
    while let Some(at) = rest.find('\\') {
        let after = &rest[at + 1..];
        if let Some(left) = after.strip_prefix("\u{2026}+") {
            let before = line.text.len() - rest.len() + at;
            return (&line.text[..before], Some(left.parse().unwrap()));
        }
        rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
    }
    (&line.text, None)
}

#[test]
fn a_sequence_cut_off_never_goes_on_in_other_content() {
    let mut screen = String::new();
    for class in ContentClass::ALL {
        let mut one = FmtWriter::with(&mut screen, Content::new(class));
        for half in ["\x1b[3", "\x1b]0;", "\x1b", "\x1bP", "\u{9b}"] {
            write!(one, "a{half}").unwrap();
            one.finish().unwrap();
            write!(one, "1mb").unwrap();
            one.finish().unwrap();
        }
    }
    assert_eq!(screen, "a1mb".repeat(5 * 4));
}

#[test]
fn what_a_write_decided_reaches_the_sink_before_it_returns() {
    struct Sink<'a>(&'a std::cell::RefCell<Vec<u8>>);
    impl std::io::Write for Sink<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let seen = std::cell::RefCell::default();
    let mut writer = Writer::with(Sink(&seen), Content::new(ContentClass::ToolOutput));
    for (written, want) in [
        (&b"a"[..], "a"),
        (b"\x1b[3", "a"),
        (b"1mred\xe2\x82", "a\x1b[31mred"),
        (b"\xac", "a\x1b[31mred\u{20ac}"),
        (b"\x1b]52;c;UVE=", "a\x1b[31mred\u{20ac}"),
        (b"\x07!", "a\x1b[31mred\u{20ac}!"),
    ] {
        writer.write_all(written).unwrap();
        assert_eq!(String::from_utf8_lossy(&seen.borrow()), want);
    }
    writer.finish().unwrap();
    assert!(seen.borrow().ends_with(b"!\x1b[0m"));
}

#[test]
fn a_user_message_leaves_closing_to_the_caller() {
    let mut message = Content::new(ContentClass::UserMessage);
    let mut view = String::new();
    for (text, open) in [("\x1b[1mx", true), ("x", false), ("\x1b[1mx\x1b[m", false)] {
        message.push(text.as_bytes(), &mut view);
        assert_eq!(message.finish_open(&mut view).1, open);
    }
    assert_eq!(view, "\x1b[1mxx\x1b[1mx\x1b[0m");
    let mut off = Content::new(ContentClass::UserMessage).sanitize(Sanitize::Off);
    view.clear();
    off.push(b"\x1b[1m\x1b]0;x\x07", &mut view);
    assert!(off.finish_open(&mut view).1);
    assert_eq!(view, "\x1b[1m\x1b]0;x\x07");
}

#[test]
fn settings_of_content_do_what_they_say() {
    let hostile = b"a\x1b[31mred\x1b]0;t\x07\x1b[8mno\n\x1b[2Jb\tc";
    let shown = |content: Content| filtered(content, &[hostile]);
    let class = ContentClass::ModelOutput;
    assert_eq!(shown(Content::new(class)), "a\x1b[31mredno\nb\tc\x1b[0m");
    assert_eq!(shown(Content::new(class).style(false)), "aredno\nb\tc");
    let visualize = Content::new(class).sanitize(Sanitize::Visualize);
    assert_eq!(shown(visualize), "a\x1b[31mred\u{241b}\u{241b}no\n\u{241b}b\tc\x1b[0m");
    let off = Content::new(class).sanitize(Sanitize::Off);
    let raw = String::from_utf8_lossy(hostile).into_owned();
    assert_eq!(shown(off), raw + "\x1b[0m");
    assert_eq!(shown(Content::new(ContentClass::Derived)), "aredno b c");
    for name in Sanitize::NAMES {
        assert_eq!(name.parse::<Sanitize>().unwrap().to_string(), *name);
    }
    for class in ContentClass::ALL {
        assert_eq!(class.name().parse(), Ok(class));
    }
}

#[test]
fn the_floor_holds_links_up_to_their_limit() {
    let link = |n: usize| format!("\x1b]8;;x:{}\x07", "a".repeat(n - 8));
    for n in [osc_max() - 1, osc_max(), osc_max() + 1] {
        let text = format!("{}label", link(n));
        let view = filtered(Floor::new(), &[text.as_bytes()]);
        // A target of that length is none; the link is closed, or was not seen at all.
        assert_eq!(view.starts_with("\x1b]8;;\x1b\\"), n <= osc_max());
        assert!(view.ends_with("label"));
    }
}

fn osc_max() -> usize {
    noesc::osc::LINK_BYTES_MAX
}

#[test]
fn every_case_of_the_corpus_fits_a_line() {
    for case in corpus::load(&corpus::root()).unwrap() {
        let line = single_line(case.input(), 80);
        assert!(line.columns <= 80 && !line.text.contains(|c: char| c.is_control()));
    }
}

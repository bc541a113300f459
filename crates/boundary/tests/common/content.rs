//! The promises of content, each as a check of one input.

#![allow(clippy::unwrap_used, clippy::panic, dead_code, reason = "shared by tests")]

use noesc::fit::{Fitted, single_line, truncate};
use noesc::osc::{hyperlink, title};
use noesc::{Content, ContentClass, Filter, Floor, Profile, Sanitize, second_pass};
use unicode_width::UnicodeWidthStr;

pub(crate) const SETTINGS: [Sanitize; 3] = [Sanitize::Strip, Sanitize::Visualize, Sanitize::Off];

pub(crate) fn filtered(mut filter: impl Filter, pieces: &[&[u8]]) -> String {
    let mut view = String::new();
    pieces.iter().for_each(|piece| filter.push(piece, &mut view));
    filter.finish(&mut view);
    view
}

/// What of a text is not a style sequence.
pub(crate) fn without_style(text: &str) -> String {
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
pub(crate) fn audit(text: &str) -> String {
    noesc::audit(text.as_bytes())
}

pub(crate) fn is_live(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// What the floor keeps besides style, taken out.
pub(crate) fn without_chrome(text: &str) -> String {
    let mut rest = text.replace("\x1b[K", "");
    while let Some(at) = rest.find("\x1b]8;") {
        let len = rest[at..].find("\x1b\\").unwrap() + 2;
        let link = &rest[at..at + len - 2][1..];
        assert!(link.bytes().all(|b| (0x20..0x7F).contains(&b)), "{}", audit(link));
        rest.replace_range(at..at + len, "");
    }
    rest
}

pub(crate) fn content_of_every_class_is_inert(bytes: &[u8], keeps: bool) {
    for class in ContentClass::ALL {
        for sanitize in [Sanitize::Strip, Sanitize::Visualize] {
            let content = Content::new(class).sanitize(sanitize).style(keeps);
            let view = filtered(content, &[bytes]);
            let plain = without_style(&view);
            assert!(!plain.contains(is_live), "{}", audit(&plain));
            let styled = keeps && class != ContentClass::Derived;
            assert!(styled || plain == view);
            // A style that is open at the end is closed.
            if let Some(last) = view.rfind("\x1b[") {
                let end = view[last..].find('m').unwrap();
                let parameters = &view[last + 2..last + end];
                assert!(parameters.split(';').all(|p| p == "0"), "{parameters}");
            }
        }
    }
}

pub(crate) fn any_cut_gives_the_same(bytes: &[u8], at: usize) {
    let halves = [&bytes[..at], &bytes[at..]];
    let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
    for class in ContentClass::ALL {
        for sanitize in SETTINGS {
            let content = || Content::new(class).sanitize(sanitize);
            let whole = filtered(content(), &[bytes]);
            assert_eq!(filtered(content(), &halves), whole);
            assert_eq!(filtered(content(), &bytewise), whole);
        }
    }
    let whole = filtered(Floor::new(), &[bytes]);
    assert_eq!(filtered(Floor::new(), &halves), whole);
    assert_eq!(filtered(Floor::new(), &bytewise), whole);
}

pub(crate) fn derived_is_one_line_whatever_the_setting(bytes: &[u8]) {
    for sanitize in SETTINGS {
        let content = Content::new(ContentClass::Derived).sanitize(sanitize);
        let view = filtered(content, &[bytes]);
        assert!(!view.contains(|c: char| c.is_control()), "{}", audit(&view));
    }
}

pub(crate) fn the_floor_keeps_chrome_and_nothing_else(bytes: &[u8]) {
    let view = filtered(Floor::new(), &[bytes]);
    let plain = without_style(&without_chrome(&view));
    assert!(!plain.contains(is_live), "{}", audit(&plain));
    // Besides, it is the view of a terminal program.
    let display = noesc::view(bytes, &Profile::DISPLAY).unwrap().text;
    assert_eq!(without_chrome(&view), display);
    assert_eq!(filtered(Floor::new(), &[view.as_bytes()]), view);
}

pub(crate) fn a_second_pass_over_a_view_changes_nothing(bytes: &[u8]) {
    for class in ContentClass::ALL {
        let view = filtered(Content::new(class), &[bytes]);
        assert!(matches!(second_pass(&view, class), std::borrow::Cow::Borrowed(_)));
        let text = String::from_utf8_lossy(bytes);
        let passed = second_pass(&text, class);
        assert!(!without_style(&passed).contains(is_live));
    }
}

pub(crate) fn what_is_truncated_fits(bytes: &[u8], columns: usize) {
    let text = String::from_utf8_lossy(bytes);
    for class in ContentClass::ALL {
        let fitted = truncate(&text, columns, class);
        assert!(fitted.columns <= columns);
        let plain = without_style(&fitted.text);
        assert!(!plain.contains(is_live));
        for line in plain.split('\n').filter(|line| !line.contains('\t')) {
            assert!(line.width() <= columns, "{}", audit(line));
        }
        let whole = truncate(&text, usize::MAX, class);
        assert_eq!(&whole.text, &filtered(Content::new(class), &[text.as_bytes()]));
        assert!(!whole.is_cut);
    }
}

pub(crate) fn a_single_line_hides_nothing(bytes: &[u8], columns: usize) {
    let whole = single_line(bytes, usize::MAX);
    assert_eq!(unescaped(&whole.text), bytes, "{}", whole.text);
    assert!(!whole.text.contains(|c: char| c.is_control()));
    assert!(!whole.text.contains("  "));
    let line = single_line(bytes, columns);
    assert!(line.columns <= columns && line.text.width() <= columns);
    assert_eq!(line.is_cut, whole.columns > columns);
    let (before, left) = cut(&line);
    if columns < 2 {
        assert!(!line.is_cut || ["", "\u{2026}"].contains(&&*line.text));
        return;
    }
    assert_eq!(left.is_some(), line.is_cut, "{}", line.text);
    assert!(whole.text.starts_with(before));
}

pub(crate) fn titles_and_links_end_where_we_end_them(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let title = title(&text);
    let inner = title.strip_prefix("\x1b]2;").unwrap().strip_suffix("\x1b\\").unwrap();
    assert!(!inner.contains(|c: char| c.is_control()));
    let link = hyperlink(&text, &text);
    assert!(!without_chrome(&link.text).contains(|c: char| c.is_control()));
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
        if let Some(left) = after.strip_prefix("\u{2026}") {
            let before = line.text.len() - rest.len() + at;
            // Without a number where that does not fit.
            let left = left.strip_prefix('+').map_or(1, |left| left.parse().unwrap());
            return (&line.text[..before], Some(left));
        }
        rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
    }
    (&line.text, None)
}

//! Text of others in a terminal program: classes, floor, titles and links, fitting.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

use std::fmt::Write as _;
use std::io::Write as _;

use noesc::fit::{single_line, truncate};
use noesc::{Content, ContentClass, Floor, FmtWriter, Sanitize, Writer};
use noesc_testkit::{corpus, dangerous};
use proptest::prelude::*;

#[path = "common/content.rs"]
mod common;

use common::{audit, filtered};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn content_of_every_class_is_inert(bytes in dangerous::input(), keeps in any::<bool>()) {
        common::content_of_every_class_is_inert(&bytes, keeps);
    }

    #[test]
    fn any_cut_gives_the_same(bytes in dangerous::input(), at in any::<prop::sample::Index>()) {
        common::any_cut_gives_the_same(&bytes, at.index(bytes.len() + 1));
    }

    #[test]
    fn derived_is_one_line_whatever_the_setting(bytes in dangerous::input()) {
        common::derived_is_one_line_whatever_the_setting(&bytes);
    }

    #[test]
    fn the_floor_keeps_chrome_and_nothing_else(bytes in dangerous::input()) {
        common::the_floor_keeps_chrome_and_nothing_else(&bytes);
    }

    #[test]
    fn a_second_pass_over_a_view_changes_nothing(bytes in dangerous::input()) {
        common::a_second_pass_over_a_view_changes_nothing(&bytes);
    }

    #[test]
    fn what_is_truncated_fits(bytes in dangerous::input(), columns in 0..40_usize) {
        common::what_is_truncated_fits(&bytes, columns);
    }

    #[test]
    fn a_single_line_hides_nothing(bytes in dangerous::input(), columns in 0..60_usize) {
        common::a_single_line_hides_nothing(&bytes, columns);
    }

    #[test]
    fn titles_and_links_end_where_we_end_them(bytes in dangerous::input()) {
        common::titles_and_links_end_where_we_end_them(&bytes);
    }
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

#[cfg(feature = "serde")]
#[test]
fn settings_of_content_are_read_from_a_configuration() {
    #[derive(serde::Deserialize)]
    struct Display {
        #[serde(default)]
        sanitize: Sanitize,
    }
    let read = |text| serde_json::from_str::<Display>(text).unwrap().sanitize;
    assert_eq!(read("{}"), Sanitize::Strip);
    assert_eq!(read(r#"{ "sanitize": "visualize" }"#), Sanitize::Visualize);
    assert_eq!(read(r#"{ "sanitize": "mark" }"#), Sanitize::Visualize);
    assert_eq!(read(r#"{ "sanitize": "off" }"#), Sanitize::Off);
    for class in ContentClass::ALL {
        let name = serde_json::to_string(&class).unwrap();
        assert_eq!(name, format!("\"{}\"", class.name()));
        assert_eq!(serde_json::from_str::<ContentClass>(&name).unwrap(), class);
    }
}

#[test]
fn the_floor_leaves_nothing_open() {
    let open = filtered(Floor::new(), &[b"\x1b[1m\x1b]8;;x:y\x07label"]);
    assert_eq!(open, "\x1b[1m\x1b]8;;x:y\x1b\\label\x1b[0m\x1b]8;;\x1b\\");
    let closed = filtered(Floor::new(), &[b"\x1b]8;;x:y\x07label\x1b]8;;\x07"]);
    assert_eq!(closed, "\x1b]8;;x:y\x1b\\label\x1b]8;;\x1b\\");
    // The end of one stream is the beginning of another.
    let mut floor = Floor::new();
    let mut view = String::new();
    floor.push(b"\x1b]8;;x:y\x07", &mut view);
    floor.finish(&mut view);
    view.clear();
    floor.push(b"text", &mut view);
    floor.finish(&mut view);
    assert_eq!(view, "text");
}

#[test]
fn the_floor_erases_to_the_end_of_the_line_alone() {
    for kept in ["\x1b[K", "\x1b[0K"] {
        assert_eq!(filtered(Floor::new(), &[kept.as_bytes()]), "\x1b[K");
    }
    for other in ["\x1b[1K", "\x1b[2K", "\x1b[00K", "\x1b[?K", "\x1b[0;0K", "\x1b[J", "\x1b[ K"] {
        assert_eq!(filtered(Floor::new(), &[other.as_bytes()]), "", "{}", audit(other));
    }
}

#[test]
fn one_row_does_not_go_on_in_the_next() {
    let mut row = Content::new(ContentClass::Derived);
    let mut view = String::new();
    for text in ["one\n", "two"] {
        row.push(text.as_bytes(), &mut view);
        row.finish(&mut view);
        view.push('|');
    }
    assert_eq!(view, "one|two|");
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
fn what_is_not_seen_is_escaped_also_where_it_is_in_place() {
    for text in [
        "1\u{fe0e}2",
        "*\u{fe0f}",
        "\u{4e00}\u{e0100}",
        "\u{628}\u{200d}",
        "a\u{13430}b",
        "\u{1100}\u{1160}",
        "\u{915}\u{94d}\u{200c}",
        "\u{1820}\u{180b}",
        "\u{2764}\u{fe0f}",
        "a\u{2d7f}",
        "a\u{fffc}",
        "a\u{1d159}",
        "a\u{2216}\u{2026}+2",
        "\u{301}",
        "\u{ff3c}n",
    ] {
        assert!(single_line(text, 80).text.contains("\\u{"), "{}", text.escape_unicode());
    }
    for text in ["e\u{301}", "\u{5d0}\u{5b8}", "\u{915}\u{94d}\u{937}", "\u{1f600}", "\u{4f60}"] {
        assert_eq!(single_line(text, 80).text, text, "{}", text.escape_unicode());
    }
    assert_eq!(single_line("rm\u{600}  x ", 80).text, "rm\u{600}\\s{2}x\\s{1}");
}

#[test]
fn no_cluster_hides_more_than_a_letter() {
    let jamo = "\u{1100}".to_owned() + &"\u{1161}".repeat(100_000);
    let family = "\u{1f469}\u{200d}".repeat(2000) + "\u{1f469}";
    for text in [jamo, family] {
        for class in ContentClass::ALL {
            let fitted = truncate(&text, 80, class);
            assert!(fitted.is_cut && fitted.text.len() < 1000, "{}", fitted.text.len());
        }
        let line = single_line(&text, 40);
        assert!(line.is_cut && line.text.len() < 200, "{}", line.text.len());
    }
    let joined =
        |n: usize| truncate(&format!("e{}", "\u{301}".repeat(n)), 9, ContentClass::Derived);
    assert_eq!((joined(8).columns, joined(8).is_cut), (1, false));
}

#[test]
fn every_case_of_the_corpus_fits_a_line() {
    for case in corpus::load(&corpus::root()).unwrap() {
        let line = single_line(case.input(), 80);
        assert!(line.columns <= 80 && !line.text.contains(|c: char| c.is_control()));
    }
}

#[cfg(feature = "serde")]
#[test]
fn settings_are_read_from_a_configuration() {
    let read = |text: &str| serde_json::from_str::<Sanitize>(text).ok();
    assert_eq!(read("\"strip\""), Some(Sanitize::Strip));
    assert_eq!(read("\"visualize\""), Some(Sanitize::Visualize));
    assert_eq!(read("\"mark\""), Some(Sanitize::Visualize));
    assert_eq!(read("\"off\""), Some(Sanitize::Off));
    assert_eq!((read("\"on\""), read("true")), (None, None));
    for setting in common::SETTINGS {
        let text = serde_json::to_string(&setting).unwrap();
        assert_eq!(text, format!("\"{setting}\""));
    }
    assert_eq!(serde_json::to_string(&ContentClass::ToolOutput).unwrap(), "\"tool-output\"");
}

//! What holds for any input: inert, the same in any chunks, tiling, bounded.

#![allow(clippy::expect_used)]

use noesc_explain::{
    Explainer, ILL_FORMED_BYTES_MAX, Item, Items, Layout, Options, PAYLOAD_BYTES_MAX, Theme, What,
};
use noesc_testkit::dangerous;
use noesc_testkit::split::{Cuts, cuts};
use noesc_text::{Category, category};
use proptest::prelude::*;

fn explain<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, options: Options) -> String {
    let mut explained = String::new();
    let mut explainer = Explainer::new(options);
    for chunk in chunks {
        explainer.push(chunk, &mut explained).expect("a string takes anything");
    }
    explainer.finish(&mut explained).expect("a string takes anything");
    explained
}

fn all(layout: Layout) -> Options {
    Options { layout, summary: true, payload: true, ..Options::default() }
}

/// No control but LF, nothing that is not seen or that reorders.
fn first_unsafe(text: &str) -> Option<char> {
    text.chars().find(|&c| {
        (c.is_control() && c != '\n')
            || matches!(
                category(c),
                Category::BidiControl
                    | Category::BidiMark
                    | Category::Tag
                    | Category::TextSelector
                    | Category::EmojiSelector
                    | Category::IdeographSelector
                    | Category::NonJoiner
                    | Category::Joiner
                    | Category::ZeroWidth
                    | Category::Ignorable
                    | Category::Annotation
                    | Category::Filler
                    | Category::JamoFiller
                    | Category::BrailleBlank
                    | Category::MongolianSelector
                    | Category::MongolianVowelSeparator
                    | Category::Noncharacter
                    | Category::LineSeparator
            )
    })
}

/// Text as it was, from what stands between the quotes.
fn as_it_was(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((plain, notation)) = rest.split_once("<U+") {
        let (code, after) = notation.split_once('>').expect("the notation is closed");
        let code = u32::from_str_radix(code, 16).expect("a code point");
        text.push_str(plain);
        text.push(char::from_u32(code).expect("a character"));
        rest = after;
    }
    text + rest
}

/// The items tile the input, and say what stands in their bytes.
fn assert_tiles(input: &[u8]) {
    let mut at = 0;
    let mut open: Option<(u64, u64)> = None;
    let mut sink = |item: Item<'_>| {
        assert_eq!(item.offset, at);
        at += item.length;
        let bytes = &input[item.offset as usize..at as usize];
        match item.what {
            What::Text { shown, end, .. } => {
                let end = end.map_or(0, |end| end.crs + 1) as usize;
                let (text, end) = bytes.split_at(bytes.len() - end);
                assert_eq!(as_it_was(shown).as_bytes(), text);
                assert!(end.is_empty() || end.ends_with(b"\n"));
            }
            What::LineEnds { end, count } => {
                assert_eq!(bytes.len() as u64, count * (end.crs + 1));
            }
            What::Control { code, count } => {
                assert_eq!(bytes.len() as u64 % count, 0);
                assert_eq!(bytes.last(), Some(&code));
            }
            What::IllFormed { bytes: ill_formed } => assert_eq!(ill_formed, bytes),
            What::Part { start } => {
                let (_, before) = open.unwrap_or((start, 0));
                open = Some((start, before + item.length));
            }
            What::Sequence(explained) => {
                let (start, before) = open.take().unwrap_or((item.offset, 0));
                assert_eq!(explained.sequence.start, start);
                assert_eq!(explained.sequence.bytes, before + item.length);
                let payload = explained.payload;
                let whole = explained.sequence.payload.min(PAYLOAD_BYTES_MAX as u64);
                assert_eq!(payload.len() as u64, whole);
                assert!(payload.is_empty() || input.windows(payload.len()).any(|w| w == payload));
            }
            What::SplitIntroducer { .. } => assert_eq!(item.length, 0),
            _ => unreachable!("a sort of item that this test does not know"),
        }
    };
    let mut items = Items::new(30);
    items.push(input, &mut sink);
    items.finish(&mut sink);
    assert_eq!(at, input.len() as u64);
}

fn assert_same_in_chunks(input: &[u8], cuts: &Cuts) {
    for layout in [Layout::Rows, Layout::Json] {
        let whole = explain([input], all(layout));
        assert!(explain(cuts.of(input), all(layout)) == whole, "in chunks: {cuts:?}");
        assert!(explain(input.chunks(1), all(layout)) == whole, "byte by byte");
    }
}

proptest! {
    #[test]
    fn inert(input in prop_oneof![dangerous::input(), dangerous::deceiving_text()]) {
        for layout in [Layout::Rows, Layout::Json] {
            let explained = explain([&input[..]], all(layout));
            prop_assert_eq!(first_unsafe(&explained), None, "{}", input.escape_ascii());
            prop_assert!(!explained.contains('\t'));
        }
    }

    #[test]
    fn styles_of_the_theme_are_the_only_escapes(input in dangerous::input()) {
        let plain = explain([&input[..]], all(Layout::Rows));
        let coloured =
            explain([&input[..]], Options { theme: Theme::COLOUR, ..all(Layout::Rows) });
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            let (parameters, after) = after.split_once('m').expect("a whole SGR");
            prop_assert!(parameters.bytes().all(|b| b.is_ascii_digit() || b == b';'));
            stripped.push_str(before);
            rest = after;
        }
        stripped.push_str(rest);
        prop_assert_eq!(stripped, plain);
    }

    #[test]
    fn json_is_json(input in prop_oneof![dangerous::input(), dangerous::deceiving_text()]) {
        for line in explain([&input[..]], all(Layout::Json)).lines() {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
            let parsed = parsed.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(first_unsafe(&decoded(&parsed)), None);
        }
    }

    #[test]
    fn the_same_in_any_chunks(
        input in prop_oneof![dangerous::input(), dangerous::deceiving_text()],
        cuts in cuts(),
    ) {
        assert_same_in_chunks(&input, &cuts);
    }

    #[test]
    fn tiles(input in prop_oneof![dangerous::input(), dangerous::deceiving_text()]) {
        assert_tiles(&input);
    }

    #[test]
    fn payload_stays_out_unless_it_is_asked_for(open in 0usize..5, close in 0usize..4) {
        const SECRET: &str = "zqxjkv";
        let open = ["\x1b]", "\x1bP", "\x1b_", "\x1b]1337;", "\x1bk"][open];
        let close = ["\x07", "\x1b\\", "\x18", ""][close];
        let input = format!("{open}{SECRET}{close}");
        for layout in [Layout::Rows, Layout::Json] {
            let options = Options { payload: false, ..all(layout) };
            prop_assert!(!explain([input.as_bytes()], options).contains(SECRET));
            prop_assert!(explain([input.as_bytes()], all(layout)).contains(SECRET));
        }
    }
}

/// All strings in a value.
fn decoded(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(values) => values.iter().map(decoded).collect(),
        serde_json::Value::Object(values) => values.values().map(decoded).collect(),
        _ => String::new(),
    }
}

#[test]
fn the_corpus_is_inert_and_tiles() {
    let cases = noesc_testkit::corpus::load(&noesc_testkit::corpus::root()).expect("readable");
    for case in cases {
        let input = case.input();
        assert_tiles(&input);
        for layout in [Layout::Rows, Layout::Json] {
            let whole = explain([&input[..]], all(layout));
            assert_eq!(first_unsafe(&whole), None, "{}", case.name);
            assert!(whole == explain(input.chunks(1), all(layout)), "{}", case.name);
        }
    }
}

#[test]
fn short_inputs_of_the_worst_units() {
    for input in noesc_testkit::units::all_inputs(3) {
        let explained = explain([&input[..]], all(Layout::Rows));
        assert_eq!(first_unsafe(&explained), None, "{}", input.escape_ascii());
        assert!(explained == explain(input.chunks(1), all(Layout::Rows)));
        assert_tiles(&input);
    }
}

#[test]
fn payload_up_to_its_limit() {
    for (len, more) in
        [(PAYLOAD_BYTES_MAX - 1, false), (PAYLOAD_BYTES_MAX, false), (PAYLOAD_BYTES_MAX + 1, true)]
    {
        let input = [b"\x1b]2;", &vec![b'x'; len - 2][..], b"\x07"].concat();
        let explained = explain([&input[..]], all(Layout::Rows));
        assert_eq!(explained.contains("(1 more byte)"), more, "{len}");
        let shown = explained.lines().filter_map(|line| line.trim_start().strip_prefix("| "));
        assert_eq!(shown.map(str::len).sum::<usize>(), len.min(PAYLOAD_BYTES_MAX));
    }
}

#[test]
fn ill_formed_bytes_up_to_their_limit() {
    for (len, rows) in
        [(ILL_FORMED_BYTES_MAX - 1, 1), (ILL_FORMED_BYTES_MAX, 1), (ILL_FORMED_BYTES_MAX + 1, 2)]
    {
        let explained = explain([&vec![0xFF; len][..]], Options::default());
        assert_eq!(explained.lines().count(), rows, "{len}");
    }
}

/// Rows come as they are decided, and nothing grows with a line, a sequence or a string.
#[test]
fn output_of_endless_input_comes_while_it_is_read() {
    let options = Options::default();
    let mut explainer = Explainer::new(options);
    let mut out = String::new();
    for _ in 0..1000 {
        explainer.push(&[b'x'; 1000], &mut out).expect("a string takes anything");
    }
    assert!(out.lines().count() > 10_000);
    let size = |explainer: &Explainer| format!("{explainer:?}").len();
    let mut sizes = Vec::new();
    for piece in [&b"\x1b]0;"[..], b"x", b"\x1b[", b"1", b"\xff", b"\xcc\x81", b"\0", b"\r"] {
        let mut explainer = Explainer::new(options);
        for n in 0..20_000 {
            explainer.push(piece, &mut out).expect("a string takes anything");
            if n == 10_000 {
                sizes.push(size(&explainer));
            }
        }
        let (before, after) = (sizes[sizes.len() - 1], size(&explainer));
        assert!(after < before + 600, "{}: {before}, {after}", piece.escape_ascii());
        out.clear();
    }
}

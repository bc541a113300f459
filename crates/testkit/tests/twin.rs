//! What the slow second parser can check about itself: without this, agreeing with it proves
//! nothing.

use noesc_testkit::twin::{Item, parse, view};
use noesc_testkit::units::all_inputs;
use noesc_testkit::{dangerous, split};
use proptest::prelude::*;

/// Items tile the input, no two neighbours are one, and each sequence has its parts.
fn tiles(input: &[u8]) {
    let parsed = parse(input);
    let mut end = 0;
    for item in &parsed.items {
        assert_eq!(item.range().start, end, "{}", input.escape_ascii());
        assert!(!item.range().is_empty(), "{}", input.escape_ascii());
        end = item.range().end;
    }
    assert_eq!(end, input.len(), "{}", input.escape_ascii());
    let mergeable = parsed.items.windows(2).any(|pair| match pair {
        [Item::Text { .. }, Item::Text { .. }] => true,
        [Item::SequencePart { sequence: a, .. }, Item::SequencePart { sequence: b, .. }] => a == b,
        _ => false,
    });
    assert!(!mergeable, "{}", input.escape_ascii());
    for (number, s) in parsed.sequences.iter().enumerate() {
        let mut parts = parsed
            .items
            .iter()
            .filter(|i| matches!(i, Item::SequencePart { sequence, .. } if *sequence == number));
        assert_eq!(parts.next().map(|i| i.range().start), Some(s.start));
        assert!(parts.next_back().is_none_or(|i| i.range().end <= s.end));
        assert!(s.payload <= (s.end - s.start) as u64 && s.payload_lines <= s.payload);
    }
}

/// P1, P3 and what marks may change, for one input.
fn views(input: &[u8]) {
    let clean = view(input, false);
    let marked = view(input, true);
    for text in [&clean, &marked] {
        let inert = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
        assert!(text.chars().all(inert), "{}", input.escape_ascii());
    }
    assert_eq!(view(clean.as_bytes(), false), clean, "{}", input.escape_ascii());
    assert_eq!(view(marked.as_bytes(), true), marked, "{}", input.escape_ascii());
    if !String::from_utf8_lossy(input).contains('\u{241b}') {
        assert_eq!(marked.replace('\u{241b}', ""), clean, "{}", input.escape_ascii());
    }
}

#[test]
fn all_short_inputs() {
    for input in all_inputs(3) {
        tiles(&input);
        views(&input);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn dangerous_inputs(input in dangerous::input()) {
        tiles(&input);
        views(&input);
    }

    #[test]
    fn deceiving_texts(input in dangerous::deceiving_text()) {
        tiles(&input);
        views(&input);
    }

    /// A view followed by any other text forms no new sequence: what follows is read as if it
    /// stood alone.
    #[test]
    fn a_view_opens_nothing(a in dangerous::input(), b in dangerous::input()) {
        for mark in [false, true] {
            let clean = view(&a, mark).into_bytes();
            let both = parse(&[clean.as_slice(), b.as_slice()].concat());
            prop_assert_eq!(both.classes(), parse(&b).classes());
            prop_assert_eq!(both.endings(), parse(&b).endings());
            prop_assert_eq!(both.held_back(), parse(&b).held_back());
        }
    }

    /// Cutting an input shows the same bytes to a streaming parser.
    #[test]
    fn cuts_of_dangerous_inputs(input in dangerous::input(), cuts in split::cuts()) {
        prop_assert_eq!(cuts.of(&input).concat(), input);
    }
}

//! The parser and the slow second parser take every input alike, and chunks make no difference.

mod common;

use common::{trace, whole};
use noesc_testkit::twin::{self, Parsed, Sequence};
use noesc_testkit::{corpus, dangerous, split, units};
use proptest::prelude::*;

/// Cuts tried for one long input; shorter ones are cut at every place.
const CUTS_MAX: usize = 400;

/// The places to cut an input: all, or where it is long those at its ends and some between.
fn places(len: usize) -> impl Iterator<Item = usize> {
    let step = len.div_ceil(CUTS_MAX).max(1);
    (0..=len).filter(move |&at| at.is_multiple_of(step) || at < 40 || len - at < 40)
}

fn agrees(input: &[u8]) -> Parsed {
    let mut got = whole(input);
    let want = twin::parse(input);
    for (got, want) in got.parsed.sequences.iter_mut().zip(&want.sequences) {
        same_kind(got, want);
        let bytes = input[want.start..want.end].escape_ascii().to_string();
        assert_eq!(got, want, "{bytes:.300}");
    }
    assert_eq!(got.parsed.items, want.items, "{}", input.escape_ascii());
    assert_eq!(got.parsed, want, "{}", input.escape_ascii());
    assert_eq!(got.split, split_introducers(input, &want), "{}", input.escape_ascii());
    want
}

/// Kinds agree, but for sequences that the table does not name: the parser gives some of them a kind
/// where the second parser says `other`, and two that the table names twice.
fn same_kind(got: &mut Sequence, want: &Sequence) {
    let agree = match (want.kind, got.kind) {
        ("other", _) => got.severity >= want.severity,
        ("scroll", "cursor") => true,    // CSI s: DECSLRM or SCOSC
        ("cwd", "notification") => true, // OSC 9;9 without a folder
        _ => false,
    };
    if agree {
        (got.kind, got.severity) = (want.kind, want.severity);
    }
}

/// Where a line end aborted an escape or a CSI and the next line begins with an introducer.
fn split_introducers(input: &[u8], parsed: &Parsed) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for s in parsed.sequences.iter().filter(|s| matches!(s.class, "csi" | "escape")) {
        let last = input[s.end - 1];
        let final_from = if s.class == "csi" { 0x40 } else { 0x30 };
        let completed = s.ending == "overlong" && (final_from..=0x7e).contains(&last);
        let cut = matches!(s.ending, "aborted" | "overlong") && !completed;
        let at_line_end = matches!(input.get(s.end), Some(b'\n' | b'\r'));
        if !cut || !at_line_end || matches!(last, 0x18 | 0x1a) {
            continue;
        }
        let executed = |b: &&u8| matches!(b, 0..=0x1f | 0x7f) && !matches!(b, 0x18 | 0x1a | 0x1b);
        let next = s.end + input[s.end..].iter().take_while(executed).count();
        if matches!(input.get(next), Some(b'[' | b']' | b'P' | b'X' | b'^' | b'_' | b'k')) {
            found.push((next as u64, s.start as u64));
        }
    }
    found
}

fn any_cut(input: &[u8]) {
    let want = whole(input);
    for at in places(input.len()) {
        let (a, b) = input.split_at(at);
        assert_eq!(trace(input, [a, b]), want, "cut at {at}: {}", input.escape_ascii());
    }
    let single = trace(input, split::single_bytes(input));
    assert_eq!(single, want, "byte by byte: {}", input.escape_ascii());
}

#[test]
fn all_short_inputs() {
    for input in units::all_inputs(3) {
        agrees(&input);
        any_cut(&input);
    }
}

#[test]
fn the_corpus() {
    for case in corpus::load(&corpus::root()).unwrap() {
        let input = case.input();
        let parsed = agrees(&input);
        any_cut(&input);
        let chunks = case.chunks.iter().map(Vec::as_slice);
        assert_eq!(trace(&input, chunks), whole(&input), "{}", case.name);
        let expect = |want: Option<&corpus::Counts>, got: corpus::Counts| {
            assert!(want.is_none_or(|want| *want == got), "{}: {got:?}", case.name);
        };
        expect(case.classes.as_ref(), parsed.classes());
        expect(case.endings.as_ref(), parsed.endings());
        expect(case.kinds.as_ref().filter(|_| case.flags.is_empty()), parsed.kinds());
        if let Some(held) = case.held_back {
            assert_eq!(held, parsed.held_back(), "{}", case.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn dangerous_inputs(input in dangerous::input()) {
        agrees(&input);
    }

    #[test]
    fn deceiving_texts(input in dangerous::deceiving_text()) {
        agrees(&input);
    }

    #[test]
    fn random_bytes(input in proptest::collection::vec(any::<u8>(), 0..64)) {
        agrees(&input);
    }

    #[test]
    fn chunks_of_dangerous_inputs(input in dangerous::input(), cuts in split::cuts()) {
        prop_assert_eq!(trace(&input, cuts.of(&input)), whole(&input));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn every_cut_of_dangerous_inputs(input in dangerous::input()) {
        any_cut(&input);
    }
}

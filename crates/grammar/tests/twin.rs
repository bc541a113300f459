//! The parser and the slow second parser take every input alike, and chunks make no difference.

mod common;

use common::{agrees, in_parts, trace, whole};
use noesc_testkit::share::cases;
use noesc_testkit::{corpus, dangerous, split, units};
use proptest::prelude::*;

/// Cuts tried for one long input; shorter ones are cut at every place.
const CUTS_MAX: usize = 400;

/// The places to cut an input: all, or where it is long those at its ends and some between.
fn places(len: usize) -> impl Iterator<Item = usize> {
    let step = len.div_ceil(CUTS_MAX).max(1);
    (0..=len).filter(move |&at| at.is_multiple_of(step) || at < 40 || len - at < 40)
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
    #![proptest_config(cases(2000))]

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

    /// A scanner that says less, and a stop between sequences, make no difference.
    #[test]
    fn parts_of_dangerous_inputs(
        input in dangerous::input(), most in 0usize..5, enough in 1usize..20,
    ) {
        for most in [most, usize::MAX] {
            prop_assert_eq!(in_parts(&input, most, enough), whole(&input));
        }
    }

    #[test]
    fn chunks_of_dangerous_inputs(input in dangerous::input(), cuts in split::cuts()) {
        prop_assert_eq!(trace(&input, cuts.of(&input)), whole(&input));
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_cut_of_dangerous_inputs(input in dangerous::input()) {
        any_cut(&input);
    }
}

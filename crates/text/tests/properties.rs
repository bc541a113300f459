//! The streaming rules against the slow twin, and what they promise, on generated input.
#![allow(clippy::unwrap_used)] // of generators

mod common;

use common::{Column, Step, judge, judge_fast, naive, steps, view};
use noesc_text::{Category, Class, Verdict, category, is_at_home, is_base};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;

/// At least one of each category, and of each character that a rule names.
const CHARS: &[char] = &[
    'a',
    ' ',
    '1',
    '0',
    '\u{2229}',
    '\n',
    '\u{202e}',
    '\u{200f}',
    '\u{e0067}',
    '\u{e0062}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{1f3f4}',
    '\u{fe00}',
    '\u{fe0e}',
    '\u{fe0f}',
    '\u{e0100}',
    '\u{e0101}',
    '\u{200c}',
    '\u{200d}',
    '\u{200b}',
    '\u{feff}',
    '\u{34f}',
    '\u{2062}',
    '\u{17b4}',
    '\u{fff9}',
    '\u{3164}',
    '\u{115f}',
    '\u{1160}',
    '\u{1100}',
    '\u{d7b0}',
    '\u{2800}',
    '\u{2801}',
    '\u{28ff}',
    '\u{180b}',
    '\u{180f}',
    '\u{180e}',
    '\u{1820}',
    '\u{1880}',
    '\u{a856}',
    '\u{10ac5}',
    '\u{628}',
    '\u{627}',
    '\u{710}',
    '\u{1e922}',
    '\u{301}',
    '\u{489}',
    '\u{94d}',
    '\u{1b44}',
    '\u{915}',
    '\u{fdd0}',
    '\u{10ffff}',
    '\u{e000}',
    '\u{ea00}',
    '\u{2028}',
    '\u{2029}',
    '\u{2764}',
    '\u{1f468}',
    '\u{1f3fb}',
    '\u{845b}',
    '\u{f900}',
    '\u{fffd}',
];

const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// What the rules keep, to be cut and changed.
const PHRASES: [&str; 6] = [
    "\u{1820}\u{180e}\u{1820}",
    "\u{628}\u{301}\u{200c}\u{628}",
    "\u{1f468}\u{1f3fb}\u{200d}\u{2764}\u{fe0f}\u{200d}\u{1f468}",
    FLAGS[0],
    FLAGS[1],
    FLAGS[2],
];

fn one() -> impl Strategy<Value = Step> {
    prop_oneof![
        16 => prop::sample::select(CHARS).prop_map(Step::Char),
        // Letters and marks of many scripts; the twin knows the listed pairs of CHARS alone.
        1 => prop::char::range('\u{a000}', '\u{a855}').prop_map(Step::Char),
        1 => Just(Step::Interrupt),
        1 => Just(Step::LineEnd),
    ]
}

/// A piece of input: one step, a run of one character, or a phrase with a piece cut off or changed.
fn piece() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        12 => prop::collection::vec(one(), 1..6),
        3 => (prop::sample::select(CHARS), 1usize..11).prop_map(|(c, n)| vec![Step::Char(c); n]),
        2 => prop::sample::select(&PHRASES[..]).prop_map(steps),
        2 => (prop::sample::select(&PHRASES[..]), 0usize..8, one()).prop_map(|(phrase, at, step)| {
            let mut steps = steps(phrase);
            steps.insert(at.min(steps.len()), step);
            steps
        }),
        1 => (prop::sample::select(&PHRASES[..]), 1usize..7)
            .prop_map(|(phrase, len)| steps(phrase).into_iter().take(len).collect()),
    ]
}

fn input() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(piece(), 0..10).prop_map(|pieces| pieces.concat())
}

/// What is told by neighbours alone, however many of them are known, is what a context says.
fn neighbours_tell_no_more(input: &[Step], verdicts: &[(char, Verdict)]) {
    let mut verdicts = verdicts.iter();
    for (i, step) in input.iter().enumerate() {
        let &Step::Char(c) = step else { continue };
        let verdict = verdicts.next().map(|(_, verdict)| verdict);
        let chars = |step: &Step| if let Step::Char(c) = *step { Some(c) } else { None };
        let after = input.get(i + 1).and_then(chars);
        let told = |known: usize| {
            let before = input[..i].iter().rev().map_while(chars).take(known);
            [None, after].into_iter().any(|after| is_at_home(c, before.clone(), after))
        };
        if is_base(c) || [1, 2, 3, 8, i].into_iter().any(told) {
            assert_eq!(verdict, Some(&Verdict::Keep), "{c:?}, at {i}: {input:?}");
        }
    }
}

fn check(input: &[Step]) {
    for column in [Column::Agent, Column::Display] {
        let verdicts = judge(input, column);
        assert_eq!(verdicts, naive::judge(input, column), "{column:?}: {input:?}");
        assert_eq!(verdicts, judge_fast(input, column), "fast path: {input:?}");
        neighbours_tell_no_more(input, &verdicts);
        let once = view(input, column);
        let again = judge(&steps(&once), column);
        for (c, verdict) in &again {
            assert!(
                matches!(verdict, Verdict::Keep | Verdict::Noted(..))
                    || column == Column::Display
                        && matches!(verdict, Verdict::Drop(Class::BidiMark, _)),
                "{c:?} {verdict:?} the second time, {column:?}: {input:?}"
            );
        }
        assert_eq!(view(&steps(&once), column), once, "{input:?}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 4000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn generated_input_agrees_with_the_twin_and_is_a_fixed_point(input in input()) {
        check(&input);
    }
}

/// Every string of `len` steps over an alphabet.
fn exhaust(alphabet: &[Step], len: u32) {
    let mut string = vec![Step::Interrupt; len as usize];
    for mut number in 0..alphabet.len().pow(len) {
        for step in &mut string {
            *step = alphabet[number % alphabet.len()];
            number /= alphabet.len();
        }
        check(&string);
    }
}

fn alphabet(chars: &[char]) -> Vec<Step> {
    let mut all: Vec<Step> = chars.iter().copied().map(Step::Char).collect();
    all.extend([Step::Interrupt, Step::LineEnd]);
    all
}

#[test]
fn all_strings_of_up_to_three_steps() {
    for len in 0..=3 {
        exhaust(&alphabet(CHARS), len);
    }
}

/// The rules with more than two characters in them: emoji, letters, marks and joiners.
#[test]
fn all_strings_of_five_steps_that_join() {
    let chars = [
        'a',
        '\u{1f468}',
        '\u{1f3fb}',
        '\u{fe0f}',
        '\u{200d}',
        '\u{200c}',
        '\u{628}',
        '\u{301}',
        '\u{94d}',
        '\u{200b}',
    ];
    exhaust(&alphabet(&chars), 5);
}

#[test]
fn all_strings_of_five_steps_that_fill_or_select() {
    let chars = [
        'a', '\u{1160}', '\u{1100}', '\u{2800}', '\u{2801}', '\u{1820}', '\u{180b}', '\u{180e}',
        '\u{200d}', '\u{200b}',
    ];
    exhaust(&alphabet(&chars), 5);
}

/// What a generator worth having makes happen.
const REACHED: &[&str] = &[
    "Annotation dropped Low",
    "BidiControl dropped High",
    "BidiMark dropped Low",
    "BlackFlag kept",
    "Braille kept",
    "BrailleBlank kept",
    "BrailleBlank substituted",
    "EmojiModifier kept",
    "EmojiSelector dropped High",
    "EmojiSelector dropped Low",
    "EmojiSelector kept",
    "Filler dropped Low",
    "Ideograph kept",
    "IdeographSelector dropped Critical",
    "IdeographSelector dropped Low",
    "IdeographSelector kept",
    "Ignorable dropped High",
    "Ignorable dropped Low",
    "Jamo kept",
    "JamoFiller dropped Low",
    "JamoFiller kept",
    "Joiner dropped Low",
    "Joiner kept",
    "Joining kept",
    "LineSeparator substituted",
    "Mark dropped Low",
    "Mark kept",
    "MarkVirama dropped Low",
    "MarkVirama kept",
    "MongolianLetter kept",
    "MongolianSelector dropped Low",
    "MongolianSelector kept",
    "MongolianVowelSeparator dropped Low",
    "MongolianVowelSeparator kept",
    "NonJoiner dropped Low",
    "NonJoiner kept",
    "Noncharacter substituted",
    "Ordinary kept",
    "Pictograph kept",
    "PrivateUse noted",
    "PrivateUseNerd kept",
    "SpacingVirama kept",
    "Tag dropped Critical",
    "Tag dropped Low",
    "Tag kept",
    "TextSelector dropped High",
    "TextSelector dropped Low",
    "TextSelector kept",
    "ZeroWidth dropped High",
    "ZeroWidth dropped Info",
    "ZeroWidth dropped Low",
];

/// A generator that stops emitting what is dangerous would let every property pass.
#[test]
fn the_generator_emits_every_category_and_reaches_every_verdict() {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let mut seen = BTreeSet::new();
    let strategy = input();
    for _ in 0..2000 {
        let input = strategy.new_tree(&mut runner).unwrap().current();
        for (c, verdict) in judge(&input, Column::Agent) {
            let what = match category(c) {
                Category::Joining(_) => "Joining".into(),
                other => format!("{other:?}"),
            };
            seen.insert(match verdict {
                Verdict::Keep => format!("{what} kept"),
                Verdict::Noted(..) => format!("{what} noted"),
                Verdict::Drop(_, severity) => format!("{what} dropped {severity:?}"),
                Verdict::Substitute(..) => format!("{what} substituted"),
            });
        }
    }
    let expected: BTreeSet<String> = REACHED.iter().copied().map(String::from).collect();
    assert_eq!(seen, expected);
}

//! Whichever way the scan goes, the answer is that of the rows, which look at each byte: view,
//! report and spans, with spans and without, for any profile and any chunks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

mod common;
#[path = "common/paths.rs"]
mod every_path;

use common::{profile, profiles};
use every_path::agree;
use noesc::{Cr, Form, Profile, Removed};
use noesc_scan::STRETCH_BYTES_MAX;
use noesc_testkit::share::{cases, share};
use noesc_testkit::{corpus, dangerous, split, units};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Profiles under which a stretch is passed in different ways.
fn few_profiles() -> [Profile; 5] {
    [
        Profile::AGENT,
        Profile { removed: Removed::Mark, ..Profile::AGENT },
        Profile { cr: Cr::Drop, ..Profile::AGENT },
        Profile { cr: Cr::Overwrite, ..Profile::AGENT },
        Profile::DISPLAY,
    ]
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn long_output(
        input in dangerous::long_output(), cuts in split::cuts(), profile in profile(),
    ) {
        agree(&input, &cuts.of(&input), &profile);
        agree(&input, &cuts.of(&input), &Profile::AGENT);
    }

    #[test]
    fn dangerous_inputs(
        input in dangerous::input(), cuts in split::cuts(), profile in profile(),
    ) {
        agree(&input, &cuts.of(&input), &profile);
    }

    #[test]
    fn deceiving_texts(
        input in dangerous::deceiving_text(), cuts in split::cuts(), profile in profile(),
    ) {
        every_path::cleans(&input);
        agree(&input, &cuts.of(&input), &profile);
    }

    #[test]
    fn other_forms(input in dangerous::long_output(), cuts in split::cuts()) {
        for form in [Form::Audit, Form::Off] {
            agree(&input, &cuts.of(&input), &Profile { form, ..Profile::AGENT });
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// What one stretch leaves is what the next one needs, wherever one ends.
    #[test]
    fn long_output_in_equal_chunks(input in dangerous::long_output()) {
        for len in (1..200).step_by(3) {
            agree(&input, &input.chunks(len).collect::<Vec<_>>(), &Profile::AGENT);
        }
    }
}

/// A colour stays in force behind sequences that are no style, so that text in the colour of its
/// background is found.
#[test]
fn other_sequences_change_no_colour() {
    for other in ["K", "0K", "2K", "H", "A", "2A", "J", ">m", ">4;2m", "?1m", ">4K", "?K", "8K"] {
        for colour in ["31", "38;5;1", "38:5:1", "38;2;1;2;8"] {
            let background = colour.replacen('3', "4", 1);
            let input = format!("\x1b[{colour}m\x1b[{other}\x1b[{background}mtext\x1b[0m end");
            let kinds: Vec<_> = noesc::view(input.as_bytes(), &Profile::AGENT)
                .unwrap()
                .report
                .findings
                .iter()
                .map(|finding| finding.kind)
                .collect();
            assert!(kinds.contains(&"hidden-text"), "{}: {kinds:?}", input.escape_debug());
            agree(input.as_bytes(), &[input.as_bytes()], &Profile::AGENT);
        }
    }
}

/// Each case between plain lines, so that what stands before it and behind it is passed at once.
#[test]
fn the_corpus_between_plain_lines() {
    let profiles = profiles();
    for (number, case) in corpus::load(&corpus::root()).unwrap().iter().enumerate() {
        if number % share() != 0 {
            continue;
        }
        let bytes = case.input();
        let line = b"a plain line of text, longer than what is not looked at\n";
        for (before, behind) in [(0, 0), (line.len(), 40), (7 + number % 64, 64)] {
            let input =
                [&line.repeat(2)[..before], &bytes, &line[..behind.min(line.len())]].concat();
            let halves = input.split_at(input.len() / 2);
            let some = profiles.iter().skip(number % 60).step_by(60);
            for profile in few_profiles().iter().chain(some) {
                agree(&input, &[halves.0, halves.1], profile);
            }
        }
    }
}

/// Characters that are kept, most of them wherever they stand.
fn text() -> impl Strategy<Value = String> {
    let usual = &["a", "text, ", "\n", "\t", "\u{e9}", "\u{4e2d}\u{6587}", "\u{1f600}", "\u{628}"];
    let rare = &[
        "\u{301}",
        "\u{94d}",
        "\u{915}",
        "\u{1b44}",
        "\u{200c}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{fe0e}",
        "\u{1f468}",
        "\u{1f3fb}",
        "\u{1f3f4}",
        "\u{2764}",
        "\u{64e}",
        "\u{1820}",
        "\u{180b}",
        "\u{1100}",
        "\u{2800}",
        "\u{241b}",
        "\u{27e6}",
        "\u{e0b0}",
        "\u{a0}",
    ];
    let one = prop_oneof![6 => select(&usual[..]), 2 => select(&rare[..])];
    let often = prop_oneof![60 => select(&usual[..]), 1 => select(&rare[..])];
    prop_oneof![
        vec(one, 0..12).prop_map(|parts| parts.concat()),
        vec(often, 0..120).prop_map(|parts| parts.concat()),
        (vec(select(&rare[..]), 1..5), 1..40_usize)
            .prop_map(|(unit, times)| unit.concat().repeat(times)),
    ]
}

proptest! {
    #![proptest_config(cases(4000))]

    /// What is taken for text that changes nothing does not change under the rows; and one cut in
    /// it changes nothing.
    #[test]
    fn texts(text in text(), before in 0..70_usize, cut in any::<proptest::sample::Index>()) {
        let input = ["x".repeat(before), text].concat();
        let (a, b) = input.as_bytes().split_at(cut.index(input.len() + 1));
        every_path::cleans(input.as_bytes());
        every_path::cleans(a);
        agree(input.as_bytes(), &[a, b], &Profile::AGENT);
    }
}

/// What bears on its neighbours, and what stands between them.
const UNITS: &[&[u8]] = &[
    b"a",
    b"\n",
    b"\r",
    b"\r\n",
    b"\x1b",
    b"\x1b[1",
    b"\x1b[1m",
    b"\x1b[K",
    b"\x1b[41m",
    b"\x1b[8m",
    b"\x1b(0",
    b"\x1b]0;t\x07",
    b"\0",
    b"\x80",
    "\u{e9}".as_bytes(),
    "\u{4e2d}".as_bytes(),
    "\u{301}".as_bytes(),
    // As many marks as a base keeps.
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{1f468}".as_bytes(),
    "\u{1f44d}\u{1f3fd}".as_bytes(),
    "\u{1f3fb}".as_bytes(),
    "\u{fe0f}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{200c}".as_bytes(),
    "\u{628}".as_bytes(),
    "\u{915}\u{94d}".as_bytes(),
    "\u{1820}".as_bytes(),
    "\u{180e}".as_bytes(),
    "\u{1f3f4}".as_bytes(),
    "\u{e0067}".as_bytes(),
    "\u{2028}".as_bytes(),
];

/// Every three of them behind one another, cut behind each, amid text that is passed at once.
#[test]
fn three_neighbours() {
    let all = UNITS.len().pow(3);
    for number in (0..all).step_by(share()) {
        let unit = |place: u32| UNITS[number / UNITS.len().pow(place) % UNITS.len()];
        let before = &b"some text, \x1b[1mbold\x1b[0m, and\n more of it"[..24 + number % 13];
        let input = [before, unit(0), unit(1), unit(2), b"text that goes on behind"].concat();
        let first = before.len() + unit(0).len();
        let profile = &few_profiles()[number % 5];
        for (cut, profile) in [
            (first, &Profile::AGENT),
            (first + unit(1).len(), &Profile::AGENT),
            (first + number % 2 * unit(1).len(), profile),
        ] {
            agree(&input, &[&input[..cut], &input[cut..]], profile);
        }
    }
}

/// A stretch ends after so many bytes, whatever lies across that.
#[test]
fn across_the_end_of_a_stretch() {
    let more: [&[u8]; 4] = [
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f466}".as_bytes(),
        "\u{1f44d}\u{1f3fd}\u{200d}\u{1f468}".as_bytes(),
        "\u{628}\u{200c}\u{628}\u{301}\u{301}".as_bytes(),
        b"\x1b[38;5;1m\x1b[48;5;1mtext\r\x1b[K\r\n",
    ];
    for (n, tricky) in UNITS.iter().chain(&more).enumerate().filter(|(n, _)| n % share() == 0) {
        for at in STRETCH_BYTES_MAX - 20..=STRETCH_BYTES_MAX + 1 {
            // It begins with a sequence, so that it is no text alone.
            let mut input = b"\x1b[1m".to_vec();
            input.resize(at, b'x');
            let input = [&input, *tricky, b"\xf0\x9f\x91\xa9 text that goes on behind"].concat();
            let profiles = few_profiles();
            agree(&input, &[&input], &profiles[(n + at) % profiles.len()]);
            agree(&input, &[&input], &Profile::AGENT);
        }
    }
}

/// All inputs of up to three of the most dangerous units, between bytes that a stretch begins and
/// ends with, and across the end of a block.
#[test]
fn short_inputs_between_plain_bytes() {
    let text = b"some text, \x1b[1mbold\x1b[0m, and more of it that goes on to the border";
    for (number, unit) in units::all_inputs(3).enumerate().filter(|(n, _)| n % share() == 0) {
        let before = &text[..30 + number % 37];
        let input = [before, &unit, b"some text behind"].concat();
        let profiles = few_profiles();
        let profile = &profiles[number % profiles.len()];
        let at = before.len() + unit.len() / 2;
        agree(&input, &[&input[..at], &input[at..]], profile);
        agree(&input, &input.chunks(20).collect::<Vec<_>>(), &Profile::AGENT);
    }
}

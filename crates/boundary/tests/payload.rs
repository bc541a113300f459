//! P5: nothing of a recognised control string's payload reaches a view, a report or the runs.

#![allow(clippy::unwrap_used, reason = "functions that tests share")]

mod common;

use common::{feed, profile};
use noesc::{Form, Profile};
use noesc_testkit::share::cases;
use noesc_testkit::{dangerous, split};
use proptest::prelude::*;
use proptest::sample::select;

/// A word that nothing else in the input holds: 12 letters of which no other generator has two.
fn marker() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&["QV", "ZW", "JX", "VQ", "WZ", "XJ"][..]), 6)
        .prop_map(|parts| parts.concat())
}

/// An introducer, each with a payload's head that makes it a kind of its own. The line end before
/// them ends what could hold them back otherwise.
fn opener() -> impl Strategy<Value = Vec<u8>> {
    let class = select(vec![
        &b"\x1b]"[..],
        b"\x1bP",
        b"\x1bX",
        b"\x1b^",
        b"\x1b_",
        b"\x1bk",
        b"\n\xc2\x9d",
        b"\n\xc2\x90",
        b"\n\xc2\x98",
        b"\n\xc2\x9e",
        b"\n\xc2\x9f",
        b"\x1b\x00]",
        b"\x1b\x07_",
    ]);
    let head = select(vec![
        &b""[..],
        b"0;",
        b"52;c;",
        b"8;;",
        b"1337;File=",
        b"G",
        b"$q",
        b"tmux;",
        b"133;A;",
        b"?",
        b";;;",
        b"\xff\xfe",
        b"\xe2\x80",
        b"\xc2",
        b"\xf3\xa0",
        b"\x00\x08\x7f",
        b"999999999999999999999999999;",
    ]);
    (class, head).prop_map(|(class, head)| [class, head].concat())
}

/// What may stand in a payload and ends none.
fn filler() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(vec![
        &b"x"[..],
        b";",
        b"\xc4\x9b",
        b"\xe6\x9b\xb4",
        b"\xf0\x9f\x9c\x9c",
        b"\xff",
        b"\xc2",
        b"\xe2\x80",
        b"\x00",
        b"\x08",
        b"\x7f",
        b"[31m",
        b"\xc2\x9b",
        b"\x9b31m",
        b"\x9d",
        b"\xe2\x80\xae",
        b"\t",
        b"\\",
    ]);
    let long = (0usize..3).prop_map(|n| vec![b'y'; [0, 300, 5000][n]]);
    (proptest::collection::vec(piece, 0..6), long).prop_map(|(pieces, long)| {
        let mut all = pieces.concat();
        all.extend(long);
        // A cut character would take a 9C of what follows, or end before it.
        all.push(b'.');
        all
    })
}

fn ending() -> impl Strategy<Value = Vec<u8>> {
    select(vec![&b"\x07"[..], b"\x1b\\", b"\x9c", b"\xc2\x9c", b"\x18", b"\x1a", b"\x1b[m", b""])
        .prop_map(<[u8]>::to_vec)
}

/// A string that is recognised, with the marker in its payload.
fn string(marker: String) -> impl Strategy<Value = Vec<u8>> {
    let word = marker.clone();
    let seven_bit = (opener(), filler(), filler(), ending()).prop_map(move |(open, a, b, end)| {
        [open.as_slice(), &a, word.as_bytes(), &b, &end].concat()
    });
    let raw = (
        select(vec![0x90u8, 0x98, 0x9d, 0x9e, 0x9f]),
        0usize..240,
        select(vec![&b"\x07"[..], b"\x1b\\", b"\x9c", b"\xc2\x9c"]),
    );
    let raw = raw.prop_map(move |(open, n, end)| {
        [b"\n".as_slice(), &[open], "z".repeat(n).as_bytes(), marker.as_bytes(), end].concat()
    });
    prop_oneof![4 => seven_bit, 1 => raw]
}

/// The marker, and an input that holds it in a payload, and nowhere else.
fn marked_payload() -> impl Strategy<Value = (String, Vec<u8>)> {
    marker().prop_flat_map(|marker| {
        let string = string(marker.clone());
        (Just(marker), dangerous::input(), string, dangerous::input()).prop_map(
            |(marker, before, string, after)| {
                // With nothing to end it, all that follows is payload until something does.
                let input = [before, string, after].concat();
                (marker, input)
            },
        )
    })
}

fn said(input: &[u8], cuts: &split::Cuts, profile: &Profile) -> String {
    let whole = feed(cuts.of(input), profile);
    #[cfg(feature = "serde")]
    let json = serde_json::to_string(&whole.report).unwrap();
    #[cfg(not(feature = "serde"))]
    let json = "";
    let text = if profile.form == Form::Text { whole.text.as_str() } else { "" };
    format!("{text}\n{:?}\n{}\n{json}\n{:?}", whole.report, whole.report, whole.runs)
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn nothing_of_a_payload_is_said(
        (marker, input) in marked_payload(), cuts in split::cuts(), profile in profile(),
    ) {
        let profile = &profile;
        for form in [Form::Text, Form::Audit] {
            let said = said(&input, &cuts, &Profile { form, ..*profile });
            // Not even a third of it.
            for part in [&marker[..4], &marker[4..8], &marker[8..]] {
                prop_assert!(!said.contains(part), "{part} of b\"{}\"", input.escape_ascii());
            }
        }
    }
}

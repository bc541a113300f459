//! All inputs of up to four of the most dangerous units: inert, a fixed point, the same for every
//! split, and what the slow second parser and view say.

mod common;

use common::{feed, inert, tiles, whole};
use noesc::{Profile, Removed};
use noesc_testkit::share::share;
use noesc_testkit::{split, twin, units};

const MARKED: Profile = Profile { removed: Removed::Mark, ..Profile::AGENT };

fn check(input: &[u8], profile: &Profile) -> Result<(), String> {
    let got = whole(input, profile);
    inert(&got.text, profile)?;
    tiles(input, &got)?;
    let want = twin::view(input, profile.removed == Removed::Mark);
    if got.text != want {
        return Err(format!("got {:?}, the second view is {want:?}", got.text));
    }
    let again = common::text(got.text.as_bytes(), profile);
    if again != got.text {
        return Err(format!("{:?} becomes {again:?}", got.text));
    }
    Ok(())
}

#[test]
fn all_inputs_of_four_units() {
    let mut n = 0_usize;
    for input in units::all_inputs(4).step_by(share()) {
        n += 1;
        for profile in [Profile::AGENT, MARKED] {
            common::hold(check(&input, &profile), &input, &profile);
        }
    }
    let all: usize = (0..=4).map(|units| 24_usize.pow(units)).sum();
    assert_eq!(n, all.div_ceil(share()));
}

#[test]
fn every_split_of_all_inputs_of_four_units() {
    for input in units::all_inputs(4).step_by(share()) {
        let want = whole(&input, &Profile::AGENT);
        let single = feed(split::single_bytes(&input), &Profile::AGENT);
        assert!(single == want, "{}: {single:?}, {want:?}", input.escape_ascii());
        for (a, b) in split::in_two(&input) {
            let got = feed([a, b], &Profile::AGENT);
            assert!(got == want, "{}: {got:?}, {want:?}", input.escape_ascii());
        }
    }
}

#[test]
fn counts_of_all_inputs_of_three_units() {
    for input in units::all_inputs(3).step_by(share()) {
        for profile in [Profile::AGENT, MARKED, Profile::DISPLAY] {
            common::hold(common::promises(&input, &profile), &input, &profile);
        }
    }
}

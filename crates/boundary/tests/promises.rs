//! The promises P1 to P6 and P8, on generated input under every combination of settings.

mod common;

use common::{counted, hold, profile, profiles, promises, split, text, tiles, whole};
use noesc::{Form, Profile, Removed, Style};
use noesc_testkit::{dangerous, split as cut, twin};
use proptest::prelude::*;

fn cases(n: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(n) }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn dangerous_inputs(input in dangerous::input(), profile in profile()) {
        hold(promises(&input, &profile), &input, &profile);
    }

    #[test]
    fn deceiving_texts(input in dangerous::deceiving_text(), profile in profile()) {
        hold(promises(&input, &profile), &input, &profile);
    }

    /// The slow second view, written from the specification alone.
    #[test]
    fn the_second_view_agrees(a in dangerous::input(), b in dangerous::deceiving_text()) {
        for input in [&a, &b] {
            for removed in [Removed::Strip, Removed::Mark] {
                let profile = Profile { removed, ..Profile::AGENT };
                let want = twin::view(input, removed == Removed::Mark);
                prop_assert_eq!(text(input, &profile), want, "{}", input.escape_ascii());
            }
        }
    }

    /// P3: what follows a view is read as if it stood alone.
    #[test]
    fn a_view_opens_nothing(
        a in dangerous::input(),
        b in dangerous::input(),
        profile in profile(),
    ) {
        let profile = Profile { style: Style::Remove, ..profile };
        let view = text(&a, &profile);
        let both = whole(&[view.as_bytes(), &b].concat(), &profile).report;
        let alone = whole(&b, &profile).report;
        prop_assert_eq!(both.classes, alone.classes, "{}", a.escape_ascii());
        prop_assert_eq!(both.endings, alone.endings, "{}", a.escape_ascii());
        prop_assert_eq!(both.held_back, alone.held_back, "{}", a.escape_ascii());
    }

    /// P2
    #[test]
    fn any_chunks(input in dangerous::input(), cuts in cut::cuts(), profile in profile()) {
        hold(split(&input, cuts.of(&input), &profile), &input, &profile);
    }

    /// P2
    #[test]
    fn any_chunks_of_deceiving_text(
        input in dangerous::deceiving_text(), cuts in cut::cuts(), profile in profile(),
    ) {
        hold(split(&input, cuts.of(&input), &profile), &input, &profile);
    }

    /// P2
    #[test]
    fn single_bytes(input in dangerous::input(), profile in profile()) {
        hold(split(&input, cut::single_bytes(&input), &profile), &input, &profile);
    }

    /// P2, P6 and P8 for the two forms to which the settings do not apply.
    #[test]
    fn other_forms(input in dangerous::input(), cuts in cut::cuts()) {
        for form in [Form::Audit, Form::Off] {
            let profile = Profile { form, ..Profile::AGENT };
            hold(split(&input, cuts.of(&input), &profile), &input, &profile);
            hold(split(&input, cut::single_bytes(&input), &profile), &input, &profile);
            let whole = whole(&input, &profile);
            hold(tiles(&input, &whole), &input, &profile);
            hold(counted(&input, &whole.report), &input, &profile);
        }
    }

    /// P8
    #[test]
    fn audit_is_reversible(
        a in dangerous::input(),
        b in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let both = [a.as_slice(), &b].concat();
        let audit = noesc::audit(&both);
        prop_assert!(audit.bytes().all(|b| (0x20..=0x7e).contains(&b)));
        prop_assert_eq!(&noesc::unaudit(&audit), &Ok(both.clone()));
        prop_assert_eq!(noesc::audit(&a) + &noesc::audit(&b), &*audit);
        prop_assert_eq!(text(&both, &Profile::AUDIT), audit);
    }
}

#[test]
fn every_combination_of_settings_is_tried() {
    // 3 × 5 × 2 × 2 × 3 × 2, less the editing of lines with style kept.
    assert_eq!(profiles().len(), 360 - 48);
}

//! The promises P1 to P6 and P8, on generated input under every combination of settings.

mod common;

use common::{counted, hold, profile, profiles, promises, split, text, tiles, whole};
use std::io::{Read, Write};

use noesc::{Boundary, Form, Profile, Reader, Removed, Style, Writer};
use noesc_testkit::share::cases;
use noesc_testkit::{dangerous, split as cut, twin};
use proptest::prelude::*;

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

    #[test]
    fn long_output(input in dangerous::long_output(), profile in profile()) {
        hold(promises(&input, &profile), &input, &profile);
    }

    /// The slow second view, written from the specification alone.
    #[test]
    fn the_second_view_agrees(
        a in dangerous::input(), b in dangerous::deceiving_text(), c in dangerous::long_output(),
    ) {
        for input in [&a, &b, &c] {
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

    /// Text that no audit view is, is refused: there is one way to write each byte.
    #[test]
    fn no_other_text_is_an_audit_view(text in r"([a\\x0-9A-Fa-f]|\\x[0-9a-f]{2}){0,8}") {
        if let Ok(bytes) = noesc::unaudit(&text) {
            prop_assert_eq!(noesc::audit(&bytes), text);
        }
    }

    /// A boundary that has finished is at the beginning of a stream; so is each adapter's.
    #[test]
    fn streams_do_not_touch(
        a in dangerous::input(), b in dangerous::input(), profile in profile(),
    ) {
        let want = whole(&b, &profile);
        let mut boundary = Boundary::new(&profile).unwrap();
        boundary.push(&a, &mut String::new());
        boundary.finish(&mut String::new());
        let (mut view, mut runs) = (String::new(), Vec::new());
        boundary.push_with_spans(&b, &mut view, &mut runs);
        let report = boundary.finish_with_spans(&mut view, &mut runs);
        prop_assert_eq!((&view, &report, &runs), (&want.text, &want.report, &want.runs));

        let mut writer = Writer::new(Vec::new(), &profile).unwrap();
        b.chunks(3).for_each(|chunk| writer.write_all(chunk).unwrap());
        let report = writer.finish().unwrap();
        prop_assert_eq!(&report, &want.report);
        let written = writer.into_inner();
        prop_assert_eq!(written.as_slice(), want.text.as_bytes());

        let mut reader = Reader::new(b.as_slice(), &profile).unwrap();
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        prop_assert_eq!((&read, reader.report()), (&want.text, Some(&want.report)));
    }
}

/// The tests of a path are of that path.
#[test]
fn the_scan_goes_the_path_that_is_asked_for() {
    if let Some(name) = std::env::var_os("NOESC_SCAN") {
        assert_eq!(name, noesc_scan::in_use().name());
    }
}

#[test]
fn every_combination_of_settings_is_tried() {
    // 3 × 5 × 2 × 2 × 3 × 2, less the editing of lines with style kept.
    assert_eq!(profiles().len(), 360 - 48);
}

#![no_main]
//! The views: every promise about bytes (P1 to P4, P6, P8), and the same on every path of the scan,
//! under the profile and in the chunks that the first three bytes choose.

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use noesc::{Form, Profile, Removed};
use noesc_testkit::twin;

#[path = "../../crates/boundary/tests/common/mod.rs"]
mod common;
#[path = "../../crates/boundary/tests/common/paths.rs"]
mod every_path;

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let marked = Profile { removed: Removed::Mark, ..Profile::AGENT };
    let off = Profile { form: Form::Off, ..Profile::DISPLAY };
    let mut all = vec![Profile::AGENT, marked, Profile::DISPLAY, Profile::AUDIT, off];
    all.extend(common::profiles());
    all
});

fuzz_target!(|bytes: &[u8]| {
    let [first, second, len, input @ ..] = bytes else { return };
    let number = usize::from(u16::from_be_bytes([*first, *second]));
    let profile = &PROFILES[number % PROFILES.len()];
    check(input, profile, usize::from(*len).max(1));
});

fn check(input: &[u8], profile: &Profile, len: usize) {
    common::hold(common::split(input, input.chunks(len), profile), input, profile);
    every_path::cleans(input);
    every_path::agree(input, &input.chunks(len).collect::<Vec<_>>(), profile);
    let halves = input.split_at(len.min(input.len()));
    common::hold(common::split(input, [halves.0, halves.1], profile), input, profile);
    match profile.form {
        Form::Text => common::hold(common::promises(input, profile), input, profile),
        Form::Audit => {
            let audit = noesc::audit(input);
            assert_eq!(common::text(input, profile), audit);
            assert_eq!(noesc::unaudit(&audit).as_deref(), Ok(input));
            assert_eq!(noesc::audit(halves.0) + &noesc::audit(halves.1), audit);
        }
        Form::Off => {}
    }
    let whole = common::whole(input, profile);
    common::hold(common::tiles(input, &whole), input, profile);
    common::hold(common::counted(input, &whole.report), input, profile);
    for marks in [Removed::Strip, Removed::Mark] {
        if *profile == (Profile { removed: marks, ..Profile::AGENT }) {
            assert_eq!(
                whole.text,
                twin::view(input, marks == Removed::Mark),
                "{}",
                input.escape_ascii()
            );
        }
    }
}

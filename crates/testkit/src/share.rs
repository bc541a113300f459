//! How much of a long test is run: all of it, but on a machine that is slow by nature.

use proptest::prelude::ProptestConfig;

/// One in how many cases is tried: `NOESC_TEST_SHARE`, else each.
#[must_use]
pub fn share() -> usize {
    let share = std::env::var("NOESC_TEST_SHARE").ok().and_then(|share| share.parse().ok());
    share.unwrap_or(1).max(1)
}

/// So many cases of a property, or the share of them; a failure is kept nowhere.
#[must_use]
pub fn cases(n: u32) -> ProptestConfig {
    let share = u32::try_from(share()).unwrap_or(u32::MAX);
    let config = ProptestConfig::with_cases(n.div_ceil(share));
    ProptestConfig { failure_persistence: None, ..config }
}

//! Every case of the corpus, given to the slow second parser.

#![allow(clippy::unwrap_used, reason = "a test may stop at its first error")]

use noesc_testkit::{corpus, twin};

/// Runs `differs` over all cases that hold for the plain `agent` profile, and names each that
/// differs in one failure.
fn each(differs: impl Fn(&corpus::Case) -> Option<String>) {
    let cases = corpus::load(&corpus::root()).unwrap();
    let found: Vec<_> = cases
        .iter()
        .filter_map(|case| differs(case).map(|how| format!("{} ({}): {how}", case.name, case.why)))
        .collect();
    assert!(found.is_empty(), "{} differ\n{}", found.len(), found.join("\n"));
}

fn compare<T: PartialEq + std::fmt::Debug>(want: Option<&T>, got: &T) -> Option<String> {
    want.filter(|&want| want != got).map(|want| {
        format!("got {}, want {}", short(&format!("{got:?}")), short(&format!("{want:?}")))
    })
}

fn short(text: &str) -> String {
    text.escape_default().to_string().chars().take(200).collect()
}

#[test]
fn agent_views() {
    each(|case| compare(case.agent.as_ref(), &twin::view(&case.input(), false)));
}

#[test]
fn marked_views() {
    each(|case| compare(case.marked.as_ref(), &twin::view(&case.input(), true)));
}

#[test]
fn classes() {
    each(|case| compare(case.classes.as_ref(), &twin::parse(&case.input()).classes()));
}

#[test]
fn endings() {
    each(|case| compare(case.endings.as_ref(), &twin::parse(&case.input()).endings()));
}

#[test]
fn kinds() {
    each(|case| compare(case.kinds.as_ref(), &twin::parse(&case.input()).kinds()));
}

#[test]
fn held_back() {
    each(|case| compare(case.held_back.as_ref(), &twin::held_back(&case.input())));
}

//! Every case of the corpus: whole, cut at every place, and byte by byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share")]

mod common;

use common::{feed, hold, profiles, promises, whole};
use noesc::{Conceal, Counts, Profile, Removed, Style};
use noesc_testkit::corpus::{self, Case};
use noesc_testkit::split;

/// Cuts tried for one long case; shorter ones are cut at every place.
const CUTS_MAX: usize = 300;

/// The profile of a case's flags, which are those of `noesc filter`.
fn profile(case: &Case) -> Profile {
    let mut profile = Profile::AGENT;
    let mut flags = case.flags.iter();
    while let Some(flag) = flags.next() {
        if flag == "--mark" {
            profile.removed = Removed::Mark;
            continue;
        }
        let value = flags.next().unwrap_or_else(|| panic!("{}: {flag} without value", case.name));
        match flag.as_str() {
            "--profile" => profile = value.parse().unwrap(),
            "--cr" => profile.cr = value.parse().unwrap(),
            "--invisible" => profile.invisible = value.parse().unwrap(),
            "--separators" => profile.separators = value.parse().unwrap(),
            "--removed" => profile.removed = value.parse().unwrap(),
            "--hidden-text" => profile.hidden_text = value.parse().unwrap(),
            "--conceal" => profile.style = Style::Keep(value.parse().unwrap()),
            "--style" if value == "keep" => profile.style = Style::Keep(Conceal::Sequence),
            "--style" if value == "remove" => profile.style = Style::Remove,
            _ => panic!("{}: unknown flag {flag}", case.name),
        }
    }
    profile
}

fn counts(of: &Counts) -> corpus::Counts {
    of.iter().map(|(word, n)| ((*word).to_owned(), *n)).collect()
}

/// What differs, escaped and cut to a readable length.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: Option<&T>) -> Option<String> {
    let want = want.filter(|want| *want != got)?;
    Some(format!("{what}: got {:.300}, want {:.300}", format!("{got:?}"), format!("{want:?}")))
}

fn differs(case: &Case) -> Option<String> {
    let input = case.input();
    let profile = profile(case);
    let agent = whole(&input, &Profile::AGENT);
    let marked = whole(&input, &Profile { removed: Removed::Mark, ..Profile::AGENT });
    let flagged = whole(&input, &profile);
    let report = &flagged.report;
    let held = corpus::HeldBack { bytes: report.held_back.bytes, lines: report.held_back.lines };
    let findings: Option<Vec<_>> = case.findings.clone().map(|mut findings| {
        findings.sort();
        findings
    });
    let mut found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.kind.to_owned(), finding.severity.name().to_owned()))
        .collect();
    found.sort();
    same("agent", &agent.text, case.agent.as_ref())
        .or_else(|| same("clean", &noesc::clean(&input).into_owned(), case.agent.as_ref()))
        .or_else(|| same("marked", &marked.text, case.marked.as_ref()))
        .or_else(|| same("view", &flagged.text, case.view.as_ref()))
        .or_else(|| same("classes", &counts(&report.classes), case.classes.as_ref()))
        .or_else(|| same("endings", &counts(&report.endings), case.endings.as_ref()))
        .or_else(|| same("kinds", &counts(&report.kinds), case.kinds.as_ref()))
        .or_else(|| same("controls", &counts(&report.controls), case.controls.as_ref()))
        .or_else(|| same("characters", &counts(&report.characters), case.characters.as_ref()))
        .or_else(|| same("held back", &held, case.held_back.as_ref()))
        .or_else(|| same("findings", &found, findings.as_ref()))
}

#[test]
fn every_case_gives_what_it_states() {
    let cases = corpus::load(&corpus::root()).unwrap();
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|case| differs(case).map(|how| format!("{} ({}): {how}", case.name, case.why)))
        .collect();
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn chunks_of_a_case_make_no_difference() {
    for case in corpus::load(&corpus::root()).unwrap() {
        let input = case.input();
        let profile = profile(&case);
        let want = whole(&input, &profile);
        let same = |got: common::Whole, how: &str| {
            assert!(got == want, "{}, {how}: got {got:?}, want {want:?}", case.name);
        };
        same(feed(case.chunks.iter().map(Vec::as_slice), &profile), "its own chunks");
        same(feed(split::single_bytes(&input), &profile), "byte by byte");
        let step = input.len().div_ceil(CUTS_MAX).max(1);
        for at in (0..=input.len()).step_by(step) {
            let (a, b) = input.split_at(at);
            same(feed([a, b], &profile), &format!("cut at {at}"));
        }
    }
}

#[test]
fn every_case_keeps_the_promises_under_every_combination_of_settings() {
    let profiles = profiles();
    for (number, case) in corpus::load(&corpus::root()).unwrap().iter().enumerate() {
        let input = case.input();
        // All under the shipped ones; each of the others for one case in twenty.
        let some = profiles.iter().skip(number % 20).step_by(20);
        for profile in [Profile::AGENT, Profile::DISPLAY].iter().chain(some) {
            hold(promises(&input, profile), &input, profile);
        }
    }
}

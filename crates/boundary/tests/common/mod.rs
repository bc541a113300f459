//! The promises, each as a check of one input under one profile.

#![allow(clippy::unwrap_used, clippy::panic, dead_code, reason = "shared by tests")]

use noesc::{
    Boundary, Conceal, Cr, Fate, HiddenText, Invisible, Profile, Removed, Report, Run, Separators,
    Style,
};
use noesc_testkit::twin;
use proptest::prelude::*;
use proptest::sample::select;

/// Everything a boundary gives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) text: String,
    pub(crate) report: Report,
    pub(crate) runs: Vec<Run>,
}

pub(crate) fn feed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, profile: &Profile) -> Whole {
    let mut boundary = Boundary::new(profile).unwrap();
    let mut whole = Whole { text: String::new(), report: Report::default(), runs: Vec::new() };
    for chunk in chunks {
        boundary.push_with_spans(chunk, &mut whole.text, &mut whole.runs);
    }
    whole.report = boundary.finish_with_spans(&mut whole.text, &mut whole.runs);
    whole
}

pub(crate) fn whole(input: &[u8], profile: &Profile) -> Whole {
    feed([input], profile)
}

pub(crate) fn text(input: &[u8], profile: &Profile) -> String {
    noesc::view(input, profile).unwrap().text
}

/// Every combination of the settings that goes together, under the readable form.
pub(crate) fn profiles() -> Vec<Profile> {
    let mut all = Vec::new();
    for style in [Style::Remove, Style::Keep(Conceal::Sequence), Style::Keep(Conceal::Parameter)] {
        for cr in [Cr::Newline, Cr::Collapse, Cr::Overwrite, Cr::Drop, Cr::Mark] {
            for separators in [Separators::Newline, Separators::Drop] {
                for removed in [Removed::Strip, Removed::Mark] {
                    for invisible in [Invisible::Drop, Invisible::Show, Invisible::Keep] {
                        for hidden_text in [HiddenText::Keep, HiddenText::Mark] {
                            let profile = Profile {
                                style,
                                cr,
                                separators,
                                removed,
                                invisible,
                                hidden_text,
                                ..Profile::AGENT
                            };
                            all.extend(profile.check().is_ok().then_some(profile));
                        }
                    }
                }
            }
        }
    }
    all
}

/// One of [`profiles`], the shipped ones more often.
pub(crate) fn profile() -> impl Strategy<Value = Profile> {
    let marked = Profile { removed: Removed::Mark, ..Profile::AGENT };
    prop_oneof![
        3 => select(profiles()),
        1 => select(vec![Profile::AGENT, marked, Profile::DISPLAY]),
    ]
}

/// P1: nothing but text, LF and TAB, and what the profile keeps.
pub(crate) fn inert(view: &str, profile: &Profile) -> Result<(), String> {
    let mut rest = view.chars();
    while let Some(c) = rest.next() {
        let keeps_style = profile.style != Style::Remove;
        let bad = match c {
            '\x1b' if keeps_style => !takes_style(&mut rest),
            '\n' | '\t' => false,
            c if c.is_control() => true,
            '\u{2028}' | '\u{2029}' => true,
            '\u{fdd0}'..='\u{fdef}' => true,
            c if u32::from(c) & 0xfffe == 0xfffe => true,
            c => forbidden(c, profile.invisible),
        };
        if bad {
            return Err(format!("{c:?} in {view:?}"));
        }
    }
    Ok(())
}

/// Takes `[ digits ; : m` from a view.
fn takes_style(rest: &mut std::str::Chars<'_>) -> bool {
    let Some(after) = rest.as_str().strip_prefix('[') else { return false };
    let len = after.find(|c: char| !matches!(c, '0'..='9' | ';' | ':')).unwrap_or(0);
    let (parameters, after) = after.split_at(len);
    *rest = after.get(1..).unwrap_or_default().chars();
    after.starts_with('m') && !parameters.is_empty()
}

/// Characters that stand nowhere under column A, or D.
fn forbidden(c: char, invisible: Invisible) -> bool {
    let under_both = matches!(c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0001}' | '\u{200b}' | '\u{2060}'
        | '\u{feff}' | '\u{34f}' | '\u{ad}' | '\u{2061}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{17b4}' | '\u{17b5}' | '\u{e0000}' | '\u{e0002}'..='\u{e001f}'
        | '\u{e0080}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' | '\u{3164}' | '\u{ffa0}');
    match invisible {
        Invisible::Keep => false,
        Invisible::Show => under_both,
        Invisible::Drop => under_both || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}'),
    }
}

/// P6: the runs tile the bytes and the view, and map one to the other.
pub(crate) fn tiles(input: &[u8], whole: &Whole) -> Result<(), String> {
    let mut view = 0;
    let mut raw: Vec<(u64, u64)> = Vec::new();
    let mut removed = 0;
    for run in &whole.runs {
        if run.view != view {
            return Err(format!("{run:?} begins not at {view} of the view"));
        }
        view += run.view_len;
        let held = match run.fate {
            Fate::Kept => {
                let of = |bytes: &[u8], at: u64, len: u64| {
                    bytes.get(at as usize..(at + len) as usize).map(<[u8]>::to_vec)
                };
                let shown = of(whole.text.as_bytes(), run.view, run.view_len);
                shown.is_some() && shown == of(input, run.raw, run.raw_len)
            }
            Fate::Replaced => run.raw_len > 0 && run.view_len > 0,
            Fate::Inserted => run.raw_len == 0 && run.view_len > 0,
            Fate::Removed => run.view_len == 0 && run.raw_len > 0,
        };
        if !held {
            return Err(format!("{run:?} is not what it says"));
        }
        if run.fate == Fate::Removed {
            removed += run.raw_len;
        }
        if run.fate != Fate::Inserted {
            raw.push((run.raw, run.raw_len));
        }
    }
    if view != whole.text.len() as u64 {
        return Err(format!("runs end at {view} of a view of {}", whole.text.len()));
    }
    raw.sort_unstable();
    let mut at = 0;
    for (start, len) in raw {
        if start != at {
            return Err(format!("raw bytes {at}..{start} in no run, or in two"));
        }
        at += len;
    }
    if at != input.len() as u64 {
        return Err(format!("runs end at raw {at} of {}", input.len()));
    }
    let joined = whole.runs.windows(2).find(|pair| {
        pair[0].fate == pair[1].fate
            && pair[0].fate != Fate::Replaced
            && pair[0].view + pair[0].view_len == pair[1].view
            && pair[0].raw + pair[0].raw_len == pair[1].raw
    });
    if let Some(pair) = joined {
        return Err(format!("not joined: {pair:?}"));
    }
    if removed != whole.report.removed.bytes {
        let told = whole.report.removed.bytes;
        return Err(format!("{removed} bytes in removed runs, {told} reported"));
    }
    Ok(())
}

/// P6: what is counted of sequences is what the slow second parser counts.
pub(crate) fn counted(input: &[u8], report: &Report) -> Result<(), String> {
    let parsed = twin::parse(input);
    let same = |what: &str, got: &noesc::Counts, want: &twin_counts::Counts| {
        let got: twin_counts::Counts = got.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect();
        if got == *want { Ok(()) } else { Err(format!("{what}: got {got:?}, want {want:?}")) }
    };
    same("classes", &report.classes, &parsed.classes())?;
    same("endings", &report.endings, &parsed.endings())?;
    let held = parsed.held_back();
    if (report.held_back.bytes, report.held_back.lines) != (held.bytes, held.lines) {
        return Err(format!("held back: got {:?}, want {held:?}", report.held_back));
    }
    let malformed = parsed.sequences.iter().filter(|s| s.malformed).count() as u64;
    let bel = parsed.sequences.iter().filter(|s| s.bel && s.class != "osc").count() as u64;
    if (report.malformed, report.bel_ended) != (malformed, bel) {
        return Err(format!("malformed, bel_ended: want {malformed}, {bel}"));
    }
    Ok(())
}

/// P6: so is what is counted of single controls and ill-formed bytes; and sums agree.
fn counted_singly(input: &[u8], profile: &Profile, report: &Report) -> Result<(), String> {
    let parsed = twin::parse(input);
    let mut ill_formed = 0;
    let mut controls = 0;
    for item in &parsed.items {
        match item {
            twin::Item::IllFormed { .. } => ill_formed += 1,
            twin::Item::Control { code, .. } if *code != 0x0d => controls += 1,
            _ => {}
        }
    }
    let sum = |counts: &noesc::Counts| counts.values().sum::<u64>();
    let crs = report.controls.get("cr").copied().unwrap_or(0);
    let sequences = parsed.sequences.len() as u64;
    let newline = Profile { cr: Cr::Newline, ..*profile };
    let under_newline = noesc::view(input, &newline).unwrap().report;
    let kept = sequences.checked_sub(report.removed.sequences);
    let mut bare_crs = under_newline.controls.get("cr").copied().unwrap_or(0);
    if profile.cr == Cr::Overwrite {
        // What was overwritten is counted as that; and a CR moves the cursor before it is known
        // that the character after it is dropped.
        ill_formed = report.ill_formed;
        bare_crs = bare_crs.max(crs);
    }
    for (what, got, want) in [
        ("ill_formed", report.ill_formed, ill_formed),
        ("controls but CR", sum(&report.controls) - crs, controls),
        ("removed controls", report.removed.controls, sum(&report.controls)),
        ("removed characters", report.removed.characters, sum(&report.characters)),
        ("kinds", sum(&report.kinds), sequences),
        ("bare CRs", crs, bare_crs),
    ] {
        if got != want {
            return Err(format!("{what}: got {got}, want {want}"));
        }
    }
    match (profile.style, kept) {
        (Style::Remove, Some(0)) | (Style::Keep(_), Some(_)) => Ok(()),
        _ => Err(format!("{} of {sequences} sequences removed", report.removed.sequences)),
    }
}

use noesc_testkit::corpus as twin_counts;

/// P1, P3, P6 and what marks may change, for one input under one profile of the readable form.
pub(crate) fn promises(input: &[u8], profile: &Profile) -> Result<(), String> {
    let whole = whole(input, profile);
    inert(&whole.text, profile)?;
    tiles(input, &whole)?;
    counted(input, &whole.report)?;
    counted_singly(input, profile, &whole.report)?;
    let again = text(whole.text.as_bytes(), profile);
    if again != whole.text {
        return Err(format!("no fixed point: {:?} becomes {again:?}", whole.text));
    }
    let longer = text(format!("{}plain; text\n", whole.text).as_bytes(), profile);
    let want = format!("{}plain; text\n", whole.text);
    if longer != want {
        return Err(format!("with text after it: got {longer:?}, want {want:?}"));
    }
    marks_decide_nothing(input, profile, &whole)
}

/// Without its marks the marked view is the stripped view, and both have one report.
fn marks_decide_nothing(input: &[u8], profile: &Profile, whole: &Whole) -> Result<(), String> {
    if profile.removed == Removed::Strip || String::from_utf8_lossy(input).contains('\u{241b}') {
        return Ok(());
    }
    let stripped = Profile { removed: Removed::Strip, ..*profile };
    let stripped = noesc::view(input, &stripped).unwrap();
    let without = whole.text.replace('\u{241b}', "");
    let plain = stripped.text.replace('\u{241b}', "");
    if without != plain {
        return Err(format!("marked less marks is {without:?}, stripped is {plain:?}"));
    }
    if whole.report != stripped.report {
        return Err(format!("reports differ: {:?} and {:?}", whole.report, stripped.report));
    }
    Ok(())
}

/// P2: these chunks give what one chunk gives.
pub(crate) fn split<'a>(
    input: &[u8],
    chunks: impl IntoIterator<Item = &'a [u8]>,
    profile: &Profile,
) -> Result<(), String> {
    let (got, want) = (feed(chunks, profile), whole(input, profile));
    if got == want { Ok(()) } else { Err(format!("got {got:?}, want {want:?}")) }
}

/// Fails with the input, escaped.
#[track_caller]
pub(crate) fn hold(result: Result<(), String>, input: &[u8], profile: &Profile) {
    if let Err(reason) = result {
        panic!("{reason:.2000}\ninput: b\"{:.2000}\"\n{profile:?}", input.escape_ascii());
    }
}

//! What the tests of the context rules share: inputs, ways to drive a `Context`, and the slow twin.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part
#![allow(clippy::unwrap_used)] // a step of the wrong kind is a mistake in the test

pub mod naive;

use noesc_text::{Class, Context, HOLD_MAX, Severity, Verdict, Visible, is_ordinary};

/// One step of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A character that is pushed.
    Char(char),
    /// A sequence or a control that the boundary took out.
    Interrupt,
    /// A control that the boundary makes a line end of.
    LineEnd,
}

/// What a profile does with verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Column A: dropped, U+2028 a line end.
    Agent,
    /// Column D: some shown, bidi marks kept, U+2028 dropped.
    Display,
}

pub fn steps(text: &str) -> Vec<Step> {
    text.chars().map(Step::Char).collect()
}

/// Every character with its verdict, through `push` alone. Asserts order and delay.
pub fn judge(input: &[Step], column: Column) -> Vec<(char, Verdict)> {
    let mut out = Vec::new();
    let mut context = Context::default();
    let mut pushed = 0;
    for &step in input {
        let mut emit = |c, verdict| out.push((c, verdict));
        match step {
            Step::Char(c) => {
                context.push(c, &mut emit);
                if is_separator(c) && column == Column::Agent {
                    context.line_end(&mut emit);
                }
                pushed += 1;
            }
            Step::Interrupt => context.interrupt(&mut emit),
            Step::LineEnd => context.line_end(&mut emit),
        }
        assert!(pushed - out.len() < HOLD_MAX, "{} held: {input:?}", pushed - out.len());
        assert_eq!(context.is_holding(), pushed > out.len(), "{input:?}");
    }
    context.finish(&mut |c, verdict| out.push((c, verdict)));
    let order = input.iter().filter_map(|step| match step {
        Step::Char(c) => Some(*c),
        _ => None,
    });
    assert!(order.eq(out.iter().map(|(c, _)| *c)), "not in order: {input:?}");
    out
}

/// The same with the fast path wherever it may be taken.
pub fn judge_fast(input: &[Step], column: Column) -> Vec<(char, Verdict)> {
    let mut out = Vec::new();
    let mut context = Context::default();
    let mut at = 0;
    while at < input.len() {
        let ordinary: Vec<char> = input[at..]
            .iter()
            .map_while(|step| match step {
                Step::Char(c) if is_ordinary(*c) => Some(*c),
                _ => None,
            })
            .collect();
        if let (Some(&last), false) = (ordinary.last(), context.is_holding()) {
            context.ordinary(last);
            at += ordinary.len();
            out.extend(ordinary.into_iter().map(|c| (c, Verdict::Keep)));
            continue;
        }
        let mut emit = |c, verdict| out.push((c, verdict));
        match input[at] {
            Step::Char(c) => {
                context.push(c, &mut emit);
                if is_separator(c) && column == Column::Agent {
                    context.line_end(&mut emit);
                }
            }
            Step::Interrupt => context.interrupt(&mut emit),
            Step::LineEnd => context.line_end(&mut emit),
        }
        at += 1;
    }
    context.finish(&mut |c, verdict| out.push((c, verdict)));
    out
}

pub fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// The view: verdicts as a profile carries them out, line ends of steps as LF.
pub fn view(input: &[Step], column: Column) -> String {
    let mut verdicts = judge(input, column).into_iter();
    let mut view = String::new();
    for step in input {
        match step {
            Step::Interrupt => {}
            Step::LineEnd => view.push('\n'),
            Step::Char(_) => {
                let (c, verdict) = verdicts.next().unwrap();
                carry_out(c, verdict, column, &mut view);
            }
        }
    }
    view
}

fn carry_out(c: char, verdict: Verdict, column: Column, view: &mut String) {
    use Class::{BidiMark, CombiningMark, LineSeparator, Tag, VariationSelector, ZeroWidth};
    match (verdict, column) {
        (Verdict::Keep | Verdict::Noted(..), _) | (Verdict::Drop(BidiMark, _), Column::Display) => {
            view.push(c);
        }
        (Verdict::Substitute(LineSeparator, ..), Column::Display)
        | (Verdict::Drop(..), Column::Agent)
        | (Verdict::Drop(Tag | VariationSelector | ZeroWidth | CombiningMark, _), _) => {}
        (Verdict::Substitute(_, by, _), _) => view.push(by),
        (Verdict::Drop(..), Column::Display) => view.push_str(&Visible(c).to_string()),
    }
}

/// Column A of a plain text.
pub fn clean(text: &str) -> String {
    view(&steps(text), Column::Agent)
}

/// The severities of everything in a text that is not plainly kept.
pub fn severities(text: &str) -> Vec<Severity> {
    judge(&steps(text), Column::Agent)
        .into_iter()
        .filter_map(|(_, verdict)| match verdict {
            Verdict::Keep => None,
            Verdict::Noted(_, s) | Verdict::Drop(_, s) | Verdict::Substitute(_, _, s) => Some(s),
        })
        .collect()
}

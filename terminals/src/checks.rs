//! What is compared, and with what.

use std::collections::BTreeMap;

use noesc::ContentClass;
use serde_json::Value;

use crate::plays::{self, Plays};
use crate::terminal::{Kind, Played, Terminal};

/// What a check compares a play with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    /// The same content without style, on the same terminal.
    StyleFree,
    /// The same program with empty content, on the same terminal.
    Blank,
}

/// Every check: its name, which is that of a value in a state, and what it compares.
const CHECKS: &[(&str, With, &str)] = &[
    ("cursor", With::StyleFree, "row and column of the cursor"),
    ("text", With::StyleFree, "the characters on the screen and above it"),
    ("prompt", With::Blank, "the line that the program drew before, cell by cell"),
    ("next", With::Blank, "the line that the program draws next, cell by cell"),
    ("title", With::Blank, "titles of window and icon, the directory shown"),
    ("clipboard", With::Blank, "writes to the clipboard"),
    ("mode", With::Blank, "mouse, paste, focus, keypad, wrap, origin, insert, cursor, margins"),
    ("screen", With::Blank, "whether the alternate screen is shown"),
    ("reply", With::Blank, "what the terminal sends to the program"),
    ("bell", With::Blank, "bells"),
    ("palette", With::Blank, "colours that were redefined"),
    ("hidden", With::Blank, "concealed cells"),
    ("link", With::Blank, "cells that are a hyperlink"),
];

/// A terminal ended, or was ended at its limit.
const CRASH: &str = "crash";

/// What the program draws after the content: letters that another character set shows as lines,
/// and a TAB, that shows a change of the stops.
pub(crate) const NEXT_LINE: &[u8] = b"\r\nlqx\tnext>";

/// A difference that is the terminal's own, and no escape.
pub(crate) struct Exception {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) reason: &'static str,
    checks: &'static [&'static str],
}

/// What is compared instead is the style-free text with an empty style sequence wherever the view
/// has one: it ends the clusters where the view does, and can do no more than that.
pub(crate) const EXCEPTION: Exception = Exception {
    kind: Kind::Xterm,
    name: "style-before-mark",
    reason: "xterm gives a mark a column of its own when a style stands between it and its letter",
    checks: &["cursor", "text"],
};

/// Cases whose checks failed, by check.
#[derive(Default)]
pub(crate) struct Caught {
    pub(crate) cases: usize,
    pub(crate) checks: BTreeMap<&'static str, usize>,
}

/// A view that did something.
pub(crate) struct Escape {
    pub(crate) case: String,
    pub(crate) class: ContentClass,
    pub(crate) checks: Vec<&'static str>,
}

/// All that came out for one terminal.
pub(crate) struct Results {
    pub(crate) kind: Kind,
    /// The checks that this terminal can observe.
    pub(crate) observed: Vec<&'static str>,
    pub(crate) escapes: Vec<Escape>,
    /// Views that would be escapes but for [`EXCEPTION`].
    pub(crate) excepted: Vec<(String, ContentClass)>,
    pub(crate) raw: Caught,
    pub(crate) regex: Caught,
}

/// Names and meanings of all checks.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHECKS.iter().map(|&(name, _, meaning)| (name, meaning))
}

/// Plays all in one terminal.
pub(crate) fn run(terminal: &mut Terminal, plays: &Plays, show: bool) -> Result<Results, String> {
    let mut results = Results {
        kind: terminal.kind,
        observed: Vec::new(),
        escapes: Vec::new(),
        excepted: Vec::new(),
        raw: Caught::default(),
        regex: Caught::default(),
    };
    for blank in &plays.blank {
        let Played::State(state) = &*terminal.play(blank)? else {
            return Err(format!("{} can't be started", terminal.kind.name()));
        };
        results.observed = observed(state);
    }
    let blank = &plays.blank;
    for case in &plays.cases {
        let control = |terminal: &mut Terminal, bytes: &[u8]| {
            failed(terminal, &blank[0], &case.style_free[0], bytes, show)
        };
        for (at, class) in ContentClass::ALL.into_iter().enumerate() {
            let view = &case.views[at];
            let style_free = &case.style_free[at];
            let mut checks = failed(terminal, &blank[at], style_free, view, show)?;
            if terminal.kind == EXCEPTION.kind
                && !checks.is_empty()
                && checks.iter().all(|check| EXCEPTION.checks.contains(check))
                && let Some(emptied) = plays::emptied(view, style_free)
            {
                checks = failed(terminal, &blank[at], &emptied, view, show)?;
                if checks.is_empty() {
                    results.excepted.push((case.name.clone(), class));
                }
            }
            if !checks.is_empty() {
                results.escapes.push(Escape { case: case.name.clone(), class, checks });
            }
        }
        results.raw.add(control(terminal, &case.raw)?);
        results.regex.add(control(terminal, &case.regex)?);
    }
    Ok(results)
}

impl Caught {
    fn add(&mut self, checks: Vec<&'static str>) {
        self.cases += usize::from(!checks.is_empty());
        for check in checks {
            *self.checks.entry(check).or_default() += 1;
        }
    }
}

fn observed(state: &Value) -> Vec<&'static str> {
    all().map(|(name, _)| name).filter(|name| state.get(name).is_some()).collect()
}

/// The checks that `bytes` fails.
fn failed(
    terminal: &mut Terminal,
    blank: &[u8],
    style_free: &[u8],
    bytes: &[u8],
    show: bool,
) -> Result<Vec<&'static str>, String> {
    let blank = terminal.play(blank)?;
    let style_free = terminal.play(style_free)?;
    let played = terminal.play(bytes)?;
    let (Played::State(blank), Played::State(style_free)) = (&*blank, &*style_free) else {
        return Ok(vec![CRASH]);
    };
    let Played::State(state) = &*played else { return Ok(vec![CRASH]) };
    let reference = |with| if with == With::StyleFree { style_free } else { blank };
    let differs =
        |&&(name, with, _): &&(&str, With, _)| state.get(name) != reference(with).get(name);
    let failed: Vec<_> = CHECKS.iter().filter(differs).collect();
    if show {
        println!("{}: {}", terminal.kind.name(), noesc::audit(bytes));
        for &&(name, with, _) in &failed {
            let pair = [state, reference(with)].map(|state| state[name].to_string());
            let [found, expected] = pair.map(|text| noesc::audit(text.as_bytes()).to_string());
            println!("  {name}: {found}\n  {:1$}  {expected}", "", name.len());
        }
    }
    Ok(failed.into_iter().map(|&(name, ..)| name).collect())
}

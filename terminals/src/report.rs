//! The table at the end, and the verdict.

use noesc::ContentClass;

use crate::checks::{self, Caught, EXCEPTION, Results};
use crate::plays::{Case, Plays};

/// Views that are named one by one, of a terminal.
const ESCAPES_SHOWN: usize = 20;

/// Prints all. True: no view escaped, and, if all cases were `played`, the controls were caught.
pub(crate) fn print(results: &[Results], plays: &Plays, played_all: bool) -> bool {
    print_escapes(results);
    let escapes = print_views(results, plays);
    let missing = if played_all { missing(results) } else { Vec::new() };
    print_controls(results);
    for line in &missing {
        println!("not caught: {line}");
    }
    let played = plays.cases.len() * ContentClass::ALL.len() * results.len();
    println!("{escapes} escapes in {played} plays of views");
    escapes == 0 && missing.is_empty()
}

/// The escapes by terminal and class; gives how many.
fn print_views(results: &[Results], plays: &Plays) -> usize {
    println!("Views. Styled are those that differ from their style-free text.\n");
    println!("| terminal | class | cases | styled | excepted | escapes |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
    let mut total = 0;
    for found in results {
        for (at, class) in ContentClass::ALL.into_iter().enumerate() {
            let cases = plays.cases.len();
            let is_styled = |case: &&Case| case.views[at] != case.style_free[at];
            let styled = plays.cases.iter().filter(is_styled).count();
            let excepted = found.excepted.iter().filter(|(_, of)| *of == class).count();
            let escapes = found.escapes.iter().filter(|escape| escape.class == class).count();
            total += escapes;
            let (kind, class) = (found.kind.name(), class.name());
            println!("| {kind} | {class} | {cases} | {styled} | {excepted} | {escapes} |");
        }
    }
    println!("\nexcepted: {}: {}", EXCEPTION.name, EXCEPTION.reason);
    for (case, class) in results.iter().flat_map(|found| &found.excepted) {
        println!("* {} as {}", noesc::audit(case.as_bytes()), class.name());
    }
    total
}

fn print_escapes(results: &[Results]) {
    for found in results {
        for escape in found.escapes.iter().take(ESCAPES_SHOWN) {
            let case = noesc::audit(escape.case.as_bytes());
            let (class, checks) = (escape.class.name(), escape.checks.join(", "));
            println!("escape: {case} as {class} in {}: {checks}", found.kind.name());
        }
        let more = found.escapes.len().saturating_sub(ESCAPES_SHOWN);
        if more > 0 {
            println!("escape: {more} more in {}", found.kind.name());
        }
    }
}

fn print_controls(results: &[Results]) {
    println!("\nControls, as tool-output: cases in which a check failed, any or each.\n");
    let columns = || results.iter().flat_map(|found| [(found, &found.raw), (found, &found.regex)]);
    let mut head = "| check | compares |".to_owned();
    let mut rule = "| --- | --- |".to_owned();
    for (found, caught) in columns() {
        let control = if std::ptr::eq(caught, &found.raw) { "raw" } else { "regex" };
        head += &format!(" {} {control} |", found.kind.name());
        rule += " ---: |";
    }
    println!("{head}\n{rule}");
    let row = |name: &str, meaning: &str, cell: &dyn Fn(&Results, &Caught) -> String| {
        let cells: Vec<_> = columns().map(|(found, caught)| cell(found, caught)).collect();
        println!("| {name} | {meaning} | {} |", cells.join(" | "));
    };
    row("any", "", &|_, caught| caught.cases.to_string());
    for (name, meaning) in checks::all() {
        row(name, meaning, &|found, caught| match found.observed.contains(&name) {
            true => caught.count(name).to_string(),
            false => "–".into(),
        });
    }
    row("crash", "the terminal ended, or was ended at a limit", &|_, caught| {
        caught.count("crash").to_string()
    });
    println!("\n–: this terminal can't be asked\n");
}

impl Caught {
    fn count(&self, check: &str) -> usize {
        self.checks.get(check).copied().unwrap_or(0)
    }
}

/// What the controls should have shown: every check fails at least once wherever it can be
/// observed, or it proves nothing there.
fn missing(results: &[Results]) -> Vec<String> {
    let mut missing = Vec::new();
    for found in results {
        let name = found.kind.name();
        if found.kind == EXCEPTION.kind && found.excepted.is_empty() {
            missing.push(format!("{} in {name}: nothing needs it any more", EXCEPTION.name));
        }
        for check in &found.observed {
            if found.raw.count(check) == 0 {
                missing.push(format!("{check} by the raw bytes in {name}"));
            }
            // The regex does remove what conceals.
            if *check != "hidden" && found.regex.count(check) == 0 {
                missing.push(format!("{check} by the regex in {name}"));
            }
        }
    }
    missing
}

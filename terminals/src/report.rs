//! The table at the end, and the verdict.

use noesc::ContentClass;

use crate::checks::{self, Caught, Results};

/// Views that are named one by one, of a terminal.
const ESCAPES_SHOWN: usize = 20;

/// Prints all. True: no view escaped, and, if that is `demanded`, the controls were caught.
pub(crate) fn print(results: &[Results], cases: usize, demanded: bool) -> bool {
    print_escapes(results);
    println!("views: {cases} cases, each as content of each class; escapes are plays in which a");
    println!("check failed\n");
    println!("| terminal | class | cases | escapes |\n| --- | --- | ---: | ---: |");
    let mut total = 0;
    for found in results {
        for class in ContentClass::ALL {
            let escapes = found.escapes.iter().filter(|escape| escape.class == class).count();
            total += escapes;
            println!("| {} | {} | {cases} | {escapes} |", found.kind.name(), class.name());
        }
    }
    println!("\ncontrols, as tool-output: cases in which a check failed, in all and by check\n");
    print_controls(results);
    let missing = missing(results);
    if demanded {
        for line in &missing {
            println!("not caught: {line}");
        }
    }
    println!("{total} escapes in {} plays", cases * 4 * results.len());
    total == 0 && (!demanded || missing.is_empty())
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

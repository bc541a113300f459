//! The form for people: one line for each kind in each file, and a summary.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use noesc::Severity;

use super::examine::Of;
use super::rules::message;
use super::scanned::Scanned;
use super::walk::shown;
use crate::figures::{count, size};

/// `path:line:col: high: clipboard-write: a sequence writes the clipboard (3 more)`, by path, then
/// the summary unless it is `quiet`.
pub(super) fn human(scanned: &Scanned, show: Severity, quiet: bool) -> String {
    let mut text = String::new();
    for (file, found) in scanned.at_least(show) {
        let path = noesc::audit(shown(&file.path).as_bytes());
        let (place, more) = match found.places.first() {
            Some(place) if found.of == Of::Bytes => {
                (format!(":byte {}", place.offset), found.count - 1)
            }
            Some(place) => (format!(":{}:{}", place.line, place.column), found.count - 1),
            None if found.of == Of::Name => (String::new(), found.count - 1),
            // The baseline knows those whose place is known.
            None => (String::new(), found.count),
        };
        let severity = found.severity.name();
        let _ = write!(text, "{path}{place}: {severity}: {}: {}", found.kind, message(found));
        text.push_str(&if more > 0 { format!(" ({more} more)\n") } else { "\n".into() });
    }
    if !quiet {
        text.push_str(&summary(scanned, show));
        text.push('\n');
    }
    text
}

/// `scanned 12 files (3.4 KiB); skipped 2 binary; found 1 high, 4 low (not shown)`.
pub(super) fn summary(scanned: &Scanned, show: Severity) -> String {
    let mut text = format!("scanned {} ({})", count(scanned.files, "file"), size(scanned.bytes));
    let skipped = scanned.skipped;
    let skipped = list([
        (skipped.binary, "binary"),
        (skipped.symlinks, if skipped.symlinks == 1 { "symlink" } else { "symlinks" }),
        (skipped.special, "special"),
        (skipped.stored, "in git object stores"),
    ]);
    if !skipped.is_empty() {
        let _ = write!(text, "; skipped {}", skipped.join(", "));
    }
    if !scanned.unread.is_empty() {
        let _ = write!(text, "; could not read {}", scanned.unread.len());
    }
    let counts = scanned.by_severity();
    let found = [
        (counts.critical, Severity::Critical),
        (counts.high, Severity::High),
        (counts.low, Severity::Low),
        (counts.info, Severity::Info),
    ];
    let found: Vec<_> = found
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| {
            let hidden = if *severity < show { " (not shown)" } else { "" };
            format!("{count} {}{hidden}", severity.name())
        })
        .collect();
    let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
    let _ = write!(text, "; found {found}");
    if scanned.known > 0 {
        let _ = write!(text, "; {} known from the baseline", scanned.known);
    }
    text
}

fn list<const N: usize>(counts: [(u64, &str); N]) -> Vec<String> {
    counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect()
}

//! Known findings: a file that a scan writes and later scans accept.
//!
//! An entry says how often a kind of finding stands in a line that has this digest, up to which
//! severity; the line's place may change. Occurrences whose place a scan does not list are counted
//! without a line. Nothing of the scanned files is in it but digests of lines.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use noesc::Severity;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::digest::hex;
use super::examine::Found;
use super::scanned::{FileFindings, Scanned};
use super::walk::shown;
use crate::fail::{Failure, Result, quoted};

/// The name of the form.
const SCHEMA: &str = "noesc.scan-baseline/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    findings: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Audit-escaped, as a scan shows it.
    path: String,
    kind: String,
    severity: String,
    /// What it is in, if that is not the text.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// SHA-256 of the line in hex digits; absent for occurrences without a listed place.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    count: u64,
}

/// (path, kind, line, what it is in), as in an entry.
type Key = (String, String, Option<String>, Option<String>);

/// What is accepted: how often, and up to which severity.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    known: BTreeMap<Key, Vec<Known>>,
    /// Every path that it knows.
    paths: BTreeSet<String>,
}

#[derive(Debug)]
struct Known {
    up_to: Severity,
    count: u64,
    /// What is left of the count; less once something was accepted.
    left: u64,
}

impl Baseline {
    /// Reads a baseline that a scan has written.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let hint = "\"noesc scan --write-baseline FILE\" writes one";
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::io("\"--baseline\" can not read", path.as_os_str(), &error).hint(hint)
        })?;
        let wrong = |why: String| {
            let name = quoted(path.as_os_str());
            Failure::new(format!("{name} is no baseline: {why}")).hint(hint)
        };
        // A scan leaves this file out: nothing that a reader could be deceived by hides in it.
        if let Some(at) = text.find(|c| c != '\n' && !matches!(c, ' '..='~')) {
            let (line, column) = place(&text, at);
            let why = "a character that no scan has written";
            return Err(wrong(format!("{why}, at line {line} column {column}")));
        }
        let file: File = serde_json::from_str(&text).map_err(|error| wrong(form(&error)))?;
        if file.schema != SCHEMA {
            return Err(wrong(format!("its schema is {}", quoted(file.schema.as_ref()))));
        }
        let mut baseline = Self::default();
        for entry in file.findings {
            let severity = severity(&entry.severity).ok_or_else(|| {
                wrong(format!("a severity is {}", quoted(entry.severity.as_ref())))
            })?;
            let known = Known { up_to: severity, count: entry.count, left: entry.count };
            baseline.paths.insert(entry.path.clone());
            let key = (entry.path, entry.kind, entry.line, entry.of);
            baseline.known.entry(key).or_default().push(known);
        }
        Ok(baseline)
    }

    /// The paths that it knows, as a scan shows them.
    pub(super) fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    /// What it knows that was found, or is of a path that was not scanned.
    fn kept<'a>(&'a self, scanned: &Scanned) -> impl Iterator<Item = ((Key, Severity), u64)> + 'a {
        let mut met = scanned.met.clone();
        for unread in &scanned.unread {
            met.remove(&noesc::audit(shown(&unread.path).as_bytes()));
        }
        let entries = self.known.iter();
        let entries = entries.flat_map(|(key, known)| known.iter().map(move |known| (key, known)));
        let entries = entries.map(move |(key, known)| {
            let unused = if met.contains(&key.0) { known.left } else { 0 };
            ((key.clone(), known.up_to), known.count - unused)
        });
        entries.filter(|(_, count)| *count > 0)
    }

    /// Takes what is known out of the findings, and counts it.
    pub(super) fn accept(&mut self, scanned: &mut Scanned) {
        for file in &mut scanned.found {
            let path = noesc::audit(shown(&file.path).as_bytes());
            for found in &mut file.findings {
                let before = found.count;
                self.accept_found(&path, found);
                scanned.known += before - found.count;
            }
            file.findings.retain(|found| found.count > 0);
        }
        scanned.found.retain(|file| !file.findings.is_empty());
    }

    fn accept_found(&mut self, path: &str, found: &mut Found) {
        let more = found.more();
        let known = self.take(path, found, None, more);
        let mut places = std::mem::take(&mut found.places);
        places.retain(|place| self.take(path, found, Some(hex(&place.digest)), 1) == 0);
        found.count = places.len() as u64 + more - known;
        found.places = places;
    }

    /// Uses up to `wanted` of an entry, and gives how many it had.
    fn take(&mut self, path: &str, found: &Found, line: Option<String>, wanted: u64) -> u64 {
        let severity = found.severity;
        let of = found.of.name().map(str::to_owned);
        let known = self.known.get_mut(&(path.to_owned(), found.kind.to_owned(), line, of));
        let mut taken = 0;
        for known in known.into_iter().flatten().filter(|known| known.up_to >= severity) {
            let now = known.left.min(wanted - taken);
            known.left -= now;
            taken += now;
        }
        taken
    }
}

/// Everything at or above `show`, and what is kept of an older baseline, as the text of a baseline:
/// one entry a line, in the order of their keys.
pub(super) fn baseline(
    scanned: &Scanned,
    show: Severity,
    older: Option<&Baseline>,
) -> serde_json::Result<String> {
    let mut counts: BTreeMap<(Key, Severity), u64> = BTreeMap::new();
    for (key, count) in older.into_iter().flat_map(|older| older.kept(scanned)) {
        *counts.entry(key).or_default() += count;
    }
    for (file, found) in scanned.at_least(show) {
        for (line, count) in lines(found) {
            let key = key(file, found, line);
            *counts.entry((key, found.severity)).or_default() += count;
        }
    }
    let entries = counts.into_iter().map(|(((path, kind, line, of), severity), count)| {
        let severity = severity.name().to_owned();
        serde_json::to_string(&Entry { path, kind, severity, of, line, count })
    });
    let entries = entries.collect::<serde_json::Result<Vec<_>>>()?;
    let schema = serde_json::to_string(SCHEMA)?;
    let (open, close) = if entries.is_empty() { ("", "") } else { ("\n", "\n") };
    Ok(format!("{{\"schema\":{schema},\"findings\":[{open}{}{close}]}}\n", entries.join(",\n")))
}

fn lines(found: &Found) -> impl Iterator<Item = (Option<String>, u64)> {
    let places = found.places.iter().map(|place| (Some(hex(&place.digest)), 1));
    places.chain((found.more() > 0).then(|| (None, found.more())))
}

fn key(file: &FileFindings, found: &Found, line: Option<String>) -> Key {
    let path = noesc::audit(shown(&file.path).as_bytes());
    (path, found.kind.to_owned(), line, found.of.name().map(str::to_owned))
}

/// What is wrong with the form, and where.
fn form(error: &serde_json::Error) -> String {
    let why = match error.classify() {
        Category::Eof => "it ends too early",
        Category::Syntax => "it is no JSON",
        Category::Data | Category::Io => "a field is missing, unknown or of another type",
    };
    format!("{why}, at line {} column {}", error.line(), error.column().max(1))
}

/// Line and column of a place in a text, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let line = text[..at].rfind('\n').map_or(0, |lf| lf + 1);
    (1 + text[..at].matches('\n').count(), 1 + text[line..at].chars().count())
}

fn severity(name: &str) -> Option<Severity> {
    let all = [Severity::Info, Severity::Low, Severity::High, Severity::Critical];
    all.into_iter().find(|severity| severity.name() == name)
}

//! The form for programs: one object, `noesc.scan/1`.

use std::os::unix::ffi::OsStrExt;

use noesc::Severity;
use serde::Serialize;

use super::examine::{Found, Of, Place};
use super::scanned::{BySeverity, Scanned, Skipped, Unread};
use super::walk::shown;
use crate::fail::reason;

/// The name of the form. Another number means that a reader of this one would be wrong.
const SCHEMA: &str = "noesc.scan/1";

#[derive(Serialize)]
struct Log<'a> {
    schema: &'static str,
    tool: Tool,
    files: Vec<File<'a>>,
    unread: Vec<NotRead>,
    summary: Summary,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
    unicode: &'static str,
}

#[derive(Serialize)]
struct File<'a> {
    /// Audit-escaped.
    path: String,
    /// Offsets are into the text decoded from this.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    kind: &'static str,
    severity: &'static str,
    /// What it is in, if that is not the text.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    of: Option<&'static str>,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    likely_encoding: Option<&'static str>,
    places: Vec<At<'a>>,
}

/// A place: lines and columns from 1, in code points, but for what is in bytes; offsets in bytes.
struct At<'a>(&'a Place, Of);

impl Serialize for At<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut at = to.serialize_struct("Place", if self.1 == Of::Text { 6 } else { 2 })?;
        if self.1 == Of::Text {
            at.serialize_field("line", &self.0.line)?;
            at.serialize_field("column", &self.0.column)?;
            at.serialize_field("end_line", &self.0.end_line)?;
            at.serialize_field("end_column", &self.0.end_column)?;
        }
        at.serialize_field("offset", &self.0.offset)?;
        at.serialize_field("length", &self.0.length)?;
        at.end()
    }
}

#[derive(Serialize)]
struct NotRead {
    path: String,
    reason: String,
}

#[derive(Serialize)]
struct Summary {
    files: u64,
    bytes: u64,
    skipped: Skipped,
    unread: usize,
    /// Occurrences, those that are not listed included.
    found: BySeverity,
    known: u64,
}

/// One line of JSON.
pub(super) fn json(scanned: &Scanned, show: Severity) -> serde_json::Result<String> {
    let mut files: Vec<File<'_>> = Vec::new();
    for file in &scanned.found {
        let shown_ones = file.findings.iter().filter(|found| found.severity >= show);
        let findings: Vec<_> = shown_ones.map(finding).collect();
        if !findings.is_empty() {
            let path = noesc::audit(shown(&file.path).as_bytes());
            files.push(File { path, encoding: file.decoded, findings });
        }
    }
    let log = Log {
        schema: SCHEMA,
        tool: Tool {
            name: "noesc",
            version: env!("CARGO_PKG_VERSION"),
            unicode: noesc::UNICODE_VERSION,
        },
        files,
        unread: scanned.unread.iter().map(not_read).collect(),
        summary: Summary {
            files: scanned.files,
            bytes: scanned.bytes,
            skipped: scanned.skipped,
            unread: scanned.unread.len(),
            found: scanned.by_severity(),
            known: scanned.known,
        },
    };
    serde_json::to_string(&log).map(|text| text + "\n")
}

fn finding(found: &Found) -> Finding<'_> {
    Finding {
        kind: found.kind,
        severity: found.severity.name(),
        of: found.of.name(),
        count: found.count,
        likely_encoding: found.encoding,
        places: found.places.iter().map(|place| At(place, found.of)).collect(),
    }
}

fn not_read(unread: &Unread) -> NotRead {
    let path = noesc::audit(shown(&unread.path).as_bytes());
    NotRead { path, reason: reason(&unread.error) }
}

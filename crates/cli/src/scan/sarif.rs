//! SARIF 2.1.0, the form that CI services and editors read.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use noesc::Severity;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::digest::hex;
use super::examine::{Found, Of, Place};
use super::rules::{RULES, message};
use super::scanned::{FileFindings, Scanned};
use super::walk::shown;
use crate::fail::reason;

/// The schema that the form is checked against.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Results with this fingerprint are the same finding, wherever its line has moved to.
const FINGERPRINT: &str = "noescLine/v1";

/// One log with one run. `code` is the exit status to come.
pub(super) fn sarif(scanned: &Scanned, show: Severity, code: u8) -> serde_json::Result<String> {
    let cwd = std::env::current_dir().ok();
    let run = Run {
        tool: json!({ "driver": {
            "name": "noesc",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
        } }),
        column_kind: "unicodeCodePoints",
        invocations: json!([{
            "executionSuccessful": scanned.unread.is_empty(),
            "exitCode": code,
            "toolExecutionNotifications": notifications(scanned, cwd.as_deref()),
        }]),
        results: Results { scanned, show, cwd },
    };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
    serde_json::to_string(&log).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Value,
    column_kind: &'static str,
    invocations: Value,
    results: Results<'a>,
}

/// The results, each made when it is written: there may be many.
struct Results<'a> {
    scanned: &'a Scanned,
    show: Severity,
    cwd: Option<PathBuf>,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        for (file, found) in self.scanned.at_least(self.show) {
            let uri = uri(Path::new(shown(&file.path)), self.cwd.as_deref());
            let mut nth = BTreeMap::new();
            for (i, place) in found.places.iter().enumerate() {
                let nth = nth.entry(place.digest).or_insert(0_u32);
                let is_last = i + 1 == found.places.len();
                let more = if is_last { found.more() } else { 0 };
                list.serialize_element(&result(file, found, &uri, Some((place, *nth)), more))?;
                *nth += 1;
            }
            if found.places.is_empty() {
                let more = found.count - u64::from(found.of == Of::Name);
                list.serialize_element(&result(file, found, &uri, None, more))?;
            }
        }
        list.end()
    }
}

fn rule(rule: &super::rules::Rule) -> Value {
    json!({
        "id": rule.kind,
        "shortDescription": { "text": sentence(rule.words) },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": ["security"], "severity": rule.severity.name() },
    })
}

/// The three levels of SARIF: what fails a build by default is an error.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Low => "warning",
        Severity::Info => "note",
    }
}

fn result(
    file: &FileFindings,
    found: &Found,
    uri: &str,
    place: Option<(&Place, u32)>,
    more: u64,
) -> Value {
    let mut text = sentence(&message(found));
    if more > 0 {
        let place = if found.of == Of::Name { "name" } else { "file" };
        let _ = write!(text, " {more} more in this {place}.");
    }
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    let mut result = json!({
        "ruleId": found.kind,
        "level": level(found.severity),
        "message": { "text": text },
        "properties": { "severity": found.severity.name() },
    });
    if let Some(rule) = RULES.iter().position(|rule| rule.kind == found.kind) {
        result["ruleIndex"] = rule.into();
    }
    if let Some((place, nth)) = place {
        physical["region"] = region(place, file.decoded.is_some(), found.of);
        let mut digest = Sha256::new();
        digest.update(found.kind);
        digest.update(place.digest);
        digest.update(nth.to_be_bytes());
        result["partialFingerprints"] = json!({ FINGERPRINT: hex(&digest.finalize()) });
    }
    result["locations"] = json!([{ "physicalLocation": physical }]);
    result
}

fn region(place: &Place, is_decoded: bool, of: Of) -> Value {
    if of == Of::Bytes {
        return json!({ "byteOffset": place.offset, "byteLength": place.length });
    }
    let mut region = json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    });
    // Offsets into a decoded text are none of the file.
    if !is_decoded {
        region["byteOffset"] = place.offset.into();
        region["byteLength"] = place.length.into();
    }
    region
}

fn notifications(scanned: &Scanned, cwd: Option<&Path>) -> Vec<Value> {
    let one = |unread: &super::scanned::Unread| {
        let uri = uri(Path::new(shown(&unread.path)), cwd);
        json!({
            "level": "error",
            "message": { "text": sentence(&format!("not read: {}", reason(&unread.error))) },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri } } }],
        })
    };
    scanned.unread.iter().map(one).collect()
}

/// A capital at the beginning and a full stop at the end, as the standard wants messages.
fn sentence(words: &str) -> String {
    let (first, rest) = words.split_at_checked(1).unwrap_or((words, ""));
    format!("{}{rest}.", first.to_ascii_uppercase())
}

/// The path as a relative reference, or as a `file:` URI where it leaves the working folder.
fn uri(path: &Path, cwd: Option<&Path>) -> String {
    let relative = cwd.and_then(|cwd| path.strip_prefix(cwd).ok()).unwrap_or(path);
    let start = if relative.is_absolute() { "file://" } else { "" };
    let bytes = relative.as_os_str().as_bytes();
    bytes.iter().fold(start.to_owned(), |mut uri, &byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
        uri
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn uris_are_relative_and_percent_encoded() {
        let cwd = Path::new("/w/me");
        for (path, wanted) in [
            (&b"a/b.rs"[..], "a/b.rs"),
            (b"a b:c#?%\\", "a%20b%3Ac%23%3F%25%5C"),
            (b"\x1b[m\xff\n", "%1B%5Bm%FF%0A"),
            (b"../x", "../x"),
            (b"/w/me/x/y", "x/y"),
            (b"/etc/x y", "file:///etc/x%20y"),
        ] {
            assert_eq!(uri(Path::new(OsStr::from_bytes(path)), Some(cwd)), wanted);
        }
    }

    #[test]
    fn messages_are_sentences() {
        assert_eq!(sentence("a word"), "A word.");
        assert_eq!(sentence(""), ".");
    }
}

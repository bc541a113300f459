//! What a reader is told without asking.

use noesc::{Report, Severity};
use noesc_session::{RECIPIENTS_GONE, envelope};

/// What to say when a finding is high or critical, such as
/// `high: clipboard-write ×2, first at byte 14`.
///
/// `name` is the stream's, where there are several.
pub(crate) fn findings(report: &Report, name: Option<&str>) -> Option<String> {
    let grave = report.findings.iter().filter(|finding| finding.severity >= Severity::High);
    let told = grave.map(|finding| Told {
        severity: finding.severity.name(),
        kind: finding.kind.to_string(),
        count: finding.count,
        at: finding.spans.first().map_or(0, |span| span.0),
    });
    line(told.collect(), name)
}

/// The same of a report that was recorded.
pub(crate) fn recorded(report: &envelope::Report, name: &str) -> Option<String> {
    let is_grave = |finding: &&envelope::Finding| finding.severity >= envelope::Severity::High;
    let told = report.findings.iter().filter(is_grave).map(|finding| Told {
        severity: finding.severity.name(),
        kind: finding.kind.as_str().to_owned(),
        count: finding.count,
        at: finding.spans.first().map_or(0, |span| span.0),
    });
    line(told.collect(), Some(name))
}

/// What to say of the raw bytes: that they could not be kept, and that whoever can open them has
/// changed. Without recipients from the beginning there is nothing to say.
pub(crate) fn evidence(evidence: &envelope::Evidence) -> Option<String> {
    use envelope::Evidence::{Failed, NotKept, Sealed};
    const CONFIRM: &str = "\"noesc init --confirm\" if that was you";
    match evidence {
        Sealed { recipients, recipients_changed: true, .. } => {
            let names: Vec<&str> = recipients.iter().map(envelope::Escaped::as_str).collect();
            Some(format!("warning: recipient changed: sealed to {}; {CONFIRM}", names.join(", ")))
        }
        NotKept { reason } if reason.as_str() == RECIPIENTS_GONE => {
            Some(format!("warning: {reason}; {CONFIRM}"))
        }
        Failed { reason, .. } => Some(format!("warning: the original is not kept whole: {reason}")),
        Sealed { .. } | NotKept { .. } => None,
    }
}

/// A finding in words.
struct Told {
    severity: &'static str,
    kind: String,
    count: u64,
    at: u64,
}

/// The gravest is the first.
fn line(findings: Vec<Told>, name: Option<&str>) -> Option<String> {
    let gravest = findings.first()?.severity;
    let list: Vec<_> = findings
        .iter()
        .map(|Told { kind, count, at, .. }| match count {
            1 => format!("{kind} at byte {at}"),
            n => format!("{kind} ×{n}, first at byte {at}"),
        })
        .collect();
    let name = name.map_or(String::new(), |name| format!(" in {name}"));
    Some(format!("{gravest}{name}: {}", list.join("; ")))
}

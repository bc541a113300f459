//! What a reader is told without asking.

use noesc::{Report, Severity};

/// What to say when a finding is high or critical, such as
/// `high: clipboard-write ×2, first at byte 14`.
///
/// `name` is the stream's, where there are several.
pub(crate) fn findings(report: &Report, name: Option<&str>) -> Option<String> {
    let grave: Vec<_> =
        report.findings.iter().filter(|finding| finding.severity >= Severity::High).collect();
    let gravest = grave.first()?;
    let list: Vec<_> = grave
        .iter()
        .map(|finding| {
            let at = finding.spans.first().map_or(0, |span| span.0);
            match finding.count {
                1 => format!("{} at byte {at}", finding.kind),
                n => format!("{} ×{n}, first at byte {at}", finding.kind),
            }
        })
        .collect();
    let name = name.map_or(String::new(), |name| format!(" in {name}"));
    Some(format!("{}{name}: {}", gravest.severity.name(), list.join("; ")))
}

//! The report of a stream, as a record holds it: the shape of [`noesc::Report`], owned, so that it
//! can be read back.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::Escaped;

/// Counts by closed words. Zero counts are absent.
pub type Counts = BTreeMap<Escaped, u64>;

/// What the boundary removed from a stream, and what a reader should know. Keys with nothing to
/// count are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Report {
    /// What was removed, in all.
    #[serde(skip_serializing_if = "is_default")]
    pub removed: Removed,
    /// Sequences by class.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub classes: Counts,
    /// Sequences by kind.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub kinds: Counts,
    /// Single controls by their lower-case mnemonic.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub controls: Counts,
    /// Removed or replaced characters by class.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub characters: Counts,
    /// Sequences by ending.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub endings: Counts,
    /// Malformed sequences.
    #[serde(skip_serializing_if = "is_default")]
    pub malformed: u64,
    /// Control strings other than OSC that BEL ended.
    #[serde(skip_serializing_if = "is_default")]
    pub bel_ended: u64,
    /// U+FFFD written for ill-formed UTF-8.
    #[serde(skip_serializing_if = "is_default")]
    pub ill_formed: u64,
    /// Payload of all control strings.
    #[serde(skip_serializing_if = "is_default")]
    pub held_back: HeldBack,
    /// What `cr = overwrite` edited away.
    #[serde(skip_serializing_if = "is_default")]
    pub overwritten: Overwritten,
    /// What `cr = collapse` left out.
    #[serde(skip_serializing_if = "is_default")]
    pub collapsed: Collapsed,
    /// What a reader should know, the gravest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Occurrences counted in `findings` whose spans are not listed.
    #[serde(skip_serializing_if = "is_default")]
    pub findings_omitted: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Totals of what a view does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Removed {
    /// Raw bytes in removed runs.
    pub bytes: u64,
    /// Sequences that were not kept.
    pub sequences: u64,
    /// Single controls, those that became a line end included.
    pub controls: u64,
    /// Characters dropped or replaced.
    pub characters: u64,
}

/// What control strings held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldBack {
    /// Payload bytes.
    pub bytes: u64,
    /// LFs among them.
    pub lines: u64,
}

/// What was edited away in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overwritten {
    /// Characters that later ones, or an erase, took the place of.
    pub characters: u64,
    /// Lines that went on beyond the window, unedited.
    pub lines_beyond_window: u64,
}

/// What was left out of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Collapsed {
    /// Segments.
    pub segments: u64,
    /// Segments longer than the window, written in full.
    pub segments_beyond_window: u64,
}

/// Something a reader should know: a kind, a count, spans; never a copy of hostile bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A word of a closed list.
    pub kind: Escaped,
    /// The gravest occurrence.
    pub severity: Severity,
    /// Occurrences.
    pub count: u64,
    /// Offset and length in raw bytes of the first occurrences.
    pub spans: Vec<(u64, u64)>,
    /// The likely encoding, for `encoding-suspected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Escaped>,
}

/// How grave a finding is, the least first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a count.
    Info,
    /// Acts on a terminal, harmlessly.
    Low,
    /// Can mislead or act.
    High,
    /// Hides content.
    Critical,
}

impl Severity {
    /// The word of the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl From<noesc::Severity> for Severity {
    fn from(severity: noesc::Severity) -> Self {
        match severity {
            noesc::Severity::Info => Self::Info,
            noesc::Severity::Low => Self::Low,
            noesc::Severity::High => Self::High,
            noesc::Severity::Critical => Self::Critical,
        }
    }
}

impl Report {
    /// The gravest finding's severity, if there is any.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

impl Report {
    /// Adds the counts of another report. Places are left out, since they are those of another
    /// text.
    pub fn add(&mut self, other: &Self) {
        self.removed.bytes += other.removed.bytes;
        self.removed.sequences += other.removed.sequences;
        self.removed.controls += other.removed.controls;
        self.removed.characters += other.removed.characters;
        for (counts, more) in [
            (&mut self.classes, &other.classes),
            (&mut self.kinds, &other.kinds),
            (&mut self.controls, &other.controls),
            (&mut self.characters, &other.characters),
            (&mut self.endings, &other.endings),
        ] {
            more.iter().for_each(|(word, n)| *counts.entry(word.clone()).or_default() += n);
        }
        self.malformed += other.malformed;
        self.bel_ended += other.bel_ended;
        self.ill_formed += other.ill_formed;
        self.held_back.bytes += other.held_back.bytes;
        self.held_back.lines += other.held_back.lines;
        self.overwritten.characters += other.overwritten.characters;
        self.overwritten.lines_beyond_window += other.overwritten.lines_beyond_window;
        self.collapsed.segments += other.collapsed.segments;
        self.collapsed.segments_beyond_window += other.collapsed.segments_beyond_window;
        for finding in &other.findings {
            self.findings_omitted += finding.count;
            match self.findings.iter_mut().find(|known| known.kind == finding.kind) {
                Some(known) => {
                    known.count += finding.count;
                    known.severity = known.severity.max(finding.severity);
                }
                None => self.findings.push(Finding { spans: Vec::new(), ..finding.clone() }),
            }
        }
        let order = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.kind.clone());
        self.findings.sort_by_key(order);
    }
}

fn counts(counts: &noesc::Counts) -> Counts {
    counts.iter().map(|(word, n)| (Escaped::from(*word), *n)).collect()
}

impl From<&noesc::Report> for Report {
    fn from(report: &noesc::Report) -> Self {
        let finding = |finding: &noesc::Finding| Finding {
            kind: finding.kind.into(),
            severity: finding.severity.into(),
            count: finding.count,
            spans: finding.spans.clone(),
            encoding: finding.encoding.map(Escaped::from),
        };
        let noesc::Report { removed, held_back, overwritten, collapsed, .. } = report;
        Self {
            removed: Removed {
                bytes: removed.bytes,
                sequences: removed.sequences,
                controls: removed.controls,
                characters: removed.characters,
            },
            classes: counts(&report.classes),
            kinds: counts(&report.kinds),
            controls: counts(&report.controls),
            characters: counts(&report.characters),
            endings: counts(&report.endings),
            malformed: report.malformed,
            bel_ended: report.bel_ended,
            ill_formed: report.ill_formed,
            held_back: HeldBack { bytes: held_back.bytes, lines: held_back.lines },
            overwritten: Overwritten {
                characters: overwritten.characters,
                lines_beyond_window: overwritten.lines_beyond_window,
            },
            collapsed: Collapsed {
                segments: collapsed.segments,
                segments_beyond_window: collapsed.segments_beyond_window,
            },
            findings: report.findings.iter().map(finding).collect(),
            findings_omitted: report.findings_omitted,
        }
    }
}

/// For people, one line without hostile bytes: `removed 9 style, 1 clipboard-write, 3 cr; worst
/// finding: high`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        if self.removed.sequences > 0 {
            parts.extend(self.kinds.iter().map(|(kind, n)| format!("{n} {kind}")));
        }
        if self.removed.controls > 0 {
            parts.extend(self.controls.iter().map(|(control, n)| format!("{n} {control}")));
        }
        if self.removed.characters > 0 {
            parts.extend(self.characters.iter().map(|(class, n)| format!("{n} {class}")));
        }
        match parts.is_empty() {
            true => f.write_str("removed nothing")?,
            false => write!(f, "removed {}", parts.join(", "))?,
        }
        if self.ill_formed > 0 {
            write!(f, "; {} ill-formed", self.ill_formed)?;
        }
        if self.held_back.lines > 0 {
            write!(f, "; {} held back", crate::told::plural(self.held_back.lines, "line"))?;
        }
        match self.severity() {
            Some(severity) => write!(f, "; worst finding: {}", severity.name()),
            None => f.write_str("; no finding"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_has_the_shape_of_the_original() {
        let hostile =
            b"\x1b[31mred\x1b[0m\r\x1b]52;c;QQ==\x07\xff\x1bPq\n\n\x1b\\\xe2\x80\xae\x08a\rb\rc";
        for profile in [noesc::Profile::AGENT, noesc::Profile::DISPLAY, noesc::Profile::AUDIT] {
            let mut original = noesc::view(hostile, &profile).unwrap().report;
            original.suspect_encoding("windows-1252");
            let mirror = Report::from(&original);
            let json = serde_json::to_value(&mirror).unwrap();
            assert_eq!(json, serde_json::to_value(&original).unwrap());
            assert_eq!(serde_json::from_value::<Report>(json).unwrap(), mirror);
        }
        let nothing = Report::from(&noesc::Report::default());
        assert_eq!(serde_json::to_string(&nothing).unwrap(), "{}");
    }

    #[test]
    fn reports_add_up_without_their_places() {
        let report = |bytes: &[u8]| {
            Report::from(&noesc::view(bytes, &noesc::Profile::AGENT).unwrap().report)
        };
        let (first, second) = (b"\x1b[31mred\rx\x1b]0;t\x07", b"\x1b[m\x1b]52;c;Q\x07\xff\x1b[m");
        let mut sum = Report::default();
        sum.add(&report(first));
        sum.add(&report(second));
        let both = report(&[&first[..], second].concat());
        assert_eq!(
            (&sum.kinds, &sum.removed, &sum.endings),
            (&both.kinds, &both.removed, &both.endings)
        );
        let kinds = |report: &Report| -> Vec<_> {
            report.findings.iter().map(|f| (f.kind.clone(), f.severity, f.count)).collect()
        };
        assert_eq!(kinds(&sum), kinds(&both));
        assert!(sum.findings.iter().all(|finding| finding.spans.is_empty()));
        assert_eq!(sum.findings_omitted, sum.findings.iter().map(|f| f.count).sum::<u64>());
    }

    #[test]
    fn people_read_the_kinds_and_the_worst_finding() {
        let view = noesc::view(b"\x1b[31mred\x1b[0m\x1b]52;c;QQ==\x07a\rb", &noesc::Profile::AGENT);
        let report = Report::from(&view.unwrap().report);
        let line = "removed 1 clipboard-write, 2 style, 1 cr; worst finding: high";
        assert_eq!(report.to_string(), line);
        assert_eq!(Report::default().to_string(), "removed nothing; no finding");
    }
}

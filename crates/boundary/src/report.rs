//! What the boundary removed, and what a reader should know of it. Counts, spans and closed words;
//! never a byte of the input.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

pub use noesc_grammar::Severity;
use noesc_grammar::{Ending, Kind};

/// Spans listed with each finding; the count goes on beyond them.
pub const FINDING_SPANS_MAX: usize = 8;

/// Counts by their closed words, in the order of the words. Zero counts are absent.
pub type Counts = BTreeMap<&'static str, u64>;

/// The report of one stream. The same shape in JSON (with the feature `serde`), where keys with
/// nothing to count are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Report {
    /// What was removed, in all.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub removed: RemovedCounts,
    /// Sequences by class.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Counts::is_empty"))]
    pub classes: Counts,
    /// Sequences by kind.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Counts::is_empty"))]
    pub kinds: Counts,
    /// Single controls by their lower-case mnemonic, C1 as `u0085`. A CR that is part of a line
    /// end is none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Counts::is_empty"))]
    pub controls: Counts,
    /// Removed or replaced characters by class.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Counts::is_empty"))]
    pub characters: Counts,
    /// Sequences by ending.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Counts::is_empty"))]
    pub endings: Counts,
    /// Malformed sequences.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub malformed: u64,
    /// Control strings other than OSC that BEL ended.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub bel_ended: u64,
    /// U+FFFD written for ill-formed UTF-8.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub ill_formed: u64,
    /// Payload of all control strings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub held_back: HeldBack,
    /// What `cr = overwrite` edited away.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub overwritten: Overwritten,
    /// What `cr = collapse` left out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub collapsed: Collapsed,
    /// What a reader should know, the gravest first.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub findings: Vec<Finding>,
    /// Occurrences counted in `findings` whose spans are not listed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_default"))]
    pub findings_omitted: u64,
    /// Where the ill-formed UTF-8 stood, for a suspicion that comes later.
    #[cfg_attr(feature = "serde", serde(skip))]
    ill_formed_spans: Vec<(u64, u64)>,
    #[cfg_attr(feature = "serde", serde(skip))]
    ill_formed_uncovered: u64,
}

#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Totals of what a view does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RemovedCounts {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HeldBack {
    /// Payload bytes.
    pub bytes: u64,
    /// LFs among them.
    pub lines: u64,
}

/// What was edited away in lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Overwritten {
    /// Characters that later ones, or an erase, took the place of.
    pub characters: u64,
    /// Lines that went on beyond the window, unedited.
    pub lines_beyond_window: u64,
}

/// What was left out of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Collapsed {
    /// Segments.
    pub segments: u64,
    /// Segments longer than the window, written in full.
    pub segments_beyond_window: u64,
}

/// Something a reader should know: a kind, a count, spans.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// A word of a closed list: a kind of sequence, or one of [`Notice`].
    pub kind: &'static str,
    /// The gravest occurrence.
    #[cfg_attr(feature = "serde", serde(serialize_with = "severity_name"))]
    pub severity: Severity,
    /// Occurrences.
    pub count: u64,
    /// Offset and length in raw bytes of the first occurrences, neighbours joined; at most
    /// [`FINDING_SPANS_MAX`].
    pub spans: Vec<(u64, u64)>,
    /// The likely encoding, for `encoding-suspected`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub encoding: Option<&'static str>,
}

#[cfg(feature = "serde")]
fn severity_name<S: serde::Serializer>(severity: &Severity, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(severity.name())
}

/// Findings beyond the kinds of sequence and the classes of character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    HeldBackLines,
    UnterminatedString,
    SplitIntroducer,
    HiddenText,
    Utf16Suspected,
    ModeLeftOn,
}

const NOTICES: [(&str, Severity); 6] = [
    ("held-back-lines", Severity::Critical),
    ("unterminated-string", Severity::High),
    ("split-introducer", Severity::High),
    ("hidden-text", Severity::High),
    ("utf-16-suspected", Severity::Low),
    ("mode-left-on", Severity::High),
];

impl Report {
    /// The gravest finding, if there is any.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Adds the suspicion that the stream is in another encoding. It is named, never used.
    /// The finding counts what was ill-formed.
    pub fn suspect_encoding(&mut self, encoding: &'static str) {
        self.findings.push(Finding {
            kind: "encoding-suspected",
            severity: Severity::Low,
            count: self.ill_formed,
            spans: self.ill_formed_spans.clone(),
            encoding: Some(encoding),
        });
        self.findings_omitted += self.ill_formed_uncovered;
        self.sort();
    }

    fn sort(&mut self) {
        self.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.kind));
    }
}

/// The human summary, one line:
/// `removed 14 sequences (9 style, 4 cursor, 1 clipboard-write), 3 carriage returns`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.removed.sequences > 0 {
            parts.push(with_list(self.removed.sequences, "sequence", &self.kinds));
        }
        let cr = self.controls.get("cr").copied().unwrap_or(0);
        if cr > 0 {
            parts.push(plural(cr, "carriage return"));
        }
        let others: Counts =
            self.controls.iter().filter(|(k, _)| **k != "cr").map(|(k, n)| (*k, *n)).collect();
        let count = others.values().sum();
        if count > 0 {
            parts.push(with_list(count, "control", &others));
        }
        if self.removed.characters > 0 {
            parts.push(with_list(self.removed.characters, "character", &self.characters));
        }
        if self.ill_formed > 0 {
            parts.push(plural(self.ill_formed, "ill-formed byte sequence"));
        }
        if self.held_back.lines > 0 {
            parts.push(format!("{} held back", plural(self.held_back.lines, "line")));
        }
        if self.overwritten.characters > 0 {
            let characters = plural(self.overwritten.characters, "character");
            parts.push(format!("{characters} overwritten"));
        }
        if self.collapsed.segments > 0 {
            parts.push(format!("{} left out", plural(self.collapsed.segments, "segment")));
        }
        match parts.is_empty() {
            true => f.write_str("removed nothing"),
            false => write!(f, "removed {}", parts.join(", ")),
        }
    }
}

fn plural(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `14 sequences (9 style, 4 cursor, 1 clipboard-write)`, the most frequent first.
fn with_list(n: u64, noun: &str, counts: &Counts) -> String {
    let mut list: Vec<_> = counts.iter().collect();
    list.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), **name));
    let mut text = plural(n, noun);
    for (i, (name, n)) in list.into_iter().enumerate() {
        let _ = write!(text, "{}{n} {name}", if i == 0 { " (" } else { ", " });
    }
    if !counts.is_empty() {
        text.push(')');
    }
    text
}

/// Counts while the stream passes. Its size has a fixed bound.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) removed: RemovedCounts,
    ill_formed: Occurrences,
    pub(crate) overwritten: Overwritten,
    pub(crate) collapsed: Collapsed,
    classes: [u64; 8],
    kinds: [u64; KINDS],
    endings: [u64; 4],
    controls: [u64; 0xA0],
    characters: [u64; CLASSES],
    malformed: u64,
    bel_ended: u64,
    held_back: HeldBack,
    of_kind: [Occurrences; KINDS],
    of_class: [Occurrences; CLASSES],
    of_notice: [Occurrences; NOTICES.len()],
}

const KINDS: usize = Kind::ALL.len();
const CLASSES: usize = noesc_text::Class::ALL.len();

/// The occurrences of one finding. Most streams have none, so nothing is reserved for them.
#[derive(Clone, Debug)]
struct Occurrences {
    count: u64,
    severity: Option<Severity>,
    /// At most [`FINDING_SPANS_MAX`].
    spans: Vec<(u64, u64)>,
    /// Occurrences that the listed spans cover.
    covered: u64,
}

impl Occurrences {
    const NONE: Self = Self { count: 0, severity: None, spans: Vec::new(), covered: 0 };

    fn add(&mut self, severity: Severity, span: (u64, u64)) {
        self.add_run(severity, span, 1);
    }

    /// So many at once, with nothing between them; `span` is of all.
    fn add_run(&mut self, severity: Severity, span: (u64, u64), n: u64) {
        let all_covered = self.covered == self.count;
        self.count += n;
        self.severity = self.severity.max(Some(severity));
        if let Some(last) = self.spans.last_mut()
            && last.0 + last.1 == span.0
            && all_covered
        {
            last.1 += span.1;
            self.covered += n;
        } else if self.spans.len() < FINDING_SPANS_MAX {
            self.spans.push(span);
            self.covered += n;
        }
    }

    fn finding(&self, kind: &'static str) -> Option<Finding> {
        let severity = self.severity?;
        let spans = self.spans.clone();
        Some(Finding { kind, severity, count: self.count, spans, encoding: None })
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            removed: RemovedCounts::default(),
            ill_formed: Occurrences::NONE,
            overwritten: Overwritten::default(),
            collapsed: Collapsed::default(),
            classes: [0; 8],
            kinds: [0; KINDS],
            endings: [0; 4],
            controls: [0; 0xA0],
            characters: [0; CLASSES],
            malformed: 0,
            bel_ended: 0,
            held_back: HeldBack::default(),
            of_kind: [const { Occurrences::NONE }; KINDS],
            of_class: [const { Occurrences::NONE }; CLASSES],
            of_notice: [const { Occurrences::NONE }; NOTICES.len()],
        }
    }
}

impl Tally {
    pub(crate) fn sequence(&mut self, sequence: &noesc_grammar::Sequence<'_>) {
        let span = (sequence.start, sequence.end - sequence.start);
        self.classes[sequence.class as usize] += 1;
        self.kinds[sequence.kind as usize] += 1;
        self.endings[sequence.ending as usize] += 1;
        self.malformed += u64::from(sequence.malformed);
        if let Some(severity) = sequence.severity {
            self.of_kind[sequence.kind as usize].add(severity, span);
        }
        if !sequence.class.is_string() {
            return;
        }
        self.held_back.bytes += sequence.payload;
        self.held_back.lines += sequence.payload_lines;
        self.bel_ended += u64::from(sequence.bel && sequence.class != noesc_grammar::Class::Osc);
        if sequence.payload_lines > 0 {
            self.notice(Notice::HeldBackLines, span);
        }
        if sequence.ending == Ending::Unterminated {
            self.notice(Notice::UnterminatedString, span);
        }
    }

    /// Complete and well-formed CSI of a kind, but for what stands in a finding.
    pub(crate) fn plain(&mut self, kind: Kind, n: u64) {
        self.classes[noesc_grammar::Class::Csi as usize] += n;
        self.kinds[kind as usize] += n;
        self.endings[Ending::Complete as usize] += n;
    }

    /// One of a kind that is a finding of its severity.
    pub(crate) fn plain_at(&mut self, kind: Kind, span: (u64, u64)) {
        self.plain(kind, 1);
        if let Some(severity) = kind.severity() {
            self.of_kind[kind as usize].add(severity, span);
        }
    }

    /// Sequences that were cut short, one after the other; so many of them are an ESC alone.
    pub(crate) fn aborted(&mut self, span: (u64, u64), n: u64, escapes: u64) {
        self.removed.sequences += n;
        self.classes[noesc_grammar::Class::Csi as usize] += n - escapes;
        self.classes[noesc_grammar::Class::Escape as usize] += escapes;
        self.kinds[Kind::Other as usize] += n;
        self.endings[Ending::Aborted as usize] += n;
        if let Some(severity) = Kind::Other.severity() {
            self.of_kind[Kind::Other as usize].add_run(severity, span, n);
        }
    }

    /// One more of a kind adds no span to its finding.
    pub(crate) fn is_full(&self, kind: Kind) -> bool {
        let found = &self.of_kind[kind as usize];
        found.spans.len() == FINDING_SPANS_MAX && found.covered < found.count
    }

    /// So many more of a kind whose finding [is full](Self::is_full).
    pub(crate) fn plain_more(&mut self, kind: Kind, n: u64) {
        self.plain(kind, n);
        self.of_kind[kind as usize].count += n;
    }

    /// The sequences of a kind turn out graver than the table says of them.
    pub(crate) fn raise(&mut self, kind: Kind) {
        let found = &mut self.of_kind[kind as usize];
        found.severity = found.severity.map(|severity| severity.max(Severity::High));
    }

    /// A kind of sequence turns out graver than its table says.
    pub(crate) fn kind(&mut self, kind: Kind, span: (u64, u64)) {
        self.of_kind[kind as usize].add(Severity::High, span);
    }

    /// A single control, and what it asks of a terminal, if anything.
    pub(crate) fn control(&mut self, code: u8, at: u64, len: u64) {
        self.controls[usize::from(code)] += 1;
        self.removed.controls += 1;
        match code {
            0x05 => self.of_kind[Kind::ReportQuery as usize].add(Severity::High, (at, len)),
            0x0E | 0x0F => self.of_kind[Kind::CharsetShift as usize].add(Severity::Low, (at, len)),
            _ => {}
        }
    }

    /// A run of bare carriage returns. They act on nothing else and stand in no finding.
    pub(crate) fn bare_crs(&mut self, n: u64) {
        self.controls[0x0D] += n;
        self.removed.controls += n;
    }

    pub(crate) fn ill_formed(&mut self, at: u64, len: u64) {
        self.ill_formed.add(Severity::Low, (at, len));
    }

    pub(crate) fn character(&mut self, class: noesc_text::Class) {
        self.characters[class as usize] += 1;
        self.removed.characters += 1;
    }

    pub(crate) fn invisible(
        &mut self,
        class: noesc_text::Class,
        severity: Severity,
        span: (u64, u64),
    ) {
        self.of_class[class as usize].add(severity, span);
    }

    pub(crate) fn notice(&mut self, notice: Notice, span: (u64, u64)) {
        self.of_notice[notice as usize].add(NOTICES[notice as usize].1, span);
    }

    /// The report so far.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report {
            removed: self.removed,
            classes: counts(&self.classes, |i| noesc_grammar::Class::ALL[i].name()),
            kinds: counts(&self.kinds, |i| Kind::ALL[i].name()),
            controls: counts(&self.controls, control_name),
            characters: counts(&self.characters, |i| noesc_text::Class::ALL[i].name()),
            endings: counts(&self.endings, |i| Ending::ALL[i].name()),
            malformed: self.malformed,
            bel_ended: self.bel_ended,
            ill_formed: self.ill_formed.count,
            held_back: self.held_back,
            overwritten: self.overwritten,
            collapsed: self.collapsed,
            findings: Vec::new(),
            findings_omitted: 0,
            ill_formed_spans: self.ill_formed.spans.clone(),
            ill_formed_uncovered: self.ill_formed.count - self.ill_formed.covered,
        };
        let kinds = self.of_kind.iter().zip(Kind::ALL).map(|(found, kind)| (found, kind.name()));
        let classes = self.of_class.iter().zip(noesc_text::Class::ALL);
        let classes = classes.map(|(found, class)| (found, invisible_name(class)));
        let notices = self.of_notice.iter().zip(NOTICES).map(|(found, (name, _))| (found, name));
        for (found, name) in kinds.chain(classes).chain(notices) {
            report.findings.extend(found.finding(name));
            report.findings_omitted += found.count - found.covered;
        }
        report.sort();
        report
    }
}

fn counts(numbers: &[u64], name: impl Fn(usize) -> &'static str) -> Counts {
    let counted = numbers.iter().enumerate().filter(|(_, n)| **n > 0);
    counted.map(|(i, n)| (name(i), *n)).collect()
}

/// `invisible-` and the class.
const fn invisible_name(class: noesc_text::Class) -> &'static str {
    use noesc_text::Class;
    match class {
        Class::BidiControl => "invisible-bidi-control",
        Class::BidiMark => "invisible-bidi-mark",
        Class::Tag => "invisible-tag",
        Class::VariationSelector => "invisible-variation-selector",
        Class::Joiner => "invisible-joiner",
        Class::ZeroWidth => "invisible-zero-width",
        Class::Ignorable => "invisible-ignorable",
        Class::Annotation => "invisible-annotation",
        Class::Filler => "invisible-filler",
        Class::MongolianSelector => "invisible-mongolian-selector",
        Class::CombiningMark => "invisible-combining-mark",
        Class::Noncharacter => "invisible-noncharacter",
        Class::PrivateUse => "private-use",
        Class::LineSeparator => "line-separator",
    }
}

const C0: [&str; 32] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt", "ff", "cr",
    "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc",
    "fs", "gs", "rs", "us",
];

const C1: [&str; 32] = [
    "u0080", "u0081", "u0082", "u0083", "u0084", "u0085", "u0086", "u0087", "u0088", "u0089",
    "u008a", "u008b", "u008c", "u008d", "u008e", "u008f", "u0090", "u0091", "u0092", "u0093",
    "u0094", "u0095", "u0096", "u0097", "u0098", "u0099", "u009a", "u009b", "u009c", "u009d",
    "u009e", "u009f",
];

fn control_name(code: usize) -> &'static str {
    match code {
        0..0x20 => C0[code],
        0x80..0xA0 => C1[code - 0x80],
        _ => "del",
    }
}

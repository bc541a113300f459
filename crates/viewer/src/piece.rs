//! A piece of a stream: what it is, where it lies, and what is to be said of it.

use std::ops::Range;

use noesc_explain::{Explained, Item, What, describe_control};
use noesc_grammar::{Kind, Severity};
use noesc_text::AuditEscape;

use crate::finding::findings;

/// Bytes of a payload that are shown of a sequence.
pub(crate) const PAYLOAD_SHOWN_BYTES_MAX: usize = 512;

/// What a piece is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Text,
    /// Text with characters that deceive a reader, or that a terminal would not show.
    Deceiving,
    LineEnd,
    Control,
    IllFormed,
    /// Colours and attributes.
    Style,
    /// Where text goes: cursor, erasing, scrolling, modes of the screen.
    Layout,
    /// Whatever reaches beyond the cells: clipboard, title, queries, keys.
    Acting,
    /// Begun, and its end is not known yet.
    Open,
}

/// A piece, in words of a closed list but for the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The bytes of it that lie together: of a sequence with something inside, one part.
    pub(crate) tile: Range<u64>,
    /// All of it, from its first byte to its last.
    pub(crate) bytes: Range<u64>,
    /// Where the sequence begins that this is a part of.
    pub(crate) part_of: Option<u64>,
    pub(crate) sort: Sort,
    pub(crate) severity: Option<Severity>,
    /// The first row of the panel: notation and kind.
    pub(crate) title: String,
    /// The rows below.
    pub(crate) words: Vec<String>,
    /// The beginning of the payload, and where it may lie at most.
    pub(crate) payload: Vec<u8>,
}

impl Piece {
    /// Of an item that lies `base` bytes further than it says.
    pub(crate) fn of(item: &Item<'_>, base: u64) -> Self {
        let start = base + item.offset;
        let mut worst = None;
        findings(item, base, b"", &mut |of| worst = worst.max(Some(of.severity)));
        let mut piece = Self {
            tile: start..start + item.length,
            bytes: start..start + item.length,
            part_of: None,
            sort: Sort::Text,
            severity: worst,
            title: String::new(),
            words: Vec::new(),
            payload: Vec::new(),
        };
        piece.describe(item, base);
        piece
    }

    fn describe(&mut self, item: &Item<'_>, base: u64) {
        match &item.what {
            What::Text { hidden, deceiving, .. } => {
                self.title = "text".to_owned();
                if hidden.is_some() || !deceiving.is_empty() {
                    self.sort = Sort::Deceiving;
                }
                self.words.extend(hidden.map(|hidden| format!("not seen: {}", hidden.name())));
                for of in *deceiving {
                    self.words.push(format!("{} x {}", of.count, of.class.name()));
                }
            }
            What::LineEnds { end, count } => {
                self.sort = Sort::LineEnd;
                let name = if end.crs > 0 { "CR LF" } else { "LF" };
                self.title = format!("line end {name}");
                self.words.push(format!("{count} of them"));
            }
            What::Control { code, count } => {
                self.sort = Sort::Control;
                let meaning = describe_control(*code);
                self.title = format!("control {} x {count}", meaning.name);
                self.words.push(meaning.words.into_owned());
            }
            What::IllFormed { bytes } => {
                self.sort = Sort::IllFormed;
                self.title = "not UTF-8".to_owned();
                self.words.push(format!("{} bytes", bytes.len()));
            }
            What::Part { start } => {
                self.sort = Sort::Open;
                self.part_of = Some(base + start);
                self.title = format!("part of the sequence at byte {}", base + start);
            }
            What::Sequence(explained) => {
                self.bytes = base + explained.sequence.start..base + explained.sequence.end;
                self.sequence(explained);
            }
            What::SplitIntroducer { .. } => {
                self.sort = Sort::Acting;
                self.title = "split introducer".to_owned();
            }
            _ => self.title = "of no kind".to_owned(),
        }
    }

    fn sequence(&mut self, explained: &Explained<'_>) {
        let sequence = &explained.sequence;
        self.sort = sort(sequence.kind);
        self.title = format!("{}  {}", explained.notation, sequence.kind.name());
        let meaning = &explained.meaning;
        self.words.push(format!("{}: {}", meaning.name, meaning.words));
        let mut how = format!("{}, {} bytes", sequence.ending.name(), sequence.bytes);
        if let Some(by) = explained.ended_by {
            how.push_str(&format!(", ended by {by}"));
        }
        how.push_str(&format!(", {}", explained.form.name()));
        if sequence.malformed {
            how.push_str(", malformed");
        }
        self.words.push(how);
        for finding in explained.findings {
            self.words.push(format!("finding: {finding}"));
        }
        if sequence.class.is_string() {
            let (bytes, lines) = (sequence.payload, sequence.payload_lines);
            self.words.push(format!("payload: {bytes} bytes, {lines} line ends"));
        }
        let shown = explained.payload.len().min(PAYLOAD_SHOWN_BYTES_MAX);
        self.payload = explained.payload[..shown].to_vec();
    }

    /// A piece of text, cut so that each character that deceives is a piece of its own.
    pub(crate) fn split(self, item: &Item<'_>, base: u64, text: &[u8]) -> Vec<Self> {
        let What::Text { hidden: None, .. } = item.what else { return vec![self] };
        let mut found = Vec::new();
        findings(item, base, text, &mut |finding| found.push(finding));
        let (mut at, end) = (self.tile.start, self.tile.end);
        let mut pieces = Vec::new();
        let plain = |from: u64, to: u64, pieces: &mut Vec<Self>| {
            let bytes = from..to;
            let (sort, severity, words) = (Sort::Text, None, Vec::new());
            pieces.push(Self { tile: bytes.clone(), bytes, sort, severity, words, ..self.clone() });
        };
        for of in found {
            // Several findings may have one place: the piece says all of them.
            if let Some(last) = pieces.last_mut().filter(|last: &&mut Self| last.bytes.end > of.at)
            {
                last.severity = last.severity.max(Some(of.severity));
                last.words.push(of.kind.to_owned());
                continue;
            }
            if at < of.at {
                plain(at, of.at, &mut pieces);
            }
            at = (of.at + of.bytes).min(end);
            let (bytes, words) = (of.at..at, vec![of.kind.to_owned()]);
            let (sort, severity) = (Sort::Deceiving, Some(of.severity));
            pieces.push(Self { tile: bytes.clone(), bytes, sort, severity, words, ..self.clone() });
        }
        if at < end {
            plain(at, end, &mut pieces);
        }
        pieces
    }

    /// This part belongs to a sequence that is known now.
    pub(crate) fn become_part(&mut self, whole: &Self) {
        let tile = self.tile.clone();
        *self = Self { tile, ..whole.clone() };
    }

    /// An introducer character that a line end had cut off begins here.
    pub(crate) fn begins_split(&mut self) {
        self.sort = Sort::Acting;
        self.severity = self.severity.max(Some(Severity::High));
        self.words.push("finding: split-introducer".to_owned());
    }

    /// What began at an offset with this byte, and is longer than what was read.
    pub(crate) fn unfinished(tile: Range<u64>, start: u64, first: Option<u8>) -> Self {
        let what = match first {
            Some(0x1B | 0x80..=0x9F | 0xC2) => "a sequence",
            Some(0x00..=0x1F | 0x7F) => "controls",
            _ => "text",
        };
        Self {
            bytes: start..tile.end,
            tile,
            part_of: None,
            sort: Sort::Open,
            severity: None,
            title: format!("{what}, with no end near"),
            words: vec![format!("it begins at byte {start}")],
            payload: Vec::new(),
        }
    }

    /// The payload as a row of printable ASCII.
    pub(crate) fn payload_row(&self) -> Option<String> {
        (!self.payload.is_empty()).then(|| AuditEscape(&self.payload).to_string())
    }
}

const fn sort(kind: Kind) -> Sort {
    match kind {
        Kind::Style => Sort::Style,
        Kind::Conceal => Sort::Deceiving,
        Kind::Cursor | Kind::Erase | Kind::Scroll | Kind::Repeat | Kind::Rectangle => Sort::Layout,
        Kind::AlternateScreen | Kind::Mode | Kind::CharsetShift => Sort::Layout,
        _ => Sort::Acting,
    }
}

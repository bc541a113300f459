//! Counts, each with the offset of the first.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use noesc_grammar::{Class, Ending, Kind, Severity};

use crate::control::{describe_control, kind_of_control};
use crate::explainer::Options;
use crate::item::{Item, What};
use crate::json::Object;
use crate::rows::{counted, level};
use crate::theme::styled;

/// What a count is of. The order is that of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Finding(&'static str),
    Sequence(Kind),
    Ending(Ending),
    Malformed,
    Control(u8),
    IllFormed,
    Characters(noesc_text::Class),
}

#[derive(Clone, Copy, Debug)]
struct Count {
    count: u64,
    first: u64,
    severity: Option<Severity>,
}

/// Modes whose leftovers matter: the alternate screen, the mouse, bracketed paste.
const TRACKED: [u16; 22] = [
    47, 1047, 1049, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,
    1012, 1013, 1014, 1015, 1016, 2004,
];

/// Counts the items of a stream, in a state of fixed size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    bytes: u64,
    lines: u64,
    text: u64,
    counts: BTreeMap<Of, Count>,
    /// Where each tracked mode was set, if it still is.
    set: [Option<u64>; TRACKED.len()],
}

impl Summary {
    pub(crate) fn add(&mut self, item: &Item<'_>) {
        self.bytes += item.length;
        match &item.what {
            What::Text { end, hidden, deceiving, .. } => {
                self.text += item.length - end.map_or(0, |end| end.crs + 1);
                self.lines += u64::from(end.is_some());
                if let Some(hidden) = hidden {
                    self.count(Of::Finding(hidden.finding()), 1, item.offset, Some(Severity::High));
                }
                for of in *deceiving {
                    let severity = Some(level(of.severity));
                    self.count(Of::Characters(of.class), of.count, item.offset, severity);
                }
            }
            What::LineEnds { count, .. } => self.lines += count,
            What::Control { code, count } => {
                let severity = kind_of_control(*code).and_then(Kind::severity);
                self.count(Of::Control(*code), *count, item.offset, severity);
            }
            What::IllFormed { .. } => {
                self.count(Of::IllFormed, item.length, item.offset, None);
            }
            What::Part { .. } => {}
            What::Sequence(explained) => {
                let sequence = &explained.sequence;
                let at = sequence.start;
                self.count(Of::Sequence(sequence.kind), 1, at, sequence.severity);
                if sequence.ending != Ending::Complete {
                    self.count(Of::Ending(sequence.ending), 1, at, None);
                }
                if sequence.malformed {
                    self.count(Of::Malformed, 1, at, None);
                }
                for finding in explained.findings {
                    let severity = match *finding {
                        "held-back-lines" => Severity::Critical,
                        _ => Severity::High,
                    };
                    self.count(Of::Finding(finding), 1, at, Some(severity));
                }
                self.modes(sequence);
            }
            What::SplitIntroducer { .. } => {
                let severity = Some(Severity::High);
                self.count(Of::Finding("split-introducer"), 1, item.offset, severity);
            }
        }
    }

    fn count(&mut self, of: Of, count: u64, at: u64, severity: Option<Severity>) {
        if count == 0 {
            return;
        }
        let entry = self.counts.entry(of).or_insert(Count { count: 0, first: at, severity });
        entry.count += count;
        entry.first = entry.first.min(at);
        entry.severity = entry.severity.max(severity);
    }

    /// A malformed sequence may set a mode (terminals execute most of them) but resets none.
    fn modes(&mut self, sequence: &noesc_grammar::Sequence<'_>) {
        if sequence.ending != Ending::Complete {
            return;
        }
        let (modes, to) = match (sequence.class, sequence.collected, sequence.final_byte) {
            (Class::Escape, b"", b'c') if !sequence.malformed => {
                self.set = [None; TRACKED.len()];
                return;
            }
            (Class::Csi, [b'?', modes @ ..], b'h') => (modes, Some(sequence.start)),
            (Class::Csi, [b'?', modes @ ..], b'l') if !sequence.malformed => (modes, None),
            _ => return,
        };
        for mode in modes.split(|&b| b == b';') {
            let number = str::from_utf8(mode).ok().and_then(|digits| digits.parse::<u16>().ok());
            let place = TRACKED.iter().position(|&tracked| Some(tracked) == number);
            if let Some(set) = place.and_then(|place| self.set.get_mut(place)) {
                *set = to;
            }
        }
    }

    /// Ends the stream: a mode that is still set is a finding.
    fn end(&mut self) {
        for at in std::mem::take(&mut self.set).into_iter().flatten() {
            self.count(Of::Finding("mode-left-on"), 1, at, Some(Severity::High));
        }
    }

    /// For people: a line of totals, and a row for each count.
    pub(crate) fn write(mut self, options: &Options, out: &mut impl Write) -> fmt::Result {
        self.end();
        let theme = &options.theme;
        let bytes = counted(self.bytes, "byte", "bytes");
        let lines = counted(self.lines, "line end", "line ends");
        writeln!(out, "{bytes}, {} of text, {lines}", self.text)?;
        if self.counts.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", styled(theme.faint, "   count  first at  what"))?;
        for (of, count) in &self.counts {
            let (sort, name) = of.words();
            let first = match options.hex_offsets {
                true => format!("{:08x}", count.first),
                false => count.first.to_string(),
            };
            write!(out, "{:>8}  {first:>8}  {sort:<11}", count.count)?;
            match count.severity {
                None => writeln!(out, "{name}")?,
                Some(Severity::High) => {
                    writeln!(out, "{name:<20} {}", styled(theme.high, "HIGH"))?;
                }
                Some(Severity::Critical) => {
                    writeln!(out, "{name:<20} {}", styled(theme.critical, "CRITICAL"))?;
                }
                Some(other) => writeln!(out, "{name:<20} {}", styled(theme.faint, other.name()))?,
            }
        }
        Ok(())
    }

    /// For programs: one object a line, the totals first.
    pub(crate) fn write_json(mut self, out: &mut impl Write) -> fmt::Result {
        self.end();
        let mut object = Object::begin(out)?;
        object.string("summary", "total")?;
        object.number("bytes", self.bytes)?;
        object.number("text_bytes", self.text)?;
        object.number("line_ends", self.lines)?;
        object.end()?;
        for (of, count) in &self.counts {
            let (sort, name) = of.words();
            let mut object = Object::begin(out)?;
            object.string("summary", sort)?;
            object.string("name", &name)?;
            object.number("count", count.count)?;
            object.number("first", count.first)?;
            if let Some(severity) = count.severity {
                object.string("severity", severity.name())?;
            }
            object.end()?;
        }
        Ok(())
    }
}

impl Of {
    fn words(self) -> (&'static str, std::borrow::Cow<'static, str>) {
        match self {
            Self::Finding(name) => ("finding", name.into()),
            Self::Sequence(kind) => ("sequence", kind.name().into()),
            Self::Ending(ending) => ("ending", ending.name().into()),
            Self::Malformed => ("ending", "malformed".into()),
            Self::Control(code) => ("control", describe_control(code).name),
            Self::IllFormed => ("bytes", "not UTF-8".into()),
            Self::Characters(class) => ("characters", class.name().into()),
        }
    }
}

//! `lines`: the record on the first line, then each line of the child behind its name and number.
//!
//! A line that begins with `#` is ours. Every other one begins with a stream, a number and a sign:
//! `│` the line ends here or goes on below, `…` goes on from above, `┤` has no LF.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::format::{self, Format, ParseError, has_tail, omits};
use crate::record::{Envelope, Omitted, OrderEntry, Stream, StreamName, Text};
use crate::told::plural;

/// Bytes of a child's line on one line of output. Longer ones are continued on the next.
pub const LINE_BYTES_MAX: usize = 2000;

/// The line ends with an LF.
const WHOLE: char = '│';
/// The line has no LF.
const OPEN: char = '┤';
/// The line goes on from the one above.
const MORE: char = '…';

const fn short(stream: StreamName) -> &'static str {
    match stream {
        StreamName::Stdout => "out",
        StreamName::Stderr => "err",
        StreamName::Pty => "pty",
    }
}

/// Writes the envelope.
pub(crate) fn write(envelope: &Envelope, facts: &str, texts: &[(StreamName, &Text)]) -> String {
    let mut out = format!("# {facts}\n");
    for_people(envelope, &mut out);
    let mut streams: Vec<Rows<'_>> =
        texts.iter().map(|&(name, text)| Rows::new(envelope, name, text)).collect();
    for OrderEntry { stream, view: (offset, length), .. } in &envelope.order {
        if let Some(rows) = streams.iter_mut().find(|rows| rows.name == *stream) {
            rows.write_to(offset.saturating_add(*length), &mut out);
        }
    }
    streams.iter_mut().for_each(|rows| rows.write_to(u64::MAX, &mut out));
    out
}

/// The rows of one stream that are still to be written.
struct Rows<'a> {
    name: StreamName,
    /// What is left of the part being written, and where that stands in the view.
    rest: &'a str,
    at: u64,
    number: u64,
    /// The tail, and what lies before it.
    next: Option<(&'a str, Omitted)>,
}

impl<'a> Rows<'a> {
    fn new(envelope: &Envelope, name: StreamName, text: &'a Text) -> Self {
        let omitted = envelope.streams.get(&name).map(|of| of.view.omitted).unwrap_or_default();
        let next = has_tail(envelope, name, text).then_some((text.tail.as_str(), omitted));
        Self { name, rest: &text.head, at: 0, number: 1, next }
    }

    /// Writes the rows that begin before this offset of the view.
    fn write_to(&mut self, end: u64, out: &mut String) {
        while self.at < end {
            if self.rest.is_empty() {
                let Some((tail, omitted)) = self.next.take() else { return };
                out.push_str(&mark(self.name, omitted));
                self.rest = tail;
                self.at = self.at.saturating_add(omitted.bytes);
                self.number = self.number.saturating_add(omitted.lines);
                continue;
            }
            let length = self.rest.find('\n').map_or(self.rest.len(), |lf| lf + 1);
            let (line, rest) = self.rest.split_at(length);
            self.write_line(line, out);
            self.rest = rest;
            self.at = self.at.saturating_add(length as u64);
        }
    }

    fn write_line(&mut self, line: &str, out: &mut String) {
        let name = short(self.name);
        let (mut rest, mut sign) = match line.strip_suffix('\n') {
            Some(content) => (content, WHOLE),
            None => (line, OPEN),
        };
        loop {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(LINE_BYTES_MAX));
            let _ = writeln!(out, "{name} {}{sign} {piece}", self.number);
            if after.is_empty() {
                break;
            }
            (rest, sign) = (after, MORE);
        }
        self.number = self.number.saturating_add(u64::from(line.ends_with('\n')));
    }
}

/// The line that stands where a view was cut.
fn mark(stream: StreamName, omitted: Omitted) -> String {
    let Omitted { bytes, lines, .. } = omitted;
    let (bytes, lines) = (plural(bytes, "byte"), plural(lines, "line"));
    format!("# {}: {bytes} and {lines} omitted here\n", short(stream))
}

/// What a person wants to know first. Nothing a child chose stands here but escaped names.
fn for_people(envelope: &Envelope, out: &mut String) {
    let Envelope { outcome, processes, limits, time, .. } = envelope;
    let ended = outcome.kind.told(limits, processes.ended);
    let _ = writeln!(out, "# {ended}, after {} ms", time.duration_ms);
    if let Some(survivors) = processes.survivors.told() {
        let _ = writeln!(out, "# {survivors}");
    }
    for (&name, stream) in &envelope.streams {
        let Stream { bytes, lines, view, report, .. } = stream;
        let name = short(name);
        let (raw, lines) = (plural(bytes.observed, "raw byte"), plural(*lines, "raw line"));
        let _ = write!(out, "# {name}: {raw}, {lines}; {report}");
        if bytes.kept != bytes.observed {
            let _ = write!(out, "; {} kept", plural(bytes.kept, "raw byte"));
        }
        if let Some(end) = stream.cutoff.told(stream.eof) {
            let _ = write!(out, "; {end}");
        }
        if view.omitted.bytes > 0 {
            let Omitted { bytes, lines, .. } = view.omitted;
            let (bytes, lines) = (plural(bytes, "byte"), plural(lines, "line"));
            let _ = write!(out, "; {bytes} and {lines} of the view omitted");
        }
        out.push('\n');
    }
    if let Some(expected) = &envelope.expected {
        let _ = writeln!(out, "# {expected}");
    }
}

/// Reads the envelope.
pub(crate) fn read(text: &str) -> Result<Envelope, ParseError> {
    let mut lines = (1..).zip(text.split_inclusive('\n'));
    let layout = |line, expected| ParseError::Layout { line, expected };
    let facts = lines.next().and_then(|(_, line)| line.strip_prefix("# ")?.strip_suffix('\n'));
    let facts = facts.ok_or(layout(1, "# and the record"))?;
    let mut envelope = format::read_facts(facts)?;
    let mut parts: BTreeMap<StreamName, Part> =
        envelope.streams.keys().map(|&name| (name, Part::default())).collect();
    let mut last: Option<StreamName> = None;
    let mut inside = false;
    for (at, line) in lines {
        let line = line.strip_suffix('\n').ok_or(layout(at, "an LF at its end"))?;
        if line.starts_with('#') {
            match cut(&mut parts, &envelope, line) {
                true => inside = true,
                false if inside => return Err(layout(at, "a line of the child")),
                false if line.starts_with("# {") => return Err(layout(at, "one record")),
                false => {}
            }
            last = None;
            continue;
        }
        inside = true;
        let row = Row::read(line).ok_or(layout(at, "a stream, a number and a sign"))?;
        let part = parts.get_mut(&row.stream).ok_or(layout(at, "a stream of the record"))?;
        let follows = last == Some(row.stream);
        part.add(&row, follows).map_err(|expected| layout(at, expected))?;
        last = Some(row.stream);
    }
    for (name, mut part) in parts {
        part.end_line();
        if omits(&envelope, name) && !part.in_tail {
            return Err(layout(0, "a mark where something is omitted"));
        }
        format::put(&mut envelope, Format::Lines, name, part.text)?;
    }
    Ok(envelope)
}

/// Begins the tail of the stream of which this line is the mark; false when it is none.
fn cut(parts: &mut BTreeMap<StreamName, Part>, envelope: &Envelope, line: &str) -> bool {
    let found = parts.iter_mut().find_map(|(&name, part)| {
        let omitted = envelope.streams.get(&name)?.view.omitted;
        let is_mark = !part.in_tail && mark(name, omitted).strip_suffix('\n') == Some(line);
        is_mark.then_some((part, omitted.lines))
    });
    let Some((part, lines)) = found else { return false };
    part.end_line();
    part.in_tail = true;
    part.closed = false;
    part.number = part.number.saturating_add(lines);
    true
}

/// What has been read of one stream.
struct Part {
    text: Text,
    in_tail: bool,
    /// Number of the line being read, or of the next one.
    number: u64,
    /// A line is being read; whether it has an LF.
    line: Option<bool>,
    /// A line without LF has ended this part.
    closed: bool,
}

impl Default for Part {
    fn default() -> Self {
        Self { text: Text::default(), in_tail: false, number: 1, line: None, closed: false }
    }
}

impl Part {
    /// Takes a row; `follows` when the one above was of the same stream.
    fn add(&mut self, row: &Row<'_>, follows: bool) -> Result<(), &'static str> {
        if row.sign == MORE {
            if !follows || self.line.is_none() || row.number != self.number {
                return Err("a line that can be continued above this one");
            }
        } else {
            self.end_line();
            if self.closed {
                return Err("no line after one without LF");
            }
            if row.number != self.number {
                return Err("the next line number");
            }
            self.line = Some(row.sign == WHOLE);
        }
        if row.sign != WHOLE && row.content.is_empty() {
            return Err("text");
        }
        self.part().push_str(row.content);
        Ok(())
    }

    fn end_line(&mut self) {
        match self.line.take() {
            Some(true) => {
                self.part().push('\n');
                self.number = self.number.saturating_add(1);
            }
            Some(false) => self.closed = true,
            None => {}
        }
    }

    fn part(&mut self) -> &mut String {
        if self.in_tail { &mut self.text.tail } else { &mut self.text.head }
    }
}

/// A line of a child: `out 12│ text`.
struct Row<'a> {
    stream: StreamName,
    number: u64,
    sign: char,
    content: &'a str,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (name, rest) = line.split_once(' ')?;
        let stream = StreamName::ALL.into_iter().find(|&stream| short(stream) == name)?;
        let (digits, rest) = rest.split_at(rest.find([WHOLE, OPEN, MORE])?);
        let canonical = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| canonical)?;
        let sign = rest.chars().next()?;
        let content = rest[sign.len_utf8()..].strip_prefix(' ')?;
        Some(Self { stream, number, sign, content })
    }
}

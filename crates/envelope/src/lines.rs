//! `lines`: the record on the first line, then each line of the child behind its name and number.
//!
//! A line that begins with `#` is ours. Every other one begins with a stream, a number and a sign:
//! `│` the line ends here or goes on below, `…` goes on from above, `┤` has no LF. Each part of an
//! excerpt stands below a mark that says where it begins.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use crate::format::{self, Format, ParseError, has_tail, omits, parts_of, pieces_of};
use crate::part::ViewPart;
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
            rows.write_to(Some(offset.saturating_add(*length)), &mut out);
        }
    }
    streams.iter_mut().for_each(|rows| rows.write_to(None, &mut out));
    out
}

/// The rows of one stream that are still to be written.
struct Rows<'a> {
    name: StreamName,
    /// What is left of the part being written, and where that stands in the view.
    rest: &'a str,
    at: u64,
    number: u64,
    /// The parts that follow.
    next: VecDeque<Next<'a>>,
    /// Whether it is an excerpt.
    has_parts: bool,
}

/// A part of a view, and the line that stands before it.
struct Next<'a> {
    mark: String,
    text: &'a str,
    at: u64,
    number: u64,
}

impl<'a> Rows<'a> {
    fn new(envelope: &Envelope, name: StreamName, text: &'a Text) -> Self {
        if parts_of(envelope, name).is_some() {
            let pieces = pieces_of(envelope, name, text).unwrap_or_default();
            let next = pieces.into_iter().map(|(part, text)| Next {
                mark: part_mark(name, part),
                text,
                at: part.view.0,
                number: part.line.get(),
            });
            let next: VecDeque<_> = next.collect();
            let at = next.front().map_or(0, |part| part.at);
            return Self { name, rest: "", at, number: 1, next, has_parts: true };
        }
        let omitted = envelope.streams.get(&name).map(|of| of.view.omitted).unwrap_or_default();
        let lines = text.head.matches('\n').count() as u64;
        let tail = Next {
            mark: mark(name, omitted),
            text: &text.tail,
            at: (text.head.len() as u64).saturating_add(omitted.bytes),
            number: lines.saturating_add(1).saturating_add(omitted.lines),
        };
        let next = has_tail(envelope, name, text).then_some(tail).into_iter().collect();
        Self { name, rest: &text.head, at: 0, number: 1, next, has_parts: false }
    }

    /// Writes the rows that begin before this offset of the view, or all.
    fn write_to(&mut self, end: Option<u64>, out: &mut String) {
        while end.is_none_or(|end| self.at < end) {
            if self.rest.is_empty() {
                let Some(next) = self.next.pop_front() else { return };
                out.push_str(&next.mark);
                (self.rest, self.at, self.number) = (next.text, next.at, next.number);
                continue;
            }
            let length = self.rest.find('\n').map_or(self.rest.len(), |lf| lf + 1);
            let (line, rest) = self.rest.split_at(length);
            self.write_line(line, out);
            self.rest = rest;
            self.at = match (rest.is_empty(), self.next.front()) {
                // A part of an excerpt is announced where it begins.
                (true, Some(next)) if self.has_parts => next.at,
                _ => self.at.saturating_add(length as u64),
            };
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

/// The line that stands before a part of an excerpt.
fn part_mark(stream: StreamName, part: ViewPart) -> String {
    let (at, _) = part.view;
    format!("# {}: from line {}, byte {at} of the view\n", short(stream), part.line)
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
        if let Some(found) = &view.found {
            let more = if found.complete { "" } else { ", and the search stopped there" };
            let _ = write!(out, "; {} found{more}", plural(found.lines, "line"));
        }
        out.push('\n');
    }
    if let Some(search) = &envelope.search {
        let what = if search.fixed { "the text" } else { "the pattern" };
        let case = if search.ignore_case { " in any case" } else { "" };
        let _ = writeln!(out, "# searched for {what} \"{}\"{case}", search.pattern);
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
        envelope.streams.keys().map(|&name| (name, Part::new(&envelope, name))).collect();
    let mut last: Option<StreamName> = None;
    let mut inside = false;
    for (at, line) in lines {
        let line = line.strip_suffix('\n').ok_or(layout(at, "an LF at its end"))?;
        if line.starts_with('#') {
            match cut(&mut parts, line) {
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
        let of_record = parts_of(&envelope, name).unwrap_or_default();
        if !part.is_made_of(of_record) {
            return Err(layout(0, "the parts of the record"));
        }
        format::put(&mut envelope, Format::Lines, name, part.text)?;
    }
    Ok(envelope)
}

/// Begins the tail or the part of the stream of which this line is the mark; false when it is none.
fn cut(parts: &mut BTreeMap<StreamName, Part>, line: &str) -> bool {
    let is_mark = |part: &&mut Part| {
        let mark = part.marks.front().and_then(|(mark, _)| mark.strip_suffix('\n'));
        mark == Some(line)
    };
    let Some(part) = parts.values_mut().find(is_mark) else { return false };
    part.end_line();
    part.closed = false;
    match part.marks.pop_front() {
        Some((_, Jump::Tail { lines })) => {
            part.in_tail = true;
            part.number = part.number.saturating_add(lines);
        }
        Some((_, Jump::Part { number })) => {
            part.starts.push(part.text.head.len());
            part.number = number;
        }
        None => {}
    }
    true
}

/// What follows a mark.
enum Jump {
    Tail { lines: u64 },
    Part { number: u64 },
}

/// What has been read of one stream.
struct Part {
    text: Text,
    /// The marks that may come.
    marks: VecDeque<(String, Jump)>,
    /// Where in the text each part of an excerpt begins.
    starts: Vec<usize>,
    in_tail: bool,
    /// Number of the line being read, or of the next one.
    number: u64,
    /// A line is being read; whether it has an LF.
    line: Option<bool>,
    /// There is no more: a line without LF has ended this part, or none has begun.
    closed: bool,
}

impl Part {
    fn new(envelope: &Envelope, name: StreamName) -> Self {
        let parts = parts_of(envelope, name);
        let omitted = envelope.streams.get(&name).map(|of| of.view.omitted).unwrap_or_default();
        let marks = match parts {
            Some(parts) => {
                let jump = |part: &ViewPart| Jump::Part { number: part.line.get() };
                parts.iter().map(|part| (part_mark(name, *part), jump(part))).collect()
            }
            None => [(mark(name, omitted), Jump::Tail { lines: omitted.lines })].into(),
        };
        Self {
            text: Text::default(),
            marks,
            starts: Vec::new(),
            in_tail: false,
            number: 1,
            line: None,
            closed: parts.is_some(),
        }
    }

    /// Whether the parts of the record have all been read, and have its lengths.
    fn is_made_of(&self, parts: &[ViewPart]) -> bool {
        let ends = self.starts.iter().skip(1).copied().chain([self.text.head.len()]);
        let lengths = self.starts.iter().zip(ends).map(|(start, end)| (end - start) as u64);
        self.starts.len() == parts.len() && lengths.eq(parts.iter().map(|part| part.view.1))
    }

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

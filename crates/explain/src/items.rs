//! From bytes to items: the parser's events, joined where a reader takes them as one.

use noesc_grammar::{Event, Parser, Sequence, Severity};

use crate::characters::Characters;
use crate::hiding::Hiding;
use crate::item::{Explained, Hidden, Item, LineEnd, What};
use crate::meaning::{describe, notation};
use crate::payload::Payload;
use crate::shown::Shown;

/// Ill-formed bytes of one item: so many that they fit in a row.
pub const ILL_FORMED_BYTES_MAX: usize = 8;

/// Cuts a stream into [`Item`]s, which tile it.
///
/// In one pass and in linear time; what is kept has a fixed size whatever the input: one row of
/// text, the head of one payload, and at most 258 bytes that the grammar has not decided on. The
/// same bytes give the same items in any chunks.
///
/// ```
/// let mut names = Vec::new();
/// let mut items = noesc_explain::Items::new(80);
/// let mut sink = |item: noesc_explain::Item<'_>| {
///     if let noesc_explain::What::Sequence(explained) = item.what {
///         names.push((item.offset, explained.meaning.name.into_owned()));
///     }
/// };
/// items.push(b"one\x1b[", &mut sink);
/// items.push(b"2Jtwo", &mut sink);
/// items.finish(&mut sink);
/// assert_eq!(names, [(3, "ED".to_owned())]);
/// ```
#[derive(Clone, Debug)]
pub struct Items {
    parser: Parser,
    /// Bytes of earlier chunks that no event has covered yet.
    tail: Vec<u8>,
    joiner: Joiner,
}

impl Items {
    /// At the beginning of a stream. An item of text has so many columns at most, counted in
    /// characters without marks, and never less than one character.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            parser: Parser::new(),
            tail: Vec::new(),
            joiner: Joiner { columns, ..Joiner::default() },
        }
    }

    /// Reads a chunk, and gives the items that are decided.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Item<'_>)) {
        let Self { parser, tail, joiner } = self;
        let chunk_at = parser.offset();
        let source = Source { tail, tail_at: joiner.given, chunk, chunk_at };
        parser.push(chunk, &mut |at: u64, event: Event<'_>| joiner.event(at, event, &source, sink));
        let kept = usize::try_from(parser.offset() - joiner.given).unwrap_or(usize::MAX);
        match kept.checked_sub(chunk.len()) {
            Some(of_tail) => {
                tail.drain(..tail.len().saturating_sub(of_tail));
                tail.extend_from_slice(chunk);
            }
            None => {
                tail.clear();
                tail.extend_from_slice(&chunk[chunk.len() - kept..]);
            }
        }
    }

    /// Ends the stream.
    pub fn finish(mut self, sink: &mut impl FnMut(Item<'_>)) {
        let Self { parser, tail, joiner } = &mut self;
        let chunk_at = parser.offset();
        let source = Source { tail, tail_at: joiner.given, chunk: b"", chunk_at };
        parser.finish(&mut |at: u64, event: Event<'_>| joiner.event(at, event, &source, sink));
        joiner.characters.interrupt();
        joiner.flush(sink);
    }
}

/// The bytes that events speak of: the end of earlier chunks, and this one.
struct Source<'a> {
    tail: &'a [u8],
    tail_at: u64,
    chunk: &'a [u8],
    chunk_at: u64,
}

impl Source<'_> {
    /// The bytes from one offset to another, in at most two pieces.
    fn pieces(&self, from: u64, to: u64) -> [&[u8]; 2] {
        let cut = |bytes: &'_ [u8], at: u64| {
            let place = |offset: u64| {
                let place = usize::try_from(offset.saturating_sub(at)).unwrap_or(usize::MAX);
                place.min(bytes.len())
            };
            place(from)..place(to)
        };
        [&self.tail[cut(self.tail, self.tail_at)], &self.chunk[cut(self.chunk, self.chunk_at)]]
    }
}

/// What was read and not yet given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pending {
    #[default]
    Nothing,
    Text,
    LineEnds(LineEnd),
    Control(u8),
    IllFormed,
    Part,
}

/// Joins events into items.
#[derive(Clone, Debug, Default)]
struct Joiner {
    columns: usize,
    /// Offset up to which events came.
    given: u64,
    /// Offset up to which items were given.
    done: u64,
    pending: Pending,
    /// Bytes of what is pending.
    length: u64,
    /// Controls or line ends of what is pending.
    count: u64,
    /// CRs after what is pending: a part of a line end if an LF comes.
    crs: u64,
    shown: Shown,
    hidden: Option<Hidden>,
    ill_formed: Vec<u8>,
    payload: Payload,
    /// Where the open sequence began.
    open: Option<u64>,
    hiding: Hiding,
    characters: Characters,
}

impl Joiner {
    fn event(
        &mut self,
        at: u64,
        event: Event<'_>,
        source: &Source<'_>,
        sink: &mut impl FnMut(Item<'_>),
    ) {
        if !matches!(event, Event::Text(_) | Event::SplitIntroducer { .. }) {
            self.characters.interrupt();
        }
        match event {
            Event::Text(text) => {
                self.given = at + text.len() as u64;
                self.text(text, sink);
            }
            Event::Control { code, len } => {
                self.given = at + u64::from(len);
                self.control(code, u64::from(len), sink);
            }
            Event::IllFormed { len } => {
                self.given = at + u64::from(len);
                if self.ill_formed.len() + usize::from(len) > ILL_FORMED_BYTES_MAX {
                    self.flush(sink);
                }
                self.extend(Pending::IllFormed, u64::from(len), sink);
                for piece in source.pieces(at, self.given) {
                    self.ill_formed.extend_from_slice(piece);
                }
            }
            Event::Part { len } => {
                self.given = at + len;
                self.extend(Pending::Part, len, sink);
                if self.open.is_none() {
                    self.open = Some(at);
                    self.payload.clear();
                }
                for piece in source.pieces(at, self.given) {
                    self.payload.push(piece);
                }
            }
            Event::End(sequence) => self.end(sequence, sink),
            Event::SplitIntroducer { from } => {
                self.flush(sink);
                self.give(0, What::SplitIntroducer { from }, sink);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, sink: &mut impl FnMut(Item<'_>)) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let fast = self.hiding.is_idle() && !self.characters.is_holding();
            let plain = if fast && self.pending == Pending::Text && self.crs == 0 {
                self.shown.plain_prefix(rest, self.columns)
            } else {
                ""
            };
            if plain.is_empty() {
                self.char(c, sink);
                rest = &rest[c.len_utf8()..];
            } else {
                self.length += plain.len() as u64;
                self.shown.push_plain(plain);
                self.characters.push_plain(plain);
                rest = &rest[plain.len()..];
            }
        }
    }

    fn char(&mut self, c: char, sink: &mut impl FnMut(Item<'_>)) {
        if c == '\n' {
            return self.line_feed(sink);
        }
        let full = self.pending == Pending::Text && !self.shown.has_room(c, self.columns);
        // What waits for its neighbour stays in the row of that neighbour: at most six characters.
        if full && !self.characters.is_holding() {
            self.flush(sink);
        }
        let length = c.len_utf8() as u64;
        self.extend(Pending::Text, length, sink);
        self.hidden = self.hidden.or(self.hiding.hides(c));
        self.shown.push(c);
        self.characters.push(c);
    }

    fn line_feed(&mut self, sink: &mut impl FnMut(Item<'_>)) {
        self.characters.line_end();
        let end = LineEnd { crs: self.crs };
        match self.pending {
            Pending::Text => {
                self.crs = 0;
                self.length += end.crs + 1;
                self.give_text(Some(end), sink);
                return;
            }
            Pending::LineEnds(before) if before == end => {}
            _ => {
                self.crs = 0;
                self.flush(sink);
                self.pending = Pending::LineEnds(end);
            }
        }
        self.crs = 0;
        self.length += end.crs + 1;
        self.count += 1;
    }

    fn control(&mut self, code: u8, len: u64, sink: &mut impl FnMut(Item<'_>)) {
        self.hiding.control(code);
        if code == b'\r' {
            self.crs += 1;
            return;
        }
        self.extend(Pending::Control(code), len, sink);
        self.count += 1;
    }

    /// Makes what is pending longer, or flushes it and begins anew.
    fn extend(&mut self, what: Pending, length: u64, sink: &mut impl FnMut(Item<'_>)) {
        if self.pending != what || self.crs > 0 {
            self.flush(sink);
        }
        self.pending = what;
        self.length += length;
    }

    fn end(&mut self, sequence: Sequence<'_>, sink: &mut impl FnMut(Item<'_>)) {
        if self.pending != Pending::Part {
            self.flush(sink);
        }
        let length = std::mem::take(&mut self.length);
        self.pending = Pending::Nothing;
        self.open = None;
        self.hiding.sequence(&sequence);
        let payload = std::mem::take(&mut self.payload);
        let head = payload.head(&sequence);
        let (findings, worst) = findings(&sequence);
        let explained = Explained {
            notation: notation(&sequence, head),
            meaning: describe(&sequence, head),
            payload: head,
            form: payload.form(&sequence),
            ended_by: payload.ended_by(&sequence),
            severity: sequence.severity.max(worst),
            findings,
            sequence,
        };
        self.give(length, What::Sequence(explained), sink);
        self.payload = payload;
    }

    /// Gives what is pending.
    fn flush(&mut self, sink: &mut impl FnMut(Item<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        let crs = std::mem::take(&mut self.crs);
        let count = std::mem::take(&mut self.count);
        let length = self.length;
        match pending {
            Pending::Nothing => {}
            Pending::Text => self.give_text(None, sink),
            Pending::LineEnds(end) => self.give(length, What::LineEnds { end, count }, sink),
            Pending::Control(code) => self.give(length, What::Control { code, count }, sink),
            Pending::IllFormed => {
                let bytes = std::mem::take(&mut self.ill_formed);
                self.give(length, What::IllFormed { bytes: &bytes }, sink);
                self.ill_formed = bytes;
                self.ill_formed.clear();
            }
            Pending::Part => {
                let start = self.open.unwrap_or(self.done);
                self.give(length, What::Part { start }, sink);
            }
        }
        self.length = 0;
        if crs > 0 {
            self.give(crs, What::Control { code: b'\r', count: crs }, sink);
        }
    }

    fn give_text(&mut self, end: Option<LineEnd>, sink: &mut impl FnMut(Item<'_>)) {
        let shown = std::mem::take(&mut self.shown);
        let hidden = self.hidden.take();
        let deceiving = self.characters.take();
        let length = std::mem::take(&mut self.length);
        self.pending = Pending::Nothing;
        self.give(
            length,
            What::Text { shown: shown.text(), end, hidden, deceiving: &deceiving },
            sink,
        );
        self.shown = shown;
        self.shown.clear();
    }

    fn give(&mut self, length: u64, what: What<'_>, sink: &mut impl FnMut(Item<'_>)) {
        let offset = self.done;
        self.done += length;
        sink(Item { offset, length, what });
    }
}

/// What a report would find in a string beyond its kind, and how severe that is.
fn findings(sequence: &Sequence<'_>) -> (&'static [&'static str], Option<Severity>) {
    use noesc_grammar::Ending::Unterminated;
    let held = sequence.payload_lines > 0;
    let open = sequence.class.is_string() && sequence.ending == Unterminated;
    match (held, open) {
        (true, true) => (&["held-back-lines", "unterminated-string"], Some(Severity::Critical)),
        (true, false) => (&["held-back-lines"], Some(Severity::Critical)),
        (false, true) => (&["unterminated-string"], Some(Severity::High)),
        (false, false) => (&[], None),
    }
}

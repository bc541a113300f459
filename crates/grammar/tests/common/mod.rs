//! Runs the parser over chunks and writes down what it says, in the words of the slow second
//! parser.

#![allow(clippy::panic, dead_code, reason = "shared by tests")]

use noesc_grammar::{Event, Parser, Scanner, Sequence, Severity};
use noesc_testkit::twin::{self, Item, Parsed};

/// What the parser said of an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Items with neighbours joined, and sequences.
    pub(crate) parsed: Parsed,
    /// Offset and `from` of each split introducer.
    pub(crate) split: Vec<(u64, u64)>,
    /// What the second parser does not say of each sequence.
    pub(crate) details: Vec<Details>,
}

/// Facts of a sequence beyond those of the second parser.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Details {
    pub(crate) bytes: u64,
    pub(crate) collected: Vec<u8>,
    pub(crate) final_byte: u8,
}

/// Feeds the chunks, which make up `input`. Panics where the events do not tile it.
pub(crate) fn trace<'a>(input: &[u8], chunks: impl IntoIterator<Item = &'a [u8]>) -> Trace {
    let mut parser = Parser::new();
    let mut recorder = Recorder { input, ..Recorder::default() };
    let mut pushed = 0;
    for chunk in chunks {
        parser.push(chunk, &mut |at, event: Event<'_>| recorder.event(at, event));
        pushed += chunk.len() as u64;
        assert_eq!(parser.offset(), pushed, "{}", input.escape_ascii());
    }
    parser.finish(&mut |at, event: Event<'_>| recorder.event(at, event));
    assert_eq!(pushed, input.len() as u64, "{}", input.escape_ascii());
    assert_eq!(recorder.at, input.len() as u64, "untold bytes in {}", input.escape_ascii());
    assert_eq!(recorder.open_bytes, 0, "a sequence without end in {}", input.escape_ascii());
    Trace { parsed: recorder.parsed, split: recorder.split, details: recorder.details }
}

/// Says less than there is: no more than so many bytes at once.
struct Modest(usize);

impl Scanner for Modest {
    fn payload_len(&self, bytes: &[u8]) -> usize {
        let ends = |b: &u8| matches!(b, 7 | 10 | 13 | 0x18 | 0x1A | 0x1B | 0x9C | 0xC2..=0xF4);
        bytes.iter().position(ends).unwrap_or(bytes.len()).min(self.0)
    }

    fn range_len(&self, bytes: &[u8], first: u8, last: u8) -> usize {
        let is_in = |b: &&u8| (first..=last).contains(*b);
        bytes.iter().take_while(is_in).count().min(self.0)
    }
}

/// The input read with a scanner that says no more than `most` bytes, and no more than `enough` of
/// them, and what is open then, at a time.
pub(crate) fn in_parts(input: &[u8], most: usize, enough: usize) -> Trace {
    let mut parser = Parser::new();
    let mut recorder = Recorder { input, ..Recorder::default() };
    let mut at = 0;
    while at < input.len() {
        let read =
            parser.push_some(&Modest(most), &input[at..], enough, &mut |at, event: Event<'_>| {
                recorder.event(at, event);
            });
        assert!(read > 0, "nothing read at {at} of {}", input.escape_ascii());
        at += read;
        assert!(
            at == input.len() || parser.is_between(),
            "cut at {at} of {}",
            input.escape_ascii()
        );
    }
    parser.finish(&mut |at, event: Event<'_>| recorder.event(at, event));
    Trace { parsed: recorder.parsed, split: recorder.split, details: recorder.details }
}

/// The input in one chunk.
pub(crate) fn whole(input: &[u8]) -> Trace {
    trace(input, [input])
}

/// The parser takes the input as the slow second parser does. Gives what the second one says.
pub(crate) fn agrees(input: &[u8]) -> Parsed {
    let mut got = whole(input);
    let want = twin::parse(input);
    for (got, want) in got.parsed.sequences.iter_mut().zip(&want.sequences) {
        let bytes = &input[want.start..want.end];
        same_kind(got, want, bytes);
        let bytes = bytes.escape_ascii().to_string();
        assert_eq!(got, want, "{bytes:.300}");
    }
    assert_eq!(got.parsed.items, want.items, "{}", input.escape_ascii());
    assert_eq!(got.parsed, want, "{}", input.escape_ascii());
    assert_eq!(got.split, split_introducers(input, &want), "{}", input.escape_ascii());
    want
}

/// Kinds agree, but for sequences that the table does not name: the parser gives some of them a
/// kind where the second parser says `other`, and two that the table names twice.
fn same_kind(got: &mut twin::Sequence, want: &twin::Sequence, bytes: &[u8]) {
    let agree = match (want.kind, got.kind) {
        ("other", _) => got.severity >= want.severity,
        ("scroll", "cursor") => true,    // CSI s: DECSLRM or SCOSC
        ("cwd", "notification") => true, // OSC 9;9 without a folder
        // CSI ? 1:1049 h: terminals differ on what a colon parts.
        ("mode" | "keyboard-protocol" | "mouse", _) => bytes.contains(&b':'),
        _ => false,
    };
    if agree {
        (got.kind, got.severity) = (want.kind, want.severity);
    }
}

/// Where a line end aborted an escape or a CSI and the next line begins with an introducer.
fn split_introducers(input: &[u8], parsed: &Parsed) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for s in parsed.sequences.iter().filter(|s| matches!(s.class, "csi" | "escape")) {
        let last = input[s.end - 1];
        let final_from = if s.class == "csi" { 0x40 } else { 0x30 };
        let completed = s.ending == "overlong" && (final_from..=0x7e).contains(&last);
        let cut = matches!(s.ending, "aborted" | "overlong") && !completed;
        let at_line_end = matches!(input.get(s.end), Some(b'\n' | b'\r'));
        if !cut || !at_line_end || matches!(last, 0x18 | 0x1a) {
            continue;
        }
        let executed = |b: &&u8| matches!(b, 0..=0x1f | 0x7f) && !matches!(b, 0x18 | 0x1a | 0x1b);
        let next = s.end + input[s.end..].iter().take_while(executed).count();
        if matches!(input.get(next), Some(b'[' | b']' | b'P' | b'X' | b'^' | b'_' | b'k')) {
            found.push((next as u64, s.start as u64));
        }
    }
    found
}

#[derive(Default)]
struct Recorder<'a> {
    input: &'a [u8],
    /// Offset up to which the input was told.
    at: u64,
    /// First byte, and bytes in parts, of the open sequence.
    open_start: u64,
    open_bytes: u64,
    parsed: Parsed,
    split: Vec<(u64, u64)>,
    details: Vec<Details>,
}

impl Recorder<'_> {
    fn event(&mut self, at: u64, event: Event<'_>) {
        let input = self.input;
        assert_eq!(at, self.at, "{event:?} does not follow in {}", input.escape_ascii());
        match event {
            Event::Text(text) => {
                let (start, end) = self.take(text.len() as u64);
                assert_eq!(&input[start..end], text.as_bytes(), "{}", input.escape_ascii());
                match self.parsed.items.last_mut() {
                    Some(Item::Text { end: last, .. }) => *last = end,
                    _ => self.parsed.items.push(Item::Text { start, end }),
                }
            }
            Event::IllFormed { len } => {
                let (start, end) = self.take(len.into());
                assert!(len <= 3, "{}", input.escape_ascii());
                self.parsed.items.push(Item::IllFormed { start, end });
            }
            Event::Control { code, len } => {
                let (start, end) = self.take(len.into());
                let written: &[u8] = if len == 2 { &[0xc2, code] } else { &[code] };
                assert_eq!(&input[start..end], written, "{}", input.escape_ascii());
                self.parsed.items.push(Item::Control { start, end, code: code.into() });
            }
            Event::Part { len } => {
                let (start, end) = self.take(len);
                if self.open_bytes == 0 {
                    self.open_start = at;
                }
                self.open_bytes += len;
                let number = self.parsed.sequences.len();
                match self.parsed.items.last_mut() {
                    Some(Item::SequencePart { end: last, sequence, .. }) if *sequence == number => {
                        *last = end;
                    }
                    _ => {
                        let part = Item::SequencePart { start, end, sequence: number };
                        self.parsed.items.push(part);
                    }
                }
            }
            Event::End(sequence) => self.ended(&sequence),
            Event::SplitIntroducer { from } => self.split.push((at, from)),
            other => panic!("unknown event {other:?}"),
        }
    }

    fn take(&mut self, len: u64) -> (usize, usize) {
        assert!(len > 0, "an empty event in {}", self.input.escape_ascii());
        let start = self.at as usize;
        self.at += len;
        (start, self.at as usize)
    }

    fn ended(&mut self, s: &Sequence<'_>) {
        assert_eq!(s.bytes, std::mem::take(&mut self.open_bytes), "{}", self.input.escape_ascii());
        assert_eq!(s.start, self.open_start, "{}", self.input.escape_ascii());
        assert!(!s.class.is_string() || s.collected.is_empty());
        assert!(s.class.is_string() || s.payload == 0);
        self.parsed.sequences.push(twin::Sequence {
            class: s.class.name(),
            ending: s.ending.name(),
            malformed: s.malformed,
            start: s.start as usize,
            end: s.end as usize,
            payload: s.payload,
            payload_lines: s.payload_lines,
            bel: s.bel,
            kind: s.kind.name(),
            severity: match s.severity {
                None => twin::Severity::None,
                Some(Severity::High) => twin::Severity::High,
                Some(_) => twin::Severity::Low,
            },
        });
        self.details.push(Details {
            bytes: s.bytes,
            collected: s.collected.to_vec(),
            final_byte: s.final_byte,
        });
    }
}

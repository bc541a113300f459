//! The slow, obvious second parser, written from `2-grammar` alone: it sees the whole input at
//! once, looks ahead as far as it likes and keeps everything. It exists to be compared with the
//! streaming parser on generated input, so it shares no code and no table with it.

mod characters;
mod kinds;
mod view;

pub use kinds::Severity;
pub use view::view;

use crate::corpus::{Counts, HeldBack};

/// A line end ends a control string whose payload has this many bytes.
pub const STRING_BYTES_MAX: usize = 4096;
/// So many bytes of a raw C1 string may stand before its terminator.
pub const RAW_HOLD_MAX: usize = 256;
/// More intermediates than this make an escape overlong.
pub const ESCAPE_BYTES_MAX: usize = 16;
/// More parameters and intermediates than this make a CSI overlong.
pub const CSI_BYTES_MAX: usize = 256;

/// A piece of the input. The items of a parse tile the input: each begins where the one before
/// ended, and no two neighbours could be one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Well-formed text: 20-7E, TAB, LF and non-ASCII characters that are no C1 control.
    Text {
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// One maximal subpart of an ill-formed character, or a raw C1: one U+FFFD.
    IllFormed {
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// A control that belongs to no sequence, even when it stands inside one.
    Control {
        /// The first byte.
        start: usize,
        /// One past the last byte: 2 bytes for an encoded C1.
        end: usize,
        /// The code point: a C0, DEL or a C1.
        code: u32,
    },
    /// Bytes of a sequence. One with controls or TABs inside it has several parts.
    SequencePart {
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
        /// The index in [`Parsed::sequences`].
        sequence: usize,
    },
}

impl Item {
    /// The bytes of the item.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        match *self {
            Item::Text { start, end }
            | Item::IllFormed { start, end }
            | Item::Control { start, end, .. }
            | Item::SequencePart { start, end, .. } => start..end,
        }
    }
}

/// One sequence: an escape, a CSI or a control string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// `csi osc dcs sos pm apc title escape`.
    pub class: &'static str,
    /// `complete aborted overlong unterminated`.
    pub ending: &'static str,
    /// A byte inside broke its form.
    pub malformed: bool,
    /// The introducer's first byte.
    pub start: usize,
    /// Where it ended: one past a byte that belongs to it, or the byte that aborted it.
    pub end: usize,
    /// Payload bytes of a control string; 0 for others.
    pub payload: u64,
    /// LFs among them.
    pub payload_lines: u64,
    /// A control string ended by BEL, whatever its class.
    pub bel: bool,
    /// A word of the closed list.
    pub kind: &'static str,
    /// What the kind weighs by itself, without what stands elsewhere in the stream.
    pub severity: Severity,
}

/// The whole input, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The pieces in the order of the input.
    pub items: Vec<Item>,
    /// The sequences in the order of their introducers.
    pub sequences: Vec<Sequence>,
}

impl Parsed {
    /// Sequences by class.
    #[must_use]
    pub fn classes(&self) -> Counts {
        self.count(|s| s.class)
    }

    /// Sequences by ending.
    #[must_use]
    pub fn endings(&self) -> Counts {
        self.count(|s| s.ending)
    }

    /// Sequences by kind.
    #[must_use]
    pub fn kinds(&self) -> Counts {
        self.count(|s| s.kind)
    }

    /// Payload of all control strings, and the LFs in it.
    #[must_use]
    pub fn held_back(&self) -> HeldBack {
        HeldBack {
            bytes: self.sequences.iter().map(|s| s.payload).sum(),
            lines: self.sequences.iter().map(|s| s.payload_lines).sum(),
        }
    }

    fn count(&self, word: impl Fn(&Sequence) -> &'static str) -> Counts {
        let mut counts = Counts::new();
        for sequence in &self.sequences {
            *counts.entry(word(sequence).to_owned()).or_default() += 1;
        }
        counts
    }
}

/// Parses a whole input.
///
/// ```
/// use noesc_testkit::twin::{parse, Item};
/// let parsed = parse(b"a\x1b[31mb");
/// assert_eq!(parsed.items[0], Item::Text { start: 0, end: 1 });
/// assert_eq!(parsed.items[1], Item::SequencePart { start: 1, end: 6, sequence: 0 });
/// assert_eq!(parsed.sequences[0].kind, "style");
/// ```
#[must_use]
pub fn parse(input: &[u8]) -> Parsed {
    let mut twin = Twin { input, at: 0, parsed: Parsed::default() };
    while twin.at < input.len() {
        twin.ground();
    }
    twin.parsed
}

/// Payload bytes of all control strings, and the LFs in it.
///
/// ```
/// let held = noesc_testkit::twin::held_back(b"\x1b]0;a\nb\x07");
/// assert_eq!((held.bytes, held.lines), (5, 1));
/// ```
#[must_use]
pub fn held_back(input: &[u8]) -> HeldBack {
    parse(input).held_back()
}

/// What stands at a place of the input where a character could begin.
enum Decoded {
    /// A well-formed character and its length.
    Char(char, usize),
    /// A maximal subpart and its length.
    IllFormed(usize),
}

/// Decodes the first character of `bytes`, which is not empty.
fn decode(bytes: &[u8]) -> Decoded {
    let head = &bytes[..bytes.len().min(4)];
    let (valid, broken) = match std::str::from_utf8(head) {
        Ok(text) => (text, head.len()),
        Err(e) => {
            let (valid, _) = head.split_at(e.valid_up_to());
            (std::str::from_utf8(valid).unwrap_or_default(), e.error_len().unwrap_or(head.len()))
        }
    };
    match valid.chars().next() {
        Some(c) => Decoded::Char(c, c.len_utf8()),
        None => Decoded::IllFormed(broken),
    }
}

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// What has been seen of an open sequence.
#[derive(Default)]
struct Open {
    class: &'static str,
    start: usize,
    malformed: bool,
    overlong: bool,
    bel: bool,
    /// A line end ends the string: a title, or an encoded introducer.
    one_line: bool,
    /// Parameters and intermediates, up to the limit; more make the sequence overlong.
    parameters: Vec<u8>,
    intermediates: Vec<u8>,
    intermediate_seen: bool,
    last: Option<u8>,
    payload: Vec<u8>,
    /// Aborted by an ESC.
    by_escape: bool,
}

impl Open {
    /// Keeps a parameter or an intermediate, if no more than `max` of both have been kept.
    fn collect(&mut self, byte: u8, max: usize) {
        match byte {
            _ if self.parameters.len() + self.intermediates.len() == max => self.overlong = true,
            b' '..=b'/' => self.intermediates.push(byte),
            _ => self.parameters.push(byte),
        }
    }
}

#[derive(Clone, Copy)]
enum Ending {
    Complete,
    Aborted,
    Unterminated,
}

struct Twin<'a> {
    input: &'a [u8],
    at: usize,
    parsed: Parsed,
}

impl Twin<'_> {
    fn byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn ground(&mut self) {
        let byte = self.input[self.at];
        match decode(&self.input[self.at..]) {
            Decoded::Char('\x1b', _) => self.escape(),
            Decoded::Char(c @ ('\t' | '\n' | ' '..='~'), _) => self.text(c.len_utf8()),
            Decoded::Char(c @ ('\0'..='\x1f' | '\x7f'), _) => self.control(1, c),
            Decoded::Char(c @ '\u{80}'..='\u{9f}', _) => match class_of_c1(u32::from(c)) {
                Some("csi") => self.csi_after(2),
                Some(class) => self.string_after(2, class, true),
                None => self.control(2, c),
            },
            Decoded::Char(_, length) => self.text(length),
            Decoded::IllFormed(1) if byte == 0x9b => self.csi_after(1),
            Decoded::IllFormed(1) if self.tentative_is_string() => {
                self.string_after(1, class_of_c1(byte.into()).unwrap_or_default(), false);
            }
            Decoded::IllFormed(length) => {
                let (start, end) = (self.at, self.at + length);
                self.parsed.items.push(Item::IllFormed { start, end });
                self.at = end;
            }
        }
    }

    /// Whether the raw string introducer here is followed by few enough printable bytes and then
    /// a terminator. If not, it is ill-formed and what follows is read again as ground, where
    /// the held bytes are text.
    fn tentative_is_string(&self) -> bool {
        if !matches!(self.input[self.at], 0x90 | 0x98 | 0x9d | 0x9e | 0x9f) {
            return false;
        }
        let after = &self.input[self.at + 1..];
        let held = after.iter().take_while(|b| matches!(b, b'\t' | b' '..=b'~')).count();
        let rest = &after[held..];
        held <= RAW_HOLD_MAX
            && (rest.starts_with(&[BEL])
                || rest.starts_with(&[ESC, b'\\'])
                || rest.starts_with(&[0x9c])
                || rest.starts_with(&[0xc2, 0x9c]))
    }

    fn text(&mut self, length: usize) {
        let (start, end) = (self.at, self.at + length);
        match self.parsed.items.last_mut() {
            Some(Item::Text { end: last, .. }) => *last = end,
            _ => self.parsed.items.push(Item::Text { start, end }),
        }
        self.at = end;
    }

    fn control(&mut self, length: usize, code: char) {
        let (start, end) = (self.at, self.at + length);
        self.parsed.items.push(Item::Control { start, end, code: code.into() });
        self.at = end;
    }

    /// Takes `length` bytes as part of the sequence that is open or just begins. Only one can be.
    fn part(&mut self, length: usize) {
        let (start, end) = (self.at, self.at + length);
        let sequence = self.parsed.sequences.len();
        match self.parsed.items.last_mut() {
            Some(Item::SequencePart { end: last, sequence: s, .. }) if *s == sequence => {
                *last = end;
            }
            _ => self.parsed.items.push(Item::SequencePart { start, end, sequence }),
        }
        self.at = end;
    }

    fn escape(&mut self) {
        let mut open = Open { class: "escape", start: self.at, ..Open::default() };
        self.part(1);
        loop {
            match self.byte() {
                None => return self.end(open, Ending::Unterminated),
                Some(byte) if self.ends_or_skips(&mut open, byte) => {
                    if let Some(ending) = self.abort(byte) {
                        return self.end(open, ending);
                    }
                }
                Some(byte @ b' '..=b'/') => {
                    open.collect(byte, ESCAPE_BYTES_MAX);
                    self.part(1);
                }
                Some(byte) => {
                    self.part(1);
                    let class = class_of_c1(u32::from(byte) + 0x40);
                    match (open.intermediates.is_empty(), class, byte) {
                        (true, Some("csi"), _) => return self.csi(open),
                        (true, Some(class), _) => {
                            open.class = class;
                            return self.string(open);
                        }
                        (true, None, b'k') => {
                            open.class = "title";
                            open.one_line = true;
                            return self.string(open);
                        }
                        _ => {
                            open.last = Some(byte);
                            return self.end(open, Ending::Complete);
                        }
                    }
                }
            }
        }
    }

    fn csi_after(&mut self, length: usize) {
        let open = Open { start: self.at, ..Open::default() };
        self.part(length);
        self.csi(open);
    }

    fn csi(&mut self, mut open: Open) {
        open.class = "csi";
        loop {
            match self.byte() {
                None => return self.end(open, Ending::Unterminated),
                Some(byte) if self.ends_or_skips(&mut open, byte) => {
                    if let Some(ending) = self.abort(byte) {
                        return self.end(open, ending);
                    }
                }
                Some(byte @ b' '..=b'?') => {
                    open.malformed |= byte >= b'0' && open.intermediate_seen;
                    open.intermediate_seen |= byte < b'0';
                    open.collect(byte, CSI_BYTES_MAX);
                    self.part(1);
                }
                Some(byte) => {
                    open.last = Some(byte);
                    self.part(1);
                    return self.end(open, Ending::Complete);
                }
            }
        }
    }

    /// Whether a byte inside an escape or a CSI is neither parameter, intermediate nor final.
    fn ends_or_skips(&self, open: &mut Open, byte: u8) -> bool {
        let foreign = !matches!(byte, b' '..=b'~');
        let aborts = matches!(byte, CAN | SUB | ESC | b'\n' | b'\r' | 0x80..);
        open.malformed |= foreign && !aborts;
        foreign
    }

    /// Takes such a byte, unless it is to be read again in ground. The ending if it ends.
    fn abort(&mut self, byte: u8) -> Option<Ending> {
        match byte {
            CAN | SUB => self.part(1),
            ESC | b'\n' | b'\r' | 0x80.. => {}
            0 | 0x7f => {
                self.part(1);
                return None;
            }
            b'\t' => {
                self.text(1);
                return None;
            }
            _ => {
                self.control(1, char::from(byte));
                return None;
            }
        }
        Some(Ending::Aborted)
    }

    fn string_after(&mut self, length: usize, class: &'static str, one_line: bool) {
        let open = Open { class, one_line, start: self.at, ..Open::default() };
        self.part(length);
        self.string(open);
    }

    fn string(&mut self, mut open: Open) {
        while self.at < self.input.len() {
            let here = &self.input[self.at..];
            let length = match decode(here) {
                Decoded::Char('\x07', _) => {
                    open.bel = true;
                    self.part(1);
                    return self.end(open, Ending::Complete);
                }
                Decoded::Char('\x18' | '\x1a', _) => {
                    self.part(1);
                    return self.end(open, Ending::Aborted);
                }
                Decoded::Char('\x1b', _) => match here.get(1) {
                    Some(b'\\') => {
                        self.part(2);
                        return self.end(open, Ending::Complete);
                    }
                    Some(_) => {
                        open.by_escape = true;
                        return self.end(open, Ending::Aborted);
                    }
                    None => {
                        self.part(1);
                        return self.end(open, Ending::Unterminated);
                    }
                },
                Decoded::Char('\n' | '\r', _)
                    if open.one_line || open.payload.len() >= STRING_BYTES_MAX =>
                {
                    open.overlong |= open.payload.len() >= STRING_BYTES_MAX;
                    return self.end(open, Ending::Aborted);
                }
                Decoded::Char('\u{9c}', length) => {
                    self.part(length);
                    return self.end(open, Ending::Complete);
                }
                Decoded::IllFormed(1) if here[0] == 0x9c => {
                    self.part(1);
                    return self.end(open, Ending::Complete);
                }
                Decoded::Char(_, length) | Decoded::IllFormed(length) => length,
            };
            open.payload.extend(&here[..length]);
            open.overlong |= open.payload.len() > STRING_BYTES_MAX;
            self.part(length);
        }
        self.end(open, Ending::Unterminated);
    }

    /// Closes the open sequence at this place. Where two endings apply, the later word of
    /// complete, aborted, overlong, unterminated names it.
    fn end(&mut self, open: Open, ending: Ending) {
        let (kind, severity) = kinds::classify(&open);
        let ending = match (ending, open.overlong) {
            (Ending::Unterminated, _) => "unterminated",
            (_, true) => "overlong",
            (Ending::Aborted, false) => "aborted",
            (Ending::Complete, false) => "complete",
        };
        let lines = open.payload.iter().filter(|&&b| b == b'\n').count();
        self.parsed.sequences.push(Sequence {
            class: open.class,
            ending,
            malformed: open.malformed,
            start: open.start,
            end: self.at,
            payload: open.payload.len() as u64,
            payload_lines: lines as u64,
            bel: open.bel,
            kind,
            severity,
        });
    }
}

/// The class that a C1 introduces; for the 7-bit form add 40 (hex) to the byte after ESC.
fn class_of_c1(code: u32) -> Option<&'static str> {
    Some(match code {
        0x90 => "dcs",
        0x98 => "sos",
        0x9b => "csi",
        0x9d => "osc",
        0x9e => "pm",
        0x9f => "apc",
        _ => return None,
    })
}

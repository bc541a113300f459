//! The machine that walks the rows.

use crate::event::{Class, Ending, Event, Receiver, Sequence};
use crate::kind::{self, Prefix};
use crate::rows::{Action, Rule, State, TABLE};
use crate::run::{ByteByByte, Scanner, char_len, text_prefix};

/// Parameter and intermediate bytes of one CSI, beyond which it is overlong. Real sequences need a
/// few dozen (32 parameters of a colour); terminals keep between 16 parameters and 1 KiB.
pub const CSI_BYTES_MAX: usize = 256;

/// Intermediate bytes of one escape sequence, beyond which it is overlong. The standards in use
/// have at most three.
pub const ESCAPE_BYTES_MAX: usize = 16;

/// Payload bytes of one control string, from which on the next line end ends it, and beyond which
/// it is overlong. Titles, links and clipboard writes of real programs are shorter; what is longer
/// (an inline image) stands on one line.
pub const STRING_BYTES_MAX: u64 = 4096;

/// Bytes held back after a raw C1 introducer of a string while its terminator is looked for.
pub const RAW_HOLD_MAX: usize = 256;

/// An introducer or ESC, what is held after it, and a first byte of ST.
const HELD_MAX: usize = RAW_HOLD_MAX + 1;

/// The parser: bytes in, [events](Event) out, in one pass and with a state of fixed size.
///
/// The same bytes give the same events in any chunks, but for the places where [`Event::Text`] and
/// [`Event::Part`] are cut.
///
/// ```
/// use noesc_grammar::{Event, Parser};
///
/// let mut text = String::new();
/// let mut parser = Parser::new();
/// let mut receiver = |_at: u64, event: Event<'_>| {
///     if let Event::Text(s) = event {
///         text.push_str(s);
///     }
/// };
/// parser.push(b"a\x1b[3", &mut receiver);
/// parser.push(b"1mb", &mut receiver);
/// parser.finish(&mut receiver);
/// assert_eq!(text, "ab");
/// ```
#[derive(Clone, Debug)]
pub struct Parser {
    state: State,
    /// Offset of the byte in hand.
    at: u64,
    /// Offset up to which events were given.
    given: u64,
    /// A cut character, a tentative string, or what an open sequence collected: never two at once.
    held: [u8; HELD_MAX],
    held_len: usize,
    open: Open,
    /// An escape or CSI was aborted by a line end; no other byte than controls came since.
    split_from: Option<u64>,
}

/// The open sequence.
#[derive(Clone, Copy, Debug)]
struct Open {
    class: Class,
    start: u64,
    /// Bytes of the sequence already given as parts.
    bytes: u64,
    malformed: bool,
    overlong: bool,
    /// Opened by an encoded C1: a line end ends it.
    encoded: bool,
    /// An ESC that begins another sequence ended it.
    nested: bool,
    payload: u64,
    lines: u64,
    prefix: Prefix,
}

const CLOSED: Open = Open {
    class: Class::Escape,
    start: 0,
    bytes: 0,
    malformed: false,
    overlong: false,
    encoded: false,
    nested: false,
    payload: 0,
    lines: 0,
    prefix: Prefix::EMPTY,
};

// P7: the state has a fixed size.
const _: () = assert!(size_of::<Parser>() <= 512);

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the beginning of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Ground,
            at: 0,
            given: 0,
            held: [0; HELD_MAX],
            held_len: 0,
            open: CLOSED,
            split_from: None,
        }
    }

    /// Offset of the next byte: the number of bytes pushed so far.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Nothing is open or held, and nothing that came before bears on the next byte.
    #[must_use]
    pub const fn is_between(&self) -> bool {
        matches!(self.state, State::Ground) && self.split_from.is_none()
    }

    /// Passes over so many bytes that the caller read: text, complete sequences and single
    /// controls. To be called [between](Self::is_between) two of them; else they are counted, and
    /// what is open goes on.
    pub const fn pass_over(&mut self, len: usize) {
        self.at += len as u64;
        if self.is_between() {
            self.given = self.at;
        }
    }

    /// Reads a chunk. Linear in its length.
    pub fn push(&mut self, bytes: &[u8], to: &mut impl Receiver) {
        self.push_by(&ByteByByte, bytes, to);
    }

    /// The same, with a scanner that finds how far payload and parameters go.
    pub fn push_by(&mut self, scanner: &impl Scanner, bytes: &[u8], to: &mut impl Receiver) {
        self.read(scanner, bytes, usize::MAX, to);
    }

    /// The same with no more of a chunk than `enough` bytes and what is open then, to its end.
    /// Gives how many bytes it read: all of them unless it stands [between](Self::is_between) two
    /// sequences.
    ///
    /// ```
    /// use noesc_grammar::{Event, Parser, Scanner};
    /// # struct Slow;
    /// # impl Scanner for Slow {
    /// #     fn payload_len(&self, _: &[u8]) -> usize { 0 }
    /// #     fn range_len(&self, _: &[u8], _: u8, _: u8) -> usize { 0 }
    /// # }
    ///
    /// let mut parser = Parser::new();
    /// let mut ignore = |_: u64, _: Event<'_>| {};
    /// assert_eq!(parser.push_some(&Slow, b"a\x1b[31mbc", 2, &mut ignore), 6);
    /// ```
    pub fn push_some(
        &mut self,
        scanner: &impl Scanner,
        bytes: &[u8],
        enough: usize,
        to: &mut impl Receiver,
    ) -> usize {
        self.read(scanner, bytes, enough, to)
    }

    fn read(
        &mut self,
        scanner: &impl Scanner,
        bytes: &[u8],
        enough: usize,
        to: &mut impl Receiver,
    ) -> usize {
        let mut i = 0;
        while i < bytes.len() {
            if self.state == State::Ground {
                if self.split_from.is_some() {
                    self.look_for_introducer(bytes[i], to);
                }
                if i >= enough && self.split_from.is_none() {
                    break;
                }
                // One byte at a time while a split introducer is looked for.
                let most = if self.split_from.is_some() { i + 1 } else { enough };
                let end = most.min(bytes.len());
                let text = text_prefix(&bytes[i..end]);
                if !text.is_empty() {
                    self.given += text.len() as u64;
                    to.event(self.at, Event::Text(text));
                    self.at = self.given;
                    i += text.len();
                    continue;
                }
            } else {
                let n = self.pass(scanner, &bytes[i..]);
                if n > 0 {
                    i += n;
                    continue;
                }
            }
            let rule = TABLE[self.state as usize][bytes[i] as usize];
            self.state = rule.next;
            if self.act(rule, bytes[i], to) {
                self.at += 1;
                i += 1;
            }
        }
        self.flush(to);
        i
    }

    /// Ends the stream: what is open is unterminated. The parser can be used again; offsets go on.
    pub fn finish(&mut self, to: &mut impl Receiver) {
        match self.state {
            State::Ground => {}
            State::Raw => self.held_is_text(to),
            State::RawEsc => {
                self.held_is_text(to);
                self.begin(Class::Escape);
                self.end(Ending::Unterminated, 0, false, to);
            }
            State::RawC2 => {
                self.held_is_text(to);
                self.ill_formed(1, to);
            }
            State::Tail1
            | State::Tail2
            | State::Tail3
            | State::TailC2
            | State::TailE0
            | State::TailEd
            | State::TailF0
            | State::TailF4 => self.ill_formed(self.held_len as u8, to),
            State::StrC2 => {
                self.payload(0xC2);
                self.end(Ending::Unterminated, 0, false, to);
            }
            _ => self.end(Ending::Unterminated, 0, false, to),
        }
        self.state = State::Ground;
        self.held_len = 0;
        self.split_from = None;
    }

    /// Does what a rule says. False: the byte is to be read again.
    fn act(&mut self, rule: Rule, byte: u8, to: &mut impl Receiver) -> bool {
        match rule.action {
            Action::Text => self.text_byte(byte, to),
            Action::Control => self.control(byte, 1, to),
            Action::IllFormed => self.ill_formed(1, to),
            Action::Lead => {
                self.held_len = 0;
                self.hold(byte);
            }
            Action::Tail | Action::Held => {
                if rule.action == Action::Held && self.held_len > RAW_HOLD_MAX {
                    self.state = State::Ground;
                    self.held_is_text(to);
                    return false;
                }
                self.hold(byte);
            }
            Action::Char => self.char(byte, to),
            Action::C1 => self.control(byte, 2, to),
            Action::CutAgain => {
                self.ill_formed(self.held_len as u8, to);
                return false;
            }
            Action::Hold => {
                self.held_len = 0;
                self.hold(byte);
            }
            Action::Perhaps | Action::Again => return rule.action == Action::Perhaps,
            Action::HeldClose => self.held_is_string(byte, to),
            Action::HeldAgain => {
                self.held_is_text(to);
                return false;
            }
            Action::HeldEscAgain => {
                self.held_is_text(to);
                self.begin(Class::Escape);
                return false;
            }
            Action::HeldC2Again => {
                self.held_is_text(to);
                self.hold(0xC2);
                return false;
            }
            _ => return self.act_in_sequence(rule, byte, to),
        }
        true
    }

    /// The actions that begin, continue and end a sequence.
    fn act_in_sequence(&mut self, rule: Rule, byte: u8, to: &mut impl Receiver) -> bool {
        match rule.action {
            Action::Open => self.begin(if byte == 0x1B { Class::Escape } else { Class::Csi }),
            Action::C1Open => {
                self.begin(class_of_c1(byte));
                self.open.encoded = true;
            }
            Action::Introduce => self.open.class = class_of_c1(byte.wrapping_add(0x40)),
            Action::Skip => self.open.malformed = true,
            Action::Act => {
                self.open.malformed = true;
                self.cover(self.at, to);
                match byte {
                    0x09 => self.text_byte(byte, to),
                    _ => self.control(byte, 1, to),
                }
            }
            Action::Collect => self.collect(byte),
            Action::Late => {
                self.open.malformed = true;
                self.collect(byte);
            }
            Action::Final => self.end_here(Ending::Complete, byte, to),
            Action::Abort => self.end_here(Ending::Aborted, 0, to),
            Action::AbortAgain | Action::LineAgain => {
                self.end(Ending::Aborted, 0, false, to);
                if rule.action == Action::LineAgain {
                    self.split_from = Some(self.open.start);
                }
                return false;
            }
            Action::Payload => self.payload(byte),
            Action::Line => return self.line(byte, to),
            Action::Close => self.end_here(Ending::Complete, byte, to),
            Action::Both => {
                self.payload(0xC2);
                self.payload(byte);
            }
            Action::C2Again => {
                self.payload(0xC2);
                return false;
            }
            Action::EscAgain => {
                self.at -= 1;
                self.open.nested = true;
                self.end(Ending::Aborted, 0, false, to);
                self.begin(Class::Escape);
                self.at += 1;
                return false;
            }
            _ => {}
        }
        true
    }

    /// LF or CR in a control string. False: it ended the string and is read again.
    fn line(&mut self, byte: u8, to: &mut impl Receiver) -> bool {
        let ends = self.open.payload >= STRING_BYTES_MAX
            || self.open.encoded
            || self.open.class == Class::Title;
        if !ends {
            self.payload(byte);
            return true;
        }
        if self.open.payload >= STRING_BYTES_MAX {
            self.open.overlong = true;
        }
        self.state = State::Ground;
        self.end(Ending::Aborted, 0, false, to);
        false
    }

    /// Takes the bytes at the head of a chunk that go on with the open sequence and need no rule of
    /// their own. Returns how many.
    fn pass(&mut self, scanner: &impl Scanner, bytes: &[u8]) -> usize {
        let n = match self.state {
            State::Str => {
                let mut n = scanner.payload_len(bytes);
                // A whole character: none of its bytes is a control. C2 may begin an encoded ST.
                n += if n == 0 && bytes[0] > 0xC2 { char_len(bytes) } else { 0 };
                let payload = &bytes[..n];
                self.open.prefix.extend(payload);
                self.open.payload += n as u64;
                self.open.overlong |= self.open.payload > STRING_BYTES_MAX;
                n
            }
            State::Csi => self.pass_collected(scanner.range_len(bytes, 0x30, 0x3F), bytes),
            State::CsiInter => self.pass_collected(scanner.range_len(bytes, 0x20, 0x2F), bytes),
            _ => 0,
        };
        self.at += n as u64;
        n
    }

    fn pass_collected(&mut self, n: usize, bytes: &[u8]) -> usize {
        let kept = n.min(CSI_BYTES_MAX.saturating_sub(self.held_len));
        self.held[self.held_len..self.held_len + kept].copy_from_slice(&bytes[..kept]);
        self.held_len += kept;
        self.open.overlong |= kept < n;
        n
    }

    fn payload(&mut self, byte: u8) {
        self.open.payload += 1;
        self.open.lines += u64::from(byte == b'\n');
        self.open.overlong |= self.open.payload > STRING_BYTES_MAX;
        self.open.prefix.push(byte);
    }

    fn collect(&mut self, byte: u8) {
        let max = if self.open.class == Class::Csi { CSI_BYTES_MAX } else { ESCAPE_BYTES_MAX };
        if self.held_len < max {
            self.hold(byte);
        } else {
            self.open.overlong = true;
        }
    }

    fn hold(&mut self, byte: u8) {
        self.held[self.held_len] = byte;
        self.held_len += 1;
    }

    /// A sequence begins at the first byte not yet given.
    fn begin(&mut self, class: Class) {
        self.open = Open { class, start: self.given, ..CLOSED };
        self.held_len = 0;
        self.split_from = None;
    }

    /// Gives the bytes of the open sequence before offset `to_offset` as a part.
    fn cover(&mut self, to_offset: u64, to: &mut impl Receiver) {
        let len = to_offset - self.given;
        if len > 0 {
            let at = self.given;
            self.given = to_offset;
            self.open.bytes += len;
            to.event(at, Event::Part { len });
        }
    }

    /// At the end of a chunk: gives what is decided of an open sequence.
    fn flush(&mut self, to: &mut impl Receiver) {
        match self.state {
            State::Escape | State::EscapeInter | State::Csi | State::CsiInter => {
                self.cover(self.at, to);
            }
            // The ESC may begin a sequence of its own.
            State::StrEsc => self.cover(self.at - 1, to),
            state if (State::Str as u8..=State::StrF4 as u8).contains(&(state as u8)) => {
                self.cover(self.at, to);
            }
            _ => {}
        }
    }

    /// Ends the open sequence with the byte in hand as its last.
    fn end_here(&mut self, ending: Ending, last: u8, to: &mut impl Receiver) {
        let bel = self.open.class.is_string() && last == 0x07;
        let final_byte = if self.open.class.is_string() { 0 } else { last };
        self.at += 1;
        self.end(ending, final_byte, bel, to);
        self.at -= 1;
    }

    /// Ends the open sequence before the byte in hand.
    fn end(&mut self, ending: Ending, final_byte: u8, bel: bool, to: &mut impl Receiver) {
        self.cover(self.at, to);
        let open = &self.open;
        let overlong = open.overlong && ending < Ending::Overlong;
        let ending = if overlong { Ending::Overlong } else { ending };
        let collected = if open.class.is_string() { &[] } else { &self.held[..self.held_len] };
        let (kind, severity) = match open.class {
            Class::Csi => kind::of_csi(collected, final_byte),
            Class::Escape => kind::of_escape(collected, final_byte),
            // GNU screen's passthrough: the body is a sequence, so the string ends at once.
            Class::Dcs if open.payload == 0 && open.nested => kind::PASSTHROUGH,
            class => kind::of_string(class, &open.prefix),
        };
        let sequence = Sequence {
            class: open.class,
            ending,
            kind,
            severity,
            malformed: open.malformed,
            start: open.start,
            end: self.given,
            bytes: open.bytes,
            payload: open.payload,
            payload_lines: open.lines,
            bel,
            encoded: open.encoded,
            collected,
            final_byte,
        };
        to.event(self.given, Event::End(sequence));
        self.held_len = 0;
    }

    fn text_byte(&mut self, byte: u8, to: &mut impl Receiver) {
        let at = self.given;
        self.given = self.at + 1;
        to.event(at, Event::Text(ascii(&[byte])));
    }

    fn control(&mut self, code: u8, len: u8, to: &mut impl Receiver) {
        let at = self.given;
        self.given = self.at + 1;
        to.event(at, Event::Control { code, len });
    }

    fn ill_formed(&mut self, len: u8, to: &mut impl Receiver) {
        let at = self.given;
        self.given += u64::from(len);
        to.event(at, Event::IllFormed { len });
    }

    /// The held bytes and this one are a character that a chunk border had cut, or that the
    /// replaceable scan left to the rows.
    fn char(&mut self, byte: u8, to: &mut impl Receiver) {
        self.hold(byte);
        let at = self.given;
        self.given = self.at + 1;
        let text = core::str::from_utf8(&self.held[..self.held_len]).unwrap_or("\u{FFFD}");
        to.event(at, Event::Text(text));
        self.held_len = 0;
    }

    /// The tentative string was none: its introducer is ill-formed, the rest is text.
    fn held_is_text(&mut self, to: &mut impl Receiver) {
        self.ill_formed(1, to);
        if self.held_len > 1 {
            let at = self.given;
            self.given += self.held_len as u64 - 1;
            to.event(at, Event::Text(ascii(&self.held[1..self.held_len])));
        }
        self.held_len = 0;
    }

    /// The tentative string was one, and the byte in hand ends it.
    fn held_is_string(&mut self, last: u8, to: &mut impl Receiver) {
        let held_len = self.held_len;
        self.begin(class_of_c1(self.held[0]));
        for i in 1..held_len {
            self.payload(self.held[i]);
        }
        self.end_here(Ending::Complete, last, to);
    }

    /// A line end aborted an escape or CSI; a terminal would have stayed in it, so the next
    /// character on the line counts. Controls that it would merely execute are passed over.
    fn look_for_introducer(&mut self, byte: u8, to: &mut impl Receiver) {
        match byte {
            0x18 | 0x1A | 0x1B => self.split_from = None,
            0x00..=0x1F | 0x7F => {}
            _ => {
                let from = self.split_from.take();
                if let (Some(from), b'[' | b']' | b'P' | b'X' | b'^' | b'_' | b'k') = (from, byte) {
                    to.event(self.at, Event::SplitIntroducer { from });
                }
            }
        }
    }
}

/// Bytes that the rows found to be ASCII, as text.
fn ascii(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// The class that a C1 code begins, or `ESC` with the byte 0x40 lower; `k` comes as 0xAB.
const fn class_of_c1(code: u8) -> Class {
    match code {
        0x90 => Class::Dcs,
        0x98 => Class::Sos,
        0x9B => Class::Csi,
        0x9D => Class::Osc,
        0x9E => Class::Pm,
        0x9F => Class::Apc,
        _ => Class::Title,
    }
}

//! The bytes of the open sequence, as far as an explanation needs them.

use noesc_grammar::{Ending, Sequence};

use crate::item::Form;

/// Bytes of one payload that are kept: all of those that are within the grammar's limit.
pub const PAYLOAD_BYTES_MAX: usize = noesc_grammar::STRING_BYTES_MAX as usize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    First,
    AfterEsc,
    AfterC2,
    Inside,
}

/// Reads the bytes of a sequence one after another; in any chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    state: State,
    raw: bool,
    introducer: u64,
    /// The beginning of what follows the introducer; a terminator may be at its end.
    head: Vec<u8>,
    /// The last two bytes of the sequence.
    last: [u8; 2],
}

impl Payload {
    pub(crate) fn clear(&mut self) {
        let mut head = std::mem::take(&mut self.head);
        head.clear();
        *self = Self { head, ..Self::default() };
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        match bytes {
            [.., before, last] => self.last = [*before, *last],
            [last] => self.last = [self.last[1], *last],
            [] => {}
        }
        while let (Some((&byte, rest)), true) = (bytes.split_first(), self.state != State::Inside) {
            self.introducer += 1;
            self.state = match (self.state, byte) {
                (State::First, 0x1B) => State::AfterEsc,
                (State::First, 0xC2) => State::AfterC2,
                // The grammar skips them between ESC and the introducer.
                (State::AfterEsc, 0x00 | 0x7F) => State::AfterEsc,
                (state, _) => {
                    self.raw = state == State::First;
                    State::Inside
                }
            };
            bytes = rest;
        }
        let room = PAYLOAD_BYTES_MAX.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The beginning of the payload of a sequence that ended.
    pub(crate) fn head(&self, sequence: &Sequence<'_>) -> &[u8] {
        let len = usize::try_from(sequence.payload).unwrap_or(usize::MAX);
        &self.head[..self.head.len().min(len)]
    }

    pub(crate) fn form(&self, sequence: &Sequence<'_>) -> Form {
        match (sequence.encoded, self.raw) {
            (true, _) => Form::EncodedC1,
            (false, true) => Form::RawC1,
            (false, false) => Form::SevenBit,
        }
    }

    pub(crate) fn ended_by(&self, sequence: &Sequence<'_>) -> Option<&'static str> {
        // Zero where a line end or an ESC ended it, which are no bytes of it.
        let terminator = sequence.bytes.saturating_sub(self.introducer + sequence.payload);
        match (sequence.ending, self.last[1]) {
            (Ending::Unterminated, _) => None,
            (_, 0x07) if sequence.bel => Some("BEL"),
            (_, 0x18) if terminator > 0 => Some("CAN"),
            (_, 0x1A) if terminator > 0 => Some("SUB"),
            (_, b'\\' | 0x9C) if sequence.class.is_string() && terminator > 0 => Some("ST"),
            _ => None,
        }
    }
}

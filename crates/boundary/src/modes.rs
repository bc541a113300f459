//! Modes that a stream sets and does not reset: the next program, or the shell, inherits them.

use noesc_grammar::{Class, Ending, Sequence};

/// The private modes whose leftovers matter: the alternate screen, the mouse, bracketed paste.
const TRACKED: [u16; 22] = [
    47, 1047, 1049, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,
    1012, 1013, 1014, 1015, 1016, 2004,
];

/// Where each tracked mode was set last, if it still is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    set: [Option<(u64, u64)>; TRACKED.len()],
}

impl Modes {
    /// A sequence ended. One that is malformed may set a mode (terminals execute most of them) but
    /// resets none; nor does one with a colon, on which they differ.
    pub(crate) fn sequence(&mut self, sequence: &Sequence<'_>) {
        if sequence.ending != Ending::Complete {
            return;
        }
        match (sequence.class, sequence.collected, sequence.final_byte) {
            (Class::Escape, b"", b'c') if !sequence.malformed => *self = Self::default(), // RIS
            (Class::Csi, [b'?', modes @ ..], b'h') => {
                let span = (sequence.start, sequence.end - sequence.start);
                self.each(modes, Some(span));
            }
            (Class::Csi, [b'?', modes @ ..], b'l')
                if !sequence.malformed && !modes.contains(&b':') =>
            {
                self.each(modes, None);
            }
            _ => {}
        }
    }

    fn each(&mut self, modes: &[u8], to: Option<(u64, u64)>) {
        for mode in modes.split(|&b| b == b';' || b == b':') {
            // A number ends at what is no digit, as where the kind is named.
            let end = mode.iter().position(|b| !b.is_ascii_digit()).unwrap_or(mode.len());
            let digits = str::from_utf8(&mode[..end]).unwrap_or_default();
            let Ok(number) = digits.parse::<u16>() else { continue };
            if let Some(at) = TRACKED.iter().position(|&tracked| tracked == number) {
                self.set[at] = to;
            }
        }
    }

    /// Where the modes were set that still are, in the order of the stream.
    pub(crate) fn left_on(&self) -> Vec<(u64, u64)> {
        let mut spans: Vec<_> = self.set.iter().flatten().copied().collect();
        spans.sort_unstable();
        spans
    }
}

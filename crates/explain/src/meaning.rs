//! The name and the meaning of one sequence.

use std::borrow::Cow;

use noesc_grammar::{Class, Sequence};

use crate::{csi, escape, osc, strings};

/// The name of what no table names.
pub(crate) const UNKNOWN: &str = "unknown";

/// What a sequence or a control is called and what it does.
///
/// Inert: printable ASCII. Nothing of a payload is in it but numbers, single letters from a closed
/// list (the selection of OSC 52) and words from the tables themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meaning {
    /// The standard mnemonic (`CUU`, `SGR`, `DECSET`), or what stands for one (`OSC 52`).
    pub name: Cow<'static, str>,
    /// What it asks of a terminal, in words: `move the cursor up 1 line`.
    pub words: Cow<'static, str>,
}

impl Meaning {
    pub(crate) fn new(
        name: impl Into<Cow<'static, str>>,
        words: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { name: name.into(), words: words.into() }
    }

    pub(crate) fn unknown(words: &'static str) -> Self {
        Self::new(UNKNOWN, words)
    }

    /// Whether a table names it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.name != UNKNOWN
    }
}

/// Names a sequence and says what it asks of a terminal.
///
/// `payload_head` is the beginning of the payload of a control string, as much of it as there is
/// at hand; 64 bytes are enough for every table. It is not read for a CSI or an escape. What a
/// sequence *would* do is said whatever its ending is: see [`Sequence::ending`].
///
/// Sources: ECMA-48, DEC STD 070, xterm's list of control sequences, and the documents of the
/// terminals whose names stand in the words.
///
/// ```
/// use noesc_grammar::{Event, Parser};
///
/// let mut meanings = Vec::new();
/// let mut receiver = |_at: u64, event: Event<'_>| {
///     if let Event::End(sequence) = event {
///         meanings.push(noesc_explain::describe(&sequence, b"52;c;aGk="));
///     }
/// };
/// let mut parser = Parser::new();
/// parser.push(b"\x1b[1;31m\x1b[A\x1b]52;c;aGk=\x07", &mut receiver);
/// parser.finish(&mut receiver);
/// let said: Vec<_> = meanings.iter().map(|m| format!("{}: {}", m.name, m.words)).collect();
/// assert_eq!(said, [
///     "SGR: bold, foreground red",
///     "CUU: move the cursor up 1 line",
///     "OSC 52: write the clipboard (c)",
/// ]);
/// ```
#[must_use]
pub fn describe(sequence: &Sequence<'_>, payload_head: &[u8]) -> Meaning {
    match sequence.class {
        Class::Csi => csi::describe(sequence.collected, sequence.final_byte),
        Class::Escape => escape::describe(sequence.collected, sequence.final_byte),
        Class::Osc => osc::describe(sequence.kind, payload_head),
        Class::Dcs => strings::dcs(sequence.kind, sequence.payload, payload_head),
        Class::Apc => strings::apc(payload_head),
        Class::Title => Meaning::new("title", "set the window title (screen, tmux)"),
        Class::Pm => Meaning::new("PM", "privacy message: ignored by most, printed by some"),
        Class::Sos => Meaning::new("SOS", "start of string: ignored by most, printed by some"),
    }
}

/// The short form in which people write a sequence: `CSI ?25 h`, `OSC 52`, `ESC ( 0`.
///
/// Printable ASCII. Of a payload only a leading number and, for DCS, a word from the tables or the
/// intermediates and the final byte are in it.
pub(crate) fn notation(sequence: &Sequence<'_>, payload_head: &[u8]) -> String {
    let mut text = String::from(match sequence.class {
        Class::Csi => "CSI",
        Class::Osc => "OSC",
        Class::Dcs => "DCS",
        Class::Sos => "SOS",
        Class::Pm => "PM",
        Class::Apc => "APC",
        Class::Title => "ESC k",
        Class::Escape => "ESC",
    });
    match sequence.class {
        Class::Csi | Class::Escape => {
            spell(&mut text, sequence.collected);
            if sequence.final_byte != 0 {
                spell(&mut text, &[sequence.final_byte]);
            }
        }
        Class::Osc => {
            if let Some(number) = osc::number(payload_head) {
                text.push_str(&format!(" {number}"));
            }
        }
        Class::Dcs => {
            if let Some(head) = strings::keyword(payload_head) {
                text.push(' ');
                text.push_str(head);
            } else if let Some(function) = strings::function(payload_head) {
                spell(&mut text, function);
            }
        }
        _ => {}
    }
    text
}

/// Appends bytes of 20-7E, a space as `SP`, with a space before parameters and before the rest.
fn spell(text: &mut String, bytes: &[u8]) {
    let mut parameters = false;
    for &byte in bytes {
        let parameter = matches!(byte, 0x30..=0x3F);
        if !(parameter && parameters) {
            text.push(' ');
        }
        match byte {
            b' ' => text.push_str("SP"),
            0x21..=0x7E => text.push(char::from(byte)),
            _ => text.push('?'),
        }
        parameters = parameter;
    }
}

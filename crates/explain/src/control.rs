//! Single controls by name.
//!
//! tidy: rule table

use noesc_grammar::Kind;

use crate::meaning::Meaning;

/// C0 controls and their words, by code.
#[rustfmt::skip]
const C0: [(&str, &str); 32] = [
    ("NUL", "nothing (padding)"),
    ("SOH", "start of heading"),
    ("STX", "start of text"),
    ("ETX", "end of text (typed: Ctrl-C)"),
    ("EOT", "end of transmission (typed: Ctrl-D)"),
    ("ENQ", "ask the terminal for its answerback"),
    ("ACK", "acknowledge"),
    ("BEL", "ring the bell"),
    ("BS", "move the cursor left 1 column: what follows is written over it"),
    ("HT", "move to the next tab stop"),
    ("LF", "line feed"),
    ("VT", "move down 1 line, in the same column"),
    ("FF", "form feed: moves down 1 line, or clears"),
    ("CR", "back to the start of the line: what follows is written over it"),
    ("SO", "shift to set G1"),
    ("SI", "shift to set G0"),
    ("DLE", "data link escape"),
    ("DC1", "resume output (XON)"),
    ("DC2", "device control 2"),
    ("DC3", "stop output (XOFF)"),
    ("DC4", "device control 4"),
    ("NAK", "negative acknowledge"),
    ("SYN", "synchronous idle"),
    ("ETB", "end of transmission block"),
    ("CAN", "abort a sequence, with none open"),
    ("EM", "end of medium"),
    ("SUB", "abort a sequence, with none open; may show an error sign"),
    ("ESC", "escape"),
    ("FS", "file separator"),
    ("GS", "group separator"),
    ("RS", "record separator"),
    ("US", "unit separator"),
];

/// C1 controls, by code less 80.
#[rustfmt::skip]
const C1: [(&str, &str); 32] = [
    ("PAD", "padding"),
    ("HOP", "high octet preset"),
    ("BPH", "a line may break here"),
    ("NBH", "a line may not break here"),
    ("IND", "move the cursor down 1 line, scrolling at the bottom"),
    ("NEL", "move the cursor to the start of the next line"),
    ("SSA", "selected area begins"),
    ("ESA", "selected area ends"),
    ("HTS", "set a tab stop in this column"),
    ("HTJ", "tabulation with justification"),
    ("VTS", "set a line tab stop"),
    ("PLD", "move down half a line"),
    ("PLU", "move up half a line"),
    ("RI", "move the cursor up 1 line, scrolling at the top"),
    ("SS2", "take the next character from set G2"),
    ("SS3", "take the next character from set G3"),
    ("DCS", "device control string begins"),
    ("PU1", "private use 1"),
    ("PU2", "private use 2"),
    ("STS", "set transmit state"),
    ("CCH", "cancel the character before"),
    ("MW", "message waiting"),
    ("SPA", "guarded area begins"),
    ("EPA", "guarded area ends"),
    ("SOS", "start of string"),
    ("SGC", "single graphic character introducer"),
    ("SCI", "single character introducer"),
    ("CSI", "control sequence begins"),
    ("ST", "end of a control string, with none open"),
    ("OSC", "operating system command begins"),
    ("PM", "privacy message begins"),
    ("APC", "application program command begins"),
];

/// Names a single control: U+0000 to U+001F, U+007F, U+0080 to U+009F. Any other code is unknown.
///
/// ```
/// let bell = noesc_explain::describe_control(7);
/// assert_eq!((&*bell.name, &*bell.words), ("BEL", "ring the bell"));
/// assert!(!noesc_explain::describe_control(b'a').is_known());
/// ```
#[must_use]
pub fn describe_control(code: u8) -> Meaning {
    let row = match code {
        0..=0x1F => C0.get(usize::from(code)),
        0x80..=0x9F => C1.get(usize::from(code - 0x80)),
        0x7F => Some(&("DEL", "nothing (padding)")),
        _ => None,
    };
    match row {
        Some(&(name, words)) => Meaning::new(name, words),
        None => Meaning::unknown("no control"),
    }
}

/// The kind of a control that does what a sequence of that kind does.
pub(crate) const fn kind_of_control(code: u8) -> Option<Kind> {
    match code {
        0x05 | 0x9A => Some(Kind::ReportQuery), // ENQ, SCI (DECID)
        0x0E | 0x0F | 0x8E | 0x8F => Some(Kind::CharsetShift), // SO, SI, SS2, SS3
        0x84 | 0x85 | 0x88 | 0x8D => Some(Kind::Cursor), // IND, NEL, HTS, RI
        _ => None,
    }
}

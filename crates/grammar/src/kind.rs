//! What a sequence asks of a terminal: the closed table of kinds.
//!
//! tidy: rule table
//!
//! The sources are ECMA-48, DEC STD 070, xterm's list of control
//! sequences and the documents of the terminals that are named.

use crate::event::Class;
use crate::sgr::{Sgr, SgrParameters, value};

/// How much a finding matters to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a line in a report that is read anyway.
    Info,
    /// Changes what a screen shows; removed without harm.
    Low,
    /// Acts on the terminal or its user, or hides something.
    High,
    /// Text was kept from the reader, or smuggled to a machine.
    Critical,
}

impl Severity {
    /// The word of the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal)*) => {
        /// What a sequence asks of a terminal. A closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// All kinds, in the order of the report.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The word of the report.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// SGR: colours and attributes.
    Style "style"
    /// SGR with a standalone 8: text is written but not shown.
    Conceal "conceal"
    /// Moves the cursor, saves or restores it, sets tab stops.
    Cursor "cursor"
    /// Erases cells.
    Erase "erase"
    /// Moves what is on the screen.
    Scroll "scroll"
    /// REP: the last character again.
    Repeat "repeat"
    /// Fills, copies or changes a rectangle of the screen.
    Rectangle "rectangle"
    /// The other screen, with its saved cursor.
    AlternateScreen "alternate-screen"
    /// Any other mode.
    Mode "mode"
    /// How the keyboard reports keys.
    KeyboardProtocol "keyboard-protocol"
    /// Reports of the mouse.
    Mouse "mouse"
    /// Asks the terminal to type an answer.
    ReportQuery "report-query"
    /// Sets, saves or restores a window title.
    WindowTitle "window-title"
    /// Any other window operation.
    WindowOp "window-op"
    /// Writes a clipboard.
    ClipboardWrite "clipboard-write"
    /// Asks for a clipboard.
    ClipboardRead "clipboard-read"
    /// OSC 8.
    Hyperlink "hyperlink"
    /// Raises a notification.
    Notification "notification"
    /// Changes colours of the terminal itself.
    Palette "palette"
    /// Changes the font.
    Font "font"
    /// Sixel, kitty and iTerm2 images and files.
    Image "image"
    /// Marks that shells set and harnesses may trust.
    ShellIntegration "shell-integration"
    /// Says which folder is the current one.
    Cwd "cwd"
    /// Printing.
    MediaCopy "media-copy"
    /// Bytes for another terminal behind this one.
    Passthrough "passthrough"
    /// Keys, fonts and state of the device.
    Device "device"
    /// Other glyphs for the same bytes.
    CharsetShift "charset-shift"
    /// Resets the terminal.
    Reset "reset"
    /// Everything else.
    Other "other"
}

/// A kind with the severity of this sequence.
pub(crate) type Judged = (Kind, Option<Severity>);

/// GNU screen's DCS around a sequence.
pub(crate) const PASSTHROUGH: Judged = (Kind::Passthrough, Some(Severity::High));

impl Kind {
    /// The severity of the table; the boundary raises it where a second one stands there.
    #[must_use]
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Style | Self::Conceal => None,
            Self::Repeat
            | Self::Rectangle
            | Self::ReportQuery
            | Self::ClipboardWrite
            | Self::ClipboardRead
            | Self::Notification
            | Self::Font
            | Self::MediaCopy
            | Self::Passthrough
            | Self::Device => Some(Severity::High),
            _ => Some(Severity::Low),
        }
    }

    const fn judged(self) -> Judged {
        (self, self.severity())
    }
}

/// The kind of a CSI, by what it collected and its final byte (0 if it has none).
pub(crate) fn of_csi(collected: &[u8], final_byte: u8) -> Judged {
    let private = collected.first().copied().filter(|b| (0x3C..=0x3F).contains(b)).unwrap_or(0);
    let start = usize::from(private != 0);
    let end = collected.iter().position(|b| (0x20..=0x2F).contains(b)).unwrap_or(collected.len());
    let parameters = collected.get(start..end).unwrap_or_default();
    // A parameter after an intermediate makes the sequence malformed; some terminals execute it all
    // the same, so it is named without.
    let mut intermediates = [0; 3];
    let mut count = 0;
    for &byte in collected[end..].iter().filter(|b| (0x20..=0x2F).contains(*b)).take(3) {
        intermediates[count] = byte;
        count += 1;
    }
    csi(private, parameters, &intermediates[..count], final_byte).judged()
}

fn csi(private: u8, parameters: &[u8], intermediates: &[u8], final_byte: u8) -> Kind {
    let first = value(parameters.split(|&b| b == b';' || b == b':').next().unwrap_or_default());
    match (private, intermediates, final_byte) {
        (0, b"", b'm') => sgr(parameters),
        (0, b"", b'A'..=b'I' | b'Z' | b'`' | b'a' | b'd'..=b'g') => Kind::Cursor,
        (0, b"", b's') if parameters.is_empty() => Kind::Cursor, // SCOSC
        (0, b"", b'u') => Kind::Cursor,                          // SCORC
        (0 | b'?', b"", b'J' | b'K') => Kind::Erase,
        (0, b"", b'P' | b'X') => Kind::Erase,
        (0, b"", b'S' | b'T' | b'^' | b'L' | b'M' | b'@' | b'r' | b's') => Kind::Scroll,
        (0, b"'", b'}' | b'~') => Kind::Scroll,
        (0, b" ", b'@' | b'A') => Kind::Scroll, // SL, SR
        (0, b"", b'b') => Kind::Repeat,
        (0, b"$", b'x' | b'v' | b'z' | b'{' | b'r' | b't') => Kind::Rectangle,
        (b'?', b"", b'h' | b'l') => private_modes(parameters),
        (_, b"", b'h' | b'l') | (0, b" ", b'q') => Kind::Mode,
        (b'?', b"", b'r' | b's') => Kind::Mode, // XTRESTORE, XTSAVE
        (b'?', b"", b'c') => Kind::Mode,        // cursor shape of the Linux console
        (1.., b"", b'u') | (b'>', b"", b'm' | b'n' | b'f') => Kind::KeyboardProtocol,
        (_, b"", b'c') => Kind::ReportQuery,               // DA
        (0 | b'?', b"", b'n' | b'R') => Kind::ReportQuery, // DSR, CPR
        (0 | b'?', b"$", b'p') => Kind::ReportQuery,       // DECRQM
        (b'>', b"", b'q') | (0, b"*", b'y') => Kind::ReportQuery, // XTVERSION, DECRQCRA
        (b'?', b"", b'm' | b'S') => Kind::ReportQuery,     // XTQMODKEYS, XTSMGRAPHICS
        (0, b"", b'x') => Kind::ReportQuery,               // DECREQTPARM
        (0, b"$", b'w' | b'u') => Kind::ReportQuery,       // DECRQPSR, DECRQTSR
        (0, b"&", b'u') => Kind::ReportQuery,              // DECRQUPSS
        (0, b"\"", b'v') | (0, b"'", b'|') => Kind::ReportQuery, // DECRQDE, DECRQLP
        (0, b"", b't') => match first {
            11 | 13..=16 | 18..=21 => Kind::ReportQuery,
            22 | 23 => Kind::WindowTitle,
            _ => Kind::WindowOp,
        },
        (_, b"", b't') => Kind::WindowOp,
        (0 | b'?', b"", b'i') => Kind::MediaCopy,
        (0, b"!", b'p') => Kind::Reset, // DECSTR
        _ => Kind::Other,
    }
}

fn sgr(parameters: &[u8]) -> Kind {
    match SgrParameters::new(parameters).any(|(sgr, _)| sgr == Sgr::Conceal) {
        true => Kind::Conceal,
        false => Kind::Style,
    }
}

/// One sequence can set several modes: the one that matters most names it.
fn private_modes(parameters: &[u8]) -> Kind {
    let of = |mode: &[u8]| match value(mode) {
        47 | 1047..=1049 => Kind::AlternateScreen,
        9 | 1000..=1016 => Kind::Mouse,
        2017 => Kind::KeyboardProtocol,
        _ => Kind::Mode,
    };
    let rank = |kind: &Kind| match kind {
        Kind::AlternateScreen => 3,
        Kind::Mouse => 2,
        Kind::KeyboardProtocol => 1,
        _ => 0,
    };
    let modes = parameters.split(|&b| b == b';' || b == b':');
    modes.map(of).max_by_key(rank).unwrap_or(Kind::Mode)
}

/// The kind of an escape sequence, by its intermediates and its final byte (0 if it has none).
pub(crate) fn of_escape(intermediates: &[u8], final_byte: u8) -> Judged {
    let kind = match (intermediates, final_byte) {
        (_, 0) => Kind::Other,
        (b"", b'7' | b'8' | b'D' | b'M' | b'E' | b'H') => Kind::Cursor,
        (b"", b'=' | b'>') => Kind::Mode,
        (b"", b'Z') => Kind::ReportQuery, // DECID
        (b"", b'N' | b'O' | b'n' | b'o' | b'|' | b'}' | b'~') => Kind::CharsetShift,
        (b"", b'c') => Kind::Reset,                // RIS
        (b"#", b'8') => Kind::Rectangle,           // DECALN
        (b"#", b'3'..=b'6') => Kind::CharsetShift, // DECDHL, DECSWL, DECDWL
        ([b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'$' | b'%', ..], _) => {
            Kind::CharsetShift
        }
        _ => Kind::Other,
    };
    kind.judged()
}

/// The kind of a control string, by the head of its payload.
pub(crate) fn of_string(class: Class, prefix: &Prefix) -> Judged {
    match class {
        Class::Osc => osc(prefix),
        Class::Dcs => dcs(prefix.head()).judged(),
        Class::Apc if prefix.head().first() == Some(&b'G') => Kind::Image.judged(),
        Class::Title => Kind::WindowTitle.judged(),
        _ => Kind::Other.judged(),
    }
}

fn osc(prefix: &Prefix) -> Judged {
    let head = prefix.head();
    let digits = head.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = head.split_at(digits);
    let number = match number {
        b"" => None,
        number => Some(value(number)),
    };
    // Without a `;` the number must be all of it: `7x` is no 7.
    let rest = match rest {
        [b';', rest @ ..] => rest,
        b"" => b"",
        _ => return linux_palette(prefix).judged(),
    };
    let asks = prefix.last_field_asks();
    let kind = match (number, rest) {
        (Some(52), _) if asks => Kind::ClipboardRead,
        (_, _) if asks => Kind::ReportQuery,
        (Some(52 | 5522), _) => Kind::ClipboardWrite,
        (Some(0..=2), _) => Kind::WindowTitle,
        (Some(8), _) => Kind::Hyperlink,
        (Some(7), _) => Kind::Cwd,
        (Some(9), [b'9', b';', ..]) => Kind::Cwd,
        (Some(9 | 99 | 777), _) => Kind::Notification,
        (Some(4 | 5 | 10..=19 | 104 | 105 | 110..=119), _) => Kind::Palette,
        (Some(50), _) => Kind::Font,
        (Some(133 | 633), _) => return (Kind::ShellIntegration, Some(Severity::High)),
        (Some(3008), _) => Kind::ShellIntegration,
        (Some(1337), rest) => iterm2(rest),
        _ => Kind::Other,
    };
    kind.judged()
}

/// A question without a number; or `ESC ] P` and `ESC ] R` of the Linux console.
fn linux_palette(prefix: &Prefix) -> Kind {
    match prefix.head().first() {
        _ if prefix.last_field_asks() => Kind::ReportQuery,
        Some(b'P' | b'R') => Kind::Palette,
        _ => Kind::Other,
    }
}

fn iterm2(rest: &[u8]) -> Kind {
    let table: [(&[u8], Kind); 10] = [
        (b"Copy", Kind::ClipboardWrite),
        (b"EndCopy", Kind::ClipboardWrite),
        (b"File", Kind::Image),
        (b"MultipartFile", Kind::Image),
        (b"CurrentDir=", Kind::Cwd),
        (b"SetMark", Kind::ShellIntegration),
        (b"RemoteHost=", Kind::ShellIntegration),
        (b"ShellIntegrationVer", Kind::ShellIntegration),
        (b"Report", Kind::ReportQuery), // ReportCellSize, ReportVariable
        (b"RequestUpload", Kind::ReportQuery),
    ];
    table.iter().find(|(key, _)| rest.starts_with(key)).map_or(Kind::Other, |&(_, kind)| kind)
}

fn dcs(head: &[u8]) -> Kind {
    if head.starts_with(b"tmux;") {
        return Kind::Passthrough;
    }
    let parameters = head.iter().take_while(|b| (0x30..=0x3F).contains(*b)).count();
    let (parameters, rest) = head.split_at(parameters);
    let number = if parameters.iter().all(u8::is_ascii_digit) { value(parameters) } else { 0 };
    match (rest, number) {
        ([b'$', b'q', ..] | [b'+', b'q', ..], _) => Kind::ReportQuery, // DECRQSS, XTGETTCAP
        ([b'$', b'p', ..] | [b'|', ..] | [b'{', ..], _) => Kind::Device, // DECRSTS, DECUDK, DECDLD
        ([b'p', ..], 1000 | 2000) => Kind::Passthrough, // iTerm2's hooks for tmux and ssh
        ([b'q', ..], _) => Kind::Image,                 // sixel
        _ => Kind::Other,
    }
}

/// Payload bytes that the classifier compares.
pub(crate) const PREFIX_BYTES_MAX: usize = 24;

/// What the classifier keeps of a payload: its head, and whether its last `;`-field is `?`.
///
/// Zeros at the very beginning are left out, so that `ESC ] 0…052;` is no other number than 52 to
/// us while it is 52 to a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    bytes: [u8; PREFIX_BYTES_MAX],
    len: u8,
    zero: bool,
    field: Field,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Empty,
    Question,
    Longer,
}

impl Prefix {
    pub(crate) const EMPTY: Self =
        Self { bytes: [0; PREFIX_BYTES_MAX], len: 0, zero: false, field: Field::Empty };

    pub(crate) fn push(&mut self, byte: u8) {
        self.field = match (self.field, byte) {
            (_, b';') => Field::Empty,
            (Field::Empty, b'?') => Field::Question,
            _ => Field::Longer,
        };
        if self.len == 0 && byte == b'0' {
            self.zero = true;
            return;
        }
        if self.len == 0 && self.zero && !byte.is_ascii_digit() {
            self.keep(b'0');
        }
        self.keep(byte);
    }

    /// The same as to push each byte.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let is_full = |prefix: &Self| usize::from(prefix.len) == PREFIX_BYTES_MAX;
        let mut rest = bytes.iter();
        while !is_full(self)
            && let Some(&byte) = rest.next()
        {
            self.push(byte);
        }
        // Of the rest only what the last field is can matter.
        self.field = match rest.as_slice() {
            [] => self.field,
            [.., b';'] => Field::Empty,
            [.., b';', b'?'] => Field::Question,
            [b'?'] if self.field == Field::Empty => Field::Question,
            _ => Field::Longer,
        };
    }

    fn keep(&mut self, byte: u8) {
        if let Some(cell) = self.bytes.get_mut(usize::from(self.len)) {
            *cell = byte;
            self.len += 1;
        }
    }

    /// The head, without leading zeros but for one.
    fn head(&self) -> &[u8] {
        match (self.len, self.zero) {
            (0, true) => b"0",
            (len, _) => &self.bytes[..usize::from(len)],
        }
    }

    fn last_field_asks(&self) -> bool {
        self.field == Field::Question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prefix of a payload that begins with `n` times a byte.
    fn prefix(byte: u8, n: usize, rest: &[u8]) -> Prefix {
        let mut prefix = Prefix::EMPTY;
        core::iter::repeat_n(&byte, n).chain(rest).for_each(|&byte| prefix.push(byte));
        prefix
    }

    #[test]
    fn the_head_of_a_payload_is_kept_up_to_the_limit() {
        for n in [PREFIX_BYTES_MAX - 1, PREFIX_BYTES_MAX, PREFIX_BYTES_MAX + 1] {
            assert_eq!(prefix(b'7', n, b"").head().len(), n.min(PREFIX_BYTES_MAX));
        }
        // What tells the kind must lie within it.
        let last = PREFIX_BYTES_MAX - 1;
        for (n, kind) in [(last - 1, Kind::Image), (last, Kind::Image), (last + 1, Kind::Other)] {
            assert_eq!(of_string(Class::Dcs, &prefix(b'1', n, b"q")).0, kind);
        }
    }

    #[test]
    fn zeros_before_a_number_hide_nothing() {
        let osc = |zeros, rest| of_string(Class::Osc, &prefix(b'0', zeros, rest)).0;
        for zeros in [0, 1, 2, 100] {
            assert_eq!(osc(zeros, b"52;c;QQ=="), Kind::ClipboardWrite);
        }
        assert_eq!(osc(3, b";title"), Kind::WindowTitle);
        assert_eq!(osc(1, b""), Kind::WindowTitle);
        assert_eq!(osc(0, b"52x;c;QQ=="), Kind::Other);
    }
}

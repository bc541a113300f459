//! What the parser says of its input.

use crate::kind::{Kind, Severity};

/// One piece of the input, in order. The pieces with a length tile the input: each byte belongs to
/// exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Well-formed text: 20–7E, TAB, LF and characters from U+00A0 on. Never empty. The same text
    /// may come in one event or in several, as chunks and cut characters have it.
    Text(&'a str),
    /// One maximal subpart of an ill-formed UTF-8 sequence, 1 to 3 bytes.
    IllFormed {
        /// Length in bytes.
        len: u8,
    },
    /// A single control: C0 less TAB and LF, DEL, or a C1 that begins no sequence.
    Control {
        /// The code point, U+0000–U+001F, U+007F or U+0080–U+009F.
        code: u8,
        /// Length in bytes: 2 for an encoded C1, else 1.
        len: u8,
    },
    /// Bytes of the open sequence. A sequence may come in several parts, and text (TAB) or single
    /// controls may stand between them.
    Part {
        /// Length in bytes, at least 1.
        len: u64,
    },
    /// The open sequence ended. No bytes of its own.
    End(Sequence<'a>),
    /// An introducer character at the beginning of a line, after an escape or CSI that a line end
    /// aborted: `ESC LF [`. No bytes of its own; the offset of the event is that of the character.
    SplitIntroducer {
        /// Offset of the aborted sequence.
        from: u64,
    },
}

/// Takes what the parser says. Implemented for closures.
pub trait Receiver {
    /// One piece that begins at byte `at` of the stream.
    fn event(&mut self, at: u64, event: Event<'_>);
}

impl<F: FnMut(u64, Event<'_>)> Receiver for F {
    fn event(&mut self, at: u64, event: Event<'_>) {
        self(at, event);
    }
}

/// The class of a sequence, by its introducer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Control sequence, `ESC [`.
    Csi,
    /// Operating system command, `ESC ]`.
    Osc,
    /// Device control string, `ESC P`.
    Dcs,
    /// Start of string, `ESC X`.
    Sos,
    /// Privacy message, `ESC ^`.
    Pm,
    /// Application program command, `ESC _`.
    Apc,
    /// Window title of screen and tmux, `ESC k`.
    Title,
    /// Any other escape sequence.
    Escape,
}

impl Class {
    /// All classes, in the order of the report.
    pub const ALL: [Self; 8] = [
        Self::Csi,
        Self::Osc,
        Self::Dcs,
        Self::Sos,
        Self::Pm,
        Self::Apc,
        Self::Title,
        Self::Escape,
    ];

    /// The word of the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csi => "csi",
            Self::Osc => "osc",
            Self::Dcs => "dcs",
            Self::Sos => "sos",
            Self::Pm => "pm",
            Self::Apc => "apc",
            Self::Title => "title",
            Self::Escape => "escape",
        }
    }

    /// Whether it holds a payload.
    #[must_use]
    pub const fn is_string(self) -> bool {
        !matches!(self, Self::Csi | Self::Escape)
    }
}

/// How a sequence ended. Where two apply, the later one names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// By its final byte or terminator.
    Complete,
    /// By CAN, SUB, ESC, a line end or a foreign byte.
    Aborted,
    /// Anyhow, after more bytes than its limit.
    Overlong,
    /// By the end of the stream.
    Unterminated,
}

impl Ending {
    /// All endings, in the order of the report.
    pub const ALL: [Self; 4] = [Self::Complete, Self::Aborted, Self::Overlong, Self::Unterminated];

    /// The word of the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Aborted => "aborted",
            Self::Overlong => "overlong",
            Self::Unterminated => "unterminated",
        }
    }
}

/// What is recorded of a sequence. It holds nothing of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sequence<'a> {
    /// Class, by the introducer.
    pub class: Class,
    /// How it ended.
    pub ending: Ending,
    /// What it asks of a terminal.
    pub kind: Kind,
    /// How much that matters to a reader; `None` for plain style.
    pub severity: Option<Severity>,
    /// NUL, DEL or another control stood inside, or a parameter after an intermediate.
    pub malformed: bool,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset after its last byte. Text and controls that stood inside lie within.
    pub end: u64,
    /// Bytes of the sequence itself, introducer and terminator included.
    pub bytes: u64,
    /// Bytes of payload; 0 for CSI and escape.
    pub payload: u64,
    /// LFs in the payload.
    pub payload_lines: u64,
    /// Ended by BEL.
    pub bel: bool,
    /// Begun by an encoded C1, which is as long as the 7-bit form.
    pub encoded: bool,
    /// Parameter and intermediate bytes of a CSI (the first [`CSI_BYTES_MAX`](crate::CSI_BYTES_MAX)
    /// of them), intermediates of an escape (the first
    /// [`ESCAPE_BYTES_MAX`](crate::ESCAPE_BYTES_MAX)); empty for a string.
    pub collected: &'a [u8],
    /// Final byte of a CSI or an escape that has one; else 0.
    pub final_byte: u8,
}

impl<'a> Sequence<'a> {
    /// A complete control sequence at offset `start` that a scan found: `ESC [`, parameters
    /// (30–3F; at most [`CSI_BYTES_MAX`](crate::CSI_BYTES_MAX)), a final byte. `None`: it is none.
    ///
    /// ```
    /// use noesc_grammar::{Kind, Sequence};
    /// assert_eq!(Sequence::csi(0, b"\x1b[2K").unwrap().kind, Kind::Erase);
    /// assert!(Sequence::csi(0, b"\x1b[2").is_none());
    /// ```
    #[must_use]
    pub fn csi(start: u64, bytes: &'a [u8]) -> Option<Self> {
        let (parameters, final_byte) = split(bytes)?;
        let (kind, severity) = crate::kind::of_csi(parameters, final_byte);
        Some(Self { kind, severity, ..Self::style_of(start, bytes.len(), parameters, final_byte) })
    }

    /// The same, of SGR that is known not to conceal.
    ///
    /// ```
    /// use noesc_grammar::{Kind, Sequence};
    /// assert_eq!(Sequence::style(0, b"\x1b[31m").unwrap().kind, Kind::Style);
    /// assert!(Sequence::style(0, b"\x1b[2K").is_none());
    /// ```
    #[must_use]
    pub fn style(start: u64, bytes: &'a [u8]) -> Option<Self> {
        let (parameters, final_byte) = split(bytes).filter(|&(_, byte)| byte == b'm')?;
        Some(Self::style_of(start, bytes.len(), parameters, final_byte))
    }

    /// An ESC, or `ESC [` and parameters, that an ESC or a byte from 80 on cut short.
    ///
    /// ```
    /// use noesc_grammar::{Ending, Sequence};
    /// assert_eq!(Sequence::aborted(0, b"\x1b[31").ending, Ending::Aborted);
    /// ```
    #[must_use]
    pub fn aborted(start: u64, bytes: &'a [u8]) -> Self {
        let parameters = bytes.strip_prefix(b"\x1b[");
        Self {
            class: if parameters.is_some() { Class::Csi } else { Class::Escape },
            ending: Ending::Aborted,
            kind: Kind::Other,
            severity: Kind::Other.severity(),
            ..Self::style_of(start, bytes.len(), parameters.unwrap_or_default(), 0)
        }
    }

    const fn style_of(start: u64, len: usize, collected: &'a [u8], final_byte: u8) -> Self {
        Self {
            class: Class::Csi,
            ending: Ending::Complete,
            kind: Kind::Style,
            severity: None,
            malformed: false,
            start,
            end: start + len as u64,
            bytes: len as u64,
            payload: 0,
            payload_lines: 0,
            bel: false,
            encoded: false,
            collected,
            final_byte,
        }
    }

    /// Complete and well-formed: what a profile may keep.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        matches!(self.ending, Ending::Complete) && !self.malformed
    }
}

/// The parameters and the final byte of a complete CSI of these bytes.
fn split(bytes: &[u8]) -> Option<(&[u8], u8)> {
    let (&final_byte, parameters) = bytes.strip_prefix(b"\x1b[")?.split_last()?;
    let is_one = matches!(final_byte, 0x40..=0x7E)
        && parameters.len() <= crate::CSI_BYTES_MAX
        && parameters.iter().all(|byte| matches!(byte, 0x30..=0x3F));
    is_one.then_some((parameters, final_byte))
}

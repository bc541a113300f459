//! The pieces of an explanation.

use noesc_grammar::{Sequence, Severity};

use crate::meaning::Meaning;

/// One piece of the input. The pieces tile it: each begins where the one before ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Item<'a> {
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; 0 for [`What::SplitIntroducer`], and for a sequence that ended directly
    /// after something else that stood inside it.
    pub length: u64,
    /// What it is.
    pub what: What<'a>,
}

/// What a piece is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum What<'a> {
    /// Text of one line, or a part of it.
    Text {
        /// The text, inert and never empty: see [`Explainer`](crate::Explainer) for the notation.
        shown: &'a str,
        /// The line end directly behind it, which the length includes.
        end: Option<LineEnd>,
        /// Why a terminal would not show it as it is.
        hidden: Option<Hidden>,
        /// The classes of character in it that deceive a reader, judged as views judge them: an
        /// emoji's joiner is shown, but deceives nobody.
        deceiving: &'a [Deceiving],
    },
    /// Line ends that directly follow one another.
    LineEnds {
        /// Of this form.
        end: LineEnd,
        /// So many.
        count: u64,
    },
    /// A single control, or several of the same.
    Control {
        /// U+0000–U+001F, U+007F, U+0080–U+009F.
        code: u8,
        /// So many.
        count: u64,
    },
    /// Bytes that are no UTF-8.
    IllFormed {
        /// At most [`ILL_FORMED_BYTES_MAX`](crate::ILL_FORMED_BYTES_MAX).
        bytes: &'a [u8],
    },
    /// The beginning of a sequence, or another part of it but the last, with something of another
    /// kind behind it: `ESC [ BEL 1 m` is a part, a control and a sequence.
    Part {
        /// Offset of the first byte of the sequence.
        start: u64,
    },
    /// A whole sequence, or the last part of it.
    Sequence(Explained<'a>),
    /// A line begins with an introducer character, after a sequence that the line end had aborted.
    SplitIntroducer {
        /// Offset of the aborted sequence.
        from: u64,
    },
}

/// Characters of one class that deceive a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deceiving {
    /// Of this class.
    pub class: noesc_text::Class,
    /// So many.
    pub count: u64,
    /// The worst severity among them.
    pub severity: noesc_text::Severity,
}

/// LF, with the CRs before it: `LF`, `CR LF`, `CR CR LF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEnd {
    /// CRs directly before the LF.
    pub crs: u64,
}

/// Why a terminal would not show text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hidden {
    /// SGR 8.
    Concealed,
    /// Foreground and background are the same colour.
    SameColour,
    /// A line-drawing set replaces characters of it.
    LineDrawing,
}

impl Hidden {
    /// `concealed`, `same-colour` or `line-drawing`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Concealed => "concealed",
            Self::SameColour => "same-colour",
            Self::LineDrawing => "line-drawing",
        }
    }

    /// The kind of finding.
    #[must_use]
    pub const fn finding(self) -> &'static str {
        match self {
            Self::Concealed | Self::SameColour => "hidden-text",
            Self::LineDrawing => "charset-shift",
        }
    }
}

/// A sequence, and what there is to say of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explained<'a> {
    /// What the grammar says.
    pub sequence: Sequence<'a>,
    /// `CSI ?25 h`, `OSC 52`: printable ASCII.
    pub notation: String,
    /// The name and the words.
    pub meaning: Meaning,
    /// The beginning of its payload as it was, at most
    /// [`PAYLOAD_BYTES_MAX`](crate::PAYLOAD_BYTES_MAX): hostile bytes, not to be printed.
    pub payload: &'a [u8],
    /// How its introducer was written.
    pub form: Form,
    /// What it ended with, where that was a byte of its own: `BEL`, `ST`, `CAN`, `SUB`.
    pub ended_by: Option<&'static str>,
    /// The severity of its kind, or of its findings if they are worse.
    pub severity: Option<Severity>,
    /// `held-back-lines`, `unterminated-string`.
    pub findings: &'static [&'static str],
}

/// How an introducer was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// With ESC.
    SevenBit,
    /// As a C1 control in UTF-8, C2 80–C2 9F.
    EncodedC1,
    /// As a single byte 80–9F.
    RawC1,
}

impl Form {
    /// `7-bit`, `c1-utf-8` or `c1-raw`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SevenBit => "7-bit",
            Self::EncodedC1 => "c1-utf-8",
            Self::RawC1 => "c1-raw",
        }
    }
}

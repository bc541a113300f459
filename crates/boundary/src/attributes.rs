//! What a terminal would hide: concealed text, text in its own background colour, and text whose
//! glyphs a line-drawing set replaces.
//!
//! Colours are tracked lazily. Nearly every style sequence of real output sets a foreground or
//! resets, and neither hides anything without a background or conceal. Such sequences are only
//! noted; the notes are read when one comes that could hide.

use noesc_grammar::{Class, Colour, Kind, Sequence, Sgr, SgrParameters};

/// Bytes of noted parameters. When they are full they are read, so the size only sets how often.
const NOTES_MAX: usize = 64;

/// The attributes that decide what a terminal would hide.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    notes: [u8; NOTES_MAX],
    notes_len: usize,
    foreground: Colour,
    background: Colour,
    concealed: bool,
    /// The sequence that asked for conceal, until text follows.
    conceal: Option<(u64, u64)>,
    /// Sets G0 to G3 are line drawing.
    drawing: [bool; 4],
    /// The set in GL.
    shift: usize,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            notes: [0; NOTES_MAX],
            notes_len: 0,
            foreground: Colour::Default,
            background: Colour::Default,
            concealed: false,
            conceal: None,
            drawing: [false; 4],
            shift: 0,
        }
    }
}

impl Attributes {
    /// A terminal would not show text now.
    pub(crate) fn hides(&self) -> bool {
        self.concealed || (self.background != Colour::Default && self.background == self.foreground)
    }

    /// Neither a background nor conceal is in force, so that a foreground hides nothing.
    pub(crate) fn is_idle(&self) -> bool {
        !self.concealed && self.background == Colour::Default
    }

    /// A complete control sequence that sets neither background nor conceal. True: it is style that
    /// sets the foreground, whatever that was.
    pub(crate) fn plain_style(&mut self, bytes: &[u8]) -> bool {
        let [0x1B, b'[', parameters @ .., b'm'] = bytes else { return false };
        let sets = !is_foreign(parameters)
            && SgrParameters::new(parameters)
                .any(|(sgr, _)| matches!(sgr, Sgr::Reset | Sgr::Foreground(_)));
        if sets {
            self.style(parameters);
        }
        sets
    }

    /// The sequence that conceals the text that follows now, told once.
    pub(crate) fn take_conceal(&mut self) -> Option<(u64, u64)> {
        self.conceal.take().filter(|_| self.concealed)
    }

    /// A terminal would show line drawing for 5F–7E now.
    pub(crate) fn draws(&self) -> bool {
        self.drawing[self.shift]
    }

    /// A sequence ended. Malformed ones count: terminals execute most of them.
    pub(crate) fn sequence(&mut self, sequence: &Sequence<'_>) {
        if sequence.ending != noesc_grammar::Ending::Complete {
            return;
        }
        match (sequence.class, sequence.collected, sequence.final_byte) {
            (Class::Csi, parameters, b'm') => {
                self.style(parameters);
                if sequence.kind == Kind::Conceal {
                    self.conceal = Some((sequence.start, sequence.end - sequence.start));
                }
            }
            (Class::Csi, b"!", b'p') | (Class::Escape, b"", b'c') => *self = Self::default(),
            (Class::Escape, [set @ b'('..=b'+'], charset) => {
                self.drawing[usize::from(set - b'(')] = charset == b'0';
            }
            (Class::Escape, b"", b'n') => self.shift = 2, // LS2
            (Class::Escape, b"", b'o') => self.shift = 3, // LS3
            _ => {}
        }
    }

    /// SO or SI.
    pub(crate) fn shift(&mut self, set: usize) {
        self.shift = set;
    }

    /// An SGR sequence.
    pub(crate) fn style(&mut self, parameters: &[u8]) {
        if matches!(parameters, b"" | b"0") {
            self.notes_len = 0;
            self.foreground = Colour::Default;
            self.background = Colour::Default;
            self.concealed = false;
            return;
        }
        if self.is_idle() && !could_hide(parameters) && self.note(parameters) {
            return;
        }
        self.read_notes();
        self.read(parameters);
    }

    fn note(&mut self, parameters: &[u8]) -> bool {
        let Some(cells) = self.notes.get_mut(self.notes_len..) else { return false };
        if parameters.len() >= cells.len() {
            return false;
        }
        cells[..parameters.len()].copy_from_slice(parameters);
        cells[parameters.len()] = b'\n';
        self.notes_len += parameters.len() + 1;
        true
    }

    fn read_notes(&mut self) {
        let notes = self.notes;
        for parameters in notes[..self.notes_len].split_inclusive(|&b| b == b'\n') {
            self.read(&parameters[..parameters.len() - 1]);
        }
        self.notes_len = 0;
    }

    fn read(&mut self, parameters: &[u8]) {
        if is_foreign(parameters) {
            return;
        }
        for (sgr, _) in SgrParameters::new(parameters) {
            match sgr {
                Sgr::Reset => {
                    self.foreground = Colour::Default;
                    self.background = Colour::Default;
                    self.concealed = false;
                }
                Sgr::Conceal => self.concealed = true,
                Sgr::Reveal => self.concealed = false,
                Sgr::Foreground(colour) => self.foreground = colour,
                Sgr::Background(colour) => self.background = colour,
                _ => {}
            }
        }
    }
}

/// Whether there is a private marker or an intermediate among parameters: they are no SGR.
fn is_foreign(parameters: &[u8]) -> bool {
    parameters.iter().any(|b| !matches!(b, b'0'..=b'9' | b';' | b':'))
}

/// Whether parameters might ask for a background or for conceal: any 8, 4x or 10x, wherever.
fn could_hide(parameters: &[u8]) -> bool {
    parameters.iter().any(|b| matches!(b, b'4' | b'8')) || parameters.windows(2).any(|w| w == b"10")
}

/// Whether a character shows nothing in a cell, or fills it with the foreground: neither tells
/// hidden text from visible. Nor does our own mark, which a view may hold where style is kept.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2580}'..='\u{259F}' | '\u{2800}' | '\u{241B}')
}

//! Whether a terminal would hide the text that stands now.

use noesc_grammar::{Class, Colour, Ending, Sequence, Sgr, SgrParameters};

use crate::item::Hidden;

/// The attributes that decide it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hiding {
    concealed: bool,
    foreground: Colour,
    background: Colour,
    /// Sets G0 to G3 are line drawing.
    drawing: [bool; 4],
    /// The set in use.
    shift: usize,
}

impl Hiding {
    /// A sequence ended. Malformed ones count: terminals execute most of them.
    pub(crate) fn sequence(&mut self, sequence: &Sequence<'_>) {
        if sequence.ending != Ending::Complete {
            return;
        }
        match (sequence.class, sequence.collected, sequence.final_byte) {
            (Class::Csi, parameters, b'm') => self.style(parameters),
            (Class::Csi, b"!", b'p') | (Class::Escape, b"", b'c') => *self = Self::default(),
            (Class::Escape, [set @ b'('..=b'+'], charset) => {
                self.drawing[usize::from(set - b'(')] = charset == b'0';
            }
            (Class::Escape, b"", b'n') => self.shift = 2, // LS2
            (Class::Escape, b"", b'o') => self.shift = 3, // LS3
            _ => {}
        }
    }

    /// A single control: SO and SI shift.
    pub(crate) fn control(&mut self, code: u8) {
        match code {
            0x0E => self.shift = 1,
            0x0F => self.shift = 0,
            _ => {}
        }
    }

    fn style(&mut self, parameters: &[u8]) {
        if parameters.iter().any(|b| !matches!(b, b'0'..=b'9' | b';' | b':')) {
            return; // a private marker or an intermediate: no SGR
        }
        for (sgr, _) in SgrParameters::new(parameters) {
            match sgr {
                Sgr::Reset => {
                    self.concealed = false;
                    self.foreground = Colour::Default;
                    self.background = Colour::Default;
                }
                Sgr::Conceal => self.concealed = true,
                Sgr::Reveal => self.concealed = false,
                Sgr::Foreground(colour) => self.foreground = colour,
                Sgr::Background(colour) => self.background = colour,
                _ => {}
            }
        }
    }

    /// Whether nothing is hidden now, whatever the character is.
    pub(crate) fn is_idle(&self) -> bool {
        let same = self.background != Colour::Default && self.background == self.foreground;
        !self.concealed && !same && !self.drawing[self.shift]
    }

    /// What hides a character, if anything does. A blank or a block element shows the same when it
    /// is hidden.
    pub(crate) fn hides(&self, c: char) -> Option<Hidden> {
        let blank = c.is_whitespace() || matches!(c, '\u{2580}'..='\u{259F}' | '\u{2800}');
        match () {
            () if self.concealed && !blank => Some(Hidden::Concealed),
            () if self.background != Colour::Default
                && self.background == self.foreground
                && !blank =>
            {
                Some(Hidden::SameColour)
            }
            () if self.drawing[self.shift] && matches!(c, '_'..='~') => Some(Hidden::LineDrawing),
            () => None,
        }
    }
}

//! `cr = overwrite`: the same events, with a cursor. A line is written when it ends.

use noesc_grammar::{Class, Sequence};

use crate::boundary::{Reader, judged};
use crate::page::MARK;
use crate::profile::{Removed, Separators};
use crate::sheet::Sheet;
use crate::span::SpanReceiver;
use crate::window::{Glyph, Overflow, Piece};

impl Reader {
    /// Text of a stream whose lines are edited, or of a line that has outgrown its window.
    pub(crate) fn edit<S: SpanReceiver>(&mut self, at: u64, text: &str, to: &mut Sheet<'_, S>) {
        for (i, c) in text.char_indices() {
            let at = at + i as u64;
            let piece = &text[i..i + c.len_utf8()];
            if self.ends_line(c) {
                self.finish_line(to);
                self.text(at, piece, to);
                self.line_end(to);
                self.edit_again();
            } else if self.edits() {
                let len = c.len_utf8() as u8;
                let hidden = self.page.attributes.hides();
                self.put(Glyph { c, at, len, ill_formed: false, hidden }, to);
            } else {
                self.text(at, piece, to);
            }
        }
    }

    fn ends_line(&self, c: char) -> bool {
        match c {
            '\n' => true,
            '\u{2028}' | '\u{2029}' => self.page.profile.separators == Separators::Newline,
            _ => false,
        }
    }

    /// A line ended: the next one is edited, if lines are.
    pub(crate) fn edit_again(&mut self) {
        self.page.editing = self.window.is_some();
    }

    pub(crate) fn edit_ill_formed<S: SpanReceiver>(
        &mut self,
        at: u64,
        len: u8,
        to: &mut Sheet<'_, S>,
    ) {
        let hidden = self.page.attributes.hides();
        self.put(Glyph { c: '\u{FFFD}', at, len, ill_formed: true, hidden }, to);
    }

    fn put<S: SpanReceiver>(&mut self, glyph: Glyph, to: &mut Sheet<'_, S>) {
        let Some(window) = &mut self.window else { return };
        let page = &mut self.page;
        page.settle_crs_edited();
        page.settle_part(to);
        page.note_drawing(glyph.c);
        let put = window.put(glyph, &mut |old| {
            page.tally.overwritten.characters += 1;
            page.written.removed(old.at, old.len.into(), to);
        });
        match put {
            Ok(true) => {}
            Ok(false) => page.written.removed(glyph.at, glyph.len.into(), to),
            Err(Overflow) => {
                self.outgrow(to);
                self.write_glyph(glyph, to);
            }
        }
    }

    pub(crate) fn edit_control<S: SpanReceiver>(
        &mut self,
        at: u64,
        code: u8,
        len: u8,
        to: &mut Sheet<'_, S>,
    ) {
        let separates = matches!(code, 0x0B | 0x0C | 0x85)
            && self.page.profile.separators == Separators::Newline;
        if separates {
            self.finish_line(to);
            self.line_end(to);
        }
        self.page.control(at, code, len, to);
        let Some(window) = &mut self.window else { return };
        match code {
            0x08 => window.back(),
            0x0D => window.home(),
            _ if separates => self.edit_again(),
            _ => self.dropped(at + u64::from(len), to),
        }
    }

    /// A sequence ended: it edits the line, or it was dropped.
    pub(crate) fn edit_sequence<S: SpanReceiver>(
        &mut self,
        sequence: &Sequence<'_>,
        to: &mut Sheet<'_, S>,
    ) {
        let Some(window) = &mut self.window else { return };
        let number = str::from_utf8(sequence.collected).unwrap_or_default();
        let number = if number.is_empty() { Ok(0) } else { number.parse() };
        let plain = sequence.class == Class::Csi && sequence.is_sound();
        match (sequence.final_byte, number) {
            (b'G' | b'C' | b'D', Ok(n)) if plain => window.go(sequence.final_byte, n),
            (b'K', Ok(n @ 0..=2)) if plain => {
                let page = &mut self.page;
                window.erase(n, &mut |old| {
                    page.tally.overwritten.characters += 1;
                    page.written.removed(old.at, old.len.into(), to);
                });
            }
            _ => self.dropped(sequence.end, to),
        }
    }

    fn dropped<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        let Some(window) = &mut self.window else { return };
        if window.add_beside(Piece::Dropped) == Err(Overflow) {
            self.outgrow(to);
            self.interrupt(to);
            self.page.mark(at, to);
        }
    }

    /// The line no longer fits: what there is of it is written, the rest is not edited.
    fn outgrow<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        self.finish_line(to);
        self.page.editing = false;
        self.page.tally.overwritten.lines_beyond_window += 1;
    }

    /// Writes the edited line, without its line end.
    pub(crate) fn finish_line<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        let Some(mut window) = self.window.take() else { return };
        self.page.settle_part(to);
        // CRs before a line end belong to it, those at the end of the stream stay pending.
        let crs = std::mem::take(&mut self.page.crs);
        let mut at = 0;
        window.finish(|piece| match piece {
            Piece::Char(glyph) => {
                at = glyph.at + u64::from(glyph.len);
                self.write_glyph(glyph, to);
            }
            Piece::Gap => {
                self.settle(to);
                self.page.gap(at, to);
                self.context.ordinary(' ');
            }
            Piece::Dropped => {
                self.interrupt(to);
                if self.page.profile.removed == Removed::Mark {
                    self.page.written.inserted(at, MARK, to);
                }
            }
        });
        self.settle(to);
        self.page.hidden_glyph = None;
        self.page.close_hidden(at, to);
        self.page.crs = crs;
        self.window = Some(window);
    }

    fn write_glyph<S: SpanReceiver>(&mut self, glyph: Glyph, to: &mut Sheet<'_, S>) {
        if self.page.hidden_glyph == Some(true) && !glyph.hidden {
            self.page.close_hidden(glyph.at, to);
        }
        self.page.hidden_glyph = Some(glyph.hidden);
        if glyph.ill_formed {
            self.ill_formed(glyph.at, glyph.len, to);
        } else {
            self.edited.push_back(glyph.at);
            let Self { context, page, edited, .. } = self;
            let mut settled = glyph.at;
            context.push(glyph.c, &mut |c, verdict| {
                judged(page, &mut settled, edited, c, verdict, to);
            });
        }
        if !self.edits() {
            self.page.hidden_glyph = None;
        }
    }
}

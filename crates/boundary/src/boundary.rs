//! The boundary itself: parser, context of characters and page, driven by chunks.

use std::collections::VecDeque;

use noesc_grammar::{Event, Parser, Scanner};
use noesc_text::{Context, is_ordinary};

use crate::audit::escape_into;
use crate::lossy::Lossy;
use crate::page::{CLOSE_STYLE, Page};
use crate::profile::{Cr, Form, Profile, ProfileError, Separators};
use crate::report::Report;
use crate::sheet::{Sheet, Written};
use crate::span::SpanReceiver;
use crate::window::Window;

/// Bytes of a chunk that go through the parser before it is tried again to do without: few at
/// first, and more each time that gave nothing.
const PIECE_BYTES_MIN: usize = 16;
const PIECE_BYTES_MAX: usize = 2048;

/// Bytes without events that are worth the looking for them.
const SWIFT_BYTES_MIN: usize = 64;

/// A streaming boundary for one stream: bytes in, view out.
///
/// The same bytes give the same view, the same report and the same runs, whatever the chunks
/// (P2). Its state has a fixed size but for the line that [`Cr::Overwrite`] edits and the segment
/// that [`Cr::Collapse`] may leave out, both of at most
/// [`LINE_CELLS_MAX`](crate::LINE_CELLS_MAX) cells (P7).
///
/// What a push decides it writes: held back is only an unfinished sequence or character, a
/// tentative C1 string of at most 256 bytes, a CR, and at most six characters whose neighbours
/// decide.
///
/// ```
/// use noesc::{Boundary, Profile};
///
/// let mut view = String::new();
/// let mut boundary = Boundary::new(&Profile::AGENT)?;
/// boundary.push(b"\x1b[31mred\x1b", &mut view);
/// assert_eq!(view, "red");
/// boundary.push(b"[0m and more", &mut view);
/// let report = boundary.finish(&mut view);
/// assert_eq!(view, "red and more");
/// assert_eq!(report.to_string(), "removed 2 sequences (2 style)");
/// # Ok::<(), noesc::ProfileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Boundary {
    parser: Parser,
    /// The first two bytes of the stream: a BOM of UTF-16?
    head: [u8; 2],
    reader: Reader,
    /// Where the forms that are no text of the page write: audit and off.
    apart: Written,
    /// Decodes what [`Form::Off`] lets pass.
    lossy: Lossy,
}

/// The scan that this processor is best at.
struct Vectors;

impl Scanner for Vectors {
    fn payload_len(&self, bytes: &[u8]) -> usize {
        noesc_scan::payload_len(bytes)
    }

    fn range_len(&self, bytes: &[u8], first: u8, last: u8) -> usize {
        noesc_scan::range_len(bytes, first, last)
    }
}

/// Takes the events.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) context: Context,
    pub(crate) page: Page,
    /// The line being edited, under `cr = overwrite`; `page.editing` says whether it still is.
    pub(crate) window: Option<Window>,
    /// Offset of the first character without a verdict. What the context holds is contiguous.
    settled: u64,
    /// Those of characters that come from a window, where nothing is.
    pub(crate) edited: VecDeque<u64>,
}

impl Boundary {
    /// A boundary at the beginning of a stream.
    ///
    /// # Errors
    /// When the settings do not go together: see [`Profile::check`].
    pub fn new(profile: &Profile) -> Result<Self, ProfileError> {
        profile.check()?;
        Ok(Self::of(profile))
    }

    /// A boundary of settings that go together.
    pub(crate) fn of(profile: &Profile) -> Self {
        let page = Page::new(*profile);
        Self {
            parser: Parser::new(),
            head: [0; 2],
            reader: Reader {
                context: Context::default(),
                window: page.editing.then(Window::default),
                page,
                settled: 0,
                edited: VecDeque::new(),
            },
            apart: Written::default(),
            lossy: Lossy::default(),
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.reader.page.profile
    }

    /// Bytes pushed so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.parser.offset()
    }

    /// Reads a chunk and appends to `view` what is decided. Linear in the length of the chunk.
    pub fn push(&mut self, chunk: &[u8], view: &mut String) {
        self.push_with_spans(chunk, view, &mut ());
    }

    /// The same, and gives the runs.
    pub fn push_with_spans<S: SpanReceiver>(
        &mut self,
        chunk: &[u8],
        view: &mut String,
        spans: &mut S,
    ) {
        let at = self.parser.offset();
        let places = self.head.iter_mut().skip(usize::try_from(at).unwrap_or(usize::MAX));
        for (place, &byte) in places.zip(chunk) {
            *place = byte;
        }
        let to = &mut Sheet { out: Some(view), spans };
        match self.reader.page.profile.form {
            Form::Text => return self.read(chunk, to),
            Form::Audit => escape_into(chunk, at, &mut self.apart, to),
            Form::Off => self.lossy.push(chunk, at, &mut self.apart, to),
        }
        self.read(chunk, &mut Sheet { out: None, spans: &mut () });
    }

    fn read<S: SpanReceiver>(&mut self, chunk: &[u8], to: &mut Sheet<'_, S>) {
        let Self { parser, reader, .. } = self;
        let mut rest = chunk;
        let mut most = PIECE_BYTES_MIN;
        while !rest.is_empty() {
            if reader.can_be_swift() && parser.is_between() {
                let swift = reader.swift(parser.offset(), rest, to);
                parser.pass_over(swift);
                rest = &rest[swift..];
                if swift >= SWIFT_BYTES_MIN {
                    most = PIECE_BYTES_MIN;
                }
            }
            let len = parser.push_some(&Vectors, rest, most, &mut |at, event: Event<'_>| {
                reader.event(at, event, to);
            });
            most = most.saturating_mul(2).min(PIECE_BYTES_MAX);
            rest = &rest[len..];
        }
    }

    /// Ends the stream: appends to `view` what was held back, and gives the report.
    pub fn finish(&mut self, view: &mut String) -> Report {
        self.finish_with_spans(view, &mut ())
    }

    /// The same, and gives the last runs. The boundary is then at the beginning of another stream.
    pub fn finish_with_spans<S: SpanReceiver>(
        &mut self,
        view: &mut String,
        spans: &mut S,
    ) -> Report {
        self.end(true, view, spans).0
    }

    /// Ends the stream and leaves a style open that is. Gives the report, and whether one is: the
    /// caller closes it then, with `ESC[0m`, before text of another author follows.
    ///
    /// ```
    /// use noesc::{Boundary, Profile};
    ///
    /// let mut view = String::new();
    /// let mut boundary = Boundary::new(&Profile::DISPLAY)?;
    /// boundary.push(b"\x1b[31mred\x1b[", &mut view);
    /// let (_, is_style_open) = boundary.finish_open(&mut view);
    /// assert_eq!((view.as_str(), is_style_open), ("\x1b[31mred", true));
    /// # Ok::<(), noesc::ProfileError>(())
    /// ```
    pub fn finish_open(&mut self, view: &mut String) -> (Report, bool) {
        self.end(false, view, &mut ())
    }

    fn end<S: SpanReceiver>(
        &mut self,
        closes: bool,
        view: &mut String,
        spans: &mut S,
    ) -> (Report, bool) {
        let to = &mut Sheet { out: Some(view), spans };
        let at = self.parser.offset();
        let is_open = match self.reader.page.profile.form {
            Form::Text => {
                self.end_reading(to);
                let page = &mut self.reader.page;
                let is_open = page.leaves_style_open();
                if closes {
                    page.close_style(at, to);
                }
                page.written.finish(to);
                is_open
            }
            form => {
                self.lossy.finish(at, &mut self.apart, to);
                self.end_reading(&mut Sheet { out: None, spans: &mut () });
                let is_open = form == Form::Off && self.reader.page.leaves_style_open();
                if is_open && closes {
                    self.apart.inserted(at, CLOSE_STYLE, to);
                }
                self.apart.finish(to);
                is_open
            }
        };
        let page = &self.reader.page;
        let report = page.report();
        let profile = page.profile;
        *self = Self::of(&profile);
        (report, is_open && !closes)
    }

    fn end_reading<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        let Self { parser, reader, .. } = self;
        parser.finish(&mut |at, event: Event<'_>| reader.event(at, event, to));
        let len = parser.offset();
        let bom = len >= 2 && matches!(self.head, [0xFF, 0xFE] | [0xFE, 0xFF]);
        reader.finish_line(to);
        reader.settle(to);
        reader.page.suspect_utf16(bom, len);
        reader.page.finish(len, to);
    }
}

impl Reader {
    pub(crate) fn edits(&self) -> bool {
        self.page.editing
    }

    fn event<S: SpanReceiver>(&mut self, at: u64, event: Event<'_>, to: &mut Sheet<'_, S>) {
        match event {
            Event::Text(text) if self.window.is_some() => self.edit(at, text, to),
            Event::Text(text) => self.text(at, text, to),
            Event::IllFormed { len } if self.edits() => self.edit_ill_formed(at, len, to),
            Event::IllFormed { len } => self.ill_formed(at, len, to),
            Event::Control { code, len } => self.control(at, code, len, to),
            Event::Part { len } => {
                if !self.edits() {
                    self.settle(to);
                    self.interrupt(to);
                }
                self.page.part(at, len, to);
            }
            Event::End(sequence) => {
                self.page.sequence(&sequence, to);
                if self.edits() {
                    self.edit_sequence(&sequence, to);
                }
            }
            Event::SplitIntroducer { from } => self.page.split_introducer(at, from),
            _ => {}
        }
    }

    /// Text: ordinary runs are written as they are, each other character is judged.
    pub(crate) fn text<S: SpanReceiver>(&mut self, at: u64, text: &str, to: &mut Sheet<'_, S>) {
        let holding = self.context.is_holding();
        if !holding && text.is_ascii() {
            self.page.text(at, text, to);
            self.ran(text.as_bytes()[text.len() - 1].into(), to);
            return;
        }
        if !holding {
            self.settled = at;
        }
        let Self { context, page, settled, edited, .. } = self;
        // The run that waits to be written, and the last character in it not yet told to `context`.
        let mut run = 0..0;
        let mut untold = None;
        for (i, c) in text.char_indices() {
            let end = i + c.len_utf8();
            if is_ordinary(c) && !context.is_holding() {
                if run.is_empty() {
                    run.start = i;
                }
                run.end = end;
                untold = Some(c);
                continue;
            }
            if let Some(last) = untold.take() {
                context.ordinary(last);
            }
            if !context.is_holding() {
                *settled = at + i as u64;
            }
            let direct = !context.is_holding();
            context.push(c, &mut |judged, verdict| {
                if direct && verdict == noesc_text::Verdict::Keep {
                    if run.is_empty() {
                        run.start = i;
                    }
                    run.end = end;
                } else {
                    if !run.is_empty() {
                        page.text(at + run.start as u64, &text[run.clone()], to);
                        run = end..end;
                    }
                    self::judged(page, settled, edited, judged, verdict, to);
                    return;
                }
                *settled += judged.len_utf8() as u64;
            });
            if matches!(c, '\u{2028}' | '\u{2029}')
                && page.profile.separators == Separators::Newline
            {
                context.line_end(&mut |_, _| {}); // holds nothing after such a character
            }
            if context.is_holding() && !run.is_empty() {
                page.text(at + run.start as u64, &text[run.clone()], to);
                run = end..end;
            }
        }
        if let Some(last) = untold {
            context.ordinary(last);
        }
        if !run.is_empty() {
            page.text(at + run.start as u64, &text[run.clone()], to);
        }
    }

    pub(crate) fn ill_formed<S: SpanReceiver>(&mut self, at: u64, len: u8, to: &mut Sheet<'_, S>) {
        self.settle(to);
        self.page.ill_formed(at, len, to);
        self.context.ordinary('\u{FFFD}');
    }

    /// Tells the context of an ASCII run that ended with `last`.
    fn ran<S: SpanReceiver>(&mut self, last: char, to: &mut Sheet<'_, S>) {
        match last {
            '\n' => self.line_end(to),
            last => self.context.ordinary(last),
        }
    }

    pub(crate) fn control<S: SpanReceiver>(
        &mut self,
        at: u64,
        code: u8,
        len: u8,
        to: &mut Sheet<'_, S>,
    ) {
        if self.edits() {
            return self.edit_control(at, code, len, to);
        }
        self.settle(to);
        let ends_line = match code {
            0x0D => matches!(self.page.profile.cr, Cr::Newline | Cr::Collapse | Cr::Overwrite),
            0x0B | 0x0C | 0x85 => self.page.profile.separators == Separators::Newline,
            _ => false,
        };
        match ends_line {
            true => self.line_end(to),
            false => self.interrupt(to),
        }
        self.page.control(at, code, len, to);
        if code != 0x0D && ends_line {
            self.edit_again();
        }
    }

    pub(crate) fn interrupt<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        let Self { context, page, settled, edited, .. } = self;
        context.interrupt(&mut |c, verdict| judged(page, settled, edited, c, verdict, to));
    }

    pub(crate) fn line_end<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        let Self { context, page, settled, edited, .. } = self;
        context.line_end(&mut |c, verdict| judged(page, settled, edited, c, verdict, to));
    }

    /// What the context holds has no right neighbour.
    pub(crate) fn settle<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        if self.context.is_holding() {
            self.interrupt(to);
        }
    }
}

/// Gives a late verdict to the page, with the offset of its character.
pub(crate) fn judged<S: SpanReceiver>(
    page: &mut Page,
    settled: &mut u64,
    edited: &mut VecDeque<u64>,
    c: char,
    verdict: noesc_text::Verdict,
    to: &mut Sheet<'_, S>,
) {
    let at = edited.pop_front().unwrap_or(*settled);
    page.verdict(at, c, verdict, to);
    *settled = at + c.len_utf8() as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_across_two_pieces_of_a_chunk_is_one() {
        for before in (10..=17).chain(PIECE_BYTES_MAX - 6..=PIECE_BYTES_MAX + 1) {
            let text = "x".repeat(before);
            let chunk = format!("{text}\x1b[31m\u{e9}\u{301}\r\n{text}\x1b[m");
            let mut view = String::new();
            let mut boundary = Boundary::of(&Profile::AGENT);
            boundary.push(chunk.as_bytes(), &mut view);
            let report = boundary.finish(&mut view);
            assert_eq!(view, format!("{text}\u{e9}\u{301}\n{text}"), "{before}");
            assert_eq!((report.kinds["style"], report.controls.len()), (2, 0), "{before}");
        }
    }
}

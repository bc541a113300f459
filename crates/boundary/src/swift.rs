//! The way of most bytes: what a scan finds to need no rule passes without events.
//!
//! Parser, context and page stay the definition of a view. This takes only what they would keep as
//! it is, or count and drop, and leaves them in the state that the bytes would have brought.

use noesc_grammar::{Kind, Sequence};
use noesc_scan::{Piece, Stretch, text_into};
use noesc_text::{Category, Context, Verdict, category, is_base};

use crate::boundary::Reader;
use crate::profile::{Cr, Form, Removed, Style};
use crate::sheet::Sheet;
use crate::span::SpanReceiver;

/// Bytes below which looking for a stretch costs more than it gives.
const BYTES_MIN: usize = 16;

/// Bytes between two characters to be judged up to which it is quicker to judge all between them.
const NEAR_BYTES: usize = 24;

/// Bytes of text that are looked back over: more than a base and all that is kept on it.
const TAIL_BYTES: usize = 64;

impl Reader {
    /// Takes the bytes at the head of `rest` that need no rule, `at` their offset. Gives how many.
    /// The parser stands between two sequences.
    pub(crate) fn swift<S: SpanReceiver>(
        &mut self,
        at: u64,
        rest: &[u8],
        to: &mut Sheet<'_, S>,
    ) -> usize {
        let mut taken = 0;
        while rest.len() - taken >= BYTES_MIN && self.is_swift() {
            let (at, rest) = (at + taken as u64, &rest[taken..]);
            let len = match self.plain(at, rest, to) {
                0 if S::WANTED || !self.drops_all() => self.piecewise(at, rest, to),
                0 => self.stretch(at, rest, to),
                len => len,
            };
            if len == 0 {
                break;
            }
            taken += len;
        }
        taken
    }

    /// Whether the settings let bytes pass without events at all.
    pub(crate) fn can_be_swift(&self) -> bool {
        self.page.profile.form == Form::Text && !self.page.editing
    }

    /// Nothing that came before bears on what comes but the style that is in force.
    fn is_swift(&self) -> bool {
        self.page.profile.form == Form::Text
            && !self.edits()
            && self.window.is_none()
            && !self.context.is_holding()
            && self.page.is_swift()
    }

    /// Whether what is dropped leaves nothing, whatever it is.
    fn drops_all(&self) -> bool {
        let profile = &self.page.profile;
        profile.removed == Removed::Strip && profile.style == Style::Remove
    }

    /// Text and nothing else: copied while it is looked at.
    fn plain<S: SpanReceiver>(&mut self, at: u64, rest: &[u8], to: &mut Sheet<'_, S>) -> usize {
        let Some(out) = &mut to.out else { return 0 };
        let len = text_into(rest, out);
        if len > 0 {
            self.after(tail(&out[out.len() - len..]));
            self.page.line_has_text = !out.ends_with('\n');
            self.page.written.passed(at, len, to.spans);
        }
        len
    }

    /// A stretch of text and sequences that leave nothing: its text is written at once, and its
    /// sequences are counted.
    fn stretch<S: SpanReceiver>(&mut self, at: u64, rest: &[u8], to: &mut Sheet<'_, S>) -> usize {
        let mut stretch = Stretch::of(rest);
        if stretch.has_special() {
            self.judge(&mut stretch);
        }
        if stretch.is_empty() {
            return 0;
        }
        if stretch.has_cr() && !matches!(self.page.profile.cr, Cr::Newline | Cr::Drop) {
            cut_at_bare_cr(&mut stretch);
        }
        let told = self.tell_sequences(at, &mut stretch);
        let crs = match stretch.has_cr() {
            true => self.end_lines(&mut stretch),
            false => 0,
        };
        let sequences = stretch.sequences() as u64;
        self.page.tally.removed.sequences += sequences;
        self.page.tally.plain(Kind::Style, sequences - told);
        let (len, text_len) = (stretch.len(), stretch.text_len());
        let kept = text_len - stretch.line_ends();
        self.page.written.removed_bytes += (len - kept) as u64;
        self.page.written.view += text_len as u64;
        if let Some(out) = &mut to.out {
            stretch.append_to(out);
        }
        if let Some(last) = stretch.last_text(len) {
            self.page.line_has_text = stretch.raw()[last] != b'\n';
        }
        self.page.crs = crs;
        self.leave(&stretch);
        len
    }

    /// Sets the context to what the stretch leaves.
    fn leave(&mut self, stretch: &Stretch<'_>) {
        let end = stretch.last_text(stretch.len()).map_or(0, |last| last + 1);
        if end > 0 {
            let (start, run) = stretch.run_before(end);
            if start > 0 {
                self.context.interrupt(&mut |_, _| {});
            }
            self.after(tail(run));
        }
        if end < stretch.len() {
            match stretch.next_cr(end).is_some() && self.cr_ends_line() {
                true => self.context.line_end(&mut |_, _| {}),
                false => self.context.interrupt(&mut |_, _| {}),
            }
        }
    }

    fn cr_ends_line(&self) -> bool {
        matches!(self.page.profile.cr, Cr::Newline | Cr::Collapse | Cr::Overwrite)
    }

    /// Sets the context to what text leaves of which everything was kept. What comes before the
    /// last base in it does not matter, but for the character that a modifier modifies.
    fn after(&mut self, text: &str) {
        match anchor(text) {
            Some(from) => {
                self.context.interrupt(&mut |_, _| {});
                text[from..].chars().for_each(|c| self.context.push(c, &mut |_, _| {}));
            }
            // It follows what the context knows.
            None => text.chars().for_each(|c| self.context.push(c, &mut |_, _| {})),
        }
    }

    /// Ends a stretch before the first character that is not kept, or not certain to be.
    fn judge(&self, stretch: &mut Stretch<'_>) {
        let mut from = 0;
        while let Some(special) = stretch.next_special(from) {
            let (start, before) = stretch.run_before(special);
            let (mut context, from_here) = match anchor(before) {
                Some(at) => (Context::default(), start + at),
                None if start == 0 => (self.context.clone(), 0),
                // What is before a sequence may still count.
                None => return stretch.cut(special),
            };
            // The first character without a verdict, and the first one that is not kept.
            let (mut settled, mut dropped) = (from_here, None);
            let mut at = from_here;
            let mut until = special;
            for c in stretch.run_from(from_here).chars() {
                context.push(c, &mut |c, verdict| {
                    if verdict != Verdict::Keep {
                        dropped.get_or_insert(settled);
                    }
                    settled += c.len_utf8();
                });
                at += c.len_utf8();
                if dropped.is_some() {
                    break;
                }
                if at > until && !context.is_holding() {
                    match stretch.next_special(at) {
                        Some(next) if next < at + NEAR_BYTES => until = next,
                        _ => break,
                    }
                }
            }
            if let Some(place) = dropped.or(context.is_holding().then_some(settled)) {
                return stretch.cut(place);
            }
            from = at;
        }
    }

    /// Tells of each sequence that is more than plain style. Ends the stretch where what follows is
    /// no longer swift. Gives how many it told of.
    fn tell_sequences(&mut self, at: u64, stretch: &mut Stretch<'_>) -> u64 {
        let mut told = Told::default();
        let mut styled = 0;
        while let Some(end) = stretch.next_end(told.to, self.page.attributes.is_idle()) {
            if stretch.is_erase(end) {
                told.to = end + 1;
                continue;
            }
            let bytes = stretch.sequence(end);
            let (from, to) = (end + 1 - bytes.len(), end + 1);
            self.tell_plain(at, stretch, &mut told, from);
            let Some(sequence) = Sequence::csi(at + from as u64, bytes) else { break };
            if sequence.kind == Kind::Style || sequence.kind == Kind::Conceal {
                self.style_up_to(stretch, styled, from);
                styled = to;
            }
            self.page.told(&sequence);
            told.to = to;
            told.sequences += 1;
            if !self.page.is_swift() {
                stretch.cut(to);
                break;
            }
        }
        self.tell_plain(at, stretch, &mut told, stretch.len());
        let erases = stretch.erases() as u64;
        self.page.tally.plain_more(Kind::Erase, erases - told.erases);
        self.style_up_to(stretch, styled, stretch.len());
        told.sequences + erases
    }

    /// Tells of the sequences before `to` that were cut short, and of each EL as long as one more
    /// could add a span to its finding.
    fn tell_plain(&mut self, at: u64, stretch: &Stretch<'_>, told: &mut Told, to: usize) {
        while !self.page.tally.is_full(Kind::Erase)
            && let Some(end) = stretch.next_erase(told.erased_to).filter(|&end| end < to)
        {
            let len = stretch.sequence(end).len() as u64;
            self.page.tally.plain_at(Kind::Erase, (at + end as u64 + 1 - len, len));
            told.erases += 1;
            told.erased_to = end + 1;
        }
        while stretch.has_aborted()
            && let Some(run) = stretch.next_aborted(told.aborted_to).filter(|run| run.end <= to)
        {
            let span = (at + run.start as u64, (run.end - run.start) as u64);
            self.page.tally.aborted(span, run.count.into(), run.escapes.into());
            told.aborted_to = run.end;
        }
    }

    /// Tells the attributes of the plain styles between two places. None of them sets anything but
    /// a foreground that could matter, so the last one that does is enough.
    fn style_up_to(&mut self, stretch: &Stretch<'_>, from: usize, to: usize) {
        let mut to = to;
        while let Some(end) = stretch.last_style(to).filter(|&end| end >= from) {
            let bytes = stretch.sequence(end);
            if self.page.attributes.plain_style(bytes) {
                break;
            }
            to = end;
        }
    }

    /// What the CRs of a stretch are: part of a line end, a line end, or nothing. Gives how many at
    /// its end wait for what follows.
    fn end_lines(&mut self, stretch: &mut Stretch<'_>) -> u64 {
        if self.page.profile.cr == Cr::Newline {
            self.page.tally.bare_crs(stretch.end_lines() as u64);
        }
        let mut from = 0;
        while let Some(run) = Crs::next(stretch, from) {
            from = run.end;
            match run.before {
                None => return run.count,
                Some(b'\n') => {}
                Some(_) => {
                    self.page.tally.bare_crs(run.count);
                    let before = stretch.last_text(run.first).map(|at| stretch.raw()[at]);
                    let has_text = before.map_or(self.page.line_has_text, |byte| byte != b'\n');
                    if has_text && self.page.profile.cr == Cr::Newline {
                        stretch.end_line(run.last);
                    }
                }
            }
        }
        0
    }

    /// A stretch piece by piece: for who wants spans, and where what is dropped leaves something.
    fn piecewise<S: SpanReceiver>(&mut self, at: u64, rest: &[u8], to: &mut Sheet<'_, S>) -> usize {
        let mut stretch = Stretch::of(rest);
        if stretch.has_special() {
            self.judge(&mut stretch);
        }
        let mut taken = 0;
        for (place, piece) in stretch.pieces() {
            let here = at + place as u64;
            match piece {
                Piece::Text(text) => {
                    self.page.text(here, text, to);
                    self.after(text);
                    taken = place + text.len();
                }
                Piece::Cr => {
                    self.control(here, b'\r', 1, to);
                    taken = place + 1;
                }
                Piece::Aborted(bytes) => {
                    self.interrupt(to);
                    self.page.part(here, bytes.len() as u64, to);
                    self.page.sequence(&Sequence::aborted(here, bytes), to);
                    taken = place + bytes.len();
                }
                Piece::Sequence { bytes, is_plain } => {
                    let sequence = match is_plain && bytes.ends_with(b"m") {
                        true => Sequence::style(here, bytes),
                        false => Sequence::csi(here, bytes),
                    };
                    let Some(sequence) = sequence else { break };
                    self.interrupt(to);
                    self.page.part(here, bytes.len() as u64, to);
                    self.page.sequence(&sequence, to);
                    taken = place + bytes.len();
                }
            }
        }
        taken
    }
}

/// The end of a text, whole characters.
fn tail(text: &str) -> &str {
    let mut from = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The place of the last character in a text that leaves a context the same whatever was before it:
/// a base or a line end; of a modifier, the character before.
fn anchor(text: &str) -> Option<usize> {
    let mut last = text.char_indices().rev();
    let (at, c) = last.find(|&(_, c)| c == '\n' || is_base(c))?;
    match category(c) {
        Category::EmojiModifier => last.next().map(|(before, _)| before),
        _ => Some(at),
    }
}

/// What was told of the sequences of a stretch, and how far.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    to: usize,
    sequences: u64,
    erased_to: usize,
    erases: u64,
    aborted_to: usize,
}

/// A run of CRs, with sequences between or not.
struct Crs {
    first: usize,
    last: usize,
    count: u64,
    /// The byte of text before which it stands, and its place; the end of the stretch.
    before: Option<u8>,
    end: usize,
}

impl Crs {
    /// The first run from a place on.
    fn next(stretch: &Stretch<'_>, from: usize) -> Option<Self> {
        let first = stretch.next_cr(from)?;
        let text = stretch.next_text(first);
        let end = text.unwrap_or(stretch.len());
        let (mut count, mut last) = (1, first);
        while let Some(cr) = stretch.next_cr(last + 1).filter(|&cr| cr < end) {
            (count, last) = (count + 1, cr);
        }
        Some(Self { first, last, count, before: text.map(|at| stretch.raw()[at]), end })
    }
}

/// Ends a stretch before a CR that is no part of a line end.
fn cut_at_bare_cr(stretch: &mut Stretch<'_>) {
    let mut from = 0;
    while let Some(run) = Crs::next(stretch, from) {
        from = run.end;
        if run.before.is_some_and(|byte| byte != b'\n') {
            return stretch.cut(run.first);
        }
    }
}

//! Events in, view out: the settings of a profile applied to one piece of the input after another.

use noesc_grammar::{Class, Kind, Sequence};
use noesc_text::{Verdict, Visible};

use crate::attributes::{Attributes, is_blank};
use crate::modes::Modes;
use crate::profile::{Cr, Form, HiddenText, Invisible, Profile, Removed, Separators, Style};
use crate::report::{Notice, Report, Severity, Tally};
use crate::sheet::{Sheet, Written};
use crate::span::{Fate, SpanReceiver};
use crate::style::{self, Rebuilt};
use crate::window::LINE_CELLS_MAX;

pub(crate) const MARK: &str = "\u{241B}";
pub(crate) const CLOSE_STYLE: &str = "\x1b[0m";
const REPLACEMENT: &str = "\u{FFFD}";
const HIDDEN_OPEN: &str = "\u{27E6}";
const HIDDEN_CLOSE: &str = "\u{27E7}";

/// The state of a view but for the parser, which gives it its events, and the context of
/// characters, which gives it their verdicts.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) profile: Profile,
    /// Lines are edited before they are written: marks wait with them.
    pub(crate) editing: bool,
    /// Whether a terminal would hide the character at hand, in a line that was edited.
    pub(crate) hidden_glyph: Option<bool>,
    pub(crate) written: Written,
    /// By far the largest part: apart, so that the rest is cheap to move.
    pub(crate) tally: Box<Tally>,
    pub(crate) attributes: Attributes,
    /// What a terminal that is given the view would hide: style that was dropped does not count.
    shown: Attributes,
    modes: Modes,
    /// CRs since the last text: part of a line end if LF comes, else bare.
    pub(crate) crs: u64,
    /// The line of the view holds text.
    pub(crate) line_has_text: bool,
    /// A kept style sequence did more than reset.
    style_open: bool,
    /// Hidden text is open: offsets of its first and after its last character.
    hidden: Option<(u64, u64)>,
    /// The last thing written of it was `⟧`.
    hidden_closed: bool,
    /// Bytes of the open sequence whose fate is not decided: offset and length.
    part: Option<(u64, u64)>,
    /// Cells of the segment that may be left out.
    segment_cells: usize,
    /// NULs at even and at odd offsets.
    nuls: [u64; 2],
}

impl Page {
    pub(crate) fn new(profile: Profile) -> Self {
        Self {
            profile,
            editing: profile.form == Form::Text && profile.cr == Cr::Overwrite,
            hidden_glyph: None,
            written: Written::default(),
            tally: Box::default(),
            attributes: Attributes::default(),
            shown: Attributes::default(),
            modes: Modes::default(),
            crs: 0,
            line_has_text: false,
            style_open: false,
            hidden: None,
            hidden_closed: false,
            part: None,
            segment_cells: 0,
            nuls: [0; 2],
        }
    }

    /// Nothing waits for what comes, and a terminal would show text as it is.
    pub(crate) fn is_swift(&self) -> bool {
        self.crs == 0
            && self.part.is_none()
            && self.hidden.is_none()
            && !self.hides()
            && !self.attributes.draws()
            && !self.written.in_segment()
    }

    /// A sequence that leaves nothing, and whose bytes are counted elsewhere.
    pub(crate) fn told(&mut self, sequence: &Sequence<'_>) {
        self.tally.sequence(sequence);
        self.attributes.sequence(sequence);
        self.modes.sequence(sequence);
    }

    /// Text that stays, `at` its offset. It holds no character that the profile forbids.
    pub(crate) fn text<S: SpanReceiver>(&mut self, at: u64, text: &str, to: &mut Sheet<'_, S>) {
        self.settle_part(to);
        if self.crs > 0 {
            match text.starts_with('\n') {
                true => self.crs = 0,
                false => self.bare_crs(at, to),
            }
        }
        if self.written.in_segment() {
            return self.segment_text(at, text, to);
        }
        if self.hides() || self.attributes.draws() || self.hidden.is_some() {
            self.attentive_text(at, text, to);
        } else {
            self.written.kept(at, text, to);
        }
        self.line_has_text = !text.ends_with('\n');
    }

    /// A terminal would hide the text at hand.
    fn hides(&self) -> bool {
        self.hidden_glyph.unwrap_or_else(|| self.attributes.hides() || self.shown.hides())
    }

    /// Text in a segment that may be left out: the end of its line decides that it stays, and so
    /// does its length.
    fn segment_text<S: SpanReceiver>(&mut self, at: u64, text: &str, to: &mut Sheet<'_, S>) {
        let mut end = 0;
        for c in text.chars() {
            if c == '\n' || self.segment_cells >= LINE_CELLS_MAX {
                break;
            }
            end += c.len_utf8();
            self.segment_cells += cells(c);
        }
        let (head, rest) = text.split_at(end);
        if !head.is_empty() {
            self.attentive_text(at, head, to);
            self.line_has_text = true;
        }
        if !rest.is_empty() {
            if !rest.starts_with('\n') {
                self.tally.collapsed.segments_beyond_window += 1;
            }
            self.written.commit_segment(to);
            self.text(at + end as u64, rest, to);
        }
    }

    /// Text of which each character counts: a terminal would hide some, or draw others.
    fn attentive_text<S: SpanReceiver>(&mut self, at: u64, text: &str, to: &mut Sheet<'_, S>) {
        let mut from = 0;
        for (i, c) in text.char_indices() {
            let here = at + i as u64;
            let after = here + c.len_utf8() as u64;
            let hides = self.hides() && !is_blank(c);
            if c == '\n' || (hides && self.hidden.is_none()) {
                if i > from {
                    self.written.kept(at + from as u64, &text[from..i], to);
                    from = i;
                }
                match c {
                    '\n' => self.close_hidden(here, to),
                    _ => self.open_hidden(here, c, to),
                }
            }
            if hides {
                self.hide(c, here, after);
            }
            self.note_drawing(c);
        }
        if from < text.len() {
            self.written.kept(at + from as u64, &text[from..], to);
        }
    }

    /// The first character that a terminal would hide. One that is itself the opening mark needs
    /// none, so that a marked view is a fixed point.
    fn open_hidden<S: SpanReceiver>(&mut self, at: u64, first: char, to: &mut Sheet<'_, S>) {
        if self.profile.hidden_text == HiddenText::Mark && first != '\u{27E6}' {
            self.written.inserted(at, HIDDEN_OPEN, to);
        }
        self.hidden = Some((at, at));
        if let Some(span) = self.attributes.take_conceal() {
            self.tally.kind(Kind::Conceal, span);
        }
    }

    /// A character that a terminal would hide. In an edited line it may stand before an earlier
    /// one.
    fn hide(&mut self, c: char, at: u64, after: u64) {
        self.hidden = self.hidden.map(|(start, end)| (start.min(at), end.max(after)));
        self.hidden_closed = c == '\u{27E7}';
    }

    /// Hidden text ends: a terminal would show what follows, or the line ends.
    pub(crate) fn close_hidden<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        let Some((start, end)) = self.hidden.take() else { return };
        self.tally.notice(Notice::HiddenText, (start, end - start));
        if self.profile.hidden_text == HiddenText::Mark && !self.hidden_closed {
            self.written.inserted(at, HIDDEN_CLOSE, to);
        }
    }

    /// The pending CRs were no part of a line end.
    fn bare_crs<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        let n = std::mem::take(&mut self.crs);
        self.tally.bare_crs(n);
        match self.profile.cr {
            Cr::Newline | Cr::Collapse | Cr::Overwrite => self.cr_newline(at, to),
            Cr::Mark => self.marks(n, at, to),
            Cr::Drop if self.profile.removed == Removed::Mark => self.marks(n, at, to),
            Cr::Drop => {}
        }
    }

    fn cr_newline<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        if !self.line_has_text {
            return;
        }
        self.close_hidden(at, to);
        if self.profile.cr == Cr::Collapse {
            if self.written.drop_segment(to) {
                self.tally.collapsed.segments += 1;
            }
            self.written.begin_segment();
            self.segment_cells = 0;
        }
        self.written.inserted(at, "\n", to);
        self.line_has_text = false;
    }

    fn marks<S: SpanReceiver>(&mut self, n: u64, at: u64, to: &mut Sheet<'_, S>) {
        for _ in 0..n {
            self.written.inserted(at, MARK, to);
        }
    }

    /// A sequence or control was dropped before `at`.
    pub(crate) fn mark<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        if self.profile.removed == Removed::Mark && !self.editing {
            self.written.inserted(at, MARK, to);
            self.take_cells(1, to);
        }
    }

    /// A line end in place of something else: VT, FF, NEL, U+2028, U+2029.
    fn separator<S: SpanReceiver>(&mut self, at: u64, len: u64, to: &mut Sheet<'_, S>) {
        match self.profile.separators {
            Separators::Newline => {
                match self.profile.cr {
                    Cr::Drop | Cr::Mark => self.bare_crs(at, to),
                    // What follows is a line end already.
                    _ => self.tally.bare_crs(std::mem::take(&mut self.crs)),
                }
                self.close_hidden(at, to);
                self.written.commit_segment(to);
                self.written.replaced(at, len, "\n", to);
                self.line_has_text = false;
            }
            Separators::Drop => self.written.removed(at, len, to),
        }
    }

    /// One maximal subpart of ill-formed UTF-8.
    pub(crate) fn ill_formed<S: SpanReceiver>(&mut self, at: u64, len: u8, to: &mut Sheet<'_, S>) {
        self.tally.ill_formed(at, u64::from(len));
        self.replacement(at, u64::from(len), REPLACEMENT, '\u{FFFD}', to);
    }

    /// A cell of an edited line that nothing was written to.
    pub(crate) fn gap<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        self.written.inserted(at, " ", to);
        self.line_has_text = true;
    }

    /// Pending CRs of an edited line: they moved its cursor.
    pub(crate) fn settle_crs_edited(&mut self) {
        self.tally.bare_crs(std::mem::take(&mut self.crs));
    }

    /// A character of an edited line is put under the set that is in force.
    pub(crate) fn note_drawing(&mut self, c: char) {
        if self.attributes.draws() && matches!(c, '\u{5F}'..='\u{7E}') {
            self.tally.raise(Kind::CharsetShift);
        }
    }

    /// Text in place of other bytes. It counts as the text it is.
    fn replacement<S: SpanReceiver>(
        &mut self,
        at: u64,
        len: u64,
        text: &str,
        first: char,
        to: &mut Sheet<'_, S>,
    ) {
        self.settle_part(to);
        if self.crs > 0 {
            self.bare_crs(at, to);
        }
        if self.hides() && !is_blank(first) {
            if self.hidden.is_none() {
                self.open_hidden(at, first, to);
            }
            self.hide(first, at, at + len);
        }
        self.written.replaced(at, len, text, to);
        self.take_cells(text.chars().count(), to);
        self.line_has_text = true;
    }

    /// Something was written to the segment that may be left out: when it is too long, it stays.
    fn take_cells<S: SpanReceiver>(&mut self, n: usize, to: &mut Sheet<'_, S>) {
        if self.written.in_segment() {
            self.segment_cells += n;
            if self.segment_cells > LINE_CELLS_MAX {
                self.tally.collapsed.segments_beyond_window += 1;
                self.written.commit_segment(to);
            }
        }
    }

    /// What becomes of a character, now that its neighbours are known.
    pub(crate) fn verdict<S: SpanReceiver>(
        &mut self,
        at: u64,
        c: char,
        verdict: Verdict,
        to: &mut Sheet<'_, S>,
    ) {
        let len = c.len_utf8() as u64;
        let found = match verdict {
            Verdict::Keep => None,
            Verdict::Noted(class, severity)
            | Verdict::Drop(class, severity)
            | Verdict::Substitute(class, _, severity) => Some((class, severity)),
        };
        let Some((class, severity)) = found else { return self.char(at, c, to) };
        let shown = self.shown(class);
        if class == noesc_text::Class::LineSeparator {
            self.settle_part(to);
            self.tally.character(class);
            return self.separator(at, len, to);
        }
        if shown == Shown::AsItIs && matches!(verdict, Verdict::Drop(..)) {
            let silent = self.profile.invisible == Invisible::Show;
            if !silent {
                self.tally.invisible(class, of(severity), (at, len));
            }
            return self.char(at, c, to);
        }
        self.tally.invisible(class, of(severity), (at, len));
        match (verdict, shown) {
            (Verdict::Drop(..), Shown::AsNotation) => {
                self.tally.character(class);
                self.replacement(at, len, &Visible(c).to_string(), '<', to);
            }
            (Verdict::Drop(..), _) => {
                self.tally.character(class);
                self.settle_part(to);
                self.written.removed(at, len, to);
            }
            (Verdict::Substitute(_, by, _), shown) if shown != Shown::AsItIs => {
                self.tally.character(class);
                match (shown, class) {
                    (Shown::AsNotation, noesc_text::Class::Filler) => {
                        self.replacement(at, len, &Visible(c).to_string(), '<', to);
                    }
                    _ => self.replacement(at, len, by.encode_utf8(&mut [0; 4]), by, to),
                }
            }
            _ => self.char(at, c, to),
        }
    }

    /// How the profile has an invisible character that is out of place.
    fn shown(&self, class: noesc_text::Class) -> Shown {
        use noesc_text::Class;
        match (self.profile.invisible, class) {
            // A noncharacter is for no interchange, whatever else is kept.
            (_, Class::Noncharacter) | (Invisible::Drop, _) => Shown::Not,
            (Invisible::Keep, _) | (Invisible::Show, Class::BidiMark) => Shown::AsItIs,
            (
                Invisible::Show,
                Class::BidiControl
                | Class::Ignorable
                | Class::Annotation
                | Class::Filler
                | Class::MongolianSelector,
            ) => Shown::AsNotation,
            (Invisible::Show, _) => Shown::Not,
        }
    }

    fn char<S: SpanReceiver>(&mut self, at: u64, c: char, to: &mut Sheet<'_, S>) {
        self.text(at, c.encode_utf8(&mut [0; 4]), to);
    }

    /// A single control.
    pub(crate) fn control<S: SpanReceiver>(
        &mut self,
        at: u64,
        code: u8,
        len: u8,
        to: &mut Sheet<'_, S>,
    ) {
        self.settle_part(to);
        let len = u64::from(len);
        match code {
            0x0D => {
                self.crs += 1;
                self.written.removed(at, len, to);
                return;
            }
            0x00 => self.nuls[(at % 2) as usize] += 1,
            0x0E => self.attributes.shift(1),
            0x0F => self.attributes.shift(0),
            _ => {}
        }
        self.tally.control(code, at, len);
        match code {
            0x0B | 0x0C | 0x85 if self.profile.separators == Separators::Newline => {
                self.separator(at, len, to);
            }
            _ => {
                self.written.removed(at, len, to);
                self.mark(at + len, to);
            }
        }
    }

    /// Bytes of the open sequence. What becomes of them is known when it ends, or when something
    /// else stands inside: then it is malformed.
    pub(crate) fn part<S: SpanReceiver>(&mut self, at: u64, len: u64, to: &mut Sheet<'_, S>) {
        match &mut self.part {
            Some((start, so_far)) if *start + *so_far == at => *so_far += len,
            _ => {
                self.settle_part(to);
                self.part = Some((at, len));
            }
        }
    }

    pub(crate) fn settle_part<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        if let Some((at, len)) = self.part.take() {
            self.written.removed(at, len, to);
        }
    }

    /// The open sequence ended.
    pub(crate) fn sequence<S: SpanReceiver>(
        &mut self,
        sequence: &Sequence<'_>,
        to: &mut Sheet<'_, S>,
    ) {
        self.tally.sequence(sequence);
        self.attributes.sequence(sequence);
        self.modes.sequence(sequence);
        if self.hidden.is_some() && !self.editing && !self.hides() {
            let before = self.part.map_or(sequence.end, |(at, _)| at);
            self.close_hidden(before, to);
        }
        if self.profile.form == Form::Off
            && (sequence.class, sequence.final_byte) == (Class::Csi, b'm')
        {
            let resets = matches!(sequence.collected, b"" | b"0") && sequence.is_sound();
            self.style_open = !resets;
        }
        match self.rebuilt(sequence) {
            Some(style) => self.style(sequence, &style, to),
            None => {
                self.tally.removed.sequences += 1;
                self.settle_part(to);
                self.mark(sequence.end, to);
            }
        }
    }

    fn rebuilt(&self, sequence: &Sequence<'_>) -> Option<Rebuilt> {
        let Style::Keep(conceal) = self.profile.style else { return None };
        if !style::is_style(sequence) {
            return None;
        }
        style::rebuild(sequence.collected, conceal)
    }

    fn style<S: SpanReceiver>(
        &mut self,
        sequence: &Sequence<'_>,
        style: &Rebuilt,
        to: &mut Sheet<'_, S>,
    ) {
        let Some((at, len)) = self.part.take() else { return };
        // What hid the text so far may stand nowhere in the view; from here on it is this style.
        self.close_hidden(at, to);
        let parameters = &style.text.as_bytes()[2..style.text.len() - 1];
        self.shown.style(parameters);
        // `ESC [` and `m`: not the C1 form, and nothing rebuilt.
        let same =
            len == style.text.len() as u64 && !sequence.encoded && parameters == sequence.collected;
        let fate = if same { Fate::Kept } else { Fate::Replaced };
        self.written.style(fate, at, len, &style.text, to);
        self.style_open = !style.resets;
        self.take_cells(1, to);
    }

    /// The last style that the view holds did more than reset.
    pub(crate) fn leaves_style_open(&self) -> bool {
        self.style_open
    }

    /// Closes the style that is open.
    pub(crate) fn close_style<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        if std::mem::take(&mut self.style_open) {
            self.written.inserted(at, CLOSE_STYLE, to);
        }
    }

    pub(crate) fn split_introducer(&mut self, at: u64, from: u64) {
        self.tally.notice(Notice::SplitIntroducer, (from, at + 1 - from));
    }

    /// The stream ended at `at`; all events were given. A style that is open stays so.
    pub(crate) fn finish<S: SpanReceiver>(&mut self, at: u64, to: &mut Sheet<'_, S>) {
        self.settle_part(to);
        if self.crs > 0 {
            self.written.commit_segment(to);
            if matches!(self.profile.cr, Cr::Collapse | Cr::Newline) && self.line_has_text {
                self.close_hidden(at, to);
                self.written.inserted(at, "\n", to);
                self.line_has_text = false;
            }
            match self.profile.cr {
                Cr::Overwrite => self.tally.bare_crs(std::mem::take(&mut self.crs)),
                _ => self.bare_crs(at, to),
            }
        }
        self.close_hidden(at, to);
        for span in self.modes.left_on() {
            self.tally.notice(Notice::ModeLeftOn, span);
        }
    }

    /// Every second byte of a stream of `len` bytes was NUL, or a BOM of UTF-16 stood at its start.
    pub(crate) fn suspect_utf16(&mut self, bom: bool, len: u64) {
        let [even, odd] = self.nuls;
        let (many, few) = (even.max(odd), even.min(odd));
        // Four fifths of the places, so that a few wide characters do not hide it.
        let every_second = many >= 2 && many * 5 >= len / 2 * 4 && few * 10 <= many;
        if bom || every_second {
            self.tally.notice(Notice::Utf16Suspected, (0, len));
        }
    }

    pub(crate) fn report(&self) -> Report {
        let mut report = self.tally.report();
        report.removed.bytes = self.written.removed_bytes;
        if self.profile.form != Form::Text {
            report.removed = Default::default();
            report.ill_formed *= u64::from(self.profile.form == Form::Off);
        }
        report
    }
}

/// How a flagged character comes into a view.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Not,
    AsNotation,
    AsItIs,
}

fn of(severity: noesc_text::Severity) -> Severity {
    match severity {
        noesc_text::Severity::Info => Severity::Info,
        noesc_text::Severity::Low => Severity::Low,
        noesc_text::Severity::High => Severity::High,
        noesc_text::Severity::Critical => Severity::Critical,
    }
}

/// Cells that a character takes, at least one: what takes none is held all the same.
fn cells(c: char) -> usize {
    unicode_width::UnicodeWidthChar::width(c).unwrap_or(1).max(1)
}

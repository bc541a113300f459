//! The context rules as an automaton: a character is judged by the characters beside it.
//!
//! Neighbours are the *original* ones: what is dropped still stands between its neighbours, and
//! legitimises neither. So dropping can only take neighbours away, and judging what was kept once
//! more keeps all of it.

use crate::category::{Category, JoiningScript, category, is_base, is_listed_pair};
use crate::verdict::{Class, Severity, Verdict};

/// Marks that one base keeps; the next is dropped.
pub const MARKS_MAX: u8 = 8;

/// How many characters can be without their verdict at the moment a character is pushed, that
/// character included: the six tags of a flag. Between calls it is one less.
pub const HOLD_MAX: usize = 6;

/// The three flags that are recommended for interchange, as their tags less E0000.
const FLAGS: [&[u8; HOLD_MAX]; 3] = [b"gbeng\x7f", b"gbsct\x7f", b"gbwls\x7f"];

/// The rows of the table whose severity rises with the number in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Tag,
    Selector,
    IdeographSelector,
    ZeroWidth,
    Ignorable,
}

impl Row {
    /// The number in a row from which the severity is the one beside it.
    const fn raised(self) -> (u8, Severity) {
        match self {
            Self::Tag | Self::IdeographSelector => (4, Severity::Critical),
            Self::Selector => (2, Severity::High),
            Self::ZeroWidth | Self::Ignorable => (8, Severity::High),
        }
    }

    const fn class(self) -> Class {
        match self {
            Self::Tag => Class::Tag,
            Self::Selector | Self::IdeographSelector => Class::VariationSelector,
            Self::ZeroWidth => Class::ZeroWidth,
            Self::Ignorable => Class::Ignorable,
        }
    }
}

/// How far `ExtPict [modifier] [FE0F]` has been matched by what stands directly before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emoji {
    No,
    Pictograph,
    Modified,
    Selected,
}

/// Whether a character that is no base is kept where it stands, told by its neighbours alone:
/// `before` gives the characters directly before it, the nearest first, and `after` is the one
/// directly behind. False where a [`Context`] must be asked, which may keep it all the same.
///
/// ```
/// use noesc_text::is_at_home;
/// assert!(is_at_home('\u{301}', "\u{e9}".chars(), None));
/// assert!(is_at_home('\u{200d}', "\u{1f469}".chars(), Some('\u{1f469}')));
/// assert!(!is_at_home('\u{200d}', "\u{4e2d}".chars(), Some('\u{1f469}')));
/// ```
pub fn is_at_home(
    c: char,
    mut before: impl Iterator<Item = char> + Clone,
    after: Option<char>,
) -> bool {
    let behind = before.clone();
    let Some(nearest) = before.next() else { return false };
    match (category(c), category(nearest)) {
        (Category::Mark | Category::MarkVirama, _) => behind
            .take(usize::from(MARKS_MAX))
            .find(|&c| !matches!(category(c), Category::Mark | Category::MarkVirama))
            .is_some_and(is_base),
        (Category::EmojiSelector, nearest) => nearest.is_pictograph(),
        (Category::Joiner | Category::NonJoiner, Category::SpacingVirama) => true,
        (Category::Joiner | Category::NonJoiner, Category::MarkVirama) => {
            is_at_home(nearest, before, None)
        }
        (Category::Joiner, Category::Joining(_)) => true,
        (Category::NonJoiner, Category::Joining(script)) => {
            after.is_some_and(|after| category(after) == Category::Joining(script))
        }
        (Category::Joiner, nearest) => {
            let joins = match nearest {
                Category::EmojiModifier | Category::EmojiSelector => {
                    before.next().is_some_and(|c| category(c).is_pictograph())
                }
                nearest => nearest.is_pictograph(),
            };
            joins && after.is_some_and(|after| category(after).is_pictograph())
        }
        _ => false,
    }
}

/// The characters seen so far, as far as they bear on the next ones. Of fixed size.
///
/// Verdicts come out in the order of the input, at most [`HOLD_MAX`] − 1 characters late.
///
/// ```
/// use noesc_text::{Context, Verdict};
/// let mut kept = String::new();
/// let mut emit = |c, verdict| if verdict == Verdict::Keep { kept.push(c) };
/// let mut context = Context::default();
/// for c in "pass\u{200b}word \u{645}\u{6cc}\u{200c}\u{62e}".chars() {
///     context.push(c, &mut emit);
/// }
/// context.finish(&mut emit);
/// assert_eq!(kept, "password \u{645}\u{6cc}\u{200c}\u{62e}");
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    /// The character directly before, if it was kept as it is and nothing stood between.
    before: Option<char>,
    /// The script of the joining letter before, with nothing but kept marks since.
    joining: Option<JoiningScript>,
    emoji: Emoji,
    /// Directly after 2801–28FF and the kept blanks that follow it.
    braille: bool,
    /// Kept marks since the last character that is a base.
    marks: u8,
    row: Option<Row>,
    in_a_row: u8,
    /// False until anything at all has been seen.
    begun: bool,
    held: [char; HOLD_MAX],
    held_len: u8,
}

impl Default for Context {
    /// The start of a stream.
    fn default() -> Self {
        Self {
            before: None,
            joining: None,
            emoji: Emoji::No,
            braille: false,
            marks: 0,
            row: None,
            in_a_row: 0,
            begun: false,
            held: ['\0'; HOLD_MAX],
            held_len: 0,
        }
    }
}

impl Context {
    /// Takes the next character and emits every verdict that is now known, in the order of input.
    ///
    /// LF is a line end and kept. U+2028 and U+2029 are no neighbours to anything, and are offered
    /// as LF; a caller who then writes a line end calls [`line_end`](Self::line_end), one who drops
    /// them does not. Other controls are no characters to this automaton: the caller, who decides
    /// what becomes of them, calls [`interrupt`](Self::interrupt) or [`line_end`](Self::line_end).
    #[inline]
    pub fn push(&mut self, c: char, emit: &mut impl FnMut(char, Verdict)) {
        let what = category(c);
        if what == Category::Ordinary && self.held_len == 0 && c != '\n' {
            self.ordinary(c);
            emit(c, Verdict::Keep);
        } else {
            self.push_special(c, what, emit);
        }
    }

    fn push_special(&mut self, c: char, what: Category, emit: &mut impl FnMut(char, Verdict)) {
        if self.held_len > 0 {
            if what == Category::Tag && category(self.held[0]) == Category::Tag {
                return self.tag(c, emit);
            }
            let kept = self.is_completed_by(what);
            self.release(kept, emit);
        }
        if c == '\n' {
            self.line_end(emit);
            return emit(c, Verdict::Keep);
        }
        self.judge(c, what, emit);
        self.begun = true;
    }

    /// True while characters wait for what follows them.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.held_len > 0
    }

    /// Says that a run of characters that are all [`is_ordinary`](crate::is_ordinary) passed, the
    /// last of them being `last`. Does what [`push`](Self::push) of each would, without verdicts,
    /// which would all be [`Verdict::Keep`].
    ///
    /// Not to be called while [`is_holding`](Self::is_holding): what is held would then be judged
    /// by a later neighbour.
    #[inline]
    pub fn ordinary(&mut self, last: char) {
        debug_assert!(self.held_len == 0, "ordinary() while characters are held");
        self.cut();
        self.before = Some(last);
        self.marks = 0;
        self.begun = true;
    }

    /// Says that a sequence or a control stood here: what is before and what follows are no
    /// neighbours. Marks are still counted across it.
    pub fn interrupt(&mut self, emit: &mut impl FnMut(char, Verdict)) {
        if self.held_len > 0 {
            self.release(false, emit);
        }
        self.cut();
        self.begun = true;
    }

    /// Says that a line ended here: as [`interrupt`](Self::interrupt), and marks are counted anew.
    pub fn line_end(&mut self, emit: &mut impl FnMut(char, Verdict)) {
        self.interrupt(emit);
        self.marks = 0;
    }

    /// Ends the stream: what is held has no right neighbour. The context is then at the start of
    /// a stream again.
    pub fn finish(&mut self, emit: &mut impl FnMut(char, Verdict)) {
        if self.held_len > 0 {
            self.release(false, emit);
        }
        *self = Self::default();
    }

    /// Nothing stands directly before what follows.
    fn cut(&mut self) {
        self.before = None;
        self.joining = None;
        self.emoji = Emoji::No;
        self.braille = false;
        self.row = None;
        self.in_a_row = 0;
    }

    /// `c` was kept and stands directly before what follows; it is no mark.
    fn keep(&mut self, c: char, emit: &mut impl FnMut(char, Verdict)) {
        self.cut();
        self.before = Some(c);
        emit(c, Verdict::Keep);
    }

    fn drop(&mut self, c: char, class: Class, emit: &mut impl FnMut(char, Verdict)) {
        self.drop_as(c, class, Severity::Low, emit);
    }

    fn drop_as(
        &mut self,
        c: char,
        class: Class,
        severity: Severity,
        emit: &mut impl FnMut(char, Verdict),
    ) {
        self.cut();
        emit(c, Verdict::Drop(class, severity));
    }

    fn substitute(&mut self, c: char, by: Verdict, emit: &mut impl FnMut(char, Verdict)) {
        self.cut();
        self.marks = 0;
        emit(c, by);
    }

    /// Settles a character whose row counts how many stand in a row, kept ones included.
    fn settle(&mut self, c: char, row: Row, kept: bool, emit: &mut impl FnMut(char, Verdict)) {
        let number = if self.row == Some(row) { self.in_a_row.saturating_add(1) } else { 1 };
        if kept {
            self.keep(c, emit);
        } else {
            let (from, raised) = row.raised();
            let severity = if number >= from { raised } else { Severity::Low };
            self.drop_as(c, row.class(), severity, emit);
        }
        self.row = Some(row);
        self.in_a_row = number;
    }

    fn judge(&mut self, c: char, what: Category, emit: &mut impl FnMut(char, Verdict)) {
        match what {
            Category::BidiControl => {
                self.drop_as(c, Class::BidiControl, Severity::High, emit);
            }
            Category::BidiMark => self.drop(c, Class::BidiMark, emit),
            Category::Annotation => self.drop(c, Class::Annotation, emit),
            Category::Filler => self.drop(c, Class::Filler, emit),
            Category::Ignorable => self.settle(c, Row::Ignorable, false, emit),
            Category::ZeroWidth if c == '\u{feff}' && !self.begun => {
                self.settle(c, Row::ZeroWidth, false, &mut |c, _| {
                    emit(c, Verdict::Drop(Class::ZeroWidth, Severity::Info));
                });
            }
            Category::ZeroWidth => self.settle(c, Row::ZeroWidth, false, emit),
            Category::Tag => self.tag(c, emit),
            Category::TextSelector | Category::EmojiSelector => self.selector(c, what, emit),
            Category::IdeographSelector => {
                let kept = self.is_after(|before| before == Category::Ideograph);
                self.settle(c, Row::IdeographSelector, kept, emit);
            }
            Category::NonJoiner | Category::Joiner => self.joiner(c, what, emit),
            Category::JamoFiller => {
                if self.is_after(|before| before == Category::Jamo) {
                    self.keep_base(c, emit);
                } else {
                    self.hold(c);
                }
            }
            Category::MongolianSelector => {
                if self.is_after(Category::is_mongolian_letter) {
                    self.keep(c, emit);
                } else {
                    self.drop(c, Class::MongolianSelector, emit);
                }
            }
            Category::MongolianVowelSeparator => {
                if self.is_after(Category::is_mongolian_letter) {
                    self.hold(c);
                } else {
                    self.drop(c, Class::MongolianSelector, emit);
                }
            }
            Category::Mark | Category::MarkVirama => self.mark(c, emit),
            Category::BrailleBlank if !self.braille => {
                let by = Verdict::Substitute(Class::Filler, ' ', Severity::Low);
                self.substitute(c, by, emit);
            }
            Category::Noncharacter => {
                let by = Verdict::Substitute(Class::Noncharacter, '\u{fffd}', Severity::Low);
                self.substitute(c, by, emit);
            }
            Category::LineSeparator => {
                self.cut();
                emit(c, Verdict::Substitute(Class::LineSeparator, '\n', Severity::Low));
            }
            Category::PrivateUse => self.keep_base(c, &mut |c, _| {
                emit(c, Verdict::Noted(Class::PrivateUse, Severity::Info));
            }),
            _ => self.base(c, what, emit),
        }
    }

    /// A character that is kept wherever it stands, and what it is to those that follow.
    fn base(&mut self, c: char, what: Category, emit: &mut impl FnMut(char, Verdict)) {
        let emoji = match what {
            Category::EmojiModifier if self.emoji == Emoji::Pictograph => Emoji::Modified,
            what if what.is_pictograph() => Emoji::Pictograph,
            _ => Emoji::No,
        };
        self.keep_base(c, emit);
        self.emoji = emoji;
        self.braille = matches!(what, Category::Braille | Category::BrailleBlank);
        if let Category::Joining(script) = what {
            self.joining = Some(script);
        }
    }

    fn keep_base(&mut self, c: char, emit: &mut impl FnMut(char, Verdict)) {
        self.marks = 0;
        self.keep(c, emit);
    }

    fn mark(&mut self, c: char, emit: &mut impl FnMut(char, Verdict)) {
        if self.marks >= MARKS_MAX {
            return self.drop(c, Class::CombiningMark, emit);
        }
        let joining = self.joining;
        self.marks += 1;
        self.keep(c, emit);
        self.joining = joining;
    }

    fn selector(&mut self, c: char, what: Category, emit: &mut impl FnMut(char, Verdict)) {
        let selects_emoji = what == Category::EmojiSelector && self.emoji != Emoji::No;
        let kept = self.before.is_some_and(|before| {
            is_listed_pair(before, c)
                || (what == Category::EmojiSelector && category(before).is_pictograph())
        });
        self.settle(c, Row::Selector, kept, emit);
        if kept && selects_emoji {
            self.emoji = Emoji::Selected;
        }
    }

    fn joiner(&mut self, c: char, what: Category, emit: &mut impl FnMut(char, Verdict)) {
        let joins_letters = self.joining.is_some();
        if self.is_after(Category::is_virama) || (what == Category::Joiner && joins_letters) {
            self.keep(c, emit);
        } else if joins_letters || (what == Category::Joiner && self.emoji != Emoji::No) {
            self.hold(c);
        } else {
            self.drop(c, Class::Joiner, emit);
        }
    }

    /// A tag that may be part of a flag; all tags held so far are.
    fn tag(&mut self, c: char, emit: &mut impl FnMut(char, Verdict)) {
        let len = usize::from(self.held_len);
        let begins = len > 0 || self.is_after(|before| before == Category::BlackFlag);
        let mut tags = self.held;
        tags[len] = c;
        let tags = &tags[..=len];
        let is_prefix = |flag: &&[u8; HOLD_MAX]| {
            tags.iter().zip(*flag).all(|(&tag, &byte)| u32::from(tag) == 0xE0000 + u32::from(byte))
        };
        if !begins || !FLAGS.iter().any(is_prefix) {
            if len > 0 {
                self.release(false, emit);
            }
            return self.settle(c, Row::Tag, false, emit);
        }
        self.hold(c);
        if len + 1 == HOLD_MAX {
            self.release(true, emit);
        }
    }

    fn is_after(&self, is: impl FnOnce(Category) -> bool) -> bool {
        self.before.is_some_and(|before| is(category(before)))
    }

    fn hold(&mut self, c: char) {
        self.held[usize::from(self.held_len)] = c;
        self.held_len += 1;
    }

    /// Whether a character of category `next` directly after is what the held one waits for.
    /// The left side was seen to be right when it was held. Tags wait for no other character.
    fn is_completed_by(&self, next: Category) -> bool {
        match category(self.held[0]) {
            Category::NonJoiner => {
                matches!(next, Category::Joining(script) if Some(script) == self.joining)
            }
            Category::Joiner => next.is_pictograph(),
            Category::MongolianVowelSeparator => next.is_mongolian_letter(),
            Category::JamoFiller => next == Category::Jamo,
            _ => false,
        }
    }

    /// Gives everything held its verdict. A base is beside each that is kept, so that none of
    /// them needs to begin a new count of marks.
    fn release(&mut self, kept: bool, emit: &mut impl FnMut(char, Verdict)) {
        let held = self.held;
        let held = &held[..usize::from(self.held_len)];
        self.held_len = 0;
        for &c in held {
            match category(c) {
                Category::Tag => self.settle(c, Row::Tag, kept, emit),
                _ if kept => self.keep(c, emit),
                Category::JamoFiller => self.drop(c, Class::Filler, emit),
                Category::MongolianVowelSeparator => {
                    self.drop(c, Class::MongolianSelector, emit);
                }
                _ => self.drop(c, Class::Joiner, emit),
            }
        }
    }
}

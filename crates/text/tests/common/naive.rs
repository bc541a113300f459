//! The slow twin: the table read off a whole text, each character looked at from its own place.
//!
//! It shares the categories with the code under test and nothing else.

use super::{Column, Step, is_separator};
use noesc_text::{Category, Class, Severity, Verdict, category};

/// A whole input and the verdicts found so far, which are those of everything to the left.
struct Text<'a> {
    steps: &'a [Step],
    verdicts: Vec<Option<Verdict>>,
    column: Column,
}

pub fn judge(steps: &[Step], column: Column) -> Vec<(char, Verdict)> {
    let mut text = Text { steps, verdicts: Vec::new(), column };
    for (at, step) in steps.iter().enumerate() {
        let verdict = match step {
            Step::Char(c) => Some(text.verdict(at, *c)),
            _ => None,
        };
        text.verdicts.push(verdict);
    }
    let chars = steps.iter().zip(text.verdicts.iter());
    chars
        .filter_map(|(step, verdict)| match (step, verdict) {
            (Step::Char(c), Some(verdict)) => Some((*c, *verdict)),
            _ => None,
        })
        .collect()
}

fn is_mark(what: Category) -> bool {
    matches!(what, Category::Mark | Category::MarkVirama)
}

fn is_pictograph(what: Category) -> bool {
    matches!(what, Category::Pictograph | Category::BlackFlag)
}

fn is_mongolian(what: Category) -> bool {
    matches!(
        what,
        Category::MongolianLetter | Category::Joining(noesc_text::JoiningScript::Mongolian)
    )
}

/// The few listed pairs that the generators use; whatever else they pair is not listed.
fn is_listed(base: char, selector: char) -> bool {
    matches!(
        (base, selector),
        ('0' | '1', '\u{fe0e}' | '\u{fe0f}')
            | ('0' | '\u{2229}', '\u{fe00}')
            | ('\u{2764}' | '\u{2660}', '\u{fe0e}' | '\u{fe0f}')
            | ('\u{a856}' | '\u{10ac5}', '\u{fe00}')
    )
}

impl Text<'_> {
    fn char(&self, at: Option<usize>) -> Option<char> {
        match self.steps.get(at?)? {
            Step::Char(c) => Some(*c),
            _ => None,
        }
    }

    fn is(&self, at: Option<usize>, is: impl Fn(Category) -> bool) -> bool {
        self.char(at).is_some_and(|c| c != '\n' && is(category(c)))
    }

    fn kept(&self, at: Option<usize>) -> bool {
        at.is_some_and(|at| {
            matches!(self.verdicts[at], Some(Verdict::Keep | Verdict::Noted(..)))
                && self.char(Some(at)) != Some('\n')
        })
    }

    fn verdict(&self, at: usize, c: char) -> Verdict {
        use Verdict::{Drop, Keep, Noted, Substitute};
        let low = Severity::Low;
        let left = at.checked_sub(1);
        let right = Some(at + 1);
        let keep_if = |holds: bool, class: Class, severity| {
            if holds { Keep } else { Drop(class, severity) }
        };
        match category(c) {
            Category::BidiControl => Drop(Class::BidiControl, Severity::High),
            Category::BidiMark => Drop(Class::BidiMark, low),
            Category::Annotation => Drop(Class::Annotation, low),
            Category::Filler => Drop(Class::Filler, low),
            Category::Tag => {
                keep_if(self.is_in_flag(at), Class::Tag, self.raised(at, 4, Severity::Critical))
            }
            Category::TextSelector | Category::EmojiSelector => {
                let kept = self.kept(left)
                    && (is_listed(self.char(left).unwrap(), c)
                        || c == '\u{fe0f}' && self.is(left, is_pictograph));
                keep_if(kept, Class::VariationSelector, self.raised(at, 2, Severity::High))
            }
            Category::IdeographSelector => {
                let kept = self.is(left, |w| w == Category::Ideograph);
                keep_if(kept, Class::VariationSelector, self.raised(at, 4, Severity::Critical))
            }
            Category::ZeroWidth if at == 0 && c == '\u{feff}' => {
                Drop(Class::ZeroWidth, Severity::Info)
            }
            Category::ZeroWidth => Drop(Class::ZeroWidth, self.raised(at, 8, Severity::High)),
            Category::Ignorable => Drop(Class::Ignorable, self.raised(at, 8, Severity::High)),
            Category::NonJoiner | Category::Joiner => {
                keep_if(self.joins(at, c == '\u{200d}'), Class::Joiner, low)
            }
            Category::JamoFiller => {
                let jamo = |w| w == Category::Jamo;
                keep_if(self.is(left, jamo) || self.is(right, jamo), Class::Filler, low)
            }
            Category::MongolianSelector => {
                keep_if(self.is(left, is_mongolian), Class::MongolianSelector, low)
            }
            Category::MongolianVowelSeparator => {
                let kept = self.is(left, is_mongolian) && self.is(right, is_mongolian);
                keep_if(kept, Class::MongolianSelector, low)
            }
            Category::Mark | Category::MarkVirama => {
                keep_if(self.marks_before(at) < 8, Class::CombiningMark, low)
            }
            Category::BrailleBlank => {
                let mut before = left;
                while self.is(before, |w| w == Category::BrailleBlank) {
                    before = before.and_then(|b| b.checked_sub(1));
                }
                if self.is(before, |w| w == Category::Braille) {
                    Keep
                } else {
                    Substitute(Class::Filler, ' ', low)
                }
            }
            Category::Noncharacter => Substitute(Class::Noncharacter, '\u{fffd}', low),
            Category::LineSeparator => Substitute(Class::LineSeparator, '\n', low),
            Category::PrivateUse => Noted(Class::PrivateUse, Severity::Info),
            _ => Keep,
        }
    }

    /// The severity of the n-th in a row: raised from `from` on.
    fn raised(&self, at: usize, from: usize, raised: Severity) -> Severity {
        let row = |c| match category(c) {
            Category::EmojiSelector => Category::TextSelector,
            other => other,
        };
        let mine = self.char(Some(at)).map(row);
        let before = (0..at).rev().take_while(|&i| self.char(Some(i)).map(row) == mine).count();
        if before + 1 >= from { raised } else { Severity::Low }
    }

    fn is_in_flag(&self, at: usize) -> bool {
        let flags = ["gbeng", "gbsct", "gbwls"].map(|region| {
            let tags = region.bytes().map(|b| char::from_u32(0xE0000 + u32::from(b)).unwrap());
            let flag = core::iter::once('\u{1f3f4}').chain(tags);
            flag.chain(core::iter::once('\u{e007f}')).map(Step::Char).collect::<Vec<_>>()
        });
        (1..=6).any(|back| {
            let Some(start) = at.checked_sub(back) else { return false };
            flags.iter().any(|flag| self.steps[start..].starts_with(flag))
        })
    }

    fn joins(&self, at: usize, is_zwj: bool) -> bool {
        let back = |at: Option<usize>| at.and_then(|at| at.checked_sub(1));
        let (left, right) = (back(Some(at)), Some(at + 1));
        let virama = |w| matches!(w, Category::MarkVirama | Category::SpacingVirama);
        if self.is(left, virama) && self.kept(left) {
            return true;
        }
        let mut letter = left;
        while self.is(letter, is_mark) && self.kept(letter) {
            letter = back(letter);
        }
        let script = self.char(letter).map(category);
        let joins = matches!(script, Some(Category::Joining(_)));
        if joins && (is_zwj || self.is(right, |w| Some(w) == script)) {
            return true;
        }
        let mut base = left;
        if self.char(base) == Some('\u{fe0f}') && self.kept(base) {
            base = back(base);
        }
        if self.is(base, |w| w == Category::EmojiModifier) {
            base = back(base);
        }
        is_zwj && self.is(base, is_pictograph) && self.is(right, is_pictograph)
    }

    /// Kept marks on the base that a mark here would belong to.
    fn marks_before(&self, at: usize) -> usize {
        let mut marks = 0;
        for i in (0..at).rev() {
            let c = match self.steps[i] {
                Step::Interrupt => continue,
                Step::LineEnd | Step::Char('\n') => break,
                Step::Char(c) if is_separator(c) && self.column == Column::Display => continue,
                Step::Char(c) if is_separator(c) => break,
                Step::Char(c) => c,
            };
            match (category(c), self.verdicts[i].unwrap()) {
                (_, Verdict::Drop(..)) => {}
                (what, _) if is_mark(what) => marks += 1,
                (
                    Category::NonJoiner
                    | Category::Joiner
                    | Category::TextSelector
                    | Category::EmojiSelector
                    | Category::IdeographSelector
                    | Category::MongolianSelector
                    | Category::MongolianVowelSeparator,
                    _,
                ) => {}
                _ => break,
            }
        }
        marks
    }
}

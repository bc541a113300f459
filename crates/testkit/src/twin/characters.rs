//! Invisible and reordering characters, column A of the table in `3-views`: what becomes of each
//! character, judged by looking at its original neighbours in the whole text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use icu_properties::props::{
    CanonicalCombiningClass, ExtendedPictographic, GeneralCategory, GeneralCategoryGroup,
    JoiningType, Script, UnifiedIdeograph,
};
use icu_properties::{CodePointMapData, CodePointSetData};

use super::view::Unit;

/// Combining marks kept on one base.
const MARKS_MAX: usize = 8;

/// What becomes of each unit: the character that is written, or `None` where it is dropped. Units
/// that are no characters give `None`.
pub(super) fn judge(units: &[Unit]) -> Vec<Option<char>> {
    let mut judged = Judged { units, kept: Vec::new() };
    let flags = flag_tags(units);
    let mut marks = 0;
    for (at, &unit) in units.iter().enumerate() {
        let verdict = match unit {
            Unit::Char(c) if flags.contains(&at) => Some(c),
            Unit::Char(c) => judged.verdict(at, c, marks),
            _ => None,
        };
        match (unit, verdict) {
            (Unit::LineEnd | Unit::Cr, _) => marks = 0,
            (Unit::Char(c), Some(_)) if is_mark(c) => marks += 1,
            (Unit::Char(c), Some(_)) if is_joiner(c) || is_selector(c) => {}
            (Unit::Char(_), Some(_)) => marks = 0,
            _ => {}
        }
        judged.kept.push(verdict);
    }
    judged.kept
}

struct Judged<'a> {
    units: &'a [Unit],
    /// The verdicts so far.
    kept: Vec<Option<char>>,
}

impl Judged<'_> {
    fn verdict(&self, at: usize, c: char, marks: usize) -> Option<char> {
        let kept = match c {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => false,
            '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' => false,
            '\u{fe00}'..='\u{fe0f}' => self.kept_before(at).is_some_and(|base| {
                (c == '\u{fe0f}' && is_pictographic(base)) || is_listed(base, c)
            }),
            '\u{e0100}'..='\u{e01ef}' => self.kept_before(at).is_some_and(is_ideograph),
            '\u{200c}' => self.after_virama(at) || self.between_joining_letters(at),
            '\u{200d}' => {
                self.after_virama(at)
                    || self.joining_letter_before(at).is_some()
                    || self.between_pictographics(at)
            }
            '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{34f}' | '\u{ad}' => false,
            '\u{2061}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{fff0}'..='\u{fffb}' => false,
            '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => false,
            '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => false,
            '\u{115f}' | '\u{1160}' => {
                self.before(at).is_some_and(is_jamo) || self.after(at).is_some_and(is_jamo)
            }
            '\u{2800}' if !self.in_braille(at) => return Some(' '),
            '\u{180b}'..='\u{180d}' | '\u{180f}' => self.before(at).is_some_and(is_mongolian),
            '\u{180e}' => {
                self.before(at).is_some_and(is_mongolian)
                    && self.after(at).is_some_and(is_mongolian)
            }
            _ if is_noncharacter(c) => return Some('\u{fffd}'),
            _ if is_mark(c) => marks < MARKS_MAX,
            _ => true,
        };
        kept.then_some(c)
    }

    /// The original neighbour before; none across a sequence, a control or a line end.
    fn before(&self, at: usize) -> Option<char> {
        at.checked_sub(1).and_then(|at| self.units[at].char())
    }

    /// The original neighbour after.
    fn after(&self, at: usize) -> Option<char> {
        self.units.get(at + 1).and_then(|unit| unit.char())
    }

    /// The original neighbour before, if it is kept as it is.
    fn kept_before(&self, at: usize) -> Option<char> {
        self.before(at).filter(|&c| self.kept[at - 1] == Some(c))
    }

    fn after_virama(&self, at: usize) -> bool {
        self.kept_before(at).is_some_and(is_virama)
    }

    /// The joining letter before, kept marks between skipped.
    fn joining_letter_before(&self, at: usize) -> Option<char> {
        let c = self.kept_before(at)?;
        if is_mark(c) { self.joining_letter_before(at - 1) } else { Some(c).filter(|&c| joins(c)) }
    }

    fn between_joining_letters(&self, at: usize) -> bool {
        match (self.joining_letter_before(at), self.after(at)) {
            (Some(a), Some(b)) => joins(b) && script(a) == script(b),
            _ => false,
        }
    }

    /// `ExtPict [modifier] [FE0F] 200D ExtPict`
    fn between_pictographics(&self, joiner: usize) -> bool {
        let mut at = joiner;
        for optional in ['\u{fe0f}'..='\u{fe0f}', '\u{1f3fb}'..='\u{1f3ff}'] {
            if self.kept_before(at).is_some_and(|c| optional.contains(&c)) {
                at -= 1;
            }
        }
        self.kept_before(at).is_some_and(is_pictographic)
            && self.after(joiner).is_some_and(is_pictographic)
    }

    /// Whether a braille pattern with dots stands before the run of blanks.
    fn in_braille(&self, at: usize) -> bool {
        let other = self.units[..at].iter().rev().find(|&&u| u != Unit::Char('\u{2800}'));
        matches!(other, Some(Unit::Char('\u{2801}'..='\u{28ff}')))
    }
}

/// The places of all tags that belong to one of the three flags.
fn flag_tags(units: &[Unit]) -> BTreeSet<usize> {
    let mut places = BTreeSet::new();
    for (at, unit) in units.iter().enumerate() {
        for region in ["gbeng", "gbsct", "gbwls"] {
            let tags = region.bytes().map(|b| 0xe0000 + u32::from(b)).chain([0xe007f]);
            let found = units[at + 1..].iter().take(6).map(|u| u.char().map(u32::from));
            if *unit == Unit::Char('\u{1f3f4}') && tags.map(Some).eq(found) {
                places.extend(at + 1..at + 7);
            }
        }
    }
    places
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180f}')
}

/// A combining mark (Mn or Me) that is no selector.
fn is_mark(c: char) -> bool {
    matches!(category(c), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
        && !is_selector(c)
}

fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}')
        && !matches!(c, '\u{115f}' | '\u{1160}')
}

fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

fn script(c: char) -> Script {
    CodePointMapData::<Script>::new().get(c)
}

fn is_letter(c: char) -> bool {
    GeneralCategoryGroup::Letter.contains(category(c))
}

fn is_mongolian(c: char) -> bool {
    is_letter(c) && script(c) == Script::Mongolian
}

/// Whether a letter joins its neighbours: Joining_Type D, R or L.
fn joins(c: char) -> bool {
    let joining = CodePointMapData::<JoiningType>::new().get(c);
    let types = [JoiningType::DualJoining, JoiningType::RightJoining, JoiningType::LeftJoining];
    is_letter(c) && types.contains(&joining)
}

fn is_virama(c: char) -> bool {
    CodePointMapData::<CanonicalCombiningClass>::new().get(c) == CanonicalCombiningClass::Virama
}

fn is_pictographic(c: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(c)
}

fn is_ideograph(c: char) -> bool {
    CodePointSetData::new::<UnifiedIdeograph>().contains(c)
}

/// Whether a pair of base and variation selector is listed by the Unicode Character Database.
fn is_listed(base: char, selector: char) -> bool {
    static PAIRS: LazyLock<BTreeSet<(u32, u32)>> = LazyLock::new(|| {
        let mut pairs = BTreeSet::new();
        for line in include_str!("variation_pairs.txt").lines() {
            let Some((selector, bases)) = line.split_once(": ") else { continue };
            let Some(selector) = hex(selector) else { continue };
            for range in bases.split(' ') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                if let (Some(first), Some(last)) = (hex(first), hex(last)) {
                    pairs.extend((first..=last).map(|base| (base, selector)));
                }
            }
        }
        pairs
    });
    PAIRS.contains(&(base.into(), selector.into()))
}

fn hex(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_pairs_are_read_from_their_file() {
        assert!(is_listed('1', '\u{fe0f}'));
        assert!(is_listed('\u{2229}', '\u{fe00}'));
        assert!(is_listed('\u{228b}', '\u{fe00}'));
        assert!(!is_listed('\u{228c}', '\u{fe00}'));
        assert!(!is_listed('x', '\u{fe0f}'));
    }
}

//! What a character is, before its neighbours are looked at.

use crate::tables::{self, BLOCK_BITS, BLOCKS, CATEGORIES, INDEX, VARIATION_PAIRS};

pub use tables::JoiningScript;

/// What the context rules need to know of one character; every code point has exactly one.
///
/// Rules by code point go before properties: U+FE0F is [`EmojiSelector`](Self::EmojiSelector) and
/// no [`Mark`](Self::Mark), U+1F3F4 is [`BlackFlag`](Self::BlackFlag) and a pictograph besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Nothing below: ASCII, most letters and symbols, spaces, unassigned code points.
    Ordinary,
    /// 202A–202E, 2066–2069: embeddings, overrides, isolates.
    BidiControl,
    /// 200E, 200F, 061C.
    BidiMark,
    /// E0001, E0020–E007F.
    Tag,
    /// 1F3F4, the base of the three flags that are spelt with tags.
    BlackFlag,
    /// FE00–FE0E.
    TextSelector,
    /// FE0F.
    EmojiSelector,
    /// E0100–E01EF.
    IdeographSelector,
    /// 200C.
    NonJoiner,
    /// 200D.
    Joiner,
    /// 200B, 2060, FEFF, 034F, 00AD.
    ZeroWidth,
    /// Invisible operators, deprecated format characters, reserved ignorables.
    Ignorable,
    /// FFF9–FFFB.
    Annotation,
    /// 3164, FFA0.
    Filler,
    /// 115F, 1160: fillers that old Hangul needs beside a jamo.
    JamoFiller,
    /// 1100–11FF, A960–A97F, D7B0–D7FF, less the two fillers.
    Jamo,
    /// 2800.
    BrailleBlank,
    /// 2801–28FF.
    Braille,
    /// 180B–180D, 180F.
    MongolianSelector,
    /// 180E.
    MongolianVowelSeparator,
    /// A letter of Mongolian that does not join.
    MongolianLetter,
    /// A letter with Joining_Type D, R or L. Those of Mongolian are Mongolian letters too.
    Joining(JoiningScript),
    /// General_Category Mn or Me, and none of the selectors and ignorables above.
    Mark,
    /// The same, with combining class 9.
    MarkVirama,
    /// Combining class 9 and no nonspacing mark (Mc).
    SpacingVirama,
    /// FDD0–FDEF, xxFFFE, xxFFFF.
    Noncharacter,
    /// Private use outside the ranges of Nerd Fonts.
    PrivateUse,
    /// Private use that Nerd Fonts fills: prompt and file glyphs.
    PrivateUseNerd,
    /// 2028, 2029.
    LineSeparator,
    /// Extended_Pictographic.
    Pictograph,
    /// 1F3FB–1F3FF.
    EmojiModifier,
    /// Unified_Ideograph.
    Ideograph,
}

impl Category {
    const fn is_base(self) -> bool {
        matches!(
            self,
            Self::Ordinary
                | Self::BlackFlag
                | Self::Jamo
                | Self::Braille
                | Self::MongolianLetter
                | Self::Joining(_)
                | Self::SpacingVirama
                | Self::Pictograph
                | Self::EmojiModifier
                | Self::Ideograph
                | Self::PrivateUseNerd
        )
    }

    pub(crate) fn is_pictograph(self) -> bool {
        matches!(self, Self::Pictograph | Self::BlackFlag)
    }

    pub(crate) fn is_mongolian_letter(self) -> bool {
        matches!(self, Self::MongolianLetter | Self::Joining(JoiningScript::Mongolian))
    }

    pub(crate) fn is_virama(self) -> bool {
        matches!(self, Self::MarkVirama | Self::SpacingVirama)
    }
}

/// The category of a character, by the tables of [`UNICODE_VERSION`](crate::UNICODE_VERSION).
///
/// ```
/// use noesc_text::{Category, category};
/// assert_eq!(category('a'), Category::Ordinary);
/// assert_eq!(category('\u{202e}'), Category::BidiControl);
/// ```
#[inline]
pub fn category(c: char) -> Category {
    if c.is_ascii() {
        return Category::Ordinary;
    }
    CATEGORIES[usize::from(number(u32::from(c) as usize))]
}

/// The number of a code point's category in [`CATEGORIES`].
#[inline]
const fn number(point: usize) -> u8 {
    let block = (INDEX[point >> BLOCK_BITS] as usize) << BLOCK_BITS;
    BLOCKS[block | (point & ((1 << BLOCK_BITS) - 1))]
}

/// A bit for each number of a category whose characters are bases.
const BASES: u64 = {
    assert!(CATEGORIES.len() <= 64, "one bit for each category");
    let mut bases = 0;
    let mut number = 0;
    while number < CATEGORIES.len() {
        if CATEGORIES[number].is_base() {
            bases |= 1 << number;
        }
        number += 1;
    }
    bases
};

/// A bit for each code point of the BMP that is a base: one look instead of three.
static BMP_BASES: [u64; 0x1_0000 / 64] = {
    let mut bases = [0; 0x1_0000 / 64];
    let mut point = 0;
    while point < 0x1_0000 {
        if point != b'\n' as usize && BASES >> number(point) & 1 == 1 {
            bases[point / 64] |= 1 << (point % 64);
        }
        point += 1;
    }
    bases
};

/// True for a character that has nothing to be judged and ends no line:
/// [`Category::Ordinary`] and not LF. Other controls are ordinary here; they are the caller's.
///
/// ```
/// assert!(noesc_text::is_ordinary('a') && noesc_text::is_ordinary('\t'));
/// assert!(!noesc_text::is_ordinary('\n') && !noesc_text::is_ordinary('\u{200b}'));
/// ```
#[inline]
pub fn is_ordinary(c: char) -> bool {
    c != '\n' && category(c) == Category::Ordinary
}

/// Whether a character is kept wherever it stands, with nothing to report, and is a base for what
/// follows: no mark, no joiner, no selector, nothing invisible. Controls other than LF are bases
/// here; they are the caller's.
///
/// ```
/// use noesc_text::is_base;
/// assert!(is_base('a') && is_base('\u{4e2d}') && is_base('\u{1f600}') && is_base('\u{628}'));
/// assert!(!is_base('\n') && !is_base('\u{301}') && !is_base('\u{200d}') && !is_base('\u{f8ff}'));
/// ```
#[inline]
pub fn is_base(c: char) -> bool {
    let point = u32::from(c) as usize;
    match BMP_BASES.get(point / 64) {
        Some(word) => word >> (point % 64) & 1 == 1,
        None => BASES >> number(point) & 1 == 1,
    }
}

/// Whether a character is a mark on the one before it.
///
/// ```
/// assert!(noesc_text::is_mark('\u{301}') && !noesc_text::is_mark('a'));
/// ```
#[inline]
pub fn is_mark(c: char) -> bool {
    matches!(category(c), Category::Mark | Category::MarkVirama)
}

/// Characters that are no controls and no selectors, and that fonts in use show as nothing.
///
/// ```
/// assert!(noesc_text::is_glyphless('\u{13430}') && !noesc_text::is_glyphless('a'));
/// ```
pub fn is_glyphless(c: char) -> bool {
    matches!(c, '\u{FFFC}' | '\u{2D7F}' | '\u{1171E}' | '\u{1D159}' | '\u{13430}'..='\u{1345F}')
}

/// Whether a character leaves a sign of its own on a screen, wherever it stands: no control, no
/// blank, no mark, nothing that is seen by what it does to others, however rightly it stands there,
/// and none that fonts in use show as nothing. Private use is what a font makes of it, and is not.
///
/// ```
/// use noesc_text::is_seen;
///
/// assert!(is_seen('a') && is_seen('\u{5d0}') && is_seen('\u{1f600}'));
/// assert!(!is_seen(' ') && !is_seen('\u{301}') && !is_seen('\u{fe0f}') && !is_seen('\u{13430}'));
/// ```
pub fn is_seen(c: char) -> bool {
    let has_sign = matches!(
        category(c),
        Category::Ordinary
            | Category::BlackFlag
            | Category::Jamo
            | Category::Braille
            | Category::MongolianLetter
            | Category::Joining(_)
            | Category::SpacingVirama
            | Category::Pictograph
            | Category::EmojiModifier
            | Category::Ideograph
    );
    has_sign && !is_glyphless(c) && !c.is_control() && !c.is_whitespace()
}

/// True when the pair of a base and a selector FE00–FE0F is listed.
pub(crate) fn is_listed_pair(base: char, selector: char) -> bool {
    let low = u32::from(selector).wrapping_sub(0xFE00);
    low < 16 && VARIATION_PAIRS.binary_search(&(u32::from(base) << 4 | low)).is_ok()
}

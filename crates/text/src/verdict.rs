//! What is said of a character once its neighbours are known.

/// The kinds of character that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Embeddings, overrides and isolates.
    BidiControl,
    /// LRM, RLM, ALM.
    BidiMark,
    /// Tag characters outside the three flags.
    Tag,
    /// FE00–FE0F and E0100–E01EF where they select nothing.
    VariationSelector,
    /// ZWNJ and ZWJ where they join nothing.
    Joiner,
    /// Zero width spaces, word joiner, grapheme joiner, soft hyphen.
    ZeroWidth,
    /// Invisible operators, deprecated format characters, reserved ignorables.
    Ignorable,
    /// Interlinear annotation.
    Annotation,
    /// Hangul fillers and the braille blank.
    Filler,
    /// Mongolian selectors and the vowel separator outside Mongolian.
    MongolianSelector,
    /// The ninth and later mark on one base.
    CombiningMark,
    /// Noncharacters.
    Noncharacter,
    /// Private use outside the Nerd Font ranges.
    PrivateUse,
    /// U+2028 and U+2029.
    LineSeparator,
}

impl Class {
    /// All classes, in the order of the report.
    pub const ALL: [Self; 14] = [
        Self::BidiControl,
        Self::BidiMark,
        Self::Tag,
        Self::VariationSelector,
        Self::Joiner,
        Self::ZeroWidth,
        Self::Ignorable,
        Self::Annotation,
        Self::Filler,
        Self::MongolianSelector,
        Self::CombiningMark,
        Self::Noncharacter,
        Self::PrivateUse,
        Self::LineSeparator,
    ];

    /// The closed word for a report: lower case, hyphens.
    ///
    /// ```
    /// assert_eq!(noesc_text::Class::BidiControl.name(), "bidi-control");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::BidiControl => "bidi-control",
            Self::BidiMark => "bidi-mark",
            Self::Tag => "tag",
            Self::VariationSelector => "variation-selector",
            Self::Joiner => "joiner",
            Self::ZeroWidth => "zero-width",
            Self::Ignorable => "ignorable",
            Self::Annotation => "annotation",
            Self::Filler => "filler",
            Self::MongolianSelector => "mongolian-selector",
            Self::CombiningMark => "combining-mark",
            Self::Noncharacter => "noncharacter",
            Self::PrivateUse => "private-use",
            Self::LineSeparator => "line-separator",
        }
    }
}

/// How much a reader should care; later is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth counting.
    Info,
    /// Usually harmless.
    Low,
    /// Deceives a reader.
    High,
    /// Carries a hidden message.
    Critical,
}

impl Severity {
    /// The closed word for a report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// What becomes of one character under column A of the table; a profile may do otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Kept, nothing to say.
    Keep,
    /// Kept and reported.
    Noted(Class, Severity),
    /// Dropped, or what the profile does instead (shown, kept).
    Drop(Class, Severity),
    /// Replaced by the character given, or what the profile does instead.
    Substitute(Class, char, Severity),
}

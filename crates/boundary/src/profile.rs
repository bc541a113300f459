//! What survives: the settings, and the three sets of them that ship.

use std::fmt;
use std::str::FromStr;

/// What becomes of style (SGR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Removed like any other sequence.
    Remove,
    /// Kept, rebuilt from its parsed parameters, less conceal.
    Keep(Conceal),
}

/// What becomes of a kept style sequence that asks for conceal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Conceal {
    /// The whole sequence is dropped.
    #[default]
    Sequence,
    /// Only the parameter is.
    Parameter,
}

/// What becomes of a bare CR, or a run of them: one that is no part of a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cr {
    /// One LF, where the line has text: nothing is overwritten, history is kept.
    Newline,
    /// The same, but of three or more segments of a line only the first and the last are kept.
    Collapse,
    /// The line is edited as a terminal would.
    Overwrite,
    /// Dropped.
    Drop,
    /// Leaves a mark, in a clean view too.
    Mark,
}

/// What becomes of VT, FF, NEL, U+2028 and U+2029.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separators {
    /// LF.
    Newline,
    /// Dropped.
    Drop,
}

/// What a removed sequence or control leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Removed {
    /// Nothing.
    #[default]
    Strip,
    /// One `␛` (U+241B).
    Mark,
}

/// What becomes of invisible and reordering characters out of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invisible {
    /// Dropped: what a model reads.
    Drop,
    /// Shown as `<U+202E>`, or dropped where that would only be noise: what a person reads.
    Show,
    /// Kept, and reported.
    Keep,
}

/// What becomes of text that a terminal would hide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HiddenText {
    /// Kept as it is (and reported).
    #[default]
    Keep,
    /// Kept between `⟦` and `⟧`.
    Mark,
}

/// How the bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Readable: by the settings below.
    Text,
    /// Printable ASCII and `\xNN`, reversible. The other settings do not apply.
    Audit,
    /// Nothing is filtered, only ill-formed UTF-8 is replaced. **Not inert**: for a terminal
    /// program whose user has switched the boundary off, and for nothing else.
    Off,
}

/// Settings of a boundary. Start from [`Profile::AGENT`], [`Profile::DISPLAY`] or
/// [`Profile::AUDIT`] and change what you need.
///
/// ```
/// use noesc::{Cr, Profile};
///
/// let profile = Profile { cr: Cr::Overwrite, ..Profile::AGENT };
/// assert_eq!(noesc::view(b"10%\r20%\r30%\n", &profile)?.text, "30%\n");
/// # Ok::<(), noesc::ProfileError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// How the bytes are written.
    pub form: Form,
    /// Style (SGR).
    pub style: Style,
    /// Bare carriage returns.
    pub cr: Cr,
    /// VT, FF, NEL, U+2028 and U+2029.
    pub separators: Separators,
    /// What removed things leave.
    pub removed: Removed,
    /// Invisible and reordering characters.
    pub invisible: Invisible,
    /// Concealed text, and text in its own background colour.
    pub hidden_text: HiddenText,
}

impl Profile {
    /// For a reader that is a program or a model: plain text, nothing else. The default.
    pub const AGENT: Self = Self {
        form: Form::Text,
        style: Style::Remove,
        cr: Cr::Newline,
        separators: Separators::Newline,
        removed: Removed::Strip,
        invisible: Invisible::Drop,
        hidden_text: HiddenText::Keep,
    };

    /// For a terminal program that shows untrusted text: colours stay, all else goes.
    pub const DISPLAY: Self = Self {
        style: Style::Keep(Conceal::Sequence),
        cr: Cr::Drop,
        separators: Separators::Drop,
        invisible: Invisible::Show,
        ..Self::AGENT
    };

    /// For evidence: every byte, printable ASCII or escaped.
    pub const AUDIT: Self = Self { form: Form::Audit, ..Self::AGENT };

    /// The name of the shipped profile whose form and settings these are, less what can be set
    /// alone; `custom` where none fits.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self { form: Form::Audit, .. } => "audit",
            Self { form: Form::Off, .. } => "off",
            Self { style: Style::Remove, separators: Separators::Newline, .. } => "agent",
            Self { style: Style::Keep(_), separators: Separators::Drop, .. } => "display",
            _ => "custom",
        }
    }

    /// Whether the settings go together.
    ///
    /// # Errors
    /// [`ProfileError::OverwriteWithStyle`]: a line can't be edited and keep its colours.
    pub const fn check(&self) -> Result<(), ProfileError> {
        match (self.form, self.cr, self.style) {
            (Form::Text, Cr::Overwrite, Style::Keep(_)) => Err(ProfileError::OverwriteWithStyle),
            _ => Ok(()),
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::AGENT
    }
}

/// Why settings do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileError {
    /// `cr = overwrite` with style kept.
    OverwriteWithStyle,
}

impl ProfileError {
    /// One action that mends it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "use another cr setting, or a profile that removes style"
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cr \"overwrite\" does not go with style kept")
    }
}

impl std::error::Error for ProfileError {}

/// The word is not one of a setting's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    /// The values there are.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}", self.known.join(", "))
    }
}

impl std::error::Error for UnknownValue {}

/// Names of a setting's values, as they stand on the command line and in configuration.
macro_rules! named {
    (
        $type:ty { $($name:literal => $value:expr,)* }
        $(also { $($alias:literal => $target:expr,)* })?
    ) => {
        impl $type {
            /// The names of the values.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl FromStr for $type {
            type Err = UnknownValue;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($name => Ok($value),)*
                    $($($alias => Ok($target),)*)?
                    _ => Err(UnknownValue { known: Self::NAMES }),
                }
            }
        }
    };
}

pub(crate) use named;

named!(Profile {
    "agent" => Self::AGENT,
    "display" => Self::DISPLAY,
    "audit" => Self::AUDIT,
});
named!(Cr {
    "newline" => Self::Newline,
    "collapse" => Self::Collapse,
    "overwrite" => Self::Overwrite,
    "drop" => Self::Drop,
    "mark" => Self::Mark,
});
named!(Conceal { "sequence" => Self::Sequence, "parameter" => Self::Parameter, });
named!(Separators { "newline" => Self::Newline, "drop" => Self::Drop, });
named!(Removed {
    "strip" => Self::Strip,
    "mark" => Self::Mark,
} also {
    "visualize" => Self::Mark,
});
named!(Invisible { "drop" => Self::Drop, "show" => Self::Show, "keep" => Self::Keep, });
named!(HiddenText { "keep" => Self::Keep, "mark" => Self::Mark, });

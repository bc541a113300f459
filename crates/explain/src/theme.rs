//! How an explanation looks.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// A style for each sort of text in an explanation.
///
/// With [`Theme::PLAIN`] an explanation holds no escape sequence; with any other theme, those of
/// its styles and no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Theme {
    /// Offsets, kinds and notes.
    pub faint: Style,
    /// The notation of a sequence.
    pub sequence: Style,
    /// The mnemonic of a control, and line ends.
    pub control: Style,
    /// Characters that would not be seen, ill-formed bytes, payload.
    pub shown: Style,
    /// Severity high.
    pub high: Style,
    /// Severity critical.
    pub critical: Style,
}

impl Theme {
    /// No styles.
    pub const PLAIN: Self = Self {
        faint: Style::new(),
        sequence: Style::new(),
        control: Style::new(),
        shown: Style::new(),
        high: Style::new(),
        critical: Style::new(),
    };

    /// For a terminal.
    pub const COLOUR: Self = Self {
        faint: Style::new().dimmed(),
        sequence: AnsiColor::Cyan.on_default(),
        control: AnsiColor::Yellow.on_default(),
        shown: AnsiColor::Magenta.on_default(),
        high: AnsiColor::Red.on_default(),
        critical: AnsiColor::Red.on_default().bold().invert(),
    };
}

/// Writes text in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> impl fmt::Display {
    struct Styled<T>(Style, T);
    impl<T: fmt::Display> fmt::Display for Styled<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            if self.0 == Style::new() {
                return self.1.fmt(f);
            }
            write!(f, "{}{}{:#}", self.0, self.1, self.0)
        }
    }
    Styled(style, text)
}

/// So many blanks, up to 200. Padding by the formatter writes one at a time.
pub(crate) fn blanks(count: usize) -> &'static str {
    const BLANKS: &str = match str::from_utf8(&[b' '; 200]) {
        Ok(blanks) => blanks,
        Err(_) => "",
    };
    &BLANKS[..count.min(BLANKS.len())]
}

//! What a terminal program shows of text that it did not write itself.
//!
//! The boundary is authorship: a program's own styling is trusted, everything that comes from a
//! model, a user or a tool is not. Stored bytes stay as they are; this is about display alone.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::boundary::Boundary;
use crate::profile::{Form, Profile, Removed, Style, UnknownValue, named};
use crate::report::Report;

/// Who wrote a text, and where it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ContentClass {
    /// What a tool printed. Its style is kept, less conceal, and closed at its end.
    ToolOutput,
    /// What a model wrote. The same; [`Content::style`] can drop its style.
    ModelOutput,
    /// What a user wrote. The same; [`Content::finish_open`] leaves closing to the caller.
    UserMessage,
    /// What is made of any of these and stands among the program's own: a title, a table cell, a
    /// row of a list. One line, no style, whatever the setting.
    Derived,
}

impl ContentClass {
    /// All classes.
    pub const ALL: [Self; 4] =
        [Self::ToolOutput, Self::ModelOutput, Self::UserMessage, Self::Derived];

    /// Its name, in lower case with hyphens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToolOutput => "tool-output",
            Self::ModelOutput => "model-output",
            Self::UserMessage => "user-message",
            Self::Derived => "derived",
        }
    }
}

named!(ContentClass {
    "tool-output" => Self::ToolOutput,
    "model-output" => Self::ModelOutput,
    "user-message" => Self::UserMessage,
    "derived" => Self::Derived,
});

/// What becomes of a sequence in content: a setting for the configuration of a program.
///
/// ```
/// use noesc::Sanitize;
///
/// assert_eq!("strip".parse(), Ok(Sanitize::Strip));
/// assert_eq!("visualize".parse(), Ok(Sanitize::Visualize));
/// assert_eq!(Sanitize::default().to_string(), "strip");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Sanitize {
    /// It is removed.
    #[default]
    Strip,
    /// It is removed and leaves a `␛`. Also read as `mark`.
    #[cfg_attr(feature = "serde", serde(alias = "mark"))]
    Visualize,
    /// It reaches the terminal: **whoever wrote the content has the terminal then**. An open style
    /// is still closed, and [`ContentClass::Derived`] is filtered all the same.
    Off,
}

named!(Sanitize {
    "strip" => Self::Strip,
    "visualize" => Self::Visualize,
    "off" => Self::Off,
} also {
    "mark" => Self::Visualize,
});

impl fmt::Display for Sanitize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strip => "strip",
            Self::Visualize => "visualize",
            Self::Off => "off",
        })
    }
}

/// A streaming boundary for content of one class. One instance for each kind of content, so that a
/// sequence cut off in one never goes on in another.
///
/// What a push decides it writes: held back is only an unfinished sequence, a CR, and at most six
/// characters whose neighbours decide. Put it into a [`Writer`](crate::Writer) or a
/// [`FmtWriter`](crate::FmtWriter) to write to where the program writes.
///
/// ```
/// use noesc::{Content, ContentClass};
///
/// let mut reasoning = Content::new(ContentClass::ModelOutput);
/// let mut message = Content::new(ContentClass::ModelOutput);
/// let mut screen = String::new();
/// reasoning.push(b"so \x1b]0;", &mut screen);
/// reasoning.finish(&mut screen);
/// message.push(b"\x1b[32mdone\x07 now", &mut screen);
/// message.finish(&mut screen);
/// assert_eq!(screen, "so \x1b[32mdone now\x1b[0m");
/// ```
#[derive(Clone, Debug)]
pub struct Content {
    boundary: Boundary,
    class: ContentClass,
    sanitize: Sanitize,
    keeps_style: bool,
    row: Option<Row>,
}

impl Content {
    /// Content of a class, with [`Sanitize::Strip`] and its style kept where the class has any.
    #[must_use]
    pub fn new(class: ContentClass) -> Self {
        Self::with(class, Sanitize::Strip, true)
    }

    /// The same with another setting.
    #[must_use]
    pub fn sanitize(self, sanitize: Sanitize) -> Self {
        Self::with(self.class, sanitize, self.keeps_style)
    }

    /// The same with style kept or dropped; [`ContentClass::Derived`] never has any.
    #[must_use]
    pub fn style(self, keeps: bool) -> Self {
        Self::with(self.class, self.sanitize, keeps)
    }

    fn with(class: ContentClass, sanitize: Sanitize, keeps_style: bool) -> Self {
        let profile = profile(class, sanitize, keeps_style);
        let row = (class == ContentClass::Derived).then(Row::default);
        Self { boundary: Boundary::of(&profile), class, sanitize, keeps_style, row }
    }

    /// The settings of the boundary that these make.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.boundary.profile()
    }

    /// Reads a chunk and appends to `view` what is decided.
    pub fn push(&mut self, chunk: &[u8], view: &mut String) {
        let Some(row) = &mut self.row else { return self.boundary.push(chunk, view) };
        let mut text = String::new();
        self.boundary.push(chunk, &mut text);
        row.push(&text, view);
    }

    /// Ends the content: an unfinished sequence is dropped, an open style closed. It is then at the
    /// beginning of another one.
    pub fn finish(&mut self, view: &mut String) -> Report {
        let Some(row) = &mut self.row else { return self.boundary.finish(view) };
        let mut text = String::new();
        let report = self.boundary.finish(&mut text);
        row.push(&text, view);
        *row = Row::default();
        report
    }

    /// The same, and leaves an open style to the caller: the answer says whether one is.
    pub fn finish_open(&mut self, view: &mut String) -> (Report, bool) {
        match self.row {
            Some(_) => (self.finish(view), false),
            None => self.boundary.finish_open(view),
        }
    }

    /// Filters text once more that a parser of Markdown or HTML has decoded, with these settings:
    /// see [`second_pass`].
    #[must_use]
    pub fn second_pass<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut view = String::with_capacity(text.len());
        let mut content = Self::with(self.class, self.sanitize, self.keeps_style);
        content.push(text.as_bytes(), &mut view);
        content.finish_open(&mut view);
        if view == text { Cow::Borrowed(text) } else { Cow::Owned(view) }
    }
}

fn profile(class: ContentClass, sanitize: Sanitize, keeps_style: bool) -> Profile {
    let is_row = class == ContentClass::Derived;
    let removed = if sanitize == Sanitize::Visualize { Removed::Mark } else { Removed::Strip };
    let mut profile = Profile { removed, ..Profile::DISPLAY };
    if is_row {
        // Every line end there is, so that each becomes a space.
        let Profile { cr, separators, .. } = Profile::AGENT;
        profile = Profile { cr, separators, ..profile };
    }
    if is_row || !keeps_style {
        profile.style = Style::Remove;
    }
    if sanitize == Sanitize::Off && !is_row {
        profile.form = Form::Off;
    }
    profile
}

/// One line out of many: line ends and tabs become a space, none at the start and none twice.
#[derive(Clone, Debug, Default)]
struct Row {
    /// A space is due before the next text.
    gap: bool,
    begun: bool,
}

impl Row {
    fn push(&mut self, text: &str, to: &mut String) {
        for piece in text.split_inclusive(['\n', '\t']) {
            let text = piece.trim_end_matches(['\n', '\t']);
            if !text.is_empty() {
                if self.gap && self.begun {
                    to.push(' ');
                }
                to.push_str(text);
                (self.gap, self.begun) = (false, true);
            }
            self.gap |= text.len() < piece.len();
        }
    }
}

/// Filters text once more that a parser of Markdown or HTML has decoded: `&#27;[2J` is live only
/// then. An open style is left open, since the text may be a piece of more. Borrows when nothing
/// changes.
///
/// ```
/// use std::borrow::Cow;
/// use noesc::{ContentClass, second_pass};
///
/// assert_eq!(second_pass("a\x1b[2Jb", ContentClass::ModelOutput), "ab");
/// let same = second_pass("\x1b[1mbold", ContentClass::ModelOutput);
/// assert!(matches!(same, Cow::Borrowed("\x1b[1mbold")));
/// ```
#[must_use]
pub fn second_pass(text: &str, class: ContentClass) -> Cow<'_, str> {
    Content::new(class).second_pass(text)
}

//! The formats: one way out, one way back.

use std::fmt;
use std::str::FromStr;

use noesc_text::AuditEscape;

use crate::ident::hex;
use crate::part::{ViewPart, pieces};
use crate::record::{Envelope, StreamName, Text, View};
use crate::{fence, json, lines, xml};

/// Nonces drawn for one envelope until one occurs nowhere in it. A second draw is needed once in
/// 2^128 runs, unless the source is broken: then an error is better than a loop.
pub const NONCE_DRAWS_MAX: usize = 8;

/// A format that a parser can read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object on one line.
    Json,
    /// The record on the first line, then the lines of the child, each numbered.
    Lines,
    /// Markdown: fenced blocks.
    Fence,
    /// One XML element.
    Xml,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Json, Self::Lines, Self::Fence, Self::Xml];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Lines => "lines",
            Self::Fence => "fence",
            Self::Xml => "xml",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected json, lines, fence or xml")
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or(UnknownFormat)
    }
}

/// Where nonces come from: random bytes that no child can know, drawn after the child has ended.
/// Any closure that gives 16 bytes, or `None` when there are no more, is a source.
pub trait NonceSource {
    /// 128 random bits, or `None` when the source has failed.
    fn draw(&mut self) -> Option<[u8; 16]>;
}

impl<F: FnMut() -> Option<[u8; 16]>> NonceSource for F {
    fn draw(&mut self) -> Option<[u8; 16]> {
        self()
    }
}

/// Why an envelope could not be written in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// A stream has no text: this is a record without views, which only `json` can hold.
    NoText {
        /// The stream.
        stream: StreamName,
    },
    /// A view holds a character that the format does not carry: a control, as the ESC of a kept
    /// style, a line separator, or in `xml` U+FFFE or U+FFFF.
    Character {
        /// The stream.
        stream: StreamName,
        /// The character.
        character: char,
    },
    /// The text of a view is not made of its parts.
    Parts {
        /// The stream.
        stream: StreamName,
    },
    /// There is a value that was expected, which only `json` carries.
    Value,
    /// The source gave no nonce, or none that occurs nowhere in the envelope.
    NoNonce,
    /// The record could not be written as JSON.
    Json(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoText { stream } => {
                write!(f, "{} has no view; only json holds a record without", stream.name())
            }
            Self::Character { stream, character } => {
                let (name, code) = (stream.name(), u32::from(*character));
                write!(f, "the view of {name} holds U+{code:04X}, which only json carries")
            }
            Self::Parts { stream } => {
                write!(f, "the view of {} is not made of its parts", stream.name())
            }
            Self::Value => f.write_str("only json carries the value that was expected"),
            Self::NoNonce => f.write_str("no nonce that occurs nowhere in the output"),
            Self::Json(why) => write!(f, "the record is no JSON: {why}"),
        }
    }
}

impl std::error::Error for RenderError {}

/// Why a text is no envelope in the format it was read as. Its text is printable ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The record is not one object of the schema, without a key that stands twice.
    Record {
        /// What is wrong with it.
        why: String,
    },
    /// The layout is another one.
    Layout {
        /// The line, from 1.
        line: u64,
        /// What should be there.
        expected: &'static str,
    },
    /// A view holds a character that the format does not carry.
    Character {
        /// The stream.
        stream: StreamName,
        /// The character.
        character: char,
    },
    /// The nonce of the envelope occurs inside of it.
    NonceInside,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { why } => {
                write!(f, "not a record of a run: {}", AuditEscape(why.as_bytes()))
            }
            Self::Layout { line, expected } => write!(f, "line {line}: expected {expected}"),
            Self::Character { stream, character } => {
                let (name, code) = (stream.name(), u32::from(*character));
                write!(f, "{name} holds U+{code:04X}, which this format does not carry")
            }
            Self::NonceInside => f.write_str("the nonce of the envelope occurs inside of it"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Writes an envelope; every format ends in an LF.
///
/// `nonces` is asked only for `fence` and `xml`, and again while what it gave occurs in the
/// output, [`NONCE_DRAWS_MAX`] times in all.
///
/// # Errors
/// `json` holds any view. The others are for readers: they refuse a view that is not inert, with
/// style kept for one, a record without views, a view that is not made of its parts, and a value
/// that was expected ([`Envelope::without_value`] leaves it out).
pub fn render(
    envelope: &Envelope,
    format: Format,
    nonces: &mut impl NonceSource,
) -> Result<String, RenderError> {
    if format == Format::Json {
        let mut text = write_record(envelope)?;
        text.push('\n');
        return Ok(text);
    }
    if has_value(envelope) {
        return Err(RenderError::Value);
    }
    let texts = texts(envelope)?;
    for &(stream, text) in &texts {
        let mut characters = text.head.chars().chain(text.tail.chars());
        if let Some(character) = characters.find(|&c| !is_carried(format, c)) {
            return Err(RenderError::Character { stream, character });
        }
        if pieces_of(envelope, stream, text).is_none() {
            return Err(RenderError::Parts { stream });
        }
    }
    let facts = write_record(&envelope.without_views())?;
    let mut nonce = || {
        let mut draws = (0..NONCE_DRAWS_MAX).map_while(|_| nonces.draw()).map(|bytes| hex(&bytes));
        draws.find(|nonce| !occurs(nonce, &facts, &texts)).ok_or(RenderError::NoNonce)
    };
    Ok(match format {
        Format::Json | Format::Lines => lines::write(envelope, &facts, &texts),
        Format::Fence => fence::write(envelope, &facts, &texts, &nonce()?),
        Format::Xml => xml::write(envelope, &facts, &texts, &nonce()?),
    })
}

/// Reads what [`render`] wrote, strictly.
///
/// ```
/// # use noesc_envelope::{Format, parse};
/// let forged = "# {\"schema\":\"noesc.run/1\"}\n";
/// let error = parse(forged, Format::Lines).unwrap_err();
/// assert!(error.to_string().starts_with("not a record of a run: missing field `run`"));
/// ```
///
/// # Errors
/// When the text is not exactly one envelope in this format, the first thing that is wrong.
pub fn parse(text: &str, format: Format) -> Result<Envelope, ParseError> {
    match format {
        Format::Json => read_record(text),
        Format::Lines => lines::read(text),
        Format::Fence => fence::read(text),
        Format::Xml => xml::read(text),
    }
}

/// The texts of all streams, in the order of the record.
type Texts<'a> = Vec<(StreamName, &'a Text)>;

fn texts(envelope: &Envelope) -> Result<Texts<'_>, RenderError> {
    let text = |(&stream, of): (&StreamName, &'_ crate::record::Stream)| match &of.view.text {
        Some(_) => Ok(stream),
        None => Err(RenderError::NoText { stream }),
    };
    let names: Vec<StreamName> = envelope.streams.iter().map(text).collect::<Result<_, _>>()?;
    let text = |name| Some((name, envelope.streams.get(&name)?.view.text.as_ref()?));
    Ok(names.into_iter().filter_map(text).collect())
}

fn write_record(envelope: &Envelope) -> Result<String, RenderError> {
    json::write(envelope).map_err(|error| RenderError::Json(error.to_string()))
}

fn read_record(text: &str) -> Result<Envelope, ParseError> {
    json::read(text).map_err(|error| ParseError::Record { why: error.to_string() })
}

/// Reads the record of a container: its views are elsewhere.
pub(crate) fn read_facts(text: &str) -> Result<Envelope, ParseError> {
    let record = read_record(text)?;
    let is_bare = record.streams.values().all(|stream| stream.view.text.is_none());
    match is_bare && !has_value(&record) {
        true => Ok(record),
        false => Err(ParseError::Record { why: "expected no view in it".to_owned() }),
    }
}

fn has_value(envelope: &Envelope) -> bool {
    envelope.expected.as_ref().is_some_and(|expected| expected.value.is_some())
}

/// Gives a stream of a record its text.
pub(crate) fn put(
    envelope: &mut Envelope,
    format: Format,
    stream: StreamName,
    text: Text,
) -> Result<(), ParseError> {
    let mut characters = text.head.chars().chain(text.tail.chars());
    if let Some(character) = characters.find(|&c| !is_carried(format, c)) {
        return Err(ParseError::Character { stream, character });
    }
    if let Some(of) = envelope.streams.get_mut(&stream) {
        of.view.text = Some(text);
    }
    Ok(())
}

/// Whether a character of a view may stand in this format. What an inert view can't hold is
/// refused, since some reader would take it for the end of a line: CR, VT, FF, NEL, U+2028,
/// U+2029.
fn is_carried(format: Format, c: char) -> bool {
    match c {
        '\t' | '\n' => true,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' => format == Format::Json,
        '\u{FFFE}' | '\u{FFFF}' => format != Format::Xml,
        _ => true,
    }
}

/// Whether the nonce occurs in what is rendered.
pub(crate) fn occurs(nonce: &str, facts: &str, texts: &[(StreamName, &Text)]) -> bool {
    facts.contains(nonce)
        || texts.iter().any(|(_, text)| text.head.contains(nonce) || text.tail.contains(nonce))
}

/// Whether a tail is written: something is omitted, or there is one all the same.
pub(crate) fn has_tail(envelope: &Envelope, stream: StreamName, text: &Text) -> bool {
    !text.tail.is_empty() || omits(envelope, stream)
}

/// Whether the record says that something of this stream is omitted between head and tail.
pub(crate) fn omits(envelope: &Envelope, stream: StreamName) -> bool {
    let omits = |view: &View| view.parts.is_none() && view.omitted.bytes > 0;
    envelope.streams.get(&stream).is_some_and(|of| omits(&of.view))
}

/// The parts that the record says a text of this stream is made of, and their texts: none where
/// that is a head and a tail. `None` where it is not made of them.
pub(crate) fn pieces_of<'t>(
    envelope: &Envelope,
    stream: StreamName,
    text: &'t Text,
) -> Option<Vec<(ViewPart, &'t str)>> {
    envelope.streams.get(&stream).map_or(Some(Vec::new()), |of| pieces(&of.view, text))
}

/// The parts that the record says an excerpt of this stream gives.
pub(crate) fn parts_of(envelope: &Envelope, stream: StreamName) -> Option<&[ViewPart]> {
    envelope.streams.get(&stream)?.view.parts.as_deref()
}

/// Whether this is a nonce as text.
pub(crate) fn is_nonce(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(crate::ident::is_hex)
}

//! The form for people: a row for each item.

use std::fmt::{self, Write};

use anstyle::Style;
use noesc_grammar::{Class, Ending, Severity};
use noesc_text::{AuditEscape, escape_byte};

use crate::control::{describe_control, kind_of_control};
use crate::explainer::Options;
use crate::item::{Explained, Form, Hidden, Item, LineEnd, What};
use crate::theme::{blanks, styled};

/// Columns of the notation.
const NOTATION: usize = 16;
/// Columns of a kind: those of the longest word.
const KIND: usize = 18;
/// Columns of a severity.
const SEVERITY: usize = 8;
/// Columns of an offset that is not longer.
const OFFSET: usize = 8;
/// Where the words begin.
const WORDS: usize = OFFSET + 2 + NOTATION + 1;
/// Longest notation that is written in full.
const NOTATION_MAX: usize = 40;
/// Fewest columns of a row.
const WIDTH_MIN: usize = 72;

/// Columns that rows have under these options.
fn width(options: &Options) -> usize {
    options.width.max(WIDTH_MIN)
}

/// Columns for the text of a row, less the quotes.
pub(crate) fn text_columns(options: &Options) -> usize {
    width(options) - WORDS - 2
}

/// One row, taken apart.
struct Row<'a> {
    offset: u64,
    notation: &'a str,
    style: Style,
    words: &'a str,
    kind: &'a str,
    severity: Option<Severity>,
}

/// Writes one item as one row or more, each with its line end.
pub(crate) fn write(item: &Item<'_>, options: &Options, out: &mut impl Write) -> fmt::Result {
    let theme = &options.theme;
    let row = Row {
        offset: item.offset,
        notation: "",
        style: theme.control,
        words: "",
        kind: "",
        severity: None,
    };
    match &item.what {
        What::Text { .. } => text(item, options, out),
        What::LineEnds { end, count } => {
            row.with(&times(&line_end(*end), *count)).write(options, out)
        }
        What::Control { code, count } => {
            let meaning = describe_control(*code);
            let kind = kind_of_control(*code);
            Row {
                words: &meaning.words,
                kind: kind.map_or("", noesc_grammar::Kind::name),
                severity: kind.and_then(noesc_grammar::Kind::severity),
                ..row.with(&times(&meaning.name, *count))
            }
            .write(options, out)
        }
        What::IllFormed { bytes } => {
            let mut words = AuditEscape(bytes).to_string();
            if let [code @ 0x80..=0x9F] = bytes {
                let name = describe_control(*code).name;
                let _ = write!(words, " ({name} to a terminal of 8 bits)");
            }
            Row { words: &words, style: theme.shown, ..row.with("not UTF-8") }.write(options, out)
        }
        What::Part { start } => {
            let words = if *start == item.offset {
                "a sequence begins; what follows stands inside it".to_owned()
            } else {
                format!("the sequence of {} goes on", offset(*start, options))
            };
            Row { words: &words, style: theme.sequence, ..row.with("...") }.write(options, out)
        }
        What::Sequence(explained) => sequence(item, explained, options, out),
        What::SplitIntroducer { from } => {
            let words = format!(
                "the next character would go on with the sequence of {}, which a line end aborted",
                offset(*from, options)
            );
            let severity = Some(Severity::High);
            Row { words: &words, kind: "split-introducer", severity, ..row.with("!") }
                .write(options, out)
        }
    }
}

impl<'a> Row<'a> {
    fn with(self, notation: &'a str) -> Self {
        Self { notation, ..self }
    }

    fn write(&self, options: &Options, out: &mut impl Write) -> fmt::Result {
        let theme = &options.theme;
        let right = if self.kind.is_empty() { 0 } else { KIND + SEVERITY + 2 };
        let words_end = width(options) - right;
        let mut column = self.begin(options, out)?;
        let mut rest = self.words;
        let mut first = true;
        loop {
            let (line, after) = wrap(rest, words_end.saturating_sub(column.max(WORDS)));
            // A long notation may leave no room for a word.
            if !line.is_empty() {
                out.write_str(blanks(WORDS.saturating_sub(column)))?;
                out.write_str(line)?;
                column = column.max(WORDS) + line.chars().count();
            }
            if first && !self.kind.is_empty() {
                out.write_str(blanks((words_end + 1).saturating_sub(column)))?;
                write!(out, "{}", styled(theme.faint, self.kind))?;
                if let Some(severity) = self.severity {
                    out.write_str(blanks(KIND.saturating_sub(self.kind.len()) + 1))?;
                    write!(out, "{}", severity_word(severity, options))?;
                }
            }
            out.write_char('\n')?;
            if after.is_empty() {
                return Ok(());
            }
            (rest, column, first) = (after, 0, false);
        }
    }

    /// Offset and notation. Returns the column where the words can begin.
    fn begin(&self, options: &Options, out: &mut impl Write) -> Result<usize, fmt::Error> {
        let offset = format!("{:>OFFSET$}", offset(self.offset, options));
        let notation = match self.notation.get(NOTATION_MAX..) {
            Some(rest) if !rest.is_empty() => &format!("{}...", &self.notation[..NOTATION_MAX - 3]),
            _ => self.notation,
        };
        let columns = notation.chars().count();
        write!(out, "{}  ", styled(options.theme.faint, &offset))?;
        write!(out, "{}", styled(self.style, notation))?;
        let column = offset.len() + 2 + columns;
        if column < WORDS || self.words.is_empty() {
            return Ok(column);
        }
        out.write_str("  ")?;
        Ok(column + 2)
    }
}

fn offset(offset: u64, options: &Options) -> String {
    if options.hex_offsets { format!("{offset:08x}") } else { offset.to_string() }
}

fn times(name: &str, count: u64) -> String {
    if count == 1 { name.to_owned() } else { format!("{name} x{count}") }
}

/// `LF`, `CR LF`, `CR x3 LF`.
pub(crate) fn line_end(end: LineEnd) -> String {
    match end.crs {
        0 => "LF".to_owned(),
        1 => "CR LF".to_owned(),
        crs => format!("CR x{crs} LF"),
    }
}

fn severity_word(severity: Severity, options: &Options) -> String {
    let theme = &options.theme;
    match severity {
        Severity::High => styled(theme.high, "HIGH").to_string(),
        Severity::Critical => styled(theme.critical, "CRITICAL").to_string(),
        other => styled(theme.faint, other.name()).to_string(),
    }
}

/// The words of a line of so many columns, and the rest. Cuts at a blank; a word that is longer
/// than a line is cut where the line ends. Given no room, it gives nothing.
fn wrap(words: &str, columns: usize) -> (&str, &str) {
    let Some((end, _)) = words.char_indices().nth(columns) else { return (words, "") };
    match words[..end].rfind(' ') {
        _ if words[end..].starts_with(' ') => (&words[..end], &words[end + 1..]),
        Some(blank) => (&words[..blank], &words[blank + 1..]),
        None if columns < 12 => ("", words),
        None => (&words[..end], &words[end..]),
    }
}

fn text(item: &Item<'_>, options: &Options, out: &mut impl Write) -> fmt::Result {
    let What::Text { shown, end, hidden, deceiving } = item.what else { return Ok(()) };
    let theme = &options.theme;
    let notation = match end {
        None => "text".to_owned(),
        Some(end) => format!("text {}", line_end(end)),
    };
    let at = format!("{:>OFFSET$}", offset(item.offset, options));
    let column = at.len() + 2 + notation.len();
    write!(out, "{}  ", styled(theme.faint, at))?;
    let gap = blanks(WORDS.saturating_sub(column).max(1));
    write!(out, "{notation}{gap}\"")?;
    let mut rest = shown;
    while let Some((plain, notation)) = rest.split_once("<U+") {
        let (code, after) = notation.split_once('>').unwrap_or((notation, ""));
        write!(out, "{plain}{}", styled(theme.shown, format_args!("<U+{code}>")))?;
        rest = after;
    }
    writeln!(out, "{rest}\"")?;
    if let Some(hidden) = hidden {
        let words = match hidden {
            Hidden::Concealed => "^ concealed: a terminal does not show it",
            Hidden::SameColour => "^ in the colour of its background: not to be seen",
            Hidden::LineDrawing => "^ a terminal shows line drawing instead",
        };
        remark(words, hidden.finding(), Severity::High, options, out)?;
    }
    for of in deceiving {
        let words = format!("^ {}", counted(of.count, "character", "characters"));
        remark(&words, of.class.name(), level(of.severity), options, out)?;
    }
    Ok(())
}

/// A row below a text.
fn remark(
    words: &str,
    kind: &str,
    severity: Severity,
    options: &Options,
    out: &mut impl Write,
) -> fmt::Result {
    let words_end = width(options) - KIND - SEVERITY - 2;
    let kind = format!("{kind:KIND$}");
    let (line, mut after) = wrap(words, words_end - WORDS);
    write!(out, "{:WORDS$}{line:1$}", "", words_end + 1 - WORDS)?;
    write!(out, "{}", styled(options.theme.faint, kind))?;
    writeln!(out, " {}", severity_word(severity, options))?;
    while !after.is_empty() {
        let (line, rest) = wrap(after, words_end - WORDS);
        writeln!(out, "{:WORDS$}{line}", "")?;
        after = rest;
    }
    Ok(())
}

/// The severity of a character in the words of the grammar; they are the same.
pub(crate) const fn level(severity: noesc_text::Severity) -> Severity {
    match severity {
        noesc_text::Severity::Info => Severity::Info,
        noesc_text::Severity::Low => Severity::Low,
        noesc_text::Severity::High => Severity::High,
        noesc_text::Severity::Critical => Severity::Critical,
    }
}

fn sequence(
    item: &Item<'_>,
    explained: &Explained<'_>,
    options: &Options,
    out: &mut impl Write,
) -> fmt::Result {
    let words = said(item, explained, options);
    Row {
        offset: item.offset,
        notation: &explained.notation,
        style: options.theme.sequence,
        words: &words,
        kind: explained.sequence.kind.name(),
        severity: explained.severity,
    }
    .write(options, out)?;
    if options.payload && explained.sequence.payload > 0 {
        payload(explained, options, out)?;
    }
    Ok(())
}

/// Name, words, and what else there is to say.
fn said(item: &Item<'_>, explained: &Explained<'_>, options: &Options) -> String {
    let sequence = &explained.sequence;
    let meaning = &explained.meaning;
    let mut said = String::new();
    if meaning.is_known() && !explained.notation.starts_with(&*meaning.name) {
        let _ = write!(said, "{}: ", meaning.name);
    }
    said.push_str(&meaning.words);
    let mut note = |words: &str| {
        said.push_str("; ");
        said.push_str(words);
    };
    if sequence.class.is_string() {
        note(&counted(sequence.payload, "byte of payload", "bytes of payload"));
    }
    if sequence.payload_lines > 0 {
        note(&counted(sequence.payload_lines, "line held back", "lines held back"));
    }
    match (sequence.ending, explained.ended_by) {
        (Ending::Complete, Some("BEL")) if sequence.class != Class::Osc => note("ended by BEL"),
        (Ending::Complete, _) => {}
        (ending, Some(by)) => note(&format!("{} by {by}", ending.name())),
        (ending, None) => note(ending.name()),
    }
    if sequence.malformed {
        note("malformed");
    }
    match explained.form {
        Form::SevenBit => {}
        Form::EncodedC1 => note("C1 in UTF-8"),
        Form::RawC1 => note("C1 as a raw byte"),
    }
    if sequence.start != item.offset {
        note(&format!("begun at {}", offset(sequence.start, options)));
    }
    said
}

pub(crate) fn counted(count: u64, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

/// The payload in the audit escape, in lines that cut no escape.
fn payload(explained: &Explained<'_>, options: &Options, out: &mut impl Write) -> fmt::Result {
    let columns = width(options) - WORDS - 2;
    let mut line = String::new();
    let give = |line: &mut String, out: &mut dyn Write| {
        let written = writeln!(out, "{:WORDS$}| {}", "", styled(options.theme.shown, &line));
        line.clear();
        written
    };
    for &byte in explained.payload {
        let escaped = escape_byte(byte);
        if line.len() + escaped.as_bytes().len() > columns {
            give(&mut line, out)?;
        }
        let _ = write!(line, "{escaped}");
    }
    if !line.is_empty() {
        give(&mut line, out)?;
    }
    match explained.sequence.payload - explained.payload.len() as u64 {
        0 => Ok(()),
        more => writeln!(out, "{:WORDS$}  ({})", "", counted(more, "more byte", "more bytes")),
    }
}

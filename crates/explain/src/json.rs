//! The form for programs: one JSON object a line.

use std::fmt::{self, Write};

use noesc_grammar::Severity;
use noesc_text::AuditEscape;

use crate::control::{describe_control, kind_of_control};
use crate::explainer::Options;
use crate::item::{Explained, Item, What};
use crate::rows::{level, line_end};

/// One object, as it is written.
pub(crate) struct Object<'a, W> {
    out: &'a mut W,
    comma: bool,
}

impl<'a, W: Write> Object<'a, W> {
    pub(crate) fn begin(out: &'a mut W) -> Result<Self, fmt::Error> {
        out.write_char('{')?;
        Ok(Self { out, comma: false })
    }

    fn key(&mut self, key: &str) -> fmt::Result {
        if std::mem::replace(&mut self.comma, true) {
            self.out.write_char(',')?;
        }
        write!(self.out, "\"{key}\":")
    }

    pub(crate) fn number(&mut self, key: &str, value: u64) -> fmt::Result {
        self.key(key)?;
        write!(self.out, "{value}")
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) -> fmt::Result {
        self.key(key)?;
        string(self.out, value)
    }

    fn bool(&mut self, key: &str, value: bool) -> fmt::Result {
        self.key(key)?;
        write!(self.out, "{value}")
    }

    fn list(&mut self, key: &str, values: &[&str]) -> fmt::Result {
        self.key(key)?;
        self.out.write_char('[')?;
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.out.write_char(',')?;
            }
            string(self.out, value)?;
        }
        self.out.write_char(']')
    }

    pub(crate) fn end(self) -> fmt::Result {
        self.out.write_str("}\n")
    }
}

/// What is written here is inert already; quotes and backslashes are left to escape.
fn string(out: &mut impl Write, value: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in value.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            '<' | '>' | '&' => write!(out, "\\u{:04x}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

/// Writes one item as one object with its line end.
pub(crate) fn write(item: &Item<'_>, options: &Options, out: &mut impl Write) -> fmt::Result {
    let mut object = Object::begin(out)?;
    object.number("offset", item.offset)?;
    object.number("length", item.length)?;
    match &item.what {
        What::Text { shown, end, hidden, deceiving } => {
            object.string("item", "text")?;
            object.string("text", shown)?;
            if let Some(end) = end {
                object.string("line_end", &line_end(*end))?;
            }
            if let Some(hidden) = hidden {
                object.string("hidden", hidden.name())?;
            }
            if !deceiving.is_empty() {
                let classes: Vec<_> = deceiving.iter().map(|of| of.class.name()).collect();
                object.list("characters", &classes)?;
            }
            let worst = deceiving.iter().map(|of| level(of.severity)).max();
            let hidden = hidden.map(|_| Severity::High);
            if let Some(severity) = worst.max(hidden) {
                object.string("severity", severity.name())?;
            }
        }
        What::LineEnds { end, count } => {
            object.string("item", "line-end")?;
            object.string("line_end", &line_end(*end))?;
            object.number("count", *count)?;
        }
        What::Control { code, count } => {
            let meaning = describe_control(*code);
            object.string("item", "control")?;
            object.string("name", &meaning.name)?;
            object.string("words", &meaning.words)?;
            object.number("count", *count)?;
            if let Some(kind) = kind_of_control(*code) {
                object.string("kind", kind.name())?;
                if let Some(severity) = kind.severity() {
                    object.string("severity", severity.name())?;
                }
            }
        }
        What::IllFormed { bytes } => {
            object.string("item", "ill-formed")?;
            object.string("bytes", &AuditEscape(bytes).to_string())?;
        }
        What::Part { start } => {
            object.string("item", "part")?;
            object.number("start", *start)?;
        }
        What::Sequence(explained) => sequence(explained, options, &mut object)?,
        What::SplitIntroducer { from } => {
            object.string("item", "split-introducer")?;
            object.number("from", *from)?;
            object.string("severity", "high")?;
        }
    }
    object.end()
}

fn sequence<W: Write>(
    explained: &Explained<'_>,
    options: &Options,
    object: &mut Object<'_, W>,
) -> fmt::Result {
    let sequence = &explained.sequence;
    object.string("item", "sequence")?;
    object.number("start", sequence.start)?;
    object.number("bytes", sequence.bytes)?;
    object.string("class", sequence.class.name())?;
    object.string("form", explained.form.name())?;
    object.string("notation", &explained.notation)?;
    object.string("name", &explained.meaning.name)?;
    object.string("words", &explained.meaning.words)?;
    object.string("kind", sequence.kind.name())?;
    if let Some(severity) = explained.severity {
        object.string("severity", severity.name())?;
    }
    object.string("ending", sequence.ending.name())?;
    if let Some(by) = explained.ended_by {
        object.string("ended_by", by)?;
    }
    object.bool("malformed", sequence.malformed)?;
    if !explained.findings.is_empty() {
        object.list("findings", explained.findings)?;
    }
    if sequence.class.is_string() {
        object.number("payload_bytes", sequence.payload)?;
        object.number("payload_lines", sequence.payload_lines)?;
        if options.payload {
            object.string("payload", &AuditEscape(explained.payload).to_string())?;
            let omitted = sequence.payload - explained.payload.len() as u64;
            if omitted > 0 {
                object.number("payload_omitted", omitted)?;
            }
        }
    }
    Ok(())
}

//! `xml`: one element whose name holds the nonce. Its first child, `facts`, is the record.

use std::borrow::Cow;

use crate::format::{
    self, Format, ParseError, has_tail, is_nonce, occurs, omits, parts_of, pieces_of,
};
use crate::record::{Envelope, StreamName, Text};

/// Writes the envelope.
pub(crate) fn write(
    envelope: &Envelope,
    facts: &str,
    texts: &[(StreamName, &Text)],
    nonce: &str,
) -> String {
    let mut out = format!("<noesc-{nonce}>\n<facts>{}</facts>\n", escape(facts));
    for &(stream, text) in texts {
        let name = stream.name();
        if parts_of(envelope, stream).is_some() {
            out.push_str(&format!("<{name}>"));
            for (part, piece) in pieces_of(envelope, stream, text).unwrap_or_default() {
                out.push_str(&format!("<part line=\"{}\">{}</part>", part.line, escape(piece)));
            }
            out.push_str(&format!("</{name}>\n"));
            continue;
        }
        out.push_str(&format!("<{name}><head>{}</head>", escape(&text.head)));
        if has_tail(envelope, stream, text) {
            let omitted = envelope.streams.get(&stream).map(|of| of.view.omitted);
            out.push_str(&mark(omitted.unwrap_or_default()));
            out.push_str(&format!("<tail>{}</tail>", escape(&text.tail)));
        }
        out.push_str(&format!("</{name}>\n"));
    }
    out.push_str(&format!("</noesc-{nonce}>\n"));
    out
}

/// The element where a view was cut.
fn mark(omitted: crate::record::Omitted) -> String {
    format!("<omitted bytes=\"{}\" lines=\"{}\"/>", omitted.bytes, omitted.lines)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The way back; `None` for a reference that is not written here, or a raw `>`.
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('>') {
        return None;
    }
    let Some((plain, mut rest)) = text.split_once('&') else { return Some(text.into()) };
    let mut out = plain.to_owned();
    loop {
        let (name, after) = rest.split_once(';')?;
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            _ => return None,
        });
        let Some((plain, next)) = after.split_once('&') else {
            out.push_str(after);
            return Some(out.into());
        };
        out.push_str(plain);
        rest = next;
    }
}

/// Reads the envelope.
pub(crate) fn read(text: &str) -> Result<Envelope, ParseError> {
    let mut reader = Reader { all: text, rest: text };
    reader.literal("<noesc-", "<noesc- and a nonce")?;
    let nonce = reader.rest.get(..32).filter(|nonce| is_nonce(nonce));
    let nonce = nonce.ok_or(reader.expected("<noesc- and a nonce"))?;
    reader.rest = &reader.rest[nonce.len()..];
    reader.literal(">\n", "the end of the tag")?;
    let facts = reader.element("facts")?;
    reader.literal("\n", "the end of the line")?;
    let mut envelope = format::read_facts(&facts)?;
    let names: Vec<StreamName> = envelope.streams.keys().copied().collect();
    let mut texts = Vec::new();
    for &name in &names {
        let omitted = envelope.streams.get(&name).map(|of| of.view.omitted).unwrap_or_default();
        reader.literal(&format!("<{}>", name.name()), "the next stream of the record")?;
        if let Some(parts) = parts_of(&envelope, name) {
            let mut head = String::new();
            for part in parts {
                reader.literal(&format!("<part line=\"{}\">", part.line), "the next part")?;
                let piece = reader.text("part")?;
                if piece.len() as u64 != part.view.1 {
                    return Err(reader.expected("a part as long as the record says"));
                }
                head.push_str(&piece);
            }
            reader.literal(&format!("</{}>\n", name.name()), "the end of the stream")?;
            texts.push((name, Text { head, tail: String::new() }));
            continue;
        }
        let head = reader.element("head")?.into_owned();
        let tail = match reader.literal(&mark(omitted), "what is omitted") {
            Ok(()) => reader.element("tail")?.into_owned(),
            Err(error) if omits(&envelope, name) => return Err(error),
            Err(_) => String::new(),
        };
        reader.literal(&format!("</{}>\n", name.name()), "the end of the stream")?;
        texts.push((name, Text { head, tail }));
    }
    reader.literal(&format!("</noesc-{nonce}>\n"), "the end of the element")?;
    if !reader.rest.is_empty() {
        return Err(reader.expected("the end"));
    }
    let borrowed: Vec<_> = texts.iter().map(|(name, text)| (*name, text)).collect();
    if occurs(nonce, &facts, &borrowed) {
        return Err(ParseError::NonceInside);
    }
    for (name, text) in texts {
        format::put(&mut envelope, Format::Xml, name, text)?;
    }
    Ok(envelope)
}

struct Reader<'a> {
    all: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn expected(&self, expected: &'static str) -> ParseError {
        let read = &self.all[..self.all.len() - self.rest.len()];
        ParseError::Layout { line: 1 + read.matches('\n').count() as u64, expected }
    }

    fn literal(&mut self, literal: &str, expected: &'static str) -> Result<(), ParseError> {
        self.rest = self.rest.strip_prefix(literal).ok_or_else(|| self.expected(expected))?;
        Ok(())
    }

    /// The text of an element that has no attribute and no child.
    fn element(&mut self, name: &str) -> Result<Cow<'a, str>, ParseError> {
        self.literal(&format!("<{name}>"), "the next element")?;
        self.text(name)
    }

    /// The text of an element whose tag was read, and its end.
    fn text(&mut self, name: &str) -> Result<Cow<'a, str>, ParseError> {
        let end = self.rest.find('<').ok_or_else(|| self.expected("the end of the element"))?;
        let (text, rest) = self.rest.split_at(end);
        let text = unescape(text).ok_or_else(|| self.expected("&amp; &lt; &gt; alone"))?;
        self.rest = rest;
        self.literal(&format!("</{name}>"), "the end of the element")?;
        Ok(text)
    }
}

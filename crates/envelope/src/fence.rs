//! `fence`: Markdown. The record is the first fenced block, each part of a view is one more.
//!
//! All fences are the same and longer than any run of backticks inside. An info string is the
//! language, `noesc-` and the nonce, what the block holds, and `lf-added` where the LF before the
//! closing fence is no part of it. Of an excerpt each part is a block, named by its line.

use crate::format::{
    self, Format, ParseError, has_tail, is_nonce, occurs, omits, parts_of, pieces_of,
};
use crate::record::{Envelope, StreamName, Text};

/// The shortest fence of Markdown.
const FENCE_MIN: usize = 3;

/// Writes the envelope.
pub(crate) fn write(
    envelope: &Envelope,
    facts: &str,
    texts: &[(StreamName, &Text)],
    nonce: &str,
) -> String {
    let parts = texts.iter().flat_map(|(_, text)| [text.head.as_str(), &text.tail]);
    let run = parts.chain([facts]).map(longest_run).max().unwrap_or_default();
    let fence = "`".repeat((run + 1).max(FENCE_MIN));
    let mut out = format!("{fence}json noesc-{nonce} facts\n{facts}\n{fence}\n");
    let mut block = |stream: StreamName, part: &str, text: &str| {
        let added = !text.is_empty() && !text.ends_with('\n');
        let (word, lf) = if added { (" lf-added", "\n") } else { ("", "") };
        let name = stream.name();
        out.push_str(&format!(
            "{fence}text noesc-{nonce} {name} {part}{word}\n{text}{lf}{fence}\n"
        ));
    };
    for &(stream, text) in texts {
        if parts_of(envelope, stream).is_some() {
            for (part, piece) in pieces_of(envelope, stream, text).unwrap_or_default() {
                block(stream, &format!("line {}", part.line), piece);
            }
            continue;
        }
        block(stream, "head", &text.head);
        if has_tail(envelope, stream, text) {
            block(stream, "tail", &text.tail);
        }
    }
    out
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Reads the envelope.
pub(crate) fn read(text: &str) -> Result<Envelope, ParseError> {
    let length = text.len() - text.trim_start_matches('`').len();
    let (fence, after) = text.split_at(length);
    let nonce = after.strip_prefix("json noesc-").and_then(|rest| rest.get(..32));
    let nonce = nonce.filter(|nonce| is_nonce(nonce) && length >= FENCE_MIN);
    let nonce = nonce.ok_or(ParseError::Layout { line: 1, expected: "a fence and a nonce" })?;
    let mut reader = Reader { rest: text, line: 1, fence, nonce };
    let (facts, _) = reader.block("json", "facts")?.ok_or(reader.expected("the record"))?;
    let facts = facts.strip_suffix('\n').ok_or(reader.expected("the record"))?;
    let mut envelope = format::read_facts(facts)?;
    let names: Vec<StreamName> = envelope.streams.keys().copied().collect();
    let mut texts = Vec::new();
    for &name in &names {
        if let Some(parts) = parts_of(&envelope, name) {
            let mut head = String::new();
            for part in parts {
                let piece = reader.part(&format!("{} line {}", name.name(), part.line))?;
                let piece = piece.filter(|piece| piece.len() as u64 == part.view.1);
                head.push_str(&piece.ok_or(reader.expected("the next part of a stream"))?);
            }
            texts.push((name, Text { head, tail: String::new() }));
            continue;
        }
        let head = reader.part(&format!("{} head", name.name()))?;
        let head = head.ok_or(reader.expected("the head of a stream"))?;
        let tail = reader.part(&format!("{} tail", name.name()))?;
        if tail.is_none() && omits(&envelope, name) {
            return Err(reader.expected("the tail of a stream"));
        }
        texts.push((name, Text { head, tail: tail.unwrap_or_default() }));
    }
    if !reader.rest.is_empty() {
        return Err(reader.expected("the end"));
    }
    let borrowed: Vec<_> = texts.iter().map(|(name, text)| (*name, text)).collect();
    if occurs(nonce, facts, &borrowed) {
        return Err(ParseError::NonceInside);
    }
    for (name, text) in texts {
        format::put(&mut envelope, Format::Fence, name, text)?;
    }
    Ok(envelope)
}

struct Reader<'a> {
    rest: &'a str,
    /// Number of the next line.
    line: u64,
    fence: &'a str,
    nonce: &'a str,
}

impl<'a> Reader<'a> {
    fn expected(&self, expected: &'static str) -> ParseError {
        ParseError::Layout { line: self.line, expected }
    }

    fn part(&mut self, name: &str) -> Result<Option<String>, ParseError> {
        let Some((content, added)) = self.block("text", name)? else { return Ok(None) };
        let content = match added {
            true => content.strip_suffix('\n').filter(|kept| !kept.is_empty()),
            false => Some(content),
        };
        let kept = content.filter(|kept| !added || !kept.ends_with('\n'));
        kept.map(|kept| Some(kept.to_owned())).ok_or(self.expected("text before an added LF"))
    }

    /// The content of the next block and whether an LF was added to it; `None` when the next block
    /// is another one.
    fn block(&mut self, language: &str, name: &str) -> Result<Option<(&'a str, bool)>, ParseError> {
        let (fence, nonce) = (self.fence, self.nonce);
        let open = format!("{fence}{language} noesc-{nonce} {name}");
        let Some(after) = self.rest.strip_prefix(&open) else { return Ok(None) };
        let (content, added) = match after.strip_prefix(" lf-added\n") {
            Some(content) => (content, true),
            None => (after.strip_prefix('\n').ok_or(self.expected("the end of the line"))?, false),
        };
        self.line += 1;
        let mut length = 0;
        for line in content.split_inclusive('\n') {
            self.line += 1;
            if line.strip_suffix('\n') == Some(fence) {
                self.rest = &content[length + line.len()..];
                return Ok(Some((&content[..length], added)));
            }
            if line.contains(fence) {
                return Err(self.expected("a fence longer than what it holds"));
            }
            length += line.len();
        }
        Err(self.expected("the closing fence"))
    }
}

//! Markdown that a model wrote: filtered text in, styled blocks out, each as soon as it is whole.
//!
//! Filtered text can become live again here: `&#27;` is four harmless characters until the parser
//! decodes it. So every piece that the parser gives passes the boundary once more.

use std::io::{self, Write};
use std::sync::LazyLock;

use noesc::{Content, ContentClass, osc, second_pass};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use syntect::easy::HighlightLines;
use syntect::highlighting::ThemeSet;
use syntect::parsing::SyntaxSet;
use syntect::util::as_24_bit_terminal_escaped;

use crate::transcript::chrome;

/// Where a link may lead.
const SCHEMES: &[&str] = &["https", "http", "mailto"];

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);
static THEMES: LazyLock<ThemeSet> = LazyLock::new(ThemeSet::load_defaults);

/// Renders blocks as they become whole.
pub(crate) struct Markdown<W> {
    out: W,
    /// The block that is not over.
    pending: String,
}

impl<W: Write> Markdown<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, pending: String::new() }
    }

    /// Takes text that has passed the boundary, and writes the blocks that are whole.
    pub(crate) fn push(&mut self, text: &str) -> io::Result<()> {
        self.pending.push_str(text);
        let mut depth = 0;
        let mut last = 0;
        for (event, range) in Parser::new(&self.pending).into_offset_iter() {
            match event {
                Event::Start(_) if depth == 0 => (last, depth) = (range.start, 1),
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                _ => {}
            }
        }
        // The last block may go on.
        let rest = self.pending.split_off(last);
        let whole = std::mem::replace(&mut self.pending, rest);
        self.blocks(&whole)
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.pending);
        self.blocks(&rest)?;
        writeln!(self.out)?;
        self.out.flush()
    }

    fn blocks(&mut self, text: &str) -> io::Result<()> {
        let mut block = Block::default();
        for event in Parser::new(text) {
            block.event(&event);
            if block.is_over {
                let done = std::mem::take(&mut block);
                self.out.write_all(done.text.as_bytes())?;
            }
        }
        self.out.write_all(block.text.as_bytes())?;
        self.out.flush()
    }
}

/// One block on its way.
#[derive(Default)]
struct Block {
    text: String,
    /// Styles of ours that are on, from the outside in.
    styles: Vec<&'static str>,
    depth: usize,
    is_over: bool,
    /// The language and the text of a code block.
    code: Option<(String, String)>,
    /// The target and the label of a link.
    link: Option<(String, String)>,
}

impl Block {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.write(text),
            Event::Code(text) => {
                let text = second_pass(text, ContentClass::Derived);
                self.put(&chrome(&text, "36", true));
                self.restyle();
            }
            Event::SoftBreak => self.put(" "),
            Event::HardBreak => self.put("\n"),
            Event::Rule => self.put("----\n"),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        self.depth += 1;
        match tag {
            Tag::Heading { .. } => self.style("1;4"),
            Tag::Strong => self.style("1"),
            Tag::Emphasis => self.style("3"),
            Tag::BlockQuote(_) => self.put("\x1b[2m| \x1b[0m"),
            Tag::Item => self.put("\x1b[2m- \x1b[0m"),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) => {
                self.code = Some((language.to_string(), String::new()));
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => self.code = Some(Default::default()),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.to_string(), String::new()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        self.depth = self.depth.saturating_sub(1);
        match tag {
            TagEnd::Heading(_) | TagEnd::Strong | TagEnd::Emphasis => {
                self.styles.pop();
                self.text.push_str("\x1b[0m");
                self.restyle();
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.text.push_str(&highlighted(&language, &code));
                }
            }
            TagEnd::Link | TagEnd::Image => self.link(),
            _ => {}
        }
        let ends_line = matches!(tag, TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item);
        if ends_line && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        if self.depth == 0 {
            self.text.push('\n');
            self.is_over = true;
        }
    }

    /// Text that the parser has decoded.
    fn write(&mut self, text: &str) {
        match &mut self.code {
            Some((_, code)) => code.push_str(text),
            None => self.put(&second_pass(text, ContentClass::Derived)),
        }
    }

    fn put(&mut self, text: &str) {
        match &mut self.link {
            Some((_, label)) => label.push_str(text),
            None => self.text.push_str(text),
        }
    }

    /// A link under its label; beside a label that looks like another address, the real one.
    fn link(&mut self) {
        let Some((target, label)) = self.link.take() else { return };
        let link = osc::hyperlink_within(&target, &label, SCHEMES);
        match &link.target {
            Some(target) if link.mismatch => {
                let leads = chrome(&format!(" (leads to {target})"), "31", true);
                self.text.push_str(&format!("\x1b[4m{link}\x1b[24m{leads}"));
            }
            Some(_) => self.text.push_str(&format!("\x1b[4m{link}\x1b[24m")),
            None => self.text.push_str(&link.text),
        }
        self.restyle();
    }

    fn style(&mut self, style: &'static str) {
        self.styles.push(style);
        self.restyle();
    }

    fn restyle(&mut self) {
        for style in &self.styles {
            self.text.push_str(&format!("\x1b[{style}m"));
        }
    }
}

/// A code block in the colours of its language. The code is text: no style of its own.
fn highlighted(language: &str, code: &str) -> String {
    let code = Content::new(ContentClass::ModelOutput).style(false).second_pass(code).into_owned();
    let syntax = SYNTAXES.find_syntax_by_token(language);
    let theme = THEMES.themes.get("base16-ocean.dark");
    let mut out = String::new();
    let mut lines = syntax.zip(theme).map(|(syntax, theme)| HighlightLines::new(syntax, theme));
    for line in code.split_inclusive('\n') {
        let ranges = lines.as_mut().and_then(|lines| lines.highlight_line(line, &SYNTAXES).ok());
        match ranges {
            Some(ranges) => out.push_str(&as_24_bit_terminal_escaped(&ranges, false)),
            None => out.push_str(line),
        }
    }
    out + "\x1b[0m"
}

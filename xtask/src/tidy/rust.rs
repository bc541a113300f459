//! What holds for Rust files: their size and that of their functions, where `unsafe` stands and
//! what is said of it, and that each named limit is named in a test.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::{UNSAFE_ALLOWED, Violation, extension, is_generated};

/// Lines of code a file: blank lines, comments and `#[cfg(test)]` modules are not counted.
const FILE_LINES_MAX: usize = 600;

/// Lines of code a function, from its signature to its last brace.
const FUNCTION_LINES_MAX: usize = 70;

/// In one of the first lines of a file whose size is that of a table of rules.
const RULE_TABLE: &str = "tidy: rule table";

/// The lines in which [`RULE_TABLE`] is looked for.
const RULE_TABLE_LINES: usize = 5;

/// The crate that serves tests alone, and so has no limits of its own to test.
const TESTS_CRATE: &str = "crates/testkit/";

/// The violations of all Rust files among `texts`; `roots` are the crate roots that have to
/// forbid `unsafe`.
pub(super) fn check(texts: &[(String, String)], roots: &BTreeSet<String>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut files = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| extension(path) == "rs") {
        match RustFile::read(path, text) {
            Ok(file) => files.push(file),
            Err(violation) => found.push(violation),
        }
    }
    // `#[cfg(test)] mod tests;` makes a test of a file that cannot say so itself.
    let declared: BTreeSet<String> =
        files.iter().flat_map(|file| file.outline.test_files.iter().cloned()).collect();
    let mut tested = BTreeSet::new();
    for file in &mut files {
        file.is_test_module = declared.contains(file.path);
        tested.extend(file.words_of_tests());
    }
    for file in &files {
        found.extend(file.sizes());
        found.extend(file.unsafe_code());
        if roots.contains(file.path) && !unsafe_is_allowed(file.path) && !file.forbids_unsafe {
            let what = "the crate root does not say #![forbid(unsafe_code)]";
            found.push(Violation::new(file.path, 1, "unsafe", what));
        }
        found.extend(file.untested_limits(&tested));
    }
    found
}

fn unsafe_is_allowed(path: &str) -> bool {
    UNSAFE_ALLOWED.iter().any(|folder| path.starts_with(folder))
}

/// Whether Cargo builds the file for tests alone.
fn is_in_tests_folder(path: &str) -> bool {
    path.split('/').any(|part| part == "tests")
}

/// A Rust file, read once for all rules.
struct RustFile<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    is_generated: bool,
    /// Whether another file declares this one as a `#[cfg(test)]` module.
    is_test_module: bool,
    forbids_unsafe: bool,
    /// Every token that is no comment, flat, in order.
    tokens: Vec<Token>,
    outline: Outline,
}

/// A token and where it stands; of a group, one for either delimiter.
struct Token {
    word: String,
    first: usize,
    last: usize,
}

impl<'a> RustFile<'a> {
    fn read(path: &'a str, text: &'a str) -> Result<Self, Violation> {
        let failed = |span: Span, e: &dyn std::fmt::Display| {
            Violation::new(path, span.start().line, "syntax", e.to_string())
        };
        let stream: TokenStream =
            text.parse().map_err(|e: proc_macro2::LexError| failed(e.span(), &e))?;
        let lines: Vec<&str> = text.lines().collect();
        let mut tokens = Vec::new();
        flatten(stream.clone(), &lines, &mut tokens);
        let file: syn::File = syn::parse2(stream).map_err(|e| failed(e.span(), &e))?;
        let mut outline = Outline { path: path.to_owned(), ..Outline::default() };
        outline.visit_file(&file);
        Ok(Self {
            path,
            lines,
            is_generated: is_generated(text),
            is_test_module: false,
            forbids_unsafe: file.attrs.iter().any(forbids_unsafe),
            tokens,
            outline,
        })
    }

    fn is_in_test(&self, line: usize) -> bool {
        self.is_test_module
            || is_in_tests_folder(self.path)
            || self.outline.test_lines.iter().any(|&(a, b)| a <= line && line <= b)
    }

    /// The lines that hold code, comments and blank lines aside.
    fn code_lines(&self) -> BTreeSet<usize> {
        let is_blank =
            |line: usize| self.lines.get(line - 1).is_none_or(|text| text.trim().is_empty());
        let lines = self.tokens.iter().flat_map(|token| token.first..=token.last);
        lines.filter(|&line| !is_blank(line)).collect()
    }

    fn sizes(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        if self.is_generated {
            return found;
        }
        let code = self.code_lines();
        let is_table =
            self.lines.iter().take(RULE_TABLE_LINES).any(|line| line.contains(RULE_TABLE));
        // A program of tests is code like any other; only test modules are not counted.
        let is_in_module =
            |line| self.outline.test_lines.iter().any(|&(a, b)| a <= line && line <= b);
        let count = code.iter().filter(|&&line| !is_in_module(line)).count();
        if count > FILE_LINES_MAX && !is_table && !self.is_test_module {
            let what = format!("{count} lines of code, at most {FILE_LINES_MAX}");
            found.push(Violation::new(self.path, 0, "file-size", what));
        }
        for (name, first, last) in &self.outline.functions {
            let count = code.range(*first..=*last).count();
            if count > FUNCTION_LINES_MAX {
                let what =
                    format!("fn {name}: {count} lines of code, at most {FUNCTION_LINES_MAX}");
                found.push(Violation::new(self.path, *first, "function-size", what));
            }
        }
        found
    }

    /// `unsafe` outside its folders; inside them, a block or an `impl` without its reason.
    fn unsafe_code(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            if token.word != "unsafe" {
                continue;
            }
            let next = self.tokens.get(index + 1).map_or("", |next| next.word.as_str());
            if !unsafe_is_allowed(self.path) {
                let what = format!("unsafe outside of {}", UNSAFE_ALLOWED.join(" "));
                found.push(Violation::new(self.path, token.first, "unsafe", what));
            } else if matches!(next, "{" | "impl") && !self.says_why_safe(token.first) {
                let what = format!("unsafe {next} without a // SAFETY: comment above it");
                found.push(Violation::new(self.path, token.first, "safety-comment", what));
            }
        }
        found
    }

    /// Whether a `// SAFETY:` comment stands in front of the statement of this line: directly
    /// above, or above lines that this line continues.
    fn says_why_safe(&self, line: usize) -> bool {
        let mut above = self.lines[..line - 1].iter().rev().map(|text| text.trim());
        let mut in_comment = false;
        above.by_ref().find_map(|text| {
            let is_comment = text.starts_with("//") && !text.starts_with("///");
            if is_comment && text.trim_start_matches('/').trim_start().starts_with("SAFETY:") {
                return Some(true);
            }
            let goes_on = text.starts_with("#[") || text.ends_with(['=', '(', ',', '|', '&']);
            let stop = !is_comment && (in_comment || !goes_on);
            in_comment |= is_comment;
            stop.then_some(false)
        }) == Some(true)
    }

    fn words_of_tests(&self) -> BTreeSet<String> {
        let tokens = self.tokens.iter().filter(|token| self.is_in_test(token.first));
        tokens.map(|token| token.word.clone()).collect()
    }

    fn untested_limits(&self, tested: &BTreeSet<String>) -> Vec<Violation> {
        let is_product = self.path.starts_with("crates/")
            && self.path.contains("/src/")
            && !self.path.starts_with(TESTS_CRATE);
        let limits =
            self.outline.limits.iter().filter(|(name, line)| {
                is_product && !self.is_in_test(*line) && !tested.contains(name)
            });
        let what =
            |name: &str| format!("{name} is named in no test; test one below, at, one above");
        limits
            .map(|(name, line)| Violation::new(self.path, *line, "untested-limit", what(name)))
            .collect()
    }
}

/// `#![forbid(unsafe_code)]`, alone or with other lints.
fn forbids_unsafe(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::List(list) => {
            list.path.is_ident("forbid") && has_word(list.tokens.clone(), "unsafe_code")
        }
        _ => false,
    }
}

/// `#[cfg(test)]`, alone or with other conditions; not `#[cfg(not(test))]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::List(list) => {
            let tokens = || list.tokens.clone();
            list.path.is_ident("cfg") && has_word(tokens(), "test") && !has_word(tokens(), "not")
        }
        _ => false,
    }
}

fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => has_word(group.stream(), word),
        _ => false,
    })
}

/// Appends the tokens of `stream` to `out`, less those that a doc comment stands for.
fn flatten(stream: TokenStream, lines: &[&str], out: &mut Vec<Token>) {
    for tree in stream {
        let span = tree.span();
        if is_comment(span, lines) {
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(token(open, group.span_open()));
                flatten(group.stream(), lines, out);
                out.push(token(close, group.span_close()));
            }
            // A sign that is glued to the next one is no word of its own.
            TokenTree::Punct(sign) if sign.spacing() == Spacing::Joint => {}
            other => out.push(token(&other.to_string(), span)),
        }
    }
}

fn token(word: &str, span: Span) -> Token {
    Token { word: word.to_owned(), first: span.start().line, last: span.end().line }
}

/// Whether the source at the span starts a comment: a doc comment is an attribute by then.
fn is_comment(span: Span, lines: &[&str]) -> bool {
    let start = span.start();
    let line = lines.get(start.line - 1).copied().unwrap_or_default();
    let mut rest = line.chars().skip(start.column);
    rest.next() == Some('/') && matches!(rest.next(), Some('/' | '*'))
}

/// What the syntax tree of a file says.
#[derive(Default)]
struct Outline {
    path: String,
    /// First and last line of each `#[cfg(test)]` module.
    test_lines: Vec<(usize, usize)>,
    /// The files that `#[cfg(test)] mod name;` may mean.
    test_files: Vec<String>,
    /// Name, first and last line of each function with a body.
    functions: Vec<(String, usize, usize)>,
    /// Name and line of each constant named `…_MAX` that others may use.
    limits: Vec<(String, usize)>,
}

impl Outline {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.functions.push((signature.ident.to_string(), first, last));
    }

    fn constant(&mut self, name: &syn::Ident, visibility: &syn::Visibility) {
        let name_text = name.to_string();
        let is_limit = name_text.ends_with("_MAX");
        if is_limit && !matches!(visibility, syn::Visibility::Inherited) {
            self.limits.push((name_text, name.span().start().line));
        }
    }

    /// The folder in which the modules of this file lie.
    fn folder(&self) -> String {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        match name {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
        }
    }
}

impl<'ast> Visit<'ast> for Outline {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.attrs.iter().any(is_for_tests) {
            match &item.content {
                Some((brace, _)) => {
                    let first = item.attrs[0].pound_token.span.start().line;
                    self.test_lines.push((first, brace.span.close().end().line));
                }
                None => {
                    let file = format!("{}/{}", self.folder(), item.ident);
                    self.test_files.extend([format!("{file}.rs"), format!("{file}/mod.rs")]);
                }
            }
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(&item.ident, &item.vis);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(&item.ident, &item.vis);
    }
}

#[cfg(test)]
mod tests;

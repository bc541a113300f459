//! What is searched for: a regular expression, or a text.

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, Span};

use crate::fail::{Failure, Result, escaped};

/// Bytes of a pattern. A longer one is a mistake.
pub(super) const PATTERN_BYTES_MAX: usize = 4096;

/// Bytes that a compiled pattern may take: room for words of any script, some hundred characters
/// long.
const COMPILED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes that it may use while it searches.
const CACHE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Characters that mean something in a regular expression.
const SPECIAL: &str = r"\.+*?()|[]{}^$#&-~";

/// A pattern. To search with it takes time that grows with the text alone.
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn new(pattern: &str, is_fixed: bool, ignore_case: bool) -> Result<Self> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(Failure::new(format!("the pattern has {} bytes", pattern.len()))
                .hint(format!("it may have {PATTERN_BYTES_MAX}")));
        }
        let pattern = if is_fixed { literal(pattern) } else { pattern.to_owned() };
        let limits = Config::new()
            .nfa_size_limit(Some(COMPILED_BYTES_MAX))
            .onepass_size_limit(Some(CACHE_BYTES_MAX))
            .hybrid_cache_capacity(CACHE_BYTES_MAX);
        let regex = Regex::builder()
            .syntax(syntax::Config::new().case_insensitive(ignore_case))
            .configure(limits)
            .build(&pattern);
        regex.map(Self).map_err(|error| refused(&error))
    }

    /// The first match that begins and ends within a part of a text. What lies around it counts for
    /// `^`, `$` and `\b`.
    pub(super) fn find(&self, text: &str, part: Span) -> Option<Span> {
        self.0.find(Input::new(text).span(part)).map(|found| found.span())
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if SPECIAL.contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Why a pattern is none, in one line that quotes nothing unescaped.
fn refused(error: &BuildError) -> Failure {
    if error.size_limit().is_some() {
        return Failure::new("the pattern becomes too large")
            .hint("repeat less in it, or search for a part of it");
    }
    let said = error.syntax_error().map_or(error.to_string(), ToString::to_string);
    let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
    Failure::new(format!("the pattern is no regular expression: {}", escaped(why))).hint(
        "\"\\\" before a character takes it as it is; so does \"noesc search --fixed\" for all",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_text_is_found_as_it_is() {
        let text: String = (' '..='~').chain(['\u{e9}', '\u{2502}']).collect();
        let pattern = Pattern::new(&text, true, false).unwrap();
        assert!(pattern.is_in(&text));
        for at in text.char_indices().map(|(at, _)| at) {
            let mut other = text.clone();
            other.insert(at, '_');
            let is_end = at == 0;
            assert_eq!(pattern.is_in(&other), is_end, "{at}");
        }
    }

    #[test]
    fn a_pattern_has_a_longest_length() {
        for (length, is_taken) in [
            (PATTERN_BYTES_MAX - 1, true),
            (PATTERN_BYTES_MAX, true),
            (PATTERN_BYTES_MAX + 1, false),
        ] {
            assert_eq!(Pattern::new(&"x".repeat(length), false, false).is_ok(), is_taken);
        }
        assert!(Pattern::new("\\w{100} \\w+", false, true).is_ok());
        assert!(Pattern::new("((a{100}){100}){100}", false, false).is_err());
        assert!(Pattern::new(&"(".repeat(1000), false, false).is_err());
    }
}

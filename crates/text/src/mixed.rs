//! Words of mixed script: Latin with Greek, Cyrillic, Armenian or Cherokee letters.
//!
//! One pass, a state of fixed size. What is honest (units, symbols of science, endings on acronyms)
//! and what deceives is told apart by look-alikes: letters whose printed shape is that of an ASCII
//! letter. The rule is written out in `docs/scan.md`.

use crate::category::{Category, category};
use crate::mixed_tables::{ALIKE, LETTERS};
use crate::verdict::Severity;

/// The scripts that are mixed to deceive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the names of the scripts
pub enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
}

/// The scripts beside Latin, as indices into the state.
const OTHERS: usize = 4;

impl Script {
    const fn other(self) -> Option<usize> {
        match self {
            Self::Latin => None,
            Self::Greek => Some(GREEK),
            Self::Cyrillic => Some(1),
            Self::Armenian => Some(2),
            Self::Cherokee => Some(3),
        }
    }
}

const GREEK: usize = 0;

/// Letters, Latin and other together, from which a word can pass for another: `CO` and `Z\u{430}`
/// are slips or ranges of an alphabet.
pub const PASSING_LETTERS_MIN: u32 = 3;

/// Latin letters around a Greek letter that is a symbol of science besides, from which it is none:
/// `cosκx` has four.
pub const SYMBOL_LATIN_MIN: u32 = 5;

/// The script of a letter, if it is one of the set.
///
/// ```
/// use noesc_text::{Script, script};
/// assert_eq!(script('a'), Some(Script::Latin));
/// assert_eq!(script('\u{430}'), Some(Script::Cyrillic));
/// assert_eq!(script('\u{b5}'), None); // the micro sign is a symbol
/// assert_eq!(script('1'), None);
/// ```
#[inline]
pub fn script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphabetic().then_some(Script::Latin);
    }
    let point = u32::from(c);
    let run = LETTERS.partition_point(|&(_, last, _)| last < point);
    LETTERS.get(run).filter(|&&(first, ..)| first <= point).map(|&(.., script)| script)
}

/// The offset of the first letter of the set that is not Latin, or the length.
fn next_of_another(text: &str) -> usize {
    const STRIDE: usize = 32;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let strides = rest.as_bytes().chunks_exact(STRIDE);
        let ascii = strides.take_while(|stride| stride.is_ascii()).count() * STRIDE;
        let mut end = rest.len();
        for (i, c) in rest[ascii..].char_indices() {
            if !c.is_ascii() && script(c).is_some_and(|script| script != Script::Latin) {
                return at + ascii + i;
            }
            if c.is_ascii() && i >= STRIDE {
                end = ascii + i;
                break;
            }
        }
        at += end;
    }
    text.len()
}

/// The ASCII letter that a letter looks like, and whether it can't be told from it.
fn alike(c: char) -> Option<(u8, bool)> {
    let found = ALIKE.binary_search_by_key(&u32::from(c), |&(point, ..)| point).ok()?;
    Some((ALIKE[found].1, ALIKE[found].2))
}

/// A place in [`LOOKS`] for an ASCII letter.
const fn place(letter: u8) -> u64 {
    1 << (letter & 0x3F)
}

/// For each other script, the ASCII letters that one of its letters looks like.
static LOOKS: [u64; OTHERS] = looks();

const fn looks() -> [u64; OTHERS] {
    let mut looks = [0; OTHERS];
    let mut row = 0;
    while row < ALIKE.len() {
        let mut run = 0;
        while LETTERS[run].1 < ALIKE[row].0 {
            run += 1;
        }
        if let Some(other) = LETTERS[run].2.other() {
            looks[other] |= place(ALIKE[row].1);
        }
        row += 1;
    }
    looks
}

/// A word of mixed script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MixedWord {
    /// Offset of its first letter or digit.
    pub start: u64,
    /// Offset after its last one.
    pub end: u64,
    /// High: passes for a Latin word. Low: passes for a word of the other script, or may be
    /// honest. Info: visibly mixed.
    pub severity: Severity,
}

/// A mark or an invisible character: within a word it neither ends it nor is it a letter.
fn is_unseen(c: char) -> bool {
    use Category as C;
    matches!(
        category(c),
        C::Mark
            | C::MarkVirama
            | C::BidiControl
            | C::BidiMark
            | C::Tag
            | C::TextSelector
            | C::EmojiSelector
            | C::IdeographSelector
            | C::NonJoiner
            | C::Joiner
            | C::ZeroWidth
            | C::Ignorable
            | C::MongolianSelector
    )
}

/// What a word holds of one other script.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    letters: u32,
    /// Of these, those that look like an ASCII letter.
    alike: u32,
    /// Of these, those that can't be told from it.
    same: u32,
    /// Of those alike, the ones that look like a lower-case letter.
    small: u32,
    /// One that is alike stands between Latin letters.
    amid: bool,
}

/// The word being read.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    start: u64,
    end: u64,
    open: bool,
    latin: u32,
    /// All Latin letters are capitals so far.
    capitals: bool,
    /// The Latin letters so far, by [`place`]; one beyond ASCII looks like no other script's.
    latin_seen: u64,
    latin_beyond_ascii: bool,
    /// A Latin letter came after one of another script.
    latin_resumes: bool,
    parts: [Part; OTHERS],
    /// The last letter, and before it a Latin one.
    last: Option<Script>,
    last_alike_after_latin: bool,
}

/// Finds the words of mixed script in a stream of characters.
///
/// A word is a run of letters and digits, with the marks and invisible characters between them.
/// Anything else ends it: `_`, `-`, a space, a letter of a script outside the set. A letter that
/// belongs to an escape (`\n`, `\x1b`, `%s`) belongs to no word.
///
/// ```
/// use noesc_text::{MixedWords, Severity};
/// let mut found = Vec::new();
/// let mut words = MixedWords::default();
/// for (at, c) in "\u{3bc}s of the \u{430}dmin".char_indices() {
///     words.push(at as u64, c, &mut |word| found.push(word));
/// }
/// words.finish(&mut |word| found.push(word));
/// assert_eq!((found.len(), found[0].start, found[0].severity), (1, 11, Severity::High));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MixedWords {
    word: Word,
    /// The character before, if it may begin an escape.
    escape: Option<char>,
    /// Hex digits of an escape still to come.
    hex: u8,
}

impl MixedWords {
    /// Takes the next character and its offset in bytes; emits a word when it has ended.
    #[inline]
    pub fn push(&mut self, at: u64, c: char, emit: &mut impl FnMut(MixedWord)) {
        if c.is_ascii() && !c.is_ascii_alphanumeric() {
            self.end(emit);
            self.escape = (c == '\\' || c == '%').then_some(c);
            self.hex = 0;
            return;
        }
        if self.is_of_escape(c) {
            return;
        }
        match script(c) {
            Some(script) => self.word.letter(at, c, script),
            None if c.is_numeric() || is_unseen(c) => self.word.other(at, c),
            None => self.end(emit),
        }
    }

    /// Takes a piece of text whose first byte has this offset: the same as [`push`](Self::push) for
    /// each character, and much faster where all of them are Latin or of no script of the set.
    pub fn push_str(&mut self, at: u64, text: &str, emit: &mut impl FnMut(MixedWord)) {
        let mut done = 0;
        loop {
            // What stands before the word that holds the next letter of another script ends no
            // word of mixed script, but for the one that is open.
            let next = done + next_of_another(&text[done..]);
            let skipped = &text.as_bytes()[done..next];
            let ends = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
            if let Some(last) = skipped.iter().rposition(ends)
                && let Some(first) = skipped.iter().position(ends)
            {
                self.each(at, text, done, done + first + 1, emit);
                done = self.each(at, text, done + last, next, emit);
            } else {
                done = self.each(at, text, done, next, emit);
            }
            match text[done..].chars().next() {
                Some(c) => done = self.each(at, text, done, done + c.len_utf8(), emit),
                None => return,
            }
        }
    }

    fn each(
        &mut self,
        at: u64,
        text: &str,
        from: usize,
        to: usize,
        emit: &mut impl FnMut(MixedWord),
    ) -> usize {
        for (i, c) in text[from..to].char_indices() {
            self.push(at + (from + i) as u64, c, emit);
        }
        to
    }

    /// Ends the word: something that is no character stands here, or the stream has ended.
    pub fn finish(&mut self, emit: &mut impl FnMut(MixedWord)) {
        self.end(emit);
        (self.escape, self.hex) = (None, 0);
    }

    fn is_of_escape(&mut self, c: char) -> bool {
        if self.hex > 0 && c.is_ascii_hexdigit() {
            self.hex -= 1;
            return true;
        }
        self.hex = 0;
        match self.escape.take() {
            Some('\\') if c == 'x' => self.hex = 2,
            Some('\\') if c == 'u' => self.hex = 4,
            Some('\\') if c == 'U' => self.hex = 8,
            Some(_) if c.is_ascii_alphabetic() => {}
            _ => return false,
        }
        true
    }

    fn end(&mut self, emit: &mut impl FnMut(MixedWord)) {
        let word = core::mem::take(&mut self.word);
        if let Some(severity) = word.severity() {
            emit(MixedWord { start: word.start, end: word.end, severity });
        }
    }
}

impl Word {
    fn begin(&mut self, at: u64) {
        if !self.open {
            (self.open, self.capitals, self.start) = (true, true, at);
        }
    }

    fn other(&mut self, at: u64, c: char) {
        // A mark or an invisible character before the first letter belongs to no word.
        if self.open || c.is_numeric() {
            self.begin(at);
            self.end = at + c.len_utf8() as u64;
        }
    }

    fn letter(&mut self, at: u64, c: char, script: Script) {
        self.begin(at);
        self.end = at + c.len_utf8() as u64;
        match script.other() {
            None => self.latin(c),
            Some(other) => {
                let part = &mut self.parts[other];
                part.letters = part.letters.saturating_add(1);
                let looks = alike(c);
                if let Some((letter, same)) = looks {
                    part.alike = part.alike.saturating_add(1);
                    part.same = part.same.saturating_add(u32::from(same));
                    part.small = part.small.saturating_add(u32::from(letter.is_ascii_lowercase()));
                }
                self.last_alike_after_latin = looks.is_some() && self.last == Some(Script::Latin);
            }
        }
        self.last = Some(script);
    }

    fn latin(&mut self, c: char) {
        self.latin = self.latin.saturating_add(1);
        self.capitals &= c.is_uppercase();
        match u8::try_from(c).ok().filter(u8::is_ascii) {
            Some(letter) => self.latin_seen |= place(letter),
            None => self.latin_beyond_ascii = true,
        }
        if let Some(other) = self.last.and_then(Script::other) {
            self.latin_resumes = true;
            self.parts[other].amid |= self.last_alike_after_latin;
        }
    }

    fn severity(&self) -> Option<Severity> {
        if self.latin == 0 {
            return None;
        }
        let plain = self.parts.iter().map(|part| part.letters.saturating_sub(part.alike));
        let plain = plain.fold(0_u32, u32::saturating_add);
        let parts = self.parts.iter().enumerate().filter(|(_, part)| part.letters > 0);
        let severities = parts.filter_map(|(other, part)| {
            let severity = self.part_severity(other, part)?;
            // With more letters plain to see than look-alikes it passes for no Latin word.
            Some(if plain > part.alike { severity.min(Severity::Low) } else { severity })
        });
        severities.max()
    }

    fn part_severity(&self, other: usize, part: &Part) -> Option<Severity> {
        let passes_for_other = !self.latin_beyond_ascii && self.latin_seen & !LOOKS[other] == 0;
        let long = self.latin.saturating_add(part.letters) >= PASSING_LETTERS_MIN;
        if part.alike < part.letters {
            return match other {
                // A Greek letter that looks like no Latin one is a symbol: `Δx`, `kΩ`, `μs`.
                GREEK if part.letters > self.latin && long && passes_for_other => {
                    Some(Severity::Low)
                }
                GREEK => None,
                _ if passes_for_other => Some(Severity::Low),
                _ => Some(Severity::Info),
            };
        }
        if self.latin_seen == 0 {
            // Ligatures and full-width letters deceive nobody.
            return Some(Severity::Info);
        }
        // An ending on an acronym: `URL\u{430}`.
        let ending =
            !self.latin_resumes && self.capitals && self.latin >= 2 && part.small == part.letters;
        match part.same {
            // All of them are symbols besides: `hν`, `αmax`, `cosα`.
            0 if part.amid && self.latin >= SYMBOL_LATIN_MIN => Some(Severity::High),
            0 => long.then_some(Severity::Low),
            _ if ending || !long => Some(Severity::Low),
            _ => Some(Severity::High),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    /// The words found, as (start, end, severity).
    fn found(text: &str) -> Vec<(u64, u64, Severity)> {
        let mut found = Vec::new();
        let mut emit = |word: MixedWord| found.push((word.start, word.end, word.severity));
        let mut words = MixedWords::default();
        for (at, c) in text.char_indices() {
            words.push(at as u64, c, &mut emit);
        }
        words.finish(&mut emit);
        found
    }

    /// The same through pieces of text, cut at this place.
    fn found_in_pieces(text: &str, cut: usize) -> Vec<(u64, u64, Severity)> {
        let mut found = Vec::new();
        let mut emit = |word: MixedWord| found.push((word.start, word.end, word.severity));
        let mut words = MixedWords::default();
        words.push_str(0, &text[..cut], &mut emit);
        words.push_str(cut as u64, &text[cut..], &mut emit);
        words.finish(&mut emit);
        found
    }

    #[test]
    fn pieces_of_text_give_what_characters_give() {
        let pieces = [
            "\u{430}dmin",
            " ",
            "x",
            "\\",
            "n",
            "%",
            "\u{43e}\u{440}",
            "_",
            "\u{301}",
            "\u{4e2d}",
            "\n",
            "42",
            "\\x4",
            "a\u{200b}",
            "the quick brown fox jumps over the lazy dog ",
            "\u{3b1}",
            "\u{e9}",
            "thequickbrownfoxjumpsoverthelazydog0123456789",
        ];
        let mut seed = 1_u64;
        let mut words = 0;
        for _ in 0..4000 {
            let mut text = std::string::String::new();
            for _ in 0..8 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let mut cut = (seed >> 40) as usize % text.len();
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            let wanted = found(&text);
            words += wanted.len();
            assert_eq!(found_in_pieces(&text, cut), wanted, "{} {cut}", text.escape_unicode());
        }
        assert!(words > 1000, "{words}");
    }

    #[track_caller]
    fn is(text: &str, wanted: Option<Severity>) {
        let severity = found(text).into_iter().map(|(.., severity)| severity).max();
        assert_eq!(severity, wanted, "{}", text.escape_unicode());
    }

    #[test]
    fn a_word_that_passes_for_latin_is_high() {
        for word in [
            "\u{430}dmin",                          // Cyrillic a
            "p\u{430}yp\u{430}l",                   // two of them
            "\u{440}\u{430}\u{443}\u{440}\u{430}l", // all but one
            "g\u{3bf}\u{3bf}gle",                   // omicrons
            "p\u{3b1}ypal",                         // alpha between letters
            "\u{391}pple",                          // capital alpha
            "micro\u{455}oft",                      // dze
            "\u{570}ello",                          // Armenian ho
            "\u{13aa}dmin",                         // Cherokee go
            "get\u{421}onfig",                      // Cyrillic es at a hump
            "sud\u{43e}",                           // at the end
            "\u{430}\u{301}dmin",                   // with an accent
            "\u{451}xec",                           // io
            "v2\u{430}dmin",                        // a digit does not end a word
            "\u{430}\u{200b}dmin",                  // nor does what can't be seen
            "\u{394}\u{430}dmin",                   // nor does a symbol before it
            "C:\\t\u{435}mp",                       // though `\t` is an escape
            "\u{410}PI",                            // capitals
        ] {
            is(word, Some(Severity::High));
        }
    }

    #[test]
    fn symbols_and_units_are_nothing() {
        for word in [
            "\u{394}x",
            "\u{3bc}s",
            "\u{b5}s",
            "k\u{3a9}",
            "k\u{2126}",
            "\u{3bb}calculus",
            "h\u{3bd}",
            "d\u{3c1}",
            "\u{3b8}max",
            "cos\u{3c9}t",
            "\u{3a3}xy",
            "f\u{3bb}d",
            "\u{43a}\u{412}\u{442}",
            "\u{43c}2",
            "plain",
            "\u{e9}t\u{e9}",
            "\u{430}_b",
            "a-\u{431}",
            "x\u{4e2d}\u{430}",
            "\\n\u{441}\u{43e}\u{440}",
            "%s\u{441}\u{43e}\u{440}",
            "\\x0a\u{43e}\u{440}\u{430}",
            "\\u00e9\u{43e}\u{440}\u{430}",
        ] {
            is(word, None);
        }
    }

    #[test]
    fn what_may_be_honest_is_low_and_what_is_plain_to_see_is_info() {
        use Severity::{Info, Low};
        for (word, wanted) in [
            ("\u{3b1}max", Low),
            ("\u{3a5}\u{3a7}\u{153}", Info),
            ("\u{ff58}\u{ff59}\u{391}", Info),
            ("cos\u{3ba}x", Low),
            ("\u{421}O", Low),
            ("Z\u{430}", Low),
            ("URL\u{430}", Low),
            ("C\u{438}\u{441}\u{442}\u{435}\u{43c}\u{430}", Low), // a Latin C in a Russian word
            // More that is plain to see than look-alikes, of another script still.
            ("abc\u{394}\u{13a0}\u{3b2}\u{13f4}\u{3b3}\u{3b4}xyz", Low),
            ("PDF\u{43a}\u{430}", Info),
            ("3D\u{43c}\u{43e}\u{434}\u{435}\u{43b}\u{44c}", Info),
            ("get\u{426}\u{435}\u{43d}\u{430}", Info),
        ] {
            is(word, Some(wanted));
        }
    }

    #[test]
    fn the_limits_hold_at_one_below_and_one_above() {
        is("a\u{43e}", Some(Severity::Low));
        is("ab\u{43e}", Some(Severity::High));
        is("abc\u{43e}", Some(Severity::High));
        is("ab\u{3b1}cd", Some(Severity::Low));
        is("ab\u{3b1}cde", Some(Severity::High));
        is("ab\u{3b1}cdef", Some(Severity::High));
        is("ab\u{3b2}cd\u{435}", Some(Severity::High));
        is("a\u{3b2}b\u{3b2}cd\u{435}", Some(Severity::Low));
        is("a\u{3b2}b\u{3b2}c\u{430}d\u{435}", Some(Severity::High));
    }

    #[test]
    fn places_are_those_of_the_word() {
        let high = Severity::High;
        assert_eq!(found("x \u{430}dmin, (p\u{430}y)\n"), [(2, 8, high), (11, 15, high)]);
        assert_eq!(found("\u{301}\u{430}dmin\u{301}"), [(2, 10, high)]);
        assert_eq!(found("\u{430}dmin\u{4e2d}"), [(0, 6, high)]);
    }

    #[test]
    fn the_tables_are_in_order_and_of_the_set() {
        assert!(LETTERS.is_sorted_by(|a, b| a.1 < b.0));
        assert!(ALIKE.is_sorted_by(|a, b| a.0 < b.0));
        for (point, letter, _) in ALIKE {
            let c = char::from_u32(point).unwrap();
            assert!(script(c).unwrap().other().is_some() && letter.is_ascii_alphabetic());
        }
        for c in ['\u{370}', '\u{400}', '\u{531}', '\u{13a0}', '\u{ab70}', '\u{24f}'] {
            assert!(script(c).is_some(), "{}", c.escape_unicode());
        }
        for c in ['\u{3e2}', '\u{4e2d}', '\u{482}', '\u{10ffff}', '\0', '@', '[', '\u{37e}'] {
            assert_eq!(script(c), None, "{}", c.escape_unicode());
        }
    }
}

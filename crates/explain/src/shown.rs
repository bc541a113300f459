//! Text made inert, and back: what would not be seen, or would not be seen as it is, stands as
//! `<U+202E>`.

use std::fmt::Write;

use noesc_text::{MARKS_MAX, Visible, is_mark, is_seen};

/// Text as an explanation shows it.
///
/// Reversible: `<U+` stands nowhere but in the notation, since the `+` of text that holds these
/// three characters is itself shown, as `<U<U+002B>`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    text: String,
    /// Characters of `text`, marks not counted.
    columns: usize,
    /// Marks since the last base; none can stand without a base.
    marks: Option<u8>,
    /// The last characters of `text` are `<`, or `<U`.
    opened: u8,
}

impl Shown {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.columns = 0;
        self.marks = None;
        self.opened = 0;
    }

    /// Whether there is room for another character within so many columns. A mark on a base needs
    /// none.
    pub(crate) fn has_room(&self, c: char, columns: usize) -> bool {
        self.columns == 0
            || self.columns + self.columns_of(c) <= columns
            || (is_mark(c) && !self.is_shown(c))
    }

    /// The longest prefix that [`push_plain`](Self::push_plain) may take within so many columns:
    /// ASCII that is never shown in the notation and opens none.
    pub(crate) fn plain_prefix<'a>(&self, text: &'a str, columns: usize) -> &'a str {
        let room = columns.saturating_sub(self.columns);
        let plain = |b: &u8| matches!(b, b' '..=b'~') && !matches!(b, b'+' | b'<');
        // After `<`, a `U` is none: it may become the notation.
        let len =
            if self.opened > 0 { 0 } else { text.bytes().take_while(plain).take(room).count() };
        &text[..len]
    }

    /// Takes ASCII from [`plain_prefix`](Self::plain_prefix), as [`push`](Self::push) of each.
    pub(crate) fn push_plain(&mut self, text: &str) {
        self.text.push_str(text);
        self.columns += text.len();
        self.marks = Some(0);
    }

    fn columns_of(&self, c: char) -> usize {
        match (self.is_shown(c), c as u32) {
            (false, _) => 1,
            (true, ..=0xFFFF) => "<U+202E>".len(),
            (true, ..=0xF_FFFF) => "<U+E0041>".len(),
            (true, _) => "<U+10FFFE>".len(),
        }
    }

    fn is_shown(&self, c: char) -> bool {
        match c {
            '+' => self.opened == 2,
            ' '..='~' => false,
            c if is_mark(c) => self.marks.is_none_or(|marks| marks >= MARKS_MAX),
            // Joiners and selectors are shown even where a view keeps them.
            c => !is_seen(c),
        }
    }

    pub(crate) fn push(&mut self, c: char) {
        let shown = self.is_shown(c);
        let mark = !shown && is_mark(c);
        if !mark {
            self.columns += self.columns_of(c);
        }
        self.marks = match (shown, mark) {
            (true, _) => None,
            (false, true) => self.marks.map(|marks| marks + 1),
            (false, false) => Some(0),
        };
        self.opened = match c {
            '<' => 1,
            'U' if self.opened == 1 => 2,
            _ => 0,
        };
        if shown {
            // Writing to a string does not fail.
            let _ = write!(self.text, "{}", Visible(c));
        } else {
            self.text.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut shown = Shown::default();
        text.chars().for_each(|c| shown.push(c));
        shown.text
    }

    #[test]
    fn what_is_shown() {
        for (text, inert) in [
            ("plain <b> text", "plain <b> text"),
            ("a\tb", "a<U+0009>b"),
            ("abc\u{202e}def", "abc<U+202E>def"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}<U+200D>\u{1f469}"),
            ("a\u{a0}b", "a<U+00A0>b"),
            ("\u{e0041}", "<U+E0041>"),
            ("<U+202E>", "<U<U+002B>202E>"),
            ("<<U++", "<<U<U+002B>+"),
            ("e\u{301}", "e\u{301}"),
            ("\u{301}", "<U+0301>"),
            ("\u{2028}\u{301}", "<U+2028><U+0301>"),
            ("\u{e000}\u{fffd}", "<U+E000>\u{fffd}"),
        ] {
            assert_eq!(shown(text), inert);
        }
    }

    #[test]
    fn a_plain_prefix_is_as_its_characters() {
        for text in ["", "plain", "a<b", "a+b", "<U+", "a\tb", "a\u{e9}", "0123456789abc"] {
            let (mut one, mut all) = (Shown::default(), Shown::default());
            let prefix = one.plain_prefix(text, 10);
            assert!(prefix.len() <= 10);
            one.push_plain(prefix);
            text[prefix.len()..].chars().for_each(|c| one.push(c));
            text.chars().for_each(|c| all.push(c));
            assert_eq!((one.text, one.columns), (all.text, all.columns), "{text:?}");
        }
    }

    #[test]
    fn eight_marks_on_a_base() {
        let marks = |n| format!("a{}", "\u{301}".repeat(n));
        for n in [7, 8] {
            assert_eq!(shown(&marks(n)), marks(n));
        }
        assert_eq!(shown(&marks(9)), format!("{}<U+0301>", marks(8)));
    }
}

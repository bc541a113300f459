//! The `agent` view, written the slow way.

use super::{Item, characters, parse};

/// What the view is made of, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character of text; U+FFFD for ill-formed bytes.
    Char(char),
    /// LF, or a character that is written as LF.
    LineEnd,
    /// A carriage return.
    Cr,
    /// A dropped control, or the place where a sequence ended: a mark in the marked view.
    Mark,
    /// Bytes of a sequence: they part their neighbours.
    Nothing,
}

impl Unit {
    pub(super) fn char(self) -> Option<char> {
        match self {
            Unit::Char(c) => Some(c),
            _ => None,
        }
    }
}

/// The view of a whole input under the `agent` profile; `mark` leaves U+241B where a sequence or
/// a control was dropped.
///
/// ```
/// use noesc_testkit::twin::view;
/// assert_eq!(view(b"10%\r\x1b[K20%\r\n", false), "10%\n20%\n");
/// assert_eq!(view(b"a\x1b[31mb", true), "a\u{241b}b");
/// ```
#[must_use]
pub fn view(input: &[u8], mark: bool) -> String {
    let units = units(input);
    let written = characters::judge(&units);
    let mut view = String::new();
    let mut line_has_text = false;
    let mut bare_cr = false;
    for (unit, written) in units.into_iter().zip(written) {
        match (unit, written) {
            (Unit::Char(_), Some(c)) => {
                if bare_cr && line_has_text {
                    view.push('\n');
                }
                view.push(c);
                bare_cr = false;
                line_has_text = true;
            }
            (Unit::LineEnd, _) => {
                view.push('\n');
                bare_cr = false;
                line_has_text = false;
            }
            (Unit::Cr, _) => bare_cr = true,
            (Unit::Mark, _) if mark => view.push('\u{241b}'),
            _ => {}
        }
    }
    if bare_cr && line_has_text {
        view.push('\n');
    }
    view
}

fn units(input: &[u8]) -> Vec<Unit> {
    let parsed = parse(input);
    let mut units = Vec::new();
    // A sequence leaves its mark where it ended, which may be after controls and TABs inside it.
    let mut ended = parsed.sequences.iter().map(|s| s.end).peekable();
    for item in &parsed.items {
        let start = item.range().start;
        let pieces: Vec<(usize, Unit)> = match item {
            Item::Text { .. } => {
                let text = std::str::from_utf8(&input[item.range()]).unwrap_or_default();
                text.char_indices().map(|(at, c)| (start + at, text_unit(c))).collect()
            }
            Item::IllFormed { .. } => vec![(start, Unit::Char('\u{fffd}'))],
            Item::Control { code, .. } => vec![(start, control_unit(*code))],
            Item::SequencePart { .. } => vec![(start, Unit::Nothing)],
        };
        for (start, unit) in pieces {
            while ended.next_if(|&end| end <= start).is_some() {
                units.push(Unit::Mark);
            }
            units.push(unit);
        }
    }
    units.extend(ended.map(|_| Unit::Mark));
    units
}

fn text_unit(c: char) -> Unit {
    match c {
        '\n' | '\u{2028}' | '\u{2029}' => Unit::LineEnd,
        c => Unit::Char(c),
    }
}

fn control_unit(code: u32) -> Unit {
    match code {
        0x0d => Unit::Cr,
        0x0b | 0x0c | 0x85 => Unit::LineEnd,
        _ => Unit::Mark,
    }
}

#[cfg(test)]
mod tests {
    use super::view;

    fn views(input: &[u8], clean: &str, marked: &str) {
        assert_eq!(view(input, false), clean, "{}", input.escape_ascii());
        assert_eq!(view(input, true), marked, "{}", input.escape_ascii());
    }

    #[test]
    fn a_mark_stands_where_its_sequence_ended() {
        views(b"a\x1b[3\t\nb", "a\t\nb", "a\t\u{241b}\nb");
        views(b"a\x1b[3\x08", "a", "a\u{241b}\u{241b}");
        views(b"\x1b\x0b[mb", "\nb", "\n\u{241b}b");
    }

    #[test]
    fn a_bare_cr_is_written_before_the_next_text_only() {
        views(b"a\r\x1b[K\r\r", "a\n", "a\u{241b}\n");
        views(b"\r\ra", "a", "a");
        views(b"a\r\x00\nb", "a\nb", "a\u{241b}\nb");
        views(b"a\r\x0cb", "a\nb", "a\nb");
    }
}

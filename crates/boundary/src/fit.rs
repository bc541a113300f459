//! Text in a given number of columns, filtered first: sequences neither use up the budget nor are
//! cut by it.
//!
//! Columns are those of `unicode-width`; a terminal may see some characters otherwise.

use std::fmt::Write as _;

use noesc_text::{Category, MARKS_MAX, category, is_glyphless, is_mark, is_seen};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::content::{Content, ContentClass};

/// Stands where [`truncate`] has cut. One column.
pub const ELLIPSIS: char = '\u{2026}';

/// Text that fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fitted {
    /// The text. An open style is closed.
    pub text: String,
    /// Columns that it takes, at most as many as there are.
    pub columns: usize,
    /// Whether something is left out.
    pub is_cut: bool,
}

/// Content of a class, filtered and then cut to a budget of columns: whole grapheme clusters, and
/// [`ELLIPSIS`] where it was cut. Each line of it by itself.
///
/// ```
/// use noesc::{ContentClass, fit::truncate};
///
/// let cut = truncate("\x1b[31mred \x1b]0;x\x07and blue", 8, ContentClass::ToolOutput);
/// assert_eq!(cut.text, "\x1b[31mred and\u{2026}\x1b[0m");
/// assert_eq!((cut.columns, cut.is_cut), (8, true));
/// assert_eq!(truncate("\u{4f60}\u{597d}", 3, ContentClass::Derived).text, "\u{4f60}\u{2026}");
/// ```
#[must_use]
pub fn truncate(text: &str, columns: usize, class: ContentClass) -> Fitted {
    let mut view = String::new();
    let mut content = Content::new(class);
    content.push(text.as_bytes(), &mut view);
    content.finish(&mut view);
    let mut fitted = Fitted::default();
    for line in view.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let cut = cut(content, columns);
        fitted.text.push_str(&cut.text);
        fitted.text.push_str(end);
        fitted.columns = fitted.columns.max(cut.columns);
        fitted.is_cut |= cut.is_cut;
    }
    fitted
}

/// Cuts one line of a view. What follows the cut keeps its style sequences, since lines after it
/// may go on with them.
fn cut(line: &str, budget: usize) -> Fitted {
    let whole = pieces(line).map(|(_, columns)| columns).sum::<usize>();
    if whole <= budget {
        return Fitted { text: line.to_owned(), columns: whole, is_cut: false };
    }
    // The ellipsis needs a column of its own.
    let room = budget.saturating_sub(1);
    let mut fitted = Fitted { is_cut: true, ..Fitted::default() };
    let mut is_full = false;
    for (piece, columns) in pieces(line) {
        if piece.starts_with('\x1b') {
            fitted.text.push_str(piece);
        } else if !is_full && fitted.columns + columns <= room {
            fitted.text.push_str(piece);
            fitted.columns += columns;
        } else if !is_full {
            is_full = true;
            if budget > 0 {
                fitted.text.push(ELLIPSIS);
                fitted.columns += 1;
            }
        }
    }
    fitted
}

/// Columns of a TAB: the most that it can take.
const TAB_COLUMNS: usize = 8;

/// Characters of a cluster that counts as one. The longest that a keyboard gives, an emoji of four
/// people with their skin, has 12. More are no letter but a place to hide: each counts by itself.
const JOINED_CHARS_MAX: usize = 32;

/// The style sequences and the grapheme clusters of a line of a view, each with its columns.
fn pieces(line: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = line;
    // Bytes of a cluster that is too long.
    let mut loose = 0_usize;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let (end, least) = match rest.starts_with('\x1b') {
            true => (rest.find('m').map_or(rest.len(), |m| m + 1), 0),
            false if loose > 0 => (first, 1),
            false => {
                let cluster = rest.graphemes(true).next()?;
                match cluster.chars().nth(JOINED_CHARS_MAX) {
                    None => (cluster.len(), 0),
                    Some(_) => {
                        loose = cluster.len();
                        (first, 1)
                    }
                }
            }
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        loose = loose.saturating_sub(end);
        let columns = match piece {
            "\t" => TAB_COLUMNS,
            _ if piece.starts_with('\x1b') => 0,
            _ => piece.width().max(least),
        };
        Some((piece, columns))
    })
}

/// Bytes shown on one line, for a prompt that asks for approval or a cell of a table: nothing acts,
/// nothing is hidden, and nothing can pass for a cut.
///
/// Printable text stands for itself, but for the backslash, which is doubled. Every control is
/// `\n`, `\r`, `\t` or `\x1b`; every invisible or reordering character, and every blank but a
/// single space between words, is `\u{202e}`; a run of blanks is counted (`\s{40}`), so that it
/// pushes nothing out of sight; a byte that is not UTF-8 is `\xff`. Where the budget ends stands
/// `\…+7`: 7 more clusters, or less of that where it does not fit. Since the text has no single
/// backslash, and characters that look like one are escaped, it can't write that. Emoji that are
/// joined come apart, since what joins them is not seen.
///
/// ```
/// use noesc::fit::single_line;
///
/// let line = single_line(b"rm x\r\x1b[2K  ls \xe2\x80\xae\\n\xff", 60);
/// assert_eq!(line.text, r"rm x\r\x1b[2K\s{2}ls \u{202e}\\n\xff");
/// let line = single_line("curl example.org | sh".as_bytes(), 12);
/// assert_eq!(line.text, "curl ex\\\u{2026}+14");
/// ```
#[must_use]
pub fn single_line(text: impl AsRef<[u8]>, columns: usize) -> Fitted {
    let shown = shown(text.as_ref());
    let widths: Vec<usize> = shown.iter().map(|piece| piece.width()).collect();
    let whole = widths.iter().sum::<usize>();
    if whole <= columns {
        return Fitted { text: shown.concat(), columns: whole, is_cut: false };
    }
    // The most that fits before a mark of what is left.
    let mut before: usize = whole;
    for kept in (0..shown.len()).rev() {
        before -= widths[kept];
        let mark = format!("\\{ELLIPSIS}+{}", shown.len() - kept);
        if before + mark.width() <= columns {
            let text = shown[..kept].concat() + &mark;
            return Fitted { columns: before + mark.width(), text, is_cut: true };
        }
    }
    let marks = [format!("\\{ELLIPSIS}"), ELLIPSIS.to_string(), String::new()];
    let text = marks.into_iter().find(|mark| mark.width() <= columns).unwrap_or_default();
    Fitted { columns: text.width(), text, is_cut: true }
}

/// The clusters and escapes of a text.
fn shown(bytes: &[u8]) -> Vec<String> {
    let mut pieces = Vec::new();
    for chunk in bytes.utf8_chunks() {
        escape(chunk.valid(), &mut pieces);
        pieces.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    pieces
}

fn escape(text: &str, pieces: &mut Vec<String>) {
    let mut rest = text;
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let at_edge = blanks == rest.len() || rest.len() == text.len();
        match blanks {
            0 => {}
            1 if !at_edge => pieces.push(" ".into()),
            _ => pieces.push(format!("\\s{{{blanks}}}")),
        }
        let rest_of = &rest[blanks..];
        let (word, after) = rest_of.split_at(rest_of.find(' ').unwrap_or(rest_of.len()));
        for cluster in word.graphemes(true) {
            match is_plain(cluster) {
                true => pieces.push(cluster.to_owned()),
                false => pieces.extend(cluster.chars().map(escaped)),
            }
        }
        rest = after;
    }
}

/// Characters of a cluster that is shown as one, a letter and the marks that are kept anywhere; of
/// a longer one each is shown by itself.
const CLUSTER_CHARS_MAX: usize = 1 + MARKS_MAX as usize;

/// Whether a cluster shows all that it is: a character that is seen, and marks upon it.
fn is_plain(cluster: &str) -> bool {
    let is_glyph = |c| matches!(category(c), Category::PrivateUse | Category::PrivateUseNerd);
    let mut chars = cluster.chars();
    chars.next().is_some_and(|c| is_seen(c) || is_glyph(c))
        && chars.all(|c| is_seen(c) || is_mark(c))
        && !cluster.contains(|c| is_solidus(c) || is_glyphless(c))
        && cluster.width() > 0
        && cluster.chars().count() <= CLUSTER_CHARS_MAX
}

/// Whether a character is a backslash, or looks like one.
fn is_solidus(c: char) -> bool {
    matches!(c, '\\' | '\u{2216}' | '\u{29F5}' | '\u{29F9}' | '\u{FE68}' | '\u{FF3C}' | '\u{20E5}')
}

fn escaped(c: char) -> String {
    let mut text = String::new();
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\\' => text.push_str("\\\\"),
        '\0'..='\u{1F}' | '\u{7F}' => {
            let _ = write!(text, "\\x{:02x}", u32::from(c));
        }
        ' '..='~' => text.push(c),
        _ => {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_shown_as_one_up_to_its_limit() {
        for n in [CLUSTER_CHARS_MAX - 1, CLUSTER_CHARS_MAX, CLUSTER_CHARS_MAX + 1] {
            let cluster = "e".to_owned() + &"\u{301}".repeat(n - 1);
            let is_one = single_line(&cluster, 99).text == cluster;
            assert_eq!(is_one, n <= CLUSTER_CHARS_MAX);
        }
    }

    #[test]
    fn a_cluster_counts_as_one_up_to_its_limit() {
        for n in [JOINED_CHARS_MAX - 1, JOINED_CHARS_MAX, JOINED_CHARS_MAX + 1] {
            let cluster = "\u{1100}".to_owned() + &"\u{1161}".repeat(n - 1);
            let columns = truncate(&cluster, 99, ContentClass::Derived).columns;
            assert_eq!(columns, if n <= JOINED_CHARS_MAX { 2 } else { n + 1 });
        }
    }
}

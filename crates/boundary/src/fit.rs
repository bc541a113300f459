//! Text in a given number of columns, filtered first: sequences neither use up the budget nor are
//! cut by it.
//!
//! Columns are those of `unicode-width`; a terminal may see some characters otherwise.

use std::fmt::Write as _;

use noesc_text::{Class, Context, Verdict, is_ordinary};
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
    let whole = pieces(line).filter(|piece| !piece.starts_with('\x1b')).map(columns).sum::<usize>();
    if whole <= budget {
        return Fitted { text: line.to_owned(), columns: whole, is_cut: false };
    }
    // The ellipsis needs a column of its own.
    let room = budget.saturating_sub(1);
    let mut fitted = Fitted { is_cut: true, ..Fitted::default() };
    let mut is_full = false;
    for piece in pieces(line) {
        if piece.starts_with('\x1b') {
            fitted.text.push_str(piece);
            continue;
        }
        let width = columns(piece);
        if !is_full && fitted.columns + width <= room {
            fitted.text.push_str(piece);
            fitted.columns += width;
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

/// The columns of a cluster; a TAB counts as the most that it can take.
fn columns(cluster: &str) -> usize {
    if cluster == "\t" { TAB_COLUMNS } else { cluster.width() }
}

const TAB_COLUMNS: usize = 8;

/// The style sequences and the grapheme clusters of a line of a view.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = match rest.strip_prefix('\x1b') {
            Some(_) => rest.find('m').map_or(rest.len(), |m| m + 1),
            None => rest.graphemes(true).next()?.len(),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Bytes shown on one line, for a prompt that asks for approval or a cell of a table: nothing acts,
/// nothing is hidden, and nothing can pass for a cut.
///
/// Printable text stands for itself, but for the backslash, which is doubled. Every control is
/// `\n`, `\r`, `\t` or `\x1b`; every invisible or reordering character, and every blank but a
/// single space between words, is `\u{202e}`; a run of blanks is counted (`\s{40}`), so that it
/// pushes nothing out of sight; a byte that is not UTF-8 is `\xff`. Where the budget ends stands
/// `\…+7`: 7 more clusters. Since the text has no single backslash, it can't write that.
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
        if before + mark.width() <= columns || kept == 0 {
            let text = shown[..kept].concat() + &mark;
            return Fitted { columns: before + mark.width(), text, is_cut: true };
        }
    }
    Fitted::default()
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
    while let Some(cluster) = rest.graphemes(true).next() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let at_edge = blanks == rest.len() || rest.len() == text.len();
        if blanks > 1 || blanks == 1 && at_edge {
            pieces.push(format!("\\s{{{blanks}}}"));
            rest = &rest[blanks..];
            continue;
        }
        rest = &rest[cluster.len()..];
        match is_plain(cluster) {
            true => pieces.push(cluster.to_owned()),
            false => pieces.extend(cluster.chars().map(escaped)),
        }
    }
}

/// Whether a cluster shows all that it is: each of its characters is kept by the rules of
/// context, and it takes a column.
fn is_plain(cluster: &str) -> bool {
    if cluster.width() == 0 || cluster.contains(|c: char| c.is_control()) {
        return false;
    }
    if cluster.contains('\\') || cluster != " " && cluster.contains(char::is_whitespace) {
        return false;
    }
    if cluster.chars().all(is_ordinary) {
        return true;
    }
    let mut context = Context::default();
    let mut kept = true;
    let mut judge = |_: char, verdict: Verdict| {
        kept &= matches!(verdict, Verdict::Keep | Verdict::Noted(Class::PrivateUse, _));
    };
    cluster.chars().for_each(|c| context.push(c, &mut judge));
    context.interrupt(&mut judge);
    kept
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

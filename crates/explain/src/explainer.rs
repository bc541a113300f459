//! The inspector: bytes in, an inert explanation out.

use std::fmt::{self, Write};

use crate::items::Items;
use crate::summary::Summary;
use crate::theme::Theme;
use crate::{json, rows};

/// How an explanation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Rows for people.
    Rows,
    /// JSON, one object a line, for programs.
    Json,
}

/// What an explanation holds.
///
/// ```
/// let options = noesc_explain::Options { payload: true, ..Default::default() };
/// assert!(options.items && !options.summary);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Rows or JSON.
    pub layout: Layout,
    /// Every piece of the input.
    pub items: bool,
    /// At the end, counts by kind with the offset of the first.
    pub summary: bool,
    /// The payload of control strings, in the audit escape: at most
    /// [`PAYLOAD_BYTES_MAX`](crate::PAYLOAD_BYTES_MAX) bytes of each. Otherwise its length alone.
    pub payload: bool,
    /// Offsets in hexadecimal; in rows only.
    pub hex_offsets: bool,
    /// Columns of a row; at least 72.
    pub width: usize,
    /// Styles; in rows only.
    pub theme: Theme,
}

impl Default for Options {
    /// Rows of 100 columns for every item, without payload, summary and styles.
    fn default() -> Self {
        Self {
            layout: Layout::Rows,
            items: true,
            summary: false,
            payload: false,
            hex_offsets: false,
            width: 100,
            theme: Theme::PLAIN,
        }
    }
}

/// Explains a stream of bytes, as it comes.
///
/// What it writes is inert for any input: valid UTF-8 without C0 but LF, DEL, C1, and without a
/// character that a reader would not see or that reorders others. Text stands between quotes, with
/// such characters as `<U+202E>`; a `+` that would imitate this notation is itself shown so. Only
/// the styles of a [theme](Options::theme) write ESC.
///
/// The same bytes give the same explanation in any chunks, in linear time; what is kept between
/// chunks has a fixed size. A chunk's rows are written before [`push`](Self::push) returns, less
/// what is not decided yet: one row of text, or the open sequence.
///
/// ```
/// use noesc_explain::{Explainer, Options};
///
/// let mut explained = String::new();
/// let mut explainer = Explainer::new(Options { width: 72, ..Options::default() });
/// explainer.push(b"all \x1b[32mgood\n", &mut explained)?;
/// explainer.finish(&mut explained)?;
/// let rows: Vec<_> = explained.lines().collect();
/// assert_eq!(rows, [
///     r#"       0  text             "all ""#,
///     r#"       4  CSI 32 m         SGR: foreground   style"#,
///     r#"                           green"#,
///     r#"       9  text LF          "good""#,
/// ]);
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explainer {
    options: Options,
    items: Items,
    summary: Summary,
}

impl Explainer {
    /// At the beginning of a stream.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let items = Items::new(rows::text_columns(&options));
        Self { options, items, summary: Summary::default() }
    }

    /// Reads a chunk, and writes what is decided.
    ///
    /// # Errors
    /// Those of `out`. The explanation then lacks what was not written.
    pub fn push(&mut self, chunk: &[u8], out: &mut impl Write) -> fmt::Result {
        let mut result = Ok(());
        let Self { options, items, summary } = self;
        items.push(chunk, &mut |item| {
            summary.add(&item);
            if result.is_ok() && options.items {
                result = write_item(&item, options, out);
            }
        });
        result
    }

    /// Ends the stream: writes what was held back, and the summary if it was asked for.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(self, out: &mut impl Write) -> fmt::Result {
        let mut result = Ok(());
        let Self { options, items, mut summary } = self;
        items.finish(&mut |item| {
            summary.add(&item);
            if result.is_ok() && options.items {
                result = write_item(&item, &options, out);
            }
        });
        result?;
        match (options.summary, options.layout) {
            (false, _) => Ok(()),
            (true, Layout::Json) => summary.write_json(out),
            (true, Layout::Rows) => {
                if options.items {
                    out.write_char('\n')?;
                }
                summary.write(&options, out)
            }
        }
    }
}

fn write_item(item: &crate::Item<'_>, options: &Options, out: &mut impl Write) -> fmt::Result {
    match options.layout {
        Layout::Rows => rows::write(item, options, out),
        Layout::Json => json::write(item, options, out),
    }
}

//! The choice of head and tail of a view, while the view passes by.

use std::collections::VecDeque;

use noesc::{Run, SpanReceiver};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::record::Omitted;

/// Bytes of a grapheme cluster that a cut spares. A longer one (a base under many marks) may be
/// cut between characters.
pub const CLUSTER_BYTES_MAX: usize = 128;

/// Bytes of a style sequence that a cut spares: 32 parameters of five digits, what separates them,
/// and the frame are 194.
pub const STYLE_BYTES_MAX: usize = 256;

/// What is kept beyond a cut on either side, to judge it: the longest thing that is spared, and
/// one more character, which ends it.
const CONTEXT_BYTES: usize = STYLE_BYTES_MAX + 4;

/// Keeps the head and the tail of a view of any length, half of the budget each, and knows what
/// lies between.
///
/// Nothing is omitted of a view within the budget. Beyond it, head and tail are cut at a line end
/// where one lies within the last quarter of the half; else never inside a character, a grapheme
/// cluster of up to [`CLUSTER_BYTES_MAX`] bytes, or a kept style. A half smaller than the cluster
/// gives nothing.
///
/// Memory is bounded by the budget (about twice its bytes, and two runs for each) whatever the
/// view. The pieces may be cut anywhere between characters. To know what was omitted in raw bytes
/// too, hand the excerpt to the boundary as the receiver of spans.
///
/// ```
/// use noesc::{Boundary, Profile};
/// use noesc_envelope::Excerpt;
///
/// let mut boundary = Boundary::new(&Profile::AGENT)?;
/// let (mut excerpt, mut view) = (Excerpt::new(20), String::new());
/// for chunk in [&b"one\n\x1b[31mtwo\n"[..], b"three\nfour\x1b[m\nfive\n", b"six\n"] {
///     boundary.push_with_spans(chunk, &mut view, &mut excerpt);
///     excerpt.push(&view);
///     view.clear();
/// }
/// boundary.finish_with_spans(&mut view, &mut excerpt);
/// excerpt.push(&view);
///
/// let selection = excerpt.finish();
/// assert_eq!((&*selection.head, &*selection.tail), ("one\ntwo\n", "five\nsix\n"));
/// assert_eq!(selection.omitted.lines, 2);
/// assert_eq!(selection.omitted.raw, Some((13, 14)));
/// # Ok::<(), noesc::ProfileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Excerpt {
    head_max: usize,
    tail_max: usize,
    /// The first bytes: the head and its context.
    first: String,
    first_is_full: bool,
    /// The last bytes: the tail and its context. It begins where a cluster may begin.
    last: String,
    /// Bytes and LFs pushed.
    bytes: u64,
    lines: u64,
    /// Runs with text, those of the first bytes and those of the last.
    first_runs: Vec<Run>,
    last_runs: VecDeque<Run>,
    /// Text that the runs cover, and raw bytes.
    run_bytes: u64,
    raw_bytes: u64,
}

/// What was chosen of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The beginning; all of it where nothing is omitted.
    pub head: String,
    /// The end; empty where nothing is omitted.
    pub tail: String,
    /// What lies between.
    pub omitted: Omitted,
    /// Bytes of the whole view.
    pub bytes: u64,
    /// LFs of the whole view.
    pub lines: u64,
}

impl Excerpt {
    /// An excerpt of at most `budget` bytes of view.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        let budget = budget.min(isize::MAX as usize / 4);
        Self {
            head_max: budget / 2,
            tail_max: budget - budget / 2,
            first: String::new(),
            first_is_full: false,
            last: String::new(),
            bytes: 0,
            lines: 0,
            first_runs: Vec::new(),
            last_runs: VecDeque::new(),
            run_bytes: 0,
            raw_bytes: 0,
        }
    }

    /// Takes the next piece of the view.
    pub fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() {
            let room = self.last_max() - self.last.len();
            let (now, later) = rest.split_at(rest.floor_char_boundary(room));
            self.take(now);
            if self.last_max() - self.last.len() < 4 {
                self.forget();
            }
            rest = later;
        }
    }

    /// Bytes that `last` may have before it is shortened. At least what it keeps, and one
    /// character.
    fn last_max(&self) -> usize {
        2 * (self.tail_max + 2 * CONTEXT_BYTES)
    }

    fn take(&mut self, piece: &str) {
        let room = self.head_max + CONTEXT_BYTES - self.first.len();
        if !self.first_is_full {
            let cut = piece.floor_char_boundary(room);
            self.first.push_str(&piece[..cut]);
            self.first_is_full = cut < piece.len();
        }
        self.last.push_str(piece);
        self.bytes += piece.len() as u64;
        self.lines += count_lfs(piece);
    }

    /// Drops what can't be part of the tail any more, up to a place where a cluster may begin: an
    /// ASCII character, which nothing before it can join to what comes after, or else a boundary
    /// found from the last such place. Within a longer cluster than is spared any character does.
    fn forget(&mut self) {
        let end = self.last.floor_char_boundary(self.last.len() - self.tail_max - CONTEXT_BYTES);
        let near = end.saturating_sub(CONTEXT_BYTES);
        let ascii = self.last.as_bytes()[near..end].iter().rposition(u8::is_ascii);
        let from = match ascii {
            Some(at) => near + at,
            None => floor_cluster(&self.last, end),
        };
        self.last.drain(..from);
    }

    /// Ends the view. All runs have to be there by now, if there are any.
    #[must_use]
    pub fn finish(self) -> Selection {
        let (bytes, lines) = (self.bytes, self.lines);
        if bytes <= (self.head_max + self.tail_max) as u64 {
            return Selection { head: self.last, bytes, lines, ..Selection::default() };
        }
        let head = &self.first[..head_end(&self.first, self.head_max)];
        let tail = &self.last[tail_start(&self.last, self.last.len() - self.tail_max)..];
        let (start, end) = (head.len() as u64, bytes - tail.len() as u64);
        let omitted = Omitted {
            bytes: end - start,
            lines: lines - count_lfs(head) - count_lfs(tail),
            raw: (self.run_bytes == bytes).then(|| {
                let from = self.raw_before(start);
                (from, self.raw_after(end).saturating_sub(from))
            }),
        };
        Selection { head: head.to_owned(), tail: tail.to_owned(), omitted, bytes, lines }
    }

    /// Where the raw bytes end of which the view up to `at` was made.
    fn raw_before(&self, at: u64) -> u64 {
        let run = self.first_runs.iter().find(|run| run.view < at && at <= run.view + run.view_len);
        run.map_or(0, |run| match run.fate {
            noesc::Fate::Kept => run.raw + (at - run.view),
            _ => run.raw + run.raw_len,
        })
    }

    /// Where the raw bytes begin of which the view from `at` on was made.
    fn raw_after(&self, at: u64) -> u64 {
        let run = self.last_runs.iter().find(|run| run.view <= at && at < run.view + run.view_len);
        run.map_or(self.raw_bytes, |run| match run.fate {
            noesc::Fate::Kept => run.raw + (at - run.view),
            _ => run.raw,
        })
    }
}

/// Runs may come before or after the text that they cover, in the order of the view.
impl SpanReceiver for Excerpt {
    fn run(&mut self, run: Run) {
        self.raw_bytes = self.raw_bytes.max(run.raw + run.raw_len);
        if run.view_len == 0 {
            return;
        }
        self.run_bytes += run.view_len;
        if run.view < self.head_max as u64 {
            self.first_runs.push(run);
        }
        self.last_runs.push_back(run);
        // The tail begins at the end of the view less its size, or later.
        let tail = (run.view + run.view_len).saturating_sub(self.tail_max as u64);
        while self.last_runs.front().is_some_and(|run| run.view + run.view_len <= tail) {
            self.last_runs.pop_front();
        }
    }
}

fn count_lfs(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// The cluster with `start <= at < end`, for a text that begins with one; nothing at its end.
fn cluster(text: &str, at: usize) -> (usize, usize) {
    let mut start = 0;
    for cluster in text.graphemes(true) {
        let end = start + cluster.len();
        if end > at {
            return (start, end);
        }
        start = end;
    }
    (start, start)
}

/// The last place at or before `at` that no spared cluster covers.
fn floor_cluster(text: &str, at: usize) -> usize {
    match cluster(text, at) {
        (start, end) if end - start > CLUSTER_BYTES_MAX => text.floor_char_boundary(at),
        (start, _) => start,
    }
}

/// The first such place at or after `at`.
fn ceil_cluster(text: &str, at: usize) -> usize {
    match cluster(text, at) {
        (start, _) if start == at => at,
        (start, end) if end - start > CLUSTER_BYTES_MAX => text.ceil_char_boundary(at),
        (_, end) => end,
    }
}

/// The style sequence (`ESC [ … m`) that `at` cuts, if it cuts one: where it begins and ends.
fn style_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let near = at.saturating_sub(STYLE_BYTES_MAX);
    let start = near + bytes[near..at].iter().rposition(|&byte| byte == 0x1B)?;
    let length = bytes[start..].iter().position(|&byte| byte == b'm')? + 1;
    let end = start + length;
    let is_style = length <= STYLE_BYTES_MAX
        && bytes.get(start + 1) == Some(&b'[')
        && bytes[start + 2..end - 1].iter().all(|b| matches!(b, b'0'..=b'9' | b';' | b':'));
    (is_style && at < end).then_some((start, end))
}

/// Where a head of at most `max` bytes ends.
fn head_end(text: &str, max: usize) -> usize {
    let near = max - max / 4;
    if let Some(at) = text.as_bytes()[..max].iter().rposition(|&byte| byte == b'\n')
        && at + 1 >= near
    {
        return at + 1;
    }
    let end = floor_cluster(text, max);
    style_around(text, end).map_or(end, |(start, _)| start)
}

/// Where a tail that may begin at `min` begins.
fn tail_start(text: &str, min: usize) -> usize {
    let bytes = text.as_bytes();
    if min > 0 && bytes[min - 1] == b'\n' {
        return min;
    }
    let near = min + (text.len() - min) / 4;
    if let Some(at) = bytes[min..near].iter().position(|&byte| byte == b'\n') {
        return min + at + 1;
    }
    let start = ceil_cluster(text, min);
    style_around(text, start).map_or(start, |(_, end)| end)
}

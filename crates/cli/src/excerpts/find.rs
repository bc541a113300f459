//! Lines of a view that have a match, with some around them. Memory is flat whatever the view.

use std::collections::VecDeque;

use noesc_session::envelope::{FOUND_LISTED_MAX, LINE_BYTES_MAX, PARTS_MAX};
use regex_automata::Span;

use super::pattern::Pattern;

/// Bytes of a line that are searched at once. A longer one is searched piece by piece.
pub(super) const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a piece that are searched again with the next: a match of up to so many is found.
pub(super) const OVERLAP_BYTES: usize = 4 * 1024;

/// Bytes before a match that are shown of a line that is not shown whole.
const BEFORE_BYTES: usize = 200;

/// A line that is shown, or the part of it that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) number: u64,
    /// Where in the view it begins.
    pub(super) at: u64,
    /// With its LF, where its end is shown and there is one.
    pub(super) text: String,
    /// Whether it has a match, or stands near one that has.
    pub(super) is_match: bool,
    /// Whether its beginning is not shown.
    pub(super) is_cut: bool,
}

impl Row {
    fn end(&self) -> u64 {
        self.at + self.text.len() as u64
    }
}

/// What was found in a view.
#[derive(Debug, Default)]
pub(super) struct Finds {
    pub(super) rows: Vec<Row>,
    /// Lines with a match.
    pub(super) found: u64,
    /// Bytes and LFs of the view.
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// The last line that was searched, where not all of it was.
    pub(super) ended_at: Option<u64>,
}

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) context: usize,
    /// Lines with a match after which the search ends.
    pub(super) count_max: u64,
    pub(super) bytes_max: usize,
}

/// A search through a view that comes piece by piece.
pub(super) struct Search<'p> {
    pattern: &'p Pattern,
    bounds: Bounds,
    finds: Finds,
    line: Line,
    /// Lines before the next match, and how many are still shown after the last one.
    before: VecDeque<Row>,
    after: usize,
    /// Bytes, parts and lines with a match that are shown. Once one did not fit, none is any more.
    shown: usize,
    parts: usize,
    listed: usize,
    is_full: bool,
}

/// The line that is being read.
struct Line {
    number: u64,
    at: u64,
    /// What is searched next, and where in the line it begins.
    text: String,
    text_at: u64,
    /// The beginning of the line.
    first: String,
    found: Option<(u64, String)>,
}

impl Line {
    fn new(number: u64, at: u64) -> Self {
        let (text, first) = (String::new(), String::new());
        Self { number, at, text, text_at: 0, first, found: None }
    }

    fn len(&self) -> u64 {
        self.text_at + self.text.len() as u64
    }
}

impl<'p> Search<'p> {
    pub(super) fn new(pattern: &'p Pattern, bounds: Bounds) -> Self {
        Self {
            pattern,
            bounds,
            finds: Finds::default(),
            line: Line::new(1, 0),
            before: VecDeque::new(),
            after: 0,
            shown: 0,
            parts: 0,
            listed: 0,
            is_full: false,
        }
    }

    pub(super) fn push(&mut self, view: &str) {
        self.finds.bytes += view.len() as u64;
        self.finds.lines += view.matches('\n').count() as u64;
        for part in view.split_inclusive('\n') {
            if self.is_over() {
                self.finds.ended_at.get_or_insert(self.line.number - 1);
                return;
            }
            self.add(part);
            if part.ends_with('\n') {
                self.end_line();
            }
        }
    }

    pub(super) fn finish(mut self) -> Finds {
        if self.line.len() > 0 && !self.is_over() {
            self.end_line();
        }
        self.finds
    }

    /// Whether as many were found as were asked for, and what follows them was shown.
    fn is_over(&self) -> bool {
        self.finds.found >= self.bounds.count_max && self.after == 0
    }

    fn add(&mut self, part: &str) {
        let line = &mut self.line;
        let room = LINE_BYTES_MAX.saturating_sub(line.first.len());
        if line.len() == line.first.len() as u64 {
            line.first.push_str(&part[..part.floor_char_boundary(room)]);
        }
        let mut rest = part;
        loop {
            let room = PIECE_BYTES_MAX.saturating_sub(self.line.text.len());
            let (now, later) = rest.split_at(rest.floor_char_boundary(room));
            self.line.text.push_str(now);
            if later.is_empty() {
                return;
            }
            self.examine(false);
            let text = &mut self.line.text;
            let from = text.floor_char_boundary(text.len() - OVERLAP_BYTES);
            text.drain(..from);
            self.line.text_at += from as u64;
            rest = later;
        }
    }

    /// Looks for a match in what was read of the line.
    fn examine(&mut self, is_last: bool) {
        let line = &mut self.line;
        if line.found.is_some() || self.finds.found >= self.bounds.count_max {
            return;
        }
        let text = line.text.strip_suffix('\n').unwrap_or(&line.text);
        // The character at either end tells that the line does not begin or end there.
        let first = text.chars().next().filter(|_| line.text_at > 0).map_or(0, char::len_utf8);
        let last = text.chars().next_back().filter(|_| !is_last).map_or(0, char::len_utf8);
        let part = Span { start: first, end: text.len().saturating_sub(last).max(first) };
        let Some(found) = self.pattern.find(text, part) else { return };
        let start = text.floor_char_boundary(found.start.saturating_sub(BEFORE_BYTES));
        let end = line.text.floor_char_boundary(start + LINE_BYTES_MAX);
        let shown = line.text.get(start..end).unwrap_or_default();
        line.found = Some((line.text_at + start as u64, shown.to_owned()));
    }

    fn end_line(&mut self) {
        self.examine(true);
        let next = Line::new(self.line.number + 1, self.line.at + self.line.len());
        let line = std::mem::replace(&mut self.line, next);
        let is_whole = line.first.len() as u64 == line.len();
        let is_match = line.found.is_some();
        let (from, text) = match line.found {
            Some(found) if !is_whole => found,
            _ => (0, line.first),
        };
        let (number, at, is_cut) = (line.number, line.at + from, from > 0);
        let row = Row { number, at, text, is_match, is_cut };
        if is_match {
            self.finds.found += 1;
            for row in std::mem::take(&mut self.before) {
                self.show(row);
            }
            self.show(row);
            self.after = self.bounds.context;
        } else if self.after > 0 {
            self.after -= 1;
            self.show(row);
        } else if self.bounds.context > 0 {
            if self.before.len() == self.bounds.context {
                self.before.pop_front();
            }
            self.before.push_back(row);
        }
    }

    fn show(&mut self, mut row: Row) {
        let room = self.bounds.bytes_max - self.shown;
        if row.text.len() > room && self.finds.rows.is_empty() {
            // A part of the first is better than nothing.
            row.text.truncate(row.text.floor_char_boundary(room));
        }
        let is_new = self.finds.rows.last().is_none_or(|last| last.end() != row.at);
        self.is_full |= row.text.len() > room
            || row.text.is_empty()
            || is_new && self.parts == PARTS_MAX
            || row.is_match && self.listed == FOUND_LISTED_MAX;
        if self.is_full {
            return;
        }
        self.parts += usize::from(is_new);
        self.listed += usize::from(row.is_match);
        self.shown += row.text.len();
        self.finds.rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Bounds = Bounds { context: 1, count_max: u64::MAX, bytes_max: usize::MAX };

    fn searched(pattern: &str, pieces: &[&str], bounds: Bounds) -> Finds {
        let pattern = Pattern::new(pattern, false, false).unwrap();
        let mut search = Search::new(&pattern, bounds);
        pieces.iter().for_each(|piece| search.push(piece));
        search.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn where_a_view_is_cut_changes_nothing(
            lines in prop::collection::vec("[ab\u{e9}]{0,6}", 0..12),
            at in any::<prop::sample::Index>(),
            context in 0_usize..3,
            count_max in 1_u64..6,
            bytes_max in 0_usize..60,
        ) {
            let text = lines.join("\n");
            let bounds = Bounds { context, count_max, bytes_max };
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            let whole = searched("a.*b|^b$", &[&text], bounds);
            let cut = searched("a.*b|^b$", &[&text[..at], &text[at..]], bounds);
            prop_assert_eq!(&whole.rows, &cut.rows);
            prop_assert_eq!((whole.found, whole.ended_at), (cut.found, cut.ended_at));
            prop_assert!(whole.rows.iter().map(|row| row.text.len()).sum::<usize>() <= bytes_max);
            for row in &whole.rows {
                let from = usize::try_from(row.at).unwrap();
                prop_assert_eq!(&text[from..from + row.text.len()], row.text.as_str());
                let number = 1 + text[..from].matches('\n').count() as u64;
                prop_assert_eq!((row.number, row.is_cut), (number, false));
            }
        }

        #[test]
        fn what_is_found_is_what_each_line_on_its_own_has(
            lines in prop::collection::vec("[ab]{0,5}", 0..12),
        ) {
            let pattern = Pattern::new("a.*b", false, false).unwrap();
            let rows = searched("a.*b", &[&lines.join("\n")], ALL).rows;
            let found = rows.iter().filter(|row| row.is_match).map(|row| row.number);
            let has = |(_, line): &(u64, &String)| pattern.is_in(line);
            let expected = (1..).zip(&lines).filter(has).map(|(number, _)| number);
            let (found, expected): (Vec<_>, Vec<_>) = (found.collect(), expected.collect());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_of_many_pieces_has_one_beginning_and_one_end() {
        for length in
            [PIECE_BYTES_MAX - 1, PIECE_BYTES_MAX, PIECE_BYTES_MAX + 1, 3 * PIECE_BYTES_MAX]
        {
            let line = "x".repeat(length);
            let at_end = format!("{line}y");
            for (pattern, text, found) in [
                ("^x", &line, 1),
                ("x$", &line, 1),
                ("x$", &at_end, 0),
                ("xy$", &at_end, 1),
                ("^xy", &at_end, 0),
                ("\\bx", &line, 1),
                ("\\by", &at_end, 0),
            ] {
                assert_eq!(searched(pattern, &[text], ALL).found, found, "{pattern} in {length}");
            }
        }
        // A match as long as what is searched twice is found wherever it lies.
        let word = "y".repeat(OVERLAP_BYTES - 8);
        for before in (PIECE_BYTES_MAX - OVERLAP_BYTES - 9..PIECE_BYTES_MAX + 9).step_by(397) {
            let text = format!("{}{word}{}", "x".repeat(before), "x".repeat(PIECE_BYTES_MAX));
            assert_eq!(searched(&format!("x{word}x"), &[&text], ALL).found, 1, "{before}");
        }
    }
}

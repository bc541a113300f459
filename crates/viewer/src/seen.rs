//! Which bytes were on the screen.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges that are told of one viewing.
pub const SEEN_RANGES_MAX: usize = 4096;

/// Bytes of a stream that were on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRange {
    /// The stream, by its place in [`Original::streams`](crate::Original::streams).
    pub stream: usize,
    /// Offsets.
    pub bytes: Range<u64>,
}

/// Bytes that were copied, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The stream, by its place.
    pub stream: usize,
    /// Offsets.
    pub bytes: Range<u64>,
    /// The bytes in the audit notation: printable ASCII on one line.
    pub text: String,
}

/// Collects ranges; those that touch are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// By stream and start, the end.
    ends: BTreeMap<(usize, u64), u64>,
}

impl Ranges {
    pub(crate) fn add(&mut self, stream: usize, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        if start >= end {
            return;
        }
        // Whatever begins at or before the end of this, and ends at or behind its start.
        while let Some((&(_, from), &to)) = self.ends.range((stream, 0)..=(stream, end)).next_back()
            && to >= start
        {
            (start, end) = (start.min(from), end.max(to));
            self.ends.remove(&(stream, from));
        }
        self.ends.insert((stream, start), end);
        if self.ends.len() > SEEN_RANGES_MAX {
            self.join_nearest();
        }
    }

    /// Joins the two of one stream that have the least between them; they may be none.
    fn join_nearest(&mut self) {
        let pairs = self.ends.iter().zip(self.ends.iter().skip(1));
        let nearest = pairs
            .filter(|((a, _), (b, _))| a.0 == b.0)
            .min_by_key(|((_, to), (b, _))| b.1 - **to)
            .map(|((a, _), (b, end))| (*a, *b, *end));
        if let Some((first, second, end)) = nearest {
            self.ends.remove(&second);
            self.ends.insert(first, end);
        }
    }

    pub(crate) fn list(&self) -> Vec<SeenRange> {
        let range = |(&(stream, from), &to)| SeenRange { stream, bytes: from..to };
        self.ends.iter().map(range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(ranges: &Ranges) -> Vec<(usize, u64, u64)> {
        ranges.list().into_iter().map(|r| (r.stream, r.bytes.start, r.bytes.end)).collect()
    }

    #[test]
    fn what_touches_is_one() {
        let mut ranges = Ranges::default();
        for range in [10..20, 30..40, 50..60, 5..5] {
            ranges.add(0, range);
        }
        assert_eq!(listed(&ranges), [(0, 10, 20), (0, 30, 40), (0, 50, 60)]);
        ranges.add(0, 20..55);
        assert_eq!(listed(&ranges), [(0, 10, 60)]);
        ranges.add(1, 0..10);
        ranges.add(0, 12..13);
        assert_eq!(listed(&ranges), [(0, 10, 60), (1, 0, 10)]);
    }

    #[test]
    fn beyond_the_limit_the_nearest_are_joined() {
        for (count, left) in
            [(SEEN_RANGES_MAX - 1, 0), (SEEN_RANGES_MAX, 0), (SEEN_RANGES_MAX + 1, 1)]
        {
            let mut ranges = Ranges::default();
            for at in 0..count as u64 {
                ranges.add(0, at * 10..at * 10 + 1);
            }
            assert_eq!(ranges.list().len(), count - left);
            let list = ranges.list();
            let mut covered = list.iter().flat_map(|r| r.bytes.clone().step_by(10));
            assert!((0..count as u64).all(|at| covered.next() == Some(at * 10)));
        }
    }
}

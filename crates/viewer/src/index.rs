//! What is known of a stream: places to go on reading from, findings, lines.
//!
//! All of it has a fixed size at most, however long the stream is.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use noesc_explain::What;
use noesc_grammar::Severity;

use crate::piece::{Piece, findings, start_of};
use crate::scan::Scan;
use crate::source::Source;

/// Findings that are listed. Beyond them, the search for the next reads the bytes again.
pub(crate) const FINDINGS_MAX: usize = 4096;

/// Places kept to read on from. When there are so many, every other one is dropped.
pub(crate) const MARKS_MAX: usize = 512;

/// Places kept near what was shown last.
const NEAR_MARKS_MAX: usize = 64;

/// Distance of the first marks, and of those near what is shown.
const MARK_BYTES: u64 = 4096;

/// So far beyond what was read, the bytes between are read without being asked.
pub(crate) const GAP_BYTES_MAX: u64 = 1024 * 1024;

/// So far before a place is read to guess what state it is in.
const GUESS_BYTES: u64 = 64 * 1024;

/// So far behind the screen is read for the end of what is on it.
pub(crate) const LOOKAHEAD_BYTES_MAX: u64 = 64 * 1024;

/// One thing that an investigator should see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) at: u64,
    pub(crate) kind: &'static str,
    pub(crate) severity: Severity,
    pub(crate) bytes: u64,
}

/// What is known of one stream.
#[derive(Debug)]
pub(crate) struct Index {
    frontier: Scan,
    marks: Vec<Scan>,
    interval: u64,
    near: VecDeque<Scan>,
    findings: Vec<Finding>,
    counts: BTreeMap<&'static str, u64>,
}

/// The pieces of a part of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    /// In order; they tile the part, and the first and the last may reach beyond it.
    pub(crate) list: Vec<Piece>,
    /// They are exact: the bytes before were all read.
    pub(crate) exact: bool,
    /// The line of the first byte, from 1, if it is known.
    pub(crate) line: Option<u64>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self {
            frontier: Scan::from(0),
            marks: vec![Scan::from(0)],
            interval: MARK_BYTES,
            near: VecDeque::new(),
            findings: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The bytes before this one are all read.
    pub(crate) fn read_up_to(&self) -> u64 {
        self.frontier.at()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.frontier.has_ended()
    }

    /// LFs before [`Self::read_up_to`].
    pub(crate) fn lines(&self) -> u64 {
        self.frontier.lines()
    }

    /// In order of their place, the first [`FINDINGS_MAX`].
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Whether there may be findings in what was read that are not listed.
    pub(crate) fn is_full(&self) -> bool {
        self.findings.len() >= FINDINGS_MAX
    }

    /// Reads the next bytes, at most up to `to`.
    pub(crate) fn advance(&mut self, source: &mut Source<'_>, to: u64) -> io::Result<()> {
        let Self { frontier, findings: list, counts, .. } = self;
        let next_mark = (frontier.at() / self.interval + 1) * self.interval;
        // A mark is where a read ended: cut reads there while marks are close.
        let to = if self.interval < GAP_BYTES_MAX { to.min(next_mark) } else { to };
        frontier.step(source, to, &mut |item, base| {
            let at = base + start_of(item);
            findings(item, &mut |kind, severity| {
                *counts.entry(kind).or_default() += 1;
                if list.len() < FINDINGS_MAX {
                    list.push(Finding { at, kind, severity, bytes: item.length });
                }
            });
        })?;
        let last = self.marks.last().map_or(0, Scan::at);
        if self.frontier.at() >= last + self.interval {
            self.marks.push(self.frontier.clone());
            if self.marks.len() > MARKS_MAX {
                let mut place = 0;
                self.marks.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.interval *= 2;
            }
        }
        Ok(())
    }

    /// The nearest place at or before an offset that a pass can go on from.
    pub(crate) fn mark(&self, offset: u64) -> &Scan {
        let after = self.marks.partition_point(|mark| mark.at() <= offset);
        let far = &self.marks[after.saturating_sub(1)];
        let near = self.near.iter().filter(|mark| mark.at() <= offset).max_by_key(|mark| mark.at());
        near.filter(|near| near.at() > far.at()).unwrap_or(far)
    }

    /// A place with fewer LFs before it than so many, or the beginning, and how many there are.
    pub(crate) fn before_line(&self, lines: u64) -> (u64, u64) {
        let after = self.marks.partition_point(|mark| mark.lines() < lines);
        let mark = &self.marks[after.saturating_sub(1)];
        (mark.at(), mark.lines())
    }

    /// The pieces of a part. Reads the bytes before it too, where that is not far.
    pub(crate) fn pieces(
        &mut self,
        source: &mut Source<'_>,
        from: u64,
        to: u64,
    ) -> io::Result<Pieces> {
        if from <= self.frontier.at() + GAP_BYTES_MAX {
            while self.frontier.at() < from {
                self.advance(source, from)?;
            }
        }
        let exact = from <= self.frontier.at();
        let mut scan = match exact {
            true => self.mark(from).clone(),
            false => Scan::from(from.saturating_sub(GUESS_BYTES)),
        };
        self.approach(source, &mut scan, from, exact)?;
        let line = exact.then(|| scan.lines() + 1);
        let list = collect(source, scan, from, to)?;
        Ok(Pieces { list, exact, line })
    }

    /// Brings a pass to an offset, and keeps places on the way.
    fn approach(
        &mut self,
        source: &mut Source<'_>,
        scan: &mut Scan,
        from: u64,
        exact: bool,
    ) -> io::Result<()> {
        while scan.at() < from {
            let next = (scan.at() / MARK_BYTES + 1) * MARK_BYTES;
            let close = from - scan.at() < MARK_BYTES * (NEAR_MARKS_MAX as u64 / 2);
            scan.step(source, if close { from.min(next) } else { from }, &mut |_, _| {})?;
            let known = self.near.iter().any(|near| near.at() == scan.at());
            if exact && close && scan.at() == next && !known {
                self.near.push_back(scan.clone());
                if self.near.len() > NEAR_MARKS_MAX {
                    self.near.pop_front();
                }
            }
        }
        Ok(())
    }
}

/// The pieces from where a pass stands, up to an offset.
fn collect(source: &mut Source<'_>, mut scan: Scan, from: u64, to: u64) -> io::Result<Vec<Piece>> {
    let mut list: Vec<Piece> = Vec::new();
    let mut split = false;
    while scan.done() < to && !scan.has_ended() && scan.at() < to + LOOKAHEAD_BYTES_MAX {
        let next = if scan.at() < to { to } else { scan.at() + MARK_BYTES };
        scan.step(source, next, &mut |item, base| {
            let mut piece = Piece::of(item, base);
            if let What::Sequence(explained) = &item.what {
                let start = base + explained.sequence.start;
                let parts = list.iter_mut().filter(|part| part.part_of == Some(start));
                parts.for_each(|part| part.become_part(&piece));
            }
            if matches!(item.what, What::SplitIntroducer { .. }) {
                split = true;
            } else if !piece.tile.is_empty() && piece.tile.end > from && piece.tile.start < to {
                if std::mem::take(&mut split) {
                    piece.begins_split();
                }
                list.push(piece);
            }
        })?;
    }
    if scan.done() < to.min(source.len()) {
        let first = source.some(scan.done()..scan.done() + 1)?;
        let tile = scan.done().max(from)..to.min(source.len());
        list.push(Piece::unfinished(tile, scan.done(), first.first().copied()));
    }
    Ok(list)
}

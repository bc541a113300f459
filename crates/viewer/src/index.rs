//! What is known of a stream: places to go on reading from, findings, lines.
//!
//! All of it has a fixed size at most, however long the stream is.

use std::collections::VecDeque;
use std::io;

use noesc_explain::What;
use noesc_grammar::Severity;

use crate::finding::Finding;
use crate::piece::Piece;
use crate::scan::Scan;
use crate::source::Source;

/// Findings that are listed. When there are more, those of the least severity are dropped; when
/// there are so many critical ones, the list ends. Searches then read the bytes again.
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

/// What is known of one stream.
#[derive(Debug)]
pub(crate) struct Index {
    frontier: Scan,
    marks: Vec<Scan>,
    interval: u64,
    near: VecDeque<Scan>,
    findings: Findings,
}

/// Findings in the order of their place.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    /// Those below are not in the list.
    least: Severity,
    /// Later ones are not in the list.
    is_cut: bool,
}

impl Findings {
    fn new() -> Self {
        Self { list: Vec::new(), least: Severity::Info, is_cut: false }
    }

    fn add(&mut self, finding: Finding) {
        while self.list.len() >= FINDINGS_MAX {
            self.least = match self.least {
                Severity::Info => Severity::Low,
                Severity::Low => Severity::High,
                Severity::High => Severity::Critical,
                Severity::Critical => {
                    self.is_cut = true;
                    return;
                }
            };
            self.list.retain(|of| of.severity >= self.least);
        }
        if finding.severity >= self.least {
            // What stands inside a sequence comes before it.
            let place = self.list.partition_point(|of| of.at <= finding.at);
            self.list.insert(place, finding);
        }
    }

    /// All that are listed.
    pub(crate) fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The least severity of which all are listed.
    pub(crate) const fn least(&self) -> Severity {
        self.least
    }

    /// Whether every finding of this severity or worse that was read is listed, up to which place.
    pub(crate) fn known(&self, least: Severity, read_up_to: u64) -> Option<u64> {
        let end = if self.is_cut { self.list.last().map_or(0, |of| of.at) } else { read_up_to };
        (least >= self.least).then_some(end)
    }
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
            findings: Findings::new(),
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

    pub(crate) const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Whether findings of this severity are all listed, up to which place.
    pub(crate) fn known(&self, least: Severity) -> Option<u64> {
        self.findings.known(least, self.read_up_to())
    }

    /// Reads the next bytes, at most up to `to`.
    pub(crate) fn advance(&mut self, source: &mut Source<'_>, to: u64) -> io::Result<()> {
        let Self { frontier, findings: list, .. } = self;
        let next_mark = (frontier.at() / self.interval + 1) * self.interval;
        // A mark is where a read ended: cut reads there while marks are close.
        let to = if self.interval < GAP_BYTES_MAX { to.min(next_mark) } else { to };
        frontier.step_findings(source, to, &mut |finding| list.add(finding))?;
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
    let mut split = scan.split();
    let is_open = |list: &[Piece]| list.iter().any(|piece| piece.part_of.is_some());
    while (scan.done() < to || is_open(&list))
        && !scan.has_ended()
        && scan.at() < to + LOOKAHEAD_BYTES_MAX
    {
        let next = if scan.at() < to { to } else { scan.at() + MARK_BYTES };
        scan.step_pieces(source, next, &mut |item, base, text| {
            let piece = Piece::of(item, base);
            if let What::Sequence(explained) = &item.what {
                let start = base + explained.sequence.start;
                let parts = list.iter_mut().filter(|part| part.part_of == Some(start));
                parts.for_each(|part| part.become_part(&piece));
            }
            if matches!(item.what, What::SplitIntroducer { .. }) {
                split = Some(base + item.offset);
                return;
            }
            for mut piece in piece.split(item, base, text) {
                let shown = piece.tile.end > from && piece.tile.start < to;
                if shown && !piece.tile.is_empty() {
                    if split == Some(piece.tile.start) {
                        piece.begins_split();
                    }
                    list.push(piece);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::original::Bytes;

    #[test]
    fn the_list_of_findings_keeps_the_gravest() {
        for (more, kept, least) in [
            (FINDINGS_MAX - 1, FINDINGS_MAX - 1, Severity::Info),
            (FINDINGS_MAX, FINDINGS_MAX, Severity::Info),
            (FINDINGS_MAX + 1, FINDINGS_MAX / 2, Severity::Low),
        ] {
            let mut findings = Findings::new();
            for at in 0..more as u64 {
                let severity = if at % 2 == 0 { Severity::Info } else { Severity::High };
                findings.add(Finding { at, kind: "other", severity, bytes: 1 });
            }
            assert_eq!((findings.list().len(), findings.least()), (kept, least));
            assert_eq!(findings.known(Severity::High, 7), Some(7));
            assert_eq!(findings.known(Severity::Info, 7).is_some(), least == Severity::Info);
        }
    }

    #[test]
    fn a_list_of_critical_findings_ends() {
        let mut findings = Findings::new();
        for at in 0..FINDINGS_MAX as u64 + 1 {
            let severity = Severity::Critical;
            findings.add(Finding { at, kind: "tag", severity, bytes: 1 });
        }
        assert_eq!(findings.list().len(), FINDINGS_MAX);
        assert_eq!(findings.known(Severity::Critical, 9999), Some(FINDINGS_MAX as u64 - 1));
    }

    #[test]
    fn places_to_read_from_are_few_and_right() {
        let length = |marks: usize| marks * MARK_BYTES as usize;
        for (marks, kept) in [
            (MARKS_MAX - 1, MARKS_MAX),
            (MARKS_MAX, MARKS_MAX / 2 + 1),
            (MARKS_MAX + 1, MARKS_MAX / 2 + 1),
        ] {
            let mut original = Bytes::new([("a", vec![b'\n'; length(marks)])]);
            let mut source = Source::new(&mut original, 0);
            let mut index = Index::new();
            while !index.is_complete() {
                index.advance(&mut source, u64::MAX).unwrap();
            }
            // The beginning of the stream is a place too.
            assert_eq!(index.marks.len(), kept);
            assert!(index.marks.is_sorted_by_key(Scan::at));
            assert!(index.marks.iter().all(|mark| mark.lines() == mark.at()));
        }
    }
}

//! Work that may take long: done in steps, with progress, and given up when the user says so.

use std::io;

use noesc_grammar::Severity;

use crate::finding::Finding;
use crate::index::{Index, LOOKAHEAD_BYTES_MAX};
use crate::pattern::Pattern;
use crate::scan::Scan;
use crate::source::{READ_BYTES_MAX, Source};

/// What a step of a job came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to do; the offset that is being read.
    On(u64),
    /// To this byte, with something to say.
    Found { at: u64, bytes: u64, what: Option<Finding> },
    /// All was read.
    Nothing(&'static str),
    /// All was read that was to be read.
    Done,
}

/// A job.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    /// A pattern, from an offset on.
    Forward { pattern: Pattern, at: u64 },
    /// A pattern that begins before `below`.
    Backward { pattern: Pattern, below: u64, end: u64 },
    /// The first finding behind an offset.
    Next { after: u64, least: Severity, scan: Option<Box<Scan>> },
    /// The last finding before an offset; `end` is where the bytes not yet looked at end.
    Previous { before: u64, least: Severity, end: u64 },
    /// The beginning of a line, from 1.
    Line { line: u64, from: Option<(u64, u64)> },
    /// Reads the bytes before an offset, so that what is shown is exact.
    Read { to: u64 },
}

impl Job {
    /// What it does, for the status line.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Forward { .. } | Self::Backward { .. } => "searching",
            Self::Next { .. } | Self::Previous { .. } => "looking for a finding",
            Self::Line { .. } => "counting lines",
            Self::Read { .. } => "reading",
        }
    }

    /// Reads some hundred KiB at most.
    pub(crate) fn step(&mut self, source: &mut Source<'_>, index: &mut Index) -> io::Result<Step> {
        match self {
            Self::Forward { pattern, at } => forward(source, pattern, at),
            Self::Backward { pattern, below, end } => backward(source, pattern, *below, end),
            Self::Next { after, least, scan } => next(source, index, (*after, *least), scan),
            Self::Previous { before, least, end } => {
                previous(source, index, (*before, *least), end)
            }
            Self::Line { line, from } => find_line(source, index, *line, from),
            Self::Read { to } => {
                if index.read_up_to() >= *to && (*to < source.len() || index.is_complete()) {
                    return Ok(Step::Done);
                }
                index.advance(source, if *to < source.len() { *to } else { u64::MAX })?;
                Ok(Step::On(index.read_up_to()))
            }
        }
    }
}

fn forward(source: &mut Source<'_>, pattern: &Pattern, at: &mut u64) -> io::Result<Step> {
    let end = at.saturating_add(READ_BYTES_MAX as u64);
    let mut chunk = source.all(*at..end)?;
    if let Some(found) = pattern.first(&mut chunk) {
        return Ok(Step::Found { at: *at + found, bytes: pattern.len(), what: None });
    }
    if end >= source.len() {
        return Ok(Step::Nothing("not found before the end"));
    }
    *at = end - (pattern.len() - 1);
    Ok(Step::On(end))
}

fn backward(
    source: &mut Source<'_>,
    pattern: &Pattern,
    below: u64,
    end: &mut u64,
) -> io::Result<Step> {
    let start = end.saturating_sub(READ_BYTES_MAX as u64);
    let limit = below.saturating_add(pattern.len() - 1);
    let mut chunk = source.all(start..(*end).min(limit))?;
    if let Some(found) = pattern.last(&mut chunk) {
        return Ok(Step::Found { at: start + found, bytes: pattern.len(), what: None });
    }
    if start == 0 {
        return Ok(Step::Nothing("not found after the beginning"));
    }
    *end = start + (pattern.len() - 1);
    Ok(Step::On(start))
}

fn found(finding: Finding) -> Step {
    Step::Found { at: finding.at, bytes: finding.bytes, what: Some(finding) }
}

/// The gravest of those at the same place.
fn gravest(list: &[Finding], like: &Finding) -> Finding {
    let from = list.partition_point(|of| of.at < like.at);
    let same = list[from..].iter().take_while(|of| of.at == like.at);
    *same.max_by_key(|of| of.severity).unwrap_or(like)
}

fn next(
    source: &mut Source<'_>,
    index: &mut Index,
    (after, least): (u64, Severity),
    scan: &mut Option<Box<Scan>>,
) -> io::Result<Step> {
    const NONE: Step = Step::Nothing("no finding behind this");
    let wanted = |of: &&Finding| of.at > after && of.severity >= least;
    if scan.is_none() && index.known(least).is_some() {
        let list = index.findings().list();
        if let Some(finding) = list.iter().find(wanted) {
            return Ok(found(gravest(list, finding)));
        }
        if index.known(least) == Some(index.read_up_to()) {
            if index.is_complete() {
                return Ok(NONE);
            }
            index.advance(source, u64::MAX)?;
            return Ok(Step::On(index.read_up_to()));
        }
    }
    // They are not all listed: read from the nearest place before.
    let scan = scan.get_or_insert_with(|| Box::new(index.mark(after).clone()));
    let mut first: Option<Finding> = None;
    scan.step_findings(source, u64::MAX, &mut |finding| {
        if wanted(&&finding)
            && first.is_none_or(|first| (finding.at, first.severity) < (first.at, finding.severity))
        {
            first = Some(finding);
        }
    })?;
    match first {
        Some(finding) => Ok(found(finding)),
        None if scan.has_ended() => Ok(NONE),
        None => Ok(Step::On(scan.at())),
    }
}

fn previous(
    source: &mut Source<'_>,
    index: &mut Index,
    (before, least): (u64, Severity),
    end: &mut u64,
) -> io::Result<Step> {
    if index.read_up_to() < before.min(source.len()) {
        index.advance(source, before)?;
        return Ok(Step::On(index.read_up_to()));
    }
    let wanted = |of: &&Finding| of.at < before && of.severity >= least;
    if index.known(least).is_some_and(|known| *end <= known) {
        let list = index.findings().list();
        return Ok(match list.iter().rfind(wanted) {
            Some(of) => found(gravest(list, of)),
            None => Step::Nothing("no finding before this"),
        });
    }
    if *end == 0 {
        return Ok(Step::Nothing("no finding before this"));
    }
    let mut scan = index.mark(end.saturating_sub(1)).clone();
    let start = scan.at();
    let mut last: Option<Finding> = None;
    while scan.done() < *end && !scan.has_ended() && scan.at() < *end + LOOKAHEAD_BYTES_MAX {
        let to = if scan.at() < *end { *end } else { scan.at() + LOOKAHEAD_BYTES_MAX };
        scan.step_findings(source, to, &mut |finding| {
            if wanted(&&finding)
                && last.is_none_or(|last| (finding.at, finding.severity) > (last.at, last.severity))
            {
                last = Some(finding);
            }
        })?;
    }
    *end = start;
    Ok(last.map_or(Step::On(start), found))
}

/// `from` is where the search for the line goes on: an offset, and the LFs before it.
fn find_line(
    source: &mut Source<'_>,
    index: &mut Index,
    line: u64,
    from: &mut Option<(u64, u64)>,
) -> io::Result<Step> {
    let wanted = line.saturating_sub(1);
    if from.is_none() && index.lines() < wanted {
        if index.is_complete() {
            return Ok(Step::Nothing("the stream has fewer lines"));
        }
        index.advance(source, u64::MAX)?;
        return Ok(Step::On(index.read_up_to()));
    }
    let (mut at, mut lines) = from.unwrap_or_else(|| index.before_line(wanted));
    if lines == wanted && at == 0 {
        return Ok(Step::Found { at: 0, bytes: 0, what: None });
    }
    let chunk = source.some(at..u64::MAX)?;
    for end in memchr::memchr_iter(b'\n', &chunk) {
        lines += 1;
        if lines == wanted {
            return Ok(Step::Found { at: at + end as u64 + 1, bytes: 0, what: None });
        }
    }
    at += chunk.len() as u64;
    if chunk.is_empty() {
        return Ok(Step::Nothing("the stream has fewer lines"));
    }
    *from = Some((at, lines));
    Ok(Step::On(at))
}

//! One pass over a stream from a known place on, which can be stopped and gone on with.

use std::io;

use noesc_explain::{Item, Items, What};

use crate::finding::{Finding, findings};
use crate::source::Source;

/// Columns of an item of text: how exact the place of a finding in text is.
const TEXT_COLUMNS: usize = 64;

/// Bytes kept of what was read: more than an item of text has, but for one of many marks.
const TAIL_BYTES: usize = 1024;

/// Where a pass stands. What it keeps has a fixed size.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    items: Items,
    /// Where the pass began; items count from there.
    base: u64,
    /// Bytes read, from the beginning of the stream.
    at: u64,
    /// The end of the last item that was given.
    done: u64,
    /// LFs before `at`, from `base` on.
    lines: u64,
    ended: bool,
    /// Where the last introducer is that a line end had cut off.
    split: Option<u64>,
    /// The last bytes before `at`: those of an item that begins before a chunk.
    tail: Vec<u8>,
}

/// Bytes of a stream that are at hand.
struct Held<'a> {
    tail: &'a [u8],
    chunk: &'a [u8],
    chunk_at: u64,
}

impl Held<'_> {
    /// The bytes of an item that is text and holds characters that deceive.
    fn deceiving(&self, item: &Item<'_>, base: u64) -> Vec<u8> {
        match &item.what {
            What::Text { deceiving, .. } if !deceiving.is_empty() => {
                self.bytes(base + item.offset, item.length).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The bytes of an item, if all of them are at hand.
    fn bytes(&self, at: u64, length: u64) -> Option<Vec<u8>> {
        let from = at.checked_sub(self.chunk_at.checked_sub(self.tail.len() as u64)?)?;
        let both = self.tail.iter().chain(self.chunk).copied();
        let (from, length) = (usize::try_from(from).ok()?, usize::try_from(length).ok()?);
        Some(both.skip(from).take(length).collect())
    }
}

impl Scan {
    pub(crate) fn from(base: u64) -> Self {
        let items = Items::new(TEXT_COLUMNS);
        Self {
            items,
            base,
            at: base,
            done: base,
            lines: 0,
            ended: false,
            split: None,
            tail: Vec::new(),
        }
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    pub(crate) fn split(&self) -> Option<u64> {
        self.split
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Reads on, at most up to `to`, and gives the items that are decided, with what is to be added
    /// to their offsets. At the end of the stream, the last items too.
    pub(crate) fn step(
        &mut self,
        source: &mut Source<'_>,
        to: u64,
        sink: &mut impl FnMut(&Item<'_>, u64),
    ) -> io::Result<()> {
        self.step_with(source, to, &mut |item, base, _| sink(item, base))
    }

    /// The same, with the bytes of text that holds characters that deceive.
    pub(crate) fn step_pieces(
        &mut self,
        source: &mut Source<'_>,
        to: u64,
        sink: &mut impl FnMut(&Item<'_>, u64, &[u8]),
    ) -> io::Result<()> {
        self.step_with(source, to, &mut |item, base, held| {
            sink(item, base, &held.deceiving(item, base));
        })
    }

    /// The same for findings.
    pub(crate) fn step_findings(
        &mut self,
        source: &mut Source<'_>,
        to: u64,
        sink: &mut impl FnMut(Finding),
    ) -> io::Result<()> {
        self.step_with(source, to, &mut |item, base, held| {
            findings(item, base, &held.deceiving(item, base), sink);
        })
    }

    fn step_with(
        &mut self,
        source: &mut Source<'_>,
        to: u64,
        sink: &mut impl FnMut(&Item<'_>, u64, &Held<'_>),
    ) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        let chunk = if self.at < source.len() { source.some(self.at..to)? } else { Vec::new() };
        let base = self.base;
        let held = Held { tail: &self.tail, chunk: &chunk, chunk_at: self.at };
        if self.at >= source.len() {
            self.ended = true;
            self.done = source.len();
            // Only once for each pass, and only what it holds is copied.
            self.items.clone().finish(&mut |item| sink(&item, base, &held));
            return Ok(());
        }
        let (mut done, mut split) = (self.done, self.split);
        self.items.push(&chunk, &mut |item| {
            if matches!(item.what, What::SplitIntroducer { .. }) {
                split = Some(base + item.offset);
            }
            done = base + item.offset + item.length;
            sink(&item, base, &held);
        });
        (self.done, self.split) = (done, split);
        self.lines += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        self.at += chunk.len() as u64;
        let kept = TAIL_BYTES.saturating_sub(chunk.len()).min(self.tail.len());
        self.tail.drain(..self.tail.len() - kept);
        self.tail.extend_from_slice(&chunk[chunk.len().saturating_sub(TAIL_BYTES)..]);
        Ok(())
    }
}

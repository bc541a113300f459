//! One pass over a stream from a known place on, which can be stopped and gone on with.

use std::io;

use noesc_explain::{Item, Items};

use crate::source::Source;

/// Columns of an item of text: how exact the place of a finding in text is.
const TEXT_COLUMNS: usize = 16;

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
}

impl Scan {
    pub(crate) fn from(base: u64) -> Self {
        let items = Items::new(TEXT_COLUMNS);
        Self { items, base, at: base, done: base, lines: 0, ended: false }
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
        if self.ended {
            return Ok(());
        }
        let base = self.base;
        if self.at >= source.len() {
            self.ended = true;
            self.done = source.len();
            // Only once for each pass, and only what it holds is copied.
            self.items.clone().finish(&mut |item| sink(&item, base));
            return Ok(());
        }
        let chunk = source.some(self.at..to)?;
        let mut done = self.done;
        self.items.push(&chunk, &mut |item| {
            done = base + item.offset + item.length;
            sink(&item, base);
        });
        self.done = done;
        self.lines += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        self.at += chunk.len() as u64;
        Ok(())
    }
}

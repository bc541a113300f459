//! Where a view is written: the caller's buffer, the runs, and the segment that
//! `cr = collapse` may yet leave out.

use crate::span::{Fate, Joiner, Run, SpanReceiver};

/// What the caller lends for one call.
pub(crate) struct Sheet<'a, S> {
    /// `None`: nothing is written, only counted.
    pub(crate) out: Option<&'a mut String>,
    pub(crate) spans: &'a mut S,
}

/// What is remembered of a view between two calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// Bytes of view so far.
    view: u64,
    joiner: Joiner,
    segment: Option<Segment>,
    /// Raw bytes in removed runs.
    pub(crate) removed_bytes: u64,
}

/// A segment of a line that may be left out: what would be written, and its runs with offsets in
/// it.
#[derive(Clone, Debug, Default)]
struct Segment {
    text: String,
    runs: Vec<Run>,
    /// Raw bytes kept or replaced, and removed.
    held_bytes: u64,
    removed_bytes: u64,
}

impl Written {
    pub(crate) fn kept<S: SpanReceiver>(&mut self, raw: u64, text: &str, to: &mut Sheet<'_, S>) {
        self.write(Fate::Kept, raw, text.len() as u64, text, to);
    }

    pub(crate) fn replaced<S: SpanReceiver>(
        &mut self,
        raw: u64,
        raw_len: u64,
        text: &str,
        to: &mut Sheet<'_, S>,
    ) {
        self.write(Fate::Replaced, raw, raw_len, text, to);
    }

    /// `raw` is the offset before which it stands.
    pub(crate) fn inserted<S: SpanReceiver>(
        &mut self,
        raw: u64,
        text: &str,
        to: &mut Sheet<'_, S>,
    ) {
        self.write(Fate::Inserted, raw, 0, text, to);
    }

    pub(crate) fn removed<S: SpanReceiver>(
        &mut self,
        raw: u64,
        raw_len: u64,
        to: &mut Sheet<'_, S>,
    ) {
        self.write(Fate::Removed, raw, raw_len, "", to);
    }

    fn write<S: SpanReceiver>(
        &mut self,
        fate: Fate,
        raw: u64,
        raw_len: u64,
        text: &str,
        to: &mut Sheet<'_, S>,
    ) {
        let view_len = text.len() as u64;
        if let Some(segment) = &mut self.segment {
            match fate {
                Fate::Removed => segment.removed_bytes += raw_len,
                _ => segment.held_bytes += raw_len,
            }
            if S::WANTED {
                let view = segment.text.len() as u64;
                push_joined(&mut segment.runs, Run { view, view_len, raw, raw_len, fate });
            }
            segment.text.push_str(text);
            return;
        }
        if fate == Fate::Removed {
            self.removed_bytes += raw_len;
        }
        if S::WANTED {
            let run = Run { view: self.view, view_len, raw, raw_len, fate };
            self.joiner.add(run, to.spans);
        }
        if let Some(out) = &mut to.out {
            out.push_str(text);
        }
        self.view += view_len;
    }

    /// Begins a segment that may be left out.
    pub(crate) fn begin_segment(&mut self) {
        self.segment = Some(Segment::default());
    }

    pub(crate) fn in_segment(&self) -> bool {
        self.segment.is_some()
    }

    /// The segment is part of the view.
    pub(crate) fn commit_segment<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        let Some(segment) = self.segment.take() else { return };
        self.removed_bytes += segment.removed_bytes;
        for run in segment.runs {
            self.joiner.add(Run { view: self.view + run.view, ..run }, to.spans);
        }
        self.view += segment.text.len() as u64;
        if let Some(out) = &mut to.out {
            out.push_str(&segment.text);
        }
    }

    /// The segment is left out. False: there was none.
    pub(crate) fn drop_segment<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) -> bool {
        let Some(segment) = self.segment.take() else { return false };
        self.removed_bytes += segment.removed_bytes + segment.held_bytes;
        for run in segment.runs.iter().filter(|run| run.raw_len > 0) {
            let removed = Run { view: self.view, view_len: 0, fate: Fate::Removed, ..*run };
            self.joiner.add(removed, to.spans);
        }
        true
    }

    pub(crate) fn finish<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        self.commit_segment(to);
        self.joiner.finish(to.spans);
    }
}

/// Joins neighbours, so that a segment's runs stay as few as its cells allow.
fn push_joined(runs: &mut Vec<Run>, run: Run) {
    let joined = runs.last_mut().is_some_and(|last| last.join(&run));
    if !joined {
        runs.push(run);
    }
}

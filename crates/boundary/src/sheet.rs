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
    pub(crate) view: u64,
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
    /// The style sequences in it: they stay when it is left out, since what follows is written in
    /// that style. Their text, their raw bytes, and which runs are theirs.
    style: String,
    style_bytes: u64,
    style_runs: Vec<usize>,
}

impl Segment {
    /// Joins neighbours, so that the runs stay as few as the cells allow; a style stays apart.
    fn add(&mut self, run: Run) {
        let after_style = self.style_runs.last().is_some_and(|last| last + 1 == self.runs.len());
        let joined = !after_style && self.runs.last_mut().is_some_and(|last| last.join(&run));
        if !joined {
            self.runs.push(run);
        }
    }
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

    /// A style sequence, kept as it is or rebuilt.
    pub(crate) fn style<S: SpanReceiver>(
        &mut self,
        fate: Fate,
        raw: u64,
        raw_len: u64,
        text: &str,
        to: &mut Sheet<'_, S>,
    ) {
        let Some(segment) = &mut self.segment else {
            return self.write(fate, raw, raw_len, text, to);
        };
        if S::WANTED {
            let view = segment.text.len() as u64;
            segment.style_runs.push(segment.runs.len());
            segment.runs.push(Run { view, view_len: text.len() as u64, raw, raw_len, fate });
        }
        segment.style_bytes += raw_len;
        segment.style.push_str(text);
        segment.text.push_str(text);
    }

    /// Text of `len` bytes that was appended already.
    pub(crate) fn passed<S: SpanReceiver>(&mut self, raw: u64, len: usize, spans: &mut S) {
        let len = len as u64;
        if S::WANTED {
            let run = Run { view: self.view, view_len: len, raw, raw_len: len, fate: Fate::Kept };
            self.joiner.add(run, spans);
        }
        self.view += len;
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
                segment.add(Run { view, view_len, raw, raw_len, fate });
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
        let mut view = self.view;
        for (i, run) in segment.runs.iter().enumerate().filter(|(_, run)| run.raw_len > 0) {
            let stays = segment.style_runs.binary_search(&i).is_ok();
            let run = match stays {
                true => Run { view, ..*run },
                false => Run { view, view_len: 0, fate: Fate::Removed, ..*run },
            };
            view += run.view_len;
            self.joiner.add(run, to.spans);
        }
        self.view += segment.style.len() as u64;
        if let Some(out) = &mut to.out {
            out.push_str(&segment.style);
        }
        true
    }

    pub(crate) fn finish<S: SpanReceiver>(&mut self, to: &mut Sheet<'_, S>) {
        self.commit_segment(to);
        self.joiner.finish(to.spans);
    }
}

//! One stream on its way from the child to the sink.

use std::os::fd::OwnedFd;

use rustix::event::PollFlags;

use crate::descriptors::polled;
use crate::outcome::{Cutoff, End, StreamRecord};
use crate::{Flow, Sink, Stream};

pub(crate) struct Lane {
    pub(crate) stream: Stream,
    pub(crate) source: Option<OwnedFd>,
    /// What it was read from, when others still write there and the run does not read any more.
    pub(crate) left: Option<OwnedFd>,
    pub(crate) blocked: bool,
    /// What was in the pipe when the process ended: no deadline cuts it.
    pub(crate) owed: u64,
    /// Whether what is read is to be kept.
    pub(crate) keeps: bool,
    pub(crate) record: StreamRecord,
}

impl Lane {
    pub(crate) fn new(stream: Stream, source: OwnedFd) -> Self {
        let record = StreamRecord::default();
        let source = Some(source);
        Self { stream, source, left: None, blocked: false, owed: 0, keeps: true, record }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.source.is_some()
    }

    pub(crate) fn is_done(&self) -> bool {
        !self.is_open() && !self.blocked
    }

    /// Whether nobody holds the other side any more: what is still to be read has an end.
    pub(crate) fn is_released(&self) -> bool {
        let is_released = |source| polled(source, PollFlags::IN).contains(PollFlags::HUP);
        self.source.as_ref().is_some_and(is_released)
    }

    /// A limit struck while the stream was open; the first one is told.
    pub(crate) fn mark(&mut self, cutoff: Cutoff) {
        if self.is_open() && self.record.end.cutoff == Cutoff::None {
            self.record.end.cutoff = cutoff;
        }
    }

    /// How many of these bytes are to be kept, with a limit for all of the stream.
    pub(crate) fn kept_of(&self, count: usize, max: Option<u64>) -> usize {
        let room = match max {
            _ if !self.keeps => 0,
            Some(max) => max.saturating_sub(self.record.kept),
            None => u64::MAX,
        };
        usize::try_from(room).map_or(count, |room| count.min(room))
    }

    /// The end of file was seen, or the read failed.
    pub(crate) fn end(&mut self, eof: bool, sink: &mut impl Sink) {
        if self.source.take().is_some() {
            self.tell_end(eof, sink);
        }
    }

    /// The run does not read it any more. Whoever still writes may go on where it `stays`, and
    /// gets `SIGPIPE` where not.
    pub(crate) fn cut_off(&mut self, cutoff: Cutoff, stays: bool, sink: &mut impl Sink) {
        self.mark(cutoff);
        if let Some(source) = self.source.take() {
            self.left = stays.then_some(source);
            self.tell_end(false, sink);
        }
    }

    fn tell_end(&mut self, eof: bool, sink: &mut impl Sink) {
        self.owed = 0;
        self.record.end.eof = eof;
        let end: End = self.record.end;
        self.follow(|sink, stream| sink.end(stream, end), sink);
    }

    /// Lets the sink do something and does what its answer asks for.
    pub(crate) fn follow<S: Sink>(
        &mut self,
        act: impl FnOnce(&mut S, Stream) -> Flow,
        sink: &mut S,
    ) {
        let flow = act(sink, self.stream);
        self.blocked = flow == Flow::Blocked;
        if flow == Flow::Closed {
            self.cut_off(Cutoff::Caller, false, sink);
            self.blocked = false;
        }
    }
}

//! What a run waits for.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{LOOK, Run, STREAMS};
use crate::Sink;
use crate::pty::Keyboard;
use crate::signal::Signals;

/// How often a sink is tried again that is blocked on nothing that can be polled.
const RETRY: Duration = Duration::from_millis(10);

/// What can go on.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) lanes: [bool; STREAMS],
    /// Whose reader went away.
    pub(super) abandoned: [bool; STREAMS],
    pub(super) typed: bool,
    pub(super) typing: bool,
    pub(super) process: bool,
    pub(super) end: bool,
    pub(super) signals: bool,
}

impl<S: Sink> Run<'_, S> {
    /// Waits; while the sink is blocked, the clock of idleness stands still.
    pub(super) fn wait_unhurried(&mut self) -> Ready {
        let blocked = self.lanes.iter().any(|lane| lane.blocked);
        let before = Instant::now();
        let ready = self.wait();
        if blocked {
            self.clock.stand_still(before.elapsed());
        }
        ready
    }

    /// Waits until something can be done. Says what can go on.
    pub(super) fn wait(&self) -> Ready {
        let mut timeout = self.next_deadline();
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(2 * STREAMS + 4);
        let mut places = [None; STREAMS];
        let mut readers = [None; STREAMS];
        for ((lane, place), reader) in self.lanes.iter().zip(&mut places).zip(&mut readers) {
            if !lane.blocked && lane.is_open() {
                // For errors alone, which are always told.
                *reader = add(&mut fds, self.sink.blocked_on(lane.stream), PollFlags::empty());
            }
            *place = match (lane.blocked, &lane.source) {
                (true, _) => {
                    let fd = self.sink.blocked_on(lane.stream);
                    if fd.is_none() {
                        timeout = Some(timeout.map_or(RETRY, |timeout| timeout.min(RETRY)));
                    }
                    add(&mut fds, fd, PollFlags::OUT)
                }
                (false, source) => add(&mut fds, source.as_ref().map(AsFd::as_fd), PollFlags::IN),
            };
        }
        let keyboard = self.keyboard.as_ref();
        let typed = add(&mut fds, keyboard.and_then(Keyboard::source), PollFlags::IN);
        let typing = add(&mut fds, keyboard.and_then(Keyboard::target), PollFlags::OUT);
        let process = add(&mut fds, self.process.fd(), PollFlags::IN);
        let end = add(&mut fds, self.process.end_fd(), PollFlags::IN);
        let signals = self.signals.as_ref().and_then(|_| Signals::fd());
        let signals = add(&mut fds, signals, PollFlags::IN);
        let timeout = timeout.map(|timeout| Timespec::try_from(timeout).unwrap_or_default());
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Ready::default();
        }
        let is_ready = |place: Option<usize>| {
            place.and_then(|place| fds.get(place)).is_some_and(|fd| !fd.revents().is_empty())
        };
        let mut ready = Ready {
            lanes: places.map(is_ready),
            abandoned: readers.map(is_ready),
            typed: is_ready(typed),
            typing: is_ready(typing),
            // Where nothing tells of the process, it is looked at each time.
            process: process.is_none() || is_ready(process) || self.process.has_heard(),
            end: is_ready(end),
            signals: is_ready(signals),
        };
        for ((ready, place), lane) in ready.lanes.iter_mut().zip(places).zip(&self.lanes) {
            *ready |= place.is_none() && lane.blocked;
        }
        ready
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        if self.process.has_heard() {
            return Some(Duration::ZERO);
        }
        let linger = self.is_lingering().then(|| self.clock.linger_until());
        let ending = self.ending.as_ref().map(|ending| ending.give_up.unwrap_or(ending.kill_at));
        let limit = if self.ending.is_none() { self.clock.next() } else { None };
        let look = self.process.fd().is_none().then(|| self.looked + LOOK);
        let wake = self.sink.wake_at();
        let next = [linger, ending, limit, look, wake].into_iter().flatten().min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }
}

/// Adds what is to be polled, if there is something, and gives its place.
fn add<'a>(
    fds: &mut Vec<PollFd<'a>>,
    fd: Option<BorrowedFd<'a>>,
    flags: PollFlags,
) -> Option<usize> {
    fds.push(PollFd::from_borrowed_fd(fd?, flags));
    Some(fds.len() - 1)
}

//! The limits of a run against the clock.

use std::time::{Duration, Instant};

use crate::outcome::{Cutoff, Exit, Limit, Outcome};
use crate::{AtLimit, Limits, PROCESSES_LOOK};

/// The time in which the bytes of a rate are counted.
const SECOND: Duration = Duration::from_secs(1);

/// Why a run is ended, or returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A signal to noesc, which was passed on.
    Signal(i32),
    Time,
    Idle,
    Rate,
    Bytes,
    Drain,
    Processes,
}

impl Cause {
    pub(crate) fn cutoff(self) -> Cutoff {
        match self {
            Self::Signal(_) => Cutoff::Caller,
            // The time of reading on is over because there were too many.
            Self::Bytes | Self::Drain => Cutoff::Bytes,
            Self::Time => Cutoff::Time,
            Self::Idle => Cutoff::Idle,
            Self::Rate => Cutoff::Rate,
            Self::Processes => Cutoff::Processes,
        }
    }

    pub(crate) fn outcome(self, exit: Exit) -> Outcome {
        let which = match self {
            Self::Signal(signal) => return Outcome::Cancelled { signal, exit },
            Self::Time => return Outcome::TimedOut { exit },
            Self::Idle => return Outcome::IdleOut { exit },
            Self::Rate => Limit::Rate,
            Self::Bytes => Limit::Bytes,
            Self::Drain => Limit::Drain,
            Self::Processes => Limit::Processes,
        };
        Outcome::StoppedByLimit { which, exit }
    }
}

/// What the time of a run is measured by.
pub(crate) struct Clock {
    limits: Limits,
    start: Instant,
    /// When the last byte arrived or the process ended, plus the time blocked on the sink since.
    quiet_since: Instant,
    linger_end: Instant,
    /// Begin of the second that is counted, and bytes in it.
    second: Instant,
    second_bytes: u64,
    /// Until when is read on.
    drain_end: Option<Instant>,
    counted: Instant,
    /// A limit strikes once.
    has_struck: [bool; 4],
}

/// Places in `has_struck`.
const TIME: usize = 0;
const IDLE: usize = 1;
const RATE: usize = 2;
const PROCESSES: usize = 3;

impl Clock {
    pub(crate) fn new(limits: Limits) -> Self {
        let now = Instant::now();
        Self {
            limits,
            start: now,
            quiet_since: now,
            linger_end: now,
            second: now,
            second_bytes: 0,
            drain_end: None,
            counted: now,
            has_struck: [false; 4],
        }
    }

    /// Time in which the sink was blocked, or this process stopped, is nobody's idleness.
    pub(crate) fn stand_still(&mut self, time: Duration) {
        self.quiet_since += time;
        self.linger_end += time;
        self.second += time;
    }

    pub(crate) fn bytes_came(&mut self, count: u64) {
        let now = Instant::now();
        self.quiet_since = now;
        if now.saturating_duration_since(self.second) >= SECOND {
            self.second = now;
            self.second_bytes = 0;
        }
        self.second_bytes += count;
    }

    pub(crate) fn process_ended(&mut self) {
        self.quiet_since = Instant::now();
        self.linger_end = self.quiet_since + self.limits.linger_max;
    }

    /// Nobody lingers any more.
    pub(crate) fn hurry(&mut self) {
        self.linger_end = Instant::now();
    }

    pub(crate) fn linger_until(&self) -> Instant {
        (self.quiet_since + self.limits.linger).min(self.linger_end)
    }

    /// From now on is only read on, for a time.
    pub(crate) fn drain(&mut self) {
        let end = Instant::now() + self.limits.drain_max;
        self.drain_end.get_or_insert(end);
    }

    fn is_open(&self, limit: usize) -> bool {
        self.has_struck.get(limit) == Some(&false)
    }

    fn time_end(&self) -> Option<Instant> {
        let max = self.limits.time_max.filter(|_| self.is_open(TIME))?.max;
        self.start.checked_add(max)
    }

    fn idle_end(&self) -> Option<Instant> {
        let max = self.limits.idle_max.filter(|_| self.is_open(IDLE))?.max;
        self.quiet_since.checked_add(max)
    }

    fn count_at(&self) -> Option<Instant> {
        self.limits.processes_max.filter(|_| self.is_open(PROCESSES))?;
        Some(self.counted + PROCESSES_LOOK)
    }

    /// When a limit may strike next.
    pub(crate) fn next(&self) -> Option<Instant> {
        let ends = [self.time_end(), self.idle_end(), self.drain_end, self.count_at()];
        ends.into_iter().flatten().min()
    }

    /// A limit that has been passed and was not told before, and what is to happen. `processes`
    /// counts the tree up to one more than a number.
    pub(crate) fn struck(
        &mut self,
        processes: impl FnOnce(u32) -> Option<u32>,
    ) -> Option<(Cause, AtLimit)> {
        let now = Instant::now();
        let is_over = |end: Option<Instant>| end.is_some_and(|end| now >= end);
        if is_over(self.drain_end) {
            self.drain_end = None;
            return Some((Cause::Drain, AtLimit::Stop));
        }
        let limits = self.limits;
        let too_fast = |limit: &crate::Limited<u64>| self.second_bytes > limit.max;
        let (place, cause, then) = if is_over(self.time_end()) {
            (TIME, Cause::Time, limits.time_max?.then)
        } else if is_over(self.idle_end()) {
            (IDLE, Cause::Idle, limits.idle_max?.then)
        } else if self.is_open(RATE) && limits.rate_max.as_ref().is_some_and(too_fast) {
            (RATE, Cause::Rate, limits.rate_max?.then)
        } else if is_over(self.count_at()) {
            self.counted = now;
            let limit = limits.processes_max?;
            if processes(limit.max)? <= limit.max {
                return None;
            }
            (PROCESSES, Cause::Processes, limit.then)
        } else {
            return None;
        };
        *self.has_struck.get_mut(place)? = true;
        Some((cause, then))
    }
}

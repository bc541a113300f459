//! A run that stands in for its child: signals to us, stops of the child, the terminal.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Run;
use crate::Sink;
use crate::clock::Cause;
use crate::signal::{CANCELLING, FORWARDED, Signals};
use crate::terminal::is_orphaned;

/// A signal that comes again within this time is the same one, sent to the process and to its
/// group (`timeout` does both).
pub(super) const SAME_SIGNAL: Duration = Duration::from_millis(100);

impl<S: Sink> Run<'_, S> {
    pub(super) fn take_signals(&mut self) {
        while let Some(number) = self.signals.as_mut().and_then(Signals::next) {
            let Some(signal) = Signal::from_named_raw(number) else { continue };
            if CANCELLING.contains(&signal) {
                self.pass_on(signal);
            } else if FORWARDED.contains(&signal) || signal == Signal::TSTP {
                self.process.signal_group(signal);
            } else if signal == Signal::CONT && self.stopped {
                self.resume(false);
            }
        }
    }

    pub(super) fn pass_on(&mut self, signal: Signal) {
        match &self.ending {
            Some(ending)
                if ending.signal == signal.as_raw() && ending.since.elapsed() < SAME_SIGNAL => {}
            Some(_) => self.kill(),
            None => {
                let is_late = self.exit.is_some();
                self.end(Cause::Signal(signal.as_raw()), signal);
                if is_late {
                    // There is nothing left to pass it on to.
                    self.kill();
                }
            }
        }
    }

    /// The child was stopped: stops with it, as the shell expects of a job.
    pub(super) fn follow_stop(&mut self, number: i32) {
        self.stopped = true;
        let Some(signal) = Signal::from_named_raw(number) else { return };
        let asks = signal == Signal::TTIN || signal == Signal::TTOU;
        let (Some(terminal), Some(signals)) = (&mut self.terminal, &mut self.signals) else {
            return;
        };
        let group = self.process.pid();
        if asks && terminal.give(group, true) {
            self.resume(false);
            return;
        }
        if is_orphaned() {
            // Nobody could continue us. The kernel would have discarded a terminal stop of ours;
            // to a group that waits for a terminal it cannot have it would have sent SIGHUP.
            if asks {
                self.process.signal_group(Signal::HUP);
            }
            if signal != Signal::STOP {
                self.resume(false);
            }
            return;
        }
        let since = Instant::now();
        terminal.take_back();
        terminal.unblocked(|| signals.stop_self(signal));
        self.clock.stand_still(since.elapsed());
        if let Some(ending) = &mut self.ending {
            ending.kill_at += since.elapsed();
        }
        self.resume(asks);
    }

    /// Continues the group, with the terminal if it is ours to give.
    pub(super) fn resume(&mut self, asks: bool) {
        self.stopped = false;
        if let Some(terminal) = &mut self.terminal {
            terminal.give(self.process.pid(), asks);
        }
        self.process.signal_group(Signal::CONT);
    }
}

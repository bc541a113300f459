//! For who asks a person something, outside of a run: signals as something to poll, so that the
//! terminal is put back before they act, and a memory that nobody else reads.

use std::os::fd::BorrowedFd;

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};

use crate::run::make_undumpable;
use crate::signal::{CANCELLING, FORWARDED, Signals};

/// Makes this process undumpable (no tracer of the same user, where the system can) and sees that
/// it leaves no core file. `false` when one of them could not be had.
pub fn guard_memory() -> bool {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let has_no_core = setrlimit(Resource::Core, none).is_ok();
    make_undumpable() && has_no_core
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interrupt {
    /// To end, by the signal of this number.
    End(i32),
    /// To stop until somebody continues us.
    Stop,
}

/// Signals to this process, held back until dropped. One that was ignored before stays so.
pub struct Interrupts(Signals);

impl Interrupts {
    /// Holds signals back; `None` while a run, or another of these, does.
    pub fn take() -> Option<Self> {
        Signals::take().map(Self)
    }

    /// Readable when a signal has arrived.
    pub fn fd(&self) -> Option<BorrowedFd<'static>> {
        Signals::fd()
    }

    /// What the next signal that arrived asks for.
    pub fn next_interrupt(&mut self) -> Option<Interrupt> {
        loop {
            let number = self.0.next()?;
            if number == Signal::TSTP.as_raw() {
                return Some(Interrupt::Stop);
            }
            if CANCELLING.iter().chain(&FORWARDED).any(|signal| signal.as_raw() == number) {
                return Some(Interrupt::End(number));
            }
        }
    }

    /// Stops this process, and the job that it is of. Returns when it is continued.
    pub fn stop(&mut self) {
        self.0.stop_self(Signal::TSTP);
    }

    /// Gives the signals free, and sends this one to this process.
    pub fn end(self, number: i32) {
        drop(self);
        if let Some(signal) = Signal::from_named_raw(number) {
            let _ = kill_process(getpid(), signal);
        }
    }
}

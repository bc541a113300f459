//! What people are told of a run that shows no record.

use noesc_capture::{Captured, Cutoff, Ended, Limits, Outcome, StreamRecord};

use crate::live::Settings;
use crate::record::{limits as recorded_limits, outcome, processes};

/// How a run ended, one line for each thing that its output and its exit status do not say: that a
/// limit stopped it, that something had to be killed, who outlives it, and that something still
/// holds its output.
///
/// ```
/// use noesc_session::{Command, Limited, Limits, Settings, collect, told};
/// use std::time::Duration;
///
/// let mut limits = Limits::default();
/// limits.time_max = Some(Limited::stop(Duration::from_millis(100)));
/// let command = Command::new(["sleep", "60"]);
/// let run = collect(&command, &limits, &Settings::default(), 1024)?;
/// assert_eq!(told(&run.captured, &limits), ["timed out at 100 ms; ended by signal 15"]);
/// # Ok::<(), noesc_session::CollectError>(())
/// ```
#[must_use]
pub fn told(captured: &Captured, limits: &Limits) -> Vec<String> {
    let processes = processes(captured);
    let is_told = match captured.outcome {
        Outcome::TimedOut { .. } | Outcome::IdleOut { .. } | Outcome::StoppedByLimit { .. } => true,
        Outcome::Cancelled { .. } => matches!(captured.ended_by, Some(Ended { killed: true, .. })),
        _ => false,
    };
    let limits = recorded_limits(limits, &Settings::default(), None);
    let ended = is_told.then(|| outcome(&captured.outcome).told(&limits, processes.ended));
    ended.into_iter().chain(processes.survivors.told()).chain(held(captured)).collect()
}

/// Which outputs are still open in a process that the command left behind.
fn held(captured: &Captured) -> Option<String> {
    if !matches!(captured.outcome, Outcome::Exited { .. } | Outcome::Signalled { .. }) {
        return None;
    }
    let is_held = |stream: &StreamRecord| {
        !stream.end.eof && !matches!(stream.end.cutoff, Cutoff::None | Cutoff::Caller)
    };
    let names = match (captured.pty.as_ref().is_some_and(is_held), &captured.stdout) {
        (true, _) => "the terminal is",
        (false, stdout) => match (is_held(stdout), is_held(&captured.stderr)) {
            (true, true) => "stdout and stderr are",
            (true, false) => "stdout is",
            (false, true) => "stderr is",
            (false, false) => return None,
        },
    };
    Some(format!("{names} still held: what is written there from now on is not shown"))
}

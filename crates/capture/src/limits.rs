//! How long a run may take, how much it may print, and what happens then.

use std::time::Duration;

/// What happens at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtLimit {
    /// The process tree is ended: `SIGTERM`, then `SIGKILL` after the grace. What it prints
    /// meanwhile is read.
    Stop,
    /// Nothing more is kept, but all is read and counted, for [`Limits::drain_max`]; then the tree
    /// is ended.
    Drain,
    /// The run returns at once. The tree goes on, and its output is read and dropped.
    Partial,
}

/// A limit, and what happens at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited<T> {
    /// What is still allowed, in the unit of the limit.
    pub max: T,
    /// What happens beyond it.
    pub then: AtLimit,
}

impl<T> Limited<T> {
    /// A limit at which the tree is ended.
    pub const fn stop(max: T) -> Self {
        Self { max, then: AtLimit::Stop }
    }
}

/// The limits and times in force for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of each stream that count as kept ([`Chunk::kept`](crate::Chunk::kept)). Not limited
    /// by default.
    pub capture_bytes_max: Option<Limited<u64>>,
    /// How long the run may take. Not limited by default.
    pub time_max: Option<Limited<Duration>>,
    /// How long no stream may bring a byte, time blocked on the sink aside. Not limited by default.
    pub idle_max: Option<Limited<Duration>>,
    /// Bytes of all streams within a second, time blocked on the sink aside. Not limited by
    /// default.
    pub rate_max: Option<Limited<u64>>,
    /// Processes of the tree at once, looked at every [`PROCESSES_LOOK`]. Not limited by default;
    /// Linux only.
    pub processes_max: Option<Limited<u32>>,
    /// How long is read on where a limit says [`AtLimit::Drain`]. 60 s by default.
    pub drain_max: Duration,
    /// How long, once the process has ended, a descendant that still holds a pipe is listened to
    /// without a new byte on either stream. 250 ms by default.
    pub linger: Duration,
    /// How long it is listened to at most, new bytes or not. 2 s by default. Neither of the two
    /// runs while the sink is blocked, nor cuts what was in a pipe when the process ended.
    pub linger_max: Duration,
    /// How long the tree may take to end after it was asked to, before `SIGKILL`. 2 s by default.
    pub grace: Duration,
}

/// How often the processes of a tree are counted: a fork bomb is found before it fills a table of
/// some ten thousands, and counting costs well below a hundredth of a core.
pub const PROCESSES_LOOK: Duration = Duration::from_millis(100);

impl Default for Limits {
    fn default() -> Self {
        Self {
            capture_bytes_max: None,
            time_max: None,
            idle_max: None,
            rate_max: None,
            processes_max: None,
            drain_max: Duration::from_secs(60),
            linger: Duration::from_millis(250),
            linger_max: Duration::from_secs(2),
            grace: Duration::from_secs(2),
        }
    }
}

//! How a run ended, and who saw it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ident::Escaped;

/// Why an end was not seen, where there is none yet: the run goes on, or the process was left
/// running.
pub const STILL_RUNNING: &str = "still-running";

/// What came of a run, and who observed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// What came of it.
    #[serde(flatten)]
    pub kind: OutcomeKind,
    /// Who observed that.
    pub observed_by: Observer,
}

/// What came of a run: a closed union by `kind`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The process exited.
    Exited {
        /// The low eight bits of its status.
        code: u8,
    },
    /// A signal that noesc did not send ended it.
    Signalled {
        /// Number of the signal.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
    /// It was stopped because its time was over.
    TimedOut {
        /// How the process itself ended.
        exit: Exit,
    },
    /// It was stopped because it wrote nothing for too long.
    IdleOut {
        /// How the process itself ended.
        exit: Exit,
    },
    /// It was stopped at another limit.
    StoppedByLimit {
        /// Which limit.
        which: LimitName,
        /// How the process itself ended.
        exit: Exit,
    },
    /// It was never started.
    SpawnFailed {
        /// A word for why, such as `not-found`; for a refusal of the system, its errno is part of
        /// it.
        reason: Escaped,
        /// The file or folder that is to blame, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<Escaped>,
    },
    /// noesc was told to stop by a signal, and passed it on.
    Cancelled {
        /// Number of the first such signal.
        signal: i32,
        /// How the process itself ended.
        exit: Exit,
    },
    /// Its end was not seen.
    Unknown {
        /// A word for why not; `still-running` where it has not ended yet.
        why: Escaped,
    },
}

impl OutcomeKind {
    /// Whether it is that of a run that goes on.
    ///
    /// ```
    /// use noesc_envelope::{OutcomeKind, STILL_RUNNING};
    /// assert!(OutcomeKind::Unknown { why: STILL_RUNNING.into() }.is_running());
    /// assert!(!OutcomeKind::Exited { code: 0 }.is_running());
    /// ```
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Unknown { why } if why.as_str() == STILL_RUNNING)
    }
}

/// How the process itself ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Exit {
    /// It exited by itself.
    Exited {
        /// The low eight bits of its status.
        code: u8,
    },
    /// A signal ended it.
    Signalled {
        /// Number of the signal.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
    /// Its end was not seen.
    Unknown {
        /// A word for why not; `still-running` where it has not ended yet.
        why: Escaped,
    },
}

/// Who saw the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// The process that started the child.
    Collector,
}

/// A limit that can stop a run and has no outcome of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitName {
    /// Bytes captured of a stream.
    Bytes,
    /// Bytes a second.
    Rate,
    /// Time for reading on after a limit of bytes.
    Drain,
    /// Processes.
    Processes,
}

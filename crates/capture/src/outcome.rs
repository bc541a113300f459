//! What was observed of a run. Nothing here is ever invented.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::Stdin;

/// How the process ended, as its parent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited by itself.
    Exited {
        /// The low eight bits of what it passed to `exit`.
        code: u8,
    },
    /// A signal ended it.
    Signalled {
        /// Number of the signal.
        signal: i32,
        /// Whether the kernel says that a core was dumped.
        core: bool,
    },
    /// Its end was not seen.
    Unknown {
        /// Why not.
        why: Unknown,
    },
}

/// Why an end was not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// There never was a process.
    NotStarted,
    /// Something else in the calling process collected its status first.
    CollectedElsewhere,
    /// The system refused to tell: this `errno`.
    NotTold(i32),
    /// The process that watched the tree was killed, and with it went what it had seen.
    SupervisorLost,
    /// It was left running.
    StillRunning,
}

/// A limit that can stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Bytes captured of a stream.
    Bytes,
    /// Bytes a second.
    Rate,
    /// The time for reading on after another limit.
    Drain,
    /// Processes of the tree.
    Processes,
}

/// Why a process could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnReason {
    /// The argument vector is empty.
    EmptyArgv,
    /// An argument, the working folder or a variable holds a NUL byte.
    Nul,
    /// No such program.
    NotFound,
    /// The file is there, but may not be executed.
    NotExecutable,
    /// The program is a folder.
    IsFolder,
    /// The file is there and executable, but the interpreter or loader it names is not.
    InterpreterNotFound,
    /// The file has no format that the system executes.
    NotAProgram,
    /// The working folder cannot be entered.
    WorkingFolder,
    /// Arguments and environment together are too long.
    TooLong,
    /// The terminal on standard input could not be reopened for reading only.
    Terminal,
    /// The system refused: this `errno` (no more processes, no memory, no descriptors).
    Refused(i32),
}

impl SpawnReason {
    /// The exit status that shells give for it: 127 not found, 126 found but not executable;
    /// 125 where the program is not to blame.
    #[must_use]
    pub fn shell_code(self) -> u8 {
        match self {
            Self::NotFound | Self::InterpreterNotFound => 127,
            Self::WorkingFolder | Self::Terminal | Self::Refused(_) => 125,
            Self::EmptyArgv
            | Self::Nul
            | Self::NotExecutable
            | Self::IsFolder
            | Self::NotAProgram
            | Self::TooLong => 126,
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
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
    /// Its time was over.
    TimedOut {
        /// How the process ended, if it did.
        exit: Exit,
    },
    /// It wrote nothing for too long.
    IdleOut {
        /// How the process ended, if it did.
        exit: Exit,
    },
    /// It was stopped at another limit.
    StoppedByLimit {
        /// Which limit.
        which: Limit,
        /// How the process ended, if it did.
        exit: Exit,
    },
    /// It was never started.
    SpawnFailed {
        /// Why.
        reason: SpawnReason,
        /// The file or folder that is to blame, where there is one.
        path: Option<PathBuf>,
    },
    /// noesc was told to stop by a signal, and passed it on.
    Cancelled {
        /// Number of the first such signal.
        signal: i32,
        /// How the process ended.
        exit: Exit,
    },
    /// Its end was not seen.
    Unknown {
        /// Why not.
        why: Unknown,
    },
}

/// Who saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observer {
    /// The process that called [`run`](crate::run), the child's parent.
    Collector,
}

/// Why collection stopped before the end of a stream, or what was to be kept did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cutoff {
    /// It did not.
    #[default]
    None,
    /// The limit of bytes.
    Bytes,
    /// The limit of time.
    Time,
    /// The limit of idleness.
    Idle,
    /// The limit of rate.
    Rate,
    /// The limit of processes.
    Processes,
    /// The process ended while something else held the pipe, and the linger time was over.
    WriterAlive,
    /// Whoever reads noesc's output went away, or told noesc to stop.
    Caller,
}

/// How a stream ended: two facts, kept apart. Both: its end was seen after a limit had struck. With
/// neither, the read itself failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// End of file was seen: no process held the writing end any more.
    pub eof: bool,
    /// Why collection stopped, or what struck while the stream was open.
    pub cutoff: Cutoff,
}

/// What was seen of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamRecord {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of them that were to be kept: all up to a limit.
    pub kept: u64,
    /// Line feeds among them.
    pub lines: u64,
    /// How it ended.
    pub end: End,
}

/// How much of what a child starts the collector can see and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every process that descends from it, whatever its group and session.
    Tree,
    /// Its process group.
    Group,
}

/// What the collector did to end the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The first signal that it sent or passed on.
    pub signal: i32,
    /// Whether `SIGKILL` was sent, too.
    pub killed: bool,
}

/// A process that outlives a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// Its process id.
    pub pid: u32,
    /// The name of its program as the kernel has it, at most 15 bytes, which it chooses itself.
    pub name: Vec<u8>,
}

/// Processes of the tree that were alive when the run was over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survivors {
    /// How many; `None` where it is not known.
    pub count: Option<u32>,
    /// The first 64 of them.
    pub listed: Vec<Survivor>,
}

/// The record of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Captured {
    /// What came of it.
    pub outcome: Outcome,
    /// Who observed that.
    pub observed_by: Observer,
    /// How the process ended, whatever the outcome.
    pub exit: Exit,
    /// Its process id, which is also the id of its process group; `None` when it was not started.
    pub pid: Option<u32>,
    /// The file that was executed; `None` when it was not found.
    pub executable: Option<PathBuf>,
    /// What its standard input was.
    pub stdin: Stdin,
    /// Whether the run stood in for the child towards signals and the terminal.
    pub attended: bool,
    /// Whether the collector was undumpable before it started the child.
    pub undumpable: bool,
    /// Whether the child had the right to look into the collector all the same: root, or
    /// `CAP_SYS_PTRACE`.
    pub privileged: bool,
    /// How much of the tree was seen.
    pub scope: Scope,
    /// What was done to end it; `None` where nothing was.
    pub ended_by: Option<Ended>,
    /// What outlives the run.
    pub survivors: Survivors,
    /// Wall clock just before the start.
    pub started: SystemTime,
    /// Wall clock when the process had ended and its output was collected.
    pub ended: SystemTime,
    /// The time between the two by a clock that is never set.
    pub duration: Duration,
    /// Chunks handed to the sink, of all streams.
    pub chunks: u64,
    /// Descriptor 1.
    pub stdout: StreamRecord,
    /// Descriptor 2.
    pub stderr: StreamRecord,
    /// The descriptor of [`Command::extra_fd`](crate::Command::extra_fd), where there is one.
    pub extra: Option<StreamRecord>,
    /// The terminal of [`Command::terminal`](crate::Command::terminal), where there is one: it
    /// stands for descriptors 1 and 2, of which then nothing is seen.
    pub pty: Option<StreamRecord>,
}

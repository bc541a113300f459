//! What to run, and for how long to wait.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the child finds at descriptor 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// The caller's own standard input. A terminal is reopened for reading only. Where the child
    /// has a terminal of its own, what is read here is typed there.
    Inherit,
}

/// The size of a terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for Size {
    /// 80 columns, 24 rows.
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// A process to be started: an argument vector, never a shell line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Command {
    /// The name of the program, then its arguments. A name without a slash is looked for in the
    /// child's `PATH`; one with a slash is relative to the child's working folder.
    pub argv: Vec<OsString>,
    /// The child's standard input; `/dev/null` by default.
    pub stdin: Stdin,
    /// The child's working folder; the caller's by default.
    pub cwd: Option<PathBuf>,
    /// Variables set in the child's environment in addition to the caller's.
    pub env: Vec<(OsString, OsString)>,
    /// Descriptors above 2 that the child inherits: only these, or every one that is not marked
    /// close-on-exec where it is `None`. None of them by default.
    pub keep_fds: Option<Vec<i32>>,
    /// A descriptor above 2 at which the child finds a third pipe to write to, read as
    /// [`Stream::Extra`](crate::Stream::Extra). What the caller has there the child does not get.
    /// None by default.
    pub extra_fd: Option<i32>,
    /// The size of a terminal of its own, which the child then has in place of all three standard
    /// descriptors. None by default.
    pub terminal: Option<Size>,
    /// Whether the calling process makes itself undumpable (no core file, no tracer of the same
    /// user) before it starts the child, and stays so. On by default; Linux only.
    pub undumpable: bool,
    /// Whether a supervisor stands between caller and child, which sees and ends the whole tree. On
    /// by default; Linux only. Without one the child is a child of the calling process, and its
    /// process group is all that is seen and ended.
    pub supervised: bool,
    /// Whether the run stands in for the child towards signals and the terminal: `SIGINT`,
    /// `SIGTERM`, `SIGHUP`, `SIGQUIT` are passed on and end it, `SIGUSR1` and `SIGUSR2` are passed
    /// on and nothing more, stops and continues are followed, and with a
    /// terminal on an inherited standard input the child's group becomes the foreground group. On
    /// by default. Handlers belong to the whole process: while one run has them, another does
    /// without ([`Captured::attended`] says so), and they are put back when the run ends.
    ///
    /// [`Captured::attended`]: crate::Captured::attended
    pub attended: bool,
}

impl Command {
    /// A command with this argument vector and the defaults.
    ///
    /// ```
    /// let command = noesc_capture::Command::new(["ls", "-l"]);
    /// assert_eq!(command.argv.len(), 2);
    /// assert!(command.undumpable && command.attended);
    /// ```
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            stdin: Stdin::default(),
            cwd: None,
            env: Vec::new(),
            keep_fds: Some(Vec::new()),
            extra_fd: None,
            terminal: None,
            undumpable: true,
            supervised: true,
            attended: true,
        }
    }
}

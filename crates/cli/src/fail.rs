//! How noesc says that something went wrong: `noesc: error: …`, then `noesc: hint: …`.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::say::{lines_are_open, say};

/// Exit status of a misuse, or of input that can't be read.
pub(crate) const MISUSE: u8 = 2;

/// Exit status of `run` when noesc failed or was misused, as for `env`, `timeout` and their like.
pub(crate) const WRAPPER: u8 = 125;

/// Something that ends noesc.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with exit status 2. `message` holds no byte that is not printable: names go
    /// through [`quoted`].
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: MISUSE }
    }

    /// That a file or stream could not be used.
    pub(crate) fn io(doing: &str, name: &OsStr, error: &io::Error) -> Self {
        Self::new(format!("{doing} {}: {}", quoted(name), reason(error)))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// Replaces the status of a misuse, and no other.
    pub(crate) fn code_if_misuse(self, code: u8) -> Self {
        match self.code {
            MISUSE => self.code(code),
            _ => self,
        }
    }

    /// What it says, without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Says before the message what it is about.
    pub(crate) fn prefixed(mut self, before: &str) -> Self {
        self.message.insert_str(0, before);
        self
    }

    /// Says it on stderr and gives the exit status.
    pub(crate) fn tell(self) -> ExitCode {
        say(&format!("error: {}", self.message));
        if let Some(hint) = self.hint {
            say(&format!("hint: {hint}"));
        }
        ExitCode::from(self.code)
    }
}

/// Somebody's bytes in double quotes, audit-escaped.
pub(crate) fn quoted(name: &OsStr) -> String {
    format!("\"{}\"", noesc::audit(name.as_bytes()))
}

/// What a library says, escaped: it may quote a name.
pub(crate) fn escaped(text: impl Display) -> String {
    noesc::audit(text.to_string().as_bytes())
}

/// The reason of an I/O error, at most in the words of the system, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::StorageFull => "no space left".into(),
        ErrorKind::NotADirectory => "a part of the path is no folder".into(),
        _ => {
            let text = error.to_string();
            let words = text.split(" (os error ").next().unwrap_or_default();
            let (first, rest) = words.split_at_checked(1).unwrap_or_default();
            escaped(first.to_ascii_lowercase() + rest)
        }
    }
}

/// A panic is a fault of ours; what it says may quote input all the same.
pub(crate) fn escape_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // What a command printed may end within a line, and nobody knows any more.
        lines_are_open(false, true);
        say(&format!("error: internal fault: {}", escaped(panic)));
        say("hint: please report it, with what noesc was given");
    }));
}

//! The exit status of a run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use noesc_session::envelope::{Escaped, OutcomeKind};
use noesc_session::{Captured, Outcome, SpawnReason, spawn_reason_of};

use crate::fail::{self, Failure, Result, WRAPPER, quoted};

/// Exit status of a run that a limit has stopped, as that of `timeout`.
pub(crate) const LIMIT: u8 = 124;

/// The exit status of a run that is told by its record.
pub(crate) fn of_record(outcome: &OutcomeKind) -> u8 {
    match outcome {
        OutcomeKind::Exited { code } => *code,
        OutcomeKind::Signalled { signal, .. } | OutcomeKind::Cancelled { signal, .. } => {
            128_u8.wrapping_add(*signal as u8)
        }
        OutcomeKind::TimedOut { .. }
        | OutcomeKind::IdleOut { .. }
        | OutcomeKind::StoppedByLimit { .. } => LIMIT,
        OutcomeKind::SpawnFailed { reason, .. } => {
            spawn_reason_of(reason.as_str()).map_or(126, SpawnReason::shell_code)
        }
        OutcomeKind::Unknown { .. } => WRAPPER,
    }
}

/// That a command could not be run, as its record has it.
pub(crate) fn unstarted(reason: &Escaped, path: Option<&Escaped>, name: &OsStr) -> Failure {
    let path = path.map_or(quoted(name), |path| format!("\"{path}\""));
    let spawn_reason = spawn_reason_of(reason.as_str());
    let (why, hint) = match spawn_reason {
        Some(reason) => spawn_failure(reason, name),
        None => (reason.to_string(), "try again"),
    };
    Failure::new(format!("can not run {path}: {why}"))
        .hint(hint)
        .code(spawn_reason.map_or(126, SpawnReason::shell_code))
}

/// As shells do: the status itself, 128+n for signal n, 126 and 127 for what can't be run.
pub(crate) fn exit(captured: &Captured, name: &OsStr) -> Result<ExitCode> {
    let signalled = |signal: i32| ExitCode::from(128_u8.wrapping_add(signal as u8));
    match &captured.outcome {
        Outcome::Exited { code } => Ok(ExitCode::from(*code)),
        Outcome::Signalled { signal, .. } | Outcome::Cancelled { signal, .. } => {
            Ok(signalled(*signal))
        }
        Outcome::SpawnFailed { reason, path } => {
            let path = path.as_ref().map_or(name, |path| path.as_os_str());
            let (why, hint) = spawn_failure(*reason, name);
            Err(Failure::new(format!("can not run {}: {why}", quoted(path)))
                .hint(hint)
                .code(reason.shell_code()))
        }
        Outcome::TimedOut { .. } | Outcome::IdleOut { .. } | Outcome::StoppedByLimit { .. } => {
            Ok(ExitCode::from(LIMIT))
        }
        Outcome::Unknown { .. } => Err(Failure::new("the end of the command was not seen")
            .hint("something else may have collected its status; \"--report\" has the rest")
            .code(WRAPPER)),
    }
}

fn spawn_failure(reason: SpawnReason, name: &OsStr) -> (String, &'static str) {
    let (why, hint) = match reason {
        SpawnReason::EmptyArgv => ("no command", "name a command after \"--\""),
        SpawnReason::Nul => ("an argument holds a NUL byte", "no program can be given one"),
        SpawnReason::NotFound => ("not found", not_found(name)),
        SpawnReason::NotExecutable => ("not executable", "chmod +x it, or name its interpreter"),
        SpawnReason::IsFolder => ("it is a folder", "name a program"),
        SpawnReason::InterpreterNotFound => {
            ("its interpreter was not found", "check its first line, or the loader it names")
        }
        SpawnReason::NotAProgram => {
            ("it is no program that this system runs", "name its interpreter: \"sh FILE\"")
        }
        SpawnReason::WorkingFolder => ("the working folder can not be entered", "check it"),
        SpawnReason::TooLong => ("too many arguments", "pass a list through stdin or a file"),
        SpawnReason::Terminal => {
            ("the terminal on stdin can not be reopened", "redirect stdin from /dev/null")
        }
        SpawnReason::Refused(errno) => {
            let error = std::io::Error::from_raw_os_error(errno);
            return (fail::reason(&error), "the system is out of something; try again");
        }
        _ => ("the system refused", "try again"),
    };
    (why.into(), hint)
}

/// What to do about a name that no program has.
fn not_found(name: &OsStr) -> &'static str {
    let name = name.as_bytes();
    let variable = name.split(|byte| *byte == b'=').next().unwrap_or_default();
    let is_variable = variable.len() < name.len()
        && variable.first().is_some_and(|byte| !byte.is_ascii_digit())
        && variable.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_variable {
        return "no shell is involved: \"noesc run -- env NAME=VALUE COMMAND\" sets a variable";
    }
    match name.iter().any(|byte| b" \t\n|&;<>()$`\"'*?[]{}".contains(byte)) {
        true => "no shell is involved: \"noesc run --shell -- 'COMMAND'\" has one",
        false => "check the name and PATH",
    }
}

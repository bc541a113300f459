//! `noesc run`: a transparent wrapper.

use std::ffi::OsStr;
use std::process::ExitCode;

use noesc::Report;
use noesc_session::{
    Captured, Command, Cutoff, Exit, Limits, Outcome, Outlet, Ran, RanStream, SpawnReason, Stdin,
    StreamRecord, live,
};
use serde::Serialize;

use crate::args::RunArgs;
use crate::fail::{self, Failure, Result, WRAPPER, quoted};
use crate::filter::write_json;
use crate::input::{create, unwritten};
use crate::note::{self, OpenLines};

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    run_inner(args).map_err(|failure| failure.code_if_misuse(WRAPPER))
}

fn run_inner(args: RunArgs) -> Result<ExitCode> {
    let (settings, config) = args.settings.settings()?;
    let report = args.report.as_deref().map(|path| create("--report", path)).transpose()?;
    let mut command = Command::new(args.argv);
    command.stdin = Stdin::Inherit;
    let stdout = outlet("stdout", Outlet::duplicate(std::io::stdout()))?;
    let stderr = outlet("stderr", Outlet::duplicate(std::io::stderr()))?;
    let ran = live(&command, &Limits::default(), &settings, stdout, stderr)
        .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
    if let (Some(file), Some(path)) = (report, &args.report) {
        write_json(&RunReport::of(&ran), file, path)?;
    }
    if !args.quiet && !config.is_on("quiet") {
        let open = OpenLines { stdout: ran.stdout.is_line_open, stderr: ran.stderr.is_line_open };
        let found = [
            note::findings(&ran.stdout.report, Some("stdout")),
            note::findings(&ran.stderr.report, Some("stderr")),
        ];
        note::tell(found.into_iter().flatten().chain(writers_alive(&ran.captured)), open);
    }
    for (name, stream) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        if let Some(kind) = stream.failure {
            return Err(unwritten(OsStr::new(name), &kind.into()));
        }
    }
    exit(&ran.captured, command.argv.first().map_or(OsStr::new(""), |name| name))
}

fn outlet(name: &str, outlet: std::io::Result<Outlet>) -> Result<Outlet> {
    outlet.map_err(|error| Failure::io("can not write to", OsStr::new(name), &error))
}

/// A process that outlives the command and still holds a pipe: its output is no longer read.
fn writers_alive(captured: &Captured) -> impl Iterator<Item = String> {
    let streams = [("stdout", &captured.stdout), ("stderr", &captured.stderr)];
    streams
        .into_iter()
        .filter(|(_, stream)| stream.end.cutoff == Cutoff::WriterAlive)
        .map(|(name, _)| format!("a process that the command left behind still holds its {name}"))
}

/// As shells do: the status itself, 128+n for signal n, 126 and 127 for what can't be run.
fn exit(captured: &Captured, name: &OsStr) -> Result<ExitCode> {
    let signalled = |signal: i32| ExitCode::from(128_u8.wrapping_add(signal as u8));
    match &captured.outcome {
        Outcome::Exited { code } => Ok(ExitCode::from(*code)),
        Outcome::Signalled { signal, .. } | Outcome::Cancelled { signal, .. } => {
            Ok(signalled(*signal))
        }
        Outcome::SpawnFailed { reason, path } => {
            let path = path.as_ref().map_or(name, |path| path.as_os_str());
            let (why, hint) = spawn_failure(*reason);
            Err(Failure::new(format!("can not run {}: {why}", quoted(path)))
                .hint(hint)
                .code(reason.shell_code()))
        }
        Outcome::TimedOut | Outcome::IdleOut | Outcome::StoppedByLimit { .. } => {
            Ok(ExitCode::from(124))
        }
        Outcome::Unknown { .. } => Err(Failure::new("the end of the command was not seen")
            .hint("something else may have collected its status; \"--report\" has the rest")
            .code(WRAPPER)),
    }
}

fn spawn_failure(reason: SpawnReason) -> (String, &'static str) {
    let (why, hint) = match reason {
        SpawnReason::EmptyArgv => ("no command", "name a command after \"--\""),
        SpawnReason::Nul => ("an argument holds a NUL byte", "no program can be given one"),
        SpawnReason::NotFound => ("not found", "check the name and PATH"),
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

/// What `--report` writes.
#[derive(Serialize)]
struct RunReport<'a> {
    outcome: OutcomeReport,
    duration_ms: u64,
    streams: StreamReports<'a>,
}

#[derive(Serialize)]
struct StreamReports<'a> {
    stdout: StreamReport<'a>,
    stderr: StreamReport<'a>,
}

#[derive(Serialize)]
struct StreamReport<'a> {
    bytes: u64,
    lines: u64,
    eof: bool,
    cutoff: &'static str,
    report: &'a Report,
}

/// How the run ended, as the collector saw it. What was not observed is not there.
#[derive(Serialize)]
struct OutcomeReport {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<bool>,
    observed_by: &'static str,
}

impl<'a> RunReport<'a> {
    fn of(ran: &'a Ran) -> Self {
        let captured = &ran.captured;
        let stream = |record: &StreamRecord, ran: &'a RanStream| StreamReport {
            bytes: record.bytes,
            lines: record.lines,
            eof: record.end.eof,
            cutoff: cutoff(record.end.cutoff),
            report: &ran.report,
        };
        Self {
            outcome: outcome(captured),
            duration_ms: u64::try_from(captured.duration.as_millis()).unwrap_or(u64::MAX),
            streams: StreamReports {
                stdout: stream(&captured.stdout, &ran.stdout),
                stderr: stream(&captured.stderr, &ran.stderr),
            },
        }
    }
}

fn outcome(captured: &Captured) -> OutcomeReport {
    let kind = match &captured.outcome {
        Outcome::Exited { .. } => "exited",
        Outcome::Signalled { .. } => "signalled",
        Outcome::TimedOut => "timed_out",
        Outcome::IdleOut => "idle_out",
        Outcome::StoppedByLimit { .. } => "stopped_by_limit",
        Outcome::SpawnFailed { .. } => "spawn_failed",
        Outcome::Cancelled { .. } => "cancelled",
        Outcome::Unknown { .. } => "unknown",
    };
    let (code, exit_signal, core) = match captured.exit {
        Exit::Exited { code } => (Some(code), None, None),
        Exit::Signalled { signal, core } => (None, Some(signal), Some(core)),
        Exit::Unknown { .. } => (None, None, None),
    };
    let signal = match captured.outcome {
        Outcome::Cancelled { signal, .. } => Some(signal),
        _ => exit_signal,
    };
    OutcomeReport { kind, code, signal, core, observed_by: "collector" }
}

fn cutoff(cutoff: Cutoff) -> &'static str {
    match cutoff {
        Cutoff::None => "none",
        Cutoff::Bytes => "bytes",
        Cutoff::Time => "time",
        Cutoff::Idle => "idle",
        Cutoff::Rate => "rate",
        Cutoff::WriterAlive => "writer-alive",
        Cutoff::Caller => "caller",
        _ => "unknown",
    }
}

//! `noesc run --detach`: a run that is collected by a process in the background.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{ExitCode, Stdio};

use noesc_session::envelope::OutcomeKind;
use noesc_session::{Background, Command, Limits, Settings, collect_in_background, detach};

use crate::args::{RunArgs, RunFormat};
use crate::fail::{Failure, Result, WRAPPER, escaped, reason};
use crate::input::write;
use crate::say::say;
use crate::status;

/// The flag by which the process in the background knows what it is.
const IN_BACKGROUND: &str = "--in-background";

/// A line to the front that begins so says why nothing was begun.
const FAILED: &str = "failed: ";

/// Refuses what does not go together with a run in the background.
pub(crate) fn check(args: &RunArgs) -> Result<()> {
    let refuse = |flag: &str, hint: &str| {
        Err(Failure::new(format!("\"{flag}\" does not go with \"--detach\"")).hint(hint))
    };
    if args.report.is_some() {
        return refuse("--report", "\"noesc wait --format json\" gives the record");
    }
    if args.facts_fd.is_some() {
        return refuse("--facts-fd", "\"noesc wait --format json\" gives the record");
    }
    if args.decision.is_some() {
        return refuse("--decision", "a decision is used up by a run that is waited for");
    }
    if args.stdin {
        return refuse("--stdin", "a run in the background has no stdin");
    }
    Ok(())
}

/// Starts the process in the background and tells what is there so far.
pub(crate) fn front(args: &RunArgs, keep: &[i32]) -> Result<ExitCode> {
    let runs = super::all()?;
    runs.prepare().map_err(|error| super::unusable(&runs, &error))?;
    let lines = start(keep).map_err(|error| {
        let message = format!("can not start a process in the background: {}", reason(&error));
        Failure::new(message).hint("the system is out of something; try again")
    })?;
    let mut lines = lines.lines().map_while(std::io::Result::ok);
    let first = lines.next().unwrap_or_default();
    if first.is_empty() || first.starts_with(FAILED) {
        let why = first.strip_prefix(FAILED).unwrap_or("the process in the background has ended");
        return Err(Failure::new(format!("can not begin the run: {}", escaped(why)))
            .hint("nothing was run")
            .code(WRAPPER));
    }
    let has_started = lines.next().is_some();
    if has_started && args.format == RunFormat::Text {
        write(format!("{first}\n").as_bytes())
            .map_err(|failure| failure.hint(format!("the run goes on: {first}")))?;
        return Ok(ExitCode::SUCCESS);
    }
    // Until there is something to see.
    lines.for_each(drop);
    let run = super::find(&first)?;
    let record = super::record(&run)?;
    if let OutcomeKind::SpawnFailed { reason, path } = &record.outcome.kind {
        if args.format != RunFormat::Text {
            super::tell::tell(&run, &record, args.format)?;
        }
        let _ = run.remove();
        let name = args.argv.first().map_or(std::ffi::OsStr::new(""), |name| name);
        return Err(status::unstarted(reason, path.as_ref(), name));
    }
    let notes = super::tell::tell(&run, &record, args.format)?;
    notes.iter().for_each(|note| say(note));
    match record.outcome.kind.is_running() {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::from(status::of_record(&record.outcome.kind))),
    }
}

/// The process in the background, by what it says.
fn start(keep: &[i32]) -> std::io::Result<BufReader<std::io::PipeReader>> {
    let (reader, writer) = std::io::pipe()?;
    let mut argv = std::env::args_os().skip(1);
    let verb: Vec<OsString> = argv.by_ref().take(1).collect();
    let mut background = std::process::Command::new(own_program());
    background.args(verb).arg(IN_BACKGROUND).args(argv);
    background.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    detach(&mut background, keep);
    // What is dropped here would keep the writing end open.
    background.spawn().map(drop)?;
    Ok(BufReader::new(reader))
}

/// This program, whatever became of its file.
fn own_program() -> OsString {
    match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().map_or("noesc".into(), Into::into),
    }
}

/// The process in the background.
pub(crate) fn back(
    command: &Command,
    limits: &Limits,
    settings: &Settings,
    view_bytes_max: usize,
    transcript_bytes_max: u64,
) -> Result<ExitCode> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(escaped(error)).code(WRAPPER);
    let runs = super::all()?;
    let front = Some(take_stdout().map_err(|error| failed(&error))?);
    let background = Background { runs, transcript_bytes_max, front };
    collect_in_background(command, limits, settings, view_bytes_max, background)
        .map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Our stdout, which becomes `/dev/null`.
fn take_stdout() -> std::io::Result<File> {
    let front = std::io::stdout().as_fd().try_clone_to_owned()?;
    let null = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(front.into())
}

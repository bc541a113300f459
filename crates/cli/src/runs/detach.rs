//! `noesc run --detach`: a run that is collected by a process in the background.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};

use noesc_session::envelope::OutcomeKind;
use noesc_session::{
    Background, Command, Limits, Settings, TRANSCRIPT_BYTES, collect_in_background, detach,
};

use crate::args::{RunArgs, RunFormat};
use crate::fail::{Failure, Result, WRAPPER, reason};
use crate::input::write;
use crate::status;

/// The flag by which the process in the background knows what it is.
const IN_BACKGROUND: &str = "--in-background";

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
    if args.stdin {
        return refuse("--stdin", "a run in the background has no stdin");
    }
    Ok(())
}

/// Starts the process in the background and tells what is there so far.
pub(crate) fn front(args: &RunArgs, keep: &[i32]) -> Result<ExitCode> {
    let runs = super::all()?;
    runs.prepare().map_err(|error| {
        let root = crate::fail::quoted(runs.root().as_os_str());
        Failure::new(format!("can not use the folder of runs {root}: {}", reason(&error)))
            .hint("chmod 700 it, or name another by XDG_STATE_HOME")
    })?;
    let unstarted = |error: &std::io::Error| {
        Failure::new(format!("can not start a process in the background: {}", reason(error)))
            .hint("the system is out of something; try again")
    };
    let (reader, writer) = std::io::pipe().map_err(|error| unstarted(&error))?;
    let mut argv = std::env::args_os().skip(1);
    let verb: Vec<OsString> = argv.by_ref().take(1).collect();
    let mut background = std::process::Command::new(own_program());
    background.args(verb).arg(IN_BACKGROUND).args(argv);
    background.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    detach(&mut background, keep);
    background.spawn().map_err(|error| unstarted(&error))?;
    // It holds the writing end.
    drop(background);
    let mut lines = BufReader::new(reader).lines().map_while(std::io::Result::ok);
    let Some(id) = lines.next() else {
        return Err(Failure::new("the process in the background ended before the run began")
            .hint("run it without \"--detach\" to see why")
            .code(WRAPPER));
    };
    let has_started = lines.next().is_some();
    if has_started && args.format == RunFormat::Text {
        write(format!("{id}\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    // Until there is something to see.
    lines.for_each(drop);
    let run = super::find(&id)?;
    let record = super::record(&run)?;
    if let OutcomeKind::SpawnFailed { .. } = record.outcome.kind {
        let _ = run.remove();
        return Err(status::unstarted(&record));
    }
    super::wait::tell(&run, &record, args.format)?;
    match run.keeper() {
        Some(_) => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::from(status::of_record(&record.outcome.kind))),
    }
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
) -> Result<ExitCode> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    let runs = super::all()?;
    let front = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned();
    let front = front.map_err(|error| failed(&error))?;
    let null = File::options().write(true).open("/dev/null").map_err(|error| failed(&error))?;
    rustix::stdio::dup2_stdout(&null).map_err(|error| failed(&error))?;
    let background =
        Background { runs, transcript_bytes_max: TRANSCRIPT_BYTES, front: Some(front.into()) };
    collect_in_background(command, limits, settings, view_bytes_max, background)
        .map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

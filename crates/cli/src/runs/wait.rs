//! `noesc wait`: a run as it is told when it is over, or as it is by now.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use noesc_session::StoredRun;

use super::tell::tell;
use crate::args::RunFormat;
use crate::fail::{Failure, Result, WRAPPER};
use crate::say::say;
use crate::status;

/// Waits until a run is over, and tells it as "noesc run" would have.
///
/// With text, the transcripts are written: that of stdout to stdout, that of stderr to stderr. With
/// another format it is the record, with the views that fit. Exits as "noesc run" would have, and
/// with 124 when the run still goes on after --time-max: what is there so far is told then.
/// Processes that the command left behind are not waited for. Of several runs the first status that
/// is not 0 is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  run=$(noesc run --detach -- ./server)
  noesc wait --time-max 0s --format lines $run      what is there so far
  noesc wait $run                                   until it is over")]
pub(crate) struct WaitArgs {
    /// Wait no longer than this, for all of them together: 500ms, 2s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = crate::limits::time)]
    time_max: Option<Duration>,

    /// How the run is told: text, or its record with the views as json, lines, fence, xml
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: RunFormat,

    /// Say nothing of findings, nor of how the run ended
    #[arg(short, long)]
    quiet: bool,

    /// The ids of the runs, their beginnings or ends, or last; several with text and json alone
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
}

pub(crate) fn wait(args: &WaitArgs) -> Result<ExitCode> {
    // Our own failures must not look like those of a command.
    wait_inner(args).map_err(|failure| failure.code_if_misuse(WRAPPER))
}

fn wait_inner(args: &WaitArgs) -> Result<ExitCode> {
    let is_one = args.runs.len() == 1;
    if !is_one && !matches!(args.format, RunFormat::Text | RunFormat::Json) {
        return Err(Failure::new("several runs are told as text or json alone")
            .hint("wait for one at a time"));
    }
    let runs = args.runs.iter().map(|run| super::find(run)).collect::<Result<Vec<_>>>()?;
    let until = args.time_max.and_then(|time| Instant::now().checked_add(time));
    let mut code = 0;
    for run in &runs {
        let status = wait_for(run, until, args, is_one)?;
        code = if code == 0 { status } else { code };
    }
    Ok(ExitCode::from(code))
}

fn wait_for(run: &StoredRun, until: Option<Instant>, args: &WaitArgs, is_one: bool) -> Result<u8> {
    let is_over = run.wait(until);
    if !is_over && args.format != RunFormat::Text {
        run.settle();
    }
    let record = super::record(run)?;
    let mut notes = tell(run, &record, args.format)?;
    // It may have ended while it was told.
    let is_over = is_over || !record.outcome.kind.is_running();
    if !is_over && args.format == RunFormat::Text {
        notes.push(if is_one { format!("{} goes on", run.id()) } else { "goes on".into() });
    }
    if !args.quiet {
        for note in notes {
            say(&if is_one { note } else { format!("{}: {note}", run.id()) });
        }
    }
    match is_over {
        true => Ok(status::of_record(&record.outcome.kind)),
        false => Ok(status::LIMIT),
    }
}

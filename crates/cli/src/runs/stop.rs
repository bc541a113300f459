//! `noesc stop`: ends runs that go on.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use noesc_session::StoredRun;

use crate::fail::{Failure, Result, reason};
use crate::say::say;

/// Beyond the grace of any sensible run, and the second in which a killed tree is waited for.
const STOP_TAKES_MAX: Duration = Duration::from_secs(30);

/// Ends runs that go on, with every process that they started.
///
/// The processes are sent SIGTERM, and SIGKILL after the grace of the run (2 s) if they are still
/// there; a second "noesc stop" kills at once. Returns when all have ended. That one had ended
/// before is no error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc stop 0198c1a2
  noesc stop --all")]
pub(crate) struct StopArgs {
    /// End all runs that go on
    #[arg(short, long, conflicts_with = "runs")]
    all: bool,

    /// The ids of the runs, their beginnings or ends, or last
    #[arg(value_name = "RUN", required_unless_present = "all")]
    runs: Vec<String>,
}

pub(crate) fn stop(args: &StopArgs) -> Result<ExitCode> {
    // Nothing is stopped when one of them is not known.
    let runs = match args.all {
        true => super::listed()?.into_iter().filter(|run| run.keeper().is_some()).collect(),
        false => args.runs.iter().map(|run| super::find(run)).collect::<Result<Vec<_>>>()?,
    };
    // All are asked before one is waited for. One that can't be stopped keeps no other going.
    let asked: Vec<_> = runs.iter().map(|run| (run, run.stop())).collect();
    let until = Instant::now() + STOP_TAKES_MAX;
    let mut result = Ok(ExitCode::SUCCESS);
    for (run, asked) in asked {
        let ended = match asked {
            Ok(None) if run.is_attended() => {
                let message = format!("{} goes on in the foreground", run.id());
                result = result.and(Err(
                    Failure::new(message).hint("end it where it was started, as by Ctrl-C")
                ));
                continue;
            }
            Ok(None) => {
                say(&format!("{} had ended before", run.id()));
                continue;
            }
            Ok(Some(keeper)) => run.wait_stopped(keeper, until),
            Err(error) => Err(error),
        };
        let ended = match ended {
            Ok(true) => continue,
            Ok(false) => Err(not_ended(run)),
            Err(error) => {
                let message = format!("can not stop {}: {}", run.id(), reason(&error));
                Err(Failure::new(message).hint("it may go on elsewhere: in another container"))
            }
        };
        result = result.and(ended);
    }
    result
}

fn not_ended(run: &StoredRun) -> Failure {
    Failure::new(format!("{} was told to end, and has not", run.id()))
        .hint("\"noesc ps\" names the process that ends it")
}

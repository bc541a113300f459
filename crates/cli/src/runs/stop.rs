//! `noesc stop`: ends runs that go on.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use crate::fail::{Failure, Result, reason};
use crate::say::say;

/// Beyond the grace of any sensible run, and the second in which a killed tree is waited for.
const STOP_TAKES_MAX: Duration = Duration::from_secs(30);

/// Ends runs that go on, with every process that they started.
///
/// Each process is sent SIGTERM, and SIGKILL after the grace (2 s) if it is still there. Returns
/// when all have ended; that one had ended before is no error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc stop 0198c1a2
  noesc stop $(noesc ps --json | jq -r .run)        all of them")]
pub(crate) struct StopArgs {
    /// The ids of the runs, or their beginnings
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
}

pub(crate) fn stop(args: &StopArgs) -> Result<ExitCode> {
    // Nothing is stopped when one of them is not known.
    let runs = args.runs.iter().map(|run| super::find(run)).collect::<Result<Vec<_>>>()?;
    let mut asked = Vec::new();
    for run in &runs {
        match run.stop() {
            Ok(true) => asked.push(run),
            Ok(false) => say(&format!("{} had ended before", run.id())),
            Err(error) => {
                let message = format!("can not stop {}: {}", run.id(), reason(&error));
                return Err(Failure::new(message).hint("it may be another user's"));
            }
        }
    }
    let until = Instant::now() + STOP_TAKES_MAX;
    for run in asked {
        if !run.wait(Some(until)) {
            let message = format!("{} was told to end, and has not", run.id());
            return Err(Failure::new(message).hint("\"noesc ps\" names the process that ends it"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

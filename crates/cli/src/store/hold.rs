//! `noesc store hold`: runs that are not pruned.

use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use noesc_evidence::Retention;
use noesc_session::{FindError, Runs};

use super::prune::lock;
use super::{opened, read_chronicle, unread};
use crate::config::Config;
use crate::fail::{Failure, Result, quoted};
use crate::input::write;

/// Bytes of a reason.
const REASON_BYTES_MAX: usize = 1024;

/// Keeps runs however old they become, until they are released.
///
/// Both are records of the ledger. A hold stops `noesc store prune`, and nobody who can write in
/// the store.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc store hold 0198c1a2 --reason 'incident 12'
  noesc store hold --release 0198c1a2")]
pub(super) struct HoldArgs {
    /// Ids of runs, or how one begins or ends
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,

    /// Why, up to 1024 bytes; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Let them be pruned again
    #[arg(long)]
    release: bool,
}

pub(super) fn hold(args: &HoldArgs, config: &Config) -> Result<ExitCode> {
    let reason = args.reason.as_ref().map(|reason| noesc::audit(reason.as_bytes()));
    if reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MAX) {
        return Err(Failure::new("\"--reason\" is too long")
            .hint("it has up to 1024 bytes: name a place where more is said"));
    }
    let Some(opened) = opened(config)? else { return Err(unknown(&args.runs[0])) };
    let _lock = lock(&opened.place, false)?;
    let chronicle = read_chronicle(&opened, SystemTime::now())?;
    let runs = Runs::at(opened.place.runs_path());
    // All of them are known before the first is held.
    let found = args.runs.iter().map(|part| find(&runs, part)).collect::<Result<Vec<_>>>()?;
    let mut text = String::new();
    for run in found {
        let is_held = chronicle.hold(&run).is_some();
        let said = match (args.release, is_held) {
            (true, true) => "released",
            (true, false) => "was not held",
            (false, true) => "was held already",
            (false, false) => "held",
        };
        text.push_str(&format!("{run} {said}\n"));
        let (reason, is_new) = (reason.clone(), args.release == is_held);
        if is_new {
            let event = match args.release {
                true => Retention::Released { run, reason },
                false => Retention::Held { run, reason },
            };
            opened.place.record_hold(&opened.key, &event).map_err(unread)?;
        }
    }
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The one run whose id begins or ends so.
pub(super) fn find(runs: &Runs, part: &str) -> Result<String> {
    runs.find(part).map(|run| run.id().to_string()).map_err(|error| match error {
        FindError::Several(one, other) => {
            let id = quoted(part.as_ref());
            Failure::new(format!("{id} is the beginning or end of several runs: {one}, {other}, …"))
                .hint("give more of the id")
        }
        FindError::Io(error) => Failure::io("can not read", runs.root().as_os_str(), &error)
            .hint("\"noesc store doctor\" says what is wrong"),
        _ => unknown(part),
    })
}

pub(super) fn unknown(part: &str) -> Failure {
    let id = quoted(part.as_ref());
    Failure::new(format!("there is no run {id}")).hint("\"noesc runs\" lists those that are known")
}

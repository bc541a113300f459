//! Runs that go on when the command that started them is over: `run --detach`, `ps`, `wait` and
//! `stop`.

pub(crate) mod detach;
mod ps;
mod stop;
mod tell;
mod wait;

use std::ffi::OsStr;

use noesc_session::envelope::Envelope;
use noesc_session::{FindError, RecordError, Runs, StoredRun};

use crate::config::Config;
use crate::fail::{Failure, Result, escaped, quoted, reason};
use crate::kept;

pub(crate) use ps::{PsArgs, cut, ps};
pub(crate) use stop::{StopArgs, stop};
pub(crate) use tell::{Output, missing, write_record};
pub(crate) use wait::{WaitArgs, wait};

/// Where the runs of this user are: in the store of the user's configuration, or by the platform's
/// convention; `None` without a home.
pub(crate) fn place() -> Option<Runs> {
    Some(Runs::at(kept::store(&Config::of_user())?.runs_path()))
}

fn all() -> Result<Runs> {
    place().ok_or_else(|| {
        Failure::new("there is no place for runs: no home folder is known")
            .hint("set HOME, or XDG_STATE_HOME")
    })
}

/// That the folder of all runs is of no use.
fn unusable(runs: &Runs, error: &std::io::Error) -> Failure {
    let root = quoted(runs.root().as_os_str());
    Failure::new(format!("can not use the folder of runs {root}: {}", reason(error)))
        .hint("give it to yourself alone (chmod 700), or name another by XDG_STATE_HOME")
}

/// All that are known.
pub(crate) fn listed() -> Result<Vec<StoredRun>> {
    let runs = all()?;
    runs.list().map_err(|error| unusable(&runs, &error))
}

/// The run of this user whose id begins or ends so.
pub(crate) fn find(part: &str) -> Result<StoredRun> {
    find_in(&all()?, part)
}

/// The run among these whose id begins or ends so.
pub(crate) fn find_in(runs: &Runs, part: &str) -> Result<StoredRun> {
    let id = quoted(OsStr::new(part));
    runs.find(part).map_err(|error| match error {
        FindError::Several(one, other) => {
            Failure::new(format!("{id} is the beginning or end of several runs: {one}, {other}, …"))
                .hint("give more of the id")
        }
        FindError::Io(error) => unusable(runs, &error),
        _ if part == "last" => {
            Failure::new("there is no run yet").hint("\"noesc run -- COMMAND\" makes one")
        }
        _ => Failure::new(format!("there is no run {id}"))
            .hint("\"noesc runs\" lists those that are known"),
    })
}

/// The record of a run as it is by now.
pub(crate) fn record(run: &StoredRun) -> Result<Envelope> {
    run.awaited_record().map_err(|error| {
        let why = unread(error);
        Failure::new(format!("can not read the record of {}: {why}", run.id()))
            .hint("something else wrote in its folder, or removed it")
    })
}

/// Why there is no record, in a line that is inert.
pub(crate) fn unread(error: RecordError) -> String {
    match error {
        RecordError::Io(error) => reason(&error),
        RecordError::Malformed(why) => escaped(why),
        _ => "unknown".into(),
    }
}

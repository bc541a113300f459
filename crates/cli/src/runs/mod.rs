//! Runs that go on when the command that started them is over: `run --detach`, `ps`, `wait` and
//! `stop`.

pub(crate) mod detach;
mod ps;
mod stop;
mod wait;

use std::ffi::OsStr;

use etcetera::BaseStrategy;
use noesc_session::envelope::Envelope;
use noesc_session::{FindError, RecordError, Runs, StoredRun};

use crate::fail::{Failure, Result, escaped, quoted, reason};

pub(crate) use ps::{PsArgs, ps};
pub(crate) use stop::{StopArgs, stop};
pub(crate) use wait::{WaitArgs, wait};

/// Where the runs of this user are, by the platform's convention; `None` without a home.
pub(crate) fn place() -> Option<Runs> {
    let base = etcetera::choose_base_strategy().ok()?;
    // Some platforms have no place for state of their own.
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(Runs::at(state.join("noesc").join("runs")))
}

fn all() -> Result<Runs> {
    place().ok_or_else(|| {
        Failure::new("there is no place for runs: no home folder is known")
            .hint("set HOME, or XDG_STATE_HOME")
    })
}

/// The run whose id begins so.
fn find(beginning: &str) -> Result<StoredRun> {
    let id = quoted(OsStr::new(beginning));
    all()?.find(beginning).map_err(|error| match error {
        FindError::Several(one, other) => {
            Failure::new(format!("{id} is the beginning of several runs: {one}, {other}, …"))
                .hint("give more of the id")
        }
        FindError::Io(error) => Failure::new(format!("can not read the runs: {}", reason(&error)))
            .hint("check its mode"),
        _ => Failure::new(format!("there is no run {id}"))
            .hint("\"noesc ps --all\" lists those that are known"),
    })
}

/// The record of a run as it is by now.
fn record(run: &StoredRun) -> Result<Envelope> {
    run.record().map_err(|error| {
        let why = match error {
            RecordError::Io(error) => reason(&error),
            RecordError::Malformed(why) => escaped(why),
            _ => "unknown".into(),
        };
        Failure::new(format!("can not read the record of {}: {why}", run.id()))
            .hint("something else may have written there, or it has just begun")
    })
}

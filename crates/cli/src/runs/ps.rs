//! `noesc ps`: the runs that go on.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use noesc_session::envelope::{Envelope, Escaped, Recorded};
use noesc_session::{Keeper, StoredRun};
use serde::Serialize;

use crate::fail::Result;
use crate::input::write;

/// Characters of a command that a row of the table shows.
const COMMAND_SHOWN: usize = 120;

/// Lists the runs that go on: those in the background, and what other runs left behind.
///
/// A run is `running` while it is collected (`noesc run --detach`), and `outlived` while processes
/// that it left behind go on: their output is read and counted. PID is the process of noesc that
/// goes on with it, which "noesc stop" asks. The table is for people; its commands are cut at 120
/// characters.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc ps
  noesc ps --json | jq -r .run
  noesc ps --all                        those that have ended, too")]
pub(crate) struct PsArgs {
    /// List the runs that have ended, too
    #[arg(short, long)]
    all: bool,

    /// Write JSON, one object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn ps(args: &PsArgs) -> Result<ExitCode> {
    let stored = super::listed()?;
    let rows: Vec<Row> = stored
        .iter()
        .filter(|run| !run.is_attended())
        .map(|run| (run, run.keeper()))
        .filter(|(_, keeper)| args.all || keeper.is_some())
        .map(|(run, keeper)| Row::new(run, keeper))
        .collect();
    let text = if args.json { json(&rows) } else { table(&rows) };
    write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One run.
#[derive(Serialize)]
struct Row {
    run: String,
    state: &'static str,
    started: Option<String>,
    /// The process that collects it or listens, which ends it on SIGTERM.
    keeper_pid: Option<u32>,
    outcome: Option<String>,
    /// Bytes observed while it was collected; not known of one that was shown live.
    bytes: Option<u64>,
    /// Bytes that were printed by what outlived it.
    drained_bytes: u64,
    argv: Vec<Escaped>,
    executable: Option<Escaped>,
    survivors: Vec<Survivor>,
    /// Why there is no record, where there is none: nothing but the states is known then.
    unread: Option<String>,
}

#[derive(Serialize)]
struct Survivor {
    pid: u32,
    name: Escaped,
}

impl Row {
    fn new(run: &StoredRun, keeper: Option<Keeper>) -> Self {
        // One that was tampered with is no reason to tell nothing of the others.
        let (record, unread) = match run.record() {
            Ok(record) => (Some(record), None),
            Err(error) => (None, Some(super::unread(error))),
        };
        let of = |value: fn(&Envelope) -> String| record.as_ref().map(value);
        let bytes = |record: &Envelope| {
            let bytes = record.streams.values().map(|stream| stream.bytes.observed);
            bytes.reduce(u64::saturating_add)
        };
        let command = record.as_ref().map(|record| &record.command);
        let survivors = record.iter().flat_map(|record| &record.processes.survivors.listed);
        Self {
            run: run.id().to_string(),
            state: match keeper {
                Some(Keeper::Collector { .. }) => "running",
                Some(_) => "outlived",
                None => "ended",
            },
            started: of(|record| record.time.started.to_string()),
            keeper_pid: keeper.and_then(Keeper::pid),
            outcome: of(|record| record.outcome.kind.told(&record.limits, record.processes.ended)),
            bytes: record.as_ref().and_then(bytes),
            drained_bytes: run.drained_bytes(),
            argv: command.map(|command| command.argv.clone()).unwrap_or_default(),
            executable: command.and_then(|command| match command.recorded {
                Recorded::Digest => None,
                _ => command.executable.clone(),
            }),
            survivors: survivors
                .map(|one| Survivor { pid: one.pid, name: one.name.clone() })
                .collect(),
            unread,
        }
    }

    /// The command in a line, or why it is not known.
    fn command(&self) -> String {
        if let Some(why) = &self.unread {
            return format!("(no record: {})", cut(why));
        }
        let words: Vec<&str> = match (self.argv.is_empty(), &self.executable) {
            (true, Some(executable)) => vec![executable.as_str()],
            _ => self.argv.iter().map(Escaped::as_str).collect(),
        };
        cut(&words.join(" "))
    }
}

/// A text that a row has room for.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(COMMAND_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn json(rows: &[Row]) -> String {
    let lines = rows.iter().filter_map(|row| serde_json::to_string(row).ok());
    lines.map(|line| line + "\n").collect()
}

/// Columns for people; the id is whole, since it is what the other verbs take.
fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:36}  {:8}  {:20}  {:>7}  {:>11}  COMMAND\n",
        "RUN", "STATE", "STARTED", "PID", "BYTES"
    );
    for row in rows {
        // Parts of a second are of no use here.
        let started = row.started.as_deref().and_then(|time| time.split('.').next());
        let _ = writeln!(
            text,
            "{:36}  {:8}  {:20}  {:>7}  {:>11}  {}",
            row.run,
            row.state,
            started.map_or("-".into(), |time| format!("{time}Z")),
            row.keeper_pid.map_or("-".into(), |pid| pid.to_string()),
            row.bytes.unwrap_or(0).saturating_add(row.drained_bytes),
            row.command()
        );
    }
    text
}

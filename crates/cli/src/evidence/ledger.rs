//! `noesc ledger`: what the ledger holds, and whether it is in order.

use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, Subcommand, ValueHint};
use noesc_evidence::{
    Approvers, CHECKPOINT_BYTES_MAX, Checkpoint, LEDGER_WAIT, LedgerError, Verified, read,
    read_since,
};

use crate::config::Config;
use crate::fail::{Failure, Result, escaped};
use crate::input::{Wanted, create, unwritten, write};
use crate::kept::{OpenStore, placed};
use crate::say::say;

/// Exit status of a ledger that is not in order.
const NOT_IN_ORDER: u8 = 1;

/// Shows and verifies the ledger: what happened, one signed record an event.
///
/// `verify` exits with 1 when the ledger is not in order. A checkpoint that left the machine proves
/// that nothing before it was changed since.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc ledger verify
  noesc ledger checkpoint --to - | ssh other 'cat >noesc.checkpoint'
  noesc ledger verify --since noesc.checkpoint
  noesc ledger show --json | jq 'select(.kind == \"decision\")'")]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    verb: LedgerVerb,

    /// The folder of the store
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum LedgerVerb {
    /// Verify every record: its form, its place, the one before it, its signature
    Verify {
        /// And that its beginning is what it was at this checkpoint
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        since: Option<PathBuf>,
    },
    /// Sign what the ledger holds, for keeping elsewhere
    Checkpoint {
        /// Write it to FILE; - is stdout
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        to: PathBuf,
    },
    /// Print the records, one a line
    Show {
        /// Print them as JSON, one object a line
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn ledger(args: &LedgerArgs) -> Result<ExitCode> {
    let config = Config::load_own(None)?;
    let store = OpenStore::existing(placed(args.store.as_deref(), &config)?)?;
    match &args.verb {
        LedgerVerb::Verify { since } => verify(&store, since.as_deref()),
        LedgerVerb::Checkpoint { to } => checkpoint(&store, to),
        LedgerVerb::Show { json } => show(&store, *json),
    }
}

fn verify(store: &OpenStore, since: Option<&Path>) -> Result<ExitCode> {
    let key = store.key.verifier();
    let path = store.place.ledger_path();
    let mut approvers = Approvers::default();
    let verified = match since {
        None => read(&path, key, LEDGER_WAIT, |record, _| approvers.take(record)),
        Some(file) => {
            let since = Checkpoint::parse(&checkpoint_bytes(file)?, key)?;
            let verified =
                read_since(&path, key, &since, LEDGER_WAIT, |record, _| approvers.take(record));
            if verified.is_ok() {
                say(&format!("the first {} records are what they were", since.size()));
            }
            verified
        }
    };
    let verified = verified.map_err(out_of_order)?;
    tell(&verified, &approvers);
    write(format!("{} records in order, root {}\n", verified.records, verified.root).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn tell(verified: &Verified, approvers: &Approvers) {
    if let Some(first) = verified.first_backwards {
        let count = verified.backwards;
        say(&format!("warning: a clock was set back, {count} times, first at record {first}"));
    }
    for index in approvers.refused() {
        say(&format!("warning: record {index} names an approver without the one before"));
    }
    if let Some(bound) = approvers.bound() {
        say(&format!("approver {}", bound.approver));
    }
}

fn out_of_order(error: LedgerError) -> Failure {
    let is_found = matches!(
        error,
        LedgerError::Damaged { .. } | LedgerError::Short { .. } | LedgerError::Changed { .. }
    );
    let failure = Failure::from(error);
    if is_found { failure.code(NOT_IN_ORDER) } else { failure }
}

/// A checkpoint's bytes, and one more than it may have. It may come through a pipe, as from another
/// machine.
pub(crate) fn checkpoint_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(CHECKPOINT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        Failure::io("can not read the checkpoint", path.as_os_str(), &error)
            .hint("name a checkpoint that \"noesc ledger checkpoint --to FILE\" made")
    })?;
    Ok(bytes)
}

fn checkpoint(store: &OpenStore, to: &Path) -> Result<ExitCode> {
    let file = if to == Path::new("-") { None } else { Some(create("--to", to, &[])?) };
    let checkpoint = store.write()?.checkpoint(SystemTime::now()).map_err(out_of_order)?;
    let note = checkpoint.to_string();
    match file {
        None => write(note.as_bytes()).map(drop)?,
        Some(mut file) => {
            let written = file.write_all(note.as_bytes()).and_then(|()| file.sync_all());
            written.map_err(|error| unwritten(to.as_os_str(), &error))?;
            say("keep it where nobody of this machine can change it");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(store: &OpenStore, is_json: bool) -> Result<ExitCode> {
    let mut result = Ok(Wanted::Yes);
    let verified =
        read(&store.place.ledger_path(), store.key.verifier(), LEDGER_WAIT, |record, _| {
            if !matches!(result, Ok(Wanted::Yes)) {
                return;
            }
            // A record is printable ASCII, and its event JSON, which stays as it is written.
            let (index, time, kind, event) = (record.index, record.time, record.kind, record.event);
            let line = match is_json {
                true => {
                    format!(
                        r#"{{"index":{index},"time":"{time}","kind":"{kind}","event":{event}}}"#
                    )
                }
                false => format!("{index:>6}  {time}  {kind:<10}  {event}"),
            };
            result = write(format!("{}\n", escaped_line(&line)).as_bytes());
        });
    result?;
    verified.map_err(out_of_order)?;
    Ok(ExitCode::SUCCESS)
}

/// A line of a record, which is printable by its form; what is not, is escaped all the same.
fn escaped_line(line: &str) -> String {
    if line.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) {
        line.to_owned()
    } else {
        escaped(line)
    }
}

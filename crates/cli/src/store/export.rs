//! `noesc store export`: runs in one file, for another account or machine.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use noesc_evidence::{ExportError, export as write_export};
use noesc_session::Runs;

use super::hold::{find, unknown};
use super::opened;
use crate::config::Config;
use crate::fail::{Failure, Result, escaped, quoted, reason};
use crate::input::write;
use crate::say::say;

/// Writes runs to one file that can be verified elsewhere: sealed raw bytes, their records, and a
/// checkpoint of the ledger with proofs.
///
/// What is sealed stays sealed. `noesc open FILE` opens it where the identity is. Compare the key
/// that it names with the one that is printed here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc store export 0198c1a2 --to evidence.noesc")]
pub(super) struct ExportArgs {
    /// Ids of runs, or how one begins or ends
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,

    /// The file, which is made and must not be there; nobody else can read it
    #[arg(long, required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    to: PathBuf,
}

pub(super) fn export(args: &ExportArgs, config: &Config) -> Result<ExitCode> {
    let Some(opened) = opened(config)? else { return Err(unknown(&args.runs[0])) };
    let runs = Runs::at(opened.place.runs_path());
    let mut found = args.runs.iter().map(|part| find(&runs, part)).collect::<Result<Vec<_>>>()?;
    found.sort();
    found.dedup();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let exported = write_export(&opened.place, &opened.key, &found, &args.to);
    let checkpoint = exported.map_err(|error| failure(args, error))?;
    let key = opened.key.verifier();
    let text = format!("records {}\nroot {}\nkey {key}\n", checkpoint.size(), checkpoint.root());
    write(text.as_bytes())?;
    say("hint: write the key down: whoever opens the file compares it with what it names");
    Ok(ExitCode::SUCCESS)
}

fn failure(args: &ExportArgs, error: ExportError) -> Failure {
    let to = quoted(args.to.as_os_str());
    match error {
        ExportError::Io(error) => {
            Failure::new(format!("can not export to {to}: {}", reason(&error)))
                .hint("name a new file in a folder that you can write to")
        }
        error => Failure::new(format!("can not export: {}", escaped(error)))
            .hint("\"noesc store doctor\" says what is wrong"),
    }
}

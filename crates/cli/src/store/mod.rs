//! `noesc store`: what keeps the evidence of runs in order.

mod disk;
mod doctor;
mod export;
mod hold;
mod progress;
mod prune;
mod stats;
mod sweep;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, Subcommand, ValueHint};
use noesc_evidence::{Chronicle, CollectorKey, LedgerError};

use crate::config::Config;
use crate::fail::{Failure, Result, escaped};
use crate::kept::{self, OpenStore, unusable};

pub(crate) use prune::daily;

/// Keeps the store of evidence in order: what is old is deleted, what is wrong is found.
///
/// What is kept of runs is in one folder of yours: sealed raw bytes, transcripts, and the ledger
/// that tells of both. Raw bytes are kept 14 days and transcripts 90, unless the configuration says
/// otherwise; the ledger is kept.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  noesc store doctor                    is all of it there, whole, and nobody else's?
  noesc store stats
  noesc store prune --dry-run           what would be deleted, and why not the rest
  noesc store hold 0198c1a2 --reason 'incident 12'
  noesc store export 0198c1a2 --to evidence.noesc")]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    verb: StoreVerb,

    #[command(flatten)]
    flags: StoreFlags,
}

/// What every verb of a store takes.
#[derive(Debug, Args)]
pub(super) struct StoreFlags {
    /// The folder of the store
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    store: Option<String>,

    /// Read no configuration file: flags and defaults alone
    #[arg(long, global = true)]
    no_config: bool,

    /// Read FILE instead of the user's configuration file
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_config")]
    #[arg(value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum StoreVerb {
    Doctor(doctor::DoctorArgs),
    Prune(prune::PruneArgs),
    Hold(hold::HoldArgs),
    Stats(stats::StatsArgs),
    Export(export::ExportArgs),
}

pub(crate) fn store(args: &StoreArgs) -> Result<ExitCode> {
    let mut config = Config::load(args.flags.no_config, args.flags.config.as_deref())?;
    config.flag("store", args.flags.store.as_deref());
    match &args.verb {
        StoreVerb::Doctor(args) => doctor::doctor(args, &config),
        StoreVerb::Prune(args) => prune::prune(args, &mut config),
        StoreVerb::Hold(args) => hold::hold(args, &config),
        StoreVerb::Stats(args) => stats::stats(args, &config),
        StoreVerb::Export(args) => export::export(args, &config),
    }
}

/// The store that the configuration names; `None` where nothing was ever kept.
fn opened(config: &Config) -> Result<Option<OpenStore>> {
    let store = kept::placed(None, config)?;
    match std::fs::symlink_metadata(store.root()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(&store, &error)),
        Ok(_) => store.prepare().map_err(|error| unusable(&store, &error))?,
    }
    match std::fs::symlink_metadata(store.ledger_path()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(&store, &error)),
        Ok(_) => {}
    }
    let key = CollectorKey::load(&store.key_path()).map_err(|error| {
        Failure::new(format!("the ledger can not be read: {}", escaped(error)))
            .hint("\"noesc store doctor\" says what is wrong")
    })?;
    Ok(Some(OpenStore { place: store, key }))
}

fn unread(error: LedgerError) -> Failure {
    Failure::new(escaped(error)).hint("\"noesc store doctor\" says what is wrong")
}

/// What the ledger says. A torn tail is cut first, as any writer does.
fn read_chronicle(
    OpenStore { place: store, key }: &OpenStore,
    now: SystemTime,
) -> Result<Chronicle> {
    let read = || Chronicle::read(store, key.verifier(), now);
    if let (chronicle, Ok(_)) = read() {
        return Ok(chronicle);
    }
    drop(store.ledger(key).map_err(unread)?);
    let (chronicle, verified) = read();
    verified.map(|_| chronicle).map_err(unread)
}

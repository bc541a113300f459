//! `noesc store prune`, and what a run does of it once a day.

use std::fmt::Write;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use noesc_evidence::{
    CLOCK_SLACK, Chronicle, CollectorKey, LEDGER_WAIT, Policy, Store, Usage, begun, open_plain,
};
use noesc_session::Runs;
use serde_json::json;

use super::progress::progress;
use super::sweep::{Sweep, SweepError, Swept};
use super::{disk, opened, read_chronicle, unread};
use crate::config::Config;
use crate::fail::{Failure, Result, escaped, reason};
use crate::figures::{count, size};
use crate::input::write;
use crate::kept::{self, OpenStore, unusable};
use crate::say::say;

/// What is deleted at the end of a run at most.
const DAILY_MAX: usize = 200;

/// Bytes of a ledger that is read at the end of a run: some ten thousand records.
const DAILY_LEDGER_BYTES_MAX: u64 = 16 * 1024 * 1024;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How often it is looked whether another one is done.
const LOOK: Duration = Duration::from_millis(20);

/// The file that a prune holds, and that says when the last one was.
const STAMP: &str = "pruned";

/// Deletes what was kept for long enough: raw bytes after `raw_keep` (14d), transcripts and
/// records after `transcript_keep` (90d).
///
/// Of each there is a tombstone in the ledger before it is deleted. What is held, what goes on, and
/// what is from the future by this clock stays. A run does the same at its end, once a day.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noesc store prune --dry-run
  noesc store prune --raw-keep 3d       this time, raw bytes of more than 3 days, too")]
pub(super) struct PruneArgs {
    /// Say what would be deleted, and delete nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// The clock is right, though the ledger makes it doubtful
    #[arg(long)]
    now: bool,

    /// How long raw bytes are kept: 14d, 12h, 0s, none (for ever)
    #[arg(long, value_name = "TIME")]
    raw_keep: Option<String>,

    /// How long transcripts and records are kept
    #[arg(long, value_name = "TIME")]
    transcript_keep: Option<String>,

    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn prune(args: &PruneArgs, config: &mut Config) -> Result<ExitCode> {
    config.flag("raw_keep", args.raw_keep.as_deref());
    config.flag("transcript_keep", args.transcript_keep.as_deref());
    let (policy, now) = (kept::policy(config)?, SystemTime::now());
    let (mut swept, mut counted) = (Swept::default(), None);
    if let Some(opened) = opened(config)? {
        let _lock = lock(&opened.place, args.dry_run)?;
        if !args.dry_run {
            recover(&opened.place);
        }
        let chronicle = read_chronicle(&opened, now)?;
        if let Some(why) = chronicle.clock_doubt(now).filter(|_| !args.now && !args.dry_run) {
            return Err(Failure::new(format!("the clock may be wrong: {why}"))
                .hint("if it is right, say so: \"noesc store prune --now\""));
        }
        counted = recount(&opened, &chronicle, args.dry_run)?;
        swept = sweep(&opened, &chronicle, policy, now, args.dry_run)?;
    }
    match args.json {
        true => write_json(&swept, counted, args.dry_run)?,
        false => tell(&swept, counted, args.dry_run)?,
    }
    for failed in &swept.failed {
        say(&format!("can not delete what is kept of {}", escaped(failed)));
    }
    match swept.failed.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => Err(Failure::new(format!("{count} of the runs can not be swept"))
            .hint("\"noesc store doctor\" says what is wrong")),
    }
}

/// Runs that a killed collector left are made whole, so that the ledger knows them.
fn recover(store: &Store) {
    if let Err(error) = noesc_session::recover(store) {
        let error = crate::fail::escaped(error);
        say(&format!("warning: a run that was cut short is left as it is: {error}"));
    }
}

fn sweep(
    opened: &OpenStore,
    chronicle: &Chronicle,
    policy: Policy,
    now: SystemTime,
    is_dry: bool,
) -> Result<Swept> {
    let OpenStore { place: store, key } = opened;
    let progress = progress(chronicle.runs.len(), "runs");
    let sweep = Sweep { store, key, chronicle, policy, now, is_dry, max: usize::MAX };
    let swept = sweep.run(|| progress.inc(1));
    progress.finish_and_clear();
    swept.map_err(failure)
}

pub(super) fn failure(error: SweepError) -> Failure {
    match error {
        SweepError::Ledger(error) => unread(error),
        SweepError::Io(error) => Failure::new(format!("can not delete: {}", reason(&error)))
            .hint("\"noesc store doctor\" says what is wrong"),
    }
}

/// What the ledger says that everything takes is put right by what it takes. Gives both, where they
/// differed.
pub(super) fn recount(
    opened: &OpenStore,
    chronicle: &Chronicle,
    is_dry: bool,
) -> Result<Option<(Usage, Usage)>> {
    let OpenStore { place: store, key } = opened;
    let found = disk::usage(store, chronicle).map_err(|error| unusable(store, &error))?;
    let told = chronicle.usage;
    if found == told {
        return Ok(None);
    }
    if !is_dry {
        store.record_counted(key, told, found).map_err(unread)?;
    }
    Ok(Some((told, found)))
}

/// Nobody else prunes or holds meanwhile; waits for them for a while.
pub(super) fn lock(store: &Store, is_dry: bool) -> Result<Option<File>> {
    if is_dry {
        return Ok(None);
    }
    let file = stamp(store).map_err(|error| unusable(store, &error))?;
    let until = Instant::now() + LEDGER_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(unusable(store, &error)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new("the store is being pruned by another process")
                    .hint("try again when it is done"));
            }
        }
    }
}

fn stamp(store: &Store) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    open_plain(&store.root().join(STAMP), &mut options)
}

/// The prune at the end of a run, once a day. It never waits, deletes little at once, and leaves
/// everything as it is where the clock is in doubt: the next day comes.
pub(crate) fn daily(store: &Store, policy: Policy) {
    // The result of the run reaches the caller all the same.
    let _ = try_daily(store, policy);
}

fn try_daily(store: &Store, policy: Policy) -> Option<()> {
    let now = SystemTime::now();
    let path = store.root().join(STAMP);
    if let Ok(seen) = std::fs::symlink_metadata(&path) {
        // One from the future is of a clock that was wrong.
        let age = now.duration_since(seen.modified().ok()?);
        if age.is_ok_and(|age| age < DAY) {
            return None;
        }
    } else {
        // Nothing is old in a new store.
        stamp(store).ok()?;
        return None;
    }
    let file = stamp(store).ok()?;
    file.try_lock().ok()?;
    file.set_modified(now).ok()?;
    let oldest =
        Runs::at(store.runs_path()).list().ok()?.first().map(|run| begun(run.id().as_str()));
    let is_old = |oldest: SystemTime| {
        let age = now.duration_since(oldest).ok();
        policy.shortest().zip(age).is_some_and(|(keep, age)| age >= keep)
    };
    let ledger = std::fs::symlink_metadata(store.ledger_path()).ok()?;
    if !oldest.is_some_and(is_old) || ledger.len() > DAILY_LEDGER_BYTES_MAX {
        return None;
    }
    let key = CollectorKey::load(&store.key_path()).ok()?;
    let (chronicle, verified) = Chronicle::read(store, key.verifier(), now);
    verified.ok()?;
    if chronicle.clock_doubt(now).is_some() {
        return None;
    }
    let (key, chronicle) = (&key, &chronicle);
    let sweep = Sweep { store, key, chronicle, policy, now, is_dry: false, max: DAILY_MAX };
    let swept = sweep.run(|| ()).ok()?;
    if swept.has_more {
        // The next run goes on with it.
        file.set_modified(now.checked_sub(DAY + CLOCK_SLACK)?).ok()?;
    }
    Some(())
}

fn write_json(swept: &Swept, counted: Option<(Usage, Usage)>, is_dry: bool) -> Result<()> {
    let mut value = serde_json::to_value(swept).unwrap_or_default();
    value["dry_run"] = is_dry.into();
    value["counted"] = match counted {
        Some((before, store)) => json!({"before": before, "store": store}),
        None => serde_json::Value::Null,
    };
    write(format!("{value}\n").as_bytes()).map(drop)
}

fn tell(swept: &Swept, counted: Option<(Usage, Usage)>, is_dry: bool) -> Result<()> {
    let mut text = String::new();
    let would = if is_dry { "would delete" } else { "deleted" };
    for deleted in &swept.deleted {
        let what = deleted.what.as_str();
        let bytes = match deleted.was_missing {
            true => "it was gone before".to_owned(),
            false => size(deleted.bytes),
        };
        let _ = writeln!(text, "{would} the {what} of {} ({bytes})", deleted.run);
    }
    if let Some((before, store)) = counted {
        let (before, store) = (size(before.bytes), size(store.bytes));
        let _ = writeln!(text, "the ledger said that {before} are kept; it is {store}");
    }
    let deleted = count(swept.deleted.len() as u64, "thing");
    let _ = write!(text, "{would} {deleted} ({})", size(swept.bytes));
    let kept = [
        (&swept.held, "held"),
        (&swept.running, "running"),
        (&swept.unfinished, "not whole"),
        (&swept.future, "from the future"),
    ];
    let kept = kept.iter().filter(|(runs, _)| !runs.is_empty());
    let kept: Vec<String> = kept.map(|(runs, why)| format!("{} {why}", runs.len())).collect();
    if !kept.is_empty() {
        let _ = write!(text, "; left runs as they are: {}", kept.join(", "));
    }
    text.push('\n');
    write(text.as_bytes())?;
    if !swept.future.is_empty() {
        say("hint: a run from the future is deleted when the clock has passed it: is it right?");
    }
    Ok(())
}

//! The ledger: its key, its chain, its moments, and what killed collectors have left.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use noesc_evidence::{
    CLOCK_SLACK, Checkpoint, Chronicle, CollectorKey, Fault, KeyError, LEDGER_WAIT, LedgerError,
    RESERVE_BYTES, RecipientsState, Store, Verified, recipients_state, verify_since,
};

use super::Looked;
use crate::config::Config;
use crate::evidence::checkpoint_bytes;
use crate::fail::{Result, escaped};

const DAMAGED: &str = "what stands before it can be believed. Keep a copy of the file, and compare \
                       it with a checkpoint that left the machine: noesc ledger verify --since";

/// The key; `None` where it is of no use, or where there is nothing to be signed yet.
pub(super) fn key(store: &Store, looked: &mut Looked) -> Option<CollectorKey> {
    let has_ledger = fs::symlink_metadata(store.ledger_path()).is_ok();
    let error = match CollectorKey::load(&store.key_path()) {
        Ok(key) if has_ledger => return Some(key),
        Ok(_) => {
            if has_runs(store) {
                let hint = "it was removed: what was kept can not be believed any more";
                looked.fault("ledger-missing", "there are runs and no ledger", hint);
            }
            return None;
        }
        Err(error) => error,
    };
    match &error {
        KeyError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            if has_ledger {
                let hint = "without it nothing is recorded: bring it back from a copy, or move the \
                            store away, and the next run begins a new one";
                looked.fault("key-missing", "the key of the ledger is gone", hint);
            } else if has_runs(store) {
                let hint = "it was removed: what was kept can not be believed any more";
                looked.fault("ledger-missing", "there are runs and no ledger", hint);
            }
        }
        KeyError::Mode { .. } => {
            let hint = "others could sign records: chmod 600, and think of who could read it";
            looked.fault("key-mode", escaped(&error), hint);
        }
        _ => looked.fault("key", escaped(&error), "bring it back from a copy"),
    }
    None
}

fn has_runs(store: &Store) -> bool {
    fs::read_dir(store.runs_path()).is_ok_and(|mut runs| runs.next().is_some())
}

/// What the ledger says, as far as it can be believed.
pub(super) fn look(
    store: &Store,
    key: &CollectorKey,
    now: SystemTime,
    may_write: bool,
    looked: &mut Looked,
) -> Option<Chronicle> {
    let read = || Chronicle::read(store, key.verifier(), now);
    let has_reserve = reserve(store);
    let (mut chronicle, mut verified) = read();
    if verified.is_err() && may_write && store.ledger(key).is_ok() {
        let before = chronicle.records;
        (chronicle, verified) = read();
        if verified.is_ok() && chronicle.records > before {
            looked.note("torn-tail", "the end of the ledger was torn: it was cut, and says so");
        }
    }
    looked.records = chronicle.records;
    match verified {
        Ok(verified) => clock(&chronicle, &verified, now, looked),
        Err(error) => {
            damaged(&error, looked);
            return None;
        }
    }
    if !has_reserve && chronicle.records > 0 {
        let hint = "a full disk could not be told of: free some room, and the next run makes it";
        looked.fault("reserve", "the reserve of the ledger is missing", hint);
    }
    recipients(&chronicle, looked);
    if !may_write {
        return Some(chronicle);
    }
    match recover(store, looked) {
        // What was made whole stands in the ledger now.
        true => Some(read().0),
        false => Some(chronicle),
    }
}

/// What the ledger says by now.
pub(super) fn again(store: &Store, key: Option<&CollectorKey>) -> Option<Chronicle> {
    let (chronicle, verified) = Chronicle::read(store, key?.verifier(), SystemTime::now());
    verified.ok().map(|_| chronicle)
}

/// What to do about recipients that are others.
const CONFIRM: &str = "if it was you, \"noesc init --confirm\" says so; otherwise see who changed \
                       the configuration";

/// Whether runs were sealed to whom it was confirmed for.
fn recipients(chronicle: &Chronicle, looked: &mut Looked) {
    if chronicle.recipients_changed {
        looked.fault("recipients", "runs are sealed to others than were confirmed", CONFIRM);
    }
}

/// Whether the next ones will be.
pub(super) fn configured(
    config: &Config,
    store: &Store,
    key: &CollectorKey,
    looked: &mut Looked,
) -> Result<()> {
    let named = crate::evidence::configured(config)?;
    let path = store.ledger_path();
    let state = recipients_state(&path, key.verifier(), named.as_ref(), LEDGER_WAIT);
    if let Ok(RecipientsState::Changed { from, to, .. }) = state {
        let names = |all: &[String]| match all {
            [] => "nobody".to_owned(),
            all => escaped(all.join(", ")),
        };
        let (from, to) = (names(&from), names(&to));
        let message = format!("the configuration seals runs to {to}, not to {from} as confirmed");
        looked.fault("recipients-configured", message, CONFIRM);
    }
    Ok(())
}

fn reserve(store: &Store) -> bool {
    let seen = fs::symlink_metadata(store.root().join("ledger.reserve"));
    seen.is_ok_and(|seen| seen.is_file() && seen.len() >= RESERVE_BYTES as u64)
}

fn damaged(error: &LedgerError, looked: &mut Looked) {
    let message = escaped(error);
    match error {
        LedgerError::Damaged { index: Some(0), fault: Fault::Signature, .. } => {
            let hint = "the ledger was signed with another key: bring that back, or move the store \
                        away";
            looked.fault("key-of-another", "collector.key is not the key of the ledger", hint);
        }
        LedgerError::Damaged { fault: Fault::Incomplete, .. } => {
            let hint = "the next run cuts it; if the store is read-only, make it writable";
            looked.fault("torn-tail", message, hint);
        }
        LedgerError::Damaged { .. } => looked.fault("ledger-damaged", message, DAMAGED),
        LedgerError::Busy { .. } => looked.fault("ledger-busy", message, "try again"),
        _ => looked.fault("ledger-unreadable", message, "see who can read it: chmod 600"),
    }
}

fn clock(chronicle: &Chronicle, verified: &Verified, now: SystemTime, looked: &mut Looked) {
    if let Some(first) = verified.first_backwards {
        let n = verified.backwards;
        let message = format!("the clock was set back {n} times, first at record {first}");
        looked.note("clock-back", message);
    }
    if chronicle.last.is_some_and(|last| last > now + CLOCK_SLACK) {
        let hint = "set the clock; if it is right now, it was wrong then, and records are dated so";
        let message = "the last record is in the future: the clock is behind, or was ahead";
        looked.fault("clock", message, hint);
    }
}

/// Makes whole what killed collectors have left. Whether the ledger may say something new.
fn recover(store: &Store, looked: &mut Looked) -> bool {
    match noesc_session::recover(store) {
        Ok(recovered) => {
            for one in &recovered {
                let what = match (one.artifact.is_some(), one.is_complete) {
                    (true, true) => "all of it is there",
                    (true, false) => "what came after its last segment is missing",
                    (false, _) => "nothing was sealed of it",
                };
                let message = format!("{} was cut short: {what}", one.run);
                looked.note("recovered", message);
            }
            !recovered.is_empty()
        }
        Err(error) => {
            let hint = "what is there stays as it is; the other runs are not touched";
            let why = escaped(error);
            let message = format!("a run that was cut short can not be made whole: {why}");
            looked.fault("unfinished", message, hint);
            true
        }
    }
}

/// Compares the ledger with what it was.
pub(super) fn since(
    store: &Store,
    key: &CollectorKey,
    path: &Path,
    looked: &mut Looked,
) -> Result<()> {
    let note = checkpoint_bytes(path)?;
    let checkpoint = match Checkpoint::parse(&note, key.verifier()) {
        Ok(checkpoint) => checkpoint,
        Err(error) => {
            let hint = "it is of another ledger, or the key of this one was replaced";
            looked.fault("checkpoint", escaped(error), hint);
            return Ok(());
        }
    };
    let since = verify_since(&store.ledger_path(), key.verifier(), &checkpoint, LEDGER_WAIT);
    // Any other fault is told already.
    if let Err(error @ (LedgerError::Short { .. } | LedgerError::Changed { .. })) = since {
        let hint = "records were cut off or written anew since the checkpoint was made";
        looked.fault("changed-since", escaped(error), hint);
    }
    Ok(())
}

//! Artifacts: those that the ledger names are there and whole, and there are no others.

use std::collections::BTreeSet;

use noesc_evidence::{
    ArtifactError, ArtifactId, Artifacts, Chronicle, CollectorKey, Store, Told, Usage, What,
};
use noesc_session::Runs;

use super::{Looked, ledger};
use crate::fail::{escaped, reason};
use crate::figures::size;
use crate::store::disk::{self, OnDisk};
use crate::store::progress::progress;
use crate::store::prune;

/// Looks at the artifacts of all runs. While it does, runs end and others are pruned: what seems
/// wrong is looked at once more, by what the ledger says then.
pub(super) fn look(
    store: &Store,
    chronicle: &Chronicle,
    again: impl Fn() -> Option<Chronicle>,
    is_fast: bool,
    looked: &mut Looked,
) {
    let runs = Runs::at(store.runs_path()).list().unwrap_or_default();
    let on_disk = runs.iter().map(|run| run.id().as_str());
    let ids: BTreeSet<&str> = chronicle.runs.keys().map(String::as_str).chain(on_disk).collect();
    let goes_on: BTreeSet<&str> = runs
        .iter()
        .filter(|run| run.keeper().is_some() || run.is_attended())
        .map(|run| run.id().as_str())
        .collect();
    let progress = progress(ids.len(), "runs");
    let mut doubtful = Vec::new();
    for id in ids {
        progress.inc(1);
        let is_whole = of_run(store, chronicle, id, is_fast, &mut Looked::default());
        if !is_whole && (!goes_on.contains(id) || chronicle.runs.contains_key(id)) {
            doubtful.push(id);
        }
    }
    progress.finish_and_clear();
    let named = |told: &&Told| told.artifact.is_some() && !told.is_artifact_deleted;
    looked.artifacts = chronicle.runs.values().filter(named).count() as u64;
    if doubtful.is_empty() {
        return;
    }
    let again = again();
    let chronicle = again.as_ref().unwrap_or(chronicle);
    for id in doubtful {
        of_run(store, chronicle, id, is_fast, looked);
    }
}

/// Whether nothing is wrong with a run.
fn of_run(
    store: &Store,
    chronicle: &Chronicle,
    run: &str,
    is_fast: bool,
    looked: &mut Looked,
) -> bool {
    let told = chronicle.runs.get(run);
    match OnDisk::read(store, run) {
        Ok(disk) => {
            if let Some(told) = told {
                of_told(store, (run, told), &disk, is_fast, looked);
            }
            stranger(run, told, &disk, looked);
        }
        Err(error) => {
            let message = format!("can not read the folder of {run}: {}", reason(&error));
            looked.fault("unreadable", message, "give it back to yourself: chmod 700");
        }
    }
    looked.faults == 0
}

fn of_told(
    store: &Store,
    (run, told): (&str, &Told),
    disk: &OnDisk,
    is_fast: bool,
    looked: &mut Looked,
) {
    let is_left = |what| told.is_deleted(what) && disk.bytes(what, Some(told)).is_some();
    if is_left(What::Artifact) || is_left(What::Transcript) {
        let message = format!("{run} has a tombstone, and is still there");
        looked.fault("prune-cut-short", message, "\"noesc store prune\" finishes it");
    }
    transcripts((run, told), disk, looked);
    let Some(id) = told.artifact.filter(|_| !told.is_artifact_deleted) else { return };
    match disk.artifact(Some(told)) {
        None => {
            let hint = "something else has deleted it; prune writes a tombstone when it is due";
            looked.fault("artifact-missing", format!("the artifact of {run} is missing"), hint);
        }
        Some(bytes) if is_fast => {
            if bytes != told.artifact_bytes {
                let message = format!(
                    "the artifact of {run} has {bytes} bytes, and had {}",
                    told.artifact_bytes
                );
                looked.fault("artifact-damaged", message, DAMAGED);
            }
        }
        Some(_) => {
            if let Err(error) = verify(store, run, id) {
                let message = format!("the artifact of {run}: {}", escaped(error));
                looked.fault("artifact-damaged", message, DAMAGED);
            }
        }
    }
}

/// Whether the transcripts have the length that they had. What they say is not known here.
fn transcripts((run, told): (&str, &Told), disk: &OnDisk, looked: &mut Looked) {
    let found: u64 = disk.transcripts.iter().map(|(_, bytes)| bytes).sum();
    if told.is_transcript_deleted || found == told.transcript_bytes {
        return;
    }
    let message =
        format!("the transcripts of {run} have {found} bytes, and had {}", told.transcript_bytes);
    let hint = "something else wrote there or removed them: the sealed original, where there is \
                one, says what was printed";
    looked.fault("transcript-changed", message, hint);
}

const DAMAGED: &str = "it was changed or cut since it was written: what is before the damage can \
                       still be opened; see whether the disk is in order";

fn verify(store: &Store, run: &str, id: ArtifactId) -> Result<(), ArtifactError> {
    store.open(run, id)?.verify(id)
}

/// An artifact that no record names: the end of the ledger was cut, or somebody put it there.
fn stranger(run: &str, told: Option<&Told>, disk: &OnDisk, looked: &mut Looked) {
    let named = told.and_then(|told| told.artifact);
    let is_strange = |(sealed, _): &(ArtifactId, u64)| Some(*sealed) != named;
    // One that was cut short and is not whole yet is told of elsewhere.
    if !disk.is_locked && (disk.has_part || disk.sealed.iter().any(is_strange)) {
        let hint = "the end of the ledger was cut off, or something else put it there: compare \
                    with a checkpoint (--since). It is never pruned";
        let message = format!("{run} has an artifact that no record names");
        looked.fault("artifact-unnamed", message, hint);
    }
}

/// Puts right what the ledger says that everything takes, while nobody prunes. Gives what it takes
/// where that was to be put right.
pub(super) fn recount(store: &Store, key: &CollectorKey, looked: &mut Looked) -> Option<Usage> {
    let _lock = prune::lock(store, false).ok()?;
    let chronicle = ledger::again(store, Some(key))?;
    let found = disk::usage(store, &chronicle).ok()?;
    if found == chronicle.usage {
        return None;
    }
    store.record_counted(key, chronicle.usage, found).ok()?;
    let (before, now) = (size(chronicle.usage.bytes), size(found.bytes));
    looked.note("counted", format!("the ledger said that {before} are kept; it is {now}"));
    Some(found)
}

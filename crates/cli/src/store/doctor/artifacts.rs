//! Artifacts: those that the ledger names are there and whole, and there are no others.

use std::io::ErrorKind;

use noesc_session::Runs;
use noesc_session::evidence::{
    ArtifactError, ArtifactId, Artifacts, Chronicle, CollectorKey, Store, Told, What,
};

use super::Looked;
use crate::fail::{escaped, reason};
use crate::store::disk::{self, OnDisk};
use crate::store::progress::progress;
use crate::store::prune;
use crate::store::text::size;

pub(super) fn look(store: &Store, chronicle: &Chronicle, is_fast: bool, looked: &mut Looked) {
    let progress = progress(chronicle.runs.len(), "runs");
    for (run, told) in &chronicle.runs {
        progress.inc(1);
        match OnDisk::read(store, run) {
            Ok(disk) => of_run(store, (run, told), &disk, is_fast, looked),
            Err(error) => {
                let message = format!("can not read the folder of {run}: {}", reason(&error));
                looked.fault("unreadable", message, "give it back to yourself: chmod 700");
            }
        }
    }
    progress.finish_and_clear();
    strangers(store, chronicle, looked);
}

fn of_run(
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
    let Some(id) = told.artifact.filter(|_| !told.is_artifact_deleted) else { return };
    looked.artifacts += 1;
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

const DAMAGED: &str = "it was changed or cut since it was written: what is before the damage can \
                       still be opened; see whether the disk is in order";

fn verify(store: &Store, run: &str, id: ArtifactId) -> Result<(), ArtifactError> {
    store.open(run, id)?.verify(id)
}

/// Artifacts that no record names: the end of the ledger was cut, or somebody put them there.
fn strangers(store: &Store, chronicle: &Chronicle, looked: &mut Looked) {
    let runs = match Runs::at(store.runs_path()).list() {
        Ok(runs) => runs,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            let message = format!("can not list the runs: {}", reason(&error));
            looked.fault("unreadable", message, "give them back to yourself: chmod 700");
            return;
        }
    };
    for run in runs {
        if run.keeper().is_some() || run.is_attended() {
            continue;
        }
        let id = run.id().as_str();
        let Ok(disk) = OnDisk::read(store, id) else { continue };
        // One that was cut short and is not whole yet is told of elsewhere.
        if disk.is_locked {
            continue;
        }
        let named = chronicle.runs.get(id).and_then(|told| told.artifact);
        let is_strange = |(sealed, _): &(ArtifactId, u64)| Some(*sealed) != named;
        if disk.has_part || disk.sealed.iter().any(is_strange) {
            let hint = "the end of the ledger was cut off, or something else put it there: compare \
                        with a checkpoint (--since). It is never pruned";
            let message = format!("{id} has an artifact that no record names");
            looked.fault("artifact-unnamed", message, hint);
        }
    }
}

/// Puts right what the ledger says that everything takes.
pub(super) fn recount(
    store: &Store,
    key: &CollectorKey,
    chronicle: &Chronicle,
    looked: &mut Looked,
) {
    let found = disk::usage(store, chronicle);
    let Some(found) = found.ok().filter(|found| *found != chronicle.usage) else { return };
    let _lock = prune::lock(store, false);
    if store.record_counted(key, chronicle.usage, found).is_ok() {
        let (before, now) = (size(chronicle.usage.bytes), size(found.bytes));
        looked.note("counted", format!("the ledger said that {before} are kept; it is {now}"));
    }
}

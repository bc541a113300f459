#![forbid(unsafe_code)]
//! What is kept of runs. It does not know why bytes are kept.
//!
//! The [`Ledger`] tells what happened, one signed record an event, in a file that only grows. Each
//! record holds the hash of the one before, and all of them are the leaves of a Merkle tree. A
//! [`Checkpoint`] that left the machine proves that nothing before it changed. A [`RunIndex`] is
//! made from it, and answers which runs it tells of.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use noesc_evidence::{CollectorKey, Kind, Ledger, verify, verify_since};
//!
//! # let folder = std::env::temp_dir().join(format!("noesc-evidence-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let (path, wait) = (folder.join("ledger"), Duration::from_secs(5));
//! let key = CollectorKey::create(&folder.join("key"), "example.com/ledger")?;
//! let mut ledger = Ledger::open(&path, &key, wait)?;
//! ledger.append(SystemTime::now(), Kind::Run, &serde_json::json!({"run": "one"}))?;
//! let checkpoint = ledger.checkpoint(SystemTime::now())?;
//! drop(ledger);
//! assert_eq!(verify(&path, key.verifier(), wait)?.records, 2);
//! assert_eq!(verify_since(&path, key.verifier(), &checkpoint, wait)?.records, 2);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approver;
mod artifact;
mod checkpoint;
mod chronicle;
mod crash;
mod decision;
mod entry;
mod error;
mod exported;
mod exposed;
mod files;
mod identity;
mod index;
mod key;
mod ledger;
mod moment;
mod part;
mod proof;
mod protected;
mod recipients;
mod record;
mod retention;
mod seal;
mod store;
mod tail;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "functions that tests share")]
mod testing;
mod tree;
mod verify;

pub use approver::ApproverKey;
pub use artifact::{Artifact, ArtifactError, ArtifactId, NoArtifactId, Opened};
pub use checkpoint::{CHECKPOINT_BYTES_MAX, Checkpoint, CheckpointError};
pub use chronicle::{CLOCK_SLACK, Chronicle, Hold, Told, begun};
pub use crash::{CRASH_POINTS, PRUNE_CRASH_POINTS, crash_point};
pub use decision::{
    Asked, CommandDecision, DECISION_LASTS_MAX, DecisionError, Given, Grant, OpenDecision,
    REASON_BYTES_MAX, Ruling, Verdict, append_open, append_refused, append_seen, append_shown,
    append_verdict, check, decide_command, find_runs, use_up,
};
pub use entry::{FINDINGS_MAX, RunEntry, Usage};
pub use error::LedgerError;
pub use exported::{EXPORT_HEADER_BYTES_MAX, ExportError, Exported, ExportedRun, export};
pub use exposed::exposed;
pub use files::{file_bytes_max, is_own_folder, make_own_folder, open_plain};
pub use identity::{
    IDENTITIES_MAX, Identity, MESSAGE_BYTES_MAX, RECIPIENTS_MAX, Recipient, RecipientError,
    Recipients, create_identity, unlock,
};
pub use index::{
    Answer, COMMAND_BYTES_MAX, Index, IndexError, Query, RunEvent, RunIndex, SEVERITIES,
    SqliteIndex, WORD_BYTES_MAX, WORDS_MAX,
};
pub use key::{CollectorKey, KEY_NAME_BYTES_MAX, KeyError, VerifierKey};
pub use ledger::{Ledger, RESERVE_BYTES};
pub use part::STREAMS_MAX;
pub use proof::{prove_consistency, prove_inclusion, verify_consistency, verify_inclusion};
pub use protected::{PROTECTED_BYTES_MAX, ProtectedError, WORK_FACTOR_MAX};
pub use recipients::{
    Approvers, Binding, RecipientsAction, RecipientsChange, RecipientsState, append_recipients,
    bound_approver, confirmed_recipients, recipients_state,
};
pub use record::{Fault, Kind, RECORD_BYTES_MAX, Record};
pub use retention::{Policy, Retention, Tombstone, What};
pub use seal::{CLOSING_BYTES, SEGMENT_BYTES_MAX, SEGMENT_TIME_MAX, SealOptions, Sealed, Sealer};
pub use store::{ArtifactFile, Artifacts, LEDGER_WAIT, Quota, Store};
pub use tree::{Digest, Tree, leaf_hash};
pub use verify::{Position, Verified, read, read_from, read_since, verify, verify_since};

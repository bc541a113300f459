//! What the ledger says of a run.

use serde::{Deserialize, Serialize};

/// Findings of one run that the ledger names. There are fewer kinds.
pub const FINDINGS_MAX: usize = 64;

/// The event of a `run` record, and of a `recovered` one that tells of a run.
///
/// All texts are escaped already: they may hold a child's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEntry {
    /// The id of the run.
    pub run: String,
    /// When it began, by RFC 3339.
    pub started: String,
    /// When it was over.
    pub ended: String,
    /// Its command in a line, up to [`COMMAND_BYTES_MAX`](crate::COMMAND_BYTES_MAX) bytes.
    pub command: String,
    /// How it ended, in the word of its record.
    pub outcome: String,
    /// The status that a shell would have of it.
    pub code: Option<u8>,
    /// Kinds of what was found in its output.
    pub findings: Vec<String>,
    /// The highest severity of them: `none`, `info`, `low`, `medium`, `high`.
    pub severity: String,
    /// Bytes observed on all streams.
    pub bytes: u64,
    /// What became of its raw bytes: `sealed`, `not-kept`, `failed`.
    pub evidence: String,
    /// Why they were not kept.
    pub reason: Option<String>,
    /// The name of the artifact.
    pub artifact: Option<String>,
    /// Bytes of its file.
    pub artifact_bytes: u64,
    /// How many segments it has.
    pub segments: u64,
    /// Raw bytes that are in it.
    pub kept_bytes: u64,
    /// Digests of the raw bytes of each stream: under the key in the artifact, or plain where the
    /// view is the bytes. `sha256:…` or `hmac-sha256:…`.
    pub raw: std::collections::BTreeMap<String, String>,
    /// Bytes of its transcripts.
    pub transcript_bytes: u64,
    /// Fingerprints of those who can open the artifact.
    pub recipients: Vec<String>,
    /// Whether these are others than were confirmed.
    pub recipients_changed: bool,
    /// What all that is kept takes, with this run.
    pub store: Usage,
}

/// What the runs of a store take on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Bytes of artifacts and transcripts.
    pub bytes: u64,
    /// Artifacts and transcripts.
    pub files: u64,
}

impl Usage {
    /// What an event of the ledger says of it, if it does.
    pub(crate) fn told(event: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Told {
            store: Usage,
        }
        serde_json::from_str(event).ok().map(|told: Told| told.store)
    }
}

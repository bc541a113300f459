//! One file with what there is of some runs, for another account or machine: sealed artifacts,
//! their records, and what proves that the records are those of a ledger.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ArtifactError, ArtifactId};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::chronicle::is_run_id;
use crate::entry::RunEntry;
use crate::error::LedgerError;
use crate::files;
use crate::key::{CollectorKey, VerifierKey};
use crate::proof::{prove_inclusion, verify_inclusion};
use crate::record::{Kind, Record};
use crate::retention::{Retention, What};
use crate::store::{Artifacts, LEDGER_WAIT, Store};
use crate::tree::Digest;
use crate::verify;

/// What such a file begins with.
const MAGIC: &[u8] = b"noesc.export/1\n";

/// Bytes of the line that tells what is in the file.
pub const EXPORT_HEADER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs of one file.
const RUNS_MAX: usize = 1024;

/// Hashes of a proof: a tree with more levels has no index.
const PROOF_MAX: usize = 64;

/// Why nothing was exported, or why a file can not be believed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The operating system refused something.
    Io(io::Error),
    /// The ledger can not be read or written.
    Ledger(LedgerError),
    /// The artifact of a run is missing or damaged.
    Artifact {
        /// Which run.
        run: String,
        /// Why.
        error: ArtifactError,
    },
    /// The ledger tells of no such run.
    Unknown {
        /// Which.
        run: String,
    },
    /// The file is in no form of an export.
    Form {
        /// What was expected.
        expected: &'static str,
    },
    /// Its checkpoint is not one of its key.
    Checkpoint(CheckpointError),
    /// A record is not in the ledger that the checkpoint is of, or not of its run.
    Record {
        /// Of which run.
        run: String,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |run: &str| noesc_text::AuditEscape(run.as_bytes()).to_string();
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Ledger(error) => write!(f, "{error}"),
            Self::Artifact { run, error } => write!(f, "the artifact of {}: {error}", shown(run)),
            Self::Unknown { run } => write!(f, "the ledger tells of no run {}", shown(run)),
            Self::Form { expected } => write!(f, "expected {expected}, found something else"),
            Self::Checkpoint(error) => write!(f, "{error}"),
            Self::Record { run } => {
                write!(f, "a record of {} is not in the ledger of the checkpoint", shown(run))
            }
        }
    }
}

impl std::error::Error for ExportError {}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<LedgerError> for ExportError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    checkpoint: String,
    runs: Vec<HeaderRun>,
}

#[derive(Serialize, Deserialize)]
struct HeaderRun {
    run: String,
    artifact: Option<String>,
    /// Of the artifact, which stand behind those of the runs before.
    bytes: u64,
    records: Vec<HeaderRecord>,
}

#[derive(Serialize, Deserialize)]
struct HeaderRecord {
    record: String,
    proof: Vec<String>,
}

/// A record that tells of a run.
#[derive(Deserialize)]
struct OfRun {
    run: String,
}

/// What is to be exported of a run.
#[derive(Default)]
struct Wanted {
    entry: Option<RunEntry>,
    is_deleted: bool,
    /// The number of each record, and its line.
    records: Vec<(u64, String)>,
}

/// Writes a file with these runs: their artifacts as they are sealed, all records that name them,
/// and a checkpoint with proofs. The checkpoint stands in the ledger as well. The file is new and
/// has mode 0600; where that fails there is none.
///
/// # Errors
/// [`ExportError`].
pub fn export(
    store: &Store,
    key: &CollectorKey,
    runs: &[&str],
    to: &Path,
) -> Result<Checkpoint, ExportError> {
    if runs.len() > RUNS_MAX {
        return Err(ExportError::Form { expected: "at most 1024 runs" });
    }
    let mut options = OpenOptions::new();
    let file = files::open(to, options.write(true).create_new(true))?;
    let written = write(store, key, runs, &file).and_then(|checkpoint| {
        file.sync_all()?;
        files::sync_folder(to)?;
        Ok(checkpoint)
    });
    if written.is_err() {
        let _ = fs::remove_file(to);
    }
    written
}

fn write(
    store: &Store,
    key: &CollectorKey,
    runs: &[&str],
    file: &File,
) -> Result<Checkpoint, ExportError> {
    let checkpoint = store.ledger(key)?.checkpoint(SystemTime::now())?;
    let mut wanted: Vec<Wanted> = runs.iter().map(|_| Wanted::default()).collect();
    let mut leaves = Vec::new();
    verify::read(&store.ledger_path(), key.verifier(), LEDGER_WAIT, |record, _| {
        if record.index >= checkpoint.size() {
            return;
        }
        leaves.push(record.hash());
        let of = serde_json::from_str::<OfRun>(record.event);
        let at = of.ok().and_then(|of| runs.iter().position(|run| *run == of.run));
        if let Some(at) = at {
            wanted[at].take(record);
        }
    })?;
    let (mut header, mut artifacts) = (Vec::new(), Vec::new());
    for (run, wanted) in runs.iter().zip(wanted) {
        let unknown = || ExportError::Unknown { run: (*run).to_owned() };
        let entry = wanted.entry.ok_or_else(unknown)?;
        let id = entry.artifact.filter(|_| !wanted.is_deleted);
        let id = id.and_then(|name| name.parse::<ArtifactId>().ok());
        let failed = |error| ExportError::Artifact { run: (*run).to_owned(), error };
        let mut bytes = 0;
        if let Some(id) = id {
            let artifact = store.open(run, id).map_err(failed)?;
            artifact.verify(id).map_err(failed)?;
            bytes = artifact.bytes();
            artifacts.push(artifact);
        }
        let prove = |(index, record): (u64, String)| {
            let at = usize::try_from(index).unwrap_or(usize::MAX);
            let proof = prove_inclusion(&leaves, at).unwrap_or_default();
            HeaderRecord { record, proof: proof.iter().map(Digest::to_string).collect() }
        };
        header.push(HeaderRun {
            run: (*run).to_owned(),
            artifact: id.map(|id| id.to_string()),
            bytes,
            records: wanted.records.into_iter().map(prove).collect(),
        });
    }
    let key = key.verifier().to_string();
    let header = Header { key, checkpoint: checkpoint.to_string(), runs: header };
    let header = serde_json::to_string(&header).map_err(io::Error::other)?;
    if header.len() as u64 >= EXPORT_HEADER_BYTES_MAX {
        return Err(ExportError::Form { expected: "fewer runs, or records of them" });
    }
    let mut writer = BufWriter::new(file);
    writer.write_all(MAGIC)?;
    writeln!(writer, "{header}")?;
    artifacts.iter().try_for_each(|artifact| artifact.copy_to(&mut writer))?;
    writer.flush()?;
    Ok(checkpoint)
}

impl Wanted {
    fn take(&mut self, record: &Record<'_>) {
        self.records.push((record.index, record.line().to_owned()));
        match Kind::from_word(record.kind) {
            Some(Kind::Run | Kind::Recovered) => {
                self.entry = serde_json::from_str(record.event).ok();
            }
            Some(Kind::Retention) => {
                let deleted = serde_json::from_str(record.event);
                self.is_deleted |= matches!(&deleted, Ok(Retention::Deleted(tombstone))
                    if tombstone.what == What::Artifact);
            }
            _ => {}
        }
    }
}

/// What an export holds, all of it verified.
#[derive(Debug)]
pub struct Exported {
    /// The key of the collector, as the file says: compare it with what you know of that machine.
    pub key: VerifierKey,
    /// What its ledger was when the file was written.
    pub checkpoint: Checkpoint,
    /// The runs, in the order in which they were named.
    pub runs: Vec<ExportedRun>,
}

/// One run of an export.
#[derive(Debug)]
pub struct ExportedRun {
    /// Its id, in printable ASCII.
    pub run: String,
    /// What the ledger says of it.
    pub entry: RunEntry,
    /// All records that name it, as they stand in the ledger.
    pub records: Vec<String>,
    /// Its sealed artifact; `None` where it has none, or it was deleted.
    pub artifact: Option<(ArtifactId, Artifact)>,
}

impl Exported {
    /// Opens an export and verifies it: the checkpoint and each record by the key that it names,
    /// that each record is in the ledger of the checkpoint, and each artifact by its name in the
    /// record. That the key is the right one is for who opens it to know.
    ///
    /// The file may be anybody's. No more of it than its header is held in memory. The texts of its
    /// entries and records are somebody's, too: escape them before anybody looks at them.
    ///
    /// # Errors
    /// [`ExportError`] when anything of it is not as it has to be.
    pub fn read(path: &Path) -> Result<Self, ExportError> {
        let file = files::open_plain(path, OpenOptions::new().read(true))?;
        let seen = file.metadata()?;
        let (header, mut at) = header(&file)?;
        let form = |expected| ExportError::Form { expected };
        let key = VerifierKey::parse(&header.key).map_err(|_| form("a public key"))?;
        let checkpoint = Checkpoint::parse(header.checkpoint.as_bytes(), &key)
            .map_err(ExportError::Checkpoint)?;
        if header.runs.len() > RUNS_MAX {
            return Err(form("at most 1024 runs"));
        }
        let mut runs = Vec::new();
        for told in header.runs {
            let end = at.checked_add(told.bytes).filter(|end| *end <= seen.len());
            let end = end.ok_or(form("artifacts of the length that is told"))?;
            runs.push(ExportedRun::verify(told, &file, at, (&key, &checkpoint))?);
            at = end;
        }
        match at == seen.len() {
            true => Ok(Self { key, checkpoint, runs }),
            false => Err(form("nothing behind the artifacts")),
        }
    }
}

/// The header, and where the artifacts begin.
fn header(file: &File) -> Result<(Header, u64), ExportError> {
    let form = |expected| ExportError::Form { expected };
    let mut reader = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    let read = reader.read_exact(&mut magic);
    if read.is_err() || magic != MAGIC {
        return Err(form("an export of noesc"));
    }
    let mut line = Vec::new();
    reader.take(EXPORT_HEADER_BYTES_MAX).read_until(b'\n', &mut line)?;
    let text = line.strip_suffix(b"\n").ok_or(form("a header in one line"))?;
    let header = serde_json::from_slice(text).map_err(|_| form("a header in JSON"))?;
    Ok((header, (MAGIC.len() + line.len()) as u64))
}

impl ExportedRun {
    fn verify(
        told: HeaderRun,
        file: &File,
        start: u64,
        (key, checkpoint): (&VerifierKey, &Checkpoint),
    ) -> Result<Self, ExportError> {
        let wrong = || ExportError::Record { run: told.run.clone() };
        if !is_run_id(&told.run) {
            return Err(ExportError::Form { expected: "the id of a run" });
        }
        let mut entry: Option<RunEntry> = None;
        for HeaderRecord { record, proof } in &told.records {
            let record = Record::parse(record.as_bytes()).map_err(|_| wrong())?;
            record.check_signature(key).map_err(|_| wrong())?;
            let hashes: Option<Vec<Digest>> =
                proof.iter().take(PROOF_MAX + 1).map(|hex| Digest::from_hex(hex)).collect();
            let hashes = hashes.filter(|hashes| hashes.len() <= PROOF_MAX).ok_or_else(wrong)?;
            let tree = (checkpoint.size(), checkpoint.root());
            let is_in = verify_inclusion(record.hash(), record.index, tree, &hashes);
            let of = serde_json::from_str::<OfRun>(record.event);
            if !is_in || !of.is_ok_and(|of| of.run == told.run) {
                return Err(wrong());
            }
            if matches!(Kind::from_word(record.kind), Some(Kind::Run | Kind::Recovered)) {
                entry = Some(serde_json::from_str(record.event).map_err(|_| wrong())?);
            }
        }
        let entry = entry.ok_or_else(wrong)?;
        let artifact = match &told.artifact {
            None if told.bytes == 0 => None,
            name if *name == entry.artifact => {
                let failed = |error| ExportError::Artifact { run: told.run.clone(), error };
                let id = name.as_ref().and_then(|name| name.parse().ok()).ok_or_else(wrong)?;
                let file = file.try_clone()?;
                let artifact = Artifact::within(file, start, told.bytes).map_err(failed)?;
                artifact.verify(id).map_err(failed)?;
                Some((id, artifact))
            }
            _ => return Err(wrong()),
        };
        let records = told.records.iter().map(|told| told.record.clone()).collect();
        Ok(Self { run: told.run.clone(), entry, records, artifact })
    }
}

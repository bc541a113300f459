//! Why something could not be written to a ledger, or why it cannot be believed.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::files::shown;
use crate::record::Fault;
use crate::tree::Digest;

/// Why something could not be written to a ledger, or why it cannot be believed.
#[derive(Debug)]
#[non_exhaustive]
pub enum LedgerError {
    /// The operating system refused something.
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Others held the ledger all the time.
    Busy {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// There is something else than a plain file.
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// A record of the ledger is not what was written.
    Damaged {
        /// The number of its place, where it is known.
        index: Option<u64>,
        /// Where in the file it begins.
        offset: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// What a caller gave makes no record.
    Event {
        /// What is wrong with it.
        fault: Fault,
    },
    /// There is no room for the record.
    Full {
        /// Whether the ledger says so in a record of its own.
        recorded: bool,
        /// What the operating system said.
        source: io::Error,
    },
    /// The ledger has fewer records than it had at the checkpoint.
    Short {
        /// The records at the checkpoint.
        expected: u64,
        /// The records of the ledger.
        found: u64,
    },
    /// The last record that was read before is not where it was: another ledger is there, or what
    /// was read was cut off or written anew.
    Moved {
        /// How many records were read.
        records: u64,
        /// Where the last of them began.
        offset: u64,
    },
    /// The records before the checkpoint are not those that it was made of.
    Changed {
        /// How many records those are.
        size: u64,
        /// The root in the checkpoint.
        expected: Digest,
        /// The root over the records.
        found: Digest,
    },
}

impl LedgerError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "see that the folder of the store is there and yours alone",
            Self::Busy { .. } => "try again; if nothing of noesc runs, somebody else holds it",
            Self::NotAFile { .. } => "move away what is there; a ledger is a plain file",
            Self::Damaged { .. } => {
                "somebody else wrote there, or the disk failed: keep the file, and compare it with \
                 a checkpoint that left the machine"
            }
            Self::Event { .. } => "say it in fewer words",
            Self::Full { .. } => "make room on the disk of the store",
            Self::Short { .. } => "the end was cut off after the checkpoint was made",
            Self::Moved { .. } => "what was derived from it is made anew",
            Self::Changed { .. } => "the past was written anew after the checkpoint was made",
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => {
                write!(f, "cannot {doing} the ledger {}: {source}", shown(path))
            }
            Self::Busy { path, waited } => {
                let ms = waited.as_millis();
                write!(f, "the ledger {} was in use by others for {ms} ms", shown(path))
            }
            Self::NotAFile { path } => {
                write!(f, "expected a plain file at {}, found something else", shown(path))
            }
            Self::Damaged { index: Some(index), offset, fault } => {
                write!(f, "record {index} of the ledger, at byte {offset}: {fault}")
            }
            Self::Damaged { index: None, offset, fault } => {
                write!(f, "the record at byte {offset} of the ledger: {fault}")
            }
            Self::Event { fault } => write!(f, "cannot make a record: {fault}"),
            Self::Full { recorded, source } => {
                let said = if *recorded { "it says so" } else { "it cannot say so" };
                write!(f, "there is no room for a record in the ledger, and {said}: {source}")
            }
            Self::Short { expected, found } => {
                write!(
                    f,
                    "expected at least the {expected} records of the checkpoint, found {found}"
                )
            }
            Self::Moved { records, offset } => {
                write!(f, "expected record {records} of the ledger at byte {offset} as it was read")
            }
            Self::Changed { size, expected, found } => write!(
                f,
                "expected {expected} as the root over the first {size} records, found {found}"
            ),
        }
    }
}

impl std::error::Error for LedgerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Full { source, .. } => Some(source),
            _ => None,
        }
    }
}

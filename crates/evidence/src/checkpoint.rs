//! A signed note that says what the root of the tree was at a size.

use std::fmt;

use base64ct::{Base64, Encoding};
use noesc_text::AuditEscape;

use crate::key::{CollectorKey, VerifierKey};
use crate::record::number;
use crate::tree::Digest;

/// Bytes of a checkpoint: sixteen signatures of five thousand bytes fit, which is what a reader of
/// signed notes has to take.
pub const CHECKPOINT_BYTES_MAX: usize = 128 * 1024;

/// What a signature line begins with: an em dash and a blank.
const SIGNATURE_LINE: &str = "\u{2014} ";

/// Bytes of a stranger's origin that a message shows.
const SHOWN_BYTES: usize = 255;

/// Why a text is no checkpoint of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It has more than [`CHECKPOINT_BYTES_MAX`] bytes.
    TooLong {
        /// How many it has.
        found: usize,
    },
    /// It is not in the form of a checkpoint.
    Form {
        /// What was expected.
        expected: &'static str,
    },
    /// It is one of another ledger.
    Origin {
        /// The origin of the ledger.
        expected: String,
        /// The one of the checkpoint.
        found: String,
    },
    /// The key has not signed it.
    Unsigned {
        /// The key that was to sign.
        expected: String,
    },
    /// What should be the signature of the key is none.
    Signature,
}

impl CheckpointError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong { .. } | Self::Form { .. } => {
                "name a file that \"noesc ledger checkpoint --to FILE\" made"
            }
            Self::Origin { .. } | Self::Unsigned { .. } => {
                "it is one of another store, or the key of this one was replaced"
            }
            Self::Signature => "the file was changed after it was made",
        }
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = |text: &str| AuditEscape(text.as_bytes()).to_string();
        match self {
            Self::TooLong { found } => write!(
                f,
                "expected a checkpoint of at most {CHECKPOINT_BYTES_MAX} bytes, found {found}"
            ),
            Self::Form { expected } => {
                write!(f, "expected {expected} in the checkpoint, found another text")
            }
            Self::Origin { expected, found } => {
                let (expected, found) = (escaped(expected), escaped(found));
                write!(f, "expected a checkpoint of '{expected}', found one of '{found}'")
            }
            Self::Unsigned { expected } => {
                write!(f, "expected a signature of {}, found none", escaped(expected))
            }
            Self::Signature => {
                write!(f, "expected a signature of the collector's key, found another one")
            }
        }
    }
}

impl std::error::Error for CheckpointError {}

/// The size and the root of a ledger at one moment, signed. Its text is a signed note in the form
/// of `tlog-checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    size: u64,
    root: Digest,
    note: String,
}

impl Checkpoint {
    pub(crate) fn sign(key: &CollectorKey, size: u64, root: Digest) -> Self {
        let verifier = key.verifier();
        let text = format!("{}\n{size}\n{}\n", verifier.name(), Base64::encode_string(&root.0));
        let signature = [&verifier.id()[..], &key.sign_bytes(text.as_bytes())].concat();
        let signature = Base64::encode_string(&signature);
        let note = format!("{text}\n{SIGNATURE_LINE}{} {signature}\n", verifier.name());
        Self { size, root, note }
    }

    /// Reads a checkpoint that the key has signed; there is no way to one that it has not. Lines of
    /// other signers and extension lines are passed over.
    pub fn parse(note: &[u8], key: &VerifierKey) -> Result<Self, CheckpointError> {
        let form = |expected| CheckpointError::Form { expected };
        if note.len() > CHECKPOINT_BYTES_MAX {
            return Err(CheckpointError::TooLong { found: note.len() });
        }
        let note = str::from_utf8(note).map_err(|_| form("UTF-8"))?;
        if note.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(form("no control character"));
        }
        let split = note.rfind("\n\n").ok_or(form("a text, an empty line and signatures"))?;
        let (text, signatures) = (&note[..=split], &note[split + 2..]);
        check_signatures(text, signatures, key)?;
        let mut lines = text.trim_end_matches('\n').split('\n');
        let origin = lines.next().unwrap_or_default();
        if origin != key.name() {
            let end = origin.floor_char_boundary(SHOWN_BYTES);
            let (expected, found) = (key.name().to_owned(), origin[..end].to_owned());
            return Err(CheckpointError::Origin { expected, found });
        }
        let size = lines.next().and_then(number).ok_or(form("a number of records"))?;
        let mut root = [0; 32];
        let decoded = lines.next().and_then(|line| Base64::decode(line, &mut root).ok());
        if decoded.is_none_or(|root| root.len() != 32) {
            return Err(form("a root in base64"));
        }
        if lines.any(str::is_empty) || text.ends_with("\n\n") {
            return Err(form("no empty line in the text"));
        }
        Ok(Self { size, root: Digest(root), note: note.to_owned() })
    }

    /// How many records it covers.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root over them.
    pub fn root(&self) -> Digest {
        self.root
    }
}

/// The note as it was made or read, for a file. One that was read may hold lines of strangers:
/// escape it before anybody looks at it.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.note)
    }
}

/// Whether the key has signed a text: each of its lines has to be right, and there has to be one.
fn check_signatures(
    text: &str,
    signatures: &str,
    key: &VerifierKey,
) -> Result<(), CheckpointError> {
    let form = || CheckpointError::Form { expected: "signature lines" };
    let mut is_signed = false;
    for line in signatures.strip_suffix('\n').ok_or_else(form)?.split('\n') {
        let line = line.strip_prefix(SIGNATURE_LINE).ok_or_else(form)?;
        let (name, encoded) = line.split_once(' ').ok_or_else(form)?;
        let bytes = Base64::decode_vec(encoded).map_err(|_| form())?;
        let (id, signature) = bytes.split_first_chunk::<4>().ok_or_else(form)?;
        if name != key.name() || *id != key.id() {
            continue;
        }
        let signature = signature.try_into().map_err(|_| CheckpointError::Signature)?;
        if !key.verify(text.as_bytes(), signature) {
            return Err(CheckpointError::Signature);
        }
        is_signed = true;
    }
    if is_signed { Ok(()) } else { Err(CheckpointError::Unsigned { expected: key.to_string() }) }
}

#[cfg(test)]
mod tests;

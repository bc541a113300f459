//! The collector's key: an Ed25519 pair with a name, in the texts of signed notes.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use noesc_text::AuditEscape;
use zeroize::Zeroizing;

use crate::files;
use crate::tree::Digest;

/// Bytes of the name of a key, which is the origin of its checkpoints too. A host and a path fit.
pub const KEY_NAME_BYTES_MAX: usize = 255;

/// What a private key begins with.
const PRIVATE: &str = "PRIVATE+KEY+";

/// Bytes of a key file: more than the longest name needs.
const KEY_FILE_BYTES: u64 = 1024;

/// The type of the signature, in a key and before its hash.
const ED25519: u8 = 1;

/// Characters of a signature in base64.
pub(crate) const SIGNATURE_CHARS: usize = 88;

/// Why there is no key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The operating system refused something.
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// There is a file already.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Others may read the file, or it is no plain file.
    Mode {
        /// The file.
        path: PathBuf,
        /// Its mode.
        found: u32,
    },
    /// The text is no key.
    Form {
        /// What was expected.
        expected: &'static str,
    },
    /// The name is none that a key can have.
    Name {
        /// The name.
        found: String,
    },
}

impl KeyError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "see that the folder of the store is there and yours alone",
            Self::Exists { .. } => "a key is never written over",
            Self::Mode { .. } => "give it to yourself alone: chmod 600",
            Self::Form { .. } => "name a key that noesc made",
            Self::Name { .. } => "take a name without blanks and plus signs",
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => {
                write!(f, "cannot {doing} the key {}: {source}", files::shown(path))
            }
            Self::Exists { path } => {
                write!(f, "expected no file at {}, found one", files::shown(path))
            }
            Self::Mode { path, found } => write!(
                f,
                "expected a plain file with mode 0600 at {}, found {found:07o}",
                files::shown(path)
            ),
            Self::Form { expected } => write!(f, "expected {expected}, found another text"),
            Self::Name { found } => write!(
                f,
                "expected a key name of 1 to {KEY_NAME_BYTES_MAX} printable characters but blank \
                 and '+', found '{}'",
                AuditEscape(found.as_bytes())
            ),
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The public half: what a ledger and its checkpoints are verified with. Its text is
/// `NAME+ID+KEY`, as standard tools for signed notes take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: [u8; 4],
    key: VerifyingKey,
}

impl VerifierKey {
    fn new(name: &str, key: VerifyingKey) -> Result<Self, KeyError> {
        let is_fit = name.bytes().all(|byte| matches!(byte, 0x21..=0x7E) && byte != b'+');
        if !is_fit || !(1..=KEY_NAME_BYTES_MAX).contains(&name.len()) {
            let found = name.chars().take(KEY_NAME_BYTES_MAX).collect();
            return Err(KeyError::Name { found });
        }
        let named = [name.as_bytes(), b"\n", &[ED25519], key.as_bytes()].concat();
        let [a, b, c, d, ..] = Digest::of(&named).0;
        Ok(Self { name: name.to_owned(), id: [a, b, c, d], key })
    }

    /// Reads the text of a key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (name, id, bytes) = split_key(text)?;
        let weak = KeyError::Form { expected: "an Ed25519 public key" };
        let key = VerifyingKey::from_bytes(&bytes).ok().filter(|key| !key.is_weak()).ok_or(weak)?;
        let key = Self::new(name, key)?;
        if id == hex(key.id) {
            Ok(key)
        } else {
            Err(KeyError::Form { expected: "the id of the key" })
        }
    }

    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first four bytes of the hash that names the key in a signed note.
    pub fn id(&self) -> [u8; 4] {
        self.id
    }

    /// Whether a signature of a message is one of this key, and the only form of it.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = encode_key(self.key.as_bytes());
        write!(f, "{}+{}+{}", self.name, hex(self.id), *key)
    }
}

/// The whole key. Its file is made once, with mode 0600.
pub struct CollectorKey {
    signing: SigningKey,
    verifier: VerifierKey,
}

/// Without the secret.
impl fmt::Debug for CollectorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CollectorKey").field(&self.verifier.to_string()).finish()
    }
}

impl CollectorKey {
    pub(crate) fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let signing = SigningKey::from_bytes(seed);
        let verifier = VerifierKey::new(name, signing.verifying_key())?;
        Ok(Self { signing, verifier })
    }

    /// Makes a key and its file. A file that is there stays as it is, and nothing but a whole key
    /// is ever at the path.
    pub fn create(path: &Path, name: &str) -> Result<Self, KeyError> {
        let failed =
            |doing| move |source: io::Error| KeyError::Io { doing, path: path.to_owned(), source };
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|e| failed("draw")(io::Error::other(e)))?;
        let key = Self::from_seed(name, &seed)?;
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}", std::process::id()));
        let part = PathBuf::from(part);
        // What another process with this number left behind.
        let _ = fs::remove_file(&part);
        let linked = write_new(&part, key.secret_text().as_bytes())
            .and_then(|()| fs::hard_link(&part, path));
        let _ = fs::remove_file(&part);
        match linked {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(KeyError::Exists { path: path.to_owned() });
            }
            other => other.map_err(failed("write"))?,
        }
        files::sync_folder(path).map_err(failed("write"))?;
        Ok(key)
    }

    /// Reads a key from its file, which nobody else may be able to read.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let failed =
            |doing| move |source: io::Error| KeyError::Io { doing, path: path.to_owned(), source };
        let file = files::open(path, OpenOptions::new().read(true)).map_err(failed("open"))?;
        let seen = file.metadata().map_err(failed("read"))?;
        if !seen.is_file() || seen.mode() & 0o077 != 0 {
            return Err(KeyError::Mode { path: path.to_owned(), found: seen.mode() });
        }
        let mut text = Zeroizing::new(String::new());
        file.take(KEY_FILE_BYTES).read_to_string(&mut text).map_err(failed("read"))?;
        Self::parse_secret(&text)
    }

    pub(crate) fn parse_secret(text: &str) -> Result<Self, KeyError> {
        let expected = "a private key in the form of signed notes";
        let form = || KeyError::Form { expected };
        let text = text.strip_suffix('\n').and_then(|text| text.strip_prefix(PRIVATE));
        let (name, id, seed) = split_key(text.ok_or_else(form)?)?;
        let key = Self::from_seed(name, &Zeroizing::new(seed))?;
        if id == hex(key.verifier.id) { Ok(key) } else { Err(form()) }
    }

    pub(crate) fn secret_text(&self) -> Zeroizing<String> {
        let (verifier, seed) = (&self.verifier, encode_key(self.signing.as_bytes()));
        Zeroizing::new(format!("{PRIVATE}{}+{}+{}\n", verifier.name, hex(verifier.id), *seed))
    }

    /// The public half.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// The signature of a message.
    pub(crate) fn sign_bytes(&self, message: &[u8]) -> [u8; 64] {
        self.signing.sign(message).to_bytes()
    }

    /// The signature of a message, in base64.
    pub(crate) fn sign(&self, message: &[u8]) -> String {
        Base64::encode_string(&self.sign_bytes(message))
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// The type of a key and its bytes, in base64.
fn encode_key(bytes: &[u8; 32]) -> Zeroizing<String> {
    let mut typed = Zeroizing::new([ED25519; 33]);
    typed[1..].copy_from_slice(bytes);
    Zeroizing::new(Base64::encode_string(&*typed))
}

/// Name, id and bytes of a key in the form `NAME+ID+KEY`.
fn split_key(text: &str) -> Result<(&str, &str, [u8; 32]), KeyError> {
    let parts = text.split_once('+').and_then(|(name, rest)| {
        let (id, key) = rest.split_once('+')?;
        let mut typed = Zeroizing::new([0; 33]);
        match *Base64::decode(key, &mut *typed).ok()? {
            [ED25519, ref bytes @ ..] => Some((name, id, <[u8; 32]>::try_from(bytes).ok()?)),
            _ => None,
        }
    });
    parts.ok_or(KeyError::Form { expected: "a key of the form NAME+ID+KEY" })
}

/// A signature from base64 in its one form.
pub(crate) fn decode_signature(text: &str) -> Option<[u8; 64]> {
    let mut signature = [0; 64];
    let decoded = Base64::decode(text, &mut signature).ok()?;
    (decoded.len() == 64).then_some(signature)
}

#[cfg(test)]
mod tests;

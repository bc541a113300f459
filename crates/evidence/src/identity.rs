//! The investigator's key: an age identity, and the recipients that originals are sealed to.

use std::fmt;
use std::io::{self, Read};
use std::iter;
use std::path::Path;
use std::str::FromStr;

use age::armor::ArmoredReader;
use age::secrecy::ExposeSecret;
use noesc_text::AuditEscape;
use zeroize::Zeroizing;

use crate::protected::{self, ProtectedError, protect, unprotect};
use crate::tree::Digest;

/// Recipients that an original is sealed to. Each adds a hundred bytes and a multiplication to
/// every segment.
pub const RECIPIENTS_MAX: usize = 8;

/// Identities that one file may hold.
pub const IDENTITIES_MAX: usize = 8;

/// Bytes of a text that should have been a recipient, in a message.
const SHOWN_BYTES: usize = 64;

/// Bytes of a message that is opened with an identity at once.
pub const MESSAGE_BYTES_MAX: u64 = 64 * 1024;

/// Hex digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 16;

/// The letters of Bech32, by their value.
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Why a text is no recipient, or a list no list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecipientError {
    /// It is no `age1…` of an X25519 key.
    Form {
        /// The text, cut.
        found: String,
    },
    /// Anybody could open what is sealed to it.
    Weak,
    /// There are none, or more than [`RECIPIENTS_MAX`].
    Count {
        /// How many.
        found: usize,
    },
    /// One is given twice.
    Twice {
        /// Its fingerprint.
        fingerprint: String,
    },
}

impl RecipientError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Weak => {
                "it is what noesc init and age-keygen print: age1 and 58 letters and digits"
            }
            Self::Count { .. } => "two are best, of which one is kept far away",
            Self::Twice { .. } => "name each recipient once",
        }
    }
}

impl fmt::Display for RecipientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { found } => {
                write!(f, "expected a recipient, found '{}'", AuditEscape(found.as_bytes()))
            }
            Self::Weak => write!(f, "expected a recipient with a key of full order, found another"),
            Self::Count { found } => {
                write!(f, "expected 1 to {RECIPIENTS_MAX} recipients, found {found}")
            }
            Self::Twice { fingerprint } => {
                write!(f, "expected each recipient once, found {fingerprint} twice")
            }
        }
    }
}

impl std::error::Error for RecipientError {}

/// Whom originals are sealed to: the public half of an identity. Its text is `age1…`.
///
/// ```
/// use noesc_evidence::Recipient;
///
/// let text = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";
/// let recipient: Recipient = text.parse()?;
/// assert_eq!(recipient.to_string(), text);
/// assert_eq!(recipient.fingerprint(), "sha256:ce9450dfdff59e9d");
/// assert!("age1".parse::<Recipient>().is_err());
/// # Ok::<(), noesc_evidence::RecipientError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient {
    age: age::x25519::Recipient,
    text: String,
}

impl Recipient {
    fn new(age: age::x25519::Recipient) -> Self {
        Self { text: age.to_string(), age }
    }

    /// Its short name: `sha256:` and the first 16 hex digits of the SHA-256 of its text.
    pub fn fingerprint(&self) -> String {
        let digest = Digest::of(self.text.as_bytes()).to_string();
        format!("sha256:{}", &digest[..FINGERPRINT_DIGITS])
    }

    /// The recipient as the library knows it.
    pub(crate) fn age(&self) -> &age::x25519::Recipient {
        &self.age
    }

    /// A small message that the identity alone can open, as an armored age file.
    pub fn seal_message(&self, message: &[u8]) -> io::Result<String> {
        protected::armored(iter::once(self.age() as &dyn age::Recipient), message)
    }
}

impl FromStr for Recipient {
    type Err = RecipientError;

    fn from_str(text: &str) -> Result<Self, RecipientError> {
        let form = || {
            let end = text.floor_char_boundary(SHOWN_BYTES);
            RecipientError::Form { found: text[..end].to_owned() }
        };
        let recipient = Self::new(text.parse().map_err(|_| form())?);
        let point = point_of(&recipient.text).ok_or_else(form)?;
        // Whoever seals to such a point has the same secret as anybody else.
        if x25519_dalek::x25519([1; 32], point) == [0; 32] {
            return Err(RecipientError::Weak);
        }
        Ok(recipient)
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recipient").field(&self.text).finish()
    }
}

/// The key in a text whose check digits are known to be right.
fn point_of(text: &str) -> Option<[u8; 32]> {
    let (_, letters) = text.split_once('1')?;
    let (mut bits, mut count) = (0_u32, 0);
    let mut bytes = Vec::with_capacity(32);
    for letter in letters.bytes() {
        let value = BECH32.iter().position(|&known| known == letter)?;
        bits = bits << 5 | u32::try_from(value).ok()?;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    bytes.get(..32)?.try_into().ok()
}

/// One to [`RECIPIENTS_MAX`] recipients, each once, in the order that they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients(Vec<Recipient>);

impl Recipients {
    /// A list of recipients.
    pub fn new(recipients: Vec<Recipient>) -> Result<Self, RecipientError> {
        if !(1..=RECIPIENTS_MAX).contains(&recipients.len()) {
            return Err(RecipientError::Count { found: recipients.len() });
        }
        for (at, recipient) in recipients.iter().enumerate() {
            if recipients[..at].contains(recipient) {
                return Err(RecipientError::Twice { fingerprint: recipient.fingerprint() });
            }
        }
        Ok(Self(recipients))
    }

    /// Reads a list of `age1…` texts.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, RecipientError> {
        let recipients = texts.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>();
        Self::new(recipients?)
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Recipient> {
        self.0.iter()
    }

    /// A small message that the identity of any of them can open, as an armored age file.
    pub fn seal_message(&self, message: &[u8]) -> io::Result<String> {
        protected::armored(self.iter().map(|one| one.age() as &dyn age::Recipient), message)
    }

    /// Their fingerprints, sorted: the order of a list says nothing.
    pub fn fingerprints(&self) -> Vec<String> {
        let mut fingerprints: Vec<_> = self.iter().map(Recipient::fingerprint).collect();
        fingerprints.sort();
        fingerprints
    }
}

/// The investigator's identity, unlocked. It forgets its keys when it is dropped.
pub struct Identity {
    keys: Vec<age::x25519::Identity>,
}

/// Without the secret.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.recipients()).finish()
    }
}

impl Identity {
    /// A new one of one key, which is in memory alone.
    pub fn generate() -> Self {
        Self { keys: vec![age::x25519::Identity::generate()] }
    }

    /// The public half of each of its keys.
    pub fn recipients(&self) -> Vec<Recipient> {
        self.keys().map(|key| Recipient::new(key.to_public())).collect()
    }

    /// Its keys as the library knows them.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &age::x25519::Identity> {
        self.keys.iter()
    }

    /// Opens a small message; `None` when it is for somebody else, damaged, or longer than
    /// [`MESSAGE_BYTES_MAX`].
    pub fn open_message(&self, message: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let decryptor = age::Decryptor::new(ArmoredReader::new(message)).ok()?;
        let keys = self.keys().map(|key| key as &dyn age::Identity);
        let mut reader = decryptor.decrypt(keys).ok()?.take(MESSAGE_BYTES_MAX + 1);
        let mut opened = Zeroizing::new(Vec::new());
        reader.read_to_end(&mut opened).ok()?;
        (opened.len() as u64 <= MESSAGE_BYTES_MAX).then_some(opened)
    }
}

/// Makes an identity in a new file that the passphrase protects, in a form that `age -d -i` takes,
/// and returns its public half. A file that is there stays as it is.
pub fn create_identity(path: &Path, passphrase: &str) -> Result<Recipient, ProtectedError> {
    let key = age::x25519::Identity::generate();
    let recipient = Recipient::new(key.to_public());
    let secret = key.to_string();
    let text = Zeroizing::new(format!("# public key: {recipient}\n{}\n", secret.expose_secret()));
    protect(path, passphrase, &text)?;
    Ok(recipient)
}

/// Reads an identity with its passphrase: an age file of lines as `age-keygen` writes them.
pub fn unlock(path: &Path, passphrase: &str) -> Result<Identity, ProtectedError> {
    let expected = "1 to 8 X25519 identities, one a line,";
    let form = || ProtectedError::Form { path: path.to_owned(), expected };
    let text = unprotect(path, passphrase)?;
    let mut keys = Vec::with_capacity(IDENTITIES_MAX);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            continue;
        }
        if keys.len() == IDENTITIES_MAX {
            return Err(form());
        }
        keys.push(line.parse().map_err(|_| form())?);
    }
    if keys.is_empty() { Err(form()) } else { Ok(Identity { keys }) }
}

#[cfg(test)]
mod tests;

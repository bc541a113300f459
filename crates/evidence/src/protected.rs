//! A small secret text in a file that a passphrase protects: an armored age file, as `age -p -a`
//! makes it.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::iter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor};
use rustix::fs::OFlags;
use zeroize::Zeroizing;

use crate::files;

/// Bytes of such a file. A key with its comments has a few hundred.
pub const PROTECTED_BYTES_MAX: u64 = 64 * 1024;

/// The scrypt work factor of the files that are made: 128 MiB and some tenths of a second.
const WORK: u8 = 17;

/// The greatest work factor that is done for a file of somebody else: 1 GiB and some seconds.
pub const WORK_FACTOR_MAX: u8 = 20;

/// Why a protected file could not be made or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProtectedError {
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
    /// The passphrase is not the one of the file.
    Passphrase {
        /// The file.
        path: PathBuf,
    },
    /// No passphrase protects it.
    Unprotected {
        /// The file.
        path: PathBuf,
    },
    /// To try a passphrase would take more than [`WORK_FACTOR_MAX`] allows.
    Work {
        /// The file.
        path: PathBuf,
        /// The work factor that it asks for.
        found: u8,
    },
    /// What is in it is none of what was looked for.
    Form {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
    },
}

impl ProtectedError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "name a file in a folder that exists and that you can use",
            Self::Exists { .. } => "name a new file; a key is never written over",
            Self::Passphrase { .. } => "try again; without its passphrase a key is lost",
            Self::Unprotected { .. } => "protect it first: age -p -a -o NEW OLD",
            Self::Work { .. } => "protect it anew with the usual work factor: age -p -a",
            Self::Form { .. } => "name the file that noesc init or age-keygen and age -p made",
        }
    }
}

impl fmt::Display for ProtectedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = files::shown;
        match self {
            Self::Io { doing, path, source } => {
                write!(f, "cannot {doing} the key {}: {source}", shown(path))
            }
            Self::Exists { path } => write!(f, "expected no file at {}, found one", shown(path)),
            Self::Passphrase { path } => {
                write!(f, "the passphrase does not open {}", shown(path))
            }
            Self::Unprotected { path } => {
                write!(
                    f,
                    "expected a key that a passphrase protects at {}, found none",
                    shown(path)
                )
            }
            Self::Work { path, found } => write!(
                f,
                "expected a work factor of at most {WORK_FACTOR_MAX} in {}, found {found}",
                shown(path)
            ),
            Self::Form { path, expected } => {
                write!(f, "expected {expected} in {}, found something else", shown(path))
            }
        }
    }
}

impl std::error::Error for ProtectedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Writes a text to a new file with mode 0600. A file that is there stays as it is.
pub(crate) fn protect(path: &Path, passphrase: &str, text: &str) -> Result<(), ProtectedError> {
    protect_by(WORK, path, passphrase, text)
}

/// The same by a work factor of its own.
pub(crate) fn protect_by(
    work: u8,
    path: &Path,
    passphrase: &str,
    text: &str,
) -> Result<(), ProtectedError> {
    let failed = |source| ProtectedError::Io { doing: "write", path: path.to_owned(), source };
    let mut recipient = age::scrypt::Recipient::new(SecretString::from(passphrase.to_owned()));
    recipient.set_work_factor(work);
    let armored = armored(iter::once(&recipient as &dyn age::Recipient), text.as_bytes());
    let armored = armored.map_err(failed)?;
    let opened = files::open(path, OpenOptions::new().write(true).create_new(true));
    let mut file = match opened {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            return Err(ProtectedError::Exists { path: path.to_owned() });
        }
        other => other.map_err(failed)?,
    };
    let written = file.write_all(armored.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| files::sync_folder(path)).map_err(|error| {
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

/// Reads the text of a file with its passphrase.
pub(crate) fn unprotect(
    path: &Path,
    passphrase: &str,
) -> Result<Zeroizing<String>, ProtectedError> {
    let failed = |source| ProtectedError::Io { doing: "read", path: path.to_owned(), source };
    let form = |expected| ProtectedError::Form { path: path.to_owned(), expected };
    let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(form("a plain file"));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(PROTECTED_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > PROTECTED_BYTES_MAX {
        return Err(form("a short file"));
    }
    let unprotected = || ProtectedError::Unprotected { path: path.to_owned() };
    let decryptor = Decryptor::new(ArmoredReader::new(&bytes[..])).map_err(|_| unprotected())?;
    if !decryptor.is_scrypt() {
        return Err(unprotected());
    }
    let mut identity = age::scrypt::Identity::new(SecretString::from(passphrase.to_owned()));
    identity.set_max_work_factor(WORK_FACTOR_MAX);
    let decrypted = decryptor.decrypt(iter::once(&identity as &dyn age::Identity));
    let reader = decrypted.map_err(|error| match error {
        DecryptError::ExcessiveWork { required, .. } => {
            ProtectedError::Work { path: path.to_owned(), found: required }
        }
        DecryptError::DecryptionFailed | DecryptError::NoMatchingKeys => {
            ProtectedError::Passphrase { path: path.to_owned() }
        }
        _ => form("an age file"),
    })?;
    let mut text = Zeroizing::new(String::with_capacity(bytes.len()));
    let read = reader.take(PROTECTED_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|_| form("a whole age file of text"))?;
    Ok(text)
}

/// Some bytes encrypted to recipients, as an armored age file.
pub(crate) fn armored<'r>(
    to: impl Iterator<Item = &'r dyn age::Recipient>,
    bytes: &[u8],
) -> io::Result<String> {
    let encryptor = Encryptor::with_recipients(to).map_err(io::Error::other)?;
    let armor = ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?;
    let mut writer = encryptor.wrap_output(armor)?;
    writer.write_all(bytes)?;
    String::from_utf8(writer.finish()?.finish()?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let name = format!("noesc-protected-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn of_work(path: &Path, log_n: u8) {
        let mut recipient = age::scrypt::Recipient::new(SecretString::from("right".to_owned()));
        recipient.set_work_factor(4);
        let text = armored(iter::once(&recipient as &dyn age::Recipient), b"text").unwrap();
        // The armor hides the stanza: write the binary form and name another work factor there.
        let mut bytes = Vec::new();
        ArmoredReader::new(text.as_bytes()).read_to_end(&mut bytes).unwrap();
        let at = bytes.windows(3).position(|three| three == b" 4\n").unwrap();
        bytes.splice(at..at + 2, format!(" {log_n}").into_bytes());
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_text_comes_back_with_its_passphrase_alone() {
        let folder = Temporary::new("round");
        let path = folder.0.join("key");
        protect(&path, "right", "text\n").unwrap();
        assert_eq!(*unprotect(&path, "right").unwrap(), "text\n");
        let wrong = unprotect(&path, "wrong").unwrap_err();
        assert!(matches!(wrong, ProtectedError::Passphrase { .. }), "{wrong}");
        let again = protect(&path, "right", "other").unwrap_err();
        assert!(matches!(again, ProtectedError::Exists { .. }), "{again}");
        let armor = std::fs::read_to_string(&path).unwrap();
        assert!(armor.starts_with("-----BEGIN AGE ENCRYPTED FILE-----\n"));
    }

    #[test]
    fn a_file_that_would_take_for_ever_is_refused() {
        let folder = Temporary::new("work");
        let path = folder.0.join("key");
        of_work(&path, WORK_FACTOR_MAX + 1);
        let error = unprotect(&path, "right").unwrap_err();
        assert!(matches!(error, ProtectedError::Work { found: 21, .. }), "{error}");
        of_work(&path, 3);
        let error = unprotect(&path, "right").unwrap_err();
        assert!(matches!(error, ProtectedError::Passphrase { .. }), "{error}");
    }

    #[test]
    fn other_files_are_none() {
        let folder = Temporary::new("other");
        let path = folder.0.join("key");
        for bytes in [&b""[..], b"AGE-SECRET-KEY-1\n", b"age-encryption.org/v1\n"] {
            std::fs::write(&path, bytes).unwrap();
            let error = unprotect(&path, "right").unwrap_err();
            assert!(matches!(error, ProtectedError::Unprotected { .. }), "{error}");
        }
        let max = usize::try_from(PROTECTED_BYTES_MAX).unwrap();
        for (len, expected) in [(max - 1, false), (max, false), (max + 1, true)] {
            std::fs::write(&path, vec![b'x'; len]).unwrap();
            let error = unprotect(&path, "right").unwrap_err();
            assert_eq!(matches!(error, ProtectedError::Form { .. }), expected, "{error}");
        }
        let error = unprotect(&folder.0, "right").unwrap_err();
        assert!(matches!(error, ProtectedError::Form { .. }), "{error}");
    }
}

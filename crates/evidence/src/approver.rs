//! The approver's key: an Ed25519 pair, not the collector's, in a file that a passphrase protects.

use std::fmt;
use std::path::Path;

use zeroize::Zeroizing;

use crate::key::{CollectorKey, VerifierKey};
use crate::protected::{ProtectedError, protect, unprotect};

/// What the name of every approver's key begins with; eight random hex digits follow.
const NAME: &str = "noesc.approver/";

/// Who signs decisions, unlocked. It forgets its key when it is dropped.
pub struct ApproverKey(CollectorKey);

/// Without the secret.
impl fmt::Debug for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ApproverKey").field(&self.verifier().to_string()).finish()
    }
}

impl ApproverKey {
    /// Makes a key in a new file that the passphrase protects, and returns its public half. A file
    /// that is there stays as it is.
    pub fn create(path: &Path, passphrase: &str) -> Result<VerifierKey, ProtectedError> {
        let expected = "random bytes of the system";
        let form = || ProtectedError::Form { path: path.to_owned(), expected };
        let (mut name, mut seed) = ([0; 4], Zeroizing::new([0; 32]));
        getrandom::fill(&mut name)
            .and_then(|()| getrandom::fill(&mut *seed))
            .map_err(|_| form())?;
        let name = format!("{NAME}{:08x}", u32::from_be_bytes(name));
        let key = CollectorKey::from_seed(&name, &seed).map_err(|_| form())?;
        protect(path, passphrase, &key.secret_text())?;
        Ok(key.verifier().clone())
    }

    /// Reads a key with its passphrase.
    pub fn unlock(path: &Path, passphrase: &str) -> Result<Self, ProtectedError> {
        let form = || ProtectedError::Form { path: path.to_owned(), expected: "an approver's key" };
        let text = unprotect(path, passphrase)?;
        let key = CollectorKey::parse_secret(&text).map_err(|_| form())?;
        if is_approvers(key.verifier()) { Ok(Self(key)) } else { Err(form()) }
    }

    #[cfg(test)]
    pub(crate) fn of(key: CollectorKey) -> Self {
        Self(key)
    }

    /// The public half.
    pub fn verifier(&self) -> &VerifierKey {
        self.0.verifier()
    }

    /// The signature of a text, in base64.
    pub(crate) fn sign(&self, text: &str) -> String {
        self.0.sign(text.as_bytes())
    }
}

/// Whether a key can be an approver's.
pub(crate) fn is_approvers(key: &VerifierKey) -> bool {
    key.name().starts_with(NAME)
}

/// What an approver signs: a first line that no other signed text has, then a line for each name
/// and value. Values are printable ASCII.
pub(crate) fn text_of(context: &str, lines: &[(&str, &str)]) -> String {
    let mut text = format!("{context}\n");
    for (name, value) in lines {
        text.extend([name, " ", value, "\n"]);
    }
    text
}

/// Whether every value can stand in such a text.
pub(crate) fn are_lines(lines: &[(&str, &str)]) -> bool {
    lines.iter().all(|(_, value)| value.bytes().all(|byte| matches!(byte, 0x20..=0x7E)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approver_comes_back_with_its_passphrase_and_signs() {
        let name = format!("noesc-approver-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("approver");
        let verifier = ApproverKey::create(&path, "p").unwrap();
        assert_eq!(verifier.name().len(), NAME.len() + 8);
        assert!(ApproverKey::unlock(&path, "q").is_err());
        let key = ApproverKey::unlock(&path, "p").unwrap();
        assert_eq!(key.verifier(), &verifier);
        let signature = crate::key::decode_signature(&key.sign("text")).unwrap();
        assert!(verifier.verify(b"text", &signature));
        assert!(!verifier.verify(b"Text", &signature));
        let other = folder.join("other");
        let collector = CollectorKey::from_seed("example.com/ledger", &[7; 32]).unwrap();
        protect(&other, "p", &collector.secret_text()).unwrap();
        assert!(matches!(ApproverKey::unlock(&other, "p"), Err(ProtectedError::Form { .. })));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

//! The Merkle tree of RFC 6962 over the records.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256. Its text is lower-case hex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Digest {
    /// The digest that 64 lower-case hex digits write.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut digest = [0; 32];
        if pairs.len() != digest.len() || !rest.is_empty() {
            return None;
        }
        for (to, [high, low]) in digest.iter_mut().zip(pairs) {
            *to = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(digest))
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// The hash of a leaf: SHA-256 of 00 and its bytes. Of a record, its line without the LF.
pub fn leaf_hash(leaf: &[u8]) -> Digest {
    Digest(Sha256::new().chain_update([0]).chain_update(leaf).finalize().into())
}

/// The hash of an inner node: SHA-256 of 01 and the hashes below.
pub(crate) fn node_hash(left: Digest, right: Digest) -> Digest {
    Digest(
        Sha256::new()
            .chain_update([1])
            .chain_update(left.0)
            .chain_update(right.0)
            .finalize()
            .into(),
    )
}

/// A tree that only its peaks are kept of: at most 64 hashes, however many leaves.
///
/// ```
/// use noesc_evidence::{Tree, leaf_hash};
/// let mut tree = Tree::default();
/// tree.push(leaf_hash(b"one"));
/// assert_eq!((tree.size(), tree.root()), (1, leaf_hash(b"one")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    size: u64,
    /// Roots of the complete subtrees, the largest first.
    peaks: Vec<Digest>,
}

impl Tree {
    /// Adds a leaf by its hash.
    pub fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        // A set bit is a complete subtree of that size; two of one size become one of twice it.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = node_hash(left, hash);
            }
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// How many leaves it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root; of the empty tree, the SHA-256 of nothing.
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().rev().copied();
        let Some(last) = peaks.next() else { return Digest::of(b"") };
        peaks.fold(last, |right, left| node_hash(left, right))
    }
}

impl FromIterator<Digest> for Tree {
    fn from_iter<I: IntoIterator<Item = Digest>>(leaves: I) -> Self {
        let mut tree = Self::default();
        leaves.into_iter().for_each(|leaf| tree.push(leaf));
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_back_and_no_other_form_of_it() {
        let digest = Digest::of(b"abc");
        let text = digest.to_string();
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::from_hex(&text), Some(digest));
        for wrong in [&text[1..], &text.to_uppercase(), &format!("{text}0"), &format!("{text}00")] {
            assert_eq!(Digest::from_hex(wrong), None);
        }
    }

    /// The test data of Certificate Transparency: eight leaves and the root after each.
    #[test]
    fn roots_are_those_of_certificate_transparency() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\0",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut tree = Tree::default();
        assert_eq!(tree.root(), Digest::of(b""));
        for (leaf, root) in leaves.into_iter().zip(roots) {
            tree.push(leaf_hash(leaf));
            assert_eq!(tree.root().to_string(), root);
        }
    }
}

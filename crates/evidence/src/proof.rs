//! Proofs over the tree, in the form of RFC 6962: that a leaf is in it, and that a smaller tree is
//! the beginning of it.

use crate::tree::{Digest, Tree, node_hash};

fn root(leaves: &[Digest]) -> Digest {
    leaves.iter().copied().collect::<Tree>().root()
}

/// The largest power of two that is smaller than `n`, which is 2 or more.
fn split(n: usize) -> usize {
    n.next_power_of_two() / 2
}

/// The proof that the leaf at `index` is in the tree of these leaf hashes; `None` when there is no
/// such leaf. The proof of the only leaf is empty.
pub fn prove_inclusion(leaves: &[Digest], index: usize) -> Option<Vec<Digest>> {
    if index >= leaves.len() {
        return None;
    }
    let (mut part, mut at, mut proof) = (leaves, index, Vec::new());
    while part.len() > 1 {
        let (left, right) = part.split_at(split(part.len()));
        if at < left.len() {
            proof.push(root(right));
            part = left;
        } else {
            proof.push(root(left));
            at -= left.len();
            part = right;
        }
    }
    proof.reverse();
    Some(proof)
}

/// The proof that the tree of the first `old_size` leaves is the beginning of the tree of all;
/// `None` when there are fewer leaves. It is empty where the two are one, and for an empty tree.
pub fn prove_consistency(leaves: &[Digest], old_size: usize) -> Option<Vec<Digest>> {
    if old_size > leaves.len() {
        return None;
    }
    let (mut part, mut old, mut proof) = (leaves, old_size, Vec::new());
    // Whether the old tree is a complete subtree from the first leaf on, which its verifier knows.
    let mut is_known = true;
    while old > 0 && old < part.len() {
        let (left, right) = part.split_at(split(part.len()));
        if old <= left.len() {
            proof.push(root(right));
            part = left;
        } else {
            proof.push(root(left));
            old -= left.len();
            part = right;
            is_known = false;
        }
    }
    if !is_known {
        proof.push(root(part));
    }
    proof.reverse();
    Some(proof)
}

/// A path from a node up to the root, by the number of the node in its row and of the last one.
struct Path {
    node: u64,
    last: u64,
}

impl Path {
    fn rise(&mut self) {
        self.node >>= 1;
        self.last >>= 1;
    }

    /// Takes one step, and says whether the other node stands to the left.
    fn step(&mut self) -> bool {
        let is_right = self.node & 1 == 1 || self.node == self.last;
        if is_right {
            while self.node & 1 == 0 && self.node != 0 {
                self.rise();
            }
        }
        self.rise();
        is_right
    }
}

/// Whether `proof` proves that a leaf with this hash is at `index` of the tree with this size and
/// root.
pub fn verify_inclusion(
    leaf: Digest,
    index: u64,
    (size, root): (u64, Digest),
    proof: &[Digest],
) -> bool {
    if index >= size {
        return false;
    }
    let (mut path, mut hash) = (Path { node: index, last: size - 1 }, leaf);
    for &other in proof {
        if path.last == 0 {
            return false;
        }
        hash = if path.step() { node_hash(other, hash) } else { node_hash(hash, other) };
    }
    path.last == 0 && hash == root
}

/// Whether `proof` proves that the tree `old` is the beginning of the tree `new`, each given by its
/// size and root.
pub fn verify_consistency(
    (old_size, old_root): (u64, Digest),
    (size, root): (u64, Digest),
    proof: &[Digest],
) -> bool {
    if old_size == 0 || old_size == size {
        let is_one = if old_size == size { old_root == root } else { old_root == Digest::of(b"") };
        return proof.is_empty() && is_one;
    }
    if old_size > size {
        return false;
    }
    let (first, rest) = match (old_size.is_power_of_two(), proof) {
        (true, rest) => (old_root, rest),
        (false, [first, rest @ ..]) => (*first, rest),
        (false, []) => return false,
    };
    let mut path = Path { node: old_size - 1, last: size - 1 };
    while path.node & 1 == 1 {
        path.rise();
    }
    let (mut old_hash, mut hash) = (first, first);
    for &other in rest {
        if path.last == 0 {
            return false;
        }
        if path.step() {
            old_hash = node_hash(other, old_hash);
            hash = node_hash(other, hash);
        } else {
            hash = node_hash(hash, other);
        }
    }
    path.last == 0 && old_hash == old_root && hash == root
}

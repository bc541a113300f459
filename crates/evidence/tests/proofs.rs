//! The tree and its proofs, against the definitions of RFC 6962 written down as they stand there.
#![allow(clippy::unwrap_used, reason = "functions that tests share")]

use noesc_evidence::{
    Digest, Tree, leaf_hash, prove_consistency, prove_inclusion, verify_consistency,
    verify_inclusion,
};
use sha2::{Digest as _, Sha256};

/// More than four rows, with every shape of the last subtree.
const LEAVES: usize = 35;

fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// The largest power of two smaller than `n`.
fn k(n: usize) -> usize {
    (0..).map(|bit| 1 << bit).take_while(|&power| power < n).last().unwrap()
}

fn mth(d: &[Vec<u8>]) -> Vec<u8> {
    match d {
        [] => sha256(b""),
        [only] => sha256(&[b"\0", only.as_slice()].concat()),
        _ => {
            let (left, right) = d.split_at(k(d.len()));
            sha256(&[b"\x01", mth(left).as_slice(), &mth(right)].concat())
        }
    }
}

fn path(m: usize, d: &[Vec<u8>]) -> Vec<Vec<u8>> {
    if d.len() == 1 {
        return vec![];
    }
    let k = k(d.len());
    let (mut path, other) =
        if m < k { (path(m, &d[..k]), mth(&d[k..])) } else { (path(m - k, &d[k..]), mth(&d[..k])) };
    path.push(other);
    path
}

fn subproof(m: usize, d: &[Vec<u8>], b: bool) -> Vec<Vec<u8>> {
    if m == d.len() {
        return if b { vec![] } else { vec![mth(d)] };
    }
    let k = k(d.len());
    let (mut proof, other) = if m <= k {
        (subproof(m, &d[..k], b), mth(&d[k..]))
    } else {
        (subproof(m - k, &d[k..], false), mth(&d[..k]))
    };
    proof.push(other);
    proof
}

fn leaves() -> Vec<Vec<u8>> {
    (0..LEAVES).map(|n| vec![b'a'; n]).collect()
}

fn bytes(proof: Option<Vec<Digest>>) -> Vec<Vec<u8>> {
    proof.unwrap().iter().map(|digest| digest.0.to_vec()).collect()
}

fn roots(hashes: &[Digest]) -> Vec<(u64, Digest)> {
    let tree = |n| hashes[..n].iter().copied().collect::<Tree>();
    (0..=hashes.len()).map(tree).map(|tree| (tree.size(), tree.root())).collect()
}

/// Every way in which a proof can be wrong by one step or one bit.
fn wrong(proof: &[Digest]) -> Vec<Vec<Digest>> {
    let mut all = vec![[proof, &[Digest::default()]].concat()];
    for at in 0..proof.len() {
        let mut other = proof.to_vec();
        other[at].0[at % 32] ^= 1;
        all.push(other);
        let mut other = proof.to_vec();
        other.remove(at);
        all.push(other);
    }
    all
}

#[test]
fn roots_are_those_of_the_definition() {
    let leaves = leaves();
    let hashes: Vec<_> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
    for (n, (size, root)) in roots(&hashes).into_iter().enumerate() {
        assert_eq!((size, root.0.to_vec()), (n as u64, mth(&leaves[..n])));
    }
}

#[test]
fn proofs_of_inclusion_are_those_of_the_definition_and_hold_for_nothing_else() {
    let leaves = leaves();
    let hashes: Vec<_> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
    for tree in roots(&hashes) {
        let n = usize::try_from(tree.0).unwrap();
        assert_eq!(prove_inclusion(&hashes[..n], n), None);
        for m in 0..n {
            let proof = prove_inclusion(&hashes[..n], m).unwrap();
            assert_eq!(bytes(Some(proof.clone())), path(m, &leaves[..n]), "{m} of {n}");
            assert!(verify_inclusion(hashes[m], m as u64, tree, &proof), "{m} of {n}");
            for other in wrong(&proof) {
                assert!(!verify_inclusion(hashes[m], m as u64, tree, &other), "{m} of {n}");
            }
            for index in (0..=n).filter(|&index| index != m) {
                assert!(!verify_inclusion(hashes[m], index as u64, tree, &proof));
            }
            assert!(!verify_inclusion(leaf_hash(b"b"), m as u64, tree, &proof));
        }
    }
}

#[test]
fn proofs_of_consistency_are_those_of_the_definition_and_hold_for_nothing_else() {
    let leaves = leaves();
    let hashes: Vec<_> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
    let roots = roots(&hashes);
    for &new in &roots {
        let n = usize::try_from(new.0).unwrap();
        assert_eq!(prove_consistency(&hashes[..n], n + 1), None);
        for &old in &roots[..=n] {
            let m = usize::try_from(old.0).unwrap();
            let proof = prove_consistency(&hashes[..n], m).unwrap();
            // The definition has no proof for an empty tree; ours is empty.
            let expected = if m == 0 { vec![] } else { subproof(m, &leaves[..n], true) };
            assert_eq!(bytes(Some(proof.clone())), expected, "{m} of {n}");
            assert!(verify_consistency(old, new, &proof), "{m} of {n}");
            for other in wrong(&proof) {
                assert!(!verify_consistency(old, new, &other), "{m} of {n}");
            }
            let changed = (old.0, Digest([1; 32]));
            assert!(!verify_consistency(changed, new, &proof), "{m} of {n}");
            assert!(m == n || !verify_consistency(new, old, &proof), "{m} of {n}");
        }
    }
}

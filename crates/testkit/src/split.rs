//! The ways to cut an input into chunks: the same bytes in any chunks must give the same answer.

use std::fmt;

use proptest::prelude::{Strategy, any};
use proptest::sample::Index;

/// Every cut into two pieces, the empty ones at both ends included: `input.len() + 1` pairs.
///
/// ```
/// let pairs: Vec<_> = noesc_testkit::split::in_two(b"ab").collect();
/// assert_eq!(pairs, [(&b""[..], &b"ab"[..]), (b"a", b"b"), (b"ab", b"")]);
/// ```
pub fn in_two(input: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    (0..=input.len()).map(|at| input.split_at(at))
}

/// All bytes one by one.
///
/// ```
/// let chunks: Vec<_> = noesc_testkit::split::single_bytes(b"ab").collect();
/// assert_eq!(chunks, [b"a", b"b"]);
/// ```
pub fn single_bytes(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    input.chunks(1)
}

/// Places to cut that fit any input.
#[derive(Clone)]
pub struct Cuts(Vec<Index>);

impl Cuts {
    /// The input in one chunk more than there are places; some of the chunks may be empty.
    #[must_use]
    pub fn of<'a>(&self, input: &'a [u8]) -> Vec<&'a [u8]> {
        let mut places: Vec<usize> = self.0.iter().map(|i| i.index(input.len() + 1)).collect();
        places.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for end in places.into_iter().chain([input.len()]) {
            chunks.push(&input[start..end]);
            start = end;
        }
        chunks
    }
}

impl fmt::Debug for Cuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuts({} places)", self.0.len())
    }
}

/// Up to 12 random cuts.
pub fn cuts() -> impl Strategy<Value = Cuts> {
    proptest::collection::vec(any::<Index>(), 0..=12).prop_map(Cuts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_are_the_input(input: Vec<u8>, cuts in cuts()) {
            prop_assert_eq!(cuts.of(&input).concat(), input.clone());
            prop_assert_eq!(single_bytes(&input).collect::<Vec<_>>().concat(), input.clone());
            prop_assert!(in_two(&input).all(|(a, b)| [a, b].concat() == input));
            prop_assert_eq!(in_two(&input).count(), input.len() + 1);
        }
    }
}

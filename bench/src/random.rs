//! Numbers that look random and are the same at every start.

/// A small generator (SplitMix64): good enough to shuffle text, and for nothing secret.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed. A word as seed, as the name of an input, keeps sequences apart.
    pub(crate) fn new(seed: &str) -> Self {
        // FNV-1a.
        let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        Self(seed.bytes().fold(0xCBF2_9CE4_8422_2325, mix))
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, or 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.bits() % (bound as u64).max(1)).unwrap_or(0)
    }

    /// Whether one of `count` throws was it.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of these; the default where there is none.
    pub(crate) fn of<T: Copy + Default>(&mut self, from: &[T]) -> T {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_seed_others() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers("a"), numbers("a"));
        assert_ne!(numbers("a"), numbers("b"));
        assert!(numbers("a").iter().all(|&number| number < 1000));
    }

    #[test]
    fn what_is_empty_has_a_default() {
        let mut random = Random::new("");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.of::<&str>(&[]), "");
    }
}

//! A small generator of numbers: the same seed gives the same year on every machine.

use dormouse_fixtures::SplitMix64;

/// Chance, with what a year asks of it.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    /// A number from 0 to below `n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    /// True in so many of a thousand cases.
    pub(crate) fn permille(&mut self, n: usize) -> bool {
        self.below(1000) < n
    }

    /// One of `items`.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A seed from a text: FNV-1a.
pub(crate) fn hashed(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

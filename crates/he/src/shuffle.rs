//! One secret order for several batches, each brought into it in constant time.
//!
//! Every place gets a random key of 128 bits, and the keys are sorted by a network: Batcher's merge exchange (Knuth, *The Art
//! of Computer Programming* 3, §5.2.2, algorithm M), whose comparisons depend on the number of places alone. All orders are
//! alike likely, but that two of n keys are equal with a chance below n²·2⁻¹²⁹.

use kernels::generator::Generator;
use zeroize::Zeroizing;

use crate::error::Result;
use crate::group::{Ciphertexts, Group};

/// A secret order. It has no `Debug`.
pub struct Shuffle(Zeroizing<Vec<u128>>);

impl Shuffle {
    /// A random order of so many places.
    pub fn new(len: usize, rng: &mut Generator) -> Self {
        let mut words = Zeroizing::new(vec![0; 2 * len]);
        rng.words(&mut words);
        Shuffle(Zeroizing::new(words.as_chunks().0.iter().map(|&[low, high]| join(low, high)).collect()))
    }

    /// Ciphertexts in this order.
    ///
    /// # Errors
    /// If they are not as many as its places.
    pub fn ciphertexts(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts> {
        let mut out = ciphertexts.clone();
        self.apply(out.len(), |a, b, mask| out.residues.swap_masked(a, b, mask))?;
        Ok(out)
    }

    /// Numbers in this order.
    ///
    /// # Errors
    /// If they are not as many as its places.
    pub fn numbers(&self, numbers: &[u64]) -> Result<Zeroizing<Vec<u64>>> {
        let mut out = Zeroizing::new(numbers.to_vec());
        self.apply(out.len(), |a, b, mask| {
            let differ = (out[a] ^ out[b]) & mask;
            out[a] ^= differ;
            out[b] ^= differ;
        })?;
        Ok(out)
    }

    /// Sorts the keys, and swaps with them.
    fn apply(&self, len: usize, mut swap: impl FnMut(usize, usize, u64)) -> Result<()> {
        Group::check_lengths(len, self.0.len())?;
        let mut keys = self.0.clone();
        merge_exchange(len, |a, b| {
            let (_, less) = keys[b].overflowing_sub(keys[a]);
            let mask = std::hint::black_box(u64::from(less).wrapping_neg());
            let differ = (keys[a] ^ keys[b]) & join(mask, mask);
            keys[a] ^= differ;
            keys[b] ^= differ;
            swap(a, b, mask);
        });
        Ok(())
    }
}

fn join(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

/// The pairs of places that are compared, the lower one first.
fn merge_exchange(len: usize, mut compare: impl FnMut(usize, usize)) {
    let highest = len.next_power_of_two() / 2;
    let mut p = highest;
    while p > 0 {
        let (mut q, mut r, mut d) = (highest, 0, p);
        loop {
            (0..len.saturating_sub(d)).filter(|i| i & p == r).for_each(|i| compare(i, i + d));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use std::collections::HashMap;

    /// Knuth's zero-one principle: a network that sorts all sequences of zeros and ones sorts everything.
    #[test]
    fn the_network_sorts_all_sequences_of_zeros_and_ones() {
        for len in 0..14_usize {
            for bits in 0..1_u32 << len {
                let mut sorted: Vec<bool> = (0..len).map(|i| bits >> i & 1 == 1).collect();
                merge_exchange(len, |a, b| (sorted[a], sorted[b]) = (sorted[a] & sorted[b], sorted[a] | sorted[b]));
                assert!(sorted.is_sorted(), "{len} places, {bits:b}");
            }
        }
    }

    #[test]
    fn all_orders_are_alike_likely() {
        let mut dice = Generator::from_seed(Block::new(71));
        let mut seen = HashMap::<Vec<u64>, u32>::new();
        for _ in 0..24 * 500 {
            let order = Shuffle::new(4, &mut dice).numbers(&[0, 1, 2, 3]).expect("as many");
            *seen.entry(order.to_vec()).or_default() += 1;
        }
        // Six standard deviations of 12,000 trials of one in 24 are 132.
        assert_eq!(seen.len(), 24);
        assert!(seen.values().all(|&count| count.abs_diff(500) < 132), "{:?}", seen.values());
    }

    #[test]
    fn batches_of_another_length_are_refused() {
        let shuffle = Shuffle::new(3, &mut Generator::from_seed(Block::new(72)));
        assert!(shuffle.numbers(&[1, 2]).is_err());
    }
}

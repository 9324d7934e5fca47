//! Random orders that no address tells.

use duologue::call::Zeroizing;
use kernels::generator::Generator;

/// Puts the records of `size` bytes of each group of `group` of them in a random order: sorts them by random keys of 128
/// bits, by a network whose steps depend on nothing but `group`.
pub fn shuffle(bytes: &mut [u8], size: usize, group: usize, rng: &mut Generator) {
    let comparators = comparators(group);
    for records in bytes.chunks_exact_mut(group * size) {
        let mut keys: Zeroizing<Vec<u128>> = Zeroizing::new((0..group).map(|_| rng.block().get()).collect());
        for &(low, high) in &comparators {
            let (_, greater) = keys[high].overflowing_sub(keys[low]);
            let mask = std::hint::black_box(u8::from(greater).wrapping_neg());
            let wide = u128::from_ne_bytes([mask; 16]) & (keys[low] ^ keys[high]);
            keys[low] ^= wide;
            keys[high] ^= wide;
            let (before, after) = records.split_at_mut(high * size);
            swap(&mut before[low * size..][..size], &mut after[..size], mask);
        }
    }
}

/// Swaps where the mask is ones.
fn swap(a: &mut [u8], b: &mut [u8], mask: u8) {
    for (a, b) in a.iter_mut().zip(b) {
        let change = (*a ^ *b) & mask;
        *a ^= change;
        *b ^= change;
    }
}

/// Batcher's merge exchange for any number of records (Knuth, *The Art of Computer Programming*, vol. 3, 5.2.2, M).
fn comparators(count: usize) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let top = count.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            all.extend((0..count - d).filter(|i| i & p == r).map(|i| (i, i + d)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    /// Every input of zeros and ones comes out sorted, and so every input (Knuth, 5.3.4, Z).
    #[test]
    fn the_network_sorts() {
        for count in 0..=16 {
            let comparators = comparators(count);
            for mut bits in 0_u32..1 << count {
                let ones = bits.count_ones();
                for &(low, high) in &comparators {
                    if bits >> low & 1 > bits >> high & 1 {
                        bits ^= 1 << low | 1 << high;
                    }
                }
                assert_eq!(bits, ((1_u32 << ones) - 1) << (count as u32 - ones));
            }
        }
    }

    #[test]
    fn each_record_comes_to_each_place_as_often() {
        let (group, runs) = (5, 4000);
        let mut rng = Generator::from_seed(Block::new(71));
        let mut at = vec![0_u32; group * group];
        for _ in 0..runs {
            let mut bytes: Vec<u8> = (0..2 * group as u8).flat_map(|record| [record; 3]).collect();
            shuffle(&mut bytes, 3, group, &mut rng);
            let mut seen = vec![false; 2 * group];
            for (place, record) in bytes.chunks(3).enumerate() {
                let number = usize::from(record[0]);
                assert!(record == [record[0]; 3] && number / group == place / group && !seen[number]);
                seen[number] = true;
                at[number % group * group + place % group] += 1;
            }
        }
        // 2·runs draws of probability 1/5: six standard deviations.
        let expected = 2.0 * f64::from(runs) / group as f64;
        let most = 6.0 * (expected * 0.8).sqrt();
        assert!(at.iter().all(|&count| (f64::from(count) - expected).abs() < most), "{at:?}");
    }
}

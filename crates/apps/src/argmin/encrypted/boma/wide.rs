//! Numbers of up to 448 bits: differences of 128 bits, blinded with 128 bits of statistical security, are the largest.
//!
//! Constant time in the numbers; they are erased when dropped.

use duologue::call::Zeroizing;
use he::Plaintexts;
use kernels::generator::Generator;

/// Words of a number.
const WORDS: usize = 7;

/// A number, the lowest word first. It has no `Debug`.
#[derive(Clone)]
pub struct Wide(Zeroizing<[u64; WORDS]>);

impl Wide {
    /// The first words of a number, of which the others are zero.
    pub fn new(words: &[u64]) -> Wide {
        let mut wide = Zeroizing::new([0; WORDS]);
        wide.iter_mut().zip(words).for_each(|(to, &word)| *to = word);
        Wide(wide)
    }

    /// A random number of at most `bits` bits.
    pub fn random(bits: u32, rng: &mut Generator) -> Wide {
        let mut wide = Zeroizing::new([0; WORDS]);
        rng.words(&mut wide[..]);
        Wide(wide).low(bits)
    }

    pub fn power_of_two(bit: u32) -> Wide {
        let mut wide = Wide::new(&[]);
        wide.0[bit as usize / 64] = 1 << (bit % 64);
        wide
    }

    /// The lowest `bits` bits.
    pub fn low(mut self, bits: u32) -> Wide {
        for (from, word) in (0..).step_by(64).zip(self.0.iter_mut()) {
            *word &= match bits.saturating_sub(from) {
                kept @ 0..64 => (1 << kept) - 1,
                _ => !0,
            };
        }
        self
    }

    /// One bit, 0 or 1.
    pub fn bit(&self, bit: u32) -> u64 {
        self.0[bit as usize / 64] >> (bit % 64) & 1
    }

    pub fn plus(&self, other: &Wide) -> Wide {
        let (mut sum, mut carry) = (self.clone(), 0);
        for (word, &other) in sum.0.iter_mut().zip(other.0.iter()) {
            let wide = u128::from(*word) + u128::from(other) + carry;
            (*word, carry) = (wide as u64, wide >> 64);
        }
        sum
    }

    pub fn minus(&self, other: &Wide) -> Wide {
        self.difference(other).0
    }

    pub fn is_less(&self, other: &Wide) -> bool {
        self.difference(other).1
    }

    /// Modulo 2^448, and whether it is negative.
    fn difference(&self, other: &Wide) -> (Wide, bool) {
        let (mut difference, mut borrow) = (self.clone(), false);
        for (word, &other) in difference.0.iter_mut().zip(other.0.iter()) {
            let (less, first) = word.overflowing_sub(other);
            let (less, second) = less.overflowing_sub(u64::from(borrow));
            (*word, borrow) = (less, first | second);
        }
        (difference, borrow)
    }

    /// One of two numbers, by a bit.
    pub fn select(bit: u64, zero: &Wide, one: &Wide) -> Wide {
        let (mask, mut out) = (mask(bit), zero.clone());
        out.0.iter_mut().zip(one.0.iter()).for_each(|(word, one)| *word ^= (*word ^ one) & mask);
        out
    }

    /// Numbers to be encrypted.
    pub fn plaintexts<'a>(numbers: impl Iterator<Item = &'a Wide>) -> Plaintexts {
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(numbers.flat_map(|number| number.0.to_vec()).collect());
        Plaintexts::from_words(&words, WORDS)
    }
}

/// All bits or none.
pub fn mask(bit: u64) -> u64 {
    std::hint::black_box(bit.wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    #[test]
    fn sums_and_differences_are_those_of_128_bits_and_carry_beyond() {
        let mut dice = Generator::from_seed(Block::new(81));
        for _ in 0..200 {
            let [a, b] = [(); 2].map(|()| Wide::random(126, &mut dice));
            let number = |x: &Wide| u128::from(x.0[0]) | u128::from(x.0[1]) << 64;
            assert_eq!(number(&a.plus(&b)), number(&a) + number(&b));
            assert_eq!(a.is_less(&b), number(&a) < number(&b));
            assert_eq!(number(&a.minus(&b)), number(&a).wrapping_sub(number(&b)));
            assert_eq!(number(&Wide::select(1, &a, &b)), number(&b));
            assert_eq!(number(&Wide::select(0, &a, &b)), number(&a));
        }
        let all = Wide::power_of_two(447).minus(&Wide::new(&[1]));
        assert!((0..447).all(|bit| all.bit(bit) == 1) && all.bit(447) == 0);
        let next = all.plus(&Wide::new(&[1]));
        assert!((0..447).all(|bit| next.bit(bit) == 0) && next.bit(447) == 1);
    }

    #[test]
    fn random_numbers_have_all_their_bits_and_no_more() {
        let mut dice = Generator::from_seed(Block::new(82));
        for bits in [1, 63, 64, 65, 72, 168, 297, 447] {
            let (mut or, limit) = (Wide::new(&[]), Wide::power_of_two(bits));
            for _ in 0..100 {
                let x = Wide::random(bits, &mut dice);
                assert!(x.is_less(&limit));
                or.0.iter_mut().zip(x.0.iter()).for_each(|(or, x)| *or |= x);
            }
            assert!((0..bits).all(|bit| or.bit(bit) == 1));
        }
    }
}

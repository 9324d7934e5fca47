//! Numbers of up to 448 bits, for what blinds and what is cut out of blinded numbers: products of differences of 128 bits with
//! numbers of 128 bits of statistical security more are the largest. One by one, and in batches.
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

    /// The product modulo 2^448.
    fn times(&self, other: &Wide) -> Wide {
        let mut product = Wide::new(&[]);
        for (i, &x) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (out, &y) in product.0[i..].iter_mut().zip(other.0.iter()) {
                let sum = u128::from(*out) + u128::from(x) * u128::from(y) + carry;
                (*out, carry) = (sum as u64, sum >> 64);
            }
        }
        product
    }

    /// Divided by 2^by, rounded down.
    fn shifted_down(&self, by: u32) -> Wide {
        let (whole, rest) = (by as usize / 64, by % 64);
        let word = |i: usize| u128::from(self.0.get(i).copied().unwrap_or(0));
        let mut out = Wide::new(&[]);
        (0..).zip(out.0.iter_mut()).for_each(|(i, out)| {
            *out = ((word(whole + i) | word(whole + i + 1) << 64) >> rest) as u64;
        });
        out
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

/// Numbers of one word.
pub fn tabulate(count: usize, number: impl Fn(usize) -> u64) -> Plaintexts {
    let words: Zeroizing<Vec<u64>> = Zeroizing::new((0..count).map(number).collect());
    Plaintexts::from_words(&words, 1)
}

/// Random numbers of `bits` bits.
pub fn random(count: usize, bits: u32, rng: &mut Generator) -> Plaintexts {
    build(count, |_| Wide::random(bits, rng))
}

/// Sums of numbers at the same places.
pub fn sums(a: &Plaintexts, b: &Plaintexts) -> Plaintexts {
    build(a.len(), |at| Wide::new(a.get(at)).plus(&Wide::new(b.get(at))))
}

/// Sums with 2^bit.
pub fn plus_power(a: &Plaintexts, bit: u32) -> Plaintexts {
    build(a.len(), |at| Wide::new(a.get(at)).plus(&Wide::power_of_two(bit)))
}

/// Numbers divided by 2^by, rounded down.
pub fn shifted_down(a: &Plaintexts, by: u32) -> Plaintexts {
    build(a.len(), |at| Wide::new(a.get(at)).shifted_down(by))
}

/// Products of numbers at the same places.
pub fn products(a: &Plaintexts, b: &Plaintexts) -> Plaintexts {
    build(a.len(), |at| Wide::new(a.get(at)).times(&Wide::new(b.get(at))))
}

/// All twice, one after the other.
pub fn twice(a: &Plaintexts) -> Plaintexts {
    build(2 * a.len(), |at| Wide::new(a.get(at % a.len())))
}

fn build(count: usize, number: impl FnMut(usize) -> Wide) -> Plaintexts {
    let numbers: Vec<Wide> = (0..count).map(number).collect();
    Wide::plaintexts(numbers.iter())
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
    fn batches_carry_over_words() {
        let words = |numbers: &[u64]| Wide::new(numbers).0.to_vec();
        let values = [0, 1, u128::MAX, 1 << 64, u128::from(u64::MAX), 0x1234_5678_9abc_def0_0fed_cba9_8765_4321];
        for a in values {
            for b in values {
                let [x, y] = [a, b].map(|number| Plaintexts::new(&[number]));
                let (sum, over) = a.overflowing_add(b);
                assert_eq!(sums(&x, &y).get(0), words(&[sum as u64, (sum >> 64) as u64, u64::from(over)]));
                let (low, high) = wide_product(a, b);
                let expected = [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64];
                assert_eq!(products(&x, &y).get(0), words(&expected));
            }
            for by in [0, 1, 63, 64, 65, 127] {
                assert_eq!(shifted_down(&Plaintexts::new(&[a]), by).to_u128s().map(|x| x[0]), Some(a >> by));
            }
        }
        assert_eq!(plus_power(&Plaintexts::new(&[u128::MAX]), 0).get(0), words(&[0, 0, 1]));
        assert_eq!(plus_power(&tabulate(1, |_| 5), 128).get(0), words(&[5, 0, 1]));
        assert_eq!(twice(&tabulate(2, |at| at as u64)).to_u128s().map(|x| x.to_vec()), Some(vec![0, 1, 0, 1]));
        let all = Wide::power_of_two(224).minus(&Wide::new(&[1]));
        let square = Wide::power_of_two(225).minus(&Wide::new(&[1]));
        assert!(all.times(&all).plus(&square).0.iter().all(|&word| word == 0), "(2²²⁴ − 1)² + 2²²⁵ − 1 = 2⁴⁴⁸");
    }

    /// a·b by halves of 64 bits.
    fn wide_product(a: u128, b: u128) -> (u128, u128) {
        let half = |x: u128| [x & u128::from(u64::MAX), x >> 64];
        let ([a0, a1], [b0, b1]) = (half(a), half(b));
        let (middle, over) = (a0 * b1).overflowing_add(a1 * b0);
        let (low, carry) = (a0 * b0).overflowing_add(middle << 64);
        (low, a1 * b1 + (middle >> 64) + (u128::from(over) << 64) + u128::from(carry))
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

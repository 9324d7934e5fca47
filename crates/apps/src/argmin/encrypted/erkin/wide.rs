//! Numbers of any lengths in batches: what blinds, and what is cut out of blinded numbers.

use duologue::call::Zeroizing;
use he::Plaintexts;
use kernels::generator::Generator;

/// Numbers of `each` words, written one after the other.
fn build(count: usize, each: usize, mut write: impl FnMut(usize, &mut [u64])) -> Plaintexts {
    let mut words = Zeroizing::new(vec![0; count * each]);
    words.chunks_exact_mut(each).enumerate().for_each(|(at, number)| write(at, number));
    Plaintexts::from_words(&words, each)
}

/// Numbers of one word.
pub fn tabulate(count: usize, number: impl Fn(usize) -> u64) -> Plaintexts {
    build(count, 1, |at, out| out[0] = number(at))
}

/// Random numbers of `bits` bits.
pub fn random(count: usize, bits: u32, rng: &mut Generator) -> Plaintexts {
    let above = bits.div_ceil(64) * 64 - bits;
    build(count, bits.div_ceil(64) as usize, |_, out| {
        rng.words(out);
        if let Some(last) = out.last_mut() {
            *last &= u64::MAX >> above;
        }
    })
}

/// The number of words of each.
fn each(numbers: &Plaintexts) -> usize {
    numbers.iter().next().map_or(1, <[u64]>::len)
}

/// Sums of numbers at the same places.
pub fn sums(a: &Plaintexts, b: &Plaintexts) -> Plaintexts {
    build(a.len(), each(a).max(each(b)) + 1, |at, out| {
        out[..a.get(at).len()].copy_from_slice(a.get(at));
        let mut carry = 0;
        for (i, out) in out.iter_mut().enumerate() {
            let sum = u128::from(*out) + u128::from(b.get(at).get(i).copied().unwrap_or(0)) + carry;
            (*out, carry) = (sum as u64, sum >> 64);
        }
    })
}

/// Sums with 2^bit.
pub fn plus_power(a: &Plaintexts, bit: u32) -> Plaintexts {
    let power = build(a.len(), bit as usize / 64 + 1, |_, out| out[bit as usize / 64] = 1 << (bit % 64));
    sums(a, &power)
}

/// Numbers divided by 2^by, rounded down.
pub fn shifted_down(a: &Plaintexts, by: u32) -> Plaintexts {
    let (whole, rest) = (by as usize / 64, by % 64);
    build(a.len(), each(a), |at, out| {
        let word = |i: usize| u128::from(a.get(at).get(i).copied().unwrap_or(0));
        (0..).zip(out).for_each(|(i, out)| *out = ((word(whole + i) | word(whole + i + 1) << 64) >> rest) as u64);
    })
}

/// Products of numbers at the same places.
pub fn products(a: &Plaintexts, b: &Plaintexts) -> Plaintexts {
    build(a.len(), each(a) + each(b), |at, out| {
        for (i, &x) in a.get(at).iter().enumerate() {
            let mut carry = 0;
            for (out, &y) in out[i..].iter_mut().zip(b.get(at)) {
                let sum = u128::from(*out) + u128::from(x) * u128::from(y) + carry;
                (*out, carry) = (sum as u64, sum >> 64);
            }
            out[i + each(b)] = carry as u64;
        }
    })
}

/// All twice, one after the other.
pub fn twice(a: &Plaintexts) -> Plaintexts {
    build(2 * a.len(), each(a), |at, out| out.copy_from_slice(a.get(at % a.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_carries_over_words() {
        let values = [0, 1, u128::MAX, 1 << 64, u128::from(u64::MAX), 0x1234_5678_9abc_def0_0fed_cba9_8765_4321];
        for a in values {
            for b in values {
                let [x, y] = [a, b].map(|number| Plaintexts::new(&[number]));
                let (sum, over) = a.overflowing_add(b);
                assert_eq!(sums(&x, &y).get(0), [sum as u64, (sum >> 64) as u64, u64::from(over)]);
                let (low, high) = wide_product(a, b);
                let words = [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64];
                assert_eq!(products(&x, &y).get(0), words);
            }
            for by in [0, 1, 63, 64, 65, 127] {
                assert_eq!(shifted_down(&Plaintexts::new(&[a]), by).to_u128s().map(|x| x[0]), Some(a >> by));
            }
        }
        assert_eq!(plus_power(&Plaintexts::new(&[u128::MAX]), 0).get(0), [0, 0, 1]);
        assert_eq!(plus_power(&tabulate(1, |_| 5), 128).get(0), [5, 0, 1, 0]);
        assert_eq!(twice(&tabulate(2, |at| at as u64)).to_u128s().map(|x| x.to_vec()), Some(vec![0, 1, 0, 1]));
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
        let mut rng = Generator::from_seed(kernels::Block::new(72));
        for bits in [1, 41, 64, 65, 170] {
            let any = random(200, bits, &mut rng).iter().fold(vec![0; 3], |any: Vec<u64>, number| {
                (0..3).map(|i| any[i] | number.get(i).copied().unwrap_or(0)).collect()
            });
            assert_eq!(any.iter().map(|word| word.count_ones()).sum::<u32>(), bits);
        }
    }
}

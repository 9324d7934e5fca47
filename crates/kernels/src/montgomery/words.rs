//! Numbers as little-endian words of 64 bits: what a modulus is set up with, and how words become limbs and back.

use zeroize::Zeroizing;

use super::portable::subtract_if_not_less;
use crate::backend::limbs::{LIMB_BITS, LIMB_MASK};

/// The number of bits, which is public.
pub(crate) fn bits(words: &[u64]) -> usize {
    let len = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    64 * len - words[..len].last().map_or(0, |last| last.leading_zeros() as usize)
}

/// −1/n modulo 2⁶⁴ for odd n, by Newton's iteration: each step doubles the bits that are right, of which n has three.
pub(crate) fn negative_inverse(n: u64) -> u64 {
    let inverse = (0..5).fold(n, |x: u64, _| x.wrapping_mul(2_u64.wrapping_sub(n.wrapping_mul(x))));
    inverse.wrapping_neg()
}

/// 2^power modulo n, in constant time but for the number of bits of n. `power` is not below that number.
pub(crate) fn power_of_two(power: usize, n: &[u64]) -> Zeroizing<Vec<u64>> {
    let below = bits(n) - 1;
    let mut x = one_bit(below, n.len());
    for _ in below..power {
        double(&mut x, 0, n);
    }
    x
}

/// 2^power modulo n², as a and b of a + b·n, both less than n; in the same way.
pub(crate) fn power_of_two_by_root(power: usize, n: &[u64]) -> [Zeroizing<Vec<u64>>; 2] {
    let below = bits(n) - 1;
    let (mut a, mut b) = (one_bit(below, n.len()), Zeroizing::new(vec![0; n.len()]));
    for _ in below..power {
        let over = double(&mut a, 0, n);
        double(&mut b, over, n);
    }
    [a, b]
}

fn one_bit(at: usize, len: usize) -> Zeroizing<Vec<u64>> {
    let mut x = Zeroizing::new(vec![0; len]);
    x[at / 64] = 1 << (at % 64);
    x
}

/// 2x and a bit, modulo n; one if n was subtracted.
fn double(x: &mut [u64], mut carry: u64, n: &[u64]) -> u64 {
    for word in x.iter_mut() {
        (*word, carry) = (*word << 1 | carry, *word >> 63);
    }
    subtract_if_not_less(x, carry, n)
}

/// x·y + z, with as many words as x and y have; z has no more than those, and it fits.
pub(crate) fn product_and_sum(x: &[u64], y: &[u64], z: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut out = Zeroizing::new(vec![0; x.len() + y.len()]);
    out[..z.len()].copy_from_slice(z);
    for (i, &x) in x.iter().enumerate() {
        let mut carry = 0;
        for (&y, out) in y.iter().zip(&mut out[i..]) {
            let sum = u128::from(*out) + u128::from(x) * u128::from(y) + u128::from(carry);
            (*out, carry) = (sum as u64, (sum >> 64) as u64);
        }
        add_small(&mut out[i + y.len()..], carry);
    }
    out
}

/// Adds one word to a number, where the sum fits.
pub(crate) fn add_small(x: &mut [u64], mut carry: u64) {
    for word in x {
        let (sum, over) = word.overflowing_add(carry);
        (*word, carry) = (sum, u64::from(over));
    }
}

/// Limb number k, of 52 bits; zero after the last.
pub(crate) fn limb(words: &[u64], k: usize) -> u64 {
    let (word, shift) = (LIMB_BITS * k / 64, LIMB_BITS * k % 64);
    let at = |i: usize| words.get(i).copied().unwrap_or(0);
    let high = if shift > 64 - LIMB_BITS { at(word + 1) << (64 - shift) } else { 0 };
    (at(word) >> shift | high) & LIMB_MASK
}

/// Adds limb number k to words that are zero at its place.
pub(crate) fn put_limb(words: &mut [u64], k: usize, limb: u64) {
    let (word, shift) = (LIMB_BITS * k / 64, LIMB_BITS * k % 64);
    let mut put = |i: usize, part: u64| {
        if let Some(word) = words.get_mut(i) {
            *word |= part;
        }
    };
    put(word, limb << shift);
    if shift > 64 - LIMB_BITS {
        put(word + 1, limb >> (64 - shift));
    }
}

/// `width` bits from bit `at` on; zeros after the last word. At most 57 bits.
pub(crate) fn digit(words: &[u64], at: usize, width: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let part = |i: usize| words.get(i).copied().unwrap_or(0);
    let high = if shift + width > 64 { part(word + 1) << (64 - shift) } else { 0 };
    (part(word) >> shift | high) & ((1 << width) - 1)
}

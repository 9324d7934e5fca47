//! Numbers as little-endian words of 64 bits, for what is set up or computed once a value: division, inverses, symbols.
//!
//! The arithmetic is that of crypto-bigint, in constant time in the numbers unless a name ends in `vartime`. Lengths of
//! numbers are public.

use crypto_bigint::{BoxedUint, Gcd, JacobiSymbol, NonZero, Odd, Uint};
use kernels::generator::Generator;
use kernels::montgomery::Modulus;
use zeroize::Zeroizing;

use crate::jacobi;

/// A number that is erased when dropped.
pub(crate) type Words = Zeroizing<Vec<u64>>;

pub(crate) fn words(slice: &[u64]) -> Words {
    Zeroizing::new(slice.to_vec())
}

/// The number of bits, in variable time: of numbers whose length is public.
pub(crate) fn bits(x: &[u64]) -> u32 {
    let len = x.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    (64 * len) as u32 - x[..len].last().map_or(0, |last| last.leading_zeros())
}

pub(crate) fn small(x: u64, len: usize) -> Words {
    let mut words = Zeroizing::new(vec![0; len]);
    words[0] = x;
    words
}

/// The number with more words, or with those beyond `len` left out.
pub(crate) fn resized(x: &[u64], len: usize) -> Words {
    let mut out = Zeroizing::new(vec![0; len]);
    let common = len.min(x.len());
    out[..common].copy_from_slice(&x[..common]);
    out
}

fn uint(x: &[u64]) -> Zeroizing<BoxedUint> {
    Zeroizing::new(bare_uint(x))
}

fn bare_uint(x: &[u64]) -> BoxedUint {
    BoxedUint::from_le_slice_truncated(&to_bytes(x, 8 * x.len()), 64 * x.len() as u32)
}

fn odd(x: &[u64]) -> Option<Zeroizing<Odd<BoxedUint>>> {
    Odd::new(bare_uint(x)).into_option().map(Zeroizing::new)
}

fn divisor(x: &[u64]) -> Zeroizing<NonZero<BoxedUint>> {
    Zeroizing::new(NonZero::new(bare_uint(x)).into_option().expect("a divisor that is not zero"))
}

fn from_uint(x: &BoxedUint, len: usize) -> Words {
    from_bytes(&Zeroizing::new(x.to_le_bytes()), len)
}

/// The first `len` bytes, the lowest first.
pub(crate) fn to_bytes(x: &[u64], len: usize) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; 8 * x.len()]);
    bytes.chunks_exact_mut(8).zip(x).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
    bytes.resize(len, 0);
    bytes
}

/// The number of little-endian bytes; bytes beyond `len` words are left out.
pub(crate) fn from_bytes(bytes: &[u8], len: usize) -> Words {
    let mut words = Zeroizing::new(vec![0; len]);
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    words
}

/// x·y, with as many words as both have.
pub(crate) fn product(x: &[u64], y: &[u64]) -> Words {
    let mut out = Zeroizing::new(vec![0; x.len() + y.len()]);
    for (i, &x) in x.iter().enumerate() {
        let mut carry = 0;
        for (&y, out) in y.iter().zip(&mut out[i..]) {
            let sum = u128::from(*out) + u128::from(x) * u128::from(y) + u128::from(carry);
            (*out, carry) = (sum as u64, (sum >> 64) as u64);
        }
        out[i + y.len()] = carry;
    }
    out
}

/// x += y, where the sum fits.
pub(crate) fn add(x: &mut [u64], y: &[u64]) {
    let mut carry = 0;
    for (i, x) in x.iter_mut().enumerate() {
        let sum = u128::from(*x) + u128::from(y.get(i).copied().unwrap_or(0)) + u128::from(carry);
        (*x, carry) = (sum as u64, (sum >> 64) as u64);
    }
}

/// x −= y modulo 2^(64·words); one if y is larger.
pub(crate) fn subtract(x: &mut [u64], y: &[u64]) -> u64 {
    let mut borrow = 0;
    for (i, x) in x.iter_mut().enumerate() {
        let (difference, first) = x.overflowing_sub(y.get(i).copied().unwrap_or(0));
        let (difference, second) = difference.overflowing_sub(borrow);
        (*x, borrow) = (difference, u64::from(first | second));
    }
    borrow
}

/// x − y modulo n, both below n.
pub(crate) fn subtract_modulo(x: &[u64], y: &[u64], n: &[u64]) -> Words {
    let mut out = words(x);
    let mask = std::hint::black_box(subtract(&mut out, y).wrapping_neg());
    let back: Words = Zeroizing::new(n.iter().map(|word| word & mask).collect());
    add(&mut out, &back);
    out
}

/// Whether x < y, in constant time; y has no fewer words.
pub(crate) fn is_less(x: &[u64], y: &[u64]) -> bool {
    subtract(&mut resized(x, y.len().max(x.len())), y) == 1
}

pub(crate) fn is_zero(x: &[u64]) -> bool {
    x.iter().fold(0, |all, word| all | word) == 0
}

pub(crate) fn is_equal(x: &[u64], y: &[u64]) -> bool {
    x.len() == y.len() && x.iter().zip(y).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

/// x modulo n, which is not 0; with the words of n.
pub(crate) fn remainder(x: &[u64], n: &[u64]) -> Words {
    from_uint(&Zeroizing::new(BoxedUint::rem(&uint(x), &divisor(n))), n.len())
}

/// x / n for a multiple x of an odd n, if it fits the words of n: the lowest words decide (Jebelean, *An algorithm for exact
/// division*, 1993).
pub(crate) fn exact_quotient(x: &[u64], n: &[u64]) -> Words {
    let inverse = inverse_of_word(n[0]);
    let (mut rest, mut out) = (resized(x, n.len()), small(0, n.len()));
    for i in 0..n.len() {
        let digit = rest[i].wrapping_mul(inverse);
        out[i] = digit;
        let mut borrow = 0;
        for (rest, &n) in rest[i..].iter_mut().zip(n) {
            let product = u128::from(n) * u128::from(digit) + u128::from(borrow);
            let (difference, less) = rest.overflowing_sub(product as u64);
            (*rest, borrow) = (difference, (product >> 64) as u64 + u64::from(less));
        }
    }
    out
}

/// 1/n modulo 2⁶⁴ for odd n: n itself is right in three bits, and each step doubles how many are.
fn inverse_of_word(n: u64) -> u64 {
    (0..5).fold(n, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(n.wrapping_mul(inverse))))
}

/// x / n rounded down; with the words of x.
pub(crate) fn quotient(x: &[u64], n: &[u64]) -> Words {
    let (quotient, _) = BoxedUint::div_rem(&uint(x), &divisor(n));
    from_uint(&Zeroizing::new(quotient), x.len())
}

/// 1/x modulo n, which is odd, if there is one; with the words of n.
pub(crate) fn inverse(x: &[u64], n: &[u64]) -> Option<Words> {
    let inverse = uint(&remainder(x, n)).invert_odd_mod(&*odd(n)?).into_option()?;
    Some(from_uint(&Zeroizing::new(inverse), n.len()))
}

/// x^exponent modulo n, which is odd and has 64 bits or more, for setting up keys.
pub(crate) fn power(x: &[u64], exponent: &[u64], n: &[u64]) -> Words {
    let modulus = Modulus::new(n).expect("an odd modulus");
    let x = modulus.residues(&resized(&remainder(x, n), modulus.len()));
    resized(&modulus.values(&modulus.power(&x, exponent, 64 * exponent.len())), n.len())
}

/// The greatest common divisor.
pub(crate) fn common_divisor(x: &[u64], y: &[u64]) -> Words {
    let len = x.len().max(y.len());
    let [x, y] = [x, y].map(|number| uint(&resized(number, len)));
    from_uint(&Zeroizing::new(x.gcd(&y)), len)
}

pub(crate) fn is_coprime(x: &[u64], y: &[u64]) -> bool {
    let divisor = common_divisor(x, y);
    is_equal(&divisor, &small(1, divisor.len()))
}

/// Whether the Jacobi symbol (x | n) of public numbers is 1, for odd n of at most 3,072 bits.
pub(crate) fn has_jacobi_one_vartime(x: &[u64], n: &[u64]) -> bool {
    let x = remainder(x, n);
    jacobi::is_one_vartime(&x, n).unwrap_or_else(|| has_jacobi_one_by_euclid_vartime(&x, n))
}

/// The same by another way, which always comes to an end.
pub(crate) fn has_jacobi_one_by_euclid_vartime(x: &[u64], n: &[u64]) -> bool {
    fn of<const LIMBS: usize>(x: &[u64], n: &[u64]) -> bool {
        let [x, n] = [x, n].map(|number| Uint::<LIMBS>::from_words(padded(number)));
        let Some(n) = Odd::new(n).into_option() else { return false };
        x.jacobi_symbol_vartime(&n) == JacobiSymbol::One
    }
    let x = remainder(x, n);
    match n.len() {
        0..=8 => of::<{ 8 * WORDS }>(&x, n),
        9..=16 => of::<{ 16 * WORDS }>(&x, n),
        17..=32 => of::<{ 32 * WORDS }>(&x, n),
        _ => of::<{ 48 * WORDS }>(&x, n),
    }
}

/// Words of crypto-bigint in 64 bits: two where it computes with 32.
const WORDS: usize = 64 / crypto_bigint::Word::BITS as usize;

fn padded<const LIMBS: usize>(x: &[u64]) -> [crypto_bigint::Word; LIMBS] {
    std::array::from_fn(|i| {
        let bit = crypto_bigint::Word::BITS as usize * i;
        (x.get(bit / 64).copied().unwrap_or(0) >> (bit % 64)) as crypto_bigint::Word
    })
}

/// Whether a number has more than this many bits, in constant time.
pub(crate) fn is_longer(x: &[u64], bits: u32) -> bool {
    let above = (0..).zip(x).map(|(i, &word)| match bits.saturating_sub(64 * i) {
        kept @ 0..64 => word >> kept,
        _ => 0,
    });
    above.fold(0, |all, word| all | word) != 0
}

/// x modulo n, a public number below 2¹⁶, in constant time: by products with 2⁶⁴/n, because divisions take a time that
/// depends on the numbers (Barrett 1986).
pub(crate) fn remainder_small(x: &[u64], n: u64) -> u64 {
    let inverse = u64::MAX / n;
    let halves = x.iter().rev().flat_map(|&word| [word >> 32, word & u64::from(u32::MAX)]);
    halves.fold(0, |rest, half| {
        let value = rest << 32 | half;
        let quotient = (u128::from(value) * u128::from(inverse)) >> 64;
        // Below 2n.
        let left = value - quotient as u64 * n;
        let mask = std::hint::black_box(((n - 1).wrapping_sub(left) >> 63).wrapping_neg());
        left - (n & mask)
    })
}

/// x modulo a small number.
pub(crate) fn remainder_small_vartime(x: &[u64], n: u64) -> u64 {
    x.iter().rev().fold(0, |rest, &word| ((u128::from(rest) << 64 | u128::from(word)) % u128::from(n)) as u64)
}

/// x/2^(64·len) modulo an odd number below 2⁶³, which has the same odd factors in common with it as x, without a division
/// (Montgomery 1985).
pub(crate) fn montgomery_rest_vartime(x: &[u64], n: u64) -> u64 {
    let inverse = inverse_of_word(n);
    x.iter().fold(0, |rest, &word| {
        let low = rest + u128::from(word);
        let times = (low as u64).wrapping_neg().wrapping_mul(inverse);
        (low + u128::from(times) * u128::from(n)) >> 64
    }) as u64
}

/// A random number of at most `bits` bits.
pub(crate) fn random(bits: u32, rng: &mut Generator) -> Words {
    let mut out = Zeroizing::new(vec![0; bits.div_ceil(64) as usize]);
    rng.words(&mut out);
    cut(&mut out, bits);
    out
}

/// Clears what is above the lowest bits of the last word.
pub(crate) fn cut(x: &mut [u64], bits: u32) {
    if let Some(last) = x.last_mut()
        && !bits.is_multiple_of(64)
    {
        *last &= (1 << (bits % 64)) - 1;
    }
}

/// A random number below n, which has no zero words at its end.
pub(crate) fn random_below(n: &[u64], rng: &mut Generator) -> Words {
    loop {
        let x = resized(&random(bits(n), rng), n.len());
        if is_less(&x, n) {
            return x;
        }
    }
}

/// Whether a number is prime: Miller and Rabin to the base 2, and Lucas (Baillie and others 2021).
pub(crate) fn is_prime_vartime(x: &[u64]) -> bool {
    let len = (bits(x).div_ceil(64) as usize).max(1);
    crypto_primes::is_prime(crypto_primes::Flavor::Any, &*uint(&x[..len]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    #[test]
    fn montgomery_rests_have_the_factors_of_remainders() {
        let mut rng = Generator::from_seed(Block::new(4));
        for x in [vec![0], vec![!0; 24], random(1536, &mut rng).to_vec(), random(128, &mut rng).to_vec()] {
            for n in (3..1 << 12).step_by(2).chain([(1 << 62) + 1, 1_048_573 * 1_048_571 * 1_048_559, (1 << 63) - 1]) {
                // Times 2^(64·len) it is x again.
                let rest = montgomery_rest_vartime(&x, n) % n;
                let back = (0..64 * x.len()).fold(u128::from(rest), |rest, _| 2 * rest % u128::from(n));
                assert_eq!(back as u64, remainder_small_vartime(&x, n), "modulo {n}");
            }
        }
    }

    #[test]
    fn exact_quotients_are_those_of_division() {
        let mut rng = Generator::from_seed(Block::new(5));
        for bits in [64, 65, 500, 1536] {
            for _ in 0..20 {
                let mut n = random(bits, &mut rng);
                n[0] |= 1;
                for x in [random(bits, &mut rng), small(0, n.len()), resized(&[!0].repeat(n.len()), n.len())] {
                    let product = product(&x, &n);
                    assert_eq!(exact_quotient(&product, &n), x, "{bits} bits");
                    assert_eq!(resized(&quotient(&product, &n), n.len()), x, "{bits} bits");
                }
            }
        }
    }

    #[test]
    fn remainders_in_constant_time_are_those_of_division() {
        let mut rng = Generator::from_seed(Block::new(3));
        let numbers =
            [vec![0], vec![!0; 24], vec![1, 0, !0], random(1536, &mut rng).to_vec(), random(64, &mut rng).to_vec()];
        for x in &numbers {
            for n in (3..1 << 16).step_by(2) {
                assert_eq!(remainder_small(x, n), remainder_small_vartime(x, n), "modulo {n}");
            }
        }
    }
}

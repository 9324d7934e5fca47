//! Primes for keys, and small ones.
//!
//! The search for primes takes a time that depends on them, as the search itself does: on what is tried and dropped. A
//! prime that is read from a file is looked at in constant time (`is_prime`, `has_large_subgroups`, `are_close`).

use std::sync::OnceLock;

use kernels::generator::Generator;
use kernels::montgomery::Modulus;
use zeroize::Zeroizing;

use crate::number::{self, Words};

/// Factors of p − 1 below this are not wanted, but for 2.
const SMOOTH: u32 = 1 << 16;
/// Factors of a modulus are looked for below this.
const TRIAL: u32 = 1 << 20;
/// Candidates that are sieved together.
const WINDOW: usize = 1 << 14;
/// Two primes of a modulus differ in one of so many highest bits.
const CLOSE: u32 = 100;
/// Numbers that a prime is tried with when it is read from a file.
const BASES: usize = 32;

/// The odd primes below 2²⁰.
fn small_primes() -> &'static [u32] {
    static PRIMES: OnceLock<Vec<u32>> = OnceLock::new();
    PRIMES.get_or_init(|| {
        let mut composite = vec![false; TRIAL as usize];
        for factor in (3..1 << 10).step_by(2) {
            (factor * factor..TRIAL as usize).step_by(2 * factor).for_each(|multiple| composite[multiple] = true);
        }
        (3..TRIAL).step_by(2).filter(|&x| !composite[x as usize]).collect()
    })
}

/// Whether a number has an odd factor below 2²⁰.
pub(crate) fn has_small_factor(x: &[u64]) -> bool {
    // Three primes make a divisor of at most 60 bits.
    small_primes().chunks(3).any(|primes| {
        let rest = number::montgomery_rest_vartime(x, primes.iter().map(|&prime| u64::from(prime)).product());
        primes.iter().any(|&prime| rest.is_multiple_of(u64::from(prime)))
    })
}

/// Whether an odd number is the k-th power of another one for some prime k up to `most`. A number that is none passes
/// for one with a chance below 2⁻⁶⁴: x^((r − 1)/k) modulo a prime r that is 1 modulo k is 1 (or 0) for a power, and for
/// other numbers with a chance of 1/k.
pub(crate) fn is_power(x: &[u64], most: u32) -> bool {
    let exponents = std::iter::once(2).chain(small_primes().iter().copied()).take_while(|&k| k <= most);
    exponents.into_iter().any(|k| {
        let moduli = small_primes().iter().rev().filter(|&&r| (r - 1).is_multiple_of(k)).take(64);
        moduli.map(|&r| u64::from(r)).all(|r| {
            let residue = power_small(number::remainder_small_vartime(x, r), (r - 1) / u64::from(k), r);
            residue <= 1
        })
    })
}

/// x^exponent modulo n, below 2³².
fn power_small(x: u64, exponent: u64, n: u64) -> u64 {
    let (mut result, mut square, mut left) = (1 % n, x % n, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result * square % n;
        }
        (square, left) = (square * square % n, left >> 1);
    }
    result
}

/// Whether a number below 2³² is prime.
pub(crate) fn is_small_prime(x: u64) -> bool {
    x == 2
        || x > 2
            && !x.is_multiple_of(2)
            && small_primes().iter().all(|&p| u64::from(p) >= x || !x.is_multiple_of(u64::from(p)))
}

/// The least prime above x.
pub(crate) fn next_small_prime(x: u64) -> u64 {
    (x + 1..).find(|&x| is_small_prime(x)).expect("there is always another prime")
}

/// Whether p − 1 has no odd factor below 2¹⁶ and is no multiple of 4.
pub(crate) fn has_large_subgroups(p: &[u64]) -> bool {
    let small = small_primes().iter().take_while(|&&s| s < SMOOTH);
    let factors = small.map(|&s| u64::from(number::remainder_small(p, s.into()) == 1)).sum::<u64>();
    (p[0] % 4 == 3) & (factors == 0)
}

/// Whether two numbers of `bits` bits agree in their 100 highest bits, or a quarter of all; in constant time.
pub(crate) fn are_close(p: &[u64], q: &[u64], bits: u32) -> bool {
    let mut difference = number::words(p);
    let negative = number::subtract(&mut difference, q);
    difference.iter_mut().for_each(|word| *word ^= negative.wrapping_neg());
    number::add(&mut difference, &[negative]);
    !number::is_longer(&difference, bits - CLOSE.min(bits / 4))
}

/// Whether a number that is 3 modulo 4 is prime, in constant time but for the answer: whether a^((x − 1)/2) = ±1 for 32
/// random a, which is the test of Miller and Rabin for such numbers. A composite one passes with a chance below 2⁻⁶⁴.
/// Of other odd numbers primes pass, too, but so may composite ones: whoever asks looks at x modulo 4 as well. Numbers of
/// less than 64 bits do not pass.
pub(crate) fn is_prime(x: &[u64], rng: &mut Generator) -> bool {
    let Ok(modulus) = Modulus::new(x) else { return false };
    let (len, one) = (modulus.len(), number::small(1, modulus.len()));
    let mut minus_one = number::words(modulus.words());
    minus_one[0] -= 1;
    let mut half = number::words(modulus.words());
    (0..len).for_each(|i| half[i] = half[i] >> 1 | half.get(i + 1).copied().unwrap_or(0) << 63);
    let mut bases = Zeroizing::new(vec![0; BASES * len]);
    rng.words(&mut bases);
    let powers = modulus.values(&modulus.power(&modulus.residues(&bases), &half, modulus.bits()));
    let passes = |power| number::is_equal(power, &one) | number::is_equal(power, &minus_one);
    powers.chunks_exact(len).fold(true, |all, power| all & passes(power))
}

/// A prime p of exactly `bits` bits, the two highest set, that is 3 modulo 4 and such that p − 1 has no odd factor
/// below 2¹⁶.
pub(crate) fn with_large_subgroups(bits: u32, rng: &mut Generator) -> Words {
    loop {
        let mut start = top_bits_set(bits, rng);
        start[0] |= 3;
        if let Some(prime) = find(&start, &[4], bits, true) {
            return prime;
        }
    }
}

/// A prime of exactly `bits` bits.
pub(crate) fn of_bits(bits: u32, rng: &mut Generator) -> Words {
    loop {
        let mut start = top_bits_set(bits, rng);
        start[0] |= 1;
        if let Some(prime) = find(&start, &[2], bits, false) {
            return prime;
        }
    }
}

/// A prime of exactly `bits` bits, the two highest set, that is 1 modulo `factor`, an even number.
pub(crate) fn with_factor(factor: &[u64], bits: u32, rng: &mut Generator) -> Words {
    loop {
        let start = top_bits_set(bits, rng);
        // start − (start mod factor) + 1
        let mut first = number::words(&start);
        number::subtract(&mut first, &number::remainder(&start, factor));
        number::add(&mut first, &[1]);
        if let Some(prime) = find(&first, factor, bits, false) {
            return prime;
        }
    }
}

fn top_bits_set(bits: u32, rng: &mut Generator) -> Words {
    let mut start = number::random(bits, rng);
    for bit in [bits - 1, bits - 2] {
        start[bit as usize / 64] |= 1 << (bit % 64);
    }
    start
}

/// The first prime of `bits` bits among start, start + stride, …, of a window; `large_subgroups` is of p − 1.
fn find(start: &[u64], stride: &[u64], bits: u32, large_subgroups: bool) -> Option<Words> {
    let mut dropped = Zeroizing::new(vec![false; WINDOW]);
    for &s in small_primes().iter().take_while(|&&s| s < SMOOTH) {
        let s = u64::from(s);
        let [first, step] = [start, stride].map(|x| number::remainder_small_vartime(x, s));
        let unwanted = [0, 1];
        for residue in &unwanted[..1 + usize::from(large_subgroups)] {
            if step == 0 {
                continue;
            }
            // first + step·i ≡ residue
            let at = (residue + s - first) % s * power_small(step, s - 2, s) % s;
            dropped.iter_mut().skip(at as usize).step_by(s as usize).for_each(|place| *place = true);
        }
    }
    let left = (0..WINDOW as u64).filter(|&i| !dropped[i as usize]);
    left.map(|i| {
        let mut candidate = number::words(start);
        number::add(&mut candidate, &number::product(stride, &[i]));
        candidate
    })
    .find(|candidate| number::bits(candidate) == bits && number::is_prime_vartime(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use num_bigint::BigUint;

    fn big(words: &[u64]) -> BigUint {
        BigUint::from_slice(&words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect::<Vec<_>>())
    }

    fn words(x: &BigUint) -> Vec<u64> {
        x.to_u64_digits()
    }

    fn dice() -> Generator {
        Generator::from_seed(Block::new(60))
    }

    #[test]
    fn bounds() {
        assert_eq!((SMOOTH, TRIAL, CLOSE, BASES), (65_536, 1_048_576, 100, 32));
    }

    #[test]
    fn primes_of_keys_have_their_form_by_another_library() {
        let one = BigUint::from(1_u8);
        let mut composite = vec![false; 1 << 16];
        for x in 2..1 << 8 {
            (x * x..1 << 16).step_by(x).for_each(|multiple| composite[multiple] = true);
        }
        let small: Vec<_> = (3..1_u32 << 16).filter(|&x| !composite[x as usize]).collect();
        assert_eq!((small.len(), small.last()), (6541, Some(&65_521)));
        let mut dice = dice();
        let [p, q] = [(); 2].map(|()| big(&with_large_subgroups(512, &mut dice)));
        for p in [&p, &q] {
            let minus = p - 1_u8;
            assert_eq!((p.bits(), p % 4_u8), (512, BigUint::from(3_u8)));
            assert!(small.iter().all(|&s| p % s != BigUint::ZERO && &minus % s != BigUint::ZERO));
            assert!([2_u8, 3, 5, 7, 11, 13].iter().all(|&base| BigUint::from(base).modpow(&minus, p) == one));
        }
        let (mut a, mut b) = (&p - 1_u8, &q - 1_u8);
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        assert_eq!(a, BigUint::from(2_u8));
        assert!(has_large_subgroups(&words(&p)));
        for s in [3_u32, 7, 65_521] {
            let x = (0_u32..).map(|i| &p + i * 4).find(|x| (x - 1_u8) % s == BigUint::ZERO).expect("one of s");
            assert!(!has_large_subgroups(&words(&x)), "{s}");
        }
    }

    #[test]
    fn primes_pass_and_others_do_not() {
        let mut dice = dice();
        for bits in [128, 160, 224, 512, 1024] {
            let (p, q) = (of_bits(bits, &mut dice), of_bits(bits, &mut dice));
            assert!(is_prime(&p, &mut dice) && is_prime(&q, &mut dice));
            assert!(!is_prime(&number::product(&p, &q), &mut dice) && !is_prime(&number::product(&p, &p), &mut dice));
        }
    }

    #[test]
    fn numbers_are_close_by_their_highest_bits() {
        let p = BigUint::from(3_u8) << 254_u32 | BigUint::from(1_u8);
        for (distance, close) in [(0_u32, true), (64, true), (191, true), (192, false), (250, false)] {
            let q = &p + (BigUint::from(1_u8) << distance);
            assert_eq!(are_close(&words(&p), &words(&q), 256), close, "{distance}");
            assert_eq!(are_close(&words(&q), &words(&p), 256), close, "{distance}");
        }
        // Of long primes 100 bits count.
        let p = BigUint::from(3_u8) << 1022_u32 | BigUint::from(1_u8);
        for (distance, close) in [(923_u32, true), (924, false)] {
            assert_eq!(
                are_close(&words(&p), &words(&(&p + (BigUint::from(1_u8) << distance))), 1024),
                close,
                "{distance}"
            );
        }
    }
}

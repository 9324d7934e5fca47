//! Primes for keys, and small ones.

use std::sync::OnceLock;

use kernels::generator::Generator;
use zeroize::Zeroizing;

use crate::number::{self, Words};

/// Factors of p − 1 below this are not wanted, but for 2.
const SMOOTH: u32 = 1 << 16;
/// Factors of a modulus are looked for below this.
const TRIAL: u32 = 1 << 20;
/// Candidates that are sieved together.
const WINDOW: usize = 1 << 14;

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
        let rest = number::remainder_small(x, primes.iter().map(|&prime| u64::from(prime)).product());
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
            let residue = power_small(number::remainder_small(x, r), (r - 1) / u64::from(k), r);
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
    p[0] % 4 == 3 && small.into_iter().all(|&s| number::remainder_small(p, s.into()) != 1)
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
        let (first, step) = (number::remainder_small(start, s), number::remainder_small(stride, s));
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
    .find(|candidate| number::bits(candidate) == bits && number::is_prime(candidate))
}

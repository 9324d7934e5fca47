//! Transforms of 2048 coefficients modulo a prime, under which products modulo x²⁰⁴⁸ + 1 are products of numbers.
//!
//! The powers of ψ, which has order 4096, stand in the butterflies, so that nothing is twisted before or after them, and nothing is
//! permuted: transforms are in an order of their own (Longa, Naehrig, *Speeding up the number theoretic transform for faster ideal
//! lattice-based cryptography*, CANS 2016, algorithms 1 and 2). A product with a constant w takes its quotient ⌊2^B·w/P⌋ (Shoup):
//! of any x below 2^B it is w·x modulo P, and below 2·P (Harvey, *Faster arithmetic for number-theoretic transforms*, Journal of
//! Symbolic Computation 60, 2014, §3).
//!
//! Harvey reduces sums below 4·P in each butterfly. Here primes are so small that no sum is reduced:
//!
//! | | a butterfly of layer k = 1 … 11 | at the end | 2^B |
//! |---|---|--:|---|
//! | forward | (x + w·y, x − w·y + 2·P), below (1 + 2·k)·P | 23·P | 2³² for P < 2¹⁴ |
//! | inverse | (x + y, w·(x − y + 2^k·P)), below 2^(k+1)·P | 2¹²·P | 2⁶⁴ for P < 2⁴¹ |
//!
//! The same instructions and addresses for all numbers.

use super::ring::DEGREE;

/// Layers of butterflies.
const LAYERS: usize = DEGREE.ilog2() as usize;

/// Integers modulo the prime P, of which ROOT has order 4096.
pub struct Field<const P: u64, const ROOT: u64>;

/// A constant below P, and how often P goes into 2^B times it.
#[derive(Clone, Copy)]
struct Factor {
    value: u64,
    quotient: u64,
}

impl<const P: u64, const ROOT: u64> Field<P, ROOT> {
    /// Of numbers of 32 bits, products need no more than 64: several at once, where a processor can.
    const NARROW: bool = P < 1 << 14;
    const BITS: u32 = if Self::NARROW { 32 } else { 64 };

    /// The largest number of either direction is below 2^B, and products are below 2⁶⁴·P.
    const FITS: bool = (P as u128) << (LAYERS + 1) < 1 << Self::BITS && 23 * 23 * (P as u128) < 1 << 64;

    /// ψ^r, where r is i with its bits in the other order.
    const FORWARD: &'static [Factor; DEGREE] = &Self::powers(ROOT);
    /// ψ^(−r).
    const INVERSE: &'static [Factor; DEGREE] = &Self::powers(Self::power(ROOT, P - 2));
    /// What makes an inverse of [`product`](Self::product)s theirs: 2⁶⁴/2048.
    const SCALE: Factor = Self::factor(Self::power(2, 64 - LAYERS as u64));
    /// −P⁻¹ modulo 2⁶⁴: Newton's rule doubles the bits that are right, of which an odd number has three in itself.
    const NEGATED_INVERSE: u64 = {
        let (mut x, mut step) = (P, 0);
        while step < 5 {
            x = x.wrapping_mul(2_u64.wrapping_sub(P.wrapping_mul(x)));
            step += 1;
        }
        x.wrapping_neg()
    };

    const fn multiply(a: u64, b: u64) -> u64 {
        (a as u128 * b as u128 % P as u128) as u64
    }

    /// Of public numbers, when this is built.
    pub const fn power(mut base: u64, mut exponent: u64) -> u64 {
        let mut product = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = Self::multiply(product, base);
            }
            base = Self::multiply(base, base);
            exponent >>= 1;
        }
        product
    }

    const fn factor(value: u64) -> Factor {
        Factor { value, quotient: (((value as u128) << Self::BITS) / P as u128) as u64 }
    }

    const fn powers(root: u64) -> [Factor; DEGREE] {
        let (mut table, mut power, mut i) = ([Self::factor(1); DEGREE], 1, 0);
        while i < DEGREE {
            table[i.reverse_bits() >> (usize::BITS as usize - LAYERS)] = Self::factor(power);
            power = Self::multiply(power, root);
            i += 1;
        }
        table
    }

    /// The low half of a product: of numbers that have no more than B bits, the whole of it if they are narrow.
    #[inline(always)]
    fn low(a: u64, b: u64) -> u64 {
        if Self::NARROW { (a & 0xffff_ffff) * (b & 0xffff_ffff) } else { a.wrapping_mul(b) }
    }

    /// The product of x, below 2^B, with a constant, modulo P: below 2·P.
    #[inline(always)]
    fn times(x: u64, by: Factor) -> u64 {
        let multiples = if Self::NARROW { Self::low(x, by.quotient) >> 32 } else { high(x, by.quotient) };
        Self::low(x, by.value).wrapping_sub(Self::low(multiples, P))
    }

    /// The transform of numbers below P, below 23·P.
    pub fn forward(x: &mut [u64]) {
        const { assert!(Self::FITS, "nothing overflows") }
        for layer in 0..LAYERS {
            let (groups, half) = (1 << layer, DEGREE >> (layer + 1));
            for (group, &factor) in x.chunks_exact_mut(2 * half).zip(&Self::FORWARD[groups..2 * groups]) {
                let (low, high) = group.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    let product = Self::times(*y, factor);
                    (*x, *y) = (*x + product, *x + 2 * P - product);
                }
            }
        }
    }

    /// Products of transforms, each divided by 2⁶⁴ modulo P (Montgomery): below 2·P.
    pub fn products(x: &mut [u64], by: &[u64]) {
        for (x, &by) in x.iter_mut().zip(by) {
            let product = u128::from(*x) * u128::from(by);
            let multiples = (product as u64).wrapping_mul(Self::NEGATED_INVERSE);
            *x = ((product + u128::from(multiples) * u128::from(P)) >> 64) as u64;
        }
    }

    /// The coefficients that have these [`products`](Self::products), below P.
    pub fn inverse(x: &mut [u64]) {
        for layer in 0..LAYERS {
            let (groups, half, most) = (DEGREE >> (layer + 1), 1 << layer, (2 * P) << layer);
            for (group, &factor) in x.chunks_exact_mut(2 * half).zip(&Self::INVERSE[groups..2 * groups]) {
                let (low, high) = group.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    (*x, *y) = (*x + *y, Self::times(*x + most - *y, factor));
                }
            }
        }
        for x in x.iter_mut() {
            let scaled = Self::times(*x, Self::SCALE);
            *x = scaled.min(scaled.wrapping_sub(P));
        }
    }
}

/// The high half of a product.
#[inline(always)]
pub fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::ring::{LARGE, LARGE_ROOT, Large, SMALL, SMALL_ROOT, Small};
    use super::*;
    use proptest::prelude::*;

    impl<const P: u64, const ROOT: u64> Field<P, ROOT> {
        /// From the definition: x²⁰⁴⁸ = −1.
        fn schoolbook(a: &[u64; DEGREE], b: &[u64; DEGREE]) -> Vec<u64> {
            let mut out = vec![0_u128; DEGREE];
            for (i, &a) in a.iter().enumerate().filter(|(_, a)| **a > 0) {
                for (j, &b) in b.iter().enumerate() {
                    let product = u128::from(a) * u128::from(b);
                    out[(i + j) % DEGREE] +=
                        if i + j < DEGREE { product } else { u128::from(P) * u128::from(P) - product };
                }
            }
            out.iter().map(|x| (x % u128::from(P)) as u64).collect()
        }

        fn agrees(a: [u64; DEGREE], b: [u64; DEGREE]) {
            let [mut left, mut right] = [a, b];
            Self::forward(&mut left);
            Self::forward(&mut right);
            assert!(left.iter().chain(&right).all(|&x| x < 23 * P), "bounds of a transform");
            Self::products(&mut left, &right);
            assert!(left.iter().all(|&x| x < 2 * P), "bounds of products");
            Self::inverse(&mut left);
            assert!(left[..] == Self::schoolbook(&a, &b), "modulo {P}");
        }

        /// The transform of x has all odd powers of ψ: numbers are where evaluation puts them, in some order.
        fn has_the_odd_powers() {
            let mut x = [0; DEGREE];
            x[1] = 1;
            Self::forward(&mut x);
            let mut values = x.map(|x| x % P);
            let mut powers: Vec<u64> = (0..DEGREE as u64).map(|i| Self::power(ROOT, 2 * i + 1)).collect();
            values.sort_unstable();
            powers.sort_unstable();
            assert_eq!(values[..], powers);
            powers.dedup();
            assert_eq!(powers.len(), DEGREE, "all different");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn products_are_those_of_the_definition(a in any::<[u64; 32]>(), b in any::<[u64; 32]>()) {
            // Different numbers throughout: each is one of the 32, times an odd one.
            let spread = |x: [u64; 32], i: usize| x[i % 32].wrapping_mul(2 * i as u64 + 1) >> (i % 7);
            let [a, b] = [a, b].map(|x| std::array::from_fn(|i| spread(x, i)));
            Large::agrees(a.map(|x: u64| x % LARGE), b.map(|x: u64| x % LARGE));
            Small::agrees(a.map(|x: u64| x % SMALL), b.map(|x: u64| x % SMALL));
        }
    }

    #[test]
    fn products_of_extremes_are_those_of_the_definition() {
        let shapes = |most: u64| {
            let only = |which: fn(usize) -> bool| std::array::from_fn(|i| if which(i) { most } else { 0 });
            [only(|_| true), only(|i| i.is_multiple_of(2)), only(|i| i == DEGREE - 1), only(|_| false)]
        };
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            Large::agrees(shapes(LARGE - 1)[a], shapes(LARGE - 1)[b]);
            Small::agrees(shapes(SMALL - 1)[a], shapes(SMALL - 1)[b]);
        }
    }

    #[test]
    fn transforms_are_values_at_the_odd_powers_of_the_root() {
        Large::has_the_odd_powers();
        Small::has_the_odd_powers();
    }

    #[test]
    fn roots_have_order_4096_modulo_primes() {
        for p in [SMALL, LARGE] {
            assert!((2..=p.isqrt()).all(|divisor| !p.is_multiple_of(divisor)), "{p} is a prime");
            assert_eq!(p % 4096, 1);
        }
        assert_eq!(Small::power(SMALL_ROOT, 2048), SMALL - 1);
        assert_eq!(Large::power(LARGE_ROOT, 2048), LARGE - 1);
    }
}

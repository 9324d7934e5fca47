//! Arithmetic of ℤ_q\[x\]/(x²⁰⁴⁸ + 1). A polynomial is its 2048 coefficients, each less than q in one word; products go
//! through transforms modulo the two primes of q.
//!
//! In constant time: quotients are products with reciprocals, and remainders minima. No division of secrets is left to a
//! compiler, which on some machines has no better than one whose time depends on them.

use zeroize::Zeroizing;

use super::ntt::{Field, high};

/// Coefficients of a polynomial.
pub const DEGREE: usize = 2048;
/// The modulus of answers.
pub const SMALL: u64 = 12_289;
/// What q is divided by for answers.
pub const LARGE: u64 = 1_099_510_054_913;
/// The modulus of ciphertexts.
pub const Q: u64 = SMALL * LARGE;

/// The least numbers of order 4096 modulo the primes.
pub const SMALL_ROOT: u64 = 41;
pub const LARGE_ROOT: u64 = 11_454_203;

/// The fields of both primes.
pub type Small = Field<SMALL, SMALL_ROOT>;
pub type Large = Field<LARGE, LARGE_ROOT>;

/// LARGE⁻¹ modulo SMALL.
const INVERSE: u64 = Small::power(LARGE % SMALL, SMALL - 2);

/// Coefficients, or a transform modulo a prime; erased when dropped.
pub type Poly = Zeroizing<Vec<u64>>;

/// A polynomial of zeros.
pub fn zeros() -> Poly {
    Zeroizing::new(vec![0; DEGREE])
}

/// Quotient and remainder by a modulus that is no power of two.
#[inline(always)]
pub fn divided<const M: u64>(x: u64) -> (u64, u64) {
    let quotient = high(x, u64::MAX / M);
    let rest = x - quotient * M;
    (quotient + u64::from(rest >= M), rest.min(rest.wrapping_sub(M)))
}

/// A number modulo m.
#[inline(always)]
pub fn reduced<const M: u64>(x: u64) -> u64 {
    divided::<M>(x).1
}

impl<const P: u64, const ROOT: u64> Field<P, ROOT> {
    /// The transform of numbers of any size.
    fn transformed(x: &[u64]) -> Poly {
        let mut values = Zeroizing::new(x.iter().map(|&x| reduced::<P>(x)).collect::<Vec<_>>());
        Self::forward(&mut values);
        values
    }

    /// The coefficients of a product of transforms.
    fn product(a: &Poly, b: &Poly) -> Poly {
        let mut product = a.clone();
        Self::products(&mut product, b);
        Self::inverse(&mut product);
        product
    }
}

/// A polynomial as its transforms modulo both primes.
pub struct Transformed {
    small: Poly,
    large: Poly,
}

impl Transformed {
    pub fn new(x: &[u64]) -> Self {
        Transformed { small: Small::transformed(x), large: Large::transformed(x) }
    }

    /// Of a polynomial whose coefficients are near zero.
    pub fn of_signed(x: &[i64]) -> Self {
        Self::new(&lifted(x, Q))
    }

    /// The coefficients of the product, modulo q.
    pub fn times(&self, other: &Transformed) -> Poly {
        let small = Small::product(&self.small, &other.small);
        let large = Large::product(&self.large, &other.large);
        Zeroizing::new(small.iter().zip(large.iter()).map(|(&small, &large)| joined(small, large)).collect())
    }

    /// The coefficients of the product with x, all modulo the small prime.
    pub fn times_small(&self, x: &[u64]) -> Poly {
        Small::product(&Small::transformed(x), &self.small)
    }
}

/// The number modulo q that is these modulo the primes.
fn joined(small: u64, large: u64) -> u64 {
    large + LARGE * reduced::<SMALL>((small + SMALL - reduced::<SMALL>(large)) * INVERSE)
}

/// Coefficients near zero as numbers modulo m.
pub fn lifted(x: &[i64], m: u64) -> Poly {
    Zeroizing::new(x.iter().map(|&x| lift(x, m)).collect())
}

/// A number from −m to m − 1, modulo m.
pub fn lift(x: i64, m: u64) -> u64 {
    x.wrapping_add((x >> 63) & m as i64) as u64
}

/// Adds x·x^shift of numbers modulo q to sums that are not reduced: each grows by at most q.
pub fn add_shifted(sums: &mut [u64], x: &[u64], shift: usize) {
    let (low, high) = sums.split_at_mut(shift);
    high.iter_mut().zip(x).for_each(|(sum, &x)| *sum += x);
    low.iter_mut().zip(&x[DEGREE - shift..]).for_each(|(sum, &x)| *sum += Q - x);
}

/// round(x / LARGE) modulo SMALL.
pub fn switched_down(x: u64) -> u64 {
    reduced::<SMALL>(divided::<LARGE>(x + LARGE / 2).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use kernels::generator::Generator;

    fn random(seed: u128) -> Vec<u64> {
        let mut x = vec![0; DEGREE];
        Generator::from_seed(Block::new(seed)).words(&mut x);
        x.iter_mut().for_each(|x| *x %= Q);
        x
    }

    /// From the definition: x²⁰⁴⁸ = −1.
    fn schoolbook(a: &[u64], b: &[u64], m: u64) -> Vec<u64> {
        let mut out = vec![0_u64; DEGREE];
        for (i, &a) in a.iter().enumerate() {
            for (j, &b) in b.iter().enumerate() {
                let product = (u128::from(a) * u128::from(b) % u128::from(m)) as u64;
                let to = &mut out[(i + j) % DEGREE];
                *to = if i + j < DEGREE { (*to + product) % m } else { (*to + m - product) % m };
            }
        }
        out
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let (a, b) = (random(1), random(2));
        let product = Transformed::new(&a).times(&Transformed::new(&b));
        assert_eq!(*product, schoolbook(&a, &b, Q));
        let [a, b] = [a, b].map(|x| x.iter().map(|x| x % SMALL).collect::<Vec<_>>());
        assert_eq!(*Transformed::new(&b).times_small(&a), schoolbook(&a, &b, SMALL));
    }

    #[test]
    fn the_extremes_are_multiplied_rightly() {
        let (mut one, most) = (vec![0; DEGREE], vec![Q - 1; DEGREE]);
        one[DEGREE - 1] = Q - 1;
        let product = Transformed::new(&one).times(&Transformed::new(&most));
        assert_eq!(*product, schoolbook(&one, &most, Q));
    }

    #[test]
    fn a_shift_is_a_product_with_a_power() {
        let x = random(3);
        for shift in [0, 1, 128, 1920, 2047] {
            let mut sums = vec![0; DEGREE];
            add_shifted(&mut sums, &x, shift);
            let mut power = vec![0; DEGREE];
            power[shift] = 1;
            assert_eq!(sums.iter().map(|x| x % Q).collect::<Vec<_>>(), schoolbook(&power, &x, Q));
        }
    }

    #[test]
    fn numbers_are_joined_lifted_and_rounded_rightly() {
        for x in random(4).into_iter().chain([0, 1, SMALL, LARGE - 1, LARGE, Q - 1]) {
            assert_eq!(joined(x % SMALL, x % LARGE), x);
            let down = (2 * u128::from(x) + u128::from(LARGE)) / (2 * u128::from(LARGE));
            assert_eq!(u128::from(switched_down(x)), down % u128::from(SMALL));
        }
        assert_eq!([lift(-1, Q), lift(0, Q), lift(5, Q), lift(-(Q as i64), Q)], [Q - 1, 0, 5, 0]);
    }

    #[test]
    fn quotients_and_remainders_are_those_of_division() {
        fn of<const M: u64>() {
            let near = |x: u64| [x.wrapping_sub(1), x, x.wrapping_add(1)];
            let ends = [0, M, 2 * M, u64::MAX, u64::MAX / M * M, u64::MAX / 2].into_iter().flat_map(near);
            let mut words = vec![0; 1000];
            Generator::from_seed(Block::new(5)).words(&mut words);
            for x in words.into_iter().chain(ends) {
                assert_eq!(divided::<M>(x), (x / M, x % M), "{x} by {M}");
            }
        }
        of::<SMALL>();
        of::<LARGE>();
        of::<Q>();
    }
}

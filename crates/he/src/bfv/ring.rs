//! Arithmetic of ℤ_q\[x\]/(x²⁰⁴⁸ + 1). A polynomial is its 2048 coefficients, each less than q in one word; products go
//! through transforms modulo the two primes of q, by tfhe-ntt.
//!
//! In constant time: reductions are by constants, and those of transforms by minima.

use std::sync::OnceLock;

use tfhe_ntt::prime64::Plan;
use zeroize::Zeroizing;

/// Coefficients of a polynomial.
pub const DEGREE: usize = 2048;
/// The modulus of answers.
pub const SMALL: u64 = 12_289;
/// What q is divided by for answers.
pub const LARGE: u64 = 1_099_510_054_913;
/// The modulus of ciphertexts.
pub const Q: u64 = SMALL * LARGE;
/// LARGE⁻¹ modulo SMALL.
const INVERSE: u64 = power(LARGE % SMALL, SMALL - 2);

const fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut product = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = product * base % SMALL;
        }
        base = base * base % SMALL;
        exponent >>= 1;
    }
    product
}

/// Coefficients, erased when dropped.
pub type Poly = Zeroizing<Vec<u64>>;

/// A polynomial of zeros.
pub fn zeros() -> Poly {
    Zeroizing::new(vec![0; DEGREE])
}

/// The transform modulo a prime.
struct Field<const P: u64>(Plan);

impl<const P: u64> Field<P> {
    fn new() -> Self {
        Field(Plan::try_new(DEGREE, P).expect("P is a prime, and 1 modulo 4096"))
    }

    fn forward(&self, x: &[u64]) -> Poly {
        let mut out = Zeroizing::new(x.iter().map(|x| x % P).collect::<Vec<_>>());
        self.0.fwd(&mut out);
        out
    }

    /// The coefficients of a product of transforms.
    fn product(&self, a: &[u64], b: &[u64]) -> Poly {
        let mut out = Zeroizing::new(a.to_vec());
        self.0.mul_assign_normalize(&mut out, b);
        self.0.inv(&mut out);
        out
    }
}

fn small() -> &'static Field<SMALL> {
    static FIELD: OnceLock<Field<SMALL>> = OnceLock::new();
    FIELD.get_or_init(Field::new)
}

fn large() -> &'static Field<LARGE> {
    static FIELD: OnceLock<Field<LARGE>> = OnceLock::new();
    FIELD.get_or_init(Field::new)
}

/// A polynomial as its transforms modulo both primes.
pub struct Transformed {
    small: Poly,
    large: Poly,
}

impl Transformed {
    pub fn new(x: &[u64]) -> Self {
        Transformed { small: small().forward(x), large: large().forward(x) }
    }

    /// Of a polynomial whose coefficients are near zero.
    pub fn of_signed(x: &[i64]) -> Self {
        Self::new(&lifted(x, Q))
    }

    /// The coefficients of the product, modulo q.
    pub fn times(&self, other: &Transformed) -> Poly {
        let mut product = large().product(&self.large, &other.large);
        let small = small().product(&self.small, &other.small);
        product.iter_mut().zip(small.iter()).for_each(|(x, &y)| *x = joined(y, *x));
        product
    }

    /// The coefficients of the product with x, all modulo the small prime.
    pub fn times_small(&self, x: &[u64]) -> Poly {
        small().product(&small().forward(x), &self.small)
    }
}

/// The number modulo q that is these modulo the primes.
fn joined(small: u64, large: u64) -> u64 {
    large + LARGE * ((small + SMALL - large % SMALL) * INVERSE % SMALL)
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
    (x + LARGE / 2) / LARGE % SMALL
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
}

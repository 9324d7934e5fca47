//! Paillier (1999, §4 and §7) as the paper writes it, on num-bigint, and number theory for tests.

use num_bigint::{BigInt, BigUint, Sign};

pub fn one() -> BigUint {
    BigUint::from(1_u8)
}

/// Extended Euclid.
pub fn inverse(x: &BigUint, n: &BigUint) -> BigUint {
    let signed = |x: &BigUint| BigInt::from_biguint(Sign::Plus, x.clone());
    let (mut r, mut next_r) = (signed(n), signed(&(x % n)));
    let (mut t, mut next_t) = (BigInt::from(0), BigInt::from(1));
    while next_r != BigInt::from(0) {
        let quotient = &r / &next_r;
        (r, next_r) = (next_r.clone(), r - &quotient * next_r);
        (t, next_t) = (next_t.clone(), t - quotient * next_t);
    }
    assert_eq!(r, BigInt::from(1), "a unit");
    let n = signed(n);
    (((t % &n) + &n) % &n).to_biguint().expect("not negative")
}

/// The Jacobi symbol by quadratic reciprocity.
pub fn jacobi(a: &BigUint, n: &BigUint) -> i32 {
    let (mut a, mut n, mut sign) = (a % n, n.clone(), 1);
    let rest = |x: &BigUint, m: u32| (x % m).to_u32_digits().first().copied().unwrap_or(0);
    while a != BigUint::ZERO {
        while rest(&a, 2) == 0 {
            a >>= 1;
            sign = if matches!(rest(&n, 8), 3 | 5) { -sign } else { sign };
        }
        sign = if rest(&a, 4) == 3 && rest(&n, 4) == 3 { -sign } else { sign };
        std::mem::swap(&mut a, &mut n);
        a %= &n;
    }
    if n == one() { sign } else { 0 }
}

pub struct Textbook {
    pub n: BigUint,
    pub square: BigUint,
    /// (p − 1)·(q − 1), in place of λ.
    pub order: BigUint,
}

impl Textbook {
    pub fn new(p: BigUint, q: BigUint) -> Self {
        let (n, order) = (&p * &q, (&p - 1_u8) * (&q - 1_u8));
        Textbook { square: &n * &n, n, order }
    }

    /// (1 + N)^m·r^N mod N².
    pub fn encrypt(&self, m: &BigUint, r: &BigUint) -> BigUint {
        (one() + &self.n).modpow(m, &self.square) * r.modpow(&self.n, &self.square) % &self.square
    }

    /// L(c^λ)·λ⁻¹ mod N.
    pub fn decrypt(&self, c: &BigUint) -> BigUint {
        let power = c.modpow(&self.order, &self.square);
        assert_eq!(&power % &self.n, one(), "L is defined");
        (power - 1_u8) / &self.n * inverse(&self.order, &self.n) % &self.n
    }

    /// r of a ciphertext: its N-th root modulo N.
    pub fn nonce(&self, c: &BigUint) -> BigUint {
        (c % &self.n).modpow(&inverse(&self.n, &self.order), &self.n)
    }
}

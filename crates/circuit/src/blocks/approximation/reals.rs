//! Real numbers for tables: elementary functions to any number of fraction bits, the same on every platform.
//!
//! Tables and polynomials of the floating-point functions are computed when a circuit is built, at whatever precision
//! its format asks for. A number x is the big integer round(x·2^bits); series of small rational terms give π, ln 2 and
//! the functions. Every result is off by a few units of the last bit: callers take some 40 bits more than they need.
//! No host floating point takes part, because libraries differ in the last bits of its functions.

use num_bigint::BigInt;

/// Arithmetic on fixed-point numbers of one precision.
pub(crate) struct Reals {
    bits: u64,
    pi: BigInt,
    ln2: BigInt,
}

impl Reals {
    /// Numbers with this many bits after the point.
    pub(crate) fn new(bits: u32) -> Self {
        let bits = u64::from(bits);
        // Machin: π = 16·arctan(1/5) − 4·arctan(1/239); and ln 2 = 2·artanh(1/3).
        let pi = 16 * inverse_series(5, -1, bits) - 4 * inverse_series(239, -1, bits);
        let ln2 = 2 * inverse_series(3, 1, bits);
        Reals { bits, pi, ln2 }
    }

    /// How many bits numbers have after the point.
    pub(crate) fn bits(&self) -> u32 {
        self.bits as u32
    }

    /// π.
    pub(crate) fn pi(&self) -> BigInt {
        self.pi.clone()
    }

    /// ln 2.
    pub(crate) fn ln2(&self) -> BigInt {
        self.ln2.clone()
    }

    /// The nearest double but one or two, or zero if it is far too small for one.
    pub(crate) fn to_f64(&self, x: &BigInt) -> f64 {
        let shift = x.bits().saturating_sub(62);
        let digits = i64::try_from(x >> shift).expect("63 bits");
        digits as f64 * power_of_two(shift as i32 - self.bits as i32)
    }

    /// 1.
    pub(crate) fn one(&self) -> BigInt {
        BigInt::from(1) << self.bits
    }

    /// 2^exponent.
    pub(crate) fn power_of_two(&self, exponent: i32) -> BigInt {
        scale(self.one(), i64::from(exponent))
    }

    /// n·2^exponent.
    pub(crate) fn scaled(&self, n: impl Into<BigInt>, exponent: i32) -> BigInt {
        scale(n.into(), self.bits as i64 + i64::from(exponent))
    }

    /// n / d.
    pub(crate) fn ratio(&self, n: i64, d: i64) -> BigInt {
        (BigInt::from(n) << self.bits) / d
    }

    /// x·y.
    pub(crate) fn mul(&self, x: &BigInt, y: &BigInt) -> BigInt {
        (x * y) >> self.bits
    }

    /// x / y.
    pub(crate) fn div(&self, x: &BigInt, y: &BigInt) -> BigInt {
        (x << self.bits) / y
    }

    /// e^x.
    pub(crate) fn exp(&self, x: &BigInt) -> BigInt {
        let whole = floor_div(x, &self.ln2);
        let rest = x - &whole * &self.ln2;
        let terms = (1..).scan(self.one(), |term, n| {
            *term = self.mul(term, &rest) / n;
            Some(term.clone())
        });
        let sum = self.one() + while_not_zero(terms);
        scale(sum, i64::try_from(whole).expect("the power fits into memory"))
    }

    /// 2^x.
    pub(crate) fn exp2(&self, x: &BigInt) -> BigInt {
        self.exp(&self.mul(x, &self.ln2))
    }

    /// ln x.
    ///
    /// # Panics
    /// If x is not above zero.
    pub(crate) fn ln(&self, x: &BigInt) -> BigInt {
        assert!(x > &BigInt::ZERO, "the logarithm of a number above zero");
        // x = 2^e·m with m in [3/4, 3/2), and ln m = 2·artanh((m − 1) / (m + 1)).
        let scaled: BigInt = x * 4 / 3;
        let e = scaled.bits() as i64 - 1 - self.bits as i64;
        let m = scale(x.clone(), -e);
        let z = self.div(&(&m - self.one()), &(&m + self.one()));
        let square = self.mul(&z, &z);
        let powers = std::iter::successors(Some(z), |power| Some(self.mul(power, &square)));
        let sum = while_not_zero(powers.zip(0u32..).map(|(power, k)| power / (2 * k + 1)));
        2 * sum + e * &self.ln2
    }

    /// log2 x.
    ///
    /// # Panics
    /// If x is not above zero.
    pub(crate) fn log2(&self, x: &BigInt) -> BigInt {
        self.div(&self.ln(x), &self.ln2)
    }

    /// sin(πx) and cos(πx).
    pub(crate) fn sin_cos_pi(&self, x: &BigInt) -> (BigInt, BigInt) {
        // x = quarter/2 + rest with |rest| at most 1/4.
        let quarter = (x * 2 + (self.one() >> 1)) >> self.bits;
        let rest = x - ((&quarter << self.bits) >> 1u32);
        let (sin, cos) = self.sin_cos(&self.mul(&rest, &self.pi));
        match i64::try_from(quarter & BigInt::from(3)).expect("two bits") {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    /// sin x and cos x by their series, for small x.
    fn sin_cos(&self, x: &BigInt) -> (BigInt, BigInt) {
        let square = -self.mul(x, x);
        let series = |first: BigInt, from: u32| {
            let terms = (0..).scan(first.clone(), |term, k: u32| {
                let n = from + 2 * k;
                *term = self.mul(term, &square) / (n * (n + 1));
                Some(term.clone())
            });
            first + while_not_zero(terms)
        };
        (series(x.clone(), 2), series(self.one(), 1))
    }
}

/// The polynomials of one degree that agree with a function at the Chebyshev points of [−1, 1]: as series of
/// Chebyshev's polynomials T₀, T₁, ..., with an error within a few times the least possible.
pub(crate) struct Interpolation<'a> {
    reals: &'a Reals,
    points: usize,
    /// cos(π·n / (2·points)), once around.
    cosines: Vec<BigInt>,
}

impl<'a> Interpolation<'a> {
    /// Interpolation by polynomials of this degree.
    pub(crate) fn new(reals: &'a Reals, degree: usize) -> Self {
        let points = degree + 1;
        let cosine = |n: usize| reals.sin_cos_pi(&reals.ratio(n as i64, 2 * points as i64)).1;
        Interpolation { reals, points, cosines: (0..4 * points).map(cosine).collect() }
    }

    /// The coefficients of the polynomial with these values at the Chebyshev points.
    pub(crate) fn series(&self, function: impl Fn(&BigInt) -> BigInt) -> Vec<BigInt> {
        let values: Vec<BigInt> = (0..self.points).map(|k| function(&self.cosines[2 * k + 1])).collect();
        let coefficient = |j: usize| {
            let cosine = |k: usize| &self.cosines[(2 * k + 1) * j % self.cosines.len()];
            let sum: BigInt = values.iter().enumerate().map(|(k, value)| value * cosine(k)).sum();
            (sum * if j == 0 { 1 } else { 2 } / self.points) >> self.reals.bits
        };
        (0..self.points).map(coefficient).collect()
    }
}

/// 2^exponent as a double; zero below the normal range.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 { 0.0 } else { f64::from_bits(((exponent + 1023) as u64) << 52) }
}

/// x·2^exponent, rounded down.
fn scale(x: BigInt, exponent: i64) -> BigInt {
    if exponent < 0 { x >> exponent.unsigned_abs() } else { x << exponent.unsigned_abs() }
}

/// ⌊x / y⌋ for y > 0.
fn floor_div(x: &BigInt, y: &BigInt) -> BigInt {
    let quotient = x / y;
    if &(&quotient * y) > x { quotient - 1 } else { quotient }
}

/// The sum of the terms before the first that is zero (or −1, where an arithmetic shift stops).
fn while_not_zero(terms: impl Iterator<Item = BigInt>) -> BigInt {
    let one = BigInt::from(1);
    terms.take_while(|term| term > &one || term < &-&one).sum()
}

/// Σ sign^k / ((2k + 1)·n^(2k + 1)): arctan(1/n) for sign −1, artanh(1/n) for 1.
fn inverse_series(n: u32, sign: i32, bits: u64) -> BigInt {
    let guard = 32;
    let first = (BigInt::from(1) << (bits + guard)) / n;
    let powers = std::iter::successors(Some(first), |power| Some(power / (n * n) * sign));
    while_not_zero(powers.zip(0u32..).map(|(power, k)| power / (2 * k + 1))) >> guard
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u32 = 160;

    fn agree(x: &BigInt, y: &BigInt) -> bool {
        (x - y).bits() < 12
    }

    #[test]
    fn functions_agree_with_the_host() {
        let r = Reals::new(BITS);
        for n in -70..70i64 {
            let (x, host) = (r.ratio(n, 70), n as f64 / 70.0);
            let (sin, cos) = r.sin_cos_pi(&x);
            assert!((r.to_f64(&sin) - (host * std::f64::consts::PI).sin()).abs() < 1e-15);
            assert!((r.to_f64(&cos) - (host * std::f64::consts::PI).cos()).abs() < 1e-15);
            assert!((r.to_f64(&r.exp(&x)) - host.exp()).abs() < 1e-15);
            assert!((r.to_f64(&r.log2(&(r.one() * 2 + &x))) - (2.0 + host).log2()).abs() < 1e-15);
        }
    }

    #[test]
    fn functions_undo_each_other() {
        let r = Reals::new(BITS);
        assert!(agree(&r.ln(&r.power_of_two(1)), &r.ln2()));
        assert!(agree(&r.exp(&r.ln2()), &r.power_of_two(1)));
        for n in 1..100 {
            let x = r.ratio(n, 37);
            assert!(agree(&r.exp2(&r.log2(&x)), &x));
            let (sin, cos) = r.sin_cos_pi(&x);
            assert!(agree(&(r.mul(&sin, &sin) + r.mul(&cos, &cos)), &r.one()));
            // sin 2x = 2 sin x cos x, away from the quarter of the reduction.
            assert!(agree(&r.sin_cos_pi(&(&x * 2)).0, &(2 * r.mul(&sin, &cos))));
        }
    }

    #[test]
    fn pi_has_its_digits() {
        let r = Reals::new(1200);
        // The first 120 bits after the point.
        let digits = BigInt::parse_bytes(b"3243f6a8885a308d313198a2e037073", 16).expect("hexadecimal");
        assert_eq!(r.pi() >> 1080u32, digits);
    }

    #[test]
    fn interpolation_finds_polynomials() {
        let r = Reals::new(BITS);
        // 4u³ − 3u + 1 = T₃ + T₀.
        let f = |u: &BigInt| 4 * r.mul(u, &r.mul(u, u)) - 3 * u + r.one();
        let found = Interpolation::new(&r, 5).series(f);
        let wanted = [r.one(), 0.into(), 0.into(), r.one(), 0.into(), 0.into()];
        assert!(found.iter().zip(&wanted).all(|(x, y)| agree(x, y)));
    }
}

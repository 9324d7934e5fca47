//! Floating point of any format on integers: decode, one exact operation, round. Slow, short, and apart from the
//! circuits in all but the definition.

use num_bigint::{BigInt, Sign};

/// A format and its mode.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub exponent: u32,
    pub fraction: u32,
    pub flush: bool,
}

/// A decoded number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Nan,
    Infinite(bool),
    /// Sign, and magnitude as mantissa · 2^exponent.
    Finite(bool, u128, i64),
}

use Value::{Finite, Infinite, Nan};

impl Model {
    pub fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    fn top(self) -> i64 {
        (1 << self.exponent) - 1
    }

    fn smallest(self) -> i64 {
        1 - self.bias() - i64::from(self.fraction)
    }

    /// The canonical NaN, or what stands for it.
    pub fn invalid(self) -> u128 {
        match self.flush {
            true => self.infinity(false),
            false => self.infinity(false) | 1 << (self.fraction - 1),
        }
    }

    pub fn infinity(self, sign: bool) -> u128 {
        self.zero(sign) | (self.top() as u128) << self.fraction
    }

    pub fn zero(self, sign: bool) -> u128 {
        u128::from(sign) << (self.width() - 1)
    }

    pub fn decode(self, bits: u128) -> Value {
        let sign = bits >> (self.width() - 1) & 1 == 1;
        let fraction = bits & ((1 << self.fraction) - 1);
        let exponent = (bits >> self.fraction) as i64 & self.top();
        match exponent {
            0 if self.flush => Finite(sign, 0, 0),
            0 => Finite(sign, fraction, self.smallest()),
            e if e == self.top() && (self.flush || fraction == 0) => Infinite(sign),
            e if e == self.top() => Nan,
            e => Finite(sign, fraction | 1 << self.fraction, e - 1 + self.smallest()),
        }
    }

    pub fn encode(self, value: Value) -> u128 {
        match value {
            Nan => self.invalid(),
            Infinite(sign) => self.infinity(sign),
            Finite(sign, mantissa, exponent) => self.round(sign, mantissa, exponent, false),
        }
    }

    /// The nearest number to mantissa · 2^exponent, or to a bit more (less than one unit) if `more`.
    pub fn round(self, sign: bool, mantissa: u128, exponent: i64, more: bool) -> u128 {
        if mantissa == 0 {
            assert!(!more, "precision is lost");
            return self.zero(sign);
        }
        let high = exponent + 127 - i64::from(mantissa.leading_zeros());
        let unbounded = high - i64::from(self.fraction);
        let unit = if self.flush { unbounded } else { unbounded.max(self.smallest()) };
        let kept = match unit - exponent {
            shift @ ..=0 => {
                assert!(!more, "precision is lost");
                mantissa << -shift
            }
            shift @ 129.. => u128::from(shift < 0),
            128 => u128::from(mantissa > 1 << 127 || mantissa == 1 << 127 && more),
            shift => {
                let (kept, rest) = (mantissa >> shift, mantissa & ((1 << shift) - 1));
                let half = 1 << (shift - 1);
                kept + u128::from(rest > half || rest == half && (more || kept & 1 == 1))
            }
        };
        let stored = i128::from(unit - self.smallest() + 1) << self.fraction;
        let stored = stored + kept as i128 - (1 << self.fraction);
        match stored >> self.fraction {
            e if e >= self.top().into() => self.infinity(sign),
            ..=0 if self.flush => self.zero(sign),
            _ => self.zero(sign) | stored as u128,
        }
    }

    pub fn add(self, a: u128, b: u128) -> u128 {
        match (self.decode(a), self.decode(b)) {
            (Nan, _) | (_, Nan) => self.invalid(),
            (Infinite(s), Infinite(t)) if s != t => self.invalid(),
            (Infinite(s), _) | (_, Infinite(s)) => self.infinity(s),
            (Finite(s, 0, _), Finite(t, 0, _)) => self.zero(s && t),
            (Finite(_, 0, _), value) | (value, Finite(_, 0, _)) => self.encode(value),
            (Finite(s, x, e), Finite(t, y, f)) => {
                // The far one is as good as any that is smaller than a quarter of the last place.
                let ((s, x, e), (t, y, f)) = if e < f { ((t, y, f), (s, x, e)) } else { ((s, x, e), (t, y, f)) };
                let apart = (e - f).min(64);
                let y = if e - f > apart { 1 } else { y };
                let signed = |sign: bool, x: u128| if sign { -(x as i128) } else { x as i128 };
                let sum = signed(s, x << apart) + signed(t, y);
                self.round(sum < 0, sum.unsigned_abs(), e - apart, false)
            }
        }
    }

    pub fn multiply(self, a: u128, b: u128) -> u128 {
        match (self.decode(a), self.decode(b)) {
            (Nan, _) | (_, Nan) => self.invalid(),
            (Infinite(_), Finite(_, 0, _)) | (Finite(_, 0, _), Infinite(_)) => self.invalid(),
            (Infinite(s), Infinite(t)) => self.infinity(s != t),
            (Infinite(s), Finite(t, ..)) | (Finite(t, ..), Infinite(s)) => self.infinity(s != t),
            (Finite(s, x, e), Finite(t, y, f)) => self.round(s != t, x * y, e + f, false),
        }
    }

    pub fn multiply_add(self, a: u128, b: u128, c: u128) -> u128 {
        match (self.decode(a), self.decode(b), self.decode(c)) {
            (Finite(s, x, e), Finite(t, y, f), Finite(u, z, g)) if x * y != 0 && z != 0 => {
                let signed = |sign: bool, x: u128| if sign { -BigInt::from(x) } else { BigInt::from(x) };
                let low = (e + f).min(g);
                let sum = (signed(s != t, x * y) << (e + f - low)) + (signed(u, z) << (g - low));
                let long = sum.bits().saturating_sub(120);
                let upper: u128 = (sum.magnitude() >> long).try_into().expect("120 bits");
                let more = sum.trailing_zeros().is_some_and(|zeros| zeros < long);
                self.round(sum.sign() == Sign::Minus, upper, low + long as i64, more)
            }
            // One of both is zero or infinite or NaN: the product is not rounded, or it does not matter.
            (Finite(s, x, e), Finite(t, y, f), Finite(u, 0, _)) => match x * y {
                0 => self.zero(s != t && u),
                product => self.round(s != t, product, e + f, false),
            },
            (Finite(s, ..), Finite(t, ..), _) => self.add(self.zero(s != t), c),
            _ if self.lost(a, b) => self.invalid(),
            _ => self.add(self.multiply(a, b), c),
        }
    }

    /// Zero times infinity.
    fn lost(self, a: u128, b: u128) -> bool {
        let pair = (self.decode(a), self.decode(b));
        matches!(pair, (Infinite(_), Finite(_, 0, _)) | (Finite(_, 0, _), Infinite(_)))
    }

    pub fn divide(self, a: u128, b: u128) -> u128 {
        match (self.decode(a), self.decode(b)) {
            (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) => self.invalid(),
            (Finite(_, 0, _), Finite(_, 0, _)) => self.invalid(),
            (Infinite(s), Finite(t, ..)) | (Finite(s, ..), Finite(t, 0, _)) => self.infinity(s != t),
            (Finite(s, ..), Infinite(t)) | (Finite(s, 0, _), Finite(t, ..)) => self.zero(s != t),
            (Finite(s, x, e), Finite(t, y, f)) => {
                let up = x.leading_zeros() - 2;
                let x = x << up;
                self.round(s != t, x / y, e - i64::from(up) - f, x % y != 0)
            }
        }
    }

    pub fn square_root(self, a: u128) -> u128 {
        match self.decode(a) {
            Nan => self.invalid(),
            Finite(s, 0, _) => self.zero(s),
            Infinite(true) | Finite(true, ..) => self.invalid(),
            Infinite(false) => self.infinity(false),
            Finite(_, x, e) => {
                let up = i64::from(x.leading_zeros()) - 2;
                let up = up - (e - up).rem_euclid(2);
                let x = x << up;
                let root = x.isqrt();
                self.round(false, root, (e - up) / 2, root * root != x)
            }
        }
    }

    /// Bit 0, 1, 2 or 3: less, equal, greater, unordered.
    pub fn compare(self, a: u128, b: u128) -> u128 {
        let number = |x: u128| match self.decode(x) {
            Nan => None,
            value => {
                let size = (self.encode(value) & !self.zero(true)) as i128;
                Some(if self.negative(x) { -size } else { size })
            }
        };
        match (number(a), number(b)) {
            (Some(a), Some(b)) => 2 << (a > b) as u32 >> (a < b) as u32,
            _ => 8,
        }
    }

    pub fn negative(self, a: u128) -> bool {
        a & self.zero(true) != 0
    }

    /// Its place in the total order of encodings.
    pub fn place(self, a: u128) -> i128 {
        let size = (a & !self.zero(true)) as i128;
        if self.negative(a) { -1 - size } else { size }
    }

    pub fn minimum(self, a: u128, b: u128) -> u128 {
        let (x, y) = (self.decode(a), self.decode(b));
        let first = y == Nan || x != Nan && self.place(self.encode(x)) <= self.place(self.encode(y));
        self.encode(if first { x } else { y })
    }

    pub fn maximum(self, a: u128, b: u128) -> u128 {
        let (x, y) = (self.decode(a), self.decode(b));
        let first = y == Nan || x != Nan && self.place(self.encode(x)) >= self.place(self.encode(y));
        self.encode(if first { x } else { y })
    }

    /// To an integral number: `up` decides from the sign, the integer part, and how the rest compares with one half
    /// (0: no rest, 1: less, 2: equal, 3: more).
    pub fn integral(self, a: u128, up: fn(bool, u128, u32) -> bool) -> u128 {
        match self.decode(a) {
            Finite(sign, x, e) if e < 0 => {
                let below = (-e).min(127);
                let (whole, rest) = (x >> below, x & ((1 << below) - 1));
                let half = 1 << (below - 1);
                let class = u32::from(rest != 0) + u32::from(rest >= half) + u32::from(rest > half);
                self.round(sign, whole + u128::from(up(sign, whole, class)), 0, false)
            }
            value => self.encode(value),
        }
    }

    /// Towards zero, within these bounds; NaN is zero.
    pub fn integer(self, a: u128, least: i128, most: i128) -> i128 {
        match self.decode(a) {
            Nan => 0,
            Infinite(sign) => {
                if sign {
                    least
                } else {
                    most
                }
            }
            Finite(sign, x, e) => {
                let size = match e {
                    ..=-128 => 0,
                    -127..0 => x >> -e,
                    _ if x == 0 => 0,
                    _ if e > i64::from(x.leading_zeros()) - 2 => i128::MAX as u128,
                    _ => x << e,
                };
                (if sign { -(size as i128) } else { size as i128 }).clamp(least, most)
            }
        }
    }

    pub fn nearest(self, a: i128) -> u128 {
        self.round(a < 0, a.unsigned_abs(), 0, false)
    }
}

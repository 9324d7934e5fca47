//! Exponentials: 2^x, e^x, 10^x, within a unit of the last place.
//!
//! The exponent of x moves its significand into fixed point, and with its sign it becomes n·s + t: s = log_b 2 is what
//! the argument grows by when the result doubles, n is an integer, and t in [0, s) or a little more. So b^x = 2^n·b^t,
//! where n goes into the exponent and b^t comes from a [table of polynomials](crate::blocks::piecewise). For b = 2, n
//! and t are the bits before and after the point. Otherwise n comes from the leading bits of x alone, rounded down, so
//! that n·s costs one table look-up for each few bits of n.
//!
//! What is cut off below the last bit of x, and a negation that is a complement, leave an interval of one unit, whose
//! middle is the argument: two or three bits more than the significand has are enough. Before it is rounded to the
//! nearest, the significand is off by less than half a unit in all. So the result is one of the two neighbours of the
//! exact value, and exact wherever that is a number of the format.

use num_bigint::BigInt;

use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{any, flip, increment, mux};
use super::round::{Unrounded, round};
use crate::blocks::digits::{Digits, Sum};
use crate::blocks::piecewise::{Piecewise, Place};
use crate::blocks::reals::{Reals, power_of_two};
use crate::blocks::{Goal, one_hot, shift, subtract};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// The base of a power or a logarithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// 2.
    Two,
    /// Euler's number.
    E,
    /// 10.
    Ten,
}

impl Base {
    /// Its natural logarithm.
    pub(super) fn ln(self, r: &Reals) -> BigInt {
        match self {
            Base::Two => r.ln2(),
            Base::E => r.one(),
            Base::Ten => r.ln(&r.scaled(10, 0)),
        }
    }
}

/// b^x, off by less than a unit of the last place; exact where the exact value is a number of the format.
///
/// b^(−∞) = 0, b^∞ = ∞, b^NaN = NaN, b^0 = 1. Results that are too large become infinite; those below the smallest
/// normal number are denormal or zero in mode `Ieee`, zero in mode `Flush`.
///
/// # Panics
/// If the exponent has fewer than 4 bits.
pub fn exponential(c: &mut Builder, x: &Float, base: Base, mode: Mode, goal: Goal) -> Float {
    assert!(x.format.exponent >= 4, "an exponential in format {}", x.format);
    let argument = Argument::new(c, x, base, mode, goal);
    let power = match base {
        Base::Two => argument.power_of_two(c, goal),
        _ => argument.power(c, base, goal),
    };
    let value = Unrounded {
        sign: Bit::FALSE,
        exponent: power.biased(c, x.format, goal),
        significand: UInt([&power.fraction[..], &[Bit::TRUE]].concat()),
        zero: c.and(argument.large, argument.sign),
        infinite: c.and(argument.large, !argument.sign),
        nan: argument.nan,
    };
    round(c, x.format, mode, &value, goal)
}

/// x in fixed point: in two's complement, somewhere in the unit of its last place.
struct Argument {
    format: Format,
    /// Fraction, integer, sign.
    bits: Vec<Bit>,
    /// Bits after the point.
    fraction: usize,
    sign: Bit,
    /// The bits do not tell, because the magnitude of x is too large for any result but zero and infinity.
    large: Bit,
    nan: Bit,
}

/// 2^(n + carry)·(1 + fraction).
pub(super) struct Power {
    /// In two's complement.
    pub(super) n: Vec<Bit>,
    pub(super) carry: Bit,
    pub(super) fraction: Vec<Bit>,
}

impl Argument {
    fn new(c: &mut Builder, x: &Float, base: Base, mode: Mode, goal: Goal) -> Self {
        let format = x.format;
        let parts = x.unpack(c, mode);
        let whole = integer_bits(format, base);
        let fraction = format.fraction as usize + if base == Base::Two { 2 } else { 3 };
        let (magnitude, beyond) = fixed_point(c, &parts, whole, fraction, goal);
        let mut bits = flip(c, parts.sign, &magnitude);
        bits.push(parts.sign);
        let finite = c.or(beyond, parts.infinite);
        Argument { format, bits, fraction, sign: parts.sign, large: c.and(finite, !parts.nan), nan: parts.nan }
    }

    fn power_of_two(&self, c: &mut Builder, goal: Goal) -> Power {
        let (t, n) = self.bits.split_at(self.fraction);
        let precision = self.format.fraction as usize;
        // Half a unit of the argument is a sixth of one of the result.
        let minus_one = Piecewise {
            function: &|r, t| r.exp2(t) - r.one(),
            domain: 0.0..1.0,
            place: Place::Middle,
            low: -(precision as i32),
            high: 1,
            error: 0.3,
        };
        let word = minus_one.evaluate(c, t, goal);
        Power { n: n.to_vec(), carry: word[precision], fraction: word[..precision].to_vec() }
    }

    fn power(&self, c: &mut Builder, base: Base, goal: Goal) -> Power {
        let r = Reals::new(self.bits.len() as u32 + 96);
        let step = r.div(&r.ln2(), &base.ln(&r));
        let (n, below) = self.steps(c, &r, &step, goal);
        let mut rest = Sum::new(-(self.fraction as i32) - 1);
        rest.add(&self.digits(self.bits.len()));
        add_tables(&mut rest, c, &r, &n, 0, &-&step);
        let rest = rest.word(c, -(self.fraction as i32) - 1, 0, goal);
        let precision = self.format.fraction as usize;
        let ln = base.ln(&r);
        let minus_one = Piecewise {
            function: &|r, t| r.exp(&r.mul(t, &(&ln >> (ln_bits(&r) - r.bits())))) - r.one(),
            domain: 0.0..below,
            place: Place::Middle,
            low: -(precision as i32),
            high: 1,
            error: 0.25,
        };
        let word = minus_one.evaluate(c, &rest, goal);
        // From 2 on, half as much: the bit that falls off is another quarter of a unit at most.
        let (carry, fraction) = (word[precision], &word[..precision]);
        Power { n, carry, fraction: mux(c, carry, &fraction[1..], fraction) }
    }
}

//! x^y = 2^(y·log₂|x|), within a unit of the last place.
//!
//! The [logarithm](super::logarithm) is taken with as many bits more as the exponent has, and a few: what it is off by
//! is multiplied by y, up to 2 to the bits of the exponent, before it meets the fraction of the result. The product
//! goes into fixed point as the argument of the [exponential](super::exponential). Both together are off by less than
//! half a unit before the result is rounded to the nearest, so exact powers come out exact.

use super::exponential::{Base, Bounds, Power, fixed_point, fraction_bits, integer_bits};
use super::format::{Float, Mode, Unpacked};
use super::gates::{all, flip};
use super::logarithm::Logarithm;
use crate::blocks::approximation::digits::{Digits, Sum, fit};
use crate::blocks::approximation::reals::power_of_two;
use crate::blocks::arithmetic::shift;
use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// x^y, off by less than a unit of the last place; exact where the exact value is a number of the format.
///
/// Special cases as in IEEE 754-2019 §9.2.1: x^±0 and 1^y are 1, even of NaN; (−1)^±∞ = 1; a negative x has a power
/// for an integer y only, negative if y is odd; zeros and infinities follow their limits. NaN is ∞ in mode `Flush`.
///
/// ANDs and depth in mode `Ieee`, for single, 42-bit and double: by size 4,499 @ 327, 7,624 @ 420, 18,008 @ 698; by
/// depth 6,196 @ 107, 10,171 @ 120, 23,740 @ 132.
///
/// # Panics
/// If the formats differ or the exponent has fewer than 4 bits.
pub fn power(c: &mut Builder, x: &Float, y: &Float, mode: Mode, goal: Goal) -> Float {
    let format = x.format;
    assert_eq!(format, y.format, "numbers of one format");
    assert!(format.exponent >= 4, "a power in format {format}");
    let x = x.unpack(c, mode).normalised(c, goal);
    let y = y.unpack(c, mode);
    let whole = integer_bits(format, Base::Two) + 1;
    let fraction = fraction_bits(format, Base::Two) + 1;
    let precision = format.fraction as usize + whole + 5;
    let log = Logarithm::new(c, &x, Base::Two, mode, precision as i32, goal);

    let special = Special::new(c, &x, &y, &log, goal);
    let product = product(c, &y, &log, precision, whole + fraction, goal);
    let (magnitude, beyond) = fixed_point(c, &product, whole, fraction, goal);
    let mut bits: Vec<Bit> = magnitude.iter().map(|&bit| c.and(bit, !special.one)).collect();
    bits.push(Bit::FALSE);
    let bits = flip(c, special.sign, &bits);
    let limit = c.or(beyond, special.limit);
    let large = c.and(limit, !special.one);
    let large = c.and(large, !special.nan);
    let bounds = Bounds { large, sign: special.sign, nan: special.nan, negative: special.negative };
    Power::of_two(c, format, &bits, fraction, goal).round(c, format, mode, bounds, goal)
}

/// |y·log₂|x||, cut off after so many bits.
fn product(c: &mut Builder, y: &Unpacked, log: &Logarithm, precision: usize, bits: usize, goal: Goal) -> Unpacked {
    let n = y.significand.0.len() as i32;
    let low = 2 - bits as i32;
    // With the digit above them, digits of a number in [1, 2) and half a unit.
    let digits = |bits: &[Bit]| Digits::new([bits, &[Bit::TRUE]].concat(), 1 - bits.len() as i32);
    let kept = &log.significand[log.significand.len().saturating_sub(precision + 2)..];
    let (y_digits, log_digits) = (digits(&y.significand.0), digits(kept));
    let sum = fit(low, 0.2 * power_of_two(low), |cut| {
        let mut sum = Sum::new(cut);
        sum.product(c, &y_digits, &log_digits);
        sum.product(c, &Digits::new(vec![Bit::FALSE], 1 - n), &log_digits);
        sum
    });
    let significand = sum.word(c, low, 2, goal);
    let mut exponent = Columns::new(y.exponent.0.len() + 1);
    exponent.add_signed(0, &y.exponent.0);
    exponent.add_signed(0, &log.exponent);
    exponent.add_power(0);
    Unpacked { exponent: Int(exponent.sum(c, goal)), significand: UInt(significand), zero: Bit::FALSE, ..y.clone() }
}

/// Facts about a power that need none of its digits.
struct Special {
    /// The result is one or minus one.
    one: Bit,
    /// y·log₂|x| is infinite, unless the result is one.
    limit: Bit,
    /// y·log₂|x| is negative.
    sign: Bit,
    nan: Bit,
    /// The result is negative.
    negative: Bit,
}

impl Special {
    fn new(c: &mut Builder, x: &Unpacked, y: &Unpacked, log: &Logarithm, goal: Goal) -> Self {
        let (integer, odd) = parity(c, y, goal);
        let x_number = all(c, &[!x.zero, !x.infinite, !x.nan]);
        let unit = c.and(log.zero, x_number);
        let one = c.or(unit, y.zero);
        let below = c.or(log.negative, x.zero);
        let sign = c.xor(below, y.sign);
        let ends = c.or(x.zero, x.infinite);
        let no_root = all(c, &[x.sign, x_number, !integer, !y.nan]);
        let base_is_one = c.and(unit, !x.sign);
        let x_nan = c.and(x.nan, !y.zero);
        let y_nan = c.and(y.nan, !base_is_one);
        let nan = c.or(x_nan, y_nan);
        let negative = all(c, &[x.sign, odd, !x.nan]);
        Special { one, limit: c.or(ends, y.infinite), sign: c.and(sign, !one), nan: c.or(nan, no_root), negative }
    }
}

/// Whether a number is an integer, as zeros and infinities are, and whether it is odd.
fn parity(c: &mut Builder, y: &Unpacked, goal: Goal) -> (Bit, Bit) {
    // The place of the lowest one: that of the units is zero.
    let zeros = shift::trailing_zeros(c, &y.significand, goal);
    let mut place = Columns::new(y.exponent.0.len());
    place.add_signed(0, &y.exponent.0);
    place.add_word(0, &zeros.0);
    place.subtract_constant(0, y.format.bias() as u128 + u128::from(y.format.fraction));
    let place = place.sum(c, goal);
    let above: Vec<Bit> = place.iter().map(|&bit| !bit).collect();
    let special = c.or(y.zero, y.infinite);
    let units = all(c, &above);
    let odd = all(c, &[units, !special, !y.nan]);
    let whole = !place[place.len() - 1];
    (c.or(whole, special), odd)
}

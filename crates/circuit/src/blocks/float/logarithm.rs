//! Logarithms: log₂ x, ln x, log₁₀ x, within a unit of the last place.
//!
//! x = 2^e·(1 + z) with z in [−¼, ½), so that the exponent and the logarithm of 1 + z do not cancel. The fraction of x,
//! read as a number in two's complement, is z, or 2z if it is negative; and log(1 + z) is that number times a function
//! of the fraction, which never comes near zero and needs no more than the precision of the result: a
//! [table of polynomials](crate::blocks::approximation::piecewise). If e is zero, the number is shifted to the left before the
//! product, and the exponent of the result makes up for it; so the result has its full precision next to x = 1 too.
//!
//! Before it is rounded to the nearest, the result is off by less than half a unit of the last place.

use num_bigint::BigInt;

use super::exponential::{Base, add_tables, as_digits};
use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{all, flip};
use super::round::{Unrounded, round};
use crate::blocks::approximation::digits::{Digits, Sum, fit};
use crate::blocks::approximation::piecewise::{LastBit, Piecewise};
use crate::blocks::approximation::reals::{Reals, power_of_two};
use crate::blocks::arithmetic::shift;
use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// log_b x, off by less than a unit of the last place; exact where the exact value is a number of the format.
///
/// The logarithm of zero is −∞, of ∞ is ∞, of 1 is +0. That of a negative number is NaN in mode `Ieee` and, as all
/// invalid results, ∞ in mode `Flush`.
///
/// ANDs and depth in mode `Flush`, for single, 42-bit and double: ln by size 1,588 @ 141, 2,736 @ 180, 6,847 @ 322, by
/// depth 2,207 @ 45, 3,759 @ 48, 9,032 @ 54; the other bases within four in a hundred. Mode `Ieee` normalises denormals
/// first: about 350, 580 and 850 ANDs by size.
///
/// # Panics
/// If the exponent has fewer than 4 bits.
pub fn logarithm(c: &mut Builder, x: &Float, base: Base, mode: Mode, goal: Goal) -> Float {
    assert!(x.format.exponent >= 4, "a logarithm in format {}", x.format);
    let parts = x.unpack(c, mode).normalised(c, goal);
    let log = Logarithm::new(c, &parts, base, mode, x.format.fraction as i32 + 2, goal);
    log.round(c, &parts, mode, goal)
}

/// A logarithm before it is rounded.
pub(super) struct Logarithm {
    pub(super) negative: Bit,
    pub(super) zero: Bit,
    /// The magnitude is `significand · 2^(exponent − length + 1)` and half a unit, its highest bit one.
    pub(super) significand: Vec<Bit>,
    /// In two's complement.
    pub(super) exponent: Vec<Bit>,
}

/// The parameters that all logarithms to one base share.
struct Scale {
    base: Base,
    /// The factor of the fraction is below 2^factor.
    factor: i32,
    /// The magnitude of the logarithm, shifted if it is next to zero, is from 2^least to below 2^most.
    least: i32,
    most: i32,
}

impl Scale {
    fn new(format: Format, base: Base, mode: Mode) -> Self {
        let exponents = match mode {
            Mode::Ieee => format.bias() + i64::from(format.fraction),
            Mode::Flush => format.bias(),
        };
        let (factor, least, most) = match base {
            Base::Two => (1, -2, exponents),
            Base::E => (0, -2, (exponents + 1) * 7 / 10),
            Base::Ten => (-1, -4, (exponents + 1) * 31 / 100),
        };
        Scale { base, factor, least, most: (i64::BITS - most.leading_zeros()) as i32 }
    }
}

impl Logarithm {
    /// The logarithm of a normalised number, with `precision` bits below its highest that are off by less than 1.8
    /// units of the last of them.
    pub(super) fn new(c: &mut Builder, x: &Unpacked, base: Base, mode: Mode, precision: i32, goal: Goal) -> Self {
        let scale = Scale::new(x.format, base, mode);
        let (fraction, upper) = x.significand.0.split_at(x.format.fraction as usize);
        debug_assert_eq!(upper, [Bit::TRUE], "a normalised number");
        let below = *fraction.last().expect("a fraction");
        let near = near_one(c, x, below);
        let whole = exponent(c, x, below, goal);
        let negative = c.and(near, below);
        let negative = c.xor(negative, *whole.last().expect("a sign"));
        let (shifted, places) = normalise(c, fraction, near, goal);
        let magnitude = magnitude(c, &scale, fraction, &shifted, &whole, negative, precision, goal);
        let none = {
            let clear: Vec<Bit> = fraction.iter().map(|&bit| !bit).collect();
            all(c, &clear)
        };
        let zero = c.and(near, none);
        let (significand, zeros) = align(c, &scale, &magnitude, goal);
        let mut exponent = Columns::new(x.format.exponent_width() as usize);
        subtract_or_add(&mut exponent, scale.most - 1);
        exponent.subtract_word(0, &zeros);
        exponent.subtract_word(0, &places);
        Logarithm { negative, zero, significand, exponent: exponent.sum(c, goal) }
    }

    fn round(&self, c: &mut Builder, x: &Unpacked, mode: Mode, goal: Goal) -> Float {
        let format = x.format;
        let mut exponent = Columns::new(format.exponent_width() as usize);
        exponent.add_signed(0, &self.exponent);
        exponent.add_constant(0, format.bias() as u128);
        let invalid = c.and(x.sign, !x.zero);
        let invalid = c.or(invalid, x.nan);
        let special = c.or(x.infinite, x.zero);
        let (infinite, nan) = match mode {
            Mode::Ieee => (c.and(special, !invalid), invalid),
            Mode::Flush => (c.or(special, invalid), Bit::FALSE),
        };
        let negative = c.and(self.negative, !invalid);
        let finite = c.or(infinite, nan);
        let length = self.significand.len();
        let kept = &self.significand[length - format.precision() as usize - 1..];
        let value = Unrounded {
            sign: c.or(negative, x.zero),
            exponent: Int(exponent.sum(c, goal)),
            significand: UInt([&[Bit::TRUE], kept].concat()),
            zero: c.and(self.zero, !finite),
            infinite,
            nan,
        };
        round(c, format, mode, &value, goal)
    }
}

/// Whether x is in [¾, 3/2), for `below` if the fraction is one half or more.
fn near_one(c: &mut Builder, x: &Unpacked, below: Bit) -> Bit {
    let bias = x.format.bias();
    let mut same: Vec<Bit> = (0..).zip(&x.exponent.0).map(|(i, bit)| bit.flip(bias >> i & 1 == 0)).collect();
    same[0] = c.xor(same[0], below);
    all(c, &same)
}

/// The exponent so that the rest is in [¾, 3/2), in two's complement.
fn exponent(c: &mut Builder, x: &Unpacked, below: Bit, goal: Goal) -> Vec<Bit> {
    let largest = x.format.bias() + i64::from(x.format.fraction) + 1;
    let width = (i64::BITS - largest.leading_zeros()) as usize + 1;
    let mut columns = Columns::new(width);
    columns.add_signed(0, &x.exponent.0);
    columns.subtract_constant(0, x.format.bias() as u128);
    columns.add_bit(0, below);
    columns.sum(c, goal)
}

/// The fraction in two's complement without its sign, and if x is `near` one, without any repetition of it; and by how
/// many places it was shifted for that.
fn normalise(c: &mut Builder, fraction: &[Bit], near: Bit, goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    let (&sign, rest) = fraction.split_last().expect("a sign");
    let mut differ = flip(c, sign, rest);
    differ.push(!near);
    let places = shift::leading_zeros(c, &UInt(differ), goal);
    (shift::shift_left(c, &UInt(fraction.to_vec()), &places, goal).0, places.0)
}

/// |e·log 2 + z·factor|, from 2^(least − precision − few) to below 2^most: the middle of the unit of its last place.
#[allow(clippy::too_many_arguments)]
fn magnitude(
    c: &mut Builder,
    scale: &Scale,
    fraction: &[Bit],
    shifted: &[Bit],
    whole: &[Bit],
    negative: Bit,
    precision: i32,
    goal: Goal,
) -> Vec<Bit> {
    let n = fraction.len() as i32;
    let unit = scale.least - precision;
    let factor = factor(c, scale, fraction, unit, goal);
    let z = as_digits(&[shifted, &[fraction[fraction.len() - 1]]].concat(), -n);
    let r = Reals::new((96 - unit) as u32);
    let sum = fit(unit, 1.8 * power_of_two(unit), |cut| {
        let mut sum = Sum::new(cut);
        sum.product(c, &z, &factor);
        // The digits of z are half a unit above it.
        sum.product(c, &Digits::new(vec![Bit::FALSE], -n), &factor);
        match scale.base {
            Base::Two => {
                sum.add(&as_digits(whole, 0));
                sum = sum.minus_power(-1);
            }
            base => add_tables(&mut sum, c, &r, whole, 0, &r.div(&r.ln2(), &base.ln(&r))),
        }
        sum.constant(&r, &BigInt::ZERO);
        sum
    });
    let low = sum.low();
    let word = sum.word(c, low, scale.most, goal);
    flip(c, negative, &word)
}

/// log(1 + z) / ζ, where ζ is the fraction in two's complement, from the fraction.
fn factor(c: &mut Builder, scale: &Scale, fraction: &[Bit], unit: i32, goal: Goal) -> Digits {
    let base = scale.base;
    let n = fraction.len() as i32;
    let function = |r: &Reals, f: &BigInt| {
        // Segments start half a unit below their first number.
        let above = f < &(r.power_of_two(-1) - r.power_of_two(-n - 1));
        let zeta = if above { f.clone() } else { f - r.one() };
        let one_and_z = if above { r.one() + f } else { (r.one() + f) >> 1 };
        let ratio = if zeta == BigInt::ZERO { r.one() } else { r.div(&r.ln(&one_and_z), &zeta) };
        r.div(&ratio, &base.ln(r)) - r.power_of_two(unit - 1)
    };
    let piecewise = Piecewise {
        function: &function,
        domain: 0.0..1.0,
        place: LastBit::Start,
        low: unit,
        high: scale.factor,
        error: 0.25,
    };
    let mut bits = piecewise.evaluate(c, fraction, goal);
    // 2^(factor − 1), from which the other digits lead up and down.
    bits.push(Bit::TRUE);
    Digits { bits, low: unit, error: 0.75 * power_of_two(unit) }
}

/// A magnitude shifted until its highest bit is one, and by how many places.
fn align(c: &mut Builder, scale: &Scale, magnitude: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    let places = (scale.most - scale.least) as usize;
    let mut leading = magnitude[magnitude.len() - places..].to_vec();
    leading[0] = Bit::TRUE;
    let zeros = shift::leading_zeros(c, &UInt(leading), goal);
    let mut bits = shift::shift_left(c, &UInt(magnitude.to_vec()), &zeros, goal).0;
    *bits.last_mut().expect("a bit") = Bit::TRUE;
    (bits, zeros.0)
}

fn subtract_or_add(columns: &mut Columns, value: i32) {
    match value {
        0.. => columns.add_constant(0, value as u128),
        _ => columns.subtract_constant(0, u128::from(value.unsigned_abs())),
    }
}

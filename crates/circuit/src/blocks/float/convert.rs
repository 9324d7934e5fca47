//! Conversions: to and from integers, and between formats.

use super::format::{Float, Format, Mode};
use super::gates::{add_with_carry, any, flip, mux, normalise, shift_right, subtract_small};
use super::round::{Unrounded, round_to};
use super::status::{Outcome, Rounding};
use crate::blocks::{Goal, negate_if};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// The nearest number to an unsigned integer, ties to even; beyond the largest number: infinity.
///
/// # Panics
/// If the integer has no bits.
pub fn from_uint(c: &mut Builder, a: &UInt, format: Format, mode: Mode, goal: Goal) -> Float {
    from_uint_rounded(c, a, format, mode, Rounding::Nearest, goal).number
}

/// An unsigned integer rounded in this direction, with flags.
///
/// # Panics
/// If the integer has no bits.
pub fn from_uint_rounded(
    c: &mut Builder,
    a: &UInt,
    format: Format,
    mode: Mode,
    rounding: Rounding,
    goal: Goal,
) -> Outcome {
    let value = of_magnitude(c, Bit::FALSE, &a.0, format, goal);
    round_to(c, format, mode, rounding, &value, goal)
}

/// The nearest number to an integer in two's complement, ties to even; beyond the largest number: infinity.
///
/// # Panics
/// If the integer has no bits.
pub fn from_int(c: &mut Builder, a: &Int, format: Format, mode: Mode, goal: Goal) -> Float {
    from_int_rounded(c, a, format, mode, Rounding::Nearest, goal).number
}

/// An integer in two's complement rounded in this direction, with flags.
///
/// # Panics
/// If the integer has no bits.
pub fn from_int_rounded(
    c: &mut Builder,
    a: &Int,
    format: Format,
    mode: Mode,
    rounding: Rounding,
    goal: Goal,
) -> Outcome {
    let sign = *a.0.last().expect("an integer has a sign bit");
    let magnitude = negate_if(c, sign, &UInt(a.0.clone()), goal);
    let value = of_magnitude(c, sign, &magnitude.0, format, goal);
    round_to(c, format, mode, rounding, &value, goal)
}

/// a in `width` bits, rounded towards zero; saturating: below 0 is 0, beyond 2^width − 1 is that, NaN is 0.
///
/// # Panics
/// If `width` is zero.
pub fn to_uint(c: &mut Builder, a: &Float, width: u32, mode: Mode, goal: Goal) -> UInt {
    let (magnitude, over, nan) = to_magnitude(c, a, width as usize, mode, goal);
    let kept = any(c, &[a.sign(), nan]);
    UInt(
        magnitude.iter().map(|&bit| c.or(bit, over)).collect::<Vec<_>>().iter().map(|&bit| c.and(bit, !kept)).collect(),
    )
}

/// a in `width` bits of two's complement, rounded towards zero; saturating: what is beyond the least or the largest
/// integer becomes that, NaN is 0.
///
/// # Panics
/// If `width` is zero.
pub fn to_int(c: &mut Builder, a: &Float, width: u32, mode: Mode, goal: Goal) -> Int {
    let (magnitude, over, nan) = to_magnitude(c, a, width as usize, mode, goal);
    let (&top, low) = magnitude.split_last().expect("an integer has bits");
    // −2^(width − 1) comes out right by saturation.
    let over = c.or(over, top);
    let low: Vec<Bit> = low.iter().map(|&bit| c.or(bit, over)).collect();
    let flipped = flip(c, a.sign(), &[&low[..], &[Bit::FALSE]].concat());
    let carry = c.and(a.sign(), !over);
    let (number, _) = add_with_carry(c, &flipped, &vec![Bit::FALSE; width as usize], carry, goal);
    Int(number.iter().map(|&bit| c.and(bit, !nan)).collect())
}

/// a in another format, rounded to nearest, ties to even.
pub fn convert(c: &mut Builder, a: &Float, format: Format, mode: Mode, goal: Goal) -> Float {
    convert_rounded(c, a, format, mode, Rounding::Nearest, goal).number
}

/// a in another format, rounded in this direction, with flags.
pub fn convert_rounded(
    c: &mut Builder,
    a: &Float,
    format: Format,
    mode: Mode,
    rounding: Rounding,
    goal: Goal,
) -> Outcome {
    let operand = a;
    let a = a.unpack(c, mode).normalised(c, goal);
    let width = (a.format.exponent_width().max(format.exponent_width()) + 1) as usize;
    let shift = Int::constant(i128::from(format.bias() - a.format.bias()), width as u32).0;
    let (exponent, _) = add_with_carry(c, &a.exponent.resized(width).0, &shift, Bit::FALSE, goal);
    let value = Unrounded {
        sign: a.sign,
        exponent: Int(exponent),
        significand: a.significand,
        zero: a.zero,
        infinite: a.infinite,
        nan: a.nan,
    };
    round_to(c, format, mode, rounding, &value, goal).invalid(c, mode, Bit::FALSE, [operand])
}

fn of_magnitude(c: &mut Builder, sign: Bit, magnitude: &[Bit], format: Format, goal: Goal) -> Unrounded {
    assert!(!magnitude.is_empty(), "bits of an integer");
    let (significand, zeros) = normalise(c, magnitude, goal);
    let top = format.bias() + magnitude.len() as i64 - 1;
    let width = (i64::BITS - top.leading_zeros() + 1).max(format.exponent_width());
    let exponent = subtract_small(c, &Int::constant(top.into(), width).0, &zeros, goal);
    let zero = !significand[significand.len() - 1];
    Unrounded {
        sign,
        exponent: Int(exponent),
        significand: UInt(significand),
        zero,
        infinite: Bit::FALSE,
        nan: Bit::FALSE,
    }
}

/// ⌊|a|⌋ modulo 2^width, whether it is 2^width or more, and whether a is NaN.
fn to_magnitude(c: &mut Builder, a: &Float, width: usize, mode: Mode, goal: Goal) -> (Vec<Bit>, Bit, Bit) {
    assert!(width > 0, "bits of an integer");
    let bias = a.format.bias();
    let a = a.unpack(c, mode);
    // The hidden bit on top; a shift to the right by what the exponent lacks there.
    let significand = &a.significand.0;
    let mut bits = vec![Bit::FALSE; width.saturating_sub(significand.len())];
    bits.extend(&significand[significand.len().saturating_sub(width)..]);
    let top = bias + width as i64 - 1;
    let room = (i64::BITS - top.leading_zeros() + 1).max(a.exponent.0.len() as u32);
    let exponent = a.exponent.resized(room as usize).0;
    let by = subtract_small(c, &Int::constant(top.into(), room).0, &exponent, goal);
    let (&over, by) = by.split_last().expect("a shift has bits");
    let (bits, _) = shift_right(c, &bits, by);
    let over = c.or(over, a.infinite);
    // A flushed zero has a stored exponent of zero, too little for any integer but 0.
    (mux(c, over, &[], &bits), over, a.nan)
}

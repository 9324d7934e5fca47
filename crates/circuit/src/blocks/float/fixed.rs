//! Conversions between fixed and floating point.

use crate::blocks::approximation::fixed::{Fixed, increment, saturated};
use crate::blocks::arithmetic::columns::Columns;
use crate::blocks::float::{Float, Format, Mode, Unrounded, round};
use crate::blocks::{Goal, negate_if, normalise, shift_right};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// The nearest number of a floating-point format, ties to even; beyond the largest number: infinity.
///
/// 32 to 32 bits, with denormals: 291 ANDs of depth 79 (size) or 507 of depth 20 (depth).
pub fn from_fixed(c: &mut Builder, a: &Fixed, format: Format, mode: Mode, goal: Goal) -> Float {
    let magnitude = negate_if(c, a.sign(), &UInt(a.units.0.clone()), goal);
    let (significand, zeros) = normalise(c, &magnitude, goal);
    let top = format.bias() + a.width() as i64 - 1 - a.fraction as i64;
    let exponent = below(c, top, &zeros, format.exponent_width() as usize, goal);
    let zero = !significand.0[a.width() - 1];
    let value = Unrounded { sign: a.sign(), exponent, significand, zero, infinite: Bit::FALSE, nan: Bit::FALSE };
    round(c, format, mode, &value, goal)
}

/// The nearest number of a fixed-point format, away from zero if two are nearest. What is beyond the least or the
/// greatest number becomes that, NaN becomes zero.
///
/// 32 to 32 bits, with denormals: 328 ANDs of depth 49 (size) or 407 of depth 18 (depth).
///
/// # Panics
/// If the width is below 2 or the fraction.
pub fn to_fixed(c: &mut Builder, a: &Float, width: usize, fraction: usize, mode: Mode, goal: Goal) -> Fixed {
    let parts = a.unpack(c, mode);
    // The significand with its highest bit at 2^(width − 1) units, down to the halves; the rest lies below.
    let mut significand = parts.significand.0.clone();
    significand.drain(..significand.len().saturating_sub(width + 1));
    significand.splice(0..0, vec![Bit::FALSE; width + 1 - significand.len()]);
    let top = a.format.bias() + width as i64 - 1 - fraction as i64;
    let mut by = below(c, top, &UInt(parts.exponent.0.clone()), parts.exponent.0.len(), goal).0;
    let above = by.pop().expect("a sign");
    let halves = shift_right(c, &UInt(significand), &UInt(by), goal).0;

    let nothing = c.or(parts.zero, parts.nan);
    let up = c.xor(halves[0], parts.sign);
    let turned: Vec<Bit> = UInt(halves[1..].to_vec()).resized(width + 2).0;
    let turned = turned.iter().map(|&bit| c.xor(bit, parts.sign)).collect();
    let rounded = Int(increment(c, turned, up, goal));
    let units = saturated(c, &rounded, width, parts.sign, vec![above, parts.infinite]);
    Fixed::new(Int(units.0.iter().map(|&bit| c.and(bit, !nothing)).collect()), fraction)
}

/// top − number in two's complement of `width` bits or as many as it needs.
fn below(c: &mut Builder, top: i64, number: &UInt, width: usize, goal: Goal) -> Int {
    let room = 2 + number.0.len().max((i64::BITS - top.unsigned_abs().leading_zeros()) as usize);
    let mut difference = Columns::new(width.max(room));
    match top {
        0.. => difference.add_constant(0, top as u128),
        _ => difference.subtract_constant(0, top.unsigned_abs().into()),
    }
    difference.subtract_word(0, &number.0);
    Int(difference.sum(c, goal))
}

//! Multiplication and squares.

use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{add_with_carry, any, increment, mux};
use super::product;
use super::round::{Unrounded, round};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// a·b.
///
/// 0·∞ is NaN (`Ieee`) or +∞ (`Flush`).
///
/// # Panics
/// If the formats differ.
pub fn multiply(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    assert_eq!(a.format, b.format, "numbers of one format");
    let sign = c.xor(a.sign(), b.sign());
    let (a, b) = (a.unpack(c, mode), b.unpack(c, mode));
    let zero = c.or(a.zero, b.zero);
    let infinite = c.or(a.infinite, b.infinite);
    let invalid = c.and(zero, infinite);
    let nan = any(c, &[a.nan, b.nan, invalid]);
    let (sign, infinite) = match mode {
        Mode::Ieee => (sign, c.and(infinite, !nan)),
        Mode::Flush => (c.and(sign, !invalid), infinite),
    };
    let (a, b) = (a.normalised(c, goal), b.normalised(c, goal));
    let product = product::product(c, &a.significand.0, &b.significand.0, goal);
    let (exponent, _) = add_with_carry(c, &a.exponent.0, &b.exponent.0, Bit::FALSE, goal);
    let value = scaled(c, a.format, exponent, &product, goal);
    round(c, a.format, mode, &Unrounded { sign, zero, infinite, nan, ..value }, goal)
}

/// a²: the sign is positive, there are no invalid operations.
pub fn square(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
    let a = a.unpack(c, mode).normalised(c, goal);
    let Unpacked { zero, infinite, nan, .. } = a;
    let product = product::square(c, &a.significand.0, goal);
    let mut exponent = vec![Bit::FALSE];
    exponent.extend(&a.exponent.0[..a.exponent.0.len() - 1]);
    let value = scaled(c, a.format, exponent, &product, goal);
    round(c, a.format, mode, &Unrounded { zero, infinite, nan, ..value }, goal)
}

/// A product of two significands in [1, 4), its biased exponent with one bias too many.
fn scaled(c: &mut Builder, format: Format, exponent: Vec<Bit>, product: &[Bit], goal: Goal) -> Unrounded {
    let top = product[product.len() - 1];
    // −bias is 1 − 2^(bits − 1).
    let (exponent, _) = increment(c, &exponent, Bit::TRUE, goal);
    let (low, high) = exponent.split_at(format.exponent as usize - 1);
    let (high, _) = add_with_carry(c, high, &vec![Bit::TRUE; high.len()], Bit::FALSE, goal);
    let (exponent, _) = increment(c, &[low, &high].concat(), top, goal);
    // All but the bits that rounding looks at is sticky, and need not be moved.
    let below = product.len() - format.precision() as usize - 2;
    let sticky = any(c, &product[..below]);
    let upper = &product[below..];
    let mut significand = mux(c, top, &upper[1..], upper);
    significand.truncate(upper.len() - 1);
    let last = c.and(top, upper[0]);
    let sticky = c.or(sticky, last);
    significand.insert(0, sticky);
    *significand.last_mut().expect("a significand has bits") = Bit::TRUE;
    Unrounded {
        sign: Bit::FALSE,
        exponent: Int(exponent),
        significand: UInt(significand),
        zero: Bit::FALSE,
        infinite: Bit::FALSE,
        nan: Bit::FALSE,
    }
}

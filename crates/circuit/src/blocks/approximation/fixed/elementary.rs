//! Elementary functions of fixed-point numbers, by tables of polynomials.
//!
//! Errors are below one unit of the result, 2^−fraction.

use super::{Fixed, Overflow, fit, rescale, saturated};
use crate::blocks::approximation::piecewise::{LastBit, Piecewise};
use crate::blocks::approximation::sine::{cosine, sine};
use crate::blocks::arithmetic::columns::Columns;
use crate::blocks::{Goal, normalise, shift_right};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt, Word};

/// sin πx; 1 becomes the greatest number where the format does not have it.
///
/// 271 ANDs of depth 37 (size) or 412 of depth 12 (depth).
pub fn sin_pi(c: &mut Builder, x: &Fixed, goal: Goal) -> Fixed {
    of_angle(c, x, sine, goal)
}

/// cos πx; 1 becomes the greatest number where the format does not have it. Costs what [`sin_pi`] costs.
pub fn cos_pi(c: &mut Builder, x: &Fixed, goal: Goal) -> Fixed {
    of_angle(c, x, cosine, goal)
}

/// A function of period 2. Its results have a bit less after the point than its angles; it takes 3 bits or more.
fn of_angle(c: &mut Builder, x: &Fixed, function: fn(&mut Builder, &Int, Goal) -> Int, goal: Goal) -> Fixed {
    let more = if x.fraction == 0 { 2 } else { 1 };
    let angle = [vec![Bit::FALSE; more], x.units.resized(x.fraction + 1).0].concat();
    let value = function(c, &Int(angle), goal);
    let units = rescale(c, &value, x.fraction + more - 1, x.fraction, goal);
    x.with(fit(c, units, x.width(), Overflow::Saturate))
}

/// 2^x; the greatest number if it is above that.
///
/// 862 ANDs of depth 66 (size) or 1,367 of depth 23 (depth).
///
/// # Panics
/// If x has fewer than 2 bits before the point.
pub fn exp2(c: &mut Builder, x: &Fixed, goal: Goal) -> Fixed {
    let (n, whole) = (x.width(), x.width() - x.fraction);
    assert!(whole >= 2, "the power 1 is no number of this format");
    let (fraction, exponent) = x.units.0.split_at(x.fraction);
    // The greatest powers have exponent whole − 2; others are so many places lower, or more if this is below zero.
    let mut lower = Columns::new(whole + 1);
    lower.add_constant(0, whole as u128 - 2);
    lower.subtract_signed(0, exponent);
    let mut lower = lower.sum(c, goal);
    let above = lower.pop().expect("a sign");
    let mantissa = power(c, fraction, n, goal);
    let shifted = shift_right(c, &UInt(mantissa), &UInt(lower), goal);
    let mut units: Vec<Bit> = shifted.0.into_iter().map(|bit| c.or(bit, above)).collect();
    units.push(Bit::FALSE);
    x.with(Int(units))
}

/// 2^u of a fraction u, in [1, 2): n − 1 bits, with 2 dropped after them. At most 7/16 too large before that, so that
/// to drop bits leaves an error below one.
fn power(c: &mut Builder, u: &[Bit], n: usize, goal: Goal) -> Vec<Bit> {
    let low = -(n as i32);
    let power = Piecewise {
        function: &|r, x| r.exp2(x) + r.power_of_two(low),
        domain: 0.0..1.0,
        place: LastBit::Start,
        low,
        high: 1,
        error: 0.25,
    };
    power.evaluate(c, u, goal).split_off(2)
}

/// log₂ x; the least number if x is not above zero, or if the logarithm is below it.
///
/// 463 ANDs of depth 64 (size) or 688 of depth 23 (depth).
pub fn log2(c: &mut Builder, x: &Fixed, goal: Goal) -> Fixed {
    let (n, fraction) = (x.width(), x.fraction);
    let (sign, magnitude) = (x.sign(), UInt(x.units.0[..n - 1].to_vec()));
    // x = 2^(n − 2 − fraction − zeros) · (1 + u).
    let (mut mantissa, zeros) = normalise(c, &magnitude, goal);
    let positive = mantissa.0.pop().expect("a leading one");
    let logarithm = Piecewise {
        function: &|r, u| r.log2(&(r.one() + u)),
        domain: 0.0..1.0,
        place: LastBit::Start,
        low: -(fraction as i32),
        high: 1,
        error: 0.25,
    };
    let logarithm = logarithm.evaluate(c, &mantissa.0, goal);

    let width = n.max(fraction + zeros.width() + 1) + 1;
    let mut exponent = Columns::new(width - fraction);
    exponent.add_constant(0, n as u128);
    exponent.subtract_constant(0, 2 + fraction as u128);
    exponent.subtract_word(0, &zeros.0);
    exponent.add_bit(0, logarithm[fraction]);
    let exponent = exponent.sum(c, goal);
    let units = Int([&logarithm[..fraction], &exponent].concat());
    let none = c.or(sign, !positive);
    let below = c.or(none, units.0[width - 1]);
    x.with(saturated(c, &units, n, below, vec![none]))
}

//! Rounding to integral numbers (Muller et al., "Handbook of Floating-Point
//! Arithmetic", chapters 7 and 8).
//!
//! Bits below the point are set to ones, so that one increment at the lowest bit carries up to the units and, where the
//! fraction is full, into the exponent; then they are cleared. Where they are is a one-hot decode of the exponent and
//! free prefix sums of it.

use super::compare::is_nan;
use super::format::{Float, Mode};
use super::gates::{all, any, increment, mux};
use super::status::Rounding;
use crate::blocks::Goal;
use crate::blocks::logic::select::one_hot;
use crate::builder::Builder;
use crate::graph::Bit;

/// The integral number that a is rounded to, with the sign of a, also if it is zero; infinities stay.
///
/// To nearest, single: 287 ANDs of depth 30 (size), 355 of 17 (depth); double: 640 of 33, 764 of 19; towards zero less
/// than two thirds of that.
pub fn round_integral(c: &mut Builder, a: &Float, rounding: Rounding, mode: Mode, goal: Goal) -> Float {
    let n = a.format.fraction as usize;
    let point = Point::new(c, a);
    let below: Vec<Bit> = a.fraction().iter().zip(&point.below).map(|(&bit, &below)| c.and(bit, below)).collect();
    let up = match rounding {
        Rounding::Nearest => above_half(c, a, &point, &below),
        Rounding::NearestAway => half_or_more(c, a, &point),
        Rounding::Truncate => Bit::FALSE,
        Rounding::Floor | Rounding::Ceiling => {
            let inexact = any(c, &below);
            c.and(inexact, rounding.away(a.sign(), Bit::FALSE))
        }
    };
    let mut filled: Vec<Bit> = (0..n).map(|i| c.xor_all([a.fraction()[i], below[i], point.below[i]])).collect();
    filled.extend(a.exponent());
    let (raised, _) = increment(c, &filled, up, goal);
    let (fraction, exponent) = raised.split_at(n);
    let one = below_one(c, a, &point, rounding, mode);

    let special = all(c, a.exponent());
    let nan = match mode {
        Mode::Flush => Bit::FALSE,
        Mode::Ieee => is_nan(c, a),
    };
    let cleared = c.or(special, !point.large);
    let mut bits: Vec<Bit> = fraction.iter().zip(&point.below).map(|(&bit, &below)| c.and(bit, !below)).collect();
    bits.iter_mut().for_each(|bit| *bit = c.and(*bit, !cleared));
    bits[n - 1] = c.xor(bits[n - 1], nan);
    // The exponent of 1.0 is all ones but for the highest bit.
    let ones = vec![one; exponent.len() - 1];
    bits.extend(mux(c, point.large, exponent, &ones));
    bits.push(c.and(a.sign(), !nan));
    Float::new(a.format, bits)
}

/// Where the binary point is.
struct Point {
    /// Bit i of the fraction is below the point, and the number is 1 or more.
    below: Vec<Bit>,
    /// Bit i of the fraction is the units bit; the last one: the hidden bit is.
    units: Vec<Bit>,
    /// The number is 1 or more, or infinite, or NaN.
    large: Bit,
    /// The number is at least one half and below 1.
    half: Bit,
}

impl Point {
    fn new(c: &mut Builder, a: &Float) -> Self {
        let n = a.format.fraction as usize;
        // From 1 on, the exponent and one is the number of bits above the point below a one.
        let (next, carry) = increment(c, a.exponent(), Bit::TRUE, Goal::Depth);
        let (&top, above) = next.split_last().expect("an exponent has bits");
        let bits = ((usize::BITS - (n - 1).leading_zeros()) as usize).min(above.len());
        let mut near: Vec<Bit> = above[bits..].iter().map(|&bit| !bit).collect();
        near.push(top);
        let near = all(c, &near);
        let mut hot: Vec<Bit> = one_hot(c, &above[..bits]).into_iter().take(n).map(|bit| c.and(bit, near)).collect();
        hot.resize(n, Bit::FALSE);
        let mut below = vec![Bit::FALSE; n];
        for j in 0..n {
            let before = if j == 0 { Bit::FALSE } else { below[n - j] };
            below[n - 1 - j] = c.xor(before, hot[j]);
        }
        let units = (0..=n).map(|i| if i == 0 { Bit::FALSE } else { hot[n - i] }).collect();
        let full = all(c, above);
        Point { below, units, large: c.or(top, carry), half: c.and(full, !top) }
    }
}

/// The part below the point is above one half, or one half and the units are odd.
fn above_half(c: &mut Builder, a: &Float, point: &Point, below: &[Bit]) -> Bit {
    let n = below.len();
    let halves: Vec<Bit> = (0..n).map(|i| c.and(point.units[i + 1], a.fraction()[i])).collect();
    let units: Vec<Bit> = (0..n).map(|i| c.and(point.units[i], a.fraction()[i])).collect();
    let rest: Vec<Bit> = below.iter().zip(&halves).map(|(&below, &half)| c.xor(below, half)).collect();
    let odd = c.xor_all([&units[..], &[point.units[n]]].concat());
    let rest = any(c, &rest);
    let beyond = c.or(odd, rest);
    let half = c.xor_all(halves);
    c.and(half, beyond)
}

/// The part below the point is one half or more.
fn half_or_more(c: &mut Builder, a: &Float, point: &Point) -> Bit {
    let halves: Vec<Bit> = point.units[1..].iter().zip(a.fraction()).map(|(&unit, &bit)| c.and(unit, bit)).collect();
    c.xor_all(halves)
}

/// Whether a number below 1 is rounded to 1.
fn below_one(c: &mut Builder, a: &Float, point: &Point, rounding: Rounding, mode: Mode) -> Bit {
    match rounding {
        Rounding::Truncate => Bit::FALSE,
        Rounding::NearestAway => point.half,
        Rounding::Nearest => {
            let fraction = any(c, a.fraction());
            c.and(point.half, fraction)
        }
        Rounding::Floor | Rounding::Ceiling => {
            let nonzero = match mode {
                Mode::Ieee => any(c, a.magnitude()),
                Mode::Flush => any(c, a.exponent()),
            };
            c.and(nonzero, rounding.away(a.sign(), Bit::FALSE))
        }
    }
}

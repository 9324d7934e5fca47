//! Sine and cosine of integers: fixed-point numbers of half-turns.
//!
//! The two top bits of the angle are its quadrant; turned over as it demands, the others lie in the first quadrant,
//! where a table of polynomials knows the sine. Nothing is negated with carries: neither the angle, whose missing unit
//! is a digit of the polynomial, nor the result.

use super::branches::{Branch, Branches, UnitArgument};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Int;

/// sin(πx) of an angle x = a/2^(n − 1) half-turns, that is in [−1, 1), as a multiple of 2^(2 − n): 1 is 2^(n − 2).
///
/// The error is below one unit of the result, so that 0, ½ and ±1 come out exactly where they are exact; these are the
/// formats of DesignWare's `DW_sin` with as many bits for the sine as for the angle.
/// Size: 38, 219, 1,019 ANDs of depth 14, 34, 88 for 8, 16, 32 bits. Depth: 52, 344, 1,535 ANDs of depth 8, 12, 20.
///
/// # Panics
/// If a has fewer than 3 bits.
pub fn sine(c: &mut Builder, a: &Int, goal: Goal) -> Int {
    of_quadrant(c, a, false, goal)
}

/// cos(πx) of an angle x = a/2^(n − 1) half-turns: the [sine] a quarter-turn on, of the same cost.
///
/// # Panics
/// If a has fewer than 3 bits.
pub fn cosine(c: &mut Builder, a: &Int, goal: Goal) -> Int {
    of_quadrant(c, a, true, goal)
}

fn of_quadrant(c: &mut Builder, a: &Int, cosine: bool, goal: Goal) -> Int {
    let n = a.0.len();
    assert!(n >= 3, "an angle of two bits is a quadrant");
    let (half, quarter) = (a.0[n - 1], a.0[n - 2]);
    let back = quarter.flip(cosine);
    let negative = if cosine { c.xor(half, quarter) } else { half };
    let bits: Vec<Bit> = a.0[..n - 2].iter().map(|&bit| c.xor(bit, back)).collect();
    let first = Branch { hot: Bit::TRUE, function: Box::new(|r, x| r.sin_cos_pi(&(x >> 1u32)).0) };
    // From −1 to 1 in units of 2^(2 − n).
    let branches = Branches { branches: vec![first], low: 2 - n as i32, high: 2, error: 0.49 };
    let place = UnitArgument { bits: &bits, carry: Some(back) };
    Int(branches.evaluate(c, &place, negative, goal))
}

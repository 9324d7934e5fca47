//! Division and square root, digit by digit; for depth, division by convergence.
//!
//! The recurrences do not restore: a digit is 1 or −1, so that the divisor is turned over by XORs and a step costs one
//! AND a bit. A quotient or root of one bit more than the precision is never exact (it would take more bits to be
//! the operand, or its square), so a normal result cannot lie halfway and all that is below its last bit may be taken
//! for set. Only denormal results ask whether the remainder is zero.

use super::format::{Float, Mode};
use super::gates::{add_with_carry, any, flip, increment, mux};
use super::round::{Unrounded, round_aligned, round_to};
use super::status::{Outcome, Rounding};
use crate::blocks::Goal;
use crate::blocks::arithmetic::goldschmidt::divide_normalised;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// From how many bits of a significand on the depth variant divides by convergence.
const CONVERGENCE: usize = 8;

/// a / b.
///
/// About p² + 9·p ANDs for a precision of p bits, and the moves of denormals in mode `Ieee`. Single: 1,391 ANDs of depth
/// 706 (size), 3,695 of 77 (depth); double: 4,708 of 3,037, 13,361 of 100; mode `Flush`: 785 of 655, 2,944 of 52; 3,228
/// of 2,950, 11,450 of 71.
///
/// 0/0 and ∞/∞ are NaN (`Ieee`) or +∞ (`Flush`); other numbers by zero are infinite.
///
/// # Panics
/// If the formats differ.
pub fn divide(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    divided(c, [a, b], mode, Rounding::Nearest, mode == Mode::Ieee, goal).number
}

/// a / b in this direction, with flags: invalid are 0/0 and ∞/∞. In mode `Flush` it costs the test of the remainder more.
///
/// # Panics
/// If the formats differ.
pub fn divide_rounded(c: &mut Builder, a: &Float, b: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    divided(c, [a, b], mode, rounding, true, goal)
}

/// [`divide_rounded`]; unless `exact` every quotient counts as inexact.
fn divided(c: &mut Builder, [a, b]: [&Float; 2], mode: Mode, rounding: Rounding, exact: bool, goal: Goal) -> Outcome {
    assert_eq!(a.format, b.format, "numbers of one format");
    let (format, operands) = (a.format, [a, b]);
    let sign = c.xor(a.sign(), b.sign());
    let a = a.unpack(c, mode).normalised(c, goal);
    let b = b.unpack(c, mode).normalised(c, goal);
    let (zeros, infinities) = (c.and(a.zero, b.zero), c.and(a.infinite, b.infinite));
    let invalid = c.xor(zeros, infinities);
    let nan = any(c, &[a.nan, b.nan, invalid]);
    let zero = c.or(a.zero, b.infinite);
    let infinite = c.or(a.infinite, b.zero);
    let (sign, infinite) = match mode {
        Mode::Ieee => (sign, c.and(infinite, !nan)),
        Mode::Flush => (c.and(sign, !invalid), infinite),
    };

    let (quotient, more) = quotient(c, &a.significand.0, &b.significand.0, exact, goal);
    let top = quotient[quotient.len() - 1];
    let significand = mux(c, top, &quotient[1..], &quotient[..quotient.len() - 1]);
    let lost = c.and(top, quotient[0]);
    let more = c.or(more, lost);
    let mut significand = [&[more], &significand[..]].concat();
    *significand.last_mut().expect("a significand has bits") = Bit::TRUE;
    // e − f + bias, and one less if the quotient is below 1. The bias is 2^(bits − 1) − 1.
    let not_b = flip(c, Bit::TRUE, &b.exponent.0);
    let (apart, _) = add_with_carry(c, &a.exponent.0, &not_b, Bit::TRUE, goal);
    let below = UInt::constant(format.bias() as u128 - 1, apart.len() as u32).0;
    let (exponent, _) = add_with_carry(c, &apart, &below, Bit::FALSE, goal);
    let (exponent, _) = increment(c, &exponent, top, goal);
    let value = Unrounded { sign, exponent: Int(exponent), significand: UInt(significand), zero, infinite, nan };
    let mut outcome = round_to(c, format, mode, rounding, &value, goal).invalid(c, mode, invalid, operands);
    let divisible = any(c, &[a.zero, a.infinite, a.nan]);
    outcome.flags.divide_by_zero = c.and(b.zero, !divisible);
    outcome
}

/// √a; √−0 is −0.
///
/// About p²/2 + 5·p ANDs for a precision of p bits, and a normalisation in mode `Ieee`. Single: 583 ANDs of depth 315
/// (size), 1,595 of 113 (depth); double: 2,108 of 1,412, 8,336 of 284; mode `Flush`: 416 of 299, 1,391 of 101; 1,673 of
/// 1,390, 7,824 of 269.
///
/// The root of any other negative number is NaN (`Ieee`) or +∞ (`Flush`).
pub fn square_root(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
    rooted(c, a, mode, Rounding::Nearest, false, goal).number
}

/// √a in this direction, with flags: invalid is the root of a negative number. It costs the test of the remainder more.
pub fn square_root_rounded(c: &mut Builder, a: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    rooted(c, a, mode, rounding, true, goal)
}

/// [`square_root_rounded`]; unless `exact` every root that no denormal can be counts as inexact.
fn rooted(c: &mut Builder, a: &Float, mode: Mode, rounding: Rounding, exact: bool, goal: Goal) -> Outcome {
    let (format, operand) = (a.format, a);
    let a = a.unpack(c, mode).normalised(c, goal);
    let zero_sign = c.and(a.sign, a.zero);
    let invalid = c.xor(a.sign, zero_sign);
    let invalid = c.and(invalid, !a.nan);
    let (infinite, nan) = match mode {
        Mode::Ieee => {
            let positive = c.and(a.infinite, !invalid);
            (positive, c.xor(a.nan, invalid))
        }
        Mode::Flush => (c.or(a.infinite, invalid), Bit::FALSE),
    };

    // The bias is odd: where the exponent is even, the significand is doubled and the root of 2^(e − bias − 1) is whole.
    let odd = a.exponent.0[0];
    let doubled = [&[Bit::FALSE], &a.significand.0[..]].concat();
    let radicand = mux(c, odd, &a.significand.0, &doubled);
    let tiny = format.bias() <= i64::from(format.fraction);
    let (mut root, more) = root(c, &radicand, tiny || exact, goal);
    root.insert(0, more);
    let half = Int(a.exponent.0[1..].to_vec()).resized(a.exponent.0.len());
    let below = UInt::constant((1 << (format.exponent - 2)) - 1, half.0.len() as u32).0;
    let (exponent, _) = add_with_carry(c, &half.0, &below, odd, goal);
    let value =
        Unrounded { sign: zero_sign, exponent: Int(exponent), significand: UInt(root), zero: a.zero, infinite, nan };
    let outcome = match tiny {
        true => round_to(c, format, mode, rounding, &value, goal),
        false => round_aligned(c, format, mode, rounding, &value, goal),
    };
    outcome.invalid(c, mode, invalid, [operand])
}

/// ⌊a·2^(p + 1) / b⌋ of two significands of p bits whose highest bit is one, in p + 2 bits, and whether a remainder is
/// left: just true unless `exact`. About p² + 2p ANDs (size).
fn quotient(c: &mut Builder, a: &[Bit], b: &[Bit], exact: bool, goal: Goal) -> (Vec<Bit>, Bit) {
    let p = a.len();
    if goal == Goal::Depth && p >= CONVERGENCE {
        let (quotient, remainder) = divide_normalised(c, a, b);
        return (quotient, if exact { any(c, &remainder) } else { Bit::TRUE });
    }
    let divisor = [b, &[Bit::FALSE]].concat();
    let mut remainder = [a, &[Bit::FALSE]].concat();
    let mut negative = Bit::FALSE;
    let mut quotient = Vec::new();
    for step in 0..p + 2 {
        if step > 0 {
            remainder = [&[Bit::FALSE], &remainder[..p]].concat();
        }
        let turned = flip(c, !negative, &divisor);
        (remainder, _) = add_with_carry(c, &remainder, &turned, !negative, goal);
        negative = remainder[p];
        quotient.push(!negative);
    }
    quotient.reverse();
    let more = if exact { remains(c, &remainder, &divisor, negative, goal) } else { Bit::TRUE };
    (quotient, more)
}

/// ⌊√(radicand·2^(p + 1))⌋ in p + 1 bits, for a radicand of p + 1 bits, one of the upper two of which is set; and
/// whether a remainder is left: just true unless `exact`. About p²/2 + 2p ANDs (size).
fn root(c: &mut Builder, radicand: &[Bit], exact: bool, goal: Goal) -> (Vec<Bit>, Bit) {
    let p = radicand.len() - 1;
    // Pairs of bits from the top.
    let mut digits = [vec![Bit::FALSE; p + 1], radicand.to_vec()].concat();
    let mut remainder: Vec<Bit> = vec![Bit::FALSE; 2];
    let mut root: Vec<Bit> = Vec::new();
    let mut negative = Bit::FALSE;
    for _ in 0..=p {
        let (high, low) = (digits.pop().expect("a digit"), digits.pop().expect("a digit"));
        // 4r + digit − (4q + 1), or + (4q + 3) below zero, in two bits more than the root has.
        let mut next = [&[low, high], &remainder[..]].concat();
        let mut change = [&[Bit::TRUE, negative], &root[..]].concat();
        change.resize(root.len() + 3, Bit::FALSE);
        next.truncate(root.len() + 3);
        let turned = flip(c, !negative, &change);
        (remainder, _) = add_with_carry(c, &next, &turned, !negative, goal);
        negative = remainder[root.len() + 2];
        root.insert(0, !negative);
    }
    let change = [&[Bit::TRUE], &root[..], &[Bit::FALSE]].concat();
    let more = if exact { remains(c, &remainder, &change, negative, goal) } else { Bit::TRUE };
    (root, more)
}

/// Whether a remainder, which lacks `step` if it is negative, is not zero.
fn remains(c: &mut Builder, remainder: &[Bit], step: &[Bit], negative: Bit, goal: Goal) -> Bit {
    let added: Vec<Bit> = step.iter().map(|&bit| c.and(bit, negative)).collect();
    let (restored, _) = add_with_carry(c, remainder, &added, Bit::FALSE, goal);
    any(c, &restored)
}

//! Comparisons, minimum and maximum.

use super::format::{Float, Mode};
use super::gates::{all, any, flip};
use crate::blocks::Goal;
use crate::blocks::arithmetic::adder::majority;
use crate::blocks::arithmetic::compare;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::UInt;

/// How two numbers compare: exactly one of the four is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// a < b.
    pub less: Bit,
    /// a = b; −0 = +0.
    pub equal: Bit,
    /// a > b.
    pub greater: Bit,
    /// At least one is NaN; never in mode `Flush`.
    pub unordered: Bit,
}

/// Bits that are compared one after the other when size counts; more are split, so that depth does not run away.
const RIPPLE: usize = 32;

/// Compares a and b: IEEE 754's four relations. In mode `Flush` what has an exponent of zero is zero, and what has one of
/// all ones is infinite, whatever the fractions.
///
/// About 2·width ANDs, depth width + 5 up to 33 bits and about half of it above (size); 3·width, depth 4 + log width
/// (depth).
///
/// # Panics
/// If the formats differ.
pub fn compare(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Comparison {
    assert_eq!(a.format, b.format, "numbers of one format");
    let (above, same, zero) = match mode {
        Mode::Ieee => {
            let (above, same) = order(c, a.magnitude(), b.magnitude(), goal);
            (above, same, !any(c, a.magnitude()))
        }
        Mode::Flush => order_flushed(c, a, b, goal),
    };
    let differ = c.xor(a.sign(), b.sign());
    let close = c.or(!differ, zero);
    let equal = c.and(same, close);
    // Negative numbers are in the order of their magnitudes turned over.
    let below = c.xor(above, !a.sign());
    let below = c.mux(differ, a.sign(), below);
    let less = c.and(below, !equal);
    let unordered = match mode {
        Mode::Flush => Bit::FALSE,
        Mode::Ieee => {
            let (a, b) = (is_nan(c, a), is_nan(c, b));
            c.or(a, b)
        }
    };
    let (less, equal) = (c.and(less, !unordered), c.and(equal, !unordered));
    let others = c.xor_all([less, equal, unordered]);
    Comparison { less, equal, greater: !others, unordered }
}

/// a = b: false for NaN, true for −0 and +0.
///
/// # Panics
/// If the formats differ.
pub fn equal(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    compare(c, a, b, mode, goal).equal
}

/// a < b: false for NaN.
///
/// # Panics
/// If the formats differ.
pub fn less(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    compare(c, a, b, mode, goal).less
}

/// a ≤ b: false for NaN.
///
/// # Panics
/// If the formats differ.
pub fn less_or_equal(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    let Comparison { less, equal, .. } = compare(c, a, b, mode, goal);
    c.xor(less, equal)
}

/// a > b: false for NaN.
///
/// # Panics
/// If the formats differ.
pub fn greater(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    compare(c, a, b, mode, goal).greater
}

/// a ≥ b: false for NaN.
///
/// # Panics
/// If the formats differ.
pub fn greater_or_equal(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    let Comparison { less, unordered, .. } = compare(c, a, b, mode, goal);
    !c.xor(less, unordered)
}

/// a or b is NaN; constant false in mode `Flush`.
///
/// # Panics
/// If the formats differ.
pub fn unordered(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Bit {
    compare(c, a, b, mode, goal).unordered
}

/// Whether a comes before b, or is the same, in IEEE 754's total order of encodings: −NaN, −∞, ..., −0, +0, ..., +∞, NaN.
/// One AND a bit (size).
///
/// # Panics
/// If the formats differ.
pub fn total_order(c: &mut Builder, a: &Float, b: &Float, goal: Goal) -> Bit {
    assert_eq!(a.format, b.format, "numbers of one format");
    let (a, b) = (key(c, a), key(c, b));
    !compare::greater(c, &a, &b, goal)
}

/// The lesser number: IEEE 754-2019's minimumNumber. −0 is below +0; a NaN is passed over, unless both are NaN.
///
/// About 2·width ANDs and, in mode `Ieee`, as many more for NaN. In mode `Flush` denormals come out as zeros.
///
/// # Panics
/// If the formats differ.
pub fn minimum(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    extreme(c, a, b, mode, goal, Bit::TRUE)
}

/// The greater number: IEEE 754-2019's maximumNumber; see [`minimum`].
///
/// # Panics
/// If the formats differ.
pub fn maximum(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    extreme(c, a, b, mode, goal, Bit::FALSE)
}

/// Whether a number is NaN. exponent + fraction − 1 ANDs.
pub fn is_nan(c: &mut Builder, a: &Float) -> Bit {
    let (top, fraction) = (all(c, a.exponent()), any(c, a.fraction()));
    c.and(top, fraction)
}

/// Whether a is a NaN whose highest bit of the fraction is clear. Mode `Ieee`.
pub(super) fn is_signalling(c: &mut Builder, a: &Float) -> Bit {
    let (&quiet, payload) = a.fraction().split_last().expect("a fraction has bits");
    let (top, some) = (all(c, a.exponent()), any(c, payload));
    let nan = c.and(top, some);
    c.and(nan, !quiet)
}

fn extreme(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal, least: Bit) -> Float {
    assert_eq!(a.format, b.format, "numbers of one format");
    let (x, y) = (key(c, a), key(c, b));
    let above = compare::greater(c, &x, &y, goal);
    let second = c.xor(above, !least);
    match mode {
        Mode::Flush => {
            let chosen = Float::select(c, second, b, a);
            let ends = uniform(c, chosen.exponent());
            masked(c, &chosen, !ends, Bit::FALSE)
        }
        Mode::Ieee => {
            let (a_nan, b_nan) = (is_nan(c, a), is_nan(c, b));
            let second = c.and(second, !b_nan);
            let second = c.or(second, a_nan);
            let both = c.and(a_nan, b_nan);
            let chosen = Float::select(c, second, b, a);
            let number = masked(c, &chosen, !both, both);
            number.with_sign(c.and(chosen.sign(), !both))
        }
    }
}

/// The fraction only where `kept`, then its highest bit turned over by `quiet`.
fn masked(c: &mut Builder, a: &Float, kept: Bit, quiet: Bit) -> Float {
    let top = a.format.fraction as usize - 1;
    let mut bits = a.bits.clone();
    bits[..=top].iter_mut().for_each(|bit| *bit = c.and(*bit, kept));
    bits[top] = c.xor(bits[top], quiet);
    Float::new(a.format, bits)
}

/// An unsigned number in the total order: negative numbers turned over, below the others. Free.
fn key(c: &mut Builder, a: &Float) -> UInt {
    let mut bits = flip(c, a.sign(), a.magnitude());
    bits.push(!a.sign());
    UInt(bits)
}

/// Whether a word is above another, and whether both are the same.
fn order(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> (Bit, Bit) {
    let together = match goal {
        Goal::Size => RIPPLE,
        Goal::Depth => 1,
    };
    if a.len() <= together {
        let above = a.iter().zip(b).fold(Bit::FALSE, |below, (&a, &b)| majority(c, a, !b, below));
        let same: Vec<Bit> = a.iter().zip(b).map(|(&a, &b)| !c.xor(a, b)).collect();
        return (above, all(c, &same));
    }
    let half = a.len() / 2;
    let high = order(c, &a[half..], &b[half..], goal);
    let low = order(c, &a[..half], &b[..half], goal);
    let passed = c.and(high.1, low.0);
    (c.xor(high.0, passed), c.and(high.1, low.1))
}

/// Whether a is above b and whether they are the same, in magnitude and flushed, and whether a is zero then.
fn order_flushed(c: &mut Builder, a: &Float, b: &Float, goal: Goal) -> (Bit, Bit, Bit) {
    let high = order(c, a.exponent(), b.exponent(), goal);
    let low = order(c, a.fraction(), b.fraction(), goal);
    let ends = uniform(c, a.exponent());
    let relevant = c.and(high.1, !ends);
    let passed = c.and(relevant, low.0);
    let within = c.or(low.1, ends);
    (c.xor(high.0, passed), c.and(high.1, within), c.and(ends, !a.exponent()[0]))
}

/// Whether all bits are the same. n − 2 ANDs.
fn uniform(c: &mut Builder, bits: &[Bit]) -> Bit {
    let same: Vec<Bit> = bits.windows(2).map(|pair| !c.xor(pair[0], pair[1])).collect();
    all(c, &same)
}

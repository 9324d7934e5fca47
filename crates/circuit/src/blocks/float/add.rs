//! Addition and subtraction: one core for both (Muller et al., "Handbook of Floating-Point
//! Arithmetic", chapters 7 and 8).
//!
//! The operands are ordered by magnitude, so that the difference of significands is never negative and the sign, NaN
//! and infinity are those of the larger one (a NaN has the largest magnitude of all). The smaller significand moves to
//! the right with two bits and a sticky bit below, which is all that rounding needs.

use super::format::{Float, Mode};
use super::gates::{
    add_with_carry, all, any, flip, increment, leading_zeros, mux, normalise, shift_left, shift_right, subtract_small,
};
use super::round::{Unrounded, round_aligned};
use super::status::{Outcome, Rounding};
use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::greater;
use crate::blocks::logic::select::conditional_swap;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Bits, Int, UInt};

/// Bits below the significands: two, and one that stands for all the others.
const GUARD: usize = 3;

/// a + b.
///
/// About 2·p·log p + 10·p ANDs for a precision of p bits. Single: 627 ANDs of depth 131 (size), 880 of 46 (depth);
/// double: 1,370 of 204, 1,945 of 52; mode `Flush`: 580 of 125, 863 of 44; 1,268 of 199, 1,859 of 51.
///
/// ∞ − ∞ is NaN (`Ieee`) or +∞ (`Flush`); a sum of zero is +0 unless both operands are −0.
///
/// # Panics
/// If the formats differ.
pub fn add(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    add_rounded(c, a, b, mode, Rounding::Nearest, goal).number
}

/// a + b in this direction, with flags: invalid is ∞ − ∞. Towards −∞ a sum of zero is −0 unless both operands are +0.
///
/// # Panics
/// If the formats differ.
pub fn add_rounded(c: &mut Builder, a: &Float, b: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    assert_eq!(a.format, b.format, "numbers of one format");
    let pair = Pair::new(c, a, b, mode, goal);
    let sum = pair.sum(c, mode, goal);
    let zero = match mode {
        Mode::Ieee => sum.zero,
        Mode::Flush => c.or(sum.zero, pair.large_zero),
    };
    let both_infinite = c.and(pair.large_infinite, pair.small_infinite);
    let invalid = c.and(both_infinite, pair.opposite);
    let cancels = c.and(zero, pair.opposite);
    let cancelled = rounding.sign_of_zero();
    let (invalid, value) = match mode {
        Mode::Ieee => {
            let fraction = any(c, pair.large.fraction());
            let large_nan = c.and(pair.large_infinite, fraction);
            let nan = c.or(large_nan, invalid);
            let infinite = c.xor(pair.large_infinite, nan);
            let sign = c.mux(cancels, cancelled, pair.large.sign());
            (c.and(invalid, !large_nan), Unrounded { sign, zero, infinite, nan, ..sum })
        }
        Mode::Flush => {
            let settled = c.or(cancels, invalid);
            let zero_sign = c.and(cancelled, !invalid);
            let sign = c.mux(settled, zero_sign, pair.large.sign());
            (invalid, Unrounded { sign, zero, infinite: pair.large_infinite, nan: Bit::FALSE, ..sum })
        }
    };
    round_aligned(c, a.format, mode, rounding, &value, goal).invalid(c, mode, invalid, [a, b])
}

/// a − b: [`add`] of −b, at the same cost.
///
/// # Panics
/// If the formats differ.
pub fn subtract(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    add(c, a, &b.negate(), mode, goal)
}

/// a − b in this direction, with flags: [`add_rounded`] of −b, at the same cost.
///
/// # Panics
/// If the formats differ.
pub fn subtract_rounded(c: &mut Builder, a: &Float, b: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    add_rounded(c, a, &b.negate(), mode, rounding, goal)
}

/// Two numbers, the one of larger magnitude first.
struct Pair {
    large: Float,
    small: Float,
    /// Their signs differ.
    opposite: Bit,
    /// By how much the exponents differ.
    apart: Vec<Bit>,
    large_zero: Bit,
    small_zero: Bit,
    /// Exponents are all ones.
    large_infinite: Bit,
    small_infinite: Bit,
}

impl Pair {
    fn new(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Self {
        let opposite = c.xor(a.sign(), b.sign());
        let less = greater(c, &UInt(b.magnitude().to_vec()), &UInt(a.magnitude().to_vec()), goal);
        let (large, small) = conditional_swap(c, less, &Bits(a.bits.clone()), &Bits(b.bits.clone()));
        let (large, small) = (Float::new(a.format, large.0), Float::new(a.format, small.0));
        let large_zero = !any(c, large.exponent());
        let small_zero = !any(c, small.exponent());
        let large_infinite = all(c, large.exponent());
        let small_infinite = all(c, small.exponent());
        let apart = match goal {
            Goal::Size => difference(c, large.exponent(), large_zero, small.exponent(), small_zero, mode, goal),
            Goal::Depth => {
                // Both differences, before it is known which is meant.
                let (a_zero, b_zero) = (!any(c, a.exponent()), !any(c, b.exponent()));
                let ahead = difference(c, a.exponent(), a_zero, b.exponent(), b_zero, mode, goal);
                let behind = difference(c, b.exponent(), b_zero, a.exponent(), a_zero, mode, goal);
                mux(c, less, &behind, &ahead)
            }
        };
        Pair { large, small, opposite, apart, large_zero, small_zero, large_infinite, small_infinite }
    }

    /// Sum or difference of the magnitudes, with the sign of the larger one.
    fn sum(&self, c: &mut Builder, mode: Mode, goal: Goal) -> Unrounded {
        let large = [vec![Bit::FALSE; GUARD], significand(&self.large, self.large_zero, mode)].concat();
        let small = self.aligned(c, mode);
        let addend = flip(c, self.opposite, &small);
        let (mut sum, carry) = add_with_carry(c, &large, &addend, self.opposite, goal);
        sum.push(c.and(carry, !self.opposite));
        let mut exponent = self.large.exponent().to_vec();
        if mode == Mode::Ieee {
            exponent[0] = c.xor(exponent[0], self.large_zero);
        }
        let (significand, shift, zero) = match mode {
            Mode::Flush => normalised(c, &sum, goal),
            Mode::Ieee => normalised_within(c, &sum, &exponent, goal),
        };
        let width = self.large.format.exponent_width() as usize;
        let (above, _) = increment(c, &UInt(exponent).resized(width).0, Bit::TRUE, goal);
        let exponent = subtract_small(c, &above, &shift, goal);
        Unrounded {
            sign: self.large.sign(),
            exponent: Int(exponent),
            significand: UInt(significand),
            zero,
            infinite: Bit::FALSE,
            nan: Bit::FALSE,
        }
    }

    /// The smaller significand in the place where it is added.
    fn aligned(&self, c: &mut Builder, mode: Mode) -> Vec<Bit> {
        let small = significand(&self.small, self.small_zero, mode);
        let small = [vec![Bit::FALSE; GUARD - 1], small].concat();
        let (apart, kept) = match mode {
            Mode::Ieee => (self.apart.clone(), Bit::TRUE),
            // What is flushed moves out of sight.
            Mode::Flush => {
                let stages = (usize::BITS - small.len().leading_zeros()) as usize;
                let mut apart: Vec<Bit> = self.apart.iter().map(|&bit| c.or(bit, self.small_zero)).collect();
                apart.resize(stages.max(apart.len()), self.small_zero);
                (apart, !self.small_zero)
            }
        };
        let (moved, lost) = shift_right(c, &small, &apart);
        let sticky = c.and(lost, kept);
        [vec![sticky], moved].concat()
    }
}

/// a − b of two stored exponents, modulo 2^bits; in mode `Ieee` zero counts as one.
fn difference(c: &mut Builder, a: &[Bit], a_zero: Bit, b: &[Bit], b_zero: Bit, mode: Mode, goal: Goal) -> Vec<Bit> {
    let (mut a, mut b) = (a.to_vec(), flip(c, Bit::TRUE, b));
    if mode == Mode::Ieee {
        (a[0], b[0]) = (c.xor(a[0], a_zero), c.xor(b[0], b_zero));
    }
    add_with_carry(c, &a, &b, Bit::TRUE, goal).0
}

fn significand(x: &Float, zero: Bit, mode: Mode) -> Vec<Bit> {
    let hidden = match mode {
        Mode::Ieee => !zero,
        Mode::Flush => Bit::TRUE,
    };
    [x.fraction(), &[hidden]].concat()
}

/// The bits with the highest one at the top, how far they moved, and whether all are zero.
fn normalised(c: &mut Builder, bits: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>, Bit) {
    let (shifted, zeros) = normalise(c, bits, goal);
    let top = shifted[shifted.len() - 1];
    (shifted, zeros, !top)
}

/// [`normalised`], but moved at most as far as the exponent says: if that is too little, the result is a denormal.
fn normalised_within(c: &mut Builder, bits: &[Bit], most: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>, Bit) {
    let stages = (usize::BITS - (bits.len() - 1).leading_zeros()) as usize;
    let (zero, zeros) = leading_zeros(c, bits, stages);
    let low = stages.min(most.len());
    let far = any(c, &most[low..]);
    let (zeros_low, zeros_high) = zeros.split_at(low);
    let beyond = any(c, zeros_high);
    let (most, fewer) = (UInt(most[..low].to_vec()), UInt(zeros_low.to_vec()));
    let more = greater(c, &fewer, &most, goal);
    let more = c.or(more, beyond);
    let limited = c.and(more, !far);
    let shift = mux(c, limited, &most.0, &zeros);
    (shift_left(c, bits, &shift), shift, zero)
}

//! The fused multiply-add: a·b + c, rounded once (Muller et al., "Handbook of Floating-Point
//! Arithmetic", chapters 7 and 8).
//!
//! The product stays where it is, three bits above the end of a window; the addend starts two bits above the product
//! and moves to the right by what its exponent lacks there. Where it lacks nothing, the product is less than a quarter
//! of its last place and may as well be where it is. The addend joins the columns of the product, so that there is
//! one carry through both.

use super::format::{Float, Mode, Unpacked};
use super::gates::{add_with_carry, any, flip, increment, mux, normalise, shift_right, subtract_small};
use super::product::add_product;
use super::round::{Unrounded, round_to};
use super::status::{Outcome, Rounding};
use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// Bits below the product: two, and one that stands for all the others.
const GUARD: usize = 3;

/// a·b + addend with one rounding.
///
/// Single: 2,538 ANDs of depth 214 (size), 3,170 of 72 (depth); double: about 7,350 of 330, 8,788 of 81; some 8 % less in mode
/// `Flush`.
///
/// 0·∞ and ∞ − ∞ are NaN (`Ieee`) or +∞ (`Flush`); a sum of zero is +0 unless product and addend are both −0.
///
/// # Panics
/// If the formats differ.
pub fn multiply_add(c: &mut Builder, a: &Float, b: &Float, addend: &Float, mode: Mode, goal: Goal) -> Float {
    multiply_add_rounded(c, [a, b, addend], mode, Rounding::Nearest, goal).number
}

/// a·b + c in this direction, with flags: invalid are 0·∞, whatever is added, and ∞ − ∞.
///
/// # Panics
/// If the formats differ.
pub fn multiply_add_rounded(
    c: &mut Builder,
    operands: [&Float; 3],
    mode: Mode,
    rounding: Rounding,
    goal: Goal,
) -> Outcome {
    let [a, b, addend] = operands;
    assert!(a.format == b.format && a.format == addend.format, "numbers of one format");
    let format = a.format;
    let product_sign = c.xor(a.sign(), b.sign());
    let opposite = c.xor(product_sign, addend.sign());
    let [mut a, mut b, mut addend] = [a, b, addend].map(|x| x.unpack(c, mode));
    if mode == Mode::Flush {
        [&mut a, &mut b, &mut addend].into_iter().for_each(|x| clear(c, x));
    }
    let zero = c.or(a.zero, b.zero);
    let infinite = c.or(a.infinite, b.infinite);

    let window = Window::new(c, [&a, &b, &addend], zero, goal);
    let (magnitude, turned) = window.sum(c, [&a, &b], opposite, goal);
    let (significand, zeros) = normalise(c, &magnitude, goal);
    let cancelled = !significand[significand.len() - 1];
    let exponent = Int(subtract_small(c, &window.exponent, &zeros, goal));

    let lost = c.and(zero, infinite);
    let both = c.and(infinite, addend.infinite);
    let apart = c.and(both, opposite);
    let invalid = c.or(lost, apart);
    let sum_sign = c.xor(product_sign, turned);
    let cancels = c.and(cancelled, opposite);
    let sum_sign = c.mux(cancels, rounding.sign_of_zero(), sum_sign);
    let sign = c.mux(addend.infinite, addend.sign, sum_sign);
    let sign = c.mux(infinite, product_sign, sign);
    let infinite = c.or(infinite, addend.infinite);
    let nan = any(c, &[a.nan, b.nan, addend.nan, invalid]);
    let (sign, infinite) = match mode {
        Mode::Ieee => (sign, c.and(infinite, !nan)),
        Mode::Flush => (c.and(sign, !invalid), infinite),
    };
    let significand = UInt(significand);
    let value = Unrounded { sign, exponent, significand, zero: cancelled, infinite, nan };
    let outcome = round_to(c, format, mode, rounding, &value, goal);
    let factors = c.or(a.nan, b.nan);
    let apart = c.and(apart, !factors);
    let invalid = c.or(lost, apart);
    outcome.invalid(c, mode, invalid, operands)
}

/// Makes the significand zero where the number is.
fn clear(c: &mut Builder, x: &mut Unpacked) {
    x.significand.0.iter_mut().for_each(|bit| *bit = c.and(*bit, !x.zero));
}

/// The place of the sum.
struct Window {
    /// The addend's magnitude in the window.
    addend: Vec<Bit>,
    /// The biased exponent of the window's highest bit.
    exponent: Vec<Bit>,
}

impl Window {
    fn new(c: &mut Builder, [a, b, addend]: [&Unpacked; 3], product_zero: Bit, goal: Goal) -> Self {
        let precision = a.significand.0.len();
        let width = a.exponent.0.len() + 2;
        // The exponent of the top if the product stays: those of both, without a bias, and precision + 3.
        let above = Int::constant(precision as i128 + 3 - i128::from(a.format.bias()), width as u32).0;
        let [e, f, g] = [a, b, addend].map(|x| x.exponent.resized(width).0);
        let (sum, _) = add_with_carry(c, &e, &f, Bit::FALSE, goal);
        let (top, _) = add_with_carry(c, &sum, &above, Bit::FALSE, goal);
        let lack = subtract_small(c, &top, &g, goal);
        let stays = c.or(lack[width - 1], product_zero);
        let amount: Vec<Bit> = lack[..width - 1].iter().map(|&bit| c.and(bit, !stays)).collect();
        let start = vec![Bit::FALSE; GUARD + 2 * precision + 2];
        let (mut moved, lost) = shift_right(c, &[&start[..], &addend.significand.0].concat(), &amount);
        moved[0] = c.or(moved[0], lost);
        Window { addend: moved, exponent: mux(c, stays, &g, &top) }
    }

    /// The magnitude of the product and the addend, or of their difference, and whether that was turned over.
    fn sum(&self, c: &mut Builder, [a, b]: [&Unpacked; 2], opposite: Bit, goal: Goal) -> (Vec<Bit>, Bit) {
        let width = self.addend.len();
        // All is doubled, like the product, and has a sign.
        let mut columns = Columns::new(width + 2);
        add_product(c, &mut columns, GUARD, &a.significand.0, &b.significand.0);
        let addend = flip(c, opposite, &[&self.addend[..], &[Bit::FALSE]].concat());
        columns.add_word(1, &addend);
        columns.add_bit(1, opposite);
        let sum = columns.sum(c, goal);
        let negative = sum[width + 1];
        let turned = flip(c, negative, &sum[1..=width]);
        let (magnitude, _) = increment(c, &turned, negative, goal);
        (magnitude, negative)
    }
}

//! Multiplication and squares (Muller et al., "Handbook of Floating-Point
//! Arithmetic", chapters 7 and 8).

use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{add_with_carry, any, flip, increment, leading_zeros, mux, shift_right, subtract_small};
use super::product;
use super::round::{Unrounded, round_aligned};
use super::status::{Outcome, Rounding};
use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::greater;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// a·b.
///
/// About p² + 9·p ANDs for a precision of p bits, and the moves of denormals in mode `Ieee`. Single: 1,470 ANDs of depth
/// 94 (size), 1,719 of 35 (depth); double: 4,844 of 158, 5,490 of 40; mode `Flush`: 830 of 83, 1,064 of 21; 3,327 of
/// 145, 3,913 of 25.
///
/// 0·∞ is NaN (`Ieee`) or +∞ (`Flush`).
///
/// # Panics
/// If the formats differ.
pub fn multiply(c: &mut Builder, a: &Float, b: &Float, mode: Mode, goal: Goal) -> Float {
    multiply_rounded(c, a, b, mode, Rounding::Nearest, goal).number
}

/// a·b in this direction, with flags: invalid is 0·∞.
///
/// # Panics
/// If the formats differ.
pub fn multiply_rounded(c: &mut Builder, a: &Float, b: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    assert_eq!(a.format, b.format, "numbers of one format");
    let (format, operands) = (a.format, [a, b]);
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
    let product = product::product(c, &a.significand.0, &b.significand.0, goal);
    let (exponent, _) = add_with_carry(c, &a.exponent.0, &b.exponent.0, Bit::FALSE, goal);
    let exponent = unbiased(c, format, &exponent, goal);
    let value = match mode {
        Mode::Flush => scaled(c, format, &exponent, &product, goal),
        Mode::Ieee => {
            // With two denormals the product is below all normal numbers, however many zeros lead.
            let (a, b) = (zeros(c, &a), zeros(c, &b));
            let zeros: Vec<Bit> = a.iter().zip(&b).map(|(&a, &b)| c.or(a, b)).collect();
            placed(c, format, &exponent, &product, &zeros, goal)
        }
    };
    let value = Unrounded { sign, zero, infinite, nan, ..value };
    round_aligned(c, format, mode, rounding, &value, goal).invalid(c, mode, invalid, operands)
}

/// a²: the sign is positive, there are no invalid operations.
///
/// About p²/2 + 7·p ANDs for a precision of p bits, and the moves of denormals in mode `Ieee`. Single: 882 ANDs of depth
/// 90 (size), 1,102 of 29 (depth); double: 2,756 of 154, 3,358 of 33; mode `Flush`: 445 of 80, 672 of 20; 1,764 of 142,
/// 2,451 of 23.
pub fn square(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
    square_rounded(c, a, mode, Rounding::Nearest, goal).number
}

/// a² in this direction, with flags.
pub fn square_rounded(c: &mut Builder, a: &Float, mode: Mode, rounding: Rounding, goal: Goal) -> Outcome {
    let Unpacked { format, significand, zero, infinite, nan, exponent, .. } = a.unpack(c, mode);
    let product = product::square(c, &significand.0, goal);
    let doubled = [&[Bit::FALSE], &exponent.0[..exponent.0.len() - 1]].concat();
    let exponent = unbiased(c, format, &doubled, goal);
    let value = match mode {
        Mode::Flush => scaled(c, format, &exponent, &product, goal),
        Mode::Ieee => {
            let denormal = !significand.0[significand.0.len() - 1];
            placed(c, format, &exponent, &product, &[denormal], goal)
        }
    };
    let value = Unrounded { zero, infinite, nan, ..value };
    round_aligned(c, format, mode, rounding, &value, goal).invalid(c, mode, Bit::FALSE, [a])
}

/// How many zeros lead a significand.
fn zeros(c: &mut Builder, a: &Unpacked) -> Vec<Bit> {
    let (&hidden, fraction) = a.significand.0.split_last().expect("a significand has bits");
    let stages = (usize::BITS - fraction.len().leading_zeros()) as usize;
    // The fraction does not wait for the hidden bit; its count is one less.
    let (_, zeros) = leading_zeros(c, &[fraction, &[Bit::FALSE]].concat(), stages);
    zeros.iter().map(|&bit| c.and(bit, !hidden)).collect()
}

/// The exponent without one of the two biases of a sum of two exponents: 2^(bits − 1) − 1.
fn unbiased(c: &mut Builder, format: Format, exponent: &[Bit], goal: Goal) -> Vec<Bit> {
    let (exponent, _) = increment(c, exponent, Bit::TRUE, goal);
    let (low, high) = exponent.split_at(format.exponent as usize - 1);
    let (high, _) = add_with_carry(c, high, &vec![Bit::TRUE; high.len()], Bit::FALSE, goal);
    [low, &high].concat()
}

/// A product of two significands, denormals among them, in its place: its highest one on top, or exponent 1.
///
/// The product has `zeros` leading zeros or one more. It moves to the left by as many, but no further than exponent 1
/// is away; if that is on the other side, to the right.
fn placed(c: &mut Builder, format: Format, exponent: &[Bit], product: &[Bit], zeros: &[Bit], goal: Goal) -> Unrounded {
    let (width, precision) = (exponent.len(), format.precision() as usize);
    let room = (precision - 1).min((1 << zeros.len()) - 1);
    let zeros = UInt(zeros.to_vec()).resized(width).0;
    let beyond = greater(c, &Int(exponent.to_vec()), &Int(zeros.clone()), goal);
    let most = UInt::constant(room as u128, width as u32).0;
    let [to_one, to_top] = [exponent, &zeros].map(|by| {
        let by = flip(c, Bit::TRUE, by);
        add_with_carry(c, &most, &by, Bit::TRUE, goal).0
    });
    let amount = mux(c, beyond, &to_top, &to_one);
    let (moved, lost) = shift_right(c, &[vec![Bit::FALSE; room], product.to_vec()].concat(), &amount);
    let (low, upper) = moved[..product.len()].split_at(product.len() - precision - 2);
    let sticky = any(c, &[low, &[lost]].concat());

    let top = upper[upper.len() - 1];
    let stays = c.or(top, !beyond);
    let left: Vec<Bit> = std::iter::once(sticky).chain(upper[..upper.len() - 1].iter().copied()).collect();
    let mut significand = mux(c, stays, upper, &left);
    significand.insert(0, sticky);
    let one = UInt::constant(1, width as u32).0;
    let normal = subtract_small(c, exponent, &zeros, goal);
    let exponent = mux(c, beyond, &normal, &one);
    let carry = c.and(top, beyond);
    let (exponent, _) = increment(c, &exponent, carry, goal);
    Unrounded { exponent: Int(exponent), significand: UInt(significand), ..positive() }
}

/// A product of two normal significands, which is in [1, 4).
fn scaled(c: &mut Builder, format: Format, exponent: &[Bit], product: &[Bit], goal: Goal) -> Unrounded {
    let top = product[product.len() - 1];
    let (exponent, _) = increment(c, exponent, top, goal);
    // All but the bits that rounding looks at is sticky, and need not be moved.
    let (low, upper) = product.split_at(product.len() - format.precision() as usize - 2);
    let sticky = any(c, low);
    let mut significand = mux(c, top, &upper[1..], &upper[..upper.len() - 1]);
    *significand.last_mut().expect("a significand has bits") = Bit::TRUE;
    let last = c.and(top, upper[0]);
    significand.insert(0, c.or(sticky, last));
    Unrounded { exponent: Int(exponent), significand: UInt(significand), ..positive() }
}

/// A result with its parts still to come.
fn positive() -> Unrounded {
    Unrounded {
        sign: Bit::FALSE,
        exponent: Int(Vec::new()),
        significand: UInt(Vec::new()),
        zero: Bit::FALSE,
        infinite: Bit::FALSE,
        nan: Bit::FALSE,
    }
}

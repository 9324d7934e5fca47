//! Fixed-point numbers: integers in two's complement, in units of 2^−fraction.
//!
//! Operands of one operation have one format. Sums, differences and comparisons are those of integers. Products are
//! summed up exactly, and then rounded once: to the nearest number and, of two, to the greater one, which costs a
//! constant in the columns of the product. The sign of a quotient is known before its last digit, so that quotients,
//! like floats, are rounded away from zero where two are nearest. [`Overflow`] says what becomes of results that the
//! format does not have.
//!
//! Costs are for `n` bits with `f` after the point, as formulas or for 32 bits with 16 after the point.

mod elementary;

use crate::blocks::Goal;
use crate::blocks::arithmetic::adder::add_bits_with;
use crate::blocks::arithmetic::columns::Columns;
use crate::blocks::arithmetic::compare;
use crate::blocks::arithmetic::divide::{self, long_division};
use crate::blocks::arithmetic::factor::{Factor, Product};
use crate::blocks::arithmetic::multiply::products_into;
use crate::blocks::arithmetic::shift::or_prefix;
use crate::blocks::arithmetic::sum::negate_if;
use crate::blocks::logic::reduce::any;
use crate::blocks::selection::order;
use crate::builder::Builder;
use crate::graph::{Bit, Kind, Type};
use crate::words::{Int, UInt};
pub use elementary::{cos_pi, exp2, log2, sin_pi};

/// The treatment of results that are too large or too small for their format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overflow {
    /// It is taken modulo 2^n.
    Wrap,
    /// It becomes the nearest number that there is: n ANDs and some.
    Saturate,
}

/// A fixed-point number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fixed {
    /// The number in units of 2^−fraction.
    pub units: Int,
    /// Bits after the point.
    pub fraction: usize,
}

impl Fixed {
    /// The number of this many units of 2^−fraction.
    ///
    /// # Panics
    /// If there are fewer than 2 bits, or fewer than `fraction`.
    pub fn new(units: Int, fraction: usize) -> Self {
        assert!(units.0.len() >= 2.max(fraction), "{fraction} of {} bits after the point", units.0.len());
        Fixed { units, fraction }
    }

    /// A new input port.
    ///
    /// # Panics
    /// If there are fewer than 2 bits, or fewer than `fraction`.
    pub fn input(c: &mut Builder, name: impl Into<String>, width: u32, fraction: u32) -> Self {
        let ty = Type { kind: Kind::Fixed { fraction }, width };
        Fixed::new(Int(c.input(name, ty)), fraction as usize)
    }

    /// A new output port.
    pub fn output(&self, c: &mut Builder, name: impl Into<String>) {
        let kind = Kind::Fixed { fraction: self.fraction as u32 };
        c.output_as(name, Type { kind, width: self.width() as u32 }, &self.units.0);
    }

    /// The constant units · 2^−fraction, modulo 2^(width − fraction).
    ///
    /// # Panics
    /// If there are fewer than 2 bits, or fewer than `fraction`.
    pub fn constant(units: i128, width: usize, fraction: usize) -> Self {
        Fixed::new(Int::constant(units, width as u32), fraction)
    }

    /// How many bits it has.
    pub fn width(&self) -> usize {
        self.units.0.len()
    }

    /// One if it is below zero.
    pub fn sign(&self) -> Bit {
        self.units.0[self.width() - 1]
    }

    /// A number of the same format.
    fn with(&self, units: Int) -> Self {
        Fixed { units, fraction: self.fraction }
    }
}

fn same_format(a: &Fixed, b: &Fixed) {
    assert_eq!((a.width(), a.fraction), (b.width(), b.fraction), "numbers of one format");
}

/// a + b. Wrapping: n − 1 ANDs (size), depth log n (depth). Saturating: n ANDs and 2 layers more.
///
/// # Panics
/// If the formats differ.
pub fn add(c: &mut Builder, a: &Fixed, b: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    add_with(c, a, &b.units, Bit::FALSE, overflow, goal)
}

/// a − b; costs what [`add`] costs.
///
/// # Panics
/// If the formats differ.
pub fn subtract(c: &mut Builder, a: &Fixed, b: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    same_format(a, b);
    let complement = Int(b.units.0.iter().map(|&bit| !bit).collect());
    add_with(c, a, &complement, Bit::TRUE, overflow, goal)
}

/// −a. Only the least number overflows. At most the cost of [`add`].
pub fn negate(c: &mut Builder, a: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    subtract(c, &Fixed::constant(0, a.width(), a.fraction), a, overflow, goal)
}

/// |a|. Only the least number overflows: at no cost. n − 1 ANDs (size), depth log n (depth).
pub fn absolute(c: &mut Builder, a: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    let mut magnitude = negate_if(c, a.sign(), &a.units, goal);
    if overflow == Overflow::Saturate {
        // A magnitude with the sign set is 2^(n − 1): take 1 off.
        let (top, low) = magnitude.0.split_last_mut().expect("a sign");
        low.iter_mut().for_each(|bit| *bit = c.xor(*bit, *top));
        *top = Bit::FALSE;
    }
    a.with(magnitude)
}

/// a + b + carry; b in two's complement, of the same width.
fn add_with(c: &mut Builder, a: &Fixed, b: &Int, carry: Bit, overflow: Overflow, goal: Goal) -> Fixed {
    let width = match overflow {
        Overflow::Wrap => a.width(),
        Overflow::Saturate => a.width() + 1,
    };
    assert_eq!(a.width(), b.0.len(), "numbers of one format");
    let sum = add_bits_with(c, &a.units.resized(width).0, &b.resized(width).0, carry, goal.into());
    a.with(fit(c, Int(sum), a.width(), overflow))
}

/// The lesser of two numbers; costs what [`min`](order::min) costs.
///
/// # Panics
/// If the formats differ.
pub fn min(c: &mut Builder, a: &Fixed, b: &Fixed, goal: Goal) -> Fixed {
    same_format(a, b);
    a.with(order::min(c, &a.units, &b.units, goal))
}

/// The greater of two numbers; costs what [`max`](order::max) costs.
///
/// # Panics
/// If the formats differ.
pub fn max(c: &mut Builder, a: &Fixed, b: &Fixed, goal: Goal) -> Fixed {
    same_format(a, b);
    a.with(order::max(c, &a.units, &b.units, goal))
}

/// a = b. n − 1 ANDs, depth log n.
///
/// # Panics
/// If the formats differ.
pub fn equal(c: &mut Builder, a: &Fixed, b: &Fixed) -> Bit {
    same_format(a, b);
    compare::equal(c, &a.units, &b.units)
}

/// a < b; costs what [`greater`](compare::greater) costs.
///
/// # Panics
/// If the formats differ.
pub fn less(c: &mut Builder, a: &Fixed, b: &Fixed, goal: Goal) -> Bit {
    same_format(a, b);
    compare::less(c, &a.units, &b.units, goal)
}

/// a · b, rounded to the nearest number.
///
/// Wrapping: 1,032 ANDs of depth 48 (size) or 1,087 of depth 11 (depth). Saturating: 1,136 of depth 66 or 1,362 of
/// depth 16. The digits of a product that wraps away are not built.
///
/// # Panics
/// If the formats differ.
pub fn multiply(c: &mut Builder, a: &Fixed, b: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    same_format(a, b);
    let product = Product::of(Factor::of(&a.units), Factor::of(&b.units));
    a.with(rounded_sum(c, &[product], a, overflow, goal))
}

/// a², rounded to the nearest number.
///
/// Wrapping: 453 ANDs of depth 45 (size) or 590 of depth 10 (depth). Saturating: 571 of depth 63 or 790 of depth 15.
pub fn square(c: &mut Builder, a: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    a.with(rounded_sum(c, &[Product::square(Factor::of(&a.units))], a, overflow, goal))
}

/// Σ a_k · b_k, rounded once to the nearest number: all products share their columns.
///
/// 16 products, wrapping: 14,987 ANDs of depth 48 (size) or 15,346 of depth 14 (depth).
///
/// # Panics
/// If there is no number, the counts differ or the formats differ.
pub fn dot_product(c: &mut Builder, a: &[Fixed], b: &[Fixed], overflow: Overflow, goal: Goal) -> Fixed {
    assert_eq!(a.len(), b.len(), "as many factors");
    let first = a.first().expect("a product");
    a.iter().chain(b).for_each(|factor| same_format(first, factor));
    let products = a.iter().zip(b).map(|(a, b)| Product::of(Factor::of(&a.units), Factor::of(&b.units)));
    first.with(rounded_sum(c, &products.collect::<Vec<_>>(), first, overflow, goal))
}

/// The sum of products of numbers of one format, in this format.
fn rounded_sum(c: &mut Builder, products: &[Product], format: &Fixed, overflow: Overflow, goal: Goal) -> Int {
    let (width, fraction) = (format.width(), format.fraction);
    let mut columns = Columns::new(match overflow {
        Overflow::Wrap => width + fraction,
        Overflow::Saturate => 2 * width + products.len().next_power_of_two().ilog2() as usize,
    });
    products_into(c, &mut columns, 0, products, goal);
    if fraction > 0 {
        columns.add_power(fraction - 1);
    }
    let sum = columns.sum(c, goal).split_off(fraction);
    fit(c, Int(sum), width, overflow)
}

/// a / b, rounded to the nearest number, away from zero if two are nearest.
///
/// By zero: the greatest number, or the least if a is below zero, where results saturate; zero where they wrap.
///
/// n + f + 1 steps of n ANDs. Wrapping: 1,499 ANDs of depth 1,315 (size) or 6,019 of depth 279 (depth). Saturating: 1,519
/// of depth 1,318 or 6,102 of depth 281.
///
/// # Panics
/// If the formats differ.
pub fn divide(c: &mut Builder, a: &Fixed, b: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    same_format(a, b);
    let [mut dividend, divisor] = [a, b].map(|x| negate_if(c, x.sign(), &x.units, goal).0);
    dividend.splice(0..0, vec![Bit::FALSE; a.fraction + 1]);
    let (quotient, _) = long_division(c, &dividend, &divisor, goal);
    // The division asks for the same prefixes.
    let zero = !or_prefix(c, &divisor.iter().rev().copied().collect::<Vec<_>>(), goal)[divisor.len() - 1];
    // One digit more than asked for: as 2q + half, it is ±(q + half).
    let negative = c.xor(a.sign(), b.sign());
    let up = c.xor(quotient[0], negative);
    let (low, high) = quotient[1..].split_at(a.width());
    let low = UInt(low.to_vec()).resized(a.width() + 2).0;
    let turned = low.iter().map(|&bit| c.xor(bit, negative)).collect();
    let rounded = Int(increment(c, turned, up, goal));
    a.with(match overflow {
        Overflow::Wrap => Int(rounded.0[..a.width()].iter().map(|&bit| c.and(bit, !zero)).collect()),
        Overflow::Saturate => saturated(c, &rounded, a.width(), negative, [high, &[zero]].concat()),
    })
}

/// √a, rounded to the nearest number; of a number below zero, zero.
///
/// Only formats with fewer than 2 bits before the point have numbers whose root is too large: they saturate.
/// 347 ANDs of depth 295 (size) or 1,247 of depth 93 (depth).
pub fn square_root(c: &mut Builder, a: &Fixed, goal: Goal) -> Fixed {
    // √(4 · units · 2^fraction) = 2·root + half.
    let magnitude = &a.units.0[..a.width() - 1];
    let radicand = [vec![Bit::FALSE; a.fraction + 2], magnitude.to_vec()].concat();
    let (root, _) = divide::square_root(c, &UInt(radicand), goal);
    let mut upper = root.0[1..].to_vec();
    upper.push(Bit::FALSE);
    let mut rounded = increment(c, upper, root.0[0], goal);
    rounded.iter_mut().for_each(|bit| *bit = c.and(*bit, !a.sign()));
    rounded.push(Bit::FALSE);
    let width = rounded.len().max(a.width());
    a.with(fit(c, Int(rounded).resized(width), a.width(), Overflow::Saturate))
}

/// The greatest whole number that is not above a. Free.
pub fn floor(a: &Fixed) -> Fixed {
    let bits = a.units.0.iter().enumerate().map(|(i, &bit)| if i < a.fraction { Bit::FALSE } else { bit });
    a.with(Int(bits.collect()))
}

/// The nearest whole number, the greater one if two are nearest. n − f ANDs (size), 2 more and a layer if it saturates.
pub fn round(c: &mut Builder, a: &Fixed, overflow: Overflow, goal: Goal) -> Fixed {
    let whole = to_int(c, a, goal);
    from_int(c, &whole, a.width(), a.fraction, overflow)
}

/// The nearest integer, the greater one if two are nearest, in n − f + 1 bits. n − f ANDs (size).
pub fn to_int(c: &mut Builder, a: &Fixed, goal: Goal) -> Int {
    rescale(c, &a.units, a.fraction, 0, goal)
}

/// An integer as a fixed-point number. Free, or at most n ANDs where it saturates.
///
/// # Panics
/// If the width is below 2 or the fraction.
pub fn from_int(c: &mut Builder, a: &Int, width: usize, fraction: usize, overflow: Overflow) -> Fixed {
    let units = rescale(c, a, 0, fraction, Goal::Size);
    Fixed::new(fit(c, units, width, overflow), fraction)
}

/// The nearest number of another format, the greater one if two are nearest.
///
/// # Panics
/// If the width is below 2 or the fraction.
pub fn convert(c: &mut Builder, a: &Fixed, width: usize, fraction: usize, overflow: Overflow, goal: Goal) -> Fixed {
    let units = rescale(c, &a.units, a.fraction, fraction, goal);
    Fixed::new(fit(c, units, width, overflow), fraction)
}

/// Converts a number to other units, rounded to nearest, in enough bits that it cannot overflow.
fn rescale(c: &mut Builder, units: &Int, from: usize, to: usize, goal: Goal) -> Int {
    if to >= from {
        return Int([vec![Bit::FALSE; to - from], units.0.clone()].concat());
    }
    let width = units.0.len().max(from - to + 1);
    let mut upper = units.resized(width + 1).0;
    let below = upper.drain(..from - to).next_back().expect("a bit below the units");
    Int(increment(c, upper, below, goal))
}

/// The bits as a number, plus this bit, modulo 2^width.
pub(crate) fn increment(c: &mut Builder, bits: Vec<Bit>, by: Bit, goal: Goal) -> Vec<Bit> {
    let zero = vec![Bit::FALSE; bits.len()];
    add_bits_with(c, &bits, &zero, by, goal.into())
}

/// The integer in this width, or what overflow makes of it.
fn fit(c: &mut Builder, units: Int, width: usize, overflow: Overflow) -> Int {
    if overflow == Overflow::Wrap || units.0.len() <= width {
        return units.resized(width);
    }
    let sign = units.0[units.0.len() - 1];
    let mut fitted = saturated(c, &units, width, sign, Vec::new());
    fitted.0[width - 1] = sign;
    fitted
}

/// The integer in this width, or the last number on the side of `sign` if it does not fit or some bit of `beyond` is
/// set. An AND for each bit of the result and for each bit beyond.
pub(crate) fn saturated(c: &mut Builder, units: &Int, width: usize, sign: Bit, mut beyond: Vec<Bit>) -> Int {
    let (low, high) = units.0.split_at(width - 1);
    beyond.extend(high[1..].iter().map(|&bit| c.xor(bit, high[0])));
    let beyond = any(c, &beyond);
    let mut bits: Vec<Bit> = low.iter().map(|&bit| c.mux(beyond, !sign, bit)).collect();
    bits.push(c.mux(beyond, sign, high[0]));
    Int(bits)
}

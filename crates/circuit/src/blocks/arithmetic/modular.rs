//! Arithmetic with public constants: products by a constant, and sums, products and remainders modulo a constant.
//!
//! A secret bit times a public number costs nothing: its bits go into the columns where the number has digits, in the
//! signed-digit form with the fewest of them (Reitwiesner, "Binary arithmetic", 1960). Modulo m every bit of weight w
//! counts w mod m, so a remainder is one such sum, a second one for the few bits on top, and a subtraction or two.
//!
//! Moduli are below 2^100.

use super::columns::Columns;
use super::factor::{Factor, Product};
use super::multiply::products_into;
use super::sum::subtract_borrow;
use crate::blocks::Goal;
use crate::blocks::logic::select::mux;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{UInt, Word};

const MODULI: u32 = 100;

/// a · k in n bits and as many as k has, signed if a is: it cannot overflow.
///
/// With d signed digits other than zero, at most half of the bits of k and one more: size at most (d − 1)(n + 1) ANDs
/// and one for each bit of the result; depth about log d + log n.
pub fn multiply_constant<W: Word>(c: &mut Builder, a: &W, k: u128, goal: Goal) -> W {
    let a = Factor::of(a);
    let mut columns = Columns::new(a.width() + bits_of(k));
    for (shift, negative) in digits(k) {
        if negative { a.subtract_from(&mut columns, shift) } else { a.add_to(&mut columns, shift) }
    }
    W::from_bits(columns.sum(c, goal))
}

/// a mod m in as many bits as m − 1 has, at least one.
///
/// # Panics
/// If m is zero or not below 2^100.
pub fn remainder_constant(c: &mut Builder, a: &UInt, m: u128, goal: Goal) -> UInt {
    multiply_constant_mod(c, a, 1, m, goal)
}

/// a · k mod m in as many bits as m − 1 has, at least one, for any a.
///
/// Size: about nℓ/3 ANDs for random moduli of ℓ bits, and 2ℓ for each of two or three subtractions; moduli with few
/// signed digits cost less. 64 bits modulo 2^32 − 5 (k = 1): 220 ANDs of depth 67 (size), 402 of depth 19 (depth).
///
/// # Panics
/// If m is zero or not below 2^100.
pub fn multiply_constant_mod(c: &mut Builder, a: &UInt, k: u128, m: u128, goal: Goal) -> UInt {
    let weights: Vec<(Bit, u128)> = a.0.iter().copied().zip(powers(k, check(m))).collect();
    remainder(c, &weights, m, goal)
}

/// a + k mod m for a < m; for other a, some number of as many bits.
///
/// Size: at most 2n ANDs of depth 2n (60 for 32 bits). Depth: two adders side by side and a layer, 167 ANDs of depth 7
/// for 32 bits.
///
/// # Panics
/// If m is zero or not below 2^100, or a does not have as many bits as m − 1.
pub fn add_constant_mod(c: &mut Builder, a: &UInt, k: u128, m: u128, goal: Goal) -> UInt {
    let k = UInt::constant(k % check(m), a.width() as u32);
    add_mod(c, a, &k, m, goal)
}

/// a + b mod m for a, b < m; for others, some number of as many bits.
///
/// Size: at most 3n ANDs of depth 2n (92 for 32 bits). Depth: two adders side by side and a layer, 336 ANDs of depth 7
/// for 32 bits.
///
/// # Panics
/// If m is zero or not below 2^100, or a and b do not have as many bits as m − 1.
pub fn add_mod(c: &mut Builder, a: &UInt, b: &UInt, m: u128, goal: Goal) -> UInt {
    let width = width_mod(m);
    assert_eq!((a.width(), b.width()), (width, width), "bits of numbers below the modulus");
    let mut columns = Columns::new(width + 1);
    columns.add_word(0, &a.0);
    columns.add_word(0, &b.0);
    let mut less = columns.clone();
    less.subtract_constant(0, m);
    let less = less.sum(c, goal);
    let negative = less[width];
    match goal {
        Goal::Size => {
            // The modulus again, where that is negative.
            let mut columns = Columns::new(width);
            columns.add_word(0, &less[..width]);
            (0..width).filter(|i| m >> i & 1 == 1).for_each(|i| columns.add_bit(i, negative));
            UInt(columns.sum(c, goal))
        }
        Goal::Depth => {
            let sum = UInt(columns.sum(c, goal)[..width].to_vec());
            mux(c, negative, &sum, &UInt(less[..width].to_vec()))
        }
    }
}

/// a · b mod m in as many bits as m − 1 has, at least one: a product and its remainder.
///
/// 32 bits modulo 2^32 − 5: 1,229 ANDs of depth 130 (size), 1,759 of depth 30 (depth).
///
/// # Panics
/// If m is zero or not below 2^100.
pub fn multiply_mod(c: &mut Builder, a: &UInt, b: &UInt, m: u128, goal: Goal) -> UInt {
    let product = Product::of(Factor::of(a), Factor::of(b));
    let mut columns = Columns::new(product.width());
    products_into(c, &mut columns, 0, &[product], goal);
    let product = UInt(columns.sum(c, goal));
    remainder_constant(c, &product, m, goal)
}

fn check(m: u128) -> u128 {
    assert!(m > 0 && m >> MODULI == 0, "a modulus from 1 to 2^{MODULI} - 1");
    m
}

/// The bits of m − 1, at least one.
pub(crate) fn width_mod(m: u128) -> usize {
    bits_of(check(m) - 1).max(1)
}

/// The non-adjacent form: places of the digits 1 and −1 (true).
fn digits(mut k: u128) -> Vec<(usize, bool)> {
    let mut digits = Vec::new();
    let mut shift = 0;
    while k > 0 {
        let zeros = k.trailing_zeros();
        k >>= zeros;
        shift += zeros as usize;
        let negative = k & 3 == 3;
        digits.push((shift, negative));
        // k ∓ 1, halved at once, because k + 1 may not fit.
        k = (k >> 1) + u128::from(negative);
        shift += 1;
    }
    digits
}

/// A sum of weighted bits modulo m, before it is gates.
struct Fold {
    /// Bits, the weights that they add, and whether they subtract them instead.
    terms: Vec<(Bit, u128, bool)>,
    /// A multiple of m that keeps the sum from going below zero.
    offset: u128,
    /// The largest sum.
    most: u128,
}

impl Fold {
    /// Every bit counts w, or w − m if that has fewer digits.
    fn new(bits: impl IntoIterator<Item = (Bit, u128)>, m: u128) -> Self {
        let (mut terms, mut above, mut below) = (Vec::new(), 0, 0);
        for (bit, weight) in bits {
            let negative = digits(m - weight).len() < digits(weight).len();
            let size = if negative { m - weight } else { weight };
            *if negative { &mut below } else { &mut above } += size;
            terms.push((bit, size, negative));
        }
        let offset = u128::div_ceil(below, m) * m;
        Fold { terms, offset, most: above + offset }
    }

    fn sum(&self, c: &mut Builder, goal: Goal) -> Vec<Bit> {
        let mut columns = Columns::new(bits_of(self.most));
        columns.add_constant(0, self.offset);
        for &(bit, size, negative) in &self.terms {
            for (place, minus) in digits(size) {
                columns.add_or_subtract(place, bit, minus != negative);
            }
        }
        columns.sum(c, goal)
    }
}

/// The sum of bits times their weights, all weights below m, modulo m.
fn remainder(c: &mut Builder, weights: &[(Bit, u128)], m: u128, goal: Goal) -> UInt {
    let mut fold = Fold::new(weights.iter().copied(), m);
    let mut sum = fold.sum(c, goal);
    while fold.most / m >= 4 {
        let again = Fold::new(sum.iter().copied().zip(powers(1, m)), m);
        if again.most >= fold.most {
            break;
        }
        fold = again;
        sum = fold.sum(c, goal);
    }
    // The sum is less than 2^(k + 1) times the modulus.
    let mut most = fold.most;
    for k in (0..(most / m).checked_ilog2().map_or(0, |k| k + 1)).rev() {
        sum.truncate(bits_of(most));
        let multiple = UInt::constant(m << k, sum.len() as u32);
        let whole = UInt(sum);
        let (less, negative) = subtract_borrow(c, &whole, &multiple, goal);
        sum = mux(c, negative, &whole, &less).0;
        most = (m << k) - 1;
    }
    UInt(sum).resized(width_mod(m))
}

/// k, 2k, 4k, ... modulo m.
fn powers(k: u128, m: u128) -> impl Iterator<Item = u128> {
    std::iter::successors(Some(k % m), move |power| Some(power * 2 % m))
}

fn bits_of(value: u128) -> usize {
    (128 - value.leading_zeros()) as usize
}

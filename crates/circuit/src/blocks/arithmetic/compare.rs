//! Equality and order of two words of one width. Integers in two's complement compare as signed.
//!
//! Order is a carry: a > b exactly if a + ¬b carries out. The size variant follows that carry from the lowest bit up,
//! so it adds one layer, not n, to operands whose bits arrive in that order (counters and ripple adders). The depth
//! variant is the divide-and-conquer comparison of Garay, Schoenmakers and Villegas (PKC 2007).

use super::sum::majority;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::{Bit, Kind};
use crate::words::Word;

/// a = b. n − 1 ANDs, depth log n.
///
/// # Panics
/// If the widths differ.
pub fn equal<W: Word>(c: &mut Builder, a: &W, b: &W) -> Bit {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let mut same: Vec<Bit> = a.bits().iter().zip(b.bits()).map(|(&a, &b)| !c.xor(a, b)).collect();
    while same.len() > 1 {
        same = same.chunks(2).map(|pair| pair.iter().fold(Bit::TRUE, |all, &bit| c.and(all, bit))).collect();
    }
    same.pop().unwrap_or(Bit::TRUE)
}

/// a > b.
///
/// Size: n ANDs, depth n. Depth: at most 3n − log n − 2 ANDs (2½ n − log n − 2 where n is a power of two), depth
/// 1 + log n.
///
/// # Panics
/// If the widths differ.
pub fn greater<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> Bit {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let (a, b) = (ordered(a), ordered(b));
    match goal {
        Goal::Size => a.iter().zip(&b).fold(Bit::FALSE, |below, (&a, &b)| majority(c, a, !b, below)),
        Goal::Depth => divide(c, &a, &b, true).0,
    }
}

/// a < b; costs what [`greater`] costs.
///
/// # Panics
/// If the widths differ.
pub fn less<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> Bit {
    greater(c, b, a, goal)
}

/// a ≥ b; costs what [`greater`] costs.
///
/// # Panics
/// If the widths differ.
pub fn greater_or_equal<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> Bit {
    !greater(c, b, a, goal)
}

/// a ≤ b; costs what [`greater`] costs.
///
/// # Panics
/// If the widths differ.
pub fn less_or_equal<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> Bit {
    !greater(c, a, b, goal)
}

/// The bits of an unsigned number in the same order: two's complement with its sign turned.
fn ordered<W: Word>(word: &W) -> Vec<Bit> {
    let mut bits = word.bits().to_vec();
    if let (Kind::Int | Kind::Fixed { .. }, Some(sign)) = (word.ty().kind, bits.last_mut()) {
        *sign = !*sign;
    }
    bits
}

/// (a > b, a = b); the second is not built where it ends at the lowest bit and nobody asks. A single high bit decides
/// with one AND, as in the size variant, where the paper has two.
fn divide(c: &mut Builder, a: &[Bit], b: &[Bit], lowest: bool) -> (Bit, Bit) {
    match (a, b) {
        ([], _) => (Bit::FALSE, Bit::TRUE),
        (&[a], &[b]) => (c.and(a, !b), !c.xor(a, b)),
        (&[ref low_a @ .., a], &[ref low_b @ .., b]) if low_a.len() < 3 => {
            let low = divide(c, low_a, low_b, lowest);
            let differ = c.xor(a, b);
            let same = if lowest { Bit::FALSE } else { c.and(!differ, low.1) };
            (majority(c, a, !b, low.0), same)
        }
        _ => {
            let half = a.len().div_ceil(2);
            let high = divide(c, &a[half..], &b[half..], false);
            let low = divide(c, &a[..half], &b[..half], lowest);
            let passed = c.and(high.1, low.0);
            let same = if lowest { Bit::FALSE } else { c.and(high.1, low.1) };
            (c.xor(high.0, passed), same)
        }
    }
}

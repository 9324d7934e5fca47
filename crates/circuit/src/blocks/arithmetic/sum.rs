//! Addition, subtraction, and what they make: sums of many words, the negative and the absolute value.
//!
//! All results are modulo 2^n unless the function says that it widens. A full adder is one AND: the carry of a, b, c is
//! `c ⊕ (a ⊕ c)(b ⊕ c)`. The shallow adder, a prefix network of depth log n where Table 7 of the paper counts
//! 2·log n + 1, is in `adder.rs`; sums of more than two words count [`Columns`].

use super::adder::{add_bits_with, sum_bits};
pub(crate) use super::adder::{carries, majority};
use super::columns::Columns;
pub(crate) use super::columns::reduce;
use super::factor::Factor;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt, Word};

/// a + b mod 2^n.
///
/// Size: n − 1 ANDs, depth n − 1. Depth: at most n·log n ANDs (144 for 32 bits, 352 for 64), depth log n, the least
/// there is: the highest bit is a polynomial of degree n.
///
/// # Panics
/// If the widths differ.
pub fn add<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    W::from_bits(add_bits_with(c, a.bits(), b.bits(), Bit::FALSE, goal.into()))
}

/// a + b mod 2^n, and its carry.
///
/// Size: n ANDs, depth n. Depth: like [`add`] of n + 1 bits.
///
/// # Panics
/// If the widths differ.
pub fn add_carry<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> (W, Bit) {
    let carries = carries(c, a.bits(), b.bits(), Bit::FALSE, goal);
    let sum = sum_bits(c, a.bits(), b.bits(), &carries);
    (W::from_bits(sum), carries[a.width()])
}

/// a − b mod 2^n, that is a + ¬b + 1: below zero it wraps. Same cost as [`add`].
///
/// # Panics
/// If the widths differ.
pub fn subtract<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    let b: Vec<Bit> = b.bits().iter().map(|&bit| !bit).collect();
    W::from_bits(add_bits_with(c, a.bits(), &b, Bit::TRUE, goal.into()))
}

/// a − b mod 2^n, and whether it went below zero (as unsigned numbers: a < b).
///
/// Costs what [`add_carry`] costs.
///
/// # Panics
/// If the widths differ.
pub fn subtract_borrow<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> (W, Bit) {
    let b: Vec<Bit> = b.bits().iter().map(|&bit| !bit).collect();
    let carries = carries(c, a.bits(), &b, Bit::TRUE, goal);
    let difference = sum_bits(c, a.bits(), &b, &carries);
    (W::from_bits(difference), !carries[a.width()])
}

/// −a mod 2^n, so that the least integer stays what it is.
///
/// Size: n − 2 ANDs, depth n − 2. Depth: the ORs of all low bits, depth log(n − 1).
pub fn negate<W: Word>(c: &mut Builder, a: &W, goal: Goal) -> W {
    let Some((&low, high)) = a.bits().split_first() else { return W::from_bits(Vec::new()) };
    // The lowest bit stays, and carries if it is clear.
    let flipped: Vec<Bit> = high.iter().map(|&bit| !bit).collect();
    let mut bits = add_bits_with(c, &flipped, &vec![Bit::FALSE; high.len()], !low, goal.into());
    bits.insert(0, low);
    W::from_bits(bits)
}

/// |a| in n bits, unsigned: it cannot overflow.
///
/// Size: n − 1 ANDs, depth n − 1. Depth: about n/2·log n ANDs, depth log n.
///
/// # Panics
/// If a has no bits.
pub fn absolute(c: &mut Builder, a: &Int, goal: Goal) -> UInt {
    let sign = *a.0.last().expect("an integer has a sign bit");
    negate_if(c, sign, &UInt(a.0.clone()), goal)
}

/// −a mod 2^n if `negative`, else a. Costs what [`absolute`] costs.
pub fn negate_if<W: Word>(c: &mut Builder, negative: Bit, a: &W, goal: Goal) -> W {
    let flipped: Vec<Bit> = a.bits().iter().map(|&bit| c.xor(bit, negative)).collect();
    let zero = vec![Bit::FALSE; a.width()];
    W::from_bits(add_bits_with(c, &flipped, &zero, negative, goal.into()))
}

/// The sum of k words mod 2^n.
///
/// The columns of the addends are counted with full adders, those bits first that are there first, so constants and
/// bits of any depth mix well. Size: at most (k − 1)(n − 1) ANDs, less in the low columns where few carries arrive (a
/// triple costs one AND, not two), and a constant addend is almost free where it meets an even number of bits. Depth:
/// carry-save adders down to two words, then [`add`].
///
/// # Panics
/// If there is no word or the widths differ.
pub fn sum<W: Word>(c: &mut Builder, words: &[W], goal: Goal) -> W {
    let width = words.first().expect("a sum of one word or more").width();
    assert!(words.iter().all(|word| word.width() == width), "addends of one width");
    let mut columns = Columns::new(width);
    words.iter().for_each(|word| columns.add_word(0, word.bits()));
    W::from_bits(columns.sum(c, goal))
}

/// The sum of k words of any widths, in as many bits as the largest sum needs; signed if the words are.
///
/// For k unsigned words of n bits, size: at most kn − n + k − log k − 1 ANDs (the ripple-carry network of Table 7) of
/// depth n + log k − 1. Depth: a carry-save network and the shallow adder: 74 ANDs of depth 6 for 3 words of 16 bits,
/// 1,105 of depth 10 for 32 words of 32 bits.
///
/// # Panics
/// If there is no word, or a signed one has no bits.
pub fn sum_full<W: Word>(c: &mut Builder, words: &[W], goal: Goal) -> W {
    let factors: Vec<Factor> = words.iter().map(Factor::of).collect();
    let widest = factors.iter().map(Factor::width).max().expect("a sum of one word or more");
    let mut columns = Columns::new(match factors.iter().any(|factor| factor.signed) {
        true => widest + words.len().next_power_of_two().ilog2() as usize,
        false => sum_width(factors.iter().map(Factor::width)),
    });
    factors.iter().for_each(|factor| factor.add_to(&mut columns, 0));
    W::from_bits(columns.sum(c, goal))
}

/// The bits of the largest sum of unsigned words of these widths.
pub(crate) fn sum_width(widths: impl Iterator<Item = usize>) -> usize {
    let widths: Vec<usize> = widths.collect();
    let mut most = Columns::new(widths.iter().max().expect("a sum of one word or more") + 64);
    for width in widths {
        most.add_power(width);
        most.subtract_power(0);
    }
    most.constant_width()
}

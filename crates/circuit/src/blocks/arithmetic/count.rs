//! Counting ones.

use super::sum::reduce;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{UInt, Word};

/// How many of the n bits are one, in ⌊log₂ n⌋ + 1 bits: it cannot overflow.
///
/// Boyar and Peralta (MFCS 2006): n − ones(n) ANDs, and no circuit has fewer. A full adder takes two bits from a column
/// and gives one carry to the next; its sum costs no layer, so bit j of the result has depth j and the whole has
/// depth ⌊log₂ n⌋. No circuit is shallower either: bit j is the sum of all products of 2^j of the bits modulo 2 (Lucas),
/// a polynomial of degree 2^j, and a layer of ANDs at most doubles the degree. So there is one variant for both goals;
/// the count by full adders of Table 7 (2n − log n − 2 ANDs) is never better.
pub fn population_count(c: &mut Builder, word: &impl Word) -> UInt {
    let mut column = word.bits().to_vec();
    let mut count = Vec::new();
    for _ in 0..usize::BITS - word.width().leading_zeros() {
        let carried = reduce(c, &mut column, 1);
        count.push(column.first().copied().unwrap_or(Bit::FALSE));
        column = carried;
    }
    UInt(count)
}

/// In how many bits two words of n bits differ: the [`population_count`] of their XOR, at the same cost.
///
/// # Panics
/// If the widths differ.
pub fn hamming_distance<W: Word>(c: &mut Builder, a: &W, b: &W) -> UInt {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let differ = a.bits().iter().zip(b.bits()).map(|(&a, &b)| c.xor(a, b)).collect();
    population_count(c, &UInt(differ))
}

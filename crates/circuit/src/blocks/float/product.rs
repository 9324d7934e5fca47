//! Products and squares of significands without an AND for partial products.
//!
//! In digits ±1 a product of two bits is an XOR: with α = 2a − 1 and M = 2^m − 1 for words of m and n bits,
//! 2ab = Σ ¬(aᵢ ⊕ bⱼ)·2^(i+j) + a·N + b·M − M·N, and a² = Σ_{i<j} (¬(aᵢ ⊕ aⱼ) − 1)·2^(i+j) + a·M. The constant hidden
//! bits are multiplied apart, for they need no digits.

use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::Bit;

/// Adds 2·a·b·2^shift. No ANDs.
pub(super) fn add_product(c: &mut Builder, columns: &mut Columns, shift: usize, a: &[Bit], b: &[Bit]) {
    if let (Some((&Bit::TRUE, a)), _) = (a.split_last(), b) {
        columns.add_word(shift + a.len() + 1, b);
        return add_product(c, columns, shift, a, b);
    }
    if let Some((&Bit::TRUE, b)) = b.split_last() {
        columns.add_word(shift + b.len() + 1, a);
        return add_product(c, columns, shift, a, b);
    }
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            columns.add_bit(shift + i + j, !c.xor(x, y));
        }
    }
    columns.add_word(shift + b.len(), a);
    columns.subtract_word(shift, a);
    columns.add_word(shift + a.len(), b);
    columns.subtract_word(shift, b);
    // (2^m − 1)(2^n − 1)
    columns.subtract_power(shift + a.len() + b.len());
    columns.add_power(shift + a.len());
    columns.add_power(shift + b.len());
    columns.subtract_power(shift);
}

/// Adds a²·2^shift. No ANDs.
pub(super) fn add_square(c: &mut Builder, columns: &mut Columns, shift: usize, a: &[Bit]) {
    if let Some((&Bit::TRUE, a)) = a.split_last() {
        columns.add_power(shift + 2 * a.len());
        columns.add_word(shift + a.len() + 1, a);
        return add_square(c, columns, shift, a);
    }
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in a.iter().enumerate().skip(i + 1) {
            columns.add_bit(shift + i + j, !c.xor(x, y));
            columns.subtract_power(shift + i + j);
        }
    }
    columns.add_word(shift + a.len(), a);
    columns.subtract_word(shift, a);
}

/// a·b in as many bits as both have. About (m − 1)(n − 1) + 5(m + n) ANDs.
pub(super) fn product(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> Vec<Bit> {
    let mut columns = Columns::new(a.len() + b.len() + 1);
    add_product(c, &mut columns, 0, a, b);
    columns.sum(c, goal)[1..].to_vec()
}

/// a² in twice the bits. About (n − 1)²/2 + 5n ANDs.
pub(super) fn square(c: &mut Builder, a: &[Bit], goal: Goal) -> Vec<Bit> {
    let mut columns = Columns::new(2 * a.len());
    add_square(c, &mut columns, 0, a);
    columns.sum(c, goal)
}

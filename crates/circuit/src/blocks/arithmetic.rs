//! Addition and subtraction.
//!
//! All results are modulo 2^n; [`add_carry`] gives the carry too. A full adder is one AND: the carry of a, b, c is
//! `c ⊕ (a ⊕ c)(b ⊕ c)`. The shallow adder is Sklansky's prefix tree; because "generates" and "propagates" exclude each
//! other, their OR is an XOR and a level of the tree costs one layer (Table 7 of the paper counts two).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// a + b mod 2^n.
///
/// Size: n − 1 ANDs, depth n − 1. Depth: 1 + 2·Σ ones(i) for i < n − 1 ANDs, which is about n·log n, depth
/// 1 + log(n − 1).
///
/// # Panics
/// If the widths differ.
pub fn add<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    W::from_bits(add_bits(c, a.bits(), b.bits(), Bit::FALSE, goal))
}

/// a + b mod 2^n, and its carry.
///
/// Size: n ANDs, depth n. Depth: 1 + 2·Σ ones(i) for i < n ANDs, depth 1 + log n.
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
    W::from_bits(add_bits(c, a.bits(), &b, Bit::TRUE, goal))
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
    let left = match goal {
        Goal::Size => 1,
        Goal::Depth => 2,
    };
    let (first, second) = compress(c, words, width, left);
    W::from_bits(add_bits(c, &first, &second, Bit::FALSE, goal))
}

/// The carries into bits 0 to n of a + b + `carry`; the last one is the carry of the sum.
pub(super) fn carries(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, goal: Goal) -> Vec<Bit> {
    assert_eq!(a.len(), b.len(), "operands of one width");
    match goal {
        Goal::Size => carries_ripple(c, a, b, carry),
        Goal::Depth => carries_prefix(c, a, b, carry),
    }
}

/// The majority of three bits: the carry of a full adder. One AND.
pub(super) fn majority(c: &mut Builder, x: Bit, y: Bit, z: Bit) -> Bit {
    let (left, right) = (c.xor(x, z), c.xor(y, z));
    let both = c.and(left, right);
    c.xor(z, both)
}

fn add_bits(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, goal: Goal) -> Vec<Bit> {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let low = a.len().saturating_sub(1);
    let carries = carries(c, &a[..low], &b[..low], carry, goal);
    sum_bits(c, a, b, &carries)
}

fn sum_bits(c: &mut Builder, a: &[Bit], b: &[Bit], carries: &[Bit]) -> Vec<Bit> {
    a.iter().zip(b).zip(carries).map(|((&a, &b), &carry)| c.xor_all([a, b, carry])).collect()
}

fn carries_ripple(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit) -> Vec<Bit> {
    let mut carries = vec![carry];
    for (&a, &b) in a.iter().zip(b) {
        carries.push(majority(c, a, b, carries[carries.len() - 1]));
    }
    carries
}

/// Sklansky's tree: before level l, bit i knows (generate, propagate) of the bits from the last multiple of 2^l up to
/// itself; it then takes in the block below if bit l of i is set. A span from bit 0 needs no propagate.
fn carries_prefix(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit) -> Vec<Bit> {
    let mut spans: Vec<(Bit, Bit)> = Vec::with_capacity(a.len());
    for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
        let below = if i == 0 { carry } else { Bit::FALSE };
        spans.push((majority(c, a, b, below), c.xor(a, b)));
    }
    for level in 0..usize::BITS - a.len().saturating_sub(1).leading_zeros() {
        for i in (0..a.len()).filter(|i| i >> level & 1 == 1) {
            let below = spans[(i >> level << level) - 1];
            spans[i] = join(c, spans[i], below, i >> level == 1);
        }
    }
    std::iter::once(carry).chain(spans.into_iter().map(|(generate, _)| generate)).collect()
}

fn join(c: &mut Builder, above: (Bit, Bit), below: (Bit, Bit), lowest: bool) -> (Bit, Bit) {
    let passed = c.and(above.1, below.0);
    let propagate = if lowest { Bit::FALSE } else { c.and(above.1, below.1) };
    (c.xor(above.0, passed), propagate)
}

/// Words of the same sum, `left` (1 or 2) bits a column; the second word is zero where a column has one.
fn compress<W: Word>(c: &mut Builder, words: &[W], width: usize, left: usize) -> (Vec<Bit>, Vec<Bit>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut carried = Vec::new();
    for i in 0..width {
        let mut column = std::mem::take(&mut carried);
        column.extend(words.iter().map(|word| word.bits()[i]));
        if i + 1 == width {
            column = vec![c.xor_all(column)];
        } else {
            carried = reduce(c, &mut column, left);
        }
        first.push(column.first().copied().unwrap_or(Bit::FALSE));
        second.push(column.get(1).copied().unwrap_or(Bit::FALSE));
    }
    (first, second)
}

/// Adds bits of one column until `left` remain; returns the carries.
///
/// Every adder takes what is there first, so the latest bits stay and no carry waits for them. The half adder that an
/// odd column needs comes first: it meets a constant if there is one, which makes it free.
pub(super) fn reduce(c: &mut Builder, column: &mut Vec<Bit>, left: usize) -> Vec<Bit> {
    let due = |c: &Builder, bit: Bit| Reverse((c.depth(bit), bit));
    let present = column.iter().filter(|&&bit| bit != Bit::FALSE);
    let mut queue: BinaryHeap<_> = present.map(|&bit| due(c, bit)).collect();
    let mut carried = Vec::new();
    while queue.len() > left {
        let half = (queue.len() - left) % 2 == 1;
        let mut take = || queue.pop().map_or(Bit::FALSE, |Reverse((_, bit))| bit);
        let (x, y, z) = (take(), take(), if half { Bit::FALSE } else { take() });
        carried.push(majority(c, x, y, z));
        let sum = c.xor_all([x, y, z]);
        queue.push(due(c, sum));
    }
    carried.retain(|&bit| bit != Bit::FALSE);
    *column = queue.into_iter().map(|Reverse((_, bit))| bit).collect();
    carried
}

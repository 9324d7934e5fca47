//! Compaction: the valid words to the front, in their order.
//!
//! S. Sasy, A. Johnson, I. Goldberg, "Fast fully oblivious compaction and shuffling" (CCS 2022), §4, for any number of
//! words: n/2·log n exchanges, half of what moving each word by the number of gaps before it takes. A block of 2^k
//! words is compacted to begin at a secret offset, around its end: both halves are, the right one where the left one
//! ends, and then the words of both halves change places from one place on, or up to it. Where that place lies follows
//! from counts of the valid words alone, so all exchanges together are only ⌈log n⌉ deep.

use crate::blocks::Goal::Size;
use crate::blocks::arithmetic::sum::{add, add_carry};
use crate::blocks::logic::select::{conditional_swap, one_hot};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{UInt, Word};

/// The valid words in their order, then the others in an order that depends only on which ones are valid.
///
/// At most n/2·⌈log n⌉·(w + 1) + n ANDs for n words of w bits: 169,873 for 1,024 words of 32 bits. Depth at most ⌈log
/// n⌉ + 2 up to 1,024 words, for counters ripple no slower than the exchanges go on; so one circuit serves both goals.
/// Zero the words that are not valid first if those who see the result may not see them.
///
/// # Panics
/// If there are not as many valid bits as words, or the widths differ.
pub fn compact<W: Word + Clone>(c: &mut Builder, words: &[W], valid: &[Bit]) -> Vec<W> {
    assert_eq!(words.len(), valid.len(), "a valid bit for each word");
    let mut words = words.to_vec();
    let count = count(c, valid);
    compact_any(c, &mut words, &count);
    words
}

/// How many bits are one, in a block and in its parts; a block that is no power of two splits off the largest as its
/// right half.
struct Count {
    total: UInt,
    halves: Option<Box<[Count; 2]>>,
}

fn count(c: &mut Builder, valid: &[Bit]) -> Count {
    if valid.len() < 2 {
        return Count { total: UInt(valid.to_vec()), halves: None };
    }
    let (left, right) = valid.split_at(left_half(valid.len()));
    let halves = [count(c, left), count(c, right)];
    let width = halves[0].total.width().max(halves[1].total.width());
    let [left, right] = [0, 1].map(|half| halves[half].total.resized(width));
    let (sum, carry) = add_carry(c, &left, &right, Size);
    let total = UInt([sum.0, vec![carry]].concat()).resized(1 + valid.len().ilog2() as usize);
    Count { total, halves: Some(Box::new(halves)) }
}

/// The length of the left part: what n exceeds the largest power of two by, or half of n if it is one.
fn left_half(n: usize) -> usize {
    if n.is_power_of_two() { n / 2 } else { n - (1 << n.ilog2()) }
}

fn compact_any<W: Word + Clone>(c: &mut Builder, words: &mut [W], count: &Count) {
    let (Some(halves), n) = (&count.halves, words.len()) else { return };
    if n.is_power_of_two() {
        let start = UInt::constant(0, n.ilog2());
        return compact_from(c, words, count, &start);
    }
    let (left, right) = words.split_at_mut(left_half(n));
    compact_any(c, left, &halves[0]);
    // The right part begins so close to its end that its first words lie opposite to what the left part lacks.
    let (bits, rest) = (right.len().ilog2(), right.len() - left.len());
    let start = add(c, &halves[0].total.resized(bits as usize), &UInt::constant(rest as u128, bits), Size);
    compact_from(c, right, &halves[1], &start);
    let beyond = at_most(c, &halves[0].total, left.len());
    exchange(c, left, &mut right[rest..], &beyond);
}

/// A block of 2^k words: the valid ones from place `start` on, around the end.
fn compact_from<W: Word + Clone>(c: &mut Builder, words: &mut [W], count: &Count, start: &UInt) {
    let Some(halves) = &count.halves else { return };
    let (left, right) = words.split_at_mut(words.len() / 2);
    let bits = left.len().ilog2() as usize;
    let (low, top) = (start.resized(bits), start.0[bits]);
    let (end, around) = end_of(c, &low, &halves[0].total);
    compact_from(c, left, &halves[0], &low);
    compact_from(c, right, &halves[1], &end);
    let turned = c.xor(around, top);
    let beyond: Vec<Bit> = at_most(c, &end, left.len()).into_iter().map(|bit| c.xor(bit, turned)).collect();
    exchange(c, left, right, &beyond);
}

/// start + count modulo the size of a block, and whether that goes around.
fn end_of(c: &mut Builder, start: &UInt, count: &UInt) -> (UInt, Bit) {
    let (low, full) = (count.resized(start.width()), count.0[start.width()]);
    let (end, carry) = add_carry(c, start, &low, Size);
    // A full block goes around and ends where it starts, without a carry.
    (end, c.xor(carry, full))
}

/// For each i below n, whether the number is at most i.
fn at_most(c: &mut Builder, number: &UInt, n: usize) -> Vec<Bit> {
    let hot = one_hot(c, &number.0);
    let sums = hot.into_iter().scan(Bit::FALSE, |sum, hot| {
        *sum = c.xor(*sum, hot);
        Some(*sum)
    });
    sums.take(n).collect()
}

fn exchange<W: Word + Clone>(c: &mut Builder, left: &mut [W], right: &mut [W], swaps: &[Bit]) {
    for ((a, b), &swap) in left.iter_mut().zip(right).zip(swaps) {
        (*a, *b) = conditional_swap(c, swap, a, b);
    }
}

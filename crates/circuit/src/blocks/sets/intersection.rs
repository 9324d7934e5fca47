//! Sets: as bit vectors over a small universe, and the intersection of two private sets.
//!
//! The three circuits for private set intersection are those of Y. Huang, D. Evans, J. Katz, "Private set intersection:
//! are garbled circuits better than custom protocols?" (NDSS 2012): the bitwise AND of two vectors with a bit for each
//! element of the universe; the comparison of all pairs; and, for sorted lists, sort, compare, shuffle. Each ends in
//! one bit for each possible match, so cardinality is a count of them ([`population_count`](crate::blocks::population_count))
//! and the sum over the matches a sum of masked values ([`sum_selected`]).
//!
//! **What the owners promise.** Elements of a set are distinct, and sorted where it says so. Nothing is checked: if an
//! owner breaks this, the result is wrong, and it may tell more about the other list than the intersection does.

use super::duplicates::pairs;
use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::equal;
use crate::blocks::arithmetic::sum::sum;
use crate::blocks::selection::compact::compact;
use crate::blocks::selection::permute::permute;
use crate::blocks::selection::sort::{Direction, Record, merge};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Bits, UInt, Word};

/// The union of two sets. n ANDs, depth 1.
///
/// # Panics
/// If the widths differ.
pub fn union<W: Word>(c: &mut Builder, a: &W, b: &W) -> W {
    bitwise(c, a, b, Builder::or)
}

/// The intersection of two sets: private set intersection for a universe of n elements. n ANDs, depth 1.
///
/// # Panics
/// If the widths differ.
pub fn intersection<W: Word>(c: &mut Builder, a: &W, b: &W) -> W {
    bitwise(c, a, b, Builder::and)
}

/// Whether all of a is in b. 2n − 1 ANDs, depth ⌈log n⌉ + 1; no circuit has less of either, for the degree is 2n.
///
/// # Panics
/// If the widths differ.
pub fn inclusion<W: Word>(c: &mut Builder, a: &W, b: &W) -> Bit {
    let mut fits = bitwise(c, a, b, |c, a, b| !c.and(a, !b)).bits().to_vec();
    while fits.len() > 1 {
        fits = fits.chunks(2).map(|pair| pair.iter().fold(Bit::TRUE, |all, &bit| c.and(all, bit))).collect();
    }
    fits.pop().unwrap_or(Bit::TRUE)
}

/// For each element of a whether it is in b, by comparing all pairs.
///
/// n·m·(w − 1) ANDs for n and m elements of w bits, depth ⌈log w⌉: of distinct elements at most one is equal, so their
/// OR is free. An element that b lists an even number of times is missed. The results are in the order of a: they are
/// for the owner of a alone, who knows what they refer to, or for a count or sum.
///
/// # Panics
/// If the widths differ.
pub fn members<W: Word>(c: &mut Builder, a: &[W], b: &[W]) -> Vec<Bit> {
    let member = |c: &mut Builder, a: &W| {
        b.iter().fold(Bit::FALSE, |found, b| {
            let same = equal(c, a, b);
            c.xor(found, same)
        })
    };
    a.iter().map(|a| member(c, a)).collect()
}

/// The matches of two ascending lists, in slots that are sorted where they are not empty: sort and compare.
///
/// Each of the (n + m)/2 slots says whether it holds a match, then its key and the XOR of both payloads, or zeros; give
/// one of the owners payloads of zeros to read the other's. Where the slots are tells about the other elements, so they
/// are shuffled ([`shuffle`]) or compacted ([`compacted`]) before anybody sees them. For two lists of n = 2^k elements
/// of w bits the merge takes n·log n + 1 comparators and the comparison (2n − 1)·(w − 1) + n·w ANDs.
///
/// A list that is not sorted yields some of the matches; an element that is there more than once may match itself.
///
/// # Panics
/// If the widths of elements or of payloads differ.
pub fn matches<W: Word + Clone>(
    c: &mut Builder,
    a: &[Record<W>],
    b: &[Record<W>],
    goal: Goal,
) -> Vec<(Bit, Record<W>)> {
    let merged = merge(c, a, b, Direction::Ascending, goal);
    pairs(c, &merged)
}

/// The slots in an order that is secret to all but the one who chose the switches; by several permutations, to all.
///
/// For each list of switches, [`permute`] of the slots: a bit more than the width of key and payload for each switch.
///
/// # Panics
/// If a list does not have [`switch_count`](crate::blocks::selection::permute::switch_count) switches.
pub fn shuffle<W: Word + Clone>(
    c: &mut Builder,
    slots: &[(Bit, Record<W>)],
    switches: &[&[Bit]],
) -> Vec<(Bit, Record<W>)> {
    let packed: Vec<Bits> = slots.iter().map(pack).collect();
    let shuffled = switches.iter().fold(packed, |slots, switches| permute(c, &slots, switches));
    shuffled.iter().zip(slots).map(|(slot, (_, model))| unpack(slot, model)).collect()
}

/// The matches first, ascending, then zeros: what [`shuffle`] is for, at half its cost and without switches.
///
/// In this order the slots tell nothing but the matches, and everybody may see them. [`compact`] gives the cost.
///
/// # Panics
/// If the widths differ.
pub fn compacted<W: Word + Clone>(c: &mut Builder, slots: &[(Bit, Record<W>)]) -> Vec<Record<W>> {
    let (valid, packed): (Vec<Bit>, Vec<Bits>) = slots.iter().map(|slot| (slot.0, pack(slot))).unzip();
    let packed: Vec<Bits> = packed.into_iter().map(|slot| Bits(slot.0[1..].to_vec())).collect();
    let front = compact(c, &packed, &valid);
    let flagged = front.iter().map(|slot| Bits([&[Bit::TRUE], slot.0.as_slice()].concat()));
    flagged.zip(slots).map(|(slot, (_, model))| unpack(&slot, model).1).collect()
}

/// The sum of the values whose bit is set, in p + ⌈log n⌉ bits for n values of p bits: it cannot overflow.
///
/// n·p ANDs for the masks and less than n·(p + 1) for the sum.
///
/// # Panics
/// If there is no value, not a bit for each, or the widths differ.
pub fn sum_selected(c: &mut Builder, chosen: &[Bit], values: &[UInt], goal: Goal) -> UInt {
    assert_eq!(chosen.len(), values.len(), "a bit for each value");
    let width = sum_width(values[0].width(), values.len());
    let masked: Vec<UInt> = chosen
        .iter()
        .zip(values)
        .map(|(&chosen, value)| UInt(value.0.iter().map(|&bit| c.and(chosen, bit)).collect()).resized(width))
        .collect();
    sum(c, &masked, goal)
}

/// Bits that the sum of n numbers of `width` bits needs at most.
pub fn sum_width(width: usize, n: usize) -> usize {
    width + n.next_power_of_two().ilog2() as usize
}

fn bitwise<W: Word>(c: &mut Builder, a: &W, b: &W, gate: fn(&mut Builder, Bit, Bit) -> Bit) -> W {
    assert_eq!(a.width(), b.width(), "operands of one width");
    W::from_bits(a.bits().iter().zip(b.bits()).map(|(&a, &b)| gate(c, a, b)).collect())
}

fn pack<W: Word>((found, record): &(Bit, Record<W>)) -> Bits {
    Bits([&[*found], record.key.bits(), &record.payload.0].concat())
}

fn unpack<W: Word>(packed: &Bits, model: &Record<W>) -> (Bit, Record<W>) {
    let (key, payload) = packed.0[1..].split_at(model.key.width());
    (packed.0[0], Record { key: W::from_bits(key.to_vec()), payload: Bits(payload.to_vec()) })
}

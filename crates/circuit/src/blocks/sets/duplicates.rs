//! Keys that occur twice in a sorted list: Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits
//! better than custom protocols?" (NDSS 2012), §6.2.

use crate::blocks::arithmetic::compare::equal;
use crate::blocks::selection::sort::Record;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Bits, Word};

/// For each word of a sorted list but the first, whether it equals the one before.
///
/// (n − 1)·(w − 1) ANDs for n words of w bits, depth ⌈log w⌉. The order matters to nothing else: equal neighbours are
/// found.
///
/// # Panics
/// If the widths differ.
pub fn equal_neighbours<W: Word>(c: &mut Builder, sorted: &[W]) -> Vec<Bit> {
    sorted.windows(2).map(|pair| equal(c, &pair[0], &pair[1])).collect()
}

/// The keys that occur twice in a sorted list in which no key occurs more often.
///
/// One of two equal neighbours is at an odd place, so every odd place is a slot: whether it equals either neighbour,
/// then its key and the XOR of both payloads, or zeros. If one payload of each pair is zero, the XOR is the other. (n −
/// 1)·(w − 1) ANDs for the comparisons of n records, then w ANDs a slot and two for each bit of payload; depth ⌈log w⌉
/// + 1. A key that occurs three times or more is not found at the place between two equal ones.
///
/// # Panics
/// If the widths differ.
pub fn pairs<W: Word + Clone>(c: &mut Builder, sorted: &[Record<W>]) -> Vec<(Bit, Record<W>)> {
    let keys: Vec<W> = sorted.iter().map(|record| record.key.clone()).collect();
    let same = equal_neighbours(c, &keys);
    let slots = (1..sorted.len()).step_by(2);
    slots.map(|i| slot(c, same[i - 1], same.get(i).copied(), &sorted[i - 1..(i + 2).min(sorted.len())])).collect()
}

/// The middle one of three neighbours, or the latter one of two.
fn slot<W: Word>(c: &mut Builder, before: Bit, after: Option<Bit>, near: &[Record<W>]) -> (Bit, Record<W>) {
    let found = c.xor(before, after.unwrap_or(Bit::FALSE));
    let key = W::from_bits(near[1].key.bits().iter().map(|&bit| c.and(found, bit)).collect());
    let mut payload = both(c, before, &near[0], &near[1]);
    if let (Some(after), Some(next)) = (after, near.get(2)) {
        let other = both(c, after, &near[1], next);
        payload = payload.into_iter().zip(other).map(|(a, b)| c.xor(a, b)).collect();
    }
    (found, Record { key, payload: Bits(payload) })
}

/// The XOR of two payloads, if `same`.
fn both<W>(c: &mut Builder, same: Bit, a: &Record<W>, b: &Record<W>) -> Vec<Bit> {
    assert_eq!(a.payload.0.len(), b.payload.0.len(), "payloads of one width");
    let bits = a.payload.0.iter().zip(&b.payload.0);
    bits.map(|(&a, &b)| {
        let sum = c.xor(a, b);
        c.and(same, sum)
    })
    .collect()
}

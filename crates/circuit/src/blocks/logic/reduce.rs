//! The AND and the OR of many bits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::builder::Builder;
use crate::graph::Bit;

/// The conjunction of all bits, those first that are there first. n − 1 ANDs, depth log n.
pub(crate) fn all(c: &mut Builder, bits: &[Bit]) -> Bit {
    let mut queue: BinaryHeap<_> = bits.iter().map(|&bit| Reverse((c.depth(bit), bit))).collect();
    while queue.len() > 1 {
        let mut take = || queue.pop().map_or(Bit::TRUE, |Reverse((_, bit))| bit);
        let (a, b) = (take(), take());
        let both = c.and(a, b);
        queue.push(Reverse((c.depth(both), both)));
    }
    queue.pop().map_or(Bit::TRUE, |Reverse((_, bit))| bit)
}

/// The disjunction of all bits, those first that are there first. n − 1 ANDs, depth log n.
pub(crate) fn any(c: &mut Builder, bits: &[Bit]) -> Bit {
    let clear: Vec<Bit> = bits.iter().map(|&bit| !bit).collect();
    !all(c, &clear)
}

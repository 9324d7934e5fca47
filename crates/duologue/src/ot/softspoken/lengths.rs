//! The batches and messages of SoftSpoken OT in lengths alone, which follow from k and the number of COTs.

use kernels::Block;

use super::{PLANES, TILE, check, pprf};

/// COTs of a batch at most: with k = 4 a message of 254 kB, so that making a batch and sending one take turns often, and
/// a line carries one while the next is made.
const BATCH: u64 = 1 << 16;

/// The groups into which the planes are cut, k planes each.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub k: usize,
}

impl Shape {
    /// # Panics
    /// If k is not from 1 to 8.
    pub(super) fn new(k: u8) -> Self {
        assert!((1..=8).contains(&k), "trees of 2^{k} leaves: k is from 1 to 8");
        Shape { k: k.into() }
    }

    /// Planes of each group.
    pub(super) fn widths(self) -> impl Iterator<Item = usize> {
        (0..PLANES).step_by(self.k).map(move |first| self.k.min(PLANES - first))
    }

    /// Bytes of corrections for a tile.
    pub(super) fn corrections(self) -> usize {
        (PLANES.div_ceil(self.k) - 1) * 16
    }

    /// The bits of Δ that a group has.
    pub(super) fn delta(self, delta: Block, group: usize) -> u8 {
        (delta.get() >> (group * self.k) & ((1 << self.k) - 1)) as u8
    }

    /// Bytes of the receiver's message of a batch of `count` COTs.
    pub(super) fn message_len(self, count: usize, first: bool) -> usize {
        let opening = if first { pprf::message_len(self) } else { 0 };
        opening + (1 + count.div_ceil(TILE)) * self.corrections() + check::MESSAGE
    }
}

/// The number of COTs that the next batch makes if `wanted` are wanted.
pub(super) fn batch(wanted: u64) -> usize {
    wanted.min(BATCH) as usize
}

/// The progress of a SoftSpoken maker in lengths alone: it has the batches, exchanges and bytes of the maker's two
/// sides.
#[derive(Clone, Debug)]
pub struct SoftSpokenLengths {
    k: u8,
    /// Whether a batch was begun.
    begun: bool,
}

impl SoftSpokenLengths {
    /// The lengths of a maker with trees of 2^k leaves that has made nothing yet.
    pub fn new(k: u8) -> Self {
        SoftSpokenLengths { k, begun: false }
    }

    /// Bytes of the first batch from a receiver whose trees are single base OTs.
    pub(crate) const fn first_batch_of_single(count: usize) -> usize {
        (1 + count.div_ceil(TILE)) * (PLANES - 1) * 16 + check::MESSAGE
    }

    /// As [`CotMaker::batch`](crate::ot::CotMaker::batch).
    pub fn batch(&self, wanted: u64) -> usize {
        batch(wanted)
    }

    /// The next exchange, which makes a batch of `count` COTs unless that is zero: the bytes of the sender and of the
    /// receiver.
    pub fn exchange(&mut self, count: usize) -> [usize; 2] {
        if count == 0 {
            return [0, 0];
        }
        let first = !std::mem::replace(&mut self.begun, true);
        [0, Shape::new(self.k).message_len(count, first)]
    }
}

//! How the bits of many gates lie in words.
//!
//! With more than 64 lanes, a gate has a row of words. With fewer, a word has several gates, as in `gmw/narrow.rs`. On the
//! wire both are rows of lanes without gaps.

use crate::outbox::Outbox;
use crate::packed::{Packed, byte_len, copy_row};
use crate::protocol::gmw::narrow::{self, MOST_LANES};
use circuit::optimise::fuse::{Fused, Layer};

/// The layout of gates of so many lanes.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// At most 64 lanes.
    Few(narrow::Layout),
    /// More than 64 lanes.
    Many(usize),
}

impl Layout {
    /// For at least one lane.
    pub fn new(lanes: usize) -> Layout {
        if lanes <= MOST_LANES { Layout::Few(narrow::Layout::new(lanes)) } else { Layout::Many(lanes) }
    }

    pub fn lanes(self) -> usize {
        match self {
            Layout::Few(narrow) => narrow.lanes,
            Layout::Many(lanes) => lanes,
        }
    }

    /// Words of so many gates.
    pub fn words(self, gates: usize) -> usize {
        match self {
            Layout::Few(narrow) => narrow.words(gates),
            Layout::Many(lanes) => gates * lanes.div_ceil(64),
        }
    }

    /// Bytes of so many gates as they travel.
    pub fn bytes(self, gates: usize) -> usize {
        byte_len(gates * self.lanes())
    }

    /// Puts rows without gaps into words, in place of what is there.
    pub fn spread(self, packed: &[u64], from: usize, gates: usize, out: &mut Vec<u64>) {
        out.clear();
        match self {
            Layout::Few(narrow) => narrow.spread(packed, from, gates, out),
            Layout::Many(lanes) if lanes.is_multiple_of(64) && from.is_multiple_of(64) => {
                out.extend_from_slice(&packed[from / 64..][..self.words(gates)]);
            }
            Layout::Many(lanes) => {
                out.resize(self.words(gates), 0);
                let rows = out.chunks_exact_mut(lanes.div_ceil(64)).enumerate();
                rows.for_each(|(row, to)| copy_row(packed, from + row * lanes, lanes, to));
            }
        }
    }

    /// Puts rows that came as bytes, whose number was checked, into words.
    pub fn spread_bytes(self, bytes: &[u8], gates: usize, out: &mut Vec<u64>) {
        self.spread(&Packed::read(bytes, gates * self.lanes()).words, 0, gates, out);
    }

    /// Appends words as rows without gaps; what is no lane is zero.
    pub fn squeeze(self, words: &[u64], gates: usize, out: &mut Outbox) {
        match self {
            Layout::Few(narrow) => narrow.squeeze(words, gates, out),
            Layout::Many(lanes) if lanes.is_multiple_of(64) => out.extend_from_slice(bytemuck::cast_slice(words)),
            Layout::Many(lanes) => {
                let mut packed = Packed::default();
                words.chunks_exact(lanes.div_ceil(64)).for_each(|row| packed.push(row, lanes));
                out.extend_from_slice(packed.bytes());
            }
        }
    }
}

/// ANDs of one layer with the same number of inputs: how many inputs, and how many ANDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group {
    pub inputs: usize,
    pub ands: usize,
}

impl Group {
    /// The groups of a layer.
    pub fn of(layer: &Layer) -> [Group; 3] {
        let ands = [layer.twos.len(), layer.threes.len(), layer.fours.len()];
        [2, 3, 4].map(|inputs| Group { inputs, ands: ands[inputs - 2] })
    }

    /// The groups of all layers in order, without the empty ones.
    pub fn all(fused: &Fused) -> impl Iterator<Item = Group> {
        fused.layers().iter().flat_map(Group::of).filter(|group| group.ands > 0)
    }

    /// The sets of inputs that are not empty: planes that setup keeps.
    pub fn planes(self) -> usize {
        (1 << self.inputs) - 1
    }
}

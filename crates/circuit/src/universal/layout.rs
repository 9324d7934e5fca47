//! The levels of a network: which switches there are, and where their control bits lie.

use crate::private::nodes::Size;
use std::ops::Range;

/// A kind of switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// From the halves to the operand of a, and to *mid*.
    In,
    /// From *in* and the result of a to the operand of b, and to *out*.
    Mid,
    /// From *mid* and the result of b to the halves.
    Out,
}

/// All networks of one size, which stand side by side.
#[derive(Clone, Debug)]
pub struct Level {
    /// How many there are.
    pub width: usize,
    /// Poles of each.
    pub poles: usize,
    /// Poles before this one have no operand.
    pub first: usize,
    /// Poles from this one on have no reader.
    pub end: usize,
    /// The pairs that have a switch of each kind.
    pub pairs: [Range<usize>; 3],
    /// The place of the first control bit of each kind.
    bits: [usize; 3],
}

impl Level {
    /// The networks whose poles are these; their control bits lie from `bits` on.
    fn new(width: usize, poles: usize, first: usize, end: usize, bits: &mut usize) -> Level {
        let (halves, second) = (poles.div_ceil(2), (first / 2).max(1));
        let pairs = [second..halves, second..(poles / 2).min(end.div_ceil(2)), 1..end / 2];
        let pairs = pairs.map(|range| range.start..range.end.max(range.start));
        let places = pairs.clone().map(|range| {
            let place = *bits;
            *bits += (width * range.len()).next_multiple_of(64);
            place
        });
        Level { width, poles, first, end, pairs, bits: places }
    }

    /// The level of the halves.
    fn halves(&self, bits: &mut usize) -> Level {
        let poles = self.poles.div_ceil(2);
        Level::new(2 * self.width, poles, (self.first / 2).max(1), self.end.div_ceil(2).min(poles - 1), bits)
    }

    /// Whether a pair has a switch of this kind.
    pub fn has(&self, kind: Kind, pair: usize) -> bool {
        self.pairs[kind as usize].contains(&pair)
    }

    /// Whether a pair sends something to its halves.
    pub fn sends(&self, pair: usize) -> bool {
        pair < self.end.div_ceil(2).min(self.poles.div_ceil(2) - 1)
    }

    /// The place of the control bit of a pair's switch in the first network; those of the others follow.
    pub fn place(&self, kind: Kind, pair: usize) -> usize {
        self.bits[kind as usize] + (pair - self.pairs[kind as usize].start) * self.width
    }

    fn switches(&self) -> u64 {
        self.pairs.iter().map(|range| (self.width * range.len()) as u64).sum()
    }
}

/// The levels of both networks of a size, and how many bits hold their control bits.
pub fn levels(size: Size) -> (Vec<Level>, usize) {
    let (nodes, mut bits) = (size.nodes(), 0);
    let mut levels = vec![Level::new(2, nodes, size.inputs as usize, nodes - size.outputs as usize, &mut bits)];
    while let Some(last) = levels.last().filter(|last| last.poles > 2) {
        let next = last.halves(&mut bits);
        levels.push(next);
    }
    (levels, bits)
}

impl Size {
    /// Switches of the universal circuit for this size.
    pub fn switches(self) -> u64 {
        levels(self).0.iter().map(Level::switches).sum()
    }
}

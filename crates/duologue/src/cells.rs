//! Matrices of wires × lanes: what a value is while a tile is computed.
//!
//! The executor rearranges bits and lanes without knowing what a bit is; it needs of a matrix only that pieces of it
//! can be copied.

use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::Piece;
use kernels::Block;

/// A matrix of wires × lanes of one tile.
pub trait Cells: Sized + Send + Sync {
    /// Memory of one bit of one lane, in bits.
    const CELL_BITS: usize;
    /// A matrix of zeros: of the public bit 0.
    fn zeros(rows: usize, lanes: usize) -> Self;
    /// Copies one row of a piece; the piece says which lanes.
    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, lanes: &Piece);
}

/// Copies a whole piece.
pub(crate) fn copy<C: Cells>(to: &mut C, from: &C, piece: &Piece) {
    for row in 0..piece.rows {
        to.copy_row((piece.to_row + row) as usize, from, (piece.from_row + row) as usize, piece);
    }
}

/// Copies what a plan reads of a piece to the plan's slots.
pub(crate) fn load<C: Cells>(plan: &Plan, slots: &mut C, from: &C, piece: &Piece) {
    for row in 0..piece.rows {
        if let Some(slot) = plan.inputs()[(piece.to_row + row) as usize] {
            slots.copy_row(slot as usize, from, (piece.from_row + row) as usize, piece);
        }
    }
}

impl Cells for BitMatrix {
    const CELL_BITS: usize = 1;

    fn zeros(rows: usize, lanes: usize) -> Self {
        BitMatrix::zeros(rows, lanes)
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, lanes: &Piece) {
        if lanes.from_step == 0 && lanes.count == self.lanes() {
            // No branch: the bit may be a share or an input.
            let word = crate::plain::mask(from.get(from_row, lanes.from_lane));
            let last = self.last_mask();
            let row = self.row_mut(to_row);
            row.fill(word);
            row.last_mut().map(|end| *end &= last).unwrap_or_default();
            return;
        }
        match lanes.to_step {
            1 => {
                let (step, count) = (lanes.from_step, lanes.count);
                self.copy_bits(to_row, lanes.to_lane, from, from_row, lanes.from_lane, step, count);
            }
            step => (0..lanes.count).for_each(|i| {
                let bit = from.get(from_row, lanes.from_lane + i * lanes.from_step);
                self.set(to_row, lanes.to_lane + i * step, bit);
            }),
        }
    }
}

/// 128-bit labels, wire by wire; erased when dropped.
///
/// Its rows may be *absent*: the labels of the other phase. Copies of absent labels are absent.
pub struct Labels {
    blocks: Vec<Block>,
    lanes: usize,
}

impl Labels {
    /// From labels wire by wire.
    pub(crate) fn new(blocks: Vec<Block>, lanes: usize) -> Self {
        Labels { blocks, lanes }
    }

    /// No labels: they belong to the other phase.
    pub(crate) fn absent() -> Self {
        Labels { blocks: Vec::new(), lanes: 0 }
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    pub(crate) fn row(&self, row: usize) -> &[Block] {
        &self.blocks[row * self.lanes..][..self.lanes]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [Block] {
        &mut self.blocks[row * self.lanes..][..self.lanes]
    }

    /// Two rows to read and another to write.
    ///
    /// # Panics
    /// If the row written is one of those read, which no plan asks for.
    pub(crate) fn operands(&mut self, a: usize, b: usize, to: usize) -> (&[Block], &[Block], &mut [Block]) {
        let (lanes, row) = (self.lanes, |i: usize| i * self.lanes..(i + 1) * self.lanes);
        if a == b {
            let [a, to] = self.blocks.get_disjoint_mut([row(a), row(to)]).expect("plans write to fresh slots");
            return (a, a, to);
        }
        let [a, b, to] = self.blocks.get_disjoint_mut([row(a), row(b), row(to)]).expect("plans write to fresh slots");
        debug_assert_eq!(to.len(), lanes);
        (a, b, to)
    }
}

impl Drop for Labels {
    fn drop(&mut self) {
        // A volatile write a word, as of the crate zeroize, would take longer than the gates do.
        self.blocks.fill(Block::ZERO);
        std::hint::black_box(&self.blocks);
    }
}

impl Cells for Labels {
    const CELL_BITS: usize = 128;

    fn zeros(rows: usize, lanes: usize) -> Self {
        Labels { blocks: vec![Block::ZERO; rows * lanes], lanes }
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, lanes: &Piece) {
        if from.blocks.is_empty() {
            *self = Labels::absent();
        }
        if self.blocks.is_empty() {
            return;
        }
        let source = &from.row(from_row)[lanes.from_lane..];
        let target = &mut self.row_mut(to_row)[lanes.to_lane..];
        match (lanes.from_step, lanes.to_step) {
            (1, 1) => target[..lanes.count].copy_from_slice(&source[..lanes.count]),
            (0, 1) => target[..lanes.count].fill(source[0]),
            (from_step, to_step) => {
                (0..lanes.count).for_each(|i| target[i * to_step] = source[i * from_step]);
            }
        }
    }
}

/// For protocols whose values have nothing in one of the phases.
pub struct Nothing;

impl Cells for Nothing {
    const CELL_BITS: usize = 0;
    fn zeros(_: usize, _: usize) -> Self {
        Nothing
    }
    fn copy_row(&mut self, _: usize, _: &Self, _: usize, _: &Piece) {}
}

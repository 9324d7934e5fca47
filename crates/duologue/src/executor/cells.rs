//! Matrices of wires × lanes: what a value is while a tile is computed.
//!
//! The executor rearranges bits and lanes without knowing what a bit is; it needs of a matrix only that pieces of it
//! can be copied.

use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::Piece;

/// A matrix of wires × lanes of one tile.
pub(crate) trait Cells: Sized + Send + Sync {
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
    fn zeros(rows: usize, lanes: usize) -> Self {
        BitMatrix::zeros(rows, lanes)
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, lanes: &Piece) {
        if lanes.from_step == 0 && lanes.count == self.lanes() {
            // No branch: the bit may be a share or an input.
            let word = crate::executor::interpreter::mask(from.get(from_row, lanes.from_lane));
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

/// For protocols whose values have nothing in one of the phases.
pub struct Nothing;

impl Cells for Nothing {
    fn zeros(_: usize, _: usize) -> Self {
        Nothing
    }
    fn copy_row(&mut self, _: usize, _: &Self, _: usize, _: &Piece) {}
}

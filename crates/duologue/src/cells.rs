//! Matrices of wires × lanes: what a value is while a tile is computed.
//!
//! The executor rearranges bits and lanes without knowing what a bit is; it needs of a matrix only that pieces of it
//! can be copied.

use bytemuck::{Pod, Zeroable};
use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::Piece;
use kernels::Block;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    lines: Vec<Line>,
    len: usize,
    lanes: usize,
    /// Where their room goes when they are dropped, unless to the allocator.
    home: Option<Spare>,
}

/// A line of the cache: a register of four labels that lies in two of them takes twice as long to read and longer to write.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([Block; 4]);

const LINE: Line = Line([Block::ZERO; 4]);

impl Labels {
    fn some(len: usize, lanes: usize) -> Self {
        Labels { lines: vec![LINE; len.div_ceil(4)], len, lanes, home: None }
    }

    /// No labels: they belong to the other phase.
    pub(crate) fn absent() -> Self {
        Labels::some(0, 0)
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }

    pub(crate) fn row(&self, row: usize) -> &[Block] {
        &self.blocks()[row * self.lanes..][..self.lanes]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [Block] {
        let lanes = self.lanes;
        &mut self.blocks_mut()[row * lanes..][..lanes]
    }

    /// Two rows to read and another to write.
    ///
    /// # Panics
    /// If the row written is one of those read, which no plan asks for.
    pub(crate) fn operands(&mut self, a: usize, b: usize, to: usize) -> (&[Block], &[Block], &mut [Block]) {
        let lanes = self.lanes;
        let row = |i: usize| i * lanes..(i + 1) * lanes;
        if a == b {
            let [a, to] = self.blocks_mut().get_disjoint_mut([row(a), row(to)]).expect("plans write to fresh slots");
            return (a, a, to);
        }
        let [a, b, to] =
            self.blocks_mut().get_disjoint_mut([row(a), row(b), row(to)]).expect("plans write to fresh slots");
        debug_assert_eq!(to.len(), lanes);
        (a, b, to)
    }
}

impl Drop for Labels {
    fn drop(&mut self) {
        erase(self.blocks_mut());
        if let Some(home) = self.home.take() {
            home.keep(std::mem::take(&mut self.lines));
        }
    }
}

/// Room of labels that are no more, erased: from a fresh page the first write takes longer than garbling an AND.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Rooms>>);

/// The latest rooms last, and how many lines they have.
#[derive(Default)]
struct Rooms {
    rooms: VecDeque<Vec<Line>>,
    lines: usize,
}

/// What is kept at most: 32 MiB in 256 rooms.
const MOST_LINES: usize = 1 << 19;
const MOST_ROOMS: usize = 256;

impl Spare {
    /// Labels of zeros, whose room comes back when they are dropped.
    pub fn zeros(&self, rows: usize, lanes: usize) -> Labels {
        let len = rows * lanes;
        let room = self.rooms().take(len.div_ceil(4));
        let lines = room.unwrap_or_else(|| vec![LINE; len.div_ceil(4)]);
        Labels { lines, len, lanes, home: Some(self.clone()) }
    }

    /// Keeps room that was erased.
    fn keep(&self, room: Vec<Line>) {
        if room.len() <= MOST_LINES {
            let gone = self.rooms().put(room);
            drop(gone);
        }
    }

    fn rooms(&self) -> MutexGuard<'_, Rooms> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rooms {
    /// The latest room of this size, which is likely to be in the cache.
    fn take(&mut self, lines: usize) -> Option<Vec<Line>> {
        let at = self.rooms.iter().rposition(|room| room.len() == lines)?;
        self.lines -= lines;
        self.rooms.remove(at)
    }

    /// Adds a room; the oldest ones that are too many.
    fn put(&mut self, room: Vec<Line>) -> Vec<Vec<Line>> {
        self.lines += room.len();
        self.rooms.push_back(room);
        let mut gone = Vec::new();
        while self.lines > MOST_LINES || self.rooms.len() > MOST_ROOMS {
            let room = self.rooms.pop_front().expect("there are some");
            self.lines -= room.len();
            gone.push(room);
        }
        gone
    }
}

/// A volatile write a word, as of the crate zeroize, would take longer than the gates do.
fn erase(blocks: &mut [Block]) {
    blocks.fill(Block::ZERO);
    std::hint::black_box(blocks);
}

impl Cells for Labels {
    const CELL_BITS: usize = 128;

    fn zeros(rows: usize, lanes: usize) -> Self {
        Labels::some(rows * lanes, lanes)
    }

    fn copy_row(&mut self, to_row: usize, from: &Self, from_row: usize, lanes: &Piece) {
        if from.len == 0 {
            *self = Labels::absent();
        }
        if self.len == 0 {
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

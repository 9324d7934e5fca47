//! Labels of the wires of a tile, and their arithmetic that needs no hash: permute bits, public bits and Δ.

use crate::executor::cells::Cells;
use bytemuck::{Pod, Zeroable};
use circuit::BitMatrix;
use circuit::program::Piece;
use kernels::Block;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// 128-bit labels, wire by wire; erased when dropped.
///
/// Its rows may be *absent*: the labels of the other phase. Copies of absent labels are absent.
pub(crate) struct Labels {
    lines: Vec<CacheLine>,
    len: usize,
    lanes: usize,
    /// Where their buffer goes when they are dropped, unless to the allocator.
    pool: Option<BufferPool>,
}

/// A line of the cache: a register of four labels that lies in two of them takes twice as long to read and longer to write.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([Block; 4]);

const ZEROS: CacheLine = CacheLine([Block::ZERO; 4]);

impl Labels {
    fn some(len: usize, lanes: usize) -> Self {
        Labels { lines: vec![ZEROS; len.div_ceil(4)], len, lanes, pool: None }
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
        if let Some(pool) = self.pool.take() {
            pool.put(std::mem::take(&mut self.lines));
        }
    }
}

/// Erased buffers of dropped labels, for the next ones: to a fresh page the first write takes longer than garbling an AND.
#[derive(Clone, Default)]
pub(crate) struct BufferPool(Arc<Mutex<Buffers>>);

/// The latest buffers last, and how many lines they have.
#[derive(Default)]
struct Buffers {
    buffers: VecDeque<Vec<CacheLine>>,
    lines: usize,
}

/// A pool holds at most 32 MiB in 256 buffers.
const MAX_LINES: usize = 1 << 19;
const MAX_BUFFERS: usize = 256;

impl BufferPool {
    /// Labels of zeros, whose buffer comes back when they are dropped.
    pub fn zeros(&self, rows: usize, lanes: usize) -> Labels {
        let len = rows * lanes;
        let buffer = self.buffers().take(len.div_ceil(4));
        let lines = buffer.unwrap_or_else(|| vec![ZEROS; len.div_ceil(4)]);
        Labels { lines, len, lanes, pool: Some(self.clone()) }
    }

    /// Takes back a buffer that was erased.
    fn put(&self, buffer: Vec<CacheLine>) {
        if buffer.len() <= MAX_LINES {
            let gone = self.buffers().put(buffer);
            drop(gone);
        }
    }

    fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers {
    /// The latest buffer of this size, which is likely to be in the cache.
    fn take(&mut self, lines: usize) -> Option<Vec<CacheLine>> {
        let at = self.buffers.iter().rposition(|buffer| buffer.len() == lines)?;
        self.lines -= lines;
        self.buffers.remove(at)
    }

    /// Adds a buffer; the oldest ones that are too many.
    fn put(&mut self, buffer: Vec<CacheLine>) -> Vec<Vec<CacheLine>> {
        self.lines += buffer.len();
        self.buffers.push_back(buffer);
        let mut gone = Vec::new();
        while self.lines > MAX_LINES || self.buffers.len() > MAX_BUFFERS {
            let buffer = self.buffers.pop_front().expect("there are some");
            self.lines -= buffer.len();
            gone.push(buffer);
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

/// One bit of a packed row.
pub(super) fn bit(row: &[u64], lane: usize) -> bool {
    row[lane / 64] >> (lane % 64) & 1 == 1
}

/// Adds Δ to the labels whose bit is set.
pub(super) fn add_bits(labels: &mut [Block], bits: &[u64], delta: Block) {
    for (labels, &word) in labels.chunks_mut(64).zip(bits) {
        for (lane, label) in labels.iter_mut().enumerate() {
            *label ^= delta & Block::mask(word >> lane & 1 == 1);
        }
    }
}

/// The permute bits of labels.
pub(super) fn low_bits(labels: &Labels, rows: usize, lanes: usize) -> BitMatrix {
    let mut bits = BitMatrix::zeros(rows, lanes);
    for row in 0..rows {
        for (word, labels) in bits.row_mut(row).iter_mut().zip(labels.row(row).chunks(64)) {
            *word = labels.iter().rev().fold(0, |word, label| word << 1 | label.lsb() as u64);
        }
    }
    bits
}

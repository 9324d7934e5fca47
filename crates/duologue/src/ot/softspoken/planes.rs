//! The planes of a chunk: expanded from the leaf keys, corrected, and transposed into the columns that are the COTs.

use kernels::{Block, planes::Leaves, transpose};
use zeroize::Zeroize;

use super::lengths::Shape;
use super::{CHUNK, PLANES, STRIDE, TILE};
use crate::ot::CotSlice;

/// Tiles turned into columns at a time: 16 kB, which stay in the first-level cache until they are hashed.
const PIECE: usize = 8;

/// A thread's memory for one chunk: the planes, and what they are made from.
pub(super) struct Scratch {
    /// Plane i is at i·STRIDE.
    pub rows: Vec<Block>,
    choices: [Block; CHUNK],
    /// The sum of a group's leaves, or its corrections.
    sum: [Block; CHUNK],
    columns: Vec<Block>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let (rows, columns) = (vec![Block::ZERO; PLANES * STRIDE], vec![Block::ZERO; PIECE * TILE]);
        Scratch { rows, choices: [Block::ZERO; CHUNK], sum: [Block::ZERO; CHUNK], columns }
    }

    /// Expands the receiver's planes, and writes its corrections.
    pub(super) fn expand_all(&mut self, trees: &[Leaves], first: u64, tiles: usize, c: &mut [u8]) {
        let Scratch { rows, choices, sum, .. } = self;
        let mut plane = 0;
        let (zeroth, others) = trees.split_first().expect("there is a group");
        zeroth.all(first, tiles, rows, STRIDE, choices);
        for (leaves, c) in others.iter().zip(c.chunks_exact_mut(tiles * 16)) {
            plane += zeroth.k();
            leaves.all(first, tiles, &mut rows[plane * STRIDE..], STRIDE, sum);
            let (c, _) = c.as_chunks_mut();
            for (c, (&sum, &b)) in c.iter_mut().zip(sum.iter().zip(&*choices)) {
                *c = (sum ^ b).to_bytes();
            }
        }
        rows[..tiles].copy_from_slice(&choices[..tiles]);
    }

    /// Expands the sender's planes from its punctured trees and the receiver's corrections.
    pub(super) fn expand_punctured(
        &mut self,
        shape: Shape,
        trees: &[Leaves],
        delta: Block,
        first: u64,
        tiles: usize,
        c: &[u8],
    ) {
        let Scratch { rows, sum, .. } = self;
        let mut c = c.chunks_exact(tiles * 16);
        for (group, leaves) in trees.iter().enumerate() {
            let correction = (group > 0).then(|| {
                let c = c.next().expect("the length was checked");
                bytemuck::cast_slice_mut(&mut sum[..tiles]).copy_from_slice(c);
                &sum[..]
            });
            let (rows, bits) = (&mut rows[group * shape.k * STRIDE..], shape.delta(delta, group));
            leaves.all_but_first(first, tiles, rows, STRIDE, bits, correction);
        }
        rows[..tiles].fill(Block::ZERO);
    }

    /// Fills the slice with the columns of the planes, a piece at a time; where the batch keeps the blocks themselves,
    /// they are written there directly.
    pub(super) fn columns(&mut self, mut slice: CotSlice, fill: impl Fn(CotSlice, &[Block])) {
        let mut tile = 0;
        if let Some(room) = slice.blocks_mut() {
            tile = room.len() / TILE;
            transpose::columns_streaming(&self.rows, STRIDE, &mut room[..tile * TILE]);
            slice = slice.split(tile * TILE).1;
        }
        while !slice.is_empty() {
            let (piece, rest) = slice.split_at_most(PIECE * TILE);
            let columns = &mut self.columns[..piece.len().next_multiple_of(TILE)];
            transpose::columns(&self.rows[tile..], STRIDE, columns);
            let count = piece.len();
            fill(piece, &columns[..count]);
            (slice, tile) = (rest, tile + PIECE);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.choices.zeroize();
        self.sum.zeroize();
        self.columns.zeroize();
    }
}

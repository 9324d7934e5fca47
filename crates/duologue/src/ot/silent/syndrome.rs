//! A dual round of either side: the outputs are the syndrome of the noise, so all trees are grown before the first.
//!
//! In three steps, each shared among threads by the segments of the code: the trees are grown, summed for the check and
//! convolved while they are in the cache; each segment is permuted and convolved again; outputs are gathered. One salt
//! serves the whole round, as every output hangs on every tree.

use std::iter;

use kernels::syndrome::{SEGMENTS, SyndromeCode};
use kernels::{Block, pages};
use zeroize::{Zeroize, Zeroizing};

use super::round::{Base, Memory, RoundContext, Worker, share};
use super::sets::PIECE;
use super::tree;
use crate::ot::{CotBatch, CotSlice};

/// Runs the sender's round: writes the corrections and returns V without x'.
pub(super) fn send(
    context: &RoundContext,
    code: &SyndromeCode,
    delta: Block,
    roots: &[Block],
    memory: Memory,
    batch: Option<&mut CotBatch>,
    corrections: &mut [u8],
) -> Block {
    let (base, depth) = (Base::new(&context.round, memory.base), context.round.depth);
    let mut sums = vec![Block::ZERO; context.round.trees];
    let trees = roots.iter().zip(base.trees.chunks_exact(depth)).zip(corrections.chunks_exact_mut(16 * depth));
    convolve(context, code, memory.leaves, trees.zip(&mut sums), |worker, number, (((&root, q), corrections), sum)| {
        let leaves = tree::grow(&worker.hash, &mut worker.levels, [root, delta], q, corrections);
        let [_, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        leaves
    });
    let salt = context.transcript.salt(corrections);
    gather(context, code, memory.leaves, batch, memory.next, |slice, q| slice.fill_sender(salt, delta, q));
    let sum = context.transcript.sum(corrections, &sums, base.masks);
    sums.zeroize();
    sum
}

/// Runs the receiver's round: returns x' and W.
pub(super) fn receive(
    context: &RoundContext,
    code: &SyndromeCode,
    memory: Memory,
    batch: Option<&mut CotBatch>,
    corrections: &[u8],
) -> [Block; 2] {
    let (base, depth) = (Base::new(&context.round, memory.base), context.round.depth);
    let [mut sums, mut lacking] = [0, 1].map(|_| vec![Block::ZERO; context.round.trees]);
    let trees = base.trees.chunks_exact(depth).zip(corrections.chunks_exact(16 * depth));
    let trees = trees.zip(sums.iter_mut().zip(&mut lacking));
    convolve(context, code, memory.leaves, trees, |worker, number, ((t, corrections), (sum, lacking))| {
        let (alpha, leaves) = tree::regrow(&worker.hash, &mut worker.levels, t, corrections);
        let [_, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        *lacking = worker.weights.weight(alpha, leaves.len());
        leaves
    });
    let transcript = context.transcript;
    let salt = transcript.salt(corrections);
    gather(context, code, memory.leaves, batch, memory.next, |slice, t| slice.fill_receiver(salt, t));
    let masked = transcript.masked(corrections, &lacking, base.masks);
    let sum = transcript.sum(corrections, &sums, base.masks);
    [sums, lacking].zeroize();
    [masked, sum]
}

/// Grows the trees and convolves them twice: `grow` returns the leaves of a tree.
fn convolve<T: Send>(
    context: &RoundContext,
    code: &SyndromeCode,
    vector: &mut Vec<Block>,
    trees: impl Iterator<Item = T>,
    grow: impl for<'w> Fn(&'w mut Worker, usize, T) -> &'w mut [Block] + Sync,
) {
    let (all, of_a_segment) = (context.round.trees * context.round.leaves(), context.round.trees / SEGMENTS);
    if vector.capacity() < all {
        // The earlier outputs are sums of it.
        vector.zeroize();
        *vector = pages::with_room(all);
    }
    vector.resize(all, Block::ZERO);
    let mut trees = trees.enumerate();
    let segments = code.rows(vector).into_iter().map(|rows| (rows, trees.by_ref().take(of_a_segment).collect()));
    let segments: Vec<(_, Vec<(usize, T)>)> = segments.collect();
    share(
        context.threads,
        segments.into_iter().enumerate(),
        || Worker::new(context),
        |worker, (segment, work)| {
            let ((mut rows, trees), mut convolution) = (work, code.first());
            for (number, tree) in trees {
                code.spread(&mut convolution, segment, grow(worker, number, tree), &mut rows);
            }
        },
    );
    let copy = || Zeroizing::new(vec![Block::ZERO; code.segment()]);
    share(context.threads, vector.chunks_mut(code.segment()).enumerate(), copy, |copy, (segment, elements)| {
        code.second(segment, elements, copy);
    });
}

/// Makes the outputs: first those of the batch, then the next round's base.
fn gather(
    context: &RoundContext,
    code: &SyndromeCode,
    vector: &[Block],
    batch: Option<&mut CotBatch>,
    next: &mut [Block],
    fill: impl Fn(CotSlice, &[Block]) + Sync,
) {
    let slices = batch.map_or(Vec::new(), |batch| batch.slices(PIECE));
    let pieces = slices.into_iter().map(Ok).chain(next.chunks_mut(PIECE).map(Err));
    let made = || Zeroizing::new([Block::ZERO; PIECE]);
    share(context.threads, iter::zip((0..).step_by(PIECE), pieces), made, |made, (from, piece)| {
        code.outputs_from(from, vector, &mut made[..]);
        match piece {
            Ok(slice) => fill(slice, &made[..]),
            Err(next) => next.copy_from_slice(&made[..next.len()]),
        }
    });
}

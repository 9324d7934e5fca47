//! A round of either side, tree by tree: each tree is grown, summed for the check, encoded and written to its
//! destination while it is in the cache. A dual round is in `syndrome.rs`.

use kernels::{Block, tree::TreeHash};
use zeroize::Zeroize;

use super::check::{Transcript, TreeHasher, TreeSum};
use super::code::Code;
use super::sets::{MASKS, Round};
use super::syndrome;
use super::tree::{self, Levels};
use crate::ot::{CotBatch, CotSlice};
use crate::threads::Threads;

/// The public parameters of a round.
pub(super) struct RoundContext<'a> {
    pub code: &'a Code,
    pub round: Round,
    pub number: u64,
    pub transcript: &'a Transcript,
    pub threads: &'a Threads,
}

/// The memory of a round.
pub(super) struct Memory<'a> {
    pub base: &'a [Block],
    pub next: &'a mut [Block],
    /// For all leaves of a dual round; kept for the next.
    pub leaves: &'a mut Vec<Block>,
}

/// The base of a round: the COTs that it uses up, as one side holds them.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    secret: &'a [Block],
    pub trees: &'a [Block],
    pub masks: &'a [Block],
}

/// The memory and hashers of a thread, which serve one tree after another.
pub(super) struct Worker {
    pub hash: TreeHash,
    pub levels: Levels,
    pub transcript: TreeHasher,
    pub weights: TreeSum,
}

/// The memory for the outputs of a tree.
enum Destination<'a> {
    Output(CotSlice<'a>),
    /// The next round's base; the last may have room for fewer than come.
    Next(&'a mut [Block]),
}

/// Runs the sender's round: writes the corrections and returns V without x'.
pub(super) fn send(
    context: &RoundContext,
    delta: Block,
    roots: &[Block],
    Memory { base, next, leaves }: Memory,
    batch: Option<&mut CotBatch>,
    corrections: &mut [u8],
) -> Block {
    if let Some(code) = context.code.syndrome(&context.round) {
        return syndrome::send(context, code, delta, roots, Memory { base, next, leaves }, batch, corrections);
    }
    let (base, depth) = (Base::new(&context.round, base), context.round.depth);
    let mut sums = vec![Block::ZERO; context.round.trees];
    let trees = destinations(&context.round, batch, next).into_iter().zip(corrections.chunks_exact_mut(16 * depth));
    let trees = trees.zip(&mut sums).zip(roots.iter().zip(base.trees.chunks_exact(depth))).enumerate();
    context.share(trees, |worker, (number, (((destination, corrections), sum), (&root, q)))| {
        let leaves = tree::grow(&worker.hash, &mut worker.levels, [root, delta], q, corrections);
        let [salt, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        context.code.add(context.number, number * leaves.len(), base.secret, leaves);
        match destination {
            Destination::Output(slice) => slice.fill_sender(salt, delta, leaves),
            Destination::Next(next) => next.copy_from_slice(&leaves[..next.len()]),
        }
    });
    let sum = context.transcript.sum(corrections, &sums, base.masks);
    sums.zeroize();
    sum
}

/// Runs the receiver's round: returns x' and W.
pub(super) fn receive(
    context: &RoundContext,
    Memory { base, next, leaves }: Memory,
    batch: Option<&mut CotBatch>,
    corrections: &[u8],
) -> [Block; 2] {
    if let Some(code) = context.code.syndrome(&context.round) {
        return syndrome::receive(context, code, Memory { base, next, leaves }, batch, corrections);
    }
    let (base, depth) = (Base::new(&context.round, base), context.round.depth);
    let [mut sums, mut lacking] = [0, 1].map(|_| vec![Block::ZERO; context.round.trees]);
    let trees = destinations(&context.round, batch, next).into_iter().zip(corrections.chunks_exact(16 * depth));
    let trees = trees.zip(sums.iter_mut().zip(&mut lacking)).zip(base.trees.chunks_exact(depth)).enumerate();
    context.share(trees, |worker, (number, (((destination, corrections), (sum, lacking)), t))| {
        let (alpha, leaves) = tree::regrow(&worker.hash, &mut worker.levels, t, corrections);
        let [salt, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        *lacking = worker.weights.weight(alpha, leaves.len());
        context.code.add(context.number, number * leaves.len(), base.secret, leaves);
        match destination {
            Destination::Output(slice) => slice.fill_receiver(salt, leaves),
            Destination::Next(next) => next.copy_from_slice(&leaves[..next.len()]),
        }
    });
    let transcript = context.transcript;
    let masked = transcript.masked(corrections, &lacking, base.masks);
    let sum = transcript.sum(corrections, &sums, base.masks);
    [sums, lacking].zeroize();
    [masked, sum]
}

impl RoundContext<'_> {
    /// Shares the trees among the threads, one at a time.
    fn share<T: Send>(&self, trees: impl Iterator<Item = T> + Send, each: impl Fn(&mut Worker, T) + Sync) {
        share(self.threads, trees, || Worker::new(self), each);
    }
}

/// Shares items among threads, one at a time; every thread that gets one makes itself a worker.
pub(super) fn share<W: Send, T>(
    threads: &Threads,
    items: impl Iterator<Item = T> + Send,
    worker: impl Fn() -> W + Sync,
    each: impl Fn(&mut W, T) + Sync,
) {
    let mut workers: Vec<Option<W>> = (0..threads.count()).map(|_| None).collect();
    threads.share(&mut workers, items, |made, item| each(made.get_or_insert_with(&worker), item));
}

impl Worker {
    pub(super) fn new(context: &RoundContext) -> Self {
        Worker {
            hash: TreeHash::new(context.transcript.tree_key()),
            levels: Levels::new(context.round.depth),
            transcript: context.transcript.trees_hasher(),
            weights: TreeSum::new(),
        }
    }
}

impl<'a> Base<'a> {
    pub(super) fn new(round: &Round, base: &'a [Block]) -> Self {
        let (secret, rest) = base.split_at(round.secret());
        let (trees, masks) = rest.split_at(round.trees * round.depth);
        assert_eq!(masks.len(), MASKS, "the base of another round");
        Base { secret, trees, masks }
    }
}

/// The destinations of all trees in order: first the batch, then the next round's base.
fn destinations<'a>(round: &Round, batch: Option<&'a mut CotBatch>, next: &'a mut [Block]) -> Vec<Destination<'a>> {
    let slices = batch.map_or(Vec::new(), |batch| batch.slices(round.leaves()));
    let destinations = slices.into_iter().map(Destination::Output);
    destinations.chain(next.chunks_mut(round.leaves()).map(Destination::Next)).collect()
}

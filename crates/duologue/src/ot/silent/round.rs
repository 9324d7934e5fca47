//! A round of either side: tree by tree, each grown, summed for the check, coded and handed on while it is in the cache.

use std::sync::{Mutex, PoisonError};

use kernels::{Block, tree::TreeHash};
use zeroize::Zeroize;

use super::check::{Transcript, TreeHasher, TreeSum};
use super::code::Code;
use super::sets::{MASKS, Round};
use super::tree::{self, Levels};
use crate::ot::{Harvest, Slot};

/// What a round has beside its secrets.
pub(super) struct Context<'a> {
    pub code: &'a Code,
    pub round: Round,
    pub number: u64,
    pub transcript: &'a Transcript,
    pub threads: usize,
}

/// The COTs that a round starts from, as one side holds them.
#[derive(Clone, Copy)]
struct Base<'a> {
    secret: &'a [Block],
    trees: &'a [Block],
    masks: &'a [Block],
}

/// What a thread has for one tree after another.
struct Worker {
    hash: TreeHash,
    levels: Levels,
    transcript: TreeHasher,
    weights: TreeSum,
}

/// Where the outputs of a tree go.
enum Bin<'a> {
    Slot(Slot<'a>),
    /// The next round's base; the last may have room for fewer than come.
    Next(&'a mut [Block]),
}

/// The sender's round: writes the corrections, and gives V without x'.
pub(super) fn send(
    context: &Context,
    delta: Block,
    roots: &[Block],
    base: &[Block],
    harvest: Option<&mut Harvest>,
    next: &mut [Block],
    corrections: &mut [u8],
) -> Block {
    let (base, depth) = (Base::new(&context.round, base), context.round.depth);
    let mut sums = vec![Block::ZERO; context.round.trees];
    let trees = bins(&context.round, harvest, next).into_iter().zip(corrections.chunks_exact_mut(16 * depth));
    let trees = trees.zip(&mut sums).zip(roots.iter().zip(base.trees.chunks_exact(depth))).enumerate();
    context.share(trees, |worker, (number, (((bin, corrections), sum), (&root, q)))| {
        let leaves = tree::grow(&worker.hash, &mut worker.levels, [root, delta], q, corrections);
        let [salt, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        context.code.add(context.number, number * leaves.len(), base.secret, leaves);
        match bin {
            Bin::Slot(slot) => slot.sent(salt, delta, leaves),
            Bin::Next(next) => next.copy_from_slice(&leaves[..next.len()]),
        }
    });
    let sum = context.transcript.sum(corrections, &sums, base.masks);
    sums.zeroize();
    sum
}

/// The receiver's round: gives x' and W.
pub(super) fn receive(
    context: &Context,
    base: &[Block],
    harvest: Option<&mut Harvest>,
    next: &mut [Block],
    corrections: &[u8],
) -> [Block; 2] {
    let (base, depth) = (Base::new(&context.round, base), context.round.depth);
    let [mut sums, mut lacking] = [0, 1].map(|_| vec![Block::ZERO; context.round.trees]);
    let trees = bins(&context.round, harvest, next).into_iter().zip(corrections.chunks_exact(16 * depth));
    let trees = trees.zip(sums.iter_mut().zip(&mut lacking)).zip(base.trees.chunks_exact(depth)).enumerate();
    context.share(trees, |worker, (number, (((bin, corrections), (sum, lacking)), t))| {
        let (alpha, leaves) = tree::regrow(&worker.hash, &mut worker.levels, t, corrections);
        let [salt, seed] = worker.transcript.tree(number, corrections);
        worker.weights.seed(seed);
        *sum = worker.weights.sum(leaves);
        *lacking = worker.weights.weight(alpha, leaves.len());
        context.code.add(context.number, number * leaves.len(), base.secret, leaves);
        match bin {
            Bin::Slot(slot) => slot.received(salt, leaves),
            Bin::Next(next) => next.copy_from_slice(&leaves[..next.len()]),
        }
    });
    let transcript = context.transcript;
    let masked = transcript.masked(corrections, &lacking, base.masks);
    let sum = transcript.sum(corrections, &sums, base.masks);
    [sums, lacking].zeroize();
    [masked, sum]
}

impl Context<'_> {
    /// Threads take one tree after the other.
    fn share<T: Send>(&self, trees: impl Iterator<Item = T> + Send, each: impl Fn(&mut Worker, T) + Sync) {
        let trees = Mutex::new(trees);
        let work = || {
            let mut worker = Worker {
                hash: TreeHash::new(self.transcript.tree_key()),
                levels: Levels::new(self.round.depth),
                transcript: self.transcript.trees_hasher(),
                weights: TreeSum::new(),
            };
            let next = || trees.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(tree) = next() {
                each(&mut worker, tree);
            }
        };
        std::thread::scope(|scope| {
            (1..self.threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
    }
}

impl<'a> Base<'a> {
    fn new(round: &Round, base: &'a [Block]) -> Self {
        let (secret, rest) = base.split_at(1 << round.log);
        let (trees, masks) = rest.split_at(round.trees * round.depth);
        assert_eq!(masks.len(), MASKS, "the base of another round");
        Base { secret, trees, masks }
    }
}

/// For each tree where its outputs go: the harvest first.
fn bins<'a>(round: &Round, harvest: Option<&'a mut Harvest>, next: &'a mut [Block]) -> Vec<Bin<'a>> {
    let slots = harvest.map_or(Vec::new(), |harvest| harvest.slots(round.leaves()));
    let bins = slots.into_iter().map(Bin::Slot);
    bins.chain(next.chunks_mut(round.leaves()).map(Bin::Next)).collect()
}

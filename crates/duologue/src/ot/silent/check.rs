//! The consistency check: a random linear sum of all leaves of a round, which the sender shows by a hash.
//!
//! The check of Ferret's single-point COTs (ePrint 2020/924), by Fiat and Shamir. Leaf i of tree τ has the weight
//! χ_{τ,i}. The sender's leaves v and the receiver's w differ in the leaves α_τ, by Δ. With masks x*_i, and blocks
//! z_i = y_i ⊕ x*_i·Δ:
//!
//! ```text
//! receiver   x' = Σ_τ χ_{τ,α_τ} ⊕ Σ X^i·x*_i          W = Σ χ·w ⊕ Σ X^i·z_i
//! sender                                              V = Σ χ·v ⊕ Σ X^i·y_i ⊕ x'·Δ          V = W
//! ```
//!
//! **Weights.** A tree's leaves are cut in pieces of 128; leaf i of piece j of J has ω_τ · a_i · h^(J−1−j), where a
//! and h come from a hash of that tree's corrections, so that a tree is summed while it is in the cache, and ω from a
//! hash of all corrections of the round. ω must be there: without it a sender could search corrections of each of t
//! trees alone and make the errors of all of them cancel, a generalised birthday (Wagner, CRYPTO 2002): with 512
//! lists about 2^13 hashes a list. With it, two different lists of leaves of a tree have different sums but with a
//! chance of (1 + J)·2⁻¹²⁸ for each hash that the sender tries, and different sums of trees different totals but with
//! 2⁻¹²⁸.

use kernels::{
    Block,
    aes::Aes128,
    field::{self, Fold},
};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::sets::MASKS;

/// Leaves of a piece, at most.
const PIECE: usize = 128;

/// The hashes over the messages of a round.
pub(super) struct Transcript {
    /// The id and the number of the round.
    prefix: [u8; 40],
    round: blake3::Hasher,
    fold: blake3::Hasher,
    key: blake3::Hasher,
}

impl Transcript {
    /// The transcript of round `number` of the session and direction `id`.
    pub(super) fn new(id: &[u8; 32], number: u64) -> Self {
        let mut prefix = [0; 40];
        prefix[..32].copy_from_slice(id);
        prefix[32..].copy_from_slice(&number.to_le_bytes());
        let hasher = |context| {
            let mut hasher = blake3::Hasher::new_derive_key(context);
            hasher.update(&prefix);
            hasher
        };
        Transcript {
            prefix,
            round: hasher("duologue v1 silent OT: round"),
            fold: hasher("duologue v1 silent OT: fold"),
            key: hasher("duologue v1 silent OT: key of the trees"),
        }
    }

    /// The key of the hash that grows this round's trees. No other round has it, so that a computation against one
    /// round is of no use against another.
    pub(super) fn tree_key(&self) -> Block {
        halves(self.key.finalize())[0]
    }

    /// The hasher of one tree after another.
    pub(super) fn trees_hasher(&self) -> TreeHasher {
        TreeHasher { hasher: blake3::Hasher::new_derive_key(TREE), prefix: self.prefix }
    }

    /// The weights ω of the trees.
    fn omegas(&self, corrections: &[u8], trees: usize) -> Vec<Block> {
        let [seed, _] = halves(self.round.clone().update(corrections).finalize());
        let mut weights: Vec<Block> = (0..trees as u128).map(Block::new).collect();
        Aes128::new(seed).encrypt(&mut weights);
        weights
    }

    /// The salt of all COTs of a dual round.
    pub(super) fn salt(&self, corrections: &[u8]) -> Block {
        let [_, salt] = halves(self.round.clone().update(corrections).finalize());
        salt
    }

    /// The hash by which the sender shows a sum.
    pub(super) fn hash(&self, sum: Block) -> [u8; 32] {
        *self.fold.clone().update(&sum.to_bytes()).finalize().as_bytes()
    }

    /// The sum of a round: its trees' sums with the weights ω, and of `last`, 128 blocks with the powers of X.
    pub(super) fn sum(&self, corrections: &[u8], trees: &[Block], last: &[Block]) -> Block {
        let mut fold = Fold::new();
        fold.add(&self.omegas(corrections, trees.len()), trees);
        let powers: [Block; MASKS] = std::array::from_fn(|i| Block::new(1 << i));
        fold.add(&powers, last);
        fold.finish()
    }

    /// The message x': the weights of the leaves that the receiver lacks, of which `trees` has all but ω, and the
    /// lowest bits of `last`.
    pub(super) fn masked(&self, corrections: &[u8], trees: &[Block], last: &[Block]) -> Block {
        let mut fold = Fold::new();
        fold.add(&self.omegas(corrections, trees.len()), trees);
        let bits = last.iter().rev().fold(0, |bits, block| bits << 1 | u128::from(block.lsb()));
        fold.finish() ^ Block::new(bits)
    }
}

const TREE: &str = "duologue v1 silent OT: tree";

/// A hasher for one tree after another: it has kilobytes, and is not copied for each.
pub(super) struct TreeHasher {
    hasher: blake3::Hasher,
    prefix: [u8; 40],
}

impl TreeHasher {
    /// The salt of a tree's COTs and the seed of its weights.
    pub(super) fn tree(&mut self, tree: usize, corrections: &[u8]) -> [Block; 2] {
        self.hasher.reset().update(&self.prefix).update(&(tree as u64).to_le_bytes()).update(corrections);
        halves(self.hasher.finalize())
    }
}

fn halves(hash: blake3::Hash) -> [Block; 2] {
    let (halves, _) = hash.as_bytes().as_chunks();
    [halves[0], halves[1]].map(Block::from_bytes)
}

/// The weights of a tree's leaves, without ω; serves one tree after another.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct TreeSum {
    weights: [Block; PIECE],
    h: Block,
}

impl TreeSum {
    pub(super) fn new() -> Self {
        TreeSum { weights: [Block::ZERO; PIECE], h: Block::ZERO }
    }

    /// Draws the weights of a tree from their seed.
    pub(super) fn seed(&mut self, seed: Block) {
        let mut h = [Block::new(PIECE as u128)];
        (0..).zip(&mut self.weights).for_each(|(i, weight)| *weight = Block::new(i));
        let aes = Aes128::new(seed);
        aes.encrypt(&mut self.weights);
        aes.encrypt(&mut h);
        [self.h] = h;
    }

    /// The weighted sum of all leaves.
    pub(super) fn sum(&self, leaves: &[Block]) -> Block {
        leaves.chunks(PIECE).fold(Block::ZERO, |sum, piece| {
            let mut fold = Fold::new();
            fold.add(&[self.h], &[sum]);
            fold.add(&self.weights[..piece.len()], piece);
            fold.finish()
        })
    }

    /// The weight of a leaf of `leaves`, a power of two. Constant-time in the leaf.
    pub(super) fn weight(&self, leaf: u64, leaves: usize) -> Block {
        let pieces = leaves.div_ceil(PIECE) as u64;
        // The pieces after the leaf's own; their number is a power of two.
        let after = (pieces - 1) ^ (leaf / PIECE as u64);
        let power = (0..pieces.ilog2()).rev().fold(Block::new(1), |power, bit| {
            let square = field::mul(power, power);
            let other = field::mul(square, self.h);
            square ^ (Block::mask(after >> bit & 1 == 1) & (square ^ other))
        });
        field::mul(power, select(&self.weights, leaf % PIECE as u64))
    }
}

/// Selects one of the blocks; all are read.
fn select(blocks: &[Block], at: u64) -> Block {
    (0..).zip(blocks).fold(Block::ZERO, |chosen, (i, &block)| {
        // Only 0 − 1 has the highest bit set.
        let here = (at ^ i).wrapping_sub(1) >> 63;
        chosen ^ (Block::new(u128::from(here).wrapping_neg()) & block)
    })
}

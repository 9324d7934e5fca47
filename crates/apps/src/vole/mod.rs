//! Vector oblivious linear evaluation over GF(2¹²⁸): one party gets Δ and a vector b, the other vectors a and c = b + Δ·a. All
//! but c is random.
//!
//! Boyle, Couteau, Gilboa, Ishai: *Compressing vector OLE* (CCS 2018) and, with trees from OTs, Schoppmann, Gascón, Reichert,
//! Raykova (CCS 2019): a is the syndrome of noise with one position in each of t blocks, so that c and b are those of vectors
//! that differ at these positions alone. *Few* entries are made without noise.
//!
//! ```text
//! holder of Δ (keeper)                                     holder of a (evaluator)
//!                                                          16 trees of 256 keys, of 8 OTs each; their streams make
//!                                                    ◀──   corrections, u ⊕ y
//! Δ: what the keeper lacks of each tree;                   y random, c = b + Δ·y                        (`base.rs`)
//! t trees, of OTs that it sends;
//! corrections, sums of leaves ⊕ b                    ──▶   all leaves but one of each tree; that one is made
//!                                                          the keeper's + Δ·y                           (`tree.rs`)
//! b: syndrome of the leaves                                c: syndrome of the leaves, a: of the y at their places
//! ```
//!
//! The code is that of silent OT ([`kernels::syndrome`]), and the trees are its half-trees, but with a difference of their own for
//! each, which masks what is sent of b.
//!
//! **Assumes** learning parity over GF(2¹²⁸) with regular noise and a code of our own, whose distance nobody has proven and which
//! nobody has reviewed. As the code is binary, whoever looks at one bit of each entry sees noise at every other of the t places
//! only: so t is 336 and not 144 as in silent OT (`docs/apps/psi.md` has the count). AES with a fixed key as a random permutation.
//! **Security**: semi-honest parties.

mod base;
mod stages;
mod tree;

use duologue::call::Exchange;
use duologue::circuit::Party;
use duologue::correlation::Demand;
use kernels::syndrome::{GROUP, SEGMENTS};
pub use stages::{Evaluator, Keeper, random};

/// Noise positions at least.
const TREES: usize = 336;

/// The number of trees is a multiple of this: in a segment of the code there are whole trees, and a multiple of 192 elements.
const STEP: usize = 3 * SEGMENTS;

/// The least depth of a tree: a step of the code's convolution.
const LEAST_DEPTH: usize = 6;

/// Up to so many entries are made without noise, which takes fewer bytes then.
const FEW: usize = 600;

/// Bytes of a correction for a level of a tree.
const CORRECTION: usize = 32;

/// OTs of the evaluator: a bit of Δ each.
const BASES: usize = base::TREES * base::DEPTH;

/// How so many entries are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Entries.
    pub len: usize,
    noise: Option<Noise>,
}

/// Trees and their depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Noise {
    trees: usize,
    depth: usize,
}

impl Parameters {
    pub fn new(len: usize) -> Parameters {
        Parameters { len, noise: (len > FEW).then(|| Noise::new(len)) }
    }

    /// Entries of the base: as many as there is noise, or all.
    fn base(&self) -> usize {
        self.noise.map_or(self.len, |noise| noise.trees)
    }

    /// The exchanges of the keeper or of the evaluator.
    pub fn exchanges(&self, us: Party, keeper: Party) -> Vec<Exchange> {
        let trees = self.noise.map_or(0, |noise| (noise.trees * noise.depth) as u64);
        let demand = Demand::of_cots(keeper.peer(), BASES as u64);
        let demand = if trees > 0 { [demand, Demand::of_cots(keeper, trees)].into_iter().sum() } else { demand };
        let sends = |by: Party, bytes| if us == by { (bytes, 0) } else { (0, bytes) };
        let exchange = |demand, (sent, read)| Exchange { demand, sent, read };
        let first = exchange(demand, sends(keeper.peer(), base::bytes(self.base())));
        let second = self.noise.map(|noise| exchange(Demand::NONE, sends(keeper, noise.bytes())));
        [first].into_iter().chain(second).collect()
    }
}

impl Noise {
    /// The shallowest trees, and then as few as there must be, whose syndrome has so many entries.
    fn new(len: usize) -> Noise {
        let leaves = 2 * len.next_multiple_of(GROUP);
        let trees = |depth: usize| leaves.div_ceil(1 << depth).next_multiple_of(STEP).max(TREES);
        let depth = (LEAST_DEPTH..).find(|&depth| trees(depth) < 2 * TREES).unwrap_or(LEAST_DEPTH);
        Noise { trees: trees(depth), depth }
    }

    /// Bytes of the keeper's message for a tree: its corrections, and a block.
    fn message(&self) -> usize {
        CORRECTION * self.depth + 16
    }

    fn bytes(&self) -> usize {
        self.trees * self.message()
    }

    /// The number of elements of a segment of the code.
    fn segment(&self) -> usize {
        (self.trees << self.depth) / SEGMENTS
    }
}

#[cfg(test)]
mod tests;

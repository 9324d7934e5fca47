//! GGM trees in the correlated half-tree form, a level at a time, for both who knows a whole tree and who lacks one path.
//!
//! Guo, Yang, Wang, Zhang, Xie, Liu, Zhao: *Half-Tree* (EUROCRYPT 2023, ePrint 2022/1431): the children of a node x
//! are H(x) and H(x) ⊕ x, so that the XOR of a level is the XOR of the level above: one hash for two nodes.
//!
//! A party that lacks the nodes of one path has garbage in their places, and corrects the sibling of the path after each level, when
//! it learns the XOR of that level's left or right nodes. Where that is must not show, so a block is XORed into a place
//! by going over all places ([`Patch`]), on the way of what is done with them anyway.

mod portable;
mod wide;

use crate::backend::Backend;
use crate::block::assert_lengths;
use crate::cipher::aes::{Aes128, Schedule};
use crate::{Block, work};
use wide::{Grow, Seal};

/// A block that is to be XORed into a place that is secret.
#[derive(Clone, Copy)]
pub struct Patch {
    /// The place.
    pub at: u64,
    /// The block that is XORed into it.
    pub block: Block,
}

impl Patch {
    /// Changes nothing.
    pub const NONE: Self = Patch { at: 0, block: Block::ZERO };
}

/// The hash of GGM trees: H(x) = π(σ(x)) ⊕ σ(x), with π = AES under a public key.
///
/// Circular correlation robust in the ideal-cipher model \[Guo, Katz, Wang, Yu: *Efficient and Secure
/// Multiparty Computation from Fixed-Key Block Ciphers*, S&P 2020, ePrint 2019/074\], which the half-tree
/// \[Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023, ePrint 2022/1431\] asks for. Calls under one key
/// share what an attacker computes: p calls of its own against q of ours win with about p·q·2⁻¹²⁷. So every
/// round of trees has its own key, made of public data that no other round has, and q is what one round has.
pub struct TreeHash(pub(crate) Aes128);

impl TreeHash {
    /// The hash under this public key.
    pub fn new(key: Block) -> Self {
        Self::with_backend(key, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(key: Block, backend: Backend) -> Self {
        TreeHash(Aes128::with_backend(key, backend))
    }

    /// H(x) = π(σ(x)) ⊕ σ(x) of every block.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hash(&self, input: &[Block], output: &mut [Block]) {
        assert_lengths(input.len(), [output.len()]);
        self.0.tree(input, output);
    }
}

impl TreeHash {
    /// The next level. The children of parent x, patched, are H(x) and H(x) ⊕ x, side by side. Returns the XOR of all left
    /// children; that of the right ones is it ⊕ the XOR of all parents. Constant-time in the patch.
    ///
    /// # Panics
    /// If there is not room for exactly two children a parent.
    pub fn grow(&self, parents: &[Block], patch: Patch, children: &mut [Block]) -> Block {
        assert_eq!(2 * parents.len(), children.len(), "two children a parent");
        work::count(parents.len());
        match self.0.schedule() {
            Schedule::Wide(cpu, keys) => cpu.run(Grow { keys, parents, patch, children }),
            Schedule::Portable(cipher) => portable::grow(cipher, parents, patch, children),
        }
    }

    /// Clears the lowest bit of every leaf, and then patches two places. Constant-time in the patches.
    pub fn seal(&self, leaves: &mut [Block], patches: [Patch; 2]) {
        self.clear_and_patch(Block::new(1), leaves, patches);
    }

    /// Patches two places. Constant-time in the patches.
    pub fn patch(&self, leaves: &mut [Block], patches: [Patch; 2]) {
        self.clear_and_patch(Block::ZERO, leaves, patches);
    }

    fn clear_and_patch(&self, clear: Block, leaves: &mut [Block], patches: [Patch; 2]) {
        match self.0.schedule() {
            Schedule::Wide(cpu, _) => cpu.run(Seal { clear, leaves, patches }),
            Schedule::Portable(_) => portable::seal(clear, leaves, patches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use crate::cipher::generator::Generator;

    fn random(len: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; len];
        Generator::from_seed(Block::new(9)).fill_blocks(&mut blocks);
        blocks
    }

    const LENGTHS: [usize; 12] = [0, 1, 2, 3, 4, 5, 31, 32, 33, 64, 100, 1024];

    #[test]
    fn every_backend_grows_and_seals_as_written() {
        for backend in Backend::available() {
            let hash = TreeHash::with_backend(Block::new(5), backend);
            for len in LENGTHS {
                for at in [0, len / 2, len.saturating_sub(1), len + 7] {
                    let patch = Patch { at: at as u64, block: Block::new(0xfeed << 77 | 1) };
                    let parents = random(len);
                    let mut children = random(2 * len);
                    let sum = hash.grow(&parents, patch, &mut children);
                    let (mut expect, mut left_sum) = (Vec::new(), Block::ZERO);
                    for (i, &parent) in parents.iter().enumerate() {
                        let parent = if i == at { parent ^ patch.block } else { parent };
                        let mut left = [Block::ZERO];
                        hash.hash(&[parent], &mut left);
                        expect.extend([left[0], left[0] ^ parent]);
                        left_sum ^= left[0];
                    }
                    assert!(children == expect && sum == left_sum, "{backend}, {len} parents, patch at {at}");

                    let mut leaves = parents.clone();
                    let other = Patch { at: 2, block: Block::new(3) };
                    hash.seal(&mut leaves, [patch, other]);
                    for (i, (&leaf, &was)) in leaves.iter().zip(&parents).enumerate() {
                        let one = if i == at { patch.block } else { Block::ZERO };
                        let two = if i == 2 { other.block } else { Block::ZERO };
                        assert!(leaf == was.with_lsb(false) ^ one ^ two, "{backend}, leaf {i} of {len}");
                    }
                    leaves.copy_from_slice(&parents);
                    hash.patch(&mut leaves, [patch, other]);
                    for (i, (&leaf, &was)) in leaves.iter().zip(&parents).enumerate() {
                        let one = if i == at { patch.block } else { Block::ZERO };
                        let two = if i == 2 { other.block } else { Block::ZERO };
                        assert!(leaf == was ^ one ^ two, "{backend}, leaf {i} of {len} patched");
                    }
                }
            }
        }
    }
}

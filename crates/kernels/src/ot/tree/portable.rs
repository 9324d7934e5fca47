//! Levels of GGM trees in plain code.

use super::Patch;
use crate::Block;
use crate::cipher::portable::{Cipher, hash};

pub(crate) fn grow(cipher: &Cipher, parents: &[Block], patch: Patch, children: &mut [Block]) -> Block {
    let mut sum = Block::ZERO;
    for (i, (&parent, pair)) in parents.iter().zip(children.chunks_exact_mut(2)).enumerate() {
        let parent = patched(parent, i, patch);
        let [left] = hash(cipher, [parent]);
        pair.copy_from_slice(&[left, left ^ parent]);
        sum ^= left;
    }
    sum
}

pub(crate) fn seal(clear: Block, leaves: &mut [Block], [one, two]: [Patch; 2]) {
    for (i, leaf) in leaves.iter_mut().enumerate() {
        *leaf = patched(patched(*leaf & !clear, i, one), i, two);
    }
}

fn patched(x: Block, place: usize, patch: Patch) -> Block {
    x ^ (equal(place as u64, patch.at) & patch.block)
}

/// All ones if both are equal, without a branch.
fn equal(a: u64, b: u64) -> Block {
    let difference = std::hint::black_box(a ^ b);
    Block::new(u128::from((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1))
}

//! Single trees: the sender grows a whole one, the receiver all of it but one leaf.
//!
//! Guo, Yang, Wang, Zhang, Xie, Liu, Zhao: *Half-Tree* (EUROCRYPT 2023, ePrint 2022/1431): correlated GGM. The nodes
//! below the root are r and r ⊕ Δ, the children of x are H(x) and H(x) ⊕ x: the XOR of every level is Δ. Of base COT
//! i of the tree, t_i = q_i ⊕ b_i·Δ, the sender sends c_i = q_i ⊕ (XOR of the left nodes of level i), so that t_i ⊕
//! c_i is the XOR of the left or the right nodes as b_i says: the receiver mends a node on that side of level i, and
//! what it lacks lies on the other. The path to the leaf α that it lacks has the bits 1 − b_i.
//!
//! Leaves lose their lowest bit on both sides. Leaf α is made the XOR of the others, which is the sender's ⊕ Δ, and
//! then its lowest bit is set: choices do not depend on what the sender sends.
//!
//! **Constant time**: what the receiver lacks has garbage in its place; all is computed as if it were known, and the
//! two places that change at each level are found by comparing every place, in [`kernels::tree`].

use kernels::{Block, tree::Patch, tree::TreeHash};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Memory for two levels of a tree.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Levels([Vec<Block>; 2]);

impl Levels {
    pub(super) fn new(depth: usize) -> Self {
        Levels([1, 0].map(|above| vec![Block::ZERO; 1 << (depth - above)]))
    }

    /// The two buffers, so that the level of number `depth` ends in the second.
    fn of(&mut self, depth: usize) -> [&mut [Block]; 2] {
        let [one, other] = &mut self.0;
        // Levels go to and fro: the first one's buffer depends on how many there are.
        if depth % 2 == 1 { [one, other] } else { [other, one] }
    }
}

/// Grows the sender's tree: returns its leaves, and writes a correction for each level.
pub(super) fn grow<'a>(
    hash: &TreeHash,
    levels: &'a mut Levels,
    [root, delta]: [Block; 2],
    q: &[Block],
    corrections: &mut [u8],
) -> &'a mut [Block] {
    let (corrections, _) = corrections.as_chunks_mut::<16>();
    let [mut above, mut below] = levels.of(q.len());
    below[..2].copy_from_slice(&[root, root ^ delta]);
    let mut left = root;
    for (level, (&q, correction)) in (1..).zip(q.iter().zip(corrections)) {
        if level > 1 {
            (above, below) = (below, above);
            left = hash.grow(&above[..1 << (level - 1)], Patch::NONE, &mut below[..1 << level]);
        }
        *correction = (q ^ left).to_bytes();
    }
    hash.seal(below, [Patch::NONE; 2]);
    below
}

/// Grows the receiver's tree from the corrections: returns α and the leaves.
pub(super) fn regrow<'a>(
    hash: &TreeHash,
    levels: &'a mut Levels,
    t: &[Block],
    corrections: &[u8],
) -> (u64, &'a mut [Block]) {
    let (corrections, _) = corrections.as_chunks::<16>();
    let [mut above, mut below] = levels.of(t.len());
    below[..2].fill(Block::ZERO);
    // The XOR of the level as it stands, garbage included, the node that is to be mended, and what is lacking.
    let (mut all, mut mend, mut lacking) = (Block::ZERO, Patch::NONE, 0);
    for (level, (&t, &correction)) in (1..).zip(t.iter().zip(corrections)) {
        let mut left = Block::ZERO;
        if level > 1 {
            (above, below) = (below, above);
            left = hash.grow(&above[..1 << (level - 1)], mend, &mut below[..1 << level]);
        }
        let known = u64::from(t.lsb());
        let side = left ^ (Block::mask(t.lsb()) & all);
        mend = Patch { at: 2 * lacking + known, block: side ^ t ^ Block::from_bytes(correction) };
        lacking = 2 * lacking + (1 - known);
        all ^= mend.block;
    }
    mend.block = mend.block.with_lsb(false);
    hash.seal(below, [mend, Patch { at: lacking, block: all.with_lsb(true) }]);
    (lacking, below)
}

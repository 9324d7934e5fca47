//! Half-trees: one party grows a whole one, the other all of it but a leaf that it alone knows the place of.
//!
//! Guo et al., *Half-Tree* (EUROCRYPT 2023, ePrint 2022/1431), as in silent OT; here the two nodes below the root are random, so that
//! the XOR δ of a level, which is that of all levels, is the tree's own and unknown to who lacks the leaf. Of OT i with messages
//! m₀, m₁ the one sends m₀ ⊕ L and m₁ ⊕ L ⊕ δ for the XOR L of the left nodes of level i; the other has the XOR of the side that
//! it chose, mends a node there and lacks one on the other side.
//!
//! To who lacks leaf α it is δ ⊕ the others, and δ looks random: hashes of nodes that it lacks are hashes of δ ⊕ what it knows.
//!
//! **Constant time** in α: what is lacking has garbage in its place, and places are found by going over all of them.

use super::CORRECTION;
use kernels::Block;
use kernels::tree::{Patch, TreeHash};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Memory for two levels of a tree.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Levels([Vec<Block>; 2]);

impl Levels {
    pub fn new(depth: usize) -> Self {
        Levels([1, 0].map(|above| vec![Block::ZERO; 1 << (depth - above)]))
    }

    /// A last level of zeros.
    pub fn zeros(&mut self) -> &mut [Block] {
        self.0[1].fill(Block::ZERO);
        &mut self.0[1]
    }

    /// The two buffers, so that the level of number `depth` ends in the second.
    fn of(&mut self, depth: usize) -> [&mut [Block]; 2] {
        let [one, other] = &mut self.0;
        if depth % 2 == 1 { [one, other] } else { [other, one] }
    }
}

/// A tree of which a leaf was lacking.
pub struct Punctured<'a> {
    /// The place of that leaf.
    pub at: u64,
    pub leaves: &'a mut [Block],
}

/// Grows the whole tree from the nodes below its root, with the messages of an OT for each level; writes the corrections.
pub fn grow<'a>(
    hash: &TreeHash,
    levels: &'a mut Levels,
    roots: [Block; 2],
    [zeros, ones]: [&[Block]; 2],
    corrections: &mut Vec<u8>,
) -> &'a mut [Block] {
    let (depth, all) = (zeros.len(), roots[0] ^ roots[1]);
    let [mut above, mut below] = levels.of(depth);
    below[..2].copy_from_slice(&roots);
    let mut left = roots[0];
    for (level, (&zero, &one)) in (1..).zip(zeros.iter().zip(ones)) {
        if level > 1 {
            (above, below) = (below, above);
            left = hash.grow(&above[..1 << (level - 1)], Patch::NONE, &mut below[..1 << level]);
        }
        corrections.extend((zero ^ left).to_bytes());
        corrections.extend((one ^ left ^ all).to_bytes());
    }
    below
}

/// Grows the tree but for a leaf, with the choices and chosen messages of the same OTs. The leaf that is lacking is made such
/// that `all` is the XOR of all leaves.
pub fn regrow<'a>(
    hash: &TreeHash,
    levels: &'a mut Levels,
    (choices, messages): (&[bool], &[Block]),
    corrections: &[u8],
    all: Block,
) -> Punctured<'a> {
    let [mut above, mut below] = levels.of(messages.len());
    below[..2].fill(Block::ZERO);
    let (mut sum, mut mend, mut lacking) = (Block::ZERO, Patch::NONE, 0);
    let corrections = corrections.as_chunks::<CORRECTION>().0.iter().map(pair);
    for (level, ((&side, &message), [zero, one])) in (1..).zip(choices.iter().zip(messages).zip(corrections)) {
        let mut left = Block::ZERO;
        if level > 1 {
            (above, below) = (below, above);
            left = hash.grow(&above[..1 << (level - 1)], mend, &mut below[..1 << level]);
        }
        let chosen = zero ^ ((zero ^ one) & Block::mask(side));
        let known = left ^ (sum & Block::mask(side));
        mend = Patch { at: 2 * lacking + u64::from(side), block: known ^ message ^ chosen };
        lacking = 2 * lacking + u64::from(!side);
        sum ^= mend.block;
    }
    hash.patch(below, [mend, Patch { at: lacking, block: sum ^ all }]);
    Punctured { at: lacking, leaves: below }
}

fn pair(correction: &[u8; CORRECTION]) -> [Block; 2] {
    let (blocks, _) = correction.as_chunks();
    [blocks[0], blocks[1]].map(Block::from_bytes)
}

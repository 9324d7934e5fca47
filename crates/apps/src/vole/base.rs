//! The base: few entries of VOLE, each by 16 small ones of which Δ has eight bits.
//!
//! Roy, *SoftSpokenOT* (CRYPTO 2022), §3, with values of 128 bits: of 256 keys x = 0 … 255 the evaluator has all, the keeper all but
//! key δ. r_x are their streams, u = Σ r_x and v_j = Σ r_x over the x whose bit j is one. The evaluator sends u ⊕ y; the keeper has
//! v_j ⊕ δ_j·u from its streams alone, and so w_j = v_j ⊕ δ_j·y. With Δ = Σ X^(8g)·δ_g, w and v add up to b and c = b + Δ·y.

use super::tree::{self, Levels, Punctured};
use super::{BASES, CORRECTION};
use kernels::generator::Generator;
use kernels::planes::Leaves;
use kernels::tree::TreeHash;
use kernels::{Block, field};
use zeroize::Zeroizing;

/// Groups of bits of Δ, and so trees.
pub const TREES: usize = 128 / DEPTH;

/// Bits of a group.
pub const DEPTH: usize = 8;

/// Bytes of the corrections of the trees.
const CORRECTIONS: usize = BASES * CORRECTION;

/// Bytes of the evaluator's message for so many entries.
pub fn bytes(len: usize) -> usize {
    CORRECTIONS + 16 * TREES * len
}

/// The evaluator: c for its y. Appends its message. The OTs are those that it sends.
pub fn evaluate(
    hash: &TreeHash,
    [zeros, ones]: [&[Block]; 2],
    y: &[Block],
    random: &mut Generator,
    message: &mut Vec<u8>,
) -> Zeroizing<Vec<Block>> {
    let (mut levels, mut planes) = (Levels::new(DEPTH), Planes::new(y.len()));
    let trees = zeros.chunks(DEPTH).zip(ones.chunks(DEPTH));
    let all: Vec<Leaves> = trees
        .map(|(zeros, ones)| Leaves::new(tree::grow(hash, &mut levels, random_pair(random), [zeros, ones], message)))
        .collect();
    let (mut c, mut sum) =
        (Zeroizing::new(vec![Block::ZERO; y.len()]), Zeroizing::new(vec![Block::ZERO; planes.stride]));
    for (group, leaves) in all.iter().enumerate() {
        leaves.all(0, y.len(), &mut planes.rows, planes.stride, &mut sum);
        planes.add_to(group, &mut c);
        message.extend(sum.iter().zip(y).flat_map(|(&u, &y)| (u ^ y).to_bytes()));
    }
    c
}

/// The keeper: Δ and b. The message has the length that [`bytes`] says; the OTs are those that it receives.
pub fn keep(
    hash: &TreeHash,
    (choices, messages): (&[bool], &[Block]),
    len: usize,
    message: &[u8],
) -> (Block, Zeroizing<Vec<Block>>) {
    let (corrections, values) = message.split_at(CORRECTIONS);
    let (mut levels, mut planes) = (Levels::new(DEPTH), Planes::new(len));
    let (mut delta, mut b) = (0, Zeroizing::new(vec![Block::ZERO; len]));
    let trees = choices.chunks(DEPTH).zip(messages.chunks(DEPTH)).zip(corrections.chunks(DEPTH * CORRECTION));
    for (group, (ots, corrections)) in trees.enumerate() {
        let Punctured { at, leaves } = tree::regrow(hash, &mut levels, ots, corrections, Block::ZERO);
        rename(leaves, at);
        let values = values[16 * len * group..].as_chunks::<16>().0;
        let mut summed = vec![Block::ZERO; planes.stride];
        summed.iter_mut().zip(&values[..len]).for_each(|(to, &value)| *to = Block::from_bytes(value));
        let leaves = Leaves::new(leaves);
        leaves.all_but_first(0, len, &mut planes.rows, planes.stride, at as u8, Some(&summed));
        planes.add_to(group, &mut b);
        delta |= u128::from(at) << (DEPTH * group);
    }
    (Block::new(delta), b)
}

fn random_pair(random: &mut Generator) -> [Block; 2] {
    [random.block(), random.block()]
}

/// Leaf x goes to place x ⊕ `at`, for the secret `at`.
fn rename(leaves: &mut [Block], at: u64) {
    for bit in 0..DEPTH {
        let swap = Block::mask(at >> bit & 1 == 1);
        for one in (0..leaves.len()).filter(|place| place >> bit & 1 == 1) {
            let zero = one ^ 1 << bit;
            let difference = (leaves[one] ^ leaves[zero]) & swap;
            leaves[one] ^= difference;
            leaves[zero] ^= difference;
        }
    }
}

/// The planes of a tree.
struct Planes {
    rows: Zeroizing<Vec<Block>>,
    stride: usize,
}

impl Planes {
    fn new(len: usize) -> Planes {
        let stride = len.next_multiple_of(Leaves::STEP);
        Planes { rows: Zeroizing::new(vec![Block::ZERO; DEPTH * stride]), stride }
    }

    /// Adds the planes of a group, by the place of their bits in Δ.
    fn add_to(&self, group: usize, sums: &mut [Block]) {
        let powers: [Block; DEPTH] = std::array::from_fn(|bit| Block::new(1 << (DEPTH * group + bit)));
        field::add_products(&powers, &self.rows, self.stride, sums);
    }
}

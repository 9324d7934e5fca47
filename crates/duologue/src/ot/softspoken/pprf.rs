//! The trees of SoftSpoken OT: from the k base OTs of a group to 2^k leaf keys, all but one.
//!
//! Goldreich, Goldwasser, Micali; as a puncturable function with base OTs in Schoppmann, Gascón, Reichert, Raykova
//! (CCS 2019), its consistency check by tags in Boyle et al. (CCS 2019), §5, and Roy (CRYPTO 2022), §5. A leaf's
//! number x has k bits; bit i is decided by base OT i of the group, whose keys are m_{i,0} and m_{i,1}. The base OTs'
//! sender, which has both keys, computes the full tree. Their receiver, which has m_{i,Δ_i}, computes the *punctured*
//! tree: all leaves but x = Δ:
//!
//! ```text
//! nodes of depth 1      x = 0 is m_{0,1}, x = 1 is m_{0,0}
//! depth d to d + 1      node x has the children x and x + 2^d: G(node)
//! message               for each d ≥ 1 and both b: mask(m_{d,1-b}) ⊕ the sum of the new nodes with bit d equal to b
//!                       the sum of all tags; for all trees together a hash of the tags
//! leaf                  key ‖ tag = G(node)
//! ```
//!
//! The receiver knows all nodes of depth d but one, so all children but two; its key opens the sum with the one that is
//! off its path. It names nodes by y = x ⊕ Δ, so that the missing one is always y = 0: nothing branches or
//! indexes on Δ. A sender of wrong sums makes the receiver fail unless it has guessed the bits of Δ
//! that are concerned; whatever passes belongs to one list of tags, so to one list of leaves.
//!
//! G is BLAKE3 with a key made of session, direction and k, on (kind, group, depth, x, node).

use blake3::Hasher;
use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use super::lengths::Shape;
use crate::{Error, Result};

const TAG: usize = 32;
// The uses of the tree's function: children of nodes, keys and tags of leaves, masks of sums.
const CHILDREN: u8 = 0;
const LEAF: u8 = 1;
const MASK: u8 = 2;

type Tag = [u8; TAG];

/// Bytes of the message from the base OTs' sender.
pub(super) fn message_len(shape: Shape) -> usize {
    match shape.k {
        1 => 0,
        _ => shape.widths().map(|width| 32 * (width - 1) + TAG).sum::<usize>() + TAG,
    }
}

/// The trees of the base OTs' sender: the leaf keys of each in the order of x. Appends its message to the outbox.
pub(super) fn full_trees(
    id: &[u8; 32],
    shape: Shape,
    pairs: &[[Block; 2]],
    outbox: &mut Vec<u8>,
) -> Vec<Zeroizing<Vec<Block>>> {
    let (grow, mut all_tags) = (Function::new(id, shape), tags_hasher(id));
    let mut trees = Vec::new();
    for (group, pairs) in pairs.chunks(shape.k).enumerate() {
        let grow = |kind, depth, x, node| grow.call(kind, group, depth, x, node);
        let mut nodes = Zeroizing::new(vec![pairs[0][1], pairs[0][0]]);
        for (depth, pair) in pairs.iter().enumerate().skip(1) {
            let [mut zero, mut one] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(2 * nodes.len())));
            for (x, &node) in nodes.iter().enumerate() {
                let [left, right, ..] = blocks(&grow(CHILDREN, depth, x, node));
                zero.push(left);
                one.push(right);
            }
            for (bit, nodes) in [(0, &zero), (1, &one)] {
                let [mask, ..] = blocks(&grow(MASK, depth, 0, pair[1 - bit]));
                outbox.extend_from_slice(&(sum(nodes) ^ mask).to_bytes());
            }
            zero.extend_from_slice(&one);
            nodes = zero;
        }
        let (keys, tags) = leaves(&nodes, |x, node| grow(LEAF, pairs.len(), x, node));
        if shape.k > 1 {
            outbox.extend_from_slice(&tags.iter().fold([0; TAG], xor));
            all_tags.update(tags.as_flattened());
        }
        trees.push(keys);
    }
    if shape.k > 1 {
        outbox.extend_from_slice(all_tags.finalize().as_bytes());
    }
    trees
}

/// The trees of the base OTs' receiver: the leaf keys of each in the order of y = x ⊕ Δ, that of y = 0 being no key.
pub(super) fn punctured_trees(
    id: &[u8; 32],
    shape: Shape,
    delta: Block,
    keys: &[Block],
    mut message: &[u8],
) -> Result<Vec<Zeroizing<Vec<Block>>>> {
    let (grow, mut all_tags) = (Function::new(id, shape), tags_hasher(id));
    let mut trees = Vec::new();
    for (group, own) in keys.chunks(shape.k).enumerate() {
        let grow = |kind, depth, x, node| grow.call(kind, group, depth, x, node);
        let delta = shape.delta(delta, group);
        let bit = |i: usize| delta >> i & 1 == 1;
        let mut nodes = Zeroizing::new(vec![Block::ZERO, own[0]]);
        for (depth, &key) in own.iter().enumerate().skip(1) {
            let [mut near, mut far] = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(2 * nodes.len())));
            let path = usize::from(delta) & ((1 << depth) - 1);
            for (y, &node) in nodes.iter().enumerate() {
                let [left, right, ..] = blocks(&grow(CHILDREN, depth, y ^ path, node));
                let swap = (left ^ right) & Block::mask(bit(depth));
                near.push(left ^ swap);
                far.push(right ^ swap);
            }
            let [zero, one] = [(); 2].map(|()| Block::from_bytes(read(&mut message)));
            let [mask, ..] = blocks(&grow(MASK, depth, 0, key));
            far[0] = sum(&far[1..]) ^ mask ^ one ^ ((zero ^ one) & Block::mask(bit(depth)));
            near.extend_from_slice(&far);
            nodes = near;
        }
        let (keys, mut tags) = leaves(&nodes, |y, node| grow(LEAF, own.len(), y ^ usize::from(delta), node));
        if shape.k > 1 {
            tags[0] = tags[1..].iter().fold(read(&mut message), xor);
            (0..own.len()).for_each(|i| swap_pairs(&mut tags, i, bit(i)));
            all_tags.update(tags.as_flattened());
        }
        trees.push(keys);
    }
    if shape.k > 1 && all_tags.finalize() != read::<TAG>(&mut message) {
        return Err(Error::peer("its trees of OT extension are not consistent"));
    }
    Ok(trees)
}

fn leaves(nodes: &[Block], grow: impl Fn(usize, Block) -> Zeroizing<[u8; 64]>) -> (Zeroizing<Vec<Block>>, Vec<Tag>) {
    let mut keys = Zeroizing::new(Vec::with_capacity(nodes.len()));
    let mut tags = Vec::with_capacity(nodes.len());
    for (x, &node) in nodes.iter().enumerate() {
        let leaf = grow(x, node);
        keys.push(blocks(&leaf)[0]);
        tags.push(leaf[32..].try_into().expect("32 bytes"));
    }
    (keys, tags)
}

fn blocks(bytes: &[u8; 64]) -> [Block; 4] {
    let (blocks, _) = bytes.as_chunks();
    std::array::from_fn(|i| Block::from_bytes(blocks[i]))
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, &block| sum ^ block)
}

fn xor(mut a: Tag, b: &Tag) -> Tag {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// Exchanges the tags whose numbers differ in bit i alone, if `swap` is set; in constant time.
fn swap_pairs(tags: &mut [Tag], i: usize, swap: bool) {
    let mask = u8::from(swap).wrapping_neg();
    for run in tags.chunks_exact_mut(2 << i) {
        let (zero, one) = run.as_flattened_mut().split_at_mut(TAG << i);
        for (a, b) in zero.iter_mut().zip(one) {
            let difference = (*a ^ *b) & mask;
            *a ^= difference;
            *b ^= difference;
        }
    }
}

fn tags_hasher(id: &[u8; 32]) -> Hasher {
    let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: tags");
    hasher.update(id);
    hasher
}

struct Function(Hasher);

impl Function {
    fn new(id: &[u8; 32], shape: Shape) -> Self {
        let mut hasher = Hasher::new_derive_key("duologue v1 SoftSpoken: tree");
        let key = Zeroizing::new(*hasher.update(id).update(&[shape.k as u8]).finalize().as_bytes());
        Function(Hasher::new_keyed(&key))
    }

    /// One compression: 36 bytes in, 64 out.
    fn call(&self, kind: u8, group: usize, depth: usize, x: usize, node: Block) -> Zeroizing<[u8; 64]> {
        let (mut input, mut output) = ([0; 20], Zeroizing::new([0; 64]));
        input[..4].copy_from_slice(&[kind, group as u8, depth as u8, x as u8]);
        input[4..].copy_from_slice(&node.to_bytes());
        self.0.clone().update(&input).finalize_xof().fill(&mut *output);
        input.zeroize();
        output
    }
}

/// Takes N bytes from the front of a message whose length was checked.
fn read<const N: usize>(message: &mut &[u8]) -> [u8; N] {
    let (first, rest) = message.split_first_chunk().expect("the length was checked");
    *message = rest;
    *first
}

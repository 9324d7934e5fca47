//! The relation c = b + Δ·a, between an evaluator and a keeper whose random OTs are dealt.

use super::*;
use crate::vole::tree::{Levels, Punctured};
use kernels::generator::Generator;
use kernels::tree::TreeHash;
use kernels::{Block, field};
use proptest::prelude::*;

fn blocks(count: usize, random: &mut Generator) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    random.fill_blocks(&mut blocks);
    blocks
}

/// Both messages, choices, and chosen messages of random OTs.
fn deal(count: usize, random: &mut Generator) -> ([Vec<Block>; 2], Vec<bool>, Vec<Block>) {
    let (zeros, ones) = (blocks(count, random), blocks(count, random));
    let choices: Vec<bool> = (0..count).map(|_| random.block().lsb()).collect();
    let chosen = choices.iter().enumerate().map(|(i, &choice)| if choice { ones[i] } else { zeros[i] }).collect();
    ([zeros, ones], choices, chosen)
}

#[test]
fn the_base_has_the_relation() {
    for len in [1, 2, 31, 32, 33, 600] {
        let mut random = Generator::from_seed(Block::new(len as u128));
        let (hash, y) = (TreeHash::new(random.block()), blocks(len, &mut random));
        let ([zeros, ones], choices, chosen) = deal(BASES, &mut random);
        let mut message = Vec::new();
        let c = base::evaluate(&hash, [&zeros, &ones], &y, &mut random, &mut message);
        assert_eq!(message.len(), base::bytes(len));
        let (delta, b) = base::keep(&hash, (&choices, &chosen), len, &message);
        assert!(delta != Block::ZERO && (0..len).all(|i| c[i] == b[i] ^ field::mul(delta, y[i])), "{len} entries");
    }
}

/// A leaf is lacking, which may be any, and is made so that the XOR of all is what it is told.
#[test]
fn trees_differ_at_one_leaf() {
    for (seed, depth) in [1, 2, 3, 6, 8, 11].into_iter().enumerate() {
        let mut random = Generator::from_seed(Block::new(seed as u128));
        let (hash, mut levels, mut others) = (TreeHash::new(random.block()), Levels::new(depth), Levels::new(depth));
        for _ in 0..20 {
            let ([zeros, ones], choices, chosen) = deal(depth, &mut random);
            let (roots, all, mut corrections) = ([random.block(), random.block()], random.block(), Vec::new());
            let whole = tree::grow(&hash, &mut levels, roots, [&zeros, &ones], &mut corrections);
            assert!(whole.iter().fold(roots[0] ^ roots[1], |sum, &leaf| sum ^ leaf) == Block::ZERO);
            let Punctured { at, leaves } = tree::regrow(&hash, &mut others, (&choices, &chosen), &corrections, all);
            let path = choices.iter().fold(0, |path, &choice| 2 * path + u64::from(!choice));
            assert_eq!(at, path, "the place is the choices', complemented");
            assert!((0..1 << depth).all(|i| (leaves[i] == whole[i]) == (i as u64 != at)), "depth {depth}");
            assert!(leaves.iter().fold(all, |sum, &leaf| sum ^ leaf) == Block::ZERO);
        }
    }
}

#[test]
fn there_is_noise_enough_and_room_for_all_entries() {
    for len in (0..30).map(|log| 1usize << log).flat_map(|len| [len, len + 1, len * 5 / 4]) {
        let parameters = Parameters::new(len);
        let Some(noise) = parameters.noise else {
            assert!(len <= FEW);
            continue;
        };
        let outputs = SEGMENTS * noise.segment() / 2;
        assert!(
            (TREES..2 * TREES).contains(&noise.trees) && outputs >= len.next_multiple_of(GROUP),
            "{len}: {noise:?}"
        );
        assert!(noise.segment().is_multiple_of(192) && noise.depth >= LEAST_DEPTH, "{len}: {noise:?}");
        assert!(outputs <= len * 5 / 4 || noise.depth == LEAST_DEPTH, "{len}: {noise:?}");
    }
    assert_eq!(TREES, 336, "docs/apps/psi.md counts with it");
}

proptest! {
    /// Whatever the evaluator sends: bytes of the right length are a message, to no avail for the sender, and nothing panics.
    #[test]
    fn the_keeper_survives_any_message(len in 1usize..40, seed: u64) {
        let mut random = Generator::from_seed(Block::new(seed.into()));
        let (_, choices, chosen) = deal(BASES, &mut random);
        let mut message = vec![0; base::bytes(len)];
        random.fill(&mut message);
        let (_, b) = base::keep(&TreeHash::new(random.block()), (&choices, &chosen), len, &message);
        prop_assert_eq!(b.len(), len);
    }
}

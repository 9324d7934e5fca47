//! The fuzz targets on a bounded number of inputs: random bytes, and valid ones that came to harm.

extern crate duologue_he as he;

use kernels::Block;
use kernels::generator::Generator;

#[path = "../../../fuzz/src/bfv.rs"]
mod bfv;
#[path = "../../../fuzz/src/homomorphic.rs"]
mod homomorphic;

/// A random number below `most`.
fn roll(dice: &mut Generator, most: usize) -> usize {
    let mut word = [0];
    dice.words(&mut word);
    word[0] as usize % most.max(1)
}

/// One to three small things happen to the input.
fn harm(dice: &mut Generator, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + roll(dice, 3) {
        let at = roll(dice, bytes.len() + 1);
        let end = at + roll(dice, (bytes.len() - at).min(40) + 1);
        match roll(dice, 6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.extend_from_within(at..end),
            3 => bytes[at..end].fill(0),
            4 => bytes[at..end].fill(0xff),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (end % 8)),
        }
    }
    bytes
}

/// Every seed as it is, then `runs` inputs.
fn run(target: fn(&[u8]), seeds: &[Vec<u8>], runs: usize) {
    let mut dice = Generator::from_seed(Block::new(runs as u128));
    seeds.iter().for_each(|seed| target(seed));
    for turn in 0..runs {
        let mut input = vec![0; roll(&mut dice, 200)];
        dice.fill(&mut input);
        if turn % 8 > 0 {
            let seed = roll(&mut dice, seeds.len());
            input = harm(&mut dice, seeds[seed].clone());
        }
        target(&input);
    }
}

#[test]
fn he_bfv() {
    run(bfv::bfv, &bfv::seeds(), 1500);
}

#[test]
fn he_key() {
    run(homomorphic::key, &homomorphic::keys(), 1500);
}

#[test]
fn he_ciphertexts() {
    run(homomorphic::ciphertexts, &homomorphic::batches(), 2000);
}

#[test]
fn he_packed() {
    run(homomorphic::packed, &homomorphic::plaintexts(), 20_000);
}

#[test]
fn every_target_has_its_file() {
    for name in ["he_bfv", "he_key", "he_ciphertexts", "he_packed"] {
        let file = format!("{}/../../fuzz/fuzz_targets/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        assert!(std::path::Path::new(&file).exists(), "{file}");
    }
}

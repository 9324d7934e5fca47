//! The dual sets: published attacks on a random code of rate one half, and what the structure of ours changes.
//!
//! The noise e has one 1 in each of t blocks; known are N = n/2 sums y of it. In other words: of vectors w of 2N bits
//! that are N blocks' worth of words of a block code, each bit of e is a sum of few bits of w.

use crate::published::*;
use crate::rows::{gauss_within, least_that, sparse_solve, stern_within, tries};
use crate::{Attack, CHECKS, PUBLISHED, SETS, Set, is_on_the_page, least, log2_choose, matrix, names};
use std::fmt::Write;

pub const fn dual(t: f64, depth: i32) -> Set {
    Set { t, k: t * (1u64 << depth) as f64 / 2.0, depth, noisy: 1.0 }
}

const DUAL: [Set; 5] = [dual(144.0, 10), dual(144.0, 11), dual(144.0, 12), dual(144.0, 13), dual(144.0, 14)];

/// Ones of the inverse of both convolutions in sequence, each of five.
pub const INVERSE: f64 = 25.0;
/// The same of two accumulators, whose inverse has two.
const ACCUMULATED: f64 = 4.0;
/// The length of a block, and the elements that a convolution remembers.
pub const BLOCK: f64 = 48.0;
const MEMORY: f64 = 12.0;
/// Ones of a word of the block code, with which the products of Wiedemann are as well as with the rows.
const WORD: f64 = 12.0;
/// Rounds under one code, of which one who attacks all at once needs only one to fall.
const ROUNDS: f64 = 64.0;

/// The share of the blocks that is needed so that rows of `ones` places within them are as many as unknowns and some.
fn share(set: &Set, ones: f64, holds: impl Fn(f64, f64) -> bool) -> f64 {
    least_that(1.0, |a| holds(a, set.n() * a.powf(ones)))
}

fn random_blocks(set: &Set, ones: f64) -> f64 {
    share(set, ones, |a, rows| rows >= a * set.k() + CHECKS)
}

/// No choice of blocks is smaller: the expected number of smaller ones with enough rows is below one.
fn densest_blocks(set: &Set, ones: f64) -> f64 {
    let blocks = set.n() / BLOCK;
    share(set, ones, |a, _| {
        let rows = a * set.k() + CHECKS;
        let enough = rows.log2() - set.n().log2() <= ones * a.log2();
        enough
            || log2_choose(blocks, a * blocks)
                + log2_choose(set.n(), rows)
                + rows * ones * a.log2()
                + (set.n() - rows) * (1.0 - a.powf(ones)).max(1e-300).log2()
                >= 0.0
    })
}

fn gauss(set: &Set, a: f64, ones: f64) -> f64 {
    gauss_within(set, a * set.k(), ones + WORD)
}

fn stern(set: &Set, a: f64, ones: f64) -> f64 {
    stern_within(set, a * set.k(), ones + WORD)
}

/// An interval of each block without noise: what the first convolution makes of it is known but for what it
/// remembers, and so are as many sums of five elements of the second.
fn intervals(set: &Set) -> f64 {
    let unknown = set.k() + MEMORY * set.t + CHECKS;
    tries(set, unknown) + sparse_solve(set.k(), 5.0 + WORD)
}

/// Bits of a linear test by a dual word of relative weight δ.
pub fn linear_test(set: &Set, delta: f64) -> f64 {
    -set.t * (1.0 - 2.0 * set.noisy * delta).log2()
}

/// The relative distance of a random code of rate one half: the entropy of it is one half.
fn gilbert_varshamov() -> f64 {
    let entropy = |x: f64| -x * x.log2() - (1.0 - x) * (1.0 - x).log2();
    let (mut low, mut high) = (1e-9, 0.5);
    for _ in 0..60 {
        let x = (low + high) / 2.0;
        if entropy(x) < 0.5 { low = x } else { high = x }
    }
    low
}

pub const STRUCTURE: [Attack; 8] = [
    ("Linear test, words of a quarter's weight", |s| linear_test(s, 0.25)),
    ("Tries with random blocks, nothing for a try", |s| tries(s, random_blocks(s, INVERSE) * s.k() + CHECKS)),
    ("Gauss in random blocks", |s| gauss(s, random_blocks(s, INVERSE), INVERSE)),
    ("**Stern in random blocks**", |s| stern(s, random_blocks(s, INVERSE), INVERSE)),
    ("Tries with the densest blocks, nothing for a try", |s| tries(s, densest_blocks(s, INVERSE) * s.k() + CHECKS)),
    ("Floor: Gauss in the densest blocks", |s| gauss(s, densest_blocks(s, INVERSE), INVERSE)),
    ("Floor: Stern in the densest blocks", |s| stern(s, densest_blocks(s, INVERSE), INVERSE)),
    ("Intervals without noise", intervals),
];

/// What other codes of this kind would have with the same noise.
const OTHERS: [Attack; 5] = [
    ("Two accumulators: tries with random blocks", |s| tries(s, random_blocks(s, ACCUMULATED) * s.k() + CHECKS)),
    ("Two accumulators: tries with the densest", |s| tries(s, densest_blocks(s, ACCUMULATED) * s.k() + CHECKS)),
    ("Two accumulators: floor, Stern in the densest", |s| stern(s, densest_blocks(s, ACCUMULATED), ACCUMULATED)),
    ("Expand-convolute 7 × 24, once: tries with intervals", |s| expand_convolute(s, 24.0)),
    ("Expand-convolute 7 × 24, twice: tries with intervals", |s| expand_convolute(s, 48.0)),
];

/// Systematic, seven ones a row: a share f of each block of the t/2 that are convolved is without noise, and so what the
/// convolution makes of it known but for what it remembers, 24 bits a block, and 48 if it is followed by another in the same
/// order; f^7 of the sums are of such elements alone, and as many as these bits are needed.
fn expand_convolute(set: &Set, memory: f64) -> f64 {
    let (half, sums) = (set.t / 2.0, set.k());
    let f = ((memory * half + CHECKS) / sums).powf(1.0 / 7.0);
    -half * (1.0 - f).log2() - half * (1.0 - f.powi(7)).log2()
}

pub fn dual_table(sets: &[Set], names: &[&str], bits: &[Vec<f64>]) -> String {
    let mut text = String::from("| t, depth |");
    sets.iter().for_each(|set| write!(text, " {}, {} |", set.t, set.depth).unwrap());
    text += &format!("\n|---|{}\n", "---|".repeat(sets.len()));
    for (name, row) in names.iter().zip(bits) {
        let cells: Vec<String> = row.iter().map(|bits| format!("{bits:.1}")).collect();
        writeln!(text, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    text
}

#[test]
fn against_the_published_estimates_every_dual_set_has_128_bits() {
    let bits = matrix(&DUAL, &PUBLISHED);
    is_on_the_page(&dual_table(&DUAL, &names(&PUBLISHED), &bits));
    let least = least(bits.into_iter().flatten());
    // One who attacks all rounds under a code at once.
    assert!(least - ROUNDS.log2() >= 128.0, "{least}");
}

#[test]
fn against_the_structure_of_the_code_every_dual_set_has_128_bits() {
    let bits = matrix(&DUAL, &STRUCTURE);
    is_on_the_page(&dual_table(&DUAL, &names(&STRUCTURE), &bits));
    // Even where nothing is counted for a try.
    assert!(bits.iter().flatten().all(|&bits| bits - ROUNDS.log2() >= 128.0));
}

/// Why the convolutions are not accumulators, and why there are two: with the same noise these have less.
#[test]
fn other_codes_of_the_kind_would_need_more_noise() {
    let bits = matrix(&DUAL, &OTHERS);
    is_on_the_page(&dual_table(&DUAL, &names(&OTHERS), &bits));
    assert!(bits[1].iter().all(|&bits| bits < 110.0) && bits[3].iter().all(|&bits| bits < 110.0));
}

/// What the distance of a random code alone would give, and the weight that 128 bits ask for.
#[test]
fn words_may_be_a_little_lighter_than_a_quarter() {
    let (set, delta) = (&DUAL[0], gilbert_varshamov());
    assert!((delta - 0.1100).abs() < 1e-4 && (linear_test(set, delta) - 51.6).abs() < 0.1);
    let enough = (1.0 - (-128.0 / set.t).exp2()) / 2.0;
    assert!((enough - 0.23).abs() < 0.001, "{enough}");
    assert!(tries(&SETS[0], 0.0).abs() < 1e-9 && (pooled_gauss(2048.0, 1024.0, 0.0) - 28.0).abs() < 1e-9);
}

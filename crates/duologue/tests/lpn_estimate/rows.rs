//! What the ten ones of a row change: sparse solving, and subsets of the unknowns that hold enough rows.

use crate::{CHECKS, ONES, Set, least, log2_choose, log2_sum, steps};

/// Wiedemann on a sparse system: 3v products with a matrix of so many ones a row, and Berlekamp and Massey.
pub fn sparse_solve(v: f64, ones: f64) -> f64 {
    (3.0 * ones + 2.0).log2() + 2.0 * v.log2()
}

pub fn tries(set: &Set, rows: f64) -> f64 {
    -set.t * (1.0 - set.noisy * rows / set.n()).log2()
}

/// The least number up to `most` for which `holds`, if it holds for all above that.
pub fn least_that(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

/// How many unknowns a random subset needs until it contains that many rows and the checks.
pub fn random_subset(set: &Set) -> f64 {
    least_that(set.k(), |v| set.n() * (v / set.k()).powf(ONES) >= v + CHECKS)
}

/// No subset is smaller than this, however it is sought: the expected number of smaller ones is below one.
pub fn densest_subset(set: &Set) -> f64 {
    least_that(set.k(), |v| {
        let rows = v + CHECKS;
        log2_choose(set.n(), rows) + log2_choose(set.k(), v) + ONES * rows * (v / set.k()).log2() >= 0.0
    })
}

/// Gauss within a subset of v unknowns, in rows of so many ones.
pub fn gauss_within(set: &Set, v: f64, ones: f64) -> f64 {
    tries(set, v + CHECKS) + sparse_solve(v, ones)
}

/// Stern within the subset: p of its rows are noisy, half of them in each half; the checks are found by Wiedemann.
pub fn stern_within(set: &Set, v: f64, ones: f64) -> f64 {
    let rows = v + CHECKS;
    let inside = set.noisy * rows / set.n();
    let cost = |p: f64, l: f64| {
        let noisy = log2_choose(set.t, p) + p * inside.log2() + (set.t - p) * (1.0 - inside).log2();
        let success = noisy + log2_choose(p, p / 2.0) - p;
        let list = log2_choose(rows / 2.0, p / 2.0);
        let word = CHECKS.log2();
        log2_sum(&[word + sparse_solve(v, ones), word + 1.0 + list, word + 2.0 * list - l]) - success
    };
    least(steps(16, 2).flat_map(|p| steps(100, 1).map(move |l| cost(p, l))))
}

/// log2 of the probability that `w` rows add up to zero: every unknown occurs an even number of times.
pub fn rows_cancel(set: &Set, w: f64) -> f64 {
    let k = set.k();
    let term = |i: f64| log2_choose(k, i) - k + 1.0 + ONES * w * (1.0 - 2.0 * i / k).log2();
    // Neighbouring terms hardly differ: every 16th stands for 16.
    log2_sum(&steps((k / 2.0) as u32, 16).map(term).collect::<Vec<_>>()) + 4.0
}

/// The least weight at which dual words are expected to exist.
pub fn dual_distance(set: &Set) -> f64 {
    let (mut low, mut high) = (256.0, set.k());
    while high - low > 1.0 {
        let w = ((low + high) / 2.0).floor();
        if log2_choose(set.n(), w) + rows_cancel(set, w) >= 0.0 { high = w } else { low = w }
    }
    high
}

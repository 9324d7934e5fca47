//! The formulas in the documentation of blocks, at every width for which they are said to hold.
//!
//! Those of adders, comparisons and counts are in `blocks.rs`, of shifts in `shifts.rs`, of division in `division.rs`.

use crate::common::lanes::log;
use circuit::blocks::{self, Goal};
use std::ops::RangeInclusive;

/// Widths, ANDs and depth.
type Formula = (&'static str, Goal, RangeInclusive<u32>, fn(u32) -> u32, fn(u32) -> u32);

fn cost(name: &str, size: &[u32], goal: Goal) -> (u32, u32) {
    let circuit = blocks::find(name).unwrap().circuit(size, goal).unwrap();
    (circuit.and_count() as u32, circuit.depth())
}

const EXACT: [Formula; 10] = [
    ("multiply", Goal::Size, 6..=27, |n| n * n + 2 * n + 5, |n| 2 * n - 1),
    ("multiply_low", Goal::Size, 5..=67, |n| (n * n + 3 * n - 2) / 2, |n| n),
    ("square", Goal::Size, 7..=35, |n| (n * n).div_ceil(2) + n - 3, |n| 2 * n - 3),
    ("mux", Goal::Size, 1..=130, |n| n, |_| 1),
    ("conditional_swap", Goal::Size, 1..=130, |n| n, |_| 1),
    ("minimum", Goal::Size, 1..=130, |n| 2 * n, |n| n + 1),
    ("signed_maximum", Goal::Size, 1..=130, |n| 2 * n, |n| n + 1),
    ("one_hot", Goal::Size, 1..=12, |k| (1 << k) - k - 1, log),
    ("negate", Goal::Size, 2..=130, |n| n - 2, |n| n - 2),
    ("absolute_difference", Goal::Size, 2..=130, |n| 2 * n - 1, |n| 2 * n - 1),
];

#[test]
fn formulas_are_exact() {
    let wrong = |(name, goal, widths, ands, depth): Formula| {
        let differs = move |n: &u32| cost(name, &[*n], goal) != (ands(*n), depth(*n));
        let show =
            move |n| format!("{name}, {n} bits, {goal}: {:?}, not {:?}", cost(name, &[n], goal), (ands(n), depth(n)));
        widths.filter(differs).map(show)
    };
    let wrong: Vec<String> = EXACT.into_iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

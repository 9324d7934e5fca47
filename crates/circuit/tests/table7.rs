//! The formulas of Table 7 of "GMW vs Yao" as upper bounds, at many widths: ℓ bits, n operands, log is ⌈log₂⌉.
//!
//! Its figure 1.25·ℓ·log ℓ for a prefix adder is taken as it stands; products of words of one bit are ANDs.

use crate::common::lanes::log;
use circuit::Circuit;
use circuit::blocks::{self, Goal};

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    blocks::find(name).unwrap().circuit(size, goal).unwrap()
}

/// The Ladner-Fischer adder: size, depth.
fn ladner_fischer(l: u32) -> (u32, u32) {
    (5 * l * log(l) / 4 + l, 2 * log(l) + 1)
}

fn widths() -> impl Iterator<Item = u32> {
    (1..=40).chain([47, 48, 63, 64, 65, 100, 127, 128, 129, 200])
}

/// Asserts that a circuit has no more ANDs and no more layers than the table says.
fn bounded(name: &str, size: &[u32], goal: Goal, (ands, depth): (u32, u32)) {
    let circuit = build(name, size, goal);
    let cost = (circuit.and_count(), circuit.depth());
    assert!(cost.0 <= ands.into() && cost.1 <= depth, "{name}, {size:?}, {goal}: {cost:?}, not {:?}", (ands, depth));
}

#[test]
fn addition() {
    for l in widths() {
        bounded("add", &[l], Goal::Size, (l, l));
        bounded("add_carry", &[l], Goal::Size, (l, l));
        bounded("subtract", &[l], Goal::Size, (l, l));
        bounded("add", &[l], Goal::Depth, ladner_fischer(l));
        bounded("add_carry", &[l], Goal::Depth, ladner_fischer(l));
        let (ands, depth) = ladner_fischer(l);
        bounded("subtract", &[l], Goal::Depth, (ands + l, depth + 1));
    }
}

#[test]
fn sums() {
    for l in widths() {
        let (ands, depth) = ladner_fischer(l + 1);
        bounded("sum", &[3, l], Goal::Depth, (l + ands, depth + 1));
        for n in (2..=9).chain([16, 31, 64]) {
            bounded("sum", &[n, l], Goal::Size, (l * n - l + n - log(n) - 1, log(n) + l - 1));
            let (ands, depth) = ladner_fischer(l + log(n));
            bounded("sum", &[n, l], Goal::Depth, (l * n - 2 * l + n - log(n) + ands, depth + log(n)));
        }
    }
}

#[test]
fn products() {
    for l in widths() {
        bounded("multiply", &[l], Goal::Size, (2 * l * l - l, 2 * l - 1));
        bounded("multiply", &[l], Goal::Depth, (2 * l * l + 5 * l * log(l) / 4 - l + 2, 3 * log(l) + 4));
        bounded("square", &[l], Goal::Size, (l * l - l, (2 * l).saturating_sub(3)));
        let ands = (4 * l * l + 5 * l * log(l)).saturating_sub(6 * l + 8) / 4;
        bounded("square", &[l], Goal::Depth, (ands, 3 * log(l) + 3));
    }
}

#[test]
fn comparison() {
    for l in widths() {
        bounded("equal", &[l], Goal::Size, (l - 1, log(l)));
        for name in ["greater", "greater_or_equal", "signed_greater"] {
            for goal in GOALS {
                bounded(name, &[l], goal, greater(l, goal));
            }
        }
    }
}

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// The sequential and the divide-and-conquer comparison.
fn greater(l: u32, goal: Goal) -> (u32, u32) {
    match goal {
        Goal::Size => (l, l),
        Goal::Depth => (3 * l - log(l) - 2, log(l) + 1),
    }
}

#[test]
fn selection() {
    for l in widths() {
        bounded("mux", &[l], Goal::Size, (l, 1));
        for goal in GOALS {
            let (ands, depth) = greater(l, goal);
            bounded("minimum", &[l], goal, (ands + l, depth + 1));
            bounded("maximum", &[l], goal, (ands + l, depth + 1));
        }
    }
    for (n, l) in (2..=20).chain([33, 64, 100, 257]).flat_map(|n| [1, 2, 5, 8, 16, 31, 42].map(|l| (n, l))) {
        for goal in GOALS {
            let (ands, depth) = greater(l, goal);
            let bound = ((n - 1) * (ands + l + log(n)), log(n) * (depth + 1));
            ["min_index", "max_index"].iter().for_each(|name| bounded(name, &[n, l], goal, bound));
        }
    }
}

#[test]
fn counts() {
    for l in widths().skip(1) {
        bounded("population_count", &[l], Goal::Size, (2 * l - log(l) - 2, log(l)));
        bounded("population_count", &[l], Goal::Size, (l - l.count_ones(), log(l)));
    }
}

#[test]
fn distances() {
    for l in widths().skip(1) {
        let (add, add_depth) = ladner_fischer(l);
        let (subtract, subtract_depth) = (add + l, add_depth + 1);
        bounded("manhattan_distance", &[l], Goal::Size, (4 * l + 1, 2 * l + 2));
        let ands = 2 * subtract + l + add + 1;
        bounded("manhattan_distance", &[l], Goal::Depth, (ands, subtract_depth + add_depth + 2));
        bounded("squared_distance", &[l], Goal::Size, (2 * l * l + 6 * l + 2, 3 * l + 2));
        let ands = 2 * l * l + (15 * l / 2 + 2) * log(l) + 11 * l - 5;
        bounded("squared_distance", &[l], Goal::Depth, (ands, 5 * log(l) + 9));
    }
}

//! Distances against integers, and their costs.

use crate::common::lanes::{check, every, mixed};
use circuit::blocks::{self, Goal};
use circuit::{Builder, Circuit, UInt};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

type Gate = fn(&mut Builder, &[UInt], &[UInt], Goal) -> UInt;

fn distance(dimensions: u32, width: u32, goal: Goal, gate: Gate) -> Circuit {
    let mut c = Builder::new("distance");
    let p: Vec<UInt> = (0..dimensions).map(|i| c.uint(format!("p{i}"), width)).collect();
    let q: Vec<UInt> = (0..dimensions).map(|i| c.uint(format!("q{i}"), width)).collect();
    let out = gate(&mut c, &p, &q, goal);
    c.output("out", &out);
    c.finish()
}

fn differences(lane: &[u128]) -> impl Iterator<Item = u128> {
    let (p, q) = lane.split_at(lane.len() / 2);
    p.iter().zip(q).map(|(p, q)| p.abs_diff(*q))
}

fn check_all(gate: Gate, reference: fn(&[u128]) -> u128) {
    for goal in GOALS {
        for (dimensions, widths) in [(1, 1..=10), (2, 1..=5), (3, 1..=3), (4, 1..=2), (5, 1..=2)] {
            for width in widths {
                let place = format!("{dimensions} dimensions of {width} bits, {goal}");
                let lanes = every(&vec![width; 2 * dimensions as usize]);
                check(&distance(dimensions, width, goal, gate), &lanes, &place, |lane| [reference(lane)]);
            }
        }
        for (dimensions, width, lanes) in
            [(2, 32, 1 << 20), (2, 16, 1 << 16), (2, 63, 1 << 13), (1, 48, 1 << 13), (3, 33, 1 << 13), (12, 8, 1 << 12)]
        {
            let place = format!("{dimensions} dimensions of {width} bits, {goal}");
            let lanes = mixed(&vec![width; 2 * dimensions as usize], lanes, 7);
            check(&distance(dimensions, width, goal, gate), &lanes, &place, |lane| [reference(lane)]);
        }
    }
}

#[test]
fn manhattan() {
    check_all(blocks::manhattan_distance, |lane| differences(lane).sum());
}

#[test]
fn squared_euclidean() {
    check_all(blocks::squared_distance, |lane| differences(lane).map(|d| d * d).sum());
}

/// At most so many ANDs, at most this depth.
fn bounded(name: &str, n: u32, goal: Goal, ands: u64, depth: u32) {
    let circuit = blocks::find(name).unwrap().circuit(&[n], goal).unwrap();
    let came = (circuit.and_count(), circuit.depth());
    assert!(came.0 <= ands && came.1 <= depth, "{name}, {n} bits, {goal}: {came:?} over {:?}", (ands, depth));
}

#[test]
fn manhattan_costs() {
    for n in 2..=70u32 {
        bounded("manhattan_distance", n, Goal::Size, u64::from(4 * n), 2 * n);
        bounded("manhattan_distance", n, Goal::Depth, u64::from(16 * n), 2 * n.next_power_of_two().ilog2() + 2);
        bounded("absolute_difference", n, Goal::Size, u64::from(2 * n - 1), 2 * n - 1);
        let log = n.next_power_of_two().ilog2();
        // The trees of few bits save nothing.
        let depth = if n > 4 { 2 * log - 1 } else { 2 * log + 1 };
        bounded("absolute_difference", n, Goal::Depth, u64::from(6 * n), depth);
    }
    bounded("manhattan_distance", 16, Goal::Depth, 240, 9);
    bounded("manhattan_distance", 32, Goal::Depth, 494, 11);
    bounded("manhattan_distance", 64, Goal::Depth, 1004, 13);
}

#[test]
fn euclidean_costs_stay_below_table_7() {
    for n in 2..=64u32 {
        let levels = n.next_power_of_two().ilog2();
        let (wide, log) = (u64::from(n), u64::from(levels));
        bounded("squared_distance", n, Goal::Size, 2 * wide * wide + 6 * wide + 2, 3 * n + 2);
        let ands = 2 * wide * wide + (15 * wide / 2 + 2) * log + 11 * wide - 5;
        bounded("squared_distance", n, Goal::Depth, ands, 5 * levels + 9);
    }
}

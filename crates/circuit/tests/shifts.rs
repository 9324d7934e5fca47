//! Shifts, rotations, prefixes and normalisation against integers, and their costs.

use crate::common::lanes::{check, every, log, low, mixed, signed};
use circuit::blocks::{self, Goal};
use circuit::{Bits, Builder, Circuit, Int, UInt};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Left, right, right in two's complement, and both rotations of a word by an amount.
fn shifters(width: u32, amount: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("shifters");
    let (word, by) = (c.uint("word", width), c.uint("by", amount));
    let number = Int(word.0.clone());
    let outs = [
        blocks::shift_left(&mut c, &word, &by, goal),
        blocks::shift_right(&mut c, &word, &by, goal),
        UInt(blocks::shift_right(&mut c, &number, &by, goal).0),
        blocks::rotate_left(&mut c, &word, &by, goal),
        blocks::rotate_right(&mut c, &word, &by, goal),
    ];
    outs.iter().enumerate().for_each(|(i, out)| c.output(format!("out{i}"), out));
    c.finish()
}

fn shifted(word: u128, by: u128, width: u32) -> [u128; 5] {
    let far = by >= width.into();
    let (by, turn) = (by as u32, (by % u128::from(width)) as u32);
    let arithmetic = signed(word, width) >> if far { width - 1 } else { by };
    let left = |by: u32| if by >= width { 0 } else { word << by & low(width) };
    [
        if far { 0 } else { left(by) },
        if far { 0 } else { word >> by },
        arithmetic as u128 & low(width),
        left(turn) | word >> (width - turn).min(127),
        word >> turn | left(width - turn),
    ]
}

#[test]
fn shifts_and_rotations() {
    for goal in GOALS {
        for (width, amount) in (1..=9).flat_map(|width| (1..=6).map(move |amount| (width, amount))) {
            let circuit = shifters(width, amount, goal);
            let place = format!("{width} bits by {amount}, {goal}");
            check(&circuit, &every(&[width, amount]), &place, |lane| shifted(lane[0], lane[1], width));
        }
        for (width, amount, lanes) in
            [(32, 5, 1 << 20), (64, 6, 1 << 16), (64, 9, 1 << 16), (53, 7, 1 << 16), (100, 7, 1 << 14)]
        {
            let circuit = shifters(width, amount, goal);
            let place = format!("{width} bits by {amount}, {goal}");
            check(&circuit, &mixed(&[width, amount], lanes, 1), &place, |lane| shifted(lane[0], lane[1], width));
        }
    }
}

/// The normalised word, its shift, leading zeros, trailing zeros, the OR-prefix.
fn finders(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("finders");
    let word = c.uint("word", width);
    let (moved, count) = blocks::normalise(&mut c, &word, goal);
    let (leading, trailing) = (blocks::leading_zeros(&mut c, &word, goal), blocks::trailing_zeros(&mut c, &word, goal));
    let prefix = Bits(blocks::or_prefix(&mut c, &word.0, goal));
    c.output("moved", &moved);
    for (name, count) in [("count", count), ("leading", leading), ("trailing", trailing)] {
        assert_eq!(count.0.len() as u32, width.ilog2() + 1);
        c.output(name, &count);
    }
    c.output("prefix", &prefix);
    c.finish()
}

fn found(word: u128, width: u32) -> [u128; 5] {
    let leading = word.leading_zeros() + width - 128;
    let trailing = word.trailing_zeros().min(width);
    let moved = if word == 0 { 0 } else { word << leading };
    let prefix = if word == 0 { 0 } else { low(width) ^ low(trailing) };
    [moved, leading.into(), leading.into(), trailing.into(), prefix]
}

#[test]
fn zeros_and_normalisation() {
    for goal in GOALS {
        for width in 1..=18 {
            let place = format!("{width} bits, {goal}");
            check(&finders(width, goal), &every(&[width]), &place, |lane| found(lane[0], width));
        }
        for (width, lanes) in
            [(24, 1 << 16), (32, 1 << 20), (53, 1 << 16), (64, 1 << 16), (106, 1 << 16), (128, 1 << 16)]
        {
            let place = format!("{width} bits, {goal}");
            check(&finders(width, goal), &mixed(&[width], lanes, 2), &place, |lane| found(lane[0], width));
        }
    }
}

type Gate = fn(&mut Builder, &UInt, &UInt, Goal) -> Vec<circuit::Bit>;

fn cost(width: u32, amount: u32, goal: Goal, gate: Gate) -> (u64, u32) {
    let mut c = Builder::new("cost");
    let (word, by) = (c.uint("word", width), c.uint("by", amount));
    let out = Bits(gate(&mut c, &word, &by, goal));
    c.output("out", &out);
    let circuit = c.finish();
    (circuit.and_count(), circuit.depth())
}

const SHIFT: Gate = |c, word, by, goal| blocks::shift_left(c, word, by, goal).0;
const ROTATE: Gate = |c, word, by, goal| blocks::rotate_left(c, word, by, goal).0;
const PREFIX: Gate = |c, word, _, goal| blocks::or_prefix(c, &word.0, goal);
const ZEROS: Gate = |c, word, _, goal| blocks::leading_zeros(c, word, goal).0;
const NORMALISE: Gate = |c, word, _, goal| {
    let (word, count) = blocks::normalise(c, word, goal);
    [word.0, count.0].concat()
};

fn at_most((ands, depth): (u64, u32), bound: (u32, u32), place: &str) {
    assert!(ands <= bound.0.into() && depth <= bound.1, "{place}: {ands} ANDs at depth {depth}, over {bound:?}");
}

#[test]
fn costs_stay_below_their_formulas() {
    for n in (2..=130).chain([255, 256, 257]) {
        let levels = log(n);
        let turns = (0..levels).map(|k| n - gcd(1 << k, n)).sum();
        let sparse = (0..n).map(u32::count_ones).sum();
        for (name, gate, bound) in [
            ("shift", SHIFT, (n * levels, levels)),
            ("rotate", ROTATE, (turns, levels)),
            ("prefix", PREFIX, (n - 1, n - 1)),
            ("zeros", ZEROS, (n - 1, n - 1)),
            ("normalise", NORMALISE, (n * levels + (1 << levels) - levels - 1, levels * (levels + 1) / 2)),
        ] {
            at_most(cost(n, levels, Goal::Size, gate), bound, &format!("{name}, {n} bits, size"));
        }
        for (name, gate, bound) in [("prefix", PREFIX, (sparse, levels)), ("zeros", ZEROS, (sparse, levels))] {
            at_most(cost(n, levels, Goal::Depth, gate), bound, &format!("{name}, {n} bits, depth"));
        }
    }
}

#[test]
fn costs_of_the_main_widths() {
    let bounds: [(Gate, u32, Goal, (u32, u32)); 12] = [
        (SHIFT, 32, Goal::Depth, (196, 3)),
        (SHIFT, 64, Goal::Depth, (535, 3)),
        (SHIFT, 128, Goal::Depth, (1157, 4)),
        (ROTATE, 64, Goal::Size, (321, 6)),
        (ROTATE, 64, Goal::Depth, (604, 3)),
        (NORMALISE, 24, Goal::Size, (146, 15)),
        (NORMALISE, 32, Goal::Size, (186, 15)),
        (NORMALISE, 64, Goal::Size, (441, 21)),
        (NORMALISE, 24, Goal::Depth, (204, 7)),
        (NORMALISE, 32, Goal::Depth, (288, 7)),
        (NORMALISE, 64, Goal::Depth, (850, 8)),
        (NORMALISE, 128, Goal::Depth, (1664, 10)),
    ];
    for (gate, width, goal, bound) in bounds {
        let came = cost(width, log(width), goal, gate);
        at_most(came, bound, &format!("{width} bits, {goal}"));
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if a == 0 { b } else { gcd(b % a, a) }
}

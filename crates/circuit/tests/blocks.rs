//! Every block against integers, every cost formula against the gates that were built.

use crate::common::lanes::{log, low, signed};
use crate::common::{bits_of, number_of};
use circuit::Circuit;
use circuit::blocks::{Goal, find, registry};
use proptest::prelude::*;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// What a block of two operands computes, in numbers: (a, b, width) to its output.
type Meaning = fn(u128, u128, u32) -> u128;

const BINARY: [(&str, Meaning); 7] = [
    ("add", |a, b, n| (a + b) & low(n)),
    ("add_carry", |a, b, _| a + b),
    ("subtract", |a, b, n| a.wrapping_sub(b) & low(n)),
    ("equal", |a, b, _| (a == b).into()),
    ("greater", |a, b, _| (a > b).into()),
    ("greater_or_equal", |a, b, _| (a >= b).into()),
    ("hamming_distance", |a, b, _| (a ^ b).count_ones().into()),
];

fn build(name: &str, width: u32, goal: Goal) -> Circuit {
    find(name).unwrap().circuit(&[width], goal).unwrap()
}

fn apply(circuit: &Circuit, a: u128, b: u128, width: u32) -> u128 {
    number_of(&circuit.evaluate(&[bits_of(a, width), bits_of(b, width)].concat()))
}

#[test]
fn two_operands_exhaustively() {
    for goal in GOALS {
        for width in 1..=5 {
            for (name, meaning) in BINARY {
                let circuit = build(name, width, goal);
                for (a, b) in (0..=low(width)).flat_map(|a| (0..=low(width)).map(move |b| (a, b))) {
                    let place = format!("{name} of {a} and {b}, {width} bits, {goal}");
                    assert_eq!(apply(&circuit, a, b, width), meaning(a, b, width), "{place}");
                }
            }
        }
    }
}

#[test]
fn signed_comparison_exhaustively() {
    for goal in GOALS {
        for width in 1..=5 {
            let circuit = build("signed_greater", width, goal);
            for (a, b) in (0..=low(width)).flat_map(|a| (0..=low(width)).map(move |b| (a, b))) {
                let expected = signed(a, width) > signed(b, width);
                assert_eq!(apply(&circuit, a, b, width), expected.into(), "{a} {b} {width} {goal}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn two_operands_of_any_width(a: u64, b: u64, near in any::<bool>(), width in 1u32..=64) {
        let a = u128::from(a) & low(width);
        let b = if near { a ^ 1 } else { u128::from(b) & low(width) };
        for goal in GOALS {
            for (name, meaning) in BINARY {
                let result = apply(&build(name, width, goal), a, b, width);
                prop_assert_eq!(result, meaning(a, b, width), "{} of {} and {}", name, a, b);
            }
            let result = apply(&build("signed_greater", width, goal), a, b, width);
            prop_assert_eq!(result, u128::from(signed(a, width) > signed(b, width)));
        }
    }

    #[test]
    fn selection(a: u64, b: u64, select: bool, width in 1u32..=64) {
        let circuit = build("mux", width, Goal::Size);
        let input = [vec![select], bits_of(a.into(), width), bits_of(b.into(), width)].concat();
        let chosen = if select { a } else { b };
        prop_assert_eq!(number_of(&circuit.evaluate(&input)), u128::from(chosen) & low(width));
        prop_assert_eq!((circuit.and_count(), circuit.depth()), (width.into(), 1));
    }

    #[test]
    fn sums_of_many(words in prop::collection::vec(any::<u64>(), 1..9), fixed: u64, width in 1u32..=64) {
        for goal in GOALS {
            let mut c = circuit::Builder::new("sum");
            let mut addends: Vec<_> =
                (0..words.len()).map(|i| c.uint(format!("a{i}"), width)).collect();
            addends.push(circuit::UInt::constant(fixed.into(), width));
            let total = circuit::blocks::sum(&mut c, &addends, goal);
            c.output("out", &total);
            let circuit = c.finish();
            let input: Vec<bool> = words.iter().flat_map(|&w| bits_of(w.into(), width)).collect();
            let expected = words.iter().fold(fixed, |sum, &word| sum.wrapping_add(word));
            prop_assert_eq!(number_of(&circuit.evaluate(&input)), u128::from(expected) & low(width));
            let most = words.len() as u64 * u64::from(width - 1);
            prop_assert!(goal == Goal::Depth || circuit.and_count() <= most);
        }
    }
}

/// (name, goal, ANDs, depth) as functions of the width.
type Cost = (&'static str, Goal, fn(u32) -> u64, fn(u32) -> u32);

const COSTS: [Cost; 6] = [
    ("add", Goal::Size, |n| (n - 1).into(), |n| n - 1),
    ("add_carry", Goal::Size, |n| n.into(), |n| n),
    ("subtract", Goal::Size, |n| (n - 1).into(), |n| n - 1),
    ("equal", Goal::Size, |n| (n - 1).into(), log),
    ("greater", Goal::Size, |n| n.into(), |n| n),
    ("signed_greater", Goal::Size, |n| n.into(), |n| n),
];

#[test]
fn costs_stay_below_their_formulas() {
    for (name, goal, ands, depth) in COSTS {
        for width in (1..=70).chain([127, 128, 129, 512]) {
            let circuit = build(name, width, goal);
            let place = format!("{name}, {width} bits, {goal}");
            assert!(circuit.and_count() <= ands(width) && circuit.depth() <= depth(width), "{place}");
        }
    }
}

/// The carry of n bits has degree n + 1 in its operands, so no adder has a layer less.
#[test]
fn shallow_adders_are_the_shallowest() {
    for width in (1..=70).chain([127, 128, 129, 512]) {
        for (name, n) in [("add", width), ("subtract", width), ("add_carry", width + 1)] {
            let circuit = build(name, width, Goal::Depth);
            assert_eq!(circuit.depth(), log(n), "{name}, {width} bits");
            assert!(circuit.and_count() <= u64::from(n * log(n)), "{name}, {width} bits");
        }
    }
}

#[test]
fn counting_ones() {
    for n in (1..=130u32).chain([900]) {
        let circuit = build("population_count", n, Goal::Size);
        let cost = (circuit.and_count(), circuit.depth());
        assert_eq!(cost, (u64::from(n - n.count_ones()), n.ilog2()), "{n} bits");
        for ones in [0, 1, n / 3, n / 2, n - 1, n] {
            // Spread by a stride that is prime to n, so that every position is used.
            let stride = (n / 2..).find(|&s| s > 0 && gcd(s, n) == 1).unwrap();
            let mut input = vec![false; n as usize];
            (0..ones).for_each(|i| input[(i * stride % n) as usize] = true);
            assert_eq!(number_of(&circuit.evaluate(&input)), ones.into(), "{ones} of {n}");
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn the_registry_builds_what_it_lists() {
    let blocks = registry();
    for block in &blocks {
        for &goal in block.goals {
            assert_eq!(block.circuit(&block.usual(), goal).unwrap().name(), block.name);
        }
        for (i, parameter) in block.parameters.iter().enumerate() {
            let mut size = block.usual();
            size[i] = parameter.range.end() + 1;
            assert!(block.circuit(&size, Goal::Size).is_err());
        }
        assert!(block.circuit(&[block.usual(), vec![1]].concat(), Goal::Size).is_err());
        assert_eq!(block.size(&block.label(&block.usual())).unwrap_or_default(), block.usual());
    }
    let mut names: Vec<_> = blocks.iter().map(|block| block.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), blocks.len());
}

#[test]
fn an_unknown_block_names_its_neighbours() {
    let message = |name: &str| find(name).err().unwrap().to_string();
    assert_eq!(message("hamming"), "no block is named 'hamming': did you mean hamming_distance?");
    assert_eq!(message("substract"), "no block is named 'substract': did you mean subtract?");
    assert_eq!(message("teleport"), "no block is named 'teleport'");
}

//! Every block at the corners of its parameters, where tables have one entry and words one bit.

use circuit::blocks::{Block, Goal, divide_signed, find, negate, registry, rotate_left};
use circuit::{Bits, Builder, Simulator, UInt};

/// What a parameter is tried at: the least values, an odd one, and the greatest where it is a mere constant.
fn values(name: &str, low: u32, high: u32) -> Vec<u32> {
    let far = if ["constant", "modulus"].contains(&name) { high } else { low };
    let mut values: Vec<u32> = [low, low + 1, low + 4, far].into_iter().filter(|value| *value <= high).collect();
    values.dedup();
    values.sort_unstable();
    values.dedup();
    values
}

/// All combinations of these values.
fn sizes(block: &Block) -> Vec<Vec<u32>> {
    block.parameters.iter().fold(vec![Vec::new()], |sizes, parameter| {
        let values = values(parameter.name, *parameter.range.start(), *parameter.range.end());
        let longer =
            |size: &Vec<u32>| -> Vec<Vec<u32>> { values.iter().map(|&value| [&size[..], &[value]].concat()).collect() };
        sizes.iter().flat_map(longer).collect()
    })
}

#[test]
fn every_block_is_built_at_its_corners() {
    for block in registry() {
        for size in sizes(&block) {
            for &goal in block.goals {
                let circuit = block.circuit(&size, goal).unwrap();
                assert!(u64::from(circuit.depth()) <= circuit.and_count(), "{} {size:?} for {goal}", block.name);
            }
        }
    }
}

#[test]
fn sizes_beyond_the_range_are_refused() {
    for block in registry() {
        for (i, parameter) in block.parameters.iter().enumerate() {
            let mut size = block.usual();
            let beyond = [parameter.range.start().checked_sub(1), parameter.range.end().checked_add(1)];
            for number in beyond.into_iter().flatten() {
                size[i] = number;
                assert!(block.circuit(&size, block.goals[0]).is_err(), "{} {size:?}", block.name);
            }
        }
    }
}

/// Carries that ripple through all of a word must not be searched for by recursion through its depth.
#[test]
fn the_longest_words_fit_the_stack() {
    for name in ["add", "absolute_difference"] {
        let block = find(name).unwrap();
        let circuit = block.circuit(&[*block.parameters[0].range.end()], Goal::Size).unwrap();
        assert!(circuit.and_count() > 60_000, "{name}");
    }
}

#[test]
fn rotations_by_amounts_of_any_length() {
    for (width, goal) in [(5u32, Goal::Size), (5, Goal::Depth), (8, Goal::Size), (1, Goal::Depth)] {
        let mut c = Builder::new("rotate");
        let (word, amount) = (c.bits("word", width), c.uint("amount", 100));
        let out: Bits = rotate_left(&mut c, &word, &amount, goal);
        c.output("out", &out);
        let amounts: Vec<u128> = (0..100).map(|bit| 1 << bit).chain([(1 << 100) - 1, 77 << 60]).collect();
        let words: Vec<u128> = amounts.iter().map(|amount| amount % 31 % (1 << width)).collect();
        let results = Simulator::new(&c.finish()).numbers(&[&words, &amounts]);
        for (lane, (&word, &amount)) in words.iter().zip(&amounts).enumerate() {
            let by = amount % u128::from(width);
            let expected = (word << by | word >> (u128::from(width) - by)) & ((1 << width) - 1);
            assert_eq!(results[0][lane], expected, "{word} by {amount} of {width} bits for {goal}");
        }
    }
}

#[test]
fn negatives_cost_the_carries_above_the_lowest_bit() {
    for n in 1..=70u32 {
        for goal in [Goal::Size, Goal::Depth] {
            let mut c = Builder::new("negate");
            let a = c.uint("a", n);
            let out: UInt = negate(&mut c, &a, goal);
            c.output("out", &out);
            let circuit = c.finish();
            let (ands, log) = (n.saturating_sub(2), n.max(2).saturating_sub(1).next_power_of_two().ilog2());
            match goal {
                Goal::Size => assert_eq!((circuit.and_count(), circuit.depth()), (ands.into(), ands), "{n} bits"),
                Goal::Depth => assert_eq!(circuit.depth(), log, "{n} bits"),
            }
            let values: Vec<u128> = [0, 1, 2, 3, 1 << (n - 1)].into_iter().filter(|value| value >> n == 0).collect();
            let results = Simulator::new(&circuit).numbers(&[&values]);
            for (&value, &result) in values.iter().zip(&results[0]) {
                assert_eq!(result, value.wrapping_neg() & ((1 << n) - 1), "-{value} in {n} bits for {goal}");
            }
        }
    }
}

/// The sign of a signed quotient waits for a tree, not for a chain.
#[test]
fn signed_division_is_as_shallow_as_unsigned() {
    let mut c = Builder::new("divide");
    let (a, b) = (c.int("a", 128), c.int("b", 128));
    let (quotient, remainder) = divide_signed(&mut c, &a, &b, Goal::Depth);
    c.output("quotient", &quotient);
    c.output("remainder", &remainder);
    let unsigned = find("divide").unwrap().circuit(&[128], Goal::Depth).unwrap();
    assert!(c.finish().depth() <= unsigned.depth() + 16);
}

/// Where the formulas of the documentation begin to hold.
#[test]
fn formulas_hold_from_where_they_are_said_to() {
    let cost = |name: &str, n: u32, goal| {
        let circuit = find(name).unwrap().circuit(&[n], goal).unwrap();
        (circuit.and_count(), circuit.depth())
    };
    let log = |n: u32| n.next_power_of_two().ilog2();
    assert_eq!(cost("square", 32, Goal::Size).0, 541);
    assert_eq!(cost("multiply", 32, Goal::Size).0, 1013);
    assert_eq!(cost("multiply", 4, Goal::Depth).1, 5);
    for n in 4..=67 {
        let (ands, depth) = cost("square_low", n, Goal::Size);
        assert!(4 * ands <= u64::from(n * n) && depth <= n - 3, "square_low of {n} bits: {ands}, {depth}");
    }
    for n in 5..=64 {
        assert!(cost("absolute_difference", n, Goal::Depth).1 < 2 * log(n), "absolute_difference of {n} bits");
    }
    for n in (12..=64).step_by(2) {
        assert!(cost("square_root", n, Goal::Size).1 <= n * n / 8, "square_root of {n} bits");
    }
}

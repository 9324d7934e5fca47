//! Integers.

use super::{BOTH, Block, ONE, binary, block, parameter, relation};
use crate::blocks::{Goal, arithmetic, compare, count};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::{Bits, UInt};

pub(super) fn blocks() -> Vec<Block> {
    vec![
        block("add", "a + b mod 2^n", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| arithmetic::add(c, a, b, goal))
        }),
        block("add_carry", "a + b in n + 1 bits", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| {
                let (sum, carry) = arithmetic::add_carry(c, a, b, goal);
                UInt([sum.0, vec![carry]].concat())
            })
        }),
        block("subtract", "a - b mod 2^n", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| arithmetic::subtract(c, a, b, goal))
        }),
        block("equal", "a = b", ONE, |block, size, _| relation(block, size[0], compare::equal)),
        block("greater", "a > b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::greater(c, a, b, goal))
        }),
        block("greater_or_equal", "a >= b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::greater_or_equal(c, a, b, goal))
        }),
        block("signed_greater", "a > b, two's complement", BOTH, signed_greater),
        Block {
            parameters: vec![parameter("bits counted", 1..=1 << 16, 32)],
            ..block("population_count", "how many bits are one", ONE, population_count)
        },
        block("hamming_distance", "in how many bits a and b differ", ONE, |block, size, _| {
            binary(block, size[0], count::hamming_distance)
        }),
    ]
}

fn signed_greater(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (c.int("a", size[0]), c.int("b", size[0]));
    let out = compare::greater(&mut c, &a, &b, goal);
    c.output("out", &Bits::from(out));
    c.finish()
}

fn population_count(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.bits("a", size[0]);
    let out = count::population_count(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

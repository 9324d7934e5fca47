//! Sums, products, comparisons and counts. An array is one port of its words, the first one in the lowest bits.

use super::ports::{binary, pair, relation, unary, words};
use super::{BOTH, Block, ONE, Parameter, block, parameter};
use crate::blocks::Goal;
use crate::blocks::arithmetic::{compare, count, dot, modular, multiply, sum};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::{Bits, Int, UInt, Word};

pub(super) fn blocks() -> Vec<Block> {
    [sums(), products(), modulo_constants(), comparisons()].into_iter().flatten().collect()
}

fn sized(
    name: &'static str,
    about: &'static str,
    parameters: Vec<Parameter>,
    build: fn(&Block, &[u32], Goal) -> Circuit,
) -> Block {
    Block { parameters, ..block(name, about, BOTH, build) }
}

fn sums() -> Vec<Block> {
    let many = || vec![parameter("count", 1..=1 << 12, 8), parameter("width", 1..=1 << 9, 32)];
    vec![
        block("add", "a + b mod 2^n", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| sum::add(c, a, b, goal))
        }),
        block("add_carry", "a + b in n + 1 bits", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| {
                let (sum, carry) = sum::add_carry(c, a, b, goal);
                UInt([sum.0, vec![carry]].concat())
            })
        }),
        block("subtract", "a - b mod 2^n", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| sum::subtract(c, a, b, goal))
        }),
        block("negate", "-a mod 2^n", BOTH, |block, size, goal| {
            unary(block, size[0], |c, a: &Int| sum::negate(c, a, goal))
        }),
        block("absolute", "|a|, unsigned, of a in two's complement", BOTH, |block, size, goal| {
            unary(block, size[0], |c, a: &Int| sum::absolute(c, a, goal))
        }),
        sized("sum", "the sum of many words, in full width", many(), |block, size, goal| {
            array(block, size, |c, a: &[UInt]| sum::sum_full(c, a, goal))
        }),
        sized("signed_sum", "sum in two's complement", many(), |block, size, goal| {
            array(block, size, |c, a: &[Int]| sum::sum_full(c, a, goal))
        }),
    ]
}

fn products() -> Vec<Block> {
    let width = || vec![parameter("width", 1..=1 << 10, 32)];
    let vectors = || vec![parameter("count", 1..=1 << 8, 16), parameter("width", 1..=1 << 6, 16)];
    let matrices = || {
        let side = |name| parameter(name, 1..=1 << 4, 2);
        vec![side("rows"), side("inner"), side("columns"), parameter("width", 1..=1 << 5, 8)]
    };
    vec![
        sized("multiply", "a * b in 2n bits", width(), |block, size, goal| {
            pair(block, size[0], |c, a: &UInt, b| multiply::multiply(c, a, b, goal))
        }),
        sized("signed_multiply", "multiply in two's complement", width(), |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| multiply::multiply(c, a, b, goal))
        }),
        sized("multiply_low", "a * b mod 2^n", width(), |block, size, goal| {
            pair(block, size[0], |c, a: &UInt, b| multiply::multiply_low(c, a, b, goal))
        }),
        sized("square", "a^2 in 2n bits", width(), |block, size, goal| {
            unary(block, size[0], |c, a: &UInt| multiply::square(c, a, goal))
        }),
        sized("signed_square", "square in two's complement", width(), |block, size, goal| {
            unary(block, size[0], |c, a: &Int| multiply::square(c, a, goal))
        }),
        sized("square_low", "a^2 mod 2^n", width(), |block, size, goal| {
            unary(block, size[0], |c, a: &UInt| multiply::square_low(c, a, goal))
        }),
        sized("dot_product", "the sum of a * b over many words, in full width", vectors(), |block, size, goal| {
            arrays(block, size, |c, a: &[UInt], b| dot::dot_product(c, a, b, goal))
        }),
        sized("signed_dot_product", "dot_product in two's complement", vectors(), |block, size, goal| {
            arrays(block, size, |c, a: &[Int], b| dot::dot_product(c, a, b, goal))
        }),
        sized(
            "matrix_product",
            "the product of two matrices, row by row, in full width",
            matrices(),
            matrix_product::<UInt>,
        ),
        sized("signed_matrix_product", "matrix_product in two's complement", matrices(), matrix_product::<Int>),
        sized(
            "multiply_high",
            "a * b / 2^n rounded down, or too small by less than n",
            width(),
            |block, size, goal| {
                pair(block, size[0], |c, a: &UInt, b| multiply::multiply_high(c, a, b, size[0] as usize, goal))
            },
        ),
    ]
}

fn modulo_constants() -> Vec<Block> {
    let constant = || parameter("constant", 0..=1 << 31, 1_000_003);
    let modulus = || parameter("modulus", 1..=1 << 31, 65_537);
    let width = || parameter("width", 1..=1 << 10, 32);
    vec![
        sized("multiply_constant", "a * k", vec![constant(), width()], |block, size, goal| {
            unary(block, size[1], |c, a: &UInt| modular::multiply_constant(c, a, size[0].into(), goal))
        }),
        sized("signed_multiply_constant", "a * k, two's complement", vec![constant(), width()], |block, size, goal| {
            unary(block, size[1], |c, a: &Int| modular::multiply_constant(c, a, size[0].into(), goal))
        }),
        sized("remainder_constant", "a mod m", vec![modulus(), width()], |block, size, goal| {
            unary(block, size[1], |c, a: &UInt| modular::remainder_constant(c, a, size[0].into(), goal))
        }),
        sized("add_mod", "a + b mod m, for a and b below m", vec![modulus()], |block, size, goal| {
            let m = size[0].into();
            pair(block, modular::width_mod(m) as u32, |c, a: &UInt, b| modular::add_mod(c, a, b, m, goal))
        }),
        sized("multiply_mod", "a * b mod m", vec![modulus()], |block, size, goal| {
            let m = size[0].into();
            pair(block, modular::width_mod(m) as u32, |c, a: &UInt, b| modular::multiply_mod(c, a, b, m, goal))
        }),
        sized("add_constant_mod", "a + k mod m, for a below m", vec![constant(), modulus()], |block, size, goal| {
            let (k, m) = (size[0].into(), size[1].into());
            let width = modular::width_mod(m) as u32;
            unary(block, width, |c, a: &UInt| modular::add_constant_mod(c, a, k, m, goal))
        }),
        sized("multiply_constant_mod", "a * k mod m", vec![constant(), modulus(), width()], |block, size, goal| {
            let (k, m) = (size[0].into(), size[1].into());
            unary(block, size[2], |c, a: &UInt| modular::multiply_constant_mod(c, a, k, m, goal))
        }),
    ]
}

fn comparisons() -> Vec<Block> {
    vec![
        block("equal", "a = b", ONE, |block, size, _| relation(block, size[0], compare::equal)),
        block("greater", "a > b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::greater(c, a, b, goal))
        }),
        block("greater_or_equal", "a >= b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::greater_or_equal(c, a, b, goal))
        }),
        block("signed_greater", "a > b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| Bits::from(compare::greater(c, a, b, goal)))
        }),
        Block {
            parameters: vec![parameter("bits counted", 1..=1 << 16, 32)],
            ..block("population_count", "how many bits are one", ONE, |block, size, _| {
                unary(block, size[0], |c, a: &Bits| count::population_count(c, a))
            })
        },
        block("hamming_distance", "in how many bits a and b differ", ONE, |block, size, _| {
            binary(block, size[0], count::hamming_distance)
        }),
        block("less", "a < b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::less(c, a, b, goal))
        }),
        block("less_or_equal", "a <= b, unsigned", BOTH, |block, size, goal| {
            relation(block, size[0], |c, a, b| compare::less_or_equal(c, a, b, goal))
        }),
        block("signed_greater_or_equal", "a >= b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| Bits::from(compare::greater_or_equal(c, a, b, goal)))
        }),
        block("signed_less", "a < b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| Bits::from(compare::less(c, a, b, goal)))
        }),
        block("signed_less_or_equal", "a <= b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| Bits::from(compare::less_or_equal(c, a, b, goal)))
        }),
    ]
}

fn array<W: Word, V: Word>(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &[W]) -> V) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = words(&mut c, "a", size[0], size[1]);
    let out = gate(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

fn arrays<W: Word, V: Word>(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &[W], &[W]) -> V) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (words(&mut c, "a", size[0], size[1]), words(&mut c, "b", size[0], size[1]));
    let out = gate(&mut c, &a, &b);
    c.output("out", &out);
    c.finish()
}

fn matrix_product<W: Word + Clone>(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let matrix = |c: &mut Builder, name: &str, rows: u32, columns: u32| -> Vec<Vec<W>> {
        words(c, name, rows * columns, size[3]).chunks(columns as usize).map(<[W]>::to_vec).collect()
    };
    let (a, b) = (matrix(&mut c, "a", size[0], size[1]), matrix(&mut c, "b", size[1], size[2]));
    let out = dot::matrix_product(&mut c, &a, &b, goal);
    c.output("out", &Bits(out.iter().flatten().flat_map(|word| word.bits().to_vec()).collect()));
    c.finish()
}

//! Shifts, order, division, square roots and distances of integers. An array is one port of its words, the first one
//! in the lowest bits.

use super::ports::{binary, input, pair, unary, words};
use super::{BOTH, Block, Parameter, block, parameter};
use crate::blocks::Goal;
use crate::blocks::arithmetic::euclidean::euclidean_distance;
use crate::blocks::arithmetic::{distance, divide, shift};
use crate::blocks::selection::order;
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::{Bits, Int, UInt, Word};

pub(super) fn blocks() -> Vec<Block> {
    let sized = |name, about, parameters, build| Block { parameters, ..block(name, about, BOTH, build) };
    let wide = || vec![parameter("width", 1..=1 << 14, 32)];
    let product = || vec![parameter("width", 1..=1 << 9, 32)];
    vec![
        sized("shift_left", "a * 2^by mod 2^n", wide(), |block, size, goal| {
            shifter::<UInt>(block, size, goal, shift::shift_left)
        }),
        sized("shift_right", "a / 2^by, rounded down", wide(), |block, size, goal| {
            shifter::<UInt>(block, size, goal, shift::shift_right)
        }),
        sized("signed_shift_right", "a / 2^by, rounded down, two's complement", wide(), |block, size, goal| {
            shifter::<Int>(block, size, goal, shift::shift_right)
        }),
        sized("rotate_left", "a with its bits rotated up by a secret amount", wide(), |block, size, goal| {
            shifter::<Bits>(block, size, goal, shift::rotate_left)
        }),
        sized("rotate_right", "a with its bits rotated down by a secret amount", wide(), |block, size, goal| {
            shifter::<Bits>(block, size, goal, shift::rotate_right)
        }),
        sized("or_prefix", "bit i is the OR of bits 0 to i", wide(), |block, size, goal| {
            unary(block, size[0], |c, a: &Bits| Bits(shift::or_prefix(c, &a.0, goal)))
        }),
        sized("leading_zeros", "how many zeros stand above the highest one", wide(), |block, size, goal| {
            unary(block, size[0], |c, a: &UInt| shift::leading_zeros(c, a, goal))
        }),
        sized("trailing_zeros", "how many zeros stand below the lowest one", wide(), |block, size, goal| {
            unary(block, size[0], |c, a: &UInt| shift::trailing_zeros(c, a, goal))
        }),
        sized("normalise", "a without its leading zeros, and their number", wide(), normalise),
        block("minimum", "the lesser of a and b, unsigned", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| order::min(c, a, b, goal))
        }),
        block("maximum", "the greater of a and b, unsigned", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| order::max(c, a, b, goal))
        }),
        sized(
            "min_index",
            "the least of many words and its index, the lowest of equals",
            many(),
            |block, size, goal| end::<UInt>(block, size, goal, order::min_index),
        ),
        sized(
            "max_index",
            "the greatest of many words and its index, the lowest of equals",
            many(),
            |block, size, goal| end::<UInt>(block, size, goal, order::max_index),
        ),
        sized("signed_min_index", "min_index in two's complement", many(), |block, size, goal| {
            end::<Int>(block, size, goal, order::min_index)
        }),
        sized("signed_max_index", "max_index in two's complement", many(), |block, size, goal| {
            end::<Int>(block, size, goal, order::max_index)
        }),
        sized(
            "divide",
            "a / b rounded down, and the remainder; by zero: all ones, and a",
            product(),
            |block, size, goal| with_remainder::<UInt>(block, size, goal, divide::divide),
        ),
        sized(
            "signed_divide",
            "a / b rounded to zero, and the remainder; by zero: -1, and a",
            product(),
            |block, size, goal| with_remainder::<Int>(block, size, goal, divide::divide_signed),
        ),
        sized("square_root", "the square root of a rounded down, and a minus its square", product(), square_root),
        block("absolute_difference", "|a - b|, unsigned", BOTH, |block, size, goal| {
            binary(block, size[0], |c, a, b| distance::absolute_difference(c, a, b, goal))
        }),
        sized("manhattan_distance", "|p1 - q1| + |p2 - q2|", wide(), |block, size, goal| {
            between(block, &[2, size[0]], goal, distance::manhattan_distance)
        }),
        sized("manhattan_distance_k", "the sum of |p - q| over k dimensions", points(), |block, size, goal| {
            between(block, size, goal, distance::manhattan_distance)
        }),
        sized("squared_distance", "(p1 - q1)^2 + (p2 - q2)^2", product(), |block, size, goal| {
            between(block, &[2, size[0]], goal, distance::squared_distance)
        }),
        sized("squared_distance_k", "the sum of (p - q)^2 over k dimensions", points(), |block, size, goal| {
            between(block, size, goal, distance::squared_distance)
        }),
        sized(
            "euclidean_distance",
            "the square root of squared_distance, rounded down",
            vec![parameter("width", 1..=1 << 8, 32)],
            |block, size, goal| between(block, &[2, size[0]], goal, euclidean_distance),
        ),
        sized(
            "euclidean_distance_k",
            "the square root of squared_distance_k, rounded down",
            points(),
            |block, size, goal| between(block, size, goal, euclidean_distance),
        ),
        block("signed_minimum", "the lesser of a and b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| order::min(c, a, b, goal))
        }),
        block("signed_maximum", "the greater of a and b, two's complement", BOTH, |block, size, goal| {
            pair(block, size[0], |c, a: &Int, b| order::max(c, a, b, goal))
        }),
        sized("minimum_of", "the least of many words, unsigned", many(), |block, size, goal| {
            of_many(block, size, goal, order::minimum::<UInt>)
        }),
        sized("maximum_of", "the greatest of many words, unsigned", many(), |block, size, goal| {
            of_many(block, size, goal, order::maximum::<UInt>)
        }),
        sized("signed_minimum_of", "minimum_of in two's complement", many(), |block, size, goal| {
            of_many(block, size, goal, order::minimum::<Int>)
        }),
        sized("signed_maximum_of", "maximum_of in two's complement", many(), |block, size, goal| {
            of_many(block, size, goal, order::maximum::<Int>)
        }),
    ]
}

fn many() -> Vec<Parameter> {
    vec![parameter("count", 2..=1 << 12, 16), parameter("width", 1..=1 << 9, 32)]
}

fn points() -> Vec<Parameter> {
    vec![parameter("dimensions", 1..=1 << 8, 12), parameter("width", 1..=1 << 7, 8)]
}

/// The amount has the bits that the places of a word need.
fn shifter<W: Word>(block: &Block, size: &[u32], goal: Goal, gate: fn(&mut Builder, &W, &UInt, Goal) -> W) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = input(&mut c, "a", size[0]);
    let by = c.uint("by", size[0].next_power_of_two().ilog2().max(1));
    let out = gate(&mut c, &a, &by, goal);
    c.output("out", &out);
    c.finish()
}

fn normalise(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.uint("a", size[0]);
    let (out, count) = shift::normalise(&mut c, &a, goal);
    c.output("out", &out);
    c.output("count", &count);
    c.finish()
}

fn of_many<W: Word>(block: &Block, size: &[u32], goal: Goal, gate: fn(&mut Builder, &[W], Goal) -> W) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<W> = words(&mut c, "words", size[0], size[1]);
    let word = gate(&mut c, &words, goal);
    c.output("out", &word);
    c.finish()
}

type End<W> = fn(&mut Builder, &[W], Goal) -> (W, UInt);

fn end<W: Word>(block: &Block, size: &[u32], goal: Goal, gate: End<W>) -> Circuit {
    let mut c = Builder::new(block.name);
    let words: Vec<W> = words(&mut c, "words", size[0], size[1]);
    let (word, index) = gate(&mut c, &words, goal);
    c.output("out", &word);
    c.output("index", &index);
    c.finish()
}

type Divide<W> = fn(&mut Builder, &W, &W, Goal) -> (W, W);

fn with_remainder<W: Word>(block: &Block, size: &[u32], goal: Goal, gate: Divide<W>) -> Circuit {
    let mut c = Builder::new(block.name);
    let [a, b] = ["a", "b"].map(|name| input(&mut c, name, size[0]));
    let (quotient, remainder) = gate(&mut c, &a, &b, goal);
    c.output("quotient", &quotient);
    c.output("remainder", &remainder);
    c.finish()
}

fn square_root(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.uint("a", size[0]);
    let (root, remainder) = divide::square_root(&mut c, &a, goal);
    c.output("root", &root);
    c.output("remainder", &remainder);
    c.finish()
}

type Distance = fn(&mut Builder, &[UInt], &[UInt], Goal) -> UInt;

fn between(block: &Block, size: &[u32], goal: Goal, gate: Distance) -> Circuit {
    let mut c = Builder::new(block.name);
    let [p, q] = ["p", "q"].map(|name| words(&mut c, name, size[0], size[1]));
    let out = gate(&mut c, &p, &q, goal);
    c.output("out", &out);
    c.finish()
}

//! Floating point: arithmetic, comparisons and conversions.

use super::{BOTH, Block, Goal, parameter};
use crate::blocks::float::{self, Float, Format, Mode};
use crate::builder::Builder;
use crate::graph::Circuit;

/// Formats by name: bits of exponent and fraction.
pub(super) const FORMATS: &[(&str, &[u32])] =
    &[("16", &[5, 10]), ("bf16", &[8, 7]), ("32", &[8, 23]), ("42", &[9, 32]), ("64", &[11, 52])];

pub(super) fn blocks() -> Vec<Block> {
    vec![
        float_block("fp_add_ieee", "a + b, IEEE 754", |block, size, goal| {
            binary(block, size, |c, a, b| float::add(c, a, b, Mode::Ieee, goal))
        }),
        float_block("fp_add_flush", "a + b, no denormals, no NaN", |block, size, goal| {
            binary(block, size, |c, a, b| float::add(c, a, b, Mode::Flush, goal))
        }),
        float_block("fp_sub_ieee", "a - b, IEEE 754", |block, size, goal| {
            binary(block, size, |c, a, b| float::subtract(c, a, b, Mode::Ieee, goal))
        }),
        float_block("fp_sub_flush", "a - b, no denormals, no NaN", |block, size, goal| {
            binary(block, size, |c, a, b| float::subtract(c, a, b, Mode::Flush, goal))
        }),
        float_block("fp_mul_ieee", "a * b, IEEE 754", |block, size, goal| {
            binary(block, size, |c, a, b| float::multiply(c, a, b, Mode::Ieee, goal))
        }),
        float_block("fp_mul_flush", "a * b, no denormals, no NaN", |block, size, goal| {
            binary(block, size, |c, a, b| float::multiply(c, a, b, Mode::Flush, goal))
        }),
        float_block("fp_sqr_ieee", "a * a, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::square(c, a, Mode::Ieee, goal))
        }),
        float_block("fp_sqr_flush", "a * a, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::square(c, a, Mode::Flush, goal))
        }),
    ]
}

/// A block whose size is a format.
pub(super) fn float_block(
    name: &'static str,
    about: &'static str,
    build: fn(&Block, &[u32], Goal) -> Circuit,
) -> Block {
    let parameters = vec![parameter("exponent", 2..=19, 8), parameter("fraction", 2..=240, 23)];
    Block { name, about, parameters, named: FORMATS, goals: BOTH, build }
}

/// The format of this size.
pub(super) fn format(size: &[u32]) -> Format {
    Format { exponent: size[0], fraction: size[1] }
}

/// The circuit of one operand `a`, result `out`.
pub(super) fn unary(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float) -> Float) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = Float::input(&mut c, "a", format(size));
    gate(&mut c, &a).output(&mut c, "out");
    c.finish()
}

/// The circuit of two operands `a` and `b`, result `out`.
pub(super) fn binary(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, &Float) -> Float) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (Float::input(&mut c, "a", format(size)), Float::input(&mut c, "b", format(size)));
    gate(&mut c, &a, &b).output(&mut c, "out");
    c.finish()
}

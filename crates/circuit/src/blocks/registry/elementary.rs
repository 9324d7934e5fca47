//! Floating point: exponentials, logarithms, powers.

use super::float::{FORMATS, binary, unary};
use super::{BOTH, Block, Goal, parameter};
use crate::blocks::float::{self, Base, Mode};
use crate::graph::Circuit;

pub(super) fn blocks() -> Vec<Block> {
    vec![
        elementary("fp_exp_ieee", "e^a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::E, Mode::Ieee, goal))
        }),
        elementary("fp_exp_flush", "e^a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::E, Mode::Flush, goal))
        }),
        elementary("fp_exp2_ieee", "2^a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::Two, Mode::Ieee, goal))
        }),
        elementary("fp_exp2_flush", "2^a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::Two, Mode::Flush, goal))
        }),
        elementary("fp_exp10_ieee", "10^a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::Ten, Mode::Ieee, goal))
        }),
        elementary("fp_exp10_flush", "10^a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::exponential(c, a, Base::Ten, Mode::Flush, goal))
        }),
        elementary("fp_ln_ieee", "ln a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::E, Mode::Ieee, goal))
        }),
        elementary("fp_ln_flush", "ln a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::E, Mode::Flush, goal))
        }),
        elementary("fp_log2_ieee", "log2 a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::Two, Mode::Ieee, goal))
        }),
        elementary("fp_log2_flush", "log2 a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::Two, Mode::Flush, goal))
        }),
        elementary("fp_log10_ieee", "log10 a, below 1 ulp, IEEE 754", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::Ten, Mode::Ieee, goal))
        }),
        elementary("fp_log10_flush", "log10 a, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            unary(block, size, |c, a| float::logarithm(c, a, Base::Ten, Mode::Flush, goal))
        }),
        elementary("fp_pow_ieee", "a^b, below 1 ulp, IEEE 754", |block, size, goal| {
            binary(block, size, |c, a, b| float::power(c, a, b, Mode::Ieee, goal))
        }),
        elementary("fp_pow_flush", "a^b, below 1 ulp, no denormals, no NaN", |block, size, goal| {
            binary(block, size, |c, a, b| float::power(c, a, b, Mode::Flush, goal))
        }),
    ]
}

/// A block whose size is a format that is not too wide for tables.
fn elementary(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    let parameters = vec![parameter("exponent", 4..=15, 8), parameter("fraction", 4..=64, 23)];
    Block { name, about, parameters, named: FORMATS, goals: BOTH, build }
}

//! Sines and their kin, of floats and of integers.

use super::float::{float_block, unary};
use super::{BOTH, Block, Goal, parameter};
use crate::blocks::approximation::sine;
use crate::blocks::float::{self, Mode};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::Int;

/// The blocks of functions of one float, in both modes.
macro_rules! circular {
    ($($function:ident: $ieee:literal $flush:literal $about:literal,)*) => {
        [$(
            sized($ieee, concat!($about, ", IEEE 754"), |block, size, goal| {
                unary(block, size, |c, a| float::$function(c, a, Mode::Ieee, goal))
            }),
            sized($flush, concat!($about, ", no denormals, no NaN"), |block, size, goal| {
                unary(block, size, |c, a| float::$function(c, a, Mode::Flush, goal))
            }),
        )*]
    };
}

pub(super) fn blocks() -> Vec<Block> {
    let mut blocks = vec![
        int_block("int_sin", "sin of a fixed-point number of half-turns", |block, size, goal| {
            integer(block, size, |c, a| sine::sine(c, a, goal))
        }),
        int_block("int_cos", "cos of a fixed-point number of half-turns", |block, size, goal| {
            integer(block, size, |c, a| sine::cosine(c, a, goal))
        }),
    ];
    blocks.extend(circular!(
        sin_pi: "fp_sin_pi_ieee" "fp_sin_pi_flush" "sin(pi a), faithful",
        cos_pi: "fp_cos_pi_ieee" "fp_cos_pi_flush" "cos(pi a), faithful",
        tan_pi: "fp_tan_pi_ieee" "fp_tan_pi_flush" "tan(pi a), faithful",
        sin: "fp_sin_ieee" "fp_sin_flush" "sin a, a in radians of any size, faithful",
        cos: "fp_cos_ieee" "fp_cos_flush" "cos a, a in radians of any size, faithful",
        tan: "fp_tan_ieee" "fp_tan_flush" "tan a, a in radians of any size, faithful",
        asin: "fp_asin_ieee" "fp_asin_flush" "arcsin a in radians, faithful",
        atan: "fp_atan_ieee" "fp_atan_flush" "arctan a in radians, faithful",
    ));
    blocks
}

/// A block whose size is a format; beyond these the tables of exponents are too long.
fn sized(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    let parameters = vec![parameter("exponent", 3..=13, 8), parameter("fraction", 2..=64, 23)];
    Block { parameters, ..float_block(name, about, build) }
}

fn int_block(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    Block { name, about, parameters: vec![parameter("width", 3..=64, 32)], named: &[], goals: BOTH, build }
}

fn integer(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Int) -> Int) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.int("a", size[0]);
    let out = gate(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

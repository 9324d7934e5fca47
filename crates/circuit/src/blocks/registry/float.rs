//! Floating point: arithmetic, comparisons and conversions.

use super::{BOTH, Block, Goal, ONE, Parameter, parameter};
use crate::blocks::float::{self, Comparison, Float, Format, Mode, Rounding};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, Int, UInt};

/// Formats by name: bits of exponent and fraction.
pub(super) const FORMATS: &[(&str, &[u32])] =
    &[("16", &[5, 10]), ("bf16", &[8, 7]), ("32", &[8, 23]), ("42", &[9, 32]), ("64", &[11, 52])];

/// Formats and the width of an integer.
const WITH_INTEGER: &[(&str, &[u32])] = &[
    ("16", &[5, 10, 16]),
    ("bf16", &[8, 7, 16]),
    ("32", &[8, 23, 32]),
    ("32x64", &[8, 23, 64]),
    ("42", &[9, 32, 32]),
    ("64x32", &[11, 52, 32]),
    ("64", &[11, 52, 64]),
];

/// From one format to another.
const BETWEEN: &[(&str, &[u32])] = &[
    ("16to32", &[5, 10, 8, 23]),
    ("32to16", &[8, 23, 5, 10]),
    ("bf16to32", &[8, 7, 8, 23]),
    ("32tobf16", &[8, 23, 8, 7]),
    ("32to64", &[8, 23, 11, 52]),
    ("64to32", &[11, 52, 8, 23]),
];

/// An operation in mode `Ieee` and in mode `Flush`.
macro_rules! modes {
    ($name:literal, $about:literal, $shape:ident($($x:ident),+), $gate:path) => {
        [
            float_block(concat!("fp_", $name, "_ieee"), concat!($about, "; IEEE 754"), |block, size, goal| {
                $shape(block, size, |c, $($x),+| $gate(c, $($x),+, Mode::Ieee, goal))
            }),
            float_block(concat!("fp_", $name, "_flush"), concat!($about, "; no denormals, no NaN"), |block, size, goal| {
                $shape(block, size, |c, $($x),+| $gate(c, $($x),+, Mode::Flush, goal))
            }),
        ]
    };
}

pub(super) fn blocks() -> Vec<Block> {
    let groups = [arithmetic(), comparisons(), signs(), integral(), conversions()];
    groups.into_iter().flatten().collect()
}

fn arithmetic() -> Vec<Block> {
    let groups = [
        modes!("add", "a + b", binary(a, b), float::add),
        modes!("sub", "a - b", binary(a, b), float::subtract),
        modes!("mul", "a * b", binary(a, b), float::multiply),
        modes!("sqr", "a * a", unary(a), float::square),
        modes!("fma", "a * b + c with one rounding", ternary(a, b, d), float::multiply_add),
        modes!("div", "a / b", binary(a, b), float::divide),
        modes!("sqrt", "the square root of a", unary(a), float::square_root),
        modes!("min", "the lesser number; NaN is passed over", binary(a, b), float::minimum),
        modes!("max", "the greater number; NaN is passed over", binary(a, b), float::maximum),
    ];
    groups.into_iter().flatten().collect()
}

fn comparisons() -> Vec<Block> {
    let groups = [
        modes!("cmp", "a < b, a = b, a > b, and neither", comparison(a, b), float::compare),
        modes!("eq", "a = b", predicate(a, b), float::equal),
        modes!("lt", "a < b", predicate(a, b), float::less),
        modes!("le", "a <= b", predicate(a, b), float::less_or_equal),
        modes!("gt", "a > b", predicate(a, b), float::greater),
        modes!("ge", "a >= b", predicate(a, b), float::greater_or_equal),
    ];
    let mut blocks: Vec<Block> = groups.into_iter().flatten().collect();
    blocks.push(float_block("fp_unordered", "a or b is NaN", |block, size, goal| {
        predicate(block, size, |c, a, b| float::unordered(c, a, b, Mode::Ieee, goal))
    }));
    blocks.push(float_block("fp_total_order", "a is b or before it in IEEE 754's total order", |block, size, goal| {
        predicate(block, size, |c, a, b| float::total_order(c, a, b, goal))
    }));
    blocks
}

fn signs() -> Vec<Block> {
    let blocks = [
        float_block("fp_neg", "-a, the same with denormals and without", |block, size, _| {
            unary(block, size, |_, a| a.negate())
        }),
        float_block("fp_abs", "|a|", |block, size, _| unary(block, size, |_, a| a.abs())),
        float_block("fp_copysign", "the magnitude of a, the sign of b", |block, size, _| {
            binary(block, size, |_, a, b| a.copysign(b))
        }),
    ];
    blocks.map(|block| Block { goals: ONE, ..block }).into()
}

fn integral() -> Vec<Block> {
    fn nearest(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
        float::round_integral(c, a, Rounding::Nearest, mode, goal)
    }
    fn floor(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
        float::round_integral(c, a, Rounding::Floor, mode, goal)
    }
    fn ceiling(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
        float::round_integral(c, a, Rounding::Ceiling, mode, goal)
    }
    fn truncate(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
        float::round_integral(c, a, Rounding::Truncate, mode, goal)
    }
    fn away(c: &mut Builder, a: &Float, mode: Mode, goal: Goal) -> Float {
        float::round_integral(c, a, Rounding::NearestAway, mode, goal)
    }
    let groups = [
        modes!("round", "the nearest integral number, ties to even", unary(a), nearest),
        modes!("round_away", "the nearest integral number, ties away from zero", unary(a), away),
        modes!("floor", "the integral number at or below a", unary(a), floor),
        modes!("ceil", "the integral number at or above a", unary(a), ceiling),
        modes!("trunc", "the integral number towards zero", unary(a), truncate),
    ];
    groups.into_iter().flatten().collect()
}

fn conversions() -> Vec<Block> {
    let groups = [
        modes!("from_uint", "the number nearest to an unsigned integer", from_uint(a, format), float::from_uint),
        modes!("from_int", "the number nearest to an integer", from_int(a, format), float::from_int),
        modes!("to_uint", "the unsigned integer towards zero; saturating", to_uint(a, width), float::to_uint),
        modes!("to_int", "the integer towards zero; saturating", to_int(a, width), float::to_int),
    ];
    let width = || parameter("width", 1..=1024, 32);
    let integers = groups.into_iter().flatten().map(|block| {
        let parameters = [block.parameters, vec![width()]].concat();
        Block { parameters, named: WITH_INTEGER, ..block }
    });
    let between = modes!("convert", "the nearest number of another format", convert(a, format), float::convert);
    let between = between.map(|block| {
        let to = [parameter("to_exponent", 3..=19, 11), parameter("to_fraction", 2..=240, 52)];
        Block { parameters: [&block.parameters[..], &to].concat(), named: BETWEEN, ..block }
    });
    integers.chain(between).collect()
}

/// A block whose size is a format.
pub(super) fn float_block(
    name: &'static str,
    about: &'static str,
    build: fn(&Block, &[u32], Goal) -> Circuit,
) -> Block {
    Block { name, about, parameters: sizes(), named: FORMATS, goals: BOTH, build }
}

fn sizes() -> Vec<Parameter> {
    vec![parameter("exponent", 3..=19, 8), parameter("fraction", 2..=240, 23)]
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
    let (mut c, a, b) = operands(block, size);
    gate(&mut c, &a, &b).output(&mut c, "out");
    c.finish()
}

/// The circuit of a·b + c, result `out`.
fn ternary(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, &Float, &Float) -> Float) -> Circuit {
    let (mut c, a, b) = operands(block, size);
    let addend = Float::input(&mut c, "c", format(size));
    gate(&mut c, &a, &b, &addend).output(&mut c, "out");
    c.finish()
}

fn operands(block: &Block, size: &[u32]) -> (Builder, Float, Float) {
    let mut c = Builder::new(block.name);
    let (a, b) = (Float::input(&mut c, "a", format(size)), Float::input(&mut c, "b", format(size)));
    (c, a, b)
}

fn predicate(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, &Float) -> Bit) -> Circuit {
    let (mut c, a, b) = operands(block, size);
    let out = gate(&mut c, &a, &b);
    c.output("out", &Bits::from(out));
    c.finish()
}

/// The relations `less`, `equal`, `greater` and, unless it is never so, `unordered`.
fn comparison(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, &Float) -> Comparison) -> Circuit {
    let (mut c, a, b) = operands(block, size);
    let Comparison { less, equal, greater, unordered } = gate(&mut c, &a, &b);
    let relations = [("less", less), ("equal", equal), ("greater", greater), ("unordered", unordered)];
    for (name, bit) in relations.into_iter().filter(|&(_, bit)| bit != Bit::FALSE) {
        c.output(name, &Bits::from(bit));
    }
    c.finish()
}

fn from_uint(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &UInt, Format) -> Float) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.uint("a", size[2]);
    gate(&mut c, &a, format(size)).output(&mut c, "out");
    c.finish()
}

fn from_int(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Int, Format) -> Float) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.int("a", size[2]);
    gate(&mut c, &a, format(size)).output(&mut c, "out");
    c.finish()
}

fn to_uint(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, u32) -> UInt) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = Float::input(&mut c, "a", format(size));
    let out = gate(&mut c, &a, size[2]);
    c.output("out", &out);
    c.finish()
}

fn to_int(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, u32) -> Int) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = Float::input(&mut c, "a", format(size));
    let out = gate(&mut c, &a, size[2]);
    c.output("out", &out);
    c.finish()
}

fn convert(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Float, Format) -> Float) -> Circuit {
    unary(block, size, |c, a| gate(c, a, format(&size[2..])))
}

//! Floating-point arithmetic rounded in any of five directions, with status flags.

use super::float::{float_block, format};
use super::{Block, Goal, Parameter, parameter};
use crate::blocks::float::{self, Float, Format, Mode, Outcome, Rounding};
use crate::builder::Builder;
use crate::graph::Circuit;

/// Formats with a direction of [`Rounding::ALL`] and whether there are flags.
const NAMED: &[(&str, &[u32])] = &[
    ("32", &[8, 23, 0, 1]),
    ("32-away", &[8, 23, 1, 1]),
    ("32-floor", &[8, 23, 2, 1]),
    ("32-ceil", &[8, 23, 3, 1]),
    ("32-trunc", &[8, 23, 4, 1]),
    ("64", &[11, 52, 0, 1]),
    ("64-away", &[11, 52, 1, 1]),
    ("64-floor", &[11, 52, 2, 1]),
    ("64-ceil", &[11, 52, 3, 1]),
    ("64-trunc", &[11, 52, 4, 1]),
];

/// An operation in mode `Ieee` and in mode `Flush`.
macro_rules! modes {
    ($name:literal, $about:literal, $shape:ident) => {
        [
            float_block(concat!("fp_", $name, "_ieee_rounded"), concat!($about, "; IEEE 754"), |block, size, goal| {
                $shape(block, size, Mode::Ieee, goal)
            }),
            float_block(
                concat!("fp_", $name, "_flush_rounded"),
                concat!($about, "; no denormals, no NaN"),
                |block, size, goal| $shape(block, size, Mode::Flush, goal),
            ),
        ]
    };
}

pub(super) fn blocks() -> Vec<Block> {
    let arithmetic = [
        modes!("add", "a + b in a direction of rounding, with flags", add),
        modes!("sub", "a - b in a direction of rounding, with flags", subtract),
        modes!("mul", "a * b in a direction of rounding, with flags", multiply),
        modes!("sqr", "a * a in a direction of rounding, with flags", square),
        modes!("fma", "a * b + c in a direction of rounding, with flags", multiply_add),
        modes!("div", "a / b in a direction of rounding, with flags", divide),
        modes!("sqrt", "the square root of a in a direction of rounding, with flags", square_root),
    ];
    let integers = [
        modes!("from_uint", "an unsigned integer in a direction of rounding, with flags", from_uint),
        modes!("from_int", "an integer in a direction of rounding, with flags", from_int),
    ];
    let between = modes!("convert", "a in another format and a direction of rounding, with flags", convert);
    let arithmetic = arithmetic.into_iter().flatten().map(|block| extended(block, &[], NAMED));
    let integers =
        integers.into_iter().flatten().map(|block| extended(block, &[parameter("width", 1..=1024, 32)], &[]));
    let to = [parameter("to_exponent", 3..=19, 11), parameter("to_fraction", 2..=240, 52)];
    let between = between.into_iter().map(move |block| extended(block, &to, &[]));
    arithmetic.chain(integers).chain(between).collect()
}

/// The block with these parameters and, at the end, the direction and the flags.
fn extended(block: Block, more: &[Parameter], named: &'static [(&'static str, &'static [u32])]) -> Block {
    let end = [parameter("direction", 0..=4, 0), parameter("flags", 0..=1, 1)];
    Block { parameters: [&block.parameters[..], more, &end].concat(), named, ..block }
}

/// A circuit in the making: the last two numbers of a size are the direction and whether there are flags.
struct Made {
    c: Builder,
    rounding: Rounding,
    flags: bool,
}

impl Made {
    fn new(block: &Block, size: &[u32]) -> Made {
        let &[.., direction, flags] = size else { unreachable!("a size with a direction and flags") };
        Made { c: Builder::new(block.name), rounding: Rounding::ALL[direction as usize], flags: flags == 1 }
    }

    fn operands<const N: usize>(&mut self, format: Format) -> [Float; N] {
        let names = ["a", "b", "c"];
        std::array::from_fn(|i| Float::input(&mut self.c, names[i], format))
    }

    fn finish(mut self, outcome: Outcome) -> Circuit {
        outcome.number.output(&mut self.c, "out");
        if self.flags {
            self.c.output("flags", &outcome.flags.word());
        }
        self.c.finish()
    }
}

/// A block of so many operands of one format.
macro_rules! operation {
    ($name:ident($($x:ident),+), $gate:path) => {
        fn $name(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
            let mut made = Made::new(block, size);
            let [$($x),+] = made.operands(format(size));
            let outcome = $gate(&mut made.c, $(&$x),+, mode, made.rounding, goal);
            made.finish(outcome)
        }
    };
}

operation!(add(a, b), float::add_rounded);
operation!(subtract(a, b), float::subtract_rounded);
operation!(multiply(a, b), float::multiply_rounded);
operation!(square(a), float::square_rounded);
operation!(divide(a, b), float::divide_rounded);
operation!(square_root(a), float::square_root_rounded);

fn multiply_add(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut made = Made::new(block, size);
    let [a, b, addend] = made.operands(format(size));
    let outcome = float::multiply_add_rounded(&mut made.c, [&a, &b, &addend], mode, made.rounding, goal);
    made.finish(outcome)
}

fn from_uint(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut made = Made::new(block, size);
    let a = made.c.uint("a", size[2]);
    let outcome = float::from_uint_rounded(&mut made.c, &a, format(size), mode, made.rounding, goal);
    made.finish(outcome)
}

fn from_int(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut made = Made::new(block, size);
    let a = made.c.int("a", size[2]);
    let outcome = float::from_int_rounded(&mut made.c, &a, format(size), mode, made.rounding, goal);
    made.finish(outcome)
}

fn convert(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut made = Made::new(block, size);
    let [a] = made.operands(format(size));
    let outcome = float::convert_rounded(&mut made.c, &a, format(&size[2..]), mode, made.rounding, goal);
    made.finish(outcome)
}

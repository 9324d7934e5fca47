//! Fixed point.

use super::{BOTH, Block, ONE, block, parameter};
use crate::blocks::Goal;
use crate::blocks::approximation::fixed::{self, Fixed, Overflow};
use crate::blocks::float::{self, Float, Format, Mode};
use crate::builder::Builder;
use crate::graph::Circuit;
use crate::words::{Bits, Word};

use Overflow::{Saturate, Wrap};

pub(super) fn blocks() -> Vec<Block> {
    vec![
        number("fixed_add", "a + b, wrapping", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::add(c, x, y, Wrap, goal))
        }),
        number("fixed_add_saturate", "a + b or the nearest number", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::add(c, x, y, Saturate, goal))
        }),
        number("fixed_subtract", "a - b, wrapping", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::subtract(c, x, y, Wrap, goal))
        }),
        number("fixed_subtract_saturate", "a - b or the nearest number", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::subtract(c, x, y, Saturate, goal))
        }),
        number("fixed_negate_saturate", "-a or the nearest number", |b, size, goal| {
            unary(b, size, |c, x| fixed::negate(c, x, Saturate, goal))
        }),
        number("fixed_absolute_saturate", "|a| or the nearest number", |b, size, goal| {
            unary(b, size, |c, x| fixed::absolute(c, x, Saturate, goal))
        }),
        number("fixed_multiply", "a * b, rounded, wrapping", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::multiply(c, x, y, Wrap, goal))
        }),
        number("fixed_multiply_saturate", "a * b, rounded, or the nearest number", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::multiply(c, x, y, Saturate, goal))
        }),
        number("fixed_square", "a^2, rounded, wrapping", |b, size, goal| {
            unary(b, size, |c, x| fixed::square(c, x, Wrap, goal))
        }),
        number("fixed_square_saturate", "a^2, rounded, or the nearest number", |b, size, goal| {
            unary(b, size, |c, x| fixed::square(c, x, Saturate, goal))
        }),
        number("fixed_divide", "a / b, rounded, wrapping; by zero, zero", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::divide(c, x, y, Wrap, goal))
        }),
        number(
            "fixed_divide_saturate",
            "a / b, rounded, or the nearest number; by zero, the greatest or the least",
            |b, size, goal| binary(b, size, |c, x, y| fixed::divide(c, x, y, Saturate, goal)),
        ),
        number("fixed_sqrt", "the square root of a, rounded; of a negative number, zero", |b, size, goal| {
            unary(b, size, |c, x| fixed::square_root(c, x, goal))
        }),
        Block {
            goals: ONE,
            ..number("fixed_equal", "a = b", |b, size, _| relation(b, size, |c, x, y| fixed::equal(c, x, y).into()))
        },
        number("fixed_less", "a < b", |b, size, goal| relation(b, size, |c, x, y| fixed::less(c, x, y, goal).into())),
        number("fixed_min", "the lesser of a and b", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::min(c, x, y, goal))
        }),
        number("fixed_max", "the greater of a and b", |b, size, goal| {
            binary(b, size, |c, x, y| fixed::max(c, x, y, goal))
        }),
        number("fixed_round_saturate", "the nearest whole number", |b, size, goal| {
            unary(b, size, |c, x| fixed::round(c, x, Saturate, goal))
        }),
        number("fixed_to_int", "the nearest integer", |b, size, goal| {
            of_number(b, size, |c, x| fixed::to_int(c, x, goal))
        }),
        Block {
            goals: ONE,
            ..number("fixed_from_int_saturate", "an integer of as many bits, or the nearest number", from_int)
        },
        Block {
            parameters: parts(64),
            ..number("fixed_sin_pi", "the sine of a half-turns", |b, size, goal| {
                unary(b, size, |c, x| fixed::sin_pi(c, x, goal))
            })
        },
        Block {
            parameters: parts(64),
            ..number("fixed_cos_pi", "the cosine of a half-turns", |b, size, goal| {
                unary(b, size, |c, x| fixed::cos_pi(c, x, goal))
            })
        },
        Block {
            parameters: parts(64),
            ..number("fixed_exp2", "2^a or the greatest number", |b, size, goal| {
                unary(b, size, |c, x| fixed::exp2(c, x, goal))
            })
        },
        Block {
            parameters: parts(64),
            ..number(
                "fixed_log2",
                "the logarithm of a to base 2, the least number if there is none",
                |b, size, goal| unary(b, size, |c, x| fixed::log2(c, x, goal)),
            )
        },
        with_float("fixed_to_fp_ieee", "a as a floating-point number", |b, size, goal| {
            to_float(b, size, Mode::Ieee, goal)
        }),
        with_float("fixed_to_fp_flush", "a as a floating-point number, no denormals", |b, size, goal| {
            to_float(b, size, Mode::Flush, goal)
        }),
        with_float("fixed_from_fp_ieee", "a floating-point number, rounded, or the nearest number", |b, size, goal| {
            from_float(b, size, Mode::Ieee, goal)
        }),
        with_float(
            "fixed_from_fp_flush",
            "a floating-point number without denormals and NaN, rounded",
            |b, size, goal| from_float(b, size, Mode::Flush, goal),
        ),
        Block {
            parameters: [vec![parameter("pairs", 1..=128, 16)], parts(128)].concat(),
            named: &[],
            ..number("fixed_dot_product", "the sum of all a * b, rounded once, wrapping", dot_product)
        },
        Block {
            goals: ONE,
            ..number("fixed_floor", "the greatest whole number that is not above a", |b, size, _| {
                unary(b, size, |_, x| fixed::floor(x))
            })
        },
        between_formats("fixed_convert", "a in another format, rounded, wrapping", |b, size, goal| {
            convert(b, size, Wrap, goal)
        }),
        between_formats(
            "fixed_convert_saturate",
            "a in another format, rounded, or the nearest number",
            |b, size, goal| convert(b, size, Saturate, goal),
        ),
    ]
}

/// A block for fixed-point numbers; their size is that of their two parts, so that every size is a format.
fn number(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    Block { parameters: parts(128), named: &[("32", &[16, 16]), ("64", &[32, 32])], ..block(name, about, BOTH, build) }
}

/// A block for fixed-point numbers and floating-point numbers.
fn with_float(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    let float = vec![parameter("bits of the exponent", 3..=16, 8), parameter("bits of the fraction", 2..=256, 23)];
    Block {
        parameters: [parts(256), float].concat(),
        named: &[("32", &[16, 16, 8, 23]), ("64", &[32, 32, 11, 52])],
        ..block(name, about, BOTH, build)
    }
}

/// A block from one format of fixed-point numbers to another.
fn between_formats(name: &'static str, about: &'static str, build: fn(&Block, &[u32], Goal) -> Circuit) -> Block {
    let other = vec![parameter("bits before the other point", 2..=256, 8), parameter("bits after it", 0..=256, 8)];
    Block { parameters: [parts(256), other].concat(), named: &[], ..block(name, about, BOTH, build) }
}

fn parts(most: u32) -> Vec<super::Parameter> {
    vec![parameter("bits before the point", 2..=most, 16), parameter("bits after it", 0..=most, 16)]
}

fn number_input(c: &mut Builder, name: impl Into<String>, size: &[u32]) -> Fixed {
    Fixed::input(c, name, size[0] + size[1], size[1])
}

fn unary(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Fixed) -> Fixed) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = number_input(&mut c, "a", size);
    let out = gate(&mut c, &a);
    out.output(&mut c, "out");
    c.finish()
}

fn binary(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Fixed, &Fixed) -> Fixed) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (number_input(&mut c, "a", size), number_input(&mut c, "b", size));
    let out = gate(&mut c, &a, &b);
    out.output(&mut c, "out");
    c.finish()
}

fn relation(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Fixed, &Fixed) -> Bits) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (number_input(&mut c, "a", size), number_input(&mut c, "b", size));
    let out = gate(&mut c, &a, &b);
    c.output("out", &out);
    c.finish()
}

fn of_number<W: Word>(block: &Block, size: &[u32], gate: impl FnOnce(&mut Builder, &Fixed) -> W) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = number_input(&mut c, "a", size);
    let out = gate(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

fn from_int(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = c.int("a", size[0] + size[1]);
    let out = fixed::from_int(&mut c, &a, a.width(), size[1] as usize, Saturate);
    out.output(&mut c, "out");
    c.finish()
}

fn dot_product(block: &Block, size: &[u32], goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let mut vector = |name: &str| -> Vec<Fixed> {
        (0..size[0]).map(|k| number_input(&mut c, format!("{name}{k}"), &size[1..])).collect()
    };
    let (a, b) = (vector("a"), vector("b"));
    let out = fixed::dot_product(&mut c, &a, &b, Wrap, goal);
    out.output(&mut c, "out");
    c.finish()
}

fn convert(block: &Block, size: &[u32], overflow: Overflow, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = number_input(&mut c, "a", size);
    let (width, fraction) = (size[2] + size[3], size[3]);
    let out = fixed::convert(&mut c, &a, width as usize, fraction as usize, overflow, goal);
    out.output(&mut c, "out");
    c.finish()
}

fn to_float(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = number_input(&mut c, "a", size);
    let out = float::from_fixed(&mut c, &a, float_format(size), mode, goal);
    out.output(&mut c, "out");
    c.finish()
}

fn from_float(block: &Block, size: &[u32], mode: Mode, goal: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = Float::input(&mut c, "a", float_format(size));
    let (width, fraction) = (size[0] + size[1], size[1]);
    let out = float::to_fixed(&mut c, &a, width as usize, fraction as usize, mode, goal);
    out.output(&mut c, "out");
    c.finish()
}

fn float_format(size: &[u32]) -> Format {
    Format { exponent: size[2], fraction: size[3] }
}

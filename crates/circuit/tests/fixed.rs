//! Fixed-point numbers against integers of 128 bits, and their costs.

use crate::common::lanes;
use std::f64::consts::PI;

use crate::common::lanes::{check, every, low, mixed, signed};
use circuit::blocks::fixed::{self, Fixed, Overflow};
use circuit::blocks::{Goal, find};
use circuit::{Builder, Circuit, Kind, Type};

use Overflow::{Saturate, Wrap};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Bits of a number, and how many of them are after the point.
#[derive(Clone, Copy)]
struct Format {
    width: u32,
    fraction: u32,
}

impl Format {
    fn most(self) -> i128 {
        (1 << (self.width - 1)) - 1
    }

    /// What becomes of a result.
    fn fit(self, units: i128, overflow: Overflow) -> i128 {
        match overflow {
            Wrap => units,
            Saturate => units.clamp(-self.most() - 1, self.most()),
        }
    }

    /// units / 2^fraction, the nearest integer, the greater one of two.
    fn round(self, units: i128) -> i128 {
        (units + (1 << self.fraction >> 1)) >> self.fraction
    }

    fn quotient(self, a: i128, b: i128, overflow: Overflow) -> i128 {
        let (dividend, divisor) = (a.abs() << self.fraction, b.abs());
        match (b, overflow) {
            (0, Wrap) => 0,
            (0, Saturate) if a < 0 => -self.most() - 1,
            (0, Saturate) => self.most(),
            _ => self.fit((2 * dividend + divisor) / (2 * divisor) * a.signum() * b.signum(), overflow),
        }
    }

    fn root(self, a: i128) -> i128 {
        let root = if a < 0 { 0 } else { (a << self.fraction << 2).isqrt() };
        self.fit((root + 1) / 2, Saturate)
    }
}

/// What a block of two operands computes, in units.
type Binary = (&'static str, fn(Format, i128, i128) -> i128);
type Unary = (&'static str, fn(Format, i128) -> i128);

/// A function of a block and of the host.
type Function = (&'static str, fn(f64) -> f64);

const BINARY: [Binary; 12] = [
    ("fixed_add", |_, a, b| a + b),
    ("fixed_add_saturate", |t, a, b| t.fit(a + b, Saturate)),
    ("fixed_subtract", |_, a, b| a - b),
    ("fixed_subtract_saturate", |t, a, b| t.fit(a - b, Saturate)),
    ("fixed_multiply", |t, a, b| t.round(a * b)),
    ("fixed_multiply_saturate", |t, a, b| t.fit(t.round(a * b), Saturate)),
    ("fixed_divide", |t, a, b| t.quotient(a, b, Wrap)),
    ("fixed_divide_saturate", |t, a, b| t.quotient(a, b, Saturate)),
    ("fixed_equal", |_, a, b| (a == b).into()),
    ("fixed_less", |_, a, b| (a < b).into()),
    ("fixed_min", |_, a, b| a.min(b)),
    ("fixed_max", |_, a, b| a.max(b)),
];

const UNARY: [Unary; 8] = [
    ("fixed_negate_saturate", |t, a| t.fit(-a, Saturate)),
    ("fixed_absolute_saturate", |t, a| t.fit(a.abs(), Saturate)),
    ("fixed_square", |t, a| t.round(a * a)),
    ("fixed_square_saturate", |t, a| t.fit(t.round(a * a), Saturate)),
    ("fixed_sqrt", |t, a| t.root(a)),
    ("fixed_round_saturate", |t, a| t.fit(t.round(a) << t.fraction, Saturate)),
    ("fixed_to_int", |t, a| t.round(a)),
    ("fixed_from_int_saturate", |t, a| t.fit(a << t.fraction, Saturate)),
];

/// The circuits of a block for both goals, or one if they do not differ.
fn circuits(name: &str, t: Format) -> impl Iterator<Item = (Circuit, String)> {
    let block = find(name).unwrap();
    let size = [t.width - t.fraction, t.fraction];
    block.goals.iter().map(move |&goal| {
        let place = format!("{name}, {} and {} bits, {goal}", size[0], size[1]);
        (block.circuit(&size, goal).unwrap(), place)
    })
}

fn unary(lanes: usize, t: Format) {
    for (name, meaning) in UNARY {
        for (circuit, place) in circuits(name, t) {
            let ports = if lanes == 0 { every(&[t.width]) } else { mixed(&[t.width], lanes, 1) };
            let out = circuit.outputs()[0].ty.width;
            check(&circuit, &ports, &place, |lane| [meaning(t, signed(lane[0], t.width)) as u128 & low(out)]);
        }
    }
}

fn binary(lanes: usize, t: Format) {
    for (name, meaning) in BINARY {
        for (circuit, place) in circuits(name, t) {
            let widths = [t.width; 2];
            let ports = if lanes == 0 { every(&widths) } else { mixed(&widths, lanes, 2) };
            let out = circuit.outputs()[0].ty.width;
            check(&circuit, &ports, &place, |lane| {
                [meaning(t, signed(lane[0], t.width), signed(lane[1], t.width)) as u128 & low(out)]
            });
        }
    }
}

fn formats(whole: std::ops::RangeInclusive<u32>, fraction: std::ops::RangeInclusive<u32>) -> Vec<Format> {
    let of_whole = |whole| fraction.clone().map(move |fraction| Format { width: whole + fraction, fraction });
    whole.flat_map(of_whole).collect()
}

#[test]
fn two_operands_exhaustively() {
    formats(2..=4, 0..=4).into_iter().for_each(|t| binary(0, t));
    binary(0, Format { width: 9, fraction: 5 });
}

#[test]
fn one_operand_exhaustively() {
    formats(2..=6, 0..=6).into_iter().for_each(|t| unary(0, t));
    unary(0, Format { width: 16, fraction: 8 });
}

#[test]
fn a_million_operands() {
    unary(1 << 20, Format { width: 32, fraction: 16 });
    binary(1 << 20, Format { width: 32, fraction: 16 });
}

#[test]
fn other_formats() {
    for (width, fraction) in [(24, 20), (40, 0), (62, 31), (16, 14)] {
        unary(1 << 12, Format { width, fraction });
        binary(1 << 12, Format { width, fraction });
    }
}

/// Formats in which roots and whole numbers are too large.
#[test]
fn numbers_below_one() {
    for (width, fraction) in (2..=7).flat_map(|width| [(width, width), (width, width - 1)]) {
        let t = Format { width, fraction };
        for goal in GOALS {
            let mut c = Builder::new("small");
            let a = Fixed::input(&mut c, "a", width, fraction);
            let outs = [
                fixed::square_root(&mut c, &a, goal),
                fixed::square(&mut c, &a, Saturate, goal),
                fixed::round(&mut c, &a, Saturate, goal),
                fixed::round(&mut c, &a, Wrap, goal),
            ];
            let whole = fixed::to_int(&mut c, &a, goal);
            outs.iter().enumerate().for_each(|(i, out)| out.output(&mut c, format!("out{i}")));
            c.output("whole", &whole);
            check(&c.finish(), &every(&[width]), &format!("{width} bits, {fraction} of them below one"), |lane| {
                let a = signed(lane[0], width);
                let rounded = t.round(a) << fraction;
                let numbers = [t.root(a), t.fit(t.round(a * a), Saturate), t.fit(rounded, Saturate), rounded];
                let [root, square, round, wrapped] = numbers.map(|number| number as u128 & low(width));
                [root, square, round, wrapped, t.round(a) as u128 & low(width - fraction + 1)]
            });
        }
    }
}

/// Negative and absolute value that wrap, the whole number below, and another format.
#[test]
fn what_has_no_name_of_its_own() {
    let t = Format { width: 12, fraction: 7 };
    for (goal, (width, fraction)) in
        GOALS.into_iter().flat_map(|goal| [(8, 3), (9, 9), (20, 11), (6, 0)].map(|to| (goal, to)))
    {
        let mut c = Builder::new("more");
        let a = Fixed::input(&mut c, "a", t.width, t.fraction);
        let outs = [
            fixed::negate(&mut c, &a, Wrap, goal),
            fixed::absolute(&mut c, &a, Wrap, goal),
            fixed::floor(&a),
            fixed::convert(&mut c, &a, width as usize, fraction as usize, Wrap, goal),
            fixed::convert(&mut c, &a, width as usize, fraction as usize, Saturate, goal),
        ];
        outs.iter().enumerate().for_each(|(i, out)| out.output(&mut c, format!("out{i}")));
        check(
            &c.finish(),
            &every(&[t.width]),
            &format!("to {width} bits, {fraction} after the point, {goal}"),
            |lane| {
                let a = signed(lane[0], t.width);
                let less = Format { width: t.width, fraction: t.fraction.saturating_sub(fraction) };
                let moved = less.round(a << fraction.saturating_sub(t.fraction));
                let to = Format { width, fraction };
                let same = [-a, a.abs(), a >> t.fraction << t.fraction].map(|number| number as u128 & low(t.width));
                let other = [moved, to.fit(moved, Saturate)].map(|number| number as u128 & low(width));
                [same[0], same[1], same[2], other[0], other[1]]
            },
        );
    }
}

#[test]
fn dot_products() {
    for (count, width, fraction, lanes) in
        [(1, 8, 4, 1 << 12), (3, 12, 5, 1 << 14), (5, 16, 0, 1 << 14), (16, 32, 16, 1 << 17)]
    {
        let t = Format { width, fraction };
        for (goal, overflow) in GOALS.into_iter().flat_map(|goal| [(goal, Wrap), (goal, Saturate)]) {
            let mut c = Builder::new("dot");
            let factors: Vec<Fixed> =
                (0..2 * count).map(|i| Fixed::input(&mut c, format!("x{i}"), width, fraction)).collect();
            let (a, b) = factors.split_at(count);
            fixed::dot_product(&mut c, a, b, overflow, goal).output(&mut c, "out");
            let place = format!("{count} products of {width} bits, {overflow:?}, {goal}");
            check(&c.finish(), &mixed(&vec![width; 2 * count], lanes, 3), &place, |lane| {
                let numbers: Vec<i128> = lane.iter().map(|&lane| signed(lane, width)).collect();
                let sum = numbers[..count].iter().zip(&numbers[count..]).map(|(a, b)| a * b).sum();
                [t.fit(t.round(sum), overflow) as u128 & low(width)]
            });
        }
    }
}

/// Results within one unit of those of the host, in double precision; what is a number of the format comes exactly.
fn close(circuit: &Circuit, t: Format, lanes: &lanes::Lanes, exact: fn(f64) -> f64) {
    let results = circuit::simulate::Simulator::new(circuit).numbers(&[&lanes[0]]);
    for (&lane, &result) in lanes[0].iter().zip(&results[0]) {
        let unit = (1u64 << t.fraction) as f64;
        let exact = exact(signed(lane, t.width) as f64 / unit) * unit;
        let bounded = exact.clamp((-t.most() - 1) as f64, t.most() as f64);
        let error = signed(result, t.width) as f64 - bounded;
        // Less than one by more than the error of the host.
        let limit = 1.0 - bounded.abs() * f64::EPSILON - 1e-9;
        assert!(error.abs() < limit, "{}: of {lane}: {result}, not {exact}", circuit.name());
    }
}

#[test]
fn elementary_functions() {
    let functions: [Function; 4] = [
        ("fixed_sin_pi", |x| (x * PI).sin()),
        ("fixed_cos_pi", |x| (x * PI).cos()),
        ("fixed_exp2", f64::exp2),
        ("fixed_log2", |x| if x > 0.0 { x.log2() } else { f64::NEG_INFINITY }),
    ];
    for (name, exact) in functions {
        for t in formats(2..=6, 0..=7) {
            circuits(name, t).for_each(|(circuit, _)| close(&circuit, t, &every(&[t.width]), exact));
        }
        for (t, lanes) in [((16, 8), 0), ((32, 16), 1 << 20), ((32, 28), 1 << 16), ((40, 20), 1 << 16)] {
            let t = Format { width: t.0, fraction: t.1 };
            let ports = if lanes == 0 { every(&[t.width]) } else { mixed(&[t.width], lanes, 4) };
            circuits(name, t).for_each(|(circuit, _)| close(&circuit, t, &ports, exact));
        }
    }
}

/// The single-precision number that stands for these bits without denormals and NaN.
fn flushed(bits: u32) -> f32 {
    let number = f32::from_bits(bits);
    match bits >> 23 & 255 {
        0 => number * 0.0,
        255 => f32::INFINITY.copysign(number),
        _ => number,
    }
}

#[test]
fn to_and_from_single_precision() {
    for (width, fraction, lanes) in
        [(32, 16, 1 << 20), (16, 14, 1 << 16), (48, 5, 1 << 16), (24, 22, 1 << 16), (31, 0, 1 << 16)]
    {
        let size = [width - fraction, fraction, 8, 23];
        let t = Format { width, fraction };
        let unit = f64::from(fraction).exp2();
        for (goal, mode) in GOALS.into_iter().flat_map(|goal| [(goal, "ieee"), (goal, "flush")]) {
            let circuit = |name: &str| find(&format!("{name}_{mode}")).unwrap().circuit(&size, goal).unwrap();
            let place = format!("{width} bits, {fraction} after the point, {mode}, {goal}");
            check(&circuit("fixed_to_fp"), &mixed(&[width], lanes, 5), &place, |lane| {
                [((signed(lane[0], width) as f64 / unit) as f32).to_bits().into()]
            });
            let decode = if mode == "flush" { flushed } else { f32::from_bits };
            check(&circuit("fixed_from_fp"), &singles(lanes), &place, |lane| {
                let units = (f64::from(decode(lane[0] as u32)) * unit).round() as i128;
                [t.fit(units, Saturate) as u128 & low(width)]
            });
        }
    }
}

/// Numbers of any kind, and as many with exponents near that of 1.
fn singles(lanes: usize) -> lanes::Lanes {
    let mut port = mixed(&[32], lanes, 6).remove(0);
    for number in port.iter_mut().step_by(2) {
        *number = *number & !(0x7f << 24) | (0x3f + (*number >> 24 & 7) - 3) << 24;
    }
    vec![port]
}

#[test]
fn ports_have_their_kind() {
    let circuit = find("fixed_add").unwrap().circuit(&[3, 5], Goal::Size).unwrap();
    let ty = Type { kind: Kind::Fixed { fraction: 5 }, width: 8 };
    assert!(circuit.inputs().iter().chain(circuit.outputs()).all(|port| port.ty == ty));
}

#[test]
fn costs_stay_below_their_bounds() {
    let mut over = Vec::new();
    for (name, size, depth) in [
        ("fixed_add", (31, 31), (144, 5)),
        ("fixed_add_saturate", (63, 33), (176, 7)),
        ("fixed_subtract_saturate", (63, 33), (176, 7)),
        ("fixed_negate_saturate", (62, 32), (111, 7)),
        ("fixed_absolute_saturate", (31, 31), (80, 5)),
        ("fixed_multiply", (1032, 48), (1087, 11)),
        ("fixed_multiply_saturate", (1136, 66), (1362, 16)),
        ("fixed_square", (453, 45), (590, 10)),
        ("fixed_square_saturate", (571, 63), (790, 15)),
        ("fixed_divide", (1499, 1315), (6019, 279)),
        ("fixed_divide_saturate", (1519, 1318), (6102, 281)),
        ("fixed_sqrt", (347, 295), (1247, 93)),
        ("fixed_round_saturate", (32, 17), (49, 6)),
        ("fixed_sin_pi", (271, 37), (412, 12)),
        ("fixed_cos_pi", (271, 37), (412, 12)),
        ("fixed_exp2", (862, 66), (1367, 23)),
        ("fixed_log2", (463, 64), (688, 23)),
        ("fixed_to_fp_ieee", (291, 82), (507, 20)),
        ("fixed_from_fp_ieee", (328, 49), (407, 18)),
        ("fixed_dot_product", (14_987, 48), (15_346, 14)),
    ] {
        let block = find(name).unwrap();
        for (goal, bound) in [(Goal::Size, size), (Goal::Depth, depth)] {
            let circuit = block.circuit(&block.usual(), goal).unwrap();
            let came = (circuit.and_count(), circuit.depth());
            if came.0 > bound.0 || came.1 > bound.1 {
                over.push(format!("{name}, {goal}: {came:?} over {bound:?}"));
            }
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

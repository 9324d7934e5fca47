//! Floating point against the host (32 and 64 bits), `rustc_apfloat` (other formats) and a model on integers (all, also
//! without denormals and NaN).

use crate::common::lanes::{Lanes, Random, every, low};
use crate::common::softfloat::Model;
use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{IeeeFloat, Semantics};

/// An operation by its name, on the encodings of its operands, if the reference has it.
type Reference = fn(&str, &[u128]) -> Option<u128>;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];
const LANES: usize = 1 << 20;
const SIZES: [[u32; 2]; 5] = [[5, 10], [8, 7], [8, 23], [9, 32], [11, 52]];
/// Formats of which every pair is tried.
const SMALL: [[u32; 2]; 4] = [[3, 2], [4, 3], [3, 4], [3, 7]];

/// An operation: its name in the registry without the mode, how many operands, and what it is on integers.
struct Operation {
    name: &'static str,
    operands: usize,
    model: fn(Model, &[u128]) -> u128,
}

const OPERATIONS: [Operation; 15] = [
    Operation { name: "add", operands: 2, model: |m, x| m.add(x[0], x[1]) },
    Operation { name: "sub", operands: 2, model: |m, x| m.add(x[0], x[1] ^ m.zero(true)) },
    Operation { name: "mul", operands: 2, model: |m, x| m.multiply(x[0], x[1]) },
    Operation { name: "sqr", operands: 1, model: |m, x| m.multiply(x[0], x[0]) },
    Operation { name: "fma", operands: 3, model: |m, x| m.multiply_add(x[0], x[1], x[2]) },
    Operation { name: "div", operands: 2, model: |m, x| m.divide(x[0], x[1]) },
    Operation { name: "sqrt", operands: 1, model: |m, x| m.square_root(x[0]) },
    Operation { name: "min", operands: 2, model: |m, x| m.minimum(x[0], x[1]) },
    Operation { name: "max", operands: 2, model: |m, x| m.maximum(x[0], x[1]) },
    Operation { name: "cmp", operands: 2, model: |m, x| m.compare(x[0], x[1]) },
    Operation { name: "round", operands: 1, model: |m, x| m.integral(x[0], |_, n, r| r > 2 || r == 2 && n % 2 == 1) },
    Operation { name: "round_away", operands: 1, model: |m, x| m.integral(x[0], |_, _, r| r >= 2) },
    Operation { name: "floor", operands: 1, model: |m, x| m.integral(x[0], |sign, _, r| sign && r > 0) },
    Operation { name: "ceil", operands: 1, model: |m, x| m.integral(x[0], |sign, _, r| !sign && r > 0) },
    Operation { name: "trunc", operands: 1, model: |m, x| m.integral(x[0], |_, _, _| false) },
];

fn build(name: &str, model: Model, goal: Goal) -> Circuit {
    let mode = if model.flush { "flush" } else { "ieee" };
    find(&format!("fp_{name}_{mode}")).unwrap().circuit(&[model.exponent, model.fraction], goal).unwrap()
}

fn models(size: [u32; 2]) -> [Model; 2] {
    [false, true].map(|flush| Model { exponent: size[0], fraction: size[1], flush })
}

/// Numbers of one format that are worth trying: uniform, close exponents, few or many set bits, equal or neighbouring
/// magnitudes, all the ends.
fn numbers(exponent: u32, fraction: u32, operands: usize, lanes: usize, seed: u64) -> Lanes {
    let mut random = Random(seed);
    let mut ports: Lanes = vec![Vec::with_capacity(lanes); operands];
    for _ in 0..lanes {
        let mut before = 0;
        for port in &mut ports {
            before = number(&mut random, exponent, fraction, before);
            port.push(before);
        }
    }
    ports
}

fn number(random: &mut Random, exponent: u32, fraction: u32, before: u128) -> u128 {
    let kind = random.word();
    let uniform = u128::from(random.word()) << 64 | u128::from(random.word());
    let near = i128::from(kind >> 8 & 15) - 8;
    let at = (kind >> 16 & 255) as u32 % fraction;
    let f = match kind & 7 {
        0 | 1 => uniform,
        2 => 0,
        3 => low(fraction),
        4 => 1 << at,
        5 => low(fraction) << at,
        6 => low(at),
        _ => (before as i128 + near) as u128,
    } & low(fraction);
    let e = match kind >> 3 & 7 {
        0 | 1 => uniform >> 64,
        2 => (kind >> 24 & 3) as u128,
        3 => low(exponent) - (kind >> 24 & 3) as u128,
        4 => low(exponent - 1) + (kind >> 24 & 3) as u128,
        5 => ((before >> fraction) as i128 + near * 8 + (kind >> 28 & 7) as i128) as u128,
        _ => ((before >> fraction) as i128 + near / 4) as u128,
    } & low(exponent);
    ((kind >> 32 & 1) as u128) << (exponent + fraction) | e << fraction | f
}

/// All outputs of a lane, one above the other.
fn join(circuit: &Circuit, results: &Lanes, lane: usize) -> u128 {
    let outputs = circuit.outputs().iter().zip(results).rev();
    outputs.fold(0, |number, (port, lanes)| number << port.ty.width | lanes[lane])
}

/// Runs a circuit and compares each lane with the reference.
fn compare(circuit: &Circuit, ports: &Lanes, place: &str, reference: impl Fn(&[u128]) -> u128) {
    let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
    let results = Simulator::new(circuit).numbers(&slices);
    let mut operands = vec![0; ports.len()];
    for lane in 0..ports[0].len() {
        operands.iter_mut().zip(ports).for_each(|(operand, port)| *operand = port[lane]);
        let came = join(circuit, &results, lane);
        let expected = reference(&operands);
        assert!(came == expected, "{place} of {operands:x?}: {came:x}, not {expected:x}");
    }
}

fn check(operation: &Operation, model: Model, ports: &Lanes) {
    for goal in GOALS {
        let circuit = build(operation.name, model, goal);
        let place = format!("{} {goal} {model:?}", operation.name);
        compare(&circuit, ports, &place, |x| (operation.model)(model, x));
    }
}

/// Figures of "Automated synthesis of optimized circuits for secure computation" (CCS 2015) and of ABY: ANDs and depth.
const PUBLISHED: [(&str, [u32; 2], u64, u32); 31] = [
    ("add_flush", [8, 23], 1857, 59),
    ("sub_flush", [8, 23], 1820, 59),
    ("add_flush", [9, 32], 2508, 74),
    ("sub_flush", [9, 32], 2490, 69),
    ("add_flush", [11, 52], 4363, 72),
    ("sub_flush", [11, 52], 4303, 72),
    ("cmp_flush", [8, 23], 218, 12),
    ("cmp_flush", [9, 32], 290, 13),
    ("cmp_flush", [11, 52], 427, 15),
    ("mul_flush", [8, 23], 3016, 47),
    ("mul_flush", [9, 32], 4757, 72),
    ("mul_flush", [11, 52], 11068, 111),
    ("sqr_flush", [8, 23], 1550, 28),
    ("sqr_flush", [9, 32], 2681, 30),
    ("sqr_flush", [11, 52], 6596, 36),
    ("div_flush", [8, 23], 5395, 296),
    ("div_flush", [9, 32], 9937, 462),
    ("div_flush", [11, 52], 22741, 994),
    ("sqrt_flush", [8, 23], 2455, 197),
    ("sqrt_flush", [9, 32], 4810, 300),
    ("sqrt_flush", [11, 52], 12706, 557),
    ("add_ieee", [8, 23], 2180, 70),
    ("add_ieee", [11, 52], 4664, 100),
    ("mul_ieee", [8, 23], 4523, 60),
    ("mul_ieee", [11, 52], 15255, 117),
    ("div_ieee", [8, 23], 5468, 306),
    ("div_ieee", [11, 52], 23009, 1004),
    ("sqrt_ieee", [8, 23], 3025, 215),
    ("sqrt_ieee", [11, 52], 12181, 593),
    ("sqr_ieee", [8, 23], 2092, 37),
    ("sqr_ieee", [11, 52], 7674, 57),
];

/// The depth variant has neither more ANDs nor more depth, the size variant half of the ANDs at 4 times the depth.
#[test]
fn published_figures_are_beaten() {
    for (name, size, ands, depth) in PUBLISHED {
        let build = |goal| find(&format!("fp_{name}")).unwrap().circuit(&size, goal).unwrap();
        let [small, shallow] = GOALS.map(build).map(|circuit| (circuit.and_count(), circuit.depth()));
        println!("{name} {size:?} {ands}@{depth}: {}@{}, {}@{}", small.0, small.1, shallow.0, shallow.1);
        assert!(shallow.0 <= ands && shallow.1 <= depth, "{name} {size:?} for depth: {shallow:?}");
        assert!(2 * small.0 <= ands && small.1 <= 4 * depth, "{name} {size:?} for size: {small:?}");
    }
}

/// Prints the costs: `cargo test --test floats -- --ignored --nocapture costs`.
#[test]
#[ignore]
fn costs() {
    for operation in &OPERATIONS {
        for size in SIZES {
            for model in models(size) {
                let of = |goal| {
                    let circuit = build(operation.name, model, goal);
                    format!("{}@{}", circuit.and_count(), circuit.depth())
                };
                let (small, shallow) = (of(Goal::Size), of(Goal::Depth));
                println!(
                    "{:6} {:2}x{:2} flush={:5} {small:>12} {shallow:>12}",
                    operation.name, size[0], size[1], model.flush
                );
            }
        }
    }
}

#[test]
fn every_operand_of_small_formats() {
    for size in SMALL {
        let width = 1 + size[0] + size[1];
        for operation in &OPERATIONS {
            if width * operation.operands as u32 > 22 {
                continue;
            }
            let ports = every(&vec![width; operation.operands]);
            for model in models(size) {
                check(operation, model, &ports);
            }
        }
    }
}

#[test]
fn many_operands_of_every_format() {
    for (seed, size) in SIZES.into_iter().enumerate() {
        let lanes = if size == [8, 23] { LANES } else { LANES / 16 };
        let ports = numbers(size[0], size[1], 3, lanes, seed as u64);
        for operation in &OPERATIONS {
            let ports = ports[..operation.operands].to_vec();
            // What the host can check is left to the host.
            let hosted = lanes == LANES && single(operation.name, &[0; 3]).is_some();
            for model in models(size).into_iter().filter(|model| model.flush || !hosted) {
                check(operation, model, &ports);
            }
        }
    }
}

#[test]
fn predicates() {
    let tests: [(&str, u128); 5] = [("eq", 2), ("lt", 1), ("le", 3), ("gt", 4), ("ge", 6)];
    for (size, lanes) in [([3, 2], every(&[6; 2])), ([8, 23], numbers(8, 23, 2, LANES, 7))] {
        for model in models(size) {
            for goal in GOALS {
                for (name, relations) in tests {
                    let circuit = build(name, model, goal);
                    compare(&circuit, &lanes, name, |x| u128::from(model.compare(x[0], x[1]) & relations != 0));
                }
                let [exponent, fraction] = size;
                let build = |name: &str| find(name).unwrap().circuit(&[exponent, fraction], goal).unwrap();
                let ieee = Model { flush: false, ..model };
                compare(&build("fp_unordered"), &lanes, "unordered", |x| ieee.compare(x[0], x[1]) >> 3);
                compare(&build("fp_total_order"), &lanes, "total order", |x| {
                    u128::from(model.place(x[0]) <= model.place(x[1]))
                });
            }
        }
    }
}

#[test]
fn integers_to_floats_and_back() {
    let formats = [([3, 2], 1 << 6), ([3, 5], 1 << 9), ([5, 10], 1 << 16), ([8, 23], LANES), ([11, 52], LANES)];
    for ([exponent, fraction], lanes) in formats {
        for (width, model) in [5, 8, 16, 32, 64].into_iter().flat_map(|n| models([exponent, fraction]).map(|m| (n, m)))
        {
            let mode = if model.flush { "flush" } else { "ieee" };
            let few = 1 + exponent + fraction <= 16;
            let floats = if few { every(&[model.width()]) } else { numbers(exponent, fraction, 1, lanes / 32, 3) };
            let mut random = Random(u64::from(width));
            let integers = (0..lanes as u128 / 32).map(|_| {
                let kind = random.word();
                let near = 1u128 << ((kind >> 8) % u64::from(width));
                let uniform = u128::from(random.word()) >> ((kind >> 16) % u64::from(width));
                (if kind & 1 == 0 { uniform } else { near.wrapping_add(u128::from(kind >> 32 & 3)).wrapping_sub(2) })
                    & low(width)
            });
            let integers = if width <= 8 { every(&[width]) } else { vec![integers.collect()] };
            for goal in GOALS {
                let build = |name: &str| {
                    find(&format!("fp_{name}_{mode}")).unwrap().circuit(&[exponent, fraction, width], goal).unwrap()
                };
                let half = 1i128 << (width - 1);
                let signed = |x: u128| if x as i128 >= half { x as i128 - 2 * half } else { x as i128 };
                compare(&build("from_uint"), &integers, "from uint", |x| model.nearest(x[0] as i128));
                compare(&build("from_int"), &integers, "from int", |x| model.nearest(signed(x[0])));
                compare(&build("to_uint"), &floats, "to uint", |x| model.integer(x[0], 0, 2 * half - 1) as u128);
                compare(&build("to_int"), &floats, "to int", |x| {
                    model.integer(x[0], -half, half - 1) as u128 & low(width)
                });
            }
        }
    }
}

#[test]
fn between_formats() {
    let sizes = [[5, 10], [8, 7], [8, 23], [9, 32], [11, 52], [3, 4], [3, 12]];
    for (seed, (from, to)) in sizes.into_iter().flat_map(|a| sizes.map(|b| (a, b))).enumerate() {
        let ports = match 1 + from[0] + from[1] {
            width @ ..=16 => every(&[width]),
            _ => numbers(from[0], from[1], 1, LANES / 32, seed as u64),
        };
        for (source, target) in models(from).into_iter().zip(models(to)) {
            for goal in GOALS {
                let name = if source.flush { "fp_convert_flush" } else { "fp_convert_ieee" };
                let circuit = find(name).unwrap().circuit(&[from, to].concat(), goal).unwrap();
                let place = format!("{source:?} to {target:?}");
                compare(&circuit, &ports, &place, |x| target.encode(source.decode(x[0])));
            }
        }
    }
}

/// The arithmetic operations on one host type, by their names here.
macro_rules! host {
    ($name:ident, $float:ident, $bits:ident) => {
        fn $name(operation: &str, x: &[u128]) -> Option<u128> {
            let float = |i: usize| $float::from_bits(x[i] as $bits);
            let result = match operation {
                "add" => float(0) + float(1),
                "sub" => float(0) - float(1),
                "mul" => float(0) * float(1),
                "sqr" => float(0) * float(0),
                "fma" => float(0).mul_add(float(1), float(2)),
                "div" => float(0) / float(1),
                "sqrt" => float(0).sqrt(),
                "round" => float(0).round_ties_even(),
                "round_away" => float(0).round(),
                "floor" => float(0).floor(),
                "ceil" => float(0).ceil(),
                "trunc" => float(0).trunc(),
                _ => return None,
            };
            let nan = $float::INFINITY.to_bits() | 1 << ($float::MANTISSA_DIGITS - 2);
            Some(if result.is_nan() { nan } else { result.to_bits() }.into())
        }
    };
}

host!(single, f32, u32);
host!(double, f64, u64);

#[test]
fn as_the_host() {
    let hosts: [([u32; 2], Reference); 2] = [([8, 23], single), ([11, 52], double)];
    for ([exponent, fraction], host) in hosts {
        let lanes = if fraction == 23 { LANES } else { LANES / 8 };
        let ports = numbers(exponent, fraction, 3, lanes, 11);
        let model = Model { exponent, fraction, flush: false };
        for operation in &OPERATIONS {
            if host(operation.name, &[0; 3]).is_none() {
                continue;
            }
            let ports = ports[..operation.operands].to_vec();
            for goal in GOALS {
                let circuit = build(operation.name, model, goal);
                compare(&circuit, &ports, operation.name, |x| host(operation.name, x).expect("the host has it"));
            }
        }
    }
}

/// A format of `rustc_apfloat`.
struct Soft<const EXPONENT: usize, const FRACTION: usize>;

impl<const EXPONENT: usize, const FRACTION: usize> Semantics for Soft<EXPONENT, FRACTION> {
    const BITS: usize = 1 + EXPONENT + FRACTION;
    const EXP_BITS: usize = EXPONENT;
}

fn soft<const EXPONENT: usize, const FRACTION: usize>(operation: &str, x: &[u128]) -> Option<u128> {
    let float = |i: usize| IeeeFloat::<Soft<EXPONENT, FRACTION>>::from_bits(x[i]);
    let result = match operation {
        "add" => float(0) + float(1),
        "sub" => float(0) - float(1),
        "mul" => float(0) * float(1),
        "fma" => float(0).mul_add(float(1), float(2)),
        "div" => float(0) / float(1),
        _ => return None,
    };
    let invalid = Model { exponent: EXPONENT as u32, fraction: FRACTION as u32, flush: false }.invalid();
    Some(if result.value.is_nan() { invalid } else { result.value.to_bits() })
}

#[test]
fn as_another_soft_float() {
    let softs: [([u32; 2], Reference); 4] =
        [([5, 10], soft::<5, 10>), ([8, 7], soft::<8, 7>), ([9, 32], soft::<9, 32>), ([4, 9], soft::<4, 9>)];
    for ([exponent, fraction], soft) in softs {
        let ports = numbers(exponent, fraction, 3, LANES / 16, 13);
        let model = Model { exponent, fraction, flush: false };
        for operation in &OPERATIONS {
            if soft(operation.name, &[0; 3]).is_none() {
                continue;
            }
            let ports = ports[..operation.operands].to_vec();
            for goal in GOALS {
                let circuit = build(operation.name, model, goal);
                compare(&circuit, &ports, operation.name, |x| soft(operation.name, x).expect("the library has it"));
            }
        }
    }
}

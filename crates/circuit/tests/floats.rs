//! Floating point against the host, a soft float of any format, and a model on integers.

#[path = "common/softfloat.rs"]
mod softfloat;

use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};
use softfloat::Model;

/// Numbers for each input port.
type Lanes = Vec<Vec<u128>>;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];
const LANES: usize = 1 << 20;
const SIZES: [[u32; 2]; 5] = [[5, 10], [8, 7], [8, 23], [9, 32], [11, 52]];
/// Formats of which every pair is tried.
const SMALL: [[u32; 2]; 4] = [[3, 2], [4, 3], [2, 3], [3, 7]];

/// An operation: its name in the registry without the mode, how many operands, and what it is on integers.
struct Operation {
    name: &'static str,
    operands: usize,
    model: fn(Model, &[u128]) -> u128,
}

const OPERATIONS: [Operation; 4] = [
    Operation { name: "add", operands: 2, model: |m, x| m.add(x[0], x[1]) },
    Operation { name: "sub", operands: 2, model: |m, x| m.add(x[0], x[1] ^ m.zero(true)) },
    Operation { name: "mul", operands: 2, model: |m, x| m.multiply(x[0], x[1]) },
    Operation { name: "sqr", operands: 1, model: |m, x| m.multiply(x[0], x[0]) },
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

/// Every combination of operands of this width.
fn every(width: u32, operands: usize) -> Lanes {
    let lanes = 0..1u128 << (width * operands as u32);
    (0..operands as u32).map(|i| lanes.clone().map(|lane| lane >> (i * width) & low(width)).collect()).collect()
}

fn low(width: u32) -> u128 {
    (1 << width) - 1
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }
}

/// Runs a circuit and compares each lane with the reference.
fn compare(circuit: &Circuit, ports: &Lanes, place: &str, reference: impl Fn(&[u128]) -> u128) {
    let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
    let results = Simulator::new(circuit).numbers(&slices);
    let mut operands = vec![0; ports.len()];
    for lane in 0..ports[0].len() {
        operands.iter_mut().zip(ports).for_each(|(operand, port)| *operand = port[lane]);
        let (came, expected) = (results[0][lane], reference(&operands));
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
            let ports = every(width, operation.operands);
            for model in models(size) {
                check(operation, model, &ports);
            }
        }
    }
}

#[test]
fn many_operands_of_every_format() {
    for (seed, size) in SIZES.into_iter().enumerate() {
        let ports = numbers(size[0], size[1], 3, LANES, seed as u64);
        for operation in &OPERATIONS {
            for model in models(size) {
                check(operation, model, &ports[..operation.operands].to_vec());
            }
        }
    }
}

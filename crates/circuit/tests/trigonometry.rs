//! Sines and their kin against the host's functions and against numbers of arbitrary precision.

use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    find(name).unwrap().circuit(size, goal).unwrap()
}

fn run(circuit: &Circuit, inputs: &[u128]) -> Vec<u128> {
    Simulator::new(circuit).numbers(&[inputs]).swap_remove(0)
}

/// The largest error of an integer sine, in units of the last place, by the host's doubles.
fn integer_error(circuit: &Circuit, width: u32, inputs: &[u128], exact: fn(f64) -> f64) -> f64 {
    let results = run(circuit, inputs);
    let error = |(&input, result): (&u128, u128)| {
        let half_turns = signed(input, width) as f64 / 2f64.powi(width as i32 - 1);
        (exact(half_turns) * 2f64.powi(width as i32 - 2) - signed(result, width) as f64).abs()
    };
    inputs.iter().zip(results).map(error).fold(0.0, f64::max)
}

fn sin_pi(x: f64) -> f64 {
    // Exact reduction: the host's sine is for radians.
    let x = x - 2.0 * (x / 2.0).round();
    if x.abs() <= 0.5 { (x * std::f64::consts::PI).sin() } else { ((x.signum() - x) * std::f64::consts::PI).sin() }
}

fn cos_pi(x: f64) -> f64 {
    let x = (x - 2.0 * (x / 2.0).round()).abs();
    sin_pi(0.5 - x)
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

/// The number in two's complement with these bits.
fn signed(value: u128, width: u32) -> i128 {
    ((value << (128 - width)) as i128) >> (128 - width)
}

#[test]
fn integers_are_within_a_unit() {
    for goal in GOALS {
        for (name, exact) in [("int_sin", sin_pi as fn(f64) -> f64), ("int_cos", cos_pi)] {
            for width in 3..=16 {
                let circuit = build(name, &[width], goal);
                let error = integer_error(&circuit, width, &(0..1 << width).collect::<Vec<_>>(), exact);
                if std::env::var("SHOW").is_ok() {
                    println!("{name} {width} {goal} {error} {} {}", circuit.and_count(), circuit.depth());
                }
                assert!(error < 0.999, "{name} of {width} bits for {goal}: {error}");
            }
        }
    }
}

#[test]
fn wide_integers_are_within_a_unit() {
    let mut random = Random(1);
    let mut inputs: Vec<u128> = (0..1 << 20).map(|_| u128::from(random.word())).collect();
    inputs.extend((0..32).flat_map(|bit| (0..9).map(move |near| (1u128 << bit).wrapping_add(near).wrapping_sub(4))));
    for width in [24, 32] {
        let inputs: Vec<u128> = inputs.iter().map(|input| input & ((1 << width) - 1)).collect();
        for goal in GOALS {
            for (name, exact) in [("int_sin", sin_pi as fn(f64) -> f64), ("int_cos", cos_pi)] {
                let circuit = build(name, &[width], goal);
                let error = integer_error(&circuit, width, &inputs, exact);
                if std::env::var("SHOW").is_ok() {
                    println!("{name} {width} {goal} {error} {} {}", circuit.and_count(), circuit.depth());
                }
                assert!(error < 0.999, "{name} of {width} bits for {goal}: {error}");
            }
        }
    }
}

/// A floating-point format: bits of exponent and fraction.
type Shape = [u32; 2];

const HALF: Shape = [5, 10];
const BFLOAT16: Shape = [8, 7];
const SINGLE: Shape = [8, 23];

/// The value of an encoding, in a format that doubles contain.
fn decode([exponent, fraction]: Shape, bits: u128) -> f64 {
    let stored = (bits >> fraction & ((1 << exponent) - 1)) as i32;
    let low = (bits & ((1 << fraction) - 1)) as f64;
    let bias = (1 << (exponent - 1)) - 1;
    let magnitude = match stored {
        0 => low * 2f64.powi(1 - bias - fraction as i32),
        _ if stored == (1 << exponent) - 1 => {
            if low == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        _ => (low + 2f64.powi(fraction as i32)) * 2f64.powi(stored - bias - fraction as i32),
    };
    if bits >> (exponent + fraction) == 1 { -magnitude } else { magnitude }
}

/// How far the result is from the exact value, in units of the last place of the exact value (those of a power of two
/// are the smaller ones below it). Infinite if it has the wrong kind or sign.
fn units([exponent, fraction]: Shape, flush: bool, result: f64, exact: f64) -> f64 {
    let least = 2 - (1 << (exponent - 1));
    if exact.is_nan() {
        let came = if flush { result == f64::INFINITY } else { result.is_nan() };
        return if came { 0.0 } else { f64::INFINITY };
    }
    if exact.is_infinite() || exact == 0.0 {
        let same = result == exact && result.is_sign_negative() == exact.is_sign_negative();
        return if same { 0.0 } else { f64::INFINITY };
    }
    if result.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let most = (2.0 - 2f64.powi(-(fraction as i32))) * 2f64.powi(1 - least);
    if result.is_infinite() {
        return if exact.abs() > most { 0.0 } else { f64::INFINITY };
    }
    let binade = |x: f64| ((x.abs().to_bits() >> 52) as i32 - 1023).max(least);
    let tiny = 2f64.powi(least);
    if flush && exact.abs() < tiny {
        return if result == 0.0 || (result.abs() == tiny && exact.abs() > tiny * (1.0 - 2f64.powi(-(fraction as i32))))
        {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let unit = 2f64.powi(binade(exact) - fraction as i32);
    // Across a power of two, units are those of the lower side.
    let across = result.abs() < 2f64.powi(binade(exact)) && binade(exact) > least;
    (result - exact).abs() / if across { unit / 2.0 } else { unit }
}

/// Exact values of the functions by the host, to about 2^-50.
fn host(name: &str, x: f64) -> f64 {
    match name {
        "sin_pi" if x.is_infinite() => f64::NAN,
        "sin_pi" => {
            if x == x.trunc() {
                0f64.copysign(x)
            } else {
                sin_pi(x)
            }
        }
        "cos_pi" if x.is_infinite() => f64::NAN,
        "cos_pi" => {
            if x.abs() % 1.0 == 0.5 {
                0.0
            } else {
                cos_pi(x)
            }
        }
        "tan_pi" => tan_pi(x),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "atan" => x.atan(),
        _ => unreachable!("{name}"),
    }
}

fn tan_pi(x: f64) -> f64 {
    let odd = x.abs() % 2.0 >= 1.0;
    match x.abs() % 1.0 {
        rest if rest.is_nan() => f64::NAN,
        0.0 => if odd { -0f64 } else { 0.0 }.copysign(if odd { -x } else { x }),
        0.5 => {
            if odd == (x > 0.0) {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        _ => sin_pi(x) / cos_pi(x),
    }
}

/// The value of an argument, with denormals flushed and special numbers as the mode has them.
fn argument(shape: Shape, flush: bool, bits: u128) -> f64 {
    let x = decode(shape, bits);
    match x {
        x if flush && x.abs() < 2f64.powi(2 - (1 << (shape[0] - 1))) => 0f64.copysign(x),
        x if flush && x.is_nan() => f64::INFINITY.copysign(if bits >> (shape[0] + shape[1]) == 1 { -1.0 } else { 1.0 }),
        x => x,
    }
}

const FUNCTIONS: [&str; 8] = ["sin_pi", "cos_pi", "tan_pi", "sin", "cos", "tan", "asin", "atan"];

/// Runs a function on these encodings and returns the largest error and where it is.
fn largest_error(name: &str, shape: Shape, flush: bool, circuit: &Circuit, inputs: &[u128]) -> (f64, u128, u128) {
    let results = run(circuit, inputs);
    let mut worst = (-1.0, 0, 0);
    for (&input, result) in inputs.iter().zip(results) {
        let exact = host(name, argument(shape, flush, input));
        let error = units(shape, flush, decode(shape, result), exact);
        if error > worst.0 {
            worst = (error, input, result);
        }
    }
    worst
}

fn check_floats(name: &str, shape: Shape, inputs: &[u128]) {
    for flush in [false, true] {
        for goal in GOALS {
            let mode = if flush { "flush" } else { "ieee" };
            let start = std::time::Instant::now();
            let circuit = build(&format!("fp_{name}_{mode}"), &shape, goal);
            let time = start.elapsed();
            let (error, input, result) = largest_error(name, shape, flush, &circuit, inputs);
            let place = format!("{name} {mode} {shape:?} for {goal}");
            if std::env::var("SHOW").is_ok() {
                let exact = host(name, argument(shape, flush, input));
                println!(
                    "{place}: {} ANDs, depth {}, {time:?}, error {error} at {input:#x} ({}): {result:#x} ({}) not {exact}",
                    circuit.and_count(),
                    circuit.depth(),
                    decode(shape, input),
                    decode(shape, result)
                );
                if error < 0.9999 {
                    continue;
                } else {
                    println!("^^^^^^ WRONG");
                    continue;
                }
            }
            assert!(error < 0.9999, "{place}: error {error} at {input:#x}: {result:#x}");
        }
    }
}

#[test]
fn every_half_is_faithful() {
    let all: Vec<u128> = (0..1 << 16).collect();
    FUNCTIONS.iter().for_each(|name| check_floats(name, HALF, &all));
}

#[test]
fn every_bfloat16_is_faithful() {
    let all: Vec<u128> = (0..1 << 16).collect();
    FUNCTIONS.iter().for_each(|name| check_floats(name, BFLOAT16, &all));
}

#[test]
fn singles_are_faithful() {
    let inputs = single_inputs(1 << 20);
    FUNCTIONS.iter().for_each(|name| check_floats(name, SINGLE, &inputs));
}

/// Random encodings, random angles of a usual size, neighbours of multiples of quarter-turns, and the extremes.
fn single_inputs(count: usize) -> Vec<u128> {
    let mut random = Random(2);
    let mut inputs: Vec<f32> = vec![10741887.0 * 2f32.powi(11)];
    inputs.extend((0..count / 2).map(|_| f32::from_bits(random.word() as u32)));
    inputs.extend((0..count / 4).map(|_| (random.word() as i32) as f32 * 2f32.powi(-27)));
    let quarters: Vec<f32> =
        (0..count / 32).map(|i| if i % 2 == 0 { i as f32 / 4.0 } else { (random.word() >> 40) as f32 / 4.0 }).collect();
    for quarter in quarters {
        for near in [quarter, (f64::from(quarter) * std::f64::consts::PI) as f32] {
            inputs.extend([-1i32, 0, 1].map(|step| f32::from_bits(near.to_bits().saturating_add_signed(step))));
        }
    }
    let encodings = inputs.iter().map(|x| x.to_bits());
    let edges = (0..256u32).flat_map(|exponent| {
        [0, 1, 2, (1 << 22) - 1, 1 << 22, (1 << 23) - 2, (1 << 23) - 1].map(|f| exponent << 23 | f)
    });
    encodings.chain(edges).flat_map(|bits| [u128::from(bits), u128::from(bits ^ 1 << 31)]).collect()
}

//! Sines and their kin against the host's functions and against numbers of arbitrary precision.

use crate::common::lanes::{Random, signed};
use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};
use num_bigint::BigInt;

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

#[test]
fn integers_are_within_a_unit() {
    for goal in GOALS {
        for (name, exact) in [("int_sin", sin_pi as fn(f64) -> f64), ("int_cos", cos_pi)] {
            for width in 3..=16 {
                let circuit = build(name, &[width], goal);
                let error = integer_error(&circuit, width, &(0..1 << width).collect::<Vec<_>>(), exact);
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
const PAPER: Shape = [9, 32];
const DOUBLE: Shape = [11, 52];

/// The value of an encoding, in a format that doubles contain.
fn decode([exponent, fraction]: Shape, bits: u128) -> f64 {
    let stored = (bits >> fraction & ((1 << exponent) - 1)) as i32;
    let low = (bits & ((1 << fraction) - 1)) as f64;
    let bias = (1 << (exponent - 1)) - 1;
    let magnitude = match stored {
        0 => low * 2f64.powi(-(fraction as i32)) * 2f64.powi(1 - bias),
        _ if stored == (1 << exponent) - 1 => {
            if low == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        _ => (1.0 + low * 2f64.powi(-(fraction as i32))) * 2f64.powi(stored - bias),
    };
    if bits >> (exponent + fraction) == 1 { -magnitude } else { magnitude }
}

/// How far the result is from the exact value, in units of the last place of the exact value (those of a power of two
/// are the smaller ones below it). Infinite if it has the wrong kind or sign, or is another NaN than the canonical one.
fn units(shape: Shape, flush: bool, bits: u128, exact: f64) -> f64 {
    let [exponent, fraction] = shape;
    let least = 2 - (1 << (exponent - 1));
    if exact.is_nan() {
        let infinity = ((1 << exponent) - 1) << fraction;
        let canonical = if flush { infinity } else { infinity | 1 << (fraction - 1) };
        return if bits == canonical { 0.0 } else { f64::INFINITY };
    }
    let result = decode(shape, bits);
    if result.is_nan() {
        return f64::INFINITY;
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
    // In two steps: the least double is below what powi inverts.
    let unit = 2f64.powi(binade(exact)) * 2f64.powi(-(fraction as i32));
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

/// The circuits of a function for both goals, and what to call them.
fn circuits(name: &str, shape: Shape, flush: bool) -> [(String, Circuit); 2] {
    let mode = if flush { "flush" } else { "ieee" };
    GOALS.map(|goal| (format!("{name} {mode} {shape:?} for {goal}"), build(&format!("fp_{name}_{mode}"), &shape, goal)))
}

/// Checks a function on these encodings against the host, to this many units. Where that is NaN, there is one.
fn check_floats(name: &str, shape: Shape, inputs: &[u128], limit: f64) {
    for flush in [false, true] {
        let exact = host_values(name, shape, flush, inputs);
        for (place, circuit) in circuits(name, shape, flush) {
            check_near(shape, flush, &place, inputs, &run(&circuit, inputs), &exact, limit);
        }
    }
}

fn host_values(name: &str, shape: Shape, flush: bool, inputs: &[u128]) -> Vec<f64> {
    inputs.iter().map(|&input| host(name, argument(shape, flush, input))).collect()
}

fn check_near(shape: Shape, flush: bool, place: &str, inputs: &[u128], results: &[u128], exact: &[f64], limit: f64) {
    for ((&input, &result), &exact) in inputs.iter().zip(results).zip(exact) {
        let error = units(shape, flush, result, exact);
        assert!(error < limit, "{place}: error {error} at {input:#x}: {result:#x}, not {exact:e}");
    }
}

/// By the host's doubles, near enough to tell all smaller formats.
const NEAR: f64 = 0.9999;

#[test]
fn every_half_is_faithful() {
    let all: Vec<u128> = (0..1 << 16).collect();
    FUNCTIONS.iter().for_each(|name| check_floats(name, HALF, &all, NEAR));
}

#[test]
fn every_bfloat16_is_faithful() {
    let all: Vec<u128> = (0..1 << 16).collect();
    FUNCTIONS.iter().for_each(|name| check_floats(name, BFLOAT16, &all, NEAR));
}

/// A million lanes and more.
#[test]
fn singles_are_faithful() {
    let inputs = inputs(SINGLE, 5 << 17);
    FUNCTIONS.iter().for_each(|name| check_floats(name, SINGLE, &inputs, NEAR));
}

/// About 60,000 lanes against the host, whose own errors are up to some 3 units of doubles, and 15,000 against numbers of
/// arbitrary precision: one circuit for both, because building takes longest, and one reference for modes and goals.
#[test]
fn doubles_and_paper_floats_are_between_their_neighbours() {
    let reference = Precise::new();
    for (shape, limit) in [(PAPER, NEAR), (DOUBLE, 4.0)] {
        let (many, few) = (inputs(shape, 1 << 15), inputs(shape, 4_000));
        for name in FUNCTIONS {
            let mut precise: Vec<_> = few.iter().map(|&input| reference.value(name, shape, false, input)).collect();
            for flush in [false, true] {
                let tiny = |input: u128| flush && input >> shape[1] & ((1 << shape[0]) - 1) == 0;
                for (&input, value) in few.iter().zip(&mut precise).filter(|(input, _)| tiny(**input)) {
                    *value = reference.value(name, shape, flush, input);
                }
                let near = host_values(name, shape, flush, &many);
                for (place, circuit) in circuits(name, shape, flush) {
                    check_near(shape, flush, &place, &many, &run(&circuit, &many), &near, limit);
                    check_between(shape, flush, &place, &few, &run(&circuit, &few), &precise);
                }
            }
        }
    }
}

fn check_between(shape: Shape, flush: bool, place: &str, inputs: &[u128], results: &[u128], exact: &[Option<Scaled>]) {
    for ((&input, &result), exact) in inputs.iter().zip(results).zip(exact) {
        if let Some(exact) = exact {
            assert!(exact.is_between(shape, flush, result), "{place} at {input:#x}: {result:#x}");
        }
    }
}

/// About 1.7·count encodings: any, angles of a usual size, neighbours of multiples of quarter-turns; and the extremes of
/// 256 binades and more.
fn inputs(shape: Shape, count: usize) -> Vec<u128> {
    let [exponent, fraction] = shape;
    let mut random = Random(2);
    let mask = (1 << (exponent + fraction)) - 1;
    // Angles very near to multiples of a quarter-turn in radians.
    let near: [f64; 3] =
        [10741887.0 * 2f64.powi(11), 6504784211.0 * 2f64.powi(34), 6411027962775774.0 * 2f64.powi(-47)];
    let mut inputs: Vec<u128> = near.iter().map(|&x| encode(shape, x)).collect();
    inputs.extend((0..count / 2).map(|_| u128::from(random.word()) & mask));
    inputs.extend((0..count / 4).map(|_| encode(shape, random.word() as f64 * 2f64.powi(-61))));
    for i in 0..count / 32 {
        let quarter = if i % 2 == 0 { i as f64 } else { (random.word() >> (63 - fraction)) as f64 } / 4.0;
        for near in [quarter, quarter * std::f64::consts::PI] {
            let near = encode(shape, near);
            inputs.extend([near.saturating_sub(1), near, near + 1]);
        }
    }
    let fractions = [0, 1, 2, (1 << (fraction - 1)) - 1, 1 << (fraction - 1), (1 << fraction) - 2, (1 << fraction) - 1];
    let (step, one) = (1 << exponent.saturating_sub(8), (1u128 << (exponent - 1)) - 1);
    let binades = (0..1u128 << exponent)
        .filter(|&stored| stored % step == 0 || (stored + 1) % step == 0 || stored.abs_diff(one) < 64);
    inputs.extend(binades.flat_map(|stored| fractions.map(|low| stored << fraction | low)));
    inputs.iter().flat_map(|&bits| [bits, bits | 1 << (exponent + fraction)]).collect()
}

/// The encoding of a double, its fraction cut off; it has to be normal.
fn encode([exponent, fraction]: Shape, x: f64) -> u128 {
    let bits = x.to_bits();
    if x == 0.0 {
        return 0;
    }
    let stored = (bits >> 52) as i32 - 1023 + (1 << (exponent - 1)) - 1;
    if stored >= (1 << exponent) - 1 {
        return 0;
    }
    (stored as u128) << fraction | u128::from(bits << 12 >> (64 - fraction))
}

/// Functions to any precision, by other series than those of the library.
struct Precise {
    pi: BigInt,
}

/// A number times 2^bits.
struct Scaled {
    value: BigInt,
    bits: i64,
}

/// More bits than π needs for the largest and the smallest angle.
const PI_BITS: i64 = 2600;

impl Precise {
    fn new() -> Self {
        // Hutton: π = 8·arctan(1/3) + 4·arctan(1/7).
        let arctan = |n: i64| {
            let (mut sum, mut power, mut k) = (BigInt::ZERO, (BigInt::from(1) << PI_BITS) / n, 1);
            while power != BigInt::ZERO {
                sum += &power / k;
                power /= -n * n;
                k += 2;
            }
            sum
        };
        Precise { pi: 8 * arctan(3) + 4 * arctan(7) }
    }

    /// The value at a number, or none if it is special.
    fn value(&self, name: &str, shape: Shape, flush: bool, input: u128) -> Option<Scaled> {
        let (negative, significand, exponent) = parts(shape, flush, input)?;
        // So many that the angle is a whole number, and even a small one has 240 bits.
        let bits = 240 - exponent.min(0);
        let x = shifted(&BigInt::from(significand), bits + exponent);
        let value = match name {
            "asin" | "atan" => self.inverse(name, &x, bits)?,
            _ => self.circular(name, &x, bits)?,
        };
        let negative = negative && !name.starts_with("cos");
        Some(Scaled { value: if negative { -value } else { value }, bits })
    }

    fn circular(&self, name: &str, x: &BigInt, bits: i64) -> Option<BigInt> {
        let extra = PI_BITS - bits;
        // In quarter-turns: a whole number and a rest up to one half; the rest in radians.
        let (quarters, rest) = if name.ends_with("_pi") {
            let quarters: BigInt = (x * 2 + (BigInt::from(1) << (bits - 1))) >> bits;
            let rest = x * 2 - (&quarters << bits);
            (quarters, (rest * &self.pi) >> (PI_BITS + 1))
        } else {
            let half_pi: BigInt = &self.pi >> 1;
            let wide: BigInt = x << extra;
            let quarters: BigInt = (&wide + (&half_pi >> 1)) / &half_pi;
            (quarters.clone(), (wide - quarters * half_pi) >> extra)
        };
        let (sin, cos) = sin_cos(&rest, bits);
        let quadrant = (quarters & BigInt::from(3)).try_into().ok()?;
        let (sin, cos): (BigInt, BigInt) = match quadrant {
            0u32 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        };
        match &name[..3] {
            "sin" => Some(sin),
            "cos" => Some(cos),
            _ if cos == BigInt::ZERO => None,
            _ => Some((sin << bits) / cos),
        }
    }

    /// By Newton's method, from the host's value.
    fn inverse(&self, name: &str, x: &BigInt, bits: i64) -> Option<BigInt> {
        let one = BigInt::from(1) << bits;
        if name == "asin" && x >= &one {
            return (x == &one).then(|| &self.pi >> (PI_BITS - bits + 1));
        }
        if x.bits() as i64 + 40 < bits - 80 {
            // x³ is far below the last place of x.
            return Some(x.clone());
        }
        // asin x = atan x/√(1 − x²), and tan(atan t − y) = (t·cos y − sin y)/(cos y + t·sin y).
        let t = match name {
            "asin" => (x << bits) / ((&one << bits) - x * x).sqrt(),
            _ => x.clone(),
        };
        if t.bits() as i64 > bits + 200 {
            return Some(&self.pi >> (PI_BITS - bits + 1));
        }
        let mut y = shifted(&BigInt::from((float(&t, bits).atan() * 2f64.powi(60)) as i64), bits - 60);
        for _ in 0..3 {
            let (sin, cos) = sin_cos(&y, bits);
            y += ((&t * &cos - (&sin << bits)) << bits) / ((cos << bits) + &t * sin);
        }
        Some(y)
    }
}

impl Scaled {
    /// Whether the value lies strictly between the neighbours of this result, or is it.
    fn is_between(&self, shape: Shape, flush: bool, result: u128) -> bool {
        let [exponent, fraction] = shape;
        let sign = 1u128 << (exponent + fraction);
        let (negative, magnitude) = (result & sign != 0, result & (sign - 1));
        let value = if negative { -&self.value } else { self.value.clone() };
        let of = |bits: u128| match parts(shape, false, bits) {
            Some((_, significand, exponent)) => shifted(&BigInt::from(significand), self.bits + exponent),
            // Infinity follows the largest number.
            None => BigInt::from(1) << (self.bits + (1 << (shape[0] - 1))),
        };
        let infinity = ((1u128 << exponent) - 1) << fraction;
        match magnitude {
            // A zero of either sign: the tests of halves look at signs.
            0 => value == BigInt::ZERO || flush && value < of(1 << fraction) && value > -of(1 << fraction),
            _ if magnitude > infinity => false,
            _ if magnitude == infinity => value > of(infinity - 1),
            _ => value == of(magnitude) || of(magnitude - 1) < value && value < of(magnitude + 1),
        }
    }
}

/// Sign, significand and the exponent of its lowest bit; none of infinities and NaN.
fn parts([exponent, fraction]: Shape, flush: bool, bits: u128) -> Option<(bool, u128, i64)> {
    let stored = bits >> fraction & ((1 << exponent) - 1);
    let low = bits & ((1 << fraction) - 1);
    let bias = (1i64 << (exponent - 1)) - 1;
    let negative = bits >> (exponent + fraction) == 1;
    match stored {
        _ if stored == (1 << exponent) - 1 => None,
        0 if flush => Some((negative, 0, 0)),
        0 => Some((negative, low, 1 - bias - i64::from(fraction))),
        _ => Some((negative, low | 1 << fraction, stored as i64 - bias - i64::from(fraction))),
    }
}

fn shifted(x: &BigInt, by: i64) -> BigInt {
    if by < 0 { x >> -by } else { x << by }
}

fn float(x: &BigInt, bits: i64) -> f64 {
    let excess = (x.bits() as i64 - 62).max(0);
    let digits: i64 = (x >> excess).try_into().expect("62 bits");
    digits as f64 * 2f64.powi((excess - bits) as i32)
}

fn sin_cos(x: &BigInt, bits: i64) -> (BigInt, BigInt) {
    let (mut sin, mut cos) = (BigInt::ZERO, BigInt::ZERO);
    let mut term = BigInt::from(1) << bits;
    for n in 1.. {
        if term == BigInt::ZERO || term == BigInt::from(-1) {
            break;
        }
        match n % 4 {
            1 => cos += &term,
            2 => sin += &term,
            3 => cos -= &term,
            _ => sin -= &term,
        }
        term = ((&term * x) >> bits) / n;
    }
    (sin, cos)
}

/// Formats with few exponents for their fraction: angles below all exponents, and tables with few entries.
const NARROW: [Shape; 10] = [[3, 2], [3, 3], [3, 4], [4, 2], [4, 3], [4, 4], [4, 6], [5, 2], [8, 2], [8, 3]];

#[test]
fn every_narrow_float_is_faithful() {
    for shape in NARROW {
        let all: Vec<u128> = (0..2 << (shape[0] + shape[1])).collect();
        FUNCTIONS.iter().for_each(|name| check_floats(name, shape, &all, NEAR));
    }
}

#[test]
fn half_turns_of_long_fractions_are_faithful() {
    for shape in [[5, 14], [5, 18]] {
        let all: Vec<u128> = (0..2 << (shape[0] + shape[1])).step_by(7).chain([0x37fff, 0x38001, 0x38405]).collect();
        ["sin_pi", "cos_pi", "tan_pi"].iter().for_each(|name| check_floats(name, shape, &all, NEAR));
    }
}

#[test]
fn extreme_shapes_are_built() {
    for (name, shape) in [("asin", [5, 40]), ("atan", [3, 2]), ("tan_pi", [3, 40]), ("sin_pi", [11, 2])] {
        circuits(name, shape, false);
        circuits(name, shape, true);
    }
}

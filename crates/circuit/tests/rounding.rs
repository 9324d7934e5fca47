//! Five directions of rounding and the status flags: against `rustc_apfloat`, and against exact values on big integers.

use crate::common::lanes::{Lanes, Random, every, low};
use crate::common::softfloat::Model;
use crate::common::softfloat::Value::{Finite, Infinite, Nan};
use circuit::blocks::float::Rounding;
use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};
use num_bigint::BigUint;
use rustc_apfloat::ieee::{IeeeFloat, Semantics};
use rustc_apfloat::{Float, Round, Status};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];
const INVALID: u128 = 1;
const DIVIDE_BY_ZERO: u128 = 2;
const OVERFLOW: u128 = 4;
const UNDERFLOW: u128 = 8;
const INEXACT: u128 = 16;

/// An exact result: no number, an infinity, or (−1)^sign · mantissa · 2^exponent and, if `more`, less than a unit more.
enum Exact {
    Invalid,
    Quiet,
    Infinite { sign: bool, by_zero: bool },
    Number { sign: bool, mantissa: BigUint, exponent: i64, more: bool },
}

use Exact::{Invalid, Number, Quiet};

fn infinite(sign: bool) -> Exact {
    Exact::Infinite { sign, by_zero: false }
}

fn number(sign: bool, mantissa: BigUint, exponent: i64) -> Exact {
    Number { sign, mantissa, exponent, more: false }
}

/// The result and the flags that the definition gives.
fn rounded(model: Model, rounding: Rounding, exact: Exact) -> (u128, u128) {
    let (sign, mantissa, exponent, more) = match exact {
        Invalid => return (model.invalid(), INVALID),
        Quiet => return (model.invalid(), 0),
        Exact::Infinite { sign, by_zero } => return (model.infinity(sign), DIVIDE_BY_ZERO * u128::from(by_zero)),
        Number { sign, mantissa, exponent, more } => (sign, mantissa, exponent, more),
    };
    if mantissa == BigUint::ZERO {
        assert!(!more);
        return (model.zero(sign), 0);
    }
    let bias = (1i64 << (model.exponent - 1)) - 1;
    let smallest = 1 - bias - i64::from(model.fraction);
    let high = exponent + mantissa.bits() as i64 - 1;
    let tiny = high < 1 - bias;
    let unit = high - i64::from(model.fraction);
    let unit = if model.flush { unit } else { unit.max(smallest) };
    // Units and what is left, as a mantissa with two bits below the units and a third that stands for the rest.
    let shift = unit - 2 - exponent;
    let (kept, rest) = match shift {
        ..=0 => (mantissa << -shift, false),
        _ => (&mantissa >> shift, mantissa.trailing_zeros().unwrap() < shift as u64),
    };
    assert!(shift >= 0 || !more, "precision is lost");
    let below = u32::try_from(&kept & BigUint::from(3u32)).unwrap() * 2 + u32::from(rest || more);
    let units: u128 = (kept >> 2u32).try_into().unwrap();
    let up = match rounding {
        Rounding::Nearest => below > 4 || below == 4 && units & 1 == 1,
        Rounding::NearestAway => below >= 4,
        Rounding::Floor => sign && below > 0,
        Rounding::Ceiling => !sign && below > 0,
        Rounding::Truncate => false,
    };
    let away = match rounding {
        Rounding::Nearest | Rounding::NearestAway => None,
        Rounding::Floor => Some(sign),
        Rounding::Ceiling => Some(!sign),
        Rounding::Truncate => Some(false),
    };
    let stored = i128::from(unit - smallest + 1) << model.fraction;
    let stored = stored + (units + u128::from(up)) as i128 - (1 << model.fraction);
    let top = (1i128 << model.exponent) - 1;
    let (magnitude, lost) = match stored >> model.fraction {
        e if e >= top => {
            let largest = (top << model.fraction) - 1;
            (if away == Some(false) { largest } else { top << model.fraction }, OVERFLOW | INEXACT)
        }
        ..=0 if model.flush => (i128::from(away == Some(true)) << model.fraction, INEXACT),
        _ => (stored, if below > 0 { INEXACT } else { 0 }),
    };
    let under = if tiny && lost & INEXACT != 0 { UNDERFLOW } else { 0 };
    (model.zero(sign) | magnitude as u128, lost | under)
}

fn signalling(model: Model, x: u128) -> bool {
    model.decode(x) == Nan && x >> (model.fraction - 1) & 1 == 0
}

fn no_number(model: Model, operands: &[u128]) -> Exact {
    if operands.iter().any(|&x| signalling(model, x)) { Invalid } else { Quiet }
}

fn sum(rounding: Rounding, terms: [(bool, BigUint, i64); 2]) -> Exact {
    let [(s, x, e), (t, y, f)] = terms;
    let low = e.min(f);
    let (x, y) = (x << (e - low), y << (f - low));
    match (s == t, x.cmp(&y)) {
        (true, _) => number(s, x + y, low),
        (_, std::cmp::Ordering::Greater) => number(s, x - y, low),
        (_, std::cmp::Ordering::Less) => number(t, y - x, low),
        _ => number(rounding == Rounding::Floor, BigUint::ZERO, 0),
    }
}

fn add(model: Model, rounding: Rounding, x: &[u128]) -> Exact {
    match (model.decode(x[0]), model.decode(x[1])) {
        (Nan, _) | (_, Nan) => no_number(model, x),
        (Infinite(s), Infinite(t)) if s != t => Invalid,
        (Infinite(s), _) | (_, Infinite(s)) => infinite(s),
        (Finite(s, x, e), Finite(t, y, f)) => sum(rounding, [(s, x.into(), e), (t, y.into(), f)]),
    }
}

fn subtract(model: Model, rounding: Rounding, x: &[u128]) -> Exact {
    add(model, rounding, &[x[0], x[1] ^ model.zero(true)])
}

fn multiply(model: Model, _: Rounding, x: &[u128]) -> Exact {
    match (model.decode(x[0]), model.decode(x[1])) {
        (Nan, _) | (_, Nan) => no_number(model, x),
        (Infinite(_), Finite(_, 0, _)) | (Finite(_, 0, _), Infinite(_)) => Invalid,
        (Infinite(s), Infinite(t) | Finite(t, ..)) | (Finite(s, ..), Infinite(t)) => infinite(s != t),
        (Finite(s, x, e), Finite(t, y, f)) => number(s != t, BigUint::from(x) * y, e + f),
    }
}

fn square(model: Model, rounding: Rounding, x: &[u128]) -> Exact {
    multiply(model, rounding, &[x[0], x[0]])
}

fn multiply_add(model: Model, rounding: Rounding, x: &[u128]) -> Exact {
    let product = multiply(model, rounding, &x[..2]);
    match (product, model.decode(x[2])) {
        (Invalid, _) => Invalid,
        (Quiet, _) | (_, Nan) => no_number(model, x),
        (Exact::Infinite { sign, .. }, Infinite(t)) if sign != t => Invalid,
        (Exact::Infinite { sign, .. }, _) | (_, Infinite(sign)) => infinite(sign),
        (Number { sign, mantissa, exponent, .. }, Finite(t, y, f)) => {
            sum(rounding, [(sign, mantissa, exponent), (t, y.into(), f)])
        }
    }
}

fn divide(model: Model, _: Rounding, x: &[u128]) -> Exact {
    match (model.decode(x[0]), model.decode(x[1])) {
        (Nan, _) | (_, Nan) => no_number(model, x),
        (Infinite(_), Infinite(_)) | (Finite(_, 0, _), Finite(_, 0, _)) => Invalid,
        (Infinite(s), Finite(t, ..)) => infinite(s != t),
        (Finite(s, ..), Finite(t, 0, _)) => Exact::Infinite { sign: s != t, by_zero: true },
        (Finite(s, ..), Infinite(t)) | (Finite(s, 0, _), Finite(t, ..)) => number(s != t, BigUint::ZERO, 0),
        (Finite(s, x, e), Finite(t, y, f)) => {
            let x = BigUint::from(x) << 200u32;
            let more = &x % y != BigUint::ZERO;
            Number { sign: s != t, mantissa: x / y, exponent: e - f - 200, more }
        }
    }
}

fn square_root(model: Model, _: Rounding, x: &[u128]) -> Exact {
    match model.decode(x[0]) {
        Nan => no_number(model, x),
        Finite(s, 0, _) => number(s, BigUint::ZERO, 0),
        Infinite(true) | Finite(true, ..) => Invalid,
        Infinite(false) => infinite(false),
        Finite(_, x, e) => {
            let x = BigUint::from(x) << (200 + (e & 1));
            let root = x.sqrt();
            let more = &root * &root != x;
            Number { sign: false, mantissa: root, exponent: (e - (e & 1) - 200) / 2, more }
        }
    }
}

/// The name of a block, how many operands, its definition.
type Operation = (&'static str, usize, fn(Model, Rounding, &[u128]) -> Exact);

const OPERATIONS: [Operation; 7] = [
    ("add", 2, add),
    ("sub", 2, subtract),
    ("mul", 2, multiply),
    ("sqr", 1, square),
    ("fma", 3, multiply_add),
    ("div", 2, divide),
    ("sqrt", 1, square_root),
];

fn models(size: [u32; 2]) -> [Model; 2] {
    [false, true].map(|flush| Model { exponent: size[0], fraction: size[1], flush })
}

fn build(name: &str, flush: bool, size: &[u32], goal: Goal) -> Circuit {
    let mode = if flush { "flush" } else { "ieee" };
    find(&format!("fp_{name}_{mode}_rounded")).unwrap().circuit(size, goal).unwrap()
}

/// Runs a circuit and compares each lane with the reference.
fn compare(circuit: &Circuit, ports: &Lanes, place: &str, reference: impl Fn(&[u128]) -> (u128, u128)) {
    let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
    let results = Simulator::new(circuit).numbers(&slices);
    let mut operands = vec![0; ports.len()];
    for lane in 0..ports[0].len() {
        operands.iter_mut().zip(ports).for_each(|(operand, port)| *operand = port[lane]);
        let came = (results[0][lane], results[1][lane]);
        let expected = reference(&operands);
        assert!(came == expected, "{place} of {operands:x?}: {came:x?}, not {expected:x?}");
    }
}

fn check(operation: &Operation, model: Model, ports: &Lanes) {
    let (name, operands, exact) = *operation;
    for (direction, rounding) in Rounding::ALL.into_iter().enumerate() {
        for goal in GOALS {
            let size = [model.exponent, model.fraction, direction as u32, 1];
            let circuit = build(name, model.flush, &size, goal);
            let place = format!("{name} {rounding:?} {goal} {model:?}");
            compare(&circuit, &ports[..operands].to_vec(), &place, |x| {
                rounded(model, rounding, exact(model, rounding, x))
            });
        }
    }
}

#[test]
fn every_operand_of_small_formats() {
    for size in [[3, 2], [4, 3], [3, 4]] {
        let width = 1 + size[0] + size[1];
        for operation in OPERATIONS.iter().filter(|operation| width * operation.1 as u32 <= 18) {
            for model in models(size) {
                check(operation, model, &every(&vec![width; operation.1]));
            }
        }
    }
}

/// Numbers near the ends of the range and each other, and uniform ones.
fn numbers(model: Model, lanes: usize, seed: u64) -> Lanes {
    let mut random = Random(seed);
    let (e, f) = (model.exponent, model.fraction);
    let mut one = |before: u128| {
        let kind = random.word();
        let uniform = u128::from(random.word()) << 64 | u128::from(random.word());
        let at = (kind >> 8 & 63) as u32 % f;
        let fraction = match kind & 3 {
            0 => uniform & low(f),
            1 => (low(f) << at) & low(f),
            2 => 1 << at,
            _ => before & low(f),
        };
        let small = (kind >> 16 & 3) as u128;
        let exponent = match kind >> 4 & 7 {
            0 => small,
            1 => low(e) - small,
            2 => low(e - 1) / 2 + small,
            3 => low(e - 1) + low(e - 1) / 2 + small,
            4 => (before >> f) + small,
            5 => low(e - 1) + small,
            _ => uniform >> 64,
        } & low(e);
        u128::from(kind >> 32 & 1) << (e + f) | exponent << f | fraction
    };
    let mut ports: Lanes = vec![Vec::new(); 3];
    for _ in 0..lanes {
        let mut before = 0;
        for port in &mut ports {
            before = one(before);
            port.push(before);
        }
    }
    ports
}

#[test]
fn many_operands_of_every_format() {
    for (seed, size) in [[5, 10], [8, 7], [8, 23], [9, 32], [11, 52]].into_iter().enumerate() {
        for model in models(size) {
            let ports = numbers(model, 4000, seed as u64 + 1);
            for operation in &OPERATIONS {
                check(operation, model, &ports);
            }
        }
    }
}

#[test]
fn integers_and_other_formats() {
    for (direction, rounding) in Rounding::ALL.into_iter().enumerate() {
        let direction = direction as u32;
        for (goal, flush) in GOALS.into_iter().flat_map(|goal| [(goal, false), (goal, true)]) {
            for [exponent, fraction] in [[3, 2], [3, 5], [5, 4]] {
                let model = Model { exponent, fraction, flush };
                let integers = every(&[10]);
                let circuit = build("from_uint", flush, &[exponent, fraction, 10, direction, 1], goal);
                let exact = |x: u128| number(false, x.into(), 0);
                compare(&circuit, &integers, "from uint", |x| rounded(model, rounding, exact(x[0])));
                let circuit = build("from_int", flush, &[exponent, fraction, 10, direction, 1], goal);
                let exact = |x: u128| number(x > 511, (if x > 511 { 1024 - x } else { x }).into(), 0);
                compare(&circuit, &integers, "from int", |x| rounded(model, rounding, exact(x[0])));
            }
            for (from, to) in [([5, 6], [3, 3]), ([3, 6], [5, 4]), ([4, 7], [3, 4])] {
                let [source, target] = [from, to].map(|[exponent, fraction]| Model { exponent, fraction, flush });
                let circuit = build("convert", flush, &[from[0], from[1], to[0], to[1], direction, 1], goal);
                compare(&circuit, &every(&[source.width()]), "convert", |x| {
                    let exact = match source.decode(x[0]) {
                        Nan => no_number(source, x),
                        Infinite(sign) => infinite(sign),
                        Finite(sign, mantissa, exponent) => number(sign, mantissa.into(), exponent),
                    };
                    rounded(target, rounding, exact)
                });
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

fn direction(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Floor => Round::TowardNegative,
        Rounding::Ceiling => Round::TowardPositive,
        Rounding::Truncate => Round::TowardZero,
    }
}

fn soft<const E: usize, const F: usize>(name: &str, rounding: Rounding, x: &[u128]) -> Option<(u128, u128)> {
    let float = |i: usize| IeeeFloat::<Soft<E, F>>::from_bits(x[i]);
    let round = direction(rounding);
    let result = match name {
        "add" => float(0).add_r(float(1), round),
        "sub" => float(0).sub_r(float(1), round),
        "mul" => float(0).mul_r(float(1), round),
        "fma" => float(0).mul_add_r(float(1), float(2), round),
        "div" => float(0).div_r(float(1), round),
        _ => return None,
    };
    let invalid = Model { exponent: E as u32, fraction: F as u32, flush: false }.invalid();
    let number = if result.value.is_nan() { invalid } else { result.value.to_bits() };
    let pairs = [
        (Status::INVALID_OP, INVALID),
        (Status::DIV_BY_ZERO, DIVIDE_BY_ZERO),
        (Status::OVERFLOW, OVERFLOW),
        (Status::UNDERFLOW, UNDERFLOW),
        (Status::INEXACT, INEXACT),
    ];
    let flags = pairs.iter().filter(|(status, _)| result.status.intersects(*status)).map(|(_, flag)| flag).sum();
    Some((number, flags))
}

/// That library asks after rounding whether a result is tiny: it has no underflow where rounding gives the smallest normal
/// number; and it has no overflow where rounding gives the largest number (IEEE 754, §7.4, has). Nothing else differs.
#[test]
fn as_another_soft_float() {
    fn compare_all<const E: usize, const F: usize>() {
        let model = Model { exponent: E as u32, fraction: F as u32, flush: false };
        let ports = numbers(model, 20_000, 5);
        let (least_normal, largest) = (1u128 << F, model.infinity(false) - 1);
        for (name, operands, _) in
            OPERATIONS.iter().filter(|(name, ..)| soft::<E, F>(name, Rounding::Nearest, &[0; 3]).is_some())
        {
            for (direction, rounding) in Rounding::ALL.into_iter().enumerate() {
                let circuit = build(name, false, &[E as u32, F as u32, direction as u32, 1], Goal::Size);
                let slices: Vec<&[u128]> = ports[..*operands].iter().map(Vec::as_slice).collect();
                let results = Simulator::new(&circuit).numbers(&slices);
                for lane in 0..ports[0].len() {
                    let x: Vec<u128> = slices.iter().map(|port| port[lane]).collect();
                    let (number, flags) = soft::<E, F>(name, rounding, &x).unwrap();
                    let came = (results[0][lane], results[1][lane]);
                    let masked = match number & !model.zero(true) {
                        size if size == least_normal => UNDERFLOW,
                        size if size == largest => OVERFLOW,
                        _ => 0,
                    };
                    assert_eq!((came.0, came.1 & !masked), (number, flags & !masked), "{name} {rounding:?} of {x:x?}");
                }
            }
        }
    }
    compare_all::<5, 10>();
    compare_all::<8, 23>();
    compare_all::<11, 52>();
    compare_all::<4, 3>();
}

/// Without flags and to nearest a block is the one without options.
#[test]
fn options_that_are_not_taken_cost_nothing() {
    for goal in GOALS {
        for name in ["add", "mul", "fma"] {
            let plain = find(&format!("fp_{name}_ieee")).unwrap().circuit(&[8, 23], goal).unwrap();
            let nearest = build(name, false, &[8, 23, 0, 0], goal);
            assert_eq!((nearest.and_count(), nearest.depth()), (plain.and_count(), plain.depth()), "{name} {goal}");
        }
    }
}

//! Exponentials and logarithms: results are neighbours of the exact value, in every format, mode and goal.

use crate::common::lanes::Random;
use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use circuit::blocks::{Goal, find};
use circuit::{Circuit, Simulator};

/// Lanes at a time.
const BATCH: usize = 1 << 13;
const MILLION: usize = 1 << 20;
const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// A format and its mode.
#[derive(Clone, Copy)]
struct Target {
    exponent: u32,
    fraction: u32,
    flush: bool,
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Exact {
    Nan,
    /// A number: the bounds of an interval that holds it, as (sign, mantissa, exponent of two).
    Between((bool, u128, i64), (bool, u128, i64)),
    Infinite(bool),
}

const HALF: (u32, u32) = (5, 10);
const BFLOAT16: (u32, u32) = (8, 7);
const SINGLE: (u32, u32) = (8, 23);
const PAPER: (u32, u32) = (9, 32);
const DOUBLE: (u32, u32) = (11, 52);
/// Lanes against arbitrary precision, which takes a fraction of a millisecond for each.
const PRECISE: usize = 10_000;
/// Bits of arbitrary precision: an exponent of a double takes up to 11 of them in a power.
const PRECISION: usize = 192;

impl Target {
    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn top(self) -> u128 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn nan(self) -> u128 {
        self.top() | 1 << (self.fraction - 1)
    }

    /// The double of an encoding, exact for all formats up to double.
    fn decode(self, bits: u128) -> f64 {
        let negative = bits >> (self.width() - 1) & 1 == 1;
        let fraction = bits & ((1 << self.fraction) - 1);
        let exponent = (bits >> self.fraction) as i64 & ((1 << self.exponent) - 1);
        let last = (1 << self.exponent) - 1;
        let magnitude = match exponent {
            0 if self.flush => 0.0,
            0 => scaled(fraction, 1 - self.bias() - i64::from(self.fraction)),
            _ if exponent == last && (fraction == 0 || self.flush) => f64::INFINITY,
            _ if exponent == last => f64::NAN,
            _ => scaled(fraction | 1 << self.fraction, exponent - self.bias() - i64::from(self.fraction)),
        };
        if negative { -magnitude } else { magnitude }
    }

    /// The neighbours of mantissa · 2^exponent among the encodings with denormals, or twice the number itself.
    fn neighbours(self, mantissa: u128, exponent: i64) -> (u128, u128) {
        if mantissa == 0 {
            return (0, 0);
        }
        let fraction = i64::from(self.fraction);
        let biased = exponent + i64::from(mantissa.ilog2()) + self.bias();
        if biased >= (1 << self.exponent) - 1 {
            return (self.top(), self.top());
        }
        let quantum = biased.max(1) - self.bias() - fraction;
        let shift = quantum - exponent;
        let (units, exact) = match shift {
            ..=0 => (mantissa << -shift, true),
            1..=127 => (mantissa >> shift, mantissa & ((1 << shift) - 1) == 0),
            _ => (0, false),
        };
        let low = (u128::try_from(biased.max(1) - 1).expect("positive") << fraction) + units;
        (low, low + u128::from(!exact))
    }

    /// Whether the result is one of the neighbours of the exact number; without denormals, those are zero.
    fn accepts(self, result: u128, exact: Exact) -> bool {
        let sign = |negative: bool| u128::from(negative) << (self.width() - 1);
        match exact {
            Exact::Nan if self.flush => result == self.top(),
            Exact::Nan => result == self.nan(),
            Exact::Infinite(negative) => result == self.top() | sign(negative),
            Exact::Between((negative, low, e), (_, high, f)) => {
                let (low, high) = (self.neighbours(low, e).0, self.neighbours(high, f).1);
                let least = if self.flush { 1 << self.fraction } else { 1 };
                let magnitude = result & (sign(true) - 1);
                let near = if magnitude == 0 { low < least } else { least.max(low) <= magnitude && magnitude <= high };
                near && result & sign(true) == sign(negative)
            }
        }
    }

    /// What a double stands for that was computed by the host: exact if it has as few bits as a smaller format,
    /// otherwise off by up to four units; two if it is to be compared with doubles.
    fn host(self, value: f64) -> Exact {
        if value.is_nan() {
            return Exact::Nan;
        }
        if value.is_infinite() {
            return Exact::Infinite(value < 0.0);
        }
        let bits = value.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, u128::from(bits & ((1 << 52) - 1)));
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let margin = match 52 - self.fraction {
            0 => 2,
            spare if mantissa & ((1 << spare) - 1) == 0 => 0,
            _ => 4,
        };
        let negative = value.is_sign_negative();
        Exact::Between((negative, mantissa.saturating_sub(margin), exponent), (negative, mantissa + margin, exponent))
    }
}

fn scaled(mantissa: u128, exponent: i64) -> f64 {
    // In two steps, because a power of two may be out of range where the product is not.
    let half = exponent / 2;
    mantissa as f64 * 2f64.powi(half as i32) * 2f64.powi((exponent - half) as i32)
}

fn build(name: &str, format: (u32, u32), flush: bool, goal: Goal) -> Circuit {
    let block = find(&format!("{name}_{}", if flush { "flush" } else { "ieee" })).expect("a block");
    block.circuit(&[format.0, format.1], goal).expect("a size that the block has")
}

/// A function by name and the host's version of it.
type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: &[Function] = &[
    ("fp_exp", f64::exp),
    ("fp_exp2", f64::exp2),
    ("fp_exp10", |x| 10f64.powf(x)),
    ("fp_ln", f64::ln),
    ("fp_log2", f64::log2),
    ("fp_log10", f64::log10),
];

/// Checks a function in both modes for both goals, which share what is exact for (lane, mode, operand).
fn agrees(name: &str, format: (u32, u32), inputs: &[u128], mut exact: impl FnMut(usize, Target, f64) -> Option<Exact>) {
    for flush in [false, true] {
        let target = Target { exponent: format.0, fraction: format.1, flush };
        let circuits = GOALS.map(|goal| (goal, build(name, format, flush, goal)));
        let mut simulators = circuits.each_ref().map(|(goal, circuit)| (goal, Simulator::new(circuit)));
        for (batch, inputs) in inputs.chunks(BATCH).enumerate() {
            let exact = |(i, &input)| exact(batch * BATCH + i, target, target.decode(input));
            let exact: Vec<Option<Exact>> = inputs.iter().enumerate().map(exact).collect();
            for (goal, simulator) in &mut simulators {
                let outputs = simulator.numbers(&[inputs]).remove(0);
                for ((&input, &output), &exact) in inputs.iter().zip(&outputs).zip(&exact) {
                    assert!(
                        exact.is_none_or(|exact| target.accepts(output, exact)),
                        "{name} {format:?} flush {flush} {goal}: {:e} ({input:x}) gives {:e} ({output:x}), not {exact:x?}",
                        target.decode(input),
                        target.decode(output),
                    );
                }
            }
        }
    }
}

/// Checks a function against the host, whose doubles have digits to spare.
fn agrees_with_host(function: Function, format: (u32, u32), inputs: &[u128]) {
    agrees(function.0, format, inputs, |_, target, x| Some(target.host((function.1)(x))));
}

#[test]
fn all_half_and_bfloat16() {
    let all: Vec<u128> = (0..1 << 16).collect();
    for (&function, format) in FUNCTIONS.iter().flat_map(|function| [HALF, BFLOAT16].map(|format| (function, format))) {
        agrees_with_host(function, format, &all);
    }
}

/// Encodings of any kind; every second one with an exponent for which the function does something.
fn operand(format: (u32, u32)) -> impl FnMut(usize) -> u128 {
    let mut random = Random(7);
    let width = 1 + format.0 + format.1;
    let bias = (1u128 << (format.0 - 1)) - 1;
    move |lane| {
        let bits = u128::from(random.word() >> (64 - width));
        let near = (bias + u128::from(random.word() >> 58)).saturating_sub(48);
        match lane % 4 {
            0 => bits,
            1 => edge(bits, format.1),
            _ => bits & !(((1 << format.0) - 1) << format.1) | near << format.1,
        }
    }
}

fn operands(format: (u32, u32), lanes: usize) -> Vec<u128> {
    (0..lanes).map(operand(format)).collect()
}

/// A number with a fraction of few ones or few zeros.
fn edge(bits: u128, fraction: u32) -> u128 {
    let run = (1u128 << (bits as u32 % (fraction + 1))) - 1;
    let pattern = if bits & 1 == 0 { run } else { ((1 << fraction) - 1) ^ run };
    bits >> fraction << fraction | pattern
}

#[test]
fn a_million_singles() {
    let inputs = operands(SINGLE, MILLION);
    FUNCTIONS.iter().for_each(|&function| agrees_with_host(function, SINGLE, &inputs));
}

/// 131,072 lanes each; doubles to within two units of the host, which is off by one itself.
#[test]
fn wide_formats_near_the_host() {
    for format in [PAPER, DOUBLE] {
        let inputs = operands(format, MILLION / 8);
        FUNCTIONS.iter().for_each(|&function| agrees_with_host(function, format, &inputs));
    }
}

/// The exact value of a function to 100 bits or more, where it is a number that is not zero.
fn precise(name: &str, x: f64, constants: &mut Consts) -> Option<Exact> {
    let (p, none) = (PRECISION, RoundingMode::None);
    let big = BigFloat::from_f64(x, p);
    let y = match name {
        "fp_exp" => big.exp(p, none, constants),
        "fp_exp2" => BigFloat::from_i8(2, p).pow(&big, p, none, constants),
        "fp_exp10" => BigFloat::from_i8(10, p).pow(&big, p, none, constants),
        "fp_ln" => big.ln(p, none, constants),
        "fp_log2" => big.log2(p, none, constants),
        "fp_log10" => big.log10(p, none, constants),
        _ => unreachable!("a function of the table"),
    };
    interval(&y)
}

/// The number, off by up to 2^-100 of itself unless it is that near to a number of 70 bits.
fn interval(y: &BigFloat) -> Option<Exact> {
    let (words, _, sign, exponent, _) = y.as_raw_parts().filter(|_| !y.is_zero())?;
    let mantissa = words.iter().rev().take(2).fold(0, |all, &word| all << 64 | u128::from(word)) >> 1;
    let short = (mantissa + (1 << 56)) >> 57 << 57;
    let (mantissa, margin) = if mantissa.abs_diff(short) < 1 << 27 { (short, 0) } else { (mantissa, 1 << 27) };
    let (negative, exponent) = (sign == Sign::Neg, i64::from(exponent) - 127);
    Some(Exact::Between((negative, mantissa - margin, exponent), (negative, mantissa + margin, exponent)))
}

/// `PRECISE` lanes each, computed once for both modes and goals.
#[test]
fn doubles_between_their_neighbours() {
    let mut constants = Consts::new().expect("memory");
    let inputs = operands(DOUBLE, PRECISE);
    let target = Target { exponent: DOUBLE.0, fraction: DOUBLE.1, flush: false };
    for &(name, host) in FUNCTIONS {
        // Elsewhere the host is right: it has been asked.
        let mut number = |x: f64| {
            let y = host(x);
            let inside = x.is_normal() && y.is_finite() && y != 0.0;
            if inside { precise(name, x, &mut constants) } else { None }
        };
        let exact: Vec<Option<Exact>> = inputs.iter().map(|&input| number(target.decode(input))).collect();
        agrees(name, DOUBLE, &inputs, |lane, _, _| exact[lane]);
    }
}

/// The power in both modes for both goals, as `agrees`.
fn powers_agree(
    format: (u32, u32),
    pairs: &[(u128, u128)],
    mut exact: impl FnMut(usize, Target, f64, f64) -> Option<Exact>,
) {
    let (bases, exponents): (Vec<u128>, Vec<u128>) = pairs.iter().copied().unzip();
    for flush in [false, true] {
        let target = Target { exponent: format.0, fraction: format.1, flush };
        let operands = |lane: usize| (target.decode(bases[lane]), target.decode(exponents[lane]));
        let results = GOALS
            .map(|goal| Simulator::new(&build("fp_pow", format, flush, goal)).numbers(&[&bases, &exponents]).remove(0));
        for lane in 0..pairs.len() {
            let (x, y) = operands(lane);
            let Some(exact) = exact(lane, target, x, y) else { continue };
            for (goal, came) in GOALS.iter().zip(&results) {
                assert!(
                    target.accepts(came[lane], exact),
                    "{format:?} flush {flush} {goal}: {x:e}^{y:e} ({:x?}) gives {:e} ({:x}), not {exact:x?}",
                    pairs[lane],
                    target.decode(came[lane]),
                    came[lane],
                );
            }
        }
    }
}

/// A million singles; 131,072 lanes of the others.
#[test]
fn powers() {
    for (format, lanes) in [(HALF, MILLION / 8), (BFLOAT16, MILLION / 8), (SINGLE, MILLION), (PAPER, MILLION / 8)] {
        powers_agree(format, &pairs(format, lanes), |_, target, x, y| Some(target.host(x.powf(y))));
    }
}

/// `PRECISE` lanes, computed once for both modes and goals.
#[test]
fn powers_of_doubles() {
    let mut constants = Consts::new().expect("memory");
    let target = Target { exponent: DOUBLE.0, fraction: DOUBLE.1, flush: false };
    let pairs = pairs(DOUBLE, PRECISE);
    let number = |&(a, b): &(u128, u128)| {
        let (x, y) = (target.decode(a), target.decode(b));
        let power = x.powf(y);
        // Next to the ends of the range the host alone is too coarse; elsewhere its result is exact.
        let inside = x.is_normal() && y.is_normal() && power.is_normal();
        if !inside {
            let known = !power.is_subnormal() && !x.is_subnormal() && !y.is_subnormal();
            return known.then(|| target.host(power));
        }
        let (p, none) = (PRECISION, RoundingMode::None);
        let log = BigFloat::from_f64(x.abs(), p).ln(p, none, &mut constants);
        let exact = interval(&log.mul(&BigFloat::from_f64(y, p), p, none).exp(p, none, &mut constants));
        match exact {
            Some(Exact::Between(low, high)) => {
                Some(Exact::Between((power < 0.0, low.1, low.2), (power < 0.0, high.1, high.2)))
            }
            // An exponent that is far below the precision.
            _ => Some(target.host(power)),
        }
    };
    let exact: Vec<Option<Exact>> = pairs.iter().map(number).collect();
    // Without NaN, its operands are infinite.
    let finite = |x: f64, y: f64| x.is_finite() && y.is_finite();
    powers_agree(DOUBLE, &pairs, |lane, target, x, y| exact[lane].filter(|_| !target.flush || finite(x, y)));
}

/// Operands of a power: any; bases next to one with large exponents; small integers; zeros, infinities, NaN, ±1.
fn pairs(format: (u32, u32), lanes: usize) -> Vec<(u128, u128)> {
    let (mut base, mut power) = (operand(format), operand(format));
    let mut random = Random(11);
    let (exponent, fraction) = format;
    let sign = 1u128 << (exponent + fraction);
    let one = ((1u128 << (exponent - 1)) - 1) << fraction;
    let top = ((1u128 << exponent) - 1) << fraction;
    let special = [0, one, top, top | 1 << (fraction - 1), one + (1 << fraction), one + 1, one - 1, 1];
    let small = |n: u64| {
        let n = 1 + u128::from(n % 20);
        let log = n.ilog2();
        one + (u128::from(log) << fraction) + ((n ^ 1 << log) << fraction >> log)
    };
    let pair = |lane: usize| {
        let (a, b, bits) = (base(lane), power(lane / 3), random.word());
        let signs = (u128::from(bits >> 62 & 1) * sign, u128::from(bits >> 63) * sign);
        match lane % 6 {
            0 => (a, b),
            1 => (one + (a & 0xff) - 0x80, b & !top | ((b & 0xf << fraction) + one)),
            2 => (small(bits) ^ signs.0, small(bits >> 8) ^ signs.1),
            3 => (special[bits as usize % 8] ^ signs.0, special[(bits >> 3) as usize % 8] ^ signs.1),
            4 => (special[bits as usize % 8] ^ signs.0, small(bits >> 8) ^ signs.1),
            _ => (a & !sign, b & !top | (one + (u128::from(bits % 12) << fraction) - (4 << fraction))),
        }
    };
    (0..lanes).map(pair).collect()
}

#[test]
fn costs() {
    // Name, format, then ANDs and depth at most: for size, for depth.
    type Costs = (&'static str, (u32, u32), [(u64, u32); 2]);
    let costs: [Costs; 12] = [
        ("fp_exp2", SINGLE, [(768, 91), (1_134, 35)]),
        ("fp_exp2", PAPER, [(1_401, 117), (1_991, 38)]),
        ("fp_exp2", DOUBLE, [(3_822, 208), (5_311, 46)]),
        ("fp_exp", SINGLE, [(1_008, 136), (1_534, 51)]),
        ("fp_exp", PAPER, [(1_735, 178), (2_461, 57)]),
        ("fp_exp", DOUBLE, [(4_354, 292), (5_994, 65)]),
        ("fp_ln", SINGLE, [(1_588, 141), (2_207, 45)]),
        ("fp_ln", PAPER, [(2_736, 180), (3_759, 48)]),
        ("fp_ln", DOUBLE, [(6_847, 322), (9_032, 54)]),
        ("fp_log2", SINGLE, [(1_534, 141), (2_188, 45)]),
        ("fp_log2", PAPER, [(2_708, 196), (3_734, 49)]),
        ("fp_log2", DOUBLE, [(6_775, 324), (8_994, 54)]),
    ];
    for (name, format, most) in costs {
        for (goal, (ands, depth)) in GOALS.into_iter().zip(most) {
            let circuit = build(name, format, true, goal);
            let cost = (circuit.and_count(), circuit.depth());
            assert!(cost.0 <= ands && cost.1 <= depth, "{name} {format:?} {goal}: {cost:?}");
        }
    }
}

//! Functions of one single on all 2^32 operands: `make verify-exhaustive`, or one of them by its name:
//! `cargo test --release -p duologue-circuit --test exhaustive -- --ignored sqrt_ieee`.
//!
//! A new function is a line in the table at the end: its name in the registry and what it is on the host. The circuits
//! of both goals run, on all processors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use circuit::blocks::find;
use circuit::{BitMatrix, Circuit, Simulator};

/// Lanes that run together.
const SLAB: usize = 1 << 14;

const SLABS: u64 = (1 << 32) / SLAB as u64;

/// What a function is on the host.
#[derive(Clone, Copy)]
enum Reference {
    /// Exactly these bits.
    Exact(fn(f32) -> u32),
    /// One of the two singles around this value (or the value itself), for functions that are faithfully rounded. The
    /// value is taken for off by up to 2^-45 of itself. Results that are NaN, infinite or zero have to be just that.
    Faithful(fn(f64) -> f64),
}

use Reference::{Exact, Faithful};

/// What may come of one operand.
#[derive(Clone, Copy)]
enum Expected {
    Bits(u32),
    Near(f64),
}

impl Reference {
    fn of(self, operand: u32) -> Expected {
        let operand = f32::from_bits(operand);
        match self {
            Exact(function) => Expected::Bits(function(operand)),
            Faithful(function) => Expected::Near(function(f64::from(operand))),
        }
    }
}

impl Expected {
    fn allows(self, came: u32) -> bool {
        match self {
            Expected::Bits(bits) => came == bits,
            // The nearest single is always right, and nearly always what comes.
            Expected::Near(exact) => came == (exact as f32).to_bits() || faithful(exact, f32::from_bits(came)),
        }
    }
}

/// The bits of a single; of NaN the canonical ones.
fn bits(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

/// The operand without denormals and NaN, the result without NaN: what `flush` makes of a function.
fn flushed(x: f32, function: fn(f32) -> f32) -> u32 {
    let sign = x.to_bits() & 1 << 31;
    let x = match x.to_bits() >> 23 & 0xff {
        0 => f32::from_bits(sign),
        0xff => f32::from_bits(sign | 0x7f80_0000),
        _ => x,
    };
    let y = function(x);
    if y.is_nan() { f32::INFINITY.to_bits() } else { y.to_bits() }
}

fn faithful(exact: f64, came: f32) -> bool {
    let near = exact as f32;
    if exact.is_nan() || exact == 0.0 || near.is_infinite() && came.is_infinite() {
        return bits(came) == bits(near);
    }
    // Infinity follows the largest single as if exponents went on.
    let wide = |x: f32| if x.is_infinite() { f64::from(x.signum()) * 2f64.powi(128) } else { f64::from(x) };
    let slack = exact.abs() * 2f64.powi(-45);
    let (below, above) = (wide(came.next_down()) + slack, wide(came.next_up()) - slack);
    !came.is_nan() && came.is_sign_negative() == exact.is_sign_negative() && below < exact && exact < above
        || wide(came) == exact
}

fn verify(name: &str, size: &[u32], reference: Reference) {
    let block = find(name).expect("a block of this name");
    let build = |&goal| block.circuit(size, goal).expect("a size that the block has");
    let circuits: Vec<Circuit> = block.goals.iter().map(build).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, started) = (AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| slabs(&circuits, &next, reference));
        }
    });
    println!("{name}: {} circuits, all {} operands, {} s", circuits.len(), 1u64 << 32, started.elapsed().as_secs());
}

/// Takes slab after slab until none is left.
fn slabs(circuits: &[Circuit], next: &AtomicU64, reference: Reference) {
    let mut simulators: Vec<Simulator> = circuits.iter().map(Simulator::new).collect();
    let mut inputs = BitMatrix::zeros(32, SLAB);
    let mut expected = vec![Expected::Bits(0); SLAB];
    loop {
        let slab = next.fetch_add(1, Ordering::Relaxed);
        if slab >= SLABS {
            return;
        }
        // Scattered, so that what is wrong somewhere is found soon.
        let base = slab * 40_507 % SLABS * SLAB as u64;
        count_up(&mut inputs, base);
        (base..).zip(&mut expected).for_each(|(operand, expected)| *expected = reference.of(operand as u32));
        for (simulator, circuit) in simulators.iter_mut().zip(circuits) {
            let outputs = simulator.run(&inputs);
            for (word, expected) in expected.chunks(64).enumerate() {
                for (lane, (&expected, came)) in expected.iter().zip(numbers(&outputs, word)).enumerate() {
                    let operand = base + (64 * word + lane) as u64;
                    let name = circuit.name();
                    assert!(expected.allows(came), "{name} of {operand:#010x}: {came:#010x}");
                }
            }
        }
    }
}

/// Lane i is base + i.
fn count_up(inputs: &mut BitMatrix, base: u64) {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    for row in 0..32 {
        for (word, bits) in inputs.row_mut(row).iter_mut().enumerate().take(SLAB / 64) {
            let first = base + 64 * word as u64;
            *bits = LOW.get(row).copied().unwrap_or_else(|| (first >> row & 1).wrapping_neg());
        }
    }
}

/// The numbers of 64 lanes.
fn numbers(outputs: &BitMatrix, word: usize) -> [u32; 64] {
    let mut numbers = [0; 64];
    for row in 0..outputs.rows() {
        let bits = outputs.row(row)[word];
        for (lane, number) in numbers.iter_mut().enumerate() {
            *number |= ((bits >> lane & 1) as u32) << row;
        }
    }
    numbers
}

/// A square whose exponent has no bounds when it is rounded, and which is zero below the smallest normal number.
fn square_flushed(x: f32) -> f32 {
    let exact = f64::from(x) * f64::from(x);
    let normal = f64::from(f32::MIN_POSITIVE);
    match exact {
        _ if exact >= normal => exact as f32,
        _ if exact >= normal - 2f64.powi(-151) => f32::MIN_POSITIVE,
        _ => 0.0,
    }
}

/// sin(πx); the reduction is exact.
fn sin_pi(x: f64) -> f64 {
    let rest = x - 2.0 * (x / 2.0).round();
    match rest {
        _ if rest.is_nan() => f64::NAN,
        _ if x == x.trunc() => 0f64.copysign(x),
        _ if rest.abs() <= 0.5 => (rest * std::f64::consts::PI).sin(),
        _ => ((rest.signum() - rest) * std::f64::consts::PI).sin(),
    }
}

/// cos(πx).
fn cos_pi(x: f64) -> f64 {
    let rest = (x - 2.0 * (x / 2.0).round()).abs();
    if rest == 0.5 { 0.0 } else { sin_pi(0.5 - rest) }
}

/// tan(πx), with a zero or infinity of IEEE 754's sign.
fn tan_pi(x: f64) -> f64 {
    let rest = x.abs() % 2.0;
    match rest {
        0.0 | 0.5 => (if rest == 0.0 { 0.0 } else { f64::INFINITY }).copysign(x),
        1.0 | 1.5 => (if rest == 1.0 { -0.0 } else { f64::NEG_INFINITY }) * x.signum(),
        _ => sin_pi(x) / cos_pi(x),
    }
}

macro_rules! exhaustive {
    ($($test:ident: $name:literal $size:expr, $reference:expr;)*) => {
        $(
            #[test]
            #[ignore = "takes minutes"]
            fn $test() {
                verify($name, &$size, $reference);
            }
        )*
    };
}

const SINGLE: [u32; 2] = [8, 23];

exhaustive! {
    sqrt_ieee: "fp_sqrt_ieee" SINGLE, Exact(|x| bits(x.sqrt()));
    sqrt_flush: "fp_sqrt_flush" SINGLE, Exact(|x| flushed(x, f32::sqrt));
    sqr_ieee: "fp_sqr_ieee" SINGLE, Exact(|x| bits(x * x));
    sqr_flush: "fp_sqr_flush" SINGLE, Exact(|x| flushed(x, square_flushed));
    round_ieee: "fp_round_ieee" SINGLE, Exact(|x| bits(x.round_ties_even()));
    round_flush: "fp_round_flush" SINGLE, Exact(|x| flushed(x, f32::round_ties_even));
    floor_ieee: "fp_floor_ieee" SINGLE, Exact(|x| bits(x.floor()));
    floor_flush: "fp_floor_flush" SINGLE, Exact(|x| flushed(x, f32::floor));
    ceil_ieee: "fp_ceil_ieee" SINGLE, Exact(|x| bits(x.ceil()));
    ceil_flush: "fp_ceil_flush" SINGLE, Exact(|x| flushed(x, f32::ceil));
    trunc_ieee: "fp_trunc_ieee" SINGLE, Exact(|x| bits(x.trunc()));
    trunc_flush: "fp_trunc_flush" SINGLE, Exact(|x| flushed(x, f32::trunc));
    to_int_ieee: "fp_to_int_ieee" [8, 23, 32], Exact(|x| x as i32 as u32);
    to_uint_ieee: "fp_to_uint_ieee" [8, 23, 32], Exact(|x| x as u32);
    from_int_ieee: "fp_from_int_ieee" [8, 23, 32], Exact(|x| (x.to_bits() as i32 as f32).to_bits());
    from_uint_ieee: "fp_from_uint_ieee" [8, 23, 32], Exact(|x| (x.to_bits() as f32).to_bits());
    neg: "fp_neg" SINGLE, Exact(|x| x.to_bits() ^ 1 << 31);
    abs: "fp_abs" SINGLE, Exact(|x| x.to_bits() & !(1 << 31));
    convert_to_bfloat16: "fp_convert_ieee" [8, 23, 8, 7], Exact(|x| {
        let rounded = x.to_bits().wrapping_add(0x7fff + (x.to_bits() >> 16 & 1));
        if x.is_nan() { 0x7fc0 } else { rounded >> 16 }
    });
    sin_pi_ieee: "fp_sin_pi_ieee" SINGLE, Faithful(sin_pi);
    cos_pi_ieee: "fp_cos_pi_ieee" SINGLE, Faithful(cos_pi);
    tan_pi_ieee: "fp_tan_pi_ieee" SINGLE, Faithful(tan_pi);
    sin_ieee: "fp_sin_ieee" SINGLE, Faithful(f64::sin);
    cos_ieee: "fp_cos_ieee" SINGLE, Faithful(f64::cos);
    tan_ieee: "fp_tan_ieee" SINGLE, Faithful(f64::tan);
    asin_ieee: "fp_asin_ieee" SINGLE, Faithful(f64::asin);
    atan_ieee: "fp_atan_ieee" SINGLE, Faithful(f64::atan);
    exp_ieee: "fp_exp_ieee" SINGLE, Faithful(f64::exp);
    exp2_ieee: "fp_exp2_ieee" SINGLE, Faithful(f64::exp2);
    exp10_ieee: "fp_exp10_ieee" SINGLE, Faithful(|x| 10f64.powf(x));
    ln_ieee: "fp_ln_ieee" SINGLE, Faithful(f64::ln);
    log2_ieee: "fp_log2_ieee" SINGLE, Faithful(f64::log2);
    log10_ieee: "fp_log10_ieee" SINGLE, Faithful(f64::log10);
}

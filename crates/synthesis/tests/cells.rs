//! Every cell against a plain model on big integers: random widths, signs and values, for both goals.

use crate::common::{circuit, netlist};
use circuit::Simulator;
use circuit::blocks::Goal;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use serde_json::json;

/// Lanes of a circuit.
const LANES: usize = 24;

/// A number of so many bits, as the standard reads it.
fn read(value: u128, width: usize, signed: bool) -> BigInt {
    let value = BigInt::from(value);
    let negative = signed && width > 0 && (&value >> (width - 1)) & BigInt::from(1) == BigInt::from(1);
    if negative { value - (BigInt::from(1) << width) } else { value }
}

/// A number modulo 2^width.
fn cut(value: BigInt, width: usize) -> u128 {
    let modulus = BigInt::from(1) << width;
    let value = ((value % &modulus) + &modulus) % &modulus;
    BigUint::try_from(value).unwrap().try_into().unwrap()
}

fn small(value: &BigInt) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let (quotient, remainder) = (a / b, a % b);
    let below = remainder != BigInt::ZERO && (remainder < BigInt::ZERO) != (*b < BigInt::ZERO);
    quotient - BigInt::from(u8::from(below))
}

fn power(a: &BigInt, b: &BigInt, width: usize) -> Option<BigInt> {
    if *b >= BigInt::ZERO {
        let modulus = BigInt::from(1) << width;
        let mut result = BigInt::from(1);
        (0..small(b)).for_each(|_| result = (&result * a) % &modulus);
        return Some(result);
    }
    match small(a) {
        0 => None,
        1 => Some(BigInt::from(1)),
        -1 => Some(if small(b) % 2 == 0 { BigInt::from(1) } else { BigInt::from(-1) }),
        _ => Some(BigInt::ZERO),
    }
}

/// What a cell of two operands gives, by the text of the standard; nothing where that is `x`.
fn model(kind: &str, (a, wa, sa): (u128, usize, bool), (b, wb, sb): (u128, usize, bool), width: usize) -> Option<u128> {
    let both = sa && sb;
    let (x, y) = (read(a, wa, both), read(b, wb, both));
    let truth = |truth: bool| Some(BigInt::from(u8::from(truth)));
    let shift = |value: BigInt, places: i64| if places > 200 { BigInt::ZERO } else { value << places };
    let down = |value: BigInt, places: i64| value >> places.min(200);
    // A word that is shifted has the width of the result if that is more; zeros come in above it.
    let wide = || BigInt::from(cut(read(a, wa, sa), wa.max(width)));
    let result = match kind {
        "$add" => Some(x + y),
        "$sub" => Some(x - y),
        "$mul" => Some(x * y),
        "$div" | "$mod" | "$divfloor" | "$modfloor" if y == BigInt::ZERO => None,
        "$div" => Some(x / y),
        "$mod" => Some(x % y),
        "$divfloor" => Some(floor_div(&x, &y)),
        "$modfloor" => Some(&x - floor_div(&x, &y) * &y),
        "$pow" => power(&read(a, wa, sa), &read(b, wb, sb), width),
        "$lt" => truth(x < y),
        "$le" => truth(x <= y),
        "$gt" => truth(x > y),
        "$ge" => truth(x >= y),
        "$eq" | "$eqx" => truth(x == y),
        "$ne" | "$nex" => truth(x != y),
        "$and" => Some(x & y),
        "$or" => Some(x | y),
        "$xor" => Some(x ^ y),
        "$xnor" => Some(!(x ^ y)),
        "$logic_and" => truth(a != 0 && b != 0),
        "$logic_or" => truth(a != 0 || b != 0),
        "$shl" | "$sshl" => Some(shift(read(a, wa, sa), b as i64)),
        "$shr" => Some(down(wide(), b as i64)),
        "$sshr" => Some(down(if sa { read(a, wa, true) } else { wide() }, b as i64)),
        "$shift" | "$shiftx" => {
            let places = small(&read(b, wb, sb));
            Some(if places < 0 { shift(wide(), -places) } else { down(wide(), places) })
        }
        "$not" => Some(!read(a, wa, sa)),
        "$pos" => Some(read(a, wa, sa)),
        "$neg" => Some(-read(a, wa, sa)),
        "$reduce_and" => truth(a.count_ones() as usize == wa),
        "$reduce_or" | "$reduce_bool" => truth(a != 0),
        "$reduce_xor" => truth(a.count_ones() % 2 == 1),
        "$reduce_xnor" => truth(a.count_ones() % 2 == 0),
        "$logic_not" => truth(a == 0),
        _ => unreachable!("{kind}"),
    };
    result.map(|value| cut(value, width))
}

const BINARY: [&str; 30] = [
    "$add",
    "$sub",
    "$mul",
    "$div",
    "$mod",
    "$divfloor",
    "$modfloor",
    "$pow",
    "$lt",
    "$le",
    "$gt",
    "$ge",
    "$eq",
    "$ne",
    "$eqx",
    "$nex",
    "$and",
    "$or",
    "$xor",
    "$xnor",
    "$logic_and",
    "$logic_or",
    "$shl",
    "$sshl",
    "$shr",
    "$sshr",
    "$shift",
    "$shiftx",
    "$mul",
    "$div",
];
const UNARY: [&str; 9] =
    ["$not", "$pos", "$neg", "$reduce_and", "$reduce_or", "$reduce_bool", "$reduce_xor", "$reduce_xnor", "$logic_not"];

fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![Just(Goal::Size), Just(Goal::Depth)]
}

/// Values with the corners among them.
fn values(width: usize, seed: u64) -> Vec<u128> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 16
    };
    let mask = (1u128 << width) - 1;
    let corner = |choice: u64, value: u128| match choice % 8 {
        0 => 0,
        1 => mask,
        2 => 1 << (width - 1),
        3 => mask >> 1,
        4 => 1,
        _ => value,
    };
    (0..LANES).map(|_| corner(next(), u128::from(next()) & mask) & mask).collect()
}

fn check(kind: &str, [wa, wb, wy]: [usize; 3], [sa, sb]: [bool; 2], seed: u64, goal: Goal) {
    let unary = UNARY.contains(&kind);
    // The front end gives signed shifts of unsigned amounts alone.
    let sb = sb && !matches!(kind, "$shl" | "$sshl" | "$shr" | "$sshr");
    let sa = sa && kind != "$shiftx";
    let parameters = json!({ "A_SIGNED": u8::from(sa), "B_SIGNED": u8::from(sb) });
    let inputs: &[(&str, usize)] = if unary { &[("A", wa)] } else { &[("A", wa), ("B", wb)] };
    let made = circuit(&netlist(kind, parameters, inputs, &[("Y", wy)]), goal);
    let (a, b) = (values(wa, seed), values(wb, seed ^ 0x9e37_79b9));
    let ports: &[&[u128]] = if unary { &[&a] } else { &[&a, &b] };
    let results = Simulator::new(&made).numbers(ports).remove(0);
    for ((&a, &b), &result) in a.iter().zip(&b).zip(&results) {
        let Some(expected) = model(kind, (a, wa, sa), (b, wb, sb), wy) else { continue };
        let known = if kind == "$shiftx" { inside(read(b, wb, sb), wa, wy) } else { u128::MAX };
        assert_eq!(result & known, expected & known, "{kind} of {a}:{wa}{sa} and {b}:{wb}{sb} in {wy} bits, {goal}");
    }
}

/// The bits of a part that lie inside of the word.
fn inside(place: BigInt, wa: usize, wy: usize) -> u128 {
    let within = |i: &usize| (BigInt::ZERO..BigInt::from(wa)).contains(&(&place + BigInt::from(*i)));
    (0..wy).filter(within).fold(0, |mask, i| mask | 1 << i)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn cells_of_two_operands(
        kind in prop::sample::select(&BINARY[..]),
        widths in prop::array::uniform3(1usize..14),
        signed in any::<bool>(),
        apart in any::<[bool; 2]>(),
        seed in any::<u64>(),
        goal in goal(),
    ) {
        // Mostly both or none are signed, as the front end has it.
        let signs = if seed % 4 == 0 { apart } else { [signed; 2] };
        check(kind, widths, signs, seed, goal);
    }

    #[test]
    fn cells_of_one_operand(
        kind in prop::sample::select(&UNARY[..]),
        widths in prop::array::uniform2(1usize..20),
        signed in any::<bool>(),
        seed in any::<u64>(),
        goal in goal(),
    ) {
        check(kind, [widths[0], 1, widths[1]], [signed; 2], seed, goal);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn wide_products_and_quotients(
        kind in prop::sample::select(&["$mul", "$div", "$mod", "$add", "$sub", "$lt"][..]),
        widths in [1usize..60, 1usize..60, 1usize..110],
        signed in any::<bool>(),
        seed in any::<u64>(),
        goal in goal(),
    ) {
        check(kind, widths, [signed; 2], seed, goal);
    }
}

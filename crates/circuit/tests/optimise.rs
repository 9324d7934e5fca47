//! Circuits with fewer ANDs: the same functions, no more ANDs, no more depth where that is asked for.

use circuit::blocks::{Goal, add, multiply, population_count};
use circuit::optimise::gates::{MOST_EFFORT, Settings, optimise};
use circuit::{Bit, Bits, Builder, Circuit, Gate, UInt};
use proptest::prelude::*;

fn optimised(circuit: &Circuit, effort: u32, goal: Goal) -> Circuit {
    optimise(circuit, Settings::of(effort, goal)).unwrap()
}

/// A circuit of random gates: two operands, their complements, and what the gate is.
fn random(inputs: u32, gates: &[(u16, u16, u8)]) -> Circuit {
    let mut c = Builder::new("random");
    let mut bits = c.bits("x", inputs).0;
    for &(a, b, what) in gates {
        let pick = |place: u16, flip: bool| bits[bits.len() - 1 - place as usize % bits.len().min(24)].flip(flip);
        let (a, b) = (pick(a, what & 1 == 1), pick(b, what & 2 == 2));
        bits.push(if what & 12 == 12 { c.xor(a, b) } else { c.and(a, b) });
    }
    let last = bits.split_off(bits.len().saturating_sub(9));
    c.output("y", &Bits(last));
    c.finish()
}

/// The function as files have it that know ANDs and complements alone: an XOR is three of them.
fn as_ands(circuit: &Circuit) -> Circuit {
    let mut c = Builder::new(circuit.name());
    let mut inputs =
        circuit.inputs().iter().flat_map(|port| c.input(&port.name, port.ty)).collect::<Vec<_>>().into_iter();
    let mut bits: Vec<Bit> = Vec::new();
    for gate in circuit.gates() {
        let of = |bit: Bit| bits[bit.node() as usize].flip(bit.complemented());
        let bit = match *gate {
            Gate::False => Bit::FALSE,
            Gate::Input => inputs.next().unwrap(),
            Gate::And(a, b) => c.and(of(a), of(b)),
            Gate::Xor(a, b) => {
                let (a, b) = (of(a), of(b));
                let (both, neither) = (c.and(a, b), c.and(!a, !b));
                c.and(!both, !neither)
            }
        };
        bits.push(bit);
    }
    let outputs: Vec<Bit> =
        circuit.output_bits().iter().map(|b| bits[b.node() as usize].flip(b.complemented())).collect();
    let mut rest = &outputs[..];
    for port in circuit.outputs() {
        let (word, after) = rest.split_at(port.ty.width as usize);
        c.output_as(&port.name, port.ty, word);
        rest = after;
    }
    c.finish()
}

fn same(one: &Circuit, other: &Circuit, lanes: &[u64]) -> bool {
    lanes.iter().all(|lane| {
        let bits: Vec<bool> = (0..one.input_width()).map(|i| lane >> (i % 64) & 1 == 1).collect();
        one.evaluate(&bits) == other.evaluate(&bits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_circuits_keep_their_functions(
        inputs in 1u32..20,
        gates in prop::collection::vec(any::<(u16, u16, u8)>(), 0..300),
        effort in 0..=6u32,
        depth: bool,
        lanes in prop::collection::vec(any::<u64>(), 50),
    ) {
        let circuit = random(inputs, &gates);
        let goal = if depth { Goal::Depth } else { Goal::Size };
        let made = optimised(&circuit, effort, goal);
        prop_assert!(same(&circuit, &made, &lanes));
        prop_assert!(made.and_count() <= circuit.and_count());
        prop_assert!(!depth || made.depth() <= circuit.depth());
        prop_assert_eq!((made.inputs(), made.outputs(), made.name()), (circuit.inputs(), circuit.outputs(), "random"));
        prop_assert_eq!(optimised(&circuit, effort, goal), made, "equal calls give equal circuits");
    }
}

/// What our blocks make of few ANDs comes back from gates that know no XOR.
#[test]
fn arithmetic_comes_back() {
    let mut c = Builder::new("add");
    let (a, b) = (c.uint("a", 32), c.uint("b", 32));
    let sum = add(&mut c, &a, &b, Goal::Size);
    c.output("sum", &sum);
    let adder = c.finish();
    let mut c = Builder::new("count");
    let x = c.bits("x", 31);
    let count = population_count(&mut c, &x);
    c.output("count", &count);
    let counter = c.finish();
    for (circuit, ands) in [(adder, 31), (counter, 26)] {
        let gates = as_ands(&circuit);
        assert!(gates.and_count() > 2 * ands, "{} of {}", gates.and_count(), circuit.name());
        assert_eq!(optimised(&gates, 4, Goal::Size).and_count(), ands, "{}", circuit.name());
    }
}

/// Whether one number is greater than another, carries of four bits at a time beside the long way: they are redundant, and
/// an AND a bit is left.
#[test]
fn carries_that_look_ahead_go() {
    let mut c = Builder::new("greater");
    let (a, b) = (c.bits("a", 12).0, c.bits("b", 12).0);
    let mut carry = Bit::FALSE;
    for group in 0..3 {
        let pairs: Vec<(Bit, Bit)> = (4 * group..4 * group + 4).map(|i| (a[i], !b[i])).collect();
        let propagate: Vec<Bit> = pairs.iter().map(|&(a, b)| !c.and(!a, !b)).collect();
        let generate: Vec<Bit> = pairs.iter().map(|&(a, b)| c.and(a, b)).collect();
        let mut own = generate[0];
        for i in 1..4 {
            let passed = c.and(propagate[i], own);
            own = !c.and(!generate[i], !passed);
        }
        let all = propagate[1..].iter().fold(propagate[0], |all, &bit| c.and(all, bit));
        let passed = c.and(all, carry);
        carry = !c.and(!own, !passed);
    }
    c.output("y", &Bits(vec![carry]));
    let circuit = c.finish();
    assert_eq!((circuit.and_count(), optimised(&circuit, 5, Goal::Size).and_count()), (40, 12));
    assert!(same(&circuit, &optimised(&circuit, MOST_EFFORT, Goal::Depth), &[0, 1 << 12, 0xfff, 0xabc_123, 0x7ff_800]));
}

#[test]
fn products_come_near() {
    let mut c = Builder::new("multiply");
    let (a, b) = (c.uint("a", 8), c.uint("b", 8));
    let product: UInt = multiply(&mut c, &a, &b, Goal::Size);
    c.output("product", &product);
    let circuit = c.finish();
    let made = optimised(&as_ands(&circuit), 5, Goal::Size);
    assert!(made.and_count() <= circuit.and_count() + circuit.and_count() / 10, "{} ANDs", made.and_count());
}

#[test]
fn what_is_there_twice_goes_without_effort() {
    let mut c = Builder::new("twice");
    let x = c.bits("x", 3).0;
    // (x0 ⊕ x1)(x1 ⊕ x2) and x0x1 ⊕ x0x2 ⊕ x1x2 ⊕ x1: the plane of the first has the AND of the second's parts.
    let (a, b) = (c.xor(x[0], x[1]), c.xor(x[1], x[2]));
    let first = c.and(a, b);
    let other = c.xor(x[0], x[2]);
    let second = c.and(!a, other);
    c.output("y", &Bits(vec![first, second]));
    let circuit = c.finish();
    assert_eq!((circuit.and_count(), optimised(&circuit, 0, Goal::Size).and_count()), (2, 1));
}

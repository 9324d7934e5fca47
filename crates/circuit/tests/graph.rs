//! The builder computes what it is told, and a circuit is refused if it is not one.

use crate::common::{bits_of, number_of};
use circuit::{Bit, Bits, Builder, Circuit, Error, Gate, Port, UInt, Word, bits, uint};
use proptest::prelude::*;

/// A gate of a random circuit: operation, two operands among the bits so far, and their complements.
type Draw = (u8, u16, u16, bool, bool);

const INPUTS: u32 = 4;

/// Builds the gates and evaluates them beside it, on all inputs at once: bit k of a value is its value on input k.
fn build(draws: &[Draw]) -> (Circuit, Vec<u16>) {
    let mut c = Builder::new("random");
    let mut bits = vec![Bit::FALSE, Bit::TRUE];
    bits.extend(c.bits("x", INPUTS).0);
    let mut values = vec![0, u16::MAX, 0xaaaa, 0xcccc, 0xf0f0, 0xff00];
    for &(op, i, j, p, q) in draws {
        // Most gates read recent bits, so that chains grow long enough for every rewrite.
        let pick = |i: u16| bits.len() - 1 - usize::from(i) % bits.len().min(9);
        let (i, j, select) = (pick(i), pick(j), pick(i ^ j));
        let (a, b, s) = (bits[i].flip(p), bits[j].flip(q), bits[select]);
        let (x, y, t) = (flip(values[i], p), flip(values[j], q), values[select]);
        let (bit, value) = match op % 4 {
            0 => (c.xor(a, b), x ^ y),
            1 => (c.and(a, b), x & y),
            2 => (c.or(a, b), x | y),
            _ => (c.mux(s, a, b), (t & x) | (!t & y)),
        };
        bits.push(bit);
        values.push(value);
    }
    c.output("z", &Bits(bits));
    (c.finish(), values)
}

fn flip(value: u16, flip: bool) -> u16 {
    if flip { !value } else { value }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn rewrites_are_sound(draws in prop::collection::vec(any::<Draw>(), 0..80)) {
        let (circuit, values) = build(&draws);
        for input in 0..1u32 << INPUTS {
            let expected: Vec<bool> = values.iter().map(|value| value >> input & 1 == 1).collect();
            prop_assert_eq!(circuit.evaluate(&bits_of(input.into(), INPUTS)), expected);
        }
        prop_assert_eq!(&build(&draws).0, &circuit);
    }

    #[test]
    fn no_pair_is_multiplied_twice(draws in prop::collection::vec(any::<Draw>(), 0..80)) {
        let (circuit, _) = build(&draws);
        let mut pairs: Vec<_> = circuit.gates().iter().filter_map(|gate| match gate {
            Gate::And(a, b) => Some((a.node(), b.node())),
            _ => None,
        }).collect();
        pairs.sort_unstable();
        let count = pairs.len();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), count);
        prop_assert!(draws.len() as u64 >= circuit.and_count());
    }
}

/// ANDs of a function of three bits.
fn ands(gate: impl FnOnce(&mut Builder, [Bit; 3]) -> Bit) -> u64 {
    let mut c = Builder::new("three");
    let [x, y, z]: [Bit; 3] = c.bits("x", 3).0.try_into().unwrap();
    let out = gate(&mut c, [x, y, z]);
    c.output("out", &Bits::from(out));
    c.finish().and_count()
}

#[test]
fn gates_that_are_there_cost_nothing() {
    assert_eq!(ands(|c, [x, ..]| c.and(x, !x)), 0);
    assert_eq!(ands(|c, [x, ..]| c.and(x, Bit::TRUE)), 0);
    let twice = |c: &mut Builder, [x, y, _]: [Bit; 3]| {
        let (xy, once) = (c.and(x, y), c.and(!x, y));
        c.xor(xy, once)
    };
    assert_eq!(ands(twice), 0);
    let four = |c: &mut Builder, [x, y, z]: [Bit; 3]| {
        let parts = [(x, y), (!x, y), (x, !y), (!x, !y)].map(|(a, b)| c.and(a, b));
        c.mux(z, parts[0], parts[3])
    };
    assert_eq!(ands(four), 2);
    let absorbed = |c: &mut Builder, [x, y, z]: [Bit; 3]| {
        let xy = c.and(x, y);
        let or = c.or(x, xy);
        c.and(or, z)
    };
    assert_eq!(ands(absorbed), 1);
}

#[test]
fn long_chains_of_rewrites_end() {
    // Each XOR cancels against the one before, and each AND looks through its fan-in.
    let mut c = Builder::new("chain");
    let x = c.bits("x", 1000).0;
    let fold = |c: &mut Builder, start: Bit| x[2..].iter().fold(start, |sum, &bit| c.xor(sum, bit));
    let (left, right) = (fold(&mut c, x[0]), fold(&mut c, x[1]));
    let both = c.xor(left, right);
    let (mut a, mut b) = (x[0], x[1]);
    for _ in 0..100_000 {
        (a, b) = (b, c.xor(a, b));
        (a, b) = (b, c.xor(a, x[2]));
    }
    let all = c.and(a, b);
    c.output("out", &Bits(vec![both, all]));
    let circuit = c.finish();
    let mut input = vec![false; 1000];
    input[0] = true;
    assert!(circuit.evaluate(&input)[0]);
}

#[test]
fn dead_gates_go_and_inputs_stay() {
    let mut c = Builder::new("swept");
    let (x, y) = (c.uint("x", 2), c.uint("unused", 3));
    let dead = c.and(x.0[0], y.0[1]);
    let _ = c.or(dead, y.0[2]);
    c.output("z", &UInt(vec![!x.0[1]]));
    let circuit = c.finish();
    assert_eq!((circuit.gates().len(), circuit.input_width()), (1 + 5, 5));
    assert_eq!(number_of(&circuit.evaluate(&bits_of(0b10, 5))), 0);
}

#[test]
fn words_change_their_width() {
    assert_eq!(UInt::constant(5, 3).resized(5), UInt::constant(5, 5));
    assert_eq!(circuit::Int::constant(-3, 3).resized(6), circuit::Int::constant(-3, 6));
    assert_eq!(circuit::Int::constant(-1, 200).bits(), vec![Bit::TRUE; 200]);
    assert_eq!(UInt::constant(u128::MAX, 130).bits()[127..], [Bit::TRUE, Bit::FALSE, Bit::FALSE]);
    assert_eq!(UInt::constant(5, 3).ty().to_string(), "uint(3)");
}

/// The parts of a circuit: x & !y.
struct Parts {
    gates: Vec<Gate>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_nodes: Vec<u32>,
    output_bits: Vec<Bit>,
}

fn parts() -> Parts {
    let and = Gate::And(Bit::new(1, false), Bit::new(2, true));
    Parts {
        gates: vec![Gate::False, Gate::Input, Gate::Input, and],
        inputs: vec![Port::new("x", bits(1)), Port::new("y", bits(1))],
        outputs: vec![Port::new("z", uint(1))],
        input_nodes: vec![1, 2],
        output_bits: vec![Bit::new(3, false)],
    }
}

fn make(parts: Parts) -> Result<Circuit, Error> {
    let Parts { gates, inputs, outputs, input_nodes, output_bits } = parts;
    Circuit::from_parts("made", gates, inputs, outputs, input_nodes, output_bits)
}

#[test]
fn parts_that_fit_make_a_circuit() {
    let circuit = make(parts()).unwrap();
    assert_eq!(circuit.evaluate(&[true, false]), [true]);
    assert_eq!(circuit.evaluate(&[true, true]), [false]);
}

/// Spoils the parts in one place.
type Lie = fn(&mut Parts);

#[test]
fn parts_that_do_not_fit_are_refused() {
    let lies: [(Lie, &str); 18] = [
        (|p| p.gates[0] = Gate::Input, "gate 0: must be the constant false"),
        (|p| p.gates.clear(), "gate 0: must be the constant false"),
        (|p| p.gates.push(Gate::False), "gate 4: only gate 0 is the constant false"),
        (|p| p.gates[3] = Gate::And(Bit::new(1, false), Bit::new(3, false)), "gate 3: reads node 3"),
        (|p| p.gates[3] = Gate::Xor(Bit::new(1, false), Bit::new(9, false)), "gate 3: reads node 9"),
        (|p| p.gates[3] = Gate::Xor(Bit::new(1, true), Bit::new(2, false)), "gate 3: a fan-in of an XOR"),
        (|p| p.gates[3] = Gate::And(Bit::new(1, false), Bit::TRUE), "gate 3: a gate of a constant"),
        (
            |p| p.gates[3] = Gate::Xor(Bit::new(1, false), Bit::new(1, false)),
            "gate 3: a gate of a constant or of one node twice",
        ),
        (|p| p.input_nodes[1] = 1, "input bit 1: node 1 is an input bit already"),
        (|p| p.input_nodes[1] = 3, "input bit 1: node 3 is no input"),
        (|p| p.input_nodes[1] = 4, "input bit 1: node 4 of 4"),
        (|p| p.gates.push(Gate::Input), "gate 4: an input that belongs to no port"),
        (|p| p.inputs[1].ty.width = 2, "inputs: the ports have 3 bits together, but 2 are given"),
        (|p| p.outputs.clear(), "outputs: the ports have 0 bits together, but 1 are given"),
        (|p| p.output_bits[0] = Bit::new(4, true), "output bit 0: node 4 of 4"),
        (|p| p.inputs[1].name = "x".into(), "input 'x': the name is used twice"),
        (|p| p.outputs[0].name = "z\n".into(), "output 'z\\n': the name contains the control character"),
        (|p| p.inputs[0].ty.width = 0, "input 'x': has no bits"),
    ];
    for (lie, part) in lies {
        let mut parts = parts();
        lie(&mut parts);
        let message = make(parts).unwrap_err().to_string();
        assert!(message.contains("circuit 'made', ") && message.contains(part), "{message} / {part}");
    }
}

//! Functions against the circuits that they were made of, and the numbers of gates.

use super::maker::Maker;
use super::nodes::{Nodes, Size};
use super::{Function, Node, nands, thresholds};
use crate::blocks::registry;
use crate::blocks::{Goal, add};
use crate::{Bit, Builder, Circuit, Simulator, UInt};
use proptest::prelude::*;

fn circuit_of(inputs: u32, gates: &[(u8, usize, usize)], outputs: usize) -> Circuit {
    let mut c = Builder::new("random");
    let mut bits = c.bits("x", inputs).0;
    for &(kind, a, b) in gates {
        let (a, b) = (bits[a % bits.len()].flip(kind & 1 == 1), bits[b % bits.len()].flip(kind & 2 == 2));
        let select = bits[(kind as usize >> 4) % bits.len()];
        bits.push(match kind >> 2 & 3 {
            0 => c.xor(a, b),
            1 => c.and(a, b),
            _ => c.mux(select, a, b),
        });
    }
    let last = crate::Bits(bits[bits.len() - outputs.min(bits.len())..].to_vec());
    c.output("y", &last);
    c.finish()
}

fn bits_of(number: u64, width: usize) -> Vec<bool> {
    (0..width).map(|bit| number >> bit & 1 == 1).collect()
}

/// The function against its circuit, on these inputs.
fn agrees(circuit: &Circuit, function: &Function, inputs: impl Iterator<Item = u64>) {
    for input in inputs {
        let x = bits_of(input, circuit.input_width());
        assert_eq!(function.evaluate(&x), circuit.evaluate(&x), "input {input:b} of {circuit:?}");
    }
}

proptest! {
    #[test]
    fn random_circuits_keep_their_meaning(
        inputs in prop_oneof![1u32..5, 5u32..12],
        gates in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..120),
        outputs in 1usize..9,
        seed in any::<u64>(),
    ) {
        let circuit = circuit_of(inputs, &gates, outputs);
        let many = || (0..64).map(|i: u64| seed.wrapping_mul(2 * i + 1).rotate_left(i as u32));
        let rows: Vec<Vec<bool>> = many().map(|x| bits_of(x, inputs as usize)).collect();
        let simulated = Simulator::new(&circuit).run(&crate::BitMatrix::from_lanes(inputs as usize, &rows));
        for function in [thresholds(&circuit)?, nands(&circuit)?] {
            for (lane, row) in rows.iter().enumerate() {
                prop_assert_eq!(function.evaluate(row), simulated.lane(lane));
            }
            prop_assert_eq!(&Function::new(function.nodes().to_vec(), function.outputs().to_vec())?, &function);
        }
        prop_assert!(thresholds(&circuit)?.gates() <= circuit.gates().len() - 1 - inputs as usize);
    }
}

/// Over few inputs much of a multiplexer simplifies: what remains may be ANDs of other bits than the selecting one.
#[test]
fn two_thousand_circuits_of_three_inputs() {
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for _ in 0..2000 {
        let gates: Vec<_> = (0..10 + draw() % 30).map(|_| (draw() as u8, draw(), draw())).collect();
        let circuit = circuit_of(3, &gates, 4);
        agrees(&circuit, &thresholds(&circuit).unwrap(), 0..8);
    }
}

/// A multiplexer whose ANDs are both there already, of other bits.
#[test]
fn a_choice_of_products_that_share_no_bit() {
    let mut c = Builder::new("choice");
    let x = c.bits("x", 3).0;
    let n4 = c.xor(x[1], x[2]);
    let n5 = c.and(!x[1], !x[2]);
    let n6 = c.xor(x[2], n5);
    let n7 = c.and(n4, !n6);
    let n8 = c.xor(n4, n7);
    let n9 = c.xor(x[2], n8);
    let n10 = c.xor(x[0], n6);
    let n11 = c.and(n7, !n10);
    let n12 = c.xor(x[0], n11);
    c.output("y", &crate::Bits(vec![n9, n12]));
    let circuit = c.finish();
    agrees(&circuit, &thresholds(&circuit).unwrap(), 0..8);
}

#[test]
fn all_circuits_of_three_gates() {
    let operations = [0, 4, 5, 6, 7];
    let mut circuits = 0;
    for first in 0..15 {
        for second in 0..30 {
            for third in 0..50 {
                let pairs = |bits: usize| (0..bits).flat_map(move |a| (a + 1..bits).map(move |b| (a, b)));
                let gate = |choice: usize, bits: usize| {
                    let (a, b) = pairs(bits).nth(choice / 5).unwrap();
                    (operations[choice % 5], a, b)
                };
                let circuit = circuit_of(3, &[gate(first, 3), gate(second, 4), gate(third, 5)], 3);
                agrees(&circuit, &thresholds(&circuit).unwrap(), 0..8);
                circuits += 1;
            }
        }
    }
    assert_eq!(circuits, 22_500);
}

/// Every gate and every sum over all operands: three bits, their complements and constants.
#[test]
fn all_forms_of_zero_to_three() {
    let literals: Vec<Bit> = (0..4).flat_map(|node| [false, true].map(|flip| Bit::new(node, flip))).collect();
    let every = || literals.iter().flat_map(|&x| literals.iter().map(move |&y| (x, y)));
    for (x, y) in every() {
        for &z in &literals {
            let mut maker = Maker::new(3);
            let outputs = [
                maker.majority([x, y, z]),
                maker.parity([x, y, z]),
                maker.choice(x, y, z),
                maker.and(x, y),
                maker.and(!x, y),
                maker.and(x, !y),
                maker.and(!x, !y),
            ];
            let function = maker.finish(&outputs).unwrap();
            let raw = Function::new(
                [vec![Node::False], vec![Node::Input; 3], vec![Node::Majority([x, y, z]), Node::Parity(4)]].concat(),
                vec![Bit::new(4, false), Bit::new(5, true)],
            );
            let raw = raw.unwrap();
            for input in 0..8 {
                let bits = bits_of(input, 3);
                let value = |bit: Bit| (bit.node() > 0 && bits[bit.node() as usize - 1]) ^ bit.complemented();
                let [x, y, z] = [x, y, z].map(value);
                let majority = u8::from(x) + u8::from(y) + u8::from(z) >= 2;
                let expected = [majority, x ^ y ^ z, if x { y } else { z }, x && y, !x && y, x && !y, !x && !y];
                assert_eq!(function.evaluate(&bits), expected);
                assert_eq!(raw.evaluate(&bits), [majority, !(x ^ y ^ z)]);
            }
        }
    }
}

#[test]
fn gates_of_small_things() {
    let count = |build: &dyn Fn(&mut Builder, &[Bit]) -> Vec<Bit>| {
        let mut c = Builder::new("small");
        let x = c.bits("x", 4).0;
        let outputs = crate::Bits(build(&mut c, &x));
        c.output("y", &outputs);
        let circuit = c.finish();
        let function = thresholds(&circuit).unwrap();
        agrees(&circuit, &function, 0..16);
        function.gates()
    };
    assert_eq!(count(&|c, x| vec![c.xor(x[0], x[1])]), 1, "XOR");
    assert_eq!(count(&|c, x| vec![c.xor(x[0], x[1]), c.and(x[0], !x[1]), c.or(x[0], x[1])]), 1, "all of two bits");
    assert_eq!(count(&|c, x| vec![c.xor_all([x[0], x[1], x[2]])]), 1, "XOR of three");
    assert_eq!(count(&|c, x| vec![c.mux(x[0], x[1], x[2])]), 2, "multiplexer");
    assert_eq!(count(&|c, x| vec![c.mux(x[0], x[1], x[2]), c.mux(x[0], x[2], x[1])]), 2, "exchange");
    let adder = |c: &mut Builder, x: &[Bit]| {
        let (p, q) = (c.xor(x[0], x[2]), c.xor(x[1], x[2]));
        let t = c.and(p, q);
        vec![c.xor(p, x[1]), c.xor(t, x[2])]
    };
    assert_eq!(count(&adder), 1, "full adder");
    assert_eq!(count(&|_, x| vec![x[0], !x[1], Bit::TRUE, x[0]]), 0, "wires");
}

#[test]
fn gates_of_the_registry() {
    let gates = |name: &str, size: &[u32]| {
        let circuit = registry::find(name).unwrap().circuit(size, Goal::Size).unwrap();
        let function = thresholds(&circuit).unwrap();
        let bits =
            |seed: u64| (0..circuit.input_width()).map(move |i| seed.rotate_left(7 * i as u32) >> (i % 64) & 1 == 1);
        for seed in [0, u64::MAX, 0x9e37_79b9_7f4a_7c15, 0x0123_4567_89ab_cdef] {
            let x: Vec<bool> = bits(seed).collect();
            assert_eq!(function.evaluate(&x), circuit.evaluate(&x), "{name}");
        }
        let of_nands = nands(&circuit).unwrap();
        println!("{name}: {} ANDs, {} gates, {} NANDs", circuit.and_count(), function.gates(), of_nands.gates());
        function.gates()
    };
    let mut c = Builder::new("add");
    let (a, b) = (c.uint("a", 32), c.uint("b", 32));
    let sum: UInt = add(&mut c, &a, &b, Goal::Size);
    c.output("sum", &sum);
    assert_eq!(thresholds(&c.finish()).unwrap().gates(), 32, "32-bit adder");
    assert!(gates("multiply", &[32]) <= 1850);
    assert!(gates("aes128", &[]) <= 23_700);
}

/// Forms stay a graph: written out, their coefficients would have 78 bits after 80 layers.
#[test]
fn eighty_layers_of_reconvergent_xors() {
    let mut c = Builder::new("layers");
    let mut row = c.bits("x", 16).0;
    for layer in 0..80usize {
        row = (0..16).map(|i| c.xor(row[i], row[(i + 1 + (layer * layer + i) % 15) % 16])).collect();
    }
    c.output("y", &crate::Bits(row));
    let circuit = c.finish();
    let function = thresholds(&circuit).unwrap();
    agrees(&circuit, &function, (0..1 << 16).step_by(257));
    assert!(function.gates() <= 16 * 80);
}

/// Everything on a chain is for the last gate alone: what is looked at to try a cell must not be all of it.
#[test]
fn a_chain_of_twenty_thousand_gates() {
    let mut c = Builder::new("chain");
    let x = c.bits("x", 16).0;
    let step = |t: Bit, i: usize| if i.is_multiple_of(3) { c.and(t, x[i % 16]) } else { c.xor(t, x[i % 16]) };
    let last = (0..20_000).fold(x[7], step);
    c.output("y", &crate::Bits(vec![last]));
    let circuit = c.finish();
    let function = thresholds(&circuit).unwrap();
    agrees(&circuit, &function, (0..1 << 16).step_by(4099));
    assert!(function.gates() <= 20_000);
}

#[test]
fn layers_have_their_gates_first() {
    let circuit = registry::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
    let function = thresholds(&circuit).unwrap();
    let mut seen = 1 + function.inputs();
    for layer in function.layers() {
        assert_eq!(layer.start, seen);
        seen = layer.end;
        let gates = function.nodes()[layer.clone()].iter().take_while(|node| matches!(node, Node::Majority(_))).count();
        let rest = &function.nodes()[layer.start + gates..layer.end];
        assert!(gates > 0 && rest.iter().all(|node| !matches!(node, Node::Majority(_))));
        for node in &function.nodes()[layer.start..layer.start + gates] {
            let Node::Majority(bits) = node else { unreachable!() };
            assert!(bits.iter().all(|bit| (bit.node() as usize) < layer.start));
        }
    }
    assert_eq!(seen, function.nodes().len());
}

#[test]
fn only_sums_that_are_bits_exist() {
    let x = |node: u32| Bit::new(node, false);
    let with = |nodes: &[Node]| {
        let before = [Node::False, Node::Input, Node::Input, Node::Input];
        Function::new([&before[..], nodes].concat(), vec![x(1)]).map(|_| ())
    };
    let and = |a: Bit, b: Bit| Node::Majority([Bit::FALSE, a, b]);
    let exclusive = [and(x(1), x(2)), and(!x(1), x(3)), Node::Choice([x(4), x(5)])];
    assert!(with(&exclusive).is_ok());
    for (nodes, place) in [
        (
            vec![and(x(1), x(2)), and(x(1), x(3)), Node::Choice([x(4), x(5)])],
            "node 6: a sum of two bits that may both be true",
        ),
        (vec![Node::Choice([x(1), !x(1)])], "node 4: a sum of two bits"),
        (vec![Node::Parity(4)], "node 4: node 4 is no earlier gate"),
        (vec![and(x(4), x(1))], "node 4: reads node 4, which does not come before it"),
        (vec![Node::Majority([x(1), x(2), x(3)]), Node::Rest(4, 1)], "node 5: gate 4 is no AND"),
        (vec![Node::Majority([Bit::TRUE, x(2), x(3)]), Node::Either(4)], "node 5: gate 4 is no AND"),
        (vec![and(x(1), x(2)), Node::Rest(4, 0)], "node 5: operand 0 of an AND"),
        (vec![and(x(1), x(2)), Node::Input], "node 5: an input after another node"),
        (vec![Node::False], "node 4: only node 0"),
    ] {
        let why = with(&nodes).unwrap_err().to_string();
        assert!(why.contains(place), "{why}");
    }
    assert!(Function::new(vec![Node::False], vec![x(1)]).is_err());
    assert!(Function::new(vec![], vec![]).is_err());
}

proptest! {
    /// Whatever the constants are, the function is that of the circuit with them, and its sizes are the same.
    #[test]
    fn inputs_become_constants_and_nothing_else_changes(
        hers in 1usize..4,
        theirs in 1usize..4,
        gates in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..24),
        outputs in 1usize..6,
    ) {
        let width = hers + theirs;
        let circuit = circuit_of(width as u32, &gates, outputs);
        let nodes = Nodes::of_circuit(&circuit)?;
        for function in [thresholds(&circuit)?, nands(&circuit)?] {
            for own in 0..1u64 << hers {
                let given: Vec<Option<bool>> = (0..width).map(|bit| (bit < hers).then_some(own >> bit & 1 == 1)).collect();
                let (made, nodes_made) = (function.restricted(&given)?, nodes.restricted(&given)?);
                prop_assert_eq!(made.inputs(), theirs);
                prop_assert_eq!((made.gates(), made.additions()), (function.gates(), function.additions()));
                prop_assert_eq!(made.layers().len(), function.layers().len());
                let before = nodes.size();
                prop_assert_eq!(nodes_made.size(), Size { inputs: theirs as u32, ..before });
                for x in 0..1u64 << theirs {
                    let y = circuit.evaluate(&bits_of(own | x << hers, width));
                    prop_assert_eq!(&made.evaluate(&bits_of(x, theirs)), &y);
                    let words: Vec<u64> = bits_of(x, theirs).into_iter().map(u64::from).collect();
                    let result: Vec<bool> = nodes_made.evaluate(&words).iter().map(|word| word & 1 == 1).collect();
                    prop_assert_eq!(result, y);
                }
            }
        }
    }
}

#[test]
fn constants_for_other_inputs_are_refused() {
    let circuit = circuit_of(3, &[(4, 0, 1), (0, 2, 3)], 1);
    let (function, nodes) = (thresholds(&circuit).unwrap(), Nodes::of_circuit(&circuit).unwrap());
    for given in [vec![None; 2], vec![Some(true); 4]] {
        assert!(function.restricted(&given).is_err() && nodes.restricted(&given).is_err());
    }
    assert!(nodes.restricted(&[Some(true); 3]).is_err(), "no input is left");
}

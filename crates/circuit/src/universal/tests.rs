//! Universal circuits against the functions that they are to compute, for every size up to 200 and large ones.

use super::layout::{Kind, Level, levels};
use super::*;
use crate::blocks::registry;
use crate::private::nodes::MAX_NODES;
use crate::{Bit, Circuit, Gate, Port, bits};
use std::collections::HashSet;

/// SplitMix64: the same numbers in every run.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }
}

/// A function of these sizes, whose gates read what is free among all nodes before them; a few read nothing.
fn random_function(size: Size, random: &mut Random) -> Nodes {
    let mut free: Vec<u32> = (0..size.inputs).flat_map(|node| [node; 2]).collect();
    let mut nodes = Vec::new();
    for gate in 0..size.tables() as u32 {
        let mut operand = || {
            if free.is_empty() || random.below(20) == 0 {
                return NOTHING;
            }
            let place = random.below(free.len());
            free.swap_remove(place)
        };
        let operands = [operand(), operand()];
        let mut table = random.word() as u8 & 15;
        if operands[0] == NOTHING {
            table = table & 0b0101 | (table & 0b0101) << 1;
        }
        if operands[1] == NOTHING {
            table = table & 0b0011 | (table & 0b0011) << 2;
        }
        nodes.push(Node { operands, table });
        if gate < size.gates {
            free.extend([size.inputs + gate; 2]);
        }
    }
    Nodes::new(size, nodes).unwrap()
}

fn random_size(nodes: usize, random: &mut Random) -> Size {
    let inputs = 1 + random.below(nodes - 1);
    let outputs = 1 + random.below(nodes - inputs);
    Size::new(inputs as u32, (nodes - inputs - outputs) as u32, outputs as u32).unwrap()
}

/// Whether the universal circuit computes the function on 64 random inputs.
fn check(function: &Nodes, random: &mut Random) {
    let controls = Controls::new(function);
    let inputs: Vec<u64> = (0..function.size().inputs).map(|_| random.word()).collect();
    assert!(controls.evaluate(&inputs) == function.evaluate(&inputs), "{:?}", function.size());
    let (mut board, mut edges) = (Board::new(function.size(), NOTHING), Edges { controls: &controls, function });
    Walk::new(function.size()).for_each(|unit| board.run(unit, &mut edges));
}

/// Wires carry the number of the node that they come from: every node has to meet its operands.
struct Edges<'a> {
    controls: &'a Controls,
    function: &'a Nodes,
}

impl Engine for Edges<'_> {
    type Wire = u32;

    fn switches(&mut self, place: usize, a: &mut [u32], b: &mut [u32]) {
        let crossed = (place..place + a.len()).map(|at| self.controls.bit(at));
        a.iter_mut().zip(b).zip(crossed).filter(|(_, crossed)| *crossed).for_each(|((a, b), _)| std::mem::swap(a, b));
    }

    fn pole(&mut self, pole: usize, [x, y]: [u32; 2]) -> u32 {
        if let Some(gate) = pole.checked_sub(self.function.size().inputs as usize) {
            let [a, b] = self.function.nodes()[gate].operands;
            let is = |wanted: u32, came: u32| wanted == NOTHING || wanted == came;
            assert!(is(a, x) && is(b, y) || is(a, y) && is(b, x), "node {pole}: {a} and {b}, not {x} and {y}");
        }
        pole as u32
    }
}

#[test]
fn universal_circuits_of_all_small_sizes_compute_random_functions() {
    let mut random = Random(1);
    for nodes in 2..=200 {
        for _ in 0..6 {
            let size = random_size(nodes, &mut random);
            check(&random_function(size, &mut random), &mut random);
        }
        let size = Size::new(1, nodes as u32 - 2, 1).unwrap();
        check(&random_function(size, &mut random), &mut random);
    }
}

#[test]
fn universal_circuits_of_large_sizes_compute_random_functions() {
    let mut random = Random(2);
    for (inputs, gates, outputs) in [(64, 9_900, 36), (1, 9_998, 1), (5_000, 1_000, 4_000), (64, 99_000, 1_000)] {
        check(&random_function(Size::new(inputs, gates, outputs).unwrap(), &mut random), &mut random);
    }
}

/// All graphs of up to five nodes: whatever the edges are, they are routed.
#[test]
fn every_small_graph_is_routed() {
    let mut random = Random(3);
    let mut count = 0;
    for nodes in 2..=5usize {
        for inputs in 1..nodes {
            for outputs in 1..=nodes - inputs {
                let size = Size::new(inputs as u32, (nodes - inputs - outputs) as u32, outputs as u32).unwrap();
                graphs(size, &mut Vec::new(), &mut |operands| {
                    let table = |[x, y]: [u32; 2]| match (x == NOTHING, y == NOTHING) {
                        (false, false) => 0b0110,
                        (false, true) => 0b1010,
                        (true, false) => 0b1100,
                        (true, true) => 0b1111,
                    };
                    let list = operands.iter().map(|&operands| Node { operands, table: table(operands) });
                    check(&Nodes::new(size, list.collect()).unwrap(), &mut random);
                    count += 1;
                });
            }
        }
    }
    assert!(count > 10_000, "{count} graphs");
}

/// All ways to give gates operands from here on.
fn graphs(size: Size, operands: &mut Vec<[u32; 2]>, act: &mut impl FnMut(&[[u32; 2]])) {
    if operands.len() == size.tables() {
        return act(operands);
    }
    let before = size.inputs + (operands.len() as u32).min(size.gates);
    let all: Vec<u32> = (0..before).chain([NOTHING]).collect();
    for &x in &all {
        for &y in &all {
            operands.push([x, y]);
            let read = |node: u32| operands.as_flattened().iter().filter(|&&from| from == node).count();
            if (0..before).all(|node| read(node) <= 2) {
                graphs(size, operands, act);
            }
            operands.pop();
        }
    }
}

/// A machine with addresses of 32 bits has numbers for all control bits.
#[test]
fn control_bits_of_the_largest_function_are_counted_in_32_bits() {
    let most = Size::new(1, MAX_NODES as u32 - 2, 1).unwrap();
    assert!(most.switches() < 1 << 32 && (levels(most).1 as u64) < 1 << 32);
}

#[test]
fn sizes_are_those_of_the_recursion() {
    fn ours(n: u64) -> u64 {
        if n == 2 {
            0
        } else {
            2 * ours(n.div_ceil(2)) + 3 * (n.div_ceil(2) - 2) + if n.is_multiple_of(2) { 2 } else { 1 }
        }
    }
    // As Liu et al. count them, S(n).
    fn theirs(n: u64) -> u64 {
        if n == 2 {
            1
        } else {
            2 * theirs(n.div_ceil(2)) + 3 * (n.div_ceil(2) - 2) + if n.is_multiple_of(2) { 4 } else { 3 }
        }
    }
    for n in (2..3_000).chain([10_000, 99_999, 100_000, 100_001, 1_000_000]) {
        let most = Size::new(1, n as u32 - 2, 1).unwrap().switches();
        assert_eq!(most, 2 * ours(n), "{n} nodes");
        let few = Size::new(n as u32 / 3 + 1, 0, n as u32 - n as u32 / 3 - 1).unwrap().switches();
        assert!(few <= most && most < 2 * theirs(n), "{n} nodes");
    }
    let known = [(100, 1_836), (1_000, 26_316), (10_000, 390_276), (100_000, 4_867_812), (1_000_000, 56_573_316)];
    known.iter().for_each(|&(n, switches)| assert_eq!(2 * theirs(n), switches));
}

/// The places of all control bits of a level.
fn places_of(level: &Level) -> Vec<usize> {
    let mut places = Vec::new();
    for kind in [Kind::In, Kind::Mid, Kind::Out] {
        for pair in level.pairs[kind as usize].clone() {
            let first = level.place(kind, pair);
            places.extend(first..first + level.width);
        }
    }
    places
}

/// What is gone through is a function of the sizes, and every switch is there once.
#[test]
fn a_walk_meets_every_switch_and_every_pole_once() {
    let mut random = Random(5);
    for nodes in (2..150).chain([1_000, 5_000]) {
        let size = random_size(nodes, &mut random);
        let (mut places, mut poles) = (HashSet::new(), 0);
        for unit in Walk::new(size) {
            match unit {
                Unit::Switches { place, len, .. } => (place..place + len).for_each(|at| assert!(places.insert(at))),
                Unit::Pole(pole) => {
                    assert_eq!(pole, poles);
                    poles += 1;
                }
                Unit::Wires { .. } => {}
            }
        }
        assert_eq!((places.len() as u64, poles), (size.switches(), nodes), "{size:?}");
        let (levels, bits) = levels(size);
        assert!(places.iter().all(|&place| place < bits));
        assert_eq!(places, levels.iter().flat_map(places_of).collect::<HashSet<_>>(), "{size:?}");
    }
}

/// A circuit of gates over random inputs and gates before them; among its outputs are constants and inputs.
fn random_circuit(inputs: u32, gates: usize, outputs: usize, random: &mut Random) -> Circuit {
    let mut nodes = [&[Gate::False][..], &vec![Gate::Input; inputs as usize]].concat();
    while nodes.len() < 1 + inputs as usize + gates {
        let [a, b] = [(); 2].map(|()| 1 + random.below(nodes.len() - 1) as u32);
        if a == b {
            break;
        }
        let [p, q] = [(); 2].map(|()| random.below(2) == 1);
        nodes.push(match random.below(2) {
            0 => Gate::And(Bit::new(a, p), Bit::new(b, q)),
            _ => Gate::Xor(Bit::new(a, false), Bit::new(b, false)),
        });
    }
    let outputs: Vec<Bit> =
        (0..outputs).map(|_| Bit::new(random.below(nodes.len()) as u32, random.below(2) == 1)).collect();
    let ports = |name, width| vec![Port::new(name, bits(width))];
    let (input, output) = (ports("x", inputs), ports("y", outputs.len() as u32));
    Circuit::from_parts("random", nodes, input, output, (1..=inputs).collect(), outputs).unwrap()
}

fn same(circuit: &Circuit, function: &Nodes, random: &mut Random) {
    let inputs: Vec<u64> = (0..function.size().inputs).map(|_| random.word()).collect();
    let (by_nodes, by_switches) = (function.evaluate(&inputs), Controls::new(function).evaluate(&inputs));
    assert!(by_nodes == by_switches, "{}", circuit.name());
    for lane in [0, 17, 63] {
        let lane_of = |words: &[u64]| words.iter().map(|word| word >> lane & 1 == 1).collect::<Vec<_>>();
        assert_eq!(lane_of(&by_nodes), circuit.evaluate(&lane_of(&inputs)), "{}", circuit.name());
    }
}

#[test]
fn circuits_become_nodes() {
    let mut random = Random(6);
    for round in 0..400 {
        let (inputs, gates, outputs) = (2 + random.below(9) as u32, random.below(round + 1), 1 + random.below(9));
        let circuit = random_circuit(inputs, gates, outputs, &mut random);
        let function = Nodes::of_circuit(&circuit).unwrap();
        same(&circuit, &function, &mut random);
        let gates = function.size().gates + random.below(50) as u32;
        same(&circuit, &function.padded(gates).unwrap(), &mut random);
    }
}

#[test]
fn blocks_become_nodes() {
    let mut random = Random(7);
    for (name, size, most) in [("add", &[32][..], 310), ("multiply", &[32], 12_138), ("population_count", &[64], 900)] {
        let circuit = registry::find(name).unwrap().circuit(size, crate::blocks::Goal::Size).unwrap();
        let function = Nodes::of_circuit(&circuit).unwrap();
        assert!(function.size().nodes() <= most, "{name}: {:?}", function.size());
        same(&circuit, &function, &mut random);
    }
}

#[test]
fn what_is_no_function_is_refused_by_name() {
    let size = Size::new(2, 1, 1).unwrap();
    let refused = |nodes: &[([u32; 2], u8)], why: &str| {
        let nodes = nodes.iter().map(|&(operands, table)| Node { operands, table }).collect();
        let error = Nodes::new(size, nodes).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(&[([0, 1], 6)], "1 gates and outputs of 2 that were announced");
    refused(&[([0, 2], 6), ([0, 1], 6)], "gate 0 of a function: reads node 2, which is no input and no gate before it");
    refused(&[([0, 1], 6), ([3, 1], 6)], "gate 1 of a function: reads node 3");
    refused(&[([0, 0], 6), ([0, 1], 6)], "gate 1 of a function: reads node 0, which two gates read already");
    refused(&[([0, 1], 16), ([0, 1], 6)], "a table of four bits, not 0x10");
    refused(&[([0, NOTHING], 6), ([0, 1], 6)], "gate 0 of a function: its table depends on an operand that is nothing");
    for (sizes, why) in [
        ((0, 1, 1), "at least one input bit"),
        ((1, 1, 0), "at least one output bit"),
        ((u32::MAX, u32::MAX, 1), "at most 33554432"),
    ] {
        let error = Size::new(sizes.0, sizes.1, sizes.2).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }
    let nodes = Nodes::new(size, vec![Node::FALSE; 2]).unwrap();
    assert!(
        nodes.padded(0).is_err_and(|error| error.to_string().contains("has 1 gates, copies included, more than 0"))
    );
}

//! Words of outputs as circuits of their own, and circuits with other words in their place.

use crate::builder::Builder;
use crate::graph::{Bit, Circuit, Gate};
use crate::words::Bits;
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes of all parts together, and those for each gate of the circuit.
const MOST_NODES: [usize; 2] = [1_000_000, 8];

/// What an output port is computed from.
pub struct Part {
    /// Which output it is.
    port: usize,
    /// The inputs that it depends on.
    inputs: Vec<usize>,
    pub circuit: Circuit,
}

/// The parts of all output ports with at most so many ANDs.
pub fn parts(circuit: &Circuit, most: u64) -> Vec<Part> {
    let numbers: FxHashMap<u32, usize> = circuit.input_nodes().iter().copied().zip(0..).collect();
    let mut nodes_left = MOST_NODES[0] + MOST_NODES[1] * circuit.gates().len();
    let (mut parts, mut rest) = (Vec::new(), circuit.output_bits());
    for (port, of) in circuit.outputs().iter().enumerate() {
        let (word, after) = rest.split_at(of.ty.width as usize);
        rest = after;
        let (visited, cone) = cone(circuit, word, most);
        nodes_left = nodes_left.saturating_sub(visited);
        if nodes_left == 0 {
            break;
        }
        let Some(cone) = cone else { continue };
        let inputs: Vec<usize> = cone.iter().filter_map(|node| numbers.get(node).copied()).collect();
        parts.extend(part(circuit, word, &cone, inputs.len()).map(|circuit| Part { port, inputs, circuit }));
    }
    parts
}

/// How many nodes were visited, and the nodes of a word, in rising order; nothing if it has more ANDs.
fn cone(circuit: &Circuit, word: &[Bit], most: u64) -> (usize, Option<Vec<u32>>) {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut stack: Vec<u32> = word.iter().map(|bit| bit.node()).collect();
    let mut ands = 0;
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        match circuit.gates()[node as usize] {
            Gate::False | Gate::Input => {}
            Gate::Xor(a, b) => stack.extend([a.node(), b.node()]),
            Gate::And(a, b) => {
                ands += 1;
                stack.extend([a.node(), b.node()]);
            }
        }
        if ands > most {
            return (seen.len(), None);
        }
    }
    let mut nodes: Vec<u32> = seen.into_iter().collect();
    nodes.sort_unstable();
    (nodes.len(), Some(nodes))
}

fn part(circuit: &Circuit, word: &[Bit], cone: &[u32], inputs: usize) -> Option<Circuit> {
    if inputs == 0 {
        return None;
    }
    let mut c = Builder::new("part");
    let mut fresh = c.bits("x", inputs as u32).0.into_iter();
    let mut made: FxHashMap<u32, Bit> = FxHashMap::default();
    for &node in cone {
        let of = |bit: Bit| made[&bit.node()].flip(bit.complemented());
        let bit = match circuit.gates()[node as usize] {
            Gate::False => Bit::FALSE,
            Gate::Input => fresh.next()?,
            Gate::Xor(a, b) => c.xor(of(a), of(b)),
            Gate::And(a, b) => c.and(of(a), of(b)),
        };
        made.insert(node, bit);
    }
    let word = word.iter().map(|bit| made[&bit.node()].flip(bit.complemented())).collect();
    c.output("y", &Bits(word));
    c.try_finish().ok()
}

/// The circuit with these in place of the parts, which are in the order of their ports.
pub fn assembled(circuit: &Circuit, parts: &[(Part, Circuit)]) -> Option<Circuit> {
    let mut c = Builder::new(circuit.name());
    let inputs: Vec<Bit> = circuit.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let plain = c.append(circuit, &inputs);
    let (mut rest, mut parts) = (&plain[..], parts.iter().peekable());
    for (number, port) in circuit.outputs().iter().enumerate() {
        let (word, after) = rest.split_at(port.ty.width as usize);
        rest = after;
        let word = match parts.next_if(|(part, _)| part.port == number) {
            Some((part, anew)) => c.append(anew, &part.inputs.iter().map(|&i| inputs[i]).collect::<Vec<_>>()),
            None => word.to_vec(),
        };
        c.output_as(port.name.clone(), port.ty, &word);
    }
    c.try_finish().ok()
}

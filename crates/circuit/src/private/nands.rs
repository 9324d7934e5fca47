//! Circuits as NANDs of two bits, as the protocols of Katz and Malka take them: nothing is free, NOT neither.

use super::function::{Function, Node};
use crate::error::Result;
use crate::graph::{Bit, Circuit, Gate};
use rustc_hash::FxHashMap;

/// A circuit as NANDs alone: an AND is two, an XOR four, a NOT one.
///
/// # Errors
/// If the circuit is too large to be numbered.
pub fn nands(circuit: &Circuit) -> Result<Function> {
    let mut nodes = vec![Node::False];
    nodes.extend((0..circuit.input_width()).map(|_| Node::Input));
    let mut nands = Nands { nodes, made: FxHashMap::default() };
    let mut bits = vec![Bit::FALSE; circuit.gates().len()];
    for (number, &node) in circuit.input_nodes().iter().enumerate() {
        bits[node as usize] = Bit::new(1 + number as u32, false);
    }
    for (node, gate) in circuit.gates().iter().enumerate() {
        let of = |bit: Bit, nands: &mut Nands| nands.turned(bits[bit.node() as usize], bit.complemented());
        bits[node] = match *gate {
            Gate::False | Gate::Input => continue,
            Gate::Xor(a, b) => {
                let (a, b) = (of(a, &mut nands), of(b, &mut nands));
                let both = nands.nand(a, b);
                let (x, y) = (nands.nand(a, both), nands.nand(b, both));
                nands.nand(x, y)
            }
            Gate::And(a, b) => {
                let (a, b) = (of(a, &mut nands), of(b, &mut nands));
                let nand = nands.nand(a, b);
                nands.turned(nand, true)
            }
        };
    }
    let turned = circuit.output_bits().iter().map(|bit| nands.turned(bits[bit.node() as usize], bit.complemented()));
    let outputs = turned.collect();
    Function::new(nands.nodes, outputs)
}

struct Nands {
    nodes: Vec<Node>,
    made: FxHashMap<[Bit; 2], Bit>,
}

impl Nands {
    fn nand(&mut self, a: Bit, b: Bit) -> Bit {
        let key = [a.min(b), a.max(b)];
        let (next, nodes) = (self.nodes.len() as u32, &mut self.nodes);
        *self.made.entry(key).or_insert_with(|| {
            nodes.push(Node::Majority([Bit::FALSE, key[0], key[1]]));
            Bit::new(next, true)
        })
    }

    /// The bit, or one more NAND that is its complement. Constants need none.
    fn turned(&mut self, bit: Bit, flip: bool) -> Bit {
        match (flip, bit.node()) {
            (false, _) => bit,
            (true, 0) => !bit,
            (true, _) => self.nand(bit, bit),
        }
    }
}

//! Makes functions bit by bit, and never the same gate twice.

use super::function::{Function, Node, exclude_each_other};
use crate::error::Result;
use crate::graph::Bit;
use rustc_hash::FxHashMap;

/// A function in the making.
pub struct Maker {
    nodes: Vec<Node>,
    /// The gates of three nodes, in the polarities that came.
    gates: FxHashMap<[u32; 3], Vec<u32>>,
    /// What was made of gates.
    sums: FxHashMap<Node, u32>,
}

impl Maker {
    /// A function of so many bits.
    pub fn new(inputs: usize) -> Self {
        let nodes = std::iter::once(Node::False).chain((0..inputs).map(|_| Node::Input)).collect();
        Maker { nodes, gates: FxHashMap::default(), sums: FxHashMap::default() }
    }

    /// An input bit.
    pub fn input(&self, number: usize) -> Bit {
        Bit::new(1 + number as u32, false)
    }

    /// The majority of three bits.
    pub fn majority(&mut self, bits: [Bit; 3]) -> Bit {
        match simple(bits) {
            Some(bit) => bit,
            None => {
                let (bits, flip) = normal(bits);
                let known = self.of_nodes(bits).iter().copied().find(|&gate| self.operands(gate) == bits);
                let made = known.map(|gate| Bit::new(gate, false)).or_else(|| self.of_the_same_bits(bits));
                made.unwrap_or_else(|| self.gate(bits)).flip(flip)
            }
        }
    }

    /// x AND y.
    pub fn and(&mut self, x: Bit, y: Bit) -> Bit {
        self.majority([Bit::FALSE, x, y])
    }

    /// The XOR of three bits, constants among them or not.
    pub fn parity(&mut self, bits: [Bit; 3]) -> Bit {
        if let Some(bit) = simple_parity(bits) {
            return bit;
        }
        let flip = bits.iter().fold(false, |flip, bit| flip ^ bit.complemented());
        let mut bits = bits.map(Bit::plain);
        bits.sort();
        let gate = match self.of_nodes(bits).first() {
            Some(&gate) => gate,
            None => self.gate(bits).node(),
        };
        let of_operands = self.operands(gate).iter().fold(false, |flip, bit| flip ^ bit.complemented());
        self.sum(Node::Parity(gate)).flip(flip ^ of_operands)
    }

    /// `then` if `select`, else `otherwise`.
    pub fn choice(&mut self, select: Bit, then: Bit, otherwise: Bit) -> Bit {
        let (one, other) = (self.and(select, then), self.and(!select, otherwise));
        if one == Bit::FALSE || other == Bit::FALSE {
            return if one == Bit::FALSE { other } else { one };
        }
        if exclude_each_other(&self.nodes, [one, other]) {
            self.sum(Node::Choice([one.min(other), one.max(other)]))
        } else {
            // Simpler than ANDs of `select`, maybe ANDs of other bits: one gate joins them.
            self.majority([Bit::TRUE, one, other])
        }
    }

    /// The function of these outputs, without what none of them needs.
    pub fn finish(self, outputs: &[Bit]) -> Result<Function> {
        let live = self.live(outputs);
        let mut moved = vec![Bit::FALSE; self.nodes.len()];
        let mut nodes = Vec::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(number, _)| live[*number]) {
            moved[number] = Bit::new(nodes.len() as u32, false);
            nodes.push(super::function::rename(*node, &moved));
        }
        let outputs = outputs.iter().map(|&bit| super::function::follow(bit, &moved)).collect();
        Function::new(nodes, outputs)
    }

    /// A gate of these operands, which are in order and need it.
    fn gate(&mut self, bits: [Bit; 3]) -> Bit {
        self.nodes.push(Node::Majority(bits));
        let gate = self.nodes.len() as u32 - 1;
        self.gates.entry(bits.map(Bit::node)).or_default().push(gate);
        Bit::new(gate, false)
    }

    fn sum(&mut self, node: Node) -> Bit {
        let (next, nodes) = (self.nodes.len() as u32, &mut self.nodes);
        let number = *self.sums.entry(node).or_insert_with(|| {
            nodes.push(node);
            next
        });
        Bit::new(number, false)
    }

    /// An AND from the AND of the same two bits in another polarity.
    fn of_the_same_bits(&mut self, bits: [Bit; 3]) -> Option<Bit> {
        let [Bit::FALSE, x, y] = bits else { return None };
        let gate = *self.of_nodes(bits).first()?;
        let [_, p, q] = self.operands(gate);
        Some(match (x == p, y == q) {
            (true, true) => Bit::new(gate, false),
            (true, false) => self.sum(Node::Rest(gate, 1)),
            (false, true) => self.sum(Node::Rest(gate, 2)),
            (false, false) => !self.sum(Node::Either(gate)),
        })
    }

    fn of_nodes(&self, bits: [Bit; 3]) -> &[u32] {
        self.gates.get(&bits.map(Bit::node)).map_or(&[], |gates| gates)
    }

    fn operands(&self, gate: u32) -> [Bit; 3] {
        match self.nodes[gate as usize] {
            Node::Majority(bits) => bits,
            _ => [Bit::FALSE; 3],
        }
    }

    /// Which nodes an output needs; the constant and the inputs always.
    fn live(&self, outputs: &[Bit]) -> Vec<bool> {
        let mut live: Vec<bool> = self.nodes.iter().map(|node| matches!(node, Node::False | Node::Input)).collect();
        outputs.iter().for_each(|bit| live[bit.node() as usize] = true);
        for number in (0..self.nodes.len()).rev().filter(|&number| self.nodes[number] != Node::False) {
            if !live[number] {
                continue;
            }
            match self.nodes[number] {
                Node::False | Node::Input => {}
                Node::Majority(bits) => bits.iter().for_each(|bit| live[bit.node() as usize] = true),
                Node::Parity(gate) | Node::Rest(gate, _) | Node::Either(gate) => live[gate as usize] = true,
                Node::Choice(bits) => bits.iter().for_each(|bit| live[bit.node() as usize] = true),
            }
        }
        live
    }
}

/// The majority that needs no gate: of two equal bits, or of two that are complements.
fn simple([x, y, z]: [Bit; 3]) -> Option<Bit> {
    match () {
        () if x == y || x == z => Some(x),
        () if y == z => Some(y),
        () if x == !y => Some(z),
        () if x == !z => Some(y),
        () if y == !z => Some(x),
        () => None,
    }
}

/// The XOR that needs no gate: two of its bits are of one node.
fn simple_parity([x, y, z]: [Bit; 3]) -> Option<Bit> {
    let of = |x: Bit, y: Bit, z: Bit| (x.node() == y.node()).then(|| z.flip(x != y));
    of(x, y, z).or_else(|| of(x, z, y)).or_else(|| of(y, z, x))
}

/// Operands in order, the first of them plain, and whether the gate's complement is meant: majority is its own dual.
fn normal(mut bits: [Bit; 3]) -> ([Bit; 3], bool) {
    bits.sort();
    let flip = bits[0].complemented();
    (bits.map(|bit| bit.flip(flip)), flip)
}

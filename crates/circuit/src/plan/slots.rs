//! Slots for the values of an ordered circuit, and the instructions that read and write them.

use super::code::{Code, CodeWriter, Operand};
use super::graph::Graph;
use super::{Instr, Op, Order, Plan, Source, VECTOR};
use crate::graph::Bit;
use std::ops::Range;

const NONE: u32 = u32::MAX;

impl Graph<'_> {
    pub(super) fn assign(&self, order: Order, nodes: &[u32], layers: &[Range<usize>], exported: &[u32]) -> Plan {
        let mut allocator = Allocator::new(self, nodes, layers);
        let inputs = self.input_nodes.iter().map(|&n| allocator.input(n as usize)).collect();
        let mut code = CodeWriter::with_room(nodes.len());
        for (places, is_layer) in stretches(nodes.len(), layers) {
            if is_layer {
                code.end_run();
            }
            for &node in &nodes[places.clone()] {
                allocator.define(node as usize);
                code.push(self.instruction(node as usize, &allocator.slot_of, exported));
            }
            allocator.release(places);
        }
        let outputs = self.outputs.iter().map(|&bit| self.source(bit, &allocator.slot_of, exported)).collect();
        let mut code = code.finish();
        let vectors = share_first_operand(&mut code, layers);
        let ands = code.runs(0..code.len()).filter(|run| run.op == Op::And).map(|run| run.gates.len() as u64).sum();
        let vector_ands = vectors.iter().map(|vector| vector.len() as u64).sum();
        let (layers, slots, and_runs) = (layers.to_vec(), allocator.slots, code.and_runs());
        Plan { order, slots, inputs, code, layers, vectors, vector_ands, outputs, public: None, ands, and_runs }
    }

    fn instruction(&self, node: usize, slot_of: &[u32], exported: &[u32]) -> Instr {
        let (mut a, mut b) = self.operands(node).expect("only gates are planned");
        if !self.is_secret(a) {
            (a, b) = (b, a);
        }
        let op = match (self.is_and(node), self.is_secret(b)) {
            (false, true) => Op::Xor,
            (true, true) => Op::And,
            (false, false) => Op::XorPublic,
            (true, false) => Op::AndPublic,
        };
        let b_place = if self.is_secret(b) { slot_of[b.node() as usize] } else { public_row(exported, b.node()) };
        Instr {
            op,
            flip_a: a.complemented(),
            flip_b: b.complemented(),
            dst: slot_of[node],
            a: slot_of[a.node() as usize],
            b: b_place,
        }
    }

    fn source(&self, bit: Bit, slot_of: &[u32], exported: &[u32]) -> Source {
        let (node, flip) = (bit.node(), bit.complemented());
        match () {
            _ if node == 0 => Source::Constant(flip),
            _ if self.is_secret(bit) => Source::Slot { slot: slot_of[node as usize], flip },
            _ => Source::Public { row: public_row(exported, node), flip },
        }
    }
}

fn public_row(exported: &[u32], node: u32) -> u32 {
    exported.binary_search(&node).expect("exported() lists every public operand") as u32
}

/// Swaps operands so that neighbours in a layer share their first one, and lists the runs that do.
fn share_first_operand(code: &mut Code, layers: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut vectors = Vec::new();
    for layer in layers {
        let mut start = layer.start;
        while start < layer.end {
            let end = shared_run(code.gates_mut(), start, layer.end.min(start + VECTOR.end()));
            if VECTOR.contains(&(end - start)) {
                vectors.push(start..end);
            }
            start = end;
        }
    }
    vectors
}

/// The end of the longest run from `start` whose gates share a slot, which is made their first operand.
fn shared_run(gates: &mut [[u32; 3]], start: usize, limit: usize) -> usize {
    let slot = |operand: u32| Operand::of(operand).slot();
    let has = |&[_, a, b]: &[u32; 3], shared| slot(a) == shared || slot(b) == shared;
    let run = |shared| gates[start..limit].iter().take_while(|gate| has(gate, shared)).count();
    let [_, a, b] = gates[start].map(slot);
    let (shared, length) = if run(b) > run(a) { (b, run(b)) } else { (a, run(a)) };
    for gate in &mut gates[start..start + length] {
        if slot(gate[1]) != shared {
            gate.swap(1, 2);
        }
    }
    start + length
}

/// All places in order, those of a layer together and each other one by itself; and whether they are a layer.
fn stretches(places: usize, layers: &[Range<usize>]) -> impl DoubleEndedIterator<Item = (Range<usize>, bool)> {
    let before = |layer: usize| layer.checked_sub(1).map_or(0, |before| layers[before].end);
    let local = |places: Range<usize>| places.map(|place| (place..place + 1, false));
    let with_what_precedes = move |layer: usize| {
        let places = layers[layer].clone();
        local(before(layer)..places.start).chain(std::iter::once((places, true)))
    };
    (0..layers.len()).flat_map(with_what_precedes).chain(local(before(layers.len())..places))
}

/// Gives slots to nodes and takes them back after their last use.
struct Allocator<'a> {
    graph: &'a Graph<'a>,
    nodes: &'a [u32],
    /// Of the operands of each place, which ones nobody reads later.
    last_uses: Vec<[bool; 2]>,
    slot_of: Vec<u32>,
    free: Vec<u32>,
    slots: usize,
}

impl<'a> Allocator<'a> {
    fn new(graph: &'a Graph<'a>, nodes: &'a [u32], layers: &[Range<usize>]) -> Self {
        let last_uses = last_uses(graph, nodes, layers);
        Allocator { graph, nodes, last_uses, slot_of: vec![NONE; graph.gates.len()], free: Vec::new(), slots: 0 }
    }

    /// A slot for an input bit that a secret gate or an output reads.
    fn input(&mut self, node: usize) -> Option<u32> {
        (self.graph.live[node] && !self.graph.public[node]).then(|| self.define(node))
    }

    fn define(&mut self, node: usize) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots as u32 - 1
        });
        self.slot_of[node] = slot;
        slot
    }

    /// Frees what was used last at one of these places; called after their own slots were given.
    fn release(&mut self, places: Range<usize>) {
        for place in places {
            let operands = self.graph.operand_nodes(self.nodes[place]).into_iter().zip(self.last_uses[place]);
            self.free.extend(operands.filter(|(_, last)| *last).map(|(operand, _)| self.slot_of[operand as usize]));
        }
    }
}

/// Of the operands of each place, which ones nobody reads later. Operands of a layer live until the whole layer is opened: of
/// places of the last layer that reads them, the first one counts.
fn last_uses(graph: &Graph<'_>, nodes: &[u32], layers: &[Range<usize>]) -> Vec<[bool; 2]> {
    // Public bits have no slots.
    let mut read_later = graph.public.clone();
    graph.outputs.iter().for_each(|bit| read_later[bit.node() as usize] = true);
    let mut last_uses = vec![[false; 2]; nodes.len()];
    for (places, _) in stretches(nodes.len(), layers).rev() {
        for place in places {
            let operands = graph.operand_nodes(nodes[place]);
            last_uses[place] = operands.map(|node| !std::mem::replace(&mut read_later[node as usize], true));
        }
    }
    last_uses
}

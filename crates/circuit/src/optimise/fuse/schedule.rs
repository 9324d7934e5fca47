//! The nodes of a graph in layers, and slots for them.

use super::graph::{Graph, Node, relocate};
use super::{And, Fused, Layer};
use crate::graph::Bit;
use crate::plan::{Code, Instr, Op, Operand, Source};
use std::ops::Range;

/// The order in which nodes are computed.
pub(super) struct Order<'a> {
    graph: &'a Graph,
    nodes: Vec<u32>,
    /// The ANDs of each layer, by their number of inputs.
    layers: Vec<Range<usize>>,
}

impl<'a> Order<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let mut level = vec![0; graph.nodes.len()];
        for (node, what) in graph.nodes.iter().enumerate() {
            let below = what.reads().map(|below| level[below]).max().unwrap_or(0);
            level[node] = below + usize::from(matches!(what, Node::And(..)));
        }
        let depth = level.iter().copied().max().unwrap_or(0);
        let mut local = vec![Vec::new(); depth + 1];
        let mut ands = vec![Vec::new(); depth + 1];
        for (node, what) in graph.nodes.iter().enumerate() {
            match what {
                Node::Input => {}
                Node::Local(_) => local[level[node]].push(node as u32),
                Node::And(..) => ands[level[node]].push(node as u32),
            }
        }
        let (mut nodes, mut layers) = (Vec::new(), Vec::new());
        for (mut ands, local) in ands.into_iter().zip(local) {
            ands.sort_by_key(|&node| graph.nodes[node as usize].reads().count());
            if !ands.is_empty() {
                layers.push(nodes.len()..nodes.len() + ands.len());
            }
            nodes.extend(ands);
            nodes.extend(local);
        }
        Order { graph, nodes, layers }
    }

    /// For each node the place behind which nobody reads it; what a layer reads lives as long as the layer.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![0; self.graph.nodes.len()];
        let mut layers = self.layers.iter().peekable();
        for (place, &node) in self.nodes.iter().enumerate() {
            layers.next_if(|layer| layer.end <= place);
            let end = layers.peek().filter(|layer| layer.contains(&place)).map_or(place, |layer| layer.end - 1);
            self.graph.nodes[node as usize].reads().for_each(|below| last[below] = end);
        }
        for source in &self.graph.outputs {
            if let Source::Slot { slot: node, .. } = source {
                last[*node as usize] = usize::MAX;
            }
        }
        last
    }

    /// Gives slots to nodes and takes them back after their last use.
    pub(super) fn assign(&self) -> Fused {
        let mut slots = Slots { of: vec![u32::MAX; self.graph.nodes.len()], free: Vec::new(), count: 0 };
        let last = self.last_uses();
        let inputs = self.graph.inputs.iter().map(|node| node.map(|node| slots.define(node as usize))).collect();
        let (twos, threes, fours, layers) = Default::default();
        let (code, outputs) = (Code::default(), Vec::new());
        let mut fused = Fused { slots: 0, inputs, code, twos, threes, fours, layers, outputs };
        let (mut place, mut layers) = (0, self.layers.iter().peekable());
        while place < self.nodes.len() {
            let layer = layers.next_if(|layer| layer.start == place).cloned();
            let places = layer.clone().unwrap_or(place..place + 1);
            let before = fused.tail().start..fused.code.len();
            let first = [fused.twos.len(), fused.threes.len(), fused.fours.len()];
            for &node in &self.nodes[places.clone()] {
                slots.define(node as usize);
                fused.push(&self.graph.nodes[node as usize], slots.of[node as usize], &slots.of);
            }
            for below in self.nodes[places.clone()].iter().flat_map(|&node| self.graph.nodes[node as usize].reads()) {
                slots.release(below, last[below] < places.end);
            }
            if layer.is_some() {
                let (twos, threes, fours) =
                    (first[0]..fused.twos.len(), first[1]..fused.threes.len(), first[2]..fused.fours.len());
                fused.layers.push(Layer { code: before, twos, threes, fours });
            }
            place = places.end;
        }
        fused.slots = slots.count as usize;
        fused.outputs = self.graph.outputs.iter().map(|&source| relocate(source, &slots.of)).collect();
        fused
    }
}

impl Fused {
    fn push(&mut self, node: &Node, dst: u32, slot_of: &[u32]) {
        let place = |node: u32| slot_of[node as usize];
        let operand = |bit: Bit| Operand::new(place(bit.node()), bit.complemented());
        match *node {
            Node::Input => {}
            Node::Local(instr) => {
                let b = if instr.op == Op::Xor { place(instr.b) } else { instr.b };
                self.code.push(Instr { dst, a: place(instr.a), b, ..instr }, false);
            }
            Node::And([a, b, ..], 2) => self.twos.push(And { dst, inputs: [a, b].map(operand) }),
            Node::And([a, b, c, _], 3) => self.threes.push(And { dst, inputs: [a, b, c].map(operand) }),
            Node::And(inputs, _) => self.fours.push(And { dst, inputs: inputs.map(operand) }),
        }
    }
}

/// Slots in use and free ones.
struct Slots {
    of: Vec<u32>,
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    fn define(&mut self, node: usize) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of[node] = slot;
        slot
    }

    /// Frees a node's slot if it is not read again; once.
    fn release(&mut self, node: usize, dead: bool) {
        if dead && self.of[node] != u32::MAX {
            self.free.push(self.of[node]);
            self.of[node] = u32::MAX;
        }
    }
}

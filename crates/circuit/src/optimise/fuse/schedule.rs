//! The nodes of a graph in layers, and slots for them.

use super::graph::{Graph, Node, relocate};
use super::{And, Fused, Layer, MOST_INPUTS};
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
        let levels = levels(graph);
        // Of each level the ANDs by their number of inputs, then what is local.
        let kinds = MOST_INPUTS;
        let kind = |node: usize| match graph.nodes[node] {
            Node::Input => None,
            Node::And(..) => Some(kinds * levels[node] as usize),
            Node::Wide(count, _) => Some(kinds * levels[node] as usize + usize::from(count) - 2),
            Node::Local(..) => Some(kinds * levels[node] as usize + kinds - 1),
        };
        let depth = levels.iter().copied().max().unwrap_or(0) as usize;
        let mut ends = vec![0; kinds * (depth + 1)];
        (0..graph.nodes.len()).filter_map(kind).for_each(|kind| ends[kind] += 1);
        let mut sum = 0;
        ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        let layers = ends.chunks(kinds).map(|level| level[0]..level[kinds - 1]);
        let layers = layers.filter(|layer| !layer.is_empty()).collect();
        let mut nodes = vec![0; sum];
        for (node, kind) in (0..graph.nodes.len()).filter_map(|node| Some((node, kind(node)?))) {
            nodes[ends[kind]] = node as u32;
            ends[kind] += 1;
        }
        Order { graph, nodes, layers }
    }

    /// For each node the place behind which nobody reads it; what a layer reads lives as long as the layer.
    fn last_uses(&self) -> Vec<u32> {
        let mut last = vec![0; self.graph.nodes.len()];
        let mut layers = self.layers.iter().peekable();
        for (place, &node) in self.nodes.iter().enumerate() {
            layers.next_if(|layer| layer.end <= place);
            let end = layers.peek().filter(|layer| layer.contains(&place)).map_or(place, |layer| layer.end - 1);
            self.graph.reads(node as usize).for_each(|below| last[below] = end as u32);
        }
        for source in &self.graph.outputs {
            if let Source::Slot { slot: node, .. } = source {
                last[*node as usize] = u32::MAX;
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
                fused.push(self.graph, node as usize, &slots.of);
            }
            for below in self.nodes[places.clone()].iter().flat_map(|&node| self.graph.reads(node as usize)) {
                slots.release(below, (last[below] as usize) < places.end);
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
    fn push(&mut self, graph: &Graph, node: usize, slot_of: &[u32]) {
        let place = |node: u32| slot_of[node as usize];
        let operand = |bit: Bit| Operand::new(place(bit.node()), bit.complemented());
        let dst = slot_of[node];
        match graph.nodes[node] {
            Node::Input => {}
            Node::Local(op, [flip_a, flip_b], [a, b]) => {
                let b = if op == Op::Xor { place(b) } else { b };
                self.code.push(Instr { op, flip_a, flip_b, dst, a: place(a), b }, false);
            }
            Node::And(inputs) => self.twos.push(And { dst, inputs: inputs.map(operand) }),
            Node::Wide(3, wide) => {
                let [a, b, c, _] = graph.wide[wide as usize];
                self.threes.push(And { dst, inputs: [a, b, c].map(operand) });
            }
            Node::Wide(_, wide) => self.fours.push(And { dst, inputs: graph.wide[wide as usize].map(operand) }),
        }
    }
}

/// ANDs on the longest path to each node.
fn levels(graph: &Graph) -> Vec<u32> {
    let mut levels = vec![0; graph.nodes.len()];
    for node in 0..graph.nodes.len() {
        let below = graph.reads(node).map(|below| levels[below]).max().unwrap_or(0);
        levels[node] = below + u32::from(graph.is_and(node));
    }
    levels
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

//! The values of a plan as a graph, and its trees of ANDs built anew.

use super::MOST_INPUTS;
use super::trees::{Shape, depths, finish, shape};
use crate::graph::Bit;
use crate::plan::{Instr, Op, Plan, Source};
use rustc_hash::FxHashMap;

/// A value of straight-line code, once the slots are gone; operands are nodes.
#[derive(Clone, Copy)]
pub(super) enum Node {
    Input,
    /// A gate without cost: `a` is a node, and `b` too if the gate is an XOR.
    Local(Instr),
    /// The inputs, as many as the last field says; with more than two only where trees are built.
    And([Bit; MOST_INPUTS], u8),
}

impl Node {
    pub(super) fn and(inputs: &[Bit]) -> Node {
        let mut all = [Bit::FALSE; MOST_INPUTS];
        all[..inputs.len()].copy_from_slice(inputs);
        Node::And(all, inputs.len() as u8)
    }

    /// The nodes it reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> {
        let (nodes, count) = match self {
            Node::Input => ([0; MOST_INPUTS], 0),
            Node::Local(Instr { op: Op::Xor, a, b, .. }) => ([*a, *b, 0, 0], 2),
            Node::Local(instr) => ([instr.a, 0, 0, 0], 1),
            Node::And(inputs, count) => (inputs.map(Bit::node), *count),
        };
        nodes.into_iter().take(count.into()).map(|node| node as usize)
    }
}

/// The values of a plan, each behind those that it reads.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// The node of each input bit.
    pub(super) inputs: Vec<Option<u32>>,
    /// Slots are nodes.
    pub(super) outputs: Vec<Source>,
}

impl Graph {
    pub(super) fn read(plan: &Plan) -> Graph {
        let mut nodes = Vec::with_capacity(plan.code().len() + plan.inputs().len());
        let mut node_of = vec![0; plan.slots()];
        let mut define = |slot: u32, node: Node, node_of: &mut Vec<u32>| {
            node_of[slot as usize] = nodes.len() as u32;
            nodes.push(node);
            nodes.len() as u32 - 1
        };
        let inputs = plan.inputs().iter();
        let inputs = inputs.map(|slot| slot.map(|slot| define(slot, Node::Input, &mut node_of))).collect();
        for instr in plan.code().iter() {
            let (a, b) = (node_of[instr.a as usize], instr.b);
            let node = match instr.op {
                Op::And => Node::and(&[Bit::new(a, instr.flip_a), Bit::new(node_of[b as usize], instr.flip_b)]),
                Op::Xor => Node::Local(Instr { a, b: node_of[b as usize], ..instr }),
                Op::XorPublic | Op::AndPublic => Node::Local(Instr { a, ..instr }),
            };
            define(instr.dst, node, &mut node_of);
        }
        let outputs = plan.outputs().iter().map(|&source| relocate(source, &node_of)).collect();
        Graph { nodes, inputs, outputs }
    }

    /// ANDs that are part of the tree of the only one that reads them.
    fn inner(&self) -> Vec<bool> {
        let mut readers = vec![0u32; self.nodes.len()];
        self.nodes.iter().flat_map(Node::reads).for_each(|node| readers[node] += 1);
        for source in &self.outputs {
            if let Source::Slot { slot: node, .. } = source {
                readers[*node as usize] += 1;
            }
        }
        let mut inner = vec![false; self.nodes.len()];
        for node in &self.nodes {
            let Node::And(inputs, count) = node else { continue };
            for input in inputs.iter().take((*count).into()).filter(|input| !input.complemented()) {
                let below = input.node() as usize;
                inner[below] = readers[below] == 1 && matches!(self.nodes[below], Node::And(..));
            }
        }
        inner
    }

    /// The leaves of a tree from left to right, in place of what the list held.
    fn leaves(&self, root: usize, inner: &[bool], leaves: &mut Vec<Bit>) {
        leaves.clear();
        let mut stack = vec![Bit::new(root as u32, false)];
        while let Some(bit) = stack.pop() {
            match self.nodes[bit.node() as usize] {
                Node::And(inputs, count) if bit.node() as usize == root || inner[bit.node() as usize] => {
                    stack.extend(inputs[..count.into()].iter().rev());
                }
                _ => leaves.push(bit),
            }
        }
    }

    /// The inputs of a tree that is a single AND: most are, and cost no list.
    fn alone(&self, root: usize, inner: &[bool]) -> Option<[Bit; 2]> {
        let Node::And([a, b, ..], 2) = self.nodes[root] else { return None };
        (!inner[a.node() as usize] && !inner[b.node() as usize]).then_some([a, b])
    }

    /// A graph of equal values whose trees are built anew.
    pub(super) fn fused(&self, most: usize) -> Graph {
        let inner = self.inner();
        let earliest = self.earliest(&inner, most);
        let shapes = self.shapes(&inner, &earliest, most);
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut new = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for (old, node) in self.nodes.iter().enumerate().filter(|&(old, _)| !inner[old]) {
            match node {
                Node::Input => nodes.push(Node::Input),
                Node::Local(instr) => {
                    let b = if instr.op == Op::Xor { new[instr.b as usize] } else { instr.b };
                    nodes.push(Node::Local(Instr { a: new[instr.a as usize], b, ..*instr }));
                }
                Node::And(..) => {
                    let renamed = |leaf: Bit| Bit::new(new[leaf.node() as usize], leaf.complemented());
                    if let Some(inputs) = self.alone(old, &inner) {
                        nodes.push(Node::and(&inputs.map(renamed)));
                        new[old] = nodes.len() as u32 - 1;
                        continue;
                    }
                    self.leaves(old, &inner, &mut leaves);
                    let mut items: Vec<Bit> = leaves.iter().copied().map(renamed).collect();
                    for group in &shapes[&(old as u32)] {
                        let inputs: Vec<Bit> = group.iter().map(|&item| items[item]).collect();
                        items.push(Bit::new(nodes.len() as u32, false));
                        nodes.push(Node::and(&inputs));
                    }
                }
            }
            new[old] = nodes.len() as u32 - 1;
        }
        let inputs = self.inputs.iter().map(|node| node.map(|node| new[node as usize])).collect();
        Graph { nodes, inputs, outputs: self.outputs.iter().map(|&source| relocate(source, &new)).collect() }
    }

    /// The first layer at which each value can be there; of the inside of trees nothing.
    fn earliest(&self, inner: &[bool], most: usize) -> Vec<u32> {
        let mut earliest = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for (node, what) in self.nodes.iter().enumerate().filter(|&(node, _)| !inner[node]) {
            let alone = self.alone(node, inner).is_some();
            earliest[node] = match what {
                Node::And(..) if !alone => {
                    self.leaves(node, inner, &mut leaves);
                    let mut levels: Vec<u32> = leaves.iter().map(|leaf| earliest[leaf.node() as usize]).collect();
                    levels.sort_unstable();
                    finish(0, 0, levels.into_iter(), most)
                }
                _ => what.reads().map(|below| earliest[below]).max().unwrap_or(0) + u32::from(alone),
            };
        }
        earliest
    }

    /// How each tree of more than one AND is built, given that all is there at the last layer.
    fn shapes(&self, inner: &[bool], earliest: &[u32], most: usize) -> FxHashMap<u32, Shape> {
        let last = earliest.iter().copied().max().unwrap_or(0);
        let mut latest = vec![last; self.nodes.len()];
        let (mut shapes, mut leaves) = (FxHashMap::default(), Vec::new());
        for (node, what) in self.nodes.iter().enumerate().rev().filter(|&(node, _)| !inner[node]) {
            let needed = latest[node];
            let alone = self.alone(node, inner).is_some();
            if alone || !matches!(what, Node::And(..)) {
                let needed = needed - u32::from(alone);
                what.reads().for_each(|below| latest[below] = latest[below].min(needed));
                continue;
            }
            self.leaves(node, inner, &mut leaves);
            let levels: Vec<u32> = leaves.iter().map(|leaf| earliest[leaf.node() as usize]).collect();
            let shape = shape(&levels, needed, most);
            for (leaf, depth) in leaves.iter().zip(depths(&shape, leaves.len())) {
                let below = &mut latest[leaf.node() as usize];
                *below = (*below).min(needed - depth);
            }
            shapes.insert(node as u32, shape);
        }
        shapes
    }
}

pub(super) fn relocate(source: Source, place: &[u32]) -> Source {
    match source {
        Source::Slot { slot, flip } => Source::Slot { slot: place[slot as usize], flip },
        other => other,
    }
}

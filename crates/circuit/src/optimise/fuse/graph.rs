//! The values of a plan as a graph, and its trees of ANDs built anew.

use super::MOST_INPUTS;
use super::trees::{Shape, depths, finish, shape};
use crate::graph::Bit;
use crate::plan::{Instr, Op, Plan, Source};
use rustc_hash::FxHashMap;

/// A value of straight-line code, once the slots are gone; operands are nodes. There are millions of them: it is kept small.
#[derive(Clone, Copy)]
pub(super) enum Node {
    Input,
    /// A gate without cost: the first operand is a node, and the second too if the gate is an XOR.
    Local(Op, [bool; 2], [u32; 2]),
    And([Bit; 2]),
    /// An AND of so many inputs, three or four, by its place among [`Graph::wide`]; only where trees are built.
    Wide(u8, u32),
}

/// The values of a plan, each behind those that it reads.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// The inputs of ANDs that have more than two.
    pub(super) wide: Vec<[Bit; MOST_INPUTS]>,
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
        for Instr { op, flip_a, flip_b, dst, a, b } in plan.code().iter() {
            let a = node_of[a as usize];
            let node = match op {
                Op::And => Node::And([Bit::new(a, flip_a), Bit::new(node_of[b as usize], flip_b)]),
                Op::Xor => Node::Local(op, [flip_a, flip_b], [a, node_of[b as usize]]),
                Op::XorPublic | Op::AndPublic => Node::Local(op, [flip_a, flip_b], [a, b]),
            };
            define(dst, node, &mut node_of);
        }
        let outputs = plan.outputs().iter().map(|&source| relocate(source, &node_of)).collect();
        Graph { nodes, wide: Vec::new(), inputs, outputs }
    }

    /// Appends an AND of two to four inputs.
    fn push_and(&mut self, inputs: &[Bit]) {
        self.nodes.push(match *inputs {
            [a, b] => Node::And([a, b]),
            _ => Node::Wide(inputs.len() as u8, self.wide.len() as u32),
        });
        if inputs.len() > 2 {
            let mut all = [Bit::FALSE; MOST_INPUTS];
            all[..inputs.len()].copy_from_slice(inputs);
            self.wide.push(all);
        }
    }

    pub(super) fn is_and(&self, node: usize) -> bool {
        matches!(self.nodes[node], Node::And(..) | Node::Wide(..))
    }

    /// The inputs of an AND; of any other node none.
    fn and_inputs(&self, node: usize) -> &[Bit] {
        match &self.nodes[node] {
            Node::And(inputs) => inputs,
            Node::Wide(count, place) => &self.wide[*place as usize][..(*count).into()],
            Node::Input | Node::Local(..) => &[],
        }
    }

    /// The nodes that a node reads.
    pub(super) fn reads(&self, node: usize) -> impl Iterator<Item = usize> {
        let local: &[u32] = match &self.nodes[node] {
            Node::Local(Op::Xor, _, operands) => operands,
            Node::Local(_, _, operands) => &operands[..1],
            _ => &[],
        };
        let operands = local.iter().copied().chain(self.and_inputs(node).iter().map(|bit| bit.node()));
        operands.map(|node| node as usize)
    }

    /// ANDs that are part of the tree of the only one that reads them.
    fn inner(&self) -> Vec<bool> {
        let mut readers = vec![0u32; self.nodes.len()];
        (0..self.nodes.len()).flat_map(|node| self.reads(node)).for_each(|node| readers[node] += 1);
        for source in &self.outputs {
            if let Source::Slot { slot: node, .. } = source {
                readers[*node as usize] += 1;
            }
        }
        let mut inner = vec![false; self.nodes.len()];
        for input in (0..self.nodes.len()).flat_map(|node| self.and_inputs(node)).filter(|input| !input.complemented())
        {
            let below = input.node() as usize;
            inner[below] = readers[below] == 1 && self.is_and(below);
        }
        inner
    }

    /// The leaves of a tree from left to right, in place of what the list held.
    fn leaves(&self, root: usize, inner: &[bool], leaves: &mut Vec<Bit>) {
        leaves.clear();
        let mut stack = vec![Bit::new(root as u32, false)];
        while let Some(bit) = stack.pop() {
            let node = bit.node() as usize;
            match self.is_and(node) && (node == root || inner[node]) {
                true => stack.extend(self.and_inputs(node).iter().rev()),
                false => leaves.push(bit),
            }
        }
    }

    /// The inputs of a tree that is a single AND: most are, and cost no list.
    fn alone(&self, root: usize, inner: &[bool]) -> Option<[Bit; 2]> {
        let Node::And([a, b]) = self.nodes[root] else { return None };
        (!inner[a.node() as usize] && !inner[b.node() as usize]).then_some([a, b])
    }

    /// A graph of equal values whose trees are built anew.
    pub(super) fn fused(&self, most: usize) -> Graph {
        let inner = self.inner();
        let earliest = self.earliest(&inner, most);
        let shapes = self.shapes(&inner, &earliest, most);
        let outputs = Vec::new();
        let mut built =
            Graph { nodes: Vec::with_capacity(self.nodes.len()), wide: Vec::new(), inputs: Vec::new(), outputs };
        let mut new = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for (old, node) in self.nodes.iter().enumerate().filter(|&(old, _)| !inner[old]) {
            let renamed = |leaf: Bit| Bit::new(new[leaf.node() as usize], leaf.complemented());
            match *node {
                Node::Input => built.nodes.push(Node::Input),
                Node::Local(op, flips, [a, b]) => {
                    let b = if op == Op::Xor { new[b as usize] } else { b };
                    built.nodes.push(Node::Local(op, flips, [new[a as usize], b]));
                }
                Node::And(..) | Node::Wide(..) => match self.alone(old, &inner) {
                    Some(inputs) => built.push_and(&inputs.map(renamed)),
                    None => {
                        self.leaves(old, &inner, &mut leaves);
                        let mut items: Vec<Bit> = leaves.iter().copied().map(renamed).collect();
                        for group in &shapes[&(old as u32)] {
                            let inputs: Vec<Bit> = group.iter().map(|&item| items[item]).collect();
                            items.push(Bit::new(built.nodes.len() as u32, false));
                            built.push_and(&inputs);
                        }
                    }
                },
            }
            new[old] = built.nodes.len() as u32 - 1;
        }
        built.inputs = self.inputs.iter().map(|node| node.map(|node| new[node as usize])).collect();
        built.outputs = self.outputs.iter().map(|&source| relocate(source, &new)).collect();
        built
    }

    /// The first layer at which each value can be there; of the inside of trees nothing.
    fn earliest(&self, inner: &[bool], most: usize) -> Vec<u32> {
        let mut earliest = vec![0; self.nodes.len()];
        let mut leaves = Vec::new();
        for node in (0..self.nodes.len()).filter(|&node| !inner[node]) {
            let alone = self.alone(node, inner).is_some();
            earliest[node] = match self.is_and(node) && !alone {
                true => {
                    self.leaves(node, inner, &mut leaves);
                    let mut levels: Vec<u32> = leaves.iter().map(|leaf| earliest[leaf.node() as usize]).collect();
                    levels.sort_unstable();
                    finish(0, 0, levels.into_iter(), most)
                }
                false => self.reads(node).map(|below| earliest[below]).max().unwrap_or(0) + u32::from(alone),
            };
        }
        earliest
    }

    /// How each tree of more than one AND is built, given that all is there at the last layer.
    fn shapes(&self, inner: &[bool], earliest: &[u32], most: usize) -> FxHashMap<u32, Shape> {
        let last = earliest.iter().copied().max().unwrap_or(0);
        let mut latest = vec![last; self.nodes.len()];
        let (mut shapes, mut leaves) = (FxHashMap::default(), Vec::new());
        for node in (0..self.nodes.len()).rev().filter(|&node| !inner[node]) {
            let needed = latest[node];
            let alone = self.alone(node, inner).is_some();
            if alone || !self.is_and(node) {
                let needed = needed - u32::from(alone);
                self.reads(node).for_each(|below| latest[below] = latest[below].min(needed));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// There is one for each gate of a plan, and two graphs of them at a time.
    #[test]
    fn a_node_is_as_large_as_a_gate() {
        assert_eq!(size_of::<Node>(), size_of::<[u32; 3]>());
    }
}

//! Cuts: few nodes of which a node is a function, with its table.

use super::affine::truth::{INPUT, INPUTS, spread};
use super::network::{Kind, Network};
use crate::graph::Bit;

/// Nodes in rising order, and a node's table over them; inputs beyond them count for nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    nodes: [u32; INPUTS],
    count: u8,
    pub table: u64,
}

/// How many cuts of how many nodes are kept for a node.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub inputs: usize,
    pub cuts: usize,
}

/// The cuts of the nodes that were asked for.
pub struct Cuts {
    limits: Limits,
    of: Vec<Option<Box<[Cut]>>>,
    merged: Vec<Cut>,
}

impl Cut {
    pub fn leaves(&self) -> &[u32] {
        &self.nodes[..self.count.into()]
    }

    fn constant() -> Cut {
        Cut { nodes: [0; INPUTS], count: 0, table: 0 }
    }

    fn single(node: u32) -> Cut {
        let mut nodes = [0; INPUTS];
        nodes[0] = node;
        Cut { nodes, count: 1, table: INPUT[0] }
    }

    /// A node's cut by cuts of its operands.
    fn merged(kind: Kind, [x, y]: [Bit; 2], [a, b]: [&Cut; 2], most: usize) -> Option<Cut> {
        let mut nodes = [0; INPUTS];
        let mut places = [[0; INPUTS]; 2];
        let (mut i, mut j, mut count) = (0, 0, 0);
        let (left, right) = (a.leaves(), b.leaves());
        while i < left.len() || j < right.len() {
            if count == most {
                return None;
            }
            let node = match (left.get(i), right.get(j)) {
                (Some(&l), Some(&r)) => l.min(r),
                (Some(&one), None) | (None, Some(&one)) => one,
                (None, None) => unreachable!("the loop ends"),
            };
            nodes[count] = node;
            if left.get(i) == Some(&node) {
                places[0][i] = count;
                i += 1;
            }
            if right.get(j) == Some(&node) {
                places[1][j] = count;
                j += 1;
            }
            count += 1;
        }
        let side = |cut: &Cut, places: &[usize; INPUTS], bit: Bit| {
            let table = spread(cut.table, &places[..cut.count.into()]);
            if bit.complemented() { !table } else { table }
        };
        let (a, b) = (side(a, &places[0], x), side(b, &places[1], y));
        let table = if kind == Kind::And { a & b } else { a ^ b };
        Some(Cut { nodes, count: count as u8, table })
    }

    fn is_within(&self, other: &Cut) -> bool {
        self.leaves().iter().all(|node| other.leaves().contains(node))
    }
}

impl Cuts {
    pub fn new(limits: Limits) -> Self {
        Cuts { limits, of: Vec::new(), merged: Vec::new() }
    }

    /// The cuts of a node, itself as the last.
    pub fn of(&mut self, network: &Network<'_>, node: u32) -> &[Cut] {
        if self.of.len() < network.nodes.len() {
            self.of.resize(network.nodes.len(), None);
        }
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            if self.of[node as usize].is_some() {
                stack.pop();
                continue;
            }
            let below = network.nodes[node as usize].operands.map(Bit::node);
            let missing = below.iter().copied().find(|&below| self.of[below as usize].is_none());
            match (network.nodes[node as usize].kind, missing) {
                (Kind::Leaf | Kind::Dead, _) => {
                    let cut = if node == 0 { Cut::constant() } else { Cut::single(node) };
                    self.of[node as usize] = Some(Box::new([cut]));
                }
                // A circle would not end: such a chain of cuts is cut off.
                (_, Some(below)) if stack.len() <= network.nodes.len() => stack.push(below),
                (_, Some(_)) => self.of[node as usize] = Some(Box::new([Cut::single(node)])),
                (_, None) => self.of[node as usize] = Some(self.made(network, node)),
            }
        }
        self.of[node as usize].as_deref().expect("there now")
    }

    fn made(&mut self, network: &Network<'_>, node: u32) -> Box<[Cut]> {
        let node_of = &network.nodes[node as usize];
        let [a, b] = node_of.operands.map(|bit| self.of[bit.node() as usize].as_deref().expect("there"));
        self.merged.clear();
        for left in a {
            for right in b {
                if let Some(cut) = Cut::merged(node_of.kind, node_of.operands, [left, right], self.limits.inputs) {
                    keep(&mut self.merged, cut, self.limits.cuts);
                }
            }
        }
        self.merged.push(Cut::single(node));
        self.merged.as_slice().into()
    }
}

/// Enters a cut into a list by rising size, without those that another lies within.
fn keep(cuts: &mut Vec<Cut>, cut: Cut, most: usize) {
    let place = cuts.partition_point(|other| other.count <= cut.count);
    if place >= most || cuts[..place].iter().any(|other| other.is_within(&cut)) {
        return;
    }
    let mut at = 0;
    cuts.retain(|other| {
        at += 1;
        at <= place || !cut.is_within(other)
    });
    cuts.insert(place, cut);
    cuts.truncate(most);
}

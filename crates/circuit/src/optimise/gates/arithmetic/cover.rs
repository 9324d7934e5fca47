//! Which adders a network consists of, from its outputs down.
//!
//! A node that is read becomes the sum or the carry of an adder if there is one, and then its leaves are read; else it is a
//! gate, which reads its operands. What lies between an adder and its leaves is read by nobody. A full adder comes before a
//! half adder, so that the two halves of which it may consist do not count; a half adder needs both its outputs to be read.
//! Whether they are is known once all is covered, so that it is done a few times.

use super::super::network::{Kind, Network};
use super::cells::{Cells, Leaves, MASKS, Mask, inputs};
use crate::graph::Bit;
use rustc_hash::FxHashMap;

/// Times that a network is covered.
const TIMES: usize = 4;
/// The most inputs of an adder without a carry: else long chains take time by their square.
const MOST_INPUTS: usize = 256;

/// 2·carry + sum = the sum of the inputs; modulo 2 if there is no carry.
pub struct Adder {
    pub inputs: Vec<Bit>,
    pub sum: Option<Bit>,
    pub carry: Option<Bit>,
    /// Whether it is an XOR of any number of inputs.
    parity: bool,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Nobody reads it.
    Unread,
    /// An input, or the AND or XOR of its operands.
    Gate,
    Sum(u32),
    Carry(u32),
}

impl Role {
    /// The adder whose output it is.
    pub fn adder(self) -> Option<u32> {
        match self {
            Role::Sum(adder) | Role::Carry(adder) => Some(adder),
            Role::Unread | Role::Gate => None,
        }
    }
}

/// Who reads a node.
#[derive(Clone, Copy, Default)]
pub struct Readers {
    pub adders: u32,
    /// One of the adders.
    pub adder: u32,
    /// Gates and outputs.
    pub others: u32,
}

pub struct Cover {
    pub adders: Vec<Adder>,
    pub roles: Vec<Role>,
    pub readers: Vec<Readers>,
}

/// How a node may be covered.
enum Choice {
    Sum(Leaves, Mask, bool),
    Carry(Leaves, Mask, bool),
    Parity(Leaves, bool),
    Gate,
}

impl Cover {
    pub fn of(network: &Network<'_>, cells: &Cells) -> Self {
        let mut read = vec![true; network.nodes.len()];
        let mut cover = Cover::once(network, cells, &read);
        for _ in 1..TIMES {
            read = cover.roles.iter().map(|&role| role != Role::Unread).collect();
            cover = Cover::once(network, cells, &read);
        }
        cover
    }

    fn once(network: &Network<'_>, cells: &Cells, read: &[bool]) -> Self {
        let count = network.nodes.len();
        let mut cover =
            Cover { adders: Vec::new(), roles: vec![Role::Unread; count], readers: vec![Readers::default(); count] };
        let mut by_leaves = FxHashMap::default();
        network.outputs.iter().for_each(|bit| cover.readers[bit.node() as usize].others += 1);
        for node in (0..count as u32).rev() {
            if cover.readers[node as usize].others + cover.readers[node as usize].adders > 0 {
                cover.enter(network, cells, read, &mut by_leaves, node);
            }
        }
        cover
    }

    fn enter(
        &mut self,
        network: &Network<'_>,
        cells: &Cells,
        read: &[bool],
        by_leaves: &mut FxHashMap<(Leaves, Mask), u32>,
        node: u32,
    ) {
        let mut adder = |cover: &mut Cover, leaves, mask| {
            *by_leaves.entry((leaves, mask)).or_insert_with(|| cover.push(inputs(leaves, mask), false))
        };
        match choose(cells, read, node) {
            Choice::Sum(leaves, mask, flip) => {
                let adder = adder(self, leaves, mask);
                let flip = flip ^ (mask.count_ones() % 2 == 1);
                match &mut self.adders[adder as usize].sum {
                    Some(_) => self.gate(network, node),
                    sum => {
                        *sum = Some(Bit::new(node, flip));
                        self.roles[node as usize] = Role::Sum(adder);
                    }
                }
            }
            Choice::Carry(leaves, mask, flip) => {
                let adder = adder(self, leaves, mask);
                match &mut self.adders[adder as usize].carry {
                    Some(_) => self.gate(network, node),
                    carry => {
                        *carry = Some(Bit::new(node, flip));
                        self.roles[node as usize] = Role::Carry(adder);
                    }
                }
            }
            Choice::Parity([_, a, b], flip) => self.parity(node, [a, b], flip),
            Choice::Gate => self.gate(network, node),
        }
    }

    fn push(&mut self, inputs: Vec<Bit>, parity: bool) -> u32 {
        let adder = self.adders.len() as u32;
        inputs.iter().for_each(|bit| self.read_by(bit.node(), adder));
        self.adders.push(Adder { inputs, sum: None, carry: None, parity });
        adder
    }

    fn read_by(&mut self, node: u32, adder: u32) {
        let readers = &mut self.readers[node as usize];
        *readers = Readers { adders: readers.adders + 1, adder, others: readers.others };
    }

    fn gate(&mut self, network: &Network<'_>, node: u32) {
        self.roles[node as usize] = Role::Gate;
        if matches!(network.nodes[node as usize].kind, Kind::And | Kind::Xor) {
            network.nodes[node as usize].operands.iter().for_each(|bit| self.readers[bit.node() as usize].others += 1);
        }
    }

    /// The XOR of two nodes: one of many, if only such a one reads it.
    fn parity(&mut self, node: u32, pair: [u32; 2], flip: bool) {
        let readers = self.readers[node as usize];
        let above = (readers.adders == 1 && readers.others == 0).then_some(readers.adder);
        let joined = above.filter(|&adder| {
            let adder = &self.adders[adder as usize];
            adder.parity && adder.inputs.len() < MOST_INPUTS
        });
        let Some(adder) = joined else {
            let adder = self.push(pair.map(|node| Bit::new(node, false)).to_vec(), true);
            self.adders[adder as usize].sum = Some(Bit::new(node, flip));
            self.roles[node as usize] = Role::Sum(adder);
            return;
        };
        let of = &mut self.adders[adder as usize];
        of.inputs.retain(|bit| bit.node() != node);
        of.inputs.extend(pair.map(|node| Bit::new(node, false)));
        of.sum = of.sum.map(|sum| sum.flip(flip));
        pair.iter().for_each(|&below| self.read_by(below, adder));
    }
}

fn choose(cells: &Cells, read: &[bool], node: u32) -> Choice {
    let is_read = |other: Option<u32>| other.is_some_and(|other| other != node && read[other as usize]);
    let full = |leaves: &Leaves| leaves[0] != 0;
    let carries = || cells.carries(node).iter();
    let parities = || cells.parities(node).iter();
    let with_sum = |&&(leaves, _, _): &&(Leaves, Mask, bool)| is_read(cells.parity(leaves));
    let with_carry = |&(leaves, flip): &(Leaves, bool)| {
        let mask = MASKS.into_iter().find(|&mask| is_read(cells.carry(leaves, mask)))?;
        Some(Choice::Sum(leaves, mask, flip))
    };
    let carry = |&(leaves, mask, flip): &(Leaves, Mask, bool)| Choice::Carry(leaves, mask, flip);
    let full_carry = carries().filter(|(leaves, ..)| full(leaves)).find(with_sum);
    let full_sum = || parities().filter(|(leaves, _)| full(leaves)).find_map(with_carry);
    let half_sum = || parities().filter(|(leaves, _)| !full(leaves)).find_map(with_carry);
    let half_carry = || carries().filter(|(leaves, ..)| !full(leaves)).find(with_sum).map(carry);
    let lone_carry = || carries().find(|(leaves, ..)| full(leaves)).map(carry);
    let parity = || parities().find(|(leaves, _)| !full(leaves)).map(|&(leaves, flip)| Choice::Parity(leaves, flip));
    let choice = full_carry.map(carry).or_else(full_sum).or_else(half_sum).or_else(half_carry).or_else(lone_carry);
    choice.or_else(parity).unwrap_or(Choice::Gate)
}

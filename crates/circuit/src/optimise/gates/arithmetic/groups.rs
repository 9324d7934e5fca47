//! Adders that belong together: the output of one that only one other reads joins both, so that it drops out of the sum.
//!
//! A group is built anew as a whole, so that nothing it reads may depend on what it gives. Hence adders have levels: an
//! output that is read more than once, or by a gate, is of a level more than what it came from, and only adders of one level
//! are joined. An adder that has only early inputs takes the level of those that read it.

use super::super::network::{Kind, Network};
use super::cover::{Adder, Cover, Role};
use crate::graph::Bit;

/// Attempts, in each of which joints that were at odds are given up.
const ATTEMPTS: usize = 8;

/// How an adder counts in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// A number of the group.
    pub group: u32,
    /// Its inputs count ±2^weight.
    pub weight: i32,
    pub negative: bool,
}

pub struct Groups {
    /// For each adder; nothing for a XOR that belongs to no group.
    pub places: Vec<Option<Place>>,
    /// Nodes that join nothing.
    apart: Vec<bool>,
}

/// What is joined so far.
struct Joined {
    places: Vec<Place>,
    members: Vec<Vec<u32>>,
}

impl Groups {
    /// The groups without the XORs in `loose`.
    pub fn of(network: &Network<'_>, cover: &Cover, loose: &[bool]) -> Self {
        let active: Vec<bool> =
            cover.adders.iter().zip(loose).map(|(adder, loose)| !loose && joins(cover, adder)).collect();
        let mut apart = vec![false; cover.roles.len()];
        for attempt in 1.. {
            let levels = Levels::of(network, cover, &active, &apart);
            let (joined, odd) = Joined::of(cover, &active, &apart, &levels.adders);
            odd.iter().for_each(|&node| apart[node as usize] = true);
            if odd.is_empty() || attempt == ATTEMPTS {
                let places =
                    joined.places.iter().zip(&active).map(|(&place, &active)| active.then_some(place)).collect();
                return Groups { places, apart };
            }
        }
        unreachable!("the loop ends")
    }

    /// Whether a node only joins adders of its group.
    pub fn is_within(&self, cover: &Cover, node: u32) -> bool {
        let Some((from, to)) = ends(cover, &self.apart, node) else { return false };
        match (self.places[from as usize], self.places[to as usize]) {
            (Some(from), Some(to)) => from.group == to.group,
            _ => false,
        }
    }
}

/// Whether an adder counts as one: a XOR does if it ends a carry.
fn joins(cover: &Cover, adder: &Adder) -> bool {
    let ends = |bit: &Bit| {
        let readers = cover.readers[bit.node() as usize];
        matches!(cover.roles[bit.node() as usize], Role::Carry(_)) && readers.adders == 1 && readers.others == 0
    };
    adder.carry.is_some() || adder.inputs.iter().any(ends)
}

/// The adder that gives a node and the one that reads it, if no other does.
fn ends(cover: &Cover, apart: &[bool], node: u32) -> Option<(u32, u32)> {
    let readers = cover.readers[node as usize];
    let alone = readers.adders == 1 && readers.others == 0 && !apart[node as usize];
    cover.roles[node as usize].adder().filter(|_| alone).map(|from| (from, readers.adder))
}

/// The nodes that an adder gives, the lower one first.
fn outputs(adder: &Adder) -> impl Iterator<Item = u32> {
    let (sum, carry) = (adder.sum.map(Bit::node), adder.carry.map(Bit::node));
    let first = sum.into_iter().chain(carry).min();
    let second = sum.into_iter().chain(carry).max().filter(|&node| Some(node) != first);
    first.into_iter().chain(second)
}

struct Levels {
    /// Of each node, or of the adder that gives it and one more.
    nodes: Vec<u32>,
    /// The most that readers allow.
    most: Vec<u32>,
    adders: Vec<u32>,
}

impl Levels {
    fn of(network: &Network<'_>, cover: &Cover, active: &[bool], apart: &[bool]) -> Self {
        let count = cover.roles.len();
        let mut levels = Levels { nodes: vec![0; count], most: vec![u32::MAX; count], adders: vec![0; active.len()] };
        for node in 1..count as u32 {
            levels.up(network, cover, active, apart, node);
        }
        for node in (1..count as u32).rev() {
            levels.down(network, cover, active, apart, node);
        }
        levels
    }

    /// The level of a node by what it reads.
    fn up(&mut self, network: &Network<'_>, cover: &Cover, active: &[bool], apart: &[bool], node: u32) {
        let highest = |levels: &Levels, bits: &[Bit]| bits.iter().map(|bit| levels.nodes[bit.node() as usize]).max();
        match cover.roles[node as usize] {
            Role::Unread => {}
            Role::Gate if network.nodes[node as usize].kind == Kind::Leaf => {}
            Role::Gate => {
                self.nodes[node as usize] = highest(self, &network.nodes[node as usize].operands).unwrap_or(0)
            }
            Role::Sum(adder) | Role::Carry(adder) => {
                let inputs = &cover.adders[adder as usize].inputs;
                self.nodes[node as usize] = match active[adder as usize] {
                    false => highest(self, inputs).unwrap_or(0),
                    true => {
                        let within = |bit: &&Bit| joint(cover, active, apart, bit.node()).is_some();
                        let level = |bit: &Bit| self.nodes[bit.node() as usize] - u32::from(within(&bit));
                        let level = inputs.iter().map(level).max().unwrap_or(0);
                        self.adders[adder as usize] = level;
                        level + 1
                    }
                };
            }
        }
    }

    /// An adder rises to the level of those that it may join; what is read may be no later than who reads it.
    fn down(&mut self, network: &Network<'_>, cover: &Cover, active: &[bool], apart: &[bool], node: u32) {
        let most = self.most[node as usize];
        let (inputs, most) = match cover.roles[node as usize] {
            Role::Unread => return,
            Role::Gate if network.nodes[node as usize].kind == Kind::Leaf => return,
            Role::Gate => (&network.nodes[node as usize].operands[..], most),
            Role::Sum(adder) | Role::Carry(adder) if !active[adder as usize] => {
                (&cover.adders[adder as usize].inputs[..], most)
            }
            Role::Sum(adder) | Role::Carry(adder) => {
                let of = &cover.adders[adder as usize];
                if outputs(of).next() != Some(node) {
                    return;
                }
                self.rise(cover, active, apart, adder);
                (&of.inputs[..], self.adders[adder as usize])
            }
        };
        let reader = cover.roles[node as usize].adder().filter(|&adder| active[adder as usize]);
        for bit in inputs {
            let within = reader.is_some() && joint(cover, active, apart, bit.node()).is_some();
            let entry = &mut self.most[bit.node() as usize];
            *entry = (*entry).min(most.saturating_add(u32::from(within)));
        }
    }

    fn rise(&mut self, cover: &Cover, active: &[bool], apart: &[bool], adder: u32) {
        let of = &cover.adders[adder as usize];
        let most = outputs(of).map(|node| self.most[node as usize]).min().unwrap_or(u32::MAX);
        let level = self.adders[adder as usize];
        let readers = outputs(of).filter_map(|node| joint(cover, active, apart, node));
        let wanted = readers.map(|(_, reader)| self.adders[reader as usize]).min().unwrap_or(level);
        self.adders[adder as usize] = wanted.min(most.saturating_sub(1)).max(level);
    }
}

/// [`ends`], if both are adders that count.
fn joint(cover: &Cover, active: &[bool], apart: &[bool], node: u32) -> Option<(u32, u32)> {
    ends(cover, apart, node).filter(|&(from, to)| active[from as usize] && active[to as usize])
}

impl Joined {
    /// All that can be joined, carries first, and last what ends carries, whose sign is free; and the nodes that would join an
    /// adder to one of its group in another place.
    fn of(cover: &Cover, active: &[bool], apart: &[bool], levels: &[u32]) -> (Self, Vec<u32>) {
        let count = cover.adders.len() as u32;
        let mut joined = Joined {
            places: (0..count).map(|group| Place { group, weight: 0, negative: false }).collect(),
            members: (0..count).map(|adder| vec![adder]).collect(),
        };
        let mut odd = Vec::new();
        for kind in [(true, false), (false, false), (true, true), (false, true)] {
            for node in 1..cover.roles.len() as u32 {
                let is_carry = matches!(cover.roles[node as usize], Role::Carry(_));
                let of_kind = |&(_, to): &(u32, u32)| (is_carry, cover.adders[to as usize].carry.is_none()) == kind;
                let Some((from, to)) = joint(cover, active, apart, node).filter(of_kind) else { continue };
                if levels[from as usize] == levels[to as usize] && !joined.join(cover, node, from, to) {
                    odd.push(node);
                }
            }
        }
        (joined, odd)
    }

    /// Whether both adders are of one group now, and the node drops out of its sum.
    fn join(&mut self, cover: &Cover, node: u32, from: u32, to: u32) -> bool {
        let (giver, reader) = (&cover.adders[from as usize], &cover.adders[to as usize]);
        let is_carry = cover.roles[node as usize] == Role::Carry(from);
        let given = if is_carry { giver.carry } else { giver.sum };
        let read = reader.inputs.iter().find(|bit| bit.node() == node);
        let (Some(given), Some(read)) = (given, read) else { return false };
        // Where `to` stands if `from` stands where it does.
        let [place, other] = [from, to].map(|adder| self.places[adder as usize]);
        let weight = place.weight + i32::from(is_carry);
        let negative = place.negative ^ given.complemented() ^ read.complemented();
        let (shift, turn) = (weight - other.weight, negative != other.negative);
        if place.group == other.group {
            // What ends a carry counts modulo its double, so that its sign does not matter.
            return shift == 0 && (!turn || reader.carry.is_none());
        }
        let [kept, moved] = [place.group, other.group];
        let forwards = self.members[kept as usize].len() >= self.members[moved as usize].len();
        let (kept, moved, shift) = if forwards { (kept, moved, shift) } else { (moved, kept, -shift) };
        let members = std::mem::take(&mut self.members[moved as usize]);
        for &adder in &members {
            let place = &mut self.places[adder as usize];
            *place = Place { group: kept, weight: place.weight + shift, negative: place.negative ^ turn };
        }
        self.members[kept as usize].extend(members);
        true
    }
}

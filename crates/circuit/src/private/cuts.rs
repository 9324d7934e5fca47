//! Cuts of at most three nodes, and the functions that circuits compute of them.

use crate::graph::{Bit, Circuit, Gate};

/// Cuts kept of a node, besides itself.
const MOST: usize = 24;

/// Nodes that determine a node, and how: bit i of the table is its value where leaf k has bit k of i.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    leaves: [u32; 3],
    count: u8,
    pub table: u8,
}

/// The table of each leaf alone.
pub const LEAF: [u8; 3] = [0xaa, 0xcc, 0xf0];

impl Cut {
    /// The node itself.
    fn of(node: u32) -> Cut {
        Cut { leaves: [node, 0, 0], count: 1, table: LEAF[0] }
    }

    /// The leaves in order.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves[..usize::from(self.count)]
    }

    /// The table over more leaves, or none if this has one that they have not.
    fn over(&self, leaves: &[u32]) -> Option<u8> {
        let mut places = [0; 3];
        for (place, leaf) in places.iter_mut().zip(self.leaves()) {
            *place = leaves.iter().position(|of| of == leaf)?;
        }
        let value = |index: usize| {
            let own = (0..usize::from(self.count)).fold(0, |own, k| own | (index >> places[k] & 1) << k);
            self.table >> own & 1
        };
        Some((0..8).fold(0, |table, index| table | value(index) << index))
    }

    /// Both, if that is not too many leaves.
    fn join(&self, other: &Cut) -> Option<([u32; 3], u8)> {
        let (mut leaves, mut count) = (self.leaves, usize::from(self.count));
        for leaf in other.leaves() {
            if !leaves[..count].contains(leaf) {
                *leaves.get_mut(count)? = *leaf;
                count += 1;
            }
        }
        leaves[..count].sort_unstable();
        Some((leaves, count as u8))
    }

    /// Without the leaves on which nothing depends.
    fn reduced(mut self) -> Cut {
        for k in (0..usize::from(self.count)).rev() {
            let (zero, one) = (self.table & !LEAF[k], (self.table & LEAF[k]) >> (1 << k));
            if zero == one {
                let kept: Vec<u32> = self.leaves().iter().copied().filter(|&leaf| leaf != self.leaves[k]).collect();
                let whole = self;
                self.leaves = [0; 3];
                self.leaves[..kept.len()].copy_from_slice(&kept);
                self.count = kept.len() as u8;
                // The place of each leaf that is left, among those that there were.
                let place = |new: usize| if new < k { new } else { new + 1 };
                let value = |index: usize| {
                    let old = (0..kept.len()).fold(0, |old, new| old | (index >> new & 1) << place(new));
                    whole.table >> old & 1
                };
                self.table = (0..8).fold(0, |table, index| table | value(index) << index);
            }
        }
        self
    }
}

/// The cuts of every node of a circuit, for inputs and the constant the node itself.
pub fn cuts(circuit: &Circuit) -> Vec<Vec<Cut>> {
    let mut all: Vec<Vec<Cut>> = Vec::with_capacity(circuit.gates().len());
    for gate in circuit.gates() {
        let own = match *gate {
            Gate::False => vec![Cut { leaves: [0; 3], count: 0, table: 0 }],
            Gate::Input => vec![],
            Gate::Xor(a, b) => merged(&all, a, b, |x, y| x ^ y),
            Gate::And(a, b) => merged(&all, a, b, |x, y| x & y),
        };
        all.push(own);
    }
    all
}

fn merged(all: &[Vec<Cut>], a: Bit, b: Bit, gate: fn(u8, u8) -> u8) -> Vec<Cut> {
    let with_self = |bit: Bit| all[bit.node() as usize].iter().copied().chain([Cut::of(bit.node())]);
    let flip = |table: u8, bit: Bit| if bit.complemented() { !table } else { table };
    let mut merged: Vec<Cut> = Vec::new();
    for x in with_self(a) {
        for y in with_self(b) {
            let Some((leaves, count)) = x.join(&y) else { continue };
            let leaves_used = &leaves[..usize::from(count)];
            let (Some(of_a), Some(of_b)) = (x.over(leaves_used), y.over(leaves_used)) else { continue };
            let mut kept = [0; 3];
            kept[..leaves_used.len()].copy_from_slice(leaves_used);
            let cut = Cut { leaves: kept, count, table: gate(flip(of_a, a), flip(of_b, b)) }.reduced();
            if !merged.contains(&cut) {
                merged.push(cut);
            }
        }
    }
    select(merged, [a, b])
}

/// The cut of the fan-ins, and of all others the first.
fn select(mut cuts: Vec<Cut>, fan_ins: [Bit; 2]) -> Vec<Cut> {
    let structural =
        |cut: &Cut| cut.leaves().len() == 2 && fan_ins.iter().all(|bit| cut.leaves().contains(&bit.node()));
    cuts.sort_by_key(|cut| !structural(cut));
    cuts.truncate(MOST);
    cuts
}

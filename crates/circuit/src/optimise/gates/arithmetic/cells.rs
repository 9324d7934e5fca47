//! Which nodes are the parity, and which the carry, of the same two or three leaves: by the tables of their cuts.
//!
//! Two leaves are three of which the first is the constant false: an AND is the carry of a half adder, the majority of its
//! operands and a zero. A mask says which leaves are complemented; that all are complemented complements parity and carry,
//! so that the first leaf never is.

use super::super::cuts::{Cut, Cuts, Limits};
use super::super::network::{Kind, Network};
use crate::graph::Bit;
use rustc_hash::FxHashMap;

/// Three nodes in rising order; the first may be the constant.
pub type Leaves = [u32; 3];

/// The nodes that are complemented.
pub type Mask = u8;

/// Cuts of three leaves.
pub const LIMITS: Limits = Limits { inputs: 3, cuts: 24 };

/// The masks of carries.
pub const MASKS: [Mask; 4] = [0, 2, 4, 6];

/// The parities and carries of a network.
pub struct Cells {
    /// Of what each node is the parity, and whether it is complemented.
    parities: Vec<Vec<(Leaves, bool)>>,
    /// Of what each node is the carry.
    carries: Vec<Vec<(Leaves, Mask, bool)>>,
    parity: FxHashMap<Leaves, u32>,
    carry: FxHashMap<(Leaves, Mask), u32>,
}

impl Cells {
    pub fn of(network: &Network<'_>) -> Self {
        let count = network.nodes.len();
        let mut cells = Cells {
            parities: vec![Vec::new(); count],
            carries: vec![Vec::new(); count],
            parity: FxHashMap::default(),
            carry: FxHashMap::default(),
        };
        let mut cuts = Cuts::new(LIMITS);
        for node in (1..count as u32).filter(|&node| matches!(network.nodes[node as usize].kind, Kind::And | Kind::Xor))
        {
            cuts.of(network, node).iter().for_each(|cut| cells.enter(node, cut));
        }
        cells
    }

    fn enter(&mut self, node: u32, cut: &Cut) {
        let (leaves, table) = match *cut.leaves() {
            [a, b] => ([0, a, b], with_zero(cut.table)),
            [a, b, c] => ([a, b, c], cut.table as u8),
            _ => return,
        };
        let of = |function: &dyn Fn(usize) -> bool| (0..8).fold(0u8, |table, x| table | u8::from(function(x)) << x);
        let first = usize::from(leaves[0] == 0);
        // Where the first leaf is the constant, only half of the table counts.
        let counts = if first == 1 { 0x55 } else { 0xff };
        let same = |one: u8| match (one ^ table) & counts {
            0 => Some(false),
            difference if difference == counts => Some(true),
            _ => None,
        };
        if let Some(flip) = same(of(&|x| x.count_ones() % 2 == 1)) {
            self.parities[node as usize].push((leaves, flip));
            self.parity.entry(leaves).or_insert(node);
        }
        for mask in MASKS {
            if let Some(flip) = same(of(&|x| (x ^ usize::from(mask)).count_ones() > 1)) {
                self.carries[node as usize].push((leaves, mask, flip));
                self.carry.entry((leaves, mask)).or_insert(node);
            }
        }
    }

    /// Of what a node is the parity, and whether it is complemented.
    pub fn parities(&self, node: u32) -> &[(Leaves, bool)] {
        &self.parities[node as usize]
    }

    /// Of what a node is the carry, and whether it is complemented.
    pub fn carries(&self, node: u32) -> &[(Leaves, Mask, bool)] {
        &self.carries[node as usize]
    }

    /// The node that is the parity of these.
    pub fn parity(&self, leaves: Leaves) -> Option<u32> {
        self.parity.get(&leaves).copied()
    }

    /// The node that is the carry of these.
    pub fn carry(&self, leaves: Leaves, mask: Mask) -> Option<u32> {
        self.carry.get(&(leaves, mask)).copied()
    }
}

/// The leaves as bits, without the constant.
pub fn inputs(leaves: Leaves, mask: Mask) -> Vec<Bit> {
    let bits = leaves.iter().enumerate().map(|(i, &leaf)| Bit::new(leaf, mask >> i & 1 == 1));
    bits.filter(|bit| bit.node() != 0).collect()
}

/// The table of two inputs, as the second and third of three.
fn with_zero(table: u64) -> u8 {
    (0..8).fold(0, |spread, x| spread | ((table >> (x >> 1) & 1) as u8) << x)
}

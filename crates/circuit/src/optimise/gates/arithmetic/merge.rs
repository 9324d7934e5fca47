//! Nodes that are one function of the same one, two or three leaves become one: else an adder that reads the one would not
//! be known by the other.

use super::super::cuts::{Cut, Cuts};
use super::super::network::{Kind, Network};
use super::cells::LIMITS;
use crate::graph::{Bit, Circuit};
use rustc_hash::FxHashMap;

/// Passes: what has become one may make others so.
const PASSES: usize = 4;

/// The circuit without nodes that cuts of three leaves show to be there twice.
pub fn merged(circuit: &Circuit) -> Option<Circuit> {
    let mut merged = Network::read(circuit).write()?;
    for _ in 0..PASSES {
        let mut network = Network::read(&merged);
        let changed = merge(&mut network);
        merged = network.write()?;
        if !changed {
            break;
        }
    }
    Some(merged)
}

fn merge(network: &mut Network<'_>) -> bool {
    let mut cuts = Cuts::new(LIMITS);
    let mut known: FxHashMap<([u32; 3], u8), Bit> = FxHashMap::default();
    let mut changed = false;
    for node in 1..network.nodes.len() as u32 {
        if !matches!(network.nodes[node as usize].kind, Kind::And | Kind::Xor) {
            continue;
        }
        let of: Vec<_> = cuts.of(network, node).iter().filter(|cut| cut.leaves() != [node]).map(key).collect();
        let same = of.iter().find_map(|&(leaves, table, flip)| {
            let bit = (table == 0xaa).then(|| Bit::new(leaves[0], false));
            bit.or_else(|| known.get(&(leaves, table)).copied()).map(|bit| bit.flip(flip))
        });
        match same.filter(|bit| network.is_alive(bit.node())) {
            Some(bit) => {
                network.replace(node, bit);
                changed = true;
            }
            None => of.into_iter().for_each(|(leaves, table, flip)| {
                known.entry((leaves, table)).or_insert(Bit::new(node, flip));
            }),
        }
    }
    changed
}

/// The leaves, the table whose first entry is zero, and whether it is the complement.
fn key(cut: &Cut) -> ([u32; 3], u8, bool) {
    let mut leaves = [0; 3];
    leaves[..cut.leaves().len()].copy_from_slice(cut.leaves());
    let table = cut.table as u8;
    let flip = table & 1 == 1;
    (leaves, if flip { !table } else { table }, flip)
}

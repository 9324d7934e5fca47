//! Nodes in whose place come others, if that saves an AND.

use super::super::network::{Kind, Network};
use super::super::rewrite::{die, revive};
use crate::graph::Bit;
use std::collections::BTreeMap;

/// Replaces nodes by what was built for them, the nodes from `before` on, if more ANDs die than were built; else those die.
pub fn exchange(network: &mut Network<'_>, mut by: BTreeMap<u32, Bit>, before: usize) -> bool {
    by.retain(|&node, bit| network.is_alive(node) && bit.node() != node);
    let bits: Vec<u32> = by.values().map(|bit| bit.node()).collect();
    let worth = !bits.iter().any(|bit| by.contains_key(bit)) && saves(network, &by, before);
    // What comes in place of a node must not die with another.
    bits.iter().for_each(|&bit| network.nodes[bit as usize].readers += 1);
    for (&node, &bit) in by.iter().filter(|_| worth) {
        if network.is_alive(node) {
            network.replace(node, bit);
        }
    }
    for &bit in &bits {
        network.nodes[bit as usize].readers -= 1;
        network.bury(bit);
    }
    (before as u32..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
    worth
}

/// Whether more ANDs die with these nodes than were built for what comes in their place.
fn saves(network: &mut Network<'_>, by: &BTreeMap<u32, Bit>, before: usize) -> bool {
    let ends: Vec<u32> = by.iter().flat_map(|(&node, bit)| [node, bit.node()]).collect();
    ends.iter().for_each(|&end| network.nodes[end as usize].readers += 1);
    let (mut freed, mut dead) = (0, Vec::new());
    for &node in by.keys() {
        let mut dying = Vec::new();
        freed += die(network, node, &mut dying);
        dead.extend(dying);
    }
    revive(network, &dead);
    ends.iter().for_each(|&end| network.nodes[end as usize].readers -= 1);
    freed > network.nodes[before..].iter().filter(|node| node.kind == Kind::And).count()
}

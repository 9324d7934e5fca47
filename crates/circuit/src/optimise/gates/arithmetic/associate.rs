//! ANDs of three nodes that read the AND of two of them, where that is there: else what reads a selection may not read its
//! node, but the two ANDs of which that is made.

use super::super::network::{Kind, Network};
use crate::graph::{Bit, Circuit};

/// Passes: what is read now may be part of another AND of three.
const PASSES: usize = 4;

/// The circuit in which (p·s)·y reads y·p if there is such a node.
pub fn associated(circuit: &Circuit) -> Option<Circuit> {
    let mut associated = None;
    for _ in 0..PASSES {
        let mut network = Network::read(associated.as_ref().unwrap_or(circuit));
        let nodes = 1..network.nodes.len() as u32;
        let changes = nodes.filter(|&node| associate(&mut network, node).is_some()).count();
        if changes == 0 {
            break;
        }
        associated = Some(network.write()?);
    }
    associated
}

fn associate(network: &mut Network<'_>, node: u32) -> Option<()> {
    if network.nodes[node as usize].kind != Kind::And {
        return None;
    }
    let [a, b] = network.nodes[node as usize].operands;
    let (pair, last) = [(a, b), (b, a)].into_iter().find_map(|(pair, last)| shared(network, node, pair, last))?;
    let made = network.and(pair, last);
    (made.node() != node).then(|| network.replace(node, made))
}

/// The AND of `last` and one operand of the AND `pair`, if it comes before the node, and the other operand.
fn shared(network: &Network<'_>, node: u32, pair: Bit, last: Bit) -> Option<(Bit, Bit)> {
    let of = &network.nodes[pair.node() as usize];
    if pair.complemented() || of.kind != Kind::And {
        return None;
    }
    let [p, s] = of.operands;
    [(p, s), (s, p)].into_iter().find_map(|(p, s)| {
        let print = network.and_print(network.print_of(last), network.print_of(p));
        let found = network.find(print).filter(|found| found.node() < node && found.node() != pair.node())?;
        Some((found, s))
    })
}

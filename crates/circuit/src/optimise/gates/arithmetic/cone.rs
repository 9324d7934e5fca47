//! What a node is computed from, evaluated in any domain: on samples, as diagrams, as gates.

use super::super::network::{Kind, Network};
use super::super::proof;
use crate::graph::Bit;
use rustc_hash::FxHashMap;

/// Nodes with numbers of their own: first leaves, then gates, each after its operands. The last is what they are for.
pub struct Cone {
    pub nodes: Vec<u32>,
    pub leaves: usize,
    /// Kinds and operands, by numbers of this cone.
    gates: Vec<(Kind, [Bit; 2])>,
}

impl Cone {
    /// The cone of a node, down to leaves where it has too many nodes.
    pub fn of(network: &Network<'_>, node: u32, most: usize) -> Self {
        let (inside, mut nodes) = proof::cone(network, [node].into_iter(), u64::from, most);
        let leaves = nodes.len();
        nodes.extend(inside);
        let numbers: FxHashMap<u32, u32> = nodes.iter().copied().zip(0..).collect();
        let gate = |&node: &u32| {
            let of = &network.nodes[node as usize];
            (of.kind, of.operands.map(|bit| Bit::new(numbers[&bit.node()], bit.complemented())))
        };
        let gates = nodes[leaves..].iter().map(gate).collect();
        Cone { nodes, leaves, gates }
    }

    /// The operands of all gates.
    pub fn operands(&self) -> impl Iterator<Item = [Bit; 2]> {
        self.gates.iter().map(|&(_, operands)| operands)
    }

    /// The operands of a gate.
    pub fn reads(&self, number: usize) -> [Bit; 2] {
        self.gates[number - self.leaves].1
    }

    /// A bit of the network by one of the cone.
    pub fn bit(&self, bit: Bit) -> Bit {
        Bit::new(self.nodes[bit.node() as usize], bit.complemented())
    }

    /// All values, by those that are given, which are at least the leaves', and the rule of a gate.
    pub fn values<T: Copy>(
        &self,
        mut given: impl FnMut(usize) -> Option<T>,
        mut gate: impl FnMut(Kind, [(T, bool); 2]) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        for number in 0..self.nodes.len() {
            let value = match given(number) {
                Some(value) => value,
                None => {
                    let (kind, operands) = *self.gates.get(number.checked_sub(self.leaves)?)?;
                    gate(kind, operands.map(|bit| (values[bit.node() as usize], bit.complemented())))?
                }
            };
            values.push(value);
        }
        Some(values)
    }
}

//! Which gate of a circuit under construction is the XOR or the AND of two nodes.

use crate::graph::Gate;

/// Numbers of gates, found by kind and operands. The operands stand with the gates alone, so that an entry takes four bytes.
#[derive(Default)]
pub(crate) struct GatesByOperands {
    /// Numbers of gates; zero, which is the constant, where there is none. A power of two of them, or none at all.
    entries: Vec<u32>,
    count: usize,
}

/// Entries of the smallest table.
const LEAST: usize = 64;

impl GatesByOperands {
    /// The gate among `gates` of the kind of `gate` that reads the same two nodes in the same order, complemented or not.
    pub fn find(&self, gate: Gate, gates: &[Gate]) -> Option<u32> {
        let key = Key::of(gate)?;
        let node = *self.entries.get(self.place(key, gates))?;
        (node != 0).then_some(node)
    }

    /// Adds the last one of `gates`, whose like is not there.
    pub fn add_last(&mut self, gates: &[Gate]) {
        if self.entries.len() * 3 / 4 <= self.count {
            self.grow(gates);
        }
        let node = gates.len() - 1;
        if let Some(key) = Key::of(gates[node]) {
            let place = self.place(key, gates);
            self.entries[place] = node as u32;
            self.count += 1;
        }
    }

    /// Where an entry is, or would be.
    fn place(&self, key: Key, gates: &[Gate]) -> usize {
        let mask = self.entries.len().wrapping_sub(1);
        let mut place = key.hash() as usize & mask;
        while let Some(&node) = self.entries.get(place)
            && node != 0
            && Key::of(gates[node as usize]) != Some(key)
        {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self, gates: &[Gate]) {
        let room = (2 * self.entries.len()).max(LEAST);
        let before = std::mem::replace(&mut self.entries, vec![0; room]);
        for node in before.into_iter().filter(|&node| node != 0) {
            let key = Key::of(gates[node as usize]).expect("an entry is a gate");
            let place = self.place(key, gates);
            self.entries[place] = node;
        }
    }
}

/// Kind and nodes of a gate.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    is_and: bool,
    nodes: [u32; 2],
}

impl Key {
    fn of(gate: Gate) -> Option<Key> {
        match gate {
            Gate::Xor(a, b) => Some(Key { is_and: false, nodes: [a.node(), b.node()] }),
            Gate::And(a, b) => Some(Key { is_and: true, nodes: [a.node(), b.node()] }),
            Gate::False | Gate::Input => None,
        }
    }

    /// The upper bits of a product, in which all bits of the nodes are mixed.
    fn hash(self) -> u32 {
        let [a, b] = self.nodes.map(u64::from);
        let word = (a << 32 | b << 1 | u64::from(self.is_and)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Bit;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// A hash map of kinds and nodes says the same of every gate.
        #[test]
        fn gates_are_found_as_in_a_map(
            pairs in prop::collection::vec((any::<bool>(), 1u32..40, 1u32..40, any::<bool>()), 0..600),
        ) {
            let (mut gates, mut table, mut map) = (vec![Gate::False], GatesByOperands::default(), HashMap::new());
            for (and, a, b, flip) in pairs {
                let gate = match and {
                    true => Gate::And(Bit::new(a, flip), Bit::new(b, false)),
                    false => Gate::Xor(Bit::new(a, false), Bit::new(b, false)),
                };
                prop_assert_eq!(table.find(gate, &gates), map.get(&(and, a, b)).copied());
                if map.contains_key(&(and, a, b)) {
                    continue;
                }
                map.insert((and, a, b), gates.len() as u32);
                gates.push(gate);
                table.add_last(&gates);
            }
        }
    }
}

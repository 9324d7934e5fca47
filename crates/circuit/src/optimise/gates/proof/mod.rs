//! Proofs that a node may be replaced, over what it is computed from, by a solver of satisfiability.
//!
//! Both sides are written as clauses over the same nodes below, the last ones first, up to a bound; what is not reached may
//! have any value. If no values make what is seen differ, the replacement changes nothing, whatever the inputs are. Other
//! answers are none: the replacement is refused, and values of inputs that tell the sides apart are tried from then on.

mod solver;

use super::network::{Kind, Network};
use crate::graph::Bit;
use rustc_hash::FxHashMap;
use solver::{Answer, Literal, Solver};
use std::collections::BinaryHeap;

/// What a proof may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub nodes: usize,
    pub conflicts: usize,
}

/// What has come of a proof.
pub enum Verdict {
    Proved,
    /// Values of some inputs with which the sides may differ.
    Refuted(Vec<(u32, bool)>),
    Open,
}

/// Clauses about nodes.
struct Clauses {
    solver: Solver,
    literals: FxHashMap<u32, Literal>,
}

/// Whether reading `bit` in place of `node` changes nothing that is seen of the nodes above, or the node itself if there are
/// none. `place` is the order of reading.
pub fn replaces(
    network: &Network<'_>,
    (node, bit): (u32, Bit),
    above: &[(u32, bool)],
    place: impl Fn(u32) -> u64,
    bounds: Bounds,
) -> Verdict {
    verdict(network, (node, bit), above, place, bounds, &[])
}

/// Whether a node is a bit of lower nodes, where of some bits it is known that never all are set.
pub fn equal_given(network: &Network<'_>, ends: (u32, Bit), never: &[Vec<Bit>], bounds: Bounds) -> Verdict {
    verdict(network, ends, &[], u64::from, bounds, never)
}

fn verdict(
    network: &Network<'_>,
    (node, bit): (u32, Bit),
    above: &[(u32, bool)],
    place: impl Fn(u32) -> u64,
    bounds: Bounds,
    never: &[Vec<Bit>],
) -> Verdict {
    // What those above read has a literal too, however low the bound.
    let operands = above.iter().flat_map(|&(above, _)| network.nodes[above as usize].operands.map(Bit::node));
    let tops = above.iter().map(|&(above, _)| above).chain(operands).chain([node, bit.node()]);
    let (inside, leaves) = cone(network, tops, place, bounds.nodes);
    let mut clauses = Clauses { solver: Solver::new(), literals: FxHashMap::default() };
    leaves.iter().for_each(|&leaf| clauses.leaf(leaf));
    inside.iter().for_each(|&node| clauses.gate(network, node));
    never.iter().for_each(|bits| clauses.never(bits));
    let differ = clauses.differences(network, (node, bit), above);
    clauses.solver.clause(&differ);
    match clauses.solver.solve(bounds.conflicts) {
        Answer::Never => Verdict::Proved,
        Answer::Unknown => Verdict::Open,
        Answer::Sometimes => {
            let inputs = leaves.iter().filter(|&&leaf| leaf > 0 && network.nodes[leaf as usize].kind == Kind::Leaf);
            Verdict::Refuted(inputs.map(|&input| (input, clauses.value(input))).collect())
        }
    }
}

/// The nodes that these are computed from, each after those that it reads, and leaves that those are functions of.
pub fn cone(
    network: &Network<'_>,
    tops: impl Iterator<Item = u32>,
    place: impl Fn(u32) -> u64,
    most: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut open: BinaryHeap<(u64, u32)> = tops.map(|top| (place(top), top)).collect();
    let (mut inside, mut leaves) = (Vec::new(), Vec::new());
    let mut last = None;
    while let Some((at, node)) = open.pop() {
        if last.replace(node) == Some(node) {
            continue;
        }
        if inside.len() >= most || network.nodes[node as usize].kind == Kind::Leaf {
            leaves.push(node);
            continue;
        }
        debug_assert!(network.nodes[node as usize].kind != Kind::Dead);
        inside.push(node);
        for below in network.nodes[node as usize].operands.map(Bit::node) {
            debug_assert!(place(below) < at);
            open.push((place(below), below));
        }
    }
    inside.reverse();
    (inside, leaves)
}

impl Clauses {
    fn leaf(&mut self, leaf: u32) {
        let literal = self.solver.variable();
        self.literals.insert(leaf, literal);
        if leaf == 0 {
            self.solver.clause(&[literal ^ 1]);
        }
    }

    fn literal(&self, bit: Bit) -> Literal {
        self.literals[&bit.node()] ^ u32::from(bit.complemented())
    }

    /// That not all of these are set, if all are there.
    fn never(&mut self, bits: &[Bit]) {
        if bits.iter().all(|bit| self.literals.contains_key(&bit.node())) {
            let clause: Vec<Literal> = bits.iter().map(|&bit| self.literal(bit) ^ 1).collect();
            self.solver.clause(&clause);
        }
    }

    fn value(&self, node: u32) -> bool {
        self.solver.value(self.literals[&node])
    }

    fn gate(&mut self, network: &Network<'_>, node: u32) {
        let operands = network.nodes[node as usize].operands.map(|bit| self.literal(bit));
        let literal = self.made(network.nodes[node as usize].kind, operands);
        self.literals.insert(node, literal);
    }

    fn made(&mut self, kind: Kind, [a, b]: [Literal; 2]) -> Literal {
        let y = self.solver.variable();
        match kind {
            Kind::And => self.solver.and(y, a, b),
            _ => self.solver.xor(y, a, b),
        }
        y
    }

    /// Of which one holds if a difference is seen.
    fn differences(&mut self, network: &Network<'_>, (node, bit): (u32, Bit), above: &[(u32, bool)]) -> Vec<Literal> {
        let mut other: FxHashMap<u32, Literal> = FxHashMap::default();
        other.insert(node, self.literal(bit));
        let mut pairs = Vec::new();
        if above.is_empty() {
            pairs.push([self.literals[&node], other[&node]]);
        }
        for &(at, seen) in above {
            let of = |bit: Bit| match other.get(&bit.node()) {
                Some(literal) => literal ^ u32::from(bit.complemented()),
                None => self.literal(bit),
            };
            let operands = network.nodes[at as usize].operands.map(of);
            let literal = self.made(network.nodes[at as usize].kind, operands);
            other.insert(at, literal);
            if seen {
                pairs.push([self.literals[&at], literal]);
            }
        }
        pairs.into_iter().map(|pair| self.made(Kind::Xor, pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::agree;
    use super::*;
    use crate::builder::Builder;
    use crate::graph::Circuit;
    use crate::words::Bits;

    const BOUNDS: Bounds = Bounds { nodes: 100, conflicts: 100 };

    /// (x·y)·(x ⊕ y ⊕ z), and that with z.
    fn circuit() -> Circuit {
        let mut c = Builder::new("circuit");
        let [x, y, z] = ["x", "y", "z"].map(|name| c.bits(name, 1).0[0]);
        let (both, sum) = (c.and(x, y), c.xor(x, y));
        let odd = c.xor(sum, z);
        let top = c.and(both, odd);
        let second = c.and(top, z);
        c.output("y", &Bits(vec![top, second]));
        c.finish()
    }

    fn is_proved(network: &Network<'_>, node: u32, bit: Bit, above: &[(u32, bool)], bounds: Bounds) -> bool {
        matches!(replaces(network, (node, bit), above, u64::from, bounds), Verdict::Proved)
    }

    /// The nodes of the circuit's ANDs.
    fn ands(network: &Network<'_>) -> Vec<u32> {
        (1..network.nodes.len() as u32).filter(|&node| network.nodes[node as usize].kind == Kind::And).collect()
    }

    /// Where x·y is set, x ⊕ y ⊕ z is z: over x, y and z that is proved, not over what they are computed to.
    #[test]
    fn what_leaves_never_take_counts_if_they_are_inputs() {
        let circuit = circuit();
        let network = Network::read(&circuit);
        let [_, top, second] = ands(&network)[..] else { panic!("three ANDs") };
        let [x, z] = [1, 3].map(|input| Bit::new(input, false));
        assert!(is_proved(&network, second, Bit::new(top, false), &[], BOUNDS));
        assert!(!is_proved(&network, second, Bit::new(top, false), &[], Bounds { nodes: 2, ..BOUNDS }));
        for wrong in [x, z, Bit::new(top, true), Bit::TRUE, Bit::FALSE] {
            let Verdict::Refuted(inputs) = replaces(&network, (second, wrong), &[], u64::from, BOUNDS) else {
                panic!("{wrong:?}")
            };
            let values = [1, 2, 3].map(|input| inputs.iter().any(|&(other, value)| other == input && value));
            let value = |bit: Bit| match bit.node() {
                0 => bit.complemented(),
                node @ 1..=3 => values[node as usize - 1],
                _ => circuit.evaluate(&values)[0] ^ bit.complemented(),
            };
            assert_ne!(circuit.evaluate(&values)[1], value(wrong), "{inputs:?} refute {wrong:?}");
        }
    }

    /// Values that are said not to be seen although they are: what such a proof allows is another circuit.
    #[test]
    fn what_is_not_seen_has_to_be_true() {
        let circuit = circuit();
        let mut network = Network::read(&circuit);
        let [both, top, second] = ands(&network)[..] else { panic!("three ANDs") };
        let x = Bit::new(1, false);
        let seen = [(top, true), (second, true)];
        assert!(!is_proved(&network, both, x, &seen, BOUNDS));
        let unseen = [(top, false), (second, false)];
        assert!(is_proved(&network, both, x, &unseen, BOUNDS));
        network.replace_within(both, x, &unseen);
        assert!(!agree(&circuit, &network.write().expect("no circle")));
    }
}

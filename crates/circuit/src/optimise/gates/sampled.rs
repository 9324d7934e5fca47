//! Resubstitution by samples: what a window's leaves never take together does not matter either.
//!
//! After Lee, Riener, Mishchenko, Brayton, De Micheli, *A simulation-guided paradigm for logic synthesis and verification*
//! (TCAD 2021), over XORs. Divisors are nodes near a node, whatever they are computed from, and their tables are values on
//! samples of the inputs; what is found by linear algebra holds on the samples, and is taken if a solver proves that
//! it holds for all inputs. What it refutes by inputs becomes a sample. That covers satisfiability don't-cares (values
//! that nodes never take together) and, where the node is read by few, observability don't-cares.

use super::network::{Kind, Network, Node};
use super::proof::{self, Bounds, Verdict};
use super::resubstitute::{Formula, build, formula};
use super::rewrite::{die_within, frees, gain, revive};
use super::samples::{Patterns, Samples, flipped, gate};
use super::window::{Table, and, xor};
use crate::graph::Bit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// Readers of a node that are looked at for divisors.
const MOST_READERS: usize = 16;
/// Nodes that die with a node, as far as they are looked at.
const MOST_DYING: usize = 64;
/// Proofs that fail before a pass ends, and how many more for each that does not.
const MOST_FAILED: [usize; 2] = [10_000, 500];

/// How far one goes for an AND.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The most divisors.
    pub divisors: usize,
    /// The most terms of all forms together.
    pub terms: u32,
    /// No node may come later than before.
    pub keep_depth: bool,
    /// The most nodes that are computed from a node and looked at to see where it matters.
    pub above: usize,
    /// Refuted replacements of a node.
    pub tries: usize,
    pub bounds: Bounds,
}

/// One pass over all nodes, each before those that read it; what replaces one reads none that is still to come.
pub fn resubstitute<const W: usize>(network: &mut Network<'_>, patterns: &mut Patterns<W>, rules: Rules) {
    let mut pass = Pass { samples: Samples::new(network, patterns), rules, failures_left: MOST_FAILED[0] };
    for node in 1..pass.samples.end() {
        if pass.failures_left == 0 {
            break;
        }
        if matches!(network.nodes[node as usize].kind, Kind::Xor | Kind::And) && frees(network, node, 1) {
            pass.node(network, node);
        }
    }
    network.closed = 0..0;
}

struct Pass<'p, const W: usize> {
    samples: Samples<'p, W>,
    rules: Rules,
    failures_left: usize,
}

/// What is computed from a node, and where it matters.
struct Around<const W: usize> {
    /// Each after those that it reads, and whether it is seen; none if the node itself is seen.
    above: Vec<(u32, bool)>,
    care: Table<W>,
}

/// What has come of a formula.
enum Outcome {
    Replaced,
    /// It does not hold; there is a sample that says so.
    Refuted,
    /// There is none, or it cannot be taken.
    Nothing,
}

impl<const W: usize> Pass<'_, W> {
    /// Tries to do without all ANDs that die with a node, then without the node alone.
    fn node(&mut self, network: &mut Network<'_>, node: u32) {
        network.closed = node..self.samples.end();
        // It may have been built for another one.
        if let Some(bit) = network.open(network.print[node as usize]) {
            return network.replace(node, bit);
        }
        for most in [MOST_DYING, 1] {
            let mut dying = Vec::new();
            let freed = die_within(network, node, &mut dying, usize::MAX, most);
            revive(network, &dying);
            if freed > 0 && self.without(network, node, &dying, freed) {
                break;
            }
        }
    }

    /// Whether a node was replaced by others than those that die.
    fn without(&mut self, network: &mut Network<'_>, node: u32, dying: &[u32], freed: usize) -> bool {
        let divisors = self.divisors(network, node, dying);
        let mut last = None;
        for _ in 0..self.rules.tries {
            let around = self.around(network, node);
            let masked = |node: u32| and(&self.samples.of(node), &around.care);
            let tables: Vec<Table<W>> = divisors.iter().map(|&divisor| masked(divisor)).collect();
            let Some(found) = formula(&tables, &masked(node), &around.care, freed, self.rules.terms) else { break };
            // What was refuted by values that the leaves of its proof never take is found again.
            if last.replace(found) == Some(found) {
                break;
            }
            match self.attempt(network, node, &divisors, &found, &around.above) {
                Outcome::Replaced => return true,
                Outcome::Refuted => {}
                Outcome::Nothing => break,
            }
        }
        false
    }

    /// Builds a formula, and takes it if that is worth while and it is proved.
    fn attempt(
        &mut self,
        network: &mut Network<'_>,
        node: u32,
        divisors: &[u32],
        formula: &Formula,
        above: &[(u32, bool)],
    ) -> Outcome {
        let before = network.nodes.len() as u32;
        let bit = build(network, divisors, formula);
        self.samples.enter(network, node);
        let depths = [bit.node(), node].map(|node| network.nodes[node as usize].depth);
        let late = self.rules.keep_depth && depths[0] > depths[1];
        let outcome = if late || gain(network, node, bit, &[], before) <= 0 {
            Outcome::Nothing
        } else {
            self.prove(network, node, bit, above)
        };
        (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
        outcome
    }

    fn prove(&mut self, network: &mut Network<'_>, node: u32, bit: Bit, above: &[(u32, bool)]) -> Outcome {
        self.failures_left = self.failures_left.saturating_sub(1);
        let place = |node| self.samples.place(node);
        match proof::replaces(network, (node, bit), above, place, self.rules.bounds) {
            Verdict::Proved => {
                self.failures_left += MOST_FAILED[1];
                network.replace_within(node, bit, above);
                above.iter().for_each(|&(above, _)| self.samples.update(network, above));
                Outcome::Replaced
            }
            Verdict::Refuted(inputs) => {
                self.samples.learn(network, &inputs);
                Outcome::Refuted
            }
            Verdict::Open => Outcome::Nothing,
        }
    }

    /// Nodes near a node that stay when it goes: half of them from below, the others read these.
    fn divisors(&self, network: &Network<'_>, node: u32, dying: &[u32]) -> Vec<u32> {
        let depth = if self.rules.keep_depth { network.nodes[node as usize].depth } else { u32::MAX };
        let may_be_read = |other: u32| {
            let gate = &network.nodes[other as usize];
            (other < node || other >= self.samples.end()) && gate.kind != Kind::Dead && gate.depth <= depth
        };
        let mut seen: FxHashSet<u32> = dying.iter().copied().chain([0]).collect();
        let (mut divisors, mut entered, mut queue) = (Vec::new(), FxHashSet::default(), VecDeque::from([node]));
        while let Some(at) = queue.pop_front()
            && divisors.len() < self.rules.divisors / 2
        {
            for below in network.nodes[at as usize].operands.map(Bit::node) {
                if below > 0 && entered.insert(below) {
                    queue.push_back(below);
                    if seen.insert(below) && may_be_read(below) {
                        divisors.push(below);
                    }
                }
            }
        }
        let mut at = 0;
        while at < divisors.len() && divisors.len() < self.rules.divisors {
            for reader in network.read_by(divisors[at]).take(MOST_READERS) {
                if may_be_read(reader) && seen.insert(reader) {
                    divisors.push(reader);
                }
            }
            at += 1;
        }
        divisors.truncate(self.rules.divisors);
        divisors
    }

    /// What is computed from a node, up to a bound, and where the node is seen in it.
    fn around(&self, network: &Network<'_>, node: u32) -> Around<W> {
        let changed = self.changed(network, node);
        let is_read_outside = |at: u32| {
            let inside = network.read_by(at).filter(|reader| changed.iter().any(|(above, _)| above == reader)).count();
            inside < network.nodes[at as usize].readers as usize
        };
        if is_read_outside(node) {
            return Around { above: Vec::new(), care: [u64::MAX; W] };
        }
        let above: Vec<(u32, bool)> = changed.iter().map(|&(at, _)| (at, is_read_outside(at))).collect();
        let mut care = [0; W];
        for ((at, table), _) in changed.iter().zip(&above).filter(|(_, (_, seen))| *seen) {
            let change = xor(table, &self.samples.of(*at));
            care = std::array::from_fn(|word| care[word] | change[word]);
        }
        Around { above, care }
    }

    /// The first nodes that are computed from a node, each after those that it reads, with their values if it is flipped.
    fn changed(&self, network: &Network<'_>, node: u32) -> Vec<(u32, Table<W>)> {
        let mut tables: FxHashMap<u32, Table<W>> = FxHashMap::default();
        tables.insert(node, self.samples.of(node).map(|word| !word));
        let (mut changed, mut open) = (Vec::new(), BTreeSet::from_iter(network.read_by(node)));
        while let Some(at) = open.pop_first()
            && changed.len() < self.rules.above
        {
            let Node { kind, operands, .. } = network.nodes[at as usize];
            let operands = operands.map(|bit| match tables.get(&bit.node()) {
                Some(table) => flipped(table, bit),
                None => flipped(&self.samples.of(bit.node()), bit),
            });
            let table = gate(kind, operands);
            tables.insert(at, table);
            changed.push((at, table));
            open.extend(network.read_by(at));
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::agree;
    use super::*;
    use crate::builder::Builder;
    use crate::graph::Circuit;
    use crate::words::Bits;
    use proptest::prelude::*;

    /// Random gates over few bits, so that many values never come together.
    fn random(inputs: u32, gates: &[(u8, u8, u8)]) -> Circuit {
        let mut c = Builder::new("random");
        let mut bits = c.bits("x", inputs).0;
        for &(a, b, what) in gates {
            let pick =
                |place: u8, flip: bool| bits[bits.len() - 1 - usize::from(place) % bits.len().min(12)].flip(flip);
            let (a, b) = (pick(a, what & 1 == 1), pick(b, what & 2 == 2));
            bits.push(if what & 12 == 12 { c.xor(a, b) } else { c.and(a, b) });
        }
        let last = bits.split_off(bits.len().saturating_sub(4));
        c.output("y", &Bits(last));
        c.finish()
    }

    fn rules(keep_depth: bool, above: usize, nodes: usize) -> Rules {
        Rules { divisors: 24, terms: 12, keep_depth, above, tries: 6, bounds: Bounds { nodes, conflicts: 50 } }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Whatever samples there are, and none that says anything: then all seems constant, and the proofs alone stand
        /// between that and the circuit.
        #[test]
        fn functions_are_kept(
            inputs in 2u32..9,
            gates in prop::collection::vec(any::<(u8, u8, u8)>(), 0..80),
            keep_depth: bool,
            above in prop::sample::select(vec![0, 3, 100]),
            nodes in prop::sample::select(vec![4, 20, 1000]),
            blind: bool,
        ) {
            let circuit = random(inputs, &gates);
            let mut patterns: Patterns<4> = Patterns::new(inputs as usize);
            if blind {
                patterns.spoil();
            }
            let mut network = Network::read(&circuit);
            resubstitute(&mut network, &mut patterns, rules(keep_depth, above, nodes));
            let made = network.write().expect("no circle");
            prop_assert!(agree(&circuit, &made));
            prop_assert!(made.and_count() <= circuit.and_count());
            prop_assert!(!keep_depth || made.depth() <= circuit.depth());
        }
    }

    /// x·y and x ⊕ y are never set together: their AND goes, and that of their complements is a sum.
    #[test]
    fn what_never_comes_together_does_not_matter() {
        let mut c = Builder::new("never");
        let x = c.bits("x", 12).0;
        let carries: Vec<Bit> = x.chunks(2).map(|pair| c.and(pair[0], pair[1])).collect();
        let sums: Vec<Bit> = x.chunks(2).map(|pair| c.xor(pair[0], pair[1])).collect();
        let all = |c: &mut Builder, bits: &[Bit]| bits.iter().fold(Bit::TRUE, |all, &bit| c.and(all, bit));
        let (high, low) = (all(&mut c, &carries), all(&mut c, &sums));
        let never = c.and(high, low);
        let either = c.and(!high, !low);
        c.output("y", &Bits(vec![never, either]));
        let circuit = c.finish();
        let mut network = Network::read(&circuit);
        resubstitute(&mut network, &mut Patterns::<4>::new(12), rules(false, 100, 1000));
        let made = network.write().expect("no circle");
        assert!(agree(&circuit, &made));
        assert_eq!((circuit.and_count(), made.and_count()), (17, 16));
    }
}

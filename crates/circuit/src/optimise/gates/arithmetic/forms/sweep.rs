//! Whether two circuits are equal, by nodes that are equal on the way (after Kuehlmann, Krohm, *Equivalence checking using
//! cuts and heaps*, DAC 1997).
//!
//! Both stand in one network, the first below the second. Each node of the second that has the values of one below it on
//! samples is proved to be that one, by fingerprints or the solver, and replaced by it, so that the proofs of those above are
//! short again. Where that does not prove all outputs, decision diagrams of both are compared, if they are small.

use super::super::super::network::{Kind, Network};
use super::super::super::prints::Print;
use super::super::super::proof::{Bounds, Verdict, equal_given};
use super::super::super::samples::{Patterns, Samples};
use super::super::super::window::Table;
use super::super::diagrams::{Diagram, Diagrams};
use super::replica::{Replica, WORDS};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;
use rustc_hash::{FxHashMap, FxHashSet};

/// How far proofs go, and how many may fail.
const BOUNDS: [(Bounds, usize); 3] = [
    (Bounds { nodes: 40, conflicts: 100 }, usize::MAX),
    (Bounds { nodes: 300, conflicts: 1_000 }, 400),
    (Bounds { nodes: 2_000, conflicts: 3_000 }, 16),
];
/// Nodes with the same values on samples that are told apart.
const MOST_LOWER: usize = 12;
/// Samples that are taken up for a node, and in all.
const MOST_LEARNT: [usize; 2] = [3, 250];
/// The most nodes of diagrams.
const MOST_DIAGRAMS: usize = 400_000;

/// Whether the digits of a replica are the outputs of a circuit of the same inputs. Diagrams have the inputs in this order, if
/// one is given.
pub fn equal(replica: &Replica, other: &Circuit, order: Option<&[usize]>) -> bool {
    let Some(both) = joined(other, &replica.circuit) else { return false };
    let width = other.output_width();
    let mut network = Network::read(&both);
    let of = |clause: &Vec<usize>| clause.iter().map(|&output| network.outputs[width + output]).collect();
    let never: Vec<Vec<Bit>> = replica.never.iter().map(of).collect();
    if replica.is_near {
        sweep(&mut network, width, &never);
    }
    let Some(swept) = network.write() else { return false };
    let (right, left) = swept.output_bits().split_at(width);
    left[..width] == *right || order.is_some_and(|order| equal_diagrams(&swept, width, order))
}

/// Both circuits, the gates of the second before those of the first.
fn joined(first: &Circuit, second: &Circuit) -> Option<Circuit> {
    let mut c = Builder::new("both");
    let inputs: Vec<Bit> = first.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let below = c.append(second, &inputs);
    let above = c.append(first, &inputs);
    c.output("above", &Bits(above));
    c.output("below", &Bits(below));
    c.try_finish().ok()
}

/// Replaces nodes by those below that are equal, until one of the first `outputs` is not found to be one.
fn sweep(network: &mut Network<'_>, outputs: usize, never: &[Vec<Bit>]) {
    let seen: FxHashSet<u32> = network.outputs[..outputs].iter().map(|bit| bit.node()).collect();
    let below = network.outputs[outputs..].iter().map(|bit| bit.node()).max().unwrap_or(0);
    let mut patterns = Patterns::<WORDS>::graded(network.inputs().len());
    let mut samples = Samples::new(network, &mut patterns);
    let mut sweep = Sweep {
        never,
        prints: network.print.clone(),
        by_print: FxHashMap::default(),
        by_values: FxHashMap::default(),
        entered: Vec::new(),
        failed: [0; 3],
        learnt: 0,
    };
    for node in 0..samples.end() {
        if network.nodes[node as usize].kind == Kind::Dead {
            continue;
        }
        if let Some(bit) = sweep.enter(network, &mut samples, node) {
            network.replace(node, bit);
        } else if node > below && seen.contains(&node) {
            break;
        }
    }
}

/// What has come of proofs.
enum Outcome {
    Equal(Bit),
    /// Inputs that may tell a node from another.
    Inputs(Vec<(u32, bool)>),
    None,
}

struct Sweep<'a> {
    /// Bits of which not all are set.
    never: &'a [Vec<Bit>],
    /// Of each node by those of its operands as they are now.
    prints: Vec<Print>,
    by_print: FxHashMap<Print, Bit>,
    /// The lowest nodes with values, but for complements.
    by_values: FxHashMap<Table<WORDS>, Vec<Bit>>,
    /// All nodes that were not replaced.
    entered: Vec<u32>,
    /// Proofs that failed, by their bounds.
    failed: [usize; 3],
    /// How many samples were taken up.
    learnt: usize,
}

impl Sweep<'_> {
    /// What a node may be replaced by; else it is entered.
    fn enter(&mut self, network: &Network<'_>, samples: &mut Samples<'_, WORDS>, node: u32) -> Option<Bit> {
        let print = self.print(network, node);
        self.prints[node as usize] = print;
        let known = self.by_print.get(&(print & !1)).filter(|bit| network.is_alive(bit.node()));
        if let Some(&bit) = known {
            return Some(bit.flip(print & 1 == 1));
        }
        for attempt in 0.. {
            let lower = self.lower(network, samples, node);
            match self.proved(network, node, &lower, attempt < MOST_LEARNT[0]) {
                Outcome::Equal(bit) => {
                    self.prints[node as usize] = self.prints[bit.node() as usize] ^ Print::from(bit.complemented());
                    return Some(bit);
                }
                Outcome::Inputs(inputs) => self.learn(network, samples, &inputs),
                Outcome::None => break,
            }
        }
        self.by_print.insert(print & !1, Bit::new(node, print & 1 == 1));
        self.entered.push(node);
        self.enter_values(samples, node);
        None
    }

    fn enter_values(&mut self, samples: &Samples<'_, WORDS>, node: u32) {
        let (key, flip) = canonical(samples, node);
        let lower = self.by_values.entry(key).or_default();
        if lower.len() < MOST_LOWER {
            lower.push(Bit::new(node, flip));
        }
    }

    /// The lower nodes with the values of a node.
    fn lower(&self, network: &Network<'_>, samples: &Samples<'_, WORDS>, node: u32) -> Vec<Bit> {
        let (key, flip) = canonical(samples, node);
        let lower = self.by_values.get(&key).into_iter().flatten();
        lower.filter(|bit| network.is_alive(bit.node())).map(|bit| bit.flip(flip)).collect()
    }

    /// Takes up a sample, by which values differ that did not.
    fn learn(&mut self, network: &Network<'_>, samples: &mut Samples<'_, WORDS>, inputs: &[(u32, bool)]) {
        self.learnt += 1;
        samples.learn(network, inputs);
        self.by_values.clear();
        for node in std::mem::take(&mut self.entered) {
            if network.is_alive(node) {
                self.entered.push(node);
                self.enter_values(samples, node);
            }
        }
    }

    fn print(&self, network: &Network<'_>, node: u32) -> Print {
        let of = &network.nodes[node as usize];
        let [a, b] = of.operands.map(|bit| self.prints[bit.node() as usize] ^ Print::from(bit.complemented()));
        match of.kind {
            Kind::And => network.and_print(a, b),
            Kind::Xor => a ^ b,
            Kind::Leaf | Kind::Dead => self.prints[node as usize],
        }
    }

    /// Which of these a node is proved to be, or, if samples may be taken up, one that tells it from one of them.
    fn proved(&mut self, network: &Network<'_>, node: u32, lower: &[Bit], learns: bool) -> Outcome {
        let learns = learns && self.learnt < MOST_LEARNT[1];
        for (failed, (bounds, most)) in self.failed.iter_mut().zip(BOUNDS) {
            for &bit in lower {
                if *failed >= most {
                    return Outcome::None;
                }
                match equal_given(network, (node, bit), self.never, bounds) {
                    Verdict::Proved => return Outcome::Equal(bit),
                    Verdict::Refuted(inputs) if learns && !inputs.is_empty() => return Outcome::Inputs(inputs),
                    Verdict::Refuted(_) | Verdict::Open => *failed += 1,
                }
            }
        }
        Outcome::None
    }
}

/// The values of a node or of its complement, and whether it is that.
fn canonical(samples: &Samples<'_, WORDS>, node: u32) -> (Table<WORDS>, bool) {
    let values = samples.of(node);
    let flip = values[0] & 1 == 1;
    (values.map(|word| word ^ u64::from(flip).wrapping_neg()), flip)
}

/// Whether the first outputs are the others, by diagrams over the inputs in this order.
fn equal_diagrams(both: &Circuit, outputs: usize, order: &[usize]) -> bool {
    let network = Network::read(both);
    let mut diagrams = Diagrams::new();
    diagrams.limit(MOST_DIAGRAMS);
    let Some(made) = diagrams_of(&network, &mut diagrams, order) else { return false };
    let mut of = |bit: Bit| literal(&mut diagrams, &made, bit);
    let (right, left) = network.outputs.split_at(outputs);
    left.iter().zip(right).all(|(&left, &right)| of(left).is_some_and(|left| of(right) == Some(left)))
}

fn literal(diagrams: &mut Diagrams, made: &[Diagram], bit: Bit) -> Option<Diagram> {
    let of = made[bit.node() as usize];
    if bit.complemented() { diagrams.not(of) } else { Some(of) }
}

fn diagrams_of(network: &Network<'_>, diagrams: &mut Diagrams, order: &[usize]) -> Option<Vec<Diagram>> {
    let mut made = vec![Diagram::FALSE; network.nodes.len()];
    for (variable, &input) in (0..).zip(order) {
        made[network.inputs().start as usize + input] = diagrams.variable(variable)?;
    }
    for node in network.inputs().end as usize..network.nodes.len() {
        let of = &network.nodes[node];
        if matches!(of.kind, Kind::And | Kind::Xor) {
            let [a, b] = of.operands;
            let operands = [literal(diagrams, &made, a)?, literal(diagrams, &made, b)?];
            made[node] = diagrams.gate(of.kind, operands)?;
        }
    }
    Some(made)
}

//! Whether two circuits are equal, by nodes that are equal on the way (after Kuehlmann, Krohm, *Equivalence checking using
//! cuts and heaps*, DAC 1997).
//!
//! Both stand in one network, the first below the second. Each node of the second that has the values of one below it on
//! samples is proved to be that one, by fingerprints or the solver, and replaced by it, so that the proofs of those above are
//! short again. Where that does not prove all outputs, decision diagrams of both are compared, if they are small.

use super::super::super::network::{Kind, Network};
use super::super::super::prints::Print;
use super::super::super::proof::{Bounds, Verdict, replaces};
use super::super::super::samples::{Patterns, Samples};
use super::super::super::window::Table;
use super::super::diagrams::{Diagram, Diagrams};
use super::replica::WORDS;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;
use rustc_hash::{FxHashMap, FxHashSet};

/// How far proofs go, and how many may fail.
const BOUNDS: [(Bounds, usize); 3] = [
    (Bounds { nodes: 40, conflicts: 100 }, usize::MAX),
    (Bounds { nodes: 300, conflicts: 1_000 }, 200),
    (Bounds { nodes: 2_000, conflicts: 3_000 }, 10),
];
/// The most nodes of diagrams.
const MOST_DIAGRAMS: usize = 400_000;

/// Whether two circuits of the same inputs have the same outputs. Diagrams have the inputs in this order, if one is given.
pub fn equal(one: &Circuit, other: &Circuit, order: Option<&[usize]>) -> bool {
    let Some(both) = joined(one, other) else { return false };
    let mut network = Network::read(&both);
    let t = std::time::Instant::now();
    sweep(&mut network, one.output_width());
    eprintln!("DBG sweep {:?}", t.elapsed());
    let Some(swept) = network.write() else { return false };
    let (left, right) = swept.output_bits().split_at(one.output_width());
    eprintln!("DBG {} of {} digits", left.iter().zip(right).filter(|(a, b)| a == b).count(), left.len());
    left == right || order.is_some_and(|order| equal_diagrams(&swept, one.output_width(), order))
}

/// Both circuits, the gates of the first before those of the second.
fn joined(one: &Circuit, other: &Circuit) -> Option<Circuit> {
    let mut c = Builder::new("both");
    let inputs: Vec<Bit> = one.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    for (name, circuit) in [("one", one), ("other", other)] {
        let outputs = c.append(circuit, &inputs);
        c.output(name, &Bits(outputs));
    }
    c.try_finish().ok()
}

/// Replaces nodes by those below that are equal, until an output is not found to be one of the first `outputs`.
fn sweep(network: &mut Network<'_>, outputs: usize) {
    let seen: FxHashSet<u32> = network.outputs[outputs..].iter().map(|bit| bit.node()).collect();
    let below = network.outputs[..outputs].iter().map(|bit| bit.node()).max().unwrap_or(0);
    let mut patterns = Patterns::<WORDS>::new(network.inputs().len());
    let samples = Samples::new(network, &mut patterns);
    let mut sweep = Sweep { prints: network.print.clone(), by_print: FxHashMap::default(), by_values: FxHashMap::default(), failed: [0; 3] };
    for node in 0..samples.end() {
        if network.nodes[node as usize].kind == Kind::Dead {
            continue;
        }
        if let Some(bit) = sweep.enter(network, &samples, node) {
            network.replace(node, bit);
        } else if node > below && seen.contains(&node) {
            break;
        }
    }
    eprintln!("DBG failed {:?}", sweep.failed);
}

struct Sweep {
    /// Of each node by those of its operands as they are now.
    prints: Vec<Print>,
    by_print: FxHashMap<Print, Bit>,
    /// The lowest node with values, but for complements.
    by_values: FxHashMap<Table<WORDS>, Bit>,
    /// Proofs that failed, by their bounds.
    failed: [usize; 3],
}

impl Sweep {
    /// What a node may be replaced by; else it is entered.
    fn enter(&mut self, network: &Network<'_>, samples: &Samples<'_, WORDS>, node: u32) -> Option<Bit> {
        let print = self.print(network, node);
        let alive = |bit: &&Bit| network.is_alive(bit.node());
        if let Some(&bit) = self.by_print.get(&(print & !1)).filter(alive) {
            self.prints[node as usize] = print;
            return Some(bit.flip(print & 1 == 1));
        }
        let values = samples.of(node);
        let flip = values[0] & 1 == 1;
        let key = values.map(|word| word ^ u64::from(flip).wrapping_neg());
        let known = self.by_values.get(&key).filter(alive).map(|bit| bit.flip(flip));
        if let Some(bit) = known.filter(|&bit| self.proved(network, node, bit)) {
            self.prints[node as usize] = self.prints[bit.node() as usize] ^ Print::from(bit.complemented());
            return Some(bit);
        }
        self.prints[node as usize] = print;
        self.by_print.insert(print & !1, Bit::new(node, print & 1 == 1));
        let lowest = self.by_values.entry(key).or_insert(Bit::new(node, flip));
        if !network.is_alive(lowest.node()) {
            *lowest = Bit::new(node, flip);
        }
        None
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

    fn proved(&mut self, network: &Network<'_>, node: u32, bit: Bit) -> bool {
        for (failed, (bounds, most)) in self.failed.iter_mut().zip(BOUNDS) {
            if *failed >= most {
                return false;
            }
            match replaces(network, (node, bit), &[], u64::from, bounds) {
                Verdict::Proved => return true,
                Verdict::Refuted(_) | Verdict::Open => *failed += 1,
            }
        }
        false
    }
}

/// Whether the first outputs are the others, by diagrams over the inputs in this order.
fn equal_diagrams(both: &Circuit, outputs: usize, order: &[usize]) -> bool {
    let network = Network::read(both);
    let mut diagrams = Diagrams::new();
    diagrams.limit(MOST_DIAGRAMS);
    let Some(made) = diagrams_of(&network, &mut diagrams, order) else { return false };
    let mut of = |bit: Bit| literal(&mut diagrams, &made, bit);
    let (left, right) = network.outputs.split_at(outputs);
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

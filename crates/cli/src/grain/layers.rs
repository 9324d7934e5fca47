//! The layers of a circuit, from its plan.

use super::times::{Kind, Times};
use duologue::circuit::Plan;
use duologue::circuit::plan::{Op, Operand};
use std::sync::Arc;

/// The layers of a plan in their order, and the plan.
pub(super) struct Layers {
    layers: Vec<(Kind, u64)>,
    plan: Arc<Plan>,
}

impl Layers {
    /// The layers of a plan whose order is [layered](duologue::circuit::Order::Layered).
    pub fn new(plan: &Arc<Plan>) -> Layers {
        let mut layers = Vec::new();
        let mut locals = Locals::new(plan.slots());
        for run in plan.code().runs(0..plan.code().len()) {
            if run.op == Op::And {
                layers.extend(locals.take());
                layers.push((Kind::And, run.gates.len() as u64));
            } else {
                run.gates.iter().for_each(|&gate| locals.add(run.op, gate));
            }
        }
        layers.extend(locals.take());
        Layers { layers, plan: plan.clone() }
    }

    /// The gates of the layers of one kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = u64> {
        self.layers.iter().filter(move |layer| layer.0 == kind).map(|layer| layer.1)
    }

    /// Nanoseconds for all layers over so many lanes.
    pub fn time(&self, lanes: u64, cores: u32, times: &Times) -> f64 {
        self.layers.iter().map(|&(kind, gates)| times.layer(kind, gates * lanes, cores).1).sum()
    }

    /// Nanoseconds that one core would take for those that several share.
    pub fn shared(&self, lanes: u64, cores: u32, times: &Times) -> f64 {
        let shared = self.layers.iter().filter(|&&(kind, gates)| times.layer(kind, gates * lanes, cores).0 > 1);
        shared.fold(0.0, |sum, &(kind, gates)| sum + times.shared(kind, gates * lanes, 1))
    }

    /// Nanoseconds that the longest chain of gates takes on one lane.
    pub fn longest(&self, times: &Times) -> f64 {
        let mut done = vec![0.0f64; self.plan.slots()];
        let mut longest = 0.0f64;
        let code = self.plan.code();
        for run in code.runs(0..code.len()) {
            let time = times.shared(if run.op == Op::And { Kind::And } else { Kind::Xor }, 1, 1);
            for &[dst, a, b] in run.gates {
                let ready = operands(run.op, [a, b]).map(|slot| done[slot]).fold(0.0, f64::max);
                done[dst as usize] = ready + time;
                longest = longest.max(ready + time);
            }
        }
        longest
    }
}

/// The slots that a gate reads: of one with a public operand only the first is a slot.
fn operands(op: Op, operands: [u32; 2]) -> impl Iterator<Item = usize> {
    let slots = if matches!(op, Op::And | Op::Xor) { 2 } else { 1 };
    operands.into_iter().take(slots).map(|operand| Operand::of(operand).slot())
}

/// Gates that are no ANDs, between two layers of ANDs.
struct Locals {
    /// How many are so far from the ANDs before.
    layers: Vec<u64>,
    /// Of each slot the turn in which it was written last, and how far from the ANDs before its value is.
    places: Vec<[usize; 2]>,
    turn: usize,
}

impl Locals {
    fn new(slots: usize) -> Locals {
        Locals { layers: Vec::new(), places: vec![[0; 2]; slots], turn: 1 }
    }

    fn add(&mut self, op: Op, [dst, a, b]: [u32; 3]) {
        let place = |slot: usize| if self.places[slot][0] == self.turn { self.places[slot][1] + 1 } else { 0 };
        let place = operands(op, [a, b]).map(place).max().unwrap_or(0);
        self.layers.resize(self.layers.len().max(place + 1), 0);
        self.layers[place] += 1;
        self.places[dst as usize] = [self.turn, place];
    }

    /// The layers until now; ANDs follow.
    fn take(&mut self) -> Vec<(Kind, u64)> {
        self.turn += 1;
        std::mem::take(&mut self.layers).into_iter().map(|gates| (Kind::Xor, gates)).collect()
    }
}

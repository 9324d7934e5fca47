//! Dividers and square roots become our blocks.
//!
//! Whatever way their rows are made of gates, there are nodes that are the digits of the quotient or the root, and most bits of
//! the remainder after each step, perhaps several times: they are found by samples of a recurrence (`recurrences.rs`) over
//! words of the circuit. The proof goes from step to step, by decision diagrams over what comes into a step, as variables:
//! each bit of the remainder before it, of the divisor or the root so far, and of the number. A node is a digit or bit of the
//! step if it has its diagram wherever the invariant of the recurrence holds. Nodes that are proved are variables of the next
//! step, so that all is proved from the words up; samples alone prove nothing. A row that has been merged with the next has
//! no nodes for some bits, so that a step that is not proved alone is tried together with those before it.
//!
//! All nodes of digits and of the last remainder are read from our block instead, if that saves an AND.

use super::super::network::{Kind, Network};
use super::super::samples::{Patterns, flipped, lanes, simulated};
use super::super::window::{Table, and};
use super::associate::associated;
use super::block::import;
use super::diagrams::{Diagram, Diagrams};
use super::exchange::exchange;
use super::operands;
use super::recurrences::{Recurrence, Sampled, State};
use crate::graph::{Bit, Circuit};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Words of samples.
const WORDS: usize = 16;
/// The most that are replaced at once.
const MOST_DIVIDERS: usize = 16;
type Values = Table<WORDS>;
/// Nodes that are tried for a digit or a bit.
const MOST_TRIES: usize = 64;
/// Steps that are tried together.
const MOST_TOGETHER: usize = 3;
/// The most nodes of diagrams in a step, whatever the number of steps, and in all.
const MOST_DIAGRAMS: usize = 2_000_000;
const MOST_DIAGRAMS_IN_ALL: usize = 60_000_000;
/// Nodes of diagrams that there may be anyway, and more for a step and for a function, by the square of the number of steps.
const FEWEST_DIAGRAMS: usize = 20_000;
const DIAGRAMS_OF_STEP: usize = 400;
const DIAGRAMS_OF_FUNCTION: usize = 100;
/// The most nodes that are looked at for a function, and for a bit that may be clear but for a divisor of zero.
const MOST_VISITS: usize = 20_000;
const MOST_VISITS_BY_ZERO: usize = 500;

/// The circuit with our blocks for the quotients and square roots that it has.
pub fn rebuilt(circuit: &Circuit) -> Option<Circuit> {
    let (mut best, mut left) = (None, MOST_DIAGRAMS_IN_ALL);
    for _ in 0..MOST_DIVIDERS {
        match once(best.as_ref().unwrap_or(circuit), &mut left) {
            Some(better) => best = Some(better),
            None => break,
        }
    }
    best
}

/// The circuit with one more, while there are diagrams left.
fn once(circuit: &Circuit, left: &mut usize) -> Option<Circuit> {
    let associated = associated(circuit);
    let circuit = associated.as_ref().unwrap_or(circuit);
    let mut network = Network::read(circuit);
    for recurrence in operands::recurrences(circuit) {
        if *left > 0 && replace(&mut network, &recurrence, left) {
            match network.write() {
                // A word may be computed from what was replaced.
                None => network = Network::read(circuit),
                made => return made,
            }
        }
    }
    None
}

fn replace(network: &mut Network<'_>, recurrence: &Recurrence, left: &mut usize) -> bool {
    let known = Search::new(network, recurrence, left).known();
    let Some(steps) = known.iter().rposition(|step| !step.digit.is_empty()) else { return false };
    let before = network.nodes.len();
    // The block must not read what it replaces.
    network.closed = network.inputs().end..before as u32;
    let (digits, remainder) = import(network, recurrence, steps + 1);
    network.closed = 0..0;
    let mut by = BTreeMap::new();
    let mut enter = |nodes: &[Bit], bit: Bit| {
        by.extend(nodes.iter().map(|known| (known.node(), bit.flip(known.complemented()))));
    };
    known.iter().zip(digits).for_each(|(step, digit)| enter(&step.digit, digit));
    known[steps].remainder.iter().zip(remainder).for_each(|(nodes, bit)| enter(nodes, bit));
    exchange(network, by, before)
}

/// Bits that are a step's digit, and those that are each bit of the remainder after it.
#[derive(Default)]
struct Known {
    digit: Vec<Bit>,
    remainder: Vec<Vec<Bit>>,
}

/// Looks for nodes that are what a recurrence says.
struct Search<'a, 'b> {
    network: &'a Network<'b>,
    recurrence: &'a Recurrence,
    values: Vec<Values>,
    /// Nodes by their values, or the complement that is false on the first lane.
    nodes: FxHashMap<Values, Vec<u32>>,
    known: Vec<Known>,
    /// Bits that are those of the number if the divisor is zero, and else false.
    by_zero: Vec<Vec<Bit>>,
    /// Nodes of diagrams that there may still be.
    left: &'a mut usize,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(network: &'a Network<'b>, recurrence: &'a Recurrence, left: &'a mut usize) -> Self {
        let values = sampled(network, recurrence);
        let mut nodes: FxHashMap<Values, Vec<u32>> = FxHashMap::default();
        let words = recurrence.number.iter().chain(recurrence.divisor.iter().flatten());
        let words: FxHashSet<usize> = words.map(|bit| bit.node() as usize).collect();
        for (node, values) in values.iter().enumerate() {
            if matches!(network.nodes[node].kind, Kind::And | Kind::Xor) && !words.contains(&node) {
                nodes.entry(plain(values)).or_default().push(node as u32);
            }
        }
        Search {
            network,
            recurrence,
            values,
            nodes,
            known: Vec::new(),
            by_zero: vec![Vec::new(); recurrence.number.len()],
            left,
        }
    }

    /// Gates with these values, or their complements.
    fn bits(&self, values: &Values) -> Vec<Bit> {
        let nodes = self.nodes.get(&plain(values)).into_iter().flatten();
        nodes.map(|&node| Bit::new(node, (self.values[node as usize][0] ^ values[0]) & 1 == 1)).collect()
    }

    /// What is known of each step, up to the first of which nothing is.
    fn known(mut self) -> Vec<Known> {
        let of = |bit: &Bit| flipped(&self.values[bit.node() as usize], *bit);
        let number: Vec<Values> = self.recurrence.number.iter().map(of).collect();
        let by = self.recurrence.divisor.iter().flatten().map(of).collect();
        let mut state = State { remainder: Vec::new(), by };
        let zero = self.recurrence.by_zero(&mut Sampled::<WORDS>, &state).expect("samples take little");
        let by_zero = number.iter().filter_map(|bit| Some(and(bit, &zero?))).collect::<Vec<_>>();
        for step in 0..self.recurrence.steps() {
            let taken = &number[self.recurrence.takes(step)];
            let (digit, after) =
                self.recurrence.step(&mut Sampled::<WORDS>, &state, taken).expect("samples take little");
            state = after;
            let known = self.step(step, &digit, &state.remainder, &by_zero);
            if known.digit.is_empty() && known.remainder.iter().all(Vec::is_empty) || *self.left == 0 {
                break;
            }
            self.known.push(known);
        }
        self.known
    }

    /// Nodes that are proved to be what a step gives, by what it gives on the samples.
    fn step(&mut self, step: usize, digit: &Values, remainder: &[Values], by_zero: &[Values]) -> Known {
        let mut known = Known { digit: Vec::new(), remainder: vec![Vec::new(); remainder.len()] };
        for together in 1..=MOST_TOGETHER.min(step + 1) {
            let Some(mut proof) = Proof::new(self, step, together) else { break };
            let mut open = proof.add(self, digit, proof.digit, &mut known.digit);
            for (i, values) in remainder.iter().enumerate() {
                open |= proof.add(self, values, proof.remainder[i], &mut known.remainder[i]);
            }
            let taken = self.recurrence.takes(step).start..by_zero.len();
            let more: Vec<_> = taken.map(|place| (place, proof.by_zero(self, &by_zero[place], place))).collect();
            more.into_iter().for_each(|(place, bits)| self.by_zero[place].extend(bits));
            *self.left = self.left.saturating_sub(proof.diagrams.count());
            if !open || *self.left == 0 {
                break;
            }
        }
        known
    }
}

/// Diagrams over what comes into a step, or into several.
struct Proof<'a, 'b> {
    network: &'a Network<'b>,
    diagrams: Diagrams,
    variables: u32,
    steps: usize,
    visits_left: usize,
    /// Of nodes, those that are known first; nothing if one takes too much, or is computed from what came before.
    of: FxHashMap<u32, Option<Diagram>>,
    /// Where it counts.
    invariant: Diagram,
    digit: Diagram,
    remainder: Vec<Diagram>,
    /// The bits of the number that have been taken up, if the divisor is zero; by their places.
    by_zero: Vec<Option<Diagram>>,
}

impl<'a, 'b> Proof<'a, 'b> {
    /// Of so many steps together, the last of which is this.
    fn new(search: &Search<'a, 'b>, step: usize, together: usize) -> Option<Self> {
        let recurrence = search.recurrence;
        let mut proof = Proof {
            network: search.network,
            diagrams: Diagrams::new(),
            variables: 0,
            steps: recurrence.steps(),
            visits_left: 0,
            of: FxHashMap::default(),
            invariant: Diagram::TRUE,
            digit: Diagram::FALSE,
            remainder: Vec::new(),
            by_zero: vec![None; recurrence.number.len()],
        };
        proof.limit(DIAGRAMS_OF_STEP);
        proof.of.insert(0, Some(Diagram::FALSE));
        let first = step + 1 - together;
        let mut state = proof.begin(search, first)?;
        let zero = recurrence.by_zero(&mut proof.diagrams, &state)?;
        proof.invariant = recurrence.invariant(&mut proof.diagrams, &state)?;
        proof.divide_by_zero(search, zero, recurrence.takes(first).end, &state.remainder)?;
        for now in first..=step {
            let places = recurrence.takes(now);
            let taken = recurrence.number[places.clone()].iter().map(|&bit| proof.variable(bit));
            let taken = taken.collect::<Option<Vec<_>>>()?;
            proof.divide_by_zero(search, zero, places.start, &taken)?;
            let (digit, after) = recurrence.step(&mut proof.diagrams, &state, &taken)?;
            if now < step {
                proof.enter(&search.known[now], digit, &after.remainder)?;
            }
            (proof.digit, proof.remainder) = (digit, after.remainder.clone());
            state = after;
        }
        let before = recurrence.number[recurrence.takes(first).end..].iter();
        before.for_each(|bit| _ = proof.of.entry(bit.node()).or_insert(None));
        let after = recurrence.number[..recurrence.takes(step).start].iter();
        after.rev().try_for_each(|&bit| proof.variable(bit).map(|_| ()))?;
        Some(proof)
    }

    /// Enters bits of the number from a place on, which are those of the remainder where the divisor is zero.
    fn divide_by_zero(
        &mut self,
        search: &Search<'a, 'b>,
        zero: Option<Diagram>,
        first: usize,
        bits: &[Diagram],
    ) -> Option<()> {
        let Some(zero) = zero else { return Some(()) };
        for (place, &bit) in (first..).zip(bits) {
            let of = self.diagrams.gate(Kind::And, [zero, bit])?;
            self.by_zero[place] = Some(of);
            search.by_zero[place].iter().try_for_each(|&bit| self.know(bit, of))?;
        }
        Some(())
    }

    /// The state before a step, as variables: the highest first, and each bit of the remainder beside that which is
    /// subtracted from it.
    fn begin(&mut self, search: &Search<'a, 'b>, step: usize) -> Option<State<Diagram>> {
        let none = Known::default();
        let last = step.checked_sub(1).map_or(&none, |last| &search.known[last]);
        let root = search.recurrence.divisor.is_none();
        let by: Vec<Vec<Bit>> = match &search.recurrence.divisor {
            Some(divisor) => divisor.iter().map(|&bit| vec![bit]).collect(),
            None => search.known[..step].iter().rev().map(|known| known.digit.clone()).collect(),
        };
        let mut state =
            State { remainder: vec![Diagram::FALSE; last.remainder.len()], by: vec![Diagram::FALSE; by.len()] };
        for i in (0..=by.len().max(last.remainder.len())).rev() {
            if let Some(bits) = by.get(i) {
                state.by[i] = self.variables(bits)?;
            }
            let at = i.checked_sub(usize::from(!root)).filter(|&at| at < last.remainder.len());
            let Some(at) = at else { continue };
            state.remainder[at] = match search.recurrence.is_simple(by.len(), at) {
                true => self.variable(search.recurrence.number[search.recurrence.takes(step - 1).start + at])?,
                false => self.variables(&last.remainder[at])?,
            };
        }
        let zero = search.recurrence.by_zero(&mut self.diagrams, &state)?;
        for (at, bits) in last.remainder.iter().enumerate().filter(|&(at, _)| search.recurrence.is_simple(by.len(), at))
        {
            let operands = [state.remainder[at], zero.unwrap_or(state.by[0])];
            state.remainder[at] = self.diagrams.gate(if root { Kind::Xor } else { Kind::And }, operands)?;
            bits.iter().try_for_each(|&bit| self.know(bit, state.remainder[at]))?;
        }
        Some(state)
    }

    /// A new variable for bits that are one function; what one of them already is, if one is known.
    fn variables(&mut self, bits: &[Bit]) -> Option<Diagram> {
        let known = bits.iter().find_map(|bit| Some((bit, (*self.of.get(&bit.node())?)?)));
        let value = match known {
            Some((bit, of)) => self.flip(of, *bit)?,
            None => {
                self.variables += 1;
                self.diagrams.variable(self.variables - 1)?
            }
        };
        bits.iter().try_for_each(|&bit| self.know(bit, value))?;
        Some(value)
    }

    fn variable(&mut self, bit: Bit) -> Option<Diagram> {
        self.variables(&[bit])
    }

    /// The bit is this.
    fn know(&mut self, bit: Bit, value: Diagram) -> Option<()> {
        let of = self.flip(value, bit)?;
        self.of.entry(bit.node()).or_insert(Some(of));
        Some(())
    }

    fn enter(&mut self, known: &Known, digit: Diagram, remainder: &[Diagram]) -> Option<()> {
        known.digit.iter().try_for_each(|&bit| self.know(bit, digit))?;
        let mut bits = known.remainder.iter().zip(remainder);
        bits.try_for_each(|(bits, &of)| bits.iter().try_for_each(|&bit| self.know(bit, of)))
    }

    fn flip(&mut self, of: Diagram, bit: Bit) -> Option<Diagram> {
        if bit.complemented() { self.diagrams.not(of) } else { Some(of) }
    }

    /// Adds nodes with these values that are proved to have this diagram where it counts, if there are none yet; whether
    /// all that were tried failed.
    fn add(&mut self, search: &Search<'a, 'b>, values: &Values, diagram: Diagram, known: &mut Vec<Bit>) -> bool {
        if !known.is_empty() {
            return false;
        }
        let bits = search.bits(values);
        let mut begun = true;
        for &bit in bits.iter().take(MOST_TRIES) {
            if std::mem::take(&mut begun) {
                self.limit(DIAGRAMS_OF_FUNCTION);
                self.visits_left = MOST_VISITS;
            }
            if self.is(bit, diagram).is_some() {
                known.push(bit);
                begun = true;
            }
        }
        known.is_empty() && !bits.is_empty()
    }

    /// Bits with these values that are proved to be that of the number at a place where the divisor is zero, and else false,
    /// of those that are computed from what has been looked at.
    fn by_zero(&mut self, search: &Search<'a, 'b>, values: &Values, place: usize) -> Vec<Bit> {
        let Some(diagram) = self.by_zero[place] else { return Vec::new() };
        let near = |proof: &Self, bit: &Bit| {
            let of = |node: u32| &proof.network.nodes[node as usize];
            let seen = |bit: &Bit| of(bit.node()).kind != Kind::Leaf && proof.of.contains_key(&bit.node());
            !proof.of.contains_key(&bit.node()) && of(bit.node()).operands.iter().any(seen)
        };
        let (mut bits, mut tries_left) = (search.bits(values), MOST_TRIES);
        bits.retain(|bit| {
            if tries_left == 0 || !near(self, bit) {
                return false;
            }
            tries_left -= 1;
            self.visits_left = MOST_VISITS_BY_ZERO;
            self.limit(0);
            self.is(*bit, diagram).is_some()
        });
        bits
    }

    /// There may be so many more diagrams by the square of the number of steps, as far as a step may have them.
    fn limit(&mut self, more: usize) {
        let by_square = |factor: usize| FEWEST_DIAGRAMS + factor * self.steps.pow(2);
        let most = by_square(DIAGRAMS_OF_STEP).min(MOST_DIAGRAMS);
        self.diagrams.limit(most.min(self.diagrams.count() + by_square(more)));
    }

    fn is(&mut self, bit: Bit, diagram: Diagram) -> Option<()> {
        let of = self.value(bit.node())?;
        let of = self.flip(of, bit)?;
        let differs = self.diagrams.gate(Kind::Xor, [of, diagram])?;
        let counts = self.diagrams.gate(Kind::And, [differs, self.invariant])?;
        (counts == Diagram::FALSE).then_some(())
    }

    /// What a node is; an input of which nothing is known may be anything.
    fn value(&mut self, node: u32) -> Option<Diagram> {
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            if self.of.contains_key(&node) {
                stack.pop();
                continue;
            }
            self.visits_left = self.visits_left.checked_sub(1)?;
            let gate = &self.network.nodes[node as usize];
            let (kind, operands) = (gate.kind, gate.operands);
            let of = operands.map(|bit| self.of.get(&bit.node()).copied());
            if kind == Kind::Leaf {
                self.variable(Bit::new(node, false))?;
            } else if of.contains(&Some(None)) {
                self.of.insert(node, None);
            } else if let [Some(_), Some(_)] = of {
                let of = self.gate(kind, operands);
                self.of.insert(node, of);
            } else {
                let missing = operands.iter().zip(of).filter(|(_, of)| of.is_none());
                stack.extend(missing.map(|(bit, _)| bit.node()));
            }
        }
        self.of[&node]
    }

    fn gate(&mut self, kind: Kind, operands: [Bit; 2]) -> Option<Diagram> {
        let of = [self.of[&operands[0].node()]?, self.of[&operands[1].node()]?];
        let of = [self.flip(of[0], operands[0])?, self.flip(of[1], operands[1])?];
        self.diagrams.gate(kind, of)
    }
}

/// The values, or their complement, whichever is false on the first lane.
fn plain(values: &Values) -> Values {
    flipped(values, Bit::new(0, values[0] & 1 == 1))
}

/// Values of all nodes where the words of a recurrence take numbers of all lengths.
fn sampled(network: &Network<'_>, recurrence: &Recurrence) -> Vec<Values> {
    let mut patterns = Patterns::<WORDS>::new(0);
    let mut given: FxHashMap<u32, Values> = FxHashMap::default();
    for (word, full) in [(Some(&recurrence.number), true), (recurrence.divisor.as_ref(), false)] {
        let Some(word) = word else { continue };
        let lengths: Vec<u64> = (0..64 * WORDS).map(|_| length(&mut patterns, word.len() as u64, full)).collect();
        for (i, bit) in word.iter().enumerate() {
            let mask = lanes(|lane| lengths[lane] > i as u64);
            let values: Values = std::array::from_fn(|_| patterns.random());
            given.entry(bit.node()).or_insert(flipped(&and(&values, &mask), *bit));
        }
    }
    simulated(network, |node| given.get(&node).copied().unwrap_or_else(|| std::array::from_fn(|_| patterns.random())))
}

/// How many bits a number has: often few or almost all, and most often all if it is often full.
fn length(patterns: &mut Patterns<WORDS>, most: u64, full: bool) -> u64 {
    let [choice, length] = [patterns.random(), patterns.random()];
    match choice % 4 {
        0 | 1 if full => most,
        0 => (length % 4).min(most),
        1 => most - (length % 4).min(most),
        _ => length % (most + 1),
    }
}

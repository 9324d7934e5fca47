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
use super::super::samples::{Patterns, flipped, gate};
use super::super::window::Table;
use super::associate::associated;
use super::diagrams::{Diagram, Diagrams};
use super::exchange::exchange;
use super::recurrences::{Recurrence, Sampled, State};
use crate::blocks::divide::long_division;
use crate::blocks::{Goal, square_root};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, UInt};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Words of samples.
const WORDS: usize = 8;
type Values = Table<WORDS>;
/// The fewest and the most bits of a number that is taken apart.
const BITS: [usize; 2] = [4, 1_024];
/// Nodes that are tried for a digit or a bit.
const MOST_TRIES: usize = 64;
/// Steps that are tried together.
const MOST_TOGETHER: usize = 2;
/// The most nodes of diagrams for a node that is tried, and for a step.
const MOST_DIAGRAMS: [usize; 2] = [300_000, 1_500_000];
/// Nodes that are looked at for a node that is tried, and for one that may be constant.
const MOST_VISITS: [usize; 2] = [20_000, 500];

/// The circuit with our blocks for these recurrences, as far as it has them.
pub fn rebuilt(circuit: &Circuit, recurrences: &[Recurrence]) -> Option<Circuit> {
    let associated = associated(circuit);
    let circuit = associated.as_ref().unwrap_or(circuit);
    let mut best = None;
    for recurrence in recurrences {
        let mut network = Network::read(best.as_ref().unwrap_or(circuit));
        if replace(&mut network, recurrence) {
            best = network.write().or(best);
        }
    }
    best
}

/// Quotients and roots of the words that come in.
pub fn of_inputs(circuit: &Circuit) -> Vec<Recurrence> {
    let mut next = 1;
    let word = |port: &crate::graph::Port| {
        let first = next;
        next += port.ty.width;
        (first..next).map(|node| Bit::new(node, false)).collect()
    };
    let words: Vec<Vec<Bit>> = circuit.inputs().iter().map(word).collect();
    let fits = |word: &&Vec<Bit>| (BITS[0]..=BITS[1]).contains(&word.len());
    let even = |word: &Vec<Bit>| [&word[..], &[Bit::FALSE][..word.len() % 2]].concat();
    let roots = words.iter().filter(fits).map(|word| Recurrence { number: even(word), divisor: None });
    let pairs = words.iter().filter(fits).flat_map(|number| {
        let others = words.iter().filter(move |&other| other[..] != number[..] && other.len() <= BITS[1]);
        others.map(|divisor| Recurrence { number: number.clone(), divisor: Some(divisor.clone()) })
    });
    roots.chain(pairs).take(MOST_RECURRENCES).collect()
}

/// Words of a circuit that are tried.
const MOST_RECURRENCES: usize = 40;

fn replace(network: &mut Network<'_>, recurrence: &Recurrence) -> bool {
    let known = Search::new(network, recurrence).known();
    let Some(steps) = known.iter().rposition(|step| !step.digit.is_empty()) else { return false };
    let before = network.nodes.len();
    let (digits, remainder) = import(network, recurrence, steps + 1);
    let mut by = BTreeMap::new();
    let mut enter = |nodes: &[Bit], bit: Bit| {
        by.extend(nodes.iter().map(|known| (known.node(), bit.flip(known.complemented()))));
    };
    known.iter().zip(digits).for_each(|(step, digit)| enter(&step.digit, digit));
    known[steps].remainder.iter().zip(remainder).for_each(|(nodes, bit)| enter(nodes, bit));
    exchange(network, by, before)
}

/// The digits and the remainder of our block, as nodes of the network.
fn import(network: &mut Network<'_>, recurrence: &Recurrence, steps: usize) -> (Vec<Bit>, Vec<Bit>) {
    let number = &recurrence.number[recurrence.takes(steps - 1).start..];
    let divisor = recurrence.divisor.as_deref();
    let block = block(number.len(), divisor.map(<[Bit]>::len));
    let mut bits = vec![Bit::FALSE; block.gates().len()];
    let words = number.iter().chain(divisor.unwrap_or(&[]));
    block.input_nodes().iter().zip(words).for_each(|(&node, &bit)| bits[node as usize] = bit);
    for (node, gate) in block.gates().iter().enumerate() {
        let of = |bit: Bit| bits[bit.node() as usize].flip(bit.complemented());
        bits[node] = match *gate {
            crate::Gate::False | crate::Gate::Input => continue,
            crate::Gate::Xor(a, b) => network.xor(of(a), of(b)),
            crate::Gate::And(a, b) => network.and(of(a), of(b)),
        };
    }
    let outputs = block.output_bits().iter().map(|bit| bits[bit.node() as usize].flip(bit.complemented()));
    let mut digits: Vec<Bit> = outputs.collect();
    let remainder = digits.split_off(steps);
    digits.reverse();
    (digits, remainder)
}

/// The digits of a number of so many bits, the lowest first, and the remainder: by a divisor of so many bits, or of a root.
fn block(number: usize, divisor: Option<usize>) -> Circuit {
    let mut c = Builder::new("block");
    let number = c.bits("number", number as u32).0;
    let (digits, remainder) = match divisor {
        Some(width) => {
            let divisor = c.bits("divisor", width as u32).0;
            quotient(&mut c, &number, &divisor)
        }
        None => {
            let (root, remainder) = square_root(&mut c, &UInt(number), Goal::Size);
            (root.0, remainder.0)
        }
    };
    c.output("digits", &Bits(digits));
    c.output("remainder", &Bits(remainder));
    c.finish()
}

/// Division by zero gives all ones and the dividend.
fn quotient(c: &mut Builder, number: &[Bit], divisor: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let (mut digits, mut remainder) = long_division(c, number, divisor, Goal::Size);
    if number.len() > divisor.len() {
        // The block says nothing of digits by zero then.
        let zero = !divisor.iter().fold(Bit::FALSE, |some, &bit| c.or(some, bit));
        digits = digits.into_iter().map(|digit| c.or(digit, zero)).collect();
        remainder.extend(number[divisor.len()..].iter().map(|&bit| c.and(bit, zero)));
    }
    remainder.truncate(number.len());
    (digits, remainder)
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
    /// Bits that are always false.
    never: Vec<Bit>,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(network: &'a Network<'b>, recurrence: &'a Recurrence) -> Self {
        let values = sampled(network, recurrence);
        let mut nodes: FxHashMap<Values, Vec<u32>> = FxHashMap::default();
        for (node, values) in values.iter().enumerate() {
            if matches!(network.nodes[node].kind, Kind::And | Kind::Xor) {
                nodes.entry(plain(values)).or_default().push(node as u32);
            }
        }
        Search { network, recurrence, values, nodes, known: Vec::new(), never: Vec::new() }
    }

    /// What is known of each step, up to the first of which nothing is.
    fn known(mut self) -> Vec<Known> {
        let of = |bit: &Bit| flipped(&self.values[bit.node() as usize], *bit);
        let number: Vec<Values> = self.recurrence.number.iter().map(of).collect();
        let by = self.recurrence.divisor.iter().flatten().map(of).collect();
        let mut state = State { remainder: Vec::new(), by };
        for step in 0..self.recurrence.steps() {
            let taken = &number[self.recurrence.takes(step)];
            let (digit, after) =
                self.recurrence.step(&mut Sampled::<WORDS>, &state, taken).expect("samples take little");
            state = after;
            let (known, never) = self.step(step, &digit, &state.remainder);
            self.never.extend(never);
            if known.digit.is_empty() && known.remainder.iter().all(Vec::is_empty) {
                break;
            }
            self.known.push(known);
        }
        self.known
    }

    /// Nodes that are proved to be what a step gives, by what it gives on the samples; and bits that are false in it.
    fn step(&self, step: usize, digit: &Values, remainder: &[Values]) -> (Known, Vec<Bit>) {
        let mut known = Known { digit: Vec::new(), remainder: vec![Vec::new(); remainder.len()] };
        let mut never = Vec::new();
        for together in 1..=MOST_TOGETHER.min(step + 1) {
            let Some(mut proof) = Proof::new(self, step, together) else { break };
            let mut open = proof.add(self, digit, proof.digit, &mut known.digit);
            for (i, values) in remainder.iter().enumerate() {
                open |= proof.add(self, values, proof.remainder[i], &mut known.remainder[i]);
            }
            never.extend(proof.never(self));
            if !open {
                break;
            }
        }
        (known, never)
    }
}

/// Diagrams over what comes into a step, or into several.
struct Proof<'a, 'b> {
    network: &'a Network<'b>,
    diagrams: Diagrams,
    variables: u32,
    visits_left: usize,
    /// Of nodes, those that are known first; nothing if one takes too much.
    of: FxHashMap<u32, Option<Diagram>>,
    /// Where it counts.
    invariant: Diagram,
    digit: Diagram,
    remainder: Vec<Diagram>,
}

impl<'a, 'b> Proof<'a, 'b> {
    /// Of so many steps together, the last of which is this.
    fn new(search: &Search<'a, 'b>, step: usize, together: usize) -> Option<Self> {
        let mut diagrams = Diagrams::new();
        diagrams.limit(MOST_DIAGRAMS[1]);
        let mut proof = Proof {
            network: search.network,
            diagrams,
            variables: 0,
            visits_left: 0,
            of: FxHashMap::default(),
            invariant: Diagram::TRUE,
            digit: Diagram::FALSE,
            remainder: Vec::new(),
        };
        proof.of.insert(0, Some(Diagram::FALSE));
        search.never.iter().try_for_each(|&bit| proof.know(bit, Diagram::FALSE))?;
        let first = step + 1 - together;
        let mut state = proof.begin(search, first)?;
        proof.invariant = search.recurrence.invariant(&mut proof.diagrams, &state)?;
        for now in first..=step {
            let bits = &search.recurrence.number[search.recurrence.takes(now)];
            let taken = bits.iter().map(|&bit| proof.variable(bit)).collect::<Option<Vec<_>>>()?;
            let (digit, after) = search.recurrence.step(&mut proof.diagrams, &state, &taken)?;
            if now < step {
                proof.enter(&search.known[now], digit, &after.remainder);
            }
            (proof.digit, proof.remainder) = (digit, after.remainder.clone());
            state = after;
        }
        Some(proof)
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
            let Some(at) = i.checked_sub(usize::from(!root)) else { continue };
            // The lowest bit of what is left under a root is that of the number, from which the digit is subtracted.
            if root && at == 0 && step > 0 {
                let lowest = self.variable(search.recurrence.number[search.recurrence.takes(step - 1).start])?;
                state.remainder[0] = self.diagrams.gate(Kind::Xor, [lowest, state.by[0]])?;
                last.remainder[0].iter().try_for_each(|&bit| self.know(bit, state.remainder[0]))?;
            } else if let Some(bits) = last.remainder.get(at) {
                state.remainder[at] = self.variables(bits)?;
            }
        }
        Some(state)
    }

    /// A new variable for bits that are one function; what one of them already is, if one is known.
    fn variables(&mut self, bits: &[Bit]) -> Option<Diagram> {
        let known = bits.iter().find_map(|bit| Some((bit, (*self.of.get(&bit.node())?)?)));
        let value = match known {
            Some((bit, of)) => self.flip(of, *bit)?,
            None => self.fresh()?,
        };
        bits.iter().try_for_each(|&bit| self.know(bit, value))?;
        Some(value)
    }

    fn variable(&mut self, bit: Bit) -> Option<Diagram> {
        self.variables(&[bit])
    }

    fn fresh(&mut self) -> Option<Diagram> {
        self.variables += 1;
        self.diagrams.variable(self.variables - 1)
    }

    /// The bit is this.
    fn know(&mut self, bit: Bit, value: Diagram) -> Option<()> {
        let of = self.flip(value, bit)?;
        self.of.entry(bit.node()).or_insert(Some(of));
        Some(())
    }

    fn enter(&mut self, known: &Known, digit: Diagram, remainder: &[Diagram]) {
        let all = known.digit.iter().map(|bit| (bit, digit));
        let bits = known.remainder.iter().zip(remainder).flat_map(|(bits, &of)| bits.iter().map(move |bit| (bit, of)));
        for (&bit, of) in all.chain(bits) {
            let _ = self.know(bit, of);
        }
    }

    fn flip(&mut self, of: Diagram, bit: Bit) -> Option<Diagram> {
        if bit.complemented() { self.diagrams.not(of) } else { Some(of) }
    }

    /// Adds nodes with these values that are proved to have this diagram where it counts, if there are none yet; whether
    /// all that were tried failed.
    fn add(&mut self, search: &Search<'a, 'b>, values: &Values, diagram: Diagram, known: &mut Vec<Bit>) -> bool {
        let Some(nodes) = search.nodes.get(&plain(values)).filter(|_| known.is_empty()) else { return false };
        let bits = nodes.iter().take(MOST_TRIES).map(|&node| {
            let flip = (search.values[node as usize][0] ^ values[0]) & 1 == 1;
            Bit::new(node, flip)
        });
        known.extend(bits.filter(|&bit| self.is(bit, diagram, MOST_VISITS[0]).is_some()));
        known.is_empty()
    }

    /// Bits that are false on all samples, and in this step, of those that are computed from what has been looked at.
    fn never(&mut self, search: &Search<'a, 'b>) -> Vec<Bit> {
        let Some(nodes) = search.nodes.get(&[0; WORDS]) else { return Vec::new() };
        let near = |proof: &Self, node: u32| {
            let of = |node: u32| &proof.network.nodes[node as usize];
            let seen = |bit: &Bit| of(bit.node()).kind != Kind::Leaf && proof.of.contains_key(&bit.node());
            of(node).operands.iter().any(seen)
        };
        let bits = nodes.iter().map(|&node| Bit::new(node, search.values[node as usize][0] & 1 == 1));
        bits.filter(|&bit| near(self, bit.node()) && self.is(bit, Diagram::FALSE, MOST_VISITS[1]).is_some()).collect()
    }

    fn is(&mut self, bit: Bit, diagram: Diagram, visits: usize) -> Option<()> {
        self.visits_left = visits;
        self.diagrams.limit(MOST_DIAGRAMS[1].min(self.diagrams.count() + MOST_DIAGRAMS[0]));
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
            let operands = gate.operands;
            if gate.kind == Kind::Leaf {
                let leaf = self.fresh();
                self.of.insert(node, leaf);
                continue;
            }
            let below = stack.len();
            stack.extend(operands.map(Bit::node).into_iter().filter(|below| !self.of.contains_key(below)));
            if stack.len() == below {
                let of = self.gate(gate.kind, operands);
                self.of.insert(node, of);
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
            let lane = |lane: usize| u64::from(lengths[lane] > i as u64) << (lane % 64);
            let mask = std::array::from_fn(|word| (64 * word..64 * word + 64).fold(0, |mask, at| mask | lane(at)));
            let values: Values = std::array::from_fn(|_| patterns.random());
            given.entry(bit.node()).or_insert(flipped(&super::super::window::and(&values, &mask), *bit));
        }
    }
    let mut values: Vec<Values> = Vec::with_capacity(network.nodes.len());
    for (node, of) in network.nodes.iter().enumerate() {
        let operands = || of.operands.map(|bit| flipped(&values[bit.node() as usize], bit));
        let own = match (given.get(&(node as u32)), of.kind) {
            (_, _) if node == 0 => [0; WORDS],
            (Some(&given), _) => given,
            (None, Kind::Leaf) => std::array::from_fn(|_| patterns.random()),
            (None, Kind::Dead) => [0; WORDS],
            (None, kind) => gate(kind, operands()),
        };
        values.push(own);
    }
    values
}

/// How many bits a number has: often few, or all if it is often full.
fn length(patterns: &mut Patterns<WORDS>, most: u64, full: bool) -> u64 {
    let [choice, length] = [patterns.random(), patterns.random()];
    match choice % 4 {
        0 | 1 if full => most,
        0 => (length % 4).min(most),
        _ => length % (most + 1),
    }
}

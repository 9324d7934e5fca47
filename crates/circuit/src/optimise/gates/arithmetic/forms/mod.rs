//! Words that are quadratic forms of a circuit's inputs modulo a power of two, whatever their gates are: sums, products,
//! squares, counts, sums or differences that a bit selects, and what is added up of these.
//!
//! The coefficients are found by values (`fit.rs`). A circuit of the form is made of adders like those that the word has
//! (`replica.rs`), so that both can be proved equal node by node (`sweep.rs`). Then the form is built as a sum of columns,
//! with its products. Without the proof nothing is built.

mod facts;
mod fit;
mod part;
mod replica;
mod residues;
mod sweep;
#[cfg(test)]
mod tests;
mod threshold;

use super::super::check;
use super::super::network::{Kind, Network};
use super::build;
use super::products::{Recognised, recognise};
use super::sums::{Digit, Sum};
use super::terms::{Power, Terms};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;
use fit::{Atom, Form};
use replica::{Known, Pairs, Replica};
use std::collections::BTreeSet;
use threshold::Threshold;

/// The fewest ANDs of a word that is looked at, and the most.
const ANDS: [u64; 2] = [8, 60_000];
/// The most inputs of a word of which all values are tried, and the most gates times values.
const MOST_TRIED: usize = check::MOST_EXHAUSTIVE;
const MOST_LANES: u64 = 1 << 36;
/// Words that seem to be forms, without a proof, after which the others are not looked at.
const MOST_FAILED: usize = 4;
/// The most bits of a word.
const MOST_WIDTH: usize = 2_048;
/// The most inputs that meet more than two others, if diagrams are to be made.
const MOST_HUBS: usize = 4;

/// The circuit with those words of outputs built anew that are forms of its inputs; nothing if there are none.
pub fn rebuilt(circuit: &Circuit, goal: Goal) -> Option<Circuit> {
    let (mut made, mut failed) = (Vec::new(), 0);
    for part in part::parts(circuit, ANDS[1]) {
        let anew = match (part.circuit.and_count() < ANDS[0], part.circuit.output_width()) {
            (true, _) | (_, MOST_WIDTH..) => Outcome::None,
            (_, 1) => counted(&part.circuit, goal),
            _ => anew(&part.circuit, goal),
        };
        match anew {
            Outcome::Made(anew) => made.push((part, anew)),
            Outcome::Unproved => failed += 1,
            Outcome::None => {}
        }
        if failed == MOST_FAILED {
            break;
        }
    }
    if made.is_empty() { None } else { part::assembled(circuit, &made) }
}

/// What has come of a word.
enum Outcome {
    Made(Circuit),
    /// It seems to be a form.
    Unproved,
    None,
}

impl Outcome {
    fn of(made: Option<Circuit>, part: &Circuit, proved: impl FnOnce() -> bool) -> Self {
        match made.filter(|made| made.and_count() < part.and_count()) {
            Some(made) if proved() => Outcome::Made(made),
            Some(_) => Outcome::Unproved,
            None => Outcome::None,
        }
    }
}

/// The word of a part, built by its form, if that has fewer ANDs.
fn anew(part: &Circuit, goal: Goal) -> Outcome {
    let Some(form) = fit::fit(part) else { return Outcome::None };
    let known = Known::of(part);
    let Some(replica) = replica::replica(part, &known, &form, Pairs::Once) else { return Outcome::None };
    let made = built(&form, &replica.circuit, goal);
    Outcome::of(made, part, || proved(part, &form, &known, replica))
}

/// The bit of a part as a count that is compared, if that has fewer ANDs.
fn counted(part: &Circuit, goal: Goal) -> Outcome {
    let Some(threshold) = Threshold::of(part) else { return Outcome::None };
    let form = threshold::count(part.input_width());
    let Some(replica) = replica::replica(part, &Known::of(part), &form, Pairs::Once) else { return Outcome::None };
    let count = built(&form, &replica.circuit, goal);
    let made = count.and_then(|count| threshold.compared(&count, form.width));
    let order: Vec<usize> = (0..part.input_width()).collect();
    let compared = || threshold.replica(&replica, form.width);
    Outcome::of(made, part, || compared().is_some_and(|replica| sweep::equal(&replica, part, Some(&order))))
}

/// Whether a part is its form, which a replica is.
fn proved(part: &Circuit, form: &Form, known: &Known, replica: Replica) -> bool {
    if part.input_width() <= MOST_TRIED && (part.gates().len() as u64) << part.input_width() <= MOST_LANES {
        return digits(&replica.circuit, form.width).is_some_and(|digits| check::agree(part, &digits));
    }
    let order = form.order(part.input_width());
    let equal = |replica: &Replica| sweep::equal(replica, part, order.as_deref());
    let again = || replica::replica(part, known, form, Pairs::Twice);
    equal(&replica) || form.may_have_squares() && again().is_some_and(|replica| equal(&replica))
}

impl Form {
    /// Whether it has inputs themselves besides pairs.
    fn may_have_squares(&self) -> bool {
        let mut atoms = self.terms.iter().map(|(atom, _)| atom);
        atoms.clone().any(|atom| matches!(atom, Atom::And(_))) && atoms.any(|atom| matches!(atom, Atom::Input(_)))
    }

    /// The inputs in an order in which a carry takes few nodes of a diagram: first those that meet many others, then by
    /// weight. Nothing if there are many of the first.
    fn order(&self, inputs: usize) -> Option<Vec<usize>> {
        let mut met = vec![0u32; inputs];
        let mut weights = vec![usize::MAX; inputs];
        for (atom, coefficient) in &self.terms {
            let weight = coefficient.weights().next().unwrap_or(usize::MAX);
            let ends = match *atom {
                Atom::Input(i) => vec![i],
                Atom::And(pair) | Atom::Xor(pair) => {
                    pair.iter().for_each(|&i| met[i] += 1);
                    pair.to_vec()
                }
            };
            ends.iter().for_each(|&i| weights[i] = weights[i].min(weight));
        }
        let is_hub = |i: usize| met[i] > 2;
        let mut order: Vec<usize> = (0..inputs).collect();
        order.sort_by_key(|&i| (!is_hub(i), weights[i], i));
        ((0..inputs).filter(|&i| is_hub(i)).count() <= MOST_HUBS).then_some(order)
    }
}

/// A circuit of a form, as one sum of columns; the replica has a node of each term.
fn built(form: &Form, replica: &Circuit, goal: Goal) -> Option<Circuit> {
    let network = Network::read(replica);
    let mut terms = Terms::default();
    let power = |weight: usize| Power { weight: weight as i32, negative: false };
    for (atom, coefficient) in &form.terms {
        let bit = of_atom(&network, *atom)?;
        coefficient.weights().for_each(|weight| terms.add(bit, power(weight)));
    }
    form.constant.weights().for_each(|weight| terms.add(Bit::TRUE, power(weight)));
    let mut taken = BTreeSet::new();
    let digits = (0..).zip(&network.outputs[..form.width]).map(|(weight, &bit)| {
        let is_gate = network.nodes[bit.node() as usize].kind != Kind::Leaf;
        Digit { weight, bit: (is_gate && taken.insert(bit.node())).then_some(bit) }
    });
    let sum = Sum { width: form.width as i32, digits: digits.collect(), terms };
    let mut found = recognise(&network, sum);
    keep_apart(&mut found);
    self::digits(&build::build(replica, &network, &[found], goal)?, form.width)
}

/// The circuit without outputs beyond a word of this width.
fn digits(circuit: &Circuit, width: usize) -> Option<Circuit> {
    let mut c = Builder::new(circuit.name());
    let inputs: Vec<Bit> = circuit.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let word = c.append(circuit, &inputs)[..width].to_vec();
    c.output("y", &Bits(word));
    c.try_finish().ok()
}

/// The node of a term.
fn of_atom(network: &Network<'_>, atom: Atom) -> Option<Bit> {
    let input = |i: usize| Bit::new(network.inputs().start + i as u32, false);
    let prints = |pair: [usize; 2]| pair.map(|i| network.print_of(input(i)));
    match atom {
        Atom::Input(i) => Some(input(i)),
        Atom::And(pair) => {
            let [a, b] = prints(pair);
            network.find(network.and_print(a, b))
        }
        Atom::Xor(pair) => {
            let [a, b] = prints(pair);
            network.find(a ^ b)
        }
    }
}

/// A digit that is a term as well is not made from the sum.
fn keep_apart(found: &mut Recognised) {
    let reads: BTreeSet<u32> = found.reads().into_iter().collect();
    for digit in &mut found.sum.digits {
        digit.bit = digit.bit.filter(|bit| !reads.contains(&bit.node()));
    }
}

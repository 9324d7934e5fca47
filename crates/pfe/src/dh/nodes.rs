//! The points of all nodes of a function: sums along its graph.

use super::points::group;
use crate::CHUNK;
use crate::threads::Threads;
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use kernels::ristretto::{Points, Singles, Term};
use std::ops::Range;

/// The sum that a gate or an output reads: three bits at most, and what their complements add.
pub(super) type Form = [Term; 4];

/// Additions of points that stand for one addition of a function: as many as that of two bits takes, of which one may be a
/// complement. So whatever nodes a function has, with its padding it takes as many.
const SUMS: u64 = 2;

/// The points of all nodes, of one kind: those of the function, or labels.
///
/// A node's point stands for its value up to the offset; that of 1 − v is what stands for the constant 1, less it.
pub(super) struct Nodes<'a> {
    function: &'a Function,
    /// A point for each node, and behind them once, twice and three times what stands for the constant 1.
    points: Singles,
    /// Nodes that have their point.
    done: usize,
    /// Additions of points outside gates so far.
    sums: u64,
}

const fn plus(place: u32) -> Term {
    Term { place, negative: false }
}

const fn minus(place: u32) -> Term {
    Term { place, negative: true }
}

/// A bit, but for what its complement adds.
fn read(bit: Bit) -> Term {
    Term { place: bit.node(), negative: bit.complemented() }
}

impl<'a> Nodes<'a> {
    /// A form of which nothing is read: node 0, the constant false, has the neutral point.
    pub const NOTHING: Form = [plus(0); 4];

    /// Those of the constants and the inputs.
    pub fn new(function: &'a Function, one: &Points, inputs: &Points) -> Self {
        let nodes = function.nodes().len();
        let mut points = Singles::neutral(group(), nodes + 3);
        let two = one.add(one);
        [one, &two, &two.add(one)].into_iter().enumerate().for_each(|(n, ones)| points.put([nodes + n], ones));
        points.put(1.., inputs);
        Nodes { function, points, done: 1 + function.inputs(), sums: 0 }
    }

    /// The next gates, at most so many: those that need no gate that is not there yet. None of them if all are there.
    pub fn ready(&mut self, most: usize, threads: &Threads) -> usize {
        let nodes = self.function.nodes();
        let is_gate = |node: &&Node| matches!(node, Node::Majority(_));
        let sums = nodes[self.done..].iter().take_while(|node| !is_gate(node)).count();
        if sums > 0 {
            self.add(self.done..self.done + sums, threads);
            self.done += sums;
        }
        let here = self.done;
        let is_ready = |node: &&Node| match node {
            Node::Majority(bits) => bits.iter().all(|bit| (bit.node() as usize) < here),
            _ => false,
        };
        nodes[here..].iter().take(most).take_while(is_ready).count()
    }

    /// The sums of the operands of so many gates that are ready.
    pub fn forms(&self, count: usize) -> impl Iterator<Item = Form> {
        (self.done..self.done + count).map(|gate| self.form(gate as u32))
    }

    /// The points of forms of which every node is there.
    pub fn sums(&self, forms: &[Form]) -> Points {
        self.points.sums(forms)
    }

    /// The points of gates that were ready.
    pub fn push(&mut self, points: &Points) {
        self.points.put(self.done.., points);
        self.done += points.len();
    }

    /// The form of an output, after the last gate.
    pub fn output(&mut self, number: usize, threads: &Threads) -> Form {
        self.ready(0, threads);
        self.function.outputs().get(number).map_or(Self::NOTHING, |&bit| self.with_ones([read(bit)], [bit]))
    }

    /// Adds as often as the padding says beyond what the function needs.
    pub fn pad(&self, additions: u64, threads: &Threads) {
        let nothing = [[plus(0); 1 + SUMS as usize]; CHUNK as usize];
        let lists = (SUMS * additions).saturating_sub(self.sums).div_ceil(SUMS);
        for first in (0..lists).step_by(CHUNK as usize) {
            let count = CHUNK.min(lists - first) as usize;
            threads.parts(count, |part| drop(std::hint::black_box(self.points.sums(&nothing[part]))));
        }
    }

    /// Terms, and what the complements among the bits that they read add.
    fn with_ones<const N: usize, const M: usize, const B: usize>(&self, terms: [Term; N], bits: [Bit; B]) -> [Term; M] {
        let complements = bits.iter().filter(|bit| bit.complemented()).count();
        let ones = if complements == 0 { 0 } else { self.function.nodes().len() + complements - 1 };
        let mut all = [plus(0); M];
        all[..N].copy_from_slice(&terms);
        all[N] = plus(ones as u32);
        all
    }

    fn form(&self, gate: u32) -> Form {
        let bits = self.function.operands(gate);
        self.with_ones(bits.map(read), bits)
    }

    /// Makes the nodes of a range, of which none is a gate: first those of a gate, then sums of two that may be such ones.
    fn add(&mut self, range: Range<usize>, threads: &Threads) {
        self.each(range.clone(), threads, Self::parity);
        self.each(range.clone(), threads, Self::either);
        self.each(range.clone(), threads, Self::rest);
        self.each(range, threads, Self::choice);
    }

    fn parity(&self, node: Node) -> Option<[Term; 6]> {
        let Node::Parity(gate) = node else { return None };
        let [x, y, z, ones] = self.form(gate);
        Some([x, y, z, ones, minus(gate), minus(gate)])
    }

    fn either(&self, node: Node) -> Option<[Term; 4]> {
        let Node::Either(gate) = node else { return None };
        let [_, y, z, ones] = self.form(gate);
        Some([y, z, ones, minus(gate)])
    }

    fn rest(&self, node: Node) -> Option<[Term; 3]> {
        let Node::Rest(gate, operand) = node else { return None };
        let bit = self.function.operands(gate)[usize::from(operand)];
        Some(self.with_ones([read(bit), minus(gate)], [bit]))
    }

    fn choice(&self, node: Node) -> Option<[Term; 3]> {
        let Node::Choice(bits) = node else { return None };
        Some(self.with_ones(bits.map(read), bits))
    }

    /// Makes the nodes of a range that have such a list of terms.
    fn each<const N: usize>(
        &mut self,
        range: Range<usize>,
        threads: &Threads,
        list: impl Fn(&Self, Node) -> Option<[Term; N]>,
    ) {
        let (mut places, mut lists) = (Vec::new(), Vec::new());
        let last = range.end - 1;
        for place in range {
            if let Some(list) = list(self, self.function.nodes()[place]) {
                places.push(place);
                lists.push(list);
            }
            if lists.len() == CHUNK as usize || place == last {
                let made = threads.parts(lists.len(), |part| (part.start, self.points.sums(&lists[part])));
                made.iter().for_each(|(first, points)| self.points.put(places[*first..].iter().copied(), points));
                self.sums += (N as u64 - 1) * lists.len() as u64;
                places.clear();
                lists.clear();
            }
        }
    }
}

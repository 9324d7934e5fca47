//! Plans whose ANDs have up to four inputs: what a masking protocol executes.
//!
//! Such a protocol pays one exchange for a layer of ANDs and one bit a party for an AND, whatever the number of its
//! inputs, but the products of the inputs' masks in setup: 1, 4 and 11 of them for 2, 3 and 4 inputs. A [`Fused`] plan
//! is a [`Plan`] whose *trees* are built anew. A tree is an AND with every AND below it that only it reads, plain and
//! not as an output; its product is that of the tree's leaves in any order. First every tree is thought of with four
//! inputs an AND: that gives the fewest layers that rearranging trees can reach. Then, from the outputs down, each tree
//! is built as cheaply as the layer at which it is needed allows: of ANDs with two inputs where there is time, of wider
//! ones where not.
//!
//! It is an integer computation on the plan alone: both parties derive the same.

mod graph;
mod schedule;
mod trees;

use crate::plan::{Code, Op, Operand, Plan, Source};
use graph::Graph;
use schedule::Order;
use std::ops::Range;

/// The most inputs of an AND.
pub const MOST_INPUTS: usize = 4;

/// An AND of `N` inputs. Its slot is none that its layer reads, so that a layer may be written while it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct And<const N: usize> {
    /// The slot written.
    pub dst: u32,
    /// The inputs.
    pub inputs: [Operand; N],
}

/// The ANDs that are opened in one exchange, and what comes before them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The instructions before the ANDs, among [`Fused::code`].
    pub code: Range<usize>,
    /// ANDs of two inputs, among [`Fused::twos`].
    pub twos: Range<usize>,
    /// ANDs of three inputs.
    pub threes: Range<usize>,
    /// ANDs of four inputs.
    pub fours: Range<usize>,
}

impl Layer {
    /// ANDs of any number of inputs.
    pub fn ands(&self) -> usize {
        self.twos.len() + self.threes.len() + self.fours.len()
    }
}

/// A plan with ANDs of up to four inputs. Inputs, outputs and public rows are those of the [`Plan`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fused {
    slots: usize,
    inputs: Vec<Option<u32>>,
    code: Code,
    twos: Vec<And<2>>,
    threes: Vec<And<3>>,
    fours: Vec<And<4>>,
    layers: Vec<Layer>,
    outputs: Vec<Source>,
}

impl Fused {
    /// Builds the trees of a plan anew, with at most `most` inputs an AND.
    ///
    /// # Panics
    /// Unless `most` is 2, 3 or 4.
    pub fn new(plan: &Plan, most: usize) -> Fused {
        assert!((2..=MOST_INPUTS).contains(&most), "ANDs have two to four inputs, not {most}");
        let graph = Graph::read(plan).fused(most);
        Order::new(&graph).assign()
    }

    /// How many slots it needs.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// For each input bit the slot that holds it first; `None` if no secret gate reads it.
    pub fn inputs(&self) -> &[Option<u32>] {
        &self.inputs
    }

    /// XORs, and gates with a public operand; no ANDs of two secrets.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// ANDs of two inputs, layer by layer.
    pub fn twos(&self) -> &[And<2>] {
        &self.twos
    }

    /// ANDs of three inputs, layer by layer.
    pub fn threes(&self) -> &[And<3>] {
        &self.threes
    }

    /// ANDs of four inputs, layer by layer.
    pub fn fours(&self) -> &[And<4>] {
        &self.fours
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The instructions behind the last layer.
    pub fn tail(&self) -> Range<usize> {
        self.layers.last().map_or(0, |layer| layer.code.end)..self.code.len()
    }

    /// Where each output bit lies in the end.
    pub fn outputs(&self) -> &[Source] {
        &self.outputs
    }

    /// ANDs of any number of inputs, for one lane.
    pub fn ands(&self) -> usize {
        self.twos.len() + self.threes.len() + self.fours.len()
    }

    /// The depth of each output: ANDs on the longest path to it, given those of the inputs.
    pub fn depths(&self, inputs: &[u32]) -> Vec<u32> {
        let mut slots = vec![0; self.slots];
        for (slot, &depth) in self.inputs.iter().zip(inputs) {
            slot.iter().for_each(|&slot| slots[slot as usize] = depth);
        }
        let mut next = 0;
        for layer in &self.layers {
            self.local_depths(next..layer.code.end, &mut slots);
            next = layer.code.end;
            deepen(&self.twos[layer.twos.clone()], &mut slots);
            deepen(&self.threes[layer.threes.clone()], &mut slots);
            deepen(&self.fours[layer.fours.clone()], &mut slots);
        }
        self.local_depths(self.tail(), &mut slots);
        let depth = |source: &Source| if let Source::Slot { slot, .. } = *source { slots[slot as usize] } else { 0 };
        self.outputs.iter().map(depth).collect()
    }

    fn local_depths(&self, code: Range<usize>, slots: &mut [u32]) {
        for run in self.code.runs(code) {
            for &[dst, a, b] in run.gates {
                let [a, b] = [a, b].map(|operand| Operand::of(operand).slot());
                let b = if run.op == Op::Xor { slots[b] } else { 0 };
                slots[dst as usize] = slots[a].max(b);
            }
        }
    }

    /// Shares that setup makes for the ANDs: of each input's mask and of each product, for one lane.
    pub fn planes(&self) -> usize {
        3 * self.twos.len() + 7 * self.threes.len() + 15 * self.fours.len()
    }

    /// Products of masks that the ANDs need, for one lane.
    pub fn products(&self) -> usize {
        self.twos.len() + 4 * self.threes.len() + 11 * self.fours.len()
    }
}

fn deepen<const N: usize>(ands: &[And<N>], slots: &mut [u32]) {
    for and in ands {
        let below = and.inputs.iter().map(|input| slots[input.slot()]).max();
        slots[and.dst as usize] = below.unwrap_or(0) + 1;
    }
}

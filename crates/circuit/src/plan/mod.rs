//! Circuits compiled to straight-line code over few slots: what protocols execute.
//!
//! A [`Circuit`] is a graph; a [`Plan`] is an order of its gates with a *slot* for each value, reused as soon as the
//! value dies, so that a circuit of ten million gates runs in a working set of thousands. Two orders exist. In
//! [`Order::DepthFirst`] a gate follows its operands closely, which keeps the fewest labels alive: garbling. In
//! [`Order::Layered`] all ANDs of one multiplicative depth stand together, so that a sharing protocol opens a layer in
//! one exchange and a garbler with few lanes fills its hash pipeline.
//!
//! Values that depend on public inputs only are no business of a protocol: they go into [`Plan::public`], a plan of its own
//! that both parties run in plain, and gates between a secret and a public value become [`Op::XorPublic`] and
//! [`Op::AndPublic`], local in every protocol.
//!
//! Compilation is deterministic: both parties derive the same plan, and AND gates are numbered by their place in it.

mod code;
mod graph;
mod order;
mod slots;

use crate::graph::{Bit, Circuit};
pub use code::{Code, GateRun, Operand};
use graph::Graph;
use std::ops::{Range, RangeInclusive};

/// Which order the gates are executed in; the parties must agree, since it numbers the ANDs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Each gate close behind its operands: fewest live slots.
    DepthFirst,
    /// All ANDs of one depth together: fewest rounds.
    Layered,
}

/// How many ANDs a [vector](Plan::vectors) has: a block of 128 bits masks so many, and below the least a correlation of
/// its own does not pay.
pub const VECTOR: RangeInclusive<usize> = 4..=128;

/// The operation of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// `slot[dst] = slot[a] ^ slot[b]`; never complemented.
    Xor,
    /// `slot[dst] = (slot[a] ^ flip_a) & (slot[b] ^ flip_b)`.
    And,
    /// `slot[dst] = slot[a] ^ public[b]`; never complemented.
    XorPublic,
    /// `slot[dst] = (slot[a] ^ flip_a) & (public[b] ^ flip_b)`.
    AndPublic,
}

/// One gate of [`Code`], spelled out. `dst` differs from every slot operand, so that lanes may be written while operands are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instr {
    /// The operation.
    pub op: Op,
    /// Whether the first operand enters complemented.
    pub flip_a: bool,
    /// Whether the second operand enters complemented.
    pub flip_b: bool,
    /// The slot written.
    pub dst: u32,
    /// The slot of the first operand.
    pub a: u32,
    /// The slot of the second operand, or its row among the public ones.
    pub b: u32,
}

/// Where an output bit is found after the last instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// In a slot, complemented if `flip`.
    Slot {
        /// The slot.
        slot: u32,
        /// Whether the output is its complement.
        flip: bool,
    },
    /// A row of the public plan's outputs, complemented if `flip`.
    Public {
        /// The row.
        row: u32,
        /// Whether the output is its complement.
        flip: bool,
    },
    /// Always this bit.
    Constant(bool),
}

/// A circuit as straight-line code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    order: Order,
    slots: usize,
    inputs: Vec<Option<u32>>,
    code: Code,
    layers: Vec<Range<usize>>,
    vectors: Vec<Range<usize>>,
    vector_ands: u64,
    outputs: Vec<Source>,
    public: Option<Box<Plan>>,
    ands: u64,
    and_runs: u64,
}

impl Plan {
    /// Compiles `circuit` with all inputs secret.
    pub fn new(circuit: &Circuit, order: Order) -> Plan {
        Plan::with_public(circuit, order, &vec![false; circuit.input_width()])
    }

    /// Compiles `circuit` for one pattern of public inputs: `public[i]` says that input bit `i` is known to both.
    ///
    /// # Panics
    /// If `public` is not as long as the circuit's inputs are wide.
    pub fn with_public(circuit: &Circuit, order: Order, public: &[bool]) -> Plan {
        assert_eq!(public.len(), circuit.input_width(), "one flag an input bit");
        let graph = Graph::new(circuit, public);
        let exported = graph.exported();
        let mut plan = match order {
            Order::DepthFirst => graph.depth_first(&exported),
            Order::Layered => graph.layered(&exported),
        };
        if !exported.is_empty() {
            plan.public = Some(Box::new(public_plan(circuit, &exported)));
        }
        plan
    }

    /// The order it was compiled for.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many slots the code needs.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// For each input bit the slot that holds it before the first instruction; `None` if no secret gate reads it.
    pub fn inputs(&self) -> &[Option<u32>] {
        &self.inputs
    }

    /// The gates in order. Runs are XORs, ANDs of which none reads what an earlier one of the run writes, or gates with a
    /// public operand; an AND may write what an earlier one reads. Each of the [layers](Self::layers) is a run.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// For [`Order::Layered`], the runs of `code` that are one layer of ANDs each; empty in the other order.
    pub fn layers(&self) -> &[Range<usize>] {
        &self.layers
    }

    /// Runs of [`VECTOR`] ANDs within a layer that share the slot of their first operand (multiplexers): one bit times
    /// a vector. They stand in the order of the code. Empty in [`Order::DepthFirst`].
    pub fn vectors(&self) -> &[Range<usize>] {
        &self.vectors
    }

    /// The number of ANDs in [`vectors`](Self::vectors), for one lane.
    pub fn vector_ands(&self) -> u64 {
        self.vector_ands
    }

    /// Where each output bit lies after the last instruction.
    pub fn outputs(&self) -> &[Source] {
        &self.outputs
    }

    /// The plan of what depends on public inputs only, if a secret gate or an output reads such a value. Its inputs are
    /// the circuit's (the secret ones unread) and its outputs are the rows that `public` operands name.
    pub fn public(&self) -> Option<&Plan> {
        self.public.as_deref()
    }

    /// The number of AND gates between secret values, for one lane.
    pub fn ands(&self) -> u64 {
        self.ands
    }

    /// The number of runs of ANDs.
    pub fn and_runs(&self) -> u64 {
        self.and_runs
    }
}

/// The plan that computes `exported` nodes from public inputs.
fn public_plan(circuit: &Circuit, exported: &[u32]) -> Plan {
    let all_secret = vec![false; circuit.input_width()];
    let mut graph = Graph::new(circuit, &all_secret);
    graph.outputs = exported.iter().map(|&node| Bit::new(node, false)).collect();
    graph.mark_live();
    graph.depth_first(&[])
}

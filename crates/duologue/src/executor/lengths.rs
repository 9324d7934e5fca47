//! The lengths of everything that a protocol sends, reads and stores: known from public terms alone.
//!
//! The executor reads by them, [`cost`](mod@crate::cost) adds them up, and a stage that sends or asks for anything else
//! ends the run with an error. They are no part of what the parties compare: both derive them from what is.

use super::protocol::Job;
use super::stored::StoredSize;
use crate::correlation::Demand;
use circuit::plan::{Op, Plan, Source};
use std::sync::Arc;

/// Bytes of one exchange of a task, as one party sees it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Exchange {
    /// Bytes sent to the peer.
    pub sent: usize,
    /// Bytes read from the peer.
    pub read: usize,
    /// Bytes of tables that wait between setup and online, in memory or on disk. In setup these are the bytes that are read;
    /// online the executor hands them to the stage, and nothing is exchanged with the peer.
    pub tables: Option<usize>,
}

impl Exchange {
    /// An exchange of these numbers of bytes.
    pub fn new(sent: usize, read: usize) -> Exchange {
        Exchange { sent, read, tables: None }
    }

    fn times(self, size: usize) -> Exchange {
        Exchange { sent: self.sent * size, read: self.read * size, tables: self.tables.map(|bytes| bytes * size) }
    }
}

/// The exchanges of a task in one phase, in order.
#[derive(Clone, Debug)]
pub(crate) struct Exchanges {
    list: List,
    next: usize,
    counted: bool,
}

#[derive(Clone, Debug)]
enum List {
    Few([Option<Exchange>; 2]),
    /// Each is so many times the unit.
    Many(Arc<Vec<usize>>, Exchange),
}

impl Exchanges {
    /// None at all.
    pub fn none() -> Exchanges {
        Exchanges::few([None, None])
    }

    /// At most two exchanges.
    pub fn few([first, second]: [Option<Exchange>; 2]) -> Exchanges {
        let list = List::Few(if first.is_some() { [first, second] } else { [second, None] });
        Exchanges { list, next: 0, counted: true }
    }

    /// One for each size, of that many times the bytes of `unit`. Tasks of one plan share the sizes.
    pub fn many(sizes: Arc<Vec<usize>>, unit: Exchange) -> Exchanges {
        Exchanges { list: List::Many(sizes, unit), next: 0, counted: true }
    }

    /// As many exchanges of no bytes at all, for a run that counts without sending.
    pub fn without_bytes(self) -> Exchanges {
        Exchanges { counted: false, ..self }
    }

    /// The next exchange, which stays the next one.
    pub fn peek(&self) -> Option<Exchange> {
        self.clone().next()
    }
}

impl Iterator for Exchanges {
    type Item = Exchange;

    fn next(&mut self) -> Option<Exchange> {
        let found = match &self.list {
            List::Few(list) => list.get(self.next).copied().flatten(),
            List::Many(sizes, unit) => sizes.get(self.next).map(|&size| unit.times(size)),
        }?;
        self.next += 1;
        let nothing = Exchange { tables: found.tables.map(|_| 0), ..Exchange::default() };
        Some(if self.counted { found } else { nothing })
    }
}

/// How the executor orders a protocol's tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scheduling {
    /// Whether the bytes of maps go one way, so that neither party waits for the other in them, in setup and online. Then
    /// inputs and outputs, for which one does wait, are taken many at a time and not between maps.
    pub one_way: bool,
    /// Whether each thread steps tasks of its own, as in GMW. Else the threads share the work of each task, as in Yao, where
    /// whole maps are made side by side only if they are gathered. A map with ANDs waits for the peer after its first step.
    pub side_by_side: bool,
    /// Memory of one bit of one lane, in bits.
    pub cell_bits: usize,
}

/// The numbers of correlations and bytes that one party draws, sends, reads and stores, task by task: a function of public
/// terms.
pub(crate) trait Lengths: Send + Sync {
    /// The order of its tasks.
    fn scheduling(&self) -> Scheduling;

    /// The exchange that begins a program.
    fn opening(&self) -> Option<Exchange> {
        None
    }

    /// The correlations that the setup of a task draws.
    fn demand(&self, job: &Job) -> Demand;

    /// The exchanges of a task's setup.
    fn setup(&self, _: &Job) -> Exchanges {
        Exchanges::none()
    }

    /// The exchanges of a task online.
    fn online(&self, job: &Job) -> Exchanges;

    /// Bytes that a task keeps from setup until it runs.
    fn stored(&self, job: &Job) -> StoredSize;

    /// The multiplicative depth of each output of a plan, given those of its inputs.
    fn depths(&self, plan: &Arc<Plan>, inputs: &[u32]) -> Vec<u32> {
        plan_depths(plan, inputs)
    }
}

fn plan_depths(plan: &Plan, inputs: &[u32]) -> Vec<u32> {
    let mut slots = vec![0; plan.slots()];
    for (slot, &depth) in plan.inputs().iter().zip(inputs) {
        slot.iter().for_each(|&slot| slots[slot as usize] = depth);
    }
    for instr in plan.code().iter() {
        let a: u32 = slots[instr.a as usize];
        slots[instr.dst as usize] = match instr.op {
            Op::Xor => a.max(slots[instr.b as usize]),
            Op::And => a.max(slots[instr.b as usize]) + 1,
            Op::XorPublic | Op::AndPublic => a,
        };
    }
    let depth = |source: &Source| match source {
        Source::Slot { slot, .. } => slots[*slot as usize],
        Source::Public { .. } | Source::Constant(_) => 0,
    };
    plan.outputs().iter().map(depth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_come_in_order_and_once() {
        let [one, two] = [Exchange::new(1, 2), Exchange::new(3, 4)];
        assert_eq!(Exchanges::none().count(), 0);
        assert_eq!(Exchanges::few([None, Some(two)]).collect::<Vec<_>>(), [two]);
        let mut many = Exchanges::many(Arc::new(vec![1, 3, 0]), one);
        assert_eq!((many.peek(), many.next(), many.peek()), (Some(one), Some(one), Some(Exchange::new(3, 6))));
        assert_eq!(many.collect::<Vec<_>>(), [Exchange::new(3, 6), Exchange::new(0, 0)]);
    }

    #[test]
    fn exchanges_without_bytes_are_as_many() {
        let table = Exchange { tables: Some(9), ..Exchange::new(0, 9) };
        let quiet: Vec<_> = Exchanges::few([Some(table), Some(Exchange::new(5, 0))]).without_bytes().collect();
        assert_eq!(quiet, [Exchange { tables: Some(0), ..Exchange::default() }, Exchange::default()]);
    }
}

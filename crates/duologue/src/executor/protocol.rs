//! What a protocol is: computation on one tile. It talks to nobody; what was prepared for it on disk it may read.
//!
//! A protocol says what a bit *is*: a plain bit, a share, a label. It sees one [`Task`] at a time, in two phases. In
//! *setup* ([`prepare`](Protocol::prepare)) it knows no input; what is fixed there flows from task to task as
//! [`Mask`](Protocol::Mask)s: the zero labels of garbled wires. *Online* ([`begin`](Protocol::begin) and
//! [`step`](Protocol::step)) the inputs flow as [`Value`](Protocol::Value)s. Each phase says exactly how many bytes it
//! will read next, before it reads them. Sending, receiving, ordering and memory belong to the
//! [`executor`](crate::executor).

use crate::Result;
use crate::correlation::{Demand, Stock};
use crate::executor::cells::Cells;
use crate::outbox::Outbox;
use crate::threads::Threads;
use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::Task;
use std::sync::Arc;

/// What a step asks for.
pub enum Flow<V> {
    /// Send what is in the outbox; come back with exactly so many bytes of the peer's.
    Exchange {
        /// The length of the next inbox.
        expect: usize,
    },
    /// The task's cell.
    Value(V),
    /// What an output task delivers to this party, if anything.
    Output(Option<BitMatrix>),
}

/// A secret task with what is public about it.
pub struct Job {
    /// Who shares the work on it.
    pub(crate) threads: Threads,
    /// The task.
    pub task: Task,
    /// Its plan, if it is a map.
    pub plan: Option<Arc<Plan>>,
    /// The rows that `public` operands of the plan name.
    pub public: BitMatrix,
}

impl Job {
    /// ANDs over all lanes; none if it is no map.
    pub fn ands(&self) -> u64 {
        self.plan.as_ref().map_or(0, |plan| plan.ands() * self.task.lanes as u64)
    }
}

/// An argument of a task.
pub enum Arg<'a, C> {
    /// What the protocol made.
    Secret(&'a C),
    /// What both parties know.
    Public(&'a BitMatrix),
}

/// A two-party protocol, or something that runs like one.
pub trait Protocol: Send + Sync {
    /// Whether threads step tasks side by side; else the threads share the work of each task, or there is little. A map
    /// with ANDs then waits for the peer after its first step.
    const SIDE_BY_SIDE: bool = false;
    /// Whether the bytes of maps go one way, so that neither party waits for the other in them. Then inputs and outputs,
    /// for which one does wait, are taken many at a time and not between maps.
    const ONE_WAY: bool = false;
    /// The setup half of a value.
    type Mask: Cells;
    /// The online half of a value.
    type Value: Cells;
    /// What a task carries from setup to online, used once.
    type Prepared: Send;
    /// Where a task has got to.
    type Run: Send;

    /// The correlations that preparing a task draws: exactly these.
    fn demand(&self, job: &Job) -> Demand;

    /// Bytes that come from the peer while a task is prepared: exactly so many.
    fn setup_bytes(&self, job: &Job) -> usize;

    /// Setup of a task, given the masks of its arguments: draws correlations, sends what does not depend on inputs.
    fn prepare(
        &self,
        job: &Job,
        args: &[Arg<'_, Self::Mask>],
        stock: &mut Stock,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(Self::Prepared, Self::Mask)>;

    /// Bytes of the peer's that the setup of a task waits for, if it is not complete: exactly so many. Whether it is
    /// complete is the same for both parties. The answers of many tasks travel together.
    fn answer_bytes(&self, _: &Job, _: &Self::Prepared) -> Option<usize> {
        None
    }

    /// Goes on with the setup of a task that waits for an answer.
    fn complete(&self, _: &Job, _: &mut Self::Prepared, _answer: &[u8], _outbox: &mut Outbox) -> Result<()> {
        Ok(())
    }

    /// Begins a task online. `feed` is this party's input or share of it, for the lanes of an input task.
    fn begin(
        &self,
        job: &Job,
        prepared: Self::Prepared,
        args: &[Arg<'_, Self::Value>],
        feed: Option<BitMatrix>,
    ) -> Result<Self::Run>;

    /// Goes on until something must be exchanged or the task is done. The first inbox is empty.
    fn step(&self, job: &Job, run: &mut Self::Run, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Self::Value>>;

    /// Bytes that a map reads online where maps are [one way](Self::ONE_WAY): exactly so many.
    fn map_bytes(&self, _: &Job) -> usize {
        0
    }

    /// Bytes that a task will ask for after its next step, if it certainly goes on then, whatever comes before.
    fn asks_next(&self, _: &Job, _: &Self::Run) -> Option<usize> {
        None
    }

    /// The setup half of a public value.
    fn lift_mask(&self, public: &BitMatrix) -> Self::Mask;

    /// The online half of a public value.
    fn lift(&self, public: &BitMatrix) -> Self::Value;
}

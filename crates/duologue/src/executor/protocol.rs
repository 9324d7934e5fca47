//! What the executor asks of a protocol: computation on one tile of lanes, stepped with bytes.
//!
//! A protocol says what a bit *is*: a plain bit, a share, a label. It sees one [`Task`] at a time, in two phases, and in
//! each it gives a [`Stage`]: a state machine that is handed what the peer sent and writes what the peer gets. In *setup*
//! no input is known; what is fixed there flows from task to task as [masks](Protocol::Mask), the zero labels of garbled
//! wires for example. *Online* the inputs flow as [values](Protocol::Value). How many bytes each exchange has is no
//! secret, and stands apart from the stages, in [`Lengths`]. Sending, receiving, files, order and memory belong to the
//! executor: a protocol sees neither a socket nor a disk.

use super::cells::{Cells, Nothing};
use super::lengths::Lengths;
use crate::correlation::Stock;
use crate::outbox::Outbox;
use crate::threads::Threads;
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::plan::Plan;
use circuit::program::Task;
use kernels::Block;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A secret task with what is public about it.
pub(crate) struct Job {
    /// The threads that share the work on it.
    pub threads: Threads,
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

    /// Bits of the cell that the task makes or opens.
    pub fn bits(&self) -> usize {
        self.task.rows * self.task.lanes
    }
}

/// An argument of a task.
pub(crate) enum Arg<'a, C> {
    /// A cell that the protocol made.
    Secret(&'a C),
    /// A cell that both parties know.
    Public(&'a BitMatrix),
}

/// How a stage goes on.
pub(crate) enum Flow<T> {
    /// It waits for the next exchange of its [`Lengths`].
    Exchange,
    /// It is done, and has no exchange left.
    Done(T),
}

/// The result of a task online.
pub(crate) enum Made<V> {
    /// The task's cell.
    Value(V),
    /// The part of an output that this party gets, if any.
    Output(Option<BitMatrix>),
}

/// A state machine that is stepped with bytes, in either phase.
pub(crate) trait Stage<P>: Send + 'static {
    /// The result of the stage.
    type Output;

    /// Goes on until something must be exchanged or the stage is done. The inbox of the first step is empty; that of
    /// every other one has the bytes that the last exchange reads.
    fn step(&mut self, protocol: &P, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Flow<Self::Output>>;
}

/// The stage of a task's setup.
pub(crate) trait Setup<P: Protocol>: Stage<P, Output = P::Prepared> {
    /// The mask of the task's cell, once. It is there when the stage is done; where tasks share the exchanges of their
    /// setup, already after the first step, since their readers begin before it is done.
    fn take_mask(&mut self) -> Option<P::Mask>;
}

/// A setup that exchanges nothing and fixes no mask: its result is ready at once.
pub(crate) struct Immediate<T>(Option<T>);

impl<T> Immediate<T> {
    /// A setup with this result.
    pub fn new(prepared: T) -> Self {
        Immediate(Some(prepared))
    }
}

impl<P, T: Send + 'static> Stage<P> for Immediate<T> {
    type Output = T;

    fn step(&mut self, _: &P, _: &Job, _: &[u8], _: &mut Outbox) -> Result<Flow<T>> {
        self.0.take().map(Flow::Done).ok_or_else(|| Error::usage("a task goes on that is done"))
    }
}

impl<T: Send + 'static, P: Protocol<Mask = Nothing, Prepared = T>> Setup<P> for Immediate<T> {
    fn take_mask(&mut self) -> Option<Nothing> {
        Some(Nothing)
    }
}

/// One role of a two-party protocol, or something that runs like one.
pub(crate) trait Protocol: Send + Sync + Sized + 'static {
    /// The setup half of a value.
    type Mask: Cells;
    /// The online half of a value.
    type Value: Cells;
    /// The result of a task's setup, used once.
    type Prepared: Send;
    /// The setup of a task.
    type Setup: Setup<Self>;
    /// A task with inputs.
    type Online: Stage<Self, Output = Made<Self::Value>>;

    /// Correlations, and bytes of every exchange.
    fn lengths(&self) -> &dyn Lengths;

    /// Begins the setup of a task: draws the correlations that its lengths name, and no others.
    fn setup(&self, job: &Job, args: &[Arg<'_, Self::Mask>], stock: &mut Stock) -> Result<Self::Setup>;

    /// Begins a task online. `feed` is this party's input or share of it, for the lanes of an input task.
    fn online(
        &self,
        job: &Job,
        prepared: Self::Prepared,
        args: &[Arg<'_, Self::Value>],
        feed: Option<BitMatrix>,
    ) -> Result<Self::Online>;

    /// The setup half of a public value.
    fn lift_mask(&self, public: &BitMatrix) -> Self::Mask;

    /// The online half of a public value.
    fn lift(&self, public: &BitMatrix) -> Self::Value;

    /// Whether what opens the program has come, if anything does.
    fn is_open(&self) -> bool {
        true
    }

    /// Takes what opens the program, from the peer, after correlations were made and before any task.
    fn open(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    /// The secret of the program that its prepared tasks need: Δ at Yao's garbler, S at the evaluator. None where prepared
    /// tasks cannot be stored.
    fn program_secret(&self) -> Option<Zeroizing<Block>> {
        None
    }

    /// Writes a task's prepared state, in as many bytes as its lengths say.
    fn store(&self, _: &Job, _: Self::Prepared, _write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(Error::usage("this protocol's setup cannot be stored"))
    }

    /// A task's prepared state, as it was stored.
    fn restore(&self, _: &Job, _read: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Self::Prepared> {
        Err(Error::usage("this protocol's setup cannot be stored"))
    }
}

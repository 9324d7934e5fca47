//! The plain protocol: a bit is a bit. One process, no secrets; the reference of all others.

use crate::correlation::{Demand, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::cells::Nothing;
use crate::executor::interpreter::{gather, map};
use crate::executor::{Alone, Executor, Window};
use crate::executor::{Arg, Flow, Job, Protocol};
use crate::outbox::Outbox;
use crate::{Error, Party, Result};
use circuit::program::{Binding, Kind};
use circuit::{BitMatrix, Order, Schedule};
use std::sync::Arc;

/// Runs a program on plain bits; an output goes to whoever asks.
pub struct Plain;

/// Runs a bound program on all inputs at once, a shared one given as its value; all outputs.
///
/// # Errors
/// If an input is missing or misshapen.
pub fn run(binding: &Binding, inputs: &Inputs) -> Result<Outputs> {
    let feeds = inputs.feeds(binding, |_| true)?;
    let schedule = Schedule::new(binding, Order::DepthFirst, |slots| (CACHE * 8 / slots.max(1)).max(64));
    let schedule = Arc::new(schedule.map_err(|error| Error::usage(error.to_string()))?);
    let window = Window { cells: 1 << 26, maps: 1 << 24 };
    let job = (Arc::new(binding.clone()), schedule);
    let executor = Executor::new(Plain, None, job, (window, false), &feeds)?;
    let ran = executor.online(&feeds, &mut Stock::new(Party::Alice), &mut Alone)?;
    Ok(Outputs::new(binding, ran.outputs))
}

/// The working set of a tile in bytes.
const CACHE: usize = 1 << 20;

impl Protocol for Plain {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = ();
    type Run = BitMatrix;

    fn demand(&self, _: &Job) -> Demand {
        Demand::NONE
    }

    fn setup_bytes(&self, _: &Job) -> usize {
        0
    }

    fn prepare(
        &self,
        _: &Job,
        _: &[Arg<'_, Nothing>],
        _: &mut Stock,
        _: &[u8],
        _: &mut Outbox,
    ) -> Result<((), Nothing)> {
        Ok(((), Nothing))
    }

    fn begin(&self, job: &Job, _: (), args: &[Arg<'_, BitMatrix>], feed: Option<BitMatrix>) -> Result<BitMatrix> {
        match &job.task.kind {
            Kind::Input { .. } => feed.ok_or_else(|| Error::usage("an input is missing")),
            Kind::Output { wiring, .. } => Ok(gather(wiring, job.task.rows, job.task.lanes, args)),
            Kind::Map { wiring, .. } => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                Ok(map(plan, wiring, job.task.lanes, args, &job.public))
            }
            Kind::Constant { .. } | Kind::View { .. } => Err(Error::usage("not a task of a protocol")),
        }
    }

    fn step(&self, job: &Job, run: &mut BitMatrix, _: &[u8], _: &mut Outbox) -> Result<Flow<BitMatrix>> {
        let made = std::mem::replace(run, BitMatrix::zeros(0, 0));
        Ok(if matches!(job.task.kind, Kind::Output { .. }) { Flow::Output(Some(made)) } else { Flow::Value(made) })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

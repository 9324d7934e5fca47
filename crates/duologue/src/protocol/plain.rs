//! The plain protocol: a bit is a bit. One process, no secrets; the reference of all others.

use crate::call::{CallRun, InParts, PlainCall};
use crate::correlation::{Demand, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::cells::Nothing;
use crate::executor::interpreter::{gather, map};
use crate::executor::{
    Arg, Engine, Exchanges, Executor, Flow, Immediate, Job, Lengths, Made, NoPeer, Program, Protocol, Scheduling,
    Stage, StoredSize, Window,
};
use crate::outbox::Outbox;
use crate::threads::Threads;
use crate::{Error, Party, Result};
use circuit::program::{Binding, CallPart, TaskKind};
use circuit::{BitMatrix, Order, Schedule};
use std::sync::Arc;

/// Runs a program on plain bits; an output goes to whoever asks.
pub(crate) struct Plain;

/// Runs a bound program on all inputs at once, a shared one given as its value; all outputs.
///
/// # Errors
/// If an input is missing or misshapen.
pub fn run(binding: &Binding, inputs: &Inputs) -> Result<Outputs> {
    let feeds = inputs.feeds(binding, |_| true)?;
    let schedule = Schedule::new(binding, Order::DepthFirst, |slots| (CACHE * 8 / slots.max(1)).max(64));
    let program = Program {
        party: None,
        binding: Arc::new(binding.clone()),
        schedule: Arc::new(schedule?),
        window: Window { cells: 1 << 26, maps: 1 << 24 },
        ahead: false,
        public: feeds.clone(),
        threads: Threads::default(),
        strands: 1,
        movers: 0,
    };
    let engine = engine(program)?;
    let ran = engine.online(&feeds, &mut Stock::new(Party::Alice), &mut NoPeer)?;
    Ok(Outputs::new(binding, ran.outputs))
}

fn engine(program: Program) -> Result<Box<dyn Engine>> {
    match program.schedule.parts.clone() {
        None => Ok(Box::new(Executor::new(Plain, program)?)),
        Some(parts) => {
            let call = |_: &mut (), part: &CallPart| -> Result<Box<dyn CallRun>> { Ok(Box::new(PlainCall::new(part))) };
            Ok(Box::new(InParts::new(program, &parts, &mut (), |_, (_, program)| engine(program), call)?))
        }
    }
}

/// The working set of a tile in bytes.
const CACHE: usize = 1 << 20;

/// Nothing is exchanged or kept.
impl Lengths for Plain {
    fn scheduling(&self) -> Scheduling {
        Scheduling { one_way: false, side_by_side: false, cell_bits: 1 }
    }

    fn demand(&self, _: &Job) -> Demand {
        Demand::NONE
    }

    fn online(&self, _: &Job) -> Exchanges {
        Exchanges::none()
    }

    fn stored(&self, _: &Job) -> StoredSize {
        StoredSize::default()
    }
}

/// A task that was computed when it began.
pub(crate) struct Computed(Option<Made<BitMatrix>>);

impl Stage<Plain> for Computed {
    type Output = Made<BitMatrix>;

    fn step(&mut self, _: &Plain, _: &Job, _: &[u8], _: &mut Outbox) -> Result<Flow<Made<BitMatrix>>> {
        self.0.take().map(Flow::Done).ok_or_else(|| Error::usage("a task goes on that is done"))
    }
}

impl Protocol for Plain {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = ();
    type Setup = Immediate<()>;
    type Online = Computed;

    fn lengths(&self) -> &dyn Lengths {
        self
    }

    fn setup(&self, _: &Job, _: &[Arg<'_, Nothing>], _: &mut Stock) -> Result<Immediate<()>> {
        Ok(Immediate::new(()))
    }

    fn online(&self, job: &Job, _: (), args: &[Arg<'_, BitMatrix>], feed: Option<BitMatrix>) -> Result<Computed> {
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        let made = match &job.task.kind {
            TaskKind::Input { .. } => Made::Value(feed.ok_or_else(|| Error::usage("an input is missing"))?),
            TaskKind::Output { wiring, .. } => Made::Output(Some(gather(wiring, rows, lanes, args))),
            TaskKind::Map { wiring, .. } => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                Made::Value(map(plan, wiring, lanes, args, &job.public))
            }
            TaskKind::Constant { .. } | TaskKind::View { .. } => return Err(Error::usage("not a task of a protocol")),
        };
        Ok(Computed(Some(made)))
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

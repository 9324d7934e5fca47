//! The executor: the order of tasks, tiles in flight, memory, rounds; all input and output of protocols.
//!
//! It walks a [`Schedule`] twice: *setup*, before inputs are known, and *online*. In both, every task that is ready and
//! fits into the window is stepped into one outbox, which is exchanged once: independent steps and tiles share rounds.
//! Where maps need none (Yao), inputs and outputs wait until many of them share one, and threads make maps side by side.
//! Which tasks are under way depends on the schedule and the window alone, so both parties do the same without a word.
//! In the *streamed* timing a task is set up just before it begins, and the memory of what is under way is bounded by
//! the window. Held whole are the task list, what a party supplies or learns, public cells, and cells that a
//! lane-crossing view waits for; [`cost`](mod@crate::cost) counts the peak. With several threads or strands there are also
//! the maps that were gathered (`strands`).

pub(crate) mod cells;
mod exchange;
mod groups;
pub(crate) mod interpreter;
pub(crate) mod lengths;
mod link;
mod mail;
#[cfg(test)]
#[path = "mail/tests.rs"]
mod mail_tests;
mod online;
pub(crate) mod plans;
mod protocol;
mod queue;
mod setup;
mod store;
mod stored;
mod strands;
mod tables;

pub(crate) use lengths::{Exchange, Exchanges, Lengths, Scheduling};
pub(crate) use link::{Link, NoPeer};
pub use link::{Phase, Window};
pub(crate) use plans::PlanCache;
pub(crate) use protocol::{Arg, Flow, Immediate, Job, Made, Protocol, Setup, Stage};
pub(crate) use stored::{RunSink, RunSource, StoredSize};

use crate::correlation::{Demand, Stock};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, CellId, Recipient, Schedule, Task, TaskKind};
use kernels::Block;
use online::{Online, deliver};
use setup::Ready;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{Store, constant, feed};
use tables::StoredRun;
use zeroize::Zeroizing;

/// Inputs by their port's place; what is not this party's is absent. They are the caller's and not copied.
pub(crate) type Feeds = Vec<Option<Arc<BitMatrix>>>;

/// Outputs by their port's place; what is not this party's is absent.
pub(crate) type Delivered = Vec<Option<BitMatrix>>;

/// A program as one party runs it, whichever the protocol.
pub(crate) struct Program {
    /// This party; nobody if it runs in plain.
    pub party: Option<Party>,
    pub binding: Arc<Binding>,
    pub schedule: Arc<Schedule>,
    pub window: Window,
    /// Whether all of setup comes before the first input.
    pub ahead: bool,
    /// The public inputs.
    pub public: Feeds,
    pub threads: Threads,
    /// How many maps take turns on the wire, where nobody waits for them.
    pub strands: usize,
    /// How many of the threads follow no strand of this party's own, if one strand is agreed on.
    pub movers: usize,
}

/// A program under way: the state of one protocol between setup and online.
pub(crate) struct Executor<P: Protocol> {
    protocol: P,
    program: Program,
    scheduling: Scheduling,
    ready: BTreeMap<u32, Ready<P>>,
    /// The run that was prepared in an earlier session, if setup is not ours to make.
    stored: Option<StoredRun>,
    masks: Store<P::Mask>,
    public: Vec<Option<Arc<BitMatrix>>>,
    weights: Vec<usize>,
    demand: Demand,
    /// Demand of tasks that are not set up yet.
    undrawn: Demand,
    /// Time of setup within the online phase, when setup is streamed.
    streamed_setup: Duration,
    /// Bytes that setup reads and sends, kept since fresh memory for each task takes its time.
    inbox: Inbox,
    outbox: Outbox,
}

/// The results of a run, and its cost.
pub(crate) struct Ran {
    /// The values that the output ports deliver to this party.
    pub outputs: Delivered,
    /// The time that setup took within the online phase.
    pub streamed_setup: Duration,
    /// The most bytes of cells and maps at once.
    pub peak: usize,
    /// The program's: giving back the memory of large plans takes milliseconds, for which no output has to wait.
    pub schedule: Arc<Schedule>,
}

/// An executor of some protocol.
pub(crate) trait Engine: Send {
    /// The correlations that the whole program draws.
    fn demand(&self) -> Demand;

    /// Bytes that the whole program keeps between setup and online.
    fn stored_size(&self) -> StoredSize;

    /// The secret of the program that its prepared tasks need, where they can be stored.
    fn program_secret(&self) -> Option<Zeroizing<Block>>;

    /// Setup: of the whole program, or of as much as is made at once when it is streamed.
    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()>;

    /// Setup of the whole program, which is stored for a later session.
    fn setup_to(&mut self, run: &mut dyn RunSink, stock: &mut Stock, link: &mut dyn Link) -> Result<()>;

    /// Takes the setup that was stored in an earlier session, from a place on.
    fn resume(&mut self, run: &Arc<dyn RunSource>, at: StoredSize) -> Result<()>;

    /// Runs the program on inputs.
    fn online(self: Box<Self>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran>;
}

impl<P: Protocol> Engine for Executor<P> {
    fn demand(&self) -> Demand {
        self.demand
    }

    fn stored_size(&self) -> StoredSize {
        tables::places(self, StoredSize::default()).1
    }

    fn program_secret(&self) -> Option<Zeroizing<Block>> {
        self.protocol.program_secret()
    }

    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let threads = self.program.threads.clone();
        threads.install(|| self.set_up(stock, link))
    }

    fn setup_to(&mut self, run: &mut dyn RunSink, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let threads = self.program.threads.clone();
        threads.install(|| self.set_up_to(run, stock, link))
    }

    fn resume(&mut self, run: &Arc<dyn RunSource>, at: StoredSize) -> Result<()> {
        self.stored = Some(StoredRun { run: run.clone(), places: tables::places(self, at).0 });
        Ok(())
    }

    fn online(self: Box<Self>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let threads = self.program.threads.clone();
        threads.install(|| self.run(inputs, stock, link))
    }
}

impl<P: Protocol> Executor<P> {
    /// Ready for setup.
    pub fn new(protocol: P, program: Program) -> Result<Self> {
        let schedule = program.schedule.clone();
        let mut executor = Executor {
            scheduling: protocol.lengths().scheduling(),
            protocol,
            ready: BTreeMap::new(),
            stored: None,
            masks: Store::new(&schedule.uses),
            public: schedule.tasks.iter().map(|_| None).collect(),
            weights: vec![0; schedule.tasks.len()],
            demand: Demand::NONE,
            undrawn: Demand::NONE,
            streamed_setup: Duration::ZERO,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            program,
        };
        executor.run_public()?;
        for id in executor.secret_tasks().collect::<Vec<_>>() {
            let job = executor.outline(id);
            executor.demand += executor.protocol.lengths().demand(&job);
            executor.weights[id as usize] = executor.weigh(&job);
        }
        executor.undrawn = executor.demand;
        Ok(executor)
    }

    fn task(&self, id: u32) -> &Task {
        &self.program.schedule.tasks[id as usize]
    }

    fn secret_tasks(&self) -> impl Iterator<Item = u32> {
        let tasks = &self.program.schedule.tasks;
        tasks.iter().filter(|task| !task.public).map(|task| task.cell)
    }

    /// Everything that both parties know, in plain.
    fn run_public(&mut self) -> Result<()> {
        let schedule = self.program.schedule.clone();
        for task in schedule.tasks.iter().filter(|task| task.public) {
            let cell = match &task.kind {
                TaskKind::Input { port, from, .. } => feed(&self.program.public, *port, *from, task)?,
                TaskKind::Constant { bits } => constant(bits, task.lanes),
                TaskKind::Map { plan, wiring } => {
                    let none = BitMatrix::zeros(0, task.lanes);
                    interpreter::map(schedule.plan(*plan), wiring, task.lanes, &self.public_args(task), &none)
                }
                TaskKind::View { wiring } | TaskKind::Output { wiring, .. } => {
                    interpreter::gather(wiring, task.rows, task.lanes, &self.public_args(task))
                }
            };
            self.public[task.cell as usize] = Some(Arc::new(cell));
        }
        Ok(())
    }

    fn public_args(&self, task: &Task) -> Vec<Arg<'_, BitMatrix>> {
        let cell = |&id: &CellId| Arg::Public(self.public[id as usize].as_deref().expect("made before its readers"));
        task.args.iter().map(cell).collect()
    }

    /// A secret task without its public rows: enough to count.
    fn outline(&self, id: u32) -> Job {
        let task = self.task(id).clone();
        let plan = match &task.kind {
            TaskKind::Map { plan, .. } => Some(self.program.schedule.plan(*plan).clone()),
            _ => None,
        };
        Job { threads: self.program.threads.clone(), public: BitMatrix::zeros(0, task.lanes), task, plan }
    }

    /// Memory of a task under way, in bytes: the slots of a map, and what it draws unless that lies ready.
    fn weigh(&self, job: &Job) -> usize {
        let Some(plan) = &job.plan else { return 0 };
        let drawn = if self.program.ahead { Demand::NONE } else { self.protocol.lengths().demand(job) };
        let triples = if drawn == Demand::NONE { 0 } else { job.ands() as usize };
        let cots = (drawn.cots_by_alice + drawn.cots_by_bob) as usize;
        (plan.slots() * job.task.lanes * self.scheduling.cell_bits + 3 * triples + 128 * cots).div_ceil(8)
    }

    /// A secret task with its public rows.
    fn job(&self, id: u32) -> Job {
        let mut job = self.outline(id);
        if let (TaskKind::Map { wiring, .. }, Some(plan)) = (&job.task.kind, &job.plan) {
            let args: Vec<_> = job.task.args.iter().map(|&arg| self.public[arg as usize].as_deref()).collect();
            job.public = interpreter::public_rows(plan, wiring, job.task.lanes, &args);
        }
        job
    }

    fn run(mut self, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let mut online = Online::new(&mut self);
        self.deliver_public(&mut online.outputs);
        loop {
            online.start_ready(&mut self, inputs, stock, link)?;
            if !online.is_waiting() {
                break;
            }
            online.exchange(&self, link)?;
        }
        let (outputs, peak) = online.end()?;
        Ok(Ran { outputs, streamed_setup: self.streamed_setup, peak, schedule: self.program.schedule })
    }

    fn deliver_public(&self, outputs: &mut Delivered) {
        for task in self.program.schedule.tasks.iter().filter(|task| task.public) {
            let TaskKind::Output { port, recipient, from, .. } = task.kind else { continue };
            let value = self.public[task.cell as usize].as_deref().expect("public tasks ran first");
            match (self.program.party, recipient) {
                // One share of a public bit is the bit itself, the other is zero.
                (Some(Party::Bob), Recipient::Shared) => {}
                (Some(party), Recipient::Party(other)) if party != other => {}
                _ => deliver(outputs, port, from, value),
            }
        }
    }
}

/// A stage and its lengths go on differently.
fn unforeseen() -> Error {
    Error::usage("a task exchanges something else than its lengths say")
}

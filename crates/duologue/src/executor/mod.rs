//! The executor: the order of tasks, tiles in flight, memory, rounds; all input and output of protocols.
//!
//! It walks a [`Schedule`] twice: *setup*, before inputs are known, and *online*. In both, every task that is ready and
//! fits into the window is stepped into one outbox, which is exchanged once: independent steps and tiles share rounds.
//! Where maps need none (Yao), inputs and outputs wait until many of them share one, and threads make maps side by side.
//! Which tasks are under way depends on the schedule and the window alone, so both parties do the same without a word.
//! In the *streamed* timing a task is prepared just before it begins, and the memory of what is under way is bounded by
//! the window. Held whole are the task list, what a party supplies or learns, public cells, and cells that a
//! lane-crossing view waits for; [`cost`](mod@crate::cost) counts the peak. With several threads there is also what is
//! owed (`maps`).

pub(crate) mod cells;
pub(crate) mod interpreter;
mod maps;
mod online;
mod protocol;
pub(crate) mod shelf;
mod store;

use crate::correlation::{Demand, Stock};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Party, Result};
use cells::Cells;
use circuit::BitMatrix;
use circuit::program::{Binding, CellId, Kind, Recipient, Schedule, Task};
use online::{Online, deliver};
pub(crate) use protocol::{Arg, Flow, Job, Protocol};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Store, args, constant, feed, view};

/// What the executor asks of a session. Which of a party's threads asks is not said.
pub trait Link: Send {
    /// Sends bytes, which may wait for [`flush`](Link::flush) or for the next receive.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// Sends all that an outbox holds, and empties it; its memory may be another's then.
    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.send(outbox)?;
        outbox.clear();
        Ok(())
    }

    /// Lets nothing wait any longer.
    fn flush(&mut self) -> Result<()>;

    /// Reads exactly `count` bytes in place of what the inbox holds.
    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()>;

    /// Makes sure that `stock` has `demand`; `ahead` will be asked for later and may be made in the same exchange.
    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()>;

    /// Whether it may send and receive while others compute.
    fn overlaps(&self) -> bool {
        true
    }

    /// ANDs done of all; an error cancels the run.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()>;
}

/// No peer: for the plain protocol, which exchanges nothing.
pub(crate) struct Alone;

impl Link for Alone {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn receive(&mut self, _: usize, inbox: &mut Inbox) -> Result<()> {
        inbox.clear();
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// A phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before inputs are known.
    Setup,
    /// With inputs.
    Online,
}

/// How much may be under way at once; the parties agree on it, since it decides what shares a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Bytes of cells that wait for their readers, beyond which no input is taken and no output waits.
    pub cells: usize,
    /// Bytes of maps.
    pub maps: usize,
}

/// ANDs and bits of tasks whose setup shares its exchanges: some megabytes each way.
const AT_ONCE: u64 = 1 << 24;

/// Inputs or outputs by their port's place; what is not this party's is absent.
pub(crate) type Feeds = Vec<Option<BitMatrix>>;

/// A program under way: the state of one protocol between setup and online.
pub struct Executor<P: Protocol> {
    protocol: P,
    /// Who runs it; in plain nobody.
    party: Option<Party>,
    binding: Arc<Binding>,
    schedule: Arc<Schedule>,
    window: Window,
    ahead: bool,
    threads: Threads,
    prepared: BTreeMap<u32, (Job, P::Prepared)>,
    /// What was prepared in an earlier session, instead.
    waiting: Option<shelf::Waiting<P>>,
    masks: Store<P::Mask>,
    public: Vec<Option<Arc<BitMatrix>>>,
    weights: Vec<usize>,
    demand: Demand,
    /// Demand of tasks that are not prepared yet.
    undrawn: Demand,
    /// Time of preparing within the online phase, when setup is streamed.
    streamed_setup: Duration,
    /// What preparing reads and sends: fresh memory for the tables of each task takes its time.
    inbox: Inbox,
    outbox: Outbox,
}

/// What a run made and took.
pub(crate) struct Ran {
    /// What each output port delivers to this party.
    pub outputs: Feeds,
    /// The time that setup took within the online phase.
    pub streamed_setup: Duration,
    /// The most bytes of cells and maps at once.
    pub peak: usize,
    /// The program's: giving back the memory of large plans takes milliseconds, for which no output has to wait.
    pub schedule: Arc<Schedule>,
}

impl<P: Protocol> Executor<P> {
    /// Ready for setup. `public` are the public inputs; with `ahead` all of setup comes before the first input.
    pub(crate) fn new(
        protocol: P,
        party: Option<Party>,
        (binding, schedule): (Arc<Binding>, Arc<Schedule>),
        (window, ahead): (Window, bool),
        public: &Feeds,
    ) -> Result<Self> {
        let mut executor = Executor {
            protocol,
            party,
            binding,
            window,
            ahead,
            threads: Threads::default(),
            prepared: BTreeMap::new(),
            waiting: None,
            masks: Store::new(&schedule.uses),
            public: schedule.tasks.iter().map(|_| None).collect(),
            weights: vec![0; schedule.tasks.len()],
            demand: Demand::NONE,
            undrawn: Demand::NONE,
            streamed_setup: Duration::ZERO,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            schedule,
        };
        executor.run_public(public)?;
        for id in executor.secret_tasks().collect::<Vec<_>>() {
            let job = executor.outline(id);
            executor.demand += executor.protocol.demand(&job);
            executor.weights[id as usize] = executor.weigh(&job);
        }
        executor.undrawn = executor.demand;
        Ok(executor)
    }

    /// The same, whose work these share.
    pub(crate) fn with_threads(mut self, threads: &Threads) -> Self {
        self.threads = threads.clone();
        self
    }

    /// The correlations that the whole program draws.
    pub(crate) fn demand(&self) -> Demand {
        self.demand
    }

    fn task(&self, id: u32) -> &Task {
        &self.schedule.tasks[id as usize]
    }

    fn secret_tasks(&self) -> impl Iterator<Item = u32> {
        let tasks = &self.schedule.tasks;
        tasks.iter().filter(|task| !task.public).map(|task| task.cell)
    }

    /// Everything that both parties know, in plain.
    fn run_public(&mut self, inputs: &Feeds) -> Result<()> {
        let schedule = self.schedule.clone();
        for task in schedule.tasks.iter().filter(|task| task.public) {
            let cell = match &task.kind {
                Kind::Input { port, from, .. } => feed(inputs, *port, *from, task)?,
                Kind::Constant { bits } => constant(bits, task.lanes),
                Kind::Map { plan, wiring } => {
                    let none = BitMatrix::zeros(0, task.lanes);
                    interpreter::map(schedule.plan(*plan), wiring, task.lanes, &self.public_args(task), &none)
                }
                Kind::View { wiring } | Kind::Output { wiring, .. } => {
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
            Kind::Map { plan, .. } => Some(self.schedule.plan(*plan).clone()),
            _ => None,
        };
        Job { threads: self.threads.clone(), public: BitMatrix::zeros(0, task.lanes), task, plan }
    }

    /// Memory of a task under way, in bytes: the slots of a map, and what it draws unless that lies ready.
    fn weight(&self, task: &Task) -> usize {
        self.weights[task.cell as usize]
    }

    fn weigh(&self, job: &Job) -> usize {
        let Some(plan) = &job.plan else { return 0 };
        let cell_bits = P::Value::CELL_BITS.max(P::Mask::CELL_BITS);
        let drawn = if self.ahead { Demand::NONE } else { self.protocol.demand(job) };
        let triples = if drawn == Demand::NONE { 0 } else { job.ands() as usize };
        let cots = (drawn.cots_by_alice + drawn.cots_by_bob) as usize;
        (plan.slots() * job.task.lanes * cell_bits + 3 * triples + 128 * cots).div_ceil(8)
    }

    /// A secret task with its public rows.
    fn job(&self, id: u32) -> Job {
        let mut job = self.outline(id);
        if let (Kind::Map { wiring, .. }, Some(plan)) = (&job.task.kind, &job.plan) {
            let args: Vec<_> = job.task.args.iter().map(|&arg| self.public[arg as usize].as_deref()).collect();
            job.public = interpreter::public_rows(plan, wiring, job.task.lanes, &args);
        }
        job
    }

    /// Setup: of the whole program, or of as much as is made at once when it is streamed.
    pub(crate) fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let threads = self.threads.clone();
        threads.install(|| self.set_up(stock, link))
    }

    fn set_up(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        if !self.ahead {
            return link.supply(stock, Demand::NONE, self.undrawn);
        }
        link.supply(stock, self.undrawn, Demand::NONE)?;
        let ids: Vec<u32> = self.secret_tasks().collect();
        let (mut done, mut waiting, mut work) = (0, Vec::new(), 0);
        for id in ids {
            let job = self.job(id);
            done += job.ands();
            if let Some(prepared) = self.prepare(&job, stock, link)? {
                if self.protocol.answer_bytes(&job, &prepared).is_some() {
                    waiting.push(id);
                    work += job.ands() + (job.task.rows * job.task.lanes) as u64;
                }
                self.prepared.insert(id, (job, prepared));
            }
            if work >= AT_ONCE {
                self.complete(std::mem::take(&mut waiting), link)?;
                work = 0;
            }
            link.progress(Phase::Setup, done, self.schedule.totals.and0)?;
        }
        self.complete(waiting, link)?;
        (self.inbox, self.outbox) = Default::default();
        link.flush()
    }

    /// Exchanges until the setup of these tasks is complete: all of them share each exchange.
    fn complete(&mut self, tasks: Vec<u32>, link: &mut dyn Link) -> Result<()> {
        let (mut inbox, mut outbox) = (Inbox::default(), Outbox::default());
        loop {
            let (protocol, prepared) = (&self.protocol, &mut self.prepared);
            let mut waiting = Vec::new();
            for id in &tasks {
                let (job, task) = &prepared[id];
                waiting.extend(protocol.answer_bytes(job, task).map(|bytes| (id, bytes)));
            }
            if waiting.is_empty() {
                return Ok(());
            }
            link.flush()?;
            link.receive(waiting.iter().map(|(_, bytes)| bytes).sum(), &mut inbox)?;
            let mut rest = &inbox[..];
            for (id, bytes) in waiting {
                let answer = rest.split_off(..bytes).expect("exactly the sum was read");
                let (job, task) = prepared.get_mut(id).expect("what waits is prepared");
                protocol.complete(job, task, answer, &mut outbox)?;
                link.send(&outbox)?;
                outbox.clear();
            }
        }
    }

    /// Setup of one task: what it draws, and what the garbler sends ahead. A view has only its mask.
    fn prepare(&mut self, job: &Job, stock: &mut Stock, link: &mut dyn Link) -> Result<Option<P::Prepared>> {
        let args = args(&job.task, &self.masks, &self.public);
        let (prepared, mask) = if let Kind::View { wiring } = &job.task.kind {
            (None, view(wiring, &job.task, &args, |public| self.protocol.lift_mask(public)))
        } else {
            link.receive(self.protocol.setup_bytes(job), &mut self.inbox)?;
            let (prepared, mask) = self.protocol.prepare(job, &args, stock, &self.inbox, &mut self.outbox)?;
            (Some(prepared), mask)
        };
        drop(args);
        link.send(&self.outbox)?;
        self.outbox.clear();
        self.masks.release(&job.task.args, |_| {});
        self.masks.put(job.task.cell, mask);
        Ok(prepared)
    }

    /// Takes a task's setup, or does it now.
    fn take_prepared(&mut self, id: u32, stock: &mut Stock, link: &mut dyn Link) -> Result<(Job, Option<P::Prepared>)> {
        if let Some(waiting) = self.waiting.as_ref().filter(|waiting| waiting.is_kept(id)) {
            let job = self.job(id);
            let prepared = waiting.take(&self.protocol, &job)?;
            return Ok((job, Some(prepared)));
        }
        if self.ahead {
            return Ok(match self.prepared.remove(&id) {
                Some((job, prepared)) => (job, Some(prepared)),
                None => (self.outline(id), None),
            });
        }
        let start = Instant::now();
        let job = self.job(id);
        self.supply(&job, stock, link)?;
        let prepared = self.prepare(&job, stock, link)?;
        if prepared.as_ref().is_some_and(|prepared| self.protocol.answer_bytes(&job, prepared).is_some()) {
            return Err(Error::usage("setup with answers is not streamed: every task would take a round trip"));
        }
        self.streamed_setup += start.elapsed();
        Ok((job, prepared))
    }

    /// Makes sure that the stock has what a task draws, when correlations are made block by block.
    fn supply(&mut self, job: &Job, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let demand = self.protocol.demand(job);
        if demand != Demand::NONE {
            link.supply(stock, demand, self.undrawn)?;
            self.undrawn = self.undrawn.missing_from(&demand);
        }
        Ok(())
    }

    /// Runs the program on inputs.
    pub(crate) fn online(self, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let threads = self.threads.clone();
        threads.install(|| self.run(inputs, stock, link))
    }

    fn run(mut self, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let mut online = Online::new(&self);
        self.deliver_public(&mut online.outputs);
        loop {
            online.start_ready(&mut self, inputs, stock, link)?;
            if !online.is_waiting() {
                break;
            }
            online.exchange(&mut self, link)?;
        }
        match online.unfinished {
            0 => {
                let Executor { schedule, streamed_setup, .. } = self;
                Ok(Ran { outputs: online.outputs, streamed_setup, peak: online.peak, schedule })
            }
            left => Err(Error::usage(format!("{left} tasks could not be started"))),
        }
    }

    fn deliver_public(&self, outputs: &mut Feeds) {
        for task in self.schedule.tasks.iter().filter(|task| task.public) {
            let Kind::Output { port, recipient, from, .. } = task.kind else { continue };
            let value = self.public[task.cell as usize].as_deref().expect("public tasks ran first");
            match (self.party, recipient) {
                // One share of a public bit is the bit itself, the other is zero.
                (Some(Party::Bob), Recipient::Shared) => {}
                (Some(party), Recipient::Party(other)) if party != other => {}
                _ => deliver(outputs, port, from, value),
            }
        }
    }
}

//! The executor: the order of tasks, tiles in flight, memory, rounds; all input and output of protocols.
//!
//! It walks a [`Schedule`] twice: *setup*, before inputs are known, and *online*. In both, every task that is ready and
//! fits into the window is stepped into one outbox, which is exchanged once: independent steps and tiles share rounds.
//! Which tasks are under way depends on the schedule and the window alone, so both parties do the same without a word.
//! In the *streamed* timing a task is prepared just before it begins, and memory stays bounded by the window.

use crate::cells::{self, Cells};
use crate::correlation::{Demand, Stock};
use crate::plain;
use crate::protocol::{Arg, Flow, Job, Protocol};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, CellId, Kind, Piece, Recipient, Schedule, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tasks beyond the oldest unfinished one that may be under way.
const LOOKAHEAD: usize = 1 << 10;

/// What the executor asks of a session.
pub trait Link {
    /// Sends bytes, which may wait for [`flush`](Link::flush) or for the next receive.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// Lets nothing wait any longer.
    fn flush(&mut self) -> Result<()>;

    /// Reads exactly `count` bytes in place of what the inbox holds.
    fn receive(&mut self, count: usize, inbox: &mut Vec<u8>) -> Result<()>;

    /// Makes sure that `stock` has `demand`; `ahead` will be asked for later and may be made in the same exchange.
    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()>;

    /// ANDs done of all; an error cancels the run.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()>;
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
    /// Bytes of cells that wait for their readers, beyond which no input is taken.
    pub cells: usize,
    /// Bytes of maps.
    pub maps: usize,
}

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
    prepared: BTreeMap<u32, (Job, P::Prepared)>,
    masks: Store<P::Mask>,
    public: Vec<Option<Arc<BitMatrix>>>,
    demand: Demand,
    /// Demand of tasks that are not prepared yet.
    undrawn: Demand,
    /// Time of preparing within the online phase, when setup is streamed.
    streamed_setup: Duration,
}

/// Cells that live until their last reader has begun.
struct Store<C> {
    cells: Vec<Option<C>>,
    uses: Vec<u32>,
}

impl<C> Store<C> {
    fn new(uses: &[u32]) -> Self {
        Store { cells: uses.iter().map(|_| None).collect(), uses: uses.to_vec() }
    }

    fn put(&mut self, id: CellId, cell: C) {
        if self.uses[id as usize] > 0 {
            self.cells[id as usize] = Some(cell);
        }
    }

    /// One reader of each has begun; calls `gone` for those that nobody reads any more.
    fn release(&mut self, ids: &[CellId], mut gone: impl FnMut(CellId)) {
        for &id in ids {
            self.uses[id as usize] -= 1;
            if self.uses[id as usize] == 0 && self.cells[id as usize].take().is_some() {
                gone(id);
            }
        }
    }
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
            prepared: BTreeMap::new(),
            masks: Store::new(&schedule.uses),
            public: schedule.tasks.iter().map(|_| None).collect(),
            demand: Demand::NONE,
            undrawn: Demand::NONE,
            streamed_setup: Duration::ZERO,
            schedule,
        };
        executor.run_public(public)?;
        executor.demand = executor.secret_tasks().map(|id| executor.protocol.demand(&executor.outline(id))).sum();
        executor.undrawn = executor.demand;
        Ok(executor)
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
                    plain::map(schedule.plan(*plan), wiring, task.lanes, &self.public_args(task), &none)
                }
                Kind::View { wiring } | Kind::Output { wiring, .. } => {
                    plain::gather(wiring, task.rows, task.lanes, &self.public_args(task))
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
        Job { public: BitMatrix::zeros(0, task.lanes), task, plan }
    }

    /// A secret task with its public rows.
    fn job(&self, id: u32) -> Job {
        let mut job = self.outline(id);
        if let (Kind::Map { wiring, .. }, Some(plan)) = (&job.task.kind, &job.plan) {
            let args: Vec<_> = job.task.args.iter().map(|&arg| self.public[arg as usize].as_deref()).collect();
            job.public = plain::public_rows(plan, wiring, job.task.lanes, &args);
        }
        job
    }

    /// Setup: of the whole program, or of as much as is made at once when it is streamed.
    pub(crate) fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        if !self.ahead {
            return link.supply(stock, Demand::NONE, self.undrawn);
        }
        link.supply(stock, self.undrawn, Demand::NONE)?;
        let ids: Vec<u32> = self.secret_tasks().collect();
        let mut done = 0;
        for id in ids {
            let job = self.job(id);
            done += ands(&job);
            if let Some(prepared) = self.prepare(&job, stock, link)? {
                self.prepared.insert(id, (job, prepared));
            }
            link.progress(Phase::Setup, done, self.schedule.totals.and0)?;
        }
        link.flush()
    }

    /// Setup of one task: what it draws, and what the garbler sends ahead. A view has only its mask.
    fn prepare(&mut self, job: &Job, stock: &mut Stock, link: &mut dyn Link) -> Result<Option<P::Prepared>> {
        let (mut inbox, mut outbox) = (Vec::new(), Vec::new());
        let args = args(&job.task, &self.masks, &self.public);
        let (prepared, mask) = if let Kind::View { wiring } = &job.task.kind {
            (None, view(wiring, &job.task, &args, |public| self.protocol.lift_mask(public)))
        } else {
            link.receive(self.protocol.setup_bytes(job), &mut inbox)?;
            let (prepared, mask) = self.protocol.prepare(job, &args, stock, &inbox, &mut outbox)?;
            (Some(prepared), mask)
        };
        drop(args);
        link.send(&outbox)?;
        self.masks.release(&job.task.args, |_| {});
        self.masks.put(job.task.cell, mask);
        Ok(prepared)
    }

    /// Takes a task's setup, or does it now.
    fn take_prepared(&mut self, id: u32, stock: &mut Stock, link: &mut dyn Link) -> Result<(Job, Option<P::Prepared>)> {
        if self.ahead {
            return Ok(match self.prepared.remove(&id) {
                Some((job, prepared)) => (job, Some(prepared)),
                None => (self.outline(id), None),
            });
        }
        let start = Instant::now();
        let job = self.job(id);
        let demand = self.protocol.demand(&job);
        if demand != Demand::NONE {
            link.supply(stock, demand, self.undrawn)?;
            self.undrawn = self.undrawn.missing_from(&demand);
        }
        let prepared = self.prepare(&job, stock, link)?;
        self.streamed_setup += start.elapsed();
        Ok((job, prepared))
    }

    /// Runs the program on inputs.
    pub(crate) fn online(mut self, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let mut online = Online::new(&self);
        self.deliver_public(&mut online.outputs);
        loop {
            online.start_ready(&mut self, inputs, stock, link)?;
            if online.running.is_empty() {
                break;
            }
            online.exchange(&mut self, link)?;
        }
        match online.unfinished {
            0 => Ok(Ran { outputs: online.outputs, streamed_setup: self.streamed_setup, peak: online.peak }),
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

/// What a run made and took.
pub(crate) struct Ran {
    /// What each output port delivers to this party.
    pub outputs: Feeds,
    /// The time that setup took within the online phase.
    pub streamed_setup: Duration,
    /// The most bytes of cells and maps at once.
    pub peak: usize,
}

/// The online phase: what is under way, and what waits for what.
struct Online<P: Protocol> {
    values: Store<P::Value>,
    /// Bytes of values that wait, and of maps under way.
    live: Window,
    peak: usize,
    /// How many arguments each task still waits for, and who waits for each cell.
    missing: Vec<u32>,
    readers: Vec<Vec<u32>>,
    ready: BTreeSet<u32>,
    finished: Vec<bool>,
    /// The oldest unfinished task.
    oldest: usize,
    unfinished: usize,
    running: Vec<Running<P>>,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    outputs: Feeds,
    done: u64,
}

/// A task that waits for bytes.
struct Running<P: Protocol> {
    job: Job,
    run: P::Run,
    expect: usize,
}

impl<P: Protocol> Online<P> {
    fn new(executor: &Executor<P>) -> Self {
        let tasks = &executor.schedule.tasks;
        let mut online = Online {
            values: Store::new(&executor.schedule.uses),
            live: Window { cells: 0, maps: 0 },
            peak: 0,
            missing: vec![0; tasks.len()],
            readers: vec![Vec::new(); tasks.len()],
            ready: BTreeSet::new(),
            finished: tasks.iter().map(|task| task.public).collect(),
            oldest: 0,
            unfinished: 0,
            running: Vec::new(),
            outbox: Vec::new(),
            inbox: Vec::new(),
            outputs: empty_outputs(executor),
            done: 0,
        };
        for id in executor.secret_tasks() {
            let secret = |&&arg: &&CellId| !executor.task(arg).public;
            for &arg in executor.task(id).args.iter().filter(secret) {
                online.missing[id as usize] += 1;
                online.readers[arg as usize].push(id);
            }
            if online.missing[id as usize] == 0 {
                online.ready.insert(id);
            }
            online.unfinished += 1;
        }
        online
    }

    /// Begins whatever is ready and fits, until nothing more can be done without the peer.
    fn start_ready(&mut self, executor: &mut Executor<P>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        while let Some(id) = self.next_ready(executor) {
            self.ready.remove(&id);
            let (job, prepared) = executor.take_prepared(id, stock, link)?;
            let args = args(&job.task, &self.values, &executor.public);
            let Some(prepared) = prepared else {
                let Kind::View { wiring } = &job.task.kind else {
                    return Err(Error::usage("a task was not prepared"));
                };
                let value = view(wiring, &job.task, &args, |public| executor.protocol.lift(public));
                drop(args);
                self.release(executor, &job.task);
                self.finish(executor, &job, value);
                continue;
            };
            let feed = match &job.task.kind {
                Kind::Input { port, from, .. } => inputs[*port as usize].as_ref().map(|i| tile(i, *from as usize, &job.task)),
                _ => None,
            };
            let mut run = executor.protocol.begin(&job, prepared, &args, feed)?;
            drop(args);
            self.release(executor, &job.task);
            self.live.maps += executor.protocol.weight(&job);
            self.live.cells += reserved::<P::Value>(&job.task);
            self.peak = self.peak.max(self.live.cells + self.live.maps);
            let flow = executor.protocol.step(&job, &mut run, &[], &mut self.outbox)?;
            self.settle(executor, job, run, flow);
        }
        Ok(())
    }

    /// The lowest ready task that fits into the window; any, if nothing else is under way.
    fn next_ready(&self, executor: &Executor<P>) -> Option<u32> {
        let window = executor.window;
        let fits = |&&id: &&u32| {
            let task = executor.task(id);
            match task.kind {
                Kind::Input { .. } => self.live.cells + cell_bytes::<P::Value>(task) <= window.cells,
                Kind::Map { .. } => {
                    self.live.maps == 0 || self.live.maps + executor.protocol.weight(&executor.outline(id)) <= window.maps
                }
                _ => true,
            }
        };
        let near = || self.ready.range(..(self.oldest + LOOKAHEAD) as u32);
        let any = || near().next().filter(|_| self.running.is_empty());
        near().find(fits).or_else(any).copied()
    }

    /// One round: everything written goes out, and everybody gets what it waits for.
    fn exchange(&mut self, executor: &mut Executor<P>, link: &mut dyn Link) -> Result<()> {
        link.send(&self.outbox)?;
        link.flush()?;
        self.outbox.clear();
        link.receive(self.running.iter().map(|running| running.expect).sum(), &mut self.inbox)?;
        let inbox = std::mem::take(&mut self.inbox);
        let mut rest = &inbox[..];
        for Running { job, mut run, expect } in std::mem::take(&mut self.running) {
            let bytes = rest.split_off(..expect).expect("exactly the sum was read");
            let flow = executor.protocol.step(&job, &mut run, bytes, &mut self.outbox)?;
            self.settle(executor, job, run, flow);
        }
        self.inbox = inbox;
        link.progress(Phase::Online, self.done, executor.schedule.totals.and0)
    }

    /// Keeps a task that waits; delivers what a finished one made.
    fn settle(&mut self, executor: &Executor<P>, job: Job, run: P::Run, flow: Flow<P::Value>) {
        match flow {
            Flow::Exchange { expect } => return self.running.push(Running { job, run, expect }),
            Flow::Value(value) => self.finish(executor, &job, value),
            Flow::Output(output) => {
                if let (Kind::Output { port, from, .. }, Some(output)) = (&job.task.kind, output) {
                    deliver(&mut self.outputs, *port, *from, &output);
                }
                self.mark_finished(job.task.cell);
            }
        }
        self.live.maps -= executor.protocol.weight(&job);
        self.done += ands(&job);
    }

    fn finish(&mut self, executor: &Executor<P>, job: &Job, value: P::Value) {
        let id = job.task.cell;
        if executor.schedule.uses[id as usize] > 0 {
            self.live.cells += cell_bytes::<P::Value>(&job.task) - reserved::<P::Value>(&job.task);
        }
        self.values.put(id, value);
        for reader in std::mem::take(&mut self.readers[id as usize]) {
            self.missing[reader as usize] -= 1;
            if self.missing[reader as usize] == 0 {
                self.ready.insert(reader);
            }
        }
        self.mark_finished(id);
    }

    fn mark_finished(&mut self, id: CellId) {
        self.finished[id as usize] = true;
        self.unfinished -= 1;
        while self.finished.get(self.oldest) == Some(&true) {
            self.oldest += 1;
        }
    }

    fn release(&mut self, executor: &Executor<P>, task: &Task) {
        let live = &mut self.live.cells;
        self.values.release(&task.args, |id| *live -= cell_bytes::<P::Value>(executor.task(id)));
    }
}

fn cell_bytes<C: Cells>(task: &Task) -> usize {
    (task.rows * task.lanes * C::CELL_BITS).div_ceil(8)
}

/// Cells that are counted from the moment a task begins: those that wait for the peer in great number.
fn reserved<C: Cells>(task: &Task) -> usize {
    if matches!(task.kind, Kind::Input { .. }) { cell_bytes::<C>(task) } else { 0 }
}

fn ands(job: &Job) -> u64 {
    job.plan.as_ref().map_or(0, |plan| plan.ands() * job.task.lanes as u64)
}

/// A matrix for every output port that this party gets something of.
fn empty_outputs<P: Protocol>(executor: &Executor<P>) -> Feeds {
    let ports = executor.binding.outputs().iter();
    let hidden = |party: Party, who: Recipient| who == Recipient::Party(party.peer());
    let ours = |port: &BoundPort<Recipient>| !executor.party.is_some_and(|party| hidden(party, port.who));
    let zeros = |port: &BoundPort<Recipient>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| ours(port).then(|| zeros(port))).collect()
}

fn deliver(outputs: &mut Feeds, port: u32, from: u64, value: &BitMatrix) {
    if let Some(output) = &mut outputs[port as usize] {
        (0..value.rows()).for_each(|row| output.copy_bits(row, from as usize, value, row, 0, 1, value.lanes()));
    }
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

    fn receive(&mut self, _: usize, inbox: &mut Vec<u8>) -> Result<()> {
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

fn feed(inputs: &Feeds, port: u32, from: u64, task: &Task) -> Result<BitMatrix> {
    let input = inputs.get(port as usize).and_then(Option::as_ref);
    let input = input.ok_or_else(|| Error::usage("a public input is missing"))?;
    Ok(tile(input, from as usize, task))
}

/// The lanes of one tile.
fn tile(input: &BitMatrix, from: usize, task: &Task) -> BitMatrix {
    let mut tile = BitMatrix::zeros(task.rows, task.lanes);
    (0..task.rows).for_each(|row| tile.copy_bits(row, 0, input, row, from, 1, task.lanes));
    tile
}

fn constant(bits: &[bool], lanes: usize) -> BitMatrix {
    let mut made = BitMatrix::zeros(bits.len(), lanes);
    for (row, &bit) in bits.iter().enumerate() {
        made.row_mut(row).fill(plain::mask(bit));
    }
    made.clear_padding();
    made
}

/// The arguments of a task, each from where it is known.
fn args<'a, C>(task: &Task, cells: &'a Store<C>, public: &'a [Option<Arc<BitMatrix>>]) -> Vec<Arg<'a, C>> {
    let arg = |&id: &CellId| match &public[id as usize] {
        Some(public) => Arg::Public(public),
        None => Arg::Secret(cells.cells[id as usize].as_ref().expect("a cell lives until its last reader")),
    };
    task.args.iter().map(arg).collect()
}

/// A view of secret and public cells.
fn view<C: Cells>(wiring: &[Piece], task: &Task, args: &[Arg<'_, C>], lift: impl Fn(&BitMatrix) -> C) -> C {
    let mut made = C::zeros(task.rows, task.lanes);
    for piece in wiring {
        match &args[piece.arg as usize] {
            Arg::Secret(arg) => cells::copy(&mut made, *arg, piece),
            Arg::Public(public) => cells::copy(&mut made, &lift(public), piece),
        }
    }
    made
}

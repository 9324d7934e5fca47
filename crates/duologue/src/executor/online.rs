//! The online phase: who is ready, what fits, and one exchange for all.

use super::maps::Owed;
use super::store::{Store, args, tile, view};
use super::{Executor, Feeds, Link, Phase, Window};
use crate::correlation::Stock;
use crate::executor::cells::Cells;
use crate::executor::{Flow, Job, Protocol};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{BoundPort, CellId, Kind, Recipient, Task};
use std::collections::BTreeSet;

/// Tasks beyond the oldest unfinished one that may be under way.
const LOOKAHEAD: usize = 1 << 10;

/// The online phase: what is under way, and what waits for what.
pub(super) struct Online<P: Protocol> {
    values: Store<P::Value>,
    /// Maps whose readers may begin, but whose cells are still to be made.
    owed: Owed<P>,
    /// Which cells wait, those that are owed among them.
    held: Store<()>,
    /// Their bytes, and those of maps under way.
    live: Window,
    pub peak: usize,
    /// How many arguments each task still waits for, and who waits for each cell.
    missing: Vec<u32>,
    readers: Vec<Vec<u32>>,
    ready: BTreeSet<u32>,
    finished: Vec<bool>,
    /// The oldest unfinished task.
    oldest: usize,
    pub unfinished: usize,
    running: Vec<Running<P>>,
    /// Whether inputs are taken, where they are taken many at a time.
    filling: bool,
    /// Whether a task has ended since nothing more could be started.
    news: bool,
    /// Tasks whose first steps threads will share.
    begun: Vec<Running<P>>,
    /// What goes out with the next exchange, in this order; what is begun writes to the last.
    outboxes: Vec<Outbox>,
    inbox: Inbox,
    /// What was sent while the next step was taken, and what came meanwhile: all that the next exchange reads.
    sent: Vec<Outbox>,
    ahead: Option<Inbox>,
    pub outputs: Feeds,
    done: u64,
}

/// A task that waits for bytes.
struct Running<P: Protocol> {
    job: Job,
    /// Absent once the task is done.
    run: Option<P::Run>,
    expect: usize,
}

/// A task and what came for it; then, how it goes on.
struct Turn<'a, P: Protocol> {
    running: Running<P>,
    bytes: &'a [u8],
    flow: Option<Result<Flow<P::Value>>>,
}

/// Groups of tasks that are stepped side by side, for each thread: whoever is done early takes one more.
const GROUPS: usize = 4;

/// Bytes of an exchange that are worth a thread's attention, which costs some microseconds: 32 kB are those of 130,000
/// ANDs by GMW. Tests share out everything.
const WORTH: usize = if cfg!(test) { 1 } else { 32 << 10 };

impl<P: Protocol> Online<P> {
    pub fn new(executor: &Executor<P>) -> Self {
        let tasks = &executor.schedule.tasks;
        let mut online = Online {
            values: Store::new(&executor.schedule.uses),
            owed: Owed::default(),
            held: Store::new(&executor.schedule.uses),
            live: Window { cells: 0, maps: 0 },
            peak: 0,
            missing: vec![0; tasks.len()],
            readers: vec![Vec::new(); tasks.len()],
            ready: BTreeSet::new(),
            finished: tasks.iter().map(|task| task.public).collect(),
            oldest: 0,
            unfinished: 0,
            running: Vec::new(),
            filling: false,
            news: true,
            begun: Vec::new(),
            outboxes: vec![Outbox::default()],
            inbox: Inbox::default(),
            sent: Vec::new(),
            ahead: None,
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

    /// Whether a task waits for the peer.
    pub fn is_waiting(&self) -> bool {
        !self.running.is_empty()
    }

    /// Begins whatever is ready and fits, until nothing more can be done without the peer.
    pub fn start_ready(
        &mut self,
        executor: &mut Executor<P>,
        inputs: &Feeds,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<()> {
        if !std::mem::take(&mut self.news) {
            return Ok(());
        }
        while let Some(id) = self.next_ready(executor) {
            self.ready.remove(&id);
            if is_awaited(executor.task(id)) {
                self.pay(executor, link)?;
            }
            match executor.take_prepared(id, stock, link)? {
                (job, Some(prepared)) if P::ONE_WAY && !is_awaited(&job.task) => {
                    self.map(executor, (job, prepared), inputs, link)?;
                }
                (job, Some(prepared)) => self.begin(executor, job, prepared, inputs)?,
                (job, None) => self.look(executor, job)?,
            }
            if self.owed.is_enough(&executor.threads, executor.window.cells) {
                self.pay(executor, link)?;
            }
        }
        self.pay(executor, link)?;
        self.step_begun(executor)
    }

    /// A map that waits for nobody: from its beginning to its end, or owed.
    fn map(
        &mut self,
        executor: &mut Executor<P>,
        (job, prepared): (Job, P::Prepared),
        inputs: &Feeds,
        link: &mut dyn Link,
    ) -> Result<()> {
        if !self.owed.has_room(&job, &executor.threads) {
            self.pay(executor, link)?;
        }
        if self.is_owed(executor, &job) {
            let mut inbox = self.owed.take_box();
            link.receive(executor.protocol.map_bytes(&job), &mut inbox)?;
            self.owe(executor, &job);
            self.owed.add_map(job, prepared, inbox);
            return Ok(());
        }
        self.pay(executor, link)?;
        self.begin(executor, job, prepared, inputs)?;
        while self.is_waiting() {
            self.exchange(executor, link)?;
        }
        Ok(())
    }

    /// Whether threads may make a map beside others.
    fn is_owed(&self, executor: &Executor<P>, job: &Job) -> bool {
        let is_map = |id| matches!(executor.task(id).kind, Kind::Map { .. });
        let threads = &executor.threads;
        threads.count() > 1 && self.owed.has_room(job, threads) && (!self.owed.is_empty() || self.near().any(is_map))
    }

    /// A task goes from its beginning to its end, but for its cell.
    fn owe(&mut self, executor: &Executor<P>, job: &Job) {
        self.release(executor, &job.task);
        self.enter(executor, &job.task);
        self.leave(executor, job);
        self.finish(executor, &job.task);
    }

    /// Makes what is owed.
    fn pay(&mut self, executor: &Executor<P>, link: &mut dyn Link) -> Result<()> {
        if self.owed.is_empty() {
            return Ok(());
        }
        self.owed.pay(executor, &mut self.values, link)?;
        link.flush()?;
        link.progress(Phase::Online, self.done, executor.schedule.totals.and0)
    }

    fn begin(&mut self, executor: &Executor<P>, job: Job, prepared: P::Prepared, inputs: &Feeds) -> Result<()> {
        let feed = match &job.task.kind {
            Kind::Input { port, from, .. } => {
                inputs[*port as usize].as_ref().map(|i| tile(i, *from as usize, &job.task))
            }
            _ => None,
        };
        let args = args(&job.task, &self.values, &executor.public);
        let mut run = executor.protocol.begin(&job, prepared, &args, feed)?;
        drop(args);
        self.values.release(&job.task.args, |_| {});
        self.release(executor, &job.task);
        self.enter(executor, &job.task);
        if P::SIDE_BY_SIDE && executor.threads.count() > 1 && job.ands() > 0 {
            self.begun.push(Running { job, run: Some(run), expect: 0 });
            return Ok(());
        }
        self.step_begun(executor)?;
        let outbox = self.outboxes.last_mut().expect("there is one at least");
        let flow = executor.protocol.step(&job, &mut run, &[], outbox)?;
        self.settle(executor, job, Some(run), flow);
        Ok(())
    }

    /// Takes the first steps of tasks that will wait for the peer after them: nobody waits for these tasks meanwhile, so
    /// that it is all the same when they are taken, if what they send keeps its order.
    fn step_begun(&mut self, executor: &Executor<P>) -> Result<()> {
        if self.begun.is_empty() {
            return Ok(());
        }
        let mut before = std::mem::take(&mut self.outboxes);
        let begun = std::mem::take(&mut self.begun).into_iter();
        let turns = begun.map(|running| Turn { running, bytes: &[], flow: None }).collect();
        let stepped = self.step(&executor.protocol, &executor.threads, turns, usize::MAX);
        before.append(&mut self.outboxes);
        self.outboxes = before;
        self.settle_all(executor, stepped)
    }

    /// A view is no business of the protocol.
    fn look(&mut self, executor: &Executor<P>, job: Job) -> Result<()> {
        let Kind::View { wiring } = &job.task.kind else {
            return Err(Error::usage("a task was not prepared"));
        };
        if !self.owed.is_empty() {
            self.owe(executor, &job);
            self.owed.add_view(job);
            return Ok(());
        }
        let args = args(&job.task, &self.values, &executor.public);
        let value = view(wiring, &job.task, &args, |public| executor.protocol.lift(public));
        drop(args);
        self.values.release(&job.task.args, |_| {});
        self.values.put(job.task.cell, value);
        self.release(executor, &job.task);
        self.finish(executor, &job.task);
        Ok(())
    }

    /// A task begins.
    fn enter(&mut self, executor: &Executor<P>, task: &Task) {
        self.live.maps += executor.weight(task);
        self.live.cells += reserved::<P::Value>(task);
        self.peak = self.peak.max(self.live.cells + self.live.maps);
    }

    /// A task is at its end.
    fn leave(&mut self, executor: &Executor<P>, job: &Job) {
        self.live.maps -= executor.weight(&job.task);
        self.done += job.ands();
    }

    /// The lowest ready task that fits into the window; any, if nothing else is under way.
    fn next_ready(&mut self, executor: &Executor<P>) -> Option<u32> {
        let fits = |&id: &u32| self.fits(executor, executor.task(id));
        let next = if P::ONE_WAY { self.next_one_way(executor) } else { self.near().find(fits) };
        let is_idle = self.running.is_empty() && self.begun.is_empty();
        next.or_else(|| self.near().next().filter(|_| is_idle))
    }

    fn near(&self) -> impl Iterator<Item = u32> {
        self.ready.range(..(self.oldest + LOOKAHEAD) as u32).copied()
    }

    fn fits(&self, executor: &Executor<P>, task: &Task) -> bool {
        let window = executor.window;
        match task.kind {
            Kind::Input { .. } => self.live.cells + cell_bytes::<P::Value>(task) <= window.cells,
            Kind::Map { .. } => self.live.maps == 0 || self.live.maps + executor.weight(task) <= window.maps,
            _ => true,
        }
    }

    /// Maps and views as long as there are some. Then what one party waits for the other in: outputs, for which it is time
    /// too when the window is over-full, and inputs until it is full.
    fn next_one_way(&mut self, executor: &Executor<P>) -> Option<u32> {
        let most = executor.window.cells;
        let find = |wanted: fn(&Task) -> bool| self.near().find(|&id| wanted(executor.task(id)));
        let is_full = self.live.cells > most && find(is_output).is_some();
        let local = if is_full || self.is_waiting() { None } else { find(|task| !is_awaited(task)) };
        if local.is_some() {
            return local;
        }
        let opens = self.only_opens();
        let output = if opens || is_full { find(is_output) } else { None };
        if output.is_some() {
            return output;
        }
        let input = find(is_input);
        let has_room = |id| self.live.cells + cell_bytes::<P::Value>(executor.task(id)) <= most;
        self.filling = (self.filling || opens) && input.is_some_and(has_room);
        input.filter(|_| self.filling)
    }

    /// Whether nothing but outputs is under way.
    fn only_opens(&self) -> bool {
        self.running.iter().chain(&self.begun).all(|running| is_output(&running.job.task))
    }

    /// One round: everything written goes out, and everybody gets what it waits for.
    ///
    /// With three threads and more, one of them sends what nobody waits for an answer to, and reads what will certainly be
    /// asked for next, while the others take the step. The peer sends each exchange's bytes before it reads any, so that who
    /// reads one exchange ahead waits for nothing that it has to send first.
    pub fn exchange(&mut self, executor: &mut Executor<P>, link: &mut dyn Link) -> Result<()> {
        let expected: usize = self.running.iter().map(|running| running.expect).sum();
        let (threads, written) = (executor.threads.clone(), self.outboxes.iter().map(|outbox| outbox.len()).sum());
        let overlaps = threads.count() > 2 && link.overlaps();
        let worth = |bytes: usize| overlaps && bytes >= WORTH;
        let mut outgoing = Vec::new();
        if expected == 0 && worth(written) {
            outgoing = std::mem::replace(&mut self.outboxes, std::mem::take(&mut self.sent));
        } else {
            send(link, &mut self.outboxes)?;
        }
        let inbox = self.incoming(expected, link)?;
        let next = if overlaps { self.asks_next(&executor.protocol).filter(|&bytes| worth(bytes)) } else { None };
        let mut ahead = std::mem::take(&mut self.inbox);
        let turns = self.turns(&inbox);
        let protocol = &executor.protocol;
        let (moved, stepped) = if outgoing.is_empty() && next.is_none() {
            (Ok(()), self.step(protocol, &threads, turns, inbox.len()))
        } else {
            let moving = || {
                send(link, &mut outgoing)?;
                next.map_or(Ok(()), |bytes| link.receive(bytes, &mut ahead))
            };
            threads.both(moving, || self.step(protocol, &threads, turns, inbox.len()))
        };
        self.settle_all(executor, stepped)?;
        moved?;
        (self.inbox, self.sent, self.ahead) = (inbox, outgoing, next.map(|_| ahead));
        link.progress(Phase::Online, self.done, executor.schedule.totals.and0)
    }

    /// What all wait for, if it has not come before.
    fn incoming(&mut self, expected: usize, link: &mut dyn Link) -> Result<Inbox> {
        match self.ahead.take() {
            Some(ahead) if ahead.len() == expected => Ok(ahead),
            Some(_) => Err(Error::usage("a task asks for something else than it said")),
            None => {
                link.receive(expected, &mut self.inbox)?;
                Ok(std::mem::take(&mut self.inbox))
            }
        }
    }

    /// What the next exchange reads, if all tasks under way go on until then: no other task can begin.
    fn asks_next(&self, protocol: &P) -> Option<usize> {
        self.running.iter().map(|Running { job, run, .. }| protocol.asks_next(job, run.as_ref()?)).sum()
    }

    /// Everybody's part of what came.
    fn turns<'a>(&mut self, mut inbox: &'a [u8]) -> Vec<Turn<'a, P>> {
        let turn = |running: Running<P>| {
            let bytes = inbox.split_off(..running.expect).expect("exactly the sum was read");
            Turn { running, bytes, flow: None }
        };
        std::mem::take(&mut self.running).into_iter().map(turn).collect()
    }

    /// Steps tasks with what came for them, which is so many bytes.
    fn step<'a>(&mut self, protocol: &P, threads: &Threads, turns: Vec<Turn<'a, P>>, bytes: usize) -> Vec<Turn<'a, P>> {
        let many = GROUPS * threads.count();
        let groups = if P::SIDE_BY_SIDE && threads.count() > 1 && bytes >= WORTH { many } else { 1 };
        let size = turns.len().div_ceil(groups).max(1);
        let mut turns = turns.into_iter();
        let mut groups = Vec::new();
        while turns.len() > 0 {
            let outbox = self.outboxes.get_mut(groups.len()).map(std::mem::take).unwrap_or_default();
            groups.push((turns.by_ref().take(size).collect::<Vec<_>>(), outbox));
        }
        threads.each(&mut groups, |(turns, outbox)| {
            for Turn { running: Running { job, run, .. }, bytes, flow } in turns {
                let step = protocol.step(job, run.as_mut().expect("it is under way"), bytes, outbox);
                // To give back megabytes takes its time, too, which the threads share.
                if !matches!(step, Ok(Flow::Exchange { .. })) {
                    *run = None;
                }
                *flow = Some(step);
            }
        });
        let (turns, outboxes): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        self.outboxes = outboxes;
        turns.into_iter().flatten().collect()
    }

    fn settle_all(&mut self, executor: &Executor<P>, turns: Vec<Turn<'_, P>>) -> Result<()> {
        for Turn { running: Running { job, run, .. }, flow, .. } in turns {
            self.settle(executor, job, run, flow.expect("everybody had a turn")?);
        }
        Ok(())
    }

    /// Keeps a task that waits; delivers what a finished one made.
    fn settle(&mut self, executor: &Executor<P>, job: Job, run: Option<P::Run>, flow: Flow<P::Value>) {
        self.news |= !matches!(flow, Flow::Exchange { .. });
        match flow {
            Flow::Exchange { expect } => return self.running.push(Running { job, run, expect }),
            Flow::Value(value) => {
                self.values.put(job.task.cell, value);
                self.finish(executor, &job.task);
            }
            Flow::Output(output) => {
                if let (Kind::Output { port, from, .. }, Some(output)) = (&job.task.kind, output) {
                    deliver(&mut self.outputs, *port, *from, &output);
                }
                self.mark_finished(job.task.cell);
            }
        }
        self.leave(executor, &job);
    }

    /// A task's cell is there, or owed: its readers may begin.
    fn finish(&mut self, executor: &Executor<P>, task: &Task) {
        let id = task.cell;
        if executor.schedule.uses[id as usize] > 0 {
            self.live.cells += cell_bytes::<P::Value>(task) - reserved::<P::Value>(task);
        }
        self.held.put(id, ());
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
        self.held.release(&task.args, |id| *live -= cell_bytes::<P::Value>(executor.task(id)));
    }
}

/// Sends all there is.
fn send(link: &mut dyn Link, outboxes: &mut [Outbox]) -> Result<()> {
    for outbox in outboxes {
        link.give(outbox)?;
    }
    link.flush()
}

/// Whether one party waits for the other in a task where maps are one way.
fn is_awaited(task: &Task) -> bool {
    is_input(task) || is_output(task)
}

fn is_input(task: &Task) -> bool {
    matches!(task.kind, Kind::Input { .. })
}

fn is_output(task: &Task) -> bool {
    matches!(task.kind, Kind::Output { .. })
}

pub(super) fn cell_bytes<C: Cells>(task: &Task) -> usize {
    (task.rows * task.lanes * C::CELL_BITS).div_ceil(8)
}

/// Cells that are counted from the moment a task begins: those that wait for the peer in great number.
fn reserved<C: Cells>(task: &Task) -> usize {
    if is_input(task) { cell_bytes::<C>(task) } else { 0 }
}

/// A matrix for every output port that this party gets something of.
fn empty_outputs<P: Protocol>(executor: &Executor<P>) -> Feeds {
    let ports = executor.binding.outputs().iter();
    let hidden = |party: Party, who: Recipient| who == Recipient::Party(party.peer());
    let ours = |port: &BoundPort<Recipient>| !executor.party.is_some_and(|party| hidden(party, port.who));
    let zeros = |port: &BoundPort<Recipient>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| ours(port).then(|| zeros(port))).collect()
}

pub(super) fn deliver(outputs: &mut Feeds, port: u32, from: u64, value: &BitMatrix) {
    if let Some(output) = &mut outputs[port as usize] {
        (0..value.rows()).for_each(|row| output.copy_bits(row, from as usize, value, row, 0, 1, value.lanes()));
    }
}

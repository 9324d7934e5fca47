//! The online phase: tasks begin when they are ready and fit, and all that wait for the peer share an exchange.

use super::exchange::{Round, Running, Step, Steps};
use super::queue::{Queue, is_awaited};
use super::setup::PreparedTask;
use super::store::{Store, args, tile, view};
use super::strands::Gathered;
use super::{Delivered, Executor, Feeds, Job, Link, Made, Phase, Protocol};
use crate::correlation::Stock;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{BoundPort, Recipient, TaskKind};

/// The online phase of one program.
pub(super) struct Online<P: Protocol> {
    queue: Queue,
    round: Round<P>,
    values: Store<P::Value>,
    /// Maps whose readers may begin, but whose cells are still to be made.
    gathered: Gathered<P>,
    /// Maps and views that wait for several strands.
    joining: Vec<(Job, Option<PreparedTask<P>>)>,
    /// Whether more of those are to begin after the one that begins.
    more_join: bool,
    /// Whether a task has ended since nothing more could be started.
    news: bool,
    pub outputs: Delivered,
    /// ANDs of tasks that are done.
    done: u64,
}

impl<P: Protocol> Online<P> {
    pub fn new(executor: &mut Executor<P>) -> Self {
        let (program, weights) = (&executor.program, std::mem::take(&mut executor.weights));
        Online {
            queue: Queue::new(&program.schedule, executor.scheduling, program.window, weights),
            round: Round::new(executor.scheduling, program),
            values: Store::new(&program.schedule.uses),
            gathered: Gathered::new(program),
            joining: Vec::new(),
            more_join: false,
            news: true,
            outputs: empty_outputs(executor),
            done: 0,
        }
    }

    /// Whether a task waits for the peer.
    pub fn is_waiting(&self) -> bool {
        self.round.is_waiting()
    }

    /// Outputs, and the most bytes of cells and maps at once.
    pub fn end(self) -> Result<(Delivered, usize)> {
        match self.queue.unfinished() {
            0 => Ok((self.outputs, self.queue.peak())),
            left => Err(Error::usage(format!("{left} tasks could not be started"))),
        }
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
        loop {
            while let Some(id) = self.queue.next(self.round.under_way()) {
                self.start(id, executor, inputs, stock, link)?;
            }
            // What waited for several strands is made with them, and then its readers may begin.
            if self.gathered.is_empty() {
                break;
            }
            self.run_gathered(executor, link)?;
        }
        self.step_begun(executor)
    }

    /// Begins a task.
    fn start(
        &mut self,
        id: u32,
        executor: &mut Executor<P>,
        inputs: &Feeds,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<()> {
        if is_awaited(executor.task(id)) {
            self.run_gathered(executor, link)?;
        }
        match executor.take_ready(id, stock, link)? {
            (job, Some(ready)) if executor.scheduling.one_way && !is_awaited(&job.task) => {
                self.map(executor, job, ready, link)?;
            }
            (job, Some(ready)) => self.begin(executor, job, ready, inputs)?,
            (job, None) => self.view(executor, job, link)?,
        }
        if self.gathered.is_enough(executor.program.window.cells, &self.queue) {
            self.run_gathered(executor, link)?;
        }
        Ok(())
    }

    /// A map that waits for nobody: from its beginning to its end, or together with others.
    fn map(&mut self, executor: &Executor<P>, job: Job, ready: PreparedTask<P>, link: &mut dyn Link) -> Result<()> {
        if self.gathered.joins(&job.task) {
            return self.join(executor, (job, Some(ready)), link);
        }
        let is_alone = self.gathered.is_empty() && !self.queue.has_map() && !self.more_join;
        if self.gathered.gathers() && !is_alone {
            self.gather(job, Some(ready));
            return Ok(());
        }
        self.begin(executor, job, ready, &Vec::new())?;
        while self.is_waiting() {
            self.exchange(executor, link)?;
        }
        Ok(())
    }

    /// A task goes from its beginning to its end, but for its cell.
    fn gather(&mut self, job: Job, ready: Option<PreparedTask<P>>) {
        self.queue.begin(&job.task);
        self.leave(&job);
        self.queue.finish(&job.task);
        self.gathered.add(job, ready);
    }

    /// A task that reads what several strands make waits for them, with others of its kind; not where its turn on the wire is
    /// now.
    fn join(
        &mut self,
        executor: &Executor<P>,
        task: (Job, Option<PreparedTask<P>>),
        link: &mut dyn Link,
    ) -> Result<()> {
        self.joining.push(task);
        if executor.program.strands > 1 { Ok(()) } else { self.run_gathered(executor, link) }
    }

    /// Makes the cells of what was gathered, and of whatever waits for that.
    fn run_gathered(&mut self, executor: &Executor<P>, link: &mut dyn Link) -> Result<()> {
        while !self.gathered.is_empty() {
            let before = self.done - self.gathered.ands();
            self.gathered.run(executor, &mut self.values, link, before)?;
            link.progress(Phase::Online, self.done, executor.program.schedule.totals.and0)?;
            let mut joining = std::mem::take(&mut self.joining).into_iter();
            while let Some((job, ready)) = joining.next() {
                self.more_join = joining.len() > 0;
                match ready {
                    Some(ready) => self.map(executor, job, ready, link)?,
                    None => self.view(executor, job, link)?,
                }
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        executor: &Executor<P>,
        job: Job,
        (prepared, tables): PreparedTask<P>,
        inputs: &Feeds,
    ) -> Result<()> {
        let args = args(&job.task, &self.values, &executor.public);
        let stage = executor.protocol.online(&job, prepared, &args, feed(&job, inputs))?;
        drop(args);
        self.values.release(&job.task.args, |_, _| {});
        self.queue.begin(&job.task);
        let steps = Steps::new(&executor.protocol, &job, stage, tables);
        let mut running = Running { job, steps };
        if self.round.may_begin_later(&running.job) {
            self.round.begin_later(running);
            return Ok(());
        }
        self.step_begun(executor)?;
        let step = running.steps.step(&executor.protocol, &running.job, &[], self.round.outbox())?;
        self.settle(running, step);
        Ok(())
    }

    fn step_begun(&mut self, executor: &Executor<P>) -> Result<()> {
        self.round.step_begun(&executor.protocol)?.into_iter().for_each(|(running, step)| self.settle(running, step));
        Ok(())
    }

    /// A view is no business of the protocol.
    fn view(&mut self, executor: &Executor<P>, job: Job, link: &mut dyn Link) -> Result<()> {
        let TaskKind::View { wiring } = &job.task.kind else {
            return Err(Error::usage("a task was not prepared"));
        };
        if self.gathered.joins(&job.task) {
            return self.join(executor, (job, None), link);
        }
        if !self.gathered.is_empty() {
            self.gather(job, None);
            return Ok(());
        }
        let args = args(&job.task, &self.values, &executor.public);
        let value = view(wiring, &job.task, &args, |public| executor.protocol.lift(public));
        drop(args);
        self.values.release(&job.task.args, |_, _| {});
        self.values.put(job.task.cell, value);
        self.queue.release(&job.task);
        self.queue.finish(&job.task);
        Ok(())
    }

    /// One round: everything written goes out, and everybody gets what it waits for.
    pub fn exchange(&mut self, executor: &Executor<P>, link: &mut dyn Link) -> Result<()> {
        let stepped = self.round.exchange(&executor.protocol, link)?;
        stepped.into_iter().for_each(|(running, step)| self.settle(running, step));
        link.progress(Phase::Online, self.done, executor.program.schedule.totals.and0)
    }

    /// Keeps a task that waits; delivers what a finished one made.
    fn settle(&mut self, running: Running<P>, step: Step<P>) {
        let task = &running.job.task;
        self.news |= step.is_some();
        match step {
            None => return self.round.wait(running),
            Some(Made::Value(value)) => {
                self.values.put(task.cell, value);
                self.queue.finish(task);
            }
            Some(Made::Output(output)) => {
                if let (TaskKind::Output { port, from, .. }, Some(output)) = (&task.kind, output) {
                    deliver(&mut self.outputs, *port, *from, &output);
                }
                self.queue.mark_finished(task.cell);
            }
        }
        self.leave(&running.job);
    }

    fn leave(&mut self, job: &Job) {
        self.queue.leave(&job.task);
        self.done += job.ands();
    }
}

/// This party's input or share of it, for the lanes of an input task.
fn feed(job: &Job, inputs: &Feeds) -> Option<BitMatrix> {
    let TaskKind::Input { port, from, .. } = &job.task.kind else { return None };
    inputs[*port as usize].as_ref().map(|input| tile(input, *from as usize, &job.task))
}

/// A matrix for every output port that this party gets something of.
fn empty_outputs<P: Protocol>(executor: &Executor<P>) -> Delivered {
    let ports = executor.program.binding.outputs().iter();
    let hidden = |party: Party, who: Recipient| who == Recipient::Party(party.peer());
    let ours = |port: &BoundPort<Recipient>| !executor.program.party.is_some_and(|party| hidden(party, port.who));
    let zeros = |port: &BoundPort<Recipient>| BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
    ports.map(|port| ours(port).then(|| zeros(port))).collect()
}

pub(super) fn deliver(outputs: &mut Delivered, port: u32, from: u64, value: &BitMatrix) {
    if let Some(output) = &mut outputs[port as usize] {
        (0..value.rows()).for_each(|row| output.copy_bits(row, from as usize, value, row, 0, 1, value.lanes()));
    }
}

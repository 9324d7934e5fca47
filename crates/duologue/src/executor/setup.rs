//! The setup phase: all of it ahead of the inputs, task by task when it is streamed, or onto the disk.

use super::store::{args, view};
use super::tables::Tables;
use super::{Exchanges, Executor, Flow, Job, Link, Phase, Protocol, RunSink, Setup, Stage, unforeseen};
use crate::clock::Instant;
use crate::correlation::{Demand, Stock};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Result};
use circuit::program::TaskKind;

/// ANDs and bits of tasks whose setup shares its exchanges: some megabytes each way.
const AT_ONCE: u64 = 1 << 24;

/// A task whose setup is done.
pub(super) struct Ready<P: Protocol> {
    pub job: Job,
    pub prepared: P::Prepared,
    pub tables: Tables,
}

/// The prepared state of a task that begins online, and its tables.
pub(super) type PreparedTask<P> = (<P as Protocol>::Prepared, Tables);

/// A task whose setup waits for the peer, together with that of others.
struct Waiting<P: Protocol> {
    job: Job,
    stage: P::Setup,
    exchanges: Exchanges,
    expect: usize,
}

impl<P: Protocol> Executor<P> {
    pub(super) fn set_up(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        if !self.program.ahead {
            link.supply(stock, Demand::NONE, self.undrawn)?;
            return self.open(link);
        }
        link.supply(stock, self.undrawn, Demand::NONE)?;
        self.open(link)?;
        if self.scheduling.one_way {
            self.set_up_in_turn(stock, link)?
        } else {
            self.set_up_together(stock, link)?
        }
        (self.inbox, self.outbox) = Default::default();
        link.flush()
    }

    /// What opens the program need not come before correlations are made, which does not hang on it.
    fn open(&mut self, link: &mut dyn Link) -> Result<()> {
        if self.protocol.is_open() { Ok(()) } else { self.protocol.open(&link.opening()?) }
    }

    /// One task after the other, where nobody waits for an answer.
    fn set_up_in_turn(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let mut done = 0;
        for id in self.secret_tasks().collect::<Vec<_>>() {
            let job = self.job(id);
            done += job.ands();
            let bytes = self.protocol.lengths().setup(&job).filter_map(|exchange| exchange.tables).sum();
            let mut tables = Tables::with_room(bytes);
            let prepared = self.set_up_task(&job, stock, link, &mut |bytes| {
                tables.push(bytes);
                Ok(())
            })?;
            prepared.map(|prepared| self.ready.insert(id, Ready { job, prepared, tables }));
            link.progress(Phase::Setup, done, self.program.schedule.totals.and0)?;
        }
        Ok(())
    }

    /// Many tasks at once: all of them share each exchange.
    fn set_up_together(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let (mut done, mut waiting, mut work) = (0, Vec::new(), 0);
        for id in self.secret_tasks().collect::<Vec<_>>() {
            let job = self.job(id);
            done += job.ands();
            let size = job.ands() + job.bits() as u64;
            if let Some(begun) = self.begin_setup(job, stock, link)? {
                waiting.push(begun);
                work += size;
            }
            if work >= AT_ONCE {
                self.complete(std::mem::take(&mut waiting), link)?;
                work = 0;
            }
            link.progress(Phase::Setup, done, self.program.schedule.totals.and0)?;
        }
        self.complete(waiting, link)
    }

    /// Takes the first step of a task's setup, after which its mask is there; the task, if it waits for the peer then.
    fn begin_setup(&mut self, job: Job, stock: &mut Stock, link: &mut dyn Link) -> Result<Option<Waiting<P>>> {
        let Some(stage) = self.stage_of(&job, stock)? else { return Ok(None) };
        let exchanges = self.protocol.lengths().setup(&job);
        let mut outbox = std::mem::take(&mut self.outbox);
        let mut task: Waiting<P> = Waiting { job, stage, exchanges, expect: 0 };
        let flow = task.stage.step(&self.protocol, &task.job, &[], &mut outbox)?;
        self.take_mask(&task.job, &mut task.stage)?;
        let task = self.settle(task, flow, outbox.len())?;
        link.send(&outbox)?;
        outbox.clear();
        self.outbox = outbox;
        Ok(task)
    }

    /// Exchanges until the setup of these tasks is complete.
    fn complete(&mut self, mut waiting: Vec<Waiting<P>>, link: &mut dyn Link) -> Result<()> {
        let (mut inbox, mut outbox) = (Inbox::default(), Outbox::default());
        while !waiting.is_empty() {
            link.flush()?;
            link.receive(waiting.iter().map(|task| task.expect).sum(), &mut inbox)?;
            let mut rest = &inbox[..];
            for mut task in std::mem::take(&mut waiting) {
                let answer = rest.split_off(..task.expect).expect("exactly the sum was read");
                let flow = task.stage.step(&self.protocol, &task.job, answer, &mut outbox)?;
                waiting.extend(self.settle(task, flow, outbox.len())?);
                link.send(&outbox)?;
                outbox.clear();
            }
        }
        Ok(())
    }

    /// Holds a step of setup to its lengths. The task, if it goes on; else its result is ready.
    fn settle(&mut self, mut task: Waiting<P>, flow: Flow<P::Prepared>, sent: usize) -> Result<Option<Waiting<P>>> {
        match (flow, task.exchanges.next()) {
            (Flow::Done(prepared), None) if sent == 0 => {
                let tables = Tables::with_room(0);
                self.ready.insert(task.job.task.cell, Ready { job: task.job, prepared, tables });
                Ok(None)
            }
            (Flow::Exchange, Some(next)) if sent == next.sent => Ok(Some(Waiting { expect: next.read, ..task })),
            _ => Err(unforeseen()),
        }
    }

    /// The stage of a task's setup; a view has only its mask.
    fn stage_of(&mut self, job: &Job, stock: &mut Stock) -> Result<Option<P::Setup>> {
        let args = args(&job.task, &self.masks, &self.public);
        if let TaskKind::View { wiring } = &job.task.kind {
            let mask = view(wiring, &job.task, &args, |public| self.protocol.lift_mask(public));
            drop(args);
            self.put_mask(job, mask);
            return Ok(None);
        }
        self.protocol.setup(job, &args, stock).map(Some)
    }

    fn take_mask(&mut self, job: &Job, stage: &mut P::Setup) -> Result<()> {
        let mask = stage.take_mask().ok_or_else(|| Error::usage("the setup of a task gives no mask"))?;
        self.put_mask(job, mask);
        Ok(())
    }

    fn put_mask(&mut self, job: &Job, mask: P::Mask) {
        self.masks.release(&job.task.args, |_, _| {});
        self.masks.put(job.task.cell, mask);
    }

    /// All of a task's setup, none of whose exchanges waits for an answer; `store` gets its tables piece by piece. A view
    /// has nothing to prepare.
    fn set_up_task(
        &mut self,
        job: &Job,
        stock: &mut Stock,
        link: &mut dyn Link,
        store: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Option<P::Prepared>> {
        let Some(mut stage) = self.stage_of(job, stock)? else { return Ok(None) };
        let mut exchanges = self.protocol.lengths().setup(job);
        let mut flow = stage.step(&self.protocol, job, &[], &mut self.outbox)?;
        loop {
            match (flow, exchanges.next()) {
                (Flow::Done(prepared), None) if self.outbox.is_empty() => {
                    self.take_mask(job, &mut stage)?;
                    return Ok(Some(prepared));
                }
                (Flow::Exchange, Some(next)) if self.outbox.len() == next.sent => {
                    link.send(&self.outbox)?;
                    self.outbox.clear();
                    link.receive(next.read, &mut self.inbox)?;
                    if next.tables.is_some() {
                        store(&self.inbox)?;
                    }
                    flow = stage.step(&self.protocol, job, &self.inbox, &mut self.outbox)?;
                }
                _ => return Err(unforeseen()),
            }
        }
    }

    /// Takes a task's setup, or does it now.
    pub(super) fn take_ready(
        &mut self,
        id: u32,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<(Job, Option<PreparedTask<P>>)> {
        if let Some(stored) = self.stored.as_ref().filter(|stored| stored.places.contains_key(&id)) {
            let job = self.job(id);
            let taken = stored.take(&self.protocol, &job)?;
            return Ok((job, Some(taken)));
        }
        if self.program.ahead {
            return Ok(match self.ready.remove(&id) {
                Some(Ready { job, prepared, tables }) => (job, Some((prepared, tables))),
                None => (self.outline(id), None),
            });
        }
        let start = Instant::now();
        let job = self.job(id);
        if !self.scheduling.one_way && self.protocol.lengths().setup(&job).peek().is_some() {
            return Err(Error::usage("setup with answers is not streamed: every task would take a round trip"));
        }
        self.supply(&job, stock, link)?;
        let prepared = self.set_up_task(&job, stock, link, &mut |_| Err(unforeseen()))?;
        self.streamed_setup += start.elapsed();
        Ok((job, prepared.map(|prepared| (prepared, Tables::with_room(0)))))
    }

    /// Makes sure that the stock has what a task draws, when correlations are made block by block.
    fn supply(&mut self, job: &Job, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let demand = self.protocol.lengths().demand(job);
        if demand != Demand::NONE {
            link.supply(stock, demand, self.undrawn)?;
            self.undrawn = self.undrawn.missing_from(&demand);
        }
        Ok(())
    }

    /// Setup of the whole program, stored task by task: in memory there is no more of it than when it is streamed.
    pub(super) fn set_up_to(&mut self, run: &mut dyn RunSink, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let mut done = 0;
        for id in self.secret_tasks().collect::<Vec<_>>() {
            let job = self.job(id);
            self.supply(&job, stock, link)?;
            if let Some(prepared) = self.set_up_task(&job, stock, link, &mut |bytes| run.tables(bytes))? {
                self.protocol.store(&job, prepared, &mut |bytes| run.labels(bytes))?;
            }
            done += job.ands();
            link.progress(Phase::Setup, done, self.program.schedule.totals.and0)?;
        }
        link.flush()
    }
}

//! Maps that nobody waits for: their bytes go one way, so that their cells may be made later, and side by side.
//!
//! The order of what is sent and read is decided as if each map was made at once, one after the other. With several
//! threads a map is *deferred*: its bytes are read and its readers are ready, but its cell is made together with others,
//! each by one thread, when enough of them are deferred or when something else is to begin. What they send goes out in
//! order.

use super::exchange::Steps;
use super::lengths::{Lengths, read_online};
use super::queue::Queue;
use super::store::{Store, args, view};
use super::tables::Tables;
use super::{Arg, Executor, Job, Link, Protocol};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::program::TaskKind;
use std::sync::Arc;

/// ANDs that are enough to be made side by side: handing them to threads takes 30 µs, in which one garbles 5,000.
const ENOUGH: u64 = if cfg!(test) { 1 << 8 } else { 1 << 19 };

/// Maps and views that are deferred at most: every run looks at all of them.
const MANY: usize = if cfg!(test) { 20 } else { 256 };

/// ANDs from which on threads make several maps side by side.
const WORTH: u64 = if cfg!(test) { 1 } else { 10_000 };

/// ANDs that may be deferred beside [`ENOUGH`] for each thread: their tables take 64 MiB by half-gates.
const ROOM: u64 = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// Maps and views whose cells are still to be made, in the order of the wire.
pub(super) struct Deferred<P: Protocol> {
    works: Vec<Work<P>>,
    /// Empty boxes: fresh memory for the tables of each map takes its time.
    boxes: Vec<Outbox>,
}

/// A map or a view that is deferred.
struct Work<P: Protocol> {
    job: Job,
    /// Of a map.
    ready: Option<(P::Prepared, Tables)>,
    inbox: Inbox,
    outbox: Outbox,
    made: Option<Result<P::Value>>,
    is_done: bool,
}

/// The state that all threads read.
struct Common<'a, P> {
    protocol: &'a P,
    public: &'a [Option<Arc<BitMatrix>>],
}

impl<P: Protocol> Default for Deferred<P> {
    fn default() -> Self {
        Deferred { works: Vec::new(), boxes: Vec::new() }
    }
}

impl<P: Protocol> Deferred<P> {
    pub fn is_empty(&self) -> bool {
        self.works.is_empty()
    }

    /// Whether a map has room beside what is deferred.
    pub fn has_room(&self, job: &Job, threads: &Threads) -> bool {
        self.ands() + job.ands() <= ROOM + ENOUGH * threads.count() as u64
    }

    /// Whether there is enough, and as much for each thread; or too much, in number or in bytes of cells.
    pub fn is_enough(&self, threads: &Threads, most: usize, queue: &Queue) -> bool {
        let maps = self.works.iter().filter(|work| work.is_map()).count();
        let bytes: usize = self.works.iter().map(|work| queue.cell_bytes(&work.job.task)).sum();
        let is_much = self.works.len() >= MANY || bytes > most;
        is_much || self.ands() >= ENOUGH && maps.is_multiple_of(threads.count())
    }

    fn ands(&self) -> u64 {
        self.works.iter().map(|work| work.job.ands()).sum()
    }

    /// Adds a map, and reads its bytes.
    pub fn add_map(
        &mut self,
        lengths: &dyn Lengths,
        job: Job,
        ready: (P::Prepared, Tables),
        link: &mut dyn Link,
    ) -> Result<()> {
        let [mut inbox, outbox] = [(); 2].map(|()| self.boxes.pop().unwrap_or_default());
        link.receive(read_online(lengths, &job), &mut inbox)?;
        self.works.push(Work { job, ready: Some(ready), inbox, outbox, made: None, is_done: false });
        Ok(())
    }

    pub fn add_view(&mut self, job: Job) {
        let (inbox, outbox) = Default::default();
        self.works.push(Work { job, ready: None, inbox, outbox, made: None, is_done: false });
    }

    /// Makes all cells that are deferred, and sends what each map sends, in order.
    pub fn run(&mut self, executor: &Executor<P>, values: &mut Store<P::Value>, link: &mut dyn Link) -> Result<()> {
        let (mut works, threads) = (std::mem::take(&mut self.works), &executor.program.threads);
        let common = Common { protocol: &executor.protocol, public: &executor.public };
        while works.iter().any(|work| !work.is_done) {
            make_some(&mut works, &common, threads, values)?;
        }
        for Work { mut outbox, inbox, .. } in works.into_iter().filter(Work::is_map) {
            link.give(&mut outbox)?;
            self.boxes.extend([outbox, inbox]);
        }
        self.boxes.truncate(2 * threads.count());
        Ok(())
    }
}

/// Makes the cells whose arguments are all there.
fn make_some<P: Protocol>(
    works: &mut [Work<P>],
    common: &Common<'_, P>,
    threads: &Threads,
    values: &mut Store<P::Value>,
) -> Result<()> {
    let is_next = |work: &&mut Work<P>| !work.is_done && values.have_all(&work.job.task, common.public);
    let mut next: Vec<_> = works.iter_mut().filter(is_next).collect();
    if next.is_empty() {
        return Err(Error::usage("a deferred map waits for itself"));
    }
    // One alone is shared out inside.
    if next.len() > 1 {
        next.iter_mut().for_each(|work| work.job.threads = Threads::default());
    }
    let worth = next.iter().map(|work| work.job.ands()).sum::<u64>() >= WORTH;
    let here = Threads::default();
    let threads = if worth { threads } else { &here };
    threads.each(&mut next, |work| work.make(common, values));
    for work in next {
        let task = &work.job.task;
        values.release(&task.args, |_| {});
        values.put(task.cell, work.made.take().expect("everybody had a turn")?);
        work.is_done = true;
    }
    Ok(())
}

impl<P: Protocol> Work<P> {
    fn is_map(&self) -> bool {
        !matches!(self.job.task.kind, TaskKind::View { .. })
    }

    fn make(&mut self, Common { protocol, public }: &Common<'_, P>, values: &Store<P::Value>) {
        let args = args(&self.job.task, values, public);
        self.made = Some(match (&self.job.task.kind, self.ready.take()) {
            (TaskKind::View { wiring }, _) => Ok(view(wiring, &self.job.task, &args, |public| protocol.lift(public))),
            (_, Some(ready)) => self.map(protocol, ready, &args),
            _ => Err(Error::usage("a map was not prepared")),
        });
    }

    fn map(
        &mut self,
        protocol: &P,
        (prepared, tables): (P::Prepared, Tables),
        args: &[Arg<'_, P::Value>],
    ) -> Result<P::Value> {
        let stage = protocol.online(&self.job, prepared, args, None)?;
        let mut steps = Steps::new(protocol, &self.job, stage, tables);
        steps.run(protocol, &self.job, &self.inbox, &mut self.outbox)
    }
}

//! Setup for another day: what is prepared goes to a shelf task by task, and comes back in the same way.
//!
//! Neither phase has more in memory than a run in streamed timing: correlations are made in blocks, tables travel and are
//! written piece by piece, and read when their task begins.

use super::{Executor, Link, Phase};
use crate::Result;
use crate::correlation::Stock;
use crate::executor::store::{args, view};
use crate::prepared::{RunReader, RunWriter, StoredSize};
use crate::protocol::{Arg, Job, Protocol};
use circuit::program::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A protocol whose prepared tasks can wait on a shelf.
pub(crate) trait Shelved: Protocol {
    /// Bytes that are kept of a task: exactly so many.
    fn kept(&self, job: &Job) -> StoredSize;

    /// Setup of a task, as [`prepare`](Protocol::prepare) does it; the bytes on the wire are the same.
    fn prepare_to(
        &self,
        job: &Job,
        args: &[Arg<'_, Self::Mask>],
        stock: &mut Stock,
        link: &mut dyn Link,
        making: &mut RunWriter,
    ) -> Result<Self::Mask>;

    /// The task as it was prepared, kept from this place on.
    fn restore(&self, job: &Job, run: &Arc<RunReader>, at: StoredSize) -> Result<Self::Prepared>;
}

/// What waits on a shelf, and where each task has its place.
pub(super) struct Waiting<P: Protocol> {
    run: Arc<RunReader>,
    places: BTreeMap<u32, StoredSize>,
    restore: Restore<P>,
}

/// [`Shelved::restore`], which not every protocol has.
type Restore<P> = fn(&P, &Job, &Arc<RunReader>, StoredSize) -> Result<<P as Protocol>::Prepared>;

impl<P: Protocol> Waiting<P> {
    pub fn is_kept(&self, id: u32) -> bool {
        self.places.contains_key(&id)
    }

    pub fn take(&self, protocol: &P, job: &Job) -> Result<P::Prepared> {
        (self.restore)(protocol, job, &self.run, self.places[&job.task.cell])
    }
}

/// Where each task has its place, and what all of them take. A view keeps nothing.
fn places<P: Shelved>(executor: &Executor<P>) -> (BTreeMap<u32, StoredSize>, StoredSize) {
    let (mut places, mut end) = (BTreeMap::new(), StoredSize::default());
    for id in executor.secret_tasks().filter(|&id| !matches!(executor.task(id).kind, Kind::View { .. })) {
        places.insert(id, end);
        end += executor.protocol.kept(&executor.outline(id));
    }
    (places, end)
}

/// Bytes that the whole program takes on a shelf.
pub(crate) fn room<P: Shelved>(executor: &Executor<P>) -> StoredSize {
    places(executor).1
}

/// Ready to go online with what was prepared before.
pub(crate) fn resume<P: Shelved>(executor: Executor<P>, run: RunReader) -> Executor<P> {
    let (places, _) = places(&executor);
    let waiting = Waiting { run: Arc::new(run), places, restore: P::restore };
    Executor { waiting: Some(waiting), ..executor }
}

/// Setup of the whole program, onto a shelf.
pub(crate) fn setup_to<P: Shelved>(
    executor: &mut Executor<P>,
    making: &mut RunWriter,
    stock: &mut Stock,
    link: &mut dyn Link,
) -> Result<()> {
    let ids: Vec<u32> = executor.secret_tasks().collect();
    let mut done = 0;
    for id in ids {
        let job = executor.job(id);
        executor.supply(&job, stock, link)?;
        let (protocol, args) = (&executor.protocol, args(&job.task, &executor.masks, &executor.public));
        let mask = match &job.task.kind {
            Kind::View { wiring } => view(wiring, &job.task, &args, |public| protocol.lift_mask(public)),
            _ => protocol.prepare_to(&job, &args, stock, link, making)?,
        };
        drop(args);
        executor.masks.release(&job.task.args, |_| {});
        executor.masks.put(id, mask);
        done += job.ands();
        link.progress(Phase::Setup, done, executor.schedule.totals.and0)?;
    }
    link.flush()
}

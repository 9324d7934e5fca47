//! Tables between setup and online: in memory, or stored in an earlier session.

use super::{Executor, Protocol, RunSource, StoredSize};
use crate::Result;
use crate::outbox::Inbox;
use circuit::program::TaskKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tables of one task, taken piece by piece.
pub(super) enum Tables {
    /// Tables of this session, and how many of their bytes were taken.
    Here(Inbox, usize),
    /// Tables of an earlier session.
    Stored(TableReader),
}

impl Tables {
    /// Room for so many bytes.
    pub fn with_room(bytes: usize) -> Tables {
        let mut tables = Inbox::default();
        tables.reserve(bytes);
        Tables::Here(tables, 0)
    }

    /// Appends bytes that came in this session.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Tables::Here(tables, _) = self {
            tables.extend_from_slice(bytes);
        }
    }

    /// The next so many bytes.
    pub fn next(&mut self, count: usize) -> Result<&[u8]> {
        match self {
            Tables::Here(tables, taken) => {
                let from = *taken;
                *taken += count;
                tables.get(from..from + count).ok_or_else(super::unforeseen)
            }
            Tables::Stored(tables) => tables.next(count),
        }
    }
}

/// The tables of a task, read as they are needed.
pub(super) struct TableReader {
    run: Arc<dyn RunSource>,
    at: u64,
    bytes: Inbox,
}

impl TableReader {
    fn new(run: Arc<dyn RunSource>, at: StoredSize) -> TableReader {
        TableReader { run, at: at.tables, bytes: Inbox::default() }
    }

    /// The next so many bytes.
    fn next(&mut self, count: usize) -> Result<&[u8]> {
        let bytes = self.bytes.only(count);
        if count > 0 {
            self.run.tables(self.at, bytes)?;
        }
        self.at += count as u64;
        Ok(&self.bytes)
    }
}

/// A run of an earlier session, and where each task has its place in it.
pub(super) struct StoredRun {
    pub run: Arc<dyn RunSource>,
    pub places: BTreeMap<u32, StoredSize>,
}

impl StoredRun {
    /// The prepared state of a task, and its tables.
    pub fn take<P: Protocol>(&self, protocol: &P, job: &super::Job) -> Result<(P::Prepared, Tables)> {
        let place = self.places[&job.task.cell];
        let mut at = place;
        let prepared = protocol.restore(job, &mut |bytes| {
            self.run.labels(at, bytes)?;
            at.labels += bytes.len() as u64;
            Ok(())
        })?;
        Ok((prepared, Tables::Stored(TableReader::new(self.run.clone(), place))))
    }
}

/// Where each task has its place in a stored run, if the first has it at `end`, and the end of the last. A view stores
/// nothing.
pub(super) fn places<P: Protocol>(
    executor: &Executor<P>,
    mut end: StoredSize,
) -> (BTreeMap<u32, StoredSize>, StoredSize) {
    let mut places = BTreeMap::new();
    for id in executor.secret_tasks().filter(|&id| !matches!(executor.task(id).kind, TaskKind::View { .. })) {
        places.insert(id, end);
        end += executor.protocol.lengths().stored(&executor.outline(id));
    }
    (places, end)
}

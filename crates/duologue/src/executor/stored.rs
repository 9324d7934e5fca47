//! Setup that is kept for a later session: how much it is, and whatever keeps it.

use crate::Result;
use std::ops::AddAssign;

/// Bytes that are stored of a run, or of the tasks before one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct StoredSize {
    /// Secrets of inputs and outputs.
    pub labels: u64,
    /// Garbled tables.
    pub tables: u64,
}

impl AddAssign for StoredSize {
    fn add_assign(&mut self, other: StoredSize) {
        self.labels += other.labels;
        self.tables += other.tables;
    }
}

/// Takes the setup of a run: two streams, task by task.
pub(crate) trait RunSink: Send {
    /// Appends what is stored of inputs and outputs.
    fn labels(&mut self, bytes: &[u8]) -> Result<()>;

    /// Appends tables; at the garbler, nothing.
    fn tables(&mut self, bytes: &[u8]) -> Result<()>;
}

/// Has the setup of a run.
pub(crate) trait RunSource: Send + Sync {
    /// Reads labels of a task, from its place on.
    fn labels(&self, at: StoredSize, into: &mut [u8]) -> Result<()>;

    /// Reads tables from there on; fastest in order. The garbler has none.
    fn tables(&self, at: u64, into: &mut [u8]) -> Result<()>;
}

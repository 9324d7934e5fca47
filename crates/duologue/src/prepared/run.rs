//! One prepared run: while it is made, and while it is used.

use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use crate::Result;
use crate::outbox::Inbox;
use crate::storage::{EntryReader, EntryWriter, FileReader};

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

/// Secrets of a run as a whole, first of its labels: 16 bytes, then 8.
pub(crate) struct Secrets {
    /// Δ of the garbler, S of the evaluator.
    pub block: Block,
    /// The number of the run's first AND under Δ; the evaluator needs it.
    pub and0: u64,
}

const SECRETS: usize = 24;

impl Drop for Secrets {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

/// A run that is being made: two streams, each of exactly as many bytes as were announced.
pub(crate) struct RunWriter(EntryWriter);

impl RunWriter {
    /// Bytes of the file of labels.
    pub(super) fn label_bytes(size: StoredSize) -> u64 {
        size.labels + SECRETS as u64
    }

    pub(super) fn begin(mut entry: EntryWriter, secrets: &Secrets) -> Result<RunWriter> {
        let mut bytes = Zeroizing::new([0; SECRETS]);
        bytes[..16].copy_from_slice(&secrets.block.to_bytes());
        bytes[16..].copy_from_slice(&secrets.and0.to_le_bytes());
        entry.secret(&bytes[..])?;
        Ok(RunWriter(entry))
    }

    /// Appends what is stored of inputs and outputs, task by task.
    pub(crate) fn labels(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.secret(bytes)
    }

    /// Appends tables; at the garbler, nothing.
    pub(crate) fn tables(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.bulk(bytes)
    }

    pub(super) fn into_entry(self) -> EntryWriter {
        self.0
    }
}

/// A run that is being used; its files may have lost their names.
pub(crate) struct RunReader {
    labels: Mutex<FileReader>,
    /// The evaluator's.
    tables: Option<Mutex<FileReader>>,
}

impl RunReader {
    pub(super) fn new(entry: EntryReader) -> RunReader {
        RunReader { labels: Mutex::new(entry.secret), tables: entry.bulk.map(Mutex::new) }
    }

    /// All that is stored: the program's secrets, labels and permute bits, then the tables.
    #[cfg(test)]
    pub(crate) fn contents(&self) -> Result<[Vec<u8>; 2]> {
        let tables = self.tables.as_ref().map_or(Ok(Vec::new()), |tables| lock(tables).content())?;
        Ok([lock(&self.labels).content()?, tables])
    }

    pub(crate) fn secrets(&self) -> Result<Secrets> {
        let mut bytes = Zeroizing::new([0; SECRETS]);
        lock(&self.labels).read(0, &mut bytes[..])?;
        let block = Block::from_bytes(*bytes.first_chunk().expect("16 of 24 bytes"));
        Ok(Secrets { block, and0: u64::from_le_bytes(*bytes.last_chunk().expect("8 of 24 bytes")) })
    }

    /// Reads labels of a task, from its place on.
    pub(crate) fn labels(&self, at: StoredSize, into: &mut [u8]) -> Result<()> {
        lock(&self.labels).read(SECRETS as u64 + at.labels, into)
    }

    /// Tables from there on; fastest in order. The garbler has none.
    pub(crate) fn tables(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.tables.as_ref().map_or(Ok(()), |tables| lock(tables).read(at, into))
    }
}

/// The tables of a task, read as they are needed.
pub(crate) struct TableReader {
    run: Arc<RunReader>,
    at: u64,
    bytes: Inbox,
}

impl TableReader {
    pub(crate) fn new(run: Arc<RunReader>, at: StoredSize) -> TableReader {
        TableReader { run, at: at.tables, bytes: Inbox::default() }
    }

    /// The next so many bytes.
    pub(crate) fn next(&mut self, count: usize) -> Result<&[u8]> {
        let bytes = self.bytes.only(count);
        if count > 0 {
            self.run.tables(self.at, bytes)?;
        }
        self.at += count as u64;
        Ok(&self.bytes)
    }
}

fn lock(reader: &Mutex<FileReader>) -> MutexGuard<'_, FileReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

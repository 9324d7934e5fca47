//! One prepared run: while it is made, and while it is used.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use crate::Result;
use crate::executor::{RunSink, RunSource, StoredSize};
use crate::storage::{EntryReader, EntryWriter, FileReader};

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

    pub(super) fn into_entry(self) -> EntryWriter {
        self.0
    }
}

impl RunSink for RunWriter {
    fn labels(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.secret(bytes)
    }

    fn tables(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.bulk(bytes)
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
}

impl RunSource for RunReader {
    fn labels(&self, at: StoredSize, into: &mut [u8]) -> Result<()> {
        lock(&self.labels).read(SECRETS as u64 + at.labels, into)
    }

    fn tables(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.tables.as_ref().map_or(Ok(()), |tables| lock(tables).read(at, into))
    }
}

fn lock(reader: &Mutex<FileReader>) -> MutexGuard<'_, FileReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

//! One prepared run on a shelf: while it is made, and while it is used.

use std::ops::AddAssign;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use super::reel::{Content, Head, Reader, Writer};
use crate::Result;
use crate::disk::files;
use crate::disk::owner::Owner;
use crate::disk::seal::KEY;
use crate::outbox::Inbox;

/// Bytes that a run has on a shelf, or those of the tasks before one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Room {
    /// Secrets of inputs and outputs.
    pub labels: u64,
    /// Garbled tables.
    pub tables: u64,
}

impl AddAssign for Room {
    fn add_assign(&mut self, other: Room) {
        self.labels += other.labels;
        self.tables += other.tables;
    }
}

/// What belongs to a run as a whole, first of its labels: 16 bytes, then 8.
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

/// Whose shelf, and the key of its data.
pub(super) struct Keyed<'a> {
    pub folder: &'a Path,
    pub owner: Owner,
    pub key: &'a [u8; KEY],
}

/// A run that is being made: complete when [`end`](Making::end) has returned, and nothing before.
pub(crate) struct Making {
    labels: Writer,
    /// The evaluator's.
    tables: Option<Writer>,
}

/// The heads of a run's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub labels: Head,
    pub tables: Option<Head>,
}

impl Found {
    pub(super) fn file_len(&self) -> u64 {
        self.labels.file_len() + self.tables.as_ref().map_or(0, Head::file_len)
    }
}

impl Making {
    /// The run `number`, of which so much is kept.
    pub(super) fn begin(
        keyed: &Keyed,
        (number, batch): (u64, [u8; 32]),
        evaluates: bool,
        secrets: &Secrets,
        room: Room,
    ) -> Result<Making> {
        let create = |content, bytes| {
            let head = Head::new(content, number, bytes, batch)?;
            Writer::create(keyed.folder, &keyed.owner, keyed.key, head)
        };
        let tables = evaluates.then(|| create(Content::Tables, room.tables)).transpose()?;
        let mut labels = create(Content::Labels, room.labels + SECRETS as u64)?;
        let mut bytes = Zeroizing::new([0; SECRETS]);
        bytes[..16].copy_from_slice(&secrets.block.to_bytes());
        bytes[16..].copy_from_slice(&secrets.and0.to_le_bytes());
        labels.write(&bytes[..])?;
        Ok(Making { labels, tables })
    }

    /// Appends what is kept of inputs and outputs, task by task.
    pub(crate) fn labels(&mut self, bytes: &[u8]) -> Result<()> {
        self.labels.write(bytes)
    }

    /// Appends tables.
    pub(crate) fn tables(&mut self, bytes: &[u8]) -> Result<()> {
        self.tables.as_mut().map_or(Ok(()), |tables| tables.write(bytes))
    }

    /// Waits for the disk, then gives the files their names; the labels' last. With it, the run is one.
    pub(super) fn end(mut self, folder: &Path) -> Result<Found> {
        self.labels.end()?;
        if let Some(tables) = &mut self.tables {
            tables.end()?;
        }
        let tables = self.tables.map(Writer::name).transpose()?;
        if tables.is_some() {
            files::sync_folder(folder)?;
        }
        let labels = self.labels.name()?;
        files::sync_folder(folder)?;
        Ok(Found { labels, tables })
    }
}

/// A run that is being used; its files may have lost their names.
pub(crate) struct Taken {
    labels: Mutex<Reader>,
    tables: Option<Mutex<Reader>>,
}

impl Taken {
    pub(super) fn open(keyed: &Keyed, found: &Found) -> Result<Taken> {
        let open = |head| Reader::open(keyed.folder, &keyed.owner, keyed.key, head).map(Mutex::new);
        Ok(Taken { labels: open(&found.labels)?, tables: found.tables.as_ref().map(open).transpose()? })
    }

    /// Whether all of it is as it was written.
    pub(super) fn verify(&self) -> Result<()> {
        lock(&self.labels).verify()?;
        self.tables.as_ref().map_or(Ok(()), |tables| lock(tables).verify())
    }

    /// All of it: what belongs to the run as a whole, labels and permute bits, then the tables.
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

    /// What is kept of a task, from its place on.
    pub(crate) fn labels(&self, at: Room, into: &mut [u8]) -> Result<()> {
        lock(&self.labels).read(SECRETS as u64 + at.labels, into)
    }
}

/// The tables of a task, read as they are needed.
pub(crate) struct Tables {
    run: Arc<Taken>,
    at: u64,
    bytes: Inbox,
}

impl Tables {
    pub(crate) fn new(run: Arc<Taken>, at: Room) -> Tables {
        Tables { run, at: at.tables, bytes: Inbox::default() }
    }

    /// The next so many bytes.
    pub(crate) fn next(&mut self, count: usize) -> Result<&[u8]> {
        let bytes = self.bytes.only(count);
        if let Some(tables) = self.run.tables.as_ref().filter(|_| count > 0) {
            lock(tables).read(self.at, bytes)?;
        }
        self.at += count as u64;
        Ok(&self.bytes)
    }
}

fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

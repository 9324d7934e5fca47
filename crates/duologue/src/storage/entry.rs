//! An entry: what was made at once, is there as a whole or not at all, and is erased at once.
//!
//! Its secret file gets its name last and loses it first, each time after the disk has what came before. The key of an
//! entry is erased before its files.

use std::path::{Path, PathBuf};

use super::Content;
use super::fields::Owner;
use super::files::{self, Doomed};
use super::key::{self, FileKey, NewKey};
use super::seal::KEY;
use super::sealed::{FileReader, FileWriter, Head};
use crate::Result;

/// A folder, whose it is, and the key of its data.
pub(crate) struct Keyed<'a> {
    pub folder: &'a Path,
    pub content: &'static Content,
    pub owner: Owner,
    pub key: &'a [u8; KEY],
}

/// The numbers and lengths of an entry that is to be written.
pub(crate) struct Size {
    /// The position of its kind in [`Content::kinds`].
    pub kind: u8,
    pub first: u64,
    pub count: u64,
    /// The name that both parties give the making of it.
    pub batch: [u8; 32],
    /// Bytes of its secret file, and of its bulk.
    pub secret: u64,
    pub bulk: Option<u64>,
}

/// The heads of an entry's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub secret: Head,
    pub bulk: Option<Head>,
}

impl Entry {
    /// Bytes of its files.
    pub(super) fn file_len(&self) -> u64 {
        key::LEN as u64 + self.secret.file_len() + self.bulk.as_ref().map_or(0, Head::file_len)
    }

    pub(super) fn path(&self, folder: &Path, content: &Content) -> PathBuf {
        folder.join(self.secret.name(content))
    }

    /// Erases its files. Those of an entry that was used before and was put back may be incomplete.
    pub(super) fn erase(&self, folder: &Path, content: &Content) -> Result<()> {
        let nameless = Doomed::open(&self.path(folder, content))?.rename()?;
        FileKey::erase(folder, &self.secret.key)?;
        nameless.erase()?;
        self.bulk.as_ref().map_or(Ok(()), |bulk| files::remove(&folder.join(bulk.name(content))))
    }
}

/// An entry that is being written. It is one when [`complete`](EntryWriter::complete) has returned; dropped before, its
/// files are erased.
pub(crate) struct EntryWriter {
    folder: PathBuf,
    key: NewKey,
    secret: FileWriter,
    bulk: Option<FileWriter>,
    named: bool,
}

impl EntryWriter {
    pub(super) fn create(keyed: &Keyed, size: &Size) -> Result<EntryWriter> {
        let mut key = NewKey::create(keyed)?;
        let created = EntryWriter::files(keyed, size, &key.key);
        if created.is_err() {
            key.give_up();
        }
        let (secret, bulk) = created?;
        Ok(EntryWriter { folder: keyed.folder.to_owned(), key, secret, bulk, named: false })
    }

    fn files(keyed: &Keyed, size: &Size, key: &FileKey) -> Result<(FileWriter, Option<FileWriter>)> {
        let Size { kind, first, count, batch, .. } = *size;
        let create =
            |kind, bytes| FileWriter::create(keyed, key, Head { kind, first, count, bytes, batch, key: key.id });
        let mut secret = create(kind, size.secret)?;
        let bulk = size.bulk.map(|bytes| create(keyed.content.kinds.len() as u8, bytes)).transpose();
        if bulk.is_err() {
            secret.give_up();
        }
        Ok((secret, bulk?))
    }

    /// Its kind and the first of its numbers.
    pub(super) fn place(&self) -> (usize, u64) {
        (self.secret.head.kind.into(), self.secret.head.first)
    }

    /// Appends secrets.
    pub(crate) fn secret(&mut self, bytes: &[u8]) -> Result<()> {
        self.secret.write(bytes)
    }

    /// Appends bulk, if the entry has any.
    pub(crate) fn bulk(&mut self, bytes: &[u8]) -> Result<()> {
        self.bulk.as_mut().map_or(Ok(()), |bulk| bulk.write(bytes))
    }

    /// Waits for the disk, then gives the files their names; that of the secrets last, over what has it by now.
    pub(super) fn complete(mut self) -> Result<Entry> {
        self.secret.end()?;
        self.bulk.as_mut().map_or(Ok(()), FileWriter::end)?;
        self.key.sync()?;
        self.bulk.as_ref().map_or(Ok(()), FileWriter::name)?;
        files::sync_folder(&self.folder)?;
        self.secret.name()?;
        self.named = true;
        files::sync_folder(&self.folder)?;
        Ok(Entry { secret: self.secret.head.clone(), bulk: self.bulk.as_ref().map(|bulk| bulk.head.clone()) })
    }
}

impl Drop for EntryWriter {
    fn drop(&mut self) {
        if self.named {
            return;
        }
        self.key.give_up();
        self.secret.give_up();
        if let Some(bulk) = &self.bulk {
            let _ = std::fs::remove_file(files::part_of(&bulk.path)).or_else(|_| std::fs::remove_file(&bulk.path));
        }
    }
}

/// An entry that is being read; its files may have lost their names.
pub(crate) struct EntryReader {
    pub secret: FileReader,
    pub bulk: Option<FileReader>,
}

impl EntryReader {
    pub(super) fn open(keyed: &Keyed, entry: &Entry) -> Result<EntryReader> {
        let key = FileKey::load(keyed, entry.secret.key)?;
        let open = |head| FileReader::open(keyed, &key, head);
        Ok(EntryReader { secret: open(&entry.secret)?, bulk: entry.bulk.as_ref().map(open).transpose()? })
    }

    /// Whether all of it is as it was written.
    pub(crate) fn verify(&mut self) -> Result<()> {
        self.secret.verify()?;
        self.bulk.as_mut().map_or(Ok(()), FileReader::verify)
    }
}

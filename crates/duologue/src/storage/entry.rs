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

    /// Erases the files of entries, keys first. Those of an entry that was used before and was put back may be
    /// incomplete. However many there are, the folder is waited for once.
    pub(super) fn erase(entries: &[Entry], folder: &Path, content: &Content) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let rename = |entry: &Entry| Doomed::open(&entry.path(folder, content))?.rename();
        let nameless = entries.iter().map(rename).collect::<Result<Vec<Doomed>>>()?;
        files::sync_folder(folder)?;
        entries.iter().try_for_each(|entry| FileKey::erase(folder, &entry.secret.key))?;
        nameless.into_iter().try_for_each(Doomed::erase)?;
        let bulk = entries.iter().filter_map(|entry| entry.bulk.as_ref());
        bulk.map(|bulk| folder.join(bulk.name(content))).try_for_each(|path| files::remove(&path))
    }
}

/// An entry that is being written. Dropped before its secrets have their name, its files are erased.
pub(crate) struct EntryWriter {
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
        Ok(EntryWriter { key, secret, bulk, named: false })
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

    /// All of it is on the disk, and the bulk has its name. The folder is to be waited for before the secrets get theirs.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.secret.end()?;
        self.bulk.as_mut().map_or(Ok(()), FileWriter::end)?;
        self.key.sync()?;
        self.bulk.as_ref().map_or(Ok(()), FileWriter::name)
    }

    pub(super) fn has_bulk(&self) -> bool {
        self.bulk.is_some()
    }

    /// Gives the secrets their name, over what has it by now: with it, the entry is one.
    pub(super) fn name(&mut self) -> Result<()> {
        self.secret.name()?;
        self.named = true;
        Ok(())
    }

    pub(super) fn entry(&self) -> Entry {
        Entry { secret: self.secret.head.clone(), bulk: self.bulk.as_ref().map(|bulk| bulk.head.clone()) }
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

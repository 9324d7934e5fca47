//! The key of one entry's files, in a file of its own.
//!
//! ```text
//! 0   8   "duo-fkey"
//! 8   24  nonce
//! 32  32  sealed: the key
//! 64  16  tag, which also holds for the first 8 bytes, whose folder it is, and the ID
//! ```
//!
//! It is erased before the files are: one block of a disk is overwritten more surely, and sooner, than megabytes; and
//! what overwriting does not reach (bytes that a file system has moved, files that were cut off or never got their name)
//! is noise without it. A file without an entry is what a crash left.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use zeroize::Zeroizing;

use super::entry::Keyed;
use super::fields::FieldReader;
use super::files;
use super::seal::{KEY, NONCE, TAG, open, random, seal};
use crate::Result;

const MAGIC: &[u8; 8] = b"duo-fkey";

/// Bytes of the file.
pub(super) const LEN: usize = 8 + NONCE + KEY + TAG;

/// The random name by which heads refer to a key.
pub(super) type KeyId = [u8; 16];

/// The key of one entry.
pub(super) struct FileKey {
    pub id: KeyId,
    pub key: Zeroizing<[u8; KEY]>,
}

/// A new key, whose file is still to be waited for.
pub(super) struct NewKey {
    pub key: FileKey,
    path: PathBuf,
    file: File,
}

impl NewKey {
    /// Draws a key and writes it. It needs no other name while it is written: without an entry it counts as nothing.
    pub(super) fn create(keyed: &Keyed) -> Result<NewKey> {
        let key = FileKey { id: random()?, key: Zeroizing::new(random()?) };
        let (path, nonce) = (path(keyed.folder, &key.id), random()?);
        let mut text = key.key.clone();
        let tag = seal(&of_keys(keyed), &nonce, &context(keyed, &key.id), &mut text[..]);
        let file = files::create(&path).map_err(files::doing("writing", &path))?;
        let mut new = NewKey { key, path, file };
        let written = [&MAGIC[..], &nonce, &text[..], &tag].concat();
        match new.file.write_all(&written).map_err(files::doing("writing", &new.path)) {
            Ok(()) => Ok(new),
            Err(error) => {
                new.give_up();
                Err(error)
            }
        }
    }

    /// Waits until it is on the disk; its name is to be waited for in the folder. After the entry's files this is cheap:
    /// most file systems write a small file that is new with what is waited for before.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(files::doing("writing", &self.path))
    }

    /// Erases it; what cannot be erased now is when the folder is next opened.
    pub(super) fn give_up(&mut self) {
        files::give_up(&mut self.file, &self.path);
    }
}

impl FileKey {
    pub(super) fn load(keyed: &Keyed, id: KeyId) -> Result<FileKey> {
        let path = path(keyed.folder, &id);
        let bytes = files::read(&path, LEN + 1)?;
        let key = FileKey::decode(&bytes, keyed, &id);
        let key = key.ok_or_else(|| files::malformed(&path, "it is not what was written: damaged, or tampered with"));
        Ok(FileKey { id, key: key? })
    }

    fn decode(bytes: &[u8], keyed: &Keyed, id: &KeyId) -> Option<Zeroizing<[u8; KEY]>> {
        let mut reader = FieldReader(bytes);
        let (magic, nonce): ([u8; 8], _) = (reader.take().ok()?, reader.take().ok()?);
        let (mut key, tag) = (Zeroizing::new(reader.take().ok()?), reader.take().ok()?);
        reader.end().ok().filter(|()| magic == *MAGIC)?;
        open(&of_keys(keyed), &nonce, &context(keyed, id), &mut key[..], tag)?;
        Some(key)
    }

    /// Erases the key with this ID, if it is there.
    pub(super) fn erase(folder: &Path, id: &KeyId) -> Result<()> {
        let path = path(folder, id);
        match path.try_exists().map_err(files::doing("reading", &path))? {
            true => files::erase(&path),
            false => Ok(()),
        }
    }
}

fn of_keys(keyed: &Keyed) -> Zeroizing<[u8; KEY]> {
    Zeroizing::new(blake3::derive_key("duologue 2 storage: key of keys", keyed.key))
}

fn context(keyed: &Keyed, id: &KeyId) -> Vec<u8> {
    [&MAGIC[..], &keyed.owner.encode(), id].concat()
}

pub(super) fn name(id: &KeyId) -> String {
    format!("key-{}", HEXLOWER.encode(id))
}

fn path(folder: &Path, id: &KeyId) -> PathBuf {
    folder.join(name(id))
}

/// The ID of the key in a file of this name.
pub(super) fn parse(name: &str) -> Option<KeyId> {
    let id = HEXLOWER.decode(name.strip_prefix("key-")?.as_bytes()).ok()?;
    id.try_into().ok()
}

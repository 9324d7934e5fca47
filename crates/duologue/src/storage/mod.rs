//! Folders of secrets that are used once, on disk. What lies in them is their content: correlations
//! ([pools](crate::correlation::pool)), whole runs ([prepared runs](crate::prepared)), or runs of a private function.
//!
//! ```text
//! lock           held by the process that has the folder open
//! header         what the folder is, the key of its data, and a secret of the content: `Header`
//! cursor         how many of each kind are used up
//! KIND-NUMBER    a sealed file: what has this number (in hexadecimal), or the numbers from it on
//! key-ID         the key of one entry's files, which is erased before them
//! NAME.part      was being written or erased when a crash came; counts as nothing
//! ```
//!
//! An *entry* is what was made at once, and is erased at once: a secret file, perhaps a file of bulk beside it that
//! needs no secrecy, and their key. It is there when its secret file has its name, which it gets last and loses first.
//! Things of a kind are numbered from 0 in the order in which they were made. The *cursor* says that all below it are
//! used up: it moves on disk before anything is used, and never back.
//!
//! Nothing here knows what the things are for: errors, names and public terms are those of the content.
//!
//! **Security**: see the book's page on storage.

mod cursor;
mod entry;
pub(crate) mod fields;
pub(crate) mod files;
mod folder;
mod header;
mod key;
mod lock;
mod piece;
mod runs;
mod seal;
mod sealed;

use crate::Result;
use std::path::Path;

pub(crate) use cursor::LIMIT;
pub(crate) use entry::{Entry, EntryReader, EntryWriter, Size};
pub(crate) use folder::{Description, Folder, Place, erase, holds};
pub(crate) use header::{Header, Terms, hex_of, printable};
#[doc(hidden)]
pub use runs::{Counts, Found, KeptRun, KeptRuns, NewRuns, RunWriter};
pub use seal::SealKey;
pub(crate) use sealed::FileReader;

/// A kind of folder, as the storage must know it.
pub(crate) struct Content {
    /// In every file.
    pub code: u8,
    /// For people: there is none, how it is made, and where.
    pub absent: &'static str,
    pub makes: &'static str,
    pub alone: &'static str,
    /// The kinds of secret files, one for each counter of the cursor; each name begins a file's.
    pub kinds: &'static [&'static str],
    /// The kind of the files that lie beside those of the first kind, if any do.
    pub bulk: Option<&'static str>,
}

impl Content {
    /// All names of sealed files; a file's head has its position here.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.iter().copied().chain(self.bulk)
    }

    fn name_of(&self, kind: u8) -> Option<&'static str> {
        self.names().nth(kind.into())
    }

    /// The kind and the number of a file by its name.
    fn parse(&self, name: &str) -> Option<(u8, u64)> {
        let (kind, number) = name.rsplit_once('-')?;
        let kind = self.names().position(|known| known == kind)?;
        let hex = number.len() == 12 && number.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        let number = hex.then(|| u64::from_str_radix(number, 16).ok()).flatten()?;
        Some((kind as u8, number))
    }

    /// Whether secrets are in files of this kind, which is so of all but the bulk.
    fn is_secret(&self, kind: u8) -> bool {
        usize::from(kind) < self.kinds.len()
    }

    /// Whether a file that was being written or erased has secrets, if it is one of ours.
    fn parse_part(&self, name: &str) -> Option<bool> {
        match name.strip_suffix(files::PART)? {
            "header" | "cursor" => Some(true),
            name => self.parse(name).map(|(kind, _)| self.is_secret(kind)),
        }
    }
}

/// Reads a file of a folder without any key, as it is read when the folder is opened: for tests of the decoders.
///
/// # Errors
/// [`Error::Malformed`](crate::Error::Malformed).
#[doc(hidden)]
pub fn inspect(name: &str, bytes: &[u8]) -> Result<()> {
    let read = match name {
        "header" => Header::decode(bytes).map(drop).map_err(|why| why.to_string()),
        "cursor" => cursor::Cursor::<3>::decode(bytes, 0, &[0; 32]).map(drop),
        _ => sealed::Head::decode(bytes, u8::MAX).map(drop),
    };
    read.map_err(|why| files::malformed(Path::new(name), why))
}

#[cfg(test)]
pub(crate) mod tests;

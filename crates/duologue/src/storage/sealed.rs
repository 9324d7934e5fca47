//! A sealed file: a head, and content in pieces that are checked when they are read.
//!
//! ```text
//! 0    8   "duo-file"
//! 8    32  identity of the folder
//! 40   1   the party: 0 Alice, 1 Bob
//! 41   1   what the folder holds: 0 a pool, 1 prepared runs, 2 runs of a private function
//! 42   1   the kind of this file, as the content counts them
//! 43   5   zero
//! 48   8   number of the first thing in it
//! 56   8   how many
//! 64   8   bytes of content, n
//! 72   32  the batch: what both parties call the making of it
//! 104  16  ID of its key
//! 120      content in pieces of 65,536 bytes, the last one shorter or empty; after each a tag of 16 bytes
//! ```

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::Content;
use super::cursor::LIMIT;
use super::entry::Keyed;
use super::fields::{FieldReader, Owner};
use super::files;
use super::key::{FileKey, KeyId};
use super::piece::{Cover, PIECE, Position};
use super::seal::TAG;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"duo-file";

/// Bytes in clear before the pieces.
pub(super) const HEAD: usize = 120;

/// The head of a sealed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub kind: u8,
    pub first: u64,
    pub count: u64,
    pub bytes: u64,
    pub batch: [u8; 32],
    pub key: KeyId,
}

impl Head {
    /// The number after the last that it has.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.count
    }

    pub(crate) fn name(&self, content: &Content) -> String {
        format!("{}-{:012x}", content.name_of(self.kind).unwrap_or_default(), self.first)
    }

    /// At least one, which says that the file ends.
    fn pieces(&self) -> u64 {
        self.bytes.div_ceil(PIECE as u64).max(1)
    }

    fn position(&self, number: u64) -> Position {
        Position { number, last: number + 1 == self.pieces() }
    }

    /// Bytes of content of a piece.
    fn piece_len(&self, number: u64) -> usize {
        (self.bytes - number * PIECE as u64).min(PIECE as u64) as usize
    }

    /// Bytes of the whole file.
    pub(super) fn file_len(&self) -> u64 {
        HEAD as u64 + self.bytes + self.pieces() * TAG as u64
    }

    fn encode(&self, owner: &Owner) -> Vec<u8> {
        let head = [
            &MAGIC[..],
            &owner.encode(),
            &[self.kind, 0, 0, 0, 0, 0],
            &self.first.to_le_bytes(),
            &self.count.to_le_bytes(),
            &self.bytes.to_le_bytes(),
            &self.batch,
            &self.key,
        ];
        head.concat()
    }

    /// Reads a head; whose it is comes with it.
    pub(super) fn decode(bytes: &[u8], content: u8) -> std::result::Result<(Owner, Head), String> {
        let mut fields = FieldReader(bytes);
        if fields.take::<8>()? != *MAGIC {
            return Err("it does not begin as one".into());
        }
        let owner = fields.owner(content)?;
        let [kind] = fields.take()?;
        fields.zeros::<5>()?;
        let (first, count, bytes) = (fields.number()?, fields.number()?, fields.number()?);
        if first > LIMIT || count == 0 || count > LIMIT || bytes > LIMIT {
            return Err(format!("it claims {count} from number {first} on, in {bytes} bytes"));
        }
        let head = Head { kind, first, count, bytes, batch: fields.take()?, key: fields.take()? };
        fields.end().map(|()| (owner, head))
    }

    /// Reads the head of a file and checks its name and length.
    pub(super) fn inspect(path: &Path, owner: &Owner, content: &Content) -> Result<Head> {
        let (file, len) = files::open(path)?;
        let mut head = Vec::new();
        file.take(HEAD as u64).read_to_end(&mut head).map_err(files::doing("reading", path))?;
        let (whose, head) = Head::decode(&head, owner.content).map_err(|why| files::malformed(path, why))?;
        whose.check(owner).map_err(|why| files::malformed(path, why))?;
        let name = head.name(content);
        if path.file_name().is_none_or(|is| is != name.as_str()) {
            return Err(files::malformed(path, format!("it was {name}")));
        }
        if len != head.file_len() {
            return Err(files::malformed(path, format!("it has {len} bytes instead of {}", head.file_len())));
        }
        Ok(head)
    }

    fn cover(&self, keyed: &Keyed, key: &FileKey) -> (Vec<u8>, Cover) {
        let encoded = self.encode(&keyed.owner);
        let cover = Cover::new(keyed.content.is_secret(self.kind), &key.key, &encoded);
        (encoded, cover)
    }
}

/// A sealed file that is being written, under the name of a part.
pub(super) struct FileWriter {
    pub path: PathBuf,
    file: File,
    pub head: Head,
    cover: Cover,
    piece: Zeroizing<Vec<u8>>,
    /// Bytes of content so far, and pieces of them that are whole.
    written: u64,
    pieces: u64,
}

impl FileWriter {
    pub(super) fn create(keyed: &Keyed, key: &FileKey, head: Head) -> Result<FileWriter> {
        let path = keyed.folder.join(head.name(keyed.content));
        let file = files::create(&files::part_of(&path)).map_err(files::doing("writing", &path))?;
        let (encoded, cover) = head.cover(keyed, key);
        let piece = Zeroizing::new(Vec::with_capacity(PIECE + TAG));
        let mut writer = FileWriter { path, file, head, cover, piece, written: 0, pieces: 0 };
        let put = writer.put(&encoded);
        if put.is_err() {
            writer.give_up();
        }
        put.map(|()| writer)
    }

    /// Appends content.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if self.written > self.head.bytes {
            return Err(Error::usage("more was prepared than was counted"));
        }
        while !bytes.is_empty() {
            let part = bytes.split_off(..bytes.len().min(PIECE - self.piece.len())).expect("at most its length");
            self.piece.extend_from_slice(part);
            if self.piece.len() == PIECE {
                self.end_piece()?;
            }
        }
        Ok(())
    }

    fn end_piece(&mut self) -> Result<()> {
        let tag = self.cover.close(self.head.position(self.pieces), &mut self.piece);
        self.piece.extend_from_slice(&tag);
        let piece = std::mem::take(&mut *self.piece);
        let put = self.put(&piece);
        *self.piece = piece;
        self.piece.clear();
        self.pieces += 1;
        put
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(files::doing("writing", &self.path))
    }

    /// All of it is on the disk, under the name of a part.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.written != self.head.bytes {
            return Err(Error::usage("less was prepared than was counted"));
        }
        if self.pieces < self.head.pieces() {
            self.end_piece()?;
        }
        self.file.sync_all().map_err(files::doing("writing", &self.path))
    }

    /// Gives it its name, once it has ended. The folder is still to be waited for.
    pub(super) fn name(&self) -> Result<()> {
        fs::rename(files::part_of(&self.path), &self.path).map_err(files::doing("writing", &self.path))
    }

    /// Erases what was written, if it has not its name yet.
    pub(super) fn give_up(&mut self) {
        files::give_up(&mut self.file, &files::part_of(&self.path));
    }
}

/// A sealed file that is being read, from anywhere; fastest in order.
pub(crate) struct FileReader {
    path: PathBuf,
    file: File,
    /// Where in the file the next read begins.
    at: u64,
    head: Head,
    cover: Cover,
    /// The last piece that was read in part.
    piece: Zeroizing<Vec<u8>>,
    number: Option<u64>,
}

impl FileReader {
    /// The file may be another than the one whose head was read: its head is held against that.
    pub(super) fn open(keyed: &Keyed, key: &FileKey, head: &Head) -> Result<FileReader> {
        let path = keyed.folder.join(head.name(keyed.content));
        let (file, len) = files::open(&path)?;
        let (encoded, cover) = head.cover(keyed, key);
        let (head, piece) = (head.clone(), Zeroizing::new(Vec::new()));
        let mut reader = FileReader { path, file, at: 0, head, cover, piece, number: None };
        let mut came = [0; HEAD];
        reader.get(0, &mut came)?;
        if came != encoded[..] || len != reader.head.file_len() {
            return Err(files::malformed(&reader.path, "it is another file than before"));
        }
        Ok(reader)
    }

    /// Content from `from` on; all of it was checked.
    pub(crate) fn read(&mut self, mut from: u64, mut into: &mut [u8]) -> Result<()> {
        if from.checked_add(into.len() as u64).is_none_or(|end| end > self.head.bytes) {
            return Err(Error::usage("more was asked for than was prepared"));
        }
        while !into.is_empty() {
            let (number, skip) = (from / PIECE as u64, (from % PIECE as u64) as usize);
            let len = self.head.piece_len(number);
            let part = into.split_off_mut(..into.len().min(len - skip)).expect("at most its length");
            from += part.len() as u64;
            if part.len() == len {
                self.load(number, part)?;
                continue;
            }
            if self.number != Some(number) {
                let mut piece = std::mem::take(&mut self.piece);
                self.number = None;
                let missing = PIECE.saturating_sub(piece.len());
                piece.reserve_exact(missing);
                piece.resize(len, 0);
                self.load(number, &mut piece)?;
                (self.piece, self.number) = (piece, Some(number));
            }
            part.copy_from_slice(&self.piece[skip..][..part.len()]);
        }
        Ok(())
    }

    /// A whole piece, checked.
    fn load(&mut self, number: u64, text: &mut [u8]) -> Result<()> {
        let mut tag = [0; TAG];
        self.get(HEAD as u64 + number * (PIECE + TAG) as u64, text)?;
        self.get(self.at, &mut tag)?;
        let opened = self.cover.open(self.head.position(number), text, tag);
        opened.ok_or_else(|| files::malformed(&self.path, "it is not what was written: damaged, or tampered with"))
    }

    fn get(&mut self, at: u64, into: &mut [u8]) -> Result<()> {
        let sought = if at == self.at { Ok(at) } else { self.file.seek(SeekFrom::Start(at)) };
        self.at = at + into.len() as u64;
        sought.and_then(|_| self.file.read_exact(into)).map_err(files::doing("reading", &self.path))
    }

    /// Whether all of it is as it was written.
    pub(super) fn verify(&mut self) -> Result<()> {
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        (0..self.head.pieces()).try_for_each(|number| {
            let len = self.head.piece_len(number);
            self.load(number, &mut piece[..len])
        })
    }

    /// All of the content.
    #[cfg(test)]
    pub(crate) fn content(&mut self) -> Result<Vec<u8>> {
        let mut content = vec![0; self.head.bytes as usize];
        self.read(0, &mut content)?;
        Ok(content)
    }
}

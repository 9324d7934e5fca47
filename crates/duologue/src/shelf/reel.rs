//! A reel: one long file of a run, in pieces that are checked when they are read.
//!
//! ```text
//! 0    8   "duo-reel"
//! 8    32  identity of the shelf
//! 40   1   the party: 0 Alice, 1 Bob
//! 41   1   what it holds: 0 labels, 1 tables
//! 42   6   zero
//! 48   8   number of the run
//! 56   8   bytes of content, n
//! 64   32  the batch: what both parties call the making of this run
//! 96   24  nonce
//! 120      content in pieces of 65,536 bytes, the last one shorter; after each a tag of 16 bytes
//! ```
//!
//! Labels are sealed with XChaCha20-Poly1305: the nonce of a piece is the file's with the piece's number added to its
//! last 8 bytes by XOR, and the tag also holds for the head. Tables are not secret: without labels they are random
//! strings, and whoever could read them on an open channel has seen them. They are checked by a sum of products in
//! GF(2¹²⁸) with secret weights, one list for the file, and a mask for each piece (Carter and Wegman, 1981); both are
//! drawn from a key that hangs on that of the data and on the head. A change goes unnoticed with a chance of 2⁻¹²⁸. So a
//! piece is refused in another place, another file or another folder.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kernels::Block;
use kernels::field::Fold;
use kernels::generator::Generator;
use zeroize::Zeroizing;

use crate::disk::files;
use crate::disk::owner::{self, LIMIT, Owner};
use crate::disk::seal::{KEY, NONCE, TAG, open, random, seal};
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"duo-reel";

/// Bytes in clear before the pieces.
pub(super) const HEAD: usize = 120;

/// Bytes of content in a piece.
pub(super) const PIECE: usize = 1 << 16;

/// What a reel holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// What belongs to inputs and outputs: secret.
    Labels,
    /// Garbled tables.
    Tables,
}

impl Content {
    pub(super) const ALL: [Content; 2] = [Content::Labels, Content::Tables];

    fn name(self) -> &'static str {
        ["labels", "tables"][self as usize]
    }

    /// What a file of this name holds, and of which run.
    pub(super) fn of(name: &str) -> Option<(Content, u64)> {
        Content::ALL.into_iter().find_map(|content| {
            let hex = name.strip_prefix(content.name())?.strip_prefix('-')?;
            let digits = hex.len() == 12 && hex.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
            digits.then(|| u64::from_str_radix(hex, 16).ok()).flatten().map(|number| (content, number))
        })
    }
}

/// The head of a reel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub content: Content,
    pub number: u64,
    pub bytes: u64,
    pub batch: [u8; 32],
    nonce: [u8; NONCE],
}

impl Head {
    pub(super) fn new(content: Content, number: u64, bytes: u64, batch: [u8; 32]) -> Result<Head> {
        Ok(Head { content, number, bytes, batch, nonce: random()? })
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{:012x}", self.content.name(), self.number))
    }

    /// Bytes of the whole file.
    pub(super) fn file_len(&self) -> u64 {
        HEAD as u64 + self.bytes + self.bytes.div_ceil(PIECE as u64) * TAG as u64
    }

    fn encode(&self, owner: &Owner) -> Vec<u8> {
        let head = [
            &MAGIC[..],
            &owner.identity,
            &[owner.party as u8, self.content as u8, 0, 0, 0, 0, 0, 0],
            &self.number.to_le_bytes(),
            &self.bytes.to_le_bytes(),
            &self.batch,
            &self.nonce,
        ];
        head.concat()
    }

    /// Reads a head; whose it is comes with it.
    pub(super) fn decode(bytes: &[u8]) -> std::result::Result<(Owner, Head), String> {
        let mut fields = owner::Reader(bytes);
        if fields.take::<8>()? != *MAGIC {
            return Err("it does not begin as one".into());
        }
        let owner = Owner { identity: fields.take()?, party: fields.party()? };
        let content = *Content::ALL.get(usize::from(fields.take::<1>()?[0])).ok_or("what it holds is unknown")?;
        fields.zeros::<6>()?;
        let (number, bytes) = (fields.number()?, fields.number()?);
        if number > LIMIT || bytes > LIMIT {
            return Err(format!("it claims to be number {number}, of {bytes} bytes"));
        }
        let head = Head { content, number, bytes, batch: fields.take()?, nonce: fields.take()? };
        fields.end().map(|()| (owner, head))
    }

    /// Reads the head of a file and checks its length.
    pub(super) fn inspect(path: &Path, owner: &Owner) -> Result<Head> {
        let (file, len) = files::open(path)?;
        let mut head = Vec::new();
        file.take(HEAD as u64).read_to_end(&mut head).map_err(files::doing("reading", path))?;
        let (whose, head) = Head::decode(&head).map_err(|why| files::malformed(path, why))?;
        whose.check(owner).map_err(|why| files::malformed(path, why))?;
        let name = head.path(Path::new(""));
        if path.file_name() != name.file_name() {
            return Err(files::malformed(path, format!("it was {}", name.display())));
        }
        if len != head.file_len() {
            return Err(files::malformed(path, format!("it has {len} bytes instead of {}", head.file_len())));
        }
        Ok(head)
    }
}

/// What protects the pieces of one reel.
struct Cover {
    /// As it is written.
    head: Vec<u8>,
    how: How,
}

enum How {
    Sealed {
        key: Zeroizing<[u8; KEY]>,
        nonce: [u8; NONCE],
    },
    /// A tag is Σ weightᵢ·blockᵢ in GF(2¹²⁸), with a mask for each piece.
    Checked {
        weights: Zeroizing<Vec<Block>>,
        masks: Box<Generator>,
    },
}

impl Cover {
    fn new(head: &Head, owner: &Owner, key: &[u8; KEY]) -> Cover {
        let encoded = head.encode(owner);
        let how = match head.content {
            Content::Labels => How::Sealed { key: Zeroizing::new(*key), nonce: head.nonce },
            Content::Tables => {
                let mut hasher = blake3::Hasher::new_derive_key("duologue 1 shelf: key of tables");
                let derived = Zeroizing::new(*hasher.update(key).update(&encoded).finalize().as_bytes());
                let seed = Block::from_bytes(*derived.first_chunk().expect("16 of 32 bytes"));
                let mut weights = Zeroizing::new(vec![Block::ZERO; PIECE / 16]);
                let generator = Generator::from_seed(seed);
                generator.derive(b"weights ", 0).fill_blocks(&mut weights);
                How::Checked { weights, masks: Box::new(generator.derive(b"masks   ", 0)) }
            }
        };
        Cover { head: encoded, how }
    }

    /// The tag of a piece, which is sealed in place if it is secret.
    fn close(&self, piece: u64, text: &mut [u8]) -> [u8; TAG] {
        match &self.how {
            How::Sealed { key, nonce } => seal(key, &counted(nonce, piece), &self.head, text),
            How::Checked { weights, masks } => tag(weights, masks, piece, text),
        }
    }

    /// The content of a piece, in place; `None` if it is not what was written.
    fn open(&self, piece: u64, text: &mut [u8], came: [u8; TAG]) -> Option<()> {
        match &self.how {
            How::Sealed { key, nonce } => open(key, &counted(nonce, piece), &self.head, text, came),
            How::Checked { weights, masks } => (tag(weights, masks, piece, text) == came).then_some(()),
        }
    }
}

/// The nonce of a piece.
fn counted(nonce: &[u8; NONCE], piece: u64) -> [u8; NONCE] {
    let mut nonce = *nonce;
    nonce[NONCE - 8..].iter_mut().zip(piece.to_le_bytes()).for_each(|(byte, number)| *byte ^= number);
    nonce
}

/// The sum of a piece, with zeros after its end: how long it is, the head says. Its mask serves no other piece.
fn tag(weights: &[Block], masks: &Generator, piece: u64, text: &[u8]) -> [u8; TAG] {
    let mut sum = Fold::new();
    match bytemuck::try_cast_slice::<u8, Block>(text) {
        Ok(blocks) => sum.add(&weights[..blocks.len()], blocks),
        Err(_) => {
            let mut blocks = vec![Block::ZERO; text.len().div_ceil(16)];
            bytemuck::cast_slice_mut(&mut blocks)[..text.len()].copy_from_slice(text);
            sum.add(&weights[..blocks.len()], &blocks);
        }
    }
    (sum.finish() ^ masks.derive(b"piece   ", piece).block()).to_bytes()
}

/// A reel that is being written. It gets its name when it is whole; a writer that is dropped before leaves nothing.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    head: Head,
    cover: Cover,
    piece: Zeroizing<Vec<u8>>,
    /// Bytes of content so far, and of them in whole pieces.
    written: u64,
    pieces: u64,
    done: bool,
}

impl Writer {
    pub(super) fn create(folder: &Path, owner: &Owner, key: &[u8; KEY], head: Head) -> Result<Writer> {
        let path = head.path(folder);
        let part = files::part_of(&path);
        let file = files::create(&part).map_err(files::doing("writing", &path))?;
        let (cover, piece) = (Cover::new(&head, owner, key), Zeroizing::new(Vec::with_capacity(PIECE + TAG)));
        let mut writer = Writer { path, file, head, cover, piece, written: 0, pieces: 0, done: false };
        let encoded = writer.cover.head.clone();
        writer.put(&encoded)?;
        Ok(writer)
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
        let tag = self.cover.close(self.pieces, &mut self.piece);
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
        if !self.piece.is_empty() {
            self.end_piece()?;
        }
        if self.written != self.head.bytes {
            return Err(Error::usage("less was prepared than was counted"));
        }
        self.file.sync_all().map_err(files::doing("writing", &self.path))
    }

    /// Gives it its name, once it has ended. The folder is still to be waited for.
    pub(super) fn name(mut self) -> Result<Head> {
        fs::rename(files::part_of(&self.path), &self.path).map_err(files::doing("writing", &self.path))?;
        self.done = true;
        Ok(self.head.clone())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.done {
            // A full disk should not stay full because of us; if this fails too, opening removes it.
            let _ = fs::remove_file(files::part_of(&self.path));
        }
    }
}

/// A reel that is being read, from anywhere; fastest in order.
pub(super) struct Reader {
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

impl Reader {
    /// The file may be another than the one whose head was read: its head is held against that.
    pub(super) fn open(folder: &Path, owner: &Owner, key: &[u8; KEY], head: &Head) -> Result<Reader> {
        let path = head.path(folder);
        let (file, len) = files::open(&path)?;
        let cover = Cover::new(head, owner, key);
        let (head, piece) = (head.clone(), Zeroizing::new(Vec::new()));
        let mut reader = Reader { path, file, at: 0, head, cover, piece, number: None };
        let mut came = [0; HEAD];
        reader.get(0, &mut came)?;
        if came != reader.cover.head[..] || len != reader.head.file_len() {
            return Err(files::malformed(&reader.path, "it is another file than before"));
        }
        Ok(reader)
    }

    /// Content from `from` on; all of it was checked.
    pub(super) fn read(&mut self, mut from: u64, mut into: &mut [u8]) -> Result<()> {
        if from.checked_add(into.len() as u64).is_none_or(|end| end > self.head.bytes) {
            return Err(Error::usage("more was asked for than was prepared"));
        }
        while !into.is_empty() {
            let (number, skip) = (from / PIECE as u64, (from % PIECE as u64) as usize);
            let len = (self.head.bytes - number * PIECE as u64).min(PIECE as u64) as usize;
            let part = into.split_off_mut(..into.len().min(len - skip)).expect("at most its length");
            from += part.len() as u64;
            if part.len() == len {
                self.load(number, part)?;
                continue;
            }
            if self.number != Some(number) {
                let mut piece = std::mem::take(&mut self.piece);
                self.number = None;
                piece.resize(len, 0);
                self.load(number, &mut piece)?;
                (self.piece, self.number) = (piece, Some(number));
            }
            part.copy_from_slice(&self.piece[skip..][..part.len()]);
        }
        Ok(())
    }

    /// All of its content.
    #[cfg(test)]
    pub(super) fn content(&mut self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.head.bytes as usize];
        self.read(0, &mut bytes).map(|()| bytes)
    }

    /// A whole piece, checked.
    fn load(&mut self, number: u64, text: &mut [u8]) -> Result<()> {
        let mut tag = [0; TAG];
        self.get(HEAD as u64 + number * (PIECE + TAG) as u64, text)?;
        self.get(self.at, &mut tag)?;
        let opened = self.cover.open(number, text, tag);
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
        let pieces = self.head.bytes.div_ceil(PIECE as u64);
        (0..pieces).try_for_each(|number| {
            let len = (self.head.bytes - number * PIECE as u64).min(PIECE as u64) as usize;
            self.load(number, &mut piece[..len])
        })
    }
}

#[cfg(test)]
mod tests;

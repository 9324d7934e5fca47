//! A lot: correlations of one kind that were made together and lie in one sealed file.
//!
//! ```text
//! 0   8   "duo-lot1"
//! 8   32  identity of the pool
//! 40  1   the party: 0 Alice, 1 Bob
//! 41  1   the kind: 0 COTs by Alice, 1 COTs by Bob, 2 triples
//! 42  6   zero
//! 48  8   number of the first correlation
//! 56  8   how many
//! 64  32  the batch: what both parties call the session that made it
//! 96  24  nonce
//! 120 n   sealed: 16 bytes a COT (q or t); or the bits a, b, c of the triples, each in whole words of 64
//!     16  tag, which also holds for the first 120 bytes
//! ```

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, cast_slice_mut};
use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use super::kind::{Kind, each};
use crate::correlation::{Stock, Triples, bits::BitQueue};
use crate::disk::files;
use crate::disk::owner::{LIMIT, Owner, Reader};
use crate::disk::seal::{KEY, NONCE, TAG, open, random, seal};
use crate::ot::{Choices, Side};
use crate::{Party, Result};

const MAGIC: &[u8; 8] = b"duo-lot1";

/// Bytes in clear before the sealed ones.
pub(super) const HEAD: usize = 120;

/// The head of a lot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lot {
    pub kind: Kind,
    pub first: u64,
    pub count: u64,
    pub batch: [u8; 32],
    nonce: [u8; NONCE],
}

impl Lot {
    pub(super) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// Bytes of its file.
    pub(super) fn file_len(&self) -> u64 {
        (HEAD + self.kind.bytes(self.count as usize) + TAG) as u64
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{:012x}", self.kind.name(), self.first))
    }

    fn encode(&self, owner: &Owner) -> Vec<u8> {
        let head = [
            &MAGIC[..],
            &owner.identity,
            &[owner.party as u8, self.kind as u8, 0, 0, 0, 0, 0, 0],
            &self.first.to_le_bytes(),
            &self.count.to_le_bytes(),
            &self.batch,
            &self.nonce,
        ];
        head.concat()
    }

    /// Reads a head; whose it is comes with it.
    pub(super) fn decode(bytes: &[u8]) -> std::result::Result<(Owner, Lot), String> {
        let mut reader = Reader(bytes);
        if reader.take::<8>()? != *MAGIC {
            return Err("it does not begin as one".into());
        }
        let owner = Owner { identity: reader.take()?, party: reader.party()? };
        let kind = *Kind::ALL.get(usize::from(reader.take::<1>()?[0])).ok_or("its kind is unknown")?;
        reader.zeros::<6>()?;
        let (first, count) = (reader.number()?, reader.number()?);
        if count == 0 || count > kind.most() as u64 || first > LIMIT {
            return Err(format!("it claims {count} correlations from {first} on"));
        }
        let lot = Lot { kind, first, count, batch: reader.take()?, nonce: reader.take()? };
        reader.end().map(|()| (owner, lot))
    }

    /// Reads the head of a file and checks its length.
    pub(super) fn inspect(path: &Path, owner: &Owner) -> Result<Lot> {
        let (file, len) = files::open(path)?;
        let mut head = Vec::new();
        file.take(HEAD as u64).read_to_end(&mut head).map_err(files::doing("reading", path))?;
        let (whose, lot) = Lot::decode(&head).map_err(|why| files::malformed(path, why))?;
        whose.check(owner).map_err(|why| files::malformed(path, why))?;
        let name = lot.path(Path::new(""));
        if path.file_name() != name.file_name() {
            return Err(files::malformed(path, format!("it was {}", name.display())));
        }
        if len != lot.file_len() {
            return Err(files::malformed(path, format!("it has {len} bytes instead of {}", lot.file_len())));
        }
        Ok(lot)
    }

    /// Seals the first correlations of `stock`, as many as one file takes, and puts them on the disk.
    pub(super) fn write(
        folder: &Path,
        key: &Keyed,
        (kind, first): (Kind, u64),
        batch: [u8; 32],
        stock: &mut Stock,
    ) -> Result<Lot> {
        let count = kind.available(stock).min(kind.most() as u64) as usize;
        let lot = Lot { kind, first, count: count as u64, batch, nonce: random()? };
        match kind.side(key.owner.party) {
            Some(Side::Sender) => lot.save(folder, key, stock.draw_cot_sender(count)?)?,
            Some(Side::Receiver) => {
                let Choices { mut bits, t } = stock.draw_cot_receiver(count)?;
                bits.zeroize();
                lot.save(folder, key, t)?;
            }
            None => {
                let triples = stock.draw_triples(count)?;
                let all = [&triples.a[..], &triples.b, &triples.c].concat();
                erase(triples);
                lot.save(folder, key, all)?;
            }
        }
        Ok(lot)
    }

    fn save<T: Pod + Zeroize>(&self, folder: &Path, key: &Keyed, secrets: Vec<T>) -> Result<()> {
        let mut secrets = Zeroizing::new(secrets);
        let head = self.encode(&key.owner);
        let text: &mut [u8] = cast_slice_mut(&mut secrets);
        let tag = seal(key.key, &self.nonce, &head, text);
        files::replace(&self.path(folder), &[&head, text, &tag])
    }

    /// Moves the correlations `range`, which lie in this lot, into the stock.
    pub(super) fn pour(&self, folder: &Path, key: &Keyed, range: Range<u64>, stock: &mut Stock) -> Result<()> {
        let skip = (range.start - self.first) as usize;
        let len = (range.end - range.start) as usize;
        match self.kind.side(key.owner.party) {
            Some(side) => stock.put_cots(side, self.load::<Block>(folder, key)?[skip..skip + len].to_vec()),
            None => {
                let triples = cut(&self.load(folder, key)?, self.count as usize, skip, len);
                stock.put_triples(&triples);
                erase(triples);
            }
        }
        Ok(())
    }

    /// Writes the first correlations again, as a lot of their own in the place of this one.
    pub(super) fn shortened(&self, folder: &Path, key: &Keyed, count: u64) -> Result<Lot> {
        let mut stock = Stock::new(key.owner.party);
        self.pour(folder, key, self.first..self.first + count, &mut stock)?;
        Lot::write(folder, key, (self.kind, self.first), self.batch, &mut stock)
    }

    /// Whether all of it is as it was written.
    pub(super) fn verify(&self, folder: &Path, key: &Keyed) -> Result<()> {
        self.load::<u64>(folder, key).map(drop)
    }

    fn load<T: Pod + Zeroize>(&self, folder: &Path, key: &Keyed) -> Result<Zeroizing<Vec<T>>> {
        let path = self.path(folder);
        let (mut file, _) = files::open(&path)?;
        let mut secrets = Zeroizing::new(vec![T::zeroed(); self.kind.bytes(self.count as usize) / size_of::<T>()]);
        let text: &mut [u8] = cast_slice_mut(&mut secrets);
        let whole = self.read_into(&mut file, key, text).map_err(files::doing("reading", &path))?;
        whole.ok_or_else(|| files::malformed(&path, "it is not what was written: damaged, or tampered with"))?;
        Ok(secrets)
    }

    /// The file may be another than the one whose head was read: its head is held against that.
    fn read_into(&self, file: &mut File, key: &Keyed, text: &mut [u8]) -> std::io::Result<Option<()>> {
        let (mut head, mut tag) = ([0; HEAD], [0; TAG]);
        file.read_exact(&mut head)?;
        file.read_exact(text)?;
        file.read_exact(&mut tag)?;
        let expected = self.encode(&key.owner);
        Ok((head == expected[..]).then_some(()).and_then(|()| open(key.key, &self.nonce, &expected, text, tag)))
    }
}

/// Whose pool it is, and the key of its data.
pub(super) struct Keyed<'a> {
    pub owner: Owner,
    pub key: &'a [u8; KEY],
}

impl Kind {
    /// Our side in COTs of this kind; none for triples.
    fn side(self, us: Party) -> Option<Side> {
        match self {
            Kind::Triples => None,
            Kind::CotsByAlice if us == Party::Alice => Some(Side::Sender),
            Kind::CotsByBob if us == Party::Bob => Some(Side::Sender),
            _ => Some(Side::Receiver),
        }
    }

    fn available(self, stock: &Stock) -> u64 {
        each(&stock.available())[self as usize]
    }
}

fn erase(triples: Triples) {
    let Triples { mut a, mut b, mut c, .. } = triples;
    a.zeroize();
    b.zeroize();
    c.zeroize();
}

/// `len` of the `count` triples in these words, after the first `skip`.
fn cut(words: &[u64], count: usize, skip: usize, len: usize) -> Triples {
    let [a, b, c] = [0, 1, 2].map(|i| {
        let words = &words[i * count.div_ceil(64)..][..count.div_ceil(64)];
        let mut queue = BitQueue::default();
        queue.push(words, count);
        queue.draw(skip).zeroize();
        let bits = queue.draw(len);
        queue.destroy();
        bits
    });
    Triples { a, b, c, len }
}

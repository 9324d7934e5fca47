//! A pool: correlations made ahead of time, in a folder, each used once whatever happens.
//!
//! Each party has a folder with its half. Correlations of each kind are numbered from 0 in the order in which they were
//! made; the two halves of a correlation have the same number. A *cursor* says how many are used up. It moves on disk
//! before a correlation leaves the pool, and never back.
//!
//! ```text
//! lock           held by the process that has the pool open
//! header         what the pool is, Δ, and the key of the data: `Origin`
//! cursor         how many are used up
//! KIND-NUMBER    a lot: correlations of one kind from this number (in hexadecimal) on
//! NAME.part      was being written when a crash came; counts as nothing
//! ```
//!
//! Before correlations are made or used the parties exchange their [`Summary`]s and [`agree`](Pool::agree): the larger
//! of the two cursors holds for both, and the smaller of what both have. So a party whose process was killed loses what
//! was in flight, and a party whose folder came back from a backup uses nothing twice. If both folders come back from
//! backups, nobody can tell: correlations are then used twice, and the masks made of them reveal inputs.
//!
//! **Security**: see the book's page on pools.

mod header;
mod kind;
mod lot;
mod open;
mod summary;

use std::fs::OpenOptions;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kernels::Block;

use super::{Demand, Stock};
use crate::channel::PublicKey;
use crate::disk::cursor::Cursor;
use crate::disk::files;
use crate::disk::lock::Lock;
use crate::{Error, Party, Result};
use header::{Clear, Secrets};
use kind::{Kind, demand, each, zip};
use lot::{Keyed, Lot};

pub use crate::disk::seal::SealKey;
pub use header::{Origin, delta_identity};
pub use summary::Summary;

/// COTs by Alice, COTs by Bob, triples.
const CURSOR: Cursor<3> = Cursor(b"duo-curs");

/// One party's half of a pool, open: no other process has it.
///
/// ```compile_fail,E0599
/// fn twice(pool: &duologue::correlation::pool::Pool) -> duologue::correlation::pool::Pool {
///     pool.clone() // one cursor
/// }
/// ```
pub struct Pool {
    folder: PathBuf,
    clear: Clear,
    secrets: Secrets,
    /// Public if the pool is not sealed.
    seal: Option<SealKey>,
    used: [u64; 3],
    /// Whether the disk may have an older cursor, since writing failed.
    unsaved: bool,
    /// Of each kind, in order and without gaps; the first may be used in part.
    lots: [Vec<Lot>; 3],
    /// How far both parties have correlations, once they agreed.
    agreed: Option<[u64; 3]>,
    _lock: Lock,
}

/// What left a pool at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The numbers of the COTs by Alice, COTs by Bob, and triples.
    pub numbers: [Range<u64>; 3],
    /// Of the numbers, and in which batches they were made. Where it is not the peer's too, the correlations do not
    /// belong together: the folder of one party came back from a backup that had a tail which both have made anew.
    pub digest: [u8; 32],
}

/// What a pool is and has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// What both parties agreed on when they made it.
    pub origin: Origin,
    /// When it was made.
    pub created: SystemTime,
    /// Whether its header is sealed with a key from elsewhere.
    pub sealed: bool,
    /// Why its Δ is destroyed, if it is: then it has no more correlated OTs.
    pub destroyed: Option<String>,
    /// How many were ever made.
    pub made: Demand,
    /// How many of these are used up.
    pub used: Demand,
    /// How many can be used, as far as this party knows.
    pub left: Demand,
    /// What its files take on disk.
    pub bytes: u64,
}

impl Pool {
    /// What both parties agreed on when they made it.
    pub fn origin(&self) -> &Origin {
        &self.clear.origin
    }

    /// Refuses a session with keys other than those that the pool was made with.
    ///
    /// # Errors
    /// [`Error::Usage`] that names both.
    pub fn check_keys(&self, ours: Option<PublicKey>, peers: Option<PublicKey>) -> Result<()> {
        let Origin { party, keys, .. } = self.clear.origin;
        let bound = |who: Party| keys.map(|keys| keys[who as usize]);
        for (whose, bound, key) in [("the peer's", bound(party.peer()), peers), ("our own", bound(party), ours)] {
            if bound != key {
                let [bound, key] = [bound, key].map(|key| key.map_or("none".into(), |key| key.to_string()));
                let folder = self.folder.display();
                return Err(Error::usage(format!(
                    "the pool {folder} is for another pair of keys: {whose} key was {bound} and is {key} now"
                )));
            }
        }
        Ok(())
    }

    /// Δ of all COTs of this pool in which we are the sender, also of those that are added.
    ///
    /// # Errors
    /// [`Error::Usage`] if it was destroyed.
    pub fn delta(&self) -> Result<Block> {
        self.refuse_destroyed()?;
        Ok(self.secrets.delta)
    }

    /// What the peer must hear before the pool is used.
    pub fn summary(&self) -> Summary {
        Summary::new(&self.clear.origin, self.clear.destroyed.is_some(), demand(self.made()), demand(self.used))
    }

    /// Whether Δ is there: ours, and the peer's as far as we heard.
    pub fn is_whole(&self) -> bool {
        self.clear.destroyed.is_none()
    }

    /// Takes the larger cursor for both parties, on disk, and of what was made what both have. If the peer's Δ is
    /// destroyed, so is ours: were it not, COTs under another Δ of the peer's could join those under the first. Every
    /// session does so once, with the peer's summary, before it takes or adds anything.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the peer's is not the other half of this pool.
    pub fn agree(&mut self, theirs: &Summary) -> Result<()> {
        let ours = self.summary();
        ours.check(theirs)?;
        let (made, used) = (each(&theirs.made), each(&theirs.used));
        self.advance(std::array::from_fn(|i| used[i].max(self.used[i])))?;
        let made = zip(self.made(), made, u64::min);
        self.agreed = Some(zip(self.used, made, u64::max));
        if theirs.destroyed {
            self.destroy_delta("the peer's was destroyed")?;
        }
        if !self.is_whole() {
            self.agreed = self.agreed.map(|[.., triples]| [self.used[0], self.used[1], triples]);
        }
        self.erase_used()
    }

    /// What can be taken: what both parties have, once they agreed.
    pub fn left(&self) -> Demand {
        demand(zip(self.agreed.unwrap_or(self.made()), self.used, u64::saturating_sub))
    }

    /// How many are used up.
    pub fn used(&self) -> Demand {
        demand(self.used)
    }

    /// Moves the next correlations into the stock; the peer takes the same. Before any of them is read they count as
    /// used, on disk. Before any of them is used the parties compare the digest.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are not so many or the parties have not [agreed](Self::agree); nothing happened then.
    /// After any other error the correlations may count as used, and the stock is destroyed.
    pub fn take(&mut self, wanted: Demand, stock: &mut Stock) -> Result<Taken> {
        self.enough(&wanted)?;
        let from = self.used;
        self.advance(zip(from, each(&wanted), |from, count| from + count))?;
        let numbers = Kind::ALL.map(|kind| from[kind as usize]..self.used[kind as usize]);
        let poured = self.pour(&numbers, stock);
        if poured.is_err() {
            stock.destroy();
        }
        poured.map(|digest| Taken { numbers, digest })
    }

    fn pour(&mut self, numbers: &[Range<u64>; 3], stock: &mut Stock) -> Result<[u8; 32]> {
        let mut parts: Vec<(Kind, Range<u64>, [u8; 32])> = Vec::new();
        for (lots, range) in self.lots.iter().zip(numbers) {
            for lot in lots {
                let part = range.start.max(lot.first)..range.end.min(lot.end());
                if part.is_empty() {
                    continue;
                }
                lot.pour(&self.folder, &self.keyed(), part.clone(), stock)?;
                match parts.last_mut() {
                    // How a batch was cut into lots is of no concern to the peer.
                    Some((kind, last, batch)) if *kind == lot.kind && *batch == lot.batch => last.end = part.end,
                    _ => parts.push((lot.kind, part, lot.batch)),
                }
            }
        }
        self.erase_used().map(|()| digest(&parts))
    }

    fn enough(&self, wanted: &Demand) -> Result<()> {
        self.agreement()?;
        if wanted.cots_by_alice > 0 || wanted.cots_by_bob > 0 {
            self.refuse_destroyed()?;
        }
        let left = each(&self.left());
        match Kind::ALL.iter().zip(left).zip(each(wanted)).find(|((_, left), wanted)| wanted > left) {
            None => Ok(()),
            Some(((kind, left), wanted)) => Err(Error::usage(format!(
                "the pool {} has {left} {} left, not {wanted}: `duologue pool fill` makes more",
                self.folder.display(),
                kind.words()
            ))),
        }
    }

    /// Erases what only we have, since the other was killed while it added. Between the parties' agreement and the
    /// first message of the makers: were it later, and we killed, the peer might have other correlations with these
    /// numbers.
    pub fn trim(&mut self) -> Result<()> {
        let agreed = self.agreement()?;
        Kind::ALL.iter().try_for_each(|&kind| self.shorten(kind, agreed[kind as usize]))?;
        files::sync_folder(&self.folder)
    }

    fn agreement(&self) -> Result<[u64; 3]> {
        self.agreed.ok_or_else(|| Error::usage("the parties have not compared their pools"))
    }

    /// Moves all that is in the stock into the pool, for good; the peer adds the same. `batch` is unique to the session
    /// that made it, and the same for both parties. Returns how many were added.
    ///
    /// # Errors
    /// [`Error::Usage`] before [`agree`](Self::agree) and [`trim`](Self::trim). If the disk is full, for example, a part
    /// was added, which the parties find out when they next agree; the rest is lost.
    pub fn append(&mut self, batch: [u8; 32], stock: &mut Stock) -> Result<Demand> {
        let mut agreed = self.agreement()?;
        if agreed != self.made() {
            return Err(Error::usage(
                "correlations that the peer does not have must be erased before others are added",
            ));
        }
        if stock.party() != self.clear.origin.party {
            return Err(Error::usage(format!("these correlations are {}'s", stock.party())));
        }
        let added = stock.available();
        if added.cots_by_alice > 0 || added.cots_by_bob > 0 {
            self.refuse_destroyed()?;
        }
        for kind in Kind::ALL {
            let end = &mut agreed[kind as usize];
            while each(&stock.available())[kind as usize] > 0 {
                let lot = Lot::write(&self.folder, &self.keyed(), (kind, *end), batch, stock)?;
                *end = lot.end();
                self.lots[kind as usize].push(lot);
                self.agreed = Some(self.made());
            }
        }
        Ok(added)
    }

    /// Forgets all from number `made` on, unless they are used.
    fn shorten(&mut self, kind: Kind, made: u64) -> Result<()> {
        while let Some(lot) = self.lots[kind as usize].pop_if(|lot| lot.end() > made) {
            if lot.first >= made {
                files::erase_whole(&lot.path(&self.folder))?;
            } else {
                let kept = lot.shortened(&self.folder, &self.keyed(), made - lot.first)?;
                self.lots[kind as usize].push(kept);
            }
        }
        Ok(())
    }

    /// Destroys Δ and every COT under it, after a check of correlations has failed: another try would give the peer one
    /// more bit of Δ. Triples stay: those that were made in the failed batch were never added.
    ///
    /// # Errors
    /// [`Error::Io`]. Δ is gone from memory then, and from the disk if a header can be written over at all; where no new
    /// one could be put in its place, the folder is no pool any more.
    pub fn destroy_delta(&mut self, why: &str) -> Result<()> {
        if self.clear.destroyed.is_some() {
            return Ok(());
        }
        let path = self.folder.join("header");
        let old = OpenOptions::new().write(true).open(&path);
        self.clear.destroyed = Some(why.to_owned());
        self.secrets.delta = Block::ZERO;
        let saved = self.save_header().or_else(|_| {
            // Perhaps the disk is full: there is room once the correlations are erased.
            let erased = self.erase_used();
            self.save_header().and(erased)
        });
        // Whatever failed, the bytes with Δ go.
        let overwritten = old.and_then(files::overwrite).map_err(files::doing("erasing", &path));
        saved.and(overwritten)?;
        self.erase_used()
    }

    /// What the pool is and has.
    pub fn status(&self) -> Status {
        let Clear { origin, created, sealed, destroyed } = self.clear.clone();
        let lots: u64 = self.lots.iter().flatten().map(Lot::file_len).sum();
        Status {
            origin,
            created: SystemTime::UNIX_EPOCH + Duration::from_secs(created.min(1 << 40)),
            sealed,
            destroyed,
            made: demand(self.made()),
            used: self.used(),
            left: self.left(),
            bytes: lots + (header::LEN + Cursor::<3>::LEN) as u64,
        }
    }

    /// Reads everything that is left and checks that it is as it was written.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not.
    pub fn verify(&self) -> Result<()> {
        self.lots.iter().flatten().try_for_each(|lot| lot.verify(&self.folder, &self.keyed()))
    }

    fn keyed(&self) -> Keyed<'_> {
        Keyed { owner: self.clear.origin.owner(), key: &self.secrets.key }
    }

    fn save_header(&self) -> Result<()> {
        let public = SealKey::public();
        let header = self.clear.seal(&self.secrets, self.seal.as_ref().unwrap_or(&public))?;
        files::replace(&self.folder.join("header"), &[&header])
    }

    fn save_cursor(&self) -> Result<()> {
        CURSOR.save(&self.folder, &self.clear.origin.owner(), &self.used, &self.secrets.key)
    }

    /// Moves the cursor on disk, never back. It counts as moved even if that fails: who knows what the disk has.
    fn advance(&mut self, to: [u64; 3]) -> Result<()> {
        let to = zip(to, self.used, u64::max);
        if to != self.used || self.unsaved {
            (self.used, self.unsaved) = (to, true);
            self.save_cursor()?;
            self.unsaved = false;
        }
        Ok(())
    }

    /// How many were made: up to the end of the last lot, or to the cursor if it is beyond.
    fn made(&self) -> [u64; 3] {
        let ends = self.lots.each_ref().map(|lots| lots.last().map_or(0, Lot::end));
        zip(ends, self.used, u64::max)
    }

    fn refuse_destroyed(&self) -> Result<()> {
        match &self.clear.destroyed {
            None => Ok(()),
            Some(why) => Err(Error::usage(format!(
                "the correlated OTs of the pool {} are destroyed ({why}): prepare a new pool",
                self.folder.display()
            ))),
        }
    }

    /// Erases lots that the cursor on disk has passed, and all COTs if Δ is destroyed.
    fn erase_used(&mut self) -> Result<()> {
        if self.unsaved {
            return Ok(());
        }
        for kind in Kind::ALL {
            let dead = kind != Kind::Triples && self.clear.destroyed.is_some();
            let (used, lots) = (self.used[kind as usize], &mut self.lots[kind as usize]);
            while lots.first().is_some_and(|lot| dead || lot.end() <= used) {
                files::erase_whole(&lots.remove(0).path(&self.folder))?;
            }
        }
        Ok(())
    }
}

/// What a file of a pool says without any key, as [`Pool::open`] reads it: for tests of the decoders.
///
/// # Errors
/// [`Error::Malformed`].
pub fn inspect(name: &str, bytes: &[u8]) -> Result<()> {
    let read = match name {
        "header" => Clear::decode(bytes).map(drop),
        "cursor" => CURSOR.decode(bytes, &[0; 32]).map(drop),
        _ => Lot::decode(bytes).map(drop),
    };
    read.map_err(|why| files::malformed(Path::new(name), why))
}

/// Of what was taken, in which batches.
fn digest(parts: &[(Kind, Range<u64>, [u8; 32])]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue 1 pool: taken");
    for (kind, numbers, batch) in parts {
        hasher.update(&[*kind as u8]).update(&numbers.start.to_le_bytes()).update(&numbers.end.to_le_bytes());
        hasher.update(batch);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
pub(crate) mod tests;

//! A pool: correlations made ahead of time, in a folder, each used once whatever happens.
//!
//! Each party has a folder with its half, as [`crate::storage`] describes it. Correlations of each kind are
//! numbered from 0 in the order in which they were made; the two halves of a correlation have the same number. A *cursor*
//! says how many are used up. It moves on disk before a correlation leaves the pool, and never back.
//!
//! ```text
//! cots-by-alice-NUMBER, cots-by-bob-NUMBER, triples-NUMBER   a batch file: correlations from this number on
//! ```
//!
//! The secret in the header is Δ.
//!
//! Before correlations are made or used the parties exchange their [`Summary`]s and agree on them: the larger
//! of the two cursors holds for both, and the smaller of what both have. So a party whose process was killed loses what
//! was in flight, and a party whose folder came back from a backup uses nothing twice. If both folders come back from
//! backups, nobody can tell: correlations are then used twice, and the masks made of them reveal inputs.
//!
//! **Security**: see the book's page on pools.

mod batch;
mod kind;
mod open;
mod origin;
mod summary;

use std::ops::Range;
use std::time::SystemTime;

use kernels::Block;

use super::{Demand, Stock};
use crate::channel::PublicKey;
use crate::job::Part;
use crate::storage::files::malformed;
use crate::storage::{Content, Folder, Header};
use crate::{Error, Party, Result};
use kind::{CorrelationKind, demand, each, zip};

pub use crate::storage::SealKey;
pub use origin::Origin;
pub(crate) use origin::delta_identity;
#[doc(hidden)]
pub use summary::Summary;

static CONTENT: Content = Content {
    code: 0,
    absent: "there is no pool",
    makes: "`duologue pool fill` makes one",
    alone: "a pool needs a folder of its own",
    kinds: CorrelationKind::NAMES,
    bulk: None,
};

/// Files that are open at once while correlations are added, and waited for together.
const AT_ONCE: usize = 16;

/// COTs by Alice, COTs by Bob, triples.
type DiskPool = Folder<3>;

/// One party's half of a pool, open: no other process has it.
///
/// ```compile_fail,E0599
/// fn twice(pool: &duologue::correlation::pool::Pool) -> duologue::correlation::pool::Pool {
///     pool.clone() // one cursor
/// }
/// ```
pub struct Pool {
    /// Of each kind, entries in order and without gaps.
    folder: DiskPool,
    origin: Origin,
    /// How far both parties have correlations, once they agreed.
    agreed: Option<[u64; 3]>,
}

/// The numbers of the correlations that left a pool at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    /// The numbers of the COTs by Alice, COTs by Bob, and triples.
    pub numbers: [Range<u64>; 3],
    /// Of the numbers, and in which batches they were made. Where it is not the peer's too, the correlations do not
    /// belong together: the folder of one party came back from a backup that had a tail which both have made anew.
    pub digest: [u8; 32],
}

/// The state of a pool.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The description on which both parties agreed when they made it.
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
    /// Bytes of its files on disk.
    pub bytes: u64,
}

impl Pool {
    /// The description on which both parties agreed when they made it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Refuses a session with keys other than those that the pool was made with.
    ///
    /// # Errors
    /// [`Error::Usage`] that names both.
    pub(crate) fn check_keys(&self, ours: Option<PublicKey>, peers: Option<PublicKey>) -> Result<()> {
        let Origin { party, keys, .. } = self.origin;
        let bound = |who: Party| keys.map(|keys| keys[who as usize]);
        for (whose, bound, key) in [("the peer's", bound(party.peer()), peers), ("our own", bound(party), ours)] {
            if bound != key {
                let [bound, key] = [bound, key].map(|key| key.map_or("none".into(), |key| key.to_string()));
                let folder = self.folder.path().display();
                return Err(Error::usage(format!(
                    "the pool {folder} is for another pair of keys: {whose} key was {bound} and is {key} now"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a session of another part of a job than the next attempt after the one that made the pool: whatever an attempt has
    /// touched serves no other one, and correlations of another shard are not for this one.
    ///
    /// # Errors
    /// [`Error::Usage`] that names both.
    pub(crate) fn check_part(&self, part: Option<Part>) -> Result<()> {
        let fits = match (&self.origin.part, &part) {
            (None, None) => true,
            (Some(made), Some(part)) => part.follows(made),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let [made, part] = [self.origin.part, part].map(|part| part.map_or("no job".into(), |part| part.to_string()));
        let folder = self.folder.path().display();
        Err(Error::usage(format!(
            "the pool {folder} was made in {made}, for the attempt after it alone, and this is {part}"
        )))
    }

    /// Δ of all COTs of this pool in which we are the sender, also of those that are added.
    ///
    /// # Errors
    /// [`Error::Usage`] if it was destroyed.
    pub(crate) fn delta(&self) -> Result<Block> {
        self.refuse_destroyed()?;
        Ok(Block::from_bytes(*self.folder.secret()))
    }

    /// The summary that the peer must hear before the pool is used.
    pub(crate) fn summary(&self) -> Summary {
        Summary::new(&self.origin, !self.is_whole(), demand(self.made()), self.used())
    }

    /// Whether Δ is there: ours, and the peer's as far as we heard.
    pub(crate) fn is_whole(&self) -> bool {
        !self.folder.header().destroyed
    }

    /// Takes the larger cursor for both parties, on disk, and of what was made what both have. If the peer's Δ is
    /// destroyed, so is ours: were it not, COTs under another Δ of the peer's could join those under the first. Every
    /// session does so once, with the peer's summary, before it takes or adds anything.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the peer's is not the other half of this pool.
    pub(crate) fn agree(&mut self, theirs: &Summary) -> Result<()> {
        let ours = self.summary();
        ours.check(theirs)?;
        let (made, used) = (each(&theirs.made), each(&theirs.used));
        self.folder.advance(used)?;
        let made = zip(self.made(), made, u64::min);
        let used = self.folder.used();
        self.agreed = Some(zip(used, made, u64::max));
        if theirs.destroyed {
            self.destroy_delta("the peer's was destroyed")?;
        }
        if !self.is_whole() {
            self.agreed = self.agreed.map(|[.., triples]| [used[0], used[1], triples]);
        }
        self.erase_used()
    }

    /// The correlations that can be taken: those that both parties have, once they agreed.
    pub(crate) fn left(&self) -> Demand {
        demand(zip(self.agreed.unwrap_or(self.made()), self.folder.used(), u64::saturating_sub))
    }

    /// How many are used up.
    pub(crate) fn used(&self) -> Demand {
        demand(self.folder.used())
    }

    /// Moves the next correlations into the stock; the peer takes the same. Before any of them is read they count as
    /// used, on disk. Before any of them is used the parties compare the digest.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are not so many or the parties have not [agreed](Self::agree); nothing happened then.
    /// After any other error the correlations may count as used, and the stock is destroyed.
    pub(crate) fn take(&mut self, wanted: Demand, stock: &mut Stock) -> Result<Taken> {
        self.enough(&wanted)?;
        let from = self.folder.used();
        self.folder.advance(zip(from, each(&wanted), |from, count| from + count))?;
        let to = self.folder.used();
        let numbers = CorrelationKind::ALL.map(|kind| from[kind as usize]..to[kind as usize]);
        let loaded = self.load(&numbers, stock);
        if loaded.is_err() {
            stock.destroy();
        }
        loaded.map(|digest| Taken { numbers, digest })
    }

    fn load(&mut self, numbers: &[Range<u64>; 3], stock: &mut Stock) -> Result<[u8; 32]> {
        let mut parts: Vec<(CorrelationKind, Range<u64>, [u8; 32])> = Vec::new();
        for (kind, range) in CorrelationKind::ALL.into_iter().zip(numbers) {
            for entry in self.folder.entries(kind as usize) {
                let head = &entry.secret;
                let part = range.start.max(head.first)..range.end.min(head.end());
                if part.is_empty() {
                    continue;
                }
                batch::load(&self.folder, entry, part.clone(), stock)?;
                match parts.last_mut() {
                    // How a batch was cut into files is of no concern to the peer.
                    Some((last, numbers, batch)) if *last == kind && *batch == head.batch => numbers.end = part.end,
                    _ => parts.push((kind, part, head.batch)),
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
        match CorrelationKind::ALL.iter().zip(left).zip(each(wanted)).find(|((_, left), wanted)| wanted > left) {
            None => Ok(()),
            Some(((kind, left), wanted)) => Err(Error::usage(format!(
                "the pool {} has {left} {} left, not {wanted}: `duologue pool fill` makes more",
                self.folder.path().display(),
                kind.words()
            ))),
        }
    }

    /// Erases what only we have, since the other was killed while it added. Between the parties' agreement and the
    /// first message of the makers: were it later, and we killed, the peer might have other correlations with these
    /// numbers.
    pub(crate) fn trim(&mut self) -> Result<()> {
        let agreed = self.agreement()?;
        CorrelationKind::ALL.into_iter().try_for_each(|kind| self.shorten(kind, agreed[kind as usize]))
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
    pub(crate) fn append(&mut self, batch: [u8; 32], stock: &mut Stock) -> Result<Demand> {
        let mut agreed = self.agreement()?;
        if agreed != self.made() {
            return Err(Error::usage(
                "correlations that the peer does not have must be erased before others are added",
            ));
        }
        if stock.party() != self.origin.party {
            return Err(Error::usage(format!("these correlations are {}'s", stock.party())));
        }
        let added = stock.available();
        if added.cots_by_alice > 0 || added.cots_by_bob > 0 {
            self.refuse_destroyed()?;
        }
        for kind in CorrelationKind::ALL {
            let (end, mut files) = (&mut agreed[kind as usize], Vec::new());
            while each(&stock.available())[kind as usize] > 0 {
                let (file, after) = batch::write(&self.folder, (kind, *end), batch, stock)?;
                *end = after;
                files.push(file);
                if files.len() == AT_ONCE {
                    self.folder.add(std::mem::take(&mut files))?;
                }
            }
            self.folder.add(files)?;
            self.agreed = Some(self.made());
        }
        Ok(added)
    }

    /// Forgets all from number `made` on, unless they are used.
    fn shorten(&mut self, kind: CorrelationKind, made: u64) -> Result<()> {
        self.folder.erase(kind as usize, |entry| entry.secret.first >= made)?;
        match self.folder.entries(kind as usize).last().filter(|last| last.secret.end() > made).cloned() {
            Some(last) => batch::shorten(&mut self.folder, self.origin.party, &last, made - last.secret.first),
            None => Ok(()),
        }
    }

    /// Destroys Δ and every COT under it, after a check of correlations has failed: another try would give the peer one
    /// more bit of Δ. Triples stay: those that were made in the failed batch were never added.
    ///
    /// # Errors
    /// [`Error::Io`]. Δ is gone from memory then, and from the disk if a header can be written over at all; where no new
    /// one could be put in its place, the folder is no pool any more.
    pub(crate) fn destroy_delta(&mut self, why: &str) -> Result<()> {
        if !self.is_whole() {
            return Ok(());
        }
        // Perhaps the disk is full: there is room once the correlations are erased.
        self.folder.destroy_secret(origin::destroyed(why), erase_cots)?;
        self.erase_used()
    }

    /// The state of the pool.
    pub fn status(&self) -> Status {
        let header = self.folder.header();
        Status {
            origin: self.origin.clone(),
            created: self.folder.created(),
            sealed: header.sealed,
            destroyed: self.why_destroyed().map(str::to_owned),
            made: demand(self.made()),
            used: self.used(),
            left: self.left(),
            bytes: self.folder.bytes(),
        }
    }

    /// Reads everything that is left and checks that it is as it was written.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not.
    pub fn verify(&self) -> Result<()> {
        self.folder.verify()
    }

    fn made(&self) -> [u64; 3] {
        self.folder.made()
    }

    fn why_destroyed(&self) -> Option<&str> {
        origin::why_destroyed(self.folder.header())
    }

    fn refuse_destroyed(&self) -> Result<()> {
        match self.why_destroyed() {
            None => Ok(()),
            Some(why) => Err(Error::usage(format!(
                "the correlated OTs of the pool {} are destroyed ({why}): prepare a new pool",
                self.folder.path().display()
            ))),
        }
    }

    /// Erases what the cursor on disk has passed, and all COTs if Δ is destroyed.
    fn erase_used(&mut self) -> Result<()> {
        if !self.is_whole() {
            erase_cots(&mut self.folder)?;
        }
        self.folder.erase_used()
    }
}

/// Erases all COTs, once their Δ is destroyed.
fn erase_cots(folder: &mut DiskPool) -> Result<()> {
    [CorrelationKind::CotsByAlice, CorrelationKind::CotsByBob]
        .into_iter()
        .try_for_each(|kind| folder.erase(kind as usize, |_| true))
}

/// Reads the header of a pool without any key, as [`Pool::open`] does: for tests of the decoders.
///
/// # Errors
/// [`Error::Malformed`].
#[doc(hidden)]
pub fn inspect(header: &[u8]) -> Result<()> {
    let read = Header::decode(header).map_err(|why| why.to_string()).and_then(|header| Origin::read(&header));
    read.map(drop).map_err(|why| malformed("header".as_ref(), why))
}

/// Of what was taken, in which batches.
fn digest(parts: &[(CorrelationKind, Range<u64>, [u8; 32])]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("duologue 1 pool: taken");
    for (kind, numbers, batch) in parts {
        hasher.update(&[*kind as u8]).update(&numbers.start.to_le_bytes()).update(&numbers.end.to_le_bytes());
        hasher.update(batch);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
pub(crate) mod tests;

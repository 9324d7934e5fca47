//! A session with a pool: correlations made before are taken from disk, and new ones are put there.
//!
//! ```text
//! create_pool or use_pool    first of all; the parties compare what they have (178 bytes each way)
//! fill_pool                  as often as wanted
//! run, prepare, online       as without a pool
//! ```
//!
//! A program takes from the pool what it has, and what is missing is made as without a pool, but under the pool's Δ:
//! all COTs of a session have one Δ.

use super::wire::Wire;
use super::{PhaseReport, Session};
use crate::channel::Link;
pub(super) use crate::correlation::pool::Pool;
use crate::correlation::pool::{Origin, SealKey, Status, Summary, delta_identity};
use crate::correlation::{Demand, MakerTerm, Stock};
use crate::ot::Extension;
use crate::session::fields;
use crate::{Error, Party, Result};
use std::path::Path;
use zeroize::Zeroizing;

impl Session {
    /// Makes an empty pool in `folder`, for this peer, and uses it in this session. The pool is bound to the keys that the
    /// parties have proved to one another, and is refused where they are others. In a session of a
    /// [part of a job](Self::set_part) the pool is for the next attempt at that part alone.
    ///
    /// # Errors
    /// [`Error::Usage`] if the session was used before or the folder cannot be a pool; [`Error::Incompatible`] if the
    /// peer does not make one. Any other error ends the session.
    pub fn create_pool(&mut self, folder: &Path, extension: Extension, seal: Option<SealKey>) -> Result<()> {
        self.found_pool(folder, MakerTerm::new(extension), Demand::NONE, seal)
    }

    /// As [`create_pool`](Self::create_pool), with the maker that is [chosen](crate::correlation::choice) for filling the pool
    /// to this level, over an assumed line or the one that is measured now. The pool keeps it.
    ///
    /// # Errors
    /// As [`create_pool`](Self::create_pool).
    pub fn create_pool_for(
        &mut self,
        folder: &Path,
        level: Demand,
        link: impl Into<Option<Link>>,
        seal: Option<SealKey>,
    ) -> Result<()> {
        self.found_pool(folder, MakerTerm { extension: None, link: link.into() }, level, seal)
    }

    fn found_pool(&mut self, folder: &Path, term: MakerTerm, level: Demand, seal: Option<SealKey>) -> Result<()> {
        self.begin_pool()?;
        let keys = self.keys();
        let fields = fields::new_pool(&self.moment(true, self.ordinal), &term, &level);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            let extension = match term.extension {
                Some(extension) => extension,
                None => session.wire.choose_for(term, level)?.extension,
            };
            let identity = blake3::derive_key("duologue v1 identity of a pool", &session.id);
            let delta = session.secrets.derive(b"pool    ", 0).block().with_lsb(true);
            let ours = delta_identity(&identity, session.party, delta);
            let theirs = session.wire.swap(&ours)?.try_into().expect("as many as ours");
            let deltas = if session.party as u8 == 0 { [ours, theirs] } else { [theirs, ours] };
            let (party, part) = (session.party, session.part);
            let origin = Origin { identity, party, keys, deltas, extension, part };
            let pool = Pool::create(folder, &origin, delta, seal)?;
            session.attach(pool)
        })
    }

    /// Takes correlations from this pool before others are made. Every session that uses a pool begins with this.
    ///
    /// # Errors
    /// [`Error::Usage`] if the session was used before, the pool was made with other keys, or in a [part of a job](Self::set_part) of
    /// which this session is not the next attempt; [`Error::Incompatible`] if the peer's is not its other half. Any other error ends
    /// the session.
    pub fn use_pool(&mut self, pool: Pool) -> Result<()> {
        self.begin_pool()?;
        let key = |party: Party| self.keys().map(|keys| keys[party as usize]);
        pool.check_keys(key(self.party), key(self.party.peer()))?;
        pool.check_part(self.part)?;
        if pool.origin().party != self.party {
            return Err(Error::usage(format!("this pool is {}'s half, not {}'s", pool.origin().party, self.party)));
        }
        let fields = fields::pool(&self.moment(true, self.ordinal));
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.attach(pool)
        })
    }

    fn begin_pool(&self) -> Result<()> {
        self.alive()?;
        let fresh = self.wire.maker.is_none() && self.wire.pool.is_none() && self.ordinal == 0;
        if fresh { Ok(()) } else { Err(Error::usage("a session takes a pool before anything else")) }
    }

    fn attach(&mut self, mut pool: Pool) -> Result<()> {
        let ours = pool.summary();
        let theirs = Summary::decode(&self.wire.swap(&ours.encode())?)?;
        pool.agree(&theirs)?;
        if pool.is_whole() {
            self.wire.delta = Some(Zeroizing::new(pool.delta()?));
        }
        self.wire.pool = Some(pool);
        Ok(())
    }

    /// What the session's pool is and has.
    pub fn pool(&self) -> Option<Status> {
        self.wire.pool.as_ref().map(Pool::status)
    }

    /// Makes correlations until the pool has as many as this that are not used, whatever it has by now.
    ///
    /// # Errors
    /// [`Error::Usage`] if the session has no pool or has made correlations by another maker than the pool's, or COTs
    /// are called for and the pool's Δ or the peer's is destroyed;
    /// [`Error::Incompatible`] if the peer does not fill its half to the same level. Any other error ends the session;
    /// what was added to both halves stays. If a check of correlations failed, Δ is destroyed.
    pub fn fill_pool(&mut self, level: Demand) -> Result<PhaseReport> {
        self.alive()?;
        let pool = self.wire.pool()?;
        let missing = level.missing_from(&pool.left());
        if missing.cots_by_alice > 0 || missing.cots_by_bob > 0 {
            pool.delta()?;
        }
        let extension = pool.origin().extension;
        self.wire.check_maker_of_pool(extension)?;
        let term = MakerTerm::new(extension);
        let batch = blake3::derive_key("duologue v1 batch of a pool", &self.id);
        let fields = self.correlations_called_for("correlations for a pool", &term, &missing);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.pool()?.trim()?;
            session.make_blocks(term, missing, Wire::make, |wire, stock| wire.pool()?.append(batch, stock).map(drop))
        })
    }
}

impl Wire {
    fn pool(&mut self) -> Result<&mut Pool> {
        self.pool.as_mut().ok_or_else(|| Error::usage("the session has no pool: create or use one"))
    }

    /// A session has one maker: where a program or random OTs have chosen another one, nothing comes into the pool.
    fn check_maker_of_pool(&self, extension: Extension) -> Result<()> {
        self.check_extension(Some(extension)).map_err(|_| {
            let had = self.chosen.map_or(extension, |chosen| chosen.extension);
            Error::usage(format!(
                "the pool is filled by {extension}, but this session makes correlations by {had}: fill it in another session"
            ))
        })
    }

    /// What makes the correlations of the session's pool, if it has one: what it lacks is made alike, unless a maker is
    /// named.
    pub(super) fn maker_of_pool(&self) -> Option<Extension> {
        self.pool.as_ref().map(|pool| pool.origin().extension)
    }

    /// What the session's pool has.
    pub(super) fn left_in_pool(&self) -> Demand {
        self.pool.as_ref().map_or(Demand::NONE, Pool::left)
    }

    /// Moves what the pool has of this into the stock; the parties make sure that it belongs together.
    pub(super) fn take_from_pool(&mut self, stock: &mut Stock, wanted: Demand) -> Result<()> {
        let Some(pool) = &mut self.pool else { return Ok(()) };
        let wanted = wanted.at_most(&pool.left());
        if wanted == Demand::NONE {
            return Ok(());
        }
        let taken = pool.take(wanted, stock)?;
        tracing::debug!(numbers = ?taken.numbers, "taken from the pool");
        let theirs = self.swap(&taken.digest)?;
        if theirs != taken.digest {
            stock.destroy();
            return Err(Error::peer("its half of the pool has other correlations: prepare a new pool"));
        }
        Ok(())
    }
}

/// A peer whose message failed a check of base OTs or of correlations may know a bit of Δ once it hears of that: before
/// it does, the pool's is destroyed on disk. What goes wrong in the channel tells nobody of Δ, and leaves it whole.
pub(super) fn never_again(pool: &mut Option<Pool>, why: Error) -> Error {
    let (Some(pool), Error::Peer(_)) = (pool, &why) else { return why };
    pool.destroy_delta(&why.to_string()).err().unwrap_or(why)
}

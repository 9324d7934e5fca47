//! Random OTs on request. What is made of them, each party computes alone:
//! [`derived`](crate::correlation::derived).

use super::Session;
use crate::correlation::derived::{RandomBits, RandomOts};
use crate::correlation::{Demand, MakerTerm};
use crate::ot::{CotBatch, CotOutput, Extension, Side};
use crate::session::fields;
use crate::{Party, Result};

impl Session {
    /// Random OTs of 128 bits: at least `by_alice` that Alice sends, and `by_bob` that Bob sends. All are in memory at
    /// once.
    ///
    /// # Errors
    /// As [`correlate`](Session::correlate).
    pub fn random_ots(
        &mut self,
        extension: impl Into<Option<Extension>>,
        by_alice: u64,
        by_bob: u64,
    ) -> Result<RandomOts> {
        let number = self.ordinal;
        let batches = self.random(MakerTerm::new(extension), CotOutput::Messages, by_alice, by_bob)?;
        let ids = [self.party, self.party.peer()].map(|sender| self.random_id(number, sender));
        Ok(RandomOts::new(&batches, ids))
    }

    /// Random OTs of single bits: at least `by_alice` that Alice sends, and `by_bob` that Bob sends.
    ///
    /// # Errors
    /// As [`correlate`](Session::correlate).
    pub fn random_bits(
        &mut self,
        extension: impl Into<Option<Extension>>,
        by_alice: u64,
        by_bob: u64,
    ) -> Result<RandomBits> {
        Ok(RandomBits::new(&self.random(MakerTerm::new(extension), CotOutput::Bits, by_alice, by_bob)?))
    }

    fn random(
        &mut self,
        term: MakerTerm,
        output: CotOutput,
        by_alice: u64,
        by_bob: u64,
    ) -> Result<Vec<(Side, CotBatch)>> {
        self.alive()?;
        self.wire.check_extension(term.extension)?;
        let demand = Demand { cots_by_alice: by_alice, cots_by_bob: by_bob, ..Demand::NONE };
        let what = if output == CotOutput::Bits { "random OTs of one bit" } else { "random OTs of 128 bits" };
        let fields = fields::random_ots(&self.moment(true, self.ordinal), &term, what, &demand);
        self.guarded(|session| {
            session.wire.agree(&fields)?;
            session.wire.term = term;
            session.wire.plan_new(demand);
            session.ordinal += 1;
            session.wire.random_ots(&mut session.stock, output, demand)
        })
    }

    /// Of the random OTs that `sender` sends, the `number`th thing that the session does: no others have it.
    fn random_id(&self, number: u64, sender: Party) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("duologue v1 random OT: id");
        *hasher.update(&self.id).update(&number.to_le_bytes()).update(&[sender as u8]).finalize().as_bytes()
    }
}

//! The summaries of their pools that the parties exchange before they use them.
//!
//! ```text
//! 0    1   the party: 0 Alice, 1 Bob
//! 1    1   1 if the party's Δ is destroyed, else 0
//! 2    32  identity of the pool
//! 34   32  identity of Alice's Δ
//! 66   32  identity of Bob's Δ
//! 98   32  digest of these, of both keys, of the maker and of the part of a job
//! 130  24  made: COTs by Alice, COTs by Bob, triples
//! 154  24  used
//! ```

use data_encoding::HEXLOWER;

use super::Origin;
use super::kind::{demand, each};
use crate::correlation::Demand;
use crate::storage::LIMIT;
use crate::storage::fields::FieldReader;
use crate::{Error, Party, Result};

/// One party's pool, as the peer hears of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Whose it is.
    pub party: Party,
    /// Whether its Δ is destroyed.
    pub destroyed: bool,
    /// Random and the same for both parties.
    pub identity: [u8; 32],
    /// The identity of Alice's Δ and of Bob's.
    pub deltas: [[u8; 32]; 2],
    /// A digest of the [`Origin`], without the party.
    pub origin: [u8; 32],
    /// How many were made.
    pub made: Demand,
    /// How many of these are used up.
    pub used: Demand,
}

impl Summary {
    /// Bytes of a summary on the wire.
    pub const LEN: usize = 178;

    pub(super) fn new(origin: &Origin, destroyed: bool, made: Demand, used: Demand) -> Summary {
        let Origin { identity, party, deltas, .. } = *origin;
        Summary { party, destroyed, identity, deltas, origin: origin.digest(), made, used }
    }

    /// The bytes of the table above.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.party as u8, self.destroyed.into()];
        bytes.extend([self.identity, self.deltas[0], self.deltas[1], self.origin].as_flattened());
        bytes.extend([each(&self.made), each(&self.used)].as_flattened().iter().flat_map(|count| count.to_le_bytes()));
        bytes
    }

    /// Reads the peer's summary.
    ///
    /// # Errors
    /// [`Error::Peer`] if it is none.
    pub fn decode(bytes: &[u8]) -> Result<Summary> {
        let summary = Summary::read(bytes).map_err(|why| Error::peer(format!("the summary of its pool: {why}")))?;
        let (made, used) = (each(&summary.made), each(&summary.used));
        // Half the limit: what a peer claims must not keep us from adding more.
        if made.iter().zip(&used).any(|(made, used)| used > made || *made > LIMIT / 2) {
            return Err(Error::peer(format!("of its pool it claims {made:?} made and {used:?} used")));
        }
        Ok(summary)
    }

    fn read(bytes: &[u8]) -> std::result::Result<Summary, String> {
        let mut reader = FieldReader(bytes);
        let party = reader.party()?;
        let destroyed = match reader.take()? {
            [0] => false,
            [1] => true,
            _ => return Err("a flag is neither 0 nor 1".into()),
        };
        let identity = reader.take()?;
        let deltas = [reader.take()?, reader.take()?];
        let origin = reader.take()?;
        let made = demand([reader.number()?, reader.number()?, reader.number()?]);
        let used = demand([reader.number()?, reader.number()?, reader.number()?]);
        reader.end().map(|()| Summary { party, destroyed, identity, deltas, origin, made, used })
    }

    /// Whether `theirs` is the other half of the pool that this is a half of.
    pub(super) fn check(&self, theirs: &Summary) -> Result<()> {
        let hex = |bytes: &[u8; 32]| HEXLOWER.encode(&bytes[..8]);
        same("the pool", hex(&self.identity), hex(&theirs.identity))?;
        if self.party == theirs.party {
            let what = "whose half of the pool each has";
            return Err(Error::Incompatible {
                what,
                ours: self.party.to_string(),
                theirs: theirs.party.to_string(),
                place: None,
            });
        }
        let delta = |of: &Summary| of.deltas.each_ref().map(hex).join(" and ");
        same("the Δ of the pool", delta(self), delta(theirs))?;
        same("the origin of the pool", hex(&self.origin), hex(&theirs.origin))
    }
}

fn same(what: &'static str, ours: String, theirs: String) -> Result<()> {
    if ours == theirs { Ok(()) } else { Err(Error::Incompatible { what, ours, theirs, place: None }) }
}

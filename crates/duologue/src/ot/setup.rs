//! The 128 base OTs in each direction that seed two OT extensions, one with each party as sender.
//!
//! The roles are reversed: the *sender* of an extension is the *receiver* of base OTs, and its
//! choices are the bits of its Δ. Both directions travel in one exchange of 8,224 bytes each way.
//! Security is that of [`base`]: malicious parties.

use blake3::Hasher;
use kernels::{Block, generator::Generator};
use subtle::Choice;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{base, check_length, os_generator};
use crate::{Error, Party, Result};

/// Base OTs in each direction: one for each bit of Δ.
pub(super) const COUNT: usize = 128;

/// Both directions, between our message and the peer's.
pub struct Setup {
    /// Seeds the extension in which the peer is the sender.
    pairs: base::Sender,
    /// Seeds the extension in which we are the sender.
    chosen: base::Receiver,
    delta: Zeroizing<Block>,
    /// Of the extension in which we are the sender, and of the other.
    ids: [[u8; 32]; 2],
}

impl Setup {
    /// Bytes each party sends: its points as base sender, then those as base receiver.
    pub const MESSAGE: usize = base::Sender::MESSAGE + base::Receiver::message_len(COUNT);

    /// Draws Δ and begins. `session` is fresh for every connection and equal for both parties.
    pub fn start(us: Party, session: &[u8; 32]) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut os_generator()?, us, session))
    }

    pub(crate) fn start_with(rng: &mut Generator, us: Party, session: &[u8; 32]) -> (Self, Vec<u8>) {
        let delta = rng.block().with_lsb(true);
        Self::start_under(delta, rng, us, session)
    }

    /// Begins with a Δ that was drawn before: that of a pool, which must not have seen a failure.
    pub(crate) fn start_under(delta: Block, rng: &mut Generator, us: Party, session: &[u8; 32]) -> (Self, Vec<u8>) {
        let delta = Zeroizing::new(delta);
        let ids = [us, us.peer()].map(|sender| direction(session, sender));
        let choices: [Choice; COUNT] = std::array::from_fn(|i| Choice::from((delta.get() >> i) as u8 & 1));
        let (pairs, mut message) = base::Sender::start_with(rng, &direction(session, us), COUNT);
        let (chosen, rest) = base::Receiver::start_with(rng, &direction(session, us.peer()), &choices);
        message.extend_from_slice(&rest);
        (Self { pairs, chosen, delta, ids }, message)
    }

    /// Reads the peer's message: the seeds of the extension that we send in, and of the other.
    pub fn finish(self, message: &[u8]) -> Result<(SenderSeeds, ReceiverSeeds)> {
        check_length("base OT setup", message, Self::MESSAGE)?;
        let (as_sender, as_receiver) = message.split_at(base::Sender::MESSAGE);
        let keys = self.chosen.finish(as_sender)?;
        let pairs = self.pairs.finish(as_receiver)?;
        Ok((SenderSeeds::new(self.ids[0], *self.delta, keys)?, ReceiverSeeds { id: self.ids[1], pairs }))
    }
}

/// The session id of the base OTs that `sender` sends: a message reflected to whom it came from
/// belongs to the other id.
fn direction(session: &[u8; 32], sender: Party) -> [u8; 32] {
    let sender = match sender {
        Party::Alice => 0,
        Party::Bob => 1,
    };
    *Hasher::new_derive_key("duologue v1 base OT: direction").update(session).update(&[sender]).finalize().as_bytes()
}

/// Δ and, for each of its bits, the key that the bit chose. Used up by the extension it seeds.
#[derive(ZeroizeOnDrop)]
pub struct SenderSeeds {
    /// Of the session and the direction; equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) delta: Block,
    pub(super) keys: Vec<Block>,
}

impl SenderSeeds {
    /// The one place where Δ enters an extension, so the one place that refuses a useless Δ.
    fn new(id: [u8; 32], delta: Block, keys: Vec<Block>) -> Result<Self> {
        if !delta.lsb() {
            return Err(Error::usage("the least significant bit of Δ must be 1"));
        }
        Ok(Self { id, delta, keys })
    }
}

/// Both keys for each bit of the peer's Δ. Used up by the extension it seeds.
#[derive(ZeroizeOnDrop)]
pub struct ReceiverSeeds {
    /// Of the session and the direction; equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) pairs: Vec<[Block; 2]>,
}

#[cfg(test)]
pub(crate) mod tests;

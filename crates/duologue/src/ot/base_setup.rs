//! The base OTs of a session: 128 in each direction, which seed two OT extensions, one with each party as sender.
//!
//! The roles are reversed: the *sender* of an extension is the *receiver* of base OTs, and its
//! choices are the bits of its Δ. Both directions travel in two exchanges, of 4,128 and of 2,080 bytes
//! each way; the proof that an extension's sender has its keys goes with the first message of the
//! extension. Security is that of [`base`]: malicious parties, who may guess bits of Δ and end the
//! session if they guess wrong.

use blake3::Hasher;
use kernels::{Block, generator::Generator};
use subtle::Choice;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{base, check_length, os_generator};
use crate::{Error, Party, Result};

/// The number of base OTs in each direction: one for each bit of Δ.
pub(super) const COUNT: usize = 128;

/// The base OTs of both directions, after our first message and before the peer's.
pub struct BaseOtSetup {
    /// The base OTs that seed the extension in which the peer is the sender.
    pairs: base::Sender,
    ours: ExtensionSender,
}

/// The base OTs of both directions, after our second message and before the peer's.
pub struct AnsweredBaseOtSetup {
    sent: base::SenderOutput,
    ours: ExtensionSender,
    /// The peer's point as base sender.
    theirs: Vec<u8>,
}

/// State for the extension in which we are the sender, kept until the end.
struct ExtensionSender {
    chosen: base::Receiver,
    delta: Zeroizing<Block>,
    /// The ids of the extension in which we are the sender, and of the other.
    ids: [[u8; 32]; 2],
}

impl BaseOtSetup {
    /// Bytes that each party sends in the two exchanges: its points as base sender and as base receiver; then its
    /// answer as base sender.
    pub const MESSAGES: [usize; 2] =
        [base::Sender::MESSAGE + base::Receiver::message_len(COUNT), base::Sender::answer_len(COUNT)];

    /// Draws Δ and begins: the state and the first message. `session` is fresh for every connection, made by both
    /// parties and equal for them.
    pub fn start(us: Party, session: &[u8; 32]) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut os_generator()?, us, session))
    }

    pub(crate) fn start_with(rng: &mut Generator, us: Party, session: &[u8; 32]) -> (Self, Vec<u8>) {
        let delta = rng.block().with_lsb(true);
        Self::start_under(delta, rng, us, session)
    }

    /// Begins with a Δ that was drawn before, for example that of a pool; no session under it may have failed.
    pub(crate) fn start_under(delta: Block, rng: &mut Generator, us: Party, session: &[u8; 32]) -> (Self, Vec<u8>) {
        let delta = Zeroizing::new(delta);
        let ids = [us, us.peer()].map(|sender| direction(session, sender));
        let choices: [Choice; COUNT] = std::array::from_fn(|i| Choice::from((delta.get() >> i) as u8 & 1));
        let (pairs, mut message) = base::Sender::start_with(rng, &direction(session, us), COUNT);
        let (chosen, rest) = base::Receiver::start_with(rng, &direction(session, us.peer()), &choices);
        message.extend_from_slice(&rest);
        (Self { pairs, ours: ExtensionSender { chosen, delta, ids } }, message)
    }

    /// Reads the peer's first message and returns the next state and our second message.
    pub fn answer(self, message: &[u8]) -> Result<(AnsweredBaseOtSetup, Vec<u8>)> {
        check_length("base OT setup", message, Self::MESSAGES[0])?;
        let (as_sender, as_receiver) = message.split_at(base::Sender::MESSAGE);
        let (sent, answer) = self.pairs.answer(as_receiver)?;
        Ok((AnsweredBaseOtSetup { sent, ours: self.ours, theirs: as_sender.to_vec() }, answer))
    }
}

impl AnsweredBaseOtSetup {
    /// Reads the peer's second message and returns the seeds of the extension in which we are the sender, and of the
    /// other.
    ///
    /// # Errors
    /// [`Error::Peer`]; the peer may then have learnt a bit of Δ, which must not be used again.
    pub fn finish(self, message: &[u8]) -> Result<(SenderSeeds, ReceiverSeeds)> {
        check_length("base OT setup", message, BaseOtSetup::MESSAGES[1])?;
        let AnsweredBaseOtSetup { sent, ours: ExtensionSender { chosen, delta, ids }, theirs } = self;
        let received = chosen.finish(&theirs, message)?;
        Ok((SenderSeeds::new(ids[0], *delta, received)?, ReceiverSeeds { id: ids[1], base_ots: sent }))
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

/// The seeds of an extension's sender: Δ and, for each of its bits, the key that the bit chose, with the proof that we
/// have it. An extension uses them up.
#[derive(ZeroizeOnDrop)]
pub struct SenderSeeds {
    /// The id of the session and the direction, equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) delta: Block,
    pub(super) base_ots: base::ReceiverOutput,
}

impl SenderSeeds {
    /// The one place where Δ enters an extension, so the one place that refuses a useless Δ.
    fn new(id: [u8; 32], delta: Block, base_ots: base::ReceiverOutput) -> Result<Self> {
        if !delta.lsb() {
            return Err(Error::usage("the least significant bit of Δ must be 1"));
        }
        Ok(Self { id, delta, base_ots })
    }
}

/// The seeds of an extension's receiver: both keys for each bit of the peer's Δ, with the proof that the peer must
/// give. An extension uses them up.
#[derive(ZeroizeOnDrop)]
pub struct ReceiverSeeds {
    /// The id of the session and the direction, equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) base_ots: base::SenderOutput,
}

#[cfg(test)]
pub(crate) mod tests;

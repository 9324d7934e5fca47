//! The base OTs of a session: 128 for each direction in which an OT extension is to run, one extension with each party as
//! sender.
//!
//! The roles are reversed: the *sender* of an extension is the *receiver* of base OTs, and its choices are the bits of
//! its Δ. Only the first direction has base OTs by public-key cryptography ([`base`]). Those of the second are the first
//! random OTs of the first direction's extension ([`second`](super::second)): at once if both are called for, else when
//! the second is.
//!
//! ```text
//! exchange  sender of the first direction           receiver of the first direction
//! 1         B_i: 4,096 bytes                        z: 32 bytes
//! 2                                                 c, g: 2,080 bytes; for both directions a batch, its check and d: 4,128
//! 3         p, with whatever comes next
//! ```
//!
//! **Security** is that of [`base`] and of [`second`](super::second): malicious parties, who may guess bits of Δ and end
//! the session if they guess wrong. The proof p goes with the first exchange of the makers of COTs, before whose end
//! nothing is used ([`Maker`](crate::correlation::Maker)).

use blake3::Hasher;
use kernels::{Block, generator::Generator};
use subtle::Choice;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::base::{self, Ephemeral, Proof};
use super::second::{OFFER, SecondReceiver, SecondSender};
use super::{check_length, os_generator};
use crate::correlation::Demand;
use crate::{Error, Party, Result};

/// The number of base OTs in each direction: one for each bit of Δ.
pub(crate) const COUNT: usize = 128;

/// The directions of OT extension, each by its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directions {
    /// One, with this party as sender.
    One(Party),
    /// Both, with base OTs by public keys for the one in which Alice is the sender.
    Both,
}

impl Directions {
    /// The directions whose COTs a demand takes; none if it takes none.
    pub fn of(demand: &Demand) -> Option<Self> {
        let takes = |sender| demand.cots_by(sender) > 0 || demand.triples > 0;
        match [Party::Alice, Party::Bob].map(takes) {
            [false, false] => None,
            [true, false] => Some(Directions::One(Party::Alice)),
            [false, true] => Some(Directions::One(Party::Bob)),
            [true, true] => Some(Directions::Both),
        }
    }

    /// The sender of the direction that has base OTs by public keys.
    pub fn first(self) -> Party {
        if let Directions::One(sender) = self { sender } else { Party::Alice }
    }
}

/// The directions of a session that have base OTs. It is the same for both parties.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Based {
    first: Option<Party>,
    second: bool,
}

/// Base OTs that a session lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// All of these.
    All(Directions),
    /// Those of the second direction, where `first` is the sender of the first.
    Second { first: Party },
}

impl Based {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.first.is_some()
    }

    /// The base OTs that a demand needs and that are missing, which counts as made from now on.
    pub fn missing(&mut self, demand: &Demand) -> Option<Missing> {
        let needed = Directions::of(demand)?;
        let Some(first) = self.first else {
            *self = Based { first: Some(needed.first()), second: needed == Directions::Both };
            return Some(Missing::All(needed));
        };
        let lacks = !self.second && needed != Directions::One(first);
        self.second |= lacks;
        lacks.then_some(Missing::Second { first })
    }
}

impl Missing {
    /// The bytes that we send and read in each exchange.
    pub fn exchanges(self, us: Party) -> Vec<(usize, usize)> {
        let (first, each) = match self {
            Missing::All(directions) => (directions.first(), BaseOtSetup::messages(directions).to_vec()),
            Missing::Second { first } => (first, vec![[0, OFFER]]),
        };
        let ours = |[sender, receiver]: [usize; 2]| if us == first { (sender, receiver) } else { (receiver, sender) };
        each.into_iter().map(ours).collect()
    }
}

/// The base OTs of a session, after our first message and before the peer's.
pub struct BaseOtSetup {
    setting: Setting,
    role: Role,
}

/// The base OTs of a session, after our second message and before the peer's.
pub struct AnsweredBaseOtSetup {
    setting: Setting,
    role: AnsweredRole,
}

/// Δ and the ids of the extension in which we are the sender, and of the other.
struct Setting {
    us: Party,
    directions: Directions,
    delta: Zeroizing<Block>,
    ids: [[u8; 32]; 2],
}

enum Role {
    /// The sender of the first direction.
    Sender(base::Receiver),
    Receiver(base::Sender),
}

enum AnsweredRole {
    Sender(base::MetReceiver),
    Receiver(Box<Seeds>),
}

/// The results of the base OTs. The seeds of a direction that was not called for are missing.
pub struct Seeds {
    /// The seeds of the extension in which we are the sender.
    pub sender: Option<SenderSeeds>,
    /// The seeds of the extension in which the peer is the sender.
    pub receiver: Option<ReceiverSeeds>,
    /// The proof of the first direction's base OTs.
    pub proof: ProofDuty,
    /// The state for the base OTs of the second direction, if they are still to be made.
    pub second: Option<Second>,
}

/// The proof that the sender of the first direction has its base OTs, which goes with the first exchange after them.
pub enum ProofDuty {
    /// We send it.
    Send(Proof),
    /// The peer sends it, and nothing that came of the base OTs is used before it is found to be this.
    Check(Proof),
}

/// The base OTs of the second direction, before they are made.
pub enum Second {
    /// We are the sender of the first direction: the peer sends.
    Awaited(SecondReceiver),
    /// We are the receiver of the first direction: we send.
    Offered(SecondSender),
}

impl BaseOtSetup {
    /// The bytes of the two exchanges: from the sender of the first direction, and from its receiver.
    pub const fn messages(directions: Directions) -> [[usize; 2]; 2] {
        let offer = if let Directions::Both = directions { OFFER } else { 0 };
        [[base::Receiver::message_len(COUNT), base::Sender::MESSAGE], [0, base::Sender::answer_len(COUNT) + offer]]
    }

    /// Draws Δ and begins: the state and the first message. `session` is fresh for every connection, made by both
    /// parties and equal for them.
    pub fn start(us: Party, session: &[u8; 32], directions: Directions) -> Result<(Self, Vec<u8>)> {
        let mut rng = os_generator()?;
        let (delta, mut own) = (rng.block().with_lsb(true), rng.derive(b"multiple", 0));
        Ok(Self::start_under(delta, || Ephemeral::new(&mut own, COUNT), &mut rng, (us, session), directions))
    }

    /// Begins with a Δ that was drawn before, for example that of a pool; no session under it may have failed.
    /// `ephemeral` is asked of the sender of the first direction.
    pub(crate) fn start_under(
        delta: Block,
        ephemeral: impl FnOnce() -> Ephemeral,
        rng: &mut Generator,
        (us, session): (Party, &[u8; 32]),
        directions: Directions,
    ) -> (Self, Vec<u8>) {
        let ids = [us, us.peer()].map(|sender| direction(session, sender));
        let setting = Setting { us, directions, delta: Zeroizing::new(delta), ids };
        let base_id = direction(session, directions.first().peer());
        let (role, message) = if setting.sends_first() {
            let choices: [Choice; COUNT] = std::array::from_fn(|i| Choice::from((delta.get() >> i) as u8 & 1));
            let (chosen, message) = base::Receiver::start_from(ephemeral(), &base_id, &choices);
            (Role::Sender(chosen), message)
        } else {
            let (pairs, message) = base::Sender::start_with(rng, &base_id, COUNT);
            (Role::Receiver(pairs), message)
        };
        (Self { setting, role }, message)
    }

    /// The length of the peer's first message.
    pub fn expect(&self) -> usize {
        self.setting.expect(0)
    }

    /// Reads the peer's first message and returns the next state and our second message.
    pub fn answer(self, message: &[u8]) -> Result<(AnsweredBaseOtSetup, Vec<u8>)> {
        check_length("base OT setup", message, self.expect())?;
        let Self { setting, role } = self;
        let (role, message) = match role {
            Role::Sender(chosen) => (AnsweredRole::Sender(chosen.meet(message)?), Vec::new()),
            Role::Receiver(pairs) => {
                let (base::SenderOutput { mut pairs, proof }, mut answer) = pairs.answer(message)?;
                let seeds = ReceiverSeeds { id: setting.ids[1], pairs: std::mem::take(&mut pairs) };
                let second = SecondSender::new(&seeds, setting.ids[0], *setting.delta);
                let mut seeds =
                    Seeds { sender: None, receiver: Some(seeds), proof: ProofDuty::Check(proof), second: None };
                if setting.directions == Directions::Both {
                    seeds.sender = Some(second.offer(&mut answer)?);
                } else {
                    seeds.second = Some(Second::Offered(second));
                }
                (AnsweredRole::Receiver(Box::new(seeds)), answer)
            }
        };
        Ok((AnsweredBaseOtSetup { setting, role }, message))
    }
}

impl AnsweredBaseOtSetup {
    /// The length of the peer's second message.
    pub fn expect(&self) -> usize {
        self.setting.expect(1)
    }

    /// Reads the peer's second message and returns the seeds.
    ///
    /// # Errors
    /// [`Error::Peer`]; the peer may then have learnt a bit of Δ, which must not be used again.
    pub fn finish(self, message: &[u8]) -> Result<Seeds> {
        check_length("base OT setup", message, self.expect())?;
        let Self { setting, role } = self;
        let chosen = match role {
            AnsweredRole::Sender(chosen) => chosen,
            AnsweredRole::Receiver(seeds) => return Ok(*seeds),
        };
        let (answer, offer) = message.split_at(base::Sender::answer_len(COUNT));
        let base::ReceiverOutput { mut keys, proof } = chosen.finish(answer)?;
        let seeds = SenderSeeds::new(setting.ids[0], *setting.delta, std::mem::take(&mut keys))?;
        let second = SecondReceiver::new(&seeds, setting.ids[1]);
        let mut seeds = Seeds { sender: Some(seeds), receiver: None, proof: ProofDuty::Send(proof), second: None };
        if setting.directions == Directions::Both {
            seeds.receiver = Some(second.accept(offer)?);
        } else {
            seeds.second = Some(Second::Awaited(second));
        }
        Ok(seeds)
    }
}

impl Setting {
    fn sends_first(&self) -> bool {
        self.us == self.directions.first()
    }

    fn expect(&self, exchange: usize) -> usize {
        let [sender, receiver] = BaseOtSetup::messages(self.directions)[exchange];
        if self.sends_first() { receiver } else { sender }
    }
}

/// The id of the base OTs by public keys or of the extension that `sender` sends: a message reflected to whom it came
/// from belongs to the other id.
fn direction(session: &[u8; 32], sender: Party) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("duologue v1 base OT: direction");
    *hasher.update(session).update(&[sender as u8]).finalize().as_bytes()
}

/// The seeds of an extension's sender: Δ and, for each of its bits, the key that the bit chose. An extension uses them
/// up.
#[derive(ZeroizeOnDrop)]
pub struct SenderSeeds {
    /// The id of the session and the direction, equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) delta: Block,
    pub(super) keys: Vec<Block>,
}

impl SenderSeeds {
    /// The one place where Δ enters an extension, so the one place that refuses a useless Δ.
    pub(super) fn new(id: [u8; 32], delta: Block, keys: Vec<Block>) -> Result<Self> {
        if !delta.lsb() {
            return Err(Error::usage("the least significant bit of Δ must be 1"));
        }
        Ok(Self { id, delta, keys })
    }
}

impl SenderSeeds {
    /// Seeds of a dealer, for a measurement; the lowest bit of Δ is 1.
    pub(crate) fn dealt(id: [u8; 32], delta: Block, keys: Vec<Block>) -> Self {
        Self { id, delta, keys }
    }
}

impl ReceiverSeeds {
    /// Seeds of a dealer, for a measurement.
    pub(crate) fn dealt(id: [u8; 32], pairs: Vec<[Block; 2]>) -> Self {
        Self { id, pairs }
    }
}

/// The seeds of an extension's receiver: both keys for each bit of the peer's Δ. An extension uses them up.
#[derive(ZeroizeOnDrop)]
pub struct ReceiverSeeds {
    /// The id of the session and the direction, equal for both parties.
    pub(super) id: [u8; 32],
    pub(super) pairs: Vec<[Block; 2]>,
}

#[cfg(test)]
pub(crate) mod tests;

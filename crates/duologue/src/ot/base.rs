//! Base oblivious transfer: random 1-of-2 OTs of 128-bit keys from Diffie-Hellman on ristretto255.
//!
//! Canetti, Sarkar, Wang: *Blazing Fast OT for Three-Round UC OT Extension* (PKC 2020, ePrint 2020/110). T is a point
//! whose logarithm nobody knows. For instance i with choice bit b_i:
//!
//! ```text
//! Sender                                          Receiver
//! s random, z = s·G, one for all instances        a_i random, B_i = a_i·G + b_i·T
//!                ── z ──▶        ◀── B_i ──       (simultaneous)
//! m_{i,0}, u_{i,0} = KDF(i, 0, s·B_i)             m_i, u_i = KDF(i, b_i, a_i·z)
//! m_{i,1}, u_{i,1} = KDF(i, 1, s·B_i − s·T)
//! c_i = u_{i,0} ⊕ u_{i,1}                         u_{i,0} = u_i ⊕ b_i·c_i
//! p = H(c, u_{·,0}),  g = H'(p)
//!                ── c, g ──▶                      ends unless g = H'(p)
//! ends unless it is p           ◀── p ──
//! ```
//!
//! To know both keys of an instance is to know s·B_i and s·B_i − s·T, and with them s·T. The sender sees uniform points
//! whatever the choices are, and a *proof* p that it knows beforehand. The proof shows that the receiver has a key of
//! every instance: who watches its hashes, as the simulator does, knows all choices before the proof comes.
//!
//! **The last message** is left to whoever uses the keys: what the sender does with them may go on its way before the
//! proof has come, but nothing that came of them may be used. Before, a receiver without a proof has what every
//! receiver has: of each pair at most one key. In this crate it comes with the first message of an OT extension, whose
//! other message goes at the same time; in the paper that one goes even before.
//!
//! **Assumes** computational Diffie-Hellman in ristretto255 (a tight proof: gap Diffie-Hellman), BLAKE3 as a random
//! oracle. **Security**: malicious parties, with *selective failure* (the functionality F_SFROT of the paper): a sender
//! whose challenge is wrong where b_i = 1 has guessed those bits, and the receiver ends unless all of the guess is
//! right. Learning ℓ bits so succeeds with 2^−ℓ, the price at which OT extensions that check give them away in any
//! case. The receiver's end by g is the only event that depends on choices: all others are of the encoding of public
//! points. A party that deviates can also bias its keys by trying again before it sends; seeds of an OT extension may
//! be biased.
//! **Cost**: two exchanges and the proof; 32 bytes and then 16 an OT and 32 from the sender, 32 an OT and then 32 from
//! the receiver. One multiplication and one decoding an OT for the sender, two by tables for the receiver: the first of
//! them, a_i·G, before there is a peer ([`Ephemeral`]), the second while the sender works on its answer.
//!
//! **Departures from the paper.** T comes from the session's id, which both parties' hellos make, not from a seed of
//! the receiver: it is T's random oracle that matters, and it is programmed (so the simulator knows T's logarithm, and
//! with it both keys of a malicious sender). z goes at the same time as the B_i and is in every KDF with them: the
//! argument above holds for points that are made of z. Session, instance and slot are in the KDF too, so that no key
//! survives a replay, a swap of instances or of slots, or a reflection into the other direction, which has its own id
//! and its own T. A key m and its proof value u are two halves of one output. c is in p. Points that are not canonical,
//! the identity, and B_i = T, whose second key anybody could compute, are refused.

use std::cell::Cell;

use blake3::Hasher;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::{
    RistrettoPoint, Scalar,
    traits::{Identity, IsIdentity},
};
use kernels::{Block, generator::Generator};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{Error, Result, ot};

/// Bytes of a point.
const POINT: usize = 32;
/// Bytes of c_i.
const CHALLENGE: usize = 16;

/// The sender, who will hold both keys of every OT, before the peer's points have come.
#[derive(ZeroizeOnDrop)]
pub struct Sender {
    #[zeroize(skip)]
    session: [u8; 32],
    #[zeroize(skip)]
    count: usize,
    /// s/2.
    half: Scalar,
    #[zeroize(skip)]
    message: Vec<u8>,
}

/// The sender's result: both keys of every OT.
pub struct SenderOutput {
    /// Both keys of every OT.
    pub pairs: Zeroizing<Pairs>,
    /// The proof that the receiver must send before anything derived from the keys is used.
    pub proof: Proof,
}

impl Sender {
    /// Bytes of the sender's first message, for any number of OTs.
    pub const MESSAGE: usize = POINT;

    /// Bytes of the sender's second message for `count` OTs.
    pub const fn answer_len(count: usize) -> usize {
        count * CHALLENGE + Proof::LEN
    }

    /// Begins `count` OTs of the session, whose id is fresh and made by both parties: the state and the message to
    /// send.
    pub fn start(session: &[u8; 32], count: usize) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut ot::os_generator()?, session, count))
    }

    pub(crate) fn start_with(rng: &mut Generator, session: &[u8; 32], count: usize) -> (Self, Vec<u8>) {
        let half = random_scalar(rng);
        let message = multiply_base(&(half + half)).compress().to_bytes().to_vec();
        (Self { session: *session, count, half, message: message.clone() }, message)
    }

    /// Reads the receiver's points and returns the keys, and the challenges to send.
    pub fn answer(self, message: &[u8]) -> Result<(SenderOutput, Vec<u8>)> {
        let points = Points::decode(message, self.count)?;
        let half_of_t = half_of_t(&self.session);
        let t = half_of_t + half_of_t;
        if let Some(index) = points.0.iter().position(|point| *point == t) {
            return Err(Error::peer(format!("point {index} of its base OT gives a key away")));
        }
        let transcript = transcript(&self.session, &self.message, message);
        let masked = Zeroizing::new(multiply(&self.half, &t));
        let slots = points.0.iter().flat_map(|point| {
            let first = multiply(&self.half, point);
            [first, first - *masked]
        });
        let shared = double_and_compress(slots);
        let (pairs, tags) = derive_pairs(&transcript, &shared);
        let mut answer: Vec<u8> = tags.iter().flat_map(|[u, v]| (*u ^ *v).to_bytes()).collect();
        let proof = Proof::new(&transcript, &answer, tags.iter().map(|[u, _]| *u));
        answer.extend_from_slice(&proof.commitment(&transcript));
        Ok((SenderOutput { pairs, proof }, answer))
    }
}

/// A receiver's part that depends on neither peer, session nor choices: a_i, and the multiples of G. For one use.
#[derive(ZeroizeOnDrop)]
pub struct Ephemeral {
    /// a/2 of each instance.
    halves: Vec<Scalar>,
    /// a/2·G of each instance.
    points: Vec<RistrettoPoint>,
}

impl Ephemeral {
    pub(crate) fn new(rng: &mut Generator, count: usize) -> Self {
        let halves: Vec<Scalar> = (0..count).map(|_| random_scalar(rng)).collect();
        let points = halves.iter().map(multiply_base).collect();
        Self { halves, points }
    }
}

/// The receiver, who will hold one key of every pair, before the peer's messages have come.
#[derive(ZeroizeOnDrop)]
pub struct Receiver {
    #[zeroize(skip)]
    session: [u8; 32],
    /// a/2 of each instance.
    halves: Vec<Scalar>,
    choices: Vec<u8>,
    #[zeroize(skip)]
    message: Vec<u8>,
    /// The twin that does not check the sender's challenges, for a test.
    #[cfg(test)]
    #[zeroize(skip)]
    unchecked: bool,
}

/// The receiver after the sender's first message, with its keys, before the second.
#[derive(ZeroizeOnDrop)]
pub struct MetReceiver {
    #[zeroize(skip)]
    transcript: [u8; 32],
    choices: Vec<u8>,
    keys: Vec<Block>,
    tags: Vec<Block>,
    #[cfg(test)]
    #[zeroize(skip)]
    unchecked: bool,
}

/// The receiver's result: the chosen key of every OT.
pub struct ReceiverOutput {
    /// The chosen key of every OT.
    pub keys: Zeroizing<Vec<Block>>,
    /// The proof to send to the sender.
    pub proof: Proof,
}

impl Receiver {
    /// Bytes of the receiver's message for `count` OTs, without the proof.
    pub const fn message_len(count: usize) -> usize {
        count * POINT
    }

    /// Begins one OT for each choice bit: the state and the message to send. The session's id is fresh and made by both
    /// parties.
    pub fn start(session: &[u8; 32], choices: &[Choice]) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut ot::os_generator()?, session, choices))
    }

    pub(crate) fn start_with(rng: &mut Generator, session: &[u8; 32], choices: &[Choice]) -> (Self, Vec<u8>) {
        Self::start_from(Ephemeral::new(rng, choices.len()), session, choices)
    }

    /// Begins as many OTs as there are choices, with what was made for as many before.
    pub(crate) fn start_from(mut ephemeral: Ephemeral, session: &[u8; 32], choices: &[Choice]) -> (Self, Vec<u8>) {
        assert_eq!(ephemeral.points.len(), choices.len(), "an instance for each choice");
        let masks = [RistrettoPoint::identity(), half_of_t(session)];
        let points = ephemeral
            .points
            .iter()
            .zip(choices)
            .map(|(point, &choice)| point + RistrettoPoint::conditional_select(&masks[0], &masks[1], choice));
        let message = double_and_compress(points).concat();
        let receiver = Self {
            session: *session,
            halves: std::mem::take(&mut ephemeral.halves),
            choices: choices.iter().map(Choice::unwrap_u8).collect(),
            message: message.clone(),
            #[cfg(test)]
            unchecked: false,
        };
        (receiver, message)
    }

    /// Reads the sender's first message and computes the keys: the sender works on its second message meanwhile.
    pub fn meet(mut self, message: &[u8]) -> Result<MetReceiver> {
        let points = Points::decode(message, 1)?;
        let transcript = transcript(&self.session, message, &self.message);
        let table = RistrettoBasepointTable::create(&points.0[0]);
        let shared = double_and_compress(self.halves.iter().map(|half| multiply_by_table(half, &table)));
        let each = shared.iter().zip(&self.choices).enumerate();
        let derive = |(index, (shared, &choice))| key_and_tag(&transcript, index, choice, shared);
        let (keys, tags): (Vec<Block>, Vec<Block>) = each.map(derive).unzip();
        Ok(MetReceiver {
            transcript,
            choices: std::mem::take(&mut self.choices),
            keys,
            tags,
            #[cfg(test)]
            unchecked: self.unchecked,
        })
    }

    /// Reads the sender's two messages and returns the chosen keys.
    ///
    /// # Errors
    /// As [`MetReceiver::finish`].
    pub fn finish(self, message: &[u8], answer: &[u8]) -> Result<ReceiverOutput> {
        self.meet(message)?.finish(answer)
    }
}

impl MetReceiver {
    /// Reads the sender's second message and returns the chosen keys.
    ///
    /// # Errors
    /// [`Error::Peer`] if the messages are malformed, or the challenges are no honest sender's: then the sender may have
    /// learnt something about the choices, which must not be used again.
    pub fn finish(mut self, answer: &[u8]) -> Result<ReceiverOutput> {
        ot::check_length("base OT", answer, Sender::answer_len(self.choices.len()))?;
        let (challenges, commitment) = answer.split_at(self.choices.len() * CHALLENGE);
        let opened = self.tags.iter().zip(&self.choices).zip(challenges.as_chunks().0);
        let opened = opened.map(|((&tag, &choice), &c)| tag ^ (Block::from_bytes(c) & Block::mask(choice == 1)));
        let proof = Proof::new(&self.transcript, challenges, opened);
        let fails = !bool::from(proof.commitment(&self.transcript).ct_eq(commitment));
        #[cfg(test)]
        let fails = fails && !self.unchecked;
        let output = ReceiverOutput { keys: Zeroizing::new(std::mem::take(&mut self.keys)), proof };
        if fails {
            return Err(Error::peer("its challenges of base OT are no honest sender's"));
        }
        Ok(output)
    }
}

/// A proof that a receiver has one key of every OT, which tells nothing of which one. It is secret until it is sent.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Proof(pub(super) [u8; 32]);

impl Proof {
    /// Bytes of a proof.
    pub const LEN: usize = 32;

    /// p: the hash of the challenges and the values u of all first slots.
    fn new(transcript: &[u8; 32], challenges: &[u8], tags: impl Iterator<Item = Block>) -> Self {
        let mut hasher = Hasher::new_derive_key("duologue v1 base OT: proof");
        hasher.update(transcript).update(challenges);
        for tag in tags {
            hasher.update(&*Zeroizing::new(tag.to_bytes()));
        }
        Proof(*hasher.finalize().as_bytes())
    }

    /// H'(p).
    fn commitment(&self, transcript: &[u8; 32]) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key("duologue v1 base OT: commitment to the proof");
        *hasher.update(transcript).update(&self.0).finalize().as_bytes()
    }

    /// The bytes that the receiver sends.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Compares the receiver's proof with this one, in constant time.
    ///
    /// # Errors
    /// [`Error::Peer`] if the receiver's proof is another.
    pub fn check(&self, theirs: &[u8]) -> Result<()> {
        ot::check_length("base OT", theirs, Self::LEN)?;
        if bool::from(self.0.ct_eq(theirs)) { Ok(()) } else { Err(Error::peer("it does not prove its base OTs")) }
    }
}

/// The points of one message, each canonical and none the identity.
pub struct Points(Vec<RistrettoPoint>);

impl Points {
    /// Reads exactly `count` points.
    pub fn decode(message: &[u8], count: usize) -> Result<Self> {
        ot::check_length("base OT", message, count * POINT)?;
        let (encoded, _) = message.as_chunks::<POINT>();
        encoded.iter().enumerate().map(decode_point).collect::<Result<_>>().map(Points)
    }
}

fn decode_point((index, bytes): (usize, &[u8; POINT])) -> Result<RistrettoPoint> {
    count_curve_call();
    let point = CompressedRistretto(*bytes)
        .decompress()
        .ok_or_else(|| Error::peer(format!("point {index} of its base OT is not canonical")))?;
    if point.is_identity() {
        return Err(Error::peer(format!("point {index} of its base OT is the identity")));
    }
    Ok(point)
}

/// T/2. The half is hashed because encoding doubles every point; see [`double_and_compress`].
fn half_of_t(session: &[u8; 32]) -> RistrettoPoint {
    count_curve_call();
    let mut wide = [0; 64];
    Hasher::new_derive_key("duologue v1 base OT: half of T").update(session).finalize_xof().fill(&mut wide);
    RistrettoPoint::from_uniform_bytes(&wide)
}

/// Hash of the first message of both parties, of the session and of the direction.
fn transcript(session: &[u8; 32], from_sender: &[u8], from_receiver: &[u8]) -> [u8; 32] {
    // The length of the first message fixes that of the second: the concatenation is unambiguous.
    *Hasher::new_derive_key("duologue v1 base OT: transcript")
        .update(session)
        .update(&(from_sender.len() as u64).to_le_bytes())
        .update(from_sender)
        .update(from_receiver)
        .finalize()
        .as_bytes()
}

/// KDF: key m and proof value u of slot `x` of an instance.
fn key_and_tag(transcript: &[u8; 32], index: usize, x: u8, shared: &[u8; POINT]) -> (Block, Block) {
    let mut output = Zeroizing::new([[0; 16]; 2]);
    let mut hasher = Hasher::new_derive_key("duologue v1 base OT: key");
    hasher.update(transcript).update(&(index as u64).to_le_bytes()).update(&[x]).update(shared);
    hasher.finalize_xof().fill(output.as_flattened_mut());
    (Block::from_bytes(output[0]), Block::from_bytes(output[1]))
}

/// A pair for each instance.
type Pairs = Vec<[Block; 2]>;

/// Keys and proof values of all instances, from the points of both slots.
fn derive_pairs(transcript: &[u8; 32], shared: &[[u8; POINT]]) -> (Zeroizing<Pairs>, Zeroizing<Pairs>) {
    let each = shared.chunks(2).enumerate().map(|(index, pair)| {
        let [(m0, u0), (m1, u1)] = [0, 1].map(|x| key_and_tag(transcript, index, x, &pair[usize::from(x)]));
        ([m0, m1], [u0, u1])
    });
    let (keys, tags): (Pairs, Pairs) = each.unzip();
    (Zeroizing::new(keys), Zeroizing::new(tags))
}

fn random_scalar(rng: &mut Generator) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

fn multiply_base(scalar: &Scalar) -> RistrettoPoint {
    count_curve_call();
    RistrettoPoint::mul_base(scalar)
}

fn multiply(scalar: &Scalar, point: &RistrettoPoint) -> RistrettoPoint {
    count_curve_call();
    point * scalar
}

fn multiply_by_table(scalar: &Scalar, table: &RistrettoBasepointTable) -> RistrettoPoint {
    count_curve_call();
    table * scalar
}

/// Encodes the doubles of points, with one inversion for all of them: this is why secrets are kept halved.
fn double_and_compress(points: impl Iterator<Item = RistrettoPoint>) -> Zeroizing<Vec<[u8; POINT]>> {
    let points = Zeroizing::new(points.collect::<Vec<_>>());
    let encoded = Zeroizing::new(RistrettoPoint::double_and_compress_batch(&*points));
    Zeroizing::new(encoded.iter().map(CompressedRistretto::to_bytes).collect())
}

thread_local! {
    static CURVE_CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Number of curve operations that this thread has done: a test proves with it that none runs online.
pub fn curve_calls() -> u64 {
    CURVE_CALLS.get()
}

fn count_curve_call() {
    CURVE_CALLS.set(CURVE_CALLS.get() + 1);
}

#[cfg(test)]
mod tests;

//! Base oblivious transfer: random 1-of-2 OTs of 128-bit keys from Diffie-Hellman on ristretto255.
//!
//! Masny, Rindal: *Endemic Oblivious Transfer* (CCS 2019, ePrint 2019/706), the one-round protocol
//! from non-interactive key agreement with n = 2. For instance i with choice bit b:
//!
//! ```text
//! Sender                                          Receiver
//! s random, A = s·G, one for all instances        r_{1-b} a random point, a random
//!                                                 r_b = a·G − H_b(r_{1-b})
//!            ── A ──▶        ◀── r_0, r_1 ──      (simultaneous)
//! m_x = KDF(x, s·(r_x + H_x(r_{1-x})))            m_b = KDF(b, a·A)
//! ```
//!
//! The receiver can know the logarithm of only one of the two sums, because each point is masked by
//! a hash of the other; the sender sees two uniform points whatever b is.
//!
//! **Assumes** gap Diffie-Hellman in ristretto255, BLAKE3 as a random oracle. **Security**:
//! malicious parties, simultaneous messages. *Endemic* means that a malicious party can bias its own
//! keys (here: by trying again before it sends), so a user of the keys must not need them uniform
//! where the peer is corrupt; seeds of an OT extension do not.
//! **Cost**: one exchange; 32 bytes from the sender, 64 an OT from the receiver; two multiplications
//! an OT for the sender, two by tables for the receiver.
//!
//! **Departures from the paper.** H and KDF are bound to the session, the instance and the slot, and
//! KDF to all points of both messages, so that no key survives a replay, a swap of instances or of
//! slots, or a reflection into the other direction (each direction has its own session id). All
//! instances share s, which is safe because H and KDF have the instance among their inputs: without
//! it a receiver could relate the keys of its instances (McQuoid, Rosulek, Roy: *Batching Base
//! Oblivious Transfers*, ASIACRYPT 2021, ePrint 2021/682). Points that are not canonical, the identity, and sums that are the identity are refused.

use std::cell::Cell;

use blake3::Hasher;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::{RistrettoPoint, Scalar, traits::IsIdentity};
use kernels::{Block, generator::Generator};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{Error, Result, ot};

/// Bytes of a point.
const POINT: usize = 32;

/// The holder of both keys, between its message and the peer's.
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

impl Sender {
    /// Bytes that the sender sends, of any number of OTs.
    pub const MESSAGE: usize = POINT;

    /// Begins `count` OTs of the session: the state and the message to send.
    pub fn start(session: &[u8; 32], count: usize) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut ot::os_generator()?, session, count))
    }

    pub(crate) fn start_with(rng: &mut Generator, session: &[u8; 32], count: usize) -> (Self, Vec<u8>) {
        let half = random_scalar(rng);
        let message = multiply_base(&(half + half)).compress().to_bytes().to_vec();
        (Self { session: *session, count, half, message: message.clone() }, message)
    }

    /// Reads the receiver's message: both keys of every OT.
    pub fn finish(self, message: &[u8]) -> Result<Vec<[Block; 2]>> {
        let points = Points::decode(message, 2 * self.count)?;
        let transcript = transcript(&self.session, &self.message, message);
        let sums = (0..self.count).map(|index| points.sums(&self.session, index)).collect::<Result<Vec<_>>>()?;
        let shared = double_and_compress(sums.as_flattened().iter().map(|sum| multiply(&self.half, sum)));
        let keys =
            |(index, pair): (usize, &[[u8; POINT]])| [0, 1].map(|x| key(&transcript, index, x, &pair[usize::from(x)]));
        Ok(shared.chunks(2).enumerate().map(keys).collect())
    }
}

/// The holder of one key of each pair, between its message and the peer's.
#[derive(ZeroizeOnDrop)]
pub struct Receiver {
    #[zeroize(skip)]
    session: [u8; 32],
    /// a/2 of each instance.
    halves: Vec<Scalar>,
    choices: Vec<u8>,
    #[zeroize(skip)]
    message: Vec<u8>,
}

impl Receiver {
    /// Bytes that the receiver of `count` OTs sends.
    pub const fn message_len(count: usize) -> usize {
        2 * count * POINT
    }

    /// Begins one OT for each choice bit: the state and the message to send.
    pub fn start(session: &[u8; 32], choices: &[Choice]) -> Result<(Self, Vec<u8>)> {
        Ok(Self::start_with(&mut ot::os_generator()?, session, choices))
    }

    pub(crate) fn start_with(rng: &mut Generator, session: &[u8; 32], choices: &[Choice]) -> (Self, Vec<u8>) {
        let halves: Vec<Scalar> = choices.iter().map(|_| random_scalar(rng)).collect();
        let mut message = Vec::with_capacity(Self::message_len(choices.len()));
        for (index, (&choice, half)) in choices.iter().zip(&halves).enumerate() {
            for point in masked_pair(session, index, choice, &(half + half), rng) {
                message.extend_from_slice(&point);
            }
        }
        let choices = choices.iter().map(Choice::unwrap_u8).collect();
        (Self { session: *session, halves, choices, message: message.clone() }, message)
    }

    /// Reads the sender's message: the chosen key of every OT.
    pub fn finish(self, message: &[u8]) -> Result<Vec<Block>> {
        let points = Points::decode(message, 1)?;
        let transcript = transcript(&self.session, message, &self.message);
        let table = RistrettoBasepointTable::create(&points.0[0].0);
        let shared = double_and_compress(self.halves.iter().map(|half| multiply_by_table(half, &table)));
        let each = shared.iter().zip(&self.choices).enumerate();
        Ok(each.map(|(index, (shared, &choice))| key(&transcript, index, choice, shared)).collect())
    }
}

/// (r_0, r_1) in an order that only the choice bit knows; constant in time.
fn masked_pair(
    session: &[u8; 32],
    index: usize,
    choice: Choice,
    secret: &Scalar,
    rng: &mut Generator,
) -> [[u8; POINT]; 2] {
    let other = random_point(rng).compress().to_bytes();
    let mask = hash_to_point(session, index, choice.unwrap_u8(), &other);
    let chosen = (multiply_base(secret) - mask).compress().to_bytes();
    let select = |when_zero: &[u8; POINT], when_one: &[u8; POINT]| {
        std::array::from_fn(|i| u8::conditional_select(&when_zero[i], &when_one[i], choice))
    };
    [select(&chosen, &other), select(&other, &chosen)]
}

/// The points of one message, each canonical and none the identity, with their bytes.
pub struct Points(Vec<(RistrettoPoint, [u8; POINT])>);

impl Points {
    /// Reads exactly `count` points.
    pub fn decode(message: &[u8], count: usize) -> Result<Self> {
        ot::check_length("base OT", message, count * POINT)?;
        let (encoded, _) = message.as_chunks::<POINT>();
        encoded.iter().enumerate().map(decode_point).collect::<Result<_>>().map(Points)
    }

    /// r_x + H_x(r_{1-x}) for both x of an instance.
    fn sums(&self, session: &[u8; 32], index: usize) -> Result<[RistrettoPoint; 2]> {
        let pair = &self.0[2 * index..2 * index + 2];
        let sum = |x: usize| {
            let (point, other) = (pair[x].0, &pair[1 - x].1);
            let sum = point + hash_to_point(session, index, x as u8, other);
            if sum.is_identity() {
                return Err(Error::peer(format!("its points of base OT {index} cancel")));
            }
            Ok(sum)
        };
        Ok([sum(0)?, sum(1)?])
    }
}

fn decode_point((index, bytes): (usize, &[u8; POINT])) -> Result<(RistrettoPoint, [u8; POINT])> {
    count_curve_call();
    let point = CompressedRistretto(*bytes)
        .decompress()
        .ok_or_else(|| Error::peer(format!("point {index} of its base OT is not canonical")))?;
    if point.is_identity() {
        return Err(Error::peer(format!("point {index} of its base OT is the identity")));
    }
    Ok((point, *bytes))
}

/// H: the mask of slot `x`, from the point in the other slot.
fn hash_to_point(session: &[u8; 32], index: usize, x: u8, other: &[u8; POINT]) -> RistrettoPoint {
    count_curve_call();
    let mut wide = [0; 64];
    Hasher::new_derive_key("duologue v1 base OT: mask of a point")
        .update(session)
        .update(&(index as u64).to_le_bytes())
        .update(&[x])
        .update(other)
        .finalize_xof()
        .fill(&mut wide);
    RistrettoPoint::from_uniform_bytes(&wide)
}

/// What both parties sent, and in which session and direction.
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

/// KDF: key `x` of an instance.
fn key(transcript: &[u8; 32], index: usize, x: u8, shared: &[u8; POINT]) -> Block {
    let mut key = [0; 16];
    Hasher::new_derive_key("duologue v1 base OT: key")
        .update(transcript)
        .update(&(index as u64).to_le_bytes())
        .update(&[x])
        .update(shared)
        .finalize_xof()
        .fill(&mut key);
    Block::from_bytes(key)
}

fn random_scalar(rng: &mut Generator) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

fn random_point(rng: &mut Generator) -> RistrettoPoint {
    count_curve_call();
    let mut wide = [0; 64];
    rng.fill(&mut wide);
    RistrettoPoint::from_uniform_bytes(&wide)
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
    let encoded = RistrettoPoint::double_and_compress_batch(&*points);
    Zeroizing::new(encoded.iter().map(CompressedRistretto::to_bytes).collect())
}

thread_local! {
    static CURVE_CALLS: Cell<u64> = const { Cell::new(0) };
}

/// How many curve operations this thread has done: a test proves with it that none runs online.
pub fn curve_calls() -> u64 {
    CURVE_CALLS.get()
}

fn count_curve_call() {
    CURVE_CALLS.set(CURVE_CALLS.get() + 1);
}

#[cfg(test)]
mod tests;

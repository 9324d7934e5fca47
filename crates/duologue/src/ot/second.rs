//! The base OTs of the second direction: the first random OTs of the extension whose base OTs were made by public keys.
//!
//! Beaver (STOC 1996) makes many OTs from few; a random OT is turned to a choice that was not random as in Beaver
//! (CRYPTO 1995). X is the sender of the first direction, with Δ_X, and Y its receiver, who is the sender of the second,
//! with Δ_Y. A batch of 128 COTs of the first direction (SoftSpoken with k = 1, on keys of its own) gives X q_i, and Y
//! random b_i and t_i = q_i ⊕ b_i·Δ_X. Then Δ_Y, which was drawn before, is the choice:
//!
//! ```text
//! X                                                 Y
//!                            ◀── d │ batch ──       t, b, d = Δ_Y ⊕ b
//! ends unless the batch passes its check
//! m_{i,x} = KDF(i, y, q_i ⊕ y·Δ_X), y = x ⊕ d_i     m_i = KDF(i, b_i, t_i), which is m_{i,Δ_Y,i}
//! ```
//!
//! **What X learns.** d, which hides Δ_Y by the b_i; these are used for nothing else, and no OT of this batch is handed
//! out or made again: both sides are consumed. Bit 0 of Δ_Y is 1, so that d_0 tells b_0, of no use without the others.
//! The b_i are hidden by the streams of the leaves that X lacks, whether X has proved its base OTs or not, and X sends
//! nothing in the batch: there is no selective failure.
//!
//! **What Y learns.** One key of each pair, if the batch passes. A Y that corrects planes with different b gets past the
//! check only if it has guessed the bits of Δ_X that it is wrong about: ℓ bits with 2^−ℓ, and else X ends, with Δ_X
//! destroyed. Of the keys that it should not have it then lacks 127 − ℓ bits of Δ_X each. So X **checks before it uses**:
//! were a message sent that depends on the keys before the batch is checked, Y could put one error into each COT, each in
//! another plane, and read of every key whether it is right, which is a bit of Δ_X each (the test has that twin). By the
//! types, there are no [`ReceiverSeeds`] before the check. Y in turn uses nothing before X's proof p has come, as of all
//! that came of these base OTs ([`base_setup`](super::base_setup)).
//!
//! **Assumes** BLAKE3 as a random oracle, beyond what the extension assumes: the KDF breaks the correlation by Δ_X. It
//! binds the id of the second direction, which has session and sender, the index, the choice in the batch, and all that
//! was sent. **Cost**: 4,128 bytes from Y; no exchange of its own if both directions begin together.

use blake3::Hasher;
use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use super::base_setup::{COUNT, ReceiverSeeds, SenderSeeds};
use super::softspoken::{Receiver, Sender, SoftSpokenLengths};
use super::{CotBatch, CotMaker, CotOutput, CotSender, Side, check_length};
use crate::threads::Threads;
use crate::{Error, Result};

/// The trees of the batch are single base OTs: nothing has fewer bytes for 128 COTs.
const K: u8 = 1;

/// Bytes of the message: d, and the batch.
pub(crate) const OFFER: usize = D + SoftSpokenLengths::first_batch_of_single(COUNT);
/// Bytes of d.
const D: usize = 16;

/// X, before Y's message: receiver of the second direction.
pub struct SecondReceiver {
    batch: Sender,
    id: [u8; 32],
}

/// Y, before its message: sender of the second direction.
pub struct SecondSender {
    batch: Receiver,
    id: [u8; 32],
    delta: Zeroizing<Block>,
}

impl SecondReceiver {
    /// From the seeds of the first direction; `id` is that of the second.
    pub(super) fn new(seeds: &SenderSeeds, id: [u8; 32]) -> Self {
        let keys = seeds.keys.iter().enumerate().map(|(i, &key)| own_key(&seeds.id, i, key)).collect();
        let seeds = SenderSeeds { id: batch_id(&seeds.id), delta: seeds.delta, keys };
        SecondReceiver { batch: Sender::new(seeds, K, &Threads::default()), id }
    }

    /// Reads Y's message and checks it.
    ///
    /// # Errors
    /// [`Error::Peer`]; the peer may then have learnt something about Δ, which must not be used again.
    pub fn accept(mut self, message: &[u8]) -> Result<ReceiverSeeds> {
        check_length("second base OT", message, OFFER)?;
        let (d, batch) = message.split_at(D);
        self.batch.begin(CotBatch::new(Side::Sender, CotOutput::Blocks, COUNT))?;
        self.batch.send(&mut Vec::new())?;
        let settled = self.batch.receive(batch)?.ok_or_else(unsettled)?;
        let (transcript, delta) = (transcript(&self.id, message), Zeroizing::new(self.batch.delta()));
        let pair = |(i, &q): (usize, &Block)| {
            let d = d[i / 8] >> (i % 8) & 1;
            [0, 1].map(|x| x ^ d).map(|y| key(&transcript, i, y, q ^ (*delta & Block::mask(y == 1))))
        };
        Ok(ReceiverSeeds { id: self.id, pairs: settled.blocks.iter().enumerate().map(pair).collect() })
    }
}

impl SecondSender {
    /// From the seeds of the first direction; `id` is that of the second, and `delta` our Δ.
    pub(super) fn new(seeds: &ReceiverSeeds, id: [u8; 32], delta: Block) -> Self {
        let pair = |(i, pair): (usize, &[Block; 2])| pair.map(|key| own_key(&seeds.id, i, key));
        let pairs = seeds.pairs.iter().enumerate().map(pair).collect();
        let seeds = ReceiverSeeds { id: batch_id(&seeds.id), pairs };
        SecondSender { batch: Receiver::new(seeds, K, &Threads::default()), id, delta: Zeroizing::new(delta) }
    }

    /// Appends our message, and returns the seeds that X has if it accepts it.
    pub fn offer(mut self, outbox: &mut Vec<u8>) -> Result<SenderSeeds> {
        let from = outbox.len();
        outbox.resize(from + D, 0);
        self.batch.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, COUNT))?;
        self.batch.send(outbox)?;
        let settled = self.batch.receive(&[])?.ok_or_else(unsettled)?;
        let mut b = settled.blocks.iter().rev().fold(0, |b, t| b << 1 | u128::from(t.lsb()));
        outbox[from..from + D].copy_from_slice(&(*self.delta ^ Block::new(b)).to_bytes());
        b.zeroize();
        let transcript = transcript(&self.id, &outbox[from..]);
        let each = settled.blocks.iter().enumerate();
        let keys = each.map(|(i, &t)| key(&transcript, i, u8::from(t.lsb()), t)).collect();
        SenderSeeds::new(self.id, *self.delta, keys)
    }
}

fn unsettled() -> Error {
    Error::usage("a batch of SoftSpoken is settled at once")
}

/// The keys of the batch are others than those of the extension that goes on with the same base OTs.
fn own_key(id: &[u8; 32], index: usize, key: Block) -> Block {
    let mut hasher = Hasher::new_derive_key("duologue v2 second base OT: key of the batch");
    hasher.update(id).update(&(index as u64).to_le_bytes()).update(&*Zeroizing::new(key.to_bytes()));
    first_block(&hasher)
}

/// The id of the batch.
fn batch_id(id: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key("duologue v2 second base OT: batch", id)
}

/// Hash of the second direction's id and of Y's message.
fn transcript(id: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut hasher = Hasher::new_derive_key("duologue v2 second base OT: transcript");
    *hasher.update(id).update(message).finalize().as_bytes()
}

/// KDF: the key of OT `index` for choice `y` of the batch.
fn key(transcript: &[u8; 32], index: usize, y: u8, block: Block) -> Block {
    let mut hasher = Hasher::new_derive_key("duologue v2 second base OT: key");
    hasher.update(transcript).update(&(index as u64).to_le_bytes()).update(&[y]);
    hasher.update(&*Zeroizing::new(block.to_bytes()));
    first_block(&hasher)
}

fn first_block(hasher: &Hasher) -> Block {
    let mut output = Zeroizing::new([0; 16]);
    hasher.finalize_xof().fill(&mut *output);
    Block::from_bytes(*output)
}

#[cfg(test)]
mod tests;

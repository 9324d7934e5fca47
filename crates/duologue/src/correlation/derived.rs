//! What is made of random OTs without another message: strings of any length, 1-of-N, and bits times vectors.
//!
//! In a random OT the sender has two random messages m₀ and m₁, the receiver a random choice b and m_b. A
//! [session](crate::Session::random_ots) makes them on request, both directions at once; they are not kept in its stock.
//! Everything here is computed by each party alone, and consumes what it is computed from, so that a message seeds one
//! thing:
//!
//! | | of a random OT of 128 bits |
//! |---|---|
//! | [`SentOts::strings`] | a random OT of ℓ bits: the first ℓ bits of m; beyond 128, the output of a generator with seed m |
//! | [`SentOts::one_of`] | of ⌈log₂ N⌉ of them, a random OT of one message in N |
//! | [`RandomOts::bit_vector_triples`] | of one each way, a bit, a vector and their product, shared |
//!
//! Random OTs of single bits ([`RandomBits`]) come packed from the makers. **Security** is that of the random OTs and
//! the level of [`SentOts::one_of`]; semi-honest parties.

mod one_of;
mod vectors;

use kernels::{Block, generator::Generator};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::bits::BitQueue;
use crate::Result;
use crate::ot::{CotBatch, Side};
pub use one_of::{ReceivedChoices, SentChoices};
pub use vectors::BitVectorTriples;

/// Random OTs of 128 bits of one party: those that it sends, and those that it receives.
pub struct RandomOts {
    /// Those in which it is the sender.
    pub sent: SentOts,
    /// Those in which it is the receiver.
    pub received: ReceivedOts,
}

/// The sender's side of random OTs.
///
/// ```compile_fail,E0382
/// fn twice(ots: duologue::correlation::derived::SentOts) {
///     let strings = ots.strings(256);
///     let choices = ots.one_of(4); // the messages are used up
/// }
/// ```
#[derive(ZeroizeOnDrop)]
pub struct SentOts {
    /// Of what is hashed further, unlike that of any other random OTs; the receiver's too.
    #[zeroize(skip)]
    id: [u8; 32],
    /// All m₀, all m₁.
    m: [Vec<Block>; 2],
}

/// The receiver's side of random OTs.
#[derive(ZeroizeOnDrop)]
pub struct ReceivedOts {
    #[zeroize(skip)]
    id: [u8; 32],
    /// Packed, least significant bit first; the padding of the last word is zero.
    choices: Vec<u64>,
    m: Vec<Block>,
}

impl RandomOts {
    /// Of what the makers outputs, in order. `ids` of both directions: no other random OTs have them.
    pub(crate) fn new(batches: &[(Side, CotBatch)], [sent, received]: [[u8; 32]; 2]) -> Self {
        let blocks = |side, blocks: fn(&CotBatch) -> &[Block]| {
            let parts: Vec<_> = of(batches, side).map(blocks).collect();
            parts.concat() // which makes room for all at once
        };
        let m = [blocks(Side::Sender, |batch| &batch.blocks), blocks(Side::Sender, |batch| &batch.others)];
        let choices = joined(of(batches, Side::Receiver), |batch| &batch.factors).0;
        let chosen = blocks(Side::Receiver, |batch| &batch.blocks);
        RandomOts { sent: SentOts { id: sent, m }, received: ReceivedOts { id: received, choices, m: chosen } }
    }

    /// As many as both directions have, of one OT each way: the vectors have `bits` bits.
    pub fn bit_vector_triples(self, bits: usize) -> BitVectorTriples {
        BitVectorTriples::new(&self.sent.strings(bits), self.received.strings(bits))
    }
}

impl SentOts {
    /// How many.
    pub fn len(&self) -> usize {
        self.m[0].len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.m[0].is_empty()
    }

    /// All m₀ and all m₁.
    pub fn messages(&self) -> [&[Block]; 2] {
        self.m.each_ref().map(Vec::as_slice)
    }

    /// Messages of `bits` bits.
    pub fn strings(self, bits: usize) -> SentStrings {
        SentStrings { m: self.m.each_ref().map(|m| Strings::expand(m, bits)) }
    }

    /// Random OTs of one message in N ≥ `n`, a power of two; see [`one_of`](SentChoices).
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) unless 2 ≤ `n` ≤ 2¹⁶.
    pub fn one_of(mut self, n: u32) -> Result<SentChoices> {
        SentChoices::new(self.id, std::mem::take(&mut self.m), n)
    }
}

impl ReceivedOts {
    /// How many.
    pub fn len(&self) -> usize {
        self.m.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.m.is_empty()
    }

    /// The choices, packed, least significant bit first.
    pub fn choices(&self) -> &[u64] {
        &self.choices
    }

    /// m_b of each.
    pub fn messages(&self) -> &[Block] {
        &self.m
    }

    /// Messages of `bits` bits, as the sender takes them.
    pub fn strings(mut self, bits: usize) -> ReceivedStrings {
        ReceivedStrings { m: Strings::expand(&self.m, bits), choices: std::mem::take(&mut self.choices) }
    }

    /// Random OTs of one message in N ≥ `n`, as the sender takes them.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) unless 2 ≤ `n` ≤ 2¹⁶.
    pub fn one_of(mut self, n: u32) -> Result<ReceivedChoices> {
        ReceivedChoices::new(self.id, std::mem::take(&mut self.choices), std::mem::take(&mut self.m), n)
    }
}

/// The sender's side of random OTs of strings.
pub struct SentStrings {
    /// All m₀, all m₁.
    pub m: [Strings; 2],
}

/// The receiver's side of random OTs of strings.
#[derive(ZeroizeOnDrop)]
pub struct ReceivedStrings {
    /// Packed, least significant bit first.
    pub choices: Vec<u64>,
    /// m_b of each.
    pub m: Strings,
}

/// Strings of equally many bits, erased when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Strings {
    #[zeroize(skip)]
    bits: usize,
    words: Vec<u64>,
}

impl Strings {
    fn zeros(count: usize, bits: usize) -> Self {
        Strings { bits, words: vec![0; count * bits.div_ceil(64)] }
    }

    /// Of each seed the first `bits` bits, or the stream of a generator that it seeds.
    fn expand(seeds: &[Block], bits: usize) -> Self {
        let mut strings = Strings::zeros(seeds.len(), bits);
        for (&seed, row) in seeds.iter().zip(strings.rows_mut()) {
            match &mut *row {
                [low] => *low = seed.get() as u64,
                [low, high] => (*low, *high) = (seed.get() as u64, (seed.get() >> 64) as u64),
                long => Generator::from_seed(seed).words(long),
            }
            cut(row, bits);
        }
        strings
    }

    /// Bits of each string.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The string `index`, packed, least significant bit first; the padding of the last word is zero.
    pub fn row(&self, index: usize) -> &[u64] {
        let stride = self.bits.div_ceil(64);
        &self.words[index * stride..][..stride]
    }

    fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks(self.bits.div_ceil(64).max(1))
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.words.chunks_mut(self.bits.div_ceil(64).max(1))
    }
}

/// Clears what is beyond `bits` bits in the last word.
fn cut(row: &mut [u64], bits: usize) {
    if let (Some(last), shift @ 1..) = (row.last_mut(), bits % 64) {
        *last &= !(!0 << shift);
    }
}

/// Random OTs of single bits of one party, packed, least significant bit first; the padding of last words is zero.
#[derive(ZeroizeOnDrop)]
pub struct RandomBits {
    /// m₀ and m₁ of those that it sends.
    pub sent: [Vec<u64>; 2],
    /// How many it sends.
    #[zeroize(skip)]
    pub sent_len: usize,
    /// b and m_b of those that it receives.
    pub received: [Vec<u64>; 2],
    /// How many it receives.
    #[zeroize(skip)]
    pub received_len: usize,
}

impl RandomBits {
    /// Of what the makers outputs, in order.
    pub(crate) fn new(batches: &[(Side, CotBatch)]) -> Self {
        let (m0, sent_len) = joined(of(batches, Side::Sender), |batch| &batch.messages);
        let (mut m1, _) = joined(of(batches, Side::Sender), |batch| &batch.factors);
        m1.iter_mut().zip(&m0).for_each(|(m1, m0)| *m1 ^= m0);
        let (choices, received_len) = joined(of(batches, Side::Receiver), |batch| &batch.factors);
        let (chosen, _) = joined(of(batches, Side::Receiver), |batch| &batch.messages);
        RandomBits { sent: [m0, m1], sent_len, received: [choices, chosen], received_len }
    }
}

/// What was outputs as this side.
fn of(batches: &[(Side, CotBatch)], side: Side) -> impl Iterator<Item = &CotBatch> + Clone {
    batches.iter().filter(move |(other, _)| *other == side).map(|(_, batch)| batch)
}

/// The bits of all batches in a row, and how many.
fn joined<'a>(batches: impl Iterator<Item = &'a CotBatch> + Clone, bits: fn(&CotBatch) -> &[u64]) -> (Vec<u64>, usize) {
    let len = batches.clone().map(CotBatch::len).sum();
    let mut queue = BitQueue::with_capacity(len);
    batches.for_each(|batch| queue.push(bits(batch), batch.len()));
    (queue.draw(len), len)
}

#[cfg(test)]
mod tests;

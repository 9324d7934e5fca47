//! Correlations derived from random OTs without another message: OTs of strings, 1-of-N OTs, and triples of a bit and a
//! vector.
//!
//! In a random OT the sender has two random messages m₀ and m₁, the receiver a random choice b and m_b. A
//! [session](crate::Session::random_ots) makes them on request, both directions at once; they are not kept in its
//! stock. Each party computes them alone and consumes the random OTs, so that each message is used for one thing:
//!
//! | | made of random OTs of 128 bits |
//! |---|---|
//! | [`SentOts::strings`] | a random OT of ℓ bits: the first ℓ bits of m; beyond 128, the output of a generator with seed m |
//! | [`SentOts::one_of`] | a random OT of one message in N, of ⌈log₂ N⌉ random OTs |
//! | [`SentOts::bit_of`] | a random OT of one bit in N ≤ 64, of ⌈log₂ N⌉ random OTs |
//! | [`RandomOts::bit_vector_triples`] | shares of a bit, a vector and their product, of one random OT each way |
//!
//! Random OTs of single bits ([`RandomBits`]) come packed from the makers. **Security** is that of the random OTs and
//! the level of [`SentOts::one_of`]; semi-honest parties.

mod one_bit;
mod one_of;
mod vectors;

use kernels::{Block, generator::Generator};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::bits::BitQueue;
use crate::Result;
use crate::ot::{CotBatch, Side};
pub use one_bit::{ReceivedTables, SentTables};
pub use one_of::{ReceivedChoices, SentChoices};
pub use vectors::BitVectorTriples;

/// One party's halves of random OTs of 128 bits in both directions.
pub struct RandomOts {
    /// The random OTs in which the party is the sender.
    pub sent: SentOts,
    /// The random OTs in which the party is the receiver.
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
    /// The id of these random OTs for further hashing: equal on both sides, and unlike that of any others.
    #[zeroize(skip)]
    id: [u8; 32],
    /// The messages: all m₀, then all m₁.
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
    /// Random OTs from the makers' batches, in order. No other random OTs have the ids, one of each direction.
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

    /// Random OTs of these messages: sent ones with their id, received ones with their id and choices.
    pub(crate) fn of_messages(
        (sent, m): ([u8; 32], [Vec<Block>; 2]),
        (received, choices, chosen): ([u8; 32], Vec<u64>, Vec<Block>),
    ) -> Self {
        RandomOts { sent: SentOts { id: sent, m }, received: ReceivedOts { id: received, choices, m: chosen } }
    }

    /// Triples of a bit and a vector of `bits` bits, each from one random OT each way; surplus OTs are dropped.
    pub fn bit_vector_triples(self, bits: usize) -> BitVectorTriples {
        BitVectorTriples::new(&self.sent.strings(bits), self.received.strings(bits))
    }
}

impl SentOts {
    /// The number of random OTs.
    pub fn len(&self) -> usize {
        self.m[0].len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.m[0].is_empty()
    }

    /// The messages: all m₀ and all m₁.
    pub fn messages(&self) -> [&[Block]; 2] {
        self.m.each_ref().map(Vec::as_slice)
    }

    /// Random OTs of strings of `bits` bits.
    pub fn strings(self, bits: usize) -> SentStrings {
        SentStrings { m: self.m.each_ref().map(|m| Strings::expand(m, bits)) }
    }

    /// Random OTs of one message in N, the power of two from `n` on; see [`SentChoices`].
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) unless 2 ≤ `n` ≤ 2¹⁶.
    pub fn one_of(mut self, n: u32) -> Result<SentChoices> {
        SentChoices::new(self.id, std::mem::take(&mut self.m), n)
    }
}

impl ReceivedOts {
    /// The number of random OTs.
    pub fn len(&self) -> usize {
        self.m.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.m.is_empty()
    }

    /// The choice bits, packed, least significant bit first.
    pub fn choices(&self) -> &[u64] {
        &self.choices
    }

    /// The chosen message m_b of each random OT.
    pub fn messages(&self) -> &[Block] {
        &self.m
    }

    /// Random OTs of strings of `bits` bits; the sender must take them too, by [`SentOts::strings`].
    pub fn strings(mut self, bits: usize) -> ReceivedStrings {
        ReceivedStrings { m: Strings::expand(&self.m, bits), choices: std::mem::take(&mut self.choices) }
    }

    /// Random OTs of one message in N, the power of two from `n` on; the sender must take them too, by
    /// [`SentOts::one_of`].
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) unless 2 ≤ `n` ≤ 2¹⁶.
    pub fn one_of(mut self, n: u32) -> Result<ReceivedChoices> {
        ReceivedChoices::new(self.id, std::mem::take(&mut self.choices), std::mem::take(&mut self.m), n)
    }
}

/// The sender's side of random OTs of strings.
pub struct SentStrings {
    /// The messages: all m₀, then all m₁.
    pub m: [Strings; 2],
}

/// The receiver's side of random OTs of strings.
#[derive(ZeroizeOnDrop)]
pub struct ReceivedStrings {
    /// Packed, least significant bit first.
    pub choices: Vec<u64>,
    /// The chosen message m_b of each random OT.
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

    /// Strings from seeds: the first `bits` bits of each seed, or of the stream of a generator that it seeds.
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

    /// The number of bits of each string.
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

/// Clears the bits after the first `bits` in the last word.
fn cut(row: &mut [u64], bits: usize) {
    if let (Some(last), shift @ 1..) = (row.last_mut(), bits % 64) {
        *last &= !(!0 << shift);
    }
}

/// One party's halves of random OTs of single bits in both directions, packed, least significant bit first; the padding
/// of last words is zero.
#[derive(ZeroizeOnDrop)]
pub struct RandomBits {
    /// The messages m₀ and m₁ of the random OTs that the party sends.
    pub sent: [Vec<u64>; 2],
    /// The number of random OTs that the party sends.
    #[zeroize(skip)]
    pub sent_len: usize,
    /// The choice bits b and the messages m_b of the random OTs that the party receives.
    pub received: [Vec<u64>; 2],
    /// The number of random OTs that the party receives.
    #[zeroize(skip)]
    pub received_len: usize,
}

impl RandomBits {
    /// Random OTs from the makers' batches, in order.
    pub(crate) fn new(batches: &[(Side, CotBatch)]) -> Self {
        let (m0, sent_len) = joined(of(batches, Side::Sender), |batch| &batch.messages);
        let (mut m1, _) = joined(of(batches, Side::Sender), |batch| &batch.factors);
        m1.iter_mut().zip(&m0).for_each(|(m1, m0)| *m1 ^= m0);
        let (choices, received_len) = joined(of(batches, Side::Receiver), |batch| &batch.factors);
        let (chosen, _) = joined(of(batches, Side::Receiver), |batch| &batch.messages);
        RandomBits { sent: [m0, m1], sent_len, received: [choices, chosen], received_len }
    }
}

/// The batches of one side.
fn of(batches: &[(Side, CotBatch)], side: Side) -> impl Iterator<Item = &CotBatch> + Clone {
    batches.iter().filter(move |(other, _)| *other == side).map(|(_, batch)| batch)
}

/// The bits of all batches in a row, and their number.
fn joined<'a>(batches: impl Iterator<Item = &'a CotBatch> + Clone, bits: fn(&CotBatch) -> &[u64]) -> (Vec<u64>, usize) {
    let len = batches.clone().map(CotBatch::len).sum();
    let mut queue = BitQueue::with_capacity(len);
    batches.for_each(|batch| queue.push(bits(batch), batch.len()));
    (queue.draw(len), len)
}

#[cfg(test)]
mod tests;

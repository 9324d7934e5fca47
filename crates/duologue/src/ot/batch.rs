//! What becomes of correlated OTs as they are made: chunk by chunk, while they are in the cache.
//!
//! A batch of COTs is never stored for those who want less of it. Its maker has a [`CotBatch`], which it cuts into
//! [`CotSlice`]s, one for each chunk or tree; threads fill slices side by side. What a slice keeps is its [`CotOutput`].

use kernels::{Block, nontemporal::store_nontemporal, ot_hash::OtHash, pages, transpose::lowest_bits};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// What is kept of a COT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CotOutput {
    /// The correlated blocks themselves: q of the sender, t of the receiver.
    Blocks,
    /// Of the random OT of one bit that a hash makes of it: m₀ and m₀ ⊕ m₁ of the sender, m_b and b of the receiver.
    Bits,
    /// The random OT of 128 bits: m₀ and m₁ of the sender, m_b and b of the receiver.
    Messages,
}

/// What one side keeps of a batch of COTs.
///
/// A hash of kind j = 0, 1, … under a salt makes a random OT of a COT: m₀ = H_j(q_j), m₁ = H_j(q_j ⊕ Δ),
/// m_b = H_j(t_j). Every slice has a salt of its own, which both sides derive from the messages that fix its COTs.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct CotBatch {
    #[zeroize(skip)]
    output: CotOutput,
    count: usize,
    /// `Blocks`: q or t. `Messages`: m₀ or m_b.
    pub blocks: Vec<Block>,
    /// `Messages` of the sender: m₁.
    pub others: Vec<Block>,
    /// `Bits`: m₀ or m_b. Packed, least significant bit first; the padding of the last word is zero.
    pub messages: Vec<u64>,
    /// `Bits`: m₀ ⊕ m₁ of the sender. `Bits`, `Messages`: b of the receiver.
    pub factors: Vec<u64>,
}

/// One side of a COT maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Holds Δ.
    Sender,
    /// Holds the choices.
    Receiver,
}

impl CotBatch {
    /// Room for what `side` keeps of `count` COTs.
    pub fn new(side: Side, output: CotOutput, count: usize) -> Self {
        Self::reusing(Vec::new(), side, output, count)
    }

    /// The same in memory that is there already: fresh memory takes longer than the COTs that fill it.
    pub(crate) fn reusing(mut spare: Vec<Block>, side: Side, output: CotOutput, count: usize) -> Self {
        let kept = if output == CotOutput::Bits { 0 } else { count };
        if spare.capacity() < kept {
            spare.zeroize();
            spare = pages::with_room(kept);
        }
        spare.resize(kept, Block::ZERO);
        let blocks = |wanted: bool| vec![Block::ZERO; if wanted { count } else { 0 }];
        let words = |wanted: bool| vec![0; if wanted { count.div_ceil(64) } else { 0 }];
        CotBatch {
            output,
            count,
            blocks: spare,
            others: blocks(output == CotOutput::Messages && side == Side::Sender),
            messages: words(output == CotOutput::Bits),
            factors: words(output == CotOutput::Bits || output == CotOutput::Messages && side == Side::Receiver),
        }
    }

    /// How many COTs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What is kept.
    pub fn output(&self) -> CotOutput {
        self.output
    }

    /// All of it, to be cut into slices.
    pub fn slice(&mut self) -> CotSlice<'_> {
        let CotBatch { output, count, blocks, others, messages, factors } = self;
        CotSlice { output: *output, first: 0, len: *count, blocks, others, messages, factors }
    }

    /// Slots of `size` COTs, a multiple of 64; the last may be smaller.
    pub fn slices(&mut self, size: usize) -> Vec<CotSlice<'_>> {
        let mut slices = Vec::with_capacity(self.count.div_ceil(size));
        let mut rest = self.slice();
        while rest.len > 0 {
            let len = size.min(rest.len);
            let (slice, others) = rest.split(len);
            slices.push(slice);
            rest = others;
        }
        slices
    }
}

/// A part of a [`CotBatch`]; filled at once, by whichever thread has it. A hash counts COTs by their numbers in the
/// batch, so that slices may have one salt or many.
pub struct CotSlice<'a> {
    output: CotOutput,
    /// The number in the batch of the first COT, and its index in the hash.
    first: u64,
    len: usize,
    blocks: &'a mut [Block],
    others: &'a mut [Block],
    messages: &'a mut [u64],
    factors: &'a mut [u64],
}

impl<'a> CotSlice<'a> {
    /// How many COTs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first `at` COTs and the others; `at` is a multiple of 64 or the length.
    ///
    /// # Panics
    /// If it is neither.
    pub fn split(self, at: usize) -> (CotSlice<'a>, CotSlice<'a>) {
        assert!(at == self.len || at < self.len && at.is_multiple_of(64), "a slice is cut at whole words");
        fn cut<T>(all: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
            all.split_at_mut(at.min(all.len()))
        }
        let (words, output, first) = (at.div_ceil(64), self.output, self.first);
        let (blocks, more_blocks) = cut(self.blocks, at);
        let (others, more_others) = cut(self.others, at);
        let (messages, more_messages) = cut(self.messages, words);
        let (factors, more_factors) = cut(self.factors, words);
        let rest = CotSlice {
            output,
            first: first + at as u64,
            len: self.len - at,
            blocks: more_blocks,
            others: more_others,
            messages: more_messages,
            factors: more_factors,
        };
        (CotSlice { output, first, len: at, blocks, others, messages, factors }, rest)
    }

    /// The first COTs, as many as there are but at most `size`, a multiple of 64; and the others.
    pub fn split_at_most(self, size: usize) -> (CotSlice<'a>, CotSlice<'a>) {
        let at = size.min(self.len);
        self.split(at)
    }

    /// Where the blocks go if they are what is kept: whoever fills this need not fill the slice.
    pub fn blocks_mut(&mut self) -> Option<&mut [Block]> {
        (self.output == CotOutput::Blocks).then_some(&mut *self.blocks)
    }

    /// As sender: the blocks q of these COTs. The salt is that of the slice on both sides.
    ///
    /// # Panics
    /// If there are not as many as the slice has room for.
    pub fn fill_sender(self, salt: Block, delta: Block, q: &[Block]) {
        assert_eq!(q.len(), self.len, "a slice is filled at once");
        let hash = OtHash::new(salt);
        match self.output {
            CotOutput::Blocks => store_nontemporal(q, self.blocks),
            CotOutput::Messages => hash.pairs(self.first, delta, q, self.blocks, self.others),
            CotOutput::Bits => hash.pair_bits(self.first, delta, q, self.messages, self.factors),
        }
    }

    /// As receiver: the blocks t of these COTs, whose lowest bits are the choices. The salt is as for the sender.
    ///
    /// # Panics
    /// If there are not as many as the slice has room for.
    pub fn fill_receiver(self, salt: Block, t: &[Block]) {
        assert_eq!(t.len(), self.len, "a slice is filled at once");
        let hash = OtHash::new(salt);
        if self.output != CotOutput::Blocks {
            lowest_bits(t, self.factors);
        }
        match self.output {
            CotOutput::Blocks => store_nontemporal(t, self.blocks),
            CotOutput::Messages => hash.chosen(self.first, t, self.blocks),
            CotOutput::Bits => hash.chosen_bits(self.first, t, self.messages),
        }
    }
}

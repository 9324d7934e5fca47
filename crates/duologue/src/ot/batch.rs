//! The memory that a maker of COTs fills: a batch stores of each COT only the output that is wanted.
//!
//! A maker cuts a [`CotBatch`] into [`CotSlice`]s, one for each chunk or tree, which threads fill side by side. The
//! COTs of a slice are turned into their [`CotOutput`] at once, while they are in the cache; the COTs themselves are
//! stored only if they are the output.

use kernels::{Block, nontemporal::store_nontemporal, ot_hash::OtHash, pages, transpose::lowest_bits};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The output that is made of each COT of a batch and stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CotOutput {
    /// The COT itself: the block q of the sender, t of the receiver.
    Blocks,
    /// A random OT of one bit, made by a hash: m₀ and m₀ ⊕ m₁ of the sender, m_b and b of the receiver.
    Bits,
    /// A random OT of 128 bits, made by a hash: m₀ and m₁ of the sender, m_b and b of the receiver.
    Messages,
}

/// One side's outputs of a batch of COTs.
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

/// The role of a party in a direction of COTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The side that holds Δ.
    Sender,
    /// The side that holds the choice bits.
    Receiver,
}

impl CotBatch {
    /// An empty batch with memory for the outputs of `side` of `count` COTs.
    pub fn new(side: Side, output: CotOutput, count: usize) -> Self {
        Self::reusing(Vec::new(), side, output, count)
    }

    /// A batch that uses the memory of `spare` for its blocks: the pages of fresh memory take longer to get than the
    /// COTs that fill them.
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

    /// The number of COTs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The output that the batch stores.
    pub fn output(&self) -> CotOutput {
        self.output
    }

    /// The whole batch as one slice.
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

/// A part of a [`CotBatch`], which one thread fills in one call. The hash counts COTs by their numbers in the batch, so
/// that slices may have one salt or many.
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
    /// The number of COTs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Splits off the first `at` COTs from the others; `at` is a multiple of 64 or the length.
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

    /// Splits off the first COTs, at most `size`, from the others; `size` is a multiple of 64.
    pub fn split_at_most(self, size: usize) -> (CotSlice<'a>, CotSlice<'a>) {
        let at = size.min(self.len);
        self.split(at)
    }

    /// The memory of the blocks, if the output is [`CotOutput::Blocks`]: a caller who fills it need not fill the slice.
    pub fn blocks_mut(&mut self) -> Option<&mut [Block]> {
        (self.output == CotOutput::Blocks).then_some(&mut *self.blocks)
    }

    /// Fills the slice as sender, from the blocks q of its COTs. The salt is equal on both sides.
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

    /// Fills the slice as receiver, from the blocks t of its COTs, whose lowest bits are the choice bits. The salt is
    /// equal on both sides.
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

//! Oblivious transfer: base OT on a curve for one direction, then extension to millions by symmetric cryptography.
//!
//! An extension makes *correlated* OTs (COTs). Their sender holds one secret Δ, odd, and a block
//! q_i for every i; their receiver holds random bits b_i and blocks t_i with
//!
//! ```text
//! t_i = q_i ⊕ b_i·Δ
//! ```
//!
//! A maker of COTs implements [`CotMaker`]. Makers do no input or output: they take part in simultaneous exchanges,
//! whose lengths both parties know beforehand ([`CotLengths`]). The output that is wanted of the COTs is computed as
//! they are made, into a [`CotBatch`]. Makers are secure against malicious parties; one that is not says so in the name
//! of its type.

#[doc(hidden)]
pub mod base;
pub(crate) mod base_setup;
mod batch;
mod extension;
mod second;
pub mod silent;
pub mod softspoken;

use std::io;

use kernels::{Block, generator::Generator, transpose::lowest_bits};
use zeroize::Zeroize;

use crate::{Error, Result};
pub(crate) use base_setup::{AnsweredBaseOtSetup, Based, COUNT as BASE_OTS, Missing};
#[doc(hidden)]
pub use base_setup::{BaseOtSetup, Directions, ProofDuty, ReceiverSeeds, Second, Seeds, SenderSeeds};
#[doc(hidden)]
pub use batch::{CotBatch, CotOutput, CotSlice, Side};
use circuit::error::counted;
pub use extension::Extension;
#[doc(hidden)]
pub use extension::{CotLengths, Makers};
pub(crate) use second::OFFER as SECOND;

/// One side of a maker of COTs. Both sides take part in the same *exchanges*: each sends, then receives what the other
/// sent.
///
/// ```text
/// begin (if it is ready, and a batch is wanted)
/// send · the exchange · receive
/// ```
///
/// A batch is begun on both sides before the same exchange, with the same number, and is settled on both sides in the
/// same exchange, that one or a later one; batches are settled in the order in which they were begun. Until then a
/// batch is provisional: a check may still fail. A maker that is [`one_way`](Self::one_way) also takes several turns of
/// `begin` and `send` before the `receive` of the first of them. An error of any method is final: the maker and its Δ are
/// destroyed and never tried again.
///
/// Blocks obey q = t ⊕ b·Δ with the lowest bit of q zero, of Δ one, and of t the choice b. Only the other 127 bits of
/// a block are secret data.
#[doc(hidden)]
pub trait CotMaker: Send {
    /// The number of COTs that the next batch makes if `wanted` are wanted, at least one: perhaps fewer, perhaps more.
    /// It depends on public values alone.
    fn batch(&self, wanted: u64) -> usize;

    /// Whether a batch can be begun before the next exchange.
    fn ready(&self) -> bool;

    /// Begins a batch of [`batch`](Self::batch) COTs, or of as many as the maker of the same kind in the other direction
    /// has for the same number, if those are more.
    fn begin(&mut self, batch: CotBatch) -> Result<()>;

    /// Appends our message of the next exchange, possibly nothing.
    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()>;

    /// The exact length of the peer's message of that exchange.
    fn expect(&self) -> usize;

    /// Reads the peer's message: the batch that is settled, if one is.
    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>>;

    /// Whether no batch is under way.
    fn idle(&self) -> bool;

    /// Whether a batch is one message of the receiver, which no message of the sender answers, and which depends on none:
    /// then a receiver may begin and send further batches before the exchanges of earlier ones are received.
    fn one_way(&self) -> bool {
        false
    }
}

/// A maker of COTs on the side that holds Δ.
#[doc(hidden)]
pub trait CotSender: CotMaker {
    /// Δ; its least significant bit is 1.
    fn delta(&self) -> Block;
}

/// A maker of COTs on the side that holds the choice bits.
#[doc(hidden)]
pub trait CotReceiver: CotMaker {}

/// A receiver's COTs: choice bits b and blocks t = q ⊕ b·Δ.
#[derive(Default)]
pub struct Choices {
    /// Packed, least significant bit first; the padding of the last word is zero.
    pub bits: Vec<u64>,
    /// One block for each bit.
    pub t: Vec<Block>,
}

impl Zeroize for Choices {
    /// Erases bits and blocks, a register at a time: word by word it would take as long as to make them.
    fn zeroize(&mut self) {
        self.bits.fill(0);
        self.t.fill(Block::ZERO);
        std::hint::black_box((&mut self.bits, &mut self.t));
    }
}

impl Choices {
    /// The choice bits are the lowest bits of the blocks.
    pub fn new(t: Vec<Block>) -> Self {
        let mut bits = vec![0; t.len().div_ceil(64)];
        lowest_bits(&t, &mut bits);
        Choices { bits, t }
    }

    /// The number of COTs.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// The choice bit of COT `index`, which must be below [`len`](Self::len).
    pub fn bit(&self, index: usize) -> bool {
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }
}

/// Checks the length of the peer's message against the one that the protocol fixes.
pub(crate) fn check_length(what: &str, message: &[u8], expect: usize) -> Result<()> {
    if message.len() != expect {
        let came = counted(message.len() as u64, "byte");
        return Err(Error::peer(format!("its {what} message has {came}, not {expect}")));
    }
    Ok(())
}

/// A generator with a seed from the operating system: the only source of randomness outside tests.
pub(crate) fn os_generator() -> Result<Generator> {
    Generator::from_os()
        .map_err(|e| Error::io("cannot draw from the operating system's generator")(io::Error::other(e.to_string())))
}

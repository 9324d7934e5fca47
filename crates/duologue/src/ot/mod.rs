//! Oblivious transfer: base OT on a curve, then extension to millions by symmetric cryptography.
//!
//! What an extension makes is *correlated* OT (COT). Its sender holds one secret Δ, odd, and a block
//! q_i for every i; its receiver holds random bits b_i and blocks t_i with
//!
//! ```text
//! t_i = q_i ⊕ b_i·Δ
//! ```
//!
//! Makers of COT stand behind [`CotSender`] and [`CotReceiver`]. They do no input or output: a batch
//! is one simultaneous exchange, whose lengths both parties know beforehand. The security level of a
//! maker is in the name of its type.

pub mod base;
pub mod iknp;
pub(crate) mod setup;

use std::io;

use kernels::{Block, generator::Generator};

use crate::{Error, Result};
pub use setup::{ReceiverSeeds, SenderSeeds, Setup};

/// The side of a COT maker that holds Δ.
///
/// A batch is `send`, the exchange, `receive`, all with the same count, which the peer's
/// [`CotReceiver`] uses too.
pub trait CotSender: Send {
    /// Δ; its least significant bit is 1.
    fn delta(&self) -> Block;

    /// Appends our half of the exchange of a batch.
    fn send(&mut self, count: usize, outbox: &mut Vec<u8>) -> Result<()>;

    /// The exact length of the peer's half.
    fn expect(&self, count: usize) -> usize;

    /// Reads the peer's half; `q` is overwritten by the `count` blocks of the batch.
    fn receive(&mut self, count: usize, inbox: &[u8], q: &mut Vec<Block>) -> Result<()>;
}

/// The side of a COT maker that holds random choice bits; the mirror image of [`CotSender`].
pub trait CotReceiver: Send {
    /// Appends our half of the exchange of a batch.
    fn send(&mut self, count: usize, outbox: &mut Vec<u8>) -> Result<()>;

    /// The exact length of the peer's half.
    fn expect(&self, count: usize) -> usize;

    /// Reads the peer's half; `chosen` is overwritten by the `count` COTs of the batch.
    fn receive(&mut self, count: usize, inbox: &[u8], chosen: &mut Choices) -> Result<()>;
}

/// A receiver's COTs: choice bits b and blocks t = q ⊕ b·Δ.
#[derive(Default)]
pub struct Choices {
    /// Packed, least significant bit first; the padding of the last word is zero.
    pub bits: Vec<u64>,
    /// One block for each bit.
    pub t: Vec<Block>,
}

impl Choices {
    /// How many COTs these are.
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

/// A message whose length is not the one that the protocol fixes is the peer's fault.
pub(crate) fn check_length(what: &str, message: &[u8], expect: usize) -> Result<()> {
    if message.len() != expect {
        let came = message.len();
        return Err(Error::peer(format!("its {what} message has {came} bytes, not {expect}")));
    }
    Ok(())
}

/// The only source of randomness outside tests.
pub(crate) fn os_generator() -> Result<Generator> {
    Generator::from_os()
        .map_err(|e| Error::io("cannot draw from the operating system's generator")(io::Error::other(e.to_string())))
}

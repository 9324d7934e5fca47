//! Random OT of one bit in N = 2^w ≤ 64 from w random OTs, without another hash.
//!
//! As 1-of-N OT of blocks (Naor, Pinkas, STOC 1999, §3.1; [`one_of`](super::one_of)), where F(k, x) is bit x of the
//! message k itself: the bits of a random message are a random function of x.
//!
//! ```text
//! m_x = bit x of k_0^{x_0}  ⊕ … ⊕  bit x of k_{w−1}^{x_{w−1}}
//! ```
//!
//! For every x ≠ c one of the messages is unknown to the receiver, and of each message every x has a bit of its own, so all
//! other bits look random together. **Assumes** no more than the random OTs.
//!
//! **Cost**: w random OTs, of each of which N bits are used.

use super::{ReceivedOts, SentOts};
use crate::packed::row_word;
use crate::{Error, Result};
use zeroize::ZeroizeOnDrop;

/// The sender's side of random OTs of one bit in N.
#[derive(ZeroizeOnDrop)]
pub struct SentTables {
    /// Of each OT the bits m_x, in bit x; those from N on are zero.
    pub tables: Vec<u64>,
}

/// The receiver's side of random OTs of one bit in N.
#[derive(ZeroizeOnDrop)]
pub struct ReceivedTables {
    /// The choice c of each OT.
    pub choices: Vec<u8>,
    /// The chosen bit m_c of each OT, 0 or 1.
    pub bits: Vec<u8>,
}

impl SentOts {
    /// Random OTs of one bit in N, the power of two from `n` on.
    ///
    /// # Errors
    /// [`Error::Usage`] unless 2 ≤ `n` ≤ 64.
    pub fn bit_of(self, n: u32) -> Result<SentTables> {
        let width = width(n)?;
        let columns: Vec<u64> = (0..width).map(column).collect();
        let pairs = self.m[0].chunks_exact(width).zip(self.m[1].chunks_exact(width));
        let table = |(zeros, ones): (&[kernels::Block], &[kernels::Block])| {
            let keys = zeros.iter().zip(ones).map(|(zero, one)| (zero.get() as u64, one.get() as u64));
            let sum = keys.zip(&columns).fold(0, |sum, ((zero, one), column)| sum ^ zero ^ ((zero ^ one) & column));
            sum & (u64::MAX >> (64 - (1 << width)))
        };
        Ok(SentTables { tables: pairs.map(table).collect() })
    }
}

impl ReceivedOts {
    /// Random OTs of one bit in N, the power of two from `n` on; the sender must take them too, by [`SentOts::bit_of`].
    /// Takes the same time for all choices.
    ///
    /// # Errors
    /// [`Error::Usage`] unless 2 ≤ `n` ≤ 64.
    pub fn bit_of(self, n: u32) -> Result<ReceivedTables> {
        let width = width(n)?;
        let choices = (0..self.m.len() / width).map(|ot| row_word(&self.choices, ot * width, width, 0) as u8);
        let choices: Vec<u8> = choices.collect();
        let keys = self.m.chunks_exact(width).map(|keys| keys.iter().fold(0, |sum, key| sum ^ key.get() as u64));
        let bits = keys.zip(&choices).map(|(keys, &choice)| (keys >> choice & 1) as u8).collect();
        Ok(ReceivedTables { choices, bits })
    }
}

/// The x in whose binary form bit `i` is set, as a set of bits.
fn column(i: usize) -> u64 {
    (0..64).filter(|x| x >> i & 1 == 1).fold(0, |set, x| set | 1 << x)
}

fn width(n: u32) -> Result<usize> {
    match n {
        2..=64 => Ok(n.next_power_of_two().ilog2() as usize),
        _ => Err(Error::usage(format!("1-of-{n} OT of bits: from 2 to 64 messages"))),
    }
}

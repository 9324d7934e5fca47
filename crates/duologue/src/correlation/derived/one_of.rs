//! Random OT of one message in N = 2^w from w random OTs.
//!
//! Naor, Pinkas: *Oblivious Transfer and Polynomial Evaluation* (STOC 1999, §3.1), with random choices, so that nothing
//! is sent. The keys of w random OTs are k_i^0 and k_i^1; the receiver has k_i^{c_i}, and c with the bits c_i is its
//! choice, uniform among N:
//!
//! ```text
//! m_x = F(k_0^{x_0}, x) ⊕ … ⊕ F(k_{w−1}^{x_{w−1}}, x)
//! ```
//!
//! For every x ≠ c one of the keys is unknown to the receiver, and each key is called with each x once, so all other
//! messages look random together. F(k, x) is the hash H_j of [`OtHash`] with its own index j for OT, x and i, under a
//! salt of its own. **Assumes** an ideal cipher: with p calls of it the receiver tells them from random with advantage
//! at most p·2⁻¹²⁷, whatever N is and however many there are. **Without x** in F, m_x would be a sum of w of 2w values:
//! m_0 ⊕ m_1 = m_2 ⊕ m_3.
//!
//! **Cost**: w random OTs; w hashes a message, N·w for all of them, w for the receiver's.
//!
//! For a choice y of its own the receiver sends d = c ⊕ y, and the sender takes message x ⊕ d where it would take x.
//! So do both if N is larger than what they need.

use kernels::{Block, ot_hash::OtHash};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::packed::row_word;
use crate::{Error, Result};

/// The most bits that a choice may have.
const MOST: usize = 16;

/// The sender's side of random OTs of one message in N.
#[derive(ZeroizeOnDrop)]
pub struct SentChoices {
    #[zeroize(skip)]
    hash: OtHash,
    #[zeroize(skip)]
    width: usize,
    keys: [Vec<Block>; 2],
}

/// The receiver's side of random OTs of one message in N.
#[derive(ZeroizeOnDrop)]
pub struct ReceivedChoices {
    #[zeroize(skip)]
    hash: OtHash,
    #[zeroize(skip)]
    width: usize,
    choices: Vec<u64>,
    keys: Vec<Block>,
}

impl SentChoices {
    pub(super) fn new(id: [u8; 32], keys: [Vec<Block>; 2], n: u32) -> Result<Self> {
        let width = width(n)?;
        Ok(SentChoices { hash: hash(id, width), width, keys })
    }

    /// The number of OTs.
    pub fn len(&self) -> usize {
        self.keys[0].len() / self.width
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// N: the number of messages of each OT.
    pub fn messages(&self) -> u32 {
        1 << self.width
    }

    /// The message m_x of OT `index`. Takes the same time for all x.
    ///
    /// # Panics
    /// If there are not so many OTs, or messages.
    pub fn message(&self, index: usize, x: u32) -> Block {
        assert!(x < self.messages(), "message {x} of {}", self.messages());
        let from = index * self.width;
        let mut keys = [Block::ZERO; MOST];
        for (i, key) in keys[..self.width].iter_mut().enumerate() {
            let [zero, one] = [self.keys[0][from + i], self.keys[1][from + i]];
            *key = zero ^ ((zero ^ one) & Block::mask(x >> i & 1 == 1));
        }
        sum(&self.hash, self.width, index, x, keys)
    }
}

impl ReceivedChoices {
    pub(super) fn new(id: [u8; 32], choices: Vec<u64>, keys: Vec<Block>, n: u32) -> Result<Self> {
        let width = width(n)?;
        Ok(ReceivedChoices { hash: hash(id, width), width, choices, keys })
    }

    /// The number of OTs.
    pub fn len(&self) -> usize {
        self.keys.len() / self.width
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The choice c of OT `index`.
    ///
    /// # Panics
    /// If there are not so many OTs.
    pub fn choice(&self, index: usize) -> u32 {
        row_word(&self.choices, index * self.width, self.width, 0) as u32
    }

    /// The chosen message m_c of OT `index`, in the same time for all c: no address depends on it.
    ///
    /// # Panics
    /// If there are not so many OTs.
    pub fn message(&self, index: usize) -> Block {
        let mut keys = [Block::ZERO; MOST];
        keys[..self.width].copy_from_slice(&self.keys[index * self.width..][..self.width]);
        sum(&self.hash, self.width, index, self.choice(index), keys)
    }
}

/// The width w = ⌈log₂ n⌉.
fn width(n: u32) -> Result<usize> {
    match n {
        2..=0x1_0000 => Ok(n.next_power_of_two().ilog2() as usize),
        _ => Err(Error::usage(format!("1-of-{n} OT: from 2 to 65536 messages"))),
    }
}

/// The hash of one batch of OTs: `id` is of the session, the direction and the batch.
fn hash(id: [u8; 32], width: usize) -> OtHash {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 1-of-N OT: salt");
    let salt = hasher.update(&id).update(&[width as u8]).finalize();
    OtHash::new(Block::from_bytes(salt.as_bytes()[..16].try_into().expect("16 bytes")))
}

/// The sum of F(k_i, x) over all keys.
fn sum(hash: &OtHash, width: usize, index: usize, x: u32, mut keys: [Block; MOST]) -> Block {
    let mut hashes = [Block::ZERO; MOST];
    let calls = (index as u64) << width | u64::from(x);
    hash.chosen(calls * width as u64, &keys[..width], &mut hashes[..width]);
    keys.zeroize();
    hashes.iter().fold(Block::ZERO, |sum, &hash| sum ^ hash)
}

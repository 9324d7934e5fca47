//! AES-128 under one key, and the random generator that is made of it.

pub mod aes;
pub mod generator;
pub(crate) mod portable;
pub(crate) mod schedule;
pub(crate) mod wide;

use crate::Block;

/// S with a domain in its high half: hashes of different kinds never share a key under one S.
pub(crate) fn domain(s: Block, name: &[u8; 8]) -> Block {
    s ^ Block::new(u128::from(u64::from_le_bytes(*name)) << 64)
}

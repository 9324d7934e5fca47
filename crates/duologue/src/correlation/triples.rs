//! Boolean triples from correlated OTs in both directions.
//!
//! Asharov, Lindell, Schneider, Zohner (CCS 2013, §5.1): a triple is two random OTs of one bit with
//! exchanged roles. With (m₀, m₁) of the sender and (b, m_b) of the receiver,
//!
//! ```text
//! Sender    b := m₀ ⊕ m₁,  v := m₀            Receiver    a := its choice,  u := m_a
//! ```
//!
//! gives u ⊕ v = a·b. Each party does both and has c = a·b ⊕ u ⊕ v: the products of its own factors
//! and its shares of the two mixed ones. All four factors are random, so nothing is sent.
//!
//! A COT becomes a random OT by a hash that breaks the correlation: m₀ = H_j(q_j), m₁ = H_j(q_j⊕Δ),
//! m_b = H_j(t_j); H_j is AES under a key of its own for every j, made from a public random S that
//! the sender draws when the correlation is already fixed. Only one bit of each hash is kept.
//! **Assumes** that H is correlation robust. **Security**: semi-honest parties.

use kernels::{Block, hash::OtHash};

use super::Triples;
use crate::ot::Choices;

/// Blocks hashed at a time: what the buffers on the stack hold, a multiple of 64.
const CHUNK: usize = 512;

/// The OT sender's half of the mixed products, packed.
pub(super) struct SenderBits {
    pub(super) b: Vec<u64>,
    pub(super) v: Vec<u64>,
}

/// As OT sender, hashes the COTs of a batch under a salt that was never used before.
pub(super) fn hash_sender(salt: Block, delta: Block, q: &[Block]) -> SenderBits {
    let hash = OtHash::new(salt);
    let (mut m0, mut m1) = ([Block::ZERO; CHUNK], [Block::ZERO; CHUNK]);
    let mut bits = SenderBits { b: with_room(q), v: with_room(q) };
    for (chunk, q) in q.chunks(CHUNK).enumerate() {
        let (m0, m1) = (&mut m0[..q.len()], &mut m1[..q.len()]);
        hash.pairs((chunk * CHUNK) as u64, delta, q, m0, m1);
        push_lsbs(&mut bits.v, m0);
        m1.iter_mut().zip(&*m0).for_each(|(m1, &m0)| *m1 ^= m0);
        push_lsbs(&mut bits.b, m1);
    }
    bits
}

/// As OT receiver, hashes under the peer's salt: the bits u.
pub(super) fn hash_receiver(salt: Block, t: &[Block]) -> Vec<u64> {
    let hash = OtHash::new(salt);
    let mut m = [Block::ZERO; CHUNK];
    let mut u = with_room(t);
    for (chunk, t) in t.chunks(CHUNK).enumerate() {
        let m = &mut m[..t.len()];
        hash.chosen((chunk * CHUNK) as u64, t, m);
        push_lsbs(&mut u, m);
    }
    u
}

/// c = a·b ⊕ u ⊕ v. Both directions have the same number of OTs.
pub(super) fn combine(sender: SenderBits, chosen: &Choices, u: &[u64]) -> Triples {
    let SenderBits { b, v } = sender;
    let a = chosen.bits.clone();
    let c = a.iter().zip(&b).zip(u).zip(&v).map(|(((a, b), u), v)| a & b ^ u ^ v).collect();
    Triples { a, b, c, len: chosen.len() }
}

/// Room for one bit a block.
fn with_room(blocks: &[Block]) -> Vec<u64> {
    Vec::with_capacity(blocks.len().div_ceil(64))
}

/// Appends the least significant bit of each block; only the last call may leave padding.
fn push_lsbs(words: &mut Vec<u64>, blocks: &[Block]) {
    words.extend(
        blocks
            .chunks(64)
            .map(|blocks| blocks.iter().enumerate().fold(0, |word, (i, block)| word | (block.get() as u64 & 1) << i)),
    );
}

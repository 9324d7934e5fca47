//! The hash that makes random OTs of correlated OTs.

mod portable;
mod wide;

use crate::backend::{Backend, Cpu};
use crate::block::assert_lengths;
use crate::cipher::domain;
use crate::{Block, work};
use wide::{Chosen, ChosenBits, PairBits, Pairs};

/// The hash that breaks the correlation of correlated OT: H_j(x) = E_K(σ(x)) ⊕ σ(x), K = S ⊕ (j ‖ "ot-hash.").
///
/// The sender has q_j and hashes q_j and q_j ⊕ Δ; the receiver has t_j = q_j ⊕ c_j·Δ and hashes it. Every index has its
/// own key, which makes the hash *tweakable* in the ideal-cipher model: of the two calls under a key the receiver
/// knows one and the other is at t_j ⊕ Δ, whatever t_j is, also if a malicious receiver chose it. With p calls of the
/// cipher it tells the other messages from random with advantage at most p·2⁻¹²⁶, where Δ has 127 bits of entropy.
///
/// S is public. It has to keep keys apart, and no more: no index is used twice under one S, and n salts that are
/// uniform, for 2^m indices each, have a key in common with a chance of n²·2^(m−129). The salts of COTs are derived from
/// the transcript that fixes these. Those of 1-of-N OT and of GMW's vectors are known
/// before: harmless, for no key meets an input twice.
pub struct OtHash {
    key: Block,
    cpu: Option<Cpu>,
}

impl OtHash {
    /// The hash for one S: 128 public bits, of this use alone.
    pub fn new(s: Block) -> Self {
        Self::with_backend(s, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(s: Block, backend: Backend) -> Self {
        OtHash { key: domain(s, b"ot-hash."), cpu: backend.cpu() }
    }

    /// The sender: m0 = H_j(q_j) and m1 = H_j(q_j ⊕ Δ) for j = `first`, `first + 1`, ...
    ///
    /// # Panics
    /// If the lengths differ or Δ is zero.
    pub fn pairs(&self, first: u64, delta: Block, q: &[Block], m0: &mut [Block], m1: &mut [Block]) {
        assert!(delta != Block::ZERO, "Δ is zero: both messages would be equal");
        assert_lengths(q.len(), [m0.len(), m1.len()]);
        work::count(2 * q.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Pairs { key, first, delta, q, m0, m1 }),
            None => portable::pairs(key, first, delta, q, m0, m1),
        }
    }

    /// The receiver: m = H_j(t_j), which is the sender's m0 or m1 by its choice.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn chosen(&self, first: u64, t: &[Block], m: &mut [Block]) {
        assert_lengths(t.len(), [m.len()]);
        work::count(t.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Chosen { key, first, t, m }),
            None => portable::chosen(key, first, t, m),
        }
    }

    /// The lowest bits of what [`pairs`](Self::pairs) makes: of m0, and of m0 ⊕ m1. Packed, least significant first;
    /// the padding of the last word is zero.
    ///
    /// # Panics
    /// If there are not as many words as these bits take, or Δ is zero.
    pub fn pair_bits(&self, first: u64, delta: Block, q: &[Block], m0: &mut [u64], differ: &mut [u64]) {
        assert!(delta != Block::ZERO, "Δ is zero: both messages would be equal");
        assert_lengths(q.len().div_ceil(64), [m0.len(), differ.len()]);
        work::count(2 * q.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(PairBits { key, first, delta, q, m0, differ }),
            None => portable::pair_bits(key, first, delta, q, m0, differ),
        }
    }

    /// The lowest bits of what [`chosen`](Self::chosen) makes, packed in the same way.
    ///
    /// # Panics
    /// If there are not as many words as these bits take.
    pub fn chosen_bits(&self, first: u64, t: &[Block], m: &mut [u64]) {
        assert_lengths(t.len().div_ceil(64), [m.len()]);
        work::count(t.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(ChosenBits { key, first, t, m }),
            None => portable::chosen_bits(key, first, t, m),
        }
    }
}

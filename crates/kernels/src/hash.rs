//! The correlation-robust hashes of the protocols, all of the form H(x) = E_K(σ(x)) ⊕ σ(x).
//!
//! | hash | key K | for |
//! |---|---|---|
//! | [`GateHash`] | S ⊕ (bucket of n ‖ "garbling"), four ANDs a key, kept apart by a tweak | half-gates |
//! | [`OtHash`] | S ⊕ (j ‖ "ot-hash."), one index a key | correlated OT to random OT |
//! | [`TreeHash`] | public, one a round of trees | GGM trees |
//!
//! In a key the counter is the low and the name the high 64 bits, little-endian as everywhere. σ
//! ([`Block::sigma`]) is what makes H *circular*: with the plain E_K(x) ⊕ x, a ciphertext that
//! contains Δ beside H(x ⊕ Δ) can be inverted, for the key is public.

use crate::aes::Aes128;
use crate::backend::{Backend, Cpu};
use crate::wide::{Chosen, ChosenBits, Evaluate, Garble, PairBits, Pairs, Run};
use crate::{Block, portable, work};

/// S with a domain in its high half: hashes of different kinds never share a key under one S.
pub(crate) fn domain(s: Block, name: &[u8; 8]) -> Block {
    s ^ Block::new(u128::from(u64::from_le_bytes(*name)) << 64)
}

/// The two ciphertexts (T_G, T_E) of an AND, as they travel.
pub type Ciphertexts = [[u8; 16]; 2];

/// The zero labels of one operand of a run of ANDs.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// One label an AND.
    pub labels: &'a [Block],
    /// The operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flip: bool,
}

/// The hash of half-gates garbling \[Zahur, Rosulek, Evans 2015\], and both roles' loops over it.
///
/// Half `h` (0: the generator's, 1: the evaluator's) of AND number `n` hashes
/// H(x) = E_K(σ(x ⊕ i)) ⊕ σ(x ⊕ i) with K = S ⊕ (j ‖ "garbling"), the *bucket* j = 4·⌊n/16⌋ + n mod 4 and the
/// tweak i = 2·(⌊n/4⌋ mod 4) + h. Of sixteen ANDs every fourth is in the same bucket: consecutive ones are the lanes of
/// a wide register, and every lane stays with its key from one register to the next. The key changes as in MITCCRH
/// \[Guo, Katz, Wang, Weng, Yu: *Better Concrete Security for Half-Gates Garbling (in the Multi-Instance Setting)*,
/// CRYPTO 2020, ePrint 2019/1168\], but serves the 8 calls of four ANDs instead of one or two; the tweak keeps those
/// apart. Without it,
/// two ANDs of a bucket that share an operand have T ⊕ T' = (p ⊕ p')·Δ.
///
/// # Security
/// In the ideal-cipher model, with Δ uniform but for bit 0, an evaluator who makes p calls of the
/// cipher tells N garbled ANDs from random with advantage at most
///
/// ```text
/// μ·p·2⁻¹²³ + N·2⁻¹²¹     μ = 1 for one S; over 2⁴⁰ sessions of 2⁴⁰ ANDs μ ≤ 2, but for a chance of 2⁻⁶²
/// ```
///
/// which is at most (p + N)·2⁻¹²¹: **121 bits of security**, after 2⁴⁰ ANDs as after one. After 2⁴⁰, an evaluator
/// without calls of its own has 2⁻⁸¹, and an advantage of ½ takes 2¹²² calls. (By the same count a key for
/// each AND has 124 bits, and one fixed key for all 85 after 2⁴⁰ ANDs.)
///
/// Why: a call (K, u) ↦ v meets one of the at most 8 hidden calls of its bucket, those on labels that the
/// evaluator does not hold, if u = σ(x ⊕ i ⊕ Δ), or if v fits the ciphertext, an equation in σ(Δ) or σ(Δ) ⊕ Δ;
/// each holds for at most one Δ in 2¹²⁷. So p calls meet one with 16·p·2⁻¹²⁷, and the evaluator's 8
/// prescribed calls a bucket with N·2⁻¹²². Two hidden calls of a bucket coincide in input or in output, 28
/// pairs each, with less than N·2⁻¹²³. If none of this happens, all hidden values are uniform.
///
/// # What it rests on
/// - S is uniform, public, fresh for every session or offline file, even where Δ stays. A new S is a
///   new `GateHash`: nothing of the old one is left.
/// - No AND number is used twice under one S. Numbers come from seats, never again from 0 for each circuit.
/// - Labels are uniform, drawn by an **honest garbler**, with a share of an evaluator that follows the protocol at
///   most: inputs x of tweak i and x ⊕ i ⊕ i' of tweak i' collide, which uniform labels do with a chance of 2⁻¹²⁸ a
///   pair. Never for values that a peer chooses, for OT, or in malicious garbling.
/// - The evaluator chooses its inputs before it sees the ciphertexts, or is semi-honest.
///
/// # Example
/// ```
/// use duologue_kernels::{Block, generator::Generator, hash::{GateHash, Operand}};
///
/// let mut random = Generator::from_os()?;
/// let (s, delta) = (random.block(), random.block().with_lsb(true));
/// let (a0, b0) = ([random.block()], [random.block()]);
///
/// // Garbler: the zero labels of the output, and a table  ──▶
/// let (mut out0, mut tables) = ([Block::ZERO], [Default::default()]);
/// let operand = |labels| Operand { labels, flip: false };
/// GateHash::new(s).garble(0, delta, operand(&a0), operand(&b0), &mut out0, &mut tables);
///
/// // Evaluator, who holds the labels of 1 and 1: the label of 1 ∧ 1.
/// let mut out = [Block::ZERO];
/// GateHash::new(s).evaluate(0, &[a0[0] ^ delta], &[b0[0] ^ delta], &mut out, &tables);
/// assert!(out[0] == out0[0] ^ delta);
/// # Ok::<(), duologue_kernels::generator::OsError>(())
/// ```
pub struct GateHash {
    pub(crate) key: Block,
    pub(crate) cpu: Option<Cpu>,
}

impl GateHash {
    /// The hash for one S: 128 public random bits, fresh for every session.
    pub fn new(s: Block) -> Self {
        Self::with_backend(s, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(s: Block, backend: Backend) -> Self {
        GateHash { key: domain(s, b"garbling"), cpu: backend.cpu() }
    }

    /// Garbles the ANDs `first`, `first + 1`, ...: from the operands' zero labels the zero labels of
    /// the outputs, and for each AND its two ciphertexts (T_G, T_E).
    ///
    /// # Panics
    /// If the lengths differ or Δ has bit 0 clear.
    pub fn garble(
        &self,
        first: u64,
        delta: Block,
        a: Operand,
        b: Operand,
        out: &mut [Block],
        tables: &mut [Ciphertexts],
    ) {
        assert!(delta.lsb(), "bit 0 of Δ must be set: it carries the permute bit");
        assert_lengths(out.len(), [a.labels.len(), b.labels.len(), tables.len()]);
        work::count(4 * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Garble { key, delta, wires: Run { first, a, b, out }, tables: &mut [tables] }),
            None => portable::garble(key, first, delta, a, b, out, tables),
        }
    }

    /// Evaluates the ANDs `first`, `first + 1`, ... on active labels.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn evaluate(&self, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[Ciphertexts]) {
        assert_lengths(out.len(), [a.len(), b.len(), tables.len()]);
        work::count(2 * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => {
                let [a, b] = [a, b].map(|labels| Operand { labels, flip: false });
                cpu.run(Evaluate { key, wires: Run { first, a, b, out }, tables: &[tables] })
            }
            None => portable::evaluate(key, first, a, b, out, tables),
        }
    }
}

pub(crate) fn assert_lengths<const N: usize>(len: usize, others: [usize; N]) {
    assert!(others == [len; N], "operands of different lengths: {len} and {others:?}");
}

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

/// The hash of GGM trees: H(x) = π(σ(x)) ⊕ σ(x), with π = AES under a public key.
///
/// Circular correlation robust in the ideal-cipher model \[Guo, Katz, Wang, Yu: *Efficient and Secure
/// Multiparty Computation from Fixed-Key Block Ciphers*, S&P 2020, ePrint 2019/074\], which the half-tree
/// \[Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023, ePrint 2022/1431\] asks for. Calls under one key
/// share what an attacker computes: p calls of its own against q of ours win with about p·q·2⁻¹²⁷. So every
/// round of trees has its own key, made of public data that no other round has, and q is what one round has.
pub struct TreeHash(pub(crate) Aes128);

impl TreeHash {
    /// The hash under this public key.
    pub fn new(key: Block) -> Self {
        Self::with_backend(key, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(key: Block, backend: Backend) -> Self {
        TreeHash(Aes128::with_backend(key, backend))
    }

    /// H(x) = π(σ(x)) ⊕ σ(x) of every block.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hash(&self, input: &[Block], output: &mut [Block]) {
        assert_lengths(input.len(), [output.len()]);
        self.0.tree(input, output);
    }
}

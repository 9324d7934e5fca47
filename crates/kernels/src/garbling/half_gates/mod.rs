//! Half-gates garbling, of one gate on many lanes or of several gates in one call.
//!
//! The hash is H(x) = E_K(σ(x)) ⊕ σ(x) under a key K made of a public S. σ ([`Block::sigma`]) is what makes H
//! *circular*: with the plain E_K(x) ⊕ x, a ciphertext that contains Δ beside H(x ⊕ Δ) can be inverted, for the key is
//! public.
//!
//! Labels of many lanes do not fit the first-level cache, those of few lanes do; but with few lanes an AND gate alone is
//! too short to fill the processor's pipeline. So gates that do not read each other are garbled one after
//! the other in one stream.

mod columns;
mod pipeline;
mod portable;
mod wide;

use super::gates::Operand;
use super::scheme::{Evaluate, Garble, GarblingHash, Loops};
use super::wires::Wires;
use crate::Block;
use crate::backend::Cpu;

/// The two ciphertexts (T_G, T_E) of an AND, as they travel.
pub type Ciphertexts = [[u8; 16]; 2];

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
///   new `HalfGates`: nothing of the old one is left.
/// - No AND number is used twice under one S. Numbers come from seats, never again from 0 for each circuit.
/// - Labels are uniform, drawn by an **honest garbler**, with a share of an evaluator that follows the protocol at
///   most: inputs x of tweak i and x ⊕ i ⊕ i' of tweak i' collide, which uniform labels do with a chance of 2⁻¹²⁸ a
///   pair. Never for values that a peer chooses, for OT, or in malicious garbling.
/// - The evaluator chooses its inputs before it sees the ciphertexts, or is semi-honest.
///
/// # Example
/// ```
/// use duologue_kernels::{Block, generator::Generator, gates::Operand, half_gates::HalfGates};
///
/// let mut random = Generator::from_os()?;
/// let (s, delta) = (random.block(), random.block().with_lsb(true));
/// let (a0, b0) = ([random.block()], [random.block()]);
///
/// // Garbler: the zero labels of the output, and a table  ──▶
/// let (mut out0, mut tables) = ([Block::ZERO], [Default::default()]);
/// let operand = |labels| Operand { labels, flip: false };
/// HalfGates::new(s).garble(0, delta, operand(&a0), operand(&b0), &mut out0, &mut tables);
///
/// // Evaluator, who holds the labels of 1 and 1: the label of 1 ∧ 1.
/// let mut out = [Block::ZERO];
/// HalfGates::new(s).evaluate(0, &[a0[0] ^ delta], &[b0[0] ^ delta], &mut out, &tables);
/// assert!(out[0] == out0[0] ^ delta);
/// # Ok::<(), duologue_kernels::generator::OsError>(())
/// ```
pub type HalfGates = GarblingHash<HalfGatesScheme>;

/// Half-gates as a [`GarblingScheme`](crate::GarblingScheme).
pub enum HalfGatesScheme {}

impl Loops for HalfGatesScheme {
    type Table = Ciphertexts;
    const CALLS: [usize; 2] = [4, 2];
    const DOMAIN: &'static [u8; 8] = b"garbling";

    fn garble_wide<W: Wires>(cpu: Cpu, job: Garble<'_, '_, Self, W>) {
        cpu.run(job);
    }

    fn evaluate_wide<W: Wires>(cpu: Cpu, job: Evaluate<'_, '_, Self, W>) {
        cpu.run(job);
    }

    fn garble(
        key: Block,
        first: u64,
        delta: Block,
        [a, b]: [Operand<'_>; 2],
        out: &mut [Block],
        tables: &mut [Ciphertexts],
    ) {
        portable::garble(key, first, delta, a, b, out, tables);
    }

    fn evaluate(key: Block, first: u64, [a, b]: [&[Block]; 2], out: &mut [Block], tables: &[Ciphertexts]) {
        portable::evaluate(key, first, a, b, out, tables);
    }
}

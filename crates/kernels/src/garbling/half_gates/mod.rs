//! Half-gates garbling, of one gate on many lanes or of several gates in one call.
//!
//! The hash is H(x) = E_K(σ(x)) ⊕ σ(x) under a key K made of a public S. σ ([`Block::sigma`]) is what makes H
//! *circular*: with the plain E_K(x) ⊕ x, a ciphertext that contains Δ beside H(x ⊕ Δ) can be inverted, for the key is
//! public.
//!
//! Labels of many lanes do not fit the first-level cache, those of few lanes do; but with few lanes an AND gate alone is
//! too short to fill the processor's pipeline. So gates that do not read each other are garbled one after
//! the other in one stream.

mod pipeline;
mod portable;
mod wide;

use super::gates::{Gate, Numbers, Operand};
use super::wires::{Run, Several};
use crate::backend::{Backend, Cpu};
use crate::block::assert_lengths;
use crate::cipher::domain;
use crate::matrices::rows::BlockRows;
use crate::{Block, work};
use wide::{Evaluate, Garble};

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
pub struct HalfGates {
    pub(crate) key: Block,
    pub(crate) cpu: Option<Cpu>,
}

impl HalfGates {
    /// The hash for one S: 128 public random bits, fresh for every session.
    pub fn new(s: Block) -> Self {
        Self::with_backend(s, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(s: Block, backend: Backend) -> Self {
        HalfGates { key: domain(s, b"garbling"), cpu: backend.cpu() }
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

impl HalfGates {
    /// Garbles gates, none of which reads what an earlier one writes, in order: the zero labels of the results, and in a
    /// row for each gate the ciphertexts. The result is that of one gate after the other.
    ///
    /// # Panics
    /// If there is no such row, a row of tables is too short, there are not as many rows of tables as gates, or Δ has bit
    /// 0 clear.
    pub fn garble_gates(
        &self,
        numbers: Numbers,
        delta: Block,
        rows: BlockRows,
        gates: &[Gate],
        tables: &mut [&mut [Ciphertexts]],
    ) {
        assert!(delta.lsb(), "bit 0 of Δ must be set: it carries the permute bit");
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(4 * gates.len() * rows.len);
        let (key, wires) = (self.key, Several { numbers, rows, gates });
        match self.cpu {
            Some(cpu) => cpu.run(Garble { key, delta, wires, tables }),
            None => portable::garble_gates(key, delta, wires, tables),
        }
    }

    /// Evaluates gates, none of which reads what an earlier one writes, in order, on active labels.
    ///
    /// # Panics
    /// If there is no such row, a row of tables is too short, or there are not as many rows of tables as gates.
    pub fn evaluate_gates(&self, numbers: Numbers, rows: BlockRows, gates: &[Gate], tables: &[&[Ciphertexts]]) {
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(2 * gates.len() * rows.len);
        let (key, wires) = (self.key, Several { numbers, rows, gates });
        match self.cpu {
            Some(cpu) => cpu.run(Evaluate { key, wires, tables }),
            None => portable::evaluate_gates(key, wires, tables),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;
    use crate::cipher::generator::Generator;

    const ROWS: usize = 7;
    const GATES: [Gate; 4] = [
        Gate::new(4, [(0, false), (1, false)]),
        Gate::new(5, [(1, true), (1, false)]),
        Gate::new(0, [(2, false), (3, true)]),
        Gate::new(6, [(3, true), (2, true)]),
    ];

    struct Case {
        backend: Backend,
        len: usize,
        numbers: Numbers,
    }

    fn cases() -> impl Iterator<Item = Case> {
        let numbers = [(0, 48), (160, 64), (5, 48), (32, 37), (u64::MAX - 200, 16)];
        let lens = |backend| [0, 1, 3, 16, 37, 48, 64].map(|len| (backend, len));
        let case = |backend, len| numbers.map(|(first, step)| Case { backend, len, numbers: Numbers { first, step } });
        let all = Backend::available().into_iter().flat_map(lens);
        all.flat_map(|(backend, len)| case(backend, len)).collect::<Vec<_>>().into_iter()
    }

    fn random(seed: u128, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
        blocks
    }

    /// Gate by gate on a copy of the operands, by the plain loop.
    fn by_gate(
        case: &Case,
        blocks: &mut [Block],
        mut gate: impl FnMut(&HalfGates, u64, usize, [&[Block]; 2], &mut [Block]),
    ) {
        let (hash, len) = (HalfGates::with_backend(Block::new(9), Backend::Portable), case.len);
        for (i, wires) in GATES.iter().enumerate() {
            let row = |row: usize| row * len..(row + 1) * len;
            let [a, b] = wires.operands().map(|operand| blocks[row(operand)].to_vec());
            let first = case.numbers.first.wrapping_add(i as u64 * case.numbers.step);
            gate(&hash, first, i, [&a, &b], &mut blocks[row(wires.out())]);
        }
    }

    #[test]
    fn several_gates_are_garbled_as_gate_by_gate() {
        let delta = Block::new(0x1234_5678_9abc_def0_1357_9bdf).with_lsb(true);
        for case in cases() {
            let len = case.len;
            let (mut blocks, mut expected) = (random(1, ROWS * len), random(1, ROWS * len));
            let (mut tables, mut expected_tables) = (vec![[[7; 16]; 2]; 4 * 64], vec![[[7; 16]; 2]; 4 * 64]);
            by_gate(&case, &mut expected, |hash, first, i, [a, b], out| {
                let flips = GATES[i].flips();
                let (a, b) = (Operand { labels: a, flip: flips[0] }, Operand { labels: b, flip: flips[1] });
                hash.garble(first, delta, a, b, out, &mut expected_tables[64 * i..][..len]);
            });
            let hash = HalfGates::with_backend(Block::new(9), case.backend);
            let mut rows: Vec<_> = tables.chunks_mut(64).map(|row| &mut row[..len]).collect();
            hash.garble_gates(case.numbers, delta, BlockRows { blocks: &mut blocks, len }, &GATES, &mut rows);
            assert!(blocks == expected && tables == expected_tables, "{} {len} {:?}", case.backend, case.numbers);
        }
    }

    #[test]
    fn several_gates_are_evaluated_as_gate_by_gate() {
        for case in cases() {
            let len = case.len;
            let (mut blocks, mut expected, tables) = (random(2, ROWS * len), random(2, ROWS * len), random(3, 8 * 64));
            let tables: &[Ciphertexts] = bytemuck::cast_slice(&tables);
            let rows: Vec<_> = tables.chunks(64).map(|row| &row[..len]).collect();
            by_gate(&case, &mut expected, |hash, first, i, [a, b], out| hash.evaluate(first, a, b, out, rows[i]));
            let hash = HalfGates::with_backend(Block::new(9), case.backend);
            hash.evaluate_gates(case.numbers, BlockRows { blocks: &mut blocks, len }, &GATES, &rows);
            assert!(blocks == expected, "{} {len} {:?}", case.backend, case.numbers);
        }
    }

    #[test]
    fn what_is_missing_is_refused() {
        let delta = Block::new(1);
        for (rows, lanes, tables) in [(6, 4, 4), (7, 3, 4), (7, 4, 3)] {
            let refused = std::panic::AssertUnwindSafe(|| {
                let (mut blocks, mut all) = (random(4, rows * 4), [[[0; 16]; 2]; 16]);
                let mut tables: Vec<_> = all.chunks_mut(lanes).take(tables).collect();
                let (numbers, rows) = (Numbers { first: 0, step: 4 }, BlockRows { blocks: &mut blocks, len: 4 });
                HalfGates::new(delta).garble_gates(numbers, delta, rows, &GATES, &mut tables);
            });
            assert!(std::panic::catch_unwind(refused).is_err(), "{rows} {lanes} {tables}");
        }
    }
}

//! The correlation-robust hashes of the protocols, all of the form H(x) = E(σ(x)) ⊕ σ(x).

use crate::aes::Aes128;
use crate::backend::{Backend, Cpu};
use crate::wide::{Chosen, Evaluate, Garble, Pairs};
use crate::{Block, portable, work};

/// S with a domain in its high half: hashes of different kinds never share a key under one S.
fn domain(s: Block, name: &[u8; 8]) -> Block {
    s ^ Block::new(u128::from(u64::from_le_bytes(*name)) << 64)
}

/// The zero labels of one operand of a run of ANDs.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// One label an AND.
    pub labels: &'a [Block],
    /// The operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flip: bool,
}

/// The hash of half-gates garbling.
pub struct GateHash {
    key: Block,
    cpu: Option<Cpu>,
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
        GateHash {
            key: domain(s, b"garbling"),
            cpu: backend.cpu(),
        }
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
        tables: &mut [[Block; 2]],
    ) {
        assert!(
            delta.lsb(),
            "bit 0 of Δ must be set: it carries the permute bit"
        );
        assert_lengths(out.len(), [a.labels.len(), b.labels.len(), tables.len()]);
        work::count(4 * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Garble {
                key,
                first,
                delta,
                a,
                b,
                out,
                tables,
            }),
            None => portable::garble(key, first, delta, a, b, out, tables),
        }
    }

    /// Evaluates the ANDs `first`, `first + 1`, ... on active labels.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn evaluate(
        &self,
        first: u64,
        a: &[Block],
        b: &[Block],
        out: &mut [Block],
        tables: &[[Block; 2]],
    ) {
        assert_lengths(out.len(), [a.len(), b.len(), tables.len()]);
        work::count(2 * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Evaluate {
                key,
                first,
                a,
                b,
                out,
                tables,
            }),
            None => portable::evaluate(key, first, a, b, out, tables),
        }
    }
}

fn assert_lengths<const N: usize>(len: usize, others: [usize; N]) {
    assert!(
        others == [len; N],
        "operands of different lengths: {len} and {others:?}"
    );
}

/// The hash that breaks the correlation of correlated OT.
pub struct OtHash {
    key: Block,
    cpu: Option<Cpu>,
}

impl OtHash {
    /// The hash for one S: 128 public random bits, drawn after the correlations are fixed.
    pub fn new(s: Block) -> Self {
        Self::with_backend(s, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(s: Block, backend: Backend) -> Self {
        OtHash {
            key: domain(s, b"ot-hash."),
            cpu: backend.cpu(),
        }
    }

    /// The sender: m0 = H_j(q_j) and m1 = H_j(q_j ⊕ Δ) for j = `first`, `first + 1`, ...
    ///
    /// # Panics
    /// If the lengths differ or Δ is zero.
    pub fn pairs(&self, first: u64, delta: Block, q: &[Block], m0: &mut [Block], m1: &mut [Block]) {
        assert!(
            delta != Block::ZERO,
            "Δ is zero: both messages would be equal"
        );
        assert_lengths(q.len(), [m0.len(), m1.len()]);
        work::count(2 * q.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => cpu.run(Pairs {
                key,
                first,
                delta,
                q,
                m0,
                m1,
            }),
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
}

/// The hash of GGM trees: a fixed-key permutation.
pub struct TreeHash(Aes128);

impl TreeHash {
    /// The first 128 bits of the fraction of π: a key that nobody chose.
    const KEY: Block = Block::from_bytes([
        0x24, 0x3f, 0x6a, 0x88, 0x85, 0xa3, 0x08, 0xd3, 0x13, 0x19, 0x8a, 0x2e, 0x03, 0x70, 0x73,
        0x44,
    ]);

    /// The hash; it has no parameter.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(backend: Backend) -> Self {
        TreeHash(Aes128::with_backend(Self::KEY, backend))
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

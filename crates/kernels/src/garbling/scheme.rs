//! What all ways of garbling an AND share: the calls with their checks, on consecutive ANDs or on gates of a matrix.

use super::gates::{Gate, Numbers, Operand};
use super::portable::pieces;
use super::wires::{Run, Several, Wires};
use crate::backend::{Backend, Cpu};
use crate::block::assert_lengths;
use crate::cipher::domain;
use crate::matrices::rows::BlockRows;
use crate::{Block, work};
use bytemuck::Pod;
use std::marker::PhantomData;

/// A way of garbling an AND, as a type without values; its loops are its own.
pub trait Loops: Sized + Send + Sync + 'static {
    /// What travels for an AND.
    type Table: Pod + Send + Sync;
    /// Hash calls of the garbler and of the evaluator for an AND.
    const CALLS: [usize; 2];
    /// What its keys are kept apart by.
    const DOMAIN: &'static [u8; 8];

    /// Both roles in registers.
    fn garble_wide<W: Wires>(cpu: Cpu, job: Garble<'_, '_, Self, W>);
    fn evaluate_wide<W: Wires>(cpu: Cpu, job: Evaluate<'_, '_, Self, W>);

    /// Both roles in plain code; `key` is S with the domain.
    fn garble(
        key: Block,
        first: u64,
        delta: Block,
        operands: [Operand<'_>; 2],
        out: &mut [Block],
        tables: &mut [Self::Table],
    );
    fn evaluate(key: Block, first: u64, operands: [&[Block]; 2], out: &mut [Block], tables: &[Self::Table]);
}

/// A way of garbling an AND; sealed.
pub trait GarblingScheme: Loops {}

impl<S: Loops> GarblingScheme for S {}

/// ANDs to be garbled; `key` is S with the domain. Each gate has a row of tables.
pub struct Garble<'a, 'b, S: Loops, W> {
    pub key: Block,
    pub delta: Block,
    pub wires: W,
    pub tables: &'a mut [&'b mut [S::Table]],
}

/// ANDs to be evaluated. Each gate has a row of tables.
pub struct Evaluate<'a, 'b, S: Loops, W> {
    pub key: Block,
    pub wires: W,
    pub tables: &'a [&'b [S::Table]],
}

/// The hash of a way of garbling, and both roles' loops over it.
pub struct GarblingHash<S> {
    key: Block,
    cpu: Option<Cpu>,
    scheme: PhantomData<S>,
}

impl<S: GarblingScheme> GarblingHash<S> {
    /// Bytes of an AND's table.
    pub const TABLE: usize = size_of::<S::Table>();

    /// The hash for one S: 128 public random bits, fresh for every session.
    pub fn new(s: Block) -> Self {
        Self::with_backend(s, Backend::detect())
    }

    /// The hash on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(s: Block, backend: Backend) -> Self {
        GarblingHash { key: domain(s, S::DOMAIN), cpu: backend.cpu(), scheme: PhantomData }
    }

    /// Garbles the ANDs `first`, `first + 1`, ...: from the operands' zero labels the zero labels of the outputs, and for
    /// each AND its table.
    ///
    /// # Panics
    /// If the lengths differ or Δ has bit 0 clear.
    pub fn garble(&self, first: u64, delta: Block, a: Operand, b: Operand, out: &mut [Block], tables: &mut [S::Table]) {
        assert!(delta.lsb(), "bit 0 of Δ must be set: it carries the permute bit");
        assert_lengths(out.len(), [a.labels.len(), b.labels.len(), tables.len()]);
        work::count(S::CALLS[0] * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => {
                let wires = Run { first, a, b, out };
                S::garble_wide(cpu, Garble { key, delta, wires, tables: &mut [tables] });
            }
            None => S::garble(key, first, delta, [a, b], out, tables),
        }
    }

    /// Evaluates the ANDs `first`, `first + 1`, ... on active labels.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn evaluate(&self, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[S::Table]) {
        assert_lengths(out.len(), [a.len(), b.len(), tables.len()]);
        work::count(S::CALLS[1] * out.len());
        let key = self.key;
        match self.cpu {
            Some(cpu) => {
                let [a, b] = [a, b].map(|labels| Operand { labels, flip: false });
                S::evaluate_wide(cpu, Evaluate { key, wires: Run { first, a, b, out }, tables: &[tables] });
            }
            None => S::evaluate(key, first, [a, b], out, tables),
        }
    }

    /// Garbles gates, none of which reads what an earlier one writes, in order: the zero labels of the results, and in a
    /// row for each gate the tables. The result is that of one gate after the other.
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
        tables: &mut [&mut [S::Table]],
    ) {
        assert!(delta.lsb(), "bit 0 of Δ must be set: it carries the permute bit");
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(S::CALLS[0] * gates.len() * rows.len);
        let (key, wires) = (self.key, Several { numbers, rows, gates });
        match self.cpu {
            Some(cpu) => S::garble_wide(cpu, Garble { key, delta, wires, tables }),
            None => pieces(wires, |gate, labels, out, (row, lanes), first| {
                let operand = |i: usize| Operand { labels: labels[i], flip: gate.flips()[i] };
                S::garble(key, first, delta, [operand(0), operand(1)], out, &mut tables[row][lanes]);
            }),
        }
    }

    /// Evaluates gates, none of which reads what an earlier one writes, in order, on active labels.
    ///
    /// # Panics
    /// If there is no such row, a row of tables is too short, or there are not as many rows of tables as gates.
    pub fn evaluate_gates(&self, numbers: Numbers, rows: BlockRows, gates: &[Gate], tables: &[&[S::Table]]) {
        assert_eq!(gates.len(), tables.len(), "a row of tables for each gate");
        work::count(S::CALLS[1] * gates.len() * rows.len);
        let (key, wires) = (self.key, Several { numbers, rows, gates });
        match self.cpu {
            Some(cpu) => S::evaluate_wide(cpu, Evaluate { key, wires, tables }),
            None => pieces(wires, |_, labels, out, (row, lanes), first| {
                S::evaluate(key, first, labels, out, &tables[row][lanes]);
            }),
        }
    }
}

#[cfg(test)]
mod tests;

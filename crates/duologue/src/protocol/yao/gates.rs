//! Gates of Yao: ANDs by either garbling, and what costs nothing. The garbler's step stands above the evaluator's.

use super::batch::{LaneBatch, LanePart};
use super::hash::Hash;
use super::labels::{Labels, add_bits, bit};
use super::{Evaluator, Garbler};
use crate::executor::cells::{self, Cells};
use crate::executor::{Arg, Job};
use crate::outbox::Outbox;
use circuit::BitMatrix;
use circuit::plan::{Op, Operand};
use kernels::gates::Gate;
use kernels::{Block, GarblingHash, GarblingScheme};
use std::ops::Range;

impl Garbler {
    /// Garbles the next chunk; the ciphertexts of its ANDs go to the end of the outbox.
    pub(super) fn garble(&self, batch: &mut LaneBatch, public: &BitMatrix, outbox: &mut Outbox) {
        let (end, ands) = batch.chunk();
        let tables = outbox.room(ands * self.hash.table());
        match &self.hash {
            Hash::HalfGates(hash) => self.garble_by(hash, batch, end, public, tables),
            Hash::ThreeHalves(hash) => self.garble_by(hash, batch, end, public, tables),
        }
    }

    fn garble_by<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        batch: &mut LaneBatch,
        end: usize,
        public: &BitMatrix,
        tables: &mut [u8],
    ) {
        let tables: &mut [S::Table] = bytemuck::cast_slice_mut(tables);
        match batch.few() {
            Some(part) => self.garble_few(hash, part, end, public, tables),
            None => batch.on_rows(tables, |part, rows| self.garble_part(hash, part, end, public, rows)),
        }
    }

    /// Garbles some lanes up to the instruction `end`; each AND takes a row of ciphertexts.
    fn garble_part<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        rows: &mut [&mut [S::Table]],
    ) {
        let garble = |part: &mut LanePart, gates: &[Gate], numbers, tables: Range<usize>| {
            hash.garble_gates(numbers, self.delta, part.rows(), gates, &mut rows[tables]);
        };
        part.go((self.base.and0, end), garble, |op, gate, part| self.local(op, gate, part, public));
    }

    /// Gates that need no hash.
    pub(super) fn local(&self, op: Op, [dst, a, b]: [u32; 3], part: &mut LanePart, public: &BitMatrix) {
        let [a, b] = [a, b].map(Operand::of);
        let (bits, flip) = (public.row(b.slot()), self.delta & Block::mask(a.flip()));
        for (out, label, lane) in part.on_lanes(dst, a) {
            *out = match op {
                Op::XorPublic => label ^ (self.delta & Block::mask(bit(bits, lane))),
                _ => (label ^ flip) & Block::mask(bit(bits, lane) ^ b.flip()),
            };
        }
    }

    /// A public bit has the active label 0, so that its zero label is the bit times Δ.
    pub(super) fn lift_zeros(&self, public: &BitMatrix) -> Labels {
        let mut zeros = Labels::zeros(public.rows(), public.lanes());
        (0..public.rows()).for_each(|row| add_bits(zeros.row_mut(row), public.row(row), self.delta));
        zeros
    }

    /// A map to be garbled. Public arguments are lifted once, for all parts and pieces.
    pub(super) fn batch(&self, job: &Job, args: &[Arg<'_, Labels>]) -> LaneBatch {
        let lift = |arg: &Arg<'_, Labels>| match arg {
            Arg::Public(public) => self.lift_zeros(public),
            Arg::Secret(_) => Labels::absent(),
        };
        let lifted: Vec<_> = args.iter().map(lift).collect();
        LaneBatch::new(job, &self.buffers, |slots, plan, piece| {
            let zeros = match args[piece.arg as usize] {
                Arg::Secret(zeros) => zeros,
                Arg::Public(_) => &lifted[piece.arg as usize],
            };
            cells::load(plan, slots, zeros, piece);
        })
    }

    pub(super) fn made(&self, batch: &mut LaneBatch, public: &BitMatrix) -> Labels {
        batch.outputs(public, |label, bit| *label ^= self.delta & Block::mask(bit))
    }
}

impl Evaluator {
    /// Evaluates up to the instruction `end` with the ciphertexts, whose number was checked before they were read.
    pub(super) fn evaluate(&self, batch: &mut LaneBatch, end: usize, public: &BitMatrix, tables: &[u8]) {
        match &self.hash {
            Hash::HalfGates(hash) => self.evaluate_by(hash, batch, end, public, tables),
            Hash::ThreeHalves(hash) => self.evaluate_by(hash, batch, end, public, tables),
        }
    }

    fn evaluate_by<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        batch: &mut LaneBatch,
        end: usize,
        public: &BitMatrix,
        tables: &[u8],
    ) {
        let tables: &[S::Table] = bytemuck::cast_slice(tables);
        match batch.few() {
            Some(part) => self.evaluate_few(hash, part, end, public, tables),
            None => batch.on_tables(tables, |part, rows| self.evaluate_part(hash, part, end, public, rows)),
        }
    }

    /// Evaluates some lanes up to the instruction `end`; each AND has a row of ciphertexts.
    fn evaluate_part<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        rows: &[&[S::Table]],
    ) {
        let evaluate = |part: &mut LanePart, gates: &[Gate], numbers, tables: Range<usize>| {
            hash.evaluate_gates(numbers, part.rows(), gates, &rows[tables]);
        };
        part.go((self.base.and0, end), evaluate, |op, gate, part| self.local(op, gate, part, public));
    }

    /// Gates that need no hash: a public bit leaves a label, or makes it the label 0 of the public bit 0.
    pub(super) fn local(&self, op: Op, [dst, a, b]: [u32; 3], part: &mut LanePart, public: &BitMatrix) {
        let [a, b] = [a, b].map(Operand::of);
        let bits = public.row(b.slot());
        for (out, label, lane) in part.on_lanes(dst, a) {
            *out = label & Block::mask(op == Op::XorPublic || bit(bits, lane) ^ b.flip());
        }
    }

    /// A map to be evaluated. The active label of a public bit is 0, which the slots are.
    pub(super) fn batch(&self, job: &Job, args: &[Arg<'_, Labels>]) -> LaneBatch {
        LaneBatch::new(job, &self.buffers, |slots, plan, piece| {
            if let Arg::Secret(active) = args[piece.arg as usize] {
                cells::load(plan, slots, active, piece);
            }
        })
    }

    pub(super) fn made(&self, batch: &mut LaneBatch, public: &BitMatrix) -> Labels {
        batch.outputs(public, |_, _| {})
    }
}

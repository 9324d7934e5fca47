//! Gates of Yao: half-gates for ANDs, and what costs nothing. The garbler's step stands above the evaluator's.

use super::labels::{add_bits, bit};
use super::walk::Walk;
use super::{Evaluator, Garbler, TABLE};
use crate::cells::{self, Cells, Labels};
use crate::protocol::Arg;
use circuit::BitMatrix;
use circuit::plan::{Instr, Op, Plan};
use circuit::program::Piece;
use kernels::Block;
use kernels::hash::{Ciphertexts, Operand};

impl Garbler {
    /// Garbles a chunk; its ciphertexts go to the end of the outbox.
    pub(super) fn garble(&self, walk: &mut Walk, public: &BitMatrix, outbox: &mut Vec<u8>) {
        let plan = walk.plan.clone();
        let (end, ands) = walk.chunk();
        let before = outbox.len();
        outbox.resize(before + ands * TABLE, 0);
        let mut rest: &mut [Ciphertexts] = bytemuck::cast_slice_mut(&mut outbox[before..]);
        if walk.is_few() {
            return self.garble_few(walk, end, public, rest);
        }
        while walk.next < end {
            let batch = walk.batch(end);
            let code = &plan.code()[walk.next..][..batch.count];
            let tables = rest.split_off_mut(..batch.ands).expect("chunk() counts the ANDs");
            match code[0].op {
                Op::And => self.garble_lanes(walk, &code[0], tables),
                Op::Xor => walk.xor(code),
                _ => self.local(&code[0], &mut walk.slots, public),
            }
            walk.advance(&batch);
        }
    }

    fn garble_lanes(&self, walk: &mut Walk, instr: &Instr, tables: &mut [Ciphertexts]) {
        let first = self.base.and0 + walk.number;
        let (a, b, out) = walk.slots.operands(instr.a as usize, instr.b as usize, instr.dst as usize);
        let (a, b) = (Operand { labels: a, flip: instr.flip_a }, Operand { labels: b, flip: instr.flip_b });
        self.hash.garble(first, self.delta, a, b, out, tables);
    }

    /// Gates that need no hash.
    pub(super) fn local(&self, instr: &Instr, slots: &mut Labels, public: &BitMatrix) {
        let (a, _, out) = slots.operands(instr.a as usize, instr.a as usize, instr.dst as usize);
        let (bits, flip) = (public.row(instr.b as usize), self.delta & Block::mask(instr.flip_a));
        for (lane, (out, &a)) in out.iter_mut().zip(a).enumerate() {
            *out = match instr.op {
                Op::XorPublic => a ^ (self.delta & Block::mask(bit(bits, lane))),
                _ => (a ^ flip) & Block::mask(bit(bits, lane) ^ instr.flip_b),
            };
        }
    }

    /// A public bit has the active label 0, so that its zero label is the bit times Δ.
    pub(super) fn lift_zeros(&self, public: &BitMatrix) -> Labels {
        let mut zeros = Labels::zeros(public.rows(), public.lanes());
        (0..public.rows()).for_each(|row| add_bits(zeros.row_mut(row), public.row(row), self.delta));
        zeros
    }

    pub(super) fn load(&self, slots: &mut Labels, plan: &Plan, args: &[Arg<'_, Labels>], piece: &Piece) {
        match &args[piece.arg as usize] {
            Arg::Secret(arg) => cells::load(plan, slots, *arg, piece),
            Arg::Public(public) => cells::load(plan, slots, &self.lift_zeros(public), piece),
        }
    }

    pub(super) fn made(&self, walk: &Walk, public: &BitMatrix) -> Labels {
        walk.outputs(public, |label, bit| *label ^= self.delta & Block::mask(bit))
    }
}

impl Evaluator {
    /// Evaluates up to the instruction `end` with the ciphertexts, whose number was checked before they were read.
    pub(super) fn evaluate(&self, walk: &mut Walk, end: usize, public: &BitMatrix, tables: &[u8]) {
        let plan = walk.plan.clone();
        let mut tables: &[Ciphertexts] = bytemuck::cast_slice(tables);
        if walk.is_few() {
            return self.evaluate_few(walk, end, public, tables);
        }
        while walk.next < end {
            let batch = walk.batch(end);
            let code = &plan.code()[walk.next..][..batch.count];
            let tables = tables.split_off(..batch.ands).expect("chunk() counts the ANDs");
            match code[0].op {
                Op::And => self.evaluate_lanes(walk, &code[0], tables),
                Op::Xor => walk.xor(code),
                _ => self.local(&code[0], &mut walk.slots, public),
            }
            walk.advance(&batch);
        }
    }

    fn evaluate_lanes(&self, walk: &mut Walk, instr: &Instr, tables: &[Ciphertexts]) {
        let first = self.base.and0 + walk.number;
        let (a, b, out) = walk.slots.operands(instr.a as usize, instr.b as usize, instr.dst as usize);
        self.hash.evaluate(first, a, b, out, tables);
    }

    /// Gates that need no hash: a public bit leaves a label, or makes it the label 0 of the public bit 0.
    pub(super) fn local(&self, instr: &Instr, slots: &mut Labels, public: &BitMatrix) {
        let (a, _, out) = slots.operands(instr.a as usize, instr.a as usize, instr.dst as usize);
        let bits = public.row(instr.b as usize);
        for (lane, (out, &a)) in out.iter_mut().zip(a).enumerate() {
            let keep = instr.op == Op::XorPublic || bit(bits, lane) ^ instr.flip_b;
            *out = a & Block::mask(keep);
        }
    }

    /// The active label of a public bit is 0, which the slots are.
    pub(super) fn load(&self, slots: &mut Labels, plan: &Plan, args: &[Arg<'_, Labels>], piece: &Piece) {
        if let Arg::Secret(arg) = args[piece.arg as usize] {
            cells::load(plan, slots, arg, piece);
        }
    }

    pub(super) fn made(&self, walk: &Walk, public: &BitMatrix) -> Labels {
        walk.outputs(public, |_, _| {})
    }
}

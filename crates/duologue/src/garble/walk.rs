//! A plan under way on labels, which garbler and evaluator walk through in the same steps.

use super::few;
use super::labels::bit;
use crate::cells::{Cells, Labels};
use crate::protocol::Job;
use circuit::BitMatrix;
use circuit::plan::{Instr, Op, Plan, Source};
use circuit::program::{Kind, Piece};
use kernels::{Block, rows::Rows};
use std::sync::Arc;

/// ANDs of a chunk of tables, a quarter of a megabyte: what travels at once when tables are streamed.
const CHUNK: usize = 1 << 13;

/// XORs that are executed together, at most.
const XORS: usize = 64;

/// A plan under way on labels: both parties walk in the same steps.
pub struct Walk {
    pub(super) plan: Arc<Plan>,
    pub(super) slots: Labels,
    pub(super) lanes: usize,
    /// The next instruction.
    pub(super) next: usize,
    /// The number of the next AND within the program.
    pub(super) number: u64,
    rows: Rows,
}

/// Where the chunk from `next` ends, and its ANDs over all lanes: the same for both parties at any number of threads.
pub(crate) fn chunk(plan: &Plan, next: usize, lanes: usize) -> (usize, usize) {
    let mut ands = 0;
    for (i, instr) in plan.code().iter().enumerate().skip(next) {
        if ands >= CHUNK {
            return (i, ands);
        }
        ands += if instr.op == Op::And { lanes } else { 0 };
    }
    (plan.code().len(), ands)
}

/// Instructions that are executed together.
pub(super) struct Batch {
    /// How many instructions.
    pub count: usize,
    /// ANDs among them, over all lanes.
    pub ands: usize,
}

impl Walk {
    pub(super) fn new(job: &Job, mut load: impl FnMut(&mut Labels, &Plan, &Piece)) -> Walk {
        let plan = job.plan.clone().expect("a map has a plan");
        let lanes = job.task.lanes;
        let mut slots = Labels::zeros(plan.slots(), lanes);
        if let Kind::Map { wiring, .. } = &job.task.kind {
            wiring.iter().for_each(|piece| load(&mut slots, &plan, piece));
        }
        Walk { plan, slots, lanes, next: 0, number: job.task.seat.and0, rows: Rows::new() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.plan.code().len() || self.lanes == 0
    }

    pub(super) fn chunk(&self) -> (usize, usize) {
        chunk(&self.plan, self.next, self.lanes)
    }

    /// Whether ANDs of several gates are hashed together.
    pub(super) fn is_few(&self) -> bool {
        self.lanes < few::LANES
    }

    /// The next instruction, or a run of XORs.
    pub(super) fn batch(&self, end: usize) -> Batch {
        let code = &self.plan.code()[self.next..end];
        match code[0].op {
            Op::Xor => Batch { count: self.xor_run(code), ands: 0 },
            Op::And => Batch { count: 1, ands: self.lanes },
            _ => Batch { count: 1, ands: 0 },
        }
    }

    /// How many XORs `code` begins with, of those that are executed together.
    pub(super) fn xor_run(&self, code: &[Instr]) -> usize {
        code.iter().take(XORS).take_while(|instr| instr.op == Op::Xor).count()
    }

    /// The free XOR, at both parties.
    pub(super) fn xor(&mut self, code: &[Instr]) {
        let mut rows = [[0; 3]; XORS];
        for (row, instr) in rows.iter_mut().zip(code) {
            *row = [instr.dst, instr.a, instr.b];
        }
        self.rows.xor(self.slots.blocks_mut(), self.lanes, &rows[..code.len()]);
    }

    pub(super) fn advance(&mut self, batch: &Batch) {
        self.next += batch.count;
        self.number += batch.ands as u64;
    }

    /// The cell that the plan makes; `complement` XORs a public bit onto a label.
    pub(super) fn outputs(&self, public: &BitMatrix, complement: impl Fn(&mut Block, bool)) -> Labels {
        let mut made = Labels::zeros(self.plan.outputs().len(), self.lanes);
        for (row, source) in self.plan.outputs().iter().enumerate() {
            let labels = made.row_mut(row);
            match *source {
                Source::Slot { slot, flip } => {
                    labels.copy_from_slice(self.slots.row(slot as usize));
                    labels.iter_mut().for_each(|label| complement(label, flip));
                }
                Source::Public { row, flip } => {
                    let bits = public.row(row as usize);
                    labels.iter_mut().enumerate().for_each(|(lane, label)| complement(label, bit(bits, lane) ^ flip));
                }
                Source::Constant(bit) => labels.iter_mut().for_each(|label| complement(label, bit)),
            }
        }
        made
    }
}

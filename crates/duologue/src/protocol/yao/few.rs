//! Few lanes: ANDs of neighbouring gates are hashed together, and nothing is looked up twice.
//!
//! With one lane a gate costs less than finding out what it is: the plan knows its [runs](circuit::plan::Plan::runs).
//! The garbler's step stands above the evaluator's.

use super::hash::Gates;
use super::labels::Labels;
use super::walk::Part;
use super::{Evaluator, Garbler};
use crate::executor::cells::Cells;
use circuit::BitMatrix;
use circuit::plan::{Instr, Op};
use kernels::Block;
use kernels::gates::Operand;

/// From so many lanes on, labels are hashed where they lie.
pub(super) const LANES: usize = 16;

/// ANDs over all lanes that are hashed together at most.
const TOGETHER: usize = 256;

/// Operands and results of several ANDs side by side, in the order of their numbers; erased when dropped.
pub(super) struct Stage {
    a: Labels,
    b: Labels,
    out: Labels,
}

impl Stage {
    fn new(lanes: usize) -> Stage {
        let most = TOGETHER / lanes.max(1);
        Stage { a: Labels::zeros(most, lanes), b: Labels::zeros(most, lanes), out: Labels::zeros(most, lanes) }
    }

    /// What is hashed, and room for what comes of it.
    fn operands(&mut self, ands: usize) -> (&[Block], &[Block], &mut [Block]) {
        (&self.a.blocks()[..ands], &self.b.blocks()[..ands], &mut self.out.blocks_mut()[..ands])
    }
}

impl Garbler {
    /// Garbles up to the instruction `end`, with as many ciphertexts as there are ANDs.
    pub(super) fn garble_few<G: Gates>(
        &self,
        hash: &G,
        part: &mut Part,
        end: usize,
        public: &BitMatrix,
        mut rest: &mut [G::Table],
    ) {
        let local = |gate: &Instr, part: &mut Part| self.local(gate, part, public);
        part.few(end, local, |part, code, stage| {
            let tables = rest.split_off_mut(..code.len() * part.all).expect("a table an AND");
            let delta = |flip| self.delta & Block::mask(flip);
            part.gather(code, stage, |gate| [delta(gate.flip_a), delta(gate.flip_b)]);
            let (a, b, out) = stage.operands(tables.len());
            let (a, b) = (Operand { labels: a, flip: false }, Operand { labels: b, flip: false });
            hash.garble(self.base.and0 + part.number, self.delta, a, b, out, tables);
        });
    }
}

impl Evaluator {
    /// Evaluates up to the instruction `end`, with the ciphertexts of all ANDs until there.
    pub(super) fn evaluate_few<G: Gates>(
        &self,
        hash: &G,
        part: &mut Part,
        end: usize,
        public: &BitMatrix,
        mut rest: &[G::Table],
    ) {
        let local = |gate: &Instr, part: &mut Part| self.local(gate, part, public);
        part.few(end, local, |part, code, stage| {
            let tables = rest.split_off(..code.len() * part.all).expect("a table an AND");
            part.gather(code, stage, |_| [Block::ZERO; 2]);
            let (a, b, out) = stage.operands(tables.len());
            hash.evaluate(self.base.and0 + part.number, a, b, out, tables);
        });
    }
}

impl Part {
    /// Goes on to the instruction `end`: `ands` hashes a run of ANDs in the stage, `local` does a gate with a public bit.
    #[inline]
    fn few(
        &mut self,
        end: usize,
        local: impl Fn(&Instr, &mut Part),
        mut ands: impl FnMut(&Part, &[Instr], &mut Stage),
    ) {
        let plan = self.plan.clone();
        let mut stage = Stage::new(self.all);
        for run in plan.runs(self.next..end) {
            let code = &plan.code()[run];
            match code[0].op {
                Op::And => {
                    for code in code.chunks(TOGETHER / self.all) {
                        ands(self, code, &mut stage);
                        self.scatter(code, &stage);
                    }
                }
                Op::Xor => self.xors(code),
                Op::XorPublic | Op::AndPublic => local(&code[0], self),
            }
        }
        self.next = end;
    }

    /// The operands of ANDs, each with what is added to it.
    #[inline]
    fn gather(&self, code: &[Instr], stage: &mut Stage, flips: impl Fn(&Instr) -> [Block; 2]) {
        if self.all == 1 {
            // The same, but labels are moved in registers.
            let slots = self.slots.blocks();
            for ((gate, a), b) in code.iter().zip(stage.a.blocks_mut()).zip(stage.b.blocks_mut()) {
                let [flip_a, flip_b] = flips(gate);
                *a = slots[gate.a as usize] ^ flip_a;
                *b = slots[gate.b as usize] ^ flip_b;
            }
            return;
        }
        for (i, gate) in code.iter().enumerate() {
            let [flip_a, flip_b] = flips(gate);
            for (labels, slot, flip) in [(&mut stage.a, gate.a, flip_a), (&mut stage.b, gate.b, flip_b)] {
                let operands = labels.row_mut(i).iter_mut().zip(self.slots.row(slot as usize));
                operands.for_each(|(to, &from)| *to = from ^ flip);
            }
        }
    }

    /// The results of ANDs, which are done.
    fn scatter(&mut self, code: &[Instr], stage: &Stage) {
        if self.all == 1 {
            let slots = self.slots.blocks_mut();
            code.iter().zip(stage.out.blocks()).for_each(|(gate, &out)| slots[gate.dst as usize] = out);
        } else {
            for (i, gate) in code.iter().enumerate() {
                self.slots.row_mut(gate.dst as usize).copy_from_slice(stage.out.row(i));
            }
        }
        self.number += (code.len() * self.all) as u64;
    }

    /// A run of XORs.
    fn xors(&mut self, code: &[Instr]) {
        if self.all == 1 {
            let slots = self.slots.blocks_mut();
            code.iter().for_each(|gate| slots[gate.dst as usize] = slots[gate.a as usize] ^ slots[gate.b as usize]);
            return;
        }
        for code in code.chunks(64) {
            let mut rows = [[0; 3]; 64];
            rows.iter_mut().zip(code).for_each(|(row, gate)| *row = [gate.dst, gate.a, gate.b]);
            self.xor(&rows[..code.len()]);
        }
    }
}

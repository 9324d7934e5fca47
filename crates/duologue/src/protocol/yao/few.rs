//! Few lanes: ANDs of neighbouring gates are hashed together, and nothing is looked up twice.
//!
//! With one lane a gate costs less than finding out what it is: the plan knows its [runs](circuit::plan::Plan::runs).
//! The garbler's step stands above the evaluator's.

use super::batch::LanePart;
use super::hash::Gates;
use super::labels::Labels;
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
pub(super) struct Staging {
    a: Labels,
    b: Labels,
    out: Labels,
}

impl Staging {
    fn new(lanes: usize) -> Staging {
        let most = TOGETHER / lanes.max(1);
        Staging { a: Labels::zeros(most, lanes), b: Labels::zeros(most, lanes), out: Labels::zeros(most, lanes) }
    }

    /// The operands to be hashed, and room for the results.
    fn operands(&mut self, ands: usize) -> (&[Block], &[Block], &mut [Block]) {
        (&self.a.blocks()[..ands], &self.b.blocks()[..ands], &mut self.out.blocks_mut()[..ands])
    }
}

impl Garbler {
    /// Garbles up to the instruction `end`, with as many ciphertexts as there are ANDs.
    pub(super) fn garble_few<G: Gates>(
        &self,
        hash: &G,
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        mut rest: &mut [G::Table],
    ) {
        let local = |gate: &Instr, part: &mut LanePart| self.local(gate, part, public);
        part.few(end, local, |part, code, staging| {
            let tables = rest.split_off_mut(..code.len() * part.all).expect("a table an AND");
            let delta = |flip| self.delta & Block::mask(flip);
            part.gather(code, staging, |gate| [delta(gate.flip_a), delta(gate.flip_b)]);
            let (a, b, out) = staging.operands(tables.len());
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
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        mut rest: &[G::Table],
    ) {
        let local = |gate: &Instr, part: &mut LanePart| self.local(gate, part, public);
        part.few(end, local, |part, code, staging| {
            let tables = rest.split_off(..code.len() * part.all).expect("a table an AND");
            part.gather(code, staging, |_| [Block::ZERO; 2]);
            let (a, b, out) = staging.operands(tables.len());
            hash.evaluate(self.base.and0 + part.number, a, b, out, tables);
        });
    }
}

impl LanePart {
    /// Goes on to the instruction `end`: `ands` hashes a run of ANDs in the staging, `local` does a gate with a public bit.
    #[inline]
    fn few(
        &mut self,
        end: usize,
        local: impl Fn(&Instr, &mut LanePart),
        mut ands: impl FnMut(&LanePart, &[Instr], &mut Staging),
    ) {
        let plan = self.plan.clone();
        let mut staging = Staging::new(self.all);
        for run in plan.runs(self.next..end) {
            let code = &plan.code()[run];
            match code[0].op {
                Op::And => {
                    for code in code.chunks(TOGETHER / self.all) {
                        ands(self, code, &mut staging);
                        self.scatter(code, &staging);
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
    fn gather(&self, code: &[Instr], staging: &mut Staging, flips: impl Fn(&Instr) -> [Block; 2]) {
        if self.all == 1 {
            // Labels are moved in registers.
            let slots = self.slots.blocks();
            for ((gate, a), b) in code.iter().zip(staging.a.blocks_mut()).zip(staging.b.blocks_mut()) {
                let [flip_a, flip_b] = flips(gate);
                *a = slots[gate.a as usize] ^ flip_a;
                *b = slots[gate.b as usize] ^ flip_b;
            }
            return;
        }
        for (i, gate) in code.iter().enumerate() {
            let [flip_a, flip_b] = flips(gate);
            for (labels, slot, flip) in [(&mut staging.a, gate.a, flip_a), (&mut staging.b, gate.b, flip_b)] {
                let operands = labels.row_mut(i).iter_mut().zip(self.slots.row(slot as usize));
                operands.for_each(|(to, &from)| *to = from ^ flip);
            }
        }
    }

    /// The results of ANDs, which are done.
    fn scatter(&mut self, code: &[Instr], staging: &Staging) {
        if self.all == 1 {
            let slots = self.slots.blocks_mut();
            code.iter().zip(staging.out.blocks()).for_each(|(gate, &out)| slots[gate.dst as usize] = out);
        } else {
            for (i, gate) in code.iter().enumerate() {
                self.slots.row_mut(gate.dst as usize).copy_from_slice(staging.out.row(i));
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

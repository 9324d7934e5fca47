//! Few lanes: ANDs of neighbouring gates are hashed together, and nothing is looked up twice.
//!
//! With one lane a gate costs less than finding out what it is: the plan has its gates in [runs](circuit::plan::Code::runs).
//! The garbler's step stands above the evaluator's.

use super::batch::LanePart;
use super::labels::Labels;
use super::{Evaluator, Garbler};
use crate::executor::cells::Cells;
use circuit::BitMatrix;
use circuit::plan::{Op, Operand};
use kernels::gates;
use kernels::{Block, GarblingHash, GarblingScheme};

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
    pub(super) fn garble_few<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        mut rest: &mut [S::Table],
    ) {
        let local = |op, gate, part: &mut LanePart| self.local(op, gate, part, public);
        part.few(end, local, |part, gates, staging| {
            let tables = rest.split_off_mut(..gates.len() * part.all).expect("a table an AND");
            let delta = |flip| self.delta & Block::mask(flip);
            part.gather(gates, staging, |operand| delta(operand.flip()));
            let (a, b, out) = staging.operands(tables.len());
            let [a, b] = [a, b].map(|labels| gates::Operand { labels, flip: false });
            hash.garble(self.base.and0 + part.number, self.delta, a, b, out, tables);
        });
    }
}

impl Evaluator {
    /// Evaluates up to the instruction `end`, with the ciphertexts of all ANDs until there.
    pub(super) fn evaluate_few<S: GarblingScheme>(
        &self,
        hash: &GarblingHash<S>,
        part: &mut LanePart,
        end: usize,
        public: &BitMatrix,
        mut rest: &[S::Table],
    ) {
        let local = |op, gate, part: &mut LanePart| self.local(op, gate, part, public);
        part.few(end, local, |part, gates, staging| {
            let tables = rest.split_off(..gates.len() * part.all).expect("a table an AND");
            part.gather(gates, staging, |_| Block::ZERO);
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
        local: impl Fn(Op, [u32; 3], &mut LanePart),
        mut ands: impl FnMut(&LanePart, &[[u32; 3]], &mut Staging),
    ) {
        let plan = self.plan.clone();
        let mut staging = Staging::new(self.all);
        for run in plan.code().runs(self.next..end) {
            match run.op {
                Op::And => {
                    for gates in run.gates.chunks(TOGETHER / self.all) {
                        ands(self, gates, &mut staging);
                        self.scatter(gates, &staging);
                    }
                }
                Op::Xor => self.xor_few(run.gates),
                Op::XorPublic | Op::AndPublic => run.gates.iter().for_each(|&gate| local(run.op, gate, self)),
            }
        }
        self.next = end;
    }

    /// The operands of ANDs, each with what is added to it.
    #[inline]
    fn gather(&self, gates: &[[u32; 3]], staging: &mut Staging, added: impl Fn(Operand) -> Block) {
        if self.all == 1 {
            // Labels are moved in registers.
            let slots = self.slots.blocks();
            let label = |operand| slots[Operand::of(operand).slot()] ^ added(Operand::of(operand));
            for ((&[_, x, y], a), b) in gates.iter().zip(staging.a.blocks_mut()).zip(staging.b.blocks_mut()) {
                (*a, *b) = (label(x), label(y));
            }
            return;
        }
        for (i, &[_, x, y]) in gates.iter().enumerate() {
            for (labels, operand) in [(&mut staging.a, Operand::of(x)), (&mut staging.b, Operand::of(y))] {
                let operands = labels.row_mut(i).iter_mut().zip(self.slots.row(operand.slot()));
                operands.for_each(|(to, &from)| *to = from ^ added(operand));
            }
        }
    }

    /// The results of ANDs, which are done.
    fn scatter(&mut self, gates: &[[u32; 3]], staging: &Staging) {
        if self.all == 1 {
            let slots = self.slots.blocks_mut();
            gates.iter().zip(staging.out.blocks()).for_each(|(gate, &out)| slots[gate[0] as usize] = out);
        } else {
            for (i, gate) in gates.iter().enumerate() {
                self.slots.row_mut(gate[0] as usize).copy_from_slice(staging.out.row(i));
            }
        }
        self.number += (gates.len() * self.all) as u64;
    }

    /// XORs: of one lane without the call of a kernel.
    fn xor_few(&mut self, gates: &[[u32; 3]]) {
        if self.all > 1 {
            return self.xor(gates);
        }
        let slots = self.slots.blocks_mut();
        gates.iter().for_each(|&[dst, a, b]| slots[dst as usize] = slots[a as usize] ^ slots[b as usize]);
    }
}

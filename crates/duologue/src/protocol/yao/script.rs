//! What a chunk does, found out once for all its lanes.

use circuit::plan::{Instr, Op, Plan};
use kernels::gates::Gate;
use std::ops::Range;

/// The instructions of a chunk, in calls.
#[derive(Default)]
pub(super) struct Script {
    pub steps: Vec<Step>,
    /// The XORs: to, from and from.
    pub sums: Vec<[u32; 3]>,
    /// The ANDs, in the order of their numbers.
    pub gates: Vec<Gate>,
}

/// The gates of one call.
pub(super) enum Step {
    /// These XORs, in order.
    Sums(Range<usize>),
    /// These ANDs, none of which reads what an earlier one writes.
    Gates(Range<usize>),
    /// A gate with a public bit.
    Local(Instr),
}

impl Script {
    /// Writes the instructions of a plan from one to another.
    pub fn write(&mut self, plan: &Plan, code: Range<usize>) {
        self.steps.clear();
        self.sums.clear();
        self.gates.clear();
        for run in plan.runs(code) {
            let step = self.step(&plan.code()[run]);
            self.steps.push(step);
        }
    }

    fn step(&mut self, run: &[Instr]) -> Step {
        let (sums, gates) = (self.sums.len(), self.gates.len());
        match run[0].op {
            Op::Xor => {
                self.sums.extend(run.iter().map(|instr| [instr.dst, instr.a, instr.b]));
                Step::Sums(sums..self.sums.len())
            }
            Op::And => {
                let gate = |i: &Instr| Gate { a: i.a, b: i.b, out: i.dst, flips: [i.flip_a, i.flip_b] };
                self.gates.extend(run.iter().map(gate));
                Step::Gates(gates..self.gates.len())
            }
            Op::XorPublic | Op::AndPublic => Step::Local(run[0]),
        }
    }
}

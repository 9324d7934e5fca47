//! What a chunk does, found out once for all its lanes.

use circuit::plan::{Instr, Op, Plan};
use kernels::gates::Gate;
use std::ops::Range;

/// The instructions of a chunk, in calls.
#[derive(Default)]
pub(super) struct Script {
    /// The instructions.
    pub code: Range<usize>,
    pub steps: Vec<Step>,
    /// The XORs: to, from and from.
    pub sums: Vec<[u32; 3]>,
    /// The ANDs, in the order of their numbers.
    pub gates: Vec<Gate>,
}

/// What is done in one call.
pub(super) enum Step {
    /// These XORs, in order.
    Sums(Range<usize>),
    /// These ANDs, none of which reads what an earlier one writes.
    Gates(Range<usize>),
    /// A gate with a public bit.
    Local(Instr),
}

impl Script {
    /// Those of a plan from one on, up to the AND with which there are so many.
    pub fn write(&mut self, plan: &Plan, next: usize, ands: usize) {
        self.steps.clear();
        self.sums.clear();
        self.gates.clear();
        self.code = next..plan.code().len();
        for run in plan.runs(self.code.clone()) {
            let most = if plan.code()[run.start].op == Op::And { ands - self.gates.len() } else { usize::MAX };
            let run = run.start..run.end.min(run.start.saturating_add(most));
            let step = self.step(&plan.code()[run.clone()]);
            self.steps.push(step);
            if self.gates.len() == ands {
                self.code.end = run.end;
                return;
            }
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

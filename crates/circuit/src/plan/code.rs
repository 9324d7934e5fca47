//! Straight-line code: the one lowered form of gates that all protocols read.
//!
//! A gate is three numbers, `[dst, a, b]`: the slot written, and two [operands](Operand), which are slots or, for the
//! second one of a gate with a public operand, a row of public bits. Gates of one kind stand together in *runs*, so that
//! whoever executes them looks at the kind once a run.

use super::{Instr, Op};
use std::ops::Range;

/// A slot or a row of public bits, perhaps complemented, as it stands in a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand(u32);

/// Marks a complement; circuits have too few nodes for a slot to reach it.
const FLIP: u32 = 1 << 31;

impl Operand {
    pub(crate) fn new(slot: u32, flip: bool) -> Self {
        debug_assert!(slot < FLIP);
        Operand(slot | (FLIP * u32::from(flip)))
    }

    /// An operand of a gate.
    #[inline(always)]
    pub fn of(word: u32) -> Self {
        Operand(word)
    }

    /// The slot, or the row.
    #[inline(always)]
    pub fn slot(self) -> usize {
        (self.0 & !FLIP) as usize
    }

    /// Whether it enters complemented.
    #[inline(always)]
    pub fn flip(self) -> bool {
        self.0 & FLIP != 0
    }
}

/// Gates in their order, in runs of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    gates: Vec<[u32; 3]>,
    /// The kind of each run, and where it ends.
    runs: Vec<(Op, u32)>,
}

/// Gates of one kind that stand together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateRun<'a> {
    /// What all of them do.
    pub op: Op,
    /// The place of the first gate in the code.
    pub start: usize,
    /// Slot written and operands of each.
    pub gates: &'a [[u32; 3]],
}

impl GateRun<'_> {
    /// The place behind the last gate in the code.
    pub fn end(&self) -> usize {
        self.start + self.gates.len()
    }
}

impl Code {
    /// How many gates there are.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// Gates from one place to another, whatever their kind.
    pub fn gates(&self, range: Range<usize>) -> &[[u32; 3]] {
        &self.gates[range]
    }

    /// The runs from one gate on and up to another one, at the ends as much of them as lies between.
    pub fn runs(&self, range: Range<usize>) -> impl Iterator<Item = GateRun<'_>> {
        let first = self.runs.partition_point(|&(_, end)| end as usize <= range.start);
        let mut start = range.start;
        self.runs[first..].iter().map_while(move |&(op, end)| {
            let gates = start..range.end.min(end as usize);
            let run = GateRun { op, start, gates: &self.gates[gates.clone()] };
            start = gates.end;
            (!gates.is_empty()).then_some(run)
        })
    }

    /// Every gate spelled out, for whoever is in no hurry.
    pub fn iter(&self) -> impl Iterator<Item = Instr> {
        self.runs(0..self.len()).flat_map(|run| run.gates.iter().map(move |&gate| Instr::of(run.op, gate)))
    }

    /// Appends a gate, to the last run if that is of its kind and it does not begin one.
    pub(crate) fn push(&mut self, instr: Instr, begins: bool) {
        let end = self.gates.len() as u32 + 1;
        match self.runs.last_mut() {
            Some((op, last)) if *op == instr.op && !begins => *last = end,
            _ => self.runs.push((instr.op, end)),
        }
        self.gates.push(instr.gate());
    }

    /// The number of runs of ANDs.
    pub(super) fn and_runs(&self) -> u64 {
        self.runs.iter().filter(|(op, _)| *op == Op::And).count() as u64
    }

    pub(super) fn gates_mut(&mut self) -> &mut [[u32; 3]] {
        &mut self.gates
    }
}

impl Instr {
    fn of(op: Op, [dst, a, b]: [u32; 3]) -> Instr {
        let [a, b] = [a, b].map(Operand);
        Instr { op, flip_a: a.flip(), flip_b: b.flip(), dst, a: a.slot() as u32, b: b.slot() as u32 }
    }

    fn gate(&self) -> [u32; 3] {
        [self.dst, Operand::new(self.a, self.flip_a).0, Operand::new(self.b, self.flip_b).0]
    }
}

/// Code that is written gate by gate, with ANDs of two secrets.
///
/// A run ends where the kind changes, where an AND reads what an earlier one of the run writes, and where it is
/// [ended](Self::end_run).
#[derive(Default)]
pub(super) struct CodeWriter {
    code: Code,
    /// For each slot, how many runs there were when it was written last.
    written_in: Vec<u32>,
    ended: bool,
}

impl CodeWriter {
    pub fn with_room(gates: usize) -> CodeWriter {
        CodeWriter { code: Code { gates: Vec::with_capacity(gates), runs: Vec::new() }, ..CodeWriter::default() }
    }

    pub fn push(&mut self, instr: Instr) {
        let begins = std::mem::take(&mut self.ended) || instr.op == Op::And && self.reads_own_run(&instr);
        self.code.push(instr, begins);
        let dst = instr.dst as usize;
        self.written_in.resize(self.written_in.len().max(dst + 1), 0);
        self.written_in[dst] = self.code.runs.len() as u32;
    }

    /// The next gate begins a run.
    pub fn end_run(&mut self) {
        self.ended = true;
    }

    fn reads_own_run(&self, instr: &Instr) -> bool {
        let runs = self.code.runs.len() as u32;
        [instr.a, instr.b].iter().any(|&slot| self.written_in.get(slot as usize) == Some(&runs))
    }

    pub fn finish(self) -> Code {
        self.code
    }
}

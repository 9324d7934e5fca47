//! A plan under way on labels, through which garbler and evaluator go in the same steps.

use super::few;
use super::labels::bit;
use super::labels::{BufferPool, Labels};
use crate::executor::Job;
use crate::threads::Threads;
use circuit::BitMatrix;
use circuit::Schedule;
use circuit::plan::{Op, Operand, Plan, Source};
use circuit::program::{Piece, Task, TaskKind};
use kernels::Block;
use kernels::gates::{Gate, Numbers};
use kernels::rows::{BlockRows, RowXor};
use std::ops::Range;
use std::sync::Arc;

/// ANDs of a chunk of tables, half a megabyte: what travels at once when tables are streamed.
const CHUNK: usize = 1 << 14;

/// Lanes of a part: so many at least, where the next one begins a multiple of these, and at most; the last part takes
/// what is left, too.
const LEAST: usize = 32;
const STEP: usize = 16;
const MOST: usize = 256;

/// ANDs that a call should have at least: with fewer, the processor's pipeline is empty for a good part of it.
const CALL: u64 = 512;

/// A plan under way on the labels of all lanes of a tile: both parties go through it in the same steps.
///
/// Its lanes lie in parts, as many as fit the cache or more for the threads; what comes of it does not depend on how.
pub struct LaneBatch {
    pub(super) parts: Vec<LanePart>,
    threads: Threads,
}

/// Some lanes of a plan under way.
pub(super) struct LanePart {
    pub plan: Arc<Plan>,
    /// The labels of these lanes.
    pub slots: Labels,
    pub lanes: Range<usize>,
    /// Lanes of all parts.
    pub all: usize,
    /// The next instruction.
    pub next: usize,
    /// The number of the next AND's first lane, of all lanes, within the program.
    pub number: u64,
    /// From the number of an AND to that of the next one.
    pub step: u64,
    row_xor: RowXor,
    buffers: BufferPool,
}

/// Where the chunk from `next` ends, and its ANDs over all lanes: the same for both parties at any number of threads.
fn chunk(plan: &Plan, next: usize, lanes: usize) -> (usize, usize) {
    let mut ands = 0;
    // A run at a time: looking at each gate of one lane takes almost as long as garbling it.
    for run in plan.code().runs(next..plan.code().len()) {
        if run.op == Op::And {
            let gates = (CHUNK - ands).div_ceil(lanes.max(1)).min(run.gates.len());
            ands += gates * lanes;
            if ands >= CHUNK {
                return (run.start + gates, ands);
            }
        }
    }
    (plan.code().len(), ands)
}

/// ANDs over all lanes of each chunk of a plan.
pub(super) fn chunks(plan: &Plan, lanes: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let (end, ands) = (next < plan.code().len()).then(|| chunk(plan, next, lanes))?;
        next = end;
        Some(ands)
    })
}

/// The number of a task's first AND within the program, and from one AND to the next.
///
/// Sixteen ANDs share keys: with so many lanes, every gate begins with such a block. At most every second number is left
/// out, and sixteen a task.
fn numbers(task: &Task) -> (u64, u64) {
    let lanes = task.lanes as u64;
    let first = (2 * task.seat.and0).next_multiple_of(16) + 16 * u64::from(task.cell);
    (first, if task.lanes < few::LANES { lanes } else { lanes.next_multiple_of(16) })
}

/// More than the numbers that a program takes.
pub(crate) fn numbers_of(schedule: &Schedule) -> u64 {
    (2 * schedule.totals.and0).next_multiple_of(16) + 16 * (schedule.tasks.len() as u64 + 1)
}

/// How many lanes a part should have: the fewer, the more labels find room in the first-level cache.
fn part_lanes(plan: &Plan, lanes: usize, threads: usize) -> usize {
    let call = (CALL * plan.and_runs()).div_ceil(plan.ands().max(1)) as usize;
    let share = lanes / threads.max(1) / STEP * STEP;
    call.next_power_of_two().clamp(2 * LEAST, MOST).min(share.max(LEAST))
}

/// The lanes of each part; what is left over goes to the last one.
fn shares(lanes: usize, part: usize) -> impl Iterator<Item = Range<usize>> {
    let count = (lanes / part).max(1);
    (0..count).map(move |i| i * part..if i + 1 == count { lanes } else { (i + 1) * part })
}

/// Threads share parts; a thread has the same ones every time.
fn share_out<T: Send>(threads: &Threads, parts: &mut [T], work: impl Fn(&mut T) + Sync) {
    let each = parts.len().div_ceil(threads.count());
    let mut shares: Vec<_> = parts.chunks_mut(each.max(1)).collect();
    threads.each(&mut shares, |share| share.iter_mut().for_each(&work));
}

/// The part of a piece that goes to some lanes, of which the first becomes lane 0.
fn clip(piece: &Piece, lanes: &Range<usize>) -> Option<Piece> {
    let step = piece.to_step.max(1);
    let before = |lane: usize| lane.saturating_sub(piece.to_lane).div_ceil(step).min(piece.count);
    let (first, end) = (before(lanes.start), before(lanes.end));
    (first < end).then(|| Piece {
        from_lane: piece.from_lane + first * piece.from_step,
        to_lane: piece.to_lane + first * step - lanes.start,
        count: end - first,
        ..*piece
    })
}

/// Each row of a matrix of `all` lanes, cut where parts meet: the rows of each part.
fn cut<'a, T>(mut cells: &'a mut [T], all: usize, parts: &[LanePart]) -> Vec<Vec<&'a mut [T]>> {
    let mut rows_of: Vec<Vec<_>> = parts.iter().map(|_| Vec::with_capacity(cells.len() / all.max(1))).collect();
    while !cells.is_empty() {
        for (rows, part) in rows_of.iter_mut().zip(parts) {
            rows.push(cells.split_off_mut(..part.lanes.len()).expect("whole rows"));
        }
    }
    rows_of
}

impl LaneBatch {
    pub(super) fn new(job: &Job, buffers: &BufferPool, load: impl Fn(&mut Labels, &Plan, &Piece) + Sync) -> LaneBatch {
        let (plan, lanes, threads) = (job.plan.as_ref().expect("a map has a plan"), job.task.lanes, &job.threads);
        let part = part_lanes(plan, lanes, threads.count());
        let mut parts: Vec<_> = shares(lanes, part).map(|lanes| LanePart::new(job, buffers, lanes)).collect();
        share_out(threads, &mut parts, |part| part.load(job, &load));
        LaneBatch { parts, threads: threads.clone() }
    }

    pub(super) fn lanes(&self) -> usize {
        self.parts[0].all
    }

    pub(super) fn is_done(&self) -> bool {
        self.parts[0].next == self.end() || self.lanes() == 0
    }

    /// Where the plan ends.
    pub(super) fn end(&self) -> usize {
        self.parts[0].plan.code().len()
    }

    /// Where the next chunk ends, and its ANDs over all lanes.
    pub(super) fn chunk(&self) -> (usize, usize) {
        chunk(&self.parts[0].plan, self.parts[0].next, self.lanes())
    }

    /// The only part, if ANDs of several gates are hashed together.
    pub(super) fn few(&mut self) -> Option<&mut LanePart> {
        self.parts.first_mut().filter(|part| part.all < few::LANES)
    }

    /// Each part reads its lanes of the rows of tables, one for each AND.
    pub(super) fn on_tables<T: Sync>(&mut self, tables: &[T], work: impl Fn(&mut LanePart, &[&[T]]) + Sync) {
        share_out(&self.threads, &mut self.parts, |part| {
            let rows: Vec<_> = tables.chunks(part.all.max(1)).map(|row| &row[part.lanes.clone()]).collect();
            work(part, &rows);
        });
    }

    /// Each part works on its lanes of the rows of a matrix.
    pub(super) fn on_rows<T: Send>(&mut self, cells: &mut [T], work: impl Fn(&mut LanePart, &mut [&mut [T]]) + Sync) {
        let rows = cut(cells, self.lanes(), &self.parts);
        let mut parts: Vec<_> = self.parts.iter_mut().zip(rows).collect();
        share_out(&self.threads, &mut parts, |(part, rows)| work(part, rows));
    }

    /// The cell that the plan makes; `complement` XORs a public bit onto a label.
    pub(super) fn outputs(&mut self, public: &BitMatrix, complement: impl Fn(&mut Block, bool) + Sync) -> Labels {
        let mut made = self.parts[0].buffers.zeros(self.parts[0].plan.outputs().len(), self.lanes());
        self.on_rows(made.blocks_mut(), |part, rows| part.outputs(rows, public, &complement));
        made
    }
}

impl LanePart {
    fn new(job: &Job, buffers: &BufferPool, lanes: Range<usize>) -> LanePart {
        let plan = job.plan.clone().expect("a map has a plan");
        let (slots, all) = (Labels::absent(), job.task.lanes);
        let (number, step) = numbers(&job.task);
        LanePart { plan, slots, lanes, all, next: 0, number, step, row_xor: RowXor::new(), buffers: buffers.clone() }
    }

    fn load(&mut self, job: &Job, load: &impl Fn(&mut Labels, &Plan, &Piece)) {
        self.slots = self.buffers.zeros(self.plan.slots(), self.lanes.len());
        if let TaskKind::Map { wiring, .. } = &job.task.kind {
            let pieces = wiring.iter().filter_map(|piece| clip(piece, &self.lanes));
            pieces.for_each(|piece| load(&mut self.slots, &self.plan, &piece));
        }
    }

    /// The labels of all slots.
    pub fn rows(&mut self) -> BlockRows<'_> {
        BlockRows { len: self.lanes.len(), blocks: self.slots.blocks_mut() }
    }

    /// The free XOR, at both parties.
    pub fn xor(&mut self, gates: &[[u32; 3]]) {
        self.row_xor.xor(self.rows(), gates);
    }

    /// Goes on to the instruction `end`. Of each run of ANDs, `ands` gets the gates, their numbers from `base` on, and
    /// which rows of this chunk's tables they have; `local` does a gate with a public bit.
    #[inline]
    pub fn go(
        &mut self,
        (base, end): (u64, usize),
        mut ands: impl FnMut(&mut LanePart, &[Gate], Numbers, Range<usize>),
        local: impl Fn(Op, [u32; 3], &mut LanePart),
    ) {
        let (plan, mut done) = (self.plan.clone(), 0);
        for run in plan.code().runs(self.next..end) {
            match run.op {
                Op::Xor => self.xor(run.gates),
                Op::And => {
                    let rows = done..done + run.gates.len();
                    let numbers = Numbers { first: base + self.number + self.lanes.start as u64, step: self.step };
                    ands(self, Gate::list(run.gates), numbers, rows.clone());
                    self.number += rows.len() as u64 * self.step;
                    done = rows.end;
                }
                Op::XorPublic | Op::AndPublic => run.gates.iter().for_each(|&gate| local(run.op, gate, self)),
            }
        }
        self.next = end;
    }

    /// The result and the first operand of a gate on our lanes, which are numbered among all.
    pub fn on_lanes(&mut self, dst: u32, a: Operand) -> impl Iterator<Item = (&mut Block, Block, usize)> {
        let (a, _, out) = self.slots.operands(a.slot(), a.slot(), dst as usize);
        out.iter_mut().zip(a).zip(self.lanes.clone()).map(|((out, &a), lane)| (out, a, lane))
    }

    fn outputs(&self, rows: &mut [&mut [Block]], public: &BitMatrix, complement: impl Fn(&mut Block, bool)) {
        for (labels, source) in rows.iter_mut().zip(self.plan.outputs()) {
            match *source {
                Source::Slot { slot, flip } => {
                    labels.copy_from_slice(self.slots.row(slot as usize));
                    labels.iter_mut().for_each(|label| complement(label, flip));
                }
                Source::Public { row, flip } => {
                    let bits = public.row(row as usize);
                    let labels = labels.iter_mut().zip(self.lanes.clone());
                    labels.for_each(|(label, lane)| complement(label, bit(bits, lane) ^ flip));
                }
                Source::Constant(bit) => labels.iter_mut().for_each(|label| complement(label, bit)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_all_lanes_once() {
        for (lanes, part) in (0..600).flat_map(|lanes| [32, 48, 64, 256].map(|part| (lanes, part))) {
            let shares: Vec<_> = shares(lanes, part).collect();
            assert!(shares.concat_is(0..lanes), "{lanes} in parts of {part}: {shares:?}");
            assert!(shares.len() == 1 || shares.iter().all(|share| share.len() >= part && share.start % STEP == 0));
        }
    }

    #[test]
    fn every_thread_has_a_part_if_there_are_lanes() {
        let aes = circuit::blocks::find("aes128").unwrap().circuit(&[], circuit::blocks::Goal::Size).unwrap();
        let plan = Plan::new(&aes, circuit::plan::Order::DepthFirst);
        for (lanes, threads) in (16..2000).flat_map(|lanes| [1, 2, 3, 7].map(|threads| (lanes, threads))) {
            let part = part_lanes(&plan, lanes, threads);
            assert!((LEAST..=MOST).contains(&part) && part.is_multiple_of(STEP), "{part}");
            assert!(
                lanes / LEAST < threads || shares(lanes, part).count() >= threads,
                "{lanes} over {threads}: {part}"
            );
        }
    }

    /// A product, and squares of it.
    fn program(lanes: u64) -> circuit::Program {
        let product = circuit::blocks::find("multiply").unwrap().circuit(&[8], circuit::blocks::Goal::Size).unwrap();
        let ty = product.inputs()[0].ty;
        let mut program = circuit::Program::new("powers");
        let x = program.input("x", crate::Party::Alice, ty, lanes);
        let y = program.input("y", crate::Party::Bob, ty, lanes);
        let product_of = program.map(&product, &[x, y]);
        let again = program.map(&product, &[x, y]);
        program.output("first", circuit::program::Recipient::Both, product_of);
        program.output("second", circuit::program::Recipient::Both, again);
        program
    }

    /// P3: tasks, gates and lanes of a program never share a number, and the next program's come after them.
    #[test]
    fn every_and_has_a_number_of_its_own() {
        for lanes in [1, 2, 15, 16, 17, 100, 1000] {
            let binding = program(lanes).bind(&[]).unwrap();
            let schedule = Schedule::new(&binding, circuit::Order::DepthFirst, |_| 48).unwrap();
            let (mut next, mut maps) = (0, 0);
            for task in &schedule.tasks {
                let TaskKind::Map { plan, .. } = &task.kind else { continue };
                let (first, step) = numbers(task);
                assert!(first >= next && step >= task.lanes as u64, "{lanes} lanes");
                assert!(task.lanes < few::LANES || (first % 16, step % 16) == (0, 0), "whole blocks");
                next = first + schedule.plan(*plan).ands() * step;
                maps += 1;
            }
            assert!(maps > 1 && next <= numbers_of(&schedule), "{lanes} lanes: {maps} maps");
        }
    }

    /// Gate by gate: a chunk ends behind the AND that fills it.
    #[test]
    fn chunks_are_found_by_runs() {
        let product = circuit::blocks::find("multiply").unwrap().circuit(&[128], circuit::blocks::Goal::Size).unwrap();
        for order in [circuit::Order::Layered, circuit::Order::DepthFirst] {
            let (plan, mut chunks) = (Plan::new(&product, order), 0);
            for lanes in [1, 3, 100, CHUNK - 1, CHUNK, 10_000] {
                let (mut next, mut ands) = (0, 0);
                for (i, gate) in plan.code().iter().enumerate() {
                    ands += if gate.op == Op::And { lanes } else { 0 };
                    if ands >= CHUNK || i + 1 == plan.code().len() {
                        assert_eq!(chunk(&plan, next, lanes), (i + 1, ands), "{lanes} lanes, {order:?}, from {next}");
                        (next, ands, chunks) = (i + 1, 0, chunks + 1);
                    }
                }
            }
            assert_eq!(chunk(&plan, 7, 0), (plan.code().len(), 0), "no lanes");
            assert!(chunks > 20_000);
        }
    }

    trait Concat {
        fn concat_is(&self, all: Range<usize>) -> bool;
    }

    impl Concat for Vec<Range<usize>> {
        fn concat_is(&self, all: Range<usize>) -> bool {
            self.iter().cloned().flatten().eq(all)
        }
    }

    /// Lane by lane: what a piece writes, and where it comes from.
    #[test]
    fn a_clipped_piece_writes_what_is_left_of_it() {
        let written = |piece: &Piece, first: usize| -> Vec<(usize, usize)> {
            (0..piece.count)
                .map(|i| (first + piece.to_lane + i * piece.to_step, piece.from_lane + i * piece.from_step))
                .collect()
        };
        for (to_lane, to_step, from_step) in [(0, 1, 1), (5, 1, 0), (3, 2, 1), (40, 3, 2), (90, 1, 1)] {
            let (arg, from_row, to_row, rows, from_lane, count) = (1, 2, 3, 4, 7, 20);
            let piece = Piece { arg, from_row, to_row, rows, from_lane, from_step, to_lane, to_step, count };
            for lanes in [0..16, 16..48, 48..100, 0..100, 4..5] {
                let expected: Vec<_> = written(&piece, 0).into_iter().filter(|(to, _)| lanes.contains(to)).collect();
                let clipped = clip(&piece, &lanes);
                assert_eq!(clipped.map_or(vec![], |clipped| written(&clipped, lanes.start)), expected);
            }
        }
    }
}

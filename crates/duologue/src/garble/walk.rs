//! A plan under way on labels, which garbler and evaluator walk through in the same steps.

use super::few;
use super::labels::bit;
use crate::cells::{Cells, Labels};
use crate::protocol::Job;
use crate::threads::Threads;
use circuit::BitMatrix;
use circuit::plan::{Instr, Op, Plan, Source};
use circuit::program::{Kind, Piece};
use kernels::{Block, rows::Rows};
use std::ops::Range;
use std::sync::Arc;

/// ANDs of a chunk of tables, a quarter of a megabyte: what travels at once when tables are streamed.
const CHUNK: usize = 1 << 13;

/// XORs that are executed together, at most.
const XORS: usize = 64;

/// Lanes of a part: so many at least, and where the next one begins a multiple of these.
const LEAST: usize = 32;
const STEP: usize = 16;

/// A plan under way on labels: both parties walk in the same steps.
///
/// Its lanes are shared out in parts, one for each thread; what comes of it does not depend on how.
pub struct Walk {
    pub(super) parts: Vec<Part>,
}

/// Some lanes of a plan under way.
pub(super) struct Part {
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

/// The lanes of each part.
fn shares(lanes: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    let count = (lanes / LEAST).clamp(1, threads.max(1));
    let start = move |i: usize| if i == count { lanes } else { i * lanes / count / STEP * STEP };
    (0..count).map(move |i| start(i)..start(i + 1))
}

/// What of a piece goes to some lanes, of which the first becomes lane 0.
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
fn deal<'a, T>(mut cells: &'a mut [T], all: usize, parts: &[Part]) -> Vec<Vec<&'a mut [T]>> {
    let mut dealt: Vec<_> = parts.iter().map(|_| Vec::with_capacity(cells.len() / all.max(1))).collect();
    while !cells.is_empty() {
        for (rows, part) in dealt.iter_mut().zip(parts) {
            rows.push(cells.split_off_mut(..part.lanes.len()).expect("whole rows"));
        }
    }
    dealt
}

/// Instructions that are executed together.
pub(super) struct Batch {
    /// How many instructions.
    pub count: usize,
    /// Whether it is an AND.
    pub and: bool,
}

impl Walk {
    pub(super) fn new(job: &Job, threads: &Threads, load: impl Fn(&mut Labels, &Plan, &Piece) + Sync) -> Walk {
        let mut parts: Vec<_> = shares(job.task.lanes, threads.count()).map(|lanes| Part::new(job, lanes)).collect();
        threads.each(&mut parts, |part| part.load(job, &load));
        Walk { parts }
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

    pub(super) fn chunk(&self) -> (usize, usize) {
        chunk(&self.parts[0].plan, self.parts[0].next, self.lanes())
    }

    /// ANDs over all lanes that are not done.
    pub(super) fn ands_left(&self) -> usize {
        let code = &self.parts[0].plan.code()[self.parts[0].next..];
        code.iter().filter(|instr| instr.op == Op::And).count() * self.lanes()
    }

    /// The only part, if ANDs of several gates are hashed together.
    pub(super) fn few(&mut self) -> Option<&mut Part> {
        self.parts.first_mut().filter(|part| part.all < few::LANES)
    }

    /// Each part works on its lanes of the rows of a matrix.
    pub(super) fn on_rows<T: Send>(
        &mut self,
        threads: &Threads,
        cells: &mut [T],
        work: impl Fn(&mut Part, &mut dyn Iterator<Item = &mut [T]>) + Sync,
    ) {
        if let [part] = &mut self.parts[..] {
            return work(part, &mut cells.chunks_mut(part.all.max(1)));
        }
        let rows = deal(cells, self.lanes(), &self.parts);
        let mut parts: Vec<_> = self.parts.iter_mut().zip(rows).collect();
        threads.each(&mut parts, |(part, rows)| work(part, &mut rows.iter_mut().map(|row| &mut **row)));
    }

    /// The cell that the plan makes; `complement` XORs a public bit onto a label.
    pub(super) fn outputs(
        &mut self,
        threads: &Threads,
        public: &BitMatrix,
        complement: impl Fn(&mut Block, bool) + Sync,
    ) -> Labels {
        let mut made = Labels::zeros(self.parts[0].plan.outputs().len(), self.lanes());
        self.on_rows(threads, made.blocks_mut(), |part, rows| part.outputs(rows, public, &complement));
        made
    }
}

impl Part {
    fn new(job: &Job, lanes: Range<usize>) -> Part {
        let plan = job.plan.clone().expect("a map has a plan");
        let (slots, all, number) = (Labels::absent(), job.task.lanes, job.task.seat.and0);
        Part { plan, slots, lanes, all, next: 0, number, rows: Rows::new() }
    }

    fn load(&mut self, job: &Job, load: &impl Fn(&mut Labels, &Plan, &Piece)) {
        self.slots = Labels::zeros(self.plan.slots(), self.lanes.len());
        if let Kind::Map { wiring, .. } = &job.task.kind {
            let pieces = wiring.iter().filter_map(|piece| clip(piece, &self.lanes));
            pieces.for_each(|piece| load(&mut self.slots, &self.plan, &piece));
        }
    }

    /// The next instruction, or a run of XORs.
    pub fn batch(&self, end: usize) -> Batch {
        let code = &self.plan.code()[self.next..end];
        match code[0].op {
            Op::Xor => Batch { count: self.xor_run(code), and: false },
            op => Batch { count: 1, and: op == Op::And },
        }
    }

    /// How many XORs `code` begins with, of those that are executed together.
    pub fn xor_run(&self, code: &[Instr]) -> usize {
        code.iter().take(XORS).take_while(|instr| instr.op == Op::Xor).count()
    }

    /// The free XOR, at both parties.
    pub fn xor(&mut self, code: &[Instr]) {
        let mut rows = [[0; 3]; XORS];
        for (row, instr) in rows.iter_mut().zip(code) {
            *row = [instr.dst, instr.a, instr.b];
        }
        self.rows.xor(self.slots.blocks_mut(), self.lanes.len(), &rows[..code.len()]);
    }

    pub fn advance(&mut self, batch: &Batch) {
        self.next += batch.count;
        self.number += if batch.and { self.all as u64 } else { 0 };
    }

    /// The number of the next AND's first lane of this part.
    pub fn first(&self) -> u64 {
        self.number + self.lanes.start as u64
    }

    fn outputs<'a>(
        &self,
        rows: impl Iterator<Item = &'a mut [Block]>,
        public: &BitMatrix,
        complement: impl Fn(&mut Block, bool),
    ) {
        for (labels, source) in rows.zip(self.plan.outputs()) {
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
        for (lanes, threads) in (0..300).flat_map(|lanes| [0, 1, 2, 3, 7, 100].map(|threads| (lanes, threads))) {
            let shares: Vec<_> = shares(lanes, threads).collect();
            assert!((1..=threads.max(1)).contains(&shares.len()));
            assert!(shares.concat_is(0..lanes), "{lanes} over {threads}: {shares:?}");
            assert!(
                shares.len() == 1 || shares.iter().all(|share| share.len() >= few::LANES && share.start % STEP == 0)
            );
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

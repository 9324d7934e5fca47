//! Where the labels of ANDs lie, and in which blocks of sixteen they are garbled: the wide loops of both schemes.

use crate::Block;
use crate::backend::lanes::Lanes;
use crate::garbling::gates::{Gate, Numbers, Operand};
use crate::matrices::rows::BlockRows;

/// Where the labels of ANDs lie: ANDs of some gates, on the lanes of a row.
pub trait Wires {
    /// Where operands and results are.
    fn a(&self) -> &[Block];
    fn b(&self) -> &[Block];
    fn out(&mut self) -> &mut [Block];
    /// Where among these a gate's lane is: its operands and its result.
    fn places(&self, gate: usize, lane: usize) -> [usize; 3];
    /// Which operands of a gate enter complemented.
    fn flips(&self, gate: usize) -> [bool; 2];
    /// A cursor over all gates and lanes, from the first AND on.
    fn cursor(&self) -> AndCursor;
}

/// One gate on consecutive ANDs.
pub struct Run<'a> {
    pub first: u64,
    pub a: Operand<'a>,
    pub b: Operand<'a>,
    pub out: &'a mut [Block],
}

impl Wires for Run<'_> {
    #[inline(always)]
    fn a(&self) -> &[Block] {
        self.a.labels
    }

    #[inline(always)]
    fn b(&self) -> &[Block] {
        self.b.labels
    }

    #[inline(always)]
    fn out(&mut self) -> &mut [Block] {
        self.out
    }

    #[inline(always)]
    fn places(&self, _: usize, lane: usize) -> [usize; 3] {
        [lane; 3]
    }

    #[inline(always)]
    fn flips(&self, _: usize) -> [bool; 2] {
        [self.a.flip, self.b.flip]
    }

    #[inline(always)]
    fn cursor(&self) -> AndCursor {
        AndCursor::new(1, self.out.len(), Numbers { first: self.first, step: 0 })
    }
}

/// Gates of a matrix, none of which reads what an earlier one writes.
pub struct Several<'a> {
    pub numbers: Numbers,
    pub rows: BlockRows<'a>,
    pub gates: &'a [Gate],
}

impl Wires for Several<'_> {
    #[inline(always)]
    fn a(&self) -> &[Block] {
        self.rows.blocks
    }

    #[inline(always)]
    fn b(&self) -> &[Block] {
        self.rows.blocks
    }

    #[inline(always)]
    fn out(&mut self) -> &mut [Block] {
        self.rows.blocks
    }

    #[inline(always)]
    fn places(&self, gate: usize, lane: usize) -> [usize; 3] {
        let (gate, len) = (self.gates[gate], self.rows.len);
        let [a, b] = gate.operands();
        [a, b, gate.out()].map(|row| row * len + lane)
    }

    #[inline(always)]
    fn flips(&self, gate: usize) -> [bool; 2] {
        self.gates[gate].flips()
    }

    #[inline(always)]
    fn cursor(&self) -> AndCursor {
        AndCursor::new(self.gates.len(), self.rows.len, self.numbers)
    }
}

/// ANDs of a block.
pub const BLOCK: usize = 16;

/// The places of a block that a call garbles: `len` of them from `skip` on.
#[derive(Clone, Copy)]
pub struct Part {
    pub(super) skip: usize,
    pub len: usize,
}

impl Part {
    pub const WHOLE: Part = Part { skip: 0, len: BLOCK };

    /// The part of a block from AND number `first` on, of which `left` ANDs are to be done.
    #[inline(always)]
    pub fn new(first: u64, left: usize) -> Part {
        let skip = (first % BLOCK as u64) as usize;
        Part { skip, len: left.min(BLOCK - skip) }
    }

    /// The places of these ANDs' ciphertexts, which are two each.
    #[inline(always)]
    pub(super) fn pairs(self) -> Part {
        Part { skip: 2 * self.skip, len: 2 * self.len }
    }

    /// The row that holds all of it, if one does.
    #[inline(always)]
    pub fn row(self) -> Option<usize> {
        (self.skip / 4 == (self.skip + self.len - 1) / 4).then_some(self.skip / 4)
    }

    /// Whether an AND is in the columns of a register that begins at this one.
    #[inline(always)]
    pub fn meets<C: Lanes>(self, column: usize) -> bool {
        C::LANES == 4
            || (self.skip..self.skip + self.len).any(|place| (column..column + C::LANES).contains(&(place % 4)))
    }

    /// The lanes of a register from `place` on that belong to this part, and the number of the operand in the first of them.
    #[inline(always)]
    pub fn lanes<C: Lanes>(self, place: usize) -> (std::ops::Range<usize>, usize) {
        let (from, to) = (place.max(self.skip), (place + C::LANES).min(self.skip + self.len));
        if from < to { (from - place..to - place, from - self.skip) } else { (0..0, 0) }
    }

    #[inline(always)]
    pub fn fetch<C: Lanes>(self, cpu: C, place: usize, from: &[[u8; 16]]) -> C::Reg {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.fetch(&from[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.fetch_part(&from[at..], lanes)
    }

    #[inline(always)]
    pub fn store<C: Lanes>(self, cpu: C, x: C::Reg, place: usize, to: &mut [[u8; 16]]) {
        if self.skip == 0 && place + C::LANES <= self.len {
            return cpu.store(x, &mut to[place..]);
        }
        let (lanes, at) = self.lanes::<C>(place);
        cpu.store_part(x, &mut to[at..], lanes);
    }
}

/// ANDs that are not done: of one gate after the other, lane by lane.
pub struct AndCursor {
    pub(super) gate: usize,
    pub(super) lane: usize,
    pub gates: usize,
    pub lanes: usize,
    pub numbers: Numbers,
}

impl AndCursor {
    #[inline(always)]
    fn new(gates: usize, lanes: usize, numbers: Numbers) -> Self {
        AndCursor { gate: if lanes == 0 { gates } else { 0 }, lane: 0, gates, lanes, numbers }
    }

    /// The number of the next AND.
    #[inline(always)]
    pub(super) fn number(&self) -> u64 {
        self.numbers.first.wrapping_add(self.gate as u64 * self.numbers.step).wrapping_add(self.lane as u64)
    }

    /// The part of the next block that is to be done.
    #[inline(always)]
    pub(super) fn part(&self) -> Option<Part> {
        (self.gate < self.gates).then(|| Part::new(self.number(), self.lanes - self.lane))
    }
}

//! The loops of the kernels, written once for registers of any width, without `unsafe`.
//!
//! A [`Kernel`] is one call: its operands and the loop over them. [`Lanes`] is what an instruction set
//! offers. A processor's token runs a job by inlining it into a function compiled with the
//! instructions, so every function here is `inline(always)`.
//!
//! Keys that change every few blocks are scheduled in registers, as many at once as a register has
//! lanes, next to the encryptions under them: `aesenclast` with equal columns is SubWord
//! (Gueron, Lindell, Nof, Pinkas: *Fast garbling of circuits under standard assumptions*,
//! ePrint 2015/751).

use super::table::TableEntry;
use crate::Block;
use std::ops::Range;

/// One call of a kernel. `narrow` is the same processor with registers of one block, for the ends.
pub(crate) trait Kernel {
    type Output;
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) -> Self::Output;
}

/// The instructions of one processor on registers of `LANES` blocks. A value of an implementing
/// type is the proof that the processor has them.
pub(crate) trait Lanes: Copy {
    type Reg: Copy;
    /// A bit for each lane.
    type Bits: Copy;
    const LANES: usize;

    /// Loads the first `LANES` blocks.
    #[inline(always)]
    fn load(self, from: &[Block]) -> Self::Reg {
        self.fetch(bytemuck::cast_slice(from))
    }
    /// Loads the first `LANES` places, which need not be aligned.
    fn fetch(self, from: &[[u8; 16]]) -> Self::Reg;
    /// One entry of a table; for registers of one block.
    fn entry(self, place: TableEntry) -> Self::Reg;
    /// Loads the first places into some consecutive lanes; the others become zero.
    #[inline(always)]
    fn fetch_part(self, from: &[[u8; 16]], lanes: Range<usize>) -> Self::Reg {
        let mut all = [[0; 16]; 4];
        all[lanes.clone()].copy_from_slice(&from[..lanes.len()]);
        self.fetch(&all)
    }
    /// Stores to the first `LANES` places, which need not be aligned.
    fn store(self, x: Self::Reg, to: &mut [[u8; 16]]);
    /// Stores some consecutive lanes to the first places.
    #[inline(always)]
    fn store_part(self, x: Self::Reg, to: &mut [[u8; 16]], lanes: Range<usize>) {
        let mut all = [[0; 16]; 4];
        self.store(x, &mut all);
        to[..lanes.len()].copy_from_slice(&all[lanes]);
    }
    /// Stores a whole cache line, past the caches if the processor can; for registers of one.
    #[inline(always)]
    fn store_nontemporal(self, x: Self::Reg, to: &mut [Block]) {
        store(self, x, to);
    }
    /// A store fence: stores past the caches are seen by others no later than any store after this.
    #[inline(always)]
    fn store_fence(self) {}
    /// A register with this block in every lane.
    fn splat(self, x: Block) -> Self::Reg;
    /// `first + lane` as a 128-bit number in every lane.
    fn count(self, first: u64) -> Self::Reg;
    /// Adds to the low 64 bits of every lane.
    fn add(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    fn xor(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Adds four blocks to four.
    #[inline(always)]
    fn xor_four(self, a: &[Block; 4], b: &[Block; 4], to: &mut [Block; 4]) {
        for at in (0..4).step_by(Self::LANES) {
            store(self, self.xor(self.load(&a[at..]), self.load(&b[at..])), &mut to[at..]);
        }
    }
    fn and(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Every 64-bit half shifted.
    fn shl<const BITS: i32>(self, x: Self::Reg) -> Self::Reg;
    fn shr<const BITS: i32>(self, x: Self::Reg) -> Self::Reg;
    /// x ⊕ y ⊕ z.
    fn xor3(self, x: Self::Reg, y: Self::Reg, z: Self::Reg) -> Self::Reg;
    /// x ⊕ (m ∧ y).
    fn xor_masked(self, x: Self::Reg, m: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Bit 0 of every lane.
    fn lsb(self, x: Self::Reg) -> Self::Bits;
    /// x ⊕ y in the lanes whose bit is set, x in the others.
    fn xor_if(self, x: Self::Reg, bits: Self::Bits, y: Self::Reg) -> Self::Reg;
    /// x ⊕ y ⊕ z in the lanes whose bit is set, x in the others.
    #[inline(always)]
    fn xor3_if(self, x: Self::Reg, bits: Self::Bits, y: Self::Reg, z: Self::Reg) -> Self::Reg {
        self.xor_if(x, bits, self.xor(y, z))
    }
    /// [`Block::sigma`] in every lane.
    fn sigma(self, x: Self::Reg) -> Self::Reg;
    /// (x_L ‖ y_L), the high halves of both, in every lane.
    fn highs(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// (x_R ‖ y_R), the low halves.
    fn lows(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The lowest bit of every 64-bit half: of these bits each counts for its half alone.
    fn odds(self, x: Self::Reg) -> Self::Bits;
    /// σ on each half by itself: of 32-bit words, (a ‖ b) becomes (a ⊕ b ‖ a).
    #[inline(always)]
    fn sigma_halves(self, x: Self::Reg) -> Self::Reg {
        let high_words = self.splat(Block::new(0xffff_ffff_0000_0000_ffff_ffff_0000_0000));
        self.xor_masked(self.xor(self.shl::<32>(x), self.shr::<32>(x)), high_words, x)
    }
    /// x ⊕ y in the lanes where `places` is `place`, x in the others; in both, each 64-bit half is a number.
    fn xor_at(self, x: Self::Reg, places: Self::Reg, place: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The lowest bits of the lanes, those of the first register lowest.
    #[inline(always)]
    fn lsbs(self, x: [Self::Reg; 4]) -> u64 {
        let mut bits = 0;
        for r in 0..4 {
            let mut lanes = [Block::ZERO; 4];
            store(self, x[r], &mut lanes);
            for lane in 0..Self::LANES {
                bits |= (lanes[lane].get() as u64 & 1) << (r * Self::LANES + lane);
            }
        }
        bits
    }
    /// Bit j of row i, which is block i·`stride`, becomes bit i of column j; tile n begins at block n of every row.
    /// Columns that go `streaming` the caches are stored without being read first.
    #[inline(always)]
    fn columns(self, rows: &[Block], stride: usize, tiles: &mut [[Block; 128]], streaming: bool) {
        let _ = streaming;
        super::transpose::portable(rows, stride, tiles);
    }
    /// The chaining values of at most sixteen chunks of BLAKE3, with numbers from `first` on.
    #[inline(always)]
    fn chunk_values(self, chunks: &[[u8; super::blake3::CHUNK]], first: u64, values: &mut [[u32; 8]]) {
        super::blake3::portable(chunks, first, values);
    }
    /// The 16 bytes of every lane in reverse order.
    fn reverse_bytes(self, x: Self::Reg) -> Self::Reg;
    /// Lane i of `x` and of `y` become lanes 2i and 2i + 1 of the pair of registers.
    fn zip(self, x: Self::Reg, y: Self::Reg) -> [Self::Reg; 2];
    /// The last `LAST` lanes of `before`, then the first ones of `x`; for registers of four.
    #[inline(always)]
    fn following<const LAST: usize>(self, before: Self::Reg, x: Self::Reg) -> Self::Reg {
        let mut all = [[0; 16]; 8];
        self.store(before, &mut all);
        self.store(x, &mut all[Self::LANES..]);
        self.fetch(&all[Self::LANES - LAST..])
    }
    /// The inverse of `zip`.
    fn unzip(self, pair: [Self::Reg; 2]) -> [Self::Reg; 2];
    /// The carry-less product in every lane of one half of `x` and one of `y`: the high half of `x` if bit 0 of
    /// `HALVES` is set, the high half of `y` if bit 4 is.
    fn carryless<const HALVES: i32>(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Word i of register j of each lane becomes word j of register i: a transposition of 4 × 4 words of 32 bits.
    fn transpose_words(self, x: [Self::Reg; 4]) -> [Self::Reg; 4];
    /// SubWord of RotWord of every word of 32 bits, with this round constant added.
    fn substitute_words(self, x: Self::Reg, constant: u32) -> Self::Reg;
    /// The next round key from the one before, with this round constant.
    fn next_key(self, key: Self::Reg, constant: u32) -> Self::Reg;
    /// Eight blocks on their way, unchanged. The compiler computes none of them further before all are as far: left alone, it
    /// encrypts one after the other, which takes fewer registers and leaves the AES unit waiting.
    #[inline(always)]
    fn abreast(self, x: [Self::Reg; 8]) -> [Self::Reg; 8] {
        x
    }
    // An AES encryption is `begin`, nine times `round`, `end`. Arm adds the round key at the start
    // of a round and x86 at its end, so each gets the keys before and after.
    fn begin(self, x: Self::Reg, key: Self::Reg) -> Self::Reg;
    fn round(self, x: Self::Reg, before: Self::Reg, after: Self::Reg) -> Self::Reg;
    fn end(self, x: Self::Reg, before: Self::Reg, after: Self::Reg) -> Self::Reg;
}

/// The place from which each byte goes so that RotWord and ShiftRows leave RotWord alone: the latter takes byte r of column
/// c from column c + r.
pub(crate) const ROTATED_WORDS: Block = {
    let (mut order, mut at) = ([0; 16], 0);
    while at < 16 {
        let (column, row) = (at / 4, at % 4);
        order[at] = (4 * ((column + 4 - row) % 4) + (row + 1) % 4) as u8;
        at += 1;
    }
    Block::from_bytes(order)
};

pub(crate) const ROUND_CONSTANTS: [u32; 10] = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// `len` operands cut into steps of `wide` operands, and what is left into steps of at most four.
pub(crate) struct Steps {
    pub(crate) at: usize,
    pub(crate) len: usize,
    pub(crate) wide: usize,
}

pub(crate) struct Step {
    pub(crate) at: usize,
    pub(crate) len: usize,
}

impl Steps {
    #[inline(always)]
    pub(crate) fn new(len: usize, wide: usize) -> Self {
        Steps { at: 0, len, wide }
    }
}

impl Iterator for Steps {
    type Item = Step;

    #[inline(always)]
    fn next(&mut self) -> Option<Step> {
        let (at, left) = (self.at, self.len - self.at);
        let len = if left >= self.wide { self.wide } else { left.min(4) };
        self.at += len;
        (len > 0).then_some(Step { at, len })
    }
}

/// The operands of a step among the places of its registers: `len` of them, from place `skip` on.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) skip: usize,
    pub(crate) len: usize,
}

impl Window {
    /// A window on R registers: all their places, or some of those of registers of one lane.
    #[inline(always)]
    pub(crate) fn new<C: Lanes, const R: usize>(skip: usize, len: usize) -> Self {
        let whole = skip == 0 && len == R * C::LANES;
        assert!(whole || (C::LANES == 1 && len > 0 && skip + len <= R));
        Window { skip, len }
    }

    /// The operand at a place, if there is one.
    #[inline(always)]
    pub(crate) fn place(self, place: usize) -> Option<usize> {
        (place >= self.skip && place - self.skip < self.len).then(|| place - self.skip)
    }

    /// The operand nearest to a place: where there is none, a neighbour is computed twice and not stored.
    #[inline(always)]
    pub(crate) fn nearest(self, place: usize) -> usize {
        place.saturating_sub(self.skip).min(self.len - 1)
    }
}

#[inline(always)]
pub(crate) fn store<C: Lanes>(cpu: C, x: C::Reg, to: &mut [Block]) {
    cpu.store(x, bytemuck::cast_slice_mut(to));
}

//! The local code: indices from a counter stream, and the sums of what they name.

use std::marker::PhantomData;

use super::fixed_key::RoundKeys;
use super::{Job, Lanes, store};
use crate::Block;

/// A table of a power of two of blocks.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    blocks: &'a [Block],
    /// The bits of an offset in bytes that name a block.
    mask: u64,
}

impl<'a> Table<'a> {
    /// # Panics
    /// If the length is no power of two.
    pub(crate) fn new(blocks: &'a [Block]) -> Self {
        assert!(blocks.len().is_power_of_two(), "a table of {} blocks", blocks.len());
        Table { blocks, mask: 16 * (blocks.len() as u64 - 1) }
    }

    pub(crate) fn blocks(self) -> &'a [Block] {
        self.blocks
    }
}

/// Where a block of a table is: made by [`Rows`] alone.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a>(*const Block, PhantomData<&'a Block>);

impl Place<'_> {
    /// Always to one of the table's blocks.
    #[inline(always)]
    pub(crate) fn get(self) -> *const Block {
        self.0
    }
}

/// Adds the code's outputs from number `first` on, an even one.
pub(crate) struct Local<'a> {
    pub keys: &'a RoundKeys,
    pub first: u64,
    pub table: Table<'a>,
    pub out: &'a mut [Block],
}

impl Job for Local<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        if W::LANES == 4 {
            self.steps::<W, N, 16>(wide, narrow);
        } else {
            self.steps::<N, N, 4>(narrow, narrow);
        }
    }
}

impl Local<'_> {
    /// Steps of as many outputs as the registers of the stream are for. The stream of the next step is computed between
    /// the sums of this one, most of whose time is waiting for the table.
    #[inline(always)]
    fn steps<W: Lanes, N: Lanes, const STEP: usize>(self, wide: W, narrow: N) {
        let mut rows = Rows::<STEP>::new(self.table);
        let mut stream = Stream::new(wide, self.keys, self.first / 2 * 3);
        for round in 1..10 {
            stream.round(round);
        }
        let mut steps = self.out.chunks_exact_mut(STEP);
        for out in &mut steps {
            rows.set(wide, stream.turn());
            for i in 0..STEP {
                // Nine rounds between sixteen sums.
                if i < 9 {
                    stream.round(i + 1);
                }
                rows.add(narrow, i, &mut out[i]);
            }
            for round in STEP + 1..10 {
                stream.round(round);
            }
        }
        rows.set(wide, stream.turn());
        for (i, out) in steps.into_remainder().iter_mut().enumerate() {
            rows.add(narrow, i, out);
        }
    }
}

/// Registers of the counter stream that are under way at once.
const REGISTERS: usize = 6;

/// A counter stream, some rounds of AES at a time.
struct Stream<'a, C: Lanes> {
    cpu: C,
    keys: &'a RoundKeys,
    x: [C::Reg; REGISTERS],
    number: C::Reg,
    before: C::Reg,
}

impl<'a, C: Lanes> Stream<'a, C> {
    #[inline(always)]
    fn new(cpu: C, keys: &'a RoundKeys, first: u64) -> Self {
        let number = cpu.count(first);
        let mut stream = Stream { cpu, keys, x: [number; REGISTERS], number, before: number };
        stream.begin();
        stream
    }

    #[inline(always)]
    fn begin(&mut self) {
        let (cpu, step) = (self.cpu, self.cpu.splat(Block::new(C::LANES as u128)));
        self.before = cpu.splat(self.keys.get(0));
        for x in &mut self.x {
            *x = cpu.begin(cpu.reverse_bytes(self.number), self.before);
            self.number = cpu.add(self.number, step);
        }
    }

    /// One of the nine rounds in the middle.
    #[inline(always)]
    fn round(&mut self, round: usize) {
        let after = self.cpu.splat(self.keys.get(round));
        for x in &mut self.x {
            *x = self.cpu.round(*x, self.before, after);
        }
        self.before = after;
    }

    /// Ends these registers and begins the next.
    #[inline(always)]
    fn turn(&mut self) -> [C::Reg; REGISTERS] {
        let (mut done, last) = (self.x, self.cpu.splat(self.keys.get(10)));
        for x in &mut done {
            *x = self.cpu.end(*x, self.before, last);
        }
        self.begin();
        done
    }
}

/// The offsets of a step in the table.
struct Rows<'a, const STEP: usize> {
    table: Table<'a>,
    /// For each output and each of its three words the fields at bits 0, 19 and 38: 16 times an index, and masked.
    fields: [[[u64; 3]; STEP]; 3],
    /// 16 times the seven bits of each word that are left.
    left: [[u64; 3]; STEP],
}

impl<'a, const STEP: usize> Rows<'a, STEP> {
    #[inline(always)]
    fn new(table: Table<'a>) -> Self {
        Rows { table, fields: [[[0; 3]; STEP]; 3], left: [[0; 3]; STEP] }
    }

    #[inline(always)]
    fn set<C: Lanes>(&mut self, cpu: C, stream: [C::Reg; REGISTERS]) {
        let mask = cpu.splat(Block::new(u128::from(self.table.mask) << 64 | u128::from(self.table.mask)));
        let [first, second, third] = self.fields.each_mut().map(|words| bytemuck::cast_slice_mut(words));
        let left = bytemuck::cast_slice_mut(&mut self.left);
        for r in 0..REGISTERS {
            let (at, x) = (r * C::LANES, stream[r]);
            cpu.store(cpu.and(cpu.shl::<4>(x), mask), &mut first[at..]);
            cpu.store(cpu.and(cpu.shr::<15>(x), mask), &mut second[at..]);
            cpu.store(cpu.and(cpu.shr::<34>(x), mask), &mut third[at..]);
            cpu.store(cpu.shl::<4>(cpu.shr::<57>(x)), &mut left[at..]);
        }
    }

    /// The entry at an offset that is masked.
    #[inline(always)]
    fn entry<C: Lanes>(&self, cpu: C, offset: u64) -> C::Reg {
        cpu.entry(Place(self.table.blocks.as_ptr().wrapping_byte_add(offset as usize), PhantomData))
    }

    /// Adds the ten entries of an output.
    #[inline(always)]
    fn add<C: Lanes>(&self, cpu: C, i: usize, out: &mut Block) {
        let [a, b, c] = self.left[i];
        let tenth = self.entry(cpu, ((a << 7 ^ b) << 7 ^ c) & self.table.mask);
        let mut sum = cpu.xor(tenth, cpu.load(std::slice::from_ref(out)));
        for fields in &self.fields {
            let [a, b, c] = fields[i];
            sum = cpu.xor(sum, cpu.xor3(self.entry(cpu, a), self.entry(cpu, b), self.entry(cpu, c)));
        }
        store(cpu, sum, std::slice::from_mut(out));
    }
}

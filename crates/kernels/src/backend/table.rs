//! A table of blocks that is read at secret-independent random places, without a check of each.
//!
//! Offsets are masked where they are made, many at a time; [`TableEntry`] is the proof of it, and only this file makes one.

use std::marker::PhantomData;

use super::lanes::{Lanes, store};
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

/// Where a block of a table is: made by [`Lookups`] alone.
#[derive(Clone, Copy)]
pub(crate) struct TableEntry<'a>(*const Block, PhantomData<&'a Block>);

impl TableEntry<'_> {
    /// Always to one of the table's blocks.
    #[inline(always)]
    pub(crate) fn get(self) -> *const Block {
        self.0
    }
}

/// Registers of the counter stream that are under way at once.
pub(crate) const REGISTERS: usize = 6;

/// The offsets of a step in the table.
pub(crate) struct Lookups<'a, const STEP: usize> {
    table: Table<'a>,
    /// For each output and each of its three words the fields at bits 0, 19 and 38: 16 times an index, and masked.
    fields: [[[u64; 3]; STEP]; 3],
    /// 16 times the seven bits of each word that are left.
    left: [[u64; 3]; STEP],
}

impl<'a, const STEP: usize> Lookups<'a, STEP> {
    #[inline(always)]
    pub(crate) fn new(table: Table<'a>) -> Self {
        Lookups { table, fields: [[[0; 3]; STEP]; 3], left: [[0; 3]; STEP] }
    }

    #[inline(always)]
    pub(crate) fn set<C: Lanes>(&mut self, cpu: C, stream: [C::Reg; REGISTERS]) {
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
        cpu.entry(TableEntry(self.table.blocks.as_ptr().wrapping_byte_add(offset as usize), PhantomData))
    }

    /// Adds the ten entries of an output.
    #[inline(always)]
    pub(crate) fn add<C: Lanes>(&self, cpu: C, i: usize, out: &mut Block) {
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

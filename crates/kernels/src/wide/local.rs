//! The local code: indices from a counter stream, and the sums of what they name.

use super::fixed_key::{RoundKeys, counter_step};
use super::{Job, Lanes, store};
use crate::Block;

/// A table of a power of two of blocks, read at offsets in bytes of any value.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    blocks: &'a [Block],
    /// The bits of an offset that name a block.
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

    /// The block at an offset of which the mask takes what it needs: always one of the table's.
    #[inline(always)]
    pub(crate) fn place(self, offset: u64) -> *const Block {
        self.blocks.as_ptr().wrapping_byte_add((offset & self.mask) as usize)
    }
}

/// Outputs to a step: few, so that the next step's indices are computed while this one waits for its table.
const STEP: usize = 16;

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
        let mut counter = self.first / 2 * 3;
        for out in self.out.chunks_mut(STEP) {
            let mut stream = [[0; 16]; STEP / 2 * 3];
            if W::LANES == 4 {
                counter_step::<W, { STEP / 8 * 3 }>(wide, self.keys, counter, &mut stream);
            } else {
                for (third, stream) in (0..).zip(stream.chunks_exact_mut(STEP / 2)) {
                    counter_step::<W, { STEP / 2 }>(wide, self.keys, counter + third * STEP as u64 / 2, stream);
                }
            }
            let words: &[[u64; 3]; STEP] = bytemuck::cast_ref(&stream);
            for (out, words) in out.iter_mut().zip(words) {
                add(narrow, self.table, words, out);
            }
            counter += STEP as u64 / 2 * 3;
        }
    }
}

#[inline(always)]
fn add<N: Lanes>(cpu: N, table: Table, &[a, b, c]: &[u64; 3], out: &mut Block) {
    let tenth = (a >> 57 << 18) ^ (b >> 57 << 11) ^ (c >> 57 << 4);
    let nine = cpu.xor3(three(cpu, table, a), three(cpu, table, b), three(cpu, table, c));
    let sum = cpu.xor3(nine, cpu.entry(table, tenth), cpu.load(std::slice::from_ref(out)));
    store(cpu, sum, std::slice::from_mut(out));
}

/// Offsets are 16 times indices, of at most 19 bits: fields at bits 0, 19 and 38, and 7 bits of each word left.
#[inline(always)]
fn three<N: Lanes>(cpu: N, table: Table, word: u64) -> N::Reg {
    cpu.xor3(cpu.entry(table, word << 4), cpu.entry(table, word >> 15), cpu.entry(table, word >> 34))
}

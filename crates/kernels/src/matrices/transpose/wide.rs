//! From rows to columns, and the lowest bits of blocks.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes};

/// The columns of 128 rows that lie `stride` blocks apart, tile by tile.
pub(crate) struct Columns<'a> {
    pub rows: &'a [Block],
    pub stride: usize,
    pub tiles: &'a mut [[Block; 128]],
    pub streaming: bool,
}

impl Kernel for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, _: N) {
        wide.columns(self.rows, self.stride, self.tiles, self.streaming);
    }
}

/// The lowest bit of each block, packed.
pub(crate) struct LowestBits<'a> {
    pub blocks: &'a [Block],
    pub words: &'a mut [u64],
}

impl Kernel for LowestBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        for (blocks, word) in self.blocks.chunks(64).zip(self.words) {
            *word = lowest_bits::<W, N>(wide, narrow, blocks);
        }
    }
}

#[inline(always)]
fn lowest_bits<W: Lanes, N: Lanes>(wide: W, narrow: N, blocks: &[Block]) -> u64 {
    let mut word = 0;
    let whole = blocks.len() / (4 * W::LANES) * (4 * W::LANES);
    for at in (0..whole).step_by(4 * W::LANES) {
        let mut x = [wide.load(&blocks[at..]); 4];
        for r in 1..4 {
            x[r] = wide.load(&blocks[at + r * W::LANES..]);
        }
        word |= wide.lsbs(x) << at;
    }
    for (at, block) in (whole..).zip(&blocks[whole..]) {
        word |= (narrow.lsbs([narrow.load(std::slice::from_ref(block)); 4]) & 1) << at;
    }
    word
}

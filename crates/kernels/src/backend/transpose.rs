//! Transposition of 128 × 128 bits in plain code.

use crate::Block;

#[inline(always)]
pub(crate) fn portable(rows: &[Block], stride: usize, tiles: &mut [[Block; 128]]) {
    for (at, tile) in tiles.iter_mut().enumerate() {
        for (column, row) in tile.iter_mut().zip(rows[at..].iter().step_by(stride)) {
            *column = *row;
        }
        square(tile);
    }
}

#[inline(always)]
fn square(rows: &mut [Block; 128]) {
    let words: &mut [u64; 256] = bytemuck::cast_mut(rows);
    // The quarters of 64 × 64 bits: the upper right and the lower left change places.
    let (upper, lower) = words.split_at_mut(128);
    for i in 0..64 {
        std::mem::swap(&mut upper[2 * i + 1], &mut lower[2 * i]);
    }
    exchange::<2>(upper);
    exchange::<2>(lower);
}

/// Transposes the 64 × 64 blocks that lie side by side in 64 rows of `STRIDE` words.
#[inline(always)]
pub(crate) fn exchange<const STRIDE: usize>(words: &mut [u64]) {
    pass::<32, STRIDE>(words, 0x0000_0000_ffff_ffff);
    pass::<16, STRIDE>(words, 0x0000_ffff_0000_ffff);
    pass::<8, STRIDE>(words, 0x00ff_00ff_00ff_00ff);
    pass::<4, STRIDE>(words, 0x0f0f_0f0f_0f0f_0f0f);
    pass::<2, STRIDE>(words, 0x3333_3333_3333_3333);
    pass::<1, STRIDE>(words, 0x5555_5555_5555_5555);
}

/// Exchanges the upper right and the lower left of all blocks of `SIZE` × `SIZE` bits; `mask` covers the right.
#[inline(always)]
fn pass<const SIZE: usize, const STRIDE: usize>(words: &mut [u64], mask: u64) {
    for pair in words.chunks_exact_mut(2 * SIZE * STRIDE) {
        let (upper, lower) = pair.split_at_mut(SIZE * STRIDE);
        for (x, y) in upper.iter_mut().zip(lower) {
            let swap = ((*x >> SIZE) ^ *y) & mask;
            *x ^= swap << SIZE;
            *y ^= swap;
        }
    }
}

//! Transposition of bit matrices.
//!
//! Squares of 128 × 128 bits by exchanging ever smaller blocks (Hacker's Delight, §7-3), in plain code on 64-bit words
//! that a compiler turns into vector code; with AVX-512 and GFNI by the interleaves of `x86/tile.rs`, several times faster.

pub(crate) mod portable;
mod wide;

use crate::Block;
use crate::backend::{Backend, transpose};
use wide::{Columns, LowestBits};

/// Transposes in place: bit j of row i and bit i of row j change places. Bit 0 is the least significant.
pub fn transpose_128(rows: &mut [Block; 128]) {
    let mut out = [Block::ZERO; 128];
    columns(&*rows, 1, &mut out);
    *rows = out;
}

/// Transposes 64 × 64 bits in place: bit j of row i and bit i of row j change places.
pub fn transpose_64(rows: &mut [u64; 64]) {
    transpose::exchange::<1>(rows);
}

/// The columns of 128 rows that lie `stride` blocks apart: bit j of row i, counted from its block i·`stride` on, becomes
/// bit i of column j.
///
/// # Panics
/// If the columns are not a multiple of 128, or the rows are shorter.
pub fn columns(rows: &[Block], stride: usize, columns: &mut [Block]) {
    columns_on(Backend::detect(), rows, stride, columns, false);
}

/// [`columns`] for columns that are not read before megabytes of others are made: they go past the caches to memory, if
/// the processor can do that, whose old contents need not be read first.
///
/// # Panics
/// If the columns are not a multiple of 128, or the rows are shorter.
pub fn columns_streaming(rows: &[Block], stride: usize, columns: &mut [Block]) {
    columns_on(Backend::detect(), rows, stride, columns, true);
}

fn columns_on(backend: Backend, rows: &[Block], stride: usize, columns: &mut [Block], streaming: bool) {
    let (tiles, rest) = columns.as_chunks_mut::<128>();
    assert!(rest.is_empty() && tiles.len() <= stride, "whole tiles, within the rows");
    assert!(tiles.is_empty() || rows.len() >= 127 * stride + tiles.len(), "every tile has all its rows");
    match backend.cpu() {
        Some(cpu) => cpu.run(Columns { rows, stride, tiles, streaming }),
        None => transpose::portable(rows, stride, tiles),
    }
}

/// The lowest bit of each block, packed, least significant first; the padding of the last word is zero.
///
/// # Panics
/// If there are not as many words as these bits take.
pub fn lowest_bits(blocks: &[Block], words: &mut [u64]) {
    lowest_bits_on(Backend::detect(), blocks, words);
}

fn lowest_bits_on(backend: Backend, blocks: &[Block], words: &mut [u64]) {
    assert_eq!(words.len(), blocks.len().div_ceil(64), "a bit for each block");
    match backend.cpu() {
        Some(cpu) => cpu.run(LowestBits { blocks, words }),
        None => portable::lowest_bits(blocks, words),
    }
}

/// Transposes a bit matrix of any size. A row has ⌈columns/64⌉ words, least significant bit first; the
/// result has `columns` rows of ⌈rows/64⌉ words and zeros in its padding. Padding bits of the
/// input may be anything.
///
/// # Panics
/// If the input is not `rows` rows long.
pub fn transpose_bits(input: &[u64], rows: usize, columns: usize) -> Vec<u64> {
    let (from, to) = (columns.div_ceil(64), rows.div_ceil(64));
    assert_eq!(input.len(), rows * from, "a matrix of {rows} × {columns} bits");
    let mut output = vec![0; columns * to];
    // Strips of 512 rows: a cache line of input and a cache line of output are used whole.
    for group in (0..to).step_by(8) {
        for column in 0..from {
            for block in group..to.min(group + 8) {
                transpose_block(input, from, rows, [block, column], &mut output, to, columns);
            }
        }
    }
    output
}

fn transpose_block(
    input: &[u64],
    from: usize,
    rows: usize,
    [row, column]: [usize; 2],
    output: &mut [u64],
    to: usize,
    columns: usize,
) {
    let mut words = [0; 64];
    for (word, i) in words.iter_mut().zip(64 * row..rows) {
        *word = input[i * from + column];
    }
    transpose_64(&mut words);
    for (word, i) in words.iter().zip(64 * column..columns) {
        output[i * to + row] = *word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::generator::Generator;

    #[test]
    fn the_square_is_transposed() {
        let mut before = [Block::ZERO; 128];
        Generator::from_seed(Block::new(1)).fill_blocks(&mut before);
        let mut after = before;
        transpose_128(&mut after);
        for (i, j) in (0..128 * 128).map(|n| (n / 128, n % 128)) {
            assert_eq!(after[i].get() >> j & 1, before[j].get() >> i & 1, "row {i}, bit {j}");
        }
        transpose_128(&mut after);
        assert!(after == before);
    }

    #[test]
    fn every_backend_turns_rows_into_columns() {
        let (stride, tiles) = (7, 5);
        let mut rows = vec![Block::ZERO; 128 * stride];
        Generator::from_seed(Block::new(3)).fill_blocks(&mut rows);
        let ways = Backend::available().into_iter().flat_map(|backend| (0..5).map(move |way| (backend, way)));
        for (backend, way) in ways {
            // At every place within a cache line.
            let (streaming, skip) = (way < 4, way % 4);
            let mut out = vec![Block::new(9); 128 * tiles + 10];
            let (before, rest) = out.split_at_mut(skip);
            let (out, after) = rest.split_at_mut(128 * tiles);
            columns_on(backend, &rows, stride, out, streaming);
            columns_on(backend, &rows, stride, &mut out[..0], streaming);
            assert!(before.iter().chain(&*after).all(|&block| block == Block::new(9)), "{backend}");
            for (j, column) in out.iter().enumerate() {
                for i in 0..128 {
                    let bit = rows[i * stride + j / 128].get() >> (j % 128) & 1;
                    assert_eq!(column.get() >> i & 1, bit, "{backend}, row {i}, column {j}");
                }
            }
        }
        let short = std::panic::catch_unwind(|| columns(&rows[..127 * stride], stride, &mut [Block::ZERO; 128]));
        assert!(short.is_err());
    }

    #[test]
    fn every_backend_packs_the_lowest_bits() {
        let mut blocks = vec![Block::ZERO; 200];
        Generator::from_seed(Block::new(4)).fill_blocks(&mut blocks);
        for (backend, len) in Backend::available().into_iter().flat_map(|b| (0..200_usize).map(move |len| (b, len))) {
            let mut words = vec![!0; len.div_ceil(64)];
            lowest_bits_on(backend, &blocks[..len], &mut words);
            for i in 0..64 * words.len() {
                assert_eq!(words[i / 64] >> (i % 64) & 1 == 1, i < len && blocks[i].lsb(), "{backend}, {i} of {len}");
            }
        }
    }

    #[test]
    fn any_matrix_is_transposed_and_its_padding_is_zero() {
        let sizes = [0_usize, 1, 2, 63, 64, 65, 127, 128, 129, 520, 1000];
        for (rows, columns) in sizes.iter().flat_map(|r| sizes.map(|c| (*r, c))) {
            let mut input = vec![0; rows * columns.div_ceil(64)];
            Generator::from_seed(Block::new(2)).words(&mut input);
            let output = transpose_bits(&input, rows, columns);
            assert!(output == naive(&input, rows, columns), "{rows} × {columns}");
        }
    }

    fn naive(input: &[u64], rows: usize, columns: usize) -> Vec<u64> {
        let (from, to) = (columns.div_ceil(64), rows.div_ceil(64));
        let mut output = vec![0; columns * to];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            output[j * to + i / 64] |= (input[i * from + j / 64] >> (j % 64) & 1) << (i % 64);
        }
        output
    }
}

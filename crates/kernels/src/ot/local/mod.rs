//! A random linear code of low weight: every output is the XOR of ten entries of a table.
//!
//! The matrix of learning parity with noise in Ferret (Yang, Weng, Lan, Zhang, Wang, CCS 2020, ePrint 2020/924).
//! The ten indices of output i are drawn with repetition, from the blocks ⌊3i/2⌋ and after of an AES-128-CTR stream, read as
//! three 64-bit words w₀, w₁, w₂ (little-endian): the bits from 0, 19 and 38 of each are nine of them, and w₀ ≫ 57,
//! w₁ ≫ 57 and w₂ ≫ 57, put together in this order, the tenth. Of each the lowest log k bits count. All of it is public.

mod portable;
mod wide;

use crate::backend::Backend;
use crate::backend::table::Table;
use crate::cipher::aes::{Aes128, Schedule};
use crate::{Block, work};
use wide::Local;

/// The code of one public seed.
pub struct LocalCode(Aes128);

impl LocalCode {
    /// The longest table has 2^19 entries: an index has 19 bits.
    pub const LOG_MAX: u32 = 19;

    /// The code with this seed, which both parties know.
    pub fn new(seed: Block) -> Self {
        Self::with_backend(seed, Backend::detect())
    }

    /// The code on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(seed: Block, backend: Backend) -> Self {
        LocalCode(Aes128::with_backend(seed, backend))
    }

    /// Adds output `first`, `first + 1`, ... of the code on `table` to `out`.
    ///
    /// # Panics
    /// If the length of the table is no power of two or above 2^19, or `first` is odd.
    pub fn add(&self, first: u64, table: &[Block], out: &mut [Block]) {
        assert!(first.is_multiple_of(2), "outputs are made in pairs");
        assert!(table.len() <= 1 << Self::LOG_MAX, "a table of {} blocks", table.len());
        let table = Table::new(table);
        work::count(out.len().div_ceil(2) * 3);
        match self.0.schedule() {
            Schedule::Wide(cpu, keys) => cpu.run(Local { keys, first, table, out }),
            Schedule::Portable(cipher) => portable::local(cipher, first, table.blocks(), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::generator::Generator;

    fn random(seed: u128, len: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; len];
        Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
        blocks
    }

    /// The matrix as its text says, from single blocks of AES.
    fn row(seed: Block, log: u32, output: u64) -> [usize; 10] {
        let bytes: Vec<u8> = (0..2)
            .flat_map(|i| {
                let number = u128::from(3 * output / 2 + i);
                let mut block = [Block::from_bytes(number.to_be_bytes())];
                Aes128::with_backend(seed, Backend::Portable).encrypt(&mut block);
                block[0].to_bytes()
            })
            .skip(if output % 2 == 1 { 8 } else { 0 })
            .collect();
        let word = |i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
        let mut indices = Vec::new();
        for i in 0..3 {
            indices.extend([0, 19, 38].map(|from| (word(i) >> from) % (1 << log)));
        }
        indices.push(((word(0) >> 57) * (1 << 14) + (word(1) >> 57) * (1 << 7) + (word(2) >> 57)) % (1 << log));
        std::array::from_fn(|i| indices[i] as usize)
    }

    #[test]
    fn every_backend_adds_the_rows_as_written() {
        for backend in Backend::available() {
            for (log, len, first) in [(0, 3, 0), (1, 1, 2), (6, 64, 0), (12, 1000, 1 << 40), (16, 17, 4), (19, 100, 6)]
            {
                let (table, before) = (random(1, 1 << log), random(2, len));
                let mut out = before.clone();
                let seed = Block::new(77);
                LocalCode::with_backend(seed, backend).add(first, &table, &mut out);
                for (i, (&out, &before)) in out.iter().zip(&before).enumerate() {
                    let sum = row(seed, log, first + i as u64).iter().fold(before, |sum, &at| sum ^ table[at]);
                    assert!(out == sum, "{backend}, 2^{log} entries, output {i}");
                }
            }
        }
    }

    #[test]
    fn indices_reach_the_whole_table_evenly() {
        let mut hits = [0; 8];
        (0..4000).flat_map(|i| row(Block::new(5), 19, i)).for_each(|index| hits[index >> 16] += 1);
        assert!(hits.iter().all(|hits| (4700..5300).contains(hits)), "{hits:?}");
        let tenth = (0..4000).map(|i| row(Block::new(5), 19, i)[9]).collect::<Vec<_>>();
        assert!(tenth.iter().any(|&i| i < 2000) && tenth.iter().any(|&i| i > (1 << 19) - 2000));
    }

    #[test]
    fn a_table_of_another_length_is_refused() {
        let code = LocalCode::new(Block::ZERO);
        for len in [0, 3, 1 << 20] {
            let table = vec![Block::ZERO; len];
            let add = std::panic::AssertUnwindSafe(|| code.add(0, &table, &mut []));
            assert!(std::panic::catch_unwind(add).is_err(), "{len}");
        }
    }
}

//! Matrices of blocks, row by row.

mod portable;
mod wide;

use crate::Block;
use crate::backend::{Backend, Cpu};
use wide::XorRows;

/// A matrix of blocks.
pub struct BlockRows<'a> {
    /// Row after row.
    pub blocks: &'a mut [Block],
    /// Lanes of a row.
    pub len: usize,
}

/// Adds rows of blocks.
#[derive(Clone, Copy)]
pub struct RowXor(Option<Cpu>);

impl RowXor {
    /// On the widest backend.
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// On one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(backend: Backend) -> Self {
        RowXor(backend.cpu())
    }

    /// Row `to` becomes the XOR of rows `a` and `b`, for each `[to, a, b]` in order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn xor(self, matrix: BlockRows, rows: &[[u32; 3]]) {
        match self.0 {
            Some(cpu) => cpu.run(XorRows { matrix, rows }),
            None => portable::xor_rows(matrix, rows),
        }
    }
}

impl Default for RowXor {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::generator::Generator;

    fn whole(blocks: &mut [Block], len: usize) -> BlockRows<'_> {
        BlockRows { blocks, len }
    }

    #[test]
    fn every_backend_adds_rows_in_order() {
        for (backend, len) in
            Backend::available().into_iter().flat_map(|b| [0, 1, 3, 4, 21, 64, 128].map(|len| (b, len)))
        {
            let mut blocks = vec![Block::ZERO; 5 * len];
            Generator::from_seed(Block::new(3)).fill_blocks(&mut blocks);
            let row = |blocks: &[Block], i: usize| blocks[i * len..][..len].to_vec();
            let [r0, r1, r2, r3] = [0, 1, 2, 3].map(|i| row(&blocks, i));
            RowXor::with_backend(backend).xor(whole(&mut blocks, len), &[[4, 0, 1], [0, 4, 2], [1, 3, 3]]);
            for i in 0..len {
                assert!(blocks[4 * len + i] == r0[i] ^ r1[i] && blocks[i] == r0[i] ^ r1[i] ^ r2[i], "{backend}");
                assert!(blocks[len + i] == Block::ZERO && blocks[3 * len + i] == r3[i], "{backend}, {len}");
            }
            let none = std::panic::AssertUnwindSafe(|| {
                RowXor::with_backend(backend).xor(whole(&mut blocks, len), &[[0, 1, 5]])
            });
            assert!(len == 0 || std::panic::catch_unwind(none).is_err(), "{backend}");
        }
    }
}

//! Sums of rows in plain code.

use crate::matrices::rows::BlockRows;

pub(crate) fn xor_rows(matrix: BlockRows, rows: &[[u32; 3]]) {
    let BlockRows { blocks, len } = matrix;
    for row in rows {
        let [to, a, b] = row.map(|row| row as usize * len);
        for i in 0..len {
            blocks[to + i] = blocks[a + i] ^ blocks[b + i];
        }
    }
}

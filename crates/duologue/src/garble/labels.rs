//! Permute bits, public bits and Δ: the arithmetic of labels that needs no hash.

use crate::cells::Labels;
use circuit::BitMatrix;
use kernels::Block;

/// One bit of a packed row.
pub(super) fn bit(row: &[u64], lane: usize) -> bool {
    row[lane / 64] >> (lane % 64) & 1 == 1
}

/// Adds Δ to the labels whose bit is set.
pub(super) fn add_bits(labels: &mut [Block], bits: &[u64], delta: Block) {
    for (labels, &word) in labels.chunks_mut(64).zip(bits) {
        for (lane, label) in labels.iter_mut().enumerate() {
            *label ^= delta & Block::mask(word >> lane & 1 == 1);
        }
    }
}

/// The permute bits of labels.
pub(super) fn low_bits(labels: &Labels, rows: usize, lanes: usize) -> BitMatrix {
    let mut bits = BitMatrix::zeros(rows, lanes);
    for row in 0..rows {
        for (word, labels) in bits.row_mut(row).iter_mut().zip(labels.row(row).chunks(64)) {
            *word = labels.iter().rev().fold(0, |word, label| word << 1 | label.lsb() as u64);
        }
    }
    bits
}

//! The lowest bits of blocks in plain code.

use crate::Block;

pub(crate) fn lowest_bits(blocks: &[Block], words: &mut [u64]) {
    for (blocks, word) in blocks.chunks(64).zip(words) {
        *word = blocks.iter().enumerate().fold(0, |word, (i, block)| word | u64::from(block.lsb()) << i);
    }
}

//! The steps of the code in plain code.

use super::{GROUP, MEMORY, PARITIES, SEGMENTS, STEP};
use crate::Block;

pub(crate) fn spread(
    flips: &[u8],
    memory: &mut [Block; MEMORY],
    elements: &[Block],
    rows: &mut [&mut [Block]; SEGMENTS],
    from: usize,
) {
    for (g, (elements, &flip)) in elements.chunks_exact(STEP).zip(flips).enumerate() {
        for (i, &element) in elements.iter().enumerate() {
            let x = element ^ memory[12 - 6] ^ memory[12 - 8] ^ memory[12 - 11] ^ memory[0];
            memory.copy_within(1.., 0);
            memory[MEMORY - 1] = x;
            rows[(i % SEGMENTS) ^ usize::from(flip)][from + STEP / SEGMENTS * g + i / SEGMENTS] = x;
        }
    }
}

pub(crate) fn gather(systematic: &[u32], parity: &[u32], vector: &[Block], out: &mut [Block]) {
    for (i, (out, &systematic)) in out.iter_mut().zip(systematic).enumerate() {
        let (group, row, lane) = (i / GROUP * GROUP, i % GROUP / 4, i % 4);
        let ones = (0..24).filter(|c| PARITIES[row] >> c & 1 == 1);
        let parity = ones.map(|c| vector[parity[group + 4 * c + lane] as usize]);
        *out = parity.fold(vector[systematic as usize], |sum, p| sum ^ p);
    }
}

//! The order of ANDs and their keys, in plain code: both garbling schemes have the same.

use crate::Block;
use crate::cipher::portable::{Cipher, numbered};
use crate::garbling::gates::{self, Gate};
use crate::garbling::wires::Several;
use crate::matrices::rows::BlockRows;
use std::ops::Range;

/// AND numbers `first..first + len` with the cipher of each one's bucket and its first tweak.
pub(crate) fn gates(key: Block, first: u64, len: usize, mut gate: impl FnMut(usize, &Cipher, Block)) {
    let mut buckets: [Option<Cipher>; 4] = [const { None }; 4];
    for (k, number) in (0..len).zip(first..) {
        let (number, tweak) = gates::bucket(number);
        let bucket = &mut buckets[(number % 4) as usize];
        if tweak == 0 {
            *bucket = None;
        }
        let cipher = bucket.get_or_insert_with(|| numbered(key, number));
        gate(k, cipher, Block::new(tweak.into()));
    }
}

/// Lanes of gates, a few after the others: the gate, its operands there, and the number of the first AND.
pub(crate) fn pieces(
    several: Several,
    mut piece: impl FnMut(&Gate, [&[Block]; 2], &mut [Block], (usize, Range<usize>), u64),
) {
    let Several { numbers, rows: BlockRows { blocks, len }, gates } = several;
    for (i, gate) in gates.iter().enumerate() {
        let first = numbers.first.wrapping_add(i as u64 * numbers.step);
        for lane in (0..len).step_by(16) {
            let (some, mut operands) = (lane..len.min(lane + 16), [[Block::ZERO; 16]; 2]);
            for (to, row) in operands.iter_mut().zip(gate.operands()) {
                to[..some.len()].copy_from_slice(&blocks[row * len..][some.clone()]);
            }
            let out = &mut blocks[gate.out() * len..][some.clone()];
            let operands = operands.each_ref().map(|labels| &labels[..some.len()]);
            piece(gate, operands, out, (i, some), first.wrapping_add(lane as u64));
        }
    }
}

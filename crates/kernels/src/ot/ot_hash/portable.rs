//! The hashes of correlated OTs in plain code, both roles.

use crate::Block;
use crate::cipher::portable::{hash, numbered};
use crate::matrices::transpose::portable::lowest_bits;

pub(crate) fn pairs(key: Block, first: u64, delta: Block, q: &[Block], m0: &mut [Block], m1: &mut [Block]) {
    for (k, j) in (0..q.len()).zip(first..) {
        [m0[k], m1[k]] = hash(&numbered(key, j), [q[k], q[k] ^ delta]);
    }
}

pub(crate) fn chosen(key: Block, first: u64, t: &[Block], m: &mut [Block]) {
    for (k, j) in (0..t.len()).zip(first..) {
        [m[k]] = hash(&numbered(key, j), [t[k]]);
    }
}

pub(crate) fn pair_bits(key: Block, first: u64, delta: Block, q: &[Block], m0: &mut [u64], differ: &mut [u64]) {
    let mut number = first;
    for (q, (m0, differ)) in q.chunks(64).zip(m0.iter_mut().zip(differ)) {
        let [mut zero, mut one] = [[Block::ZERO; 64]; 2];
        pairs(key, number, delta, q, &mut zero, &mut one);
        lowest_bits(&zero[..q.len()], std::slice::from_mut(m0));
        lowest_bits(&one[..q.len()], std::slice::from_mut(differ));
        *differ ^= *m0;
        number = number.wrapping_add(64);
    }
}

pub(crate) fn chosen_bits(key: Block, first: u64, t: &[Block], m: &mut [u64]) {
    let mut number = first;
    for (t, word) in t.chunks(64).zip(m) {
        let mut messages = [Block::ZERO; 64];
        chosen(key, number, t, &mut messages);
        lowest_bits(&messages[..t.len()], std::slice::from_mut(word));
        number = number.wrapping_add(64);
    }
}

//! The compression of BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020, §2), sixteen chunks side by side.
//!
//! Long messages are hashed where a transcript decides about the weights of a check; the leaves of BLAKE3's tree, its *chunks*
//! of 1,024 bytes, are all the work. With AVX-512 they cost a third of what they cost with AVX2.

use crate::backend::Backend;
use crate::wide::ChunkValues;

/// Bytes of a chunk.
pub const CHUNK: usize = 1024;
/// Chunks that are hashed side by side.
pub(crate) const SIDE_BY_SIDE: usize = 16;

pub(crate) const IV: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
const START: u32 = 1;
const END: u32 = 2;

/// The words of the message that a round takes, in order.
pub(crate) const SCHEDULE: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut schedule = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut at = 16;
    while at < 7 * 16 {
        schedule[at / 16][at % 16] = schedule[at / 16 - 1][PERMUTATION[at % 16]];
        at += 1;
    }
    schedule
};

/// The four columns, then the four diagonals.
pub(crate) const LINES: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// Domain flags of block 0 … 15 of a chunk.
pub(crate) const fn flags(block: usize) -> u32 {
    match block {
        0 => START,
        15 => END,
        _ => 0,
    }
}

/// The chaining value of every whole chunk, counted from 0, of a message of more than one chunk that is hashed
/// without a key.
///
/// # Panics
/// If the message is no whole number of chunks.
pub fn chunk_values(message: &[u8]) -> Vec<[u8; 32]> {
    chunk_values_on(Backend::detect(), message)
}

fn chunk_values_on(backend: Backend, message: &[u8]) -> Vec<[u8; 32]> {
    let (chunks, rest) = message.as_chunks::<CHUNK>();
    assert!(rest.is_empty(), "whole chunks of {CHUNK} bytes");
    let mut values = vec![[0; 8]; chunks.len()];
    match backend.cpu() {
        Some(cpu) => cpu.run(ChunkValues { chunks, values: &mut values }),
        None => portable(chunks, 0, &mut values),
    }
    values.into_iter().map(bytemuck::cast).collect()
}

pub(crate) fn portable(chunks: &[[u8; CHUNK]], first: u64, values: &mut [[u32; 8]]) {
    for (number, (chunk, value)) in (first..).zip(chunks.iter().zip(values)) {
        *value = IV;
        for (n, block) in chunk.as_chunks::<64>().0.iter().enumerate() {
            let word =
                |i: usize| u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]);
            compress(value, &std::array::from_fn(word), number, flags(n));
        }
    }
}

fn compress(value: &mut [u32; 8], message: &[u32; 16], number: u64, flags: u32) {
    let mut v = [0; 16];
    v[..8].copy_from_slice(value);
    v[8..12].copy_from_slice(&IV[..4]);
    v[12..].copy_from_slice(&[number as u32, (number >> 32) as u32, 64, flags]);
    for words in &SCHEDULE {
        for (&[a, b, c, d], word) in LINES.iter().zip(words.chunks_exact(2)) {
            for (word, [first, second]) in word.iter().zip([[16, 12], [8, 7]]) {
                v[a] = v[a].wrapping_add(v[b]).wrapping_add(message[*word]);
                v[d] = (v[d] ^ v[a]).rotate_right(first);
                v[c] = v[c].wrapping_add(v[d]);
                v[b] = (v[b] ^ v[c]).rotate_right(second);
            }
        }
    }
    (0..8).for_each(|i| value[i] = v[i] ^ v[i + 8]);
}

#[cfg(test)]
mod tests {
    use blake3::hazmat::HasherExt;

    use super::*;
    use crate::{Block, generator::Generator};

    #[test]
    fn chaining_values_are_those_of_the_reference() {
        let mut message = vec![0; 37 * CHUNK];
        Generator::from_seed(Block::new(6)).fill(&mut message);
        for (backend, chunks) in Backend::available().into_iter().flat_map(|b| [0, 1, 15, 16, 33, 37].map(|n| (b, n))) {
            let values = chunk_values_on(backend, &message[..chunks * CHUNK]);
            assert_eq!(values.len(), chunks);
            for (i, (value, chunk)) in values.iter().zip(message.chunks(CHUNK)).enumerate() {
                let mut hasher = blake3::Hasher::new();
                hasher.set_input_offset((i * CHUNK) as u64).update(chunk);
                assert_eq!(*value, hasher.finalize_non_root(), "{backend}, chunk {i} of {chunks}");
            }
        }
    }

    #[test]
    fn a_broken_chunk_is_refused() {
        assert!(std::panic::catch_unwind(|| chunk_values(&[0; CHUNK + 1])).is_err());
    }
}

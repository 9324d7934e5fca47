//! The compression function of BLAKE3 in plain code, and its constants.

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

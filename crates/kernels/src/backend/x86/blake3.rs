//! Sixteen chunks of BLAKE3 with AVX-512: word i of all of them in one register.

use std::arch::x86_64::*;

use super::Vaes512;
use crate::backend::blake3::{CHUNK, IV, LINES, SCHEDULE, SIDE_BY_SIDE, flags};

/// The chaining values of at most sixteen chunks, `first` and on; lanes without a chunk take the last one again.
#[inline(always)]
pub(super) fn chunk_values(_proof: Vaes512, chunks: &[[u8; CHUNK]], first: u64, values: &mut [[u32; 8]]) {
    let last = chunks.len() - 1;
    assert!(last < SIDE_BY_SIDE && values.len() == chunks.len(), "a value for each chunk");
    let mut columns = [[0_u32; SIDE_BY_SIDE]; 8];
    // Loads are of 64 bytes of a chunk of 16 · 64, stores of a column of 16 words.
    unsafe {
        let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let numbers = [0, 8].map(|more| first.wrapping_add(more) as i64);
        let low = _mm512_add_epi64(_mm512_set1_epi64(numbers[0]), lanes);
        let high = _mm512_add_epi64(_mm512_set1_epi64(numbers[1]), lanes);
        let even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
        let odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
        let number = [_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)];
        let mut state = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            state[i] = _mm512_set1_epi32(IV[i] as i32);
        }
        for block in 0..16 {
            let mut m = [_mm512_setzero_si512(); 16];
            for lane in 0..16 {
                m[lane] = _mm512_loadu_si512(chunks[lane.min(last)].as_ptr().add(64 * block).cast());
            }
            transpose(&mut m);
            let mut v = [_mm512_setzero_si512(); 16];
            v[..8].copy_from_slice(&state);
            for i in 0..4 {
                v[8 + i] = _mm512_set1_epi32(IV[i] as i32);
            }
            v[12] = number[0];
            v[13] = number[1];
            v[14] = _mm512_set1_epi32(64);
            v[15] = _mm512_set1_epi32(flags(block) as i32);
            round::<0>(&mut v, &m);
            round::<1>(&mut v, &m);
            round::<2>(&mut v, &m);
            round::<3>(&mut v, &m);
            round::<4>(&mut v, &m);
            round::<5>(&mut v, &m);
            round::<6>(&mut v, &m);
            for i in 0..8 {
                state[i] = _mm512_xor_si512(v[i], v[i + 8]);
            }
        }
        for i in 0..8 {
            _mm512_storeu_si512(columns[i].as_mut_ptr().cast(), state[i]);
        }
    }
    for (lane, value) in values.iter_mut().enumerate() {
        for (word, column) in value.iter_mut().zip(&columns) {
            *word = column[lane];
        }
    }
}

/// One round. Its number is a constant, and lines are written out, so that state and message stay in registers.
#[inline(always)]
fn round<const R: usize>(v: &mut [__m512i; 16], m: &[__m512i; 16]) {
    let words = const { SCHEDULE[R] };
    mix::<0>(v, m[words[0]], m[words[1]]);
    mix::<1>(v, m[words[2]], m[words[3]]);
    mix::<2>(v, m[words[4]], m[words[5]]);
    mix::<3>(v, m[words[6]], m[words[7]]);
    mix::<4>(v, m[words[8]], m[words[9]]);
    mix::<5>(v, m[words[10]], m[words[11]]);
    mix::<6>(v, m[words[12]], m[words[13]]);
    mix::<7>(v, m[words[14]], m[words[15]]);
}

#[inline(always)]
fn mix<const LINE: usize>(v: &mut [__m512i; 16], first: __m512i, second: __m512i) {
    let [a, b, c, d] = const { LINES[LINE] };
    unsafe {
        v[a] = _mm512_add_epi32(_mm512_add_epi32(v[a], first), v[b]);
        v[d] = _mm512_ror_epi32::<16>(_mm512_xor_si512(v[d], v[a]));
        v[c] = _mm512_add_epi32(v[c], v[d]);
        v[b] = _mm512_ror_epi32::<12>(_mm512_xor_si512(v[b], v[c]));
        v[a] = _mm512_add_epi32(_mm512_add_epi32(v[a], second), v[b]);
        v[d] = _mm512_ror_epi32::<8>(_mm512_xor_si512(v[d], v[a]));
        v[c] = _mm512_add_epi32(v[c], v[d]);
        v[b] = _mm512_ror_epi32::<7>(_mm512_xor_si512(v[b], v[c]));
    }
}

/// 16 × 16 words.
#[inline(always)]
fn transpose(m: &mut [__m512i; 16]) {
    unsafe {
        for i in (0..16).step_by(2) {
            let (a, b) = (m[i], m[i + 1]);
            m[i] = _mm512_unpacklo_epi32(a, b);
            m[i + 1] = _mm512_unpackhi_epi32(a, b);
        }
        for i in (0..16).step_by(4) {
            let [a, b, c, d] = [m[i], m[i + 1], m[i + 2], m[i + 3]];
            m[i] = _mm512_unpacklo_epi64(a, c);
            m[i + 1] = _mm512_unpackhi_epi64(a, c);
            m[i + 2] = _mm512_unpacklo_epi64(b, d);
            m[i + 3] = _mm512_unpackhi_epi64(b, d);
        }
        // Register 4r + w has word w of each lane of four chunks.
        let x = *m;
        for w in 0..4 {
            let [a, b, c, d] = [x[w], x[4 + w], x[8 + w], x[12 + w]];
            let low = [_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d)];
            let high = [_mm512_shuffle_i32x4::<0xdd>(a, b), _mm512_shuffle_i32x4::<0xdd>(c, d)];
            m[w] = _mm512_shuffle_i32x4::<0x88>(low[0], low[1]);
            m[4 + w] = _mm512_shuffle_i32x4::<0x88>(high[0], high[1]);
            m[8 + w] = _mm512_shuffle_i32x4::<0xdd>(low[0], low[1]);
            m[12 + w] = _mm512_shuffle_i32x4::<0xdd>(high[0], high[1]);
        }
    }
}

//! Transposition of 128 × 128 bits with AVX-512 and GFNI.
//!
//! Row 32·L + 8·g + s is lane L of register s of group g: 16 bytes, byte m for the columns 8m to 8m + 7. Interleaving
//! brings the eight rows of a group together in each quadword, whose 8 × 8 bits one instruction transposes: as
//! the *matrix* of an affine map that is applied to the eight unit vectors. Interleaving the groups and one permutation of
//! double words gather the 16 bytes of each column. The interleaves act within lanes, and leave the
//! columns in their natural order.

use std::arch::x86_64::*;

use super::Vaes512;
use crate::Block;

/// Bit j of row i, which is block i·`stride`, becomes bit i of column j.
#[inline(always)]
pub(super) fn transpose(_proof: Vaes512, rows: &[Block], stride: usize, columns: &mut [Block; 128]) {
    assert!(stride > 0 && rows.len() > 127 * stride);
    // The slice holds all 128 rows: index 127·stride at most.
    unsafe {
        let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
        let mut groups = [[_mm512_setzero_si512(); 8]; 4];
        for (g, octets) in groups.iter_mut().enumerate() {
            // The affine map takes the last byte of a quadword for its first row.
            for (s, octet) in octets.iter_mut().enumerate() {
                let row = rows.as_ptr().add((8 * g + 7 - s) * stride);
                let low = _mm256_castsi128_si256(_mm_loadu_si128(row.cast()));
                let low = _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(row.add(32 * stride).cast()));
                let all = _mm512_castsi256_si512(low);
                let all = _mm512_inserti32x4::<2>(all, _mm_loadu_si128(row.add(64 * stride).cast()));
                *octet = _mm512_inserti32x4::<3>(all, _mm_loadu_si128(row.add(96 * stride).cast()));
            }
            *octets = interleave_8(*octets);
            for octet in octets {
                *octet = _mm512_gf2p8affine_epi64_epi8::<0>(units, *octet);
            }
        }
        let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
        let (sixteens, _) = columns.as_chunks_mut::<16>();
        for (m, out) in sixteens.iter_mut().enumerate() {
            let [a, b, c, d] = [groups[0][m], groups[1][m], groups[2][m], groups[3][m]];
            let low = [_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d)];
            let high = [_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d)];
            let (quarters, _) = out.as_chunks_mut::<4>();
            for (half, out) in [low, high].into_iter().zip(quarters.chunks_exact_mut(2)) {
                let words = [_mm512_unpacklo_epi16(half[0], half[1]), _mm512_unpackhi_epi16(half[0], half[1])];
                for (x, out) in words.into_iter().zip(out) {
                    _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_permutexvar_epi32(order, x));
                }
            }
        }
    }
}

/// Byte m of eight registers' lanes become neighbours: of a lane's 16 bytes, register n has 2n and 2n + 1.
#[inline(always)]
fn interleave_8(x: [__m512i; 8]) -> [__m512i; 8] {
    unsafe {
        let mut bytes = x;
        for s in [0, 2, 4, 6] {
            bytes[s] = _mm512_unpacklo_epi8(x[s], x[s + 1]);
            bytes[s + 1] = _mm512_unpackhi_epi8(x[s], x[s + 1]);
        }
        let mut words = bytes;
        for (s, half) in [(0, 0), (0, 1), (4, 0), (4, 1)] {
            words[s + 2 * half] = _mm512_unpacklo_epi16(bytes[s + half], bytes[s + 2 + half]);
            words[s + 2 * half + 1] = _mm512_unpackhi_epi16(bytes[s + half], bytes[s + 2 + half]);
        }
        let mut all = words;
        for n in 0..4 {
            all[2 * n] = _mm512_unpacklo_epi32(words[n], words[4 + n]);
            all[2 * n + 1] = _mm512_unpackhi_epi32(words[n], words[4 + n]);
        }
        all
    }
}

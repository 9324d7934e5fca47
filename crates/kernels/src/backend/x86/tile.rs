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

/// See [`Lanes::columns`](crate::backend::lanes::Lanes::columns).
#[inline(always)]
pub(super) fn columns(proof: Vaes512, rows: &[Block], stride: usize, tiles: &mut [[Block; 128]], streaming: bool) {
    let count = tiles.len();
    assert!(count == 0 || rows.len() >= 127 * stride + count, "every tile has all its rows");
    let mut columns = tiles.as_flattened_mut();
    if streaming {
        let mut streaming = Streaming::new(columns);
        for at in 0..count {
            transpose(proof, &rows[at..], stride, &mut streaming);
        }
        streaming.finish();
    } else {
        for at in 0..count {
            transpose(proof, &rows[at..], stride, &mut columns);
        }
    }
}

/// Where columns go, four after four.
trait Sink {
    fn put(&mut self, four: __m512i);
}

impl Sink for &mut [Block] {
    #[inline(always)]
    fn put(&mut self, four: __m512i) {
        let (here, rest) = std::mem::take(self).split_at_mut(4);
        // Four blocks are as long as a register.
        unsafe { _mm512_storeu_si512(here.as_mut_ptr().cast(), four) }
        *self = rest;
    }
}

/// Streaming the caches: whole lines, which the columns need not begin with.
struct Streaming<'a> {
    /// Before the first line, and after the last: fewer than four.
    ends: [&'a mut [Block]; 2],
    lines: std::slice::IterMut<'a, [Block; 4]>,
    /// The quadwords of a line: of the register before, from the first that is not yet stored, and of this one.
    order: __m512i,
    before: Option<__m512i>,
}

impl<'a> Streaming<'a> {
    #[inline(always)]
    fn new(columns: &'a mut [Block]) -> Self {
        const { assert!(align_of::<Block>() == 16) }
        let head = (columns.as_ptr().addr().wrapping_neg() / 16 % 4).min(columns.len());
        let (first, rest) = columns.split_at_mut(head);
        let (lines, last) = rest.as_chunks_mut();
        // Arithmetic in a register.
        let order =
            unsafe { _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(2 * head as i64)) };
        Streaming { ends: [first, last], lines: lines.iter_mut(), order, before: None }
    }

    #[inline(always)]
    fn finish(self) {
        let (Some(before), [_, last]) = (self.before, self.ends) else { return };
        // If there is something left, it is the last register's end; else that is the last line.
        unsafe {
            let rest = _mm512_permutex2var_epi64(before, self.order, before);
            match self.lines.into_slice() {
                [line] => _mm512_stream_si512(line.as_mut_ptr().cast(), rest),
                _ => partial(rest, last),
            }
            // Such stores are ordered by nothing else, even if another thread is then told of them.
            _mm_sfence();
        }
    }
}

impl Sink for Streaming<'_> {
    #[inline(always)]
    fn put(&mut self, four: __m512i) {
        match self.before.replace(four) {
            None => partial(four, self.ends[0]),
            Some(before) => {
                let line = self.lines.next().expect("a line for each register but the last");
                // Lines are aligned to 64 bytes, as the store wants it.
                unsafe {
                    _mm512_stream_si512(line.as_mut_ptr().cast(), _mm512_permutex2var_epi64(before, self.order, four))
                }
            }
        }
    }
}

/// Stores the first of four blocks, as many as there is room for.
#[inline(always)]
fn partial(four: __m512i, to: &mut [Block]) {
    debug_assert!(to.len() < 4);
    // The mask has two quadwords for each block of the room.
    unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), (1 << (2 * to.len())) - 1, four) }
}

#[inline(always)]
fn transpose(_proof: Vaes512, rows: &[Block], stride: usize, columns: &mut impl Sink) {
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
        for (m, &a) in groups[0].iter().enumerate() {
            let [b, c, d] = [groups[1][m], groups[2][m], groups[3][m]];
            let low = [_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d)];
            let high = [_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d)];
            for [x, y] in [low, high] {
                columns.put(_mm512_permutexvar_epi32(order, _mm512_unpacklo_epi16(x, y)));
                columns.put(_mm512_permutexvar_epi32(order, _mm512_unpackhi_epi16(x, y)));
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

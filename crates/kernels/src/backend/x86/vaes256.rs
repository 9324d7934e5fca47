//! VAES with AVX2, for processors without AVX-512: registers of two blocks.
//!
//! SAFETY: as in the module above: a token is the proof of the features that its instructions need.

use std::arch::asm;
use std::arch::x86_64::*;

use super::{AesNi, ROTATED_LAST_WORD};
use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROTATED_WORDS};
use crate::backend::table::TableEntry;

/// Proof of VAES and VPCLMULQDQ, beside AES-NI and AVX2.
#[derive(Clone, Copy)]
pub struct Vaes256(AesNi<true>);

impl Vaes256 {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq");
        if found { AesNi::<true>::detect().map(Vaes256) } else { None }
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq,ssse3,sse4.1")]
        fn compiled<J: Kernel>(cpu: Vaes256, kernel: J) -> J::Output {
            kernel.run(cpu, cpu.0)
        }
        // SAFETY: `self` proves that the processor has all these features.
        unsafe { compiled(self, kernel) }
    }
}

impl Lanes for Vaes256 {
    type Reg = __m256i;
    type Bits = __m256i;
    const LANES: usize = 2;

    #[inline(always)]
    fn fetch(self, from: &[[u8; 16]]) -> __m256i {
        assert!(from.len() >= 2);
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn entry(self, place: TableEntry) -> __m256i {
        unsafe { _mm256_broadcastsi128_si256(self.0.entry(place)) }
    }
    #[inline(always)]
    fn store(self, x: __m256i, to: &mut [[u8; 16]]) {
        assert!(to.len() >= 2);
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn splat(self, x: Block) -> __m256i {
        unsafe { _mm256_broadcastsi128_si256(self.0.splat(x)) }
    }
    #[inline(always)]
    fn count(self, first: u64) -> __m256i {
        unsafe { _mm256_set_epi64x(0, first.wrapping_add(1) as i64, 0, first as i64) }
    }
    #[inline(always)]
    fn add(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_add_epi64(x, y) }
    }
    #[inline(always)]
    fn xor(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(x, y) }
    }
    #[inline(always)]
    fn and(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(x, y) }
    }
    #[inline(always)]
    fn shl<const BITS: i32>(self, x: __m256i) -> __m256i {
        unsafe { _mm256_slli_epi64::<BITS>(x) }
    }
    #[inline(always)]
    fn shr<const BITS: i32>(self, x: __m256i) -> __m256i {
        unsafe { _mm256_srli_epi64::<BITS>(x) }
    }
    #[inline(always)]
    fn xor3(self, x: __m256i, y: __m256i, z: __m256i) -> __m256i {
        self.xor(self.xor(x, y), z)
    }
    #[inline(always)]
    fn xor_masked(self, x: __m256i, m: __m256i, y: __m256i) -> __m256i {
        self.xor(x, self.and(m, y))
    }
    #[inline(always)]
    fn lsb(self, x: __m256i) -> __m256i {
        unsafe { _mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(_mm256_shuffle_epi32::<0>(x))) }
    }
    #[inline(always)]
    fn xor_if(self, x: __m256i, bits: __m256i, y: __m256i) -> __m256i {
        self.xor_masked(x, bits, y)
    }
    #[inline(always)]
    fn sigma(self, x: __m256i) -> __m256i {
        unsafe { self.xor_masked(_mm256_shuffle_epi32::<0x4e>(x), x, _mm256_set_epi64x(-1, 0, -1, 0)) }
    }
    #[inline(always)]
    fn highs(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_unpackhi_epi64(y, x) }
    }
    #[inline(always)]
    fn lows(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_unpacklo_epi64(y, x) }
    }
    #[inline(always)]
    fn odds(self, x: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(x, _mm256_set1_epi64x(1))) }
    }
    #[inline(always)]
    fn xor_at(self, x: __m256i, places: __m256i, place: __m256i, y: __m256i) -> __m256i {
        self.xor_masked(x, unsafe { _mm256_cmpeq_epi64(places, place) }, y)
    }
    #[inline(always)]
    fn reverse_bytes(self, x: __m256i) -> __m256i {
        let order = Block::new(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);
        unsafe { _mm256_shuffle_epi8(x, self.splat(order)) }
    }
    #[inline(always)]
    fn zip(self, x: __m256i, y: __m256i) -> [__m256i; 2] {
        unsafe { [_mm256_permute2x128_si256::<0x20>(x, y), _mm256_permute2x128_si256::<0x31>(x, y)] }
    }
    #[inline(always)]
    fn unzip(self, [low, high]: [__m256i; 2]) -> [__m256i; 2] {
        self.zip(low, high)
    }
    #[inline(always)]
    fn carryless<const HALVES: i32>(self, x: __m256i, y: __m256i) -> __m256i {
        unsafe { _mm256_clmulepi64_epi128::<HALVES>(x, y) }
    }
    #[inline(always)]
    fn transpose_words(self, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        unsafe {
            let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
            let (high_ab, high_cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(ab, cd),
                _mm256_unpackhi_epi64(ab, cd),
                _mm256_unpacklo_epi64(high_ab, high_cd),
                _mm256_unpackhi_epi64(high_ab, high_cd),
            ]
        }
    }
    #[inline(always)]
    fn substitute_words(self, x: __m256i, constant: u32) -> __m256i {
        unsafe {
            let rotated = _mm256_shuffle_epi8(x, self.splat(ROTATED_WORDS));
            _mm256_aesenclast_epi128(rotated, _mm256_set1_epi32(constant as i32))
        }
    }
    #[inline(always)]
    fn next_key(self, key: __m256i, constant: u32) -> __m256i {
        unsafe {
            let word = _mm256_shuffle_epi8(key, _mm256_set1_epi32(ROTATED_LAST_WORD));
            let word = _mm256_aesenclast_epi128(word, _mm256_set1_epi32(constant as i32));
            let key = _mm256_xor_si256(key, _mm256_bslli_epi128::<4>(key));
            self.xor3(key, _mm256_bslli_epi128::<8>(key), word)
        }
    }
    #[inline(always)]
    fn abreast(self, x: [__m256i; 8]) -> [__m256i; 8] {
        unsafe { abreast(x) }
    }
    #[inline(always)]
    fn begin(self, x: __m256i, key: __m256i) -> __m256i {
        self.xor(x, key)
    }
    #[inline(always)]
    fn round(self, x: __m256i, _: __m256i, key: __m256i) -> __m256i {
        unsafe { _mm256_aesenc_epi128(x, key) }
    }
    #[inline(always)]
    fn end(self, x: __m256i, _: __m256i, key: __m256i) -> __m256i {
        unsafe { _mm256_aesenclast_epi128(x, key) }
    }
}

/// See [`Lanes::abreast`].
#[inline]
#[target_feature(enable = "avx2")]
fn abreast(x: [__m256i; 8]) -> [__m256i; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = x;
    // SAFETY: no instruction at all.
    unsafe {
        asm!("/* {0} {1} {2} {3} {4} {5} {6} {7} */", inout(ymm_reg) a, inout(ymm_reg) b, inout(ymm_reg) c, inout(ymm_reg) d, inout(ymm_reg) e, inout(ymm_reg) f,
            inout(ymm_reg) g, inout(ymm_reg) h, options(pure, nomem, nostack, preserves_flags));
    }
    [a, b, c, d, e, f, g, h]
}

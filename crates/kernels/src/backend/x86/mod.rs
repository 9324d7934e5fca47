//! x86-64: AES-NI on registers of one block, VAES on registers of two, and with AVX-512 of four.
//!
//! SAFETY, for every `unsafe` block here but those that say their own: a token ([`AesNi`], [`Vaes512`]) is
//! made by its `detect` only, after the processor was asked for every feature that the token's
//! instructions need. Each method has such a token (`self`), so the instructions exist. The
//! loads and stores are unaligned ones, on slices whose length is asserted.

mod blake3;
mod ifma;
mod tile;
mod vaes256;

use std::arch::asm;
use std::arch::x86_64::*;
use std::ops::Range;

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROTATED_WORDS, store};
use crate::backend::table::TableEntry;
pub(crate) use ifma::Ifma;
pub(crate) use vaes256::Vaes256;

/// Proof of AES-NI, PCLMULQDQ, SSSE3 and SSE4.1, and perhaps of AVX2: instructions of three operands, which need not be
/// aligned in memory, and sums of two blocks.
#[derive(Clone, Copy)]
pub struct AesNi<const AVX2: bool>(());

impl AesNi<false> {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        found.then_some(AesNi(()))
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1")]
        fn compiled<J: Kernel>(cpu: AesNi<false>, kernel: J) -> J::Output {
            kernel.run(cpu, cpu)
        }
        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled(self, kernel) }
    }
}

impl AesNi<true> {
    pub(crate) fn detect() -> Option<Self> {
        let AesNi(()) = AesNi::<false>::detect()?;
        is_x86_feature_detected!("avx2").then_some(AesNi(()))
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,aes,pclmulqdq,ssse3,sse4.1")]
        fn compiled<J: Kernel>(cpu: AesNi<true>, kernel: J) -> J::Output {
            kernel.run(cpu, cpu)
        }
        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled(self, kernel) }
    }
}

impl<const AVX2: bool> Lanes for AesNi<AVX2> {
    type Reg = __m128i;
    type Bits = __m128i;
    const LANES: usize = 1;

    #[inline(always)]
    fn fetch(self, from: &[[u8; 16]]) -> __m128i {
        assert!(!from.is_empty());
        unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn entry(self, place: TableEntry) -> __m128i {
        // SAFETY: a place is that of a block of a table.
        unsafe { _mm_loadu_si128(place.get().cast()) }
    }
    #[inline(always)]
    fn store(self, x: __m128i, to: &mut [[u8; 16]]) {
        assert!(!to.is_empty());
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn splat(self, x: Block) -> __m128i {
        self.load(&[x])
    }
    #[inline(always)]
    fn count(self, first: u64) -> __m128i {
        unsafe { _mm_set_epi64x(0, first as i64) }
    }
    #[inline(always)]
    fn add(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_add_epi64(x, y) }
    }
    #[inline(always)]
    fn xor(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_xor_si128(x, y) }
    }
    #[inline(always)]
    fn xor_four(self, a: &[Block; 4], b: &[Block; 4], to: &mut [Block; 4]) {
        for at in 0..4 {
            if !AVX2 {
                store(self, self.xor(self.load(&a[at..]), self.load(&b[at..])), &mut to[at..]);
            } else if at % 2 == 0 {
                let (a, b, to) = (&a[at..at + 2], &b[at..at + 2], &mut to[at..at + 2]);
                // SAFETY: each slice has two blocks.
                unsafe {
                    let sum =
                        _mm256_xor_si256(_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()));
                    _mm256_storeu_si256(to.as_mut_ptr().cast(), sum);
                }
            }
        }
    }
    #[inline(always)]
    fn and(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_and_si128(x, y) }
    }
    #[inline(always)]
    fn shl<const BITS: i32>(self, x: __m128i) -> __m128i {
        unsafe { _mm_sll_epi64(x, _mm_cvtsi32_si128(BITS)) }
    }
    #[inline(always)]
    fn shr<const BITS: i32>(self, x: __m128i) -> __m128i {
        unsafe { _mm_srl_epi64(x, _mm_cvtsi32_si128(BITS)) }
    }
    #[inline(always)]
    fn xor3(self, x: __m128i, y: __m128i, z: __m128i) -> __m128i {
        self.xor(self.xor(x, y), z)
    }
    #[inline(always)]
    fn xor_masked(self, x: __m128i, m: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_xor_si128(x, _mm_and_si128(m, y)) }
    }
    #[inline(always)]
    fn lsb(self, x: __m128i) -> __m128i {
        unsafe { _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(_mm_shuffle_epi32::<0>(x))) }
    }
    #[inline(always)]
    fn xor_if(self, x: __m128i, bits: __m128i, y: __m128i) -> __m128i {
        self.xor_masked(x, bits, y)
    }
    #[inline(always)]
    fn sigma(self, x: __m128i) -> __m128i {
        unsafe {
            let high = _mm_and_si128(x, _mm_set_epi64x(-1, 0));
            _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(x), high)
        }
    }
    #[inline(always)]
    fn highs(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_unpackhi_epi64(y, x) }
    }
    #[inline(always)]
    fn lows(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_unpacklo_epi64(y, x) }
    }
    #[inline(always)]
    fn odds(self, x: __m128i) -> __m128i {
        unsafe { _mm_sub_epi64(_mm_setzero_si128(), _mm_and_si128(x, _mm_set1_epi64x(1))) }
    }
    #[inline(always)]
    fn xor_at(self, x: __m128i, places: __m128i, place: __m128i, y: __m128i) -> __m128i {
        self.xor_masked(x, unsafe { _mm_cmpeq_epi64(places, place) }, y)
    }
    #[inline(always)]
    fn lsbs(self, [a, b, c, d]: [__m128i; 4]) -> u64 {
        unsafe {
            let x = _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            _mm_movemask_ps(_mm_castsi128_ps(_mm_slli_epi32::<31>(x))) as u64
        }
    }
    #[inline(always)]
    fn reverse_bytes(self, x: __m128i) -> __m128i {
        unsafe { _mm_shuffle_epi8(x, _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f)) }
    }
    #[inline(always)]
    fn zip(self, x: __m128i, y: __m128i) -> [__m128i; 2] {
        [x, y]
    }
    #[inline(always)]
    fn unzip(self, pair: [__m128i; 2]) -> [__m128i; 2] {
        pair
    }
    #[inline(always)]
    fn carryless<const HALVES: i32>(self, x: __m128i, y: __m128i) -> __m128i {
        unsafe { _mm_clmulepi64_si128::<HALVES>(x, y) }
    }
    #[inline(always)]
    fn transpose_words(self, [a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
        unsafe {
            let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (high_ab, high_cd) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(high_ab, high_cd),
                _mm_unpackhi_epi64(high_ab, high_cd),
            ]
        }
    }
    #[inline(always)]
    fn substitute_words(self, x: __m128i, constant: u32) -> __m128i {
        unsafe {
            let rotated = _mm_shuffle_epi8(x, self.splat(ROTATED_WORDS));
            _mm_aesenclast_si128(rotated, _mm_set1_epi32(constant as i32))
        }
    }
    #[inline(always)]
    fn next_key(self, key: __m128i, constant: u32) -> __m128i {
        unsafe {
            let word = _mm_shuffle_epi8(key, _mm_set1_epi32(ROTATED_LAST_WORD));
            let word = _mm_aesenclast_si128(word, _mm_set1_epi32(constant as i32));
            let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
            let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
            _mm_xor_si128(key, word)
        }
    }
    #[inline(always)]
    fn abreast(self, x: [__m128i; 8]) -> [__m128i; 8] {
        unsafe { abreast(x) }
    }
    #[inline(always)]
    fn begin(self, x: __m128i, key: __m128i) -> __m128i {
        self.xor(x, key)
    }
    #[inline(always)]
    fn round(self, x: __m128i, _: __m128i, key: __m128i) -> __m128i {
        unsafe { _mm_aesenc_si128(x, key) }
    }
    #[inline(always)]
    fn end(self, x: __m128i, _: __m128i, key: __m128i) -> __m128i {
        unsafe { _mm_aesenclast_si128(x, key) }
    }
}

/// See [`Lanes::abreast`].
#[inline]
#[target_feature(enable = "sse4.1")]
fn abreast(x: [__m128i; 8]) -> [__m128i; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = x;
    // SAFETY: no instruction at all.
    unsafe {
        asm!("/* {0} {1} {2} {3} {4} {5} {6} {7} */", inout(xmm_reg) a, inout(xmm_reg) b, inout(xmm_reg) c, inout(xmm_reg) d, inout(xmm_reg) e, inout(xmm_reg) f,
            inout(xmm_reg) g, inout(xmm_reg) h, options(pure, nomem, nostack, preserves_flags));
    }
    [a, b, c, d, e, f, g, h]
}

/// Shuffle that puts RotWord of a key's last word in each of its words.
const ROTATED_LAST_WORD: i32 = 0x0c0f_0e0d;

/// Proof of AVX-512 F, BW, DQ, VL, of VAES, VPCLMULQDQ and GFNI, beside AES-NI.
#[derive(Clone, Copy)]
pub struct Vaes512(AesNi<true>);

impl Vaes512 {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("gfni");
        if found { AesNi::<true>::detect().map(Vaes512) } else { None }
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes,vpclmulqdq,gfni,aes,pclmulqdq,ssse3,sse4.1")]
        fn compiled<J: Kernel>(cpu: Vaes512, kernel: J) -> J::Output {
            kernel.run(cpu, cpu.0)
        }
        // SAFETY: `self` proves that the processor has all these features.
        unsafe { compiled(self, kernel) }
    }
}

/// A bit for each 64-bit half of these lanes.
#[inline(always)]
fn halves(lanes: &Range<usize>) -> __mmask8 {
    ((1u32 << (2 * lanes.end)) - (1 << (2 * lanes.start))) as u8
}

impl Lanes for Vaes512 {
    type Reg = __m512i;
    /// Two bits a lane, one for each half.
    type Bits = __mmask8;
    const LANES: usize = 4;

    #[inline(always)]
    fn fetch(self, from: &[[u8; 16]]) -> __m512i {
        assert!(from.len() >= 4);
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn entry(self, place: TableEntry) -> __m512i {
        unsafe { _mm512_broadcast_i32x4(self.0.entry(place)) }
    }
    #[inline(always)]
    fn store(self, x: __m512i, to: &mut [[u8; 16]]) {
        assert!(to.len() >= 4);
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn fetch_part(self, from: &[[u8; 16]], lanes: Range<usize>) -> __m512i {
        assert!(lanes.end <= 4 && lanes.len() <= from.len());
        // SAFETY: lanes that are masked out are not read.
        unsafe { _mm512_maskz_loadu_epi64(halves(&lanes), from.as_ptr().wrapping_sub(lanes.start).cast()) }
    }
    #[inline(always)]
    fn store_part(self, x: __m512i, to: &mut [[u8; 16]], lanes: Range<usize>) {
        assert!(lanes.end <= 4 && lanes.len() <= to.len());
        // SAFETY: lanes that are masked out are not written.
        unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().wrapping_sub(lanes.start).cast(), halves(&lanes), x) }
    }
    #[inline(always)]
    fn store_nontemporal(self, x: __m512i, to: &mut [Block]) {
        assert!(to.len() >= 4 && to.as_ptr().cast::<__m512i>().is_aligned());
        unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn store_fence(self) {
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    fn splat(self, x: Block) -> __m512i {
        unsafe { _mm512_broadcast_i32x4(self.0.splat(x)) }
    }
    #[inline(always)]
    fn count(self, first: u64) -> __m512i {
        unsafe {
            let lanes = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
            _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, first as i64), lanes)
        }
    }
    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(x, y) }
    }
    #[inline(always)]
    fn xor(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(x, y) }
    }
    #[inline(always)]
    fn and(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(x, y) }
    }
    #[inline(always)]
    fn shl<const BITS: i32>(self, x: __m512i) -> __m512i {
        unsafe { _mm512_sll_epi64(x, _mm_cvtsi32_si128(BITS)) }
    }
    #[inline(always)]
    fn shr<const BITS: i32>(self, x: __m512i) -> __m512i {
        unsafe { _mm512_srl_epi64(x, _mm_cvtsi32_si128(BITS)) }
    }
    #[inline(always)]
    fn xor3(self, x: __m512i, y: __m512i, z: __m512i) -> __m512i {
        unsafe { _mm512_ternarylogic_epi64::<0x96>(x, y, z) }
    }
    #[inline(always)]
    fn xor_masked(self, x: __m512i, m: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_ternarylogic_epi64::<0x78>(x, m, y) }
    }
    #[inline(always)]
    fn lsb(self, x: __m512i) -> __mmask8 {
        unsafe { _mm512_test_epi64_mask(_mm512_shuffle_epi32::<0x44>(x), _mm512_set1_epi64(1)) }
    }
    #[inline(always)]
    fn xor_if(self, x: __m512i, bits: __mmask8, y: __m512i) -> __m512i {
        // x ⊕ y as a function of three operands: of a masked XOR the compiler makes two instructions.
        unsafe { _mm512_mask_ternarylogic_epi64::<0x3c>(x, bits, y, y) }
    }
    #[inline(always)]
    fn xor3_if(self, x: __m512i, bits: __mmask8, y: __m512i, z: __m512i) -> __m512i {
        unsafe { _mm512_mask_ternarylogic_epi64::<0x96>(x, bits, y, z) }
    }
    #[inline(always)]
    fn sigma(self, x: __m512i) -> __m512i {
        unsafe { self.xor_masked(_mm512_shuffle_epi32::<0x4e>(x), x, _mm512_set_epi64(-1, 0, -1, 0, -1, 0, -1, 0)) }
    }
    #[inline(always)]
    fn highs(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_unpackhi_epi64(y, x) }
    }
    #[inline(always)]
    fn lows(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_unpacklo_epi64(y, x) }
    }
    #[inline(always)]
    fn odds(self, x: __m512i) -> __mmask8 {
        unsafe { _mm512_test_epi64_mask(x, _mm512_set1_epi64(1)) }
    }
    #[inline(always)]
    fn xor_at(self, x: __m512i, places: __m512i, place: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_mask_xor_epi64(x, _mm512_cmpeq_epi64_mask(places, place), x, y) }
    }
    #[inline(always)]
    fn lsbs(self, [a, b, c, d]: [__m512i; 4]) -> u64 {
        unsafe {
            let first = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 28, 24, 20, 16, 12, 8, 4, 0);
            let high = _mm512_castsi512_si256(_mm512_permutex2var_epi32(c, first, d));
            let all = _mm512_inserti64x4::<1>(_mm512_permutex2var_epi32(a, first, b), high);
            _mm512_test_epi32_mask(all, _mm512_set1_epi32(1)).into()
        }
    }
    #[inline(always)]
    fn columns(self, rows: &[Block], stride: usize, tiles: &mut [[Block; 128]], streaming: bool) {
        tile::columns(self, rows, stride, tiles, streaming);
    }
    #[inline(always)]
    fn chunk_values(self, chunks: &[[u8; crate::backend::blake3::CHUNK]], first: u64, values: &mut [[u32; 8]]) {
        blake3::chunk_values(self, chunks, first, values);
    }
    #[inline(always)]
    fn reverse_bytes(self, x: __m512i) -> __m512i {
        let order = Block::new(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);
        unsafe { _mm512_shuffle_epi8(x, self.splat(order)) }
    }
    #[inline(always)]
    fn zip(self, x: __m512i, y: __m512i) -> [__m512i; 2] {
        unsafe {
            let low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            [_mm512_permutex2var_epi64(x, low, y), _mm512_permutex2var_epi64(x, high, y)]
        }
    }
    #[inline(always)]
    fn following<const LAST: usize>(self, before: __m512i, x: __m512i) -> __m512i {
        const { assert!(LAST == 2 || LAST == 3) };
        unsafe { if LAST == 2 { _mm512_alignr_epi64::<4>(x, before) } else { _mm512_alignr_epi64::<2>(x, before) } }
    }
    #[inline(always)]
    fn unzip(self, [low, high]: [__m512i; 2]) -> [__m512i; 2] {
        unsafe { [_mm512_shuffle_i64x2::<0x88>(low, high), _mm512_shuffle_i64x2::<0xdd>(low, high)] }
    }
    #[inline(always)]
    fn carryless<const HALVES: i32>(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_clmulepi64_epi128::<HALVES>(x, y) }
    }
    #[inline(always)]
    fn transpose_words(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        unsafe {
            let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
            let (high_ab, high_cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
            [
                _mm512_unpacklo_epi64(ab, cd),
                _mm512_unpackhi_epi64(ab, cd),
                _mm512_unpacklo_epi64(high_ab, high_cd),
                _mm512_unpackhi_epi64(high_ab, high_cd),
            ]
        }
    }
    #[inline(always)]
    fn substitute_words(self, x: __m512i, constant: u32) -> __m512i {
        unsafe {
            let rotated = _mm512_shuffle_epi8(x, self.splat(ROTATED_WORDS));
            _mm512_aesenclast_epi128(rotated, _mm512_set1_epi32(constant as i32))
        }
    }
    #[inline(always)]
    fn next_key(self, key: __m512i, constant: u32) -> __m512i {
        unsafe {
            let word = _mm512_shuffle_epi8(key, _mm512_set1_epi32(ROTATED_LAST_WORD));
            let word = _mm512_aesenclast_epi128(word, _mm512_set1_epi32(constant as i32));
            let key = _mm512_xor_si512(key, _mm512_bslli_epi128::<4>(key));
            self.xor3(key, _mm512_bslli_epi128::<8>(key), word)
        }
    }
    #[inline(always)]
    fn begin(self, x: __m512i, key: __m512i) -> __m512i {
        self.xor(x, key)
    }
    #[inline(always)]
    fn round(self, x: __m512i, _: __m512i, key: __m512i) -> __m512i {
        unsafe { _mm512_aesenc_epi128(x, key) }
    }
    #[inline(always)]
    fn end(self, x: __m512i, _: __m512i, key: __m512i) -> __m512i {
        unsafe { _mm512_aesenclast_epi128(x, key) }
    }
}

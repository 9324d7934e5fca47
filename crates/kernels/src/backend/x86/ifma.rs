//! Eight lanes of 52-bit limbs with AVX-512 IFMA.

use std::arch::x86_64::*;

use super::Vaes512;
use crate::backend::limbs::{LIMB_BITS, Limb, LimbLanes, LimbLoop};

/// Proof of AVX-512 IFMA, beside AVX-512 F, BW, DQ and VL.
#[derive(Clone, Copy)]
pub struct Ifma(());

impl Ifma {
    pub(crate) fn detect() -> Option<Self> {
        Vaes512::detect()?;
        is_x86_feature_detected!("avx512ifma").then_some(Ifma(()))
    }

    pub(crate) fn run<L: LimbLoop>(self, job: L) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn compiled<J: LimbLoop>(cpu: Ifma, job: J) {
            job.run(cpu);
        }
        // SAFETY: `self` proves that the processor has all these features.
        unsafe { compiled(self, job) }
    }
}

impl LimbLanes for Ifma {
    type Reg = __m512i;
    type Mask = __mmask8;

    #[inline(always)]
    fn load(self, from: &Limb) -> __m512i {
        // SAFETY: a limb has 64 bytes and is aligned to them.
        unsafe { _mm512_load_si512(std::ptr::from_ref(from).cast()) }
    }
    #[inline(always)]
    fn store(self, x: __m512i, to: &mut Limb) {
        // SAFETY: a limb has 64 bytes and is aligned to them.
        unsafe { _mm512_store_si512(std::ptr::from_mut(to).cast(), x) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        unsafe { _mm512_set1_epi64(x as i64) }
    }
    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(x, y) }
    }
    #[inline(always)]
    fn subtract(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi64(x, y) }
    }
    #[inline(always)]
    fn multiply(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_mullo_epi64(x, y) }
    }
    #[inline(always)]
    fn and(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(x, y) }
    }
    #[inline(always)]
    fn shift_right<const BITS: u32>(self, x: __m512i) -> __m512i {
        unsafe { _mm512_srli_epi64::<BITS>(x) }
    }
    #[inline(always)]
    fn carry(self, x: __m512i) -> __m512i {
        unsafe { _mm512_srli_epi64::<{ LIMB_BITS as u32 }>(x) }
    }
    #[inline(always)]
    fn add_low(self, sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_madd52lo_epu64(sum, x, y) }
    }
    #[inline(always)]
    fn multiply_low(self, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_madd52lo_epu64(_mm512_setzero_si512(), x, y) }
    }
    #[inline(always)]
    fn add_high(self, sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_madd52hi_epu64(sum, x, y) }
    }
    #[inline(always)]
    fn equal(self, x: __m512i, y: __m512i) -> __mmask8 {
        unsafe { _mm512_cmpeq_epi64_mask(x, y) }
    }
    #[inline(always)]
    fn select(self, mask: __mmask8, x: __m512i, y: __m512i) -> __m512i {
        unsafe { _mm512_mask_blend_epi64(mask, x, y) }
    }
    #[inline(always)]
    fn look_up(self, table: &[Limb; 2], index: __m512i) -> __m512i {
        unsafe { _mm512_permutex2var_epi64(self.load(&table[0]), index, self.load(&table[1])) }
    }
    #[inline(always)]
    fn replace(self, x: __m512i, mask: __mmask8, place: &Limb) -> __m512i {
        unsafe { _mm512_mask_mov_epi64(x, mask, self.load(place)) }
    }
}

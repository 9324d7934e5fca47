//! 64-bit Arm with the AES extension, on registers of one block.
//!
//! SAFETY, for every `unsafe` block here but the one in `run`: an [`Armv8`] is made by `detect` only,
//! after the processor was asked for the AES extension and Neon. Each method has one
//! (`self`), so the instructions exist. Loads and stores are on slices whose length is asserted.

// The methods are inlined into `compiled`, which has the feature; only then are the intrinsics.
#![allow(inline_always_mismatching_target_features)]

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, ROTATED_WORDS};
use crate::backend::table::TableEntry;

/// Proof of Neon and of the AES extension.
#[derive(Clone, Copy)]
pub(crate) struct Armv8(());

impl Armv8 {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("aes");
        found.then_some(Armv8(()))
    }

    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "neon,aes")]
        fn compiled<J: Kernel>(cpu: Armv8, kernel: J) -> J::Output {
            kernel.run(cpu, cpu)
        }
        // SAFETY: `self` proves that the processor has both features.
        unsafe { compiled(self, kernel) }
    }
}

impl Lanes for Armv8 {
    type Reg = uint8x16_t;
    type Bits = uint8x16_t;
    const LANES: usize = 1;

    #[inline(always)]
    fn fetch(self, from: &[[u8; 16]]) -> uint8x16_t {
        assert!(!from.is_empty());
        unsafe { vld1q_u8(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn entry(self, place: TableEntry) -> uint8x16_t {
        // SAFETY: a place is that of a block of a table.
        unsafe { vld1q_u8(place.get().cast()) }
    }
    #[inline(always)]
    fn store(self, x: uint8x16_t, to: &mut [[u8; 16]]) {
        assert!(!to.is_empty());
        unsafe { vst1q_u8(to.as_mut_ptr().cast(), x) }
    }
    #[inline(always)]
    fn splat(self, x: Block) -> uint8x16_t {
        self.load(&[x])
    }
    #[inline(always)]
    fn count(self, first: u64) -> uint8x16_t {
        self.splat(Block::new(first.into()))
    }
    #[inline(always)]
    fn add(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(x), vreinterpretq_u64_u8(y))) }
    }
    #[inline(always)]
    fn xor(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { veorq_u8(x, y) }
    }
    #[inline(always)]
    fn and(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { vandq_u8(x, y) }
    }
    #[inline(always)]
    fn shl<const BITS: i32>(self, x: uint8x16_t) -> uint8x16_t {
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(x), vdupq_n_s64(BITS.into()))) }
    }
    #[inline(always)]
    fn shr<const BITS: i32>(self, x: uint8x16_t) -> uint8x16_t {
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(x), vdupq_n_s64((-BITS).into()))) }
    }
    #[inline(always)]
    fn xor3(self, x: uint8x16_t, y: uint8x16_t, z: uint8x16_t) -> uint8x16_t {
        self.xor(self.xor(x, y), z)
    }
    #[inline(always)]
    fn xor_masked(self, x: uint8x16_t, m: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { veorq_u8(x, vandq_u8(m, y)) }
    }
    #[inline(always)]
    fn lsb(self, x: uint8x16_t) -> uint8x16_t {
        unsafe {
            let low = vreinterpretq_s8_u8(vdupq_laneq_u8::<0>(x));
            vreinterpretq_u8_s8(vshrq_n_s8::<7>(vshlq_n_s8::<7>(low)))
        }
    }
    #[inline(always)]
    fn xor_if(self, x: uint8x16_t, bits: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        self.xor_masked(x, bits, y)
    }
    #[inline(always)]
    fn sigma(self, x: uint8x16_t) -> uint8x16_t {
        unsafe {
            let swapped = vextq_u8::<8>(x, x);
            let high = vandq_u8(x, self.splat(Block::new(u128::MAX << 64)));
            veorq_u8(swapped, high)
        }
    }
    #[inline(always)]
    fn highs(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(y), vreinterpretq_u64_u8(x))) }
    }
    #[inline(always)]
    fn lows(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe { vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(y), vreinterpretq_u64_u8(x))) }
    }
    #[inline(always)]
    fn odds(self, x: uint8x16_t) -> uint8x16_t {
        unsafe {
            let ones = vandq_u64(vreinterpretq_u64_u8(x), vdupq_n_u64(1));
            vreinterpretq_u8_s64(vnegq_s64(vreinterpretq_s64_u64(ones)))
        }
    }
    #[inline(always)]
    fn xor_at(self, x: uint8x16_t, places: uint8x16_t, place: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        let here = unsafe { vceqq_u64(vreinterpretq_u64_u8(places), vreinterpretq_u64_u8(place)) };
        self.xor_masked(x, unsafe { vreinterpretq_u8_u64(here) }, y)
    }
    #[inline(always)]
    fn reverse_bytes(self, x: uint8x16_t) -> uint8x16_t {
        unsafe {
            let halves = vrev64q_u8(x);
            vextq_u8::<8>(halves, halves)
        }
    }
    #[inline(always)]
    fn zip(self, x: uint8x16_t, y: uint8x16_t) -> [uint8x16_t; 2] {
        [x, y]
    }
    #[inline(always)]
    fn unzip(self, pair: [uint8x16_t; 2]) -> [uint8x16_t; 2] {
        pair
    }
    #[inline(always)]
    fn carryless<const HALVES: i32>(self, x: uint8x16_t, y: uint8x16_t) -> uint8x16_t {
        unsafe {
            let (x, y) = (vreinterpretq_u64_u8(x), vreinterpretq_u64_u8(y));
            let x = if HALVES & 1 == 1 { vgetq_lane_u64::<1>(x) } else { vgetq_lane_u64::<0>(x) };
            let y = if HALVES & 16 == 16 { vgetq_lane_u64::<1>(y) } else { vgetq_lane_u64::<0>(y) };
            vreinterpretq_u8_p128(vmull_p64(x, y))
        }
    }
    #[inline(always)]
    fn transpose_words(self, x: [uint8x16_t; 4]) -> [uint8x16_t; 4] {
        unsafe {
            let (a, b) = (vreinterpretq_u32_u8(x[0]), vreinterpretq_u32_u8(x[1]));
            let (c, d) = (vreinterpretq_u32_u8(x[2]), vreinterpretq_u32_u8(x[3]));
            let ab = vreinterpretq_u8_u32(vzip1q_u32(a, b));
            let cd = vreinterpretq_u8_u32(vzip1q_u32(c, d));
            let high_ab = vreinterpretq_u8_u32(vzip2q_u32(a, b));
            let high_cd = vreinterpretq_u8_u32(vzip2q_u32(c, d));
            [self.lows(cd, ab), self.highs(cd, ab), self.lows(high_cd, high_ab), self.highs(high_cd, high_ab)]
        }
    }
    #[inline(always)]
    fn substitute_words(self, x: uint8x16_t, constant: u32) -> uint8x16_t {
        unsafe {
            let rotated = vqtbl1q_u8(x, self.splat(ROTATED_WORDS));
            let words = vaeseq_u8(rotated, vdupq_n_u8(0));
            veorq_u8(words, vreinterpretq_u8_u32(vdupq_n_u32(constant)))
        }
    }
    #[inline(always)]
    fn next_key(self, key: uint8x16_t, constant: u32) -> uint8x16_t {
        unsafe {
            let zero = vdupq_n_u8(0);
            // RotWord of the last word in each column: then ShiftRows changes nothing.
            let rotated = vdupq_n_u32(0x0c0f_0e0d);
            let word = vqtbl1q_u8(key, vreinterpretq_u8_u32(rotated));
            let word = veorq_u8(vaeseq_u8(word, zero), vreinterpretq_u8_u32(vdupq_n_u32(constant)));
            let key = veorq_u8(key, vextq_u8::<12>(zero, key));
            let key = veorq_u8(key, vextq_u8::<8>(zero, key));
            veorq_u8(key, word)
        }
    }
    #[inline(always)]
    fn begin(self, x: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
        x
    }
    #[inline(always)]
    fn round(self, x: uint8x16_t, key: uint8x16_t, _: uint8x16_t) -> uint8x16_t {
        unsafe { vaesmcq_u8(vaeseq_u8(x, key)) }
    }
    #[inline(always)]
    fn end(self, x: uint8x16_t, key: uint8x16_t, last: uint8x16_t) -> uint8x16_t {
        unsafe { veorq_u8(vaeseq_u8(x, key), last) }
    }
}

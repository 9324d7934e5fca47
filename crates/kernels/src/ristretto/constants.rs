//! Numbers of the curve and of the group (RFC 9496, section 4.1), in five limbs of 51 bits; the tests hold them to what
//! defines them.

/// d of the curve −x² + y² = 1 + d·x²y².
pub(crate) const D: [u64; 5] = [0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029, 0x739c663a03cbb, 0x52036cee2b6ff];
pub(crate) const TWICE_D: [u64; 5] =
    [0x69b9426b2f159, 0x35050762add7a, 0x3cf44c0038052, 0x6738cc7407977, 0x2406d9dc56dff];
pub(crate) const SQRT_M1: [u64; 5] =
    [0x61b274a0ea0b0, 0x0d5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e, 0x2b8324804fc1d];
pub(crate) const SQRT_AD_MINUS_ONE: [u64; 5] =
    [0x7f6a0497b2e1b, 0x1836f0a97afd2, 0x7d747f6be7638, 0x456079e7e6498, 0x376931bf2b834];
pub(crate) const INVSQRT_A_MINUS_D: [u64; 5] =
    [0x0fdaa805d40ea, 0x2eb482e57d339, 0x007610274bc58, 0x6510b613dc8ff, 0x786c8905cfaff];
pub(crate) const ONE_MINUS_D_SQUARED: [u64; 5] =
    [0x409c1945fc176, 0x719abc6a1fc4f, 0x1c37f90b20684, 0x06bccca55eedf, 0x029072a8b2b3e];
pub(crate) const D_MINUS_ONE_SQUARED: [u64; 5] =
    [0x55aaa44ed4d20, 0x59603c3332635, 0x26d3baf4a7928, 0x120a66e6997a9, 0x5968b37af66c2];

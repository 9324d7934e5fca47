//! Carry-less products in plain code.

use crate::Block;

/// Σ xᵢ·yᵢ of polynomials, not reduced: the coefficients of x⁰ and up, x⁶⁴ and up, x¹²⁸ and up.
pub(crate) fn products(x: &[Block], y: &[Block]) -> [Block; 3] {
    let mut sum = [0; 3];
    for (x, y) in x.iter().zip(y) {
        let [(x0, x1), (y0, y1)] = [x, y].map(|x| (x.get() as u64, (x.get() >> 64) as u64));
        let (low, high) = (carryless_64(x0, y0), carryless_64(x1, y1));
        sum[0] ^= low;
        sum[1] ^= carryless_64(x0 ^ x1, y0 ^ y1) ^ low ^ high;
        sum[2] ^= high;
    }
    sum.map(Block::new)
}

/// Adds Σⱼ yⱼ·xⱼᵢ to every sum i; column j begins at j·`stride`.
pub(crate) fn add_products(factors: &[Block], columns: &[Block], stride: usize, sums: &mut [Block]) {
    for (j, factor) in factors.iter().enumerate() {
        for (sum, x) in sums.iter_mut().zip(&columns[j * stride..]) {
            let [low, middle, high] = products(&[*x], &[*factor]).map(Block::get);
            *sum ^= Block::new(super::reduce(low ^ middle << 64, high ^ middle >> 64));
        }
    }
}

/// Karatsuba's product of two polynomials of 64 coefficients.
fn carryless_64(x: u64, y: u64) -> u128 {
    let [(x0, x1), (y0, y1)] = [x, y].map(|x| (x & 0xffff_ffff, x >> 32));
    let (low, high) = (carryless_32(x0, y0), carryless_32(x1, y1));
    let middle = carryless_32(x0 ^ x1, y0 ^ y1) ^ low ^ high;
    u128::from(low) ^ u128::from(middle) << 32 ^ u128::from(high) << 64
}

/// Every fourth bit of x times every fourth bit of y as numbers: at most 8 ones meet at a place, so no carry
/// reaches the next place that counts, and the lowest bit of each sum is the coefficient.
fn carryless_32(x: u64, y: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let cut = |x: u64| [0, 1, 2, 3].map(|i| x & EVERY_FOURTH << i);
    let (x, y) = (cut(x), cut(y));
    (0..4).fold(0, |product, place| {
        let sum = (0..4).fold(0, |sum, i| sum ^ x[i].wrapping_mul(y[(4 + place - i) % 4]));
        product | sum & EVERY_FOURTH << place
    })
}

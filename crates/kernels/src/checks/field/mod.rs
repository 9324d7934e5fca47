//! GF(2¹²⁸), for consistency checks and for oblivious linear evaluation: sums of products, and single products.
//!
//! A block is the polynomial whose coefficient of xⁱ is bit i; products are modulo x¹²⁸ + x⁷ + x² + x + 1. (That is
//! the polynomial of GCM, with the bits in natural order.) Σ χᵢ·xᵢ with weights χ that are drawn after the x are
//! fixed is a universal hash: two different lists have the same sum with a chance of 2⁻¹²⁸. Sums are
//! kept as polynomials of degree 254 and reduced once, at the end.
//!
//! Constant time: carry-less multiplication instructions, or integer products with holes between the bits.

mod portable;
mod wide;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Block;
use crate::backend::{Backend, Cpu};
use wide::{AddProducts, Products};

/// A sum of products under way.
#[derive(ZeroizeOnDrop)]
pub struct Fold {
    /// The coefficients of the sum: x⁰ and up, x⁶⁴ and up, x¹²⁸ and up.
    parts: [Block; 3],
    #[zeroize(skip)]
    cpu: Option<Cpu>,
}

impl Fold {
    /// The empty sum.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// The empty sum, on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(backend: Backend) -> Self {
        Fold { parts: [Block::ZERO; 3], cpu: backend.cpu() }
    }

    /// Adds Σ weightᵢ·valueᵢ.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add(&mut self, weights: &[Block], values: &[Block]) {
        assert_eq!(weights.len(), values.len(), "a weight for each value");
        let parts = match self.cpu {
            Some(cpu) => cpu.run(Products { x: weights, y: values }),
            None => portable::products(weights, values),
        };
        self.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum ^= part);
    }

    /// Adds values of weight 1.
    pub fn add_plain(&mut self, values: &[Block]) {
        values.iter().for_each(|&value| self.parts[0] ^= value);
    }

    /// Adds another sum, of another thread for instance.
    pub fn merge(&mut self, other: &Fold) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(sum, &part)| *sum ^= part);
    }

    /// The sum.
    pub fn finish(&self) -> Block {
        let [low, middle, high] = self.parts.map(Block::get);
        Block::new(reduce(low ^ middle << 64, high ^ middle >> 64))
    }
}

/// The product.
pub fn mul(x: Block, y: Block) -> Block {
    let mut fold = Fold::new();
    fold.add(&[x], &[y]);
    fold.finish()
}

/// Adds Σⱼ factorⱼ·xⱼᵢ to every sum i, where xⱼᵢ is block j·`stride` + i of the columns.
///
/// # Panics
/// If a column has fewer blocks than there are sums.
pub fn add_products(factors: &[Block], columns: &[Block], stride: usize, sums: &mut [Block]) {
    add_products_on(Backend::detect(), factors, columns, stride, sums);
}

fn add_products_on(backend: Backend, factors: &[Block], columns: &[Block], stride: usize, sums: &mut [Block]) {
    let room = factors.len().saturating_sub(1) * stride + sums.len();
    assert!(
        factors.is_empty() || columns.len() >= room && (factors.len() == 1 || stride >= sums.len()),
        "short columns"
    );
    match backend.cpu() {
        Some(cpu) => cpu.run(AddProducts { factors, columns, stride, sums }),
        None => portable::add_products(factors, columns, stride, sums),
    }
}

/// The inverse of a block that is not zero, and zero for zero: x to the power of 2¹²⁸ − 2.
pub fn inverse(x: Block) -> Block {
    // x, x³, x⁷, …: one more factor with each of the 127 squarings but for the lowest.
    let mut power = x;
    for _ in 0..126 {
        power = mul(mul(power, power), x);
    }
    mul(power, power)
}

/// low + x¹²⁸·high, where x¹²⁸ = x⁷ + x² + x + 1.
fn reduce(low: u128, mut high: u128) -> u128 {
    let times = |x: u128| x ^ x << 1 ^ x << 2 ^ x << 7;
    let over = high >> 127 ^ high >> 126 ^ high >> 121;
    let sum = low ^ times(high) ^ times(over);
    high.zeroize();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::generator::Generator;

    /// By the definition: shift and add, then divide.
    fn naive(x: Block, y: Block) -> Block {
        let mut sum = 0;
        for i in (0..128).rev() {
            let carry = sum >> 127 & 1;
            sum = (sum << 1) ^ (carry * 0x87);
            sum ^= if y.get() >> i & 1 == 1 { x.get() } else { 0 };
        }
        Block::new(sum)
    }

    fn random(seed: u128, len: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; len];
        Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
        blocks
    }

    #[test]
    fn products_are_the_written_ones() {
        let (x, mut y) = (random(1, 70), random(2, 70));
        for (i, y) in y.iter_mut().enumerate().take(8) {
            *y = [Block::ZERO, !Block::ZERO, Block::new(1), Block::new(2), Block::new(1 << 127)][i % 5];
        }
        for (&x, &y) in x.iter().zip(&y) {
            assert!(mul(x, y) == naive(x, y));
        }
        assert!(mul(!Block::ZERO, !Block::ZERO) == naive(!Block::ZERO, !Block::ZERO));
        assert!(mul(Block::new(1 << 127), Block::new(2)) == Block::new(0x87));
    }

    #[test]
    fn every_backend_folds_every_length_in_any_pieces() {
        let (x, y) = (random(3, 200), random(4, 200));
        for backend in Backend::available() {
            for len in [0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 200] {
                let sum = (0..len).fold(Block::ZERO, |sum, i| sum ^ naive(x[i], y[i]));
                let mut whole = Fold::with_backend(backend);
                whole.add(&x[..len], &y[..len]);
                assert!(whole.finish() == sum, "{backend}, {len}");
                let (mut first, mut second) = (Fold::with_backend(backend), Fold::with_backend(backend));
                first.add(&x[..len / 3], &y[..len / 3]);
                second.add(&x[len / 3..len], &y[len / 3..len]);
                second.add_plain(&y[..5]);
                first.merge(&second);
                let plain = y[..5].iter().fold(sum, |sum, &y| sum ^ y);
                assert!(first.finish() == plain, "{backend}, {len} in pieces");
            }
        }
    }

    #[test]
    fn every_backend_adds_products_of_every_shape() {
        for backend in Backend::available() {
            for (factors, len) in [(0, 5), (1, 1), (1, 16), (2, 0), (2, 3), (3, 17), (5, 64), (4, 70)] {
                let stride = len + 3;
                let (y, x, mut sums) = (random(5, factors), random(6, factors * stride), random(7, len));
                let expected: Vec<u128> = (0..len)
                    .map(|i| (0..factors).fold(sums[i], |sum, j| sum ^ naive(x[j * stride + i], y[j])).get())
                    .collect();
                add_products_on(backend, &y, &x, stride, &mut sums);
                assert!(sums.iter().map(|sum| sum.get()).eq(expected), "{backend}, {factors} factors, {len} sums");
            }
        }
    }

    #[test]
    fn inverses_are_inverses() {
        for x in random(8, 20).into_iter().chain([Block::new(1), Block::new(2), !Block::ZERO]) {
            assert!(mul(x, inverse(x)) == Block::new(1));
        }
        assert!(inverse(Block::ZERO) == Block::ZERO);
    }

    #[test]
    fn lengths_must_agree() {
        assert!(std::panic::catch_unwind(|| Fold::new().add(&[Block::ZERO; 2], &[Block::ZERO; 3])).is_err());
    }
}

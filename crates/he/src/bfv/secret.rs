//! Bob's side: keys, ciphertexts of labels, decryption of answers.

use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroizing;

use super::coding::{SMALL_POLY, read_small, write};
use super::masks::{Masks, SEED};
use super::noise::{error, ternary};
use super::ring::{DEGREE, Poly, Q, SMALL, Transformed, lift, reduced};
use super::{ANSWER, LABEL_BITS, LABELS};
use crate::error::CiphertextFault;

/// With so many coefficients that are not zero, or more, a secret could lead to a wrong decryption. One in 2⁵¹ has them.
const TOO_HEAVY: i64 = 1534;

/// A secret key: a polynomial s of coefficients −1, 0 and 1. It counts what it encrypts, so that no mask serves twice.
pub struct SecretKey {
    s: Transformed,
    masks: Masks,
    /// Seed and first half of a ciphertext of zeros.
    public: Vec<u8>,
    /// The mask of the next ciphertext; the public key has number 0.
    pub(super) next: u64,
}

impl SecretKey {
    /// Draws one.
    pub fn new(rng: &mut Generator) -> Self {
        let s = secret(rng);
        Self::with(&s, rng)
    }

    pub(super) fn with(s: &[i64], rng: &mut Generator) -> Self {
        let mut seed = [0; SEED];
        rng.fill(&mut seed);
        let s = Transformed::of_signed(s);
        let mut key = SecretKey { s, masks: Masks::new(seed), public: seed.to_vec(), next: 0 };
        let zero = key.zero(rng);
        write(&mut key.public, &zero);
        key
    }

    /// The public key, of [`PUBLIC_KEY`](super::PUBLIC_KEY) bytes.
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// −c₁·s + e, which with the next mask c₁ is a ciphertext of zeros.
    fn zero(&mut self, rng: &mut Generator) -> Poly {
        let mut c = Transformed::new(&self.masks.get(self.next)).times(&self.s);
        c.iter_mut().zip(error(rng).iter()).for_each(|(c, &e)| *c = reduced::<Q>(Q - *c + lift(e, Q)));
        self.next += 1;
        c
    }

    /// Appends the ciphertext of a label.
    pub fn encrypt(&mut self, label: Block, rng: &mut Generator, out: &mut Vec<u8>) {
        let mut c0 = self.zero(rng);
        add_labels(&mut c0, &[label]);
        c0.iter_mut().for_each(|c| *c = reduced::<Q>(*c));
        write(out, &c0);
    }

    /// The labels of an answer.
    ///
    /// # Errors
    /// If a residue is too large.
    pub fn decrypt(&self, answer: &[u8; ANSWER]) -> Result<Zeroizing<[Block; LABELS]>, CiphertextFault> {
        let (first, second) = answer.split_at(SMALL_POLY);
        let (c0, c1) = (read_small(first)?, read_small(second)?);
        let mut sum = self.s.times_small(&c1);
        sum.iter_mut().zip(c0.iter()).for_each(|(sum, c0)| *sum = reduced::<SMALL>(*sum + c0));
        Ok(labels(&sum))
    }

    /// c₀ + c₁·s modulo q: the noise, and ⌊q/2⌋ for each bit.
    #[cfg(test)]
    pub(super) fn phase(&self, c0: &[u64], c1: &[u64]) -> Poly {
        let mut sum = Transformed::new(c1).times(&self.s);
        sum.iter_mut().zip(c0).for_each(|(sum, c0)| *sum = (*sum + c0) % Q);
        sum
    }
}

pub(super) fn secret(rng: &mut Generator) -> Zeroizing<Vec<i64>> {
    loop {
        let s = ternary(rng);
        if s.iter().map(|s| s.abs()).sum::<i64>() < TOO_HEAVY {
            return s;
        }
    }
}

/// Of each coefficient whether it is nearer to half the prime than to 0.
fn labels(x: &[u64]) -> Zeroizing<[Block; LABELS]> {
    let is_one = |x: u64| (x > SMALL / 4) & (x <= SMALL / 4 * 3);
    let label = |x: &[u64; LABEL_BITS]| x.iter().rev().fold(0, |label, &x| label << 1 | u128::from(is_one(x)));
    let labels = x.as_chunks().0;
    Zeroizing::new(std::array::from_fn(|i| Block::new(label(&labels[i]))))
}

/// Adds ⌊q/2⌋ for every bit of labels, the first label's first.
pub(super) fn add_labels(sums: &mut [u64], labels: &[Block]) {
    debug_assert!(labels.len() * LABEL_BITS <= DEGREE);
    for (sums, label) in sums.as_chunks_mut::<LABEL_BITS>().0.iter_mut().zip(labels) {
        let label = u128::from_le_bytes(label.to_bytes());
        sums.iter_mut().enumerate().for_each(|(i, sum)| *sum += Q / 2 * (label >> i & 1) as u64);
    }
}

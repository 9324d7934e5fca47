//! The comparisons of a level: server's and client's steps one under the other, in the order of the messages.
//!
//! For a pair (a, b) of l bits and a mask r of l + 1 + σ bits, with s = 1 or −1 at random, û = u mod 2^l:
//!
//! ```text
//! server → client   [d], d = 2^l + b − a + r                     packed
//! client → server   [d div 2^l] and the bits of d̂, each under DGK
//! server → client   c_i for i = l − 1 … 0, each times a random unit of Z_u, re-randomised, in a random order
//! client → server   [δ], δ = 1 if one of them is 0
//! server            [a ≤ b] = [d div 2^l] − (r div 2^l) − [λ], λ = (d̂ < r̂) = δ for s = 1, 1 − δ for s = −1
//!
//! c_i = s + d_i − r_i + 3·Σ (d_j ⊕ r_j) over j > i        zero where d̂ and r̂ first differ and d_i − r_i = −s
//! c_0 = 3·Σ (d_j ⊕ r_j) + r_0·(1 − d_0)                   for s = −1: zero for d̂ = r̂, too
//! ```

use super::super::wide;
use duologue::call::Zeroizing;
use he::{Additive, Ciphertexts, Plaintexts, Result, Shuffle, dgk, paillier};
use kernels::generator::Generator;

/// The comparisons of a level at the server.
pub struct Comparisons {
    bits: u32,
    masks: Plaintexts,
    /// One for each comparison: 1 where s = −1.
    flips: Plaintexts,
    /// [d div 2^l].
    high: Option<Ciphertexts>,
}

impl Comparisons {
    /// Masks for comparisons of so many bits.
    pub fn new(bits: u32, sigma: u32, count: usize, rng: &mut Generator) -> Comparisons {
        let masks = wide::random(count, bits + 1 + sigma, rng);
        Comparisons { bits, masks, flips: wide::random(count, 1, rng), high: None }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// [d].
    pub fn masked(&self, key: &paillier::PublicKey, left: &Ciphertexts, right: &Ciphertexts) -> Result<Ciphertexts> {
        let difference = key.add(right, &key.negate(left)?)?;
        key.add_constants(&difference, &wide::plus_power(&self.masks, self.bits))
    }

    /// c_i of all comparisons, those of i = 0 first, in clear to whoever has the key.
    pub fn values(&mut self, key: &dgk::PublicKey, high: Ciphertexts, digits: &Ciphertexts) -> Result<Ciphertexts> {
        let (count, bits) = (self.masks.len(), self.bits as usize);
        self.high = Some(high);
        let row = |from: &Ciphertexts, row: usize| from.pick(&(row * count..(row + 1) * count).collect::<Vec<_>>());
        let above = digits.pick(&(count..bits * count).collect::<Vec<_>>())?;
        // 3·(d_j ⊕ r_j) − 3·r_j, for j from 1 on.
        let differ = key.multiply_constants(&above, &self.signs(key.u()), width(key))?;
        let lowest = key.multiply_constants(&row(digits, 0)?, &self.lowest_signs(key.u()), width(key))?;
        let mut rows = Vec::with_capacity(bits);
        let mut sum: Option<Ciphertexts> = None;
        for bit in (0..bits).rev() {
            let digit = if bit == 0 { lowest.clone() } else { row(digits, bit)? };
            rows.push(sum.as_ref().map_or_else(|| Ok(digit.clone()), |sum| key.add(sum, &digit))?);
            if bit > 0 {
                let here = row(&differ, bit - 1)?;
                sum = Some(sum.map_or_else(|| Ok(here.clone()), |sum| key.add(&sum, &here))?);
            }
        }
        rows.reverse();
        key.add_constants(&Ciphertexts::joined(&rows)?, &self.constants(key.u()))
    }

    /// [a ≤ b].
    pub fn finish(self, key: &paillier::PublicKey, any_zero: &Ciphertexts) -> Result<Ciphertexts> {
        let high = self.high.ok_or(he::Error::Lengths(0, any_zero.len()))?;
        // −δ, and where s = −1 2·δ more.
        let flipped = key.multiply_constants(&key.double(any_zero, 1)?, &self.flips, 1)?;
        let less = key.add(&key.negate(any_zero)?, &flipped)?;
        let constants = wide::sums(&wide::shifted_down(&self.masks, self.bits), &self.flips);
        key.add_constants(&key.add(&high, &less)?, &key.negatives(&constants)?)
    }

    fn mask_bit(&self, comparison: usize, bit: usize) -> u64 {
        self.masks.get(comparison)[bit / 64] >> (bit % 64) & 1
    }

    /// 3·(1 − 2·r_j) modulo u, for j from 1 on.
    fn signs(&self, u: u64) -> Plaintexts {
        self.tabulate(1, |comparison, bit| 3 + self.mask_bit(comparison, bit) * (u - 6))
    }

    /// What d_0 is multiplied by: 1, and for s = −1 −r_0.
    fn lowest_signs(&self, u: u64) -> Plaintexts {
        let sign = |comparison| {
            let flip = self.flips.get(comparison)[0];
            (1 - flip) + flip * self.mask_bit(comparison, 0) * (u - 1)
        };
        wide::tabulate(self.masks.len(), sign)
    }

    /// s − r_i + 3·Σ r_j over j > i modulo u; r_0 in place of s − r_0 for s = −1.
    fn constants(&self, u: u64) -> Plaintexts {
        self.tabulate(0, |comparison, bit| {
            let (own, flip) = (self.mask_bit(comparison, bit), self.flips.get(comparison)[0]);
            let sum: u64 = (bit + 1..self.bits as usize).map(|above| 3 * self.mask_bit(comparison, above)).sum();
            if bit == 0 {
                return sum + (1 ^ own ^ flip);
            }
            // Two more than wanted; below 3·l + 2, so that u is subtracted never, and added for −1 and −2.
            let more = sum + 3 - own - 2 * flip;
            let negative = std::hint::black_box((more.wrapping_sub(2) >> 63).wrapping_neg());
            more.wrapping_sub(2).wrapping_add(u & negative)
        })
    }

    /// A number for each bit from one on of each comparison.
    fn tabulate(&self, first: usize, number: impl Fn(usize, usize) -> u64) -> Plaintexts {
        let count = self.masks.len();
        let rows = (self.bits as usize - first) * count;
        wide::tabulate(rows, |at| number(at % count, first + at / count))
    }
}

/// Hides them: each is multiplied by a random unit of Z_u and re-randomised, and those of each comparison, one comparison
/// after the other, are put in a random order.
pub fn hidden(key: &dgk::PublicKey, bits: u32, values: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts> {
    let values = key.rerandomise(&multiplied(key, values, rng)?, rng)?;
    let count = values.len() / bits as usize;
    let of_comparison = |comparison: usize| (0..bits as usize).map(|bit| bit * count + comparison).collect::<Vec<_>>();
    let shuffled = |comparison| Shuffle::new(bits as usize, rng).ciphertexts(&values.pick(&of_comparison(comparison))?);
    Ciphertexts::joined(&(0..count).map(shuffled).collect::<Result<Vec<_>>>()?)
}

/// Each times a random number from 1 to u − 1, uniform but for 2⁻¹¹⁰.
pub fn multiplied(key: &dgk::PublicKey, values: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts> {
    let random = wide::random(values.len(), 128, rng);
    let unit = |at: usize| {
        let [low, high] = [0, 1].map(|word| u128::from(random.get(at)[word]) * u128::from(key.u() - 1));
        1 + ((high + (low >> 64)) >> 64) as u64
    };
    key.multiply_constants(values, &wide::tabulate(values.len(), unit), width(key))
}

/// What the client makes of decrypted d: d div 2^l, and the bits of d̂ under DGK, the lowest of all comparisons first.
pub fn split(
    key: &dgk::SecretKey,
    bits: u32,
    masked: &Plaintexts,
    rng: &mut Generator,
) -> Result<(Plaintexts, Ciphertexts)> {
    let count = masked.len();
    let digit = |at: usize| masked.get(at % count)[at / count / 64] >> (at / count % 64) & 1;
    let digits = wide::tabulate(bits as usize * count, digit);
    Ok((wide::shifted_down(masked, bits), key.encrypt(&digits, rng)?))
}

/// Whether one of those of a comparison is zero; none if there are more, which an honest server never sends.
pub fn any_zero(key: &dgk::SecretKey, bits: u32, values: &Ciphertexts) -> Result<Option<Plaintexts>> {
    let zeros = key.are_zero(values)?;
    let count = |zeros: &[bool]| zeros.iter().map(|&zero| u64::from(zero)).sum();
    let counts: Zeroizing<Vec<u64>> = Zeroizing::new(zeros.chunks_exact(bits as usize).map(count).collect());
    let honest = counts.iter().fold(0, |any, count| any | count >> 1) == 0;
    Ok(honest.then(|| wide::tabulate(counts.len(), |at| counts[at])))
}

/// Bits of a number below u.
fn width(key: &dgk::PublicKey) -> u32 {
    64 - key.u().leading_zeros()
}

#[cfg(test)]
mod tests;

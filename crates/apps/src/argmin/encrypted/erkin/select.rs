//! The selections of a level: the lesser value and its argument, each by one multiplication with blinded factors.
//!
//! For t = [a ≤ b] and D = 2^w + a − b, with masks ρ of 1 + σ and r of w + 1 + σ bits:
//!
//! ```text
//! server → client   [t + ρ] and [D + r], each kind packed
//! client → server   [(t + ρ)·(D + r)]
//! server            [least] = [(t + ρ)·(D + r)] − (2^w + r)·[t] − ρ·[D] − ρ·r + [b]
//! ```

use super::super::wide;
use he::paillier::PublicKey;
use he::{Additive, Ciphertexts, Plaintexts, Result};
use kernels::generator::Generator;

/// The selections of a level at the server: of the values first, then of the arguments, both by the same bits.
pub struct Selections {
    bits: u32,
    sigma: u32,
    /// Masks of t, and of D.
    factors: Plaintexts,
    masks: Plaintexts,
    chosen: Ciphertexts,
    differences: Ciphertexts,
    right: Ciphertexts,
}

impl Selections {
    /// Selections of what has at most so many bits, by t.
    pub fn new(
        key: &PublicKey,
        (bits, sigma): (u32, u32),
        chosen: &Ciphertexts,
        [left, right]: [&Ciphertexts; 2],
        rng: &mut Generator,
    ) -> Result<Selections> {
        let difference = key.add(left, &key.negate(right)?)?;
        let differences =
            key.add_constants(&difference, &wide::plus_power(&wide::tabulate(left.len(), |_| 0), bits))?;
        let factors = wide::random(chosen.len(), 1 + sigma, rng);
        let masks = wide::random(left.len(), bits + 1 + sigma, rng);
        let (chosen, right) = (chosen.clone(), right.clone());
        Ok(Selections { bits, sigma, factors, masks, chosen, differences, right })
    }

    /// [t + ρ] and [D + r].
    pub fn masked(&self, key: &PublicKey) -> Result<[Ciphertexts; 2]> {
        let chosen = key.add_constants(&self.chosen, &self.factors)?;
        Ok([chosen, key.add_constants(&self.differences, &self.masks)?])
    }

    /// [least].
    pub fn finish(self, key: &PublicKey, products: &Ciphertexts) -> Result<Ciphertexts> {
        let chosen = Ciphertexts::joined(&[self.chosen.clone(), self.chosen])?;
        let factors = wide::twice(&self.factors);
        let of_chosen = wide::plus_power(&self.masks, self.bits);
        let of_chosen = key.multiply_constants(&chosen, &of_chosen, self.bits + 2 + self.sigma)?;
        let of_differences = key.multiply_constants(&self.differences, &factors, 1 + self.sigma)?;
        let less = key.negate(&key.add(&of_chosen, &of_differences)?)?;
        let less = key.add_constants(&less, &key.negatives(&wide::products(&factors, &self.masks))?)?;
        key.add(&key.add(products, &less)?, &self.right)
    }
}

/// What the client makes of decrypted factors.
pub fn products(chosen: &Plaintexts, differences: &Plaintexts) -> Plaintexts {
    wide::products(&wide::twice(chosen), differences)
}

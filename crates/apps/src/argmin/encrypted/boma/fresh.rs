//! Fresh statistical randomness for all that the server sends and gets, made at once: eight side by side.

use super::own;
use duologue::Result;
use he::paillier::PublicKey;
use he::{Additive, Ciphertexts, Plaintexts};
use kernels::generator::Generator;

/// Encryptions of zero, each for one use.
pub struct Fresh {
    zeros: Ciphertexts,
    used: usize,
}

impl Fresh {
    /// So many, whose randomness is uniform for the key's owner, too, but for a statistical distance of 2⁻⁶⁴ each.
    pub fn new(key: &PublicKey, count: usize, rng: &mut Generator) -> Result<Fresh> {
        let zeros = key.encrypt(&Plaintexts::from_words(&vec![0; count], 1), rng).map_err(own)?;
        Ok(Fresh { zeros, used: 0 })
    }

    /// A broken twin, for tests: encryptions of zero without randomness.
    #[cfg(test)]
    pub fn without_randomness(key: &PublicKey, count: usize, rng: &mut Generator) -> Fresh {
        let Fresh { zeros, used } = Fresh::new(key, count, rng).unwrap();
        let zeros = key.add(&zeros, &key.negate(&zeros).unwrap()).unwrap();
        Fresh { zeros, used }
    }

    /// The next ones.
    ///
    /// # Errors
    /// If there are no more.
    pub fn take(&mut self, count: usize) -> he::Result<Ciphertexts> {
        let places: Vec<usize> = (self.used..self.used + count).collect();
        self.used += count;
        self.zeros.pick(&places)
    }

    /// Ciphertexts with other randomness. One Jacobi symbol is left in each packed one, that of the product of what is not squared
    /// in it. It is looked at in what is sent, which is public.
    ///
    /// # Errors
    /// If one has the Jacobi symbol −1, which would stay.
    pub fn add(&mut self, key: &PublicKey, ciphertexts: &Ciphertexts) -> he::Result<Ciphertexts> {
        let sums = key.add(ciphertexts, &self.take(ciphertexts.len())?)?;
        key.have_symbol_one(&sums)?;
        Ok(sums)
    }
}

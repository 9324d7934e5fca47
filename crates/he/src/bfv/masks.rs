//! The second halves of Bob's ciphertexts, all from one seed that travels once.

use kernels::Block;
use kernels::generator::Generator;

use super::ring::{DEGREE, Q};

/// Bytes of a seed.
pub const SEED: usize = 16;

/// Words from this on would make the first residues likelier than the rest: one in 2¹⁰.
const END: u64 = u64::MAX / Q * Q;

/// Uniform polynomials c₁ of a seed, each by its number: public, and the same for whoever has the seed.
///
/// The generator is AES-128 in counter mode under keys made of the seed. That a public seed gives what no attack tells from
/// uniform polynomials is an assumption on AES, as in FrodoKEM's matrices from AES-128.
pub struct Masks(Generator);

impl Masks {
    /// Those of a seed.
    pub fn new(seed: [u8; SEED]) -> Self {
        Masks(Generator::from_seed(Block::from_bytes(seed)))
    }

    /// The one of this number. Alice asks for them in the order of her wiring: so all take the same time, words that are
    /// refused or left over too.
    pub(super) fn get(&self, number: u64) -> Vec<u64> {
        let mut rng = self.0.derive(b"masks...", number);
        let mut out = Vec::new();
        let mut taken = 0;
        while taken < DEGREE {
            // Once: at most two words of a number are refused on average, of 256 that may be.
            let mut words = [0; DEGREE + 256];
            rng.words(&mut words);
            out.resize(taken + words.len(), 0);
            for word in words {
                out[taken] = word % Q;
                taken += usize::from(word < END);
            }
        }
        out.truncate(DEGREE);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_residues_that_look_uniform() {
        let masks = Masks::new([7; SEED]);
        let all: Vec<u64> = (0..64).flat_map(|number| masks.get(number)).collect();
        assert!(all.iter().all(|&x| x < Q));
        let mean = all.iter().map(|&x| x as f64 / Q as f64).sum::<f64>() / all.len() as f64;
        // Five standard deviations of 2¹⁷ uniform numbers.
        assert!((mean - 0.5).abs() < 5.0 * (12.0 * all.len() as f64).sqrt().recip(), "{mean}");
    }

    #[test]
    fn every_number_and_every_seed_has_its_own() {
        let masks = Masks::new([7; SEED]);
        assert_eq!(masks.get(3), Masks::new([7; SEED]).get(3));
        assert_ne!(masks.get(3), masks.get(4));
        assert_ne!(masks.get(3), Masks::new([8; SEED]).get(3));
    }
}

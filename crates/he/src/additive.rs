//! What both systems can do.

use kernels::generator::Generator;

use crate::error::Result;
use crate::group::Ciphertexts;
use crate::plaintexts::Plaintexts;

/// A public key of a system whose ciphertexts can be added. Everything takes batches, of which eight numbers each are
/// computed side by side.
///
/// Sums and products with constants follow from their operands: who made those can tell which they were. A ciphertext
/// that somebody else is to see is [re-randomised](Self::rerandomise) first.
pub trait Additive {
    /// Who has it can decrypt.
    type Secret;

    /// Encrypts. The randomness hides the plaintexts from everybody but the key's owner, and is statistically
    /// independent of any other ciphertext's for the owner, too.
    ///
    /// # Errors
    /// If a plaintext is too large.
    fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts>;

    /// Decrypts.
    ///
    /// # Errors
    /// If the ciphertexts are of another key, or hold nothing that can be decrypted.
    fn decrypt(&self, secret: &Self::Secret, ciphertexts: &Ciphertexts) -> Result<Plaintexts>;

    /// Sums of plaintexts at the same places.
    ///
    /// # Errors
    /// If the batches differ in length, or one is of another key.
    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts>;

    /// Sums with constants.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if a constant is too large.
    fn add_constants(&self, a: &Ciphertexts, constants: &Plaintexts) -> Result<Ciphertexts>;

    /// Products with secret constants of at most `bits` bits, a public number.
    ///
    /// # Errors
    /// As [`add`](Self::add), and if a constant has more bits.
    fn multiply_constants(&self, a: &Ciphertexts, constants: &Plaintexts, bits: u32) -> Result<Ciphertexts>;

    /// Ciphertexts of the negative plaintexts.
    ///
    /// # Errors
    /// If they are of another key.
    fn negate(&self, a: &Ciphertexts) -> Result<Ciphertexts>;

    /// Other ciphertexts of the same plaintexts, which the key's owner cannot link to them: the new randomness is uniform
    /// in the group of h^N (Paillier) or h (DGK), but for a statistical distance of 2⁻⁶⁴ (Paillier) or 2⁻⁸⁰ (DGK, with a
    /// modulus of 512 bits or more) for each. What a ciphertext has outside of that group stays.
    ///
    /// # Errors
    /// If they are of another key.
    fn rerandomise(&self, a: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts>;
}

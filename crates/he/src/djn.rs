//! Labels under Paillier's system with the randomness of Damgård, Jurik and Nielsen ([`paillier`](crate::paillier)): integers
//! modulo 2¹²⁸, several of them in an answer.
//!
//! The garbler owns the key, encrypts modulo p² and q² and decrypts so. A label is a plaintext of its own; the evaluator packs
//! labels into an answer, in slots of 169 bits, and adds an encryption of all their blindings.
//!
//! ```text
//! answer = Π E(s_i)^(2^(169·i)) · E(Σ b_i·2^(169·i))          b_i uniform in 0 … 2¹⁶⁸ − 1
//! ```
//!
//! **What the owner sees** of an answer: the integers s_i + b_i, and the answer's randomness, since it can take N-th roots.
//! The sums are independent of s_i but for a statistical distance of 2⁻⁴⁰ each; both parties go on with them modulo 2¹²⁸. The
//! randomness of E(Σ …) is h^(N·α) with α of T + 64 bits, so that of the answer is uniform in ⟨h^N⟩ but for 2⁻⁶⁴, whatever
//! it is multiplied with, as the ciphertexts that are read have the Jacobi symbol 1 (`docs/he.md`).
//!
//! **Security**: decisional composite residuosity, 3,072 bits for 128.

use kernels::generator::Generator;
use zeroize::Zeroizing;

use crate::additive::Additive;
use crate::error::{Error, Result};
use crate::group::Ciphertexts;
use crate::linear::{Integers, Scheme};
use crate::packing::Layout;
use crate::paillier::{PublicKey, SecretKey};
use crate::plaintexts::Plaintexts;
use crate::size::KeySize;

/// The scheme with a modulus of so many bits. Those below 2,048 can be broken: they are for tests.
pub enum DjnOf<const BITS: u32> {}

/// The scheme with 3,072 bits.
pub type Djn = DjnOf<3072>;

/// Bits of a label.
const LABEL: u32 = 128;
/// By so many bits is a blinding longer than a label.
const STATISTICAL: u32 = 40;
/// Bits of a slot: of the sum of a label and a blinding.
const SLOT: u32 = LABEL + STATISTICAL + 1;
/// Words of a blinding.
const WORDS: usize = 3;

impl<const BITS: u32> DjnOf<BITS> {
    /// Labels of an answer.
    const SLOTS: usize = ((BITS - 1) / SLOT) as usize;
    /// Bytes of a ciphertext.
    const CIPHERTEXT: usize = BITS as usize / 4;

    fn size() -> Result<KeySize> {
        KeySize::even_if_it_can_be_broken(BITS)
    }

    fn layout(key: &PublicKey) -> Result<Layout> {
        Layout::uniform(SLOT, key)
    }

    fn check(bytes: &[u8], ciphertexts: usize) -> Result<()> {
        let fits = bytes.len() == ciphertexts * Self::CIPHERTEXT;
        if fits { Ok(()) } else { Err(Error::Form("they are not as long as so many ciphertexts")) }
    }
}

/// The lowest 128 bits of each number.
fn lowest(numbers: &Plaintexts) -> Integers {
    let word = |number: &[u64], at: usize| u128::from(number.get(at).copied().unwrap_or(0));
    Integers::new(Zeroizing::new(numbers.iter().map(|number| word(number, 0) | word(number, 1) << 64).collect()))
}

impl<const BITS: u32> Scheme for DjnOf<BITS> {
    const NAME: &'static str = "djn";
    /// Full answers, and of 3,072 bits as many as two groups of eight.
    const CHUNK: usize = 8 * Self::SLOTS;
    const KEY: usize = 12 + BITS as usize / 4;

    type Labels = Integers;
    type Secret = SecretKey;
    type Public = PublicKey;
    /// None before the first.
    type Store = Option<Ciphertexts>;
    type Blindings = Plaintexts;
    type Blinded = Ciphertexts;

    fn generate(rng: &mut Generator) -> Result<SecretKey> {
        SecretKey::generate(Self::size()?, rng)
    }

    fn key(secret: &SecretKey) -> Vec<u8> {
        secret.public().to_bytes()
    }

    fn read_key(bytes: &[u8]) -> Result<PublicKey> {
        PublicKey::from_bytes(bytes, Self::size()?)
    }

    fn ciphertexts(count: usize) -> usize {
        count * Self::CIPHERTEXT
    }

    fn encrypt(secret: &mut SecretKey, labels: &Integers, rng: &mut Generator) -> Result<Vec<u8>> {
        let ciphertexts = secret.encrypt(&Plaintexts::new(labels.values()), rng)?;
        secret.public().write_numbers(&ciphertexts)
    }

    fn store(_: &PublicKey) -> Result<Self::Store> {
        Ok(None)
    }

    fn append(public: &mut PublicKey, store: &mut Self::Store, bytes: &[u8], count: usize) -> Result<()> {
        Self::check(bytes, count)?;
        let new = public.read_numbers(bytes)?;
        *store = Some(match store.take() {
            Some(old) => Ciphertexts::joined(&[old, new])?,
            None => new,
        });
        Ok(())
    }

    fn blindings(count: usize, rng: &mut Generator) -> Plaintexts {
        let mut words = Zeroizing::new(vec![0; WORDS * count]);
        rng.words(&mut words);
        words.chunks_exact_mut(WORDS).for_each(|number| number[WORDS - 1] &= (1 << (LABEL + STATISTICAL - 128)) - 1);
        Plaintexts::from_words(&words, WORDS)
    }

    fn labels(blindings: &Plaintexts) -> Integers {
        lowest(blindings)
    }

    fn blind(public: &PublicKey, blindings: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        public.encrypt(&Self::layout(public)?.pack(blindings)?, rng)
    }

    fn answers(count: usize) -> usize {
        count.div_ceil(Self::SLOTS) * Self::CIPHERTEXT
    }

    fn answer(public: &PublicKey, store: &mut Self::Store, places: &[usize], blinded: Ciphertexts) -> Result<Vec<u8>> {
        let wires = store.as_ref().ok_or(Error::Lengths(places.len(), 0))?;
        let packed = Self::layout(public)?.pack_ciphertexts(public, &wires.pick(places)?)?;
        public.write_numbers(&public.add(&packed, &blinded)?)
    }

    fn decrypt(secret: &SecretKey, answers: &[u8], count: usize) -> Result<Integers> {
        Self::check(answers, count.div_ceil(Self::SLOTS))?;
        let packed = secret.decrypt(&secret.read_numbers(answers)?)?;
        Ok(lowest(&Self::layout(secret.public())?.unpack(&packed, count)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Labels;

    #[test]
    fn an_answer_of_3072_bits_has_18_labels() {
        assert_eq!((Djn::SLOTS, Djn::CHUNK, Djn::CIPHERTEXT, Djn::KEY), (18, 144, 768, 780));
        assert_eq!(Djn::answers(2 * Djn::CHUNK), 16 * 768);
        assert_eq!(Integers::BYTES, 16);
    }
}

//! Public keys: encryption by others than the owner, sums, products with constants.

use std::sync::{Arc, OnceLock};

use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus, Residues};
use zeroize::Zeroizing;

use super::{SecretKey, U_BITS};
use crate::additive::Additive;
use crate::coding::{Reader, put_number};
use crate::error::{Error, KeyFault, Result};
use crate::group::{Ciphertexts, Group};
use crate::number;
use crate::paillier::{check_modulus, check_unit};
use crate::plaintexts::Plaintexts;
use crate::prime;
use crate::size::KeySize;

/// What begins a public key.
const MAGIC: &[u8; 8] = b"duo-hdp\x01";

/// A public key. A clone is the same key, not a copy of it.
#[derive(Clone)]
pub struct PublicKey(Arc<Public>);

struct Public {
    size: KeySize,
    u: u64,
    g: Vec<u64>,
    h: Vec<u64>,
    group: Group,
    tables: OnceLock<[FixedBase; 2]>,
}

impl PublicKey {
    /// Reads a peer's key of an agreed length, for comparisons of numbers of `width` bits, and checks it.
    ///
    /// # Errors
    /// If it has not the form of a key of this length, its modulus is even, a prime, a power or has a factor below 2²⁰,
    /// u is composite or at most 3·width + 2, or g or h is 0 or ±1 or not coprime to the modulus.
    pub fn from_bytes(bytes: &[u8], size: KeySize, width: u32) -> Result<Self> {
        Self::decode(bytes, size, width).map_err(Error::PublicKey)
    }

    fn decode(bytes: &[u8], size: KeySize, width: u32) -> std::result::Result<Self, KeyFault> {
        let mut reader = Reader(bytes);
        if reader.take(8) != Some(MAGIC) {
            return Err(KeyFault::Form);
        }
        if reader.u32() != Some(size.bits()) {
            return Err(KeyFault::Size);
        }
        let u = u64::from(reader.u32().ok_or(KeyFault::Form)?);
        let [n, g, h] = [(); 3].map(|()| reader.number(size.bits()));
        reader.end()?;
        let (Some(n), Some(g), Some(h)) = (n, g, h) else { return Err(KeyFault::Form) };
        check_modulus(&n, size.bits())?;
        if !prime::is_small_prime(u) || u <= 3 * u64::from(width) + 2 || u >= 1 << U_BITS {
            return Err(KeyFault::U);
        }
        check_unit(&g, &n)?;
        check_unit(&h, &n)?;
        Self::new(size, u, &n, &g, &h)
    }

    /// A key whose parts have been checked.
    pub(super) fn new(size: KeySize, u: u64, n: &[u64], g: &[u64], h: &[u64]) -> std::result::Result<Self, KeyFault> {
        let modulus = Modulus::new(n).map_err(|_| KeyFault::Form)?;
        let group = Group::new(modulus, n, &encode(size, u, n, g, h));
        Ok(PublicKey(Arc::new(Public { size, u, g: g.to_vec(), h: h.to_vec(), group, tables: OnceLock::new() })))
    }

    /// The key as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let key = &self.0;
        encode(key.size, key.u, key.group.modulus.words(), &key.g, &key.h)
    }

    /// The number of plaintexts, a prime.
    pub fn u(&self) -> u64 {
        self.0.u
    }

    /// The length of n.
    pub fn size(&self) -> KeySize {
        self.0.size
    }

    /// Bytes of a key of this length.
    pub fn bytes(size: KeySize) -> usize {
        MAGIC.len() + 8 + 3 * size.bits() as usize / 8
    }

    pub(super) fn bases(&self) -> [&[u64]; 2] {
        [&self.0.g, &self.0.h]
    }

    pub(super) fn group(&self) -> &Group {
        &self.0.group
    }

    /// Ciphertexts as bytes: 44 and T/8 for each.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn write(&self, ciphertexts: &Ciphertexts) -> Result<Vec<u8>> {
        self.0.group.write(ciphertexts)
    }

    /// Reads ciphertexts.
    ///
    /// # Errors
    /// If the bytes have another length than they say, are of another key, or a ciphertext is 0, not less than n or not
    /// coprime to it.
    pub fn read(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.0.group.read(bytes)
    }

    /// Ciphertexts as bytes without what begins them, where it is known whose they are and how many: T/8 for each.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn write_numbers(&self, ciphertexts: &Ciphertexts) -> Result<Vec<u8>> {
        self.0.group.write_numbers(ciphertexts)
    }

    /// Reads what [`write_numbers`](Self::write_numbers) wrote.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for the key, which nobody can see.
    pub fn read_numbers(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.0.group.read_numbers(bytes)
    }

    /// Made when first used, for about so many powers.
    fn tables(&self, powers: usize) -> &[FixedBase; 2] {
        let (key, modulus) = (&self.0, &self.0.group.modulus);
        key.tables.get_or_init(|| {
            let bits = [number::bits(&[key.u]), self.random_bits()];
            [(&key.g, bits[0]), (&key.h, bits[1])]
                .map(|(base, bits)| FixedBase::new(modulus, base, bits as usize, powers))
        })
    }

    fn random_bits(&self) -> u32 {
        self.0.size.subgroup_bits() * 5 / 2
    }

    /// g^m.
    fn lifted(&self, values: &Plaintexts) -> Result<Residues> {
        let values = values.below(&[self.0.u])?;
        Ok(self.tables(values.len())[0].power(&self.0.group.modulus, values.flat()))
    }

    /// h^r.
    fn zeros(&self, count: usize, rng: &mut Generator) -> Residues {
        let len = self.random_bits().div_ceil(64) as usize;
        let mut exponents = Zeroizing::new(vec![0; count * len]);
        rng.words(&mut exponents);
        exponents.chunks_exact_mut(len).for_each(|exponent| number::cut(exponent, self.random_bits()));
        self.tables(count)[1].power(&self.0.group.modulus, &exponents)
    }
}

impl Additive for PublicKey {
    type Secret = SecretKey;

    fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let lifted = self.lifted(values)?;
        Ok(self.0.group.batch(self.0.group.modulus.multiply(&lifted, &self.zeros(values.len(), rng))))
    }

    fn decrypt(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        if secret.public().0.group.key == self.0.group.key { secret.decrypt(ciphertexts) } else { Err(Error::OtherKey) }
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts> {
        self.0.group.add(a, b)
    }

    fn add_constants(&self, a: &Ciphertexts, constants: &Plaintexts) -> Result<Ciphertexts> {
        Group::check_lengths(a.len(), constants.len())?;
        self.0.group.multiply(a, &self.lifted(constants)?)
    }

    fn multiply_constants(&self, a: &Ciphertexts, constants: &Plaintexts, bits: u32) -> Result<Ciphertexts> {
        self.0.group.multiply_constants(a, constants, bits)
    }

    fn negate(&self, a: &Ciphertexts) -> Result<Ciphertexts> {
        self.0.group.negate(a)
    }

    fn rerandomise(&self, a: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts> {
        self.0.group.check(a)?;
        self.0.group.multiply(a, &self.zeros(a.len(), rng))
    }
}

/// What begins a key, the bits of n, u, n, g, h.
fn encode(size: KeySize, u: u64, n: &[u64], g: &[u64], h: &[u64]) -> Vec<u8> {
    let mut out = [&MAGIC[..], &size.bits().to_le_bytes(), &(u as u32).to_le_bytes()].concat();
    [n, g, h].iter().for_each(|number| put_number(&mut out, number, size.bits()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    #[test]
    fn exponents_have_two_and_a_half_times_the_bits_of_the_subgroups() {
        let mut dice = Generator::from_seed(Block::new(64));
        for (bits, of_subgroups, of_exponents) in
            [(256, 64, 160), (512, 160, 400), (1024, 160, 400), (2048, 224, 560), (3008, 224, 560), (3072, 256, 640)]
        {
            let size = KeySize::even_if_it_can_be_broken(bits).expect("a length");
            assert_eq!(size.subgroup_bits(), of_subgroups);
            let [g, h] = [3, 5].map(|x| number::small(x, size.words()));
            let key = PublicKey::new(size, 101, &vec![!0; size.words()], &g, &h).expect("odd");
            key.encrypt(&Plaintexts::new(&[1]), &mut dice).expect("small");
            let tables = key.0.tables.get().map(|tables| tables.each_ref().map(FixedBase::bits));
            assert_eq!(tables, Some([7, of_exponents]), "{bits}");
        }
    }
}

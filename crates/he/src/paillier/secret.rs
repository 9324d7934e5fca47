//! Private keys: making them, decryption and the owner's encryption modulo p² and q², key files.

use std::sync::OnceLock;

use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus};
use zeroize::Zeroizing;

use super::PublicKey;
use super::public::{check_base, exponents};
use crate::coding::{Reader, put_number};
use crate::crt;
use crate::error::{Error, KeyFault, Result};
use crate::group::Ciphertexts;
use crate::number::{self, Words};
use crate::plaintexts::Plaintexts;
use crate::prime;
use crate::seal::{self, SealKey};
use crate::size::KeySize;

/// What begins a private key's file.
const MAGIC: &[u8; 8] = b"duo-hes\x01";

/// A private key. It is erased when dropped, and has no `Debug`.
///
/// ```compile_fail,E0277
/// fn print(key: &duologue_he::paillier::SecretKey) {
///     println!("{key:?}");
/// }
/// ```
pub struct SecretKey {
    public: PublicKey,
    p: Half,
    q: Half,
    /// q⁻¹ mod p, as a number to multiply by.
    inverse: Words,
    /// q⁻² mod p².
    inverse_of_square: Words,
}

/// What is computed modulo one of the primes.
struct Half {
    prime: Words,
    modulus: Modulus,
    square: Modulus,
    /// (−other)⁻¹ modulo the prime.
    factor: Words,
    /// Powers of h^N with exponents of T/2 bits; made when first used.
    table: OnceLock<FixedBase>,
}

impl SecretKey {
    /// A new key. The generator is seeded by the operating system. The time of the search depends on the primes.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn generate(size: KeySize, rng: &mut Generator) -> Result<Self> {
        let p = prime::with_large_subgroups(size.bits() / 2, rng);
        loop {
            let q = prime::with_large_subgroups(size.bits() / 2, rng);
            let n = number::product(&p, &q);
            let x = number::random_below(&n, rng);
            let made = Self::from_primes(size, &p, &q, &x);
            // Close primes, or a common factor of p − 1 and q − 1: never but for chance.
            if !matches!(made, Err(Error::PrivateKey(KeyFault::FactorsClose | KeyFault::SmallSubgroups))) {
                return made;
            }
        }
    }

    /// The key of two primes, with h = −x² mod N.
    ///
    /// # Errors
    /// If they do not make a key (see [`KeyFault`]), or the operating system has no random bytes.
    pub fn from_primes(size: KeySize, p: &[u64], q: &[u64], x: &[u64]) -> Result<Self> {
        if [p, q].iter().any(|prime| number::is_longer(prime, size.bits() / 2)) {
            return Err(Error::PrivateKey(KeyFault::Size));
        }
        let [p, q] = [p, q].map(|prime| number::resized(prime, (size.bits() / 2).div_ceil(64) as usize));
        let n = number::resized(&number::product(&p, &q), size.words());
        if number::is_zero(&n) {
            return Err(Error::PrivateKey(KeyFault::FactorNotPrime));
        }
        let x = number::resized(x, x.len().max(1));
        let square = number::remainder(&number::product(&x, &x), &n);
        let h = number::subtract_modulo(&number::small(0, n.len()), &square, &n);
        Self::from_parts(size, &p, &q, &h, &mut random()?).map_err(Error::PrivateKey)
    }

    fn from_parts(
        size: KeySize,
        p: &[u64],
        q: &[u64],
        h: &[u64],
        rng: &mut Generator,
    ) -> std::result::Result<Self, KeyFault> {
        let n = number::resized(&number::product(p, q), size.words());
        check_factors(size, p, q, &n, rng)?;
        check_base(h, &n)?;
        if is_square(h, p) {
            return Err(KeyFault::BaseSquare);
        }
        let public = PublicKey::new(size, &n, h)?;
        let inverse = number::inverse(q, p).ok_or(KeyFault::NotCoprimeToOrder)?;
        let square = |prime| number::resized(&number::product(prime, prime), size.words());
        let [p_square, q_square] = [square(p), square(q)];
        let inverse_of_square = number::inverse(&q_square, &p_square).ok_or(KeyFault::NotCoprimeToOrder)?;
        Ok(SecretKey { public, p: Half::new(p, q)?, q: Half::new(q, p)?, inverse, inverse_of_square })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Encrypts with α of T/2 bits, modulo p² and q², which is quicker than for others. Only for ciphertexts that
    /// this key's owner makes.
    ///
    /// # Errors
    /// If a plaintext is not less than N.
    pub fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let lifted = self.public.lifted(values)?;
        let bits = self.public.size().bits() / 2;
        let alphas = exponents(values.len(), bits, rng);
        let [p, q] = [&self.p, &self.q].map(|half| half.power_of_base(self.public.nth_power(), &alphas, bits));
        let group = self.public.group();
        let (modulus, other) = (&self.p.square, self.q.square.words());
        let zeros = crt::combined([&p, &q], modulus, other, &self.inverse_of_square, group.modulus.len());
        Ok(group.batch(group.modulus.multiply(&lifted, &group.modulus.residues(&zeros))))
    }

    /// Reads ciphertexts that are to be decrypted, for which their Jacobi symbols do not matter.
    ///
    /// # Errors
    /// As [`PublicKey::read`], but for the Jacobi symbol.
    pub fn read(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.public.group().read(bytes)
    }

    /// Reads ciphertexts without what begins them, as [`read`](Self::read) does.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for the key, which nobody can see.
    pub fn read_numbers(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.public.group().read_numbers(bytes)
    }

    /// Decrypts, modulo p² and q².
    ///
    /// # Errors
    /// If the ciphertexts are of another key.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        let group = self.public.group();
        group.check(ciphertexts)?;
        let values = group.modulus.values(&ciphertexts.residues);
        let [p, q] = [&self.p, &self.q].map(|half| half.decrypt(&values, group.modulus.len()));
        let len = self.public.modulus().len();
        let values = crt::combined([&p, &q], &self.p.modulus, &self.q.prime, &self.inverse, len);
        Ok(Plaintexts::from_words(&values, len))
    }

    /// The key as the content of a file, sealed if a key for that is given.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn to_file(&self, seal_key: Option<&SealKey>) -> Result<Zeroizing<Vec<u8>>> {
        let size = self.public.size();
        let mut secret = Zeroizing::new(Vec::with_capacity(size.bits() as usize));
        put_number(&mut secret, &self.p.prime, size.bits() / 2);
        put_number(&mut secret, &self.q.prime, size.bits() / 2);
        put_number(&mut secret, self.public.base(), size.bits());
        seal::seal(seal_key, &head(size, seal_key.is_some()), &secret)
    }

    /// Reads what [`to_file`](Self::to_file) wrote, and checks the primes, their form, and that h is a unit of Jacobi
    /// symbol 1 and no square; in constant time, if they make a key. `size` gets the length that the file says.
    ///
    /// # Errors
    /// If the file was cut short or changed, is sealed with another key, or its primes do not make a key; and those of
    /// `size`.
    pub fn from_file(
        file: &[u8],
        seal_key: Option<&SealKey>,
        size: impl FnOnce(u32) -> Result<KeySize>,
    ) -> Result<Self> {
        let bits = Reader(file.get(8..).unwrap_or_default()).u32().ok_or(Error::PrivateKey(KeyFault::Form))?;
        if !file.starts_with(MAGIC) {
            return Err(Error::PrivateKey(KeyFault::Form));
        }
        let size = size(bits)?;
        let sealed = file.get(12) == Some(&1);
        seal::check(sealed, seal_key)?;
        let secret = seal::open(seal_key, &head(size, sealed), file)?;
        let mut reader = Reader(&secret);
        let [p, q, h] = [size.bits() / 2, size.bits() / 2, size.bits()].map(|bits| reader.number(bits));
        let (Some(p), Some(q), Some(h), Ok(())) = (p, q, h, reader.end()) else {
            return Err(Error::PrivateKey(KeyFault::Form));
        };
        Self::from_parts(size, &p, &q, &h, &mut random()?).map_err(Error::PrivateKey)
    }
}

/// For the bases that primes are tried with.
fn random() -> Result<Generator> {
    Generator::from_os().map_err(|_| Error::Random)
}

fn head(size: KeySize, sealed: bool) -> Vec<u8> {
    [&MAGIC[..], &size.bits().to_le_bytes(), &[u8::from(sealed)]].concat()
}

impl Half {
    fn new(prime: &[u64], other: &[u64]) -> std::result::Result<Self, KeyFault> {
        let negative = number::subtract_modulo(&number::small(0, prime.len()), &number::remainder(other, prime), prime);
        let factor = number::inverse(&negative, prime).ok_or(KeyFault::NotCoprimeToOrder)?;
        let square = Modulus::square_of(prime).map_err(|_| KeyFault::Form)?;
        let modulus = Modulus::new(prime).map_err(|_| KeyFault::Form)?;
        let prime = number::words(prime);
        Ok(Half { modulus, square, factor, prime, table: OnceLock::new() })
    }

    /// Plaintexts modulo the prime, of ciphertexts of `len` words.
    fn decrypt(&self, ciphertexts: &[u64], len: usize) -> Words {
        let mut reduced = Zeroizing::new(Vec::with_capacity(ciphertexts.len()));
        for ciphertext in ciphertexts.chunks_exact(len) {
            reduced.extend_from_slice(&number::remainder(ciphertext, self.square.words()));
        }
        let exponent = self.minus_one();
        let powers = self.square.power(&self.square.residues(&reduced), &exponent, self.modulus.bits());
        let mut quotients = Zeroizing::new(Vec::with_capacity(reduced.len()));
        for power in self.square.values(&powers).chunks_exact(self.square.len()) {
            // (y − 1)/p < p
            let mut multiple = number::words(power);
            number::subtract(&mut multiple, &[1]);
            quotients.extend_from_slice(&number::exact_quotient(&multiple, &self.prime));
        }
        crt::times(&self.modulus, &quotients, &self.factor)
    }

    fn minus_one(&self) -> Words {
        let mut exponent = number::words(&self.prime);
        exponent[0] -= 1;
        exponent
    }

    /// Powers of a base modulo N², here modulo the square of the prime.
    fn power_of_base(&self, base: &[u64], exponents: &[u64], bits: u32) -> Words {
        let count = exponents.len() / bits.div_ceil(64) as usize;
        let base = || number::remainder(base, self.square.words());
        let table = self.table.get_or_init(|| FixedBase::new(&self.square, &base(), bits as usize, count));
        self.square.values(&table.power(&self.square, exponents))
    }
}

/// Whether a unit is a square modulo a prime, in constant time (Euler).
fn is_square(x: &[u64], prime: &[u64]) -> bool {
    let mut half = number::words(prime);
    half[0] -= 1;
    let mut carry = 0;
    for word in half.iter_mut().rev() {
        (*word, carry) = (*word >> 1 | carry, *word << 63);
    }
    number::is_equal(&number::power(x, &half, prime), &number::small(1, prime.len()))
}

/// What makes two primes a key.
fn check_factors(
    size: KeySize,
    p: &[u64],
    q: &[u64],
    n: &[u64],
    rng: &mut Generator,
) -> std::result::Result<(), KeyFault> {
    if number::is_zero(p) || number::is_zero(q) || p[0].is_multiple_of(2) || q[0].is_multiple_of(2) {
        return Err(KeyFault::FactorNotPrime);
    }
    if [p, q].iter().any(|&factor| number::bits(factor) != size.bits() / 2) || number::bits(n) != size.bits() {
        return Err(KeyFault::Size);
    }
    if prime::are_close(p, q, size.bits() / 2) {
        return Err(KeyFault::FactorsClose);
    }
    if !prime::is_prime(p, rng) || !prime::is_prime(q, rng) {
        return Err(KeyFault::FactorNotPrime);
    }
    let [p_minus, q_minus] = [p, q].map(|prime| {
        let mut minus = number::words(prime);
        minus[0] -= 1;
        minus
    });
    if !number::is_coprime(n, &number::product(&p_minus, &q_minus)) {
        return Err(KeyFault::NotCoprimeToOrder);
    }
    let divisor = number::common_divisor(&p_minus, &q_minus);
    let two = number::is_equal(&divisor, &number::small(2, divisor.len()));
    let large = two && prime::has_large_subgroups(p) && prime::has_large_subgroups(q);
    if large { Ok(()) } else { Err(KeyFault::SmallSubgroups) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    /// Jacobi symbol 1 is not enough: the powers of a square are squares, and whether a ciphertext is one would stay.
    #[test]
    fn a_base_that_is_a_square_is_no_base() {
        let mut dice = Generator::from_seed(Block::new(65));
        let size = KeySize::even_if_it_can_be_broken(256).expect("a length");
        let secret = SecretKey::generate(size, &mut dice).expect("a key");
        let (n, h) = (secret.public.modulus().to_vec(), number::words(secret.public.base()));
        let fault = |h: &[u64], dice: &mut Generator| {
            SecretKey::from_parts(size, &secret.p.prime, &secret.q.prime, h, dice).err()
        };
        assert_eq!(fault(&h, &mut dice), None);
        for square in [number::subtract_modulo(&number::small(0, n.len()), &h, &n), number::small(9, n.len())] {
            assert_eq!(fault(&square, &mut dice), Some(KeyFault::BaseSquare));
        }
    }

    #[test]
    fn the_owner_takes_exponents_of_half_the_bits_of_the_modulus() {
        let mut dice = Generator::from_seed(Block::new(61));
        for (bits, of_exponents) in [(256, 128), (512, 256)] {
            let size = KeySize::even_if_it_can_be_broken(bits).expect("a length");
            let secret = SecretKey::generate(size, &mut dice).expect("a key");
            secret.encrypt(&Plaintexts::new(&[1]), &mut dice).expect("small");
            for half in [&secret.p, &secret.q] {
                assert_eq!(half.table.get().map(FixedBase::bits), Some(of_exponents));
            }
        }
    }
}

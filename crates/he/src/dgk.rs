//! The system of Damgård, Geisler and Krøigaard (*Homomorphic encryption and secure comparison*, Int. J. Applied
//! Cryptography 2008, with the correction of 2009): numbers modulo a small prime u, and a fast test for zero.
//!
//! ```text
//! n = p·q of T bits   u·v_p | p − 1, u·v_q | q − 1 for primes v_p, v_q of 160, 224 or 256 bits
//! g of order u·v_p modulo p and u·v_q modulo q, h of orders v_p and v_q
//! E(m) = g^m·h^r mod n            r of 2.5 times the bits of v
//! m = 0 ⇔ c^(v_p) mod p = 1      m: the place of c^(v_p) among the powers of g^(v_p)
//! ```
//!
//! For comparisons of l bits, u is the least prime above 3l + 2. Security rests on the assumption of the paper, that
//! elements of order v_p·v_q look like any of order u·v_p·v_q; r hides statistically for the owner, too (2⁻⁸⁰ and less).
//! Powers are computed eight side by side; the owner computes modulo p alone. u divides both p − 1 and q − 1, so g^m has
//! m modulo u in either half.

use std::sync::{Arc, OnceLock};

use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus, Residues};
use zeroize::Zeroizing;

use crate::additive::Additive;
use crate::coding::{Reader, put_number};
use crate::error::{Error, KeyFault, Result};
use crate::group::{Ciphertexts, Group};
use crate::number::{self, Words};
use crate::paillier::{check_modulus, check_unit};
use crate::plaintexts::Plaintexts;
use crate::prime;
use crate::seal::{self, SealKey};
use crate::size::KeySize;

/// What begins a public and a private key.
const PUBLIC: &[u8; 8] = b"duo-hdp\x01";
const PRIVATE: &[u8; 8] = b"duo-hds\x01";
/// Bits of u at most: the table for decryption has u entries.
const U_BITS: u32 = 16;

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

/// A private key: p, v_p, and the powers of g^(v_p) modulo p. It has no `Debug`.
///
/// ```compile_fail,E0277
/// fn print(key: &duologue_he::dgk::SecretKey) {
///     println!("{key:?}");
/// }
/// ```
pub struct SecretKey {
    public: PublicKey,
    p: Words,
    q: Words,
    v_p: Words,
    v_q: Words,
    modulus: Modulus,
    /// g^(v_p·m) mod p for m = 0, 1, …, u − 1.
    powers: Words,
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
        if reader.take(8) != Some(PUBLIC) {
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
    fn new(size: KeySize, u: u64, n: &[u64], g: &[u64], h: &[u64]) -> std::result::Result<Self, KeyFault> {
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

    fn tables(&self) -> &[FixedBase; 2] {
        let (key, modulus) = (&self.0, &self.0.group.modulus);
        key.tables.get_or_init(|| {
            let bits = [number::bits(&[key.u]), self.random_bits()];
            [(&key.g, bits[0]), (&key.h, bits[1])].map(|(base, bits)| FixedBase::new(modulus, base, bits as usize))
        })
    }

    fn random_bits(&self) -> u32 {
        self.0.size.subgroup_bits() * 5 / 2
    }

    /// g^m.
    fn lifted(&self, values: &Plaintexts) -> Result<Residues> {
        let values = values.below(&[self.0.u])?;
        Ok(self.tables()[0].power(&self.0.group.modulus, values.flat()))
    }

    /// h^r.
    fn zeros(&self, count: usize, rng: &mut Generator) -> Residues {
        let len = self.random_bits().div_ceil(64) as usize;
        let mut exponents = Zeroizing::new(vec![0; count * len]);
        rng.words(&mut exponents);
        exponents.chunks_exact_mut(len).for_each(|exponent| number::cut(exponent, self.random_bits()));
        self.tables()[1].power(&self.0.group.modulus, &exponents)
    }
}

impl Additive for PublicKey {
    type Secret = SecretKey;

    fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let lifted = self.lifted(values)?;
        Ok(self.0.group.batch(self.0.group.modulus.multiply(&lifted, &self.zeros(values.len(), rng))))
    }

    fn decrypt(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        if secret.public.0.group.key == self.0.group.key { secret.decrypt(ciphertexts) } else { Err(Error::OtherKey) }
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

impl SecretKey {
    /// A new key for comparisons of numbers of `width` bits, at most 1,024. The generator is seeded by the operating
    /// system. The time of the search depends on the primes.
    ///
    /// # Errors
    /// If the width is larger.
    pub fn generate(size: KeySize, width: u32, rng: &mut Generator) -> Result<Self> {
        if width > 1024 {
            return Err(Error::PrivateKey(KeyFault::U));
        }
        let u = prime::next_small_prime(3 * u64::from(width) + 2);
        loop {
            let [v_p, v_q] = [(); 2].map(|()| prime::of_bits(size.subgroup_bits(), rng));
            let [p, q] = [&v_p, &v_q].map(|v| {
                let factor = number::product(v, &[2 * u]);
                prime::with_factor(&factor, size.bits() / 2, rng)
            });
            let [g, h] = bases(u, [&p, &q], [&v_p, &v_q], rng);
            let made = Self::from_parts(size, u, [&p, &q], [&v_p, &v_q], &g, &h);
            // Equal primes: never but for chance.
            if !matches!(made, Err(KeyFault::FactorsClose | KeyFault::Orders)) {
                return made.map_err(Error::PrivateKey);
            }
        }
    }

    fn from_parts(
        size: KeySize,
        u: u64,
        [p, q]: [&[u64]; 2],
        [v_p, v_q]: [&[u64]; 2],
        g: &[u64],
        h: &[u64],
    ) -> std::result::Result<Self, KeyFault> {
        let n = number::resized(&number::product(p, q), size.words());
        if [p, q].iter().any(|&factor| number::bits(factor) != size.bits() / 2) || number::bits(&n) != size.bits() {
            return Err(KeyFault::Size);
        }
        if prime::are_close(p, q, size.bits() / 2) || number::is_equal(v_p, v_q) {
            return Err(KeyFault::FactorsClose);
        }
        if !prime::is_small_prime(u) || u >= 1 << U_BITS {
            return Err(KeyFault::U);
        }
        if [v_p, v_q].iter().any(|v| number::bits(v) != size.subgroup_bits()) {
            return Err(KeyFault::Orders);
        }
        if [p, q, v_p, v_q].iter().any(|&factor| !number::is_prime_vartime(factor)) {
            return Err(KeyFault::FactorNotPrime);
        }
        check_unit(g, &n)?;
        check_unit(h, &n)?;
        if !has_orders(u, p, v_p, g, h) || !has_orders(u, q, v_q, g, h) {
            return Err(KeyFault::Orders);
        }
        let public = PublicKey::new(size, u, &n, g, h)?;
        let modulus = Modulus::new(p).map_err(|_| KeyFault::Form)?;
        let powers = powers(&number::power(g, v_p, p), u, p);
        let [p, q, v_p, v_q] = [p, q, v_p, v_q].map(number::words);
        Ok(SecretKey { public, p, q, v_p, v_q, modulus, powers })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Whether each plaintext is zero: one power of the bits of v_p modulo p.
    ///
    /// # Errors
    /// If the ciphertexts are of another key.
    pub fn are_zero(&self, ciphertexts: &Ciphertexts) -> Result<Zeroizing<Vec<bool>>> {
        let one = number::small(1, self.p.len());
        let powers = self.powers_of(ciphertexts)?;
        Ok(Zeroizing::new(powers.chunks_exact(self.p.len()).map(|power| number::is_equal(power, &one)).collect()))
    }

    /// Decrypts, by a search of all of a table of u entries.
    ///
    /// # Errors
    /// If the ciphertexts are of another key, or one holds no number below u.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        let powers = self.powers_of(ciphertexts)?;
        let mut out = Plaintexts::zeros(ciphertexts.len(), 1);
        for (index, power) in powers.chunks_exact(self.p.len()).enumerate() {
            let mut found = 0;
            for (m, entry) in (1_u64..).zip(self.powers.chunks_exact(self.p.len())) {
                found |= m & u64::from(number::is_equal(entry, power)).wrapping_neg();
            }
            if found == 0 {
                return Err(Error::NoPlaintext { index });
            }
            out.get_mut(index)[0] = found - 1;
        }
        Ok(out)
    }

    /// c^(v_p) mod p.
    fn powers_of(&self, ciphertexts: &Ciphertexts) -> Result<Words> {
        let group = &self.public.0.group;
        group.check(ciphertexts)?;
        let values = group.modulus.values(&ciphertexts.residues);
        let mut reduced = Zeroizing::new(Vec::with_capacity(values.len()));
        for value in values.chunks_exact(group.modulus.len()) {
            reduced.extend_from_slice(&number::remainder(value, &self.p));
        }
        let bits = number::bits(&self.v_p) as usize;
        let exponent = &self.v_p[..bits.div_ceil(64)];
        Ok(self.modulus.values(&self.modulus.power(&self.modulus.residues(&reduced), exponent, bits)))
    }

    /// The key as the content of a file, sealed if a key for that is given.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn to_file(&self, seal_key: Option<&SealKey>) -> Result<Zeroizing<Vec<u8>>> {
        let key = &self.public.0;
        let mut secret = Zeroizing::new(Vec::with_capacity(key.size.bits() as usize));
        for (number, bits) in [&self.p, &self.q, &self.v_p, &self.v_q].into_iter().zip(secret_bits(key.size)) {
            put_number(&mut secret, number, bits);
        }
        put_number(&mut secret, &key.g, key.size.bits());
        put_number(&mut secret, &key.h, key.size.bits());
        seal::seal(seal_key, &head(key.size, key.u, seal_key.is_some()), &secret)
    }

    /// Reads what [`to_file`](Self::to_file) wrote, and checks all of it. `size` gets the length that the file says. The
    /// time that this takes depends on the primes, which nobody else may measure.
    ///
    /// # Errors
    /// If the file was cut short or changed, is sealed with another key, or its numbers do not make a key; and those of
    /// `size`.
    pub fn from_file(
        file: &[u8],
        seal_key: Option<&SealKey>,
        size: impl FnOnce(u32) -> Result<KeySize>,
    ) -> Result<Self> {
        let form = || Error::PrivateKey(KeyFault::Form);
        let mut reader = Reader(file);
        if reader.take(8) != Some(PRIVATE) {
            return Err(form());
        }
        let (Some(bits), Some(u), Some(&[sealed])) = (reader.u32(), reader.u32(), reader.take(1)) else {
            return Err(form());
        };
        let size = size(bits)?;
        seal::check(sealed == 1, seal_key)?;
        let secret = seal::open(seal_key, &head(size, u.into(), sealed == 1), file)?;
        let mut reader = Reader(&secret);
        let parts = secret_bits(size).map(|bits| reader.number(bits));
        let bases = [(); 2].map(|()| reader.number(size.bits()));
        let ([Some(p), Some(q), Some(v_p), Some(v_q)], [Some(g), Some(h)], Ok(())) = (parts, bases, reader.end())
        else {
            return Err(form());
        };
        Self::from_parts(size, u.into(), [&p, &q], [&v_p, &v_q], &g, &h).map_err(Error::PrivateKey)
    }
}

/// Bits of p, q, v_p, v_q.
fn secret_bits(size: KeySize) -> [u32; 4] {
    [size.bits() / 2, size.bits() / 2, size.subgroup_bits(), size.subgroup_bits()]
}

fn head(size: KeySize, u: u64, sealed: bool) -> Vec<u8> {
    [&PRIVATE[..], &size.bits().to_le_bytes(), &(u as u32).to_le_bytes(), &[u8::from(sealed)]].concat()
}

/// What begins a key, the bits of n, u, n, g, h.
fn encode(size: KeySize, u: u64, n: &[u64], g: &[u64], h: &[u64]) -> Vec<u8> {
    let mut out = [&PUBLIC[..], &size.bits().to_le_bytes(), &(u as u32).to_le_bytes()].concat();
    [n, g, h].iter().for_each(|number| put_number(&mut out, number, size.bits()));
    out
}

/// 1, x, x², … modulo n, as many as wanted.
fn powers(x: &[u64], count: u64, n: &[u64]) -> Words {
    let mut all = Zeroizing::new(Vec::with_capacity(count as usize * n.len()));
    let mut power = number::small(1, n.len());
    for _ in 0..count {
        all.extend_from_slice(&power);
        power = number::remainder(&number::product(&power, x), n);
    }
    all
}

/// Whether g has order u·v and h has order v modulo a prime.
fn has_orders(u: u64, prime: &[u64], v: &[u64], g: &[u64], h: &[u64]) -> bool {
    let is_one = |x: &[u64]| number::is_equal(x, &number::small(1, x.len()));
    let [g_u, g_v, h_v] = [(g, &[u][..]), (g, v), (h, v)].map(|(base, exponent)| number::power(base, exponent, prime));
    is_one(&number::power(&g_u, v, prime))
        && !is_one(&g_u)
        && !is_one(&g_v)
        && is_one(&h_v)
        && !is_one(&number::remainder(h, prime))
}

/// Elements g and h of their orders modulo both primes.
fn bases(u: u64, primes: [&[u64]; 2], subgroups: [&[u64]; 2], rng: &mut Generator) -> [Words; 2] {
    let mut one_prime = |at: usize| {
        let (prime, v) = (primes[at], subgroups[at]);
        let mut order = number::words(prime);
        order[0] -= 1;
        let [cofactor_g, cofactor_h] =
            [number::product(v, &[u]), number::words(v)].map(|d| number::quotient(&order, &d));
        loop {
            let mut element = |exponent: &[u64]| number::power(&number::random_below(prime, rng), exponent, prime);
            let [g, h] = [element(&cofactor_g), element(&cofactor_h)];
            if has_orders(u, prime, v, &g, &h) {
                return [g, h];
            }
        }
    };
    let [[g_p, h_p], [g_q, h_q]] = [one_prime(0), one_prime(1)];
    [[&g_p, &g_q], [&h_p, &h_q]].map(|[of_p, of_q]| combined(of_p, of_q, primes))
}

/// The number that is x modulo p and y modulo q.
fn combined(x: &[u64], y: &[u64], [p, q]: [&[u64]; 2]) -> Words {
    let inverse = number::inverse(q, p).expect("different primes");
    let difference = number::subtract_modulo(x, &number::remainder(y, p), p);
    let quotient = number::remainder(&number::product(&difference, &inverse), p);
    let mut out = number::product(q, &quotient);
    number::add(&mut out, y);
    out
}

#[cfg(test)]
mod tests;

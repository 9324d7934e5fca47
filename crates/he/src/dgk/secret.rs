//! Private keys: making them, the owner's encryption modulo p and q, the test for zero and decryption modulo p, key files.

use std::sync::OnceLock;

use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus};
use zeroize::Zeroizing;

use super::{PublicKey, U_BITS};
use crate::coding::{Reader, put_number};
use crate::crt;
use crate::error::{Error, KeyFault, Result};
use crate::group::Ciphertexts;
use crate::number::{self, Words};
use crate::paillier::check_unit;
use crate::plaintexts::Plaintexts;
use crate::prime;
use crate::seal::{self, SealKey};
use crate::size::KeySize;

/// What begins a private key.
const MAGIC: &[u8; 8] = b"duo-hds\x01";

/// A private key. It is erased when dropped, and has no `Debug`.
///
/// ```compile_fail,E0277
/// fn print(key: &duologue_he::dgk::SecretKey) {
///     println!("{key:?}");
/// }
/// ```
pub struct SecretKey {
    public: PublicKey,
    p: Half,
    q: Half,
    /// 1/q modulo p.
    inverse: Words,
    /// g^(v_p·m) mod p for m = 0, 1, …, u − 1.
    powers: Words,
}

/// What is computed modulo one of the primes.
struct Half {
    prime: Words,
    modulus: Modulus,
    /// The order of h.
    v: Words,
    /// Powers of g and h; made when first used.
    tables: OnceLock<[FixedBase; 2]>,
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
        let inverse = number::inverse(q, p).ok_or(KeyFault::FactorsClose)?;
        let powers = powers(&number::power(g, v_p, p), u, p);
        Ok(SecretKey { public, p: Half::new(p, v_p)?, q: Half::new(q, v_q)?, inverse, powers })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Encrypts modulo p and q with r modulo v_p and v_q, which is quicker than for others.
    ///
    /// # Errors
    /// If a plaintext is not less than u.
    pub fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let (group, values) = (self.public.group(), values.below(&[self.public.u()])?);
        let [p, q] = [&self.p, &self.q].map(|half| half.encrypt(&self.public, &values, rng));
        let numbers = crt::combined([&p, &q], &self.p.modulus, &self.q.prime, &self.inverse, group.modulus.len());
        Ok(group.batch(group.modulus.residues(&numbers)))
    }

    /// Whether each plaintext is zero: one power of the bits of v_p modulo p.
    ///
    /// # Errors
    /// If the ciphertexts are of another key.
    pub fn are_zero(&self, ciphertexts: &Ciphertexts) -> Result<Zeroizing<Vec<bool>>> {
        let one = number::small(1, self.p.prime.len());
        let powers = self.powers_of(ciphertexts)?;
        Ok(Zeroizing::new(powers.chunks_exact(self.p.prime.len()).map(|power| number::is_equal(power, &one)).collect()))
    }

    /// Decrypts, by a search of all of a table of u entries.
    ///
    /// # Errors
    /// If the ciphertexts are of another key, or one holds no number below u.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        let powers = self.powers_of(ciphertexts)?;
        let mut out = Plaintexts::zeros(ciphertexts.len(), 1);
        for (index, power) in powers.chunks_exact(self.p.prime.len()).enumerate() {
            let mut found = 0;
            for (m, entry) in (1_u64..).zip(self.powers.chunks_exact(self.p.prime.len())) {
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
        let (group, half) = (self.public.group(), &self.p);
        group.check(ciphertexts)?;
        let values = group.modulus.values(&ciphertexts.residues);
        let mut reduced = Zeroizing::new(Vec::with_capacity(values.len()));
        for value in values.chunks_exact(group.modulus.len()) {
            reduced.extend_from_slice(&number::remainder(value, &half.prime));
        }
        let bits = number::bits(&half.v) as usize;
        let powers = half.modulus.power(&half.modulus.residues(&reduced), &half.v[..bits.div_ceil(64)], bits);
        Ok(half.modulus.values(&powers))
    }

    /// Bytes of a key of this length in a file.
    pub fn bytes(size: KeySize) -> usize {
        let secret: u32 = secret_bits(size).iter().map(|bits| bits.div_ceil(8)).sum();
        MAGIC.len() + 9 + secret as usize + 2 * size.bits() as usize / 8 + seal::MORE
    }

    /// The key as the content of a file, sealed if a key for that is given.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn to_file(&self, seal_key: Option<&SealKey>) -> Result<Zeroizing<Vec<u8>>> {
        let (size, [p, q]) = (self.public.size(), [&self.p, &self.q]);
        let mut secret = Zeroizing::new(Vec::with_capacity(size.bits() as usize));
        for (number, bits) in [&p.prime, &q.prime, &p.v, &q.v].into_iter().zip(secret_bits(size)) {
            put_number(&mut secret, number, bits);
        }
        self.public.bases().iter().for_each(|base| put_number(&mut secret, base, size.bits()));
        seal::seal(seal_key, &head(size, self.public.u(), seal_key.is_some()), &secret)
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
        if reader.take(8) != Some(MAGIC) {
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

impl Half {
    fn new(prime: &[u64], v: &[u64]) -> std::result::Result<Self, KeyFault> {
        let modulus = Modulus::new(prime).map_err(|_| KeyFault::Form)?;
        Ok(Half { prime: number::words(prime), modulus, v: number::words(v), tables: OnceLock::new() })
    }

    /// g^m·h^r modulo the prime, for values of one word each.
    fn encrypt(&self, public: &PublicKey, values: &Plaintexts, rng: &mut Generator) -> Words {
        let bits = [number::bits(&[public.u()]), number::bits(&self.v)];
        let len = bits[1].div_ceil(64) as usize;
        let mut exponents = Zeroizing::new(Vec::with_capacity(values.len() * len));
        (0..values.len()).for_each(|_| exponents.extend_from_slice(&number::random_below(&self.v[..len], rng)));
        let [g, h] = self.tables.get_or_init(|| {
            let base = |base: &[u64]| number::remainder(base, &self.prime);
            let [g, h] = public.bases().map(base);
            let table = |base: Words, bits: u32| FixedBase::new(&self.modulus, &base, bits as usize, values.len());
            [table(g, bits[0]), table(h, bits[1])]
        });
        let (lifted, zeros) = (g.power(&self.modulus, values.flat()), h.power(&self.modulus, &exponents));
        self.modulus.values(&self.modulus.multiply(&lifted, &zeros))
    }
}

/// Bits of p, q, v_p, v_q.
fn secret_bits(size: KeySize) -> [u32; 4] {
    [size.bits() / 2, size.bits() / 2, size.subgroup_bits(), size.subgroup_bits()]
}

fn head(size: KeySize, u: u64, sealed: bool) -> Vec<u8> {
    [&MAGIC[..], &size.bits().to_le_bytes(), &(u as u32).to_le_bytes(), &[u8::from(sealed)]].concat()
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

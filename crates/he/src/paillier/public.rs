//! Public keys: encryption by others than the owner, sums, products with constants.

use std::sync::{Arc, OnceLock};

use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus, Residues};
use zeroize::Zeroizing;

use super::SecretKey;
use crate::additive::Additive;
use crate::coding::{Reader, put_number};
use crate::error::{CiphertextFault, Error, KeyFault, Result};
use crate::group::{Ciphertexts, Group, whole_product};
use crate::number::{self, Words};
use crate::plaintexts::Plaintexts;
use crate::prime;
use crate::size::KeySize;

/// What begins a public key.
const MAGIC: &[u8; 8] = b"duo-hep\x01";
/// By so many bits is an exponent longer than the modulus, for a uniform result.
const STATISTICAL: u32 = 64;
/// Products of random ciphertexts whose Jacobi symbols are computed, in place of those of more ciphertexts.
const SUBSETS: usize = 64;

/// A public key: N and h. A clone is the same key, not a copy of it.
#[derive(Clone)]
pub struct PublicKey(Arc<Public>);

struct Public {
    size: KeySize,
    n: Vec<u64>,
    h: Vec<u64>,
    /// h^N mod N².
    nth_power: Vec<u64>,
    group: Group,
    /// Powers of h^N with exponents of T + 64 bits; made when first used.
    table: OnceLock<FixedBase>,
}

impl PublicKey {
    /// Reads a peer's key of an agreed length, and checks it.
    ///
    /// # Errors
    /// If it has not the form of a key of this length, or its modulus is even, a prime, a power or has a factor below
    /// 2²⁰, or h is 0 or ±1, not coprime to the modulus or has the Jacobi symbol −1.
    pub fn from_bytes(bytes: &[u8], size: KeySize) -> Result<Self> {
        let (came, n, h) = decode(bytes).map_err(Error::PublicKey)?;
        if came != size.bits() {
            return Err(Error::PublicKey(KeyFault::Size));
        }
        check_modulus(&n, size.bits()).map_err(Error::PublicKey)?;
        check_base(&h, &n).map_err(Error::PublicKey)?;
        Self::new(size, &n, &h).map_err(Error::PublicKey)
    }

    /// Reads a key of any length that [`KeySize`] allows by `size`, which gets the length.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and those of `size`.
    pub fn from_bytes_of(bytes: &[u8], size: impl FnOnce(u32) -> Result<KeySize>) -> Result<Self> {
        let (bits, ..) = decode(bytes).map_err(Error::PublicKey)?;
        Self::from_bytes(bytes, size(bits)?)
    }

    /// The key as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self.0.size, &self.0.n, &self.0.h)
    }

    /// A key whose parts have been checked.
    pub(super) fn new(size: KeySize, n: &[u64], h: &[u64]) -> std::result::Result<Self, KeyFault> {
        let square = Modulus::square_of(n).map_err(|_| KeyFault::Form)?;
        let base = square.residues(&number::resized(h, square.len()));
        let nth_power = square.values(&square.power(&base, n, size.bits() as usize)).to_vec();
        let group = Group::new(square, n, &encode(size, n, h));
        let (n, h) = (n.to_vec(), h.to_vec());
        Ok(PublicKey(Arc::new(Public { size, n, h, nth_power, group, table: OnceLock::new() })))
    }

    /// The length of N.
    pub fn size(&self) -> KeySize {
        self.0.size
    }

    /// N, of which plaintexts are less: its words, the lowest first.
    pub fn modulus(&self) -> &[u64] {
        &self.0.n
    }

    /// A digest of the key, which every ciphertext carries.
    pub fn id(&self) -> [u8; 32] {
        self.0.group.key
    }

    pub(super) fn base(&self) -> &[u64] {
        &self.0.h
    }

    pub(super) fn nth_power(&self) -> &[u64] {
        &self.0.nth_power
    }

    pub(crate) fn group(&self) -> &Group {
        &self.0.group
    }

    /// Ciphertexts as bytes: 44 and 2T/8 for each.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn write(&self, ciphertexts: &Ciphertexts) -> Result<Vec<u8>> {
        self.group().write(ciphertexts)
    }

    /// Reads ciphertexts of somebody who encrypts as we do.
    ///
    /// # Errors
    /// If the bytes have another length than they say, are of another key, or a ciphertext is 0, not less than N², not
    /// coprime to N, or has the Jacobi symbol −1; or the operating system has no random bytes.
    pub fn read(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.with_symbol_one(self.group().read(bytes)?)
    }

    /// Ciphertexts as bytes without what begins them, where it is known whose they are and how many: 2T/8 for each.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn write_numbers(&self, ciphertexts: &Ciphertexts) -> Result<Vec<u8>> {
        self.group().write_numbers(ciphertexts)
    }

    /// Reads what [`write_numbers`](Self::write_numbers) wrote.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for the key, which nobody can see.
    pub fn read_numbers(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.with_symbol_one(self.group().read_numbers(bytes)?)
    }

    /// Reads what [`write_numbers`](Self::write_numbers) wrote, whatever the Jacobi symbols are: whoever sends on what follows
    /// from them [looks at its symbols](Self::have_symbol_one) then.
    ///
    /// # Errors
    /// As [`read_numbers`](Self::read_numbers), but for the Jacobi symbol.
    pub fn read_numbers_of_any_symbol(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        self.group().read_numbers(bytes)
    }

    /// Whether ciphertexts have the Jacobi symbol 1, so that re-randomisation leaves nothing of them.
    ///
    /// # Errors
    /// If they are of another key, or one has not.
    pub fn have_symbol_one(&self, ciphertexts: &Ciphertexts) -> Result<()> {
        self.group().check(ciphertexts)?;
        let one = |at: usize| ciphertexts.residues.pick(std::iter::once(at));
        let has_one = |at: &usize| self.has_symbol_one(&self.group().modulus, &one(*at));
        match (0..ciphertexts.len()).find(|at| !has_one(at)) {
            Some(index) => Err(Error::Ciphertext { index, fault: CiphertextFault::Jacobi }),
            None => Ok(()),
        }
    }

    fn with_symbol_one(&self, batch: Ciphertexts) -> Result<Ciphertexts> {
        if batch.len() > SUBSETS && self.products_have_symbol_one(&batch.residues)? {
            return Ok(batch);
        }
        self.have_symbol_one(&batch).map(|()| batch)
    }

    /// Whether the products of random subsets have the symbol 1. If one ciphertext has not, then each of them has it with a
    /// chance of 1/2. The subsets are drawn here, where no peer knows them.
    fn products_have_symbol_one(&self, batch: &Residues) -> Result<bool> {
        let mut dice = Generator::from_os().map_err(|_| Error::Random)?;
        // The symbol is that of the rest modulo N.
        let rests = self.group().modulus.modulo_root(batch);
        let (modulus, batch) = match &rests {
            Some((root, rests)) => (*root, rests),
            None => (&self.group().modulus, batch),
        };
        Ok((0..SUBSETS).all(|_| {
            let mut chosen = vec![0_u64; batch.len().div_ceil(64)];
            dice.words(&mut chosen);
            let places: Vec<usize> = (0..batch.len()).filter(|at| chosen[at / 64] >> (at % 64) & 1 == 1).collect();
            let product = || whole_product(modulus, &batch.pick(places.iter().copied()));
            places.is_empty() || self.has_symbol_one(modulus, &product())
        }))
    }

    fn has_symbol_one(&self, modulus: &Modulus, one: &Residues) -> bool {
        number::has_jacobi_one_vartime(&modulus.values(one), &self.0.n)
    }

    /// Reads ciphertexts that textbook Paillier may have made, and re-randomises each by r^N for a random r. That costs a
    /// power of T bits for each.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for the Jacobi symbol.
    pub fn read_foreign(&self, bytes: &[u8], rng: &mut Generator) -> Result<Ciphertexts> {
        let batch = self.group().read(bytes)?;
        let square = &self.group().modulus;
        let mut roots = Zeroizing::new(Vec::with_capacity(batch.len() * square.len()));
        for _ in 0..batch.len() {
            roots.extend_from_slice(&number::resized(&number::random_below(&self.0.n, rng), square.len()));
        }
        let powers = square.power(&square.residues(&roots), &self.0.n, self.0.size.bits() as usize);
        self.group().multiply(&batch, &powers)
    }

    /// Each plaintext times 2^times, where `times` is public.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn double(&self, a: &Ciphertexts, times: u32) -> Result<Ciphertexts> {
        self.group().check(a)?;
        Ok(self.group().batch(self.group().modulus.square(&a.residues, times as usize)))
    }

    /// 2^bits·a + constant·b for each place, with secret constants of at most `bits` bits, one at least, a public number: both are
    /// doubled together.
    ///
    /// # Errors
    /// If the batches differ in length, one is of another key, or a constant has more bits.
    pub fn double_and_add_multiples(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        constants: &Plaintexts,
        bits: u32,
    ) -> Result<Ciphertexts> {
        self.group().double_and_add_multiples(a, b, constants, bits)
    }

    /// Sums of all of `a` and the first of `b`, and the rest of `b`, which are no fewer.
    ///
    /// # Errors
    /// If they are fewer, or one is of another key.
    pub fn add_to_first(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts> {
        let [first, rest] = [0..a.len(), a.len()..b.len()].map(|places| places.collect::<Vec<_>>());
        let sums = self.add(a, &b.pick(&first)?)?;
        if rest.is_empty() { Ok(sums) } else { Ciphertexts::joined(&[sums, b.pick(&rest)?]) }
    }

    /// N − m for each constant m, and 0 for 0: what to add in order to subtract m.
    ///
    /// # Errors
    /// If a constant is not less than N.
    pub fn negatives(&self, constants: &Plaintexts) -> Result<Plaintexts> {
        let mut out = constants.below(&self.0.n)?;
        let zero = number::small(0, self.0.n.len());
        for at in 0..out.len() {
            let negative = number::subtract_modulo(&zero, out.get(at), &self.0.n);
            out.get_mut(at).copy_from_slice(&negative);
        }
        Ok(out)
    }

    /// 1 + m·N modulo N²: encryptions without randomness.
    pub(super) fn lifted(&self, values: &Plaintexts) -> Result<Residues> {
        let values = values.below(&self.0.n)?;
        let square = &self.group().modulus;
        let mut lifted = Zeroizing::new(Vec::with_capacity(values.len() * square.len()));
        for value in values.iter() {
            let mut product = number::product(value, &self.0.n);
            number::add(&mut product, &[1]);
            lifted.extend_from_slice(&number::resized(&product, square.len()));
        }
        Ok(square.residues(&lifted))
    }

    /// h^(N·α) with α of T + 64 bits: encryptions of zero that are uniform for the owner, too.
    fn zeros(&self, count: usize, rng: &mut Generator) -> Residues {
        let (square, bits) = (&self.group().modulus, self.0.size.bits() + STATISTICAL);
        let base = number::resized(&self.0.nth_power, square.len());
        let table = self.0.table.get_or_init(|| FixedBase::new(square, &base, bits as usize, count));
        table.power(square, &exponents(count, bits, rng))
    }
}

/// Random exponents of these many bits, one after the other.
pub(super) fn exponents(count: usize, bits: u32, rng: &mut Generator) -> Words {
    let len = bits.div_ceil(64) as usize;
    let mut all = Zeroizing::new(vec![0; count * len]);
    rng.words(&mut all);
    all.chunks_exact_mut(len).for_each(|exponent| number::cut(exponent, bits));
    all
}

impl Additive for PublicKey {
    type Secret = SecretKey;

    fn encrypt(&self, values: &Plaintexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let lifted = self.lifted(values)?;
        Ok(self.group().batch(self.group().modulus.multiply(&lifted, &self.zeros(values.len(), rng))))
    }

    fn decrypt(&self, secret: &SecretKey, ciphertexts: &Ciphertexts) -> Result<Plaintexts> {
        if secret.public().id() == self.id() { secret.decrypt(ciphertexts) } else { Err(Error::OtherKey) }
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts> {
        self.group().add(a, b)
    }

    fn add_constants(&self, a: &Ciphertexts, constants: &Plaintexts) -> Result<Ciphertexts> {
        Group::check_lengths(a.len(), constants.len())?;
        self.group().multiply(a, &self.lifted(constants)?)
    }

    fn multiply_constants(&self, a: &Ciphertexts, constants: &Plaintexts, bits: u32) -> Result<Ciphertexts> {
        self.group().multiply_constants(a, constants, bits)
    }

    fn negate(&self, a: &Ciphertexts) -> Result<Ciphertexts> {
        self.group().negate(a)
    }

    fn rerandomise(&self, a: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts> {
        self.group().check(a)?;
        self.group().multiply(a, &self.zeros(a.len(), rng))
    }
}

/// What begins a key, the bits of N, N, h.
fn encode(size: KeySize, n: &[u64], h: &[u64]) -> Vec<u8> {
    let mut out = [&MAGIC[..], &size.bits().to_le_bytes()].concat();
    put_number(&mut out, n, size.bits());
    put_number(&mut out, h, size.bits());
    out
}

fn decode(bytes: &[u8]) -> std::result::Result<(u32, Words, Words), KeyFault> {
    let mut reader = Reader(bytes);
    if reader.take(8) != Some(MAGIC) {
        return Err(KeyFault::Form);
    }
    let bits = reader.u32().filter(|bits| (256..=3072).contains(bits) && bits.is_multiple_of(64));
    let bits = bits.ok_or(KeyFault::Form)?;
    let [n, h] = [reader.number(bits), reader.number(bits)];
    reader.end()?;
    Ok((bits, n.ok_or(KeyFault::Form)?, h.ok_or(KeyFault::Form)?))
}

/// What can be seen of a modulus without its factors.
pub(crate) fn check_modulus(n: &[u64], bits: u32) -> std::result::Result<(), KeyFault> {
    if n[0].is_multiple_of(2) {
        return Err(KeyFault::Even);
    }
    if number::bits(n) != bits {
        return Err(KeyFault::Size);
    }
    if prime::has_small_factor(n) {
        return Err(KeyFault::SmallFactor);
    }
    // A number without a factor below 2²⁰ is no k-th power for k > T/20.
    if prime::is_power(n, bits / 20) {
        return Err(KeyFault::Power);
    }
    if number::is_prime_vartime(n) { Err(KeyFault::Prime) } else { Ok(()) }
}

/// A base is a unit, and neither 1 nor −1.
pub(crate) fn check_unit(h: &[u64], n: &[u64]) -> std::result::Result<(), KeyFault> {
    if !number::is_less(h, n) {
        return Err(KeyFault::Form);
    }
    let mut negative = number::words(n);
    number::subtract(&mut negative, h);
    let one = number::small(1, n.len());
    if number::is_zero(h) || number::is_equal(h, &one) || number::is_equal(&negative, &one) {
        return Err(KeyFault::TrivialBase);
    }
    if number::is_coprime(h, n) { Ok(()) } else { Err(KeyFault::BaseNotCoprime) }
}

pub(super) fn check_base(h: &[u64], n: &[u64]) -> std::result::Result<(), KeyFault> {
    check_unit(h, n)?;
    if number::has_jacobi_one_vartime(h, n) { Ok(()) } else { Err(KeyFault::BaseJacobi) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;

    #[test]
    fn exponents_of_others_have_64_bits_more_than_the_modulus() {
        let mut dice = Generator::from_seed(Block::new(62));
        assert_eq!((STATISTICAL, SUBSETS), (64, 64));
        for (bits, of_exponents) in [(256, 320), (512, 576), (2048, 2112), (3072, 3136)] {
            let size = KeySize::even_if_it_can_be_broken(bits).expect("a length");
            let key = PublicKey::new(size, &vec![!0; size.words()], &number::small(3, size.words())).expect("odd");
            key.encrypt(&Plaintexts::new(&[1]), &mut dice).expect("small");
            assert_eq!(key.0.table.get().map(FixedBase::bits), Some(of_exponents));
        }
    }

    #[test]
    fn exponents_have_all_their_bits_and_no_more() {
        let mut dice = Generator::from_seed(Block::new(63));
        for bits in [128, 320, 400, 3136] {
            let (all, len) = (exponents(100, bits, &mut dice), bits.div_ceil(64) as usize);
            let any = |i: usize| all.chunks_exact(len).fold(0, |any, exponent| any | exponent[i]);
            let any: Vec<u64> = (0..len).map(any).collect();
            assert_eq!(any.iter().map(|word| word.count_ones()).sum::<u32>(), bits);
            assert_eq!(number::bits(&any), bits);
        }
    }
}

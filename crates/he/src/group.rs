//! The group that ciphertexts of a key lie in: units modulo N² (Paillier) or n (DGK), in batches.

use kernels::montgomery::{Modulus, Residues};

use crate::coding::{Reader, put_number};
use crate::error::{CiphertextFault, Error, Result};
use crate::number;
use crate::plaintexts::Plaintexts;

/// What begins a batch of ciphertexts.
const MAGIC: &[u8; 8] = b"duo-hec\x01";
/// Most ciphertexts of a batch of bytes.
const MOST: u32 = 1 << 24;

/// What begins a batch of ciphertexts as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The digest of their key, `PublicKey::id`.
    pub key: [u8; 32],
    /// How many there are.
    pub count: u32,
}

impl Head {
    /// How many bytes it has.
    pub const BYTES: usize = MAGIC.len() + 32 + 4;

    /// Reads what begins a batch; and the numbers, of which it does not know how long they are.
    ///
    /// # Errors
    /// If the bytes do not begin as a batch does.
    pub fn read(bytes: &[u8]) -> Result<(Head, &[u8])> {
        let mut reader = Reader(bytes);
        if reader.take(8) != Some(MAGIC) {
            return Err(Error::Form("they do not begin as ciphertexts do"));
        }
        let key = reader.take(32).and_then(|key| key.try_into().ok()).ok_or(Error::Form("they are cut short"))?;
        let count = reader.u32().filter(|&count| count <= MOST).ok_or(Error::Form("there are too many or none"))?;
        Ok((Head { key, count }, reader.0))
    }

    /// As bytes, which the numbers follow.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&MAGIC[..], &self.key, &self.count.to_le_bytes()].concat()
    }
}

/// A batch of ciphertexts of one key.
#[derive(Clone)]
pub struct Ciphertexts {
    pub(crate) residues: Residues,
    key: [u8; 32],
}

impl Ciphertexts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.residues.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.residues.is_empty()
    }

    /// Those at public places.
    ///
    /// # Errors
    /// If there is none at one of them.
    pub fn pick(&self, places: &[usize]) -> Result<Self> {
        match places.iter().find(|&&place| place >= self.len()) {
            Some(&place) => Err(Error::Lengths(place, self.len())),
            None => Ok(Ciphertexts { residues: self.residues.pick(places.iter().copied()), key: self.key }),
        }
    }

    /// Batches one after the other.
    ///
    /// # Errors
    /// If there are none, or their keys differ.
    pub fn joined(batches: &[Self]) -> Result<Self> {
        let first = batches.first().ok_or(Error::Lengths(0, 0))?;
        if batches.iter().any(|batch| batch.key != first.key) {
            return Err(Error::OtherKey);
        }
        let residues: Vec<_> = batches.iter().map(|batch| batch.residues.clone()).collect();
        Ok(Ciphertexts { residues: Residues::joined(&residues), key: first.key })
    }
}

/// The group, and the key whose ciphertexts are in it.
pub(crate) struct Group {
    pub(crate) modulus: Modulus,
    /// The modulus of the key, which every ciphertext is coprime to.
    n: Vec<u64>,
    pub(crate) key: [u8; 32],
}

impl Group {
    pub(crate) fn new(modulus: Modulus, n: &[u64], public_key: &[u8]) -> Self {
        Group { modulus, n: n.to_vec(), key: *blake3::hash(public_key).as_bytes() }
    }

    pub(crate) fn batch(&self, residues: Residues) -> Ciphertexts {
        Ciphertexts { residues, key: self.key }
    }

    pub(crate) fn check(&self, a: &Ciphertexts) -> Result<()> {
        if a.key == self.key { Ok(()) } else { Err(Error::OtherKey) }
    }

    pub(crate) fn check_lengths(a: usize, b: usize) -> Result<()> {
        if a == b { Ok(()) } else { Err(Error::Lengths(a, b)) }
    }

    pub(crate) fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts> {
        self.check(b)?;
        Self::check_lengths(a.len(), b.len())?;
        self.multiply(a, &b.residues)
    }

    /// Times as many group elements.
    pub(crate) fn multiply(&self, a: &Ciphertexts, factors: &Residues) -> Result<Ciphertexts> {
        self.check(a)?;
        Ok(self.batch(self.modulus.multiply(&a.residues, factors)))
    }

    pub(crate) fn multiply_constants(&self, a: &Ciphertexts, constants: &Plaintexts, bits: u32) -> Result<Ciphertexts> {
        self.check(a)?;
        Self::check_lengths(a.len(), constants.len())?;
        let exponents = exponents(constants, bits)?;
        Ok(self.batch(self.modulus.power_each(&a.residues, exponents.flat(), bits.max(1) as usize)))
    }

    /// 2^bits·a + constant·b for each place.
    pub(crate) fn double_and_add_multiples(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        constants: &Plaintexts,
        bits: u32,
    ) -> Result<Ciphertexts> {
        self.check(a)?;
        self.check(b)?;
        Self::check_lengths(a.len(), b.len())?;
        Self::check_lengths(b.len(), constants.len())?;
        let exponents = exponents(constants, bits)?;
        let bits = bits.max(1) as usize;
        Ok(self.batch(self.modulus.power_each_onto(&a.residues, &b.residues, exponents.flat(), bits)))
    }

    pub(crate) fn negate(&self, a: &Ciphertexts) -> Result<Ciphertexts> {
        self.check(a)?;
        Ok(if a.is_empty() { a.clone() } else { self.batch(self.inverses(&a.residues)) })
    }

    /// One inverse for all: that of a product ab gives 1/a = b/(ab) and 1/b = a/(ab) (Montgomery 1987, §10.3.1).
    fn inverses(&self, a: &Residues) -> Residues {
        let half = a.len() / 2;
        if half == 0 {
            return self.inverse(a);
        }
        // Of an odd number the middle one is in both halves.
        let [low, high] = [a.pick(0..a.len() - half), a.pick(half..a.len())];
        let both = self.inverses(&self.modulus.multiply(&low, &high));
        let [low, high] = [self.modulus.multiply(&both, &high), self.modulus.multiply(&both, &low)];
        Residues::joined(&[low.pick(0..half), high])
    }

    /// Of one number, from that of its rest modulo n where n² is the modulus: for y·a = 1 modulo n it is y·(2 − y·a) modulo n²
    /// (Newton).
    fn inverse(&self, a: &Residues) -> Residues {
        let modulus = &self.modulus;
        let y = number::inverse(&modulus.values(a), &self.n).expect("ciphertexts are units");
        let y = modulus.residues(&number::resized(&y, modulus.len()));
        let product = modulus.values(&modulus.multiply(&y, a));
        let rest = number::subtract_modulo(&number::small(2, modulus.len()), &product, modulus.words());
        modulus.multiply(&y, &modulus.residues(&rest))
    }

    /// Bytes: what begins them, the key's digest, how many, and the numbers.
    pub(crate) fn write(&self, a: &Ciphertexts) -> Result<Vec<u8>> {
        let count = u32::try_from(a.len()).ok().filter(|&count| count <= MOST).ok_or(Error::TooMany(a.len()))?;
        let mut out = Head { key: self.key, count }.to_bytes();
        out.extend(self.write_numbers(a)?);
        Ok(out)
    }

    /// Each number in as many bytes as the modulus.
    pub(crate) fn write_numbers(&self, a: &Ciphertexts) -> Result<Vec<u8>> {
        self.check(a)?;
        let mut out = Vec::with_capacity(a.len() * self.bytes());
        for value in self.modulus.values(&a.residues).chunks_exact(self.modulus.len()) {
            put_number(&mut out, value, self.modulus.bits() as u32);
        }
        Ok(out)
    }

    /// Bytes of a number.
    fn bytes(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// Reads a batch of which each number is a unit.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        let (head, numbers) = Head::read(bytes)?;
        if head.key != self.key {
            return Err(Error::OtherKey);
        }
        if u64::from(head.count) * self.bytes() as u64 != numbers.len() as u64 {
            return Err(Error::Form("they are not as long as their number says"));
        }
        self.read_numbers(numbers)
    }

    /// Reads a batch of which each number is a unit, without what begins it.
    pub(crate) fn read_numbers(&self, bytes: &[u8]) -> Result<Ciphertexts> {
        let each = self.bytes();
        if !bytes.len().is_multiple_of(each) || bytes.len() / each > MOST as usize {
            return Err(Error::Form("they are no whole number of ciphertexts"));
        }
        let mut values = Vec::with_capacity(bytes.len() / each * self.modulus.len());
        for (index, number) in bytes.chunks_exact(each).enumerate() {
            let number = number::from_bytes(number, self.modulus.len());
            self.check_range(index, &number)?;
            values.extend_from_slice(&number);
        }
        let batch = self.batch(self.modulus.residues(&values));
        self.check_units(&batch)?;
        Ok(batch)
    }

    fn check_range(&self, index: usize, number: &[u64]) -> Result<()> {
        let fault = match number {
            number if number::is_zero(number) => CiphertextFault::Zero,
            number if !number::is_less(number, self.modulus.words()) => CiphertextFault::TooLarge,
            _ => return Ok(()),
        };
        Err(Error::Ciphertext { index, fault })
    }

    /// All are coprime to n if their product is; only if it is not, each is looked at.
    fn check_units(&self, batch: &Ciphertexts) -> Result<()> {
        let is_unit = |residues: &Residues| number::is_coprime(&self.modulus.values(residues), &self.n);
        if batch.is_empty() || is_unit(&whole_product(&self.modulus, &batch.residues)) {
            return Ok(());
        }
        let index = (0..batch.len()).find(|&at| !is_unit(&batch.residues.pick(std::iter::once(at)))).unwrap_or(0);
        Err(Error::Ciphertext { index, fault: CiphertextFault::NotCoprime })
    }
}

/// The product of some, which are not none.
pub(crate) fn whole_product(modulus: &Modulus, a: &Residues) -> Residues {
    let half = a.len() / 2;
    if half == 0 {
        return a.clone();
    }
    let product = modulus.multiply(&a.pick(0..half), &a.pick(half..2 * half));
    let product = whole_product(modulus, &product);
    if a.len().is_multiple_of(2) { product } else { modulus.multiply(&product, &a.pick(2 * half..a.len())) }
}

/// Constants of at most `bits` bits, in as many words as these take.
pub(crate) fn exponents(constants: &Plaintexts, bits: u32) -> Result<Plaintexts> {
    let len = bits.div_ceil(64) as usize;
    let mut limit = vec![0; len + 1];
    limit[bits as usize / 64] = 1 << (bits % 64);
    let below = constants.below(&limit)?;
    let mut out = Plaintexts::zeros(constants.len(), len.max(1));
    for at in 0..constants.len() {
        out.get_mut(at).copy_from_slice(&below.get(at)[..len.max(1)]);
    }
    Ok(out)
}

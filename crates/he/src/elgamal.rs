//! ElGamal's system (*A public key cryptosystem and a signature scheme based on discrete logarithms*, CRYPTO 1984) on
//! ristretto255, with points as plaintexts: what Holz, Kiss, Rathee, Schneider (ESORICS 2020, §4.3) evaluate private functions by.
//!
//! ```text
//! a secret, A = a·P          E(M) = (k·P, k·A + M)          M = second − a·first
//! ```
//!
//! **Security**: decisional Diffie-Hellman in ristretto255, 128 bits. Who adds E(b) with a fresh k and a uniform point b to a
//! ciphertext makes one that is uniform and independent of it, for the key's owner too: both points are masked perfectly.
//!
//! A ciphertext has 64 bytes, and takes three multiplications of fixed points: of P for k·P and for the label itself, and of
//! A. Points that are not canonical, and the neutral one, are refused.

use std::sync::LazyLock;

use kernels::generator::Generator;
use kernels::ristretto::{Encoding, FixedBase, Points, Ristretto, Scalar};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, Result};
use crate::linear::{Labels, Scheme};

/// Multiples of P.
static BASE: LazyLock<FixedBase> = LazyLock::new(|| FixedBase::new(&Ristretto::detect().generator()));

/// The scheme.
pub enum ElGamal {}

/// Bytes of a point.
const POINT: usize = 32;

/// Points whose logarithms nobody uses.
#[derive(Clone)]
pub struct PointLabels(Points);

/// The owner's key: a, and what others have.
pub struct Secret {
    a: Scalar,
    public: Public,
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.a.zeroize();
    }
}

/// A, and a table of its multiples.
pub struct Public {
    encoding: Encoding,
    table: FixedBase,
}

/// Ciphertexts: the first points and the second ones.
pub struct Pairs([Points; 2]);

impl Pairs {
    fn read(bytes: &[u8], count: usize) -> Result<Self> {
        if bytes.len() != 2 * POINT * count {
            return Err(Error::Form("they are not as long as so many pairs of points"));
        }
        let both = decode(bytes)?;
        Ok(Pairs([0, 1].map(|half| both.pick((0..count).map(|pair| 2 * pair + half)))))
    }

    fn write(&self) -> Vec<u8> {
        let [first, second] = self.0.each_ref().map(Points::encode);
        first.iter().zip(second.iter()).flat_map(|(first, second)| [first, second]).flatten().copied().collect()
    }
}

/// Points of a peer: canonical, and none the neutral one.
fn decode(bytes: &[u8]) -> Result<Points> {
    let (encodings, rest) = bytes.as_chunks::<POINT>();
    if !rest.is_empty() || encodings.contains(&[0; POINT]) {
        return Err(Error::Form("a point is the neutral one, or cut short"));
    }
    Ristretto::detect().decode(encodings).map_err(|_| Error::Form("a point is not canonical"))
}

fn random_scalars(count: usize, rng: &mut Generator) -> Zeroizing<Vec<Scalar>> {
    let mut wide = Zeroizing::new([0; 64]);
    let draw = |_| {
        rng.fill(&mut *wide);
        Scalar::from_bytes_mod_order_wide(&wide)
    };
    Zeroizing::new((0..count).map(draw).collect())
}

impl Public {
    fn new(encoding: Encoding) -> Result<Self> {
        Ok(Public { encoding, table: FixedBase::new(&decode(&encoding)?) })
    }

    fn encrypt(&self, labels: &Points, rng: &mut Generator) -> Pairs {
        let nonces = random_scalars(labels.len(), rng);
        Pairs([BASE.multiply(&nonces), self.table.multiply(&nonces).add(labels)])
    }
}

impl Scheme for ElGamal {
    const NAME: &'static str = "elgamal";
    const CHUNK: usize = 512;
    const KEY: usize = POINT;

    type Labels = PointLabels;
    type Secret = Secret;
    type Public = Public;
    type Store = Pairs;
    type Blindings = PointLabels;
    type Blinded = Pairs;

    fn generate(rng: &mut Generator) -> Result<Secret> {
        let a = random_scalars(1, rng);
        Ok(Secret { a: a[0], public: Public::new(BASE.multiply(&a).encode()[0])? })
    }

    fn key(secret: &Secret) -> Vec<u8> {
        secret.public.encoding.to_vec()
    }

    fn read_key(bytes: &[u8]) -> Result<Public> {
        Public::new(bytes.try_into().map_err(|_| Error::Form("a key is one point"))?)
    }

    fn ciphertexts(count: usize) -> usize {
        2 * POINT * count
    }

    fn encrypt(secret: &mut Secret, labels: &PointLabels, rng: &mut Generator) -> Result<Vec<u8>> {
        Ok(secret.public.encrypt(&labels.0, rng).write())
    }

    fn store(_: &Public) -> Result<Pairs> {
        Ok(Pairs([(); 2].map(|()| Ristretto::detect().neutral(0))))
    }

    fn append(_: &mut Public, store: &mut Pairs, bytes: &[u8], count: usize) -> Result<()> {
        let Pairs([first, second]) = Pairs::read(bytes, count)?;
        store.0[0].append(&first);
        store.0[1].append(&second);
        Ok(())
    }

    fn blindings(count: usize, rng: &mut Generator) -> PointLabels {
        PointLabels::random(count, rng)
    }

    fn labels(blindings: &PointLabels) -> PointLabels {
        blindings.clone()
    }

    fn blind(public: &Public, blindings: &PointLabels, rng: &mut Generator) -> Result<Pairs> {
        Ok(public.encrypt(&blindings.0, rng))
    }

    fn answers(count: usize) -> usize {
        Self::ciphertexts(count)
    }

    fn answer(_: &Public, store: &mut Pairs, places: &[usize], Pairs(blinded): Pairs) -> Result<Vec<u8>> {
        let all = store.0[0].len();
        if places.len() != blinded[0].len() || places.iter().any(|&place| place >= all) {
            return Err(Error::Lengths(places.len(), blinded[0].len()));
        }
        let sum = |half: usize| store.0[half].pick(places.iter().copied()).add(&blinded[half]);
        Ok(Pairs([sum(0), sum(1)]).write())
    }

    fn decrypt(secret: &Secret, answers: &[u8], count: usize) -> Result<PointLabels> {
        let Pairs([first, second]) = Pairs::read(answers, count)?;
        Ok(PointLabels(second.subtract(&first.multiply(&secret.a))))
    }
}

impl Labels for PointLabels {
    const BYTES: usize = POINT;

    fn random(count: usize, rng: &mut Generator) -> Self {
        PointLabels(BASE.multiply(&random_scalars(count, rng)))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&self, other: &Self) -> Self {
        PointLabels(self.0.add(&other.0))
    }

    fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self {
        PointLabels(self.0.pick(places))
    }

    fn append(&mut self, other: &Self) {
        self.0.append(&other.0);
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.encode().concat())
    }

    fn decode(bytes: &[u8]) -> (Self, bool) {
        let (encodings, rest) = bytes.as_chunks::<POINT>();
        let mut encodings = Zeroizing::new(encodings.to_vec());
        let mut good = rest.is_empty() && !encodings.contains(&[0; POINT]);
        let group = Ristretto::detect();
        let points = group.decode(&encodings).or_else(|refused| {
            good = false;
            refused.places.iter().for_each(|&place| encodings[place] = [0; POINT]);
            group.decode(&encodings)
        });
        (PointLabels(points.unwrap_or_else(|_| group.neutral(encodings.len()))), good)
    }
}

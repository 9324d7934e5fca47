//! The system as a scheme for labels.

use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroizing;

use super::coding::read;
use super::public::{Blinding, PublicKey};
use super::secret::SecretKey;
use super::store::Store;
use super::{ANSWER, CIPHERTEXT, LABELS, PUBLIC_KEY};
use crate::error::{CiphertextFault, Error, KeyFault, Result};
use crate::linear::{Labels, Scheme, Strings};

/// BFV for Katz and Malka's protocol; [the module](super) says how.
pub struct Bfv;

impl Scheme for Bfv {
    const NAME: &'static str = "bfv";
    /// Eight answers.
    const CHUNK: usize = 64;
    const KEY: usize = PUBLIC_KEY;

    type Labels = Strings;
    type Secret = SecretKey;
    type Public = PublicKey;
    type Store = Store;
    type Blindings = Strings;
    type Blinded = Vec<Blinding>;

    fn generate(rng: &mut Generator) -> Result<SecretKey> {
        Ok(SecretKey::new(rng))
    }

    fn key(secret: &SecretKey) -> Vec<u8> {
        secret.public().to_vec()
    }

    fn read_key(bytes: &[u8]) -> Result<PublicKey> {
        let bytes = bytes.try_into().map_err(|_| Error::PublicKey(KeyFault::Form))?;
        PublicKey::from_bytes(bytes).map_err(|_| Error::PublicKey(KeyFault::Form))
    }

    fn ciphertexts(count: usize) -> usize {
        count * CIPHERTEXT
    }

    fn encrypt(secret: &mut SecretKey, labels: &Strings, rng: &mut Generator) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(labels.len() * CIPHERTEXT);
        labels.blocks().iter().for_each(|&label| secret.encrypt(label, rng, &mut out));
        Ok(out)
    }

    fn store(public: &PublicKey) -> Result<Store> {
        Ok(Store::new(public.next))
    }

    fn append(public: &mut PublicKey, store: &mut Store, bytes: &[u8], count: usize) -> Result<()> {
        let (ciphertexts, rest) = bytes.as_chunks::<CIPHERTEXT>();
        if ciphertexts.len() != count || !rest.is_empty() {
            return Err(Error::Form("ciphertexts have 13824 bytes each"));
        }
        for (index, ciphertext) in ciphertexts.iter().enumerate() {
            read(ciphertext).map_err(fault(index))?;
        }
        assert_eq!(
            public.next,
            store.first + store.count as u64,
            "one run after the other: masks have no other number"
        );
        store.append(bytes).map_err(storage)?;
        public.next += count as u64;
        Ok(())
    }

    fn blindings(count: usize, rng: &mut Generator) -> Strings {
        Strings::random(count, rng)
    }

    fn labels(blindings: &Strings) -> Strings {
        blindings.clone()
    }

    fn blind(public: &PublicKey, blindings: &Strings, rng: &mut Generator) -> Result<Vec<Blinding>> {
        Ok(blindings.blocks().chunks(LABELS).map(|blindings| public.blind(blindings, rng)).collect())
    }

    fn answers(count: usize) -> usize {
        count.div_ceil(LABELS) * ANSWER
    }

    fn answer(public: &PublicKey, store: &mut Store, places: &[usize], blinded: Vec<Blinding>) -> Result<Vec<u8>> {
        if blinded.len() != places.len().div_ceil(LABELS) || places.iter().any(|&place| place >= store.count) {
            return Err(Error::Lengths(places.len(), blinded.len()));
        }
        let mut out = Vec::with_capacity(Self::answers(places.len()));
        for (mut answer, places) in blinded.into_iter().zip(places.chunks(LABELS)) {
            for (at, &place) in places.iter().enumerate() {
                let bytes = store.get(place).map_err(storage)?;
                answer.add(at, &read(&bytes).map_err(fault(place))?, &public.mask(store.first + place as u64));
            }
            answer.write(&mut out);
        }
        Ok(out)
    }

    fn decrypt(secret: &SecretKey, answers: &[u8], count: usize) -> Result<Strings> {
        let (answers, rest) = answers.as_chunks::<ANSWER>();
        if answers.len() != count.div_ceil(LABELS) || !rest.is_empty() {
            return Err(Error::Form("answers have 7168 bytes each"));
        }
        let mut labels = Zeroizing::new(Vec::<Block>::with_capacity(answers.len() * LABELS));
        for (index, answer) in answers.iter().enumerate() {
            labels.extend_from_slice(&*secret.decrypt(answer).map_err(fault(index))?);
        }
        labels.truncate(count);
        Ok(Strings::new(labels))
    }
}

fn storage(why: std::io::Error) -> Error {
    Error::Storage(why.kind())
}

fn fault(index: usize) -> impl Fn(CiphertextFault) -> Error {
    move |fault| Error::Ciphertext { index, fault }
}

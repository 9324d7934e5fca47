//! What the fuzz targets of homomorphic encryption do with their bytes. They need nothing of the library, so they are apart
//! from the others; `crates/he/tests/decoders.rs` runs them on a few thousand inputs.

use std::sync::OnceLock;

use he::packing::{Columns, Layout};
use he::{Additive, Error, KeySize, Plaintexts, dgk, paillier};
use kernels::Block;
use kernels::generator::Generator;

/// Keys that are made quickly, and that anybody can break.
const SHORT: fn(u32) -> he::Result<KeySize> = KeySize::even_if_it_can_be_broken;

/// Two primes that make a key of 256 bits, the lowest words first.
const PRIMES: [u64; 4] = [0x73fdc19413446dfb, 0xde268fa08bcce7cd, 0xbe33c26cbe934927, 0xe8f82e74c72a386f];

fn dice() -> Generator {
    Generator::from_seed(Block::new(5))
}

fn secret() -> &'static paillier::SecretKey {
    static KEY: OnceLock<paillier::SecretKey> = OnceLock::new();
    KEY.get_or_init(|| paillier::SecretKey::generate(SHORT(256).expect("a length"), &mut dice()).expect("a key"))
}

fn dgk_secret() -> &'static dgk::SecretKey {
    static KEY: OnceLock<dgk::SecretKey> = OnceLock::new();
    KEY.get_or_init(|| dgk::SecretKey::generate(SHORT(256).expect("a length"), 8, &mut dice()).expect("a key"))
}

/// Public keys of both systems, and private ones from files. What is read is written back the same.
pub fn key(bytes: &[u8]) {
    match paillier::PublicKey::from_bytes_of(bytes, SHORT) {
        Ok(key) => assert!(key.to_bytes() == bytes),
        Err(error) => assert!(matches!(error, Error::PublicKey(_))),
    }
    match dgk::PublicKey::from_bytes(bytes, SHORT(256).expect("a length"), 8) {
        Ok(key) => assert!(key.to_bytes() == bytes),
        Err(error) => assert!(matches!(error, Error::PublicKey(_))),
    }
    for error in
        [paillier::SecretKey::from_file(bytes, None, SHORT).err(), dgk::SecretKey::from_file(bytes, None, SHORT).err()]
    {
        assert!(matches!(error, None | Some(Error::PrivateKey(_) | Error::KeySize(_))));
    }
    let words: Vec<u64> = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8"))).collect();
    let (p, rest) = words.split_at(words.len().min(2));
    let (q, x) = rest.split_at(rest.len().min(2));
    let made = paillier::SecretKey::from_primes(SHORT(256).expect("a length"), p, q, x);
    assert!(matches!(made.err(), None | Some(Error::PrivateKey(_))));
}

pub fn keys() -> Vec<Vec<u8>> {
    let files = [secret().to_file(None), dgk_secret().to_file(None)].map(|file| file.expect("random bytes").to_vec());
    let primes = PRIMES.iter().chain(&[5]).flat_map(|word: &u64| word.to_le_bytes()).collect();
    let public = [secret().public().to_bytes(), dgk_secret().public().to_bytes(), primes];
    public.into_iter().chain(files).collect()
}

/// Ciphertexts of either system. What is read is written back the same, and of Paillier's can be decrypted.
pub fn ciphertexts(bytes: &[u8]) {
    let refused = |error| matches!(error, Error::Ciphertext { .. } | Error::Form(_) | Error::OtherKey);
    let public = secret().public();
    match public.read(bytes) {
        Ok(read) => {
            assert!(public.write(&read).expect("ours") == bytes);
            assert_eq!(secret().decrypt(&read).expect("units").len(), read.len());
            let foreign = public.read_foreign(bytes, &mut dice()).expect("units");
            assert_eq!(foreign.len(), read.len());
        }
        Err(error) => assert!(refused(error)),
    }
    match dgk_secret().public().read(bytes) {
        Ok(read) => {
            assert!(dgk_secret().public().write(&read).expect("ours") == bytes);
            let decrypted = dgk_secret().decrypt(&read);
            assert!(matches!(decrypted.err(), None | Some(Error::NoPlaintext { .. })));
        }
        Err(error) => assert!(refused(error)),
    }
}

pub fn batches() -> Vec<Vec<u8>> {
    let values = Plaintexts::new(&[1, 2, 3]);
    let public = secret().public();
    let paillier = public.encrypt(&values, &mut dice()).and_then(|batch| public.write(&batch));
    let public = dgk_secret().public();
    let dgk = public.encrypt(&values, &mut dice()).and_then(|batch| public.write(&batch));
    [paillier, dgk].into_iter().map(|bytes| bytes.expect("small")).collect()
}

/// A decrypted, packed plaintext of a peer, in slots of any widths: the first byte says how many, then one each. What is
/// taken apart can be packed again, and is the same.
pub fn packed(bytes: &[u8]) {
    let (&slots, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (widths, rest) = bytes.split_at(bytes.len().min(slots.into()));
    let widths: Vec<u32> = widths.iter().map(|&width| width.into()).collect();
    let Ok(layout) = Layout::new(&widths, secret().public()) else { return };
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(rest.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    for count in 1..=layout.len() {
        match layout.unpack(&Plaintexts::from_words(&words, 4), count) {
            Ok(values) => {
                let again = layout.pack(&values).expect("each fits its slot");
                let len = again.get(0).len().min(4);
                assert!(again.get(0)[..len] == words[..len]);
            }
            Err(error) => assert!(matches!(error, Error::PlaintextOutOfRange { index: 0 })),
        }
    }
    columns(&widths, &Plaintexts::from_words(&words, 4));
}

/// The same plaintext as a column of numbers of all these widths together.
fn columns(widths: &[u32], plain: &Plaintexts) {
    let Ok(columns) = Columns::new(widths, 1, secret().public().size()) else { return };
    match columns.unpack(std::slice::from_ref(plain)) {
        Ok(numbers) => {
            let again = columns.pack(&numbers, 0..1).expect("it fits its slot");
            let len = again.get(0).len().min(4);
            assert!(again.get(0)[..len] == plain.get(0)[..len]);
        }
        Err(error) => assert!(matches!(error, Error::PlaintextOutOfRange { index: 0 })),
    }
}

pub fn plaintexts() -> Vec<Vec<u8>> {
    vec![vec![2, 10, 20, 255, 255, 255], vec![3, 100, 1, 100, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7], vec![1, 255]]
}

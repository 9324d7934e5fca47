//! Each bad key and ciphertext has its error, and nothing is decrypted.

use duologue_he::paillier::{PublicKey, SecretKey};
use duologue_he::{Additive, CiphertextFault, Ciphertexts, Error, KeyFault, KeySize, Plaintexts, SealKey};
use num_bigint::BigUint;

use super::paillier::{vector_key, vectors};
use super::textbook::{jacobi, one};
use super::*;

/// A public key's bytes of any numbers.
fn key_bytes(bits: u32, n: &BigUint, h: &BigUint) -> Vec<u8> {
    let mut out = [&b"duo-hep\x01"[..], &bits.to_le_bytes()].concat();
    for x in [n, h] {
        let mut bytes = x.to_bytes_le();
        bytes.resize(bits as usize / 8, 0);
        out.extend(bytes);
    }
    out
}

fn fault(n: &BigUint, h: &BigUint) -> Option<KeyFault> {
    match PublicKey::from_bytes(&key_bytes(512, n, h), size(512)) {
        Err(Error::PublicKey(fault)) => Some(fault),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

/// The least prime from x on that is wanted.
fn prime_from(mut x: BigUint, wanted: impl Fn(&BigUint) -> bool) -> BigUint {
    let is_prime =
        |x: &BigUint| [2_u8, 3, 5, 7, 11].iter().all(|&base| BigUint::from(base).modpow(&(x - 1_u8), x) == one());
    while !wanted(&x) || !is_prime(&x) {
        x += 1_u8;
    }
    x
}

fn any(_: &BigUint) -> bool {
    true
}

#[test]
fn bad_public_keys() {
    let vectors = vectors();
    let (p, n) = (&vectors.p, &vectors.p * &vectors.q);
    let h = &n - 25_u8;
    assert_eq!(fault(&n, &h), None);
    let top = one() << 511;
    assert_eq!(fault(&(&n - 1_u8), &h), Some(KeyFault::Even));
    assert_eq!(fault(&(&n >> 2 | one()), &h), Some(KeyFault::Size));
    assert_eq!(fault(&(p * p), &h), Some(KeyFault::Power));
    let root = prime_from((one() << 170) + (one() << 169), any);
    let cube = &root * &root * &root;
    assert_eq!((cube.bits(), fault(&cube, &one())), (512, Some(KeyFault::Power)));
    assert_eq!(fault(&prime_from(&top + 1_u8, any), &h), Some(KeyFault::Prime));
    let small = prime_from(BigUint::from(1_000_000_u32), any);
    let cofactor = prime_from(&top / &small + 1_u8, any);
    assert_eq!(fault(&(small * cofactor), &h), Some(KeyFault::SmallFactor));
    for trivial in [BigUint::ZERO, one(), &n - 1_u8] {
        assert_eq!(fault(&n, &trivial), Some(KeyFault::TrivialBase));
    }
    assert_eq!(fault(&n, &(p * 2_u8)), Some(KeyFault::BaseNotCoprime));
    assert_eq!(fault(&n, &n), Some(KeyFault::Form));
    let minus = (2_u32..).map(BigUint::from).find(|x| jacobi(x, &n) == -1).expect("half of all");
    assert_eq!(fault(&n, &minus), Some(KeyFault::BaseJacobi));
    let good = key_bytes(512, &n, &h);
    for bytes in [&good[..good.len() - 1], &[], &[&good[..], &[0]].concat(), b"duo-hep\x01\xff\xff\xff\xff"] {
        assert!(matches!(PublicKey::from_bytes(bytes, size(512)), Err(Error::PublicKey(KeyFault::Form))));
    }
    assert!(matches!(PublicKey::from_bytes(&good, size(576)), Err(Error::PublicKey(KeyFault::Size))));
    assert!(matches!(PublicKey::from_bytes_of(&good, KeySize::new), Err(Error::KeySize(512))));
}

#[test]
fn bad_private_keys() {
    let vectors = vectors();
    let (p, q) = (&vectors.p, &vectors.q);
    let fault = |p: &BigUint, q: &BigUint| match SecretKey::from_primes(size(512), &words(p, 4), &words(q, 4), &[5]) {
        Err(Error::PrivateKey(fault)) => Some(fault),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    };
    assert_eq!(fault(p, q), None);
    assert_eq!(fault(p, p), Some(KeyFault::FactorsClose));
    let close = prime_from(p + 1_u8, any);
    assert_eq!(fault(p, &close), Some(KeyFault::FactorsClose));
    assert_eq!(fault(p, &(q + 2_u8)), Some(KeyFault::FactorNotPrime));
    assert_eq!(fault(p, &BigUint::ZERO), Some(KeyFault::FactorNotPrime));
    assert_eq!(fault(p, &(q >> 1 | one())), Some(KeyFault::Size));
    let other: BigUint = (one() << 255) + (one() << 254) + random_below(&(one() << 253), 5);
    let smooth = prime_from(other.clone(), |x| x % 4_u8 == BigUint::from(3_u8) && x % 7_u8 == one());
    assert_eq!(fault(p, &smooth), Some(KeyFault::SmallSubgroups));
    assert_eq!(fault(p, &prime_from(other, |x| x % 4_u8 == one())), Some(KeyFault::SmallSubgroups));
    // A number that is 1 modulo the other prime has to be longer, which the length finds: so gcd(N, φ(N)) = 1.
    let multiple = p * 6_u8 + 1_u8;
    let longer = SecretKey::from_primes(size(512), &words(p, 4), &words(&multiple, 5), &[5]);
    assert_eq!(longer.err(), Some(Error::PrivateKey(KeyFault::Size)));
}

#[test]
fn a_key_file_that_is_cut_short_changed_or_of_another_seal_is_refused() {
    let secret = vector_key();
    let seal_keys = [1, 2].map(|byte| SealKey::new(&[byte; 32]).expect("long enough"));
    let open = |file: &[u8], key| SecretKey::from_file(file, key, KeySize::even_if_it_can_be_broken);
    for key in [None, Some(&seal_keys[0])] {
        let file = secret.to_file(key).expect("random bytes");
        assert!(open(&file, key).is_ok() && open(&file, Some(&seal_keys[1])).is_err());
        for at in 0..file.len() {
            let mut changed = file.to_vec();
            changed[at] ^= 1;
            assert!(open(&changed, key).is_err() && open(&file[..at], key).is_err(), "{at}");
        }
    }
    let open_file = secret.to_file(None).expect("random bytes");
    assert!(matches!(open(&open_file, Some(&seal_keys[0])), Err(Error::PrivateKey(KeyFault::NotSealed))));
    let sealed = secret.to_file(Some(&seal_keys[0])).expect("random bytes");
    assert!(matches!(open(&sealed, None), Err(Error::PrivateKey(KeyFault::Seal))));
    // The twin: without a seal key the primes are hidden from nobody, with one they are not in the file.
    assert!(SealKey::new(&[0; 31]).is_err() && SealKey::new(&[0; 4097]).is_err());
}

#[test]
fn bad_ciphertexts() {
    let (vectors, secret) = (vectors(), vector_key());
    let public = secret.public();
    let n = &vectors.p * &vectors.q;
    let square = &n * &n;
    let good = public.encrypt(&Plaintexts::new(&[1, 2]), &mut dice(50)).expect("small");
    let good = public.write(&good).expect("ours");
    let fault = |c: &BigUint| {
        let bytes = bytes_of(&good, &[one(), c.clone(), one()], 128);
        let [read, foreign] =
            [public.read(&bytes), public.read_foreign(&bytes, &mut dice(51))].map(|read| match read {
                Err(Error::Ciphertext { index: 1, fault }) => Some(fault),
                Err(error) => panic!("{error}"),
                Ok(_) => None,
            });
        assert!(read == foreign || read == Some(CiphertextFault::Jacobi) && foreign.is_none());
        read
    };
    assert_eq!(fault(&one()), None);
    assert_eq!(fault(&BigUint::ZERO), Some(CiphertextFault::Zero));
    assert_eq!(fault(&square), Some(CiphertextFault::TooLarge));
    assert_eq!(fault(&((one() << 1024) - 1_u8)), Some(CiphertextFault::TooLarge));
    for shared in [&n, &vectors.p, &(&vectors.q * 3_u8)] {
        assert_eq!(fault(shared), Some(CiphertextFault::NotCoprime));
    }
    let minus = (2_u32..).map(BigUint::from).find(|x| jacobi(x, &n) == -1).expect("half of all");
    assert_eq!(fault(&minus), Some(CiphertextFault::Jacobi));
    // Among many, products of random ones are looked at first.
    let one_of_many = |at: usize, more: usize| {
        let mut many = vec![one(); 200];
        many[at] = minus.clone();
        many[more] = minus.clone();
        public.read(&bytes_of(&good, &many, 128)).err()
    };
    for (at, more) in [(0, 0), (63, 64), (199, 199), (100, 199)] {
        let fault = CiphertextFault::Jacobi;
        assert_eq!(one_of_many(at, more), Some(Error::Ciphertext { index: at, fault }));
    }
    assert!(public.read(&bytes_of(&good, &vec![one(); 200], 128)).is_ok());
    assert!(secret.read(&bytes_of(&good, std::slice::from_ref(&minus), 128)).is_ok(), "its owner decrypts it");
    // No error shows a number of the ciphertext.
    let shared = Error::Ciphertext { index: 1, fault: CiphertextFault::NotCoprime };
    assert_eq!(shared.to_string(), "ciphertext 1: it is not coprime to the modulus");
    for bytes in [&good[..good.len() - 1], &good[..43], &good[..20], &good[1..], &[&good[..], &[0]].concat()] {
        assert!(matches!(public.read(bytes), Err(Error::Form(_))));
    }
    let other = key().public();
    assert_eq!(other.read(&good).err(), Some(Error::OtherKey));
    let theirs = public.read(&good).expect("ours");
    assert_eq!(key().decrypt(&theirs).err(), Some(Error::OtherKey));
    assert_eq!(other.decrypt(&secret, &theirs).err(), Some(Error::OtherKey));
    assert_eq!(other.rerandomise(&theirs, &mut dice(52)).err(), Some(Error::OtherKey));
    assert_eq!(other.add_constants(&theirs, &Plaintexts::new(&[1, 2])).err(), Some(Error::OtherKey));
}

#[test]
fn batches_that_do_not_fit_and_large_numbers_are_refused() {
    let public = key().public();
    let some = public.encrypt(&Plaintexts::new(&[1, 2, 3]), &mut dice(53)).expect("small");
    let two = some.pick(&[0, 2]).expect("there");
    assert_eq!(public.add(&some, &two).err(), Some(Error::Lengths(3, 2)));
    assert_eq!(public.add_constants(&two, &Plaintexts::new(&[1])).err(), Some(Error::Lengths(2, 1)));
    assert_eq!(public.multiply_constants(&two, &Plaintexts::new(&[1]), 9).err(), Some(Error::Lengths(2, 1)));
    let large = public.multiply_constants(&two, &Plaintexts::new(&[511, 512]), 9);
    assert_eq!(large.err(), Some(Error::PlaintextTooLarge { index: 1 }));
    // Of no bits there is zero alone.
    let zeros = public.multiply_constants(&two, &Plaintexts::new(&[0, 0]), 0).expect("zeros");
    assert_eq!(bigs(&key().decrypt(&zeros).expect("ours")), [BigUint::ZERO, BigUint::ZERO]);
    let one = public.multiply_constants(&two, &Plaintexts::new(&[0, 1]), 0);
    assert_eq!(one.err(), Some(Error::PlaintextTooLarge { index: 1 }));
    assert_eq!(some.pick(&[3]).err(), Some(Error::Lengths(3, 3)));
    assert!(Ciphertexts::joined(&[]).is_err());
    let n = big(public.modulus());
    let too_large = public.encrypt(&plaintexts(&[&n - 1_u8, n], 8), &mut dice(54));
    assert_eq!(too_large.err(), Some(Error::PlaintextTooLarge { index: 1 }));
    for bits in [0, 255, 2047, 2049, 3136, 4096] {
        assert_eq!(KeySize::new(bits), Err(Error::KeySize(bits)));
    }
    assert_eq!((KeySize::default().bits(), KeySize::new(2048).map(KeySize::bits)), (3072, Ok(2048)));
}

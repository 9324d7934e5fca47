use std::sync::OnceLock;

use duologue_he::dgk::{PublicKey, SecretKey};
use duologue_he::{Additive, CiphertextFault, Ciphertexts, Error, KeyFault, KeySize, Plaintexts, SealKey};
use num_bigint::BigUint;

use super::textbook::one;
use super::*;

/// For comparisons of 32 bits: u = 101.
fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| SecretKey::generate(size(512), 32, &mut dice(40)).expect("a key"))
}

fn values(plain: &Plaintexts) -> Vec<u128> {
    plain.to_u128s().expect("small").to_vec()
}

#[test]
fn arithmetic_is_that_modulo_u() {
    let secret = key();
    let public = secret.public();
    assert_eq!(public.u(), 101);
    let (x, y): (Vec<u128>, Vec<u128>) = (0..101).map(|i| (i, i * i * 7 % 101)).unzip();
    let mut dice = dice(41);
    let [a, b] = [&x, &y].map(|values| public.encrypt(&Plaintexts::new(values), &mut dice).expect("below u"));
    let decrypted = |c: &Ciphertexts| values(&public.decrypt(secret, c).expect("ours"));
    let each = |f: fn(u128, u128) -> u128| x.iter().zip(&y).map(|(&x, &y)| f(x, y) % 101).collect::<Vec<_>>();
    assert_eq!(decrypted(&a), x);
    assert_eq!(decrypted(&public.add(&a, &b).expect("ours")), each(|x, y| x + y));
    assert_eq!(decrypted(&public.add_constants(&a, &Plaintexts::new(&y)).expect("ours")), each(|x, y| x + y));
    assert_eq!(decrypted(&public.multiply_constants(&a, &Plaintexts::new(&y), 7).expect("ours")), each(|x, y| x * y));
    assert_eq!(decrypted(&public.negate(&b).expect("ours")), each(|_, y| 101 - y));
    assert_eq!(decrypted(&public.rerandomise(&a, &mut dice).expect("ours")), x);
    let zeros: Vec<_> = y.iter().map(|&y| y == 0).collect();
    assert_eq!(*secret.are_zero(&b).expect("ours"), zeros);
}

/// The definitions of the paper on num-bigint: orders of g and h, encryption, the test for zero.
#[test]
fn the_key_is_that_of_the_paper() {
    let secret = key();
    let bytes = secret.public().to_bytes();
    let [n, g, h] = [0, 1, 2].map(|i| BigUint::from_bytes_le(&bytes[16 + 64 * i..16 + 64 * (i + 1)]));
    // Every encryption of 0 is a power of h; u of them times g^(u·k) as well.
    let u = BigUint::from(101_u8);
    let ciphertexts = secret.public().encrypt(&Plaintexts::new(&[0, 1, 100, 0]), &mut dice(42)).expect("below u");
    let written = secret.public().write(&ciphertexts).expect("ours");
    let numbers = numbers(&written, 64);
    assert!(numbers.iter().all(|c| *c < n) && numbers[0] != numbers[3]);
    // Made by the paper's formula, decrypted by us.
    let made: Vec<_> =
        (0..101_u32).map(|m| g.modpow(&m.into(), &n) * h.modpow(&random_below(&n, m.into()), &n) % &n).collect();
    let read = secret.public().read(&bytes_of(&written, &made, 64)).expect("valid");
    assert_eq!(values(&secret.decrypt(&read).expect("ours")), (0..101).collect::<Vec<_>>());
    // g^u is in the group of h: it encrypts 0.
    let powers = [g.modpow(&u, &n), h.clone(), one()];
    let read = secret.public().read(&bytes_of(&written, &powers, 64)).expect("valid");
    assert_eq!(*secret.are_zero(&read).expect("ours"), [true; 3]);
    assert_eq!(values(&secret.decrypt(&read).expect("ours")), [0; 3]);
    // Outside of the group there is nothing to decrypt.
    let read = secret.public().read(&bytes_of(&written, &[one(), BigUint::from(2_u8)], 64)).expect("units");
    assert_eq!(secret.decrypt(&read).err(), Some(Error::NoPlaintext { index: 1 }));
}

#[test]
fn keys_come_back_from_bytes_and_bad_ones_are_refused() {
    let secret = key();
    let bytes = secret.public().to_bytes();
    let fault = |bytes: &[u8], width| match PublicKey::from_bytes(bytes, size(512), width) {
        Err(Error::PublicKey(fault)) => Some(fault),
        _ => None,
    };
    assert_eq!(fault(&bytes, 32), None);
    assert_eq!(fault(&bytes, 33), Some(KeyFault::U));
    assert_eq!(fault(&bytes[..bytes.len() - 1], 32), Some(KeyFault::Form));
    let with = |at: usize, part: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + part.len()].copy_from_slice(part);
        bytes
    };
    for u in [0_u32, 1, 99, 103 * 107, 65_537] {
        assert_eq!(fault(&with(12, &u.to_le_bytes()), 32), Some(KeyFault::U), "{u}");
    }
    let n = &bytes[16..80];
    let minus_one = (BigUint::from_bytes_le(n) - 1_u8).to_bytes_le();
    for at in [80, 144] {
        let mut one = [0; 64];
        one[0] = 1;
        for trivial in [&[0; 64][..], &one, &minus_one] {
            assert_eq!(fault(&with(at, trivial), 32), Some(KeyFault::TrivialBase));
        }
        assert_eq!(fault(&with(at, n), 32), Some(KeyFault::Form));
    }
    assert_eq!(fault(&with(16, &[n[0] ^ 1]), 32), Some(KeyFault::Even));
    assert_eq!(fault(&with(8, &[0, 1]), 32), Some(KeyFault::Size));
    let seal_key = SealKey::new(&[3; 40]).expect("long enough");
    let file = secret.to_file(Some(&seal_key)).expect("random bytes");
    let open = |file: &[u8], key| SecretKey::from_file(file, key, KeySize::even_if_it_can_be_broken);
    let again = open(&file, Some(&seal_key)).expect("a key");
    assert_eq!(again.public().to_bytes(), bytes);
    let none = (0..file.len()).all(|len| open(&file[..len], Some(&seal_key)).is_err()) && open(&file, None).is_err();
    assert!(none);
}

#[test]
fn bad_ciphertexts_are_refused() {
    let (secret, p) = (key(), BigUint::from(101_u8));
    let public = secret.public();
    let good = public.write(&public.encrypt(&Plaintexts::new(&[1]), &mut dice(43)).expect("small")).expect("ours");
    let n = BigUint::from_bytes_le(&public.to_bytes()[16..80]);
    let fault = |c: &BigUint| match public.read(&bytes_of(&good, &[p.clone(), c.clone()], 64)) {
        Err(Error::Ciphertext { index: 1, fault }) => Some(fault),
        _ => None,
    };
    assert_eq!(fault(&BigUint::ZERO), Some(CiphertextFault::Zero));
    assert_eq!(fault(&n), Some(CiphertextFault::TooLarge));
    assert_eq!(fault(&(n - 1_u8)), None);
    let too_large = public.encrypt(&Plaintexts::new(&[100, 101]), &mut dice(44));
    assert_eq!(too_large.err(), Some(Error::PlaintextTooLarge { index: 1 }));
}

#[test]
fn the_owner_encrypts_as_others_do() {
    let secret = key();
    let (all, mut dice) = ((0..101).collect::<Vec<_>>(), dice(45));
    let [one, two] = [(); 2].map(|()| secret.encrypt(&Plaintexts::new(&all), &mut dice).expect("below u"));
    let [written, other] = [&one, &two].map(|c| secret.public().write_numbers(c).expect("ours"));
    assert!(written.len() == 101 * 64 && written.chunks(64).zip(other.chunks(64)).all(|(a, b)| a != b));
    let read = secret.public().read_numbers(&written).expect("valid");
    assert_eq!(values(&secret.decrypt(&read).expect("ours")), all);
    assert!(matches!(secret.public().read_numbers(&written[1..]), Err(Error::Form(_))));
    let too_large = secret.encrypt(&Plaintexts::new(&[100, 101]), &mut dice);
    assert_eq!(too_large.err(), Some(Error::PlaintextTooLarge { index: 1 }));
    assert_eq!(secret.public().to_bytes().len(), PublicKey::bytes(size(512)));
    assert_eq!(secret.to_file(None).expect("random bytes").len(), SecretKey::bytes(size(512)));
}

use duologue_he::paillier::{PublicKey, SecretKey};
use duologue_he::{Additive, Ciphertexts, Error, Plaintexts, SealKey};
use num_bigint::BigUint;

use super::textbook::{Textbook, jacobi, one};
use super::*;

/// The textbook with the primes of the key of the vectors.
pub fn textbook_of(secret: &SecretKey) -> Textbook {
    let vectors = vectors();
    assert_eq!(big(secret.public().modulus()), &vectors.p * &vectors.q, "the key of the vectors");
    Textbook::new(vectors.p, vectors.q)
}

pub struct Vectors {
    pub p: BigUint,
    pub q: BigUint,
    /// m, r, c.
    pub cases: Vec<[BigUint; 3]>,
}

pub fn vectors() -> Vectors {
    let file: serde_json::Value = serde_json::from_str(include_str!("vectors/python_phe.json")).expect("JSON");
    let number = |value: &serde_json::Value| hex(value.as_str().expect("a number in hex"));
    let cases = file["cases"].as_array().expect("cases");
    let cases = cases.iter().map(|case| ["m", "r", "c"].map(|name| number(&case[name]))).collect();
    Vectors { p: number(&file["p"]), q: number(&file["q"]), cases }
}

/// The key of the vectors, with h = −5² mod N.
pub fn vector_key() -> SecretKey {
    let vectors = vectors();
    SecretKey::from_primes(size(512), &words(&vectors.p, 4), &words(&vectors.q, 4), &[5]).expect("a key")
}

/// 0, 1, N − 1 and others, of no multiple of eight.
fn samples(n: &BigUint) -> Vec<BigUint> {
    [BigUint::ZERO, one(), n - 1_u8, n >> 1].into_iter().chain((0..7).map(|i| random_below(n, i))).collect()
}

#[test]
fn textbook_decrypts_what_we_encrypt_and_we_what_the_textbook_encrypts() {
    let secret = vector_key();
    let (public, textbook) = (secret.public(), textbook_of(&secret));
    let values = samples(&textbook.n);
    let plain = plaintexts(&values, 8);
    for ciphertexts in [public.encrypt(&plain, &mut dice(2)), secret.encrypt(&plain, &mut dice(3))] {
        let ciphertexts = ciphertexts.expect("small enough");
        let numbers = numbers(&public.write(&ciphertexts).expect("ours"), 128);
        assert_eq!(numbers.iter().map(|c| textbook.decrypt(c)).collect::<Vec<_>>(), values);
        assert_eq!(bigs(&secret.decrypt(&ciphertexts).expect("ours")), values);
        assert!(numbers.iter().all(|c| jacobi(c, &textbook.n) == 1));
    }
}

#[test]
fn vectors_of_python_phe() {
    let (vectors, secret) = (vectors(), vector_key());
    let public = secret.public();
    let head = public.write(&public.encrypt(&Plaintexts::new(&[]), &mut dice(4)).expect("none")).expect("ours");
    let numbers: Vec<_> = vectors.cases.iter().map(|[_, _, c]| c.clone()).collect();
    let read = public.read_foreign(&bytes_of(&head, &numbers, 128), &mut dice(5)).expect("valid ciphertexts");
    let values: Vec<_> = vectors.cases.iter().map(|[m, ..]| m.clone()).collect();
    assert_eq!(bigs(&secret.decrypt(&read).expect("ours")), values);
    let textbook = textbook_of(&secret);
    for [m, r, c] in &vectors.cases {
        assert!(textbook.encrypt(m, r) == *c && textbook.nonce(c) == *r, "the textbook is python-phe's");
    }
    // Half of them have the Jacobi symbol −1, and are refused where nobody re-randomises them.
    for c in &numbers {
        let alone = public.read(&bytes_of(&head, std::slice::from_ref(c), 128));
        assert_eq!(alone.is_ok(), jacobi(c, &textbook.n) == 1);
    }
}

#[test]
fn sums_and_products_are_those_of_the_plaintexts() {
    let secret = key();
    let (public, n) = (secret.public(), big(secret.public().modulus()));
    let (x, mut y) = (samples(&n), samples(&n));
    y.rotate_left(3);
    let mut dice = dice(6);
    let [a, b] = [&x, &y].map(|values| public.encrypt(&plaintexts(values, 8), &mut dice).expect("small enough"));
    let decrypted = |c: &Ciphertexts| bigs(&public.decrypt(secret, c).expect("ours"));
    let each = |f: fn(&BigUint, &BigUint) -> BigUint| x.iter().zip(&y).map(|(x, y)| f(x, y) % &n).collect::<Vec<_>>();
    assert_eq!(decrypted(&public.add(&a, &b).expect("ours")), each(|x, y| x + y));
    assert_eq!(decrypted(&public.add_constants(&a, &plaintexts(&y, 8)).expect("ours")), each(|x, y| x + y));
    let products = public.multiply_constants(&a, &plaintexts(&y, 8), 512).expect("ours");
    assert_eq!(decrypted(&products), each(|x, y| x * y));
    let negatives: Vec<_> = x.iter().map(|x| (&n - x) % &n).collect();
    assert_eq!(decrypted(&public.negate(&a).expect("ours")), negatives);
    assert_eq!(bigs(&public.negatives(&plaintexts(&x, 8)).expect("small")), negatives);
    assert_eq!(decrypted(&public.double(&a, 9).expect("ours")), x.iter().map(|x| (x << 9) % &n).collect::<Vec<_>>());
    assert_eq!(decrypted(&public.rerandomise(&a, &mut dice).expect("ours")), x);
    let picked = Ciphertexts::joined(&[a.pick(&[3, 0]).expect("there"), b]).expect("one key");
    assert_eq!(decrypted(&picked), [x[3].clone(), x[0].clone()].into_iter().chain(y).collect::<Vec<_>>());
    for count in 0..4 {
        let few = a.pick(&(0..count).collect::<Vec<_>>()).expect("there");
        assert_eq!(decrypted(&public.negate(&few).expect("ours")), negatives[..count]);
    }
}

#[test]
fn doubled_numbers_and_sums_with_the_first_are_those_of_the_plaintexts() {
    let secret = vector_key();
    let (public, mut dice) = (secret.public(), dice(9));
    let [a, b] = [[5_u128, 1 << 90, 0, 77, 12, 3, 9, 8, 1], [3, 4, 1 << 70, 0, 6, 2, 7, 5, 11]];
    let [few, many] =
        [&a[..3], &a[..]].map(|values| secret.encrypt(&Plaintexts::new(values), &mut dice).expect("small"));
    let others = secret.encrypt(&Plaintexts::new(&b), &mut dice).expect("small");
    let constants = [0, 1, 9, (1 << 30) - 1, 1 << 29, 77, 4, 5, 6];
    let opened = |found: Ciphertexts| secret.decrypt(&found).expect("ours").to_u128s().expect("128 bits").to_vec();
    let found = public.double_and_add_multiples(&many, &others, &Plaintexts::new(&constants), 30).expect("30 bits");
    let expected = a.iter().zip(&b).zip(&constants).map(|((a, b), k)| (a << 30) + b * k).collect::<Vec<_>>();
    assert_eq!(opened(found), expected);
    let sums = opened(public.add_to_first(&few, &others).expect("fewer"));
    assert_eq!(sums, [&[8, (1 << 90) + 4, 1 << 70][..], &b[3..]].concat());
    assert!(matches!(public.add_to_first(&many, &few), Err(Error::Lengths(..))));
    let long = Plaintexts::new(&[1 << 30; 9]);
    assert!(public.double_and_add_multiples(&many, &others, &long, 30).is_err());
    assert!(public.double_and_add_multiples(&many, &few, &Plaintexts::new(&constants), 30).is_err());
    let doubled = Plaintexts::new(&a).doubled(&[0, 1, 5, 64, 65, 200, 127, 128, 3]);
    let expected = a.iter().zip([0, 1, 5, 64, 65, 200, 127, 128, 3]).map(|(&a, by)| BigUint::from(a) << by);
    assert!(doubled.iter().map(big).eq(expected));
}

#[test]
fn keys_and_ciphertexts_come_back_from_bytes() {
    let secret = key();
    let public = PublicKey::from_bytes(&secret.public().to_bytes(), size(512)).expect("a key");
    assert_eq!(public.id(), secret.public().id());
    let values = Plaintexts::new(&[7, u128::MAX, 0]);
    let bytes = public.write(&public.encrypt(&values, &mut dice(7)).expect("small")).expect("ours");
    assert_eq!(bytes.len(), 44 + 3 * 128);
    let read = secret.public().read(&bytes).expect("valid");
    let numbers = secret.decrypt(&read).expect("ours").to_u128s().expect("small");
    assert_eq!(*numbers, [7, u128::MAX, 0]);
    let seal_key = SealKey::new(&[9; 32]).expect("long enough");
    for seal_key in [None, Some(&seal_key)] {
        let file = secret.to_file(seal_key).expect("random bytes");
        let again = SecretKey::from_file(&file, seal_key, SHORT_TOO).expect("a key");
        assert_eq!(*again.decrypt(&read).expect("its own").to_u128s().expect("small"), [7, u128::MAX, 0]);
        assert!(matches!(SecretKey::from_file(&file, None, duologue_he::KeySize::new), Err(Error::KeySize(512))));
    }
}

const SHORT_TOO: fn(u32) -> duologue_he::Result<duologue_he::KeySize> = duologue_he::KeySize::even_if_it_can_be_broken;

#[test]
fn longer_keys_work_as_well() {
    for bits in [256, 320, 576, 1024, 1536] {
        let secret = SecretKey::generate(size(bits), &mut dice(bits.into())).expect("a key");
        let values = plaintexts(&samples(&big(secret.public().modulus())), bits as usize / 64);
        let ours = secret.encrypt(&values, &mut dice(8)).expect("small");
        let theirs = secret.public().encrypt(&values, &mut dice(9)).expect("small");
        for ciphertexts in [ours, theirs] {
            assert_eq!(bigs(&secret.decrypt(&ciphertexts).expect("ours")), bigs(&values), "{bits}");
        }
    }
}

//! Schemes of labels against twins: of ElGamal on curve25519-dalek, of Damgård, Jurik and Nielsen's system on num-bigint.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar};
use duologue_he::djn::DjnOf;
use duologue_he::elgamal::{ElGamal, PointLabels};
use duologue_he::linear::{Integers, Labels, Scheme};
use duologue_he::{CiphertextFault, Error, KeyFault};
use num_bigint::BigUint;

use super::paillier::{textbook_of, vector_key};
use super::textbook::Textbook;
use super::*;

/// Three labels an answer.
type Djn = DjnOf<512>;
const SLOT: usize = 169;

/// Labels and what came back of the wires at these places, with what their blindings add.
fn round_trip<S: Scheme>(secret: &mut S::Secret, batches: &[usize], places: &[usize], seed: u128) {
    let mut dice = dice(seed);
    let mut public = S::read_key(&S::key(secret)).expect("a key");
    let mut store = S::store(&public).expect("room");
    let mut all = S::Labels::random(0, &mut dice);
    for &count in batches {
        let labels = S::Labels::random(count, &mut dice);
        let bytes = S::encrypt(secret, &labels, &mut dice).expect("encrypted");
        assert_eq!(bytes.len(), S::ciphertexts(count));
        S::append(&mut public, &mut store, &bytes, count).expect("ours");
        all.append(&labels);
    }
    let blindings = S::blindings(places.len(), &mut dice.derive(b"blinding", 0));
    let again = S::blindings(places.len(), &mut dice.derive(b"blinding", 0));
    assert!(S::labels(&blindings).encode() == S::labels(&again).encode(), "the same of the same generator");
    let answer = |store: &mut _, dice: &mut _| {
        let blinded = S::blind(&public, &blindings, dice).expect("blinded");
        S::answer(&public, store, places, blinded).expect("an answer")
    };
    let [one, other] = [(); 2].map(|()| answer(&mut store, &mut dice));
    assert_eq!(one.len(), S::answers(places.len()));
    assert_ne!(one, other, "fresh randomness in every answer");
    let wanted = all.pick(places.iter().copied()).add(&S::labels(&blindings)).encode();
    for answer in [one, other] {
        assert!(S::decrypt(secret, &answer, places.len()).expect("ours").encode() == wanted);
    }
}

#[test]
fn what_is_decrypted_is_the_label_and_its_blinding() {
    let mut elgamal = ElGamal::generate(&mut dice(70)).expect("a key");
    let mut djn = vector_key();
    for (batches, places) in [
        (vec![1], vec![0]),
        (vec![5, 1, 9], vec![14, 0, 0, 7, 3, 14, 1]),
        (vec![8, 17], (0..25).rev().collect()),
        (vec![2], vec![1; 16]),
    ] {
        round_trip::<ElGamal>(&mut elgamal, &batches, &places, 71);
        round_trip::<Djn>(&mut djn, &batches, &places, 72);
    }
}

fn scalar(seed: u128) -> Scalar {
    let mut wide = [0; 64];
    dice(seed).fill(&mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

fn points(bytes: &[u8]) -> Vec<RistrettoPoint> {
    let decode =
        |bytes: &[u8]| CompressedRistretto::from_slice(bytes).expect("32 bytes").decompress().expect("a point");
    bytes.chunks(32).map(decode).collect()
}

fn bytes(points: &[RistrettoPoint]) -> Vec<u8> {
    points.iter().flat_map(|point| point.compress().to_bytes()).collect()
}

/// The textbook on the library: it decrypts what we answer, and we what it encrypts and answers.
#[test]
fn elgamal_is_that_of_the_textbook() {
    let a = scalar(80);
    let announced = RistrettoPoint::mul_base(&a);
    let encrypt = |key: &RistrettoPoint, point: &RistrettoPoint, seed| {
        let k = scalar(seed);
        [RistrettoPoint::mul_base(&k), key * k + point]
    };
    let labels: Vec<_> = (90..99).map(|seed| RistrettoPoint::mul_base(&scalar(seed))).collect();
    // The twin has the key.
    let mut public = ElGamal::read_key(&bytes(&[announced])).expect("a key");
    let mut store = ElGamal::store(&public).expect("room");
    let sent: Vec<_> = labels.iter().zip(100..).flat_map(|(label, seed)| encrypt(&announced, label, seed)).collect();
    ElGamal::append(&mut public, &mut store, &bytes(&sent), 9).expect("points");
    let (blindings, places) = (ElGamal::blindings(4, &mut dice(81)), [8, 0, 3, 3]);
    let blinded = ElGamal::blind(&public, &blindings, &mut dice(82)).expect("blinded");
    let answer = points(&ElGamal::answer(&public, &mut store, &places, blinded).expect("an answer"));
    let added = points(&blindings.encode());
    for (at, &place) in places.iter().enumerate() {
        assert_eq!(answer[2 * at + 1] - answer[2 * at] * a, labels[place] + added[at]);
    }
    // We have the key.
    let mut secret = ElGamal::generate(&mut dice(83)).expect("a key");
    let key = points(&ElGamal::key(&secret))[0];
    let ours = PointLabels::random(3, &mut dice(84));
    let sent = points(&ElGamal::encrypt(&mut secret, &ours, &mut dice(85)).expect("encrypted"));
    let sums: Vec<_> = (0..3)
        .flat_map(|at| {
            let [k, masked] = encrypt(&key, &labels[at], 110 + at as u128);
            [sent[2 * at] + k, sent[2 * at + 1] + masked]
        })
        .collect();
    let decrypted = points(&ElGamal::decrypt(&secret, &bytes(&sums), 3).expect("points").encode());
    let ours = points(&ours.encode());
    assert!((0..3).all(|at| decrypted[at] == ours[at] + labels[at]));
}

/// Σ x_i·2^(169·i).
fn stacked(values: &[BigUint]) -> BigUint {
    values.iter().enumerate().map(|(at, x)| x << (SLOT * at)).sum()
}

fn ciphertexts(bytes: &[u8]) -> Vec<BigUint> {
    bytes.chunks(128).map(BigUint::from_bytes_le).collect()
}

fn of(numbers: &[BigUint]) -> Vec<u8> {
    let number = |x: &BigUint| {
        let mut bytes = x.to_bytes_le();
        bytes.resize(128, 0);
        bytes
    };
    numbers.iter().flat_map(number).collect()
}

/// An answer as the textbook makes it, of ciphertexts at places, with blindings and their own encryption's randomness.
fn plain_answer(book: &Textbook, wires: &[BigUint], places: &[usize], blindings: &[BigUint], r: &BigUint) -> BigUint {
    let shifted = places.iter().enumerate();
    let product = shifted.fold(BigUint::from(1_u8), |product, (at, &place)| {
        product * wires[place].modpow(&(BigUint::from(1_u8) << (SLOT * at)), &book.square) % &book.square
    });
    product * book.encrypt(&stacked(blindings), r) % &book.square
}

#[test]
fn djn_is_that_of_the_textbook() {
    let mut secret = vector_key();
    let book = textbook_of(&secret);
    let labels = Integers::random(7, &mut dice(120));
    let sent = Djn::encrypt(&mut secret, &labels, &mut dice(121)).expect("encrypted");
    let wires = ciphertexts(&sent);
    for (wire, &label) in wires.iter().zip(labels.values()) {
        assert_eq!(book.decrypt(wire), BigUint::from(label));
    }
    // Our answers hold what the textbook computes: four labels in two of them.
    let mut public = Djn::read_key(&Djn::key(&secret)).expect("a key");
    let mut store = Djn::store(&public).expect("room");
    Djn::append(&mut public, &mut store, &sent, 7).expect("ours");
    let (blindings, places) = (Djn::blindings(4, &mut dice(122)), [6, 2, 2, 5]);
    let blinded = Djn::blind(&public, &blindings, &mut dice(123)).expect("blinded");
    let answers = ciphertexts(&Djn::answer(&public, &mut store, &places, blinded).expect("an answer"));
    let sums: Vec<_> = bigs(&blindings)
        .iter()
        .zip(places)
        .map(|(blinding, place)| blinding + BigUint::from(labels.values()[place]))
        .collect();
    assert_eq!(answers.iter().map(|c| book.decrypt(c)).collect::<Vec<_>>(), [stacked(&sums[..3]), stacked(&sums[3..])]);
    // And we decrypt its answers.
    let blindings = bigs(&blindings);
    let theirs = [(&places[..3], &blindings[..3]), (&places[3..], &blindings[3..])];
    let theirs = theirs.map(|(places, some)| plain_answer(&book, &wires, places, some, &random_below(&book.n, 124)));
    let decrypted = Djn::decrypt(&secret, &of(&theirs), 4).expect("ours");
    let lowest = |x: &BigUint| BigUint::from(u128::MAX) & x;
    let wanted: Vec<_> = sums.iter().map(lowest).collect();
    assert_eq!(decrypted.values().iter().map(|&x| BigUint::from(x)).collect::<Vec<_>>(), wanted);
}

/// The owner takes N-th roots. Of an answer without randomness of its own it finds, among all wirings, the one that was taken;
/// of ours it finds none.
#[test]
fn an_answer_without_its_own_randomness_shows_the_wiring() {
    let mut secret = vector_key();
    let book = textbook_of(&secret);
    let labels = Integers::random(4, &mut dice(130));
    let sent = Djn::encrypt(&mut secret, &labels, &mut dice(131)).expect("encrypted");
    let wires = ciphertexts(&sent);
    let nonces: Vec<_> = wires.iter().map(|wire| book.nonce(wire)).collect();
    let matching = |answer: &BigUint| {
        let nonce = book.nonce(answer);
        let of = |places: [usize; 3]| {
            let shifted = places.iter().enumerate();
            shifted.fold(BigUint::from(1_u8), |product, (at, &place)| {
                product * nonces[place].modpow(&(BigUint::from(1_u8) << (SLOT * at)), &book.n) % &book.n
            })
        };
        let all = (0..64).map(|number| [number % 4, number / 4 % 4, number / 16]);
        all.filter(|&places| of(places) == nonce).collect::<Vec<_>>()
    };
    let places = [3, 1, 2];
    let blindings = Djn::blindings(3, &mut dice(132));
    let broken = plain_answer(&book, &wires, &places, &bigs(&blindings), &BigUint::from(1_u8));
    assert_eq!(matching(&broken), [places], "the twin: its blindings hide the labels, and its nonce nothing");
    let mut public = Djn::read_key(&Djn::key(&secret)).expect("a key");
    let mut store = Djn::store(&public).expect("room");
    Djn::append(&mut public, &mut store, &sent, 4).expect("ours");
    for seed in 133..140 {
        let blinded = Djn::blind(&public, &blindings, &mut dice(seed)).expect("blinded");
        let answer = Djn::answer(&public, &mut store, &places, blinded).expect("an answer");
        assert_eq!(matching(&ciphertexts(&answer)[0]), Vec::<[usize; 3]>::new());
    }
}

/// A blinding of the label's own length leaves few wires that can be meant; one that is 40 bits longer leaves all.
#[test]
fn blindings_are_longer_than_labels() {
    let labels = Integers::random(64, &mut dice(140));
    let candidates = |sum: &BigUint, bits: u32| {
        let fits = |&&label: &&u128| {
            let label = BigUint::from(label);
            sum >= &label && sum - label < BigUint::from(1_u8) << bits
        };
        labels.values().iter().filter(fits).count()
    };
    let blindings = bigs(&Djn::blindings(64, &mut dice(141)));
    let sums = |mask: &BigUint| -> Vec<BigUint> {
        blindings.iter().zip(labels.values()).map(|(b, &s)| (b & mask) + BigUint::from(s)).collect()
    };
    let short: usize = sums(&BigUint::from(u128::MAX)).iter().map(|sum| candidates(sum, 128)).sum();
    assert!(short < 64 * 48, "the twin: of 64 wires {} are left on average", short / 64);
    let long = sums(&((BigUint::from(1_u8) << 168_u32) - 1_u8));
    assert!(long.iter().all(|sum| candidates(sum, 168) == 64));
    assert!(blindings.iter().all(|b| b.bits() <= 168) && blindings.iter().any(|b| b.bits() == 168));
}

#[test]
fn points_that_are_none_are_refused() {
    let mut secret = ElGamal::generate(&mut dice(150)).expect("a key");
    let mut public = ElGamal::read_key(&ElGamal::key(&secret)).expect("a key");
    let mut store = ElGamal::store(&public).expect("room");
    let good =
        ElGamal::encrypt(&mut secret, &PointLabels::random(3, &mut dice(151)), &mut dice(152)).expect("encrypted");
    let form = |result: Option<Error>| assert!(matches!(result, Some(Error::Form(_))), "{result:?}");
    let negative = {
        // The encoding of −s mod p for an encoding s: the same square, and odd.
        let p = (BigUint::from(1_u8) << 255_u32) - 19_u8;
        (p - BigUint::from_bytes_le(&good[..32])).to_bytes_le()
    };
    for bad in [vec![0; 32], vec![0xff; 32], negative] {
        form(ElGamal::read_key(&bad).err());
        for at in [0, 32, 160] {
            let mut damaged = good.clone();
            damaged[at..at + 32].copy_from_slice(&bad);
            form(ElGamal::append(&mut public, &mut store, &damaged, 3).err());
            form(ElGamal::decrypt(&secret, &damaged, 3).err());
            assert!(!PointLabels::decode(&damaged).1);
        }
    }
    for (cut, count) in [(&good[1..], 3), (&good[64..], 3), (&good[..], 2), (&[][..], 1)] {
        form(ElGamal::append(&mut public, &mut store, cut, count).err());
        form(ElGamal::decrypt(&secret, cut, count).err());
    }
    form(ElGamal::read_key(&good[..31]).err());
    let blinded = ElGamal::blind(&public, &PointLabels::random(1, &mut dice(153)), &mut dice(154)).expect("blinded");
    assert!(ElGamal::answer(&public, &mut store, &[0], blinded).is_err(), "no ciphertext was taken");
}

#[test]
fn residues_that_are_none_are_refused() {
    let mut secret = vector_key();
    let (book, key) = (textbook_of(&secret), Djn::key(&vector_key()));
    let mut public = Djn::read_key(&key).expect("a key");
    let mut store = Djn::store(&public).expect("room");
    let good = Djn::encrypt(&mut secret, &Integers::random(3, &mut dice(160)), &mut dice(161)).expect("encrypted");
    let p = super::paillier::vectors().p;
    let faults = [
        (BigUint::ZERO, CiphertextFault::Zero),
        (book.square.clone(), CiphertextFault::TooLarge),
        ((BigUint::from(1_u8) << 1024_u32) - 1_u8, CiphertextFault::TooLarge),
        (p * 3_u8, CiphertextFault::NotCoprime),
    ];
    for (number, wanted) in faults {
        let mut numbers = ciphertexts(&good);
        numbers[1] = number;
        let bad = of(&numbers);
        for why in [Djn::append(&mut public, &mut store, &bad, 3).err(), Djn::decrypt(&secret, &bad, 9).err()] {
            assert!(matches!(why, Some(Error::Ciphertext { index: 1, fault }) if fault == wanted), "{why:?}");
        }
    }
    for (cut, count) in [(&good[1..], 3), (&good[128..], 3), (&good[..], 2)] {
        assert!(matches!(Djn::append(&mut public, &mut store, cut, count), Err(Error::Form(_))));
        assert!(matches!(Djn::decrypt(&secret, cut, 3 * count), Err(Error::Form(_))));
    }
    // An answer of one label whose plaintext has two, and one that is longer than all slots.
    for (value, count) in [(BigUint::from(1_u8) << SLOT, 1), (BigUint::from(1_u8) << (3 * SLOT), 3)] {
        let answer = of(&[book.encrypt(&value, &BigUint::from(7_u8))]);
        assert!(matches!(Djn::decrypt(&secret, &answer, count), Err(Error::PlaintextOutOfRange { index: 0 })));
    }
    // Keys: of another length, and even.
    assert!(matches!(Djn::read_key(&key[1..]), Err(Error::PublicKey(_))));
    assert!(matches!(Djn::read_key(&DjnOf::<256>::key(&short())), Err(Error::PublicKey(KeyFault::Size))));
    let mut even = key;
    even[12] &= !1;
    assert!(matches!(Djn::read_key(&even), Err(Error::PublicKey(KeyFault::Even))));
}

/// A key of 256 bits.
fn short() -> SecretKey {
    DjnOf::<256>::generate(&mut dice(162)).expect("a key")
}

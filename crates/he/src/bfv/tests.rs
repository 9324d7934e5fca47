//! The system against its definition, its worst cases, and what its noise tells.

use std::array::from_fn;

use kernels::Block;
use kernels::generator::Generator;
use num_bigint::BigUint;
use proptest::prelude::*;

use super::coding::read;
use super::noise::flooding;
use super::ring::{DEGREE, LARGE, Poly, Q, SMALL};
use super::secret::secret;
use super::{ANSWER, Bfv, Blinding, CIPHERTEXT, LABELS, Masks, PUBLIC_KEY, PublicKey, SecretKey};
use crate::error::{CiphertextFault, Error};
use crate::linear::{Labels, Scheme, Strings};

fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

fn labels(count: usize, rng: &mut Generator) -> Strings {
    Strings::random(count, rng)
}

/// The system written from its definition, on big integers and without transforms.
mod schoolbook {
    use super::*;

    pub fn bits(bytes: &[u8], width: usize) -> Vec<u64> {
        let (all, mask) = (BigUint::from_bytes_le(bytes), BigUint::from(1_u64 << width) - 1_u32);
        (0..bytes.len() * 8 / width).map(|i| u64::try_from(&all >> (i * width) & &mask).expect("a word")).collect()
    }

    pub fn written(x: &[u64], width: usize) -> Vec<u8> {
        let all = x.iter().rev().fold(BigUint::ZERO, |all, &x| (all << width) + x);
        let mut bytes = all.to_bytes_le();
        bytes.resize(x.len() * width / 8, 0);
        bytes
    }

    /// a·s modulo m, where x²⁰⁴⁸ = −1.
    pub fn times(a: &[u64], s: &[i64], m: u64) -> Vec<u64> {
        let mut out = vec![0_i128; DEGREE];
        for (i, &s) in s.iter().enumerate().filter(|(_, s)| **s != 0) {
            for (j, &a) in a.iter().enumerate() {
                let sign = if i + j < DEGREE { s } else { -s };
                out[(i + j) % DEGREE] += i128::from(sign) * i128::from(a);
            }
        }
        out.iter().map(|x| x.rem_euclid(i128::from(m)) as u64).collect()
    }

    /// round(2·(c₀ + c₁·s) / m) modulo 2.
    pub fn decrypt(c0: &[u64], c1: &[u64], s: &[i64], m: u64) -> Vec<bool> {
        let phase = times(c1, s, m).into_iter().zip(c0).map(|(a, b)| (u128::from(a) + u128::from(*b)) % u128::from(m));
        phase.map(|x| (4 * x + u128::from(m)) / (2 * u128::from(m)) % 2 == 1).collect()
    }

    /// A ciphertext modulo q of bits, with this noise.
    pub fn encrypt(bits: &[bool], mask: &[u64], s: &[i64], noise: &[i64]) -> Vec<u64> {
        let product = times(mask, s, Q);
        let value = |i: usize| i128::from(noise[i]) - i128::from(product[i]) + i128::from(bits[i]) * i128::from(Q / 2);
        (0..DEGREE).map(|i| value(i).rem_euclid(i128::from(Q)) as u64).collect()
    }

    /// round(x·12289 / q) modulo 12289.
    pub fn switched(x: &[u64]) -> Vec<u64> {
        let scaled = |&x: &u64| (2 * u128::from(x) * u128::from(SMALL) + u128::from(Q)) / (2 * u128::from(Q));
        x.iter().map(|x| (scaled(x) % u128::from(SMALL)) as u64).collect()
    }
}

fn bits_of(labels: &[Block]) -> Vec<bool> {
    let bits =
        |label: &Block| (0..128).map(|i| u128::from_le_bytes(label.to_bytes()) >> i & 1 == 1).collect::<Vec<_>>();
    labels.iter().flat_map(bits).collect()
}

/// A key whose s a test knows, too.
fn known_key(rng: &mut Generator) -> (Vec<i64>, SecretKey) {
    let s = secret(rng).to_vec();
    let key = SecretKey::with(&s, rng);
    (s, key)
}

fn read_key(key: &SecretKey) -> PublicKey {
    Bfv::read_key(key.public()).expect("a key")
}

#[test]
fn ciphertexts_and_answers_are_those_of_the_definition() {
    let mut rng = dice(41);
    let (s, mut key) = known_key(&mut rng);
    let mut public = read_key(&key);
    let (wires, mut store) = (labels(3, &mut rng), Bfv::store(&public).expect("room"));
    let sent = Bfv::encrypt(&mut key, &wires, &mut rng).expect("encrypted");
    for (number, (ciphertext, &label)) in (1..).zip(sent.chunks(CIPHERTEXT).zip(wires.blocks())) {
        let c0 = schoolbook::bits(ciphertext, 54);
        let bits = schoolbook::decrypt(&c0, &public.mask(number), &s, Q);
        assert_eq!(bits[..128], bits_of(&[label]));
        assert!(!bits[128..].contains(&true));
    }
    Bfv::append(&mut public, &mut store, &sent, 3).expect("ciphertexts");
    let blindings = labels(5, &mut rng);
    let blinded = Bfv::blind(&public, &blindings, &mut rng).expect("blinded");
    let places = [2, 0, 2, 1, 2];
    let answer = Bfv::answer(&public, &mut store, &places, blinded).expect("an answer");
    let (c0, c1) = (schoolbook::bits(&answer[..ANSWER / 2], 14), schoolbook::bits(&answer[ANSWER / 2..], 14));
    let bits = schoolbook::decrypt(&c0, &c1, &s, SMALL);
    let sums = wires.pick(places.into_iter()).add(&blindings);
    assert_eq!(bits[..5 * 128], bits_of(sums.blocks()));
}

#[test]
fn answers_by_the_definition_are_decrypted() {
    let mut rng = dice(42);
    let (s, key) = known_key(&mut rng);
    let sums = labels(LABELS, &mut rng);
    let mask = Masks::new([9; 16]).get(1);
    let c0 = schoolbook::encrypt(&bits_of(sums.blocks()), &mask, &s, &flooding(&mut rng));
    let answer = [c0, mask].map(|c| schoolbook::written(&schoolbook::switched(&c), 14)).concat();
    let decrypted = Bfv::decrypt(&key, &answer, LABELS).expect("labels");
    assert!(decrypted.blocks() == sums.blocks());
}

/// The noise may be what it can be at most, in every coefficient and of either sign, and all bits may be 1 on both sides.
#[test]
fn the_largest_noise_decrypts_rightly() {
    let mut rng = dice(43);
    let mut key = SecretKey::new(&mut rng);
    let mut public = read_key(&key);
    let ones = Strings::new(zeroize::Zeroizing::new(vec![Block::new(u128::MAX); LABELS]));
    let mut store = Bfv::store(&public).expect("room");
    let sent = Bfv::encrypt(&mut key, &ones, &mut rng).expect("encrypted");
    Bfv::append(&mut public, &mut store, &sent, LABELS).expect("ciphertexts");
    let largest = 9 * ((1_i64 << 48) - 1);
    let places: Vec<usize> = (0..LABELS).collect();
    for (flood, blinding) in [(largest, 0), (-largest, 0), (largest, u128::MAX), (-largest, u128::MAX)] {
        let blinded = public.flooded(&[Block::new(blinding); LABELS], &[flood; DEGREE], &mut rng);
        let answer = Bfv::answer(&public, &mut store, &places, vec![blinded]).expect("an answer");
        let sums = Bfv::decrypt(&key, &answer, LABELS).expect("labels");
        assert!(sums.blocks().iter().all(|&sum| sum == Block::new(u128::MAX ^ blinding)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn bob_gets_the_sums_of_whatever_labels_alice_chose(
        seed: u128, wires in 1..40_usize, runs in 1..3_usize, places in prop::collection::vec(0..40_usize, 1..50)
    ) {
        let mut rng = dice(seed);
        let mut key = SecretKey::new(&mut rng);
        let mut public = read_key(&key);
        let places: Vec<usize> = places.iter().map(|place| place % wires).collect();
        for _ in 0..runs {
            let (all, mut store) = (labels(wires, &mut rng), Bfv::store(&public).expect("room"));
            for part in [0..wires / 2, wires / 2..wires] {
                let part = all.pick(part);
                let sent = Bfv::encrypt(&mut key, &part, &mut rng).expect("encrypted");
                prop_assert_eq!(sent.len(), Bfv::ciphertexts(part.len()));
                Bfv::append(&mut public, &mut store, &sent, part.len()).expect("ciphertexts");
            }
            let blindings = Bfv::blindings(places.len(), &mut rng);
            let blinded = Bfv::blind(&public, &blindings, &mut rng).expect("blinded");
            let answers = Bfv::answer(&public, &mut store, &places, blinded).expect("answers");
            prop_assert_eq!(answers.len(), Bfv::answers(places.len()));
            let sums = Bfv::decrypt(&key, &answers, places.len()).expect("labels");
            let expected = all.pick(places.iter().copied()).add(&Bfv::labels(&blindings));
            prop_assert!(sums.blocks() == expected.blocks());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(seed: u128, len in 0..3 * ANSWER, count in 0..40_usize) {
        let mut rng = dice(seed);
        let mut bytes = vec![0; len];
        rng.fill(&mut bytes);
        let key = SecretKey::new(&mut rng);
        let mut public = read_key(&key);
        let mut store = Bfv::store(&public).expect("room");
        // Of random residues one in four is too large.
        prop_assert!(Bfv::append(&mut public, &mut store, &bytes, count).is_err() || bytes.is_empty());
        prop_assert!(Bfv::decrypt(&key, &bytes, count).is_err() || bytes.is_empty());
        prop_assert!(Bfv::read_key(&bytes).is_err());
    }
}

#[test]
fn residues_that_are_too_large_are_refused_wherever_they_stand() {
    let mut rng = dice(44);
    let key = SecretKey::new(&mut rng);
    let mut public = read_key(&key);
    let mut store = Bfv::store(&public).expect("room");
    let too_large = |index| Error::Ciphertext { index, fault: CiphertextFault::TooLarge };
    for at in [0, 1, 1000, DEGREE - 1] {
        let mut x = vec![Q - 1; DEGREE];
        let good = schoolbook::written(&x, 54);
        x[at] = Q;
        let bad = schoolbook::written(&x, 54);
        let both = [good.as_slice(), &bad].concat();
        assert_eq!(Bfv::append(&mut public, &mut store, &both, 2), Err(too_large(1)));
        assert!(Bfv::append(&mut public, &mut store, &good, 1).is_ok());
        assert!(Bfv::read_key(&[[1; 16].as_slice(), &good].concat()).is_ok());
        assert!(Bfv::read_key(&[[1; 16].as_slice(), &bad].concat()).is_err());
        let mut small = vec![SMALL - 1; 2 * DEGREE];
        assert!(Bfv::decrypt(&key, &schoolbook::written(&small, 14), LABELS).is_ok());
        small[2 * at] = SMALL;
        assert_eq!(Bfv::decrypt(&key, &schoolbook::written(&small, 14), LABELS).err(), Some(too_large(0)));
    }
}

#[test]
fn other_lengths_are_refused() {
    let mut rng = dice(45);
    let mut key = SecretKey::new(&mut rng);
    let mut public = read_key(&key);
    let mut store = Bfv::store(&public).expect("room");
    let sent = Bfv::encrypt(&mut key, &labels(2, &mut rng), &mut rng).expect("encrypted");
    for (bytes, count) in [(&sent[1..], 2), (&sent[..CIPHERTEXT], 2), (&sent[..], 1), (&sent[..], 3)] {
        assert!(matches!(Bfv::append(&mut public, &mut store, bytes, count), Err(Error::Form(_))));
    }
    assert!(matches!(Bfv::decrypt(&key, &[0; ANSWER - 1], 16), Err(Error::Form(_))));
    assert!(matches!(Bfv::decrypt(&key, &[0; ANSWER], 17), Err(Error::Form(_))));
    assert!(Bfv::read_key(&[0; PUBLIC_KEY - 1]).is_err());
    Bfv::append(&mut public, &mut store, &sent, 2).expect("ciphertexts");
    for (places, blindings) in [(&[0, 2][..], 2), (&[0, usize::MAX], 2), (&[0; 17], 16), (&[0; 16], 17)] {
        let blinded = Bfv::blind(&public, &labels(blindings, &mut rng), &mut rng).expect("blinded");
        assert!(matches!(Bfv::answer(&public, &mut store, places, blinded), Err(Error::Lengths(..))), "{places:?}");
    }
}

#[test]
fn a_full_disk_is_named_by_its_folder() {
    let message = Error::Storage(std::io::ErrorKind::StorageFull).to_string();
    let folder = std::env::temp_dir();
    assert!(message.contains("TMPDIR") && message.contains(&folder.display().to_string()), "{message}");
}

/// What is left of a phase without the bits, near zero.
fn noise(phase: &[u64], labels: &[Block]) -> Vec<i64> {
    let bits = bits_of(labels).into_iter().chain(std::iter::repeat(false));
    let centred = |x: u64| if x > Q / 2 { x as i64 - Q as i64 } else { x as i64 };
    phase.iter().zip(bits).map(|(x, bit)| centred((x + Q - u64::from(bit) * (Q / 2)) % Q)).collect()
}

/// What Alice's own way of blinding leaves in the phase that Bob computes with his key, of which flooding is nearly all; and
/// what her answers leave of it modulo the small prime.
#[test]
fn what_alice_sends_is_flooded() {
    let mut rng = dice(51);
    let (s, key) = known_key(&mut rng);
    let public = read_key(&key);
    let blindings = labels(16 * LABELS, &mut rng);
    let square_of = |x: &[i64]| x.iter().map(|&x| x as f64 * x as f64).sum::<f64>() / x.len() as f64;
    let of_run = Bfv::blind(&public, &blindings, &mut rng).expect("blinded");
    let broken: Vec<_> = blindings.blocks().chunks(LABELS).map(|b| public.flooded(b, &[0; DEGREE], &mut rng)).collect();
    for (is_flooded, blinded) in [(true, of_run), (false, broken)] {
        let (mut phases, mut answers) = (Vec::new(), Vec::new());
        for (blinding, labels) in blinded.into_iter().zip(blindings.blocks().chunks(LABELS)) {
            let [c0, c1] = [&blinding.c0, &blinding.c1].map(|c| c.iter().map(|c| c % Q).collect::<Vec<_>>());
            phases.extend(noise(&key.phase(&c0, &c1), labels));
            let mut bytes = Vec::new();
            blinding.write(&mut bytes);
            let [c0, c1] = [0, 1].map(|half| schoolbook::bits(&bytes[half * ANSWER / 2..][..ANSWER / 2], 14));
            let small = schoolbook::times(&c1, &s, SMALL).into_iter().zip(c0).zip(bits_of(labels));
            let bit = |bit: bool| u64::from(bit) * (SMALL / 2);
            answers.extend(
                small.map(|((x, c0), b)| (x + c0 + SMALL - bit(b) + SMALL / 2) % SMALL).map(|x| x as i64 - 6144),
            );
        }
        let largest = phases.iter().map(|x| x.abs()).max().expect("phases");
        assert!(largest < 9 * (1 << 48) + (1 << 18), "2^{}", (largest as f64).log2());
        // 1.5·2⁹⁶ of 2¹⁵ numbers, to five standard deviations; modulo the small prime, with roundings of c₁ of 1,365/12.
        let [wide, small] =
            [square_of(&phases) / 96_f64.exp2(), square_of(&answers) / (48.0 - 40.0_f64).exp2().powi(2)];
        if is_flooded {
            assert!(largest > 1 << 49, "2^{}", (largest as f64).log2());
            assert!((wide - 1.5).abs() < 0.06 && (small - 1.5).abs() < 0.07, "{wide} and {small}");
        } else {
            assert!(largest < 1 << 18 && small < 0.003, "a twin without flooding: {largest} and {small}");
        }
    }
}

/// What serves once must: labels under one mask show their difference to whoever reads along.
#[test]
fn a_mask_that_serves_twice_shows_the_difference_of_labels() {
    let mut rng = dice(46);
    let mut key = SecretKey::new(&mut rng);
    let wires = labels(2, &mut rng);
    let difference = |key: &mut SecretKey, rng: &mut Generator, broken: bool| {
        let mut sent = Vec::new();
        key.encrypt(wires.blocks()[0], rng, &mut sent);
        if broken {
            key.next -= 1;
        }
        key.encrypt(wires.blocks()[1], rng, &mut sent);
        let [a, b] = [0, 1].map(|i| schoolbook::bits(&sent[i * CIPHERTEXT..(i + 1) * CIPHERTEXT], 54));
        let far = |(a, b): (&u64, &u64)| ((a + Q - b) % Q).abs_diff(Q / 2) < Q / 4;
        a.iter().zip(&b).map(far).collect::<Vec<_>>()
    };
    let truth = bits_of(&[wires.blocks()[0] ^ wires.blocks()[1]]);
    assert_eq!(difference(&mut key, &mut rng, true)[..128], truth);
    assert_ne!(difference(&mut key, &mut rng, false)[..128], truth);
}

/// The second half of an answer without fresh randomness is the sum of masks that Bob knows.
#[test]
fn second_halves_do_not_show_which_masks_they_have() {
    let mut rng = dice(47);
    let key = SecretKey::new(&mut rng);
    let public = read_key(&key);
    let fresh = public.blind(&[Block::ZERO], &mut rng);
    let mut broken = public.blind(&[Block::ZERO], &mut rng);
    broken.c1.fill(0);
    let small = |x: &u64| *x < 100 || Q - x < 100;
    let shows = |mut blinding: Blinding| {
        blinding.add(0, &[0; DEGREE], &public.mask(7));
        let [_, c1] = blinding.reduced();
        c1.iter().zip(public.mask(7)).filter(|(c, mask)| small(&((*c + Q - mask) % Q))).count()
    };
    assert_eq!((shows(fresh), shows(broken)), (0, DEGREE));
}

#[test]
fn nothing_is_encrypted_or_blinded_alike_twice() {
    let mut rng = dice(48);
    let mut key = SecretKey::new(&mut rng);
    let public = read_key(&key);
    let same = Strings::new(zeroize::Zeroizing::new(vec![Block::new(5); 2]));
    let sent = Bfv::encrypt(&mut key, &same, &mut rng).expect("encrypted");
    assert_ne!(sent[..CIPHERTEXT], sent[CIPHERTEXT..]);
    let [a, b] = [0, 1].map(|_| {
        let mut out = Vec::new();
        public.blind(same.blocks(), &mut rng).write(&mut out);
        out
    });
    assert!(a[..ANSWER / 2] != b[..ANSWER / 2] && a[ANSWER / 2..] != b[ANSWER / 2..]);
    assert_ne!(SecretKey::new(&mut rng).public(), key.public());
}

/// Bob's attack on the function (the paper's code floods with 4 bits): he knows the noise of every label he encrypted, so for
/// each of two functions he knows what it leaves in the answers.
mod attack {
    use super::*;

    const INPUTS: usize = 64;
    const GATES: usize = 1000;
    const RUNS: u32 = 12;

    struct Bob {
        key: SecretKey,
        /// Of each wire: its noise.
        noises: Vec<Vec<i64>>,
        /// Of each wire: its label and the ciphertext's first half.
        sent: Vec<(Block, Poly)>,
    }

    impl Bob {
        fn new(rng: &mut Generator) -> Self {
            let mut key = SecretKey::new(rng);
            let public = read_key(&key);
            let wires = labels(INPUTS + GATES, rng);
            let (mut noises, mut sent) = (Vec::new(), Vec::new());
            for (number, &label) in (1..).zip(wires.blocks()) {
                let mut bytes = Vec::new();
                key.encrypt(label, rng, &mut bytes);
                let c0 = read(&bytes).expect("residues");
                noises.push(noise(&key.phase(&c0, &public.mask(number)), &[label]));
                sent.push((label, c0));
            }
            Bob { key, noises, sent }
        }

        /// What this function's answers would have of the noise of labels.
        fn trace(&self, function: &[usize]) -> Vec<i64> {
            let mut trace = vec![0; function.len() / LABELS * DEGREE];
            for (answer, wires) in trace.chunks_mut(DEGREE).zip(function.chunks(LABELS)) {
                for (place, &wire) in wires.iter().enumerate() {
                    for (i, e) in self.noises[wire].iter().enumerate() {
                        let at = i + 128 * place;
                        answer[at % DEGREE] += if at < DEGREE { *e } else { -e };
                    }
                }
            }
            trace
        }

        /// How many standard deviations the noise of the answers is nearer to the first function than halfway.
        fn sees(&self, answers: &[i64], functions: &[Vec<usize>; 2], sigma: f64) -> f64 {
            let [one, other] = [0, 1].map(|f| self.trace(&functions[f]));
            let differences = one.iter().zip(&other).map(|(a, b)| (a - b) as f64);
            let middles = one.iter().zip(&other).map(|(a, b)| (a + b) as f64 / 2.0);
            let (mut dot, mut norm) = (0.0, 0.0);
            for ((x, d), m) in answers.iter().zip(differences).zip(middles) {
                dot += (*x as f64 - m) * d;
                norm += d * d;
            }
            dot / (norm.sqrt() * sigma)
        }
    }

    /// Two wires of each gate, uniform among all earlier ones.
    fn function(rng: &mut Generator) -> Vec<usize> {
        let mut words = vec![0; 2 * GATES];
        rng.words(&mut words);
        words.iter().enumerate().map(|(i, word)| (word % (INPUTS + i / 2) as u64) as usize).collect()
    }

    /// How Alice makes what hides her labels.
    type Blind = fn(&PublicKey, &[Block], &mut Generator) -> Blinding;

    /// With flooding of four bits, else as in runs.
    fn four_bits(public: &PublicKey, blindings: &[Block], rng: &mut Generator) -> Blinding {
        let mut words = vec![0; DEGREE];
        rng.words(&mut words);
        let flooding: Vec<i64> = words.iter().map(|word| (word & 15) as i64 - 8).collect();
        public.flooded(blindings, &flooding, rng)
    }

    /// The noises of Alice's answers, before they are switched down even.
    fn answers(bob: &Bob, function: &[usize], blind: Blind, rng: &mut Generator) -> Vec<i64> {
        let public = read_key(&bob.key);
        let mut noises = Vec::with_capacity(function.len() / LABELS * DEGREE);
        for wires in function.chunks(LABELS) {
            let blindings: [Block; LABELS] = from_fn(|_| rng.block());
            let mut answer = blind(&public, &blindings, rng);
            for (place, &wire) in wires.iter().enumerate() {
                answer.add(place, &bob.sent[wire].1, &public.mask(wire as u64 + 1));
            }
            // The blinding's bit and the label's may both be 1: 2·⌊q/2⌋ = −1, which nobody sees in the noise.
            let sums: [Block; LABELS] =
                from_fn(|i| blindings[i] ^ wires.get(i).map_or(Block::ZERO, |&wire| bob.sent[wire].0));
            let [c0, c1] = answer.reduced();
            noises.extend(noise(&bob.key.phase(&c0, &c1), &sums));
        }
        noises
    }

    /// How sure Bob is of the function that it was, in standard deviations, each time.
    fn certainties(blind: Blind, sigma: f64) -> Vec<f64> {
        let mut rng = dice(49);
        let bob = Bob::new(&mut rng);
        let functions: [Vec<usize>; 2] = from_fn(|_| function(&mut rng));
        // Of whole answers.
        let functions = functions.map(|f| f[..f.len() / LABELS * LABELS].to_vec());
        let certainty = |run: u32| {
            let which = (run % 2) as usize;
            let noises = answers(&bob, &functions[which], blind, &mut rng);
            let seen = bob.sees(&noises, &functions, sigma);
            if which == 0 { seen } else { -seen }
        };
        (0..RUNS).map(certainty).collect()
    }

    #[test]
    fn four_bits_of_flooding_show_the_function_and_ours_do_not() {
        // Alice's own fresh encryption is noise of variance 2·2048·10.5·2/3 + 10.5, more than 4 bits.
        let own = (2.0 * 2048.0 * 10.5 * 2.0 / 3.0 + 10.5_f64).sqrt();
        let shown = certainties(four_bits, own);
        assert!(shown.iter().all(|&certainty| certainty > 15.0), "right every time, and surely: {shown:?}");
        let hidden = certainties(PublicKey::blind, 48.29_f64.exp2());
        assert!(hidden.iter().all(|certainty| certainty.abs() < 4.0), "no more than chance: {hidden:?}");
        let right = hidden.iter().filter(|&&certainty| certainty > 0.0).count();
        assert!((2..=10).contains(&right), "{right} of {RUNS} by guessing: {hidden:?}");
    }
}

#[test]
fn the_parts_of_the_noise_have_their_bounds() {
    let mut rng = dice(50);
    let (_, mut key) = known_key(&mut rng);
    let public = read_key(&key);
    let mut bytes = Vec::new();
    key.encrypt(Block::ZERO, &mut rng, &mut bytes);
    let phase = key.phase(&schoolbook::bits(&bytes, 54), &public.mask(1));
    assert!(phase.iter().all(|&x| x <= 21 || Q - x <= 21), "a fresh one");
    let [c0, c1] = public.flooded(&[], &[0; DEGREE], &mut rng).reduced();
    let blinded = key.phase(&c0, &c1);
    let largest = blinded.iter().map(|&x| x.min(Q - x)).max().expect("some");
    assert!((400..2 * 2048 * 21 + 21).contains(&largest), "{largest}: u·e + e + e′·s");
    // What docs/he.md adds up: flooding, 16 labels, the blinding, and the rounding of c₀ and of c₁·s.
    let most = 9.0 * 48_f64.exp2() + 16.0 * 21.0 + f64::from(2 * 2048 * 21 + 21);
    assert!(most / LARGE as f64 + 0.5 + 1533.0 / 2.0 < 3071.5);
}

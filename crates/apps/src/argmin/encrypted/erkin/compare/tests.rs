//! Comparisons against plain ones, and what the client sees of them: in the protocol, and in twins that leave a step out.

use super::*;
use he::KeySize;
use kernels::Block;
use std::sync::OnceLock;

const SIGMA: u32 = 40;

fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

fn size() -> KeySize {
    KeySize::even_if_it_can_be_broken(256).expect("a length")
}

fn paillier() -> &'static paillier::SecretKey {
    static KEY: OnceLock<paillier::SecretKey> = OnceLock::new();
    KEY.get_or_init(|| paillier::SecretKey::generate(size(), &mut dice(80)).expect("a key"))
}

fn dgk_for(bits: u32) -> dgk::SecretKey {
    dgk::SecretKey::generate(size(), bits, &mut dice(81)).expect("a key")
}

/// Comparisons under way: the server's side, d, and c_i in clear to the client.
struct Run {
    server: Comparisons,
    masked: Vec<Vec<u64>>,
    digits: Ciphertexts,
    values: Ciphertexts,
}

impl Run {
    fn new(key: &dgk::SecretKey, server: Comparisons, pairs: &[[u128; 2]], rng: &mut Generator) -> Run {
        let secret = paillier();
        let bits = server.bits;
        let side = |side: usize, rng: &mut Generator| {
            let numbers: Vec<u128> = pairs.iter().map(|pair| pair[side]).collect();
            secret.encrypt(&Plaintexts::new(&numbers), rng).expect("small")
        };
        let (left, right) = (side(0, rng), side(1, rng));
        let mut server = server;
        let masked = secret.decrypt(&server.masked(secret.public(), &left, &right).expect("ours")).expect("ours");
        let (high, digits) = split(key, bits, &masked, rng).expect("ours");
        let high = secret.encrypt(&high, rng).expect("small");
        let values = server.values(key.public(), high, &digits).expect("ours");
        Run { server, masked: masked.iter().map(<[u64]>::to_vec).collect(), digits, values }
    }

    /// a ≤ b.
    fn finish(self, key: &dgk::SecretKey, rng: &mut Generator) -> Vec<u128> {
        let (secret, bits) = (paillier(), self.server.bits);
        let hidden = hidden(key.public(), bits, &self.values, rng).expect("ours");
        let hidden = key.public().read_numbers(&hidden).expect("valid");
        let zeros = any_zero(key, bits, &hidden).expect("ours").expect("one at most");
        let chosen = self.server.finish(secret.public(), &secret.encrypt(&zeros, rng).expect("small")).expect("ours");
        secret.decrypt(&chosen).expect("ours").to_u128s().expect("bits").to_vec()
    }
}

fn compared(bits: u32, pairs: &[[u128; 2]], rng: &mut Generator) {
    let key = dgk_for(bits);
    let server = Comparisons::new(bits, SIGMA, pairs.len(), rng);
    let chosen = Run::new(&key, server, pairs, rng).finish(&key, rng);
    for ([a, b], chosen) in pairs.iter().zip(chosen) {
        assert_eq!(chosen, u128::from(a <= b), "{a} and {b} of {bits} bits");
    }
}

/// All pairs, with every s and many masks: equal values are never decided by s.
#[test]
fn all_pairs_of_few_bits_compare_as_numbers_do() {
    let mut rng = dice(82);
    for bits in 1..=3 {
        let all: Vec<[u128; 2]> = (0..1 << (2 * bits)).map(|pair| [pair >> bits, pair & ((1 << bits) - 1)]).collect();
        compared(bits, &all.repeat(20), &mut rng);
    }
}

#[test]
fn numbers_of_many_bits_compare_as_numbers_do() {
    let mut rng = dice(83);
    for bits in [8, 31, 32, 63, 64, 65, 127, 128] {
        let most = u128::MAX >> (128 - bits);
        let mut pairs =
            vec![[0, 0], [most, most], [0, most], [most, 0], [most - 1, most], [most, most - 1], [0, 1], [1, 0]];
        let random = wide::random(12, bits, &mut rng);
        let any = |at: usize| random.get(at).iter().rev().fold(0, |all, &word| all << 32 << 32 | u128::from(word));
        pairs.extend((0..6).map(|at| [any(2 * at), any(2 * at + 1)]));
        pairs.extend((0..6).map(|at| [any(at), any(at)]));
        compared(bits, &pairs, &mut rng);
    }
}

/// One comparison of eight bits as often as wanted, with one mask of d̂ = 0b1011_0110 and r̂ = 0b1010_1110, s = 1: d̂ and r̂
/// first differ at bit 4, but d̂ < r̂ is not so; with s = −1 there is a zero.
fn repeated(key: &dgk::SecretKey, count: usize, flip: u64, rng: &mut Generator) -> Run {
    let masks = wide::tabulate(count, |_| 0xabc << 8 | 0b1010_1110);
    let server = Comparisons { bits: 8, masks, flips: wide::tabulate(count, |_| flip), high: None };
    // 2^8 + b − a = 8 modulo 2^8.
    Run::new(key, server, &vec![[5, 13]; count], rng)
}

const COUNT: usize = 1200;

/// Plaintexts of those of each comparison, as the client may decrypt them.
fn seen(key: &dgk::SecretKey, bytes: &[u8]) -> Vec<Vec<u128>> {
    let plain = key.decrypt(&key.public().read_numbers(bytes).expect("valid")).expect("ours");
    plain.to_u128s().expect("small").chunks(8).map(<[u128]>::to_vec).collect()
}

/// Whether each count is within six standard deviations of as many draws with equal chances.
fn uniform(counts: &[usize]) -> bool {
    let (draws, chance) = (counts.iter().sum::<usize>() as f64, 1.0 / counts.len() as f64);
    let most = 6.0 * (draws * chance * (1.0 - chance)).sqrt();
    counts.iter().all(|&count| (count as f64 - draws * chance).abs() < most)
}

/// How often the zero is at each place.
fn places_of_zeros(seen: &[Vec<u128>]) -> Vec<usize> {
    let mut counts = vec![0; 8];
    seen.iter().for_each(|values| values.iter().zip(&mut counts).for_each(|(x, count)| *count += usize::from(*x == 0)));
    counts
}

#[test]
fn the_place_of_the_zero_is_any_and_in_a_twin_without_a_random_order_it_is_the_deciding_bit() {
    let (key, mut rng) = (dgk_for(8), dice(84));
    let run = repeated(&key, COUNT, 1, &mut rng);
    assert!(run.masked.iter().all(|d| d[0] & 0xff == 0b1011_0110));
    let twin = multiplied(key.public(), &run.values, &mut rng).expect("ours");
    let twin = seen(&key, &in_order(key.public(), 8, &twin).expect("ours"));
    assert_eq!(places_of_zeros(&twin), [0, 0, 0, 0, COUNT, 0, 0, 0], "the twin shows where d̂ and r̂ first differ");
    assert!(!uniform(&places_of_zeros(&twin)));
    let hidden = seen(&key, &hidden(key.public(), 8, &run.values, &mut rng).expect("ours"));
    let places = places_of_zeros(&hidden);
    assert!(places.iter().sum::<usize>() == COUNT && uniform(&places), "{places:?}");
}

#[test]
fn what_is_not_zero_is_any_unit_and_in_a_twin_without_random_units_it_counts_differing_bits() {
    let (key, mut rng) = (dgk_for(8), dice(85));
    for flip in [0, 1] {
        let run = repeated(&key, COUNT / 4, flip, &mut rng);
        let twin = seen(&key, &in_order(key.public(), 8, &run.values).expect("ours"));
        // By the formula: bits 4 and 3 differ, d_4 = r_3 = 1.
        let u = i128::from(key.public().u() as u32);
        let expected: [i128; 8] = if flip == 1 { [6, 5, 5, 1, 0, -1, -1, -1] } else { [7, 7, 7, 3, 2, 1, 1, 1] };
        let expected = expected.map(|x| x.rem_euclid(u) as u128);
        assert!(twin.iter().all(|values| *values == expected), "the twin: {:?} and {expected:?}", twin[0]);
        let mut counts = vec![0; u as usize];
        for value in seen(&key, &hidden(key.public(), 8, &run.values, &mut rng).expect("ours")).concat() {
            counts[value as usize] += 1;
        }
        assert_eq!(counts.remove(0), if flip == 1 { COUNT / 4 } else { 0 });
        assert!(uniform(&counts), "{counts:?}");
    }
}

/// The client knows its digits' ciphertexts. Whoever only computes with them can be computed after.
#[test]
fn the_client_cannot_compute_again_what_the_server_sent_but_in_a_twin_without_fresh_randomness() {
    let (key, mut rng) = (dgk_for(1), dice(86));
    let (public, server) = (key.public(), Comparisons::new(1, SIGMA, 20, &mut rng));
    let run = Run::new(&key, server, &[[1, 0]; 20], &mut rng);
    // Every mask bit, s and unit.
    let mut guesses = Vec::new();
    for (mask, flip, unit) in
        (0..2).flat_map(|mask| (0..2).flat_map(move |flip| (1..7).map(move |unit| (mask, flip, unit))))
    {
        let masks = wide::tabulate(20, |_| mask);
        let mut guess = Comparisons { bits: 1, masks, flips: wide::tabulate(20, |_| flip), high: None };
        let values = guess.values(public, run.digits.clone(), &run.digits).expect("ours");
        let values = public.multiply_constants(&values, &wide::tabulate(20, |_| unit), width(public)).expect("ours");
        guesses.push(public.write_numbers(&values).expect("ours"));
    }
    let found = |bytes: &[u8]| {
        let each = public.size().bits() as usize / 8;
        (0..20)
            .filter(|at| guesses.iter().any(|guess| guess[at * each..][..each] == bytes[at * each..][..each]))
            .count()
    };
    let twin = multiplied(public, &run.values, &mut rng).expect("ours");
    assert_eq!(found(&in_order(public, 1, &twin).expect("ours")), 20, "the twin");
    assert_eq!(found(&hidden(public, 1, &run.values, &mut rng).expect("ours")), 0);
}

#[test]
fn more_than_one_zero_is_no_honest_answer() {
    let (key, mut rng) = (dgk_for(2), dice(87));
    let zeros = |values: &[u128], rng: &mut Generator| {
        let values = key.encrypt(&Plaintexts::new(values), rng).expect("below u");
        any_zero(&key, 2, &values).expect("ours").map(|any| any.to_u128s().expect("bits").to_vec())
    };
    assert_eq!(zeros(&[1, 2, 0, 3, 4, 0], &mut rng), Some(vec![0, 1, 1]));
    assert_eq!(zeros(&[1, 2, 0, 0, 4, 0], &mut rng), None);
}

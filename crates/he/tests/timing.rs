//! Whether the time of decryption, and of powers, depends on secrets, after Reparaz, Balasch and
//! Verbauwhede (*Dude, is my code constant time?*, DATE 2017): one input against random ones, in random order, and Welch's
//! t of the times. What is random is drawn anew each time, before the clock starts, and either input comes to lie in the
//! same memory. `make timing` runs it; no other target does, because a busy machine makes it fail or pass at will.

use std::time::Instant;

use duologue_he::paillier::SecretKey;
use duologue_he::{Additive, Ciphertexts, KeySize, Plaintexts};
use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus};

const RUNS: usize = 4000;
/// Above this the times differ.
const LIMIT: f64 = 10.0;

/// Welch's t of the times of two classes of inputs, in random order, without the slowest tenth of all. Before each time
/// `put` makes the input of a class: the fixed one or one of its random ones.
fn t_value<T>(
    dice: &mut Generator,
    mut input: T,
    mut put: impl FnMut(bool, &mut T, &mut Generator),
    measured: impl Fn(&T),
) -> f64 {
    let mut times: Vec<(bool, f64)> = (0..RUNS)
        .map(|_| {
            let mut word = [0];
            dice.words(&mut word);
            let class = word[0] & 1 == 1;
            put(class, &mut input, dice);
            let start = Instant::now();
            measured(&input);
            (class, start.elapsed().as_secs_f64())
        })
        .collect();
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    times.truncate(RUNS * 9 / 10);
    let [(mean, spread), (other_mean, other_spread)] = [false, true].map(|class| {
        let of_class: Vec<_> = times.iter().filter(|time| time.0 == class).map(|time| time.1).collect();
        let mean = of_class.iter().sum::<f64>() / of_class.len() as f64;
        let squares: f64 = of_class.iter().map(|time| (time - mean).powi(2)).sum();
        (mean, squares / (of_class.len() * of_class.len()) as f64)
    });
    ((mean - other_mean) / (spread + other_spread).sqrt()).abs()
}

/// Zeros or random words, by the same instructions.
fn put_words(fixed: bool, input: &mut [u64], dice: &mut Generator) {
    let keep = u64::from(fixed).wrapping_sub(1);
    dice.words(input);
    input.iter_mut().for_each(|word| *word &= keep);
}

fn assert_same(what: &str, t: f64) {
    println!("{what}: t = {t:.1}");
    assert!(t < LIMIT, "{what}");
}

#[test]
#[ignore = "it measures time: make timing"]
fn decryption_and_powers_take_the_same_time_for_all_secrets() {
    let mut dice = Generator::from_os().expect("the system's generator");
    let size = KeySize::new(2048).expect("a length");
    let secret = SecretKey::generate(size, &mut dice).expect("a key");
    let encrypted =
        |values: &[u128], dice: &mut Generator| secret.public().encrypt(&Plaintexts::new(values), dice).expect("small");
    let zeros = encrypted(&[0; 8], &mut dice);
    let draw = |fixed: bool, input: &mut Ciphertexts, dice: &mut Generator| {
        let mut words = [0; 16];
        dice.words(&mut words);
        let values: Vec<u128> = words.chunks(2).map(|x| u128::from(x[0]) << 64 | u128::from(x[1])).collect();
        let both = Ciphertexts::joined(&[encrypted(&values, dice), zeros.clone()]).expect("one key");
        let first = 8 * usize::from(fixed);
        *input = both.pick(&(first..first + 8).collect::<Vec<_>>()).expect("there");
    };
    let t = t_value(&mut dice, zeros.clone(), draw, |input| drop(secret.decrypt(input).expect("ours")));
    assert_same("decryption of the same zeros against others", t);
    let put = |fixed: bool, words: &mut Vec<u64>, dice: &mut Generator| put_words(fixed, words, dice);
    let n = Modulus::new(secret.public().modulus()).expect("odd");
    let table = FixedBase::new(&n, &[&[3][..], &[0; 31]].concat(), 256);
    let t = t_value(&mut dice, vec![0; 32], put, |exponents| drop(table.power(&n, exponents)));
    assert_same("powers of a fixed base by 0 against others", t);
    let mut bases = vec![0; 8 * n.len()];
    dice.words(&mut bases);
    let bases = n.residues(&bases);
    let t = t_value(&mut dice, vec![0; n.len()], put, |exponent| drop(n.power(&bases, exponent, n.bits())));
    assert_same("powers of any base by 0 against others", t);
}

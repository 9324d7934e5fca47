//! Whether the time of decryption, of powers and of a secret order depends on secrets, after Reparaz, Balasch and
//! Verbauwhede (*Dude, is my code constant time?*, DATE 2017): one input against random ones, in random order, and Welch's
//! t of the times. What is random is drawn anew each time, before the clock starts, and either input comes to lie in the
//! same memory. `make timing` runs it; no other target does, because a busy machine makes it fail or pass at will.

use std::time::Instant;

use duologue_he::paillier::SecretKey;
use duologue_he::{Additive, Ciphertexts, KeySize, Plaintexts, Shuffle, dgk};
use kernels::Block;
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

/// Ciphertexts of eight zeros, or of eight other numbers.
fn put_ciphertexts<'a>(
    zeros: &'a Ciphertexts,
    others: impl Fn(&mut Generator) -> Ciphertexts + 'a,
) -> impl FnMut(bool, &mut Ciphertexts, &mut Generator) + 'a {
    move |fixed, input, dice| {
        let both = Ciphertexts::joined(&[others(dice), zeros.clone()]).expect("one key");
        let first = 8 * usize::from(fixed);
        *input = both.pick(&(first..first + 8).collect::<Vec<_>>()).expect("there");
    }
}

fn dice() -> Generator {
    Generator::from_os().expect("the system's generator")
}

fn size() -> KeySize {
    KeySize::new(2048).expect("a length")
}

#[test]
#[ignore = "it measures time: make timing"]
fn paillier_decryption_takes_the_same_time_for_all_plaintexts() {
    let mut dice = dice();
    let secret = SecretKey::generate(size(), &mut dice).expect("a key");
    let encrypted =
        |values: &[u128], dice: &mut Generator| secret.public().encrypt(&Plaintexts::new(values), dice).expect("small");
    let zeros = encrypted(&[0; 8], &mut dice);
    let others = |dice: &mut Generator| {
        let mut words = [0; 16];
        dice.words(&mut words);
        let values: Vec<u128> = words.chunks(2).map(|x| u128::from(x[0]) << 64 | u128::from(x[1])).collect();
        encrypted(&values, dice)
    };
    let put = put_ciphertexts(&zeros, others);
    let t = t_value(&mut dice, zeros.clone(), put, |input| drop(secret.decrypt(input).expect("ours")));
    assert_same("decryption of the same zeros against others", t);
}

#[test]
#[ignore = "it measures time: make timing"]
fn dgk_decryption_and_zero_test_take_the_same_time_for_all_plaintexts() {
    let mut dice = dice();
    let secret = dgk::SecretKey::generate(size(), 32, &mut dice).expect("a key");
    let public = secret.public();
    let encrypted =
        |values: &[u64], dice: &mut Generator| public.encrypt(&Plaintexts::from_words(values, 1), dice).expect("small");
    let zeros = encrypted(&[0; 8], &mut dice);
    let others = |dice: &mut Generator| {
        let mut words = [0; 8];
        dice.words(&mut words);
        encrypted(&words.map(|word| 1 + word % (public.u() - 1)), dice)
    };
    let put = put_ciphertexts(&zeros, others);
    let t = t_value(&mut dice, zeros.clone(), put, |input| drop(secret.decrypt(input).expect("ours")));
    assert_same("DGK, decryption of the same zeros against others", t);
    let put = put_ciphertexts(&zeros, others);
    let t = t_value(&mut dice, zeros.clone(), put, |input| drop(secret.are_zero(input).expect("ours")));
    assert_same("DGK, zero test of the same zeros against others", t);
}

#[test]
#[ignore = "it measures time: make timing"]
fn powers_take_the_same_time_for_all_exponents() {
    let mut dice = dice();
    let mut root = vec![0; 32];
    dice.words(&mut root);
    root[0] |= 1;
    root[31] |= 1 << 63;
    let put = |fixed: bool, words: &mut Vec<u64>, dice: &mut Generator| put_words(fixed, words, dice);
    let base = |n: &Modulus| [&[3][..], &vec![0; n.len() - 1]].concat();
    for (what, n) in [("", Modulus::new(&root)), (" modulo a square", Modulus::square_of(&root))] {
        let n = n.expect("odd");
        for (many, powers) in [("few", 1), ("some", 100), ("many", 3000)] {
            let table = FixedBase::new(&n, &base(&n), 256, powers);
            let t = t_value(&mut dice, vec![0; 32], put, |exponents| drop(table.power(&n, exponents)));
            assert_same(&format!("{many} powers of a fixed base{what} by 0 against others"), t);
        }
        let mut bases = vec![0; 8 * n.len()];
        dice.words(&mut bases);
        let bases = n.residues(&bases);
        let t = t_value(&mut dice, vec![0; 4], put, |exponent| drop(n.power(&bases, exponent, 256)));
        assert_same(&format!("powers of any base{what} by 0 against others"), t);
    }
}

#[test]
#[ignore = "it measures time: make timing"]
fn a_secret_order_takes_the_same_time_whatever_it_is() {
    let mut dice = dice();
    let secret = SecretKey::generate(size(), &mut dice).expect("a key");
    let values: Vec<u128> = (0..32).collect();
    let ciphertexts = secret.encrypt(&Plaintexts::new(&values), &mut dice).expect("small");
    let order = |fixed: bool, dice: &mut Generator| {
        let mut seed = [0; 2];
        put_words(fixed, &mut seed, dice);
        let seed = u128::from(seed[0]) | u128::from(seed[1]) << 64;
        Shuffle::new(values.len(), &mut Generator::from_seed(Block::new(seed)))
    };
    let put = |fixed: bool, input: &mut Shuffle, dice: &mut Generator| *input = order(fixed, dice);
    let first = order(true, &mut dice);
    let t = t_value(&mut dice, first, put, |input| drop(input.ciphertexts(&ciphertexts).expect("as many")));
    assert_same("one order of ciphertexts against others", t);
    let numbers: Vec<u64> = (0..values.len() as u64).collect();
    let first = order(true, &mut dice);
    let t = t_value(&mut dice, first, put, |input| drop(input.numbers(&numbers).expect("as many")));
    assert_same("one order of numbers against others", t);
}

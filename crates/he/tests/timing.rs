//! Whether the time of decryption, and of a power of a fixed base, depends on secrets, after Reparaz, Balasch and
//! Verbauwhede (*Dude, is my code constant time?*, DATE 2017): one input against random ones, in random order, and Welch's
//! t of the times. `make timing` runs it; no other target does, because a busy machine makes it fail or pass at will.

use std::time::Instant;

use duologue_he::paillier::SecretKey;
use duologue_he::{Additive, KeySize, Plaintexts};
use kernels::generator::Generator;
use kernels::montgomery::{FixedBase, Modulus};

const RUNS: usize = 4000;
/// Above this the times differ.
const LIMIT: f64 = 10.0;

/// Welch's t of the times of two classes of inputs, in random order, without the slowest tenth of all.
fn t_value(dice: &mut Generator, mut measured: impl FnMut(bool)) -> f64 {
    let mut times: Vec<(bool, f64)> = (0..RUNS)
        .map(|_| {
            let mut word = [0];
            dice.words(&mut word);
            let class = word[0] & 1 == 1;
            let start = Instant::now();
            measured(class);
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

#[test]
#[ignore = "it measures time: make timing"]
fn decryption_and_powers_of_a_fixed_base_take_the_same_time_for_all_secrets() {
    let mut dice = Generator::from_os().expect("the system's generator");
    let size = KeySize::even_if_it_can_be_broken(512).expect("a length");
    let secret = SecretKey::generate(size, &mut dice).expect("a key");
    let encrypted = |value: u128, dice: &mut Generator| {
        secret.public().encrypt(&Plaintexts::new(&[value; 8]), dice).expect("small")
    };
    let (zero, random) = (encrypted(0, &mut dice), encrypted(u128::MAX / 3, &mut dice));
    let t = t_value(&mut dice, |class| drop(secret.decrypt(if class { &zero } else { &random }).expect("ours")));
    println!("decryption of zeros against others: t = {t:.1}");
    assert!(t < LIMIT);
    let n = Modulus::new(secret.public().modulus()).expect("odd");
    let table = FixedBase::new(&n, &[&[3][..], &[0; 7]].concat(), 256);
    let mut exponents = [0; 32];
    dice.words(&mut exponents);
    let t = t_value(&mut dice, |class| drop(table.power(&n, if class { &[0; 32] } else { &exponents })));
    println!("powers by 0 against others: t = {t:.1}");
    assert!(t < LIMIT);
}

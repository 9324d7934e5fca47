//! Small noises and secrets, and the large noise that floods an answer. All in constant time, from integers alone.
//!
//! # Flooding
//!
//! A number of [`flooding`] is the sum of m = 18 independent uniform numbers from 0 to M − 1, M = 2⁴⁸, less its mean
//! 9·(M − 1). Its distribution p is that convolution exactly: no table, no rounding and no floating point come between, so
//! there is no distance to an ideal to argue for. It stands for a Gaussian of σ = √(m·(M² − 1)/12) = √1.5·2⁴⁸ = 2^48.29;
//! what a flooding needs of a Gaussian is two figures, and this has both:
//!
//! **It hides shifts.** With J = 4·Σ (√p(x) − √p(x − 1))², the discrete Fisher information, shifts by integers d₁ … d_k cost,
//! all together, a statistical distance of at most ‖d‖·√J/2: by the triangle inequality ‖√p − √p(· − d)‖ ≤ d·√J/2, so the
//! squared Hellinger distance is at most d²·J/8; these add up for independent numbers, and the distance is at most √2 times
//! the root. For a Gaussian √J is 1/σ. Here it is 1.0004/σ: σ²·J ≤ 1.00084, which tests compute exactly for M = 2 … 256, where
//! it converges with an error of order 1/M. (2⁻⁴⁰ an answer would hold up to 1.13.)
//!
//! **It is bounded**: by 9·(M − 1) < 2^51.17. A Gaussian would pass that with probability 2⁻⁴², and 3,070·LARGE, where
//! decryption fails, with 2⁻⁷²; this never does (`docs/he.md`).

use kernels::generator::Generator;
use zeroize::{Zeroize, Zeroizing};

use super::ring::DEGREE;

/// Uniform numbers in a sum.
const TERMS: usize = 18;
/// Bits of each of them.
const BITS: u32 = 48;
/// The mean of a sum.
const MEAN: i64 = (TERMS as i64 / 2) * ((1 << BITS) - 1);
/// Words that a sum is made of: 14 numbers are low parts, and four are put together from what is left of three words each.
const WORDS: usize = 14;

/// Flooding of each coefficient: below 2^51.17, of standard deviation 2^48.29.
pub fn flooding(rng: &mut Generator) -> Zeroizing<Vec<i64>> {
    let mut out = Zeroizing::new(Vec::with_capacity(DEGREE));
    let mut words = Zeroizing::new([[0_u64; WORDS]; 64]);
    for _ in 0..DEGREE / words.len() {
        rng.words(words.as_flattened_mut());
        out.extend(words.iter().map(sum));
    }
    out
}

/// Eighteen numbers of 48 bits, less the mean of their sum.
fn sum(words: &[u64; WORDS]) -> i64 {
    let low: u64 = words.iter().map(|word| word & ((1 << BITS) - 1)).sum();
    let high: u64 = words.as_chunks::<3>().0.iter().map(|[a, b, c]| a >> 48 | (b >> 48) << 16 | (c >> 48) << 32).sum();
    (low + high) as i64 - MEAN
}

/// Noise of a fresh ciphertext: centred binomial of 2·21 bits, so at most 21 and of variance 10.5 (σ = 3.24; the standard of
/// homomorphic encryption asks for 3.19).
pub fn error(rng: &mut Generator) -> Zeroizing<Vec<i64>> {
    const ONES: u64 = (1 << 21) - 1;
    from_words(rng, |word| i64::from((word & ONES).count_ones()) - i64::from((word >> 21 & ONES).count_ones()))
}

/// Secrets: −1, 0 or 1, each a third but for 2⁻⁶².
pub fn ternary(rng: &mut Generator) -> Zeroizing<Vec<i64>> {
    from_words(rng, |word| ((u128::from(word) * 3) >> 64) as i64 - 1)
}

fn from_words(rng: &mut Generator, number: impl Fn(u64) -> i64) -> Zeroizing<Vec<i64>> {
    let mut words = vec![0; DEGREE];
    rng.words(&mut words);
    let out = Zeroizing::new(words.iter().map(|&word| number(word)).collect());
    words.zeroize();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use num_bigint::BigUint;

    fn dice(seed: u128) -> Generator {
        Generator::from_seed(Block::new(seed))
    }

    /// How often each sum of so many numbers below m comes, of m^terms.
    fn counts(terms: usize, m: usize) -> Vec<BigUint> {
        (0..terms).fold(vec![BigUint::from(1_u32)], |p, _| {
            let mut sum = BigUint::ZERO;
            (0..p.len() + m - 1)
                .map(|x| {
                    sum += p.get(x).unwrap_or(&BigUint::ZERO);
                    x.checked_sub(m).and_then(|x| p.get(x)).into_iter().for_each(|out| sum -= out);
                    sum.clone()
                })
                .collect()
        })
    }

    /// σ²·J of the sum, from above: each root of a count is rounded so that differences only grow.
    fn information(terms: usize, m: usize) -> f64 {
        let counts = counts(terms, m);
        let scale = 1_u32 << 20; // 40 more bits than the counts have
        let root = |x: &BigUint| (x * scale * scale).sqrt();
        let around = [vec![BigUint::ZERO], counts, vec![BigUint::ZERO]].concat();
        let squares = around.windows(2).map(|pair| {
            let (a, b) = (root(&pair[0]), root(&pair[1]));
            let difference = if a > b { a - b } else { b - a } + 1_u32;
            &difference * &difference
        });
        let total = squares.fold(BigUint::ZERO, |sum, x| sum + x);
        // 4·Σ(√c − √c′)²/m^terms, times the variance terms·(m² − 1)/12, in units of 2⁻³⁰.
        let variance = BigUint::from(terms * (m * m - 1));
        let exact = ((total * 4_u32 * variance) << 30_u32)
            / (BigUint::from(12 * scale) * scale * BigUint::from(m).pow(terms as u32));
        u64::try_from(exact + 1_u32).expect("about 2³⁰") as f64 / f64::from(1 << 30)
    }

    #[test]
    fn the_information_is_that_of_a_gaussian_to_a_thousandth() {
        let figures = [2, 4, 8, 16, 32, 64, 128, 256].map(|m| information(TERMS, m));
        assert!(figures.iter().all(|&x| x < 1.00084), "{figures:?}");
        // It converges as 1/M or faster: each step is at most half the one before, so what is left is at most the last.
        let steps: Vec<f64> = figures.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.windows(2).skip(1).all(|pair| pair[1].abs() <= pair[0].abs() / 2.0), "{steps:?}");
        assert!(figures[7] + steps[6].abs() < 1.00084, "{figures:?}");
        // What the convolution is for: two uniform numbers alone hide less than a Gaussian of their variance, by a factor
        // that grows with M.
        assert!(information(2, 256) > 2.0 * information(2, 4).min(1.0));
    }

    /// The bounds of `docs/he.md`.
    #[test]
    fn an_answer_is_hidden_to_two_to_the_minus_40() {
        let sigma = (TERMS as f64 / 12.0).sqrt() * f64::from(BITS).exp2();
        assert!((sigma.log2() - 48.29).abs() < 0.01);
        let distance = |answers: f64| (answers * 2048.0 * (16.0 * 10.5 + 0.5) * 1.00084).sqrt() / (2.0 * sigma);
        assert!(distance(1.0).log2() < -40.0, "an answer: {}", distance(1.0).log2());
        assert!(distance(125_000.0).log2() < -31.0, "of 10⁶ gates: {}", distance(125_000.0).log2());
    }

    #[test]
    fn sums_use_every_bit_of_their_words_once() {
        assert_eq!(sum(&[0; WORDS]), -MEAN);
        assert_eq!(sum(&[u64::MAX; WORDS]), MEAN);
        for (word, bit) in (0..WORDS).flat_map(|word| (0..64).map(move |bit| (word, bit))) {
            let mut words = [0; WORDS];
            words[word] = 1 << bit;
            let weight = match (word, bit) {
                (_, 0..48) => 1_i64 << bit,
                (0..12, _) => 1 << (bit - 48 + 16 * (word % 3)),
                _ => 0,
            };
            assert_eq!(sum(&words), weight - MEAN, "bit {bit} of word {word}");
        }
    }

    #[test]
    fn moments_and_bounds_are_those_of_the_sum() {
        let mut rng = dice(21);
        let samples: Vec<f64> =
            (0..256).flat_map(|_| flooding(&mut rng).to_vec()).map(|x| x as f64 / 48_f64.exp2()).collect();
        let moment = |k: i32| samples.iter().map(|x| x.powi(k)).sum::<f64>() / samples.len() as f64;
        // Of 2¹⁹ numbers of variance 1.5 and kurtosis 3 − 1.2/18: five standard deviations of each estimate.
        let tolerance = 5.0 / (samples.len() as f64).sqrt();
        assert!(moment(1).abs() < 1.5_f64.sqrt() * tolerance, "{}", moment(1));
        assert!((moment(2) - 1.5).abs() < 1.5 * 2_f64.sqrt() * tolerance, "{}", moment(2));
        let kurtosis = moment(4) / moment(2).powi(2);
        assert!((kurtosis - (3.0 - 1.2 / 18.0)).abs() < 24_f64.sqrt() * tolerance, "{kurtosis}");
        assert!(samples.iter().all(|x| x.abs() < 9.0));
        // A Gaussian has 2.7 in a thousand beyond three σ; this sum 2.25, by its convolution.
        let beyond = samples.iter().filter(|x| x.abs() > 3.0 * 1.5_f64.sqrt()).count() as f64 / samples.len() as f64;
        assert!((0.0019..0.0026).contains(&beyond), "{beyond}");
    }

    #[test]
    fn small_noises_have_their_bounds_and_variances() {
        let mut rng = dice(22);
        let errors: Vec<i64> = (0..64).flat_map(|_| error(&mut rng).to_vec()).collect();
        let secrets: Vec<i64> = (0..64).flat_map(|_| ternary(&mut rng).to_vec()).collect();
        let variance = |x: &[i64]| x.iter().map(|x| (x * x) as f64).sum::<f64>() / x.len() as f64;
        assert!(errors.iter().all(|x| x.abs() <= 21) && secrets.iter().all(|x| x.abs() <= 1));
        assert!((variance(&errors) - 10.5).abs() < 0.3, "{}", variance(&errors));
        assert!((variance(&secrets) - 2.0 / 3.0).abs() < 0.01, "{}", variance(&secrets));
        let mean = |x: &[i64]| x.iter().sum::<i64>() as f64 / x.len() as f64;
        assert!(mean(&errors).abs() < 0.05 && mean(&secrets).abs() < 0.015);
    }

    #[test]
    fn no_noise_comes_twice() {
        let mut rng = dice(23);
        assert_ne!(flooding(&mut rng), flooding(&mut rng));
        assert_ne!(error(&mut rng), error(&mut rng));
        assert_ne!(ternary(&mut rng), ternary(&mut rng));
    }
}

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;
use crate::Block;
use crate::backend::limbs::Checked;
use crate::generator::Generator;

/// Every width that is used, and others between.
const WIDTHS: [usize; 25] = [
    64, 65, 127, 500, 512, 577, 1000, 1024, 1025, 1093, 1400, 1536, 1777, 2000, 2048, 2049, 2600, 3071, 3072, 3073,
    4000, 4096, 5200, 6143, 6144,
];

fn big(words: &[u64]) -> BigUint {
    BigUint::from_slice(&words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect::<Vec<_>>())
}

fn words(x: &BigUint, len: usize) -> Vec<u64> {
    let mut words = x.to_u64_digits();
    assert!(words.len() <= len, "a number of at most {len} words");
    words.resize(len, 0);
    words
}

fn random(seed: u128, bits: usize) -> BigUint {
    let mut all = vec![0; bits.div_ceil(64)];
    Generator::from_seed(Block::new(seed)).words(&mut all);
    big(&all) & ((BigUint::from(1_u8) << bits) - 1_u8)
}

/// An odd modulus of a width: random, of ones, of ones in every limb of 52 bits, or just above a power of two.
fn moduli(bits: usize) -> [BigUint; 4] {
    let (one, top) = (BigUint::from(1_u8), BigUint::from(1_u8) << (bits - 1));
    let limbs = (0..bits / 52).fold(one.clone(), |x, k| x | (BigUint::from(LIMB_MASK - 1) << (52 * k)));
    [random(bits as u128, bits) | &top | &one, &top - 1_u8 + &top, limbs | &top, top | one]
}

/// 0, 1, n − 1, numbers of ones in limbs and in words, and random ones: no multiple of eight.
fn samples(n: &BigUint) -> Vec<BigUint> {
    let bits = n.bits() as usize;
    let one = BigUint::from(1_u8);
    let edges = [BigUint::ZERO, one.clone(), n - 1_u8, n >> 1, (one.clone() << (bits - 1)) - 1_u8];
    let limbs = (1..4).map(|k| ((&one << (52 * k).min(bits - 1)) - 1_u8) % n);
    edges.into_iter().chain(limbs).chain((0..5).map(|i| random(i, bits) % n)).collect()
}

fn flat(values: &[BigUint], len: usize) -> Vec<u64> {
    values.iter().flat_map(|x| words(x, len)).collect()
}

fn unflat(values: &[u64], len: usize) -> Vec<BigUint> {
    values.chunks(len).map(big).collect()
}

/// Lanes that are checked take long: up to so many bits of a modulus.
const CHECKED: u64 = 1100;

/// Every way to multiply numbers of so many bits: in words, on the processor's instructions if it has them, on lanes that are
/// checked.
fn ways(bits: u64) -> impl Iterator<Item = (&'static str, Option<Multiplier>)> {
    let wide =
        Backend::available().into_iter().filter_map(|backend| Some((backend.name(), Some(backend.multiplier()?))));
    let checked = (bits <= CHECKED).then_some(("checked", Some(Multiplier::Checked(Checked))));
    wide.chain(checked).chain([("words", None)])
}

/// Each way, at a modulus.
fn each(n: &BigUint) -> impl Iterator<Item = (&'static str, Modulus)> {
    let words = n.to_u64_digits();
    ways(n.bits()).map(move |(way, multiplier)| (way, Modulus::with_multiplier(&words, multiplier).expect("odd")))
}

/// The square of a number in its own form, each way.
fn each_square(root: &BigUint) -> impl Iterator<Item = (BigUint, &'static str, Modulus)> + use<> {
    let (words, n) = (root.to_u64_digits(), root * root);
    let of_root = move |multiplier| Modulus::square_with_multiplier(&words, multiplier).expect("odd");
    ways(root.bits()).map(move |(way, multiplier)| (n.clone(), way, of_root(multiplier)))
}

/// Both.
fn each_and_square(n: &BigUint) -> Vec<(BigUint, &'static str, Modulus)> {
    let small = n.bits() <= 3072;
    let squares = small.then(|| each_square(n)).into_iter().flatten();
    each(n).map(|(way, modulus)| (n.clone(), way, modulus)).chain(squares).collect()
}

#[test]
fn products_and_squares_are_those_of_another_library() {
    for (n, way, modulus) in WIDTHS.into_iter().flat_map(moduli).flat_map(|n| each_and_square(&n)) {
        let (x, mut y) = (samples(&n), samples(&n));
        y.rotate_left(5);
        let len = modulus.len();
        let [a, b] = [&x, &y].map(|values| modulus.residues(&flat(values, len)));
        assert_eq!(unflat(&modulus.values(&a), len), x, "{way}, {} bits", n.bits());
        let products: Vec<_> = x.iter().zip(&y).map(|(x, y)| x * y % &n).collect();
        assert_eq!(unflat(&modulus.values(&modulus.multiply(&a, &b)), len), products, "{way}, {}", n.bits());
        let both = modulus.square(&modulus.multiply(&a, &a), 3);
        let expected: Vec<_> = x.iter().map(|x| x.modpow(&BigUint::from(16_u8), &n)).collect();
        assert_eq!(unflat(&modulus.values(&both), len), expected, "{way}, {}", n.bits());
    }
}

#[test]
fn squares_of_roots_of_all_lengths() {
    let mut lengths: Vec<usize> = (33..200).chain((200..1100).step_by(13)).collect();
    lengths.extend([1536, 2047, 2048]);
    for (n, way, modulus) in lengths.into_iter().flat_map(moduli).flat_map(|n| each_square(&n)) {
        let len = modulus.len();
        let x = samples(&n);
        let largest = modulus.residues(&vec![!0; len]);
        assert_eq!(unflat(&modulus.values(&largest), len), [big(&vec![!0; len]) % &n], "{way}, {}", n.bits());
        let a = modulus.residues(&flat(&x, len));
        let expected: Vec<_> = x.iter().map(|x| x * x * x % &n).collect();
        let cubes = modulus.values(&modulus.multiply(&a, &modulus.square(&a, 1)));
        assert_eq!(unflat(&cubes, len), expected, "{way}, {}", n.bits());
    }
}

#[test]
fn long_chains_of_products_stay_in_range() {
    for bits in [512, 1024, 2048, 6144] {
        for (n, way, modulus) in moduli(bits).into_iter().flat_map(|n| each_and_square(&n)) {
            let x = samples(&n);
            let expected: Vec<_> = x.iter().map(|x| x.modpow(&(BigUint::from(1_u8) << 300), &n)).collect();
            let values = modulus.residues(&flat(&x, modulus.len()));
            let values = modulus.values(&modulus.square(&values, 300));
            assert_eq!(unflat(&values, modulus.len()), expected, "{way}, {bits}");
        }
    }
}

#[test]
fn numbers_above_the_modulus_are_reduced() {
    let moduli = [100, 512, 577, 1025, 2049, 3000, 3073].into_iter().flat_map(moduli);
    for (n, way, modulus) in moduli.flat_map(|n| each_and_square(&n)) {
        let len = modulus.len();
        let largest = vec![!0; 9 * len];
        let values = modulus.values(&modulus.residues(&largest));
        assert_eq!(unflat(&values, len), vec![big(&vec![!0; len]) % &n; 9], "{way}");
        // The modulus itself is zero, also as a factor.
        let zero = modulus.residues(&flat(std::slice::from_ref(&n), len));
        assert_eq!(unflat(&modulus.values(&modulus.multiply(&zero, &zero)), len), [BigUint::ZERO], "{way}");
    }
}

#[test]
fn powers_are_those_of_another_library() {
    for (bits, exponent_bits) in [(512, 0), (512, 1), (512, 20), (1000, 64), (1024, 65), (1024, 330), (2048, 200)] {
        let len = usize::div_ceil(exponent_bits, 64);
        for (n, way, modulus) in each_and_square(&moduli(bits)[0]) {
            let x = samples(&n);
            let exponents: Vec<_> = (0..x.len() as u128).map(|i| random(100 + i, exponent_bits)).collect();
            let bases = modulus.residues(&flat(&x, modulus.len()));
            for exponent in [&exponents[0], &BigUint::ZERO, &((BigUint::from(1_u8) << exponent_bits) - 1_u8)] {
                let powers = modulus.power(&bases, &words(exponent, len), exponent_bits);
                let expected: Vec<_> = x.iter().map(|x| x.modpow(exponent, &n)).collect();
                assert_eq!(unflat(&modulus.values(&powers), modulus.len()), expected, "{way}, {bits}");
            }
            let powers = modulus.power_each(&bases, &flat(&exponents, len), exponent_bits);
            let expected: Vec<_> = x.iter().zip(&exponents).map(|(x, e)| x.modpow(e, &n)).collect();
            assert_eq!(unflat(&modulus.values(&powers), modulus.len()), expected, "{way}, {bits} each");
        }
    }
}

#[test]
fn powers_onto_others_are_those_of_another_library() {
    for (bits, exponent_bits) in [(512, 0), (512, 1), (1000, 72), (1024, 73), (1024, 168)] {
        let len = usize::div_ceil(exponent_bits, 64);
        for (n, way, modulus) in each_and_square(&moduli(bits)[0]) {
            let (x, mut y) = (samples(&n), samples(&n));
            y.rotate_left(3);
            let exponents: Vec<_> = (0..x.len() as u128).map(|i| random(300 + i, exponent_bits)).collect();
            let [starts, bases] = [&x, &y].map(|values| modulus.residues(&flat(values, modulus.len())));
            let found = modulus.power_each_onto(&starts, &bases, &flat(&exponents, len), exponent_bits);
            let double = BigUint::from(1_u8) << exponent_bits;
            let all = x.iter().zip(&y).zip(&exponents);
            let expected: Vec<_> = all.map(|((x, y), e)| x.modpow(&double, &n) * y.modpow(e, &n) % &n).collect();
            assert_eq!(unflat(&modulus.values(&found), modulus.len()), expected, "{way}, {bits}");
        }
    }
}

#[test]
fn powers_of_a_fixed_base_are_those_of_another_library() {
    for (bits, exponent_bits, count) in [(512, 1, 3), (512, 64, 8), (1024, 163, 140), (2048, 65, 17), (6144, 12, 9)] {
        let mut exponents: Vec<_> = (0..count).map(|i| random(200 + i, exponent_bits)).collect();
        exponents[0] = BigUint::ZERO;
        exponents[1] = (BigUint::from(1_u8) << exponent_bits) - 1_u8;
        for (n, way, modulus) in each_and_square(&moduli(bits)[0]) {
            let base = random(7, bits) % &n;
            let expected: Vec<_> = exponents.iter().map(|e| base.modpow(e, &n)).collect();
            for powers in [1, 40, 200, 3000] {
                let fixed = FixedBase::new(&modulus, &words(&base, modulus.len()), exponent_bits, powers);
                let powers = fixed.power(&modulus, &flat(&exponents, exponent_bits.div_ceil(64)));
                assert_eq!(unflat(&modulus.values(&powers), modulus.len()), expected, "{way}, {bits}");
                assert!(fixed.power(&modulus, &[]).is_empty());
            }
        }
    }
}

#[test]
fn rests_modulo_a_root_are_those_of_another_library() {
    for bits in [100, 512, 1024, 1536] {
        let n = &moduli(bits)[0];
        for (n_square, way, square) in each_square(n) {
            let x = samples(&n_square);
            let Some((root, rests)) = square.modulo_root(&square.residues(&flat(&x, square.len()))) else { continue };
            let expected: Vec<_> = x.iter().map(|x| x * x % n).collect();
            assert_eq!(unflat(&root.values(&root.multiply(&rests, &rests)), root.len()), expected, "{way}, {bits}");
            // Components may have two limbs more than a multiple of four, of which powers are read from tables.
            let expected: Vec<_> = x.iter().map(|x| x.modpow(&BigUint::from(0x5a3_u32), n)).collect();
            let powers = root.values(&root.power(&rests, &[0x5a3], 11));
            assert_eq!(unflat(&powers, root.len()), expected, "{way}, {bits}");
        }
    }
    let n = Modulus::new(&[1 << 63 | 1]).expect("odd");
    assert!(n.modulo_root(&n.ones(1)).is_none());
}

#[test]
fn numbers_are_picked_and_joined() {
    for (n, way, modulus) in each_and_square(&moduli(1000)[0]) {
        let x = samples(&n);
        let all = modulus.residues(&flat(&x, modulus.len()));
        let places = [12, 0, 3, 3, 9, 8, 7, 1, 2];
        let picked = all.pick(places.into_iter());
        let joined = Residues::joined(&[picked, all.pick(std::iter::empty()), all]);
        let expected: Vec<_> = places.iter().map(|&at| x[at].clone()).chain(x.clone()).collect();
        assert_eq!(unflat(&modulus.values(&joined), modulus.len()), expected, "{way}");
    }
}

#[test]
fn numbers_are_swapped_under_a_mask() {
    for (n, way, modulus) in each_and_square(&moduli(1000)[0]) {
        let x = samples(&n);
        let mut all = modulus.residues(&flat(&x, modulus.len()));
        let mut expected = x.clone();
        for (a, b, mask) in [(0, 12, !0), (3, 3, !0), (1, 2, 0), (7, 8, !0), (12, 9, !0), (4, 5, 0)] {
            all.swap_masked(a, b, mask);
            if mask != 0 {
                expected.swap(a, b);
            }
        }
        assert_eq!(unflat(&modulus.values(&all), modulus.len()), expected, "{way}");
    }
}

#[test]
fn what_cannot_be_a_modulus_is_refused() {
    let even = [2, 0, 1];
    let long = [1; 97];
    for words in [&[][..], &[0, 0], &[5], &even, &long] {
        assert_eq!(Modulus::new(words).err(), Some(UnsuitableModulus));
        assert_eq!(Modulus::square_of(words).err(), Some(UnsuitableModulus));
    }
    assert_eq!(Modulus::new(&[1 << 62 | 1, 0]).err(), Some(UnsuitableModulus));
    assert_eq!(Modulus::square_of(&[1 << 31 | 1]).err(), Some(UnsuitableModulus));
    assert_eq!(Modulus::square_of(&[1; 49]).err(), Some(UnsuitableModulus));
    assert_eq!(Modulus::new(&[1 << 63 | 1, 0, 0]).map(|n| n.len()).ok(), Some(1));
}

#[test]
fn misuse_is_refused() {
    let caught = |f: fn(&Modulus)| {
        let modulus = Modulus::new(&[3, 5, 7]).expect("odd");
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&modulus))).is_err()
    };
    assert!(caught(|n| drop(n.residues(&[1; 4]))));
    assert!(caught(|n| drop(n.multiply(&n.ones(1), &n.ones(2)))));
    assert!(caught(|n| drop(n.power(&n.ones(1), &[1], 65))));
    assert!(caught(|n| drop(n.power_each(&n.ones(2), &[1], 64))));
    assert!(caught(|n| drop(n.ones(2).pick([2].into_iter()))));
    let other = || Modulus::new(&[[9; 20], [3; 20]].concat()).expect("odd");
    assert!(std::panic::catch_unwind(|| other().values(&Modulus::new(&[3, 5, 7]).expect("odd").ones(1))).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_numbers_modulo_any_modulus(
        mut n in prop::collection::vec(any::<u64>(), 2..98),
        seeds in prop::collection::vec(any::<u64>(), 1..20),
        saturated in any::<bool>(),
    ) {
        n[0] |= 1;
        *n.last_mut().expect("words") |= 1;
        n.truncate(96);
        prop_assume!(super::words::bits(&n) > 64);
        for (n, way, modulus) in each_and_square(&big(&n)) {
            let x: Vec<_> = seeds.iter().map(|&seed| random(seed.into(), n.bits() as usize) % &n).collect();
            let x: Vec<_> = if saturated { x.iter().map(|x| &n - 1_u8 - (x >> (n.bits() - 60))).collect() } else { x };
            let a = modulus.residues(&flat(&x, modulus.len()));
            let squares = modulus.values(&modulus.square(&a, 1));
            let products = modulus.values(&modulus.multiply(&a, &a));
            let expected: Vec<_> = x.iter().map(|x| x * x % &n).collect();
            prop_assert_eq!(unflat(&squares, modulus.len()), expected.clone(), "{}", way);
            prop_assert_eq!(unflat(&products, modulus.len()), expected, "{}", way);
        }
    }
}

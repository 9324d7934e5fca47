use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::traits::Identity;
use num_bigint::BigUint;
use proptest::prelude::*;

use super::field::{Element, LIMBS, inverses, square_roots};
use super::*;
use crate::Block;
use crate::backend::limbs::{Checked, Limb, LimbLanes, LimbLoop, SIDE_BY_SIDE};
use crate::generator::Generator;

const LENGTHS: [usize; 8] = [0, 1, 7, 8, 9, 16, 17, 1000];

fn random<const N: usize>(seed: u128, count: usize) -> Vec<[u8; N]> {
    let mut words = vec![0; count * N / 8];
    Generator::from_seed(Block::new(seed)).words(&mut words);
    bytemuck::cast_slice::<u64, u8>(&words).as_chunks().0.to_vec()
}

fn scalars(seed: u128, count: usize) -> Vec<Scalar> {
    random(seed, count).iter().map(Scalar::from_bytes_mod_order_wide).collect()
}

/// 0, 1, 2, ℓ − 1, ℓ − 2, those of ones or zeros in every digit, and powers of two.
fn extreme_scalars() -> Vec<Scalar> {
    let one = Scalar::ONE;
    let bytes = [0x55, 0xaa, 0x0f, 0xf0, 0x77, 0x88, 0xff].map(|byte| Scalar::from_bytes_mod_order([byte; 32]));
    let powers = (0..256).map(|k| (0..k).fold(one, |power, _| power + power));
    [Scalar::ZERO, one, one + one, -one, -one - one].into_iter().chain(bytes).chain(powers).collect()
}

/// Every way of computing points: on the processor's instructions if it has them, on lanes that are checked, by the library.
fn each() -> impl Iterator<Item = Ristretto> {
    let wide = Backend::available().into_iter().filter_map(Backend::multiplier);
    wide.chain([Multiplier::Checked(Checked)]).map(Some).chain([None]).map(Ristretto)
}

fn decoded(encodings: &[Encoding]) -> Vec<RistrettoPoint> {
    encodings.iter().map(|bytes| CompressedRistretto(*bytes).decompress().expect("a point")).collect()
}

fn encoded(points: impl IntoIterator<Item = RistrettoPoint>) -> Vec<Encoding> {
    points.into_iter().map(|point| point.compress().to_bytes()).collect()
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    assert_eq!(text.len(), 2 * N, "{N} bytes");
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("two digits"))
}

/// Random points, as the library hashes them.
fn samples(seed: u128, count: usize) -> Vec<Encoding> {
    encoded(random(seed, count).iter().map(RistrettoPoint::from_uniform_bytes))
}

#[test]
fn points_are_decoded_and_encoded() {
    for group in each() {
        for len in LENGTHS {
            let encodings = samples(1, len);
            let points = group.decode(&encodings).expect("points");
            assert_eq!((points.len(), points.is_empty()), (len, len == 0));
            assert_eq!(*points.encode(), encodings);
        }
    }
}

#[test]
fn bytes_are_hashed_as_by_the_library() {
    let edges = [0_u8, 1, 2, 18, 19, 20, 0x7f, 0x80, 0xec, 0xed, 0xee, 0xff];
    let extreme = edges.iter().flat_map(|&first| {
        [[0; 32], [0xff; 32]].map(|mut half: [u8; 32]| {
            half[0] = first;
            half
        })
    });
    let mut other = vec![[0; 32], [0xff; 32]];
    other.extend(random::<32>(2, 3));
    // p, p − 1 and so on, with and without the highest bit, in both halves; sums of equal and of opposite points too.
    let halves: Vec<[u8; 32]> =
        extreme.flat_map(|half| [half, [&half[..31], &[half[31] & 0x7f]].concat().try_into().expect("32")]).collect();
    let pairs =
        halves.iter().flat_map(|a| halves.iter().chain(&other).map(move |b| [*a, *b].concat().try_into().expect("64")));
    let mut all: Vec<[u8; 64]> = pairs.collect();
    all.extend(random::<64>(3, 1000));
    for group in each() {
        let expected = encoded(all.iter().map(RistrettoPoint::from_uniform_bytes));
        assert_eq!(*group.map(&all).encode(), expected);
        for len in LENGTHS {
            let short = &all[..len];
            assert_eq!(*group.map(short).encode(), expected[..len]);
        }
    }
}

#[test]
fn many_points_times_one_scalar_are_those_of_the_library() {
    for group in each() {
        for (len, scalar) in LENGTHS.into_iter().zip(scalars(4, LENGTHS.len())) {
            let encodings = samples(5, len);
            let products = group.decode(&encodings).expect("points").multiply(&scalar);
            assert_eq!(*products.encode(), encoded(decoded(&encodings).iter().map(|point| point * scalar)));
        }
        let mut encodings = samples(6, 6);
        encodings.push([0; 32]);
        let points = decoded(&encodings);
        for scalar in extreme_scalars() {
            let products = group.decode(&encodings).expect("points").multiply(&scalar);
            assert_eq!(*products.encode(), encoded(points.iter().map(|point| point * scalar)));
        }
    }
}

#[test]
fn a_fixed_point_times_many_scalars_is_that_of_the_library() {
    for group in each() {
        let bases = [group.generator().encode()[0], samples(7, 1)[0], [0; 32]];
        for encoding in bases {
            let point = CompressedRistretto(encoding).decompress().expect("a point");
            let (table, expected) =
                (FixedBase::new(&group.decode(&[encoding]).expect("a point")), RistrettoBasepointTable::create(&point));
            let mut all = extreme_scalars();
            all.extend(scalars(8, 1000));
            assert_eq!(*table.multiply(&all).encode(), encoded(all.iter().map(|scalar| scalar * &expected)));
            for len in LENGTHS {
                let scalars = scalars(9, len);
                assert_eq!(*table.multiply(&scalars).encode(), encoded(scalars.iter().map(|scalar| point * scalar)));
            }
        }
    }
}

#[test]
fn other_representatives_of_a_point_have_its_encoding() {
    // ℓ·P is any of the four points that are encoded as zeros; so is what is added on the way to a product.
    for group in each() {
        let (encodings, one) = (samples(10, 40), Scalar::ONE);
        let points = group.decode(&encodings).expect("points");
        let negative = points.multiply(&-one);
        let zeros = points.add(&negative);
        assert_eq!(*zeros.encode(), [[0; 32]; 40]);
        assert_eq!(*points.add(&zeros).encode(), encodings);
        assert_eq!(*zeros.subtract(&negative).encode(), encodings);
        assert_eq!(*points.multiply(&Scalar::ZERO).add(&points.multiply(&one)).encode(), encodings);
        let five = zeros.add(&points).multiply(&Scalar::from(5_u8));
        assert_eq!(*five.encode(), encoded(decoded(&encodings).iter().map(|point| point * Scalar::from(5_u8))));
    }
}

#[test]
fn sums_and_differences_are_those_of_the_library() {
    for group in each() {
        for len in LENGTHS {
            let [mut a, mut b] = [11, 12].map(|seed| samples(seed, len));
            if len > 7 {
                // Equal points, the neutral one, and both.
                (a[0], a[1], b[2], a[3], b[3]) = (b[0], [0; 32], [0; 32], [0; 32], [0; 32]);
            }
            let [x, y] = [&a, &b].map(|encodings| group.decode(encodings).expect("points"));
            let pairs = || decoded(&a).into_iter().zip(decoded(&b));
            assert_eq!(*x.add(&y).encode(), encoded(pairs().map(|(a, b)| a + b)));
            assert_eq!(*x.subtract(&y).encode(), encoded(pairs().map(|(a, b)| a - b)));
        }
    }
}

#[test]
fn points_are_picked_and_appended() {
    for group in each() {
        let encodings = samples(13, 30);
        let all = group.decode(&encodings).expect("points");
        let places = [29, 0, 7, 8, 7, 15, 16, 1, 2, 3];
        assert_eq!(*all.pick(places.into_iter()).encode(), places.map(|place| encodings[place]));
        let mut joined = group.neutral(0);
        let mut expected = Vec::new();
        for len in [3, 0, 5, 8, 1, 30, 13] {
            joined.append(&all.pick(0..len));
            expected.extend_from_slice(&encodings[..len]);
            assert_eq!(*joined.encode(), expected);
        }
        joined.append(&group.neutral(9));
        assert_eq!(joined.encode()[60..], [[0; 32]; 9]);
    }
}

#[test]
fn doubles_are_encoded_as_by_the_library() {
    for group in each() {
        for len in LENGTHS.into_iter().chain([255, 256, 257, 600]) {
            let mut encodings = samples(20, len);
            if len > 7 {
                // Zeros among others: they must not reach their neighbours.
                (encodings[0], encodings[3], encodings[len - 1]) = ([0; 32], [0; 32], [0; 32]);
            }
            let (points, expected) = (group.decode(&encodings).expect("points"), decoded(&encodings));
            assert_eq!(*points.encode_doubles(), encoded(expected.iter().map(|point| point + point)));
            assert_eq!(*points.multiply(&Scalar::ZERO).encode_doubles(), vec![[0; 32]; len]);
            assert_eq!(*points.subtract(&points).encode_doubles(), vec![[0; 32]; len]);
            assert_eq!(*group.neutral(len).encode_doubles(), vec![[0; 32]; len]);
        }
        // Other representatives of a point: with what ℓ times it adds.
        let points = group.decode(&samples(21, 40)).expect("points");
        let moved = points.add(&points.multiply(&-Scalar::ONE)).add(&points);
        assert_eq!(moved.encode_doubles(), points.encode_doubles());
    }
}

#[test]
fn points_by_themselves_are_summed_as_by_the_library() {
    for group in each() {
        let encodings = samples(22, 60);
        let (batch, points) = (group.decode(&encodings).expect("points"), decoded(&encodings));
        let mut singles = Singles::neutral(group, 62);
        singles.put((0..60).rev().map(|place| place + 1), &batch);
        let at = |place: u32| match place {
            1..61 => points[60 - place as usize],
            _ => RistrettoPoint::identity(),
        };
        for len in LENGTHS {
            let mut words = vec![0; 4 * len];
            Generator::from_seed(Block::new(len as u128)).words(&mut words);
            let term = |word: &u64| Term { place: (word % 62) as u32, negative: word >> 63 == 1 };
            let lists: Vec<[Term; 4]> =
                words.as_chunks().0.iter().map(|words: &[u64; 4]| words.each_ref().map(term)).collect();
            let value = |term: &Term| if term.negative { -at(term.place) } else { at(term.place) };
            let expected = lists.iter().map(|list| list.iter().map(value).sum::<RistrettoPoint>());
            assert_eq!(*singles.sums(&lists).encode(), encoded(expected));
            let ones: Vec<[Term; 1]> = lists.iter().map(|list| [list[0]]).collect();
            assert_eq!(*singles.sums(&ones).encode(), encoded(ones.iter().map(|[term]| value(term))));
        }
        // The same point twice and thrice, and less itself.
        let [plus, minus] = [false, true].map(|negative| Term { place: 5, negative });
        let expected = [at(5) + at(5) + at(5), at(5)];
        assert_eq!(*singles.sums(&[[plus, plus, plus], [minus, plus, plus]]).encode(), encoded(expected));
    }
}

#[test]
fn misuse_is_refused() {
    for group in each() {
        let caught = |f: &dyn Fn(Points)| {
            let points = group.map(&random(14, 9));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(points))).is_err()
        };
        assert!(caught(&|points| drop(points.pick([9].into_iter()))));
        assert!(caught(&|points| drop(points.add(&points.pick(0..8)))));
        assert!(caught(&|points| drop(FixedBase::new(&points))));
        assert!(caught(&|_| drop(Singles::neutral(group, 3).sums(&[[Term { place: 3, negative: false }]]))));
        assert!(caught(&|points| Singles::neutral(group, 3).put([3], &points)));
    }
    let mut all = each().map(|group| group.neutral(1)).collect::<Vec<_>>();
    if let [.., wide, plain] = &mut all[..] {
        assert!(std::panic::catch_unwind(|| wide.add(plain)).is_err());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wide.append(plain))).is_err());
    }
}

const VECTORS: &str = include_str!("../../../../vectors/ristretto255.txt");

/// What follows a word, of each line that begins with it.
fn vectors(word: &str) -> impl Iterator<Item = &'static str> {
    VECTORS.lines().filter_map(move |line| line.strip_prefix(word)?.strip_prefix(' '))
}

#[test]
fn vectors_of_the_rfc_are_met() {
    for group in each() {
        let multiples: Vec<Encoding> = vectors("multiple").map(hex).collect();
        let scalars: Vec<_> = (0..16_u64).map(Scalar::from).collect();
        assert_eq!(*FixedBase::new(&group.generator()).multiply(&scalars).encode(), multiples);
        assert_eq!(*group.decode(&multiples).expect("points").encode(), multiples);
        let (uniform, mapped): (Vec<[u8; 64]>, Vec<Encoding>) =
            vectors("map").filter_map(|line| line.split_once(' ')).map(|(from, to)| (hex(from), hex(to))).unzip();
        assert_eq!((uniform.len(), &*group.map(&uniform).encode()), (11, &mapped));
        let refused: Vec<Encoding> = vectors("refused").map(hex).collect();
        assert_eq!(group.decode(&refused).err(), Some(Refused { places: (0..29).collect() }));
        // Each alone among points.
        for (at, bad) in refused.into_iter().enumerate() {
            let mut mixed = [multiples.clone(), multiples.clone()].concat();
            mixed[at] = bad;
            assert_eq!(group.decode(&mixed).err(), Some(Refused { places: vec![at] }), "{at}");
        }
    }
}

#[test]
fn a_refusal_says_which() {
    let refused = Ristretto::detect().decode(&[[0; 32], [1; 32], [0; 32], [0xff; 32]]).err().expect("no points");
    assert_eq!(refused.to_string(), "encoding number 1 is no point of ristretto255 (2 in the batch are none)");
}

// Numbers modulo p, against big integers.

fn p() -> BigUint {
    (BigUint::from(1_u8) << 255) - 19_u8
}

fn number(limbs: &[u64; LIMBS]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |x, &limb| (x << 51) + limb)
}

fn lanes(values: &[[u64; LIMBS]]) -> [Limb; LIMBS] {
    std::array::from_fn(|k| Limb(std::array::from_fn(|lane| values[lane][k])))
}

fn lane(x: &[Limb; LIMBS], lane: usize) -> [u64; LIMBS] {
    x.each_ref().map(|limb| limb.0[lane])
}

/// What is computed of two elements: forms below p, and masks.
#[derive(Default)]
struct Results {
    numbers: Vec<[Limb; LIMBS]>,
    masks: Vec<u8>,
}

/// Products and the like, of which factors may have 52 bits; then all else, of elements.
struct Compute<'a> {
    a: [Limb; LIMBS],
    b: [Limb; LIMBS],
    elements: bool,
    results: &'a mut Results,
}

impl LimbLoop for Compute<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let (a, b) = (Element::load(cpu, &self.a), Element::load(cpu, &self.b));
        let mut all = vec![a * b, a.square(), a + b];
        if self.elements {
            let [inverse] = inverses([a]);
            let [(was_square, root)] = square_roots([a], [b]);
            all.extend([a, a - b, -a, inverse, root, a.absolute(), a.or(0x5a.into(), b), a.negated_where(0xa5.into())]);
            let masks = [was_square, a.is_zero(), a.is_negative(), a.equals(b)];
            self.results.masks.extend(masks.map(Into::<u8>::into));
        }
        for element in all {
            let mut canonical = [Limb::ZERO; LIMBS];
            element.store_canonical(&mut canonical);
            self.results.numbers.push(canonical);
        }
    }
}

fn computed(cpu: Multiplier, a: &[[u64; LIMBS]], b: &[[u64; LIMBS]], elements: bool) -> Results {
    let mut results = Results::default();
    cpu.run(Compute { a: lanes(a), b: lanes(b), elements, results: &mut results });
    results
}

fn is_square(x: &BigUint) -> bool {
    x.modpow(&(p() >> 1), &p()) <= BigUint::from(1_u8)
}

/// What the operations on elements give, in their order.
fn expected(a: &BigUint, b: &BigUint, lane: usize) -> (Vec<BigUint>, [bool; 4]) {
    let (p, zero) = (p(), BigUint::ZERO);
    let [a, b] = [a % &p, b % &p];
    let negative = |x: &BigUint| (&p - x) % &p;
    let inverse = |x: &BigUint| x.modpow(&(&p - 2_u8), &p);
    let even = |x: BigUint| if x.bit(0) { &p - x } else { x };
    let ratio = &a * inverse(&b) % &p;
    let i = number(&constants::SQRT_M1);
    let square = if is_square(&ratio) { ratio.clone() } else { &ratio * &i % &p };
    let candidate = square.modpow(&((&p + 3_u8) >> 3), &p);
    let root = if &candidate * &candidate % &p == square { candidate } else { candidate * &i % &p };
    let numbers = vec![
        &a * &b % &p,
        &a * &a % &p,
        (&a + &b) % &p,
        a.clone(),
        (&a + negative(&b)) % &p,
        negative(&a),
        inverse(&a),
        even(root),
        even(a.clone()),
        if 0x5a >> lane & 1 == 1 { b.clone() } else { a.clone() },
        if 0xa5 >> lane & 1 == 1 { negative(&a) } else { a.clone() },
    ];
    // Of u/0 for u that is not 0 the RFC says that it is no square.
    let was_square = a == zero || (b != zero && is_square(&ratio));
    (numbers, [was_square, a == zero, a.bit(0), a == b])
}

fn cpus() -> impl Iterator<Item = Multiplier> {
    each().filter_map(|group| group.0)
}

fn check(a: &[[u64; LIMBS]; SIDE_BY_SIDE], b: &[[u64; LIMBS]; SIDE_BY_SIDE], elements: bool) {
    for cpu in cpus() {
        let results = computed(cpu, a, b, elements);
        for at in 0..SIDE_BY_SIDE {
            let (numbers, masks) = expected(&number(&a[at]), &number(&b[at]), at);
            for (step, (result, expected)) in results.numbers.iter().zip(&numbers).enumerate() {
                let limbs = lane(result, at);
                assert!(limbs.iter().all(|&limb| limb < 1 << 51), "step {step} of {:x?}, {:x?}", a[at], b[at]);
                assert_eq!(&number(&limbs), expected, "step {step} of {:x?}, {:x?}", a[at], b[at]);
            }
            for (step, (mask, expected)) in results.masks.iter().zip(masks).enumerate() {
                assert_eq!(mask >> at & 1 == 1, expected, "mask {step} of {:x?}, {:x?}", a[at], b[at]);
            }
        }
    }
}

const LARGEST: u64 = (1 << 51) + (1 << 15) - 1;

#[test]
fn numbers_at_the_edges_are_computed_as_by_big_integers() {
    let (ones, top) = ((1_u64 << 51) - 1, 1_u64 << 51);
    // 0, 1, p − 1, p, p + 1, 2²⁵⁵ − 1, and limbs that are as large as those of an element can be.
    let mut edges = vec![[0; LIMBS], [1, 0, 0, 0, 0], [LARGEST; LIMBS], [ones; LIMBS], [top; LIMBS]];
    edges.extend([ones - 19, ones - 18, ones - 17, ones - 1].map(|low| [low, ones, ones, ones, ones]));
    edges.extend([[ones - 18, ones, ones, ones, top], [LARGEST, 0, 0, 0, LARGEST], [0, 0, 0, 0, LARGEST]]);
    edges.extend([constants::SQRT_M1, constants::D, [2, 0, 0, 0, 0], [4, 0, 0, 0, 0]]);
    for a in &edges {
        for b in edges.chunks_exact(SIDE_BY_SIDE) {
            check(&[*a; SIDE_BY_SIDE], b.try_into().expect("eight"), true);
        }
    }
}

#[test]
fn factors_of_52_bits_are_multiplied() {
    let (all, one) = ((1_u64 << 52) - 1, 1_u64 << 51);
    let mut edges = vec![[all; LIMBS], [one; LIMBS], [all, 0, all, 0, all], [0, all, 0, all, 0]];
    edges.extend((0..LIMBS).map(|k| std::array::from_fn(|i| if i == k { all } else { 0 })));
    edges.extend((0..LIMBS).map(|k| std::array::from_fn(|i| if i == k { 0 } else { all })));
    edges.extend([[all, all, all, all, 0], [1, all, all, all, all]]);
    for a in &edges {
        for b in edges.chunks_exact(SIDE_BY_SIDE) {
            check(&[*a; SIDE_BY_SIDE], b.try_into().expect("eight"), false);
        }
    }
}

#[test]
fn constants_are_what_defines_them() {
    use constants::*;
    let (p, one) = (p(), BigUint::from(1_u8));
    let [d, twice_d, i, sqrt, inverse, one_minus, minus_one] =
        [D, TWICE_D, SQRT_M1, SQRT_AD_MINUS_ONE, INVSQRT_A_MINUS_D, ONE_MINUS_D_SQUARED, D_MINUS_ONE_SQUARED]
            .map(|limbs| number(&limbs));
    assert_eq!((&d * 121_666_u32 + 121_665_u32) % &p, BigUint::ZERO);
    assert_eq!(twice_d, &d * 2_u8 % &p);
    assert_eq!((&i * &i + 1_u8) % &p, BigUint::ZERO);
    assert!(!i.bit(0));
    assert_eq!((&sqrt * &sqrt + &d + 1_u8) % &p, BigUint::ZERO);
    assert_eq!((&inverse * &inverse * (&d + 1_u8) + 1_u8) % &p, BigUint::ZERO);
    assert_eq!((one_minus + &d * &d) % &p, one);
    assert_eq!(minus_one, (&d - 1_u8) * (&d - 1_u8) % &p);
}

fn limbs() -> impl Strategy<Value = [u64; LIMBS]> {
    prop::array::uniform5(prop_oneof![0..=LARGEST, (1_u64 << 51) - 20..=LARGEST, 0_u64..40])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_numbers_are_computed_as_by_big_integers(a in prop::array::uniform8(limbs()), b in prop::array::uniform8(limbs())) {
        check(&a, &b, true);
    }

    #[test]
    fn what_is_refused_is_what_the_library_refuses(mut bytes in prop::collection::vec(any::<[u8; 32]>(), 1..40), even in any::<bool>()) {
        if even {
            bytes.iter_mut().for_each(|bytes| (bytes[0], bytes[31]) = (bytes[0] & 0xfe, bytes[31] & 0x7f));
        }
        let expected: Vec<_> = bytes.iter().map(|bytes| CompressedRistretto(*bytes).decompress().is_none()).collect();
        let places: Vec<_> = (0..bytes.len()).filter(|&at| expected[at]).collect();
        for group in each() {
            match group.decode(&bytes) {
                Ok(points) => prop_assert!(places.is_empty() && *points.encode() == bytes),
                Err(refused) => prop_assert_eq!(&refused.places, &places),
            }
        }
    }
}

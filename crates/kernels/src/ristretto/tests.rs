use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use proptest::prelude::*;

use super::*;
use crate::Block;
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

/// Each backend that computes points in a way of its own.
fn each() -> impl Iterator<Item = Ristretto> {
    let wide = Backend::available().into_iter().filter(|backend| backend.multiplier().is_some());
    wide.chain([Backend::Portable]).map(Ristretto::with_backend)
}

fn decoded(encodings: &[Encoding]) -> Vec<RistrettoPoint> {
    encodings.iter().map(|bytes| CompressedRistretto(*bytes).decompress().expect("a point")).collect()
}

fn encoded(points: impl IntoIterator<Item = RistrettoPoint>) -> Vec<Encoding> {
    points.into_iter().map(|point| point.compress().to_bytes()).collect()
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let byte = |i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("two digits");
    std::array::from_fn(byte)
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
fn misuse_is_refused() {
    for group in each() {
        let caught = |f: &dyn Fn(Points)| {
            let points = group.map(&random(14, 9));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(points))).is_err()
        };
        assert!(caught(&|points| drop(points.pick([9].into_iter()))));
        assert!(caught(&|points| drop(points.add(&points.pick(0..8)))));
        assert!(caught(&|points| drop(FixedBase::new(&points))));
    }
    let mut all = each().map(|group| group.neutral(1)).collect::<Vec<_>>();
    if let [wide, plain] = &mut all[..] {
        assert!(std::panic::catch_unwind(|| wide.add(plain)).is_err());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wide.append(plain))).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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

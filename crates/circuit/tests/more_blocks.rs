//! Blocks that combine others (distances with a root, relations, ends of two and of many words, high halves of
//! products), changes of format, and the smaller siblings of hashes, against the host's arithmetic and other crates.

use crate::common::lanes::{check, every, low, mixed, signed};
use crate::common::{bits_of_bytes, bytes_of};
use circuit::Circuit;
use circuit::blocks::find;
use sha2::Digest;

/// The circuits of a block of this size.
fn circuits(name: &str, size: &[u32]) -> impl Iterator<Item = (Circuit, String)> {
    let block = find(name).unwrap();
    let label = block.label(size);
    let size = size.to_vec();
    block.goals.iter().map(move |&goal| (block.circuit(&size, goal).unwrap(), format!("{}:{label}:{goal}", block.name)))
}

/// All inputs if there are few, else many.
fn agrees(name: &str, size: &[u32], reference: impl Fn(&[u128]) -> u128) {
    for (circuit, place) in circuits(name, size) {
        let widths: Vec<u32> = circuit.inputs().iter().map(|port| port.ty.width).collect();
        let ports = if circuit.input_width() <= 16 { every(&widths) } else { mixed(&widths, 1 << 15, 1) };
        check(&circuit, &ports, &place, |lane| [reference(lane)]);
    }
}

/// The words of an array.
fn split(array: u128, count: u32, width: u32) -> Vec<u128> {
    (0..count).map(|i| array >> (i * width) & low(width)).collect()
}

#[test]
fn relations() {
    for width in [1, 2, 5, 8, 13, 32, 64] {
        let int = |value| signed(value, width);
        agrees("less", &[width], |x| (x[0] < x[1]).into());
        agrees("less_or_equal", &[width], |x| (x[0] <= x[1]).into());
        agrees("signed_less", &[width], |x| (int(x[0]) < int(x[1])).into());
        agrees("signed_less_or_equal", &[width], |x| (int(x[0]) <= int(x[1])).into());
        agrees("signed_greater_or_equal", &[width], |x| (int(x[0]) >= int(x[1])).into());
        agrees("signed_minimum", &[width], |x| int(x[0]).min(int(x[1])) as u128 & low(width));
        agrees("signed_maximum", &[width], |x| int(x[0]).max(int(x[1])) as u128 & low(width));
    }
}

#[test]
fn ends_of_many() {
    for (count, width) in [(2, 8), (3, 5), (5, 3), (7, 2), (16, 1), (9, 14), (16, 8), (31, 4)] {
        let int = |&value: &u128| signed(value, width);
        let words = |x: &[u128]| split(x[0], count, width);
        agrees("minimum_of", &[count, width], |x| words(x).into_iter().min().unwrap());
        agrees("maximum_of", &[count, width], |x| words(x).into_iter().max().unwrap());
        agrees("signed_minimum_of", &[count, width], |x| words(x).into_iter().min_by_key(int).unwrap());
        agrees("signed_maximum_of", &[count, width], |x| words(x).into_iter().max_by_key(int).unwrap());
    }
}

#[test]
fn euclidean_distances() {
    let distance = |x: &[u128], count, width| {
        let pairs = split(x[0], count, width).into_iter().zip(split(x[1], count, width));
        pairs.map(|(p, q)| p.abs_diff(q).pow(2)).sum::<u128>().isqrt()
    };
    for width in [1, 2, 3, 4, 9, 16, 32] {
        agrees("euclidean_distance", &[width], |x| distance(x, 2, width));
    }
    for (count, width) in [(1, 5), (3, 2), (4, 2), (8, 1), (5, 12), (12, 8)] {
        agrees("euclidean_distance_k", &[count, width], |x| distance(x, count, width));
    }
}

#[test]
fn high_halves() {
    for width in [1, 2, 3, 5, 8, 16, 33, 64] {
        for (circuit, place) in circuits("multiply_high", &[width]) {
            let ports = if width <= 8 { every(&[width; 2]) } else { mixed(&[width; 2], 1 << 15, 1) };
            let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
            let halves = circuit::Simulator::new(&circuit).numbers(&slices);
            for (lane, half) in halves[0].iter().enumerate() {
                let (a, b) = (ports[0][lane], ports[1][lane]);
                let most = (a * b) >> width;
                let near = *half <= most && most - half < u128::from(width);
                assert!(near, "{place}: {half} of {a} and {b}, not {most}");
            }
        }
    }
}

#[test]
fn formats() {
    for size in [[3, 4, 2, 2], [3, 4, 5, 0], [2, 0, 4, 3], [4, 6, 3, 5], [4, 4, 6, 6], [16, 16, 8, 8]] {
        let [whole, fraction, new_whole, new_fraction] = size;
        let (from, to) = (whole + fraction, new_whole + new_fraction);
        let units = |x: u128| {
            let doubled = signed(x, from) << new_fraction << 1 >> fraction;
            (doubled + 1) >> 1
        };
        let most = (1i128 << (to - 1)) - 1;
        agrees("fixed_convert", &size, |x| units(x[0]) as u128 & low(to));
        agrees("fixed_convert_saturate", &size, |x| units(x[0]).clamp(-most - 1, most) as u128 & low(to));
        agrees("fixed_floor", &size[..2], |x| x[0] & !low(fraction));
    }
}

fn hashes<D: Digest>(name: &str, lengths: &[u32]) {
    for &length in lengths {
        for (circuit, place) in circuits(name, &[length]) {
            let message: Vec<u8> = (0..length).map(|i| (167 * i + 13) as u8).collect();
            let digest = bytes_of(&circuit.evaluate(&bits_of_bytes(&message)));
            assert_eq!(digest, D::digest(&message).to_vec(), "{place}");
        }
    }
}

#[test]
fn smaller_hashes() {
    hashes::<sha2::Sha224>("sha224", &[0, 3, 55, 56]);
    hashes::<sha3::Sha3_224>("sha3_224", &[0, 3, 143, 144]);
    hashes::<sha3::Sha3_384>("sha3_384", &[0, 3, 103, 104]);
    hashes::<sha3::Sha3_512>("sha3_512", &[0, 3, 71, 72]);
}

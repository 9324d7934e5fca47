//! Numbers and bytes as lanes, against their bits one by one.

use circuit::BitMatrix;
use proptest::prelude::*;
use std::fmt::Debug;

/// Lanes around the edges of words and of what is transposed at once.
const LANES: [usize; 9] = [0, 1, 63, 64, 65, 511, 512, 513, 1000];

/// Numbers of `width` bits, from a fixed generator.
fn numbers(width: u32, lanes: usize) -> Vec<u128> {
    let mut state = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128 ^ lanes as u128;
    let mut next = || {
        state ^= state << 23;
        state ^= state >> 51;
        state ^= state << 7;
        state
    };
    (0..lanes).map(|_| next().checked_shr(128 - width).unwrap_or(0)).collect()
}

fn bit_by_bit(width: usize, lanes: &[u128]) -> BitMatrix {
    let lane = |&number: &u128| (0..width).map(|bit| bit < 128 && number >> bit & 1 == 1).collect();
    BitMatrix::from_lanes(width, &lanes.iter().map(lane).collect::<Vec<_>>())
}

fn there_and_back<N: circuit::matrix::Number + TryFrom<u128> + PartialEq + Debug>(width: usize) {
    for count in LANES {
        let wide = numbers(width.min(size_of::<N>() * 8) as u32, count);
        let lanes: Vec<N> = wide.iter().map(|&number| N::try_from(number).ok().expect("it fits")).collect();
        let matrix = BitMatrix::from_numbers(width, &lanes).unwrap();
        assert!(matrix == bit_by_bit(width, &wide), "{width} × {count}");
        match matrix.to_numbers::<N>() {
            Ok(back) => assert_eq!(back, lanes, "{width} × {count}"),
            Err(_) => assert!(width > 8 * size_of::<N>()),
        }
    }
}

#[test]
fn numbers_are_lanes_and_lanes_numbers() {
    for width in [0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 200] {
        there_and_back::<u8>(width);
        there_and_back::<u16>(width);
        there_and_back::<u32>(width);
        there_and_back::<u64>(width);
        there_and_back::<u128>(width);
    }
}

#[test]
fn nothing_is_cut() {
    for (width, number) in [(0, 1u128), (8, 256), (63, 1 << 63), (64, 1 << 64), (127, 1 << 127)] {
        assert!(BitMatrix::from_numbers(width, &[number - 1]).is_ok(), "{width}");
        let error = BitMatrix::from_numbers(width, &[0, number]).expect_err("too wide").to_string();
        assert!(error.contains("lane 1") && error.contains(&format!("{width} bits")), "{error}");
        assert!(!error.contains(&number.to_string()) || number == 1, "the number is a secret");
    }
    let wide = BitMatrix::zeros(65, 3);
    assert!(wide.to_numbers::<u64>().is_err() && wide.to_numbers::<u128>().is_ok());
    assert!(BitMatrix::zeros(129, 3).to_numbers::<u128>().is_err());
}

#[test]
fn signs_are_kept() {
    for width in [1usize, 2, 8, 31, 64] {
        let (least, most) = (-1i64 << (width - 1), (1i64 << (width - 1)).wrapping_sub(1));
        let lanes = [least, -1, 0, most];
        let matrix = BitMatrix::from_numbers(width, &lanes).unwrap();
        assert_eq!(matrix.to_numbers::<i64>().unwrap(), lanes);
        assert_eq!(matrix.to_numbers::<i128>().unwrap(), lanes.map(i128::from));
        if width < 64 {
            assert!(BitMatrix::from_numbers(width, &[least - 1]).is_err(), "{width}");
            assert!(BitMatrix::from_numbers(width, &[most + 1]).is_err(), "{width}");
        }
    }
    let wide = BitMatrix::from_numbers(200, &[-2i8]).unwrap();
    assert!((0..200).all(|bit| wide.get(bit, 0) == (bit > 0)));
    assert!(BitMatrix::from_numbers(0, &[-1i8]).is_err());
}

proptest! {
    #[test]
    fn byte_rows_are_lanes_and_lanes_byte_rows(width in 0usize..200, lanes in 0usize..200, seed: u8) {
        let length = width.div_ceil(8);
        let mask = |place: usize| if place + 1 == length && width % 8 > 0 { (1u8 << (width % 8)) - 1 } else { 255 };
        let byte = |at: usize| (at as u8).wrapping_mul(167).wrapping_add(seed) ^ (at / 251) as u8;
        let bytes: Vec<u8> = (0..lanes * length).map(|at| byte(at) & mask(at % length)).collect();
        let matrix = BitMatrix::from_byte_rows(width, &bytes).unwrap();
        prop_assert_eq!((matrix.rows(), matrix.lanes()), (width, if width == 0 { 0 } else { lanes }));
        for (lane, row) in bytes.chunks(length.max(1)).enumerate() {
            for bit in 0..width {
                prop_assert_eq!(matrix.get(bit, lane), row[bit / 8] >> (bit % 8) & 1 == 1);
            }
        }
        prop_assert_eq!(matrix.to_byte_rows(), bytes);
    }
}

#[test]
fn bytes_that_are_no_lanes_are_refused() {
    assert!(BitMatrix::from_byte_rows(9, &[0; 3]).is_err());
    assert!(BitMatrix::from_byte_rows(0, &[0]).is_err());
    let error = BitMatrix::from_byte_rows(9, &[255, 1, 0, 2]).expect_err("a bit too many").to_string();
    assert!(error.contains("lane 1"), "{error}");
}

#[test]
fn a_matrix_prints_its_shape_alone() {
    let matrix = BitMatrix::from_numbers(16, &[0xabcdu16; 3]).unwrap();
    assert_eq!(format!("{matrix:?}"), "BitMatrix(16 bits × 3 lanes)");
}

#[test]
fn numbers_come_in_parts() {
    for width in [1usize, 13, 64, 65, 130] {
        for lanes in LANES {
            let wide = numbers(width.min(64) as u32, lanes);
            let all: Vec<u64> = wide.iter().map(|&number| number as u64).collect();
            for part in [64, 128, 576] {
                // What was there before is written over.
                let mut matrix = BitMatrix::from_numbers(width, &vec![1u8; lanes]).unwrap();
                for (first, part) in (0..).step_by(part).zip(all.chunks(part)) {
                    matrix.set_numbers(first, part).unwrap();
                }
                assert!(matrix == bit_by_bit(width, &wide), "{width} × {lanes} by {part}");
            }
        }
    }
}

#[test]
fn parts_that_are_none_write_nothing() {
    let before = BitMatrix::from_numbers(8, &[7u8; 130]).unwrap();
    let mut matrix = before.clone();
    for (first, count) in [(1, 64), (63, 67), (0, 63), (64, 65), (128, 3), (192, 0), (usize::MAX - 63, 64)] {
        let error = matrix.set_numbers(first, &vec![1u8; count]).expect_err("no whole words").to_string();
        assert!(error.contains("130 lanes"), "{error}");
    }
    let error = matrix.set_numbers(64, &[[1u16; 64], [256; 64]].concat()[..66]).expect_err("too wide").to_string();
    assert!(error.contains("lane 128") && error.contains("8 bits"), "{error}");
    assert!(matrix == before);
    matrix.set_numbers(128, &[1u8, 2]).unwrap();
    assert_eq!(matrix.to_numbers::<u8>().unwrap()[127..], [7, 1, 2]);
}

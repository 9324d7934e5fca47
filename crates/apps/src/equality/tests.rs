//! Bits in rows, against the same bits one by one.

use crate::packed::{BitReader, BitWriter};
use duologue::Error;

#[test]
fn rows_are_packed_without_gaps() {
    for lanes in [1, 7, 63, 64, 65, 128, 200] {
        let row = |seed: u64| -> Vec<u64> {
            (0..(lanes as u64).div_ceil(64)).map(|i| (seed + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
        };
        let mut out = BitWriter::default();
        (0..5).for_each(|seed| out.row(&row(seed), lanes));
        let bytes = out.bytes();
        assert_eq!(bytes.len(), (5 * lanes).div_ceil(8));
        let bit = |words: &[u64], at: usize| words[at / 64] >> (at % 64) & 1;
        for at in 0..5 * lanes {
            let expected = bit(&row((at / lanes) as u64), at % lanes);
            assert_eq!(u64::from(bytes[at / 8] >> (at % 8) & 1), expected, "{lanes} lanes, bit {at}");
        }
        let mut reader = BitReader::new(&bytes, 5 * lanes as u64).unwrap();
        for seed in 0..5 {
            let read = reader.row(lanes);
            assert!((0..lanes).all(|lane| bit(&read, lane) == bit(&row(seed), lane)), "{lanes} lanes");
            assert!(lanes % 64 == 0 || read.last().unwrap() >> (lanes % 64) == 0, "padding");
        }
    }
}

#[test]
fn messages_of_other_lengths_are_refused() {
    for (bytes, bits) in [(&[0, 0][..], 8), (&[0], 9), (&[], 1), (&[0x10], 4), (&[0x80], 7), (&[1], 0)] {
        assert!(matches!(BitReader::new(bytes, bits), Err(Error::Peer(_))), "{bytes:?}, {bits}");
    }
    for (bytes, bits) in [(&[0xff][..], 8), (&[0x0f], 4), (&[], 0), (&[0xff, 1], 9)] {
        assert!(BitReader::new(bytes, bits).is_ok(), "{bytes:?}, {bits}");
    }
}

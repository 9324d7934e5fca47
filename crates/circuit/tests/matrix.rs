//! Packed bits against plain ones.

use circuit::BitMatrix;
use proptest::prelude::*;

fn matrix(rows: usize, lanes: usize) -> impl Strategy<Value = Vec<Vec<bool>>> {
    prop::collection::vec(prop::collection::vec(any::<bool>(), rows), lanes)
}

fn padding_is_zero(matrix: &BitMatrix) -> bool {
    let mut cleared = matrix.clone();
    cleared.clear_padding();
    cleared == *matrix
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn lanes_go_in_and_out(lanes in (0usize..6, 0usize..200).prop_flat_map(|(r, l)| matrix(r, l))) {
        let rows = lanes.first().map_or(3, Vec::len);
        let matrix = BitMatrix::from_lanes(rows, &lanes);
        prop_assert!(padding_is_zero(&matrix));
        prop_assert_eq!(matrix.to_lanes(), lanes);
        prop_assert_eq!(matrix.words().len(), rows * matrix.stride());
        let words = matrix.words().to_vec();
        prop_assert!(BitMatrix::from_words(rows, matrix.lanes(), words).unwrap() == matrix);
    }

    #[test]
    fn copies_move_the_right_bits(
        from in (1usize..4, 1usize..400).prop_flat_map(|(r, l)| matrix(r, l)),
        fill: bool,
        (lanes, place, start, step, count) in (1usize..300, any::<u16>(), any::<u16>(), 1usize..5, any::<u16>()),
        aligned: bool,
    ) {
        let source = BitMatrix::from_lanes(from[0].len(), &from);
        let mut place = usize::from(place) % lanes;
        let mut start = usize::from(start) % source.lanes();
        if aligned {
            (place, start) = (place / 64 * 64, start / 64 * 64);
        }
        let most = (lanes - place).min((source.lanes() - start).div_ceil(step));
        let count = usize::from(count) % (most + 1);
        let row = source.rows() - 1;

        let mut expected = vec![vec![fill; 2]; lanes];
        for i in 0..count {
            expected[place + i][1] = from[start + i * step][row];
        }
        let mut target = BitMatrix::from_lanes(2, &vec![vec![fill; 2]; lanes]);
        target.copy_bits(1, place, &source, row, start, step, count);
        prop_assert!(padding_is_zero(&target));
        prop_assert_eq!(target.to_lanes(), expected);
    }

    #[test]
    fn single_bits(rows in 1usize..4, lanes in 1usize..200, writes in prop::collection::vec(any::<(u8, u8, bool)>(), 0..40)) {
        let mut matrix = BitMatrix::zeros(rows, lanes);
        let mut plain = vec![vec![false; rows]; lanes];
        for (row, lane, bit) in writes {
            let (row, lane) = (usize::from(row) % rows, usize::from(lane) % lanes);
            matrix.set(row, lane, bit);
            plain[lane][row] = bit;
            prop_assert_eq!(matrix.get(row, lane), bit);
            prop_assert_eq!(&matrix.lane(lane), &plain[lane]);
        }
        prop_assert!(padding_is_zero(&matrix));
        prop_assert_eq!(matrix.to_lanes(), plain);
    }
}

#[test]
fn words_that_do_not_fit_are_refused() {
    let message = |result: circuit::Result<BitMatrix>| result.err().unwrap().to_string();
    let short = message(BitMatrix::from_words(2, 65, vec![0; 3]));
    assert_eq!(short, "bit matrix: 2 rows of 65 lanes do not have 3 words");
    let padded = message(BitMatrix::from_words(2, 65, vec![0, 1, 0, 2]));
    assert_eq!(padded, "bit matrix, row 1: bits above the last lane are set");
    assert!(BitMatrix::from_words(usize::MAX, 65, vec![0; 4]).is_err());
    assert!(BitMatrix::from_words(2, 64, vec![u64::MAX; 2]).is_ok());
}

#[test]
fn padding_is_cleared() {
    let mut matrix = BitMatrix::zeros(2, 70);
    matrix.words_mut().fill(u64::MAX);
    matrix.clear_padding();
    assert!(padding_is_zero(&matrix));
    assert_eq!(matrix.row(1), [u64::MAX, 0b11_1111]);
}

#[test]
#[should_panic(expected = "lanes 60 to 71 of 70")]
fn a_copy_beyond_the_end_is_a_mistake() {
    let source = BitMatrix::zeros(1, 100);
    BitMatrix::zeros(1, 70).copy_bits(0, 60, &source, 0, 0, 1, 11);
}

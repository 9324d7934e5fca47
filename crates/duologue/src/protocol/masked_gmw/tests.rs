//! The folds of wide ANDs on all inputs, with broken twins, and two parties without a channel.

use super::online::share;
use super::*;
use kernels::Block;

/// Shares of the products of all sets of masks, 64 random splits at once, with the result's mask in the last one.
fn deal<const N: usize, const M: usize>(masks: usize, result: u64, dice: &mut Generator) -> [[u64; M]; 2] {
    let mut alice = [0; M];
    dice.words(&mut alice);
    let mut bob = alice;
    for set in 1..=M {
        // The product of the masks in the set.
        bob[set - 1] ^= crate::executor::interpreter::mask(masks & set == set);
    }
    bob[M - 1] ^= result;
    [alice, bob]
}

/// Whether both parties' shares add up to the masked AND, for all masked bits and masks; `harm` may change what a party
/// has.
fn holds<const N: usize, const M: usize>(harm: impl Fn(&mut [u64; M])) -> bool {
    let mut dice = Generator::from_seed(Block::new(N as u128));
    (0..1 << (2 * N)).all(|case| {
        let (values, masks) = (case >> N, case & M);
        let mut result = [0];
        dice.words(&mut result);
        let [mut alice, mut bob] = deal::<N, M>(masks, result[0], &mut dice);
        harm(&mut alice);
        harm(&mut bob);
        let bits = std::array::from_fn(|input| crate::executor::interpreter::mask(values >> input & 1 == 1));
        let sum = share::<N, M>(bits, alice, u64::MAX) ^ share::<N, M>(bits, bob, 0);
        sum == crate::executor::interpreter::mask(values ^ masks == M) ^ result[0]
    })
}

#[test]
fn ands_of_two_three_and_four_inputs_are_exact() {
    assert!(holds::<2, 3>(|_| {}) && holds::<3, 7>(|_| {}) && holds::<4, 15>(|_| {}));
}

/// Broken twins: a product that is forgotten, and one in the place of another.
#[test]
fn a_product_that_is_missing_or_misplaced_is_found() {
    for one in 0..15 {
        assert!(one >= 3 || !holds::<2, 3>(|kept| kept[one] = 0));
        assert!(one >= 7 || !holds::<3, 7>(|kept| kept[one] = 0));
        assert!(!holds::<4, 15>(|kept| kept[one] = 0));
        for other in 0..one {
            assert!(one >= 3 || !holds::<2, 3>(|kept| kept.swap(one, other)));
            assert!(one >= 7 || !holds::<3, 7>(|kept| kept.swap(one, other)));
            assert!(!holds::<4, 15>(|kept| kept.swap(one, other)));
        }
    }
}

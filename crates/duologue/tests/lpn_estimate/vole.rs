//! Noise over GF(2¹²⁸) under the binary dual code, as vector OLE has it.
//!
//! The code is binary, so one bit of every entry, or any other F₂-linear map of them to one bit, is an instance of LPN with the same
//! places, where a block has noise with a chance of one half: whoever attacks takes a new map for each try.

use crate::dual::{STRUCTURE, dual, dual_table, linear_test};
use crate::published::*;
use crate::{Attack, Set, is_on_the_page, least, log2_choose, log2_sum, matrix, names, steps};

const fn projected(t: f64, depth: i32) -> Set {
    Set { noisy: 0.5, ..dual(t, depth) }
}

/// The least noise, at the least size, at that of 2²⁰ keys and at that of 2²⁴.
const SETS: [Set; 4] = [projected(336.0, 6), projected(336.0, 10), projected(336.0, 13), projected(336.0, 17)];

/// An attack on any noise of weight w, where w is that of the map that is taken: success adds up over the weights. No block has a sum
/// that is known.
fn any_weight(attack: fn(f64, f64, f64) -> f64, set: &Set) -> f64 {
    let apart = 16;
    let weights = steps(set.t as u32 * 5 / 8, apart).skip(2);
    let success = weights.map(|w| log2_choose(set.t, w) - set.t - attack(set.n(), set.k(), w));
    -(log2_sum(&success.collect::<Vec<_>>()) + (apart as f64).log2())
}

const PROJECTED: [Attack; 11] = [
    ("Pooled Gauss", |s| any_weight(pooled_gauss, s)),
    ("Statistical decoding", |s| any_weight(statistical_decoding, s)),
    ("ISD, Stern", |s| any_weight(stern, s)),
    ("ISD, BJMM", |s| any_weight(bjmm, s)),
    ("Regular ISD, permutation", regular_isd_permutation),
    ("Regular ISD, enumeration", regular_isd_enumeration),
    ("Regular ISD, representations", regular_isd_representations),
    ("Algebraic", algebraic),
    ("Algebraic 2.0 (lower bound)", algebraic_2),
    ("Hybrid", hybrid),
    ("Linear test, words of weight 0.238", |s| linear_test(s, 0.238)),
];

#[test]
fn over_a_large_field_the_noise_of_vector_ole_has_128_bits() {
    for rows in [&PROJECTED[..], &STRUCTURE] {
        let bits = matrix(&SETS, rows);
        is_on_the_page(&dual_table(&SETS, &names(rows), &bits));
        // Each call has a code of its own: nobody attacks many under one.
        let least = least(bits.into_iter().flatten());
        assert!(least >= 128.0, "{least}");
    }
}

/// The noise of silent OT would not do: that is why there is more.
#[test]
fn over_a_large_field_the_noise_of_silent_ot_is_too_little() {
    let bits = linear_test(&projected(144.0, 13), 0.25);
    assert!((59.0..60.0).contains(&bits), "{bits}");
}

//! Truth tables of functions of up to six bits as words: bit x of the word is the value at x, and bit i of x is input i.

/// The inputs of a table.
pub const INPUTS: usize = 6;

/// The tables of the inputs themselves.
pub const INPUT: [u64; INPUTS] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The monomials of degree 0 and 1, as bits of a normal form.
const AFFINE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16 | 1 << 32;

/// From values to the coefficients of the algebraic normal form, and back: bit m is that of the product of the inputs in m.
pub fn normal_form(mut table: u64) -> u64 {
    for (i, input) in INPUT.iter().enumerate() {
        table ^= table << (1 << i) & input;
    }
    table
}

/// A function without its affine part.
pub fn without_affine(table: u64) -> u64 {
    normal_form(normal_form(table) & !AFFINE)
}

/// The affine form that a table is: bit i for input i, and bit 6 for the constant. Nothing if it is none.
pub fn affine_form(table: u64) -> Option<u8> {
    let form = normal_form(table);
    let linear = (0..INPUTS).filter(|i| form >> (1 << i) & 1 == 1).fold(0, |mask, i| mask | 1 << i);
    (form & !AFFINE == 0).then_some(linear | (form as u8 & 1) << INPUTS)
}

/// The table of x ↦ f(x ⊕ by).
pub fn translated(mut table: u64, by: usize) -> u64 {
    for (i, input) in INPUT.iter().enumerate().filter(|(i, _)| by >> i & 1 == 1) {
        let shift = 1 << i;
        table = (table & input) >> shift | (table & !input) << shift;
    }
    table
}

/// Inputs i and j change places; i < j.
pub fn exchanged(table: u64, i: usize, j: usize) -> u64 {
    let (moved, shift) = (INPUT[i] & !INPUT[j], (1 << j) - (1 << i));
    let differ = (table >> shift ^ table) & moved;
    table ^ differ ^ differ << shift
}

/// The table whose input `places[i]` is input i of this one; places rise, and the inputs beyond them count for nothing.
pub fn spread(mut table: u64, places: &[usize]) -> u64 {
    for (i, &place) in places.iter().enumerate().rev().filter(|(i, place)| i != *place) {
        table = exchanged(table, i, place);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_are_functions(table: u64, by in 0usize..64, x in 0usize..64, mask in 0usize..64) {
            let value = |table: u64, x: usize| table >> x & 1;
            prop_assert_eq!(normal_form(normal_form(table)), table);
            let monomials = (0..64).filter(|m| m & !x == 0 && value(normal_form(table), *m) == 1).count();
            prop_assert_eq!(monomials as u64 & 1, value(table, x));
            prop_assert_eq!(value(translated(table, by), x), value(table, x ^ by));
            prop_assert_eq!(affine_form(table ^ without_affine(table)).is_some(), true);
            let linear = (0..INPUTS).filter(|i| mask >> i & 1 == 1).fold(0, |table, i| table ^ INPUT[i]);
            prop_assert_eq!(affine_form(!linear), Some(mask as u8 | 64));
            let few = table & 0xff;
            let few = few | few << 8;
            let few = few | few << 16;
            let places = [1, 3, 4];
            let inner = (0..3).fold(0, |y, i| y | (x >> places[i] & 1) << i);
            prop_assert_eq!(value(spread(few | few << 32, &places), x), value(few, inner));
        }
    }
}

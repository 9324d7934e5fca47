//! Columns of Arrow in memory, against exact arithmetic.
#![cfg(feature = "arrow")]

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray};
use circuit::{BitMatrix, Kind, Type, bits, int, uint};
use proptest::prelude::*;
use std::sync::Arc;
use values::{Error, Form, arrays};

fn lanes(chunks: &[ArrayRef], ty: Type, form: &str) -> Result<BitMatrix, Error> {
    let form: Form = if form.is_empty() { Form::default() } else { form.parse()? };
    arrays::lanes(chunks, ty, &form)
}

fn why(chunks: &[ArrayRef], ty: Type, form: &str) -> String {
    lanes(chunks, ty, form).unwrap_err().to_string()
}

fn fixed(width: u32, fraction: u32) -> Type {
    Type { kind: Kind::Fixed { fraction }, width }
}

fn decimals(digits: Vec<i128>, scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from(digits).with_precision_and_scale(38, scale).unwrap())
}

#[test]
fn rows_are_counted_over_chunks() {
    let chunks: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1, 2, 3])),
        Arc::new(Int64Array::from(Vec::<i64>::new())),
        Arc::new(Int64Array::from(vec![99, 4, -5, 31337]).slice(1, 3)),
    ];
    assert_eq!(lanes(&chunks, int(32), "").unwrap().to_numbers::<i64>().unwrap(), [1, 2, 3, 4, -5, 31337]);
    assert_eq!(why(&chunks, int(8), ""), "row 5: expected a number of -128 to 127 for int(8)");
    assert_eq!(why(&chunks, uint(16), ""), "row 4: expected a number of 0 to 65535 for uint(16)");
}

#[test]
fn nulls_and_categories() {
    let categories: DictionaryArray<Int32Type> = vec![Some("ab"), None, Some("c"), Some("ab")].into_iter().collect();
    let chunks: Vec<ArrayRef> = vec![Arc::new(categories)];
    assert!(why(&chunks, bits(16), "text").starts_with("row 1: expected UTF-8 text of at most 2 bytes"));
    let words = lanes(&chunks, bits(16), "text:null=-").unwrap();
    assert_eq!(words.to_byte_rows(), *b"ab-\0c\0ab");
    let words: Vec<ArrayRef> = vec![Arc::new(StringArray::from(vec!["7", "x"]))];
    assert_eq!(why(&words, uint(8), ""), "row 1: expected a number of 0 to 255 for uint(8)");
}

#[test]
fn floats_that_a_port_does_not_have() {
    let single = Type { kind: Kind::Float { exponent: 8 }, width: 32 };
    for value in [f64::NAN, 1e39, -1e39] {
        let chunks: Vec<ArrayRef> = vec![Arc::new(Float64Array::from(vec![0.5, value]))];
        assert!(why(&chunks, single, "").starts_with("row 1: expected a number that float(32, 8) can hold, not NaN"));
        assert!(why(&chunks, single, "null=0").starts_with("row 1"), "the same where nulls stand for something");
    }
    let infinite: Vec<ArrayRef> = vec![Arc::new(Float64Array::from(vec![f64::INFINITY]))];
    assert_eq!(lanes(&infinite, single, "").unwrap().to_numbers::<u32>().unwrap(), [f32::INFINITY.to_bits()]);
}

#[test]
fn decimals_of_hundreds_are_integers() {
    let chunks = [decimals(vec![12, -3, 0], -2)];
    assert_eq!(lanes(&chunks, int(16), "").unwrap().to_numbers::<i16>().unwrap(), [1200, -300, 0]);
    assert_eq!(lanes(&chunks, fixed(32, 8), "").unwrap().to_numbers::<i32>().unwrap(), [1200 << 8, -300 << 8, 0]);
    let double = Type { kind: Kind::Float { exponent: 11 }, width: 64 };
    let reals = lanes(&chunks, double, "").unwrap().to_numbers::<u64>().unwrap();
    assert_eq!(reals, [1200.0, -300.0, 0.0f64].map(f64::to_bits));
    assert_eq!(why(&chunks, uint(16), ""), "row 1: expected a number of 0 to 65535 for uint(16)");
    assert!(why(&[decimals(vec![3], -2)], int(9), "").starts_with("row 0: expected a number of -256 to 255"));
    // The nearest double of 12 · 10^60 is beyond the integers of 128 bits, and no float is lost for that.
    let large = lanes(&[decimals(vec![12], -60)], double, "").unwrap().to_numbers::<u64>().unwrap();
    assert_eq!(large, [12e60f64.to_bits()]);
    for (port, scale) in [(int(128), -60), (int(16), 1)] {
        assert!(why(&[decimals(vec![10], scale)], port, "").starts_with("row 0: expected a number of"));
    }
}

proptest! {
    /// A decimal number is taken if it is a multiple of the port's unit, and then exactly.
    #[test]
    fn decimals_are_exact_or_refused(
        digits in -10i128.pow(9)..10i128.pow(9), scale in 0i8..12, fraction in 0u32..20, fives in 0u32..10
    ) {
        let digits = digits / 5i128.pow(fives) * 5i128.pow(fives);
        let (above, below) = (digits * (1 << fraction), 10i128.pow(scale as u32));
        let got = lanes(&[decimals(vec![digits], scale)], fixed(80, fraction), "");
        match above % below {
            0 => prop_assert_eq!(got.unwrap().to_numbers::<i128>().unwrap(), [above / below]),
            _ => prop_assert!(got.unwrap_err().to_string().starts_with("row 0: expected a decimal number that fixed(80, ")),
        }
    }
}

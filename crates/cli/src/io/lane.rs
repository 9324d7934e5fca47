//! One lane as text: on the command line, in CSV files, on the terminal and in JSON.
//!
//! - Numbers are decimal, floats and fixed-point numbers too; beyond 128 bits, and whenever a value begins with `0x`,
//!   they are the bits in hexadecimal.
//! - `bits` of whole bytes are the bytes in hexadecimal, first byte first; bit 8k + i is bit i of byte k.
//! - Other `bits` are as many digits 0 and 1, bit 0 first.

use crate::io::console::count;
use crate::io::real;
use duologue::circuit::{BitMatrix, Kind, Type};
use serde_json::Value;

/// A number that is not yet cut to a width.
#[derive(Clone, Copy)]
pub struct Number {
    negative: bool,
    magnitude: u128,
}

impl<T: Into<i128>> From<T> for Number {
    fn from(number: T) -> Self {
        let number = number.into();
        Number { negative: number < 0, magnitude: number.unsigned_abs() }
    }
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let magnitude = digits.parse().ok()?;
        Some(Number { negative, magnitude })
    }

    /// The bits, lowest first, unless the number is out of the type's range.
    pub fn bits(self, ty: Type) -> Option<Vec<bool>> {
        let width = ty.width as usize;
        let bit = |i: usize| i < 128 && self.magnitude >> i & 1 == 1;
        let mut bits: Vec<bool> = (0..width).map(bit).collect();
        let below = |exponent: usize| exponent >= 128 || self.magnitude >> exponent == 0;
        let fits = match (ty.kind, self.negative) {
            (Kind::Int, false) => below(width - 1),
            (Kind::Int, true) => below(width - 1) || self.magnitude == 1 << (width - 1),
            (_, negative) => below(width) && (!negative || self.magnitude == 0),
        };
        if self.negative {
            negate(&mut bits);
        }
        fits.then_some(bits)
    }
}

/// The two's complement: all bits above the lowest one are turned.
fn negate(bits: &mut [bool]) {
    let lowest = bits.iter().position(|&bit| bit).unwrap_or(bits.len());
    bits.iter_mut().skip(lowest + 1).for_each(|bit| *bit = !*bit);
}

/// Reads a value of this type; `None` if it is not of its form or out of range.
pub fn parse(text: &str, ty: Type) -> Option<Vec<bool>> {
    let text = text.trim();
    match ty.kind {
        Kind::Bits if ty.width.is_multiple_of(8) => {
            parse_bytes(text.strip_prefix("hex:").unwrap_or(text), ty.width as usize)
        }
        Kind::Bits => parse_digits(text, ty.width as usize),
        _ => match text.strip_prefix("0x") {
            Some(digits) => parse_hex(digits, ty.width as usize),
            None if matches!(ty.kind, Kind::UInt | Kind::Int) => Number::parse(text)?.bits(ty),
            None => real::parse(text, ty),
        },
    }
}

fn parse_bytes(text: &str, width: usize) -> Option<Vec<bool>> {
    let digits = nibbles(text)?;
    let bit = |i: usize| digits[i / 8 * 2 + usize::from(i % 8 < 4)] >> (i % 4) & 1 == 1;
    (4 * digits.len() == width).then(|| (0..width).map(bit).collect())
}

fn parse_digits(text: &str, width: usize) -> Option<Vec<bool>> {
    let digit = |digit| match digit {
        '0' => Some(false),
        '1' => Some(true),
        _ => None,
    };
    let bits: Option<Vec<bool>> = text.chars().map(digit).collect();
    bits.filter(|bits| bits.len() == width)
}

/// The bits of a number in hexadecimal, if it has no more than `width`.
fn parse_hex(text: &str, width: usize) -> Option<Vec<bool>> {
    let mut digits = nibbles(text)?;
    digits.reverse();
    let bits = digits.iter().flat_map(|digit| (0..4).map(move |i| digit >> i & 1 == 1));
    let mut bits: Vec<bool> = bits.collect();
    let most = bits.iter().rposition(|&bit| bit).map_or(0, |top| top + 1);
    bits.resize(width, false);
    (most <= width && !digits.is_empty()).then_some(bits)
}

fn nibbles(text: &str) -> Option<Vec<u32>> {
    text.chars().map(|digit| digit.to_digit(16)).collect()
}

/// A description of the values of this type.
pub fn form(ty: Type) -> String {
    let width = ty.width;
    match ty.kind {
        Kind::Bits if width.is_multiple_of(8) => format!("{} in hexadecimal", count(u64::from(width / 8), "byte")),
        Kind::Bits if width == 1 => "0 or 1".into(),
        Kind::Bits => format!("{width} digits 0 and 1, lowest bit first"),
        Kind::UInt if width <= 64 => format!("a number of 0 to {}", u64::MAX >> (64 - width)),
        Kind::Int if width <= 64 => {
            let most = i64::MAX >> (64 - width);
            format!("a number of {} to {most}", !most)
        }
        Kind::UInt | Kind::Int => format!("a number of {width} bits"),
        _ if real::text(0, ty).is_some() => "a decimal number in range, or its bits in hexadecimal, 0x…".into(),
        _ => format!("the {width} bits as a number in hexadecimal, 0x…"),
    }
}

/// A lane of a matrix as text.
pub fn text(matrix: &BitMatrix, lane: usize, ty: Type) -> String {
    let bit = |i: usize| matrix.get(i, lane);
    match ty.kind {
        Kind::Bits if ty.width.is_multiple_of(8) => {
            let byte = |k: usize| format!("{:02x}", low(8, |i| bit(8 * k + i)));
            (0..matrix.rows() / 8).map(byte).collect()
        }
        Kind::Bits => (0..matrix.rows()).map(|i| if bit(i) { '1' } else { '0' }).collect(),
        Kind::UInt if ty.width <= 128 => low(matrix.rows(), bit).to_string(),
        Kind::Int if ty.width <= 128 => signed(matrix.rows(), bit).to_string(),
        _ if is_real(ty) => real::text(low(matrix.rows(), bit), ty).unwrap_or_default(),
        _ => {
            let digit = |k: usize| format!("{:x}", low(4.min(matrix.rows() - 4 * k), |i| bit(4 * k + i)));
            let digits = (0..matrix.rows().div_ceil(4)).rev().map(digit);
            format!("0x{}", digits.collect::<String>())
        }
    }
}

/// Numbers that JSON readers hold exactly are numbers; everything else is text.
pub fn json(matrix: &BitMatrix, lane: usize, ty: Type) -> Value {
    let bit = |i: usize| matrix.get(i, lane);
    match ty.kind {
        Kind::Bits if ty.width == 1 => Value::from(u64::from(bit(0))),
        Kind::UInt if ty.width <= 53 => Value::from(low(matrix.rows(), bit) as u64),
        Kind::Int if ty.width <= 53 => Value::from(signed(matrix.rows(), bit) as i64),
        _ => match real_value(matrix, lane, ty) {
            Some(value) if value.is_finite() => Value::from(value),
            _ => Value::from(text(matrix, lane, ty)),
        },
    }
}

/// Whether values are written in decimal as real numbers.
fn is_real(ty: Type) -> bool {
    ty.width <= 128 && real::text(0, ty).is_some()
}

/// The real number of a lane, if the host's doubles hold every value of the type.
pub fn real_value(matrix: &BitMatrix, lane: usize, ty: Type) -> Option<f64> {
    let real = matches!(ty.kind, Kind::Float { .. } | Kind::Fixed { .. }) && ty.width <= 64;
    if real { real::to_f64(low(matrix.rows(), |i| matrix.get(i, lane)), ty) } else { None }
}

/// At most 128 bits as an unsigned number.
pub fn low(count: usize, bit: impl Fn(usize) -> bool) -> u128 {
    (0..count).fold(0, |number, i| number | u128::from(bit(i)) << i)
}

/// At most 128 bits as a number in two's complement.
pub fn signed(count: usize, bit: impl Fn(usize) -> bool) -> i128 {
    let unused = 128 - count;
    (low(count, bit) << unused) as i128 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::{bits, int, uint};
    use proptest::prelude::*;

    fn written(text_in: &str, ty: Type) -> Option<String> {
        let lane = parse(text_in, ty)?;
        Some(text(&BitMatrix::from_lanes(lane.len(), &[lane]), 0, ty))
    }

    #[test]
    fn values_are_read_and_written() {
        for (ty, from, to) in [
            (uint(10), "1023", "1023"),
            (uint(10), " 0x3ff", "1023"),
            (uint(64), "18446744073709551615", "18446744073709551615"),
            (uint(130), "5", "0x000000000000000000000000000000005"),
            (int(8), "-128", "-128"),
            (int(8), "127", "127"),
            (int(8), "0xff", "-1"),
            (int(1), "-1", "-1"),
            (int(128), "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
            (bits(16), "hex:00Ff", "00ff"),
            (bits(8), "10", "10"),
            (bits(1), "1", "1"),
            (bits(3), "100", "100"),
        ] {
            assert_eq!(written(from, ty).as_deref(), Some(to), "{from} as {ty}");
        }
        assert_eq!(parse("1", uint(3)), Some(vec![true, false, false]));
        assert_eq!(parse("01", bits(8)).map(|bits| bits[0]), Some(true));
        assert_eq!(parse("100", bits(3)), Some(vec![true, false, false]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (ty, from) in [
            (uint(10), "1024"),
            (uint(10), "0x400"),
            (uint(10), "-1"),
            (uint(10), ""),
            (uint(10), "0x"),
            (uint(10), "hit"),
            (int(8), "128"),
            (int(8), "-129"),
            (int(1), "1"),
            (bits(16), "00"),
            (bits(16), "000"),
            (bits(8), "0g"),
            (bits(3), "10"),
            (bits(3), "102"),
        ] {
            assert_eq!(parse(from, ty), None, "{from} as {ty}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(lane in prop::collection::vec(any::<bool>(), 1..300), kind in 0..3) {
            let kind = [Kind::Bits, Kind::UInt, Kind::Int][kind as usize];
            let ty = Type { kind, width: lane.len() as u32 };
            let matrix = BitMatrix::from_lanes(lane.len(), std::slice::from_ref(&lane));
            prop_assert_eq!(parse(&text(&matrix, 0, ty), ty), Some(lane));
        }
    }
}

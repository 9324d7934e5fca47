//! One lane as text: on the command line, in CSV files, on the terminal and in JSON.
//!
//! - Numbers are decimal, floats and fixed-point numbers too; beyond 128 bits, and whenever a value begins with `0x`,
//!   they are the bits in hexadecimal.
//! - `bits` of whole bytes are the bytes in hexadecimal, first byte first; bit 8k + i is bit i of byte k.
//! - Other `bits` are as many digits 0 and 1, bit 0 first.

use crate::rows::Rows;
use crate::{Error, Place, Result, counted, real};
use circuit::{BitMatrix, Kind, Type};
use serde_json::Value;
use std::fmt;

/// A number that is not yet cut to a width.
#[derive(Clone, Copy)]
pub(crate) struct Number {
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
    pub(crate) fn new(negative: bool, magnitude: u128) -> Self {
        Number { negative, magnitude }
    }

    pub(crate) fn times(self, factor: u128) -> Option<Self> {
        let magnitude = self.magnitude.checked_mul(factor)?;
        Some(Number { magnitude, ..self })
    }

    fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        // Else a second sign would be read.
        if digits.starts_with('+') {
            return None;
        }
        let magnitude = digits.parse().ok()?;
        Some(Number { negative, magnitude })
    }

    /// Writes the number, lowest byte first, unless it is out of the type's range.
    pub(crate) fn put(self, ty: Type, to: &mut [u8]) -> Option<()> {
        let width = ty.width as usize;
        let below = |exponent: usize| exponent >= 128 || self.magnitude >> exponent == 0;
        let fits = match (ty.kind, self.negative) {
            (Kind::Int, false) => below(width - 1),
            (Kind::Int, true) => below(width - 1) || self.magnitude == 1 << (width - 1),
            (_, negative) => below(width) && (!negative || self.magnitude == 0),
        };
        let negative = self.negative && self.magnitude != 0;
        let number = if negative { self.magnitude.wrapping_neg() } else { self.magnitude };
        to.fill(if negative { 0xff } else { 0 });
        put_number(number, to);
        clear_above(to, width);
        fits.then_some(())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative && self.magnitude != 0 { "-" } else { "" };
        write!(f, "{sign}{}", self.magnitude)
    }
}

/// Writes the bytes of a number, lowest first, as far as there is room.
pub(crate) fn put_number(number: u128, to: &mut [u8]) {
    let count = to.len().min(16);
    to[..count].copy_from_slice(&number.to_le_bytes()[..count]);
}

/// Zeroes the bits above the width, which are in the last byte.
fn clear_above(bytes: &mut [u8], width: usize) {
    if let (Some(last), 1..) = (bytes.last_mut(), width % 8) {
        *last &= (1 << (width % 8)) - 1;
    }
}

/// Reads a value of this type into zeroed bytes, lowest first; `None` if it is not of its form or out of range.
pub(crate) fn put(text: &str, ty: Type, to: &mut [u8]) -> Option<()> {
    let text = text.trim();
    match ty.kind {
        Kind::Bits if ty.width.is_multiple_of(8) => put_bytes(text.strip_prefix("hex:").unwrap_or(text), to),
        Kind::Bits if ty.width == 1 => put_bit(text, to),
        Kind::Bits => put_digits(text, ty.width as usize, to),
        _ => match text.strip_prefix("0x") {
            Some(digits) => put_hex(digits, ty.width as usize, to),
            None if matches!(ty.kind, Kind::UInt | Kind::Int) => Number::parse(text)?.put(ty, to),
            None => real::parse(text, ty).map(|number| put_number(number, to)),
        },
    }
}

fn put_bytes(text: &str, to: &mut [u8]) -> Option<()> {
    let (pairs, []) = text.as_bytes().as_chunks() else { return None };
    if pairs.len() != to.len() {
        return None;
    }
    for (to, &[high, low]) in to.iter_mut().zip(pairs) {
        *to = nibble(high)? << 4 | nibble(low)?;
    }
    Some(())
}

fn put_bit(text: &str, to: &mut [u8]) -> Option<()> {
    match text {
        "0" | "false" | "False" | "FALSE" => {}
        "1" | "true" | "True" | "TRUE" => to[0] = 1,
        _ => return None,
    }
    Some(())
}

fn put_digits(text: &str, width: usize, to: &mut [u8]) -> Option<()> {
    if text.len() != width {
        return None;
    }
    for (i, digit) in text.bytes().enumerate() {
        match digit {
            b'0' => {}
            b'1' => to[i / 8] |= 1 << (i % 8),
            _ => return None,
        }
    }
    Some(())
}

/// The bits of a number in hexadecimal, if it has no more than `width`.
fn put_hex(text: &str, width: usize, to: &mut [u8]) -> Option<()> {
    for (i, digit) in text.bytes().rev().enumerate() {
        let digit = nibble(digit)?;
        let room = width.saturating_sub(4 * i).min(4);
        if digit >> room != 0 {
            return None;
        }
        if digit != 0 {
            to[i / 2] |= digit << (i % 2 * 4);
        }
    }
    (!text.is_empty()).then_some(())
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// Lanes from values with commas between them.
///
/// # Errors
/// [`Error::Value`] with the first lane that is none of this type.
pub fn list(text: &str, ty: Type) -> Result<BitMatrix> {
    let values = text.split(',').filter(|_| !text.is_empty());
    let place = |lane| Place { lane: Some(lane as u64), ..Place::default() };
    let mut rows = Rows::new(ty);
    for (lane, text) in values.enumerate() {
        rows.push(|to| put(text, ty, to)).ok_or_else(|| Error::value(place(lane), expected(ty)))?;
    }
    Ok(rows.finish())
}

/// What is expected of a value.
pub(crate) fn expected(ty: Type) -> String {
    format!("{} for {ty}", form(ty))
}

/// A description of the values of this type.
pub(crate) fn form(ty: Type) -> String {
    let width = ty.width;
    match ty.kind {
        Kind::Bits if width.is_multiple_of(8) => format!("{} in hexadecimal", counted(width / 8, "byte")),
        Kind::Bits if width == 1 => "0 or 1, false or true".into(),
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
pub(crate) fn real_value(matrix: &BitMatrix, lane: usize, ty: Type) -> Option<f64> {
    let real = matches!(ty.kind, Kind::Float { .. } | Kind::Fixed { .. }) && ty.width <= 64;
    if real { real::to_f64(low(matrix.rows(), |i| matrix.get(i, lane)), ty) } else { None }
}

/// At most 128 bits as an unsigned number.
pub fn low(count: usize, bit: impl Fn(usize) -> bool) -> u128 {
    (0..count).fold(0, |number, i| number | u128::from(bit(i)) << i)
}

/// At most 128 bits as a number in two's complement.
pub(crate) fn signed(count: usize, bit: impl Fn(usize) -> bool) -> i128 {
    let unused = 128 - count;
    (low(count, bit) << unused) as i128 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use circuit::{bits, int, uint};
    use proptest::prelude::*;

    fn read(text: &str, ty: Type) -> Option<BitMatrix> {
        let mut rows = Rows::new(ty);
        rows.push(|to| put(text, ty, to))?;
        Some(rows.finish())
    }

    fn written(text_in: &str, ty: Type) -> Option<String> {
        Some(text(&read(text_in, ty)?, 0, ty))
    }

    #[test]
    fn values_are_read_and_written() {
        for (ty, from, to) in [
            (uint(10), "1023", "1023"),
            (uint(10), " 0x3ff", "1023"),
            (int(8), "+5", "5"),
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
        for (from, ty) in [("1", uint(3)), ("100", bits(3)), ("01", bits(8))] {
            let lane = read(from, ty).unwrap().lane(0);
            assert!(lane[0] && !lane[1..].contains(&true), "{from} as {ty}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (ty, from) in [
            (uint(10), "1024"),
            (uint(10), "0x400"),
            (uint(10), "-1"),
            (int(8), "-+5"),
            (int(8), "++5"),
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
            assert_eq!(read(from, ty), None, "{from} as {ty}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(lane in prop::collection::vec(any::<bool>(), 1..300), kind in 0..3) {
            let kind = [Kind::Bits, Kind::UInt, Kind::Int][kind as usize];
            let ty = Type { kind, width: lane.len() as u32 };
            let matrix = BitMatrix::from_lanes(lane.len(), std::slice::from_ref(&lane));
            prop_assert_eq!(read(&text(&matrix, 0, ty), ty), Some(matrix));
        }
    }
}

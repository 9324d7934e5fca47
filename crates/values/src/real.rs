//! Floating-point and fixed-point values as text and as the host's numbers.
//!
//! Floats of at most 11 exponent and 52 fraction bits (half, bfloat16, single, double, and what lies between) are
//! decimal, with as few digits as tell a value from all others of its format; an input between two floats is rounded to
//! the nearest, ties to even, singles and doubles directly and all others by way of a double. Wider ones are their bits
//! in hexadecimal. Fixed-point values are decimal and exact; an input with more digits is rounded to the nearest, away
//! from zero in the middle.

use circuit::{Kind, Type};
use std::borrow::Cow;

/// Digits after the point that a fixed-point input may have.
const DIGITS: usize = 37;

/// Reads a decimal value; `None` if it is not one, or out of range, or of a type that has no decimal form.
pub fn parse(text: &str, ty: Type) -> Option<u128> {
    match ty.kind {
        Kind::Float { exponent: 8 } if ty.width == 32 => Some(text.parse::<f32>().ok()?.to_bits().into()),
        Kind::Float { .. } => from_f64(text.parse().ok()?, ty),
        Kind::Fixed { fraction } => parse_fixed(text, ty.width, fraction),
        _ => None,
    }
}

/// The value in decimal, if its type has a decimal form.
pub fn text(number: u128, ty: Type) -> Option<String> {
    match ty.kind {
        Kind::Float { exponent: 8 } if ty.width == 32 => Some(plain(format!("{:?}", f32::from_bits(number as u32)))),
        Kind::Float { .. } => Some(shortest(number, to_f64(number, ty)?, ty)),
        Kind::Fixed { fraction } if ty.width <= 128 => Some(fixed_text(number, ty.width, fraction)),
        _ => None,
    }
}

/// A number as the host writes it for programmers, who expect a point in every float.
fn plain(text: String) -> String {
    text.strip_suffix(".0").map_or_else(|| text.clone(), String::from)
}

/// The most significant digits that tell doubles apart.
const MOST_DIGITS: usize = 17;

/// The value with the fewest digits that are read as this float again.
fn shortest(number: u128, value: f64, ty: Type) -> String {
    let double = format(ty) == Some((11, 52));
    if double || !value.is_finite() || value == 0.0 {
        return plain(format!("{value:?}"));
    }
    // Whatever reads back with some digits does so with more.
    let (mut found, mut low, mut high) = (value, 1, MOST_DIGITS);
    while low < high {
        let digits = (low + high) / 2;
        match with_digits(number, value, digits, ty) {
            Some(shorter) => (found, high) = (shorter, digits),
            None => low = digits + 1,
        }
    }
    plain(format!("{found:?}"))
}

/// A decimal of so many significant digits that is read as this float: the nearest one, or a neighbour of it, since below
/// a power of two the floats are closer to one another than above.
fn with_digits(number: u128, value: f64, digits: usize, ty: Type) -> Option<f64> {
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e')?;
    let mantissa: i64 = mantissa.replace('.', "").parse().ok()?;
    let exponent = exponent.parse::<i32>().ok()? + 1 - digits as i32;
    let mut candidates =
        [0, -1, 1].into_iter().filter_map(|step| format!("{}e{exponent}", mantissa + step).parse().ok());
    candidates.find(|&near: &f64| from_f64(near, ty) == Some(number))
}

/// The nearest value of the type; `None` if it has no decimal form or the value is out of range.
pub fn from_f64(value: f64, ty: Type) -> Option<u128> {
    match (ty.kind, format(ty)) {
        (_, Some((exponent, fraction))) => Some(round(value, exponent, fraction)),
        (Kind::Fixed { fraction }, _) if ty.width <= 128 && value.is_finite() => {
            // Exact: multiplying by a power of two only moves the exponent.
            let scaled = (value * 2f64.powi(fraction as i32)).round();
            let limit = 2f64.powi(ty.width as i32 - 1);
            (-limit <= scaled && scaled < limit).then(|| scaled as i128 as u128 & mask(ty.width))
        }
        _ => None,
    }
}

/// The value as the host's double, if every value of the type is one.
pub fn to_f64(number: u128, ty: Type) -> Option<f64> {
    if let Kind::Fixed { fraction } = ty.kind {
        return (ty.width <= 53).then(|| signed(number, ty.width) as f64 * 2f64.powi(-(fraction as i32)));
    }
    let (exponent, fraction) = format(ty)?;
    let (low, power) = (number & mask(fraction), number >> fraction & mask(exponent));
    let sign = if number >> (ty.width - 1) & 1 == 1 { -1.0 } else { 1.0 };
    let least = 2 - (1 << (exponent - 1)) - fraction as i32;
    Some(match power {
        0 => sign * low as f64 * 2f64.powi(least / 2) * 2f64.powi(least - least / 2),
        p if p == mask(exponent) && low == 0 => sign * f64::INFINITY,
        p if p == mask(exponent) => f64::NAN,
        p => {
            let significand = (low | 1 << fraction) as f64;
            let power = least + p as i32 - 1;
            sign * significand * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
        }
    })
}

/// The bits of exponent and fraction of a float whose every value is a double.
fn format(ty: Type) -> Option<(u32, u32)> {
    let Kind::Float { exponent } = ty.kind else { return None };
    let fraction = (ty.width - 1).checked_sub(exponent)?;
    ((2..=11).contains(&exponent) && (1..=52).contains(&fraction)).then_some((exponent, fraction))
}

/// The nearest float of a format, ties to even, by its bits.
fn round(value: f64, exponent: u32, fraction: u32) -> u128 {
    let sign = u128::from(value.is_sign_negative()) << (exponent + fraction);
    let top = mask(exponent) << fraction;
    if value.is_nan() {
        return top | 1 << (fraction - 1);
    }
    if value.is_infinite() {
        return sign | top;
    }
    let bits = value.abs().to_bits();
    let (power, low) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (significand, power) = if power == 0 { (low, 1) } else { (low | 1 << 52, power) };
    // The lowest bit that is kept, counted from the lowest of the double: of a normal or a denormal result.
    let least = 2 - (1 << (exponent - 1)) - fraction as i32;
    let drop = (52 - fraction as i32).max(least - (power - 1075)).max(0);
    let kept = if drop > 54 { 0 } else { to_even(significand, drop as u32) };
    let first = power - 1075 + drop - least;
    // A normal significand has its hidden bit, which counts one in the exponent; so does a carry out of rounding.
    let magnitude = if kept == 0 { 0 } else { u128::from(kept) + ((first as u128) << fraction) };
    sign | magnitude.min(top)
}

/// The number without its `drop` low bits, rounded to the nearest, ties to even.
fn to_even(number: u64, drop: u32) -> u64 {
    if drop == 0 {
        return number;
    }
    let (kept, rest, half) = (number >> drop, number & ((1 << drop) - 1), 1 << (drop - 1));
    kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
}

/// The farthest that an exponent moves the point.
const FARTHEST: i32 = 999;

/// A decimal number without its exponent.
fn plain_digits(digits: &str) -> Option<Cow<'_, str>> {
    let Some((digits, exponent)) = digits.split_once(['e', 'E']) else { return Some(digits.into()) };
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() <= FARTHEST)?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let (digits, point) = (format!("{whole}{part}"), i32::try_from(whole.len()).ok()?.checked_add(exponent)?);
    let zeros = |count: i32| "0".repeat(count.max(0) as usize);
    let padded = format!("{}{digits}{}", zeros(-point), zeros(point.saturating_sub(i32::try_from(digits.len()).ok()?)));
    let (whole, part) = padded.split_at_checked(point.max(0) as usize).filter(|_| !digits.is_empty())?;
    Some(format!("{whole}.{part}").into())
}

fn parse_fixed(text: &str, width: u32, fraction: u32) -> Option<u128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = &*plain_digits(digits)?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if width > 128 || part.len() > DIGITS || whole.len() + part.len() == 0 || !all_digits(whole) || !all_digits(part) {
        return None;
    }
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u128>().ok() };
    let below = scaled(number(part)?, 10u128.pow(part.len() as u32), fraction);
    let whole = number(whole)?.checked_mul(1u128.checked_shl(fraction)?)?;
    let magnitude = whole.checked_add(below)?;
    let limit = 1u128 << (width - 1);
    let fits = if negative { magnitude <= limit } else { magnitude < limit };
    fits.then_some(if negative { magnitude.wrapping_neg() } else { magnitude } & mask(width))
}

/// `part / unit · 2^fraction`, rounded to the nearest.
fn scaled(mut part: u128, unit: u128, fraction: u32) -> u128 {
    let mut double = || {
        part *= 2;
        let carry = part >= unit;
        part -= if carry { unit } else { 0 };
        u128::from(carry)
    };
    let kept = (0..fraction).fold(0, |bits, _| bits << 1 | double());
    kept + double()
}

fn fixed_text(number: u128, width: u32, fraction: u32) -> String {
    let value = signed(number, width);
    let sign = if value < 0 { "-" } else { "" };
    let magnitude = value.unsigned_abs();
    let whole = magnitude.checked_shr(fraction).unwrap_or(0);
    let mut part = magnitude & mask(fraction);
    let mut digits = String::new();
    // The product by ten is taken in halves: a fraction may fill all 128 bits.
    while part != 0 {
        let (high, low) = ((part >> 64) * 10, (part & mask(64)) * 10);
        let (sum, over) = (high << 64).overflowing_add(low);
        let top = (high >> 64) + u128::from(over);
        let digit = if fraction == 128 { top } else { sum >> fraction | top << (128 - fraction) };
        digits.push(char::from(b'0' + digit as u8));
        part = sum & mask(fraction);
    }
    if digits.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{digits}") }
}

fn signed(number: u128, width: u32) -> i128 {
    (number << (128 - width)) as i128 >> (128 - width)
}

fn mask(count: u32) -> u128 {
    1u128.checked_shl(count).map_or(u128::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float(exponent: u32, fraction: u32) -> Type {
        Type { kind: Kind::Float { exponent }, width: 1 + exponent + fraction }
    }

    fn fixed(width: u32, fraction: u32) -> Type {
        Type { kind: Kind::Fixed { fraction }, width }
    }

    fn again(from: &str, ty: Type) -> Option<String> {
        text(parse(from, ty)?, ty)
    }

    #[test]
    fn values_are_read_and_written() {
        let (half, brain, single, double) = (float(5, 10), float(8, 7), float(8, 23), float(11, 52));
        for (ty, from, to) in [
            (half, "65504", Some("65500")),
            (half, "65520", Some("inf")),
            (half, "-1e-8", Some("-0")),
            (half, "5.960464477539063e-8", Some("6e-8")),
            (half, "0.1", Some("0.1")),
            (half, "nan", Some("NaN")),
            (brain, "1.00390625", Some("1")),
            (brain, "1.01171875", Some("1.016")),
            (brain, "3e38", Some("3e38")),
            (single, "0.1", Some("0.1")),
            (single, "16777216", Some("16777216")),
            (single, "1e-45", Some("1e-45")),
            (single, "-inf", Some("-inf")),
            (float(9, 32), "0.1", Some("0.1")),
            (double, "-0.1", Some("-0.1")),
            (double, "1e300", Some("1e300")),
            (double, "-1.7976931348623157e308", Some("-1.7976931348623157e308")),
            (double, "1e400", Some("inf")),
            (single, "one", None),
            (fixed(32, 16), "-1.5", Some("-1.5")),
            (fixed(32, 16), "0.00001", Some("0.0000152587890625")),
            (fixed(32, 16), "32767.9999999", None),
            (fixed(32, 16), "-32768", Some("-32768")),
            (fixed(8, 8), ".4999", None),
            (fixed(8, 8), "0.498", Some("0.49609375")),
            (
                fixed(128, 100),
                "1.0000000000000000000000000000008",
                Some(
                    "1.0000000000000000000000000000007888609052210118054117285652827862296732064351090230047702789306640625",
                ),
            ),
            (fixed(32, 16), "1.5e-1", Some("0.149993896484375")),
            (fixed(32, 16), "-3.2768e+4", Some("-32768")),
            (fixed(32, 16), "+25E-2", Some("0.25")),
            (fixed(32, 16), ".5e0", Some("0.5")),
            (fixed(32, 16), "5e1", Some("50")),
            (fixed(32, 16), "e5", None),
            (fixed(32, 16), ".e5", None),
            (fixed(32, 16), "1e", None),
            (fixed(32, 16), "1e5", None),
            (fixed(32, 16), "1e1e1", None),
            (fixed(32, 16), "1e9999999999", None),
            (fixed(32, 16), "é5e-1", None),
            (fixed(32, 16), "-+5", None),
            (fixed(8, 4), "1..2", None),
            (fixed(8, 4), "", None),
        ] {
            let came = again(from, ty);
            assert_eq!(came.as_deref(), to, "{from} as {ty}");
        }
    }

    /// Significant digits of a text.
    fn digits(text: &str) -> usize {
        let mantissa = text.split('e').next().unwrap();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').len().max(1)
    }

    #[test]
    fn no_decimal_with_fewer_digits_is_read_as_the_same_float() {
        // Every half float, against every decimal of fewer digits in its neighbourhood.
        let half = float(5, 10);
        for number in 1..0x7c00 {
            let (value, written) = (to_f64(number, half).unwrap(), text(number, half).unwrap());
            assert!(written.len() <= 11, "{written}");
            assert_eq!(parse(&written, half).unwrap(), number, "{written}");
            for fewer in 1..digits(&written) {
                let unit = 10f64.powi(value.log10().floor() as i32 + 1 - fewer as i32);
                for near in [(value / unit).floor(), (value / unit).ceil()] {
                    assert_ne!(from_f64(near * unit, half).unwrap(), number, "{written}, {near}·{unit}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn singles_and_doubles_are_written_as_short_as_the_host_s(value: u64) {
            // The host's exponent form has the fewest digits.
            let (double, single) = (f64::from_bits(value), f32::from_bits(value as u32));
            prop_assert_eq!(digits(&text(value.into(), float(11, 52)).unwrap()), digits(&format!("{double:e}")));
            prop_assert_eq!(digits(&text(single.to_bits().into(), float(8, 23)).unwrap()), digits(&format!("{single:e}")));
            prop_assert!(text(value.into(), float(11, 52)).unwrap().len() <= 24);
            let again = text(value.into(), float(11, 52)).unwrap().parse::<f64>().unwrap();
            prop_assert!(double.is_nan() || again.to_bits() == value);
            let again = text(single.to_bits().into(), float(8, 23)).unwrap().parse::<f32>().unwrap();
            prop_assert!(single.is_nan() || again.to_bits() == value as u32);
        }

        #[test]
        fn singles_and_doubles_are_the_host_s(value: u64) {
            let double = f64::from_bits(value);
            let bits = from_f64(double, float(11, 52)).unwrap();
            prop_assert!(double.is_nan() || bits == value.into());
            prop_assert!(double.is_nan() || to_f64(value.into(), float(11, 52)).unwrap().to_bits() == value);
            let single = from_f64(double, float(8, 23)).unwrap();
            prop_assert!(double.is_nan() || single == (double as f32).to_bits().into());
            let small = f32::from_bits(value as u32);
            prop_assert!(small.is_nan() || to_f64(small.to_bits().into(), float(8, 23)) == Some(small.into()));
        }

        #[test]
        fn every_float_is_read_as_it_is_written(exponent in 2u32..=11, fraction in 1u32..=52, value: u64) {
            let ty = float(exponent, fraction);
            let value = u128::from(value) & mask(ty.width);
            let host = to_f64(value, ty).unwrap();
            prop_assert!(host.is_nan() || from_f64(host, ty).unwrap() == value);
            let written = text(value, ty).unwrap();
            prop_assert!(host.is_nan() || parse(&written, ty).unwrap() == value, "{}", written);
        }

        #[test]
        fn every_fixed_point_number_is_read_as_it_is_written(width in 1u32..=120, fraction in 0u32..=37, value: u128) {
            let ty = fixed(width, fraction.min(width));
            let value = value & mask(width);
            let written = text(value, ty).unwrap();
            prop_assert_eq!(parse(&written, ty), Some(value), "{}", written);
            if let Some(host) = to_f64(value, ty) {
                prop_assert_eq!(from_f64(host, ty).unwrap(), value);
            }
        }
    }
}

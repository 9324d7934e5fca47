//! Decimal numbers as integers: times a power of ten, exactly.

use crate::lane::Number;

/// The most digits after the point: the numbers are below 10^38 and fit into 128 bits.
pub(crate) const MOST_DIGITS: u32 = 38;

/// Reads a decimal number times 10^`scale`. Digits beyond the scale are zeros.
pub(crate) fn parse(text: &str, scale: u32) -> Option<Number> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let point = digits.iter().position(|&byte| byte == b'.').unwrap_or(digits.len());
    let (whole, part) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let (part, beyond) = part.split_at(part.len().min(scale as usize));
    if beyond.iter().any(|&digit| digit != b'0') {
        return None;
    }
    let number = whole.iter().chain(part).copied().try_fold(0u128, append)?;
    let magnitude = number.checked_mul(10u128.checked_pow(scale - part.len() as u32)?)?;
    Some(Number::new(negative, magnitude))
}

fn append(number: u128, digit: u8) -> Option<u128> {
    digit.is_ascii_digit().then_some(())?;
    number.checked_mul(10)?.checked_add((digit - b'0').into())
}

/// `digits` · 10^-`from` as a number times 10^`to`, if it is a whole one.
pub(crate) fn rescale(digits: i128, from: i32, to: u32) -> Option<i128> {
    let shift = i64::from(to) - i64::from(from);
    if shift == 0 {
        return Some(digits);
    }
    let power = 10i128.checked_pow(u32::try_from(shift.abs()).ok()?);
    match power {
        _ if digits == 0 => Some(0),
        Some(power) if shift > 0 => digits.checked_mul(power),
        Some(power) if digits % power == 0 => Some(digits / power),
        _ => None,
    }
}

/// Writes an integer divided by 10^`scale`.
pub(crate) fn text(integer: &str, scale: u32) -> String {
    if scale == 0 {
        return integer.into();
    }
    let (sign, digits) = integer.strip_prefix('-').map_or(("", integer), |digits| ("-", digits));
    let digits = format!("{digits:0>width$}", width = scale as usize + 1);
    let (whole, part) = digits.split_at(digits.len() - scale as usize);
    format!("{sign}{whole}.{part}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, scale: u32) -> Option<i128> {
        parse(text, scale).map(|number| number.to_string().parse().unwrap())
    }

    #[test]
    fn every_digit_counts() {
        for (text, scale, expected) in [
            ("12.34", 2, Some(1234)),
            ("12.3", 2, Some(1230)),
            ("12", 2, Some(1200)),
            ("-0.05", 2, Some(-5)),
            ("+.5", 1, Some(5)),
            ("5.", 1, Some(50)),
            ("-0", 2, Some(0)),
            ("1.2300", 2, Some(123)),
            ("1.235", 2, None),
            ("1.23", 0, None),
            ("7.000", 0, Some(7)),
            ("", 2, None),
            (".", 2, None),
            ("-", 2, None),
            ("1,5", 2, None),
            ("1e3", 2, None),
            ("1.2.3", 2, None),
            ("1.2-", 2, None),
            ("--1", 2, None),
            ("٣", 2, None),
            ("99999999999999999999999999999999999999", 0, Some(10i128.pow(38) - 1)),
            ("340282366920938463463374607431768211456", 0, None),
            ("1", 38, Some(10i128.pow(38))),
        ] {
            assert_eq!(read(text, scale), expected, "{text}, {scale}");
        }
    }

    #[test]
    fn a_scale_becomes_another_if_nothing_is_lost() {
        for (digits, from, to, expected) in [
            (1234, 2, 2, Some(1234)),
            (1234, 2, 4, Some(123_400)),
            (1230, 3, 2, Some(123)),
            (1234, 3, 2, None),
            (5, -3, 1, Some(50_000)),
            (1, -40, 0, None),
            (1, 100, 0, None),
            (0, 100, 0, Some(0)),
        ] {
            assert_eq!(rescale(digits, from, to), expected, "{digits}, {from}, {to}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(number: i64, scale in 0u32..=19) {
            prop_assert_eq!(read(&text(&number.to_string(), scale), scale), Some(number.into()));
        }
    }
}

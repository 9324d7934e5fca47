//! Dates and times of ISO 8601, in the proleptic Gregorian calendar, as nanoseconds since 1970-01-01T00:00:00Z.
//!
//! The calendar is counted in years that begin in March, so that a leap day is the last of its year: 146,097 days are 400
//! years, and days since the first of March are ⌊(153 m + 2)/5⌋ + d with m months since March.

use circuit::Type;

/// Nanoseconds of a second, and of a day.
pub(crate) const SECOND: i128 = 1_000_000_000;
pub(crate) const DAY: i128 = 86_400 * SECOND;

/// Days of 400 years, and those from 0000-03-01 to 1970-01-01.
const CYCLE: i128 = 146_097;
const TO_1970: i128 = 719_468;

/// What dates and times are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Day,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl Unit {
    pub(crate) fn nanoseconds(self) -> i128 {
        match self {
            Unit::Day => DAY,
            Unit::Second => SECOND,
            Unit::Millisecond => 1_000_000,
            Unit::Microsecond => 1_000,
            Unit::Nanosecond => 1,
        }
    }

    /// How many of this unit that is, if it is a whole number.
    pub(crate) fn count(self, nanoseconds: i128) -> Option<i128> {
        let each = self.nanoseconds();
        (nanoseconds % each == 0).then_some(nanoseconds / each)
    }

    /// Digits after the seconds.
    fn digits(self) -> usize {
        match self {
            Unit::Day | Unit::Second => 0,
            Unit::Millisecond => 3,
            Unit::Microsecond => 6,
            Unit::Nanosecond => 9,
        }
    }
}

/// A description of what is read.
pub(crate) fn expected(unit: Unit, ty: Type) -> String {
    let (what, whole) = match unit {
        Unit::Day => ("a date such as 2024-02-29", "days"),
        Unit::Second => ("a date and a time such as 2024-02-29T12:30:00Z", "seconds"),
        Unit::Millisecond => ("a date and a time such as 2024-02-29T12:30:00.123Z", "milliseconds"),
        Unit::Microsecond => ("a date and a time such as 2024-02-29T12:30:00.123456Z", "microseconds"),
        Unit::Nanosecond => ("a date and a time such as 2024-02-29T12:30:00.123456789Z", "nanoseconds"),
    };
    format!("{what}, whole {whole} in range for {ty}")
}

/// Reads `2024-02-29`, or a date with a time behind `T` or a space: `12:30`, `12:30:59`, `12:30:59.123456789`, and behind
/// that `Z` or an offset such as `+01:00`; without one it is universal time.
pub(crate) fn parse(text: &str) -> Option<i128> {
    let (date, rest) = text.as_bytes().split_at_checked(10)?;
    let midnight = parse_date(date)? * DAY;
    let Some((b'T' | b't' | b' ', time)) = rest.split_first() else {
        return rest.is_empty().then_some(midnight);
    };
    let zone = time.iter().position(|byte| b"Zz+-".contains(byte)).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let time = midnight + parse_time(time.trim_ascii_end())? - parse_zone(zone)?;
    // An offset does not lead beyond the years of four digits.
    (days(1, 1, 1) * DAY..days(10_000, 1, 1) * DAY).contains(&time).then_some(time)
}

fn parse_date(date: &[u8]) -> Option<i128> {
    let &[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0] = date else { return None };
    let [year, month, day] = [number(&[y3, y2, y1, y0])?, number(&[m1, m0])?, number(&[d1, d0])?];
    let exists = year >= 1 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    exists.then(|| days(year, month, day))
}

fn parse_time(time: &[u8]) -> Option<i128> {
    let &[h1, h0, b':', m1, m0, ref rest @ ..] = time else { return None };
    let (seconds, fraction) = match rest {
        [] => (0, 0),
        &[b':', s1, s0] => (number(&[s1, s0])?, 0),
        &[b':', s1, s0, b'.', ref digits @ ..] => (number(&[s1, s0])?, parse_fraction(digits)?),
        _ => return None,
    };
    let [hours, minutes] = [number(&[h1, h0])?, number(&[m1, m0])?];
    let exists = hours < 24 && minutes < 60 && seconds < 60;
    exists.then_some((hours * 3600 + minutes * 60 + seconds) * SECOND + fraction)
}

/// Nanoseconds of the digits behind the point; what is finer is refused.
fn parse_fraction(digits: &[u8]) -> Option<i128> {
    let (digits, finer) = digits.split_at(digits.len().min(9));
    let exact = !digits.is_empty() && finer.iter().all(|&digit| digit == b'0');
    exact.then_some(number(digits)? * 10i128.pow(9 - digits.len() as u32))
}

/// The offset from universal time.
fn parse_zone(zone: &[u8]) -> Option<i128> {
    let (sign, hours, minutes) = match *zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [sign, h1, h0] => (sign, [h1, h0], [b'0'; 2]),
        [sign, h1, h0, m1, m0] | [sign, h1, h0, b':', m1, m0] => (sign, [h1, h0], [m1, m0]),
        _ => return None,
    };
    let [hours, minutes] = [number(&hours)?, number(&minutes)?];
    let offset = (hours * 3600 + minutes * 60) * SECOND;
    (hours < 24 && minutes < 60).then_some(if sign == b'-' { -offset } else { offset })
}

fn number(digits: &[u8]) -> Option<i128> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i128::from(digit - b'0')))
}

fn days_of(year: i128, month: i128) -> i128 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    cycle * CYCLE + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - TO_1970
}

/// Year, month and day.
fn date(days: i128) -> Option<(i128, i128, i128)> {
    let days = days.checked_add(TO_1970)?;
    let (cycle, day) = (days.div_euclid(CYCLE), days.rem_euclid(CYCLE));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year;
    Some(if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) })
}

/// So many of a unit as a date, or as a date and a time, if they have one that can be counted. Years beyond four digits have
/// their sign.
pub(crate) fn text(count: i128, unit: Unit) -> Option<String> {
    let of_a_day = DAY / unit.nanoseconds();
    let (days, part) = (count.div_euclid(of_a_day), count.rem_euclid(of_a_day) * unit.nanoseconds());
    let (year, month, day) = date(days)?;
    let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+}") };
    if unit == Unit::Day {
        return Some(format!("{year}-{month:02}-{day:02}"));
    }
    let (seconds, fraction) = (part / SECOND, format!("{:09}", part % SECOND));
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let point = if unit.digits() == 0 { "" } else { "." };
    let fraction = &fraction[..unit.digits()];
    Some(format!("{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}{point}{fraction}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `(datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)` in Python.
    #[test]
    fn dates_and_times_are_python_s() {
        for (text, microseconds) in [
            ("1970-01-01", 0),
            ("0001-01-01", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999", 253_402_300_799_999_999),
            ("1969-12-31 23:59:59", -1_000_000),
            ("2000-02-29", 951_782_400_000_000),
            ("1900-02-28", -2_203_977_600_000_000),
            ("2024-02-29T12:30", 1_709_209_800_000_000),
            ("2024-02-29T12:30:15.25+05:30", 1_709_190_015_250_000),
            ("2024-02-29 12:30:15-0800", 1_709_238_615_000_000),
            ("2024-02-29 12:30:15+00:00", 1_709_209_815_000_000),
            ("2038-01-19T03:14:07Z", 2_147_483_647_000_000),
        ] {
            assert_eq!(parse(text), Some(microseconds * 1000), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2024",
            "2024-2-29",
            "20240229",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "2024-13-01",
            "2024-00-01",
            "0000-01-01",
            "2024-01-00",
            "2024-01-01x",
            "2024-01-01T",
            "2024-01-01T12",
            "2024-01-01T24:00",
            "2024-01-01T12:60",
            "2024-01-01T12:30:60",
            "2024-01-01T12:30:00.",
            "2024-01-01T12:30:00.0000000001",
            "2024-01-01T12:30:00+1",
            "2024-01-01T12:30:00+24:00",
            "2024-01-01+01:00",
            "29.02.2024",
            "2024-01-0١",
            "+024-01-01",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:00:00-01:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_count_has_no_remainder() {
        assert_eq!(Unit::Day.count(-DAY), Some(-1));
        assert_eq!(Unit::Day.count(DAY + 1), None);
        assert_eq!(Unit::Millisecond.count(SECOND + 1000), None);
        assert_eq!(text(-1, Unit::Millisecond).unwrap(), "1969-12-31T23:59:59.999Z");
        assert_eq!(text(253_402_300_800, Unit::Second).unwrap(), "+10000-01-01T00:00:00Z");
    }

    /// Day after day, by the lengths of months alone.
    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for count in days(1, 1, 1)..=days(3000, 12, 31) {
            assert_eq!((date(count).unwrap(), days(year, month, day)), ((year, month, day), count));
            day += 1;
            if day > days_of(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(count in -62_135_596_800i64..253_402_300_800, unit in 0..5usize) {
            let unit = [Unit::Day, Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond][unit];
            let count = unit.count(i128::from(count) / 86_400 * DAY).unwrap() + i128::from(unit != Unit::Day);
            prop_assert_eq!(parse(&text(count, unit).unwrap()).and_then(|time| unit.count(time)), Some(count));
        }
    }
}

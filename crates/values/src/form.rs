//! How the values of a column are written.

use crate::instant::Unit;
use crate::{Error, Result, decimal};
use circuit::{Kind, Type};
use std::str::FromStr;

/// How the values of a column are written, where the type of the port does not say it all.
///
/// As text its parts are joined by `:`, in any order but for the last:
///
/// | part | values |
/// |---|---|
/// | `decimal(2)` | decimal numbers, of which the port has a hundred times as much, exactly: for integers |
/// | `date` | ISO 8601 dates, as days since 1970-01-01: for integers |
/// | `time(s)`, `time(ms)`, `time(us)`, `time(ns)` | ISO 8601 dates and times, as so many of the unit since 1970-01-01T00:00:00Z: for integers |
/// | `text` | UTF-8 without zero bytes, filled up with zero bytes: for `bits` of whole bytes |
/// | a type, such as `uint(32)` | words of this type: as many rows as fit into the port are one lane |
/// | `null=VALUE` | what an empty cell stands for; else it is refused |
///
/// ```
/// let form: values::Form = "decimal(2):uint(32):null=0".parse()?;
/// assert!("decimal(100)".parse::<values::Form>().is_err());
/// # Ok::<(), values::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    pub(crate) notation: Notation,
    /// The type of a row, if it is not that of the port.
    pub(crate) word: Option<Type>,
    /// What an empty cell stands for.
    pub(crate) empty: Option<String>,
}

/// The notation of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Notation {
    /// That of the type.
    #[default]
    Plain,
    /// A decimal number with so many digits after the point.
    Decimal(u32),
    /// A date, or a date and a time.
    Instant(Unit),
    /// A string.
    Text,
}

/// What a part of a form may be.
const PARTS: &str = "decimal(DIGITS), date, time(s), time(ms), time(us), time(ns), text, a type, or null=VALUE";

impl FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut form = Form::default();
        let mut rest = Some(text);
        while let Some(text) = rest {
            if let Some(value) = text.strip_prefix("null=") {
                form.empty = Some(value.into());
                break;
            }
            let (part, more) = text.split_once(':').map_or((text, None), |(part, more)| (part, Some(more)));
            form.add(part)?;
            rest = more;
        }
        Ok(form)
    }
}

impl Form {
    fn add(&mut self, part: &str) -> Result<()> {
        let unknown =
            || Error::Usage(format!("'{}' says of no column how it is written: {PARTS}", part.escape_debug()));
        let twice = || Error::Usage(format!("'{}' comes after something else of its kind", part.escape_debug()));
        match notation(part) {
            Some(notation) if self.notation == Notation::Plain => self.notation = notation,
            Some(_) => return Err(twice()),
            None if self.word.is_some() => return Err(twice()),
            None => self.word = Some(part.parse().map_err(|_| unknown())?),
        }
        Ok(())
    }

    /// The type of a row of a port of this type.
    pub(crate) fn word(&self, port: Type) -> Result<Type> {
        let word = self.word.unwrap_or(port);
        if !port.width.is_multiple_of(word.width) {
            let why = format!("a port of {port} is no whole number of words of {word}");
            return Err(Error::Usage(why));
        }
        let integer = matches!(word.kind, Kind::UInt | Kind::Int) && word.width <= 128;
        let why = match self.notation {
            Notation::Decimal(_) if !integer => "decimals are integers of at most 128 bits",
            Notation::Instant(_) if !integer => "dates and times are integers of at most 128 bits",
            Notation::Text if word.kind != Kind::Bits || !word.width.is_multiple_of(8) => "text is bits of whole bytes",
            _ => return Ok(word),
        };
        Err(Error::Usage(format!(
            "{why}, and not {word}: name another type behind it, such as {}",
            example(self, word)
        )))
    }
}

/// A type that a form could have.
fn example(form: &Form, word: Type) -> Type {
    let kind = if form.notation == Notation::Text { Kind::Bits } else { Kind::UInt };
    let width = if kind == Kind::Bits { word.width.next_multiple_of(8) } else { word.width.min(64) };
    Type { kind, width }
}

fn notation(part: &str) -> Option<Notation> {
    Some(match part {
        "text" => Notation::Text,
        "date" => Notation::Instant(Unit::Day),
        "time(s)" => Notation::Instant(Unit::Second),
        "time(ms)" => Notation::Instant(Unit::Millisecond),
        "time(us)" => Notation::Instant(Unit::Microsecond),
        "time(ns)" => Notation::Instant(Unit::Nanosecond),
        _ => {
            let digits = part.strip_prefix("decimal(")?.strip_suffix(')')?.parse().ok()?;
            (digits <= decimal::MOST_DIGITS).then_some(Notation::Decimal(digits))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use circuit::{bits, int, uint};

    fn form(notation: Notation, word: Option<Type>, empty: Option<&str>) -> Form {
        Form { notation, word, empty: empty.map(String::from) }
    }

    #[test]
    fn parts_come_in_any_order() {
        let (decimal, seconds) = (Notation::Decimal(2), Notation::Instant(Unit::Second));
        for (text, expected) in [
            ("decimal(2)", form(decimal, None, None)),
            ("decimal(2):int(32)", form(decimal, Some(int(32)), None)),
            ("int(32):decimal(2)", form(decimal, Some(int(32)), None)),
            ("date:null=1970-01-01", form(Notation::Instant(Unit::Day), None, Some("1970-01-01"))),
            ("time(s):null=2024-01-01T00:00:00", form(seconds, None, Some("2024-01-01T00:00:00"))),
            ("text:null=", form(Notation::Text, None, Some(""))),
            ("bit", form(Notation::Plain, Some(bits(1)), None)),
        ] {
            assert_eq!(text.parse::<Form>().unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "decimal",
            "decimal(39)",
            "decimal(-1)",
            "time(h)",
            "text:date",
            "uint(8):uint(8)",
            "null",
            "uint(0)",
            "text:",
        ] {
            assert!(matches!(text.parse::<Form>(), Err(Error::Usage(_))), "{text}");
        }
    }

    #[test]
    fn forms_fit_types() {
        let word = |text: &str, port| text.parse::<Form>().unwrap().word(port).map_err(|why| why.to_string());
        assert_eq!(word("uint(32)", bits(512)).unwrap(), uint(32));
        assert_eq!(word("decimal(2)", uint(32)).unwrap(), uint(32));
        assert!(word("uint(24)", bits(512)).unwrap_err().contains("no whole number of words of uint(24)"));
        assert!(
            word("decimal(2)", bits(32))
                .unwrap_err()
                .contains("not bits(32): name another type behind it, such as uint(32)")
        );
        assert!(word("date", uint(256)).unwrap_err().contains("at most 128 bits"));
        assert!(word("text", bits(12)).unwrap_err().contains("such as bits(16)"));
        assert!(word("text", uint(16)).is_err());
    }
}

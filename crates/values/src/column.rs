//! A column that is read cell by cell, under its form.

use crate::form::{Form, Notation};
use crate::lane::{self, Number};
use crate::rows::Rows;
use crate::{Error, Result, counted, decimal, instant, real, words};
use circuit::{BitMatrix, Kind, Type};

/// A column that is wanted of a table.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its name.
    pub column: &'a str,
    /// The type of the port that it fills.
    pub ty: Type,
    /// How its values are written.
    pub form: &'a Form,
}

impl Wanted<'_> {
    /// How many rows a lane of the port takes: more than one where the form names a word that is shorter.
    ///
    /// # Errors
    /// [`Error::Usage`] if the form does not fit the type.
    pub fn rows_of_lane(&self) -> Result<u64> {
        Ok((self.ty.width / self.form.word(self.ty)?.width).into())
    }
}

/// A value as a file has it.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))] // CSV has text alone
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
    /// None.
    Empty,
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Number(Number),
    Real(f64),
    Single(f32),
    /// Digits, and how many of them are behind the point.
    Decimal(i128, i32),
    /// Nanoseconds since 1970.
    Instant(i128),
}

/// A column that is being filled.
pub(crate) struct Column<'a> {
    wanted: Wanted<'a>,
    word: Type,
    rows: Rows,
    /// The bytes of an empty cell.
    empty: Option<Vec<u8>>,
}

impl<'a> Column<'a> {
    pub fn new(wanted: Wanted<'a>) -> Result<Self> {
        let word = wanted.form.word(wanted.ty)?;
        let mut column = Column { wanted, word, rows: Rows::new(word), empty: None };
        if let Some(value) = &wanted.form.empty {
            let mut bytes = vec![0; word.width.div_ceil(8) as usize];
            let put = put_text(value.as_bytes(), wanted.form.notation, word, &mut bytes);
            put.ok_or_else(|| {
                Error::Usage(format!("null='{}': expected {}", value.escape_debug(), column.expected()))
            })?;
            column.empty = Some(bytes);
        }
        Ok(column)
    }

    pub fn name(&self) -> &'a str {
        self.wanted.column
    }

    fn is_empty(&self, text: &[u8]) -> bool {
        text.is_empty() || self.wanted.form.notation != Notation::Text && text.trim_ascii().is_empty()
    }

    /// Takes a cell, of which text may be empty, or says what was expected.
    pub fn push(&mut self, cell: Cell<'_>) -> std::result::Result<(), String> {
        let cell = match cell {
            Cell::Text(text) if self.is_empty(text) => Cell::Empty,
            cell => cell,
        };
        let (word, notation, empty) = (self.word, self.wanted.form.notation, &self.empty);
        let put = self.rows.push(|to| match cell {
            Cell::Empty => empty.as_ref().map(|bytes| to.copy_from_slice(bytes)),
            Cell::Text(text) => put_text(text, notation, word, to),
            cell => put(cell, notation, word, to),
        });
        put.ok_or_else(|| match cell {
            Cell::Empty => format!("{}, not an empty cell: null=VALUE says what those stand for", self.expected()),
            _ => self.expected(),
        })
    }

    /// A description of its values.
    fn expected(&self) -> String {
        let word = self.word;
        match self.wanted.form.notation {
            Notation::Plain => lane::expected(word),
            Notation::Decimal(scale) => {
                format!(
                    "a decimal number with at most {} after the point, in range for {word}",
                    counted(scale, "digit")
                )
            }
            Notation::Instant(unit) => instant::expected(unit, word),
            Notation::Text => format!("UTF-8 text of at most {}, none of them zero", counted(word.width / 8, "byte")),
        }
    }

    /// The lanes of the port.
    pub fn finish(self, file: &str) -> Result<BitMatrix> {
        words::join(self.rows.finish(), self.wanted.ty.width).map_err(|why| Error::Malformed {
            file: file.into(),
            why: format!("column '{}' has {why}", self.wanted.column),
        })
    }
}

fn put_text(text: &[u8], notation: Notation, word: Type, to: &mut [u8]) -> Option<()> {
    let utf8 = || str::from_utf8(text).ok();
    match notation {
        Notation::Plain => lane::put(utf8()?, word, to),
        Notation::Decimal(scale) => decimal::parse(utf8()?.trim(), scale)?.put(word, to),
        Notation::Instant(unit) => put_count(unit.count(instant::parse(utf8()?.trim())?)?, word, to),
        Notation::Text => {
            let fits = text.len() <= to.len() && !text.contains(&0) && utf8().is_some();
            fits.then(|| to[..text.len()].copy_from_slice(text))
        }
    }
}

fn put_count(count: i128, word: Type, to: &mut [u8]) -> Option<()> {
    Number::from(count).put(word, to)
}

/// Puts a cell that is no text.
fn put(cell: Cell<'_>, notation: Notation, word: Type, to: &mut [u8]) -> Option<()> {
    match (notation, cell) {
        (Notation::Plain, Cell::Bytes(bytes)) => {
            let fits = word.kind == Kind::Bits && word.width as usize == 8 * bytes.len();
            fits.then(|| to.copy_from_slice(bytes))
        }
        (Notation::Plain, Cell::Number(number)) => put_plain(number, word, to),
        (Notation::Plain, Cell::Real(value)) => real::from_f64(value, word).map(|number| lane::put_number(number, to)),
        (Notation::Plain, Cell::Decimal(digits, scale)) => put_decimal(digits, scale, word, to),
        (Notation::Decimal(scale), Cell::Number(number)) => number.times(10u128.checked_pow(scale)?)?.put(word, to),
        (Notation::Decimal(scale), Cell::Decimal(digits, from)) => {
            put_count(decimal::rescale(digits, from, scale)?, word, to)
        }
        (Notation::Plain, Cell::Single(value)) => put(Cell::Real(value.into()), notation, word, to),
        // As it would be written: the shortest decimal that is this float and no other.
        (Notation::Decimal(scale), Cell::Real(value)) => decimal::parse(&value.to_string(), scale)?.put(word, to),
        (Notation::Decimal(scale), Cell::Single(value)) => decimal::parse(&value.to_string(), scale)?.put(word, to),
        (Notation::Instant(unit), Cell::Instant(time)) => put_count(unit.count(time)?, word, to),
        _ => None,
    }
}

/// Puts a decimal number: what is no real number takes those of a type without digits after the point.
fn put_decimal(digits: i128, scale: i32, word: Type, to: &mut [u8]) -> Option<()> {
    if !matches!(word.kind, Kind::Float { .. } | Kind::Fixed { .. }) {
        let whole = (scale <= 0).then(|| decimal::rescale(digits, scale, 0)).flatten()?;
        return put_plain(whole.into(), word, to);
    }
    let zeros = "0".repeat(scale.min(0).unsigned_abs() as usize);
    let text = decimal::text(&format!("{digits}{zeros}"), scale.max(0) as u32);
    real::parse(&text, word).map(|number| lane::put_number(number, to))
}

/// Puts an integer: of bits it takes those that are a single one.
pub(crate) fn put_plain(number: Number, word: Type, to: &mut [u8]) -> Option<()> {
    match word.kind {
        Kind::UInt | Kind::Int => number.put(word, to),
        Kind::Bits if word.width == 1 => number.put(word, to),
        Kind::Bits => None,
        Kind::Float { .. } | Kind::Fixed { .. } => {
            real::parse(&number.to_string(), word).map(|number| lane::put_number(number, to))
        }
    }
}

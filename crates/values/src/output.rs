//! Values as files: CSV, JSON, npy and, with the feature `parquet`, Parquet and Arrow.

use crate::form::Notation;
use crate::{Error, Form, Result, csv, decimal, instant, lane, words};
#[cfg(feature = "parquet")]
use circuit::Kind;
use circuit::{BitMatrix, Type};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::{self, Write};

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A table with a header.
    Csv,
    /// An object with an array for each column.
    Json,
    /// A Parquet file, compressed by Snappy.
    Parquet,
    /// An Arrow IPC file, also known as Feather.
    Arrow,
}

impl Format {
    /// The format that the name of a file says; CSV if none.
    pub fn of(file: &str) -> Format {
        match file.rsplit('.').next().map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Format::Json,
            Some("parquet") => Format::Parquet,
            Some("arrow" | "feather") => Format::Arrow,
            _ => Format::Csv,
        }
    }

    /// Whether this build reads and writes it.
    ///
    /// # Errors
    /// [`Error::Usage`] if it does not.
    pub fn available(self) -> Result<()> {
        let needs_feature = matches!(self, Format::Parquet | Format::Arrow);
        if needs_feature && !cfg!(feature = "parquet") {
            return Err(Error::Usage(NO_PARQUET.into()));
        }
        Ok(())
    }
}

const NO_PARQUET: &str = "this build has no Parquet and no Arrow: build with --features parquet, or use CSV";

/// A column that is to be written, from the lanes of a port.
#[derive(Clone, Debug)]
pub struct Written<'a> {
    pub(crate) name: &'a str,
    pub(crate) notation: Notation,
    pub(crate) word: Type,
    pub(crate) words: Cow<'a, BitMatrix>,
}

impl<'a> Written<'a> {
    /// The column `name` with the lanes of a port of type `ty`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the form does not fit the type.
    pub fn new(name: &'a str, lanes: &'a BitMatrix, ty: Type, form: &Form) -> Result<Self> {
        let word = form.word(ty)?;
        let words =
            if word.width == ty.width { Cow::Borrowed(lanes) } else { Cow::Owned(words::split(lanes, word.width)) };
        Ok(Written { name, notation: form.notation, word, words })
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn rows(&self) -> usize {
        self.words.lanes()
    }

    /// The rows of integers of at most 128 bits; an error if one is 2^127 or more.
    #[cfg(feature = "parquet")]
    pub(crate) fn integers(&self) -> io::Result<Vec<i128>> {
        if self.word.kind == Kind::Int {
            return self.words.to_numbers().map_err(io::Error::other);
        }
        let numbers = self.words.to_numbers::<u128>().map_err(io::Error::other)?;
        numbers.into_iter().map(|number| number.try_into().map_err(io::Error::other)).collect()
    }

    /// A cell as text.
    pub(crate) fn text(&self, row: usize) -> String {
        let plain = || lane::text(&self.words, row, self.word);
        match self.notation {
            Notation::Plain => plain(),
            Notation::Decimal(scale) => decimal::text(&plain(), scale),
            // A number that no date has stays a number.
            Notation::Instant(unit) => {
                plain().parse().ok().and_then(|count| instant::text(count, unit)).unwrap_or_else(plain)
            }
            Notation::Text => String::from_utf8_lossy(&self.bytes(row)).trim_end_matches('\0').into(),
        }
    }

    /// The bytes of a row.
    fn bytes(&self, row: usize) -> Vec<u8> {
        let byte = |k| lane::low(8, |i| self.words.get(8 * k + i, row)) as u8;
        (0..self.words.rows() / 8).map(byte).collect()
    }

    fn json(&self, row: usize) -> Value {
        match self.notation {
            Notation::Plain => lane::json(&self.words, row, self.word),
            _ => self.text(row).into(),
        }
    }
}

/// Checks that columns which come from ports of these types and lanes make up a table.
///
/// # Errors
/// [`Error::Usage`] if they have not as many rows, or a name comes twice.
pub fn check_columns<'a>(columns: impl IntoIterator<Item = (&'a str, Type, u64, &'a Form)>) -> Result<()> {
    let mut known: Vec<(&str, u64)> = Vec::new();
    for (name, ty, lanes, form) in columns {
        let rows = lanes * u64::from(ty.width / form.word(ty)?.width);
        if known.iter().any(|(other, _)| *other == name) {
            return Err(Error::Usage(format!("two columns are named '{name}'")));
        }
        if let Some((other, others)) = known.first().filter(|(_, others)| *others != rows) {
            let why = format!("the columns of a table have {others} rows in '{other}' and {rows} in '{name}'");
            return Err(Error::Usage(why));
        }
        known.push((name, rows));
    }
    Ok(())
}

/// Writes a table of columns that have as many rows.
///
/// # Errors
/// What the system says; or that this build does not have the format.
pub fn write(columns: &[Written<'_>], format: Format, to: impl Write) -> io::Result<()> {
    let rows = columns.first().map_or(0, |column| column.words.lanes());
    if columns.iter().any(|column| column.words.lanes() != rows) {
        return Err(io::Error::other("the columns of a table have unlike numbers of rows"));
    }
    match format {
        Format::Csv => {
            let header: Vec<&str> = columns.iter().map(|column| column.name).collect();
            csv::write(&header, rows, |column, row| columns[column].text(row), to)
        }
        Format::Json => write_json(columns, rows, to),
        #[cfg(feature = "parquet")]
        Format::Parquet => crate::parquet::write(columns, to),
        #[cfg(feature = "parquet")]
        Format::Arrow => crate::arrow::write(columns, to),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => Err(io::Error::other(NO_PARQUET)),
    }
}

fn write_json(columns: &[Written<'_>], rows: usize, mut to: impl Write) -> io::Result<()> {
    let values = |column: &Written<'_>| (0..rows).map(|row| column.json(row)).collect::<Vec<_>>();
    let table: Map<_, _> = columns.iter().map(|column| (column.name.into(), values(column).into())).collect();
    serde_json::to_writer(&mut to, &table)?;
    to.write_all(b"\n")
}

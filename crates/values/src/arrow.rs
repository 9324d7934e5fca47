//! Arrow IPC files.

use crate::arrays::{Refused, push};
use crate::column::{Column, Wanted};
use crate::csv::ALL;
use crate::form::Notation;
use crate::instant::Unit;
use crate::output::Written;
use crate::{Error, Place, Result, real};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use circuit::{BitMatrix, Kind};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Reads columns of an Arrow IPC file as [`csv::columns`](crate::csv::columns) does; places are rows, counted from 0.
///
/// # Errors
/// As there.
pub fn columns(from: impl Read + Seek, file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>> {
    columns_of_rows(from, file, wanted, ALL)
}

/// Reads some of the rows, counted from 0; fewer where the file has fewer. A part of the file is in memory at a time.
///
/// # Errors
/// As [`columns`].
pub fn columns_of_rows(
    mut from: impl Read + Seek,
    file: &str,
    wanted: &[Wanted<'_>],
    rows: Range<u64>,
) -> Result<Vec<Option<BitMatrix>>> {
    guarded(file, || {
        let source = Source { file, length: length_of(&mut from, file)? };
        let reader = FileReader::try_new(io::BufReader::new(from), None).map_err(|why| failed(file, why))?;
        let chosen = choose(&reader.schema(), file, wanted)?;
        let reader = reader.map(|batch| batch.map_err(|why| failed(file, why)));
        fill(reader, source, wanted, &chosen, 0, rows)
    })
}

/// How many rows a file has.
///
/// # Errors
/// [`Error::Malformed`] if it is no Arrow IPC file.
pub fn rows(from: impl Read + Seek, file: &str) -> Result<u64> {
    guarded(file, || {
        let reader = FileReader::try_new(io::BufReader::new(from), Some(vec![])).map_err(|why| failed(file, why))?;
        let counts = reader.map(|batch| batch.map(|batch| batch.num_rows() as u64).map_err(|why| failed(file, why)));
        counts.sum()
    })
}

/// Runs a reader of Arrow, which panics on some damaged files where it should fail. Nothing that it left half done is used. (Of a
/// compressed file it believes how long it becomes: a damaged number may ask for more memory than there is.)
pub(crate) fn guarded<T>(file: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let came = panic::catch_unwind(AssertUnwindSafe(read));
    came.unwrap_or_else(|_| Err(Error::malformed(file, "it is damaged: its reader gave up")))
}

pub(crate) fn failed(file: &str, why: ArrowError) -> Error {
    match why {
        ArrowError::IoError(_, why) => Error::read(file)(why),
        why => Error::malformed(file, why),
    }
}

/// Where the columns are.
pub(crate) fn choose(schema: &Schema, file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<usize>>> {
    let place = |wanted: &Wanted<'_>| {
        let mut fields = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == wanted.column);
        match (fields.next(), fields.next()) {
            (_, Some(_)) => Err(Error::malformed(file, format!("two columns are named '{}'", wanted.column))),
            (field, _) => Ok(field.map(|(place, _)| place)),
        }
    };
    wanted.iter().map(place).collect()
}

/// A file that is read: its name, and its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub file: &'a str,
    pub length: u64,
}

/// Bytes of a column's lanes that a file of any length may have; and so many more for each of its bytes. Nulls, or one value again and
/// again, take next to no bytes of a file.
const FROM_ANY_FILE: u64 = 128 << 20;
const FOR_EACH_BYTE: u64 = 1000;

impl Source<'_> {
    /// Refuses rows of the chosen columns that would take more memory than a file of this length may ask for: a damaged one claims any number
    /// of them.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the rows and the column.
    pub fn check_rows(&self, rows: u64, wanted: &[Wanted<'_>], chosen: &[Option<usize>]) -> Result<()> {
        let chosen = wanted.iter().zip(chosen).filter(|(_, place)| place.is_some());
        chosen.into_iter().try_for_each(|(wanted, _)| {
            let bits = wanted.form.word(wanted.ty)?.width;
            self.check_column(rows, wanted.column, bits.div_ceil(8).into())
        })
    }

    /// The same of one column, of whose rows so many bytes each are kept.
    ///
    /// # Errors
    /// As [`check_rows`](Self::check_rows).
    pub fn check_column(&self, rows: u64, column: &str, bytes_of_row: u64) -> Result<()> {
        let most = FROM_ANY_FILE.saturating_add(self.length.saturating_mul(FOR_EACH_BYTE));
        if rows.saturating_mul(bytes_of_row) <= most {
            return Ok(());
        }
        let why = format!(
            "a file of {} bytes says that it has {rows} rows: column '{column}' would take more than the {most} bytes \
             that are read of such a file; if that is no damage, write it as CSV",
            self.length
        );
        Err(Error::malformed(self.file, why))
    }
}

/// The bytes of a file, from whose beginning it is read then.
pub(crate) fn length_of(from: &mut impl Seek, file: &str) -> Result<u64> {
    let length = from.seek(SeekFrom::End(0)).and_then(|length| from.rewind().map(|()| length));
    length.map_err(Error::read(file))
}

/// Reads the chosen columns, by their names, from batches of which the first begins with row `first`; of these rows alone.
pub(crate) fn fill(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    source: Source<'_>,
    wanted: &[Wanted<'_>],
    chosen: &[Option<usize>],
    mut first: u64,
    rows: Range<u64>,
) -> Result<Vec<Option<BitMatrix>>> {
    let file = source.file;
    if chosen.iter().all(Option::is_none) {
        // Batches without columns have as many rows as the file claims.
        return Ok(chosen.iter().map(|_| None).collect());
    }
    let columns = wanted.iter().zip(chosen).map(|(&wanted, place)| place.map(|_| Column::new(wanted)).transpose());
    let mut columns = columns.collect::<Result<Vec<_>>>()?;
    for batch in batches {
        let batch = batch?;
        let next = first + batch.num_rows() as u64;
        source.check_rows(next.min(rows.end).saturating_sub(rows.start), wanted, chosen)?;
        let skipped = rows.start.saturating_sub(first).min(batch.num_rows() as u64) as usize;
        let left = rows.end.saturating_sub(first).min(batch.num_rows() as u64) as usize;
        let batch = batch.slice(skipped, left.saturating_sub(skipped));
        first += skipped as u64;
        for column in columns.iter_mut().flatten() {
            let name = column.name();
            let missing = || Error::malformed(file, format!("column '{name}' is not in every part"));
            push(batch.column_by_name(name).ok_or_else(missing)?, column).map_err(|why| match why {
                Refused::Type(ty) => {
                    Error::malformed(file, format!("column '{name}' has the type {ty}, which no port takes"))
                }
                Refused::Row(row, expected) => {
                    let (file, row, name) = (Some(file.into()), Some(first + row as u64), Some(name.into()));
                    Error::value(Place { file, row, column: name, ..Place::default() }, expected)
                }
            })?;
        }
        first = next;
        if first >= rows.end {
            break;
        }
    }
    columns.into_iter().map(|column| column.map(|column| column.finish(file)).transpose()).collect()
}

/// Writes an Arrow IPC file.
pub(crate) fn write(columns: &[Written<'_>], to: impl Write) -> io::Result<()> {
    let batch = batch(columns)?;
    let mut writer = FileWriter::try_new(to, &batch.schema()).map_err(io::Error::other)?;
    writer.write(&batch).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

/// All columns.
pub(crate) fn batch(columns: &[Written<'_>]) -> io::Result<RecordBatch> {
    let columns = columns.iter().map(|column| Ok((column.name, array(column)?)));
    RecordBatch::try_from_iter(columns.collect::<io::Result<Vec<_>>>()?).map_err(io::Error::other)
}

/// The most bits of an integer of which every value has 38 digits.
const WIDEST_DECIMAL: u32 = 126;

fn array(column: &Written<'_>) -> io::Result<ArrayRef> {
    match column.notation {
        Notation::Decimal(scale) if column.word.width <= WIDEST_DECIMAL => {
            let array = Decimal128Array::from(column.integers()?).with_precision_and_scale(38, scale as i8);
            Ok(Arc::new(array.map_err(io::Error::other)?))
        }
        Notation::Instant(unit) => {
            let array = column.integers().ok().and_then(|counts| instants(&counts, unit));
            Ok(array.unwrap_or_else(|| texts(column)))
        }
        Notation::Plain => plain(column).map_err(io::Error::other),
        _ => Ok(texts(column)),
    }
}

/// Dates and times, unless one is out of range.
fn instants(counts: &[i128], unit: Unit) -> Option<ArrayRef> {
    if unit == Unit::Day {
        let days = counts.iter().map(|&days| days.try_into().ok()).collect::<Option<Vec<i32>>>()?;
        return Some(Arc::new(Date32Array::from(days)));
    }
    let counts = counts.iter().map(|&count| count.try_into().ok()).collect::<Option<Vec<i64>>>()?;
    Some(match unit {
        Unit::Day | Unit::Second => Arc::new(TimestampSecondArray::from(counts).with_timezone("UTC")),
        Unit::Millisecond => Arc::new(TimestampMillisecondArray::from(counts).with_timezone("UTC")),
        Unit::Microsecond => Arc::new(TimestampMicrosecondArray::from(counts).with_timezone("UTC")),
        Unit::Nanosecond => Arc::new(TimestampNanosecondArray::from(counts).with_timezone("UTC")),
    })
}

fn texts(column: &Written<'_>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values((0..column.rows()).map(|row| column.text(row))))
}

/// The array of the smallest type that holds all values of the column's type.
fn plain(column: &Written<'_>) -> std::result::Result<ArrayRef, Box<dyn std::error::Error + Send + Sync>> {
    let (words, ty) = (&column.words, column.word);
    Ok(match (ty.kind, ty.width) {
        (Kind::Bits, 1) => Arc::new(BooleanArray::from_iter((0..words.lanes()).map(|row| Some(words.get(0, row))))),
        (Kind::UInt, ..=8) => Arc::new(UInt8Array::from(words.to_numbers::<u8>()?)),
        (Kind::UInt, ..=16) => Arc::new(UInt16Array::from(words.to_numbers::<u16>()?)),
        (Kind::UInt, ..=32) => Arc::new(UInt32Array::from(words.to_numbers::<u32>()?)),
        (Kind::UInt, ..=64) => Arc::new(UInt64Array::from(words.to_numbers::<u64>()?)),
        (Kind::Int, ..=8) => Arc::new(Int8Array::from(words.to_numbers::<i8>()?)),
        (Kind::Int, ..=16) => Arc::new(Int16Array::from(words.to_numbers::<i16>()?)),
        (Kind::Int, ..=32) => Arc::new(Int32Array::from(words.to_numbers::<i32>()?)),
        (Kind::Int, ..=64) => Arc::new(Int64Array::from(words.to_numbers::<i64>()?)),
        (Kind::Float { exponent: 8 }, 32) => {
            let bits = words.to_numbers::<u32>()?;
            Arc::new(Float32Array::from_iter_values(bits.into_iter().map(f32::from_bits)))
        }
        (Kind::Float { .. } | Kind::Fixed { .. }, ..=64) if real::to_f64(0, ty).is_some() => {
            let values = words.to_numbers::<u64>()?.into_iter().map(|bits| real::to_f64(bits.into(), ty));
            Arc::new(Float64Array::from_iter(values))
        }
        (Kind::Bits, width) if width.is_multiple_of(8) => {
            let bytes = words.to_byte_rows().into();
            Arc::new(FixedSizeBinaryArray::try_new(width as i32 / 8, bytes, None)?)
        }
        _ => texts(column),
    })
}

//! Arrays of Arrow as columns: of files, and of whoever shares memory by Arrow's C data interface.

use crate::column::{Cell, Column, Wanted};
use crate::form::Notation;
use crate::instant::{DAY, SECOND};
use crate::{Error, Form, Place, Result, real};
use ::arrow_array::cast::AsArray;
use ::arrow_array::types::*;
use arrow_array::{Array, ArrayAccessor, ArrayRef, downcast_integer_array};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;
use circuit::{BitMatrix, Kind, Type};

/// The lanes of a port from a column that comes in chunks; places are rows, counted from 0 over all of them.
///
/// It is stricter than files are: a decimal number for a fixed-point port must be one of its values, and a float for a
/// port of floats neither NaN nor beyond the greatest.
///
/// # Errors
/// [`Error::Value`] with the row of what does not fit; [`Error::Usage`] if the form does not fit the port;
/// [`Error::Malformed`] if a type of Arrow fits none, or the rows do not make whole lanes.
pub fn lanes(chunks: &[ArrayRef], ty: Type, form: &Form) -> Result<BitMatrix> {
    let mut column = Column::new(Wanted { column: "", ty, form })?;
    let word = (form.notation == Notation::Plain).then(|| form.word(ty)).transpose()?;
    let mut first = 0;
    for chunk in chunks {
        let pushed = decoded(chunk).and_then(|chunk| {
            word.map_or(Ok(()), |word| check(&chunk, word))?;
            push(&chunk, &mut column)
        });
        pushed.map_err(|why| refused(why, first))?;
        first += chunk.len() as u64;
    }
    column.finish("the column").map_err(|_| Error::Usage(format!("{first} rows: expected whole lanes of {ty}")))
}

fn refused(why: Refused, first: u64) -> Error {
    match why {
        Refused::Type(ty) => Error::Usage(format!("its Arrow type is {ty}, which no port takes")),
        Refused::Row(row, expected) => {
            Error::value(Place { row: Some(first + row as u64), ..Place::default() }, expected)
        }
    }
}

/// What `push` would round.
fn check(array: &dyn Array, word: Type) -> Pushed {
    match array.data_type() {
        &DataType::Decimal32(_, scale) => exact(array.as_primitive::<Decimal32Type>(), scale, word),
        &DataType::Decimal64(_, scale) => exact(array.as_primitive::<Decimal64Type>(), scale, word),
        &DataType::Decimal128(_, scale) => exact(array.as_primitive::<Decimal128Type>(), scale, word),
        DataType::Float16 => in_range(array.as_primitive::<Float16Type>(), |value| value.to_f64(), word),
        DataType::Float32 => in_range(array.as_primitive::<Float32Type>(), f64::from, word),
        DataType::Float64 => in_range(array.as_primitive::<Float64Type>(), |value| value, word),
        _ => Ok(()),
    }
}

/// The first row whose value is there and does not do.
fn first_row<A: ArrayAccessor>(array: A, does: impl Fn(A::Item) -> bool, expected: impl Fn() -> String) -> Pushed {
    let bad = (0..array.len()).find(|&row| !array.is_null(row) && !does(array.value(row)));
    bad.map_or(Ok(()), |row| Err(Refused::Row(row, expected())))
}

fn exact<A: ArrayAccessor<Item: Into<i128>>>(array: A, scale: i8, word: Type) -> Pushed {
    let Kind::Fixed { fraction } = word.kind else { return Ok(()) };
    let expected =
        || format!("a decimal number that {word} has exactly: decimal({scale}) and an integer port take any");
    first_row(array, |digits| is_exact(digits.into(), scale.max(0) as u32, fraction), expected)
}

/// Whether digits · 10^-scale is a multiple of 2^-fraction.
fn is_exact(digits: i128, scale: u32, fraction: u32) -> bool {
    let fives = 5i128.checked_pow(scale).is_some_and(|power| digits % power == 0);
    digits == 0 || fives && digits.trailing_zeros() + fraction >= scale
}

fn in_range<A: ArrayAccessor>(array: A, of: impl Fn(A::Item) -> f64, word: Type) -> Pushed {
    if !matches!(word.kind, Kind::Float { .. }) {
        return Ok(());
    }
    let is_infinite = |value: f64| {
        real::from_f64(value, word).and_then(|bits| real::to_f64(bits, word)).is_some_and(f64::is_infinite)
    };
    let does = |value: f64| !value.is_nan() && (value.is_infinite() || !is_infinite(value));
    first_row(array, |value| does(of(value)), || format!("a number that {word} can hold, not NaN"))
}

/// Why an array is refused: its type, or a row of which something else was expected.
pub(crate) enum Refused {
    Type(DataType),
    Row(usize, String),
}

pub(crate) type Pushed = std::result::Result<(), Refused>;

/// Takes the rows of an array.
pub(crate) fn push(array: &ArrayRef, to: &mut Column<'_>) -> Pushed {
    let array = &decoded(array)?;
    downcast_integer_array!(
        array => each(array, to, number),
        DataType::Null => (0..array.len()).try_for_each(|row| push_cell(row, Cell::Empty, to)),
        DataType::Boolean => each(array.as_boolean(), to, number),
        DataType::Float16 => each(array.as_primitive::<Float16Type>(), to, |value| Cell::Real(value.to_f64())),
        DataType::Float32 => each(array.as_primitive::<Float32Type>(), to, Cell::Single),
        DataType::Float64 => each(array.as_primitive::<Float64Type>(), to, Cell::Real),
        &DataType::Decimal32(_, scale) => each(array.as_primitive::<Decimal32Type>(), to, |value| decimal(value, scale)),
        &DataType::Decimal64(_, scale) => each(array.as_primitive::<Decimal64Type>(), to, |value| decimal(value, scale)),
        &DataType::Decimal128(_, scale) => each(array.as_primitive::<Decimal128Type>(), to, |value| decimal(value, scale)),
        DataType::Utf8 => each(array.as_string::<i32>(), to, |text| Cell::Text(text.as_bytes())),
        DataType::LargeUtf8 => each(array.as_string::<i64>(), to, |text| Cell::Text(text.as_bytes())),
        DataType::Utf8View => each(array.as_string_view(), to, |text| Cell::Text(text.as_bytes())),
        DataType::Binary => each(array.as_binary::<i32>(), to, Cell::Bytes),
        DataType::LargeBinary => each(array.as_binary::<i64>(), to, Cell::Bytes),
        DataType::BinaryView => each(array.as_binary_view(), to, Cell::Bytes),
        DataType::FixedSizeBinary(_) => each(array.as_fixed_size_binary(), to, Cell::Bytes),
        _ => push_instants(array, to),
    )
}

fn push_instants(array: &dyn Array, to: &mut Column<'_>) -> Pushed {
    match array.data_type() {
        DataType::Date32 => each(array.as_primitive::<Date32Type>(), to, |days| instant(days, DAY)),
        DataType::Date64 => each(array.as_primitive::<Date64Type>(), to, |count| instant(count, 1_000_000)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            each(array.as_primitive::<TimestampSecondType>(), to, |count| instant(count, SECOND))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            each(array.as_primitive::<TimestampMillisecondType>(), to, |count| instant(count, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            each(array.as_primitive::<TimestampMicrosecondType>(), to, |count| instant(count, 1_000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            each(array.as_primitive::<TimestampNanosecondType>(), to, |count| instant(count, 1))
        }
        ty => Err(Refused::Type(ty.clone())),
    }
}

/// The values themselves, where they are numbered: categories, say.
fn decoded(array: &ArrayRef) -> std::result::Result<ArrayRef, Refused> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return Ok(array.clone()) };
    let values = take(dictionary.values(), dictionary.keys(), None);
    values.map_err(|_| Refused::Type(array.data_type().clone()))
}

fn each<'a, A: ArrayAccessor>(array: A, to: &mut Column<'_>, cell: impl Fn(A::Item) -> Cell<'a>) -> Pushed {
    (0..array.len())
        .try_for_each(|row| push_cell(row, if array.is_null(row) { Cell::Empty } else { cell(array.value(row)) }, to))
}

fn push_cell(row: usize, cell: Cell<'_>, to: &mut Column<'_>) -> Pushed {
    to.push(cell).map_err(|expected| Refused::Row(row, expected))
}

fn number<'a>(value: impl Into<i128>) -> Cell<'a> {
    Cell::Number(value.into().into())
}

fn decimal<'a>(digits: impl Into<i128>, scale: i8) -> Cell<'a> {
    Cell::Decimal(digits.into(), scale.into())
}

fn instant<'a>(count: impl Into<i128>, nanoseconds: i128) -> Cell<'a> {
    Cell::Instant(count.into() * nanoseconds)
}

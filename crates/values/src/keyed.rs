//! Tables with a column of keys: the keys one after another, and a table of some of the rows with all their columns.
//!
//! A key is the bytes of a cell as they are: of text its bytes, with the blanks and the case that it has; of an integer of
//! Parquet or Arrow its decimal digits, so that it equals the same number in CSV. An empty cell is no key.

use crate::records::{Record, Records};
use crate::{Error, Place, Result, counted, csv};
use std::io::{self, Read, Write};

/// A row that has a key.
#[derive(Clone, Copy)]
pub struct Keyed<'a> {
    /// The row, counted from 0.
    pub row: u64,
    /// Where it begins: the line of a file of text, counted from 1; nothing in other files.
    pub line: Option<u64>,
    /// The key.
    pub key: &'a [u8],
}

/// What is expected of a cell in place of nothing.
const KEY: &str = "a key, not an empty cell";

/// Reads the keys of a CSV table, which is called `file` in errors, row by row. False if there is no such column.
///
/// # Errors
/// [`Error::Value`] with line and column of an empty cell; [`Error::Malformed`] and [`Error::Value`] as
/// [`csv::columns`].
pub fn csv_keys(from: impl Read, file: &str, column: &str, mut each: impl FnMut(Keyed<'_>)) -> Result<bool> {
    let mut records = Records::new(from, file);
    let header = records.next()?.ok_or_else(|| Error::malformed(file, csv::EMPTY))?;
    let (width, Some(at)) = (header.len(), csv::find(&header, column, file)?) else { return Ok(false) };
    let mut row = 0;
    while let Some(record) = records.next()? {
        check(&record, width, file)?;
        // Of a table of one column an empty line is an empty cell.
        let missing = width == 1 && record.empty_lines > 0;
        let line = if missing { record.line.saturating_sub(record.empty_lines) } else { record.line };
        let key = record.field(at);
        if missing || key.is_empty() {
            let place = Place { column: Some(column.into()), ..place(file, line) };
            return Err(Error::value(place, KEY));
        }
        each(Keyed { row, line: Some(line), key });
        row += 1;
    }
    Ok(true)
}

/// Writes a CSV table again, with its header and those of its rows that are to be kept. How many rows it has.
///
/// # Errors
/// As [`csv_keys`]; what the system says of writing.
pub fn csv_keep(from: impl Read, file: &str, keep: impl Fn(u64) -> bool, to: impl Write) -> io::Result<u64> {
    let (mut records, mut writer) = (Records::new(from, file), ::csv::Writer::from_writer(to));
    let header = records.next().map_err(io::Error::other)?;
    let header = header.ok_or_else(|| io::Error::other(Error::malformed(file, csv::EMPTY)))?;
    writer.write_record(header.iter())?;
    let (width, mut row) = (header.len(), 0);
    while let Some(record) = records.next().map_err(io::Error::other)? {
        check(&record, width, file).map_err(io::Error::other)?;
        if keep(row) {
            writer.write_record(record.iter())?;
        }
        row += 1;
    }
    writer.flush()?;
    Ok(row)
}

fn check(record: &Record<'_>, width: usize, file: &str) -> Result<()> {
    if record.len() == width {
        return Ok(());
    }
    let [expected, came] = [width, record.len()].map(|fields| counted(fields as u32, "field"));
    Err(Error::value(place(file, record.line), format!("{expected}, as the first line has, not {came}")))
}

fn place(file: &str, line: u64) -> Place {
    Place { file: Some(file.into()), line: Some(line), ..Place::default() }
}

#[cfg(feature = "parquet")]
pub use batches::{arrow_keep, arrow_keys, parquet_keep, parquet_keys};

#[cfg(feature = "parquet")]
mod batches {
    use super::*;
    use crate::arrow::Source;
    use crate::{arrow, parquet};
    use ::arrow_array::cast::AsArray;
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::arrow::ProjectionMask;
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use ::parquet::file::reader::ChunkReader;
    use arrow_array::{Array, ArrayAccessor, BooleanArray, RecordBatch, downcast_integer_array};
    use arrow_ipc::reader::FileReader;
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::{ArrowError, DataType};
    use arrow_select::filter::filter_record_batch;
    use arrow_select::take::take;
    use std::borrow::Cow;
    use std::io::Seek;

    /// Bytes that are kept of a key: a hash of it.
    const KEPT: u64 = 16;

    /// Reads the keys of a Parquet file as [`csv_keys`] does; places are rows, counted from 0.
    ///
    /// # Errors
    /// As there; [`Error::Malformed`] if the column is neither text, bytes nor integers.
    pub fn parquet_keys(
        from: impl ChunkReader + 'static,
        file: &str,
        column: &str,
        mut each: impl FnMut(Keyed<'_>),
    ) -> Result<bool> {
        arrow::guarded(file, || {
            let source = Source { file, length: from.len() };
            let builder = ParquetRecordBatchReaderBuilder::try_new(from).map_err(|why| parquet::failed(file, why))?;
            let Some(at) = find(builder.schema(), file, column)? else { return Ok(false) };
            source.check_column(parquet::claimed_rows(builder.metadata()), column, KEPT)?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), [at]);
            let builder = builder.with_projection(mask).with_batch_size(parquet::BATCH);
            all(builder.build().map_err(|why| parquet::failed(file, why))?, source, column, &mut each)
        })
    }

    /// The same of an Arrow IPC file.
    ///
    /// # Errors
    /// As there.
    pub fn arrow_keys(
        mut from: impl Read + Seek,
        file: &str,
        column: &str,
        mut each: impl FnMut(Keyed<'_>),
    ) -> Result<bool> {
        arrow::guarded(file, || {
            let source = Source { file, length: arrow::length_of(&mut from, file)? };
            let reader = FileReader::try_new(io::BufReader::new(from), None).map_err(|why| arrow::failed(file, why))?;
            match find(&reader.schema(), file, column)? {
                Some(_) => all(reader, source, column, &mut each),
                None => Ok(false),
            }
        })
    }

    fn find(schema: &arrow_schema::Schema, file: &str, column: &str) -> Result<Option<usize>> {
        let mut fields = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == column);
        match (fields.next(), fields.next()) {
            (_, Some(_)) => Err(Error::malformed(file, format!("two columns are named '{column}'"))),
            (field, _) => Ok(field.map(|(place, _)| place)),
        }
    }

    fn all(
        batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
        source: Source<'_>,
        column: &str,
        each: &mut impl FnMut(Keyed<'_>),
    ) -> Result<bool> {
        let (file, mut first) = (source.file, 0);
        for batch in batches {
            let batch = batch.map_err(|why| arrow::failed(file, why))?;
            source.check_column(first + batch.num_rows() as u64, column, KEPT)?;
            let missing = || Error::malformed(file, format!("column '{column}' is not in every part"));
            let array = batch.column_by_name(column).ok_or_else(missing)?;
            let mut empty = None;
            let known = keys(array, &mut |row, key| match key {
                Some(key) if !key.is_empty() => each(Keyed { row: first + row as u64, line: None, key }),
                _ => empty = empty.or(Some(first + row as u64)),
            });
            known.map_err(|ty| {
                Error::malformed(
                    file,
                    format!("column '{column}' has the type {ty}, and keys are text, bytes or integers"),
                )
            })?;
            if let Some(row) = empty {
                let place =
                    Place { file: Some(file.into()), row: Some(row), column: Some(column.into()), ..Place::default() };
                return Err(Error::value(place, KEY));
            }
            first += batch.num_rows() as u64;
        }
        Ok(true)
    }

    type Each<'a> = dyn FnMut(usize, Option<&[u8]>) + 'a;

    /// The keys of an array, or its type if that has none.
    fn keys(array: &dyn Array, each: &mut Each<'_>) -> std::result::Result<(), DataType> {
        downcast_integer_array!(
            array => cells(array, each, digits),
            DataType::Null => (0..array.len()).for_each(|row| each(row, None)),
            DataType::Utf8 => cells(array.as_string::<i32>(), each, |text| text.as_bytes().into()),
            DataType::LargeUtf8 => cells(array.as_string::<i64>(), each, |text| text.as_bytes().into()),
            DataType::Utf8View => cells(array.as_string_view(), each, |text| text.as_bytes().into()),
            DataType::Binary => cells(array.as_binary::<i32>(), each, Cow::Borrowed),
            DataType::LargeBinary => cells(array.as_binary::<i64>(), each, Cow::Borrowed),
            DataType::BinaryView => cells(array.as_binary_view(), each, Cow::Borrowed),
            DataType::FixedSizeBinary(_) => cells(array.as_fixed_size_binary(), each, Cow::Borrowed),
            ty @ DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = take(dictionary.values(), dictionary.keys(), None).map_err(|_| ty.clone())?;
                return keys(&values, each);
            },
            other => return Err(other.clone()),
        );
        Ok(())
    }

    fn cells<'a, A: ArrayAccessor>(array: A, each: &mut Each<'_>, bytes: impl Fn(A::Item) -> Cow<'a, [u8]>) {
        for row in 0..array.len() {
            let key = (!array.is_null(row)).then(|| bytes(array.value(row)));
            each(row, key.as_deref());
        }
    }

    fn digits<'a>(number: impl ToString) -> Cow<'a, [u8]> {
        number.to_string().into_bytes().into()
    }

    /// Writes a Parquet file again with those of its rows that are to be kept. How many rows it has.
    ///
    /// # Errors
    /// What the system says of reading and writing, and [`Error::Malformed`].
    pub fn parquet_keep(
        from: impl ChunkReader + 'static,
        file: &str,
        keep: impl Fn(u64) -> bool,
        mut to: impl Write,
    ) -> io::Result<u64> {
        arrow::guarded(file, || {
            let builder = ParquetRecordBatchReaderBuilder::try_new(from).map_err(|why| parquet::failed(file, why))?;
            let schema = builder.schema().clone();
            let reader = builder.with_batch_size(parquet::BATCH).build().map_err(|why| parquet::failed(file, why))?;
            let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(parquet::properties()))
                .map_err(|why| parquet::failed(file, why))?;
            let rows =
                kept(reader, file, &keep, |batch| writer.write(&batch).map_err(|why| parquet::failed(file, why)))?;
            let bytes = writer.into_inner().map_err(|why| parquet::failed(file, why))?;
            Ok((rows, bytes))
        })
        .map_err(io::Error::other)
        .and_then(|(rows, bytes)| to.write_all(&bytes).map(|()| rows))
    }

    /// The same of an Arrow IPC file.
    ///
    /// # Errors
    /// As there.
    pub fn arrow_keep(
        from: impl Read + Seek,
        file: &str,
        keep: impl Fn(u64) -> bool,
        to: impl Write,
    ) -> io::Result<u64> {
        arrow::guarded(file, || {
            let reader = FileReader::try_new(io::BufReader::new(from), None).map_err(|why| arrow::failed(file, why))?;
            let failed = |why| arrow::failed(file, why);
            let mut writer = FileWriter::try_new(to, &reader.schema()).map_err(failed)?;
            let rows = kept(reader, file, &keep, |batch| writer.write(&batch).map_err(failed))?;
            writer.finish().map_err(failed)?;
            Ok(rows)
        })
        .map_err(io::Error::other)
    }

    fn kept(
        batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
        file: &str,
        keep: &impl Fn(u64) -> bool,
        mut write: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<u64> {
        let mut first = 0;
        for batch in batches {
            let batch = batch.map_err(|why| arrow::failed(file, why))?;
            let end = first + batch.num_rows() as u64;
            let chosen: BooleanArray = (first..end).map(|row| Some(keep(row))).collect();
            write(filter_record_batch(&batch, &chosen).map_err(|why| arrow::failed(file, why))?)?;
            first = end;
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "id,name\n7,ann\n\n8,\"bob, or\nrob\"\n 9 ,\"\"\n";

    fn keys(table: &str, column: &str) -> Result<Option<Vec<(u64, u64, String)>>> {
        let mut all = Vec::new();
        let there = csv_keys(table.as_bytes(), "t.csv", column, |keyed| {
            all.push((keyed.row, keyed.line.unwrap(), String::from_utf8(keyed.key.into()).unwrap()));
        })?;
        Ok(there.then_some(all))
    }

    #[test]
    fn keys_are_the_bytes_of_cells() {
        let expected = [(0, 2, "7"), (1, 4, "8"), (2, 6, " 9 ")].map(|(row, line, key)| (row, line, key.into()));
        assert_eq!(keys(TABLE, "id").unwrap(), Some(expected.into()));
        assert_eq!(keys(TABLE, "Id").unwrap(), None);
        assert_eq!(keys("id\n", "id").unwrap(), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_key_is_named_by_its_place() {
        for (table, column, why) in [
            (TABLE, "name", "t.csv, line 6, column 'name': expected a key, not an empty cell"),
            ("id\n1\n\n2\n", "id", "t.csv, line 3, column 'id': expected a key"),
            ("id,x\n1\n", "id", "t.csv, line 2: expected 2 fields, as the first line has, not 1 field"),
            ("id,id\n1,2\n", "id", "t.csv: two columns are named 'id'"),
            ("", "id", "t.csv: it is empty"),
        ] {
            let error = keys(table, column).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn rows_are_kept_with_all_columns() {
        for (kept, expected) in [
            (&[0u64, 1, 2][..], "id,name\n7,ann\n8,\"bob, or\nrob\"\n 9 ,\n"),
            (&[1], "id,name\n8,\"bob, or\nrob\"\n"),
            (&[], "id,name\n"),
        ] {
            let mut to = Vec::new();
            let rows = csv_keep(TABLE.as_bytes(), "t.csv", |row| kept.contains(&row), &mut to).unwrap();
            assert_eq!((rows, String::from_utf8(to).unwrap().as_str()), (3, expected));
        }
    }

    /// Of a column of texts, of numbers and of categories, in both formats; and what is kept is read again.
    #[cfg(feature = "parquet")]
    #[test]
    fn keys_of_parquet_and_arrow_equal_those_of_csv() {
        use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray, types::Int32Type};
        use std::sync::Arc;
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["7", "8", "-12"]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, -12]));
        let categories: ArrayRef = Arc::new(["7", "8", "-12"].into_iter().collect::<DictionaryArray<Int32Type>>());
        let nulls: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(2)]));
        let reals: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.0; 3]));
        let columns = [("t", texts), ("n", numbers), ("c", categories), ("null", nulls), ("real", reals)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let parquet = writer.into_inner().unwrap();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        let arrow = writer.into_inner().unwrap();
        let file = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            file
        };
        let keys = |bytes: &[u8], is_arrow: bool, column: &str| -> Result<Option<Vec<String>>> {
            let mut all = Vec::new();
            let each = |keyed: Keyed<'_>| all.push(String::from_utf8(keyed.key.into()).unwrap());
            let there = match is_arrow {
                true => arrow_keys(file(bytes), "t", column, each)?,
                false => parquet_keys(file(bytes), "t", column, each)?,
            };
            Ok(there.then_some(all))
        };
        for (bytes, is_arrow) in [(&parquet, false), (&arrow, true)] {
            for column in ["t", "n", "c"] {
                assert_eq!(keys(bytes, is_arrow, column).unwrap().unwrap(), ["7", "8", "-12"], "{column}");
            }
            assert!(keys(bytes, is_arrow, "none").unwrap().is_none());
            let null = keys(bytes, is_arrow, "null").unwrap_err().to_string();
            assert!(null.contains("row 1, column 'null': expected a key"), "{null}");
            let real = keys(bytes, is_arrow, "real").unwrap_err().to_string();
            assert!(real.contains("keys are text, bytes or integers"), "{real}");
            let mut kept = Vec::new();
            let rows = match is_arrow {
                true => arrow_keep(file(bytes), "t", |row| row != 1, &mut kept).unwrap(),
                false => parquet_keep(file(bytes), "t", |row| row != 1, &mut kept).unwrap(),
            };
            assert_eq!((rows, keys(&kept, is_arrow, "n").unwrap().unwrap()), (3, vec!["7".into(), "-12".into()]));
        }
        assert!(keys(&parquet[..100], false, "t").is_err() && keys(&arrow[..100], true, "t").is_err());
    }
}

//! CSV: tables whose first line names the columns, and lanes without a header.
//!
//! Fields are separated by commas and may stand in double quotes; lines end in LF or CRLF; a byte order mark is passed over,
//! and so are empty lines.

use crate::column::{Column, Wanted};
use crate::rows::Rows;
use crate::{Error, Place, Result, counted, lane};
use ::csv::{ByteRecord, Reader, ReaderBuilder, StringRecord, Trim, Writer};
use circuit::{BitMatrix, Type};
use std::io::{self, Read, Write};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Reads columns of a table, which is called `file` in errors, in one pass; `None` for a column that is not there.
///
/// ```
/// use values::{Form, Wanted, csv};
/// let table = "name,salary\nann,1200.50\nbob,999\n";
/// let form: Form = "decimal(2)".parse()?;
/// let wanted = Wanted { column: "salary", ty: circuit::uint(32), form: &form };
/// let lanes = csv::columns(table.as_bytes(), "people.csv", &[wanted])?.remove(0).unwrap();
/// assert_eq!(lanes.to_numbers::<u32>().unwrap(), [120050, 99900]);
/// # Ok::<(), values::Error>(())
/// ```
///
/// # Errors
/// [`Error::Value`] with line and column of a cell that is not of its form; [`Error::Malformed`] if the table has no header,
/// a name of a column twice, or a row of another length; [`Error::Usage`] if a form does not fit its type.
pub fn columns(from: impl Read, file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>> {
    let mut reader = ReaderBuilder::new().flexible(true).buffer_capacity(BUFFER).from_reader(from);
    let header = reader.byte_headers().map_err(|why| failed(file, why))?.clone();
    if header.is_empty() {
        return Err(Error::malformed(file, "it is empty: expected a first line with the names of the columns"));
    }
    let places = wanted.iter().map(|wanted| find(&header, wanted.column, file)).collect::<Result<Vec<_>>>()?;
    let columns = wanted.iter().map(|&wanted| Column::new(wanted)).collect::<Result<Vec<_>>>()?;
    let mut columns: Vec<_> = columns.into_iter().zip(places).collect();
    fill(&mut reader, file, header.len(), &mut columns)?;
    columns.into_iter().map(|(column, place)| place.map(|_| column.finish(file)).transpose()).collect()
}

/// Where the column of this name is.
fn find(header: &ByteRecord, name: &str, file: &str) -> Result<Option<usize>> {
    let mut places = header.iter().enumerate().filter(|(_, cell)| cell.trim_ascii() == name.as_bytes());
    match (places.next(), places.next()) {
        (_, Some(_)) => Err(Error::malformed(file, format!("two columns are named '{name}'"))),
        (place, _) => Ok(place.map(|(place, _)| place)),
    }
}

fn fill(
    reader: &mut Reader<impl Read>,
    file: &str,
    width: usize,
    columns: &mut [(Column<'_>, Option<usize>)],
) -> Result<()> {
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|why| failed(file, why))? {
        let line = |record: &ByteRecord| record.position().map(|position| position.line());
        if record.len() != width {
            let place = Place { file: Some(file.into()), line: line(&record), ..Place::default() };
            let expected = format!("{}, as the first line has, not {}", fields(width), record.len());
            return Err(Error::value(place, expected));
        }
        for (column, place) in columns.iter_mut() {
            let Some(cell) = place.map(|place| &record[place]) else { continue };
            column.push_text(cell).map_err(|expected| {
                let name = Some(column.name().into());
                let place = Place { file: Some(file.into()), line: line(&record), column: name, ..Place::default() };
                Error::value(place, expected)
            })?;
        }
    }
    Ok(())
}

fn fields(count: usize) -> String {
    counted(count as u32, "field")
}

/// Reads the lanes of a port of this type from a file without a header: a row for each lane, one value or a column for each
/// bit.
///
/// # Errors
/// [`Error::Value`] with the line of a row that is not of its form; [`Error::Malformed`] if it is not text.
pub fn lanes(from: impl Read, file: &str, ty: Type) -> Result<BitMatrix> {
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(from);
    let mut rows = Rows::new(ty);
    for (lane, record) in reader.records().enumerate() {
        let record = record.map_err(|why| failed(file, why))?;
        let line = record.position().map(|position| position.line());
        let place = || Place { file: Some(file.into()), line, lane: Some(lane as u64), ..Place::default() };
        rows.push(|to| put_row(&record, ty, to)).ok_or_else(|| Error::value(place(), expected(&record, ty)))?;
    }
    Ok(rows.finish())
}

fn failed(file: &str, why: ::csv::Error) -> Error {
    match why.is_io_error() {
        true => Error::read(file)(io::Error::other(why)),
        false => Error::malformed(file, why),
    }
}

fn put_row(record: &StringRecord, ty: Type, to: &mut [u8]) -> Option<()> {
    match record.len() {
        1 => lane::put(&record[0], ty, to),
        columns if columns == ty.width as usize => record.iter().enumerate().try_for_each(|(i, cell)| match cell {
            "0" => Some(()),
            "1" => {
                to[i / 8] |= 1 << (i % 8);
                Some(())
            }
            _ => None,
        }),
        _ => None,
    }
}

/// What is expected of a row that is refused.
fn expected(record: &StringRecord, ty: Type) -> String {
    match record.len() {
        1 => lane::expected(ty),
        columns if columns == ty.width as usize => "0 or 1 in each column".into(),
        columns => {
            let [columns, bits] = [columns as u32, ty.width].map(|number| counted(number, "column"));
            format!("one value or {bits} of 0 and 1, not {columns}")
        }
    }
}

/// Writes a value a line, without a header.
///
/// # Errors
/// What the system says.
pub fn write_lanes(lanes: &BitMatrix, ty: Type, mut to: impl Write) -> io::Result<()> {
    (0..lanes.lanes()).try_for_each(|lane| writeln!(to, "{}", lane::text(lanes, lane, ty)))
}

/// Writes a table: the names of the columns, and a row for each of theirs.
pub(crate) fn write(
    header: &[&str],
    rows: usize,
    cell: impl Fn(usize, usize) -> String,
    to: impl Write,
) -> io::Result<()> {
    let mut writer = Writer::from_writer(to);
    writer.write_record(header)?;
    for row in 0..rows {
        writer.write_record((0..header.len()).map(|column| cell(column, row)))?;
    }
    writer.flush()
}

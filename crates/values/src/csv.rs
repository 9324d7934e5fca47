//! CSV: tables whose first line names the columns, and lanes without a header.
//!
//! Fields are separated by commas and may stand in double quotes; lines end in LF or CRLF; a byte order mark is passed over,
//! and so are empty lines, but in a table of one column, where one between records is an empty cell.

use crate::column::{Cell, Column, Wanted};
use crate::records::{Record, Records};
use crate::rows::Rows;
use crate::{Error, Place, Result, counted, lane};
use ::csv::Writer;
use circuit::{BitMatrix, Type};
use std::io::{self, Read, Write};
use std::ops::Range;

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
    columns_of_rows(from, file, wanted, ALL)
}

/// Reads some of the rows, counted from 0; fewer where the table has fewer. Those before are looked through and not kept, those
/// behind are not read.
///
/// # Errors
/// As [`columns`]; cells of other rows are not looked at.
pub fn columns_of_rows(
    from: impl Read,
    file: &str,
    wanted: &[Wanted<'_>],
    rows: Range<u64>,
) -> Result<Vec<Option<BitMatrix>>> {
    read_rows(from, file, wanted, rows).map(|(columns, _)| columns)
}

/// How many rows a table has, or without a header how many lanes; every line is looked at.
///
/// # Errors
/// [`Error::Malformed`] or [`Error::Value`] if it is no table.
pub fn rows(from: impl Read, file: &str, has_header: bool) -> Result<u64> {
    if has_header {
        return read_rows(from, file, &[], ALL).map(|(_, rows)| rows);
    }
    let (mut records, mut rows) = (Records::new(from, file), 0);
    while records.next()?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

/// Rows of a file, whatever their number.
pub(crate) const ALL: Range<u64> = 0..u64::MAX;

/// Columns of some of the rows, and the number of the row at which reading ended.
fn read_rows(
    from: impl Read,
    file: &str,
    wanted: &[Wanted<'_>],
    rows: Range<u64>,
) -> Result<(Vec<Option<BitMatrix>>, u64)> {
    let mut records = Records::new(from, file);
    let header = records.next()?;
    let header = header.ok_or_else(|| Error::malformed(file, EMPTY))?;
    let width = header.len();
    let mut columns = Vec::new();
    for &wanted in wanted {
        columns.push((Column::new(wanted)?, find(&header, wanted.column, file)?));
    }
    let mut row = 0;
    while row < rows.end
        && let Some(record) = records.next()?
    {
        let place = |line| Place { file: Some(file.into()), line: Some(line), ..Place::default() };
        if record.len() != width {
            let expected = format!("{}, as the first line has, not {}", fields(width), record.len());
            return Err(Error::value(place(record.line), expected));
        }
        let empty_cells = if width == 1 { record.empty_lines } else { 0 };
        for before in (1..=empty_cells).rev() {
            if rows.contains(&row) {
                push(&mut columns, |_| b"", || place(record.line.saturating_sub(before)))?;
            }
            row += 1;
        }
        if rows.contains(&row) {
            push(&mut columns, |at| record.field(at), || place(record.line))?;
        }
        row += 1;
    }
    let columns = columns.into_iter().map(|(column, at)| at.map(|_| column.finish(file)).transpose());
    Ok((columns.collect::<Result<_>>()?, row))
}

/// Adds a row.
fn push<'a>(
    columns: &mut [(Column<'_>, Option<usize>)],
    cell: impl Fn(usize) -> &'a [u8],
    place: impl Fn() -> Place,
) -> Result<()> {
    for (column, at) in columns {
        let Some(at) = at else { continue };
        let pushed = column.push(Cell::Text(cell(*at)));
        pushed.map_err(|expected| Error::value(Place { column: Some(column.name().into()), ..place() }, expected))?;
    }
    Ok(())
}

pub(crate) const EMPTY: &str = "it is empty: expected a first line with the names of the columns";

/// Where the column of this name is.
pub(crate) fn find(header: &Record<'_>, name: &str, file: &str) -> Result<Option<usize>> {
    let mut places = header.iter().enumerate().filter(|(_, field)| field.trim_ascii() == name.as_bytes());
    match (places.next(), places.next()) {
        (_, Some(_)) => Err(Error::malformed(file, format!("two columns are named '{name}'"))),
        (place, _) => Ok(place.map(|(place, _)| place)),
    }
}

fn fields(count: usize) -> String {
    counted(count as u32, "field")
}

/// Reads the lanes of a port of this type from a file without a header: a row for each lane, one value or a column for each
/// bit.
///
/// # Errors
/// [`Error::Value`] with the line of a row that is not of its form.
pub fn lanes(from: impl Read, file: &str, ty: Type) -> Result<BitMatrix> {
    lanes_of_rows(from, file, ty, ALL)
}

/// Reads some of the lanes, as [`columns_of_rows`] does.
///
/// # Errors
/// As [`lanes`].
pub fn lanes_of_rows(from: impl Read, file: &str, ty: Type, wanted: Range<u64>) -> Result<BitMatrix> {
    let (mut records, mut rows) = (Records::new(from, file), Rows::new(ty));
    for lane in 0..wanted.end {
        let Some(record) = records.next()? else { break };
        if lane < wanted.start {
            continue;
        }
        let (file, line, lane) = (Some(file.into()), Some(record.line), Some(lane));
        let place = || Place { file, line, lane, ..Place::default() };
        rows.push(|to| put_row(&record, ty, to)).ok_or_else(|| Error::value(place(), expected(record.len(), ty)))?;
    }
    Ok(rows.finish())
}

fn put_row(record: &Record<'_>, ty: Type, to: &mut [u8]) -> Option<()> {
    match record.len() {
        1 => lane::put(str::from_utf8(record.field(0)).ok()?, ty, to),
        columns if columns == ty.width as usize => record.iter().enumerate().try_for_each(|(i, cell)| {
            match cell.trim_ascii() {
                b"0" => {}
                b"1" => to[i / 8] |= 1 << (i % 8),
                _ => return None,
            }
            Some(())
        }),
        _ => None,
    }
}

/// What is expected of a row that is refused.
fn expected(columns: usize, ty: Type) -> String {
    match columns {
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

//! Parquet files.

use crate::arrow::{self, Source};
use crate::column::Wanted;
use crate::csv::ALL;
use crate::output::Written;
use crate::{Error, Result};
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::arrow::{ArrowWriter, ProjectionMask};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::reader::ChunkReader;
use circuit::BitMatrix;
use std::io::{self, Write};
use std::ops::Range;

/// Rows that are decoded at a time.
pub(crate) const BATCH: usize = 8192;

/// Reads columns of a Parquet file as [`csv::columns`](crate::csv::columns) does; places are rows, counted from 0. No other
/// columns are decoded.
///
/// # Errors
/// As there.
pub fn columns(from: impl ChunkReader + 'static, file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>> {
    columns_of_rows(from, file, wanted, ALL)
}

/// Reads some of the rows, counted from 0; fewer where the file has fewer. Groups of rows that have none of them are not read.
///
/// # Errors
/// As [`columns`].
pub fn columns_of_rows(
    from: impl ChunkReader + 'static,
    file: &str,
    wanted: &[Wanted<'_>],
    rows: Range<u64>,
) -> Result<Vec<Option<BitMatrix>>> {
    arrow::guarded(file, || {
        let source = Source { file, length: from.len() };
        let builder = ParquetRecordBatchReaderBuilder::try_new(from).map_err(|why| failed(file, why))?;
        let counts = builder.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
        let (groups, first) = groups(counts, &rows);
        let builder = builder.with_row_groups(groups);
        let chosen = arrow::choose(builder.schema(), file, wanted)?;
        let kept = claimed_rows(builder.metadata()).min(rows.end).saturating_sub(rows.start);
        source.check_rows(kept, wanted, &chosen)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), chosen.iter().flatten().copied());
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|why| failed(file, why))?;
        let reader = reader.map(|batch| batch.map_err(|why| arrow::failed(file, why)));
        arrow::fill(reader, source, wanted, &chosen, first, rows)
    })
}

/// The groups that have some of the rows, and the first row of the first of them.
fn groups(counts: impl Iterator<Item = u64>, rows: &Range<u64>) -> (Vec<usize>, u64) {
    let (mut chosen, mut first, mut start) = (Vec::new(), 0, 0u64);
    for (group, count) in counts.enumerate() {
        let end = start.saturating_add(count);
        if start < rows.end && rows.start < end {
            first = if chosen.is_empty() { start } else { first };
            chosen.push(group);
        }
        start = end;
    }
    (chosen, first)
}

/// How many rows a file has.
///
/// # Errors
/// [`Error::Malformed`] if it is no Parquet file.
pub fn rows(from: impl ChunkReader + 'static, file: &str) -> Result<u64> {
    arrow::guarded(file, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(from).map_err(|why| failed(file, why))?;
        Ok(builder.metadata().file_metadata().num_rows().max(0) as u64)
    })
}

/// How many rows the parts of a file say that they have.
pub(crate) fn claimed_rows(metadata: &ParquetMetaData) -> u64 {
    let rows = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
    rows.fold(0, u64::saturating_add)
}

pub(crate) fn failed(file: &str, why: ParquetError) -> Error {
    match why {
        ParquetError::External(why) => match why.downcast::<io::Error>() {
            Ok(why) => Error::read(file)(*why),
            Err(why) => Error::malformed(file, why),
        },
        why => Error::malformed(file, why),
    }
}

/// Writes a Parquet file, compressed by Snappy.
pub(crate) fn write(columns: &[Written<'_>], mut to: impl Write) -> io::Result<()> {
    let batch = arrow::batch(columns)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties()))?;
    writer.write(&batch)?;
    to.write_all(&writer.into_inner()?)
}

/// How files are written.
pub(crate) fn properties() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::SNAPPY).build()
}

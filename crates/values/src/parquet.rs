//! Parquet files.

use crate::arrow::{self, Source};
use crate::column::Wanted;
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

/// Rows that are decoded at a time.
pub(crate) const BATCH: usize = 8192;

/// Reads columns of a Parquet file as [`csv::columns`](crate::csv::columns) does; places are rows, counted from 0. No other
/// columns are decoded.
///
/// # Errors
/// As there.
pub fn columns(from: impl ChunkReader + 'static, file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>> {
    arrow::guarded(file, || {
        let source = Source { file, length: from.len() };
        let builder = ParquetRecordBatchReaderBuilder::try_new(from).map_err(|why| failed(file, why))?;
        let chosen = arrow::choose(builder.schema(), file, wanted)?;
        source.check_rows(claimed_rows(builder.metadata()), wanted, &chosen)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), chosen.iter().flatten().copied());
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|why| failed(file, why))?;
        let reader = reader.map(|batch| batch.map_err(|why| arrow::failed(file, why)));
        arrow::fill(reader, source, wanted, &chosen)
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

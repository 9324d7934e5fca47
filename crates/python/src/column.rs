//! Columns of Arrow, as pandas, polars, pyarrow and others share them by its C data interface.
//!
//! Their memory is read where it lies, and packed at once: nothing of it is kept.

use crate::errors::usage;
use crate::matrix::{Chunks, Exact, Matrix, Whole, floats, integers};
use crate::program::type_of;
use ::arrow_array::cast::AsArray;
use ::arrow_array::types::*;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::DataType;
use duologue::circuit::{Kind, Type};
use pyo3::prelude::*;
use std::panic::{self, AssertUnwindSafe};
use values::{Form, arrays};

/// A column in chunks. It may be a secret: it shows nothing of it.
#[pyclass(frozen, module = "duologue._core")]
pub struct Column {
    chunks: Vec<ArrayRef>,
    /// None of no chunks.
    ty: DataType,
}

#[pymethods]
impl Column {
    /// Arrays, one after another, each with `__arrow_c_array__`.
    #[staticmethod]
    fn of_arrays(arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let array = |array: &Bound<'_, PyAny>| Ok(make_array(imported::<ArrayData>(array)?));
        let chunks = arrays.iter().map(array).collect::<PyResult<Vec<_>>>()?;
        let ty = chunks.first().map_or(DataType::Null, |chunk| chunk.data_type().clone());
        match chunks.iter().all(|chunk| *chunk.data_type() == ty) {
            true => Ok(Column { chunks, ty }),
            false => Err(usage("its chunks have different types")),
        }
    }

    /// The first column of a frame with `__arrow_c_stream__`.
    #[staticmethod]
    fn of_frame(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let batches = imported::<RecordBatchStreamReader>(frame)?;
        let schema = batches.schema();
        let Some(field) = schema.fields().first() else { return Err(usage("it has no column")) };
        // What comes in a stream nobody has looked at yet: offsets, say, may point anywhere.
        let first = |batch: RecordBatch| {
            let column = batch.column(0);
            column.to_data().validate_full().map(|()| column.clone())
        };
        let chunks = guarded(|| batches.map(|batch| batch.and_then(first)).collect::<Result<_, _>>())?;
        Ok(Column { chunks: chunks.map_err(|_| damaged())?, ty: field.data_type().clone() })
    }

    #[getter]
    fn lanes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// What kind of values it has, in one word.
    #[getter]
    fn kind(&self) -> &'static str {
        kind(&self.ty)
    }

    /// The name of its type.
    #[getter]
    fn ty(&self) -> String {
        self.ty.to_string()
    }

    /// The lanes of a port of this type, whose values are written in a form of `values::Form` if there is one.
    fn pack(&self, py: Python<'_>, ty: &str, form: Option<&str>) -> PyResult<Matrix> {
        let ty = type_of(ty)?;
        let has_null = form.is_some_and(|form| form.starts_with("null=") || form.contains(":null="));
        match (self.first_null(), form) {
            (Some(row), _) if !has_null => Err(usage(format!(
                "row {row}: expected a value, not a null: duo.column(values, \"null=0\") says what those stand for"
            ))),
            (None, None) => self.plain(py, ty).unwrap_or_else(|| self.formed(py, ty, "")),
            _ => self.formed(py, ty, form.unwrap_or_default()),
        }
    }
}

impl Column {
    /// The row of the first null.
    fn first_null(&self) -> Option<usize> {
        let mut first = 0;
        for chunk in &self.chunks {
            let found = chunk.logical_nulls().filter(|nulls| nulls.null_count() > 0);
            if let Some(row) = found.and_then(|nulls| nulls.iter().position(|is_there| !is_there)) {
                return Some(first + row);
            }
            first += chunk.len();
        }
        None
    }

    /// Numbers without nulls, from where they lie; none of other types.
    fn plain(&self, py: Python<'_>, ty: Type) -> Option<PyResult<Matrix>> {
        Some(match self.ty {
            DataType::Int8 => whole(py, &self.slices::<Int8Type>(), ty),
            DataType::Int16 => whole(py, &self.slices::<Int16Type>(), ty),
            DataType::Int32 => whole(py, &self.slices::<Int32Type>(), ty),
            DataType::Int64 => whole(py, &self.slices::<Int64Type>(), ty),
            DataType::UInt8 => whole(py, &self.slices::<UInt8Type>(), ty),
            DataType::UInt16 => whole(py, &self.slices::<UInt16Type>(), ty),
            DataType::UInt32 => whole(py, &self.slices::<UInt32Type>(), ty),
            DataType::UInt64 => whole(py, &self.slices::<UInt64Type>(), ty),
            DataType::Float32 => floats(py, &self.slices::<Float32Type>(), ty),
            DataType::Float64 => floats(py, &self.slices::<Float64Type>(), ty),
            DataType::Boolean => {
                let bits = self.chunks.iter().flat_map(|chunk| chunk.as_boolean().values().iter().map(u8::from));
                integers(py, &Chunks(vec![&bits.collect::<Vec<_>>()]), ty)
            }
            _ => return None,
        })
    }

    fn slices<T: ArrowPrimitiveType>(&self) -> Chunks<'_, T::Native> {
        Chunks(self.chunks.iter().map(|chunk| &chunk.as_primitive::<T>().values()[..]).collect())
    }

    /// Cell by cell.
    fn formed(&self, py: Python<'_>, ty: Type, form: &str) -> PyResult<Matrix> {
        let form = if form.is_empty() { Ok(Form::default()) } else { form.parse() };
        let form = form.map_err(|why: values::Error| usage(why.to_string()))?;
        let packed = guarded(|| py.detach(|| arrays::lanes(&self.chunks, ty, &form)))?;
        packed.map(|matrix| Matrix(matrix.into())).map_err(|why| usage(why.to_string()))
    }
}

/// Integers, for ports of floats and fixed-point numbers if they are exact.
fn whole<T: Whole>(py: Python<'_>, numbers: &Chunks<'_, T>, ty: Type) -> PyResult<Matrix> {
    match ty.kind {
        Kind::Float { .. } | Kind::Fixed { .. } => floats(py, &Exact(numbers, ty), ty),
        _ => integers(py, numbers, ty),
    }
}

fn kind(ty: &DataType) -> &'static str {
    match ty {
        DataType::Boolean => "bool",
        DataType::Decimal32(_, ..=0) | DataType::Decimal64(_, ..=0) | DataType::Decimal128(_, ..=0) => "whole decimal",
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => "decimal",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Timestamp(..) => "time",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytes",
        DataType::Dictionary(_, values) => kind(values),
        DataType::Null => "null",
        ty if ty.is_integer() => "integer",
        ty if ty.is_floating() => "float",
        _ => "other",
    }
}

/// What an object shares. An error of its own, that it lacks a library, say, stays as it is.
fn imported<T: FromPyArrow>(object: &Bound<'_, PyAny>) -> PyResult<T> {
    let py = object.py();
    guarded(|| T::from_pyarrow_bound(object).map_err(|why| if is_of_reader(py, &why) { damaged() } else { why }))?
}

/// Whether the reader of Arrow, not the object, raised this: as the base of pyarrow's exceptions, of which that itself raises
/// others. Without pyarrow to import, it panics when it is looked at.
fn is_of_reader(py: Python<'_>, why: &PyErr) -> bool {
    why.get_type(py).name().is_ok_and(|name| name == "ArrowException")
}

/// What is done with memory of others. Readers of Arrow panic on some that is not as it should be.
fn guarded<T>(read: impl FnOnce() -> T) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(read)).map_err(|_| damaged())
}

fn damaged() -> PyErr {
    usage("it is not a valid column of Arrow")
}

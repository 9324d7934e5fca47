//! NumPy arrays as the lanes of a port, and back.
//!
//! An array is read in parts: the interpreter lock is held for the copy of one part, and not while it is packed. Errors
//! say the row, and never a value, which may be a secret.

use crate::errors::{of_program, usage};
use crate::program::type_of;
use duologue::circuit::matrix::Number;
use duologue::circuit::{BitMatrix, Kind, Type};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;
use values::real;

/// Lanes that are read at once, a multiple of 64: half a megabyte of 64-bit numbers.
const PART: usize = 1 << 16;

/// The lanes of a port. It may be a secret: it shows nothing of it.
#[pyclass(frozen, module = "duologue._core")]
pub struct Matrix(pub Arc<BitMatrix>);

#[pymethods]
impl Matrix {
    #[getter]
    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    #[getter]
    fn width(&self) -> usize {
        self.0.rows()
    }

    /// The array of lanes of this type.
    fn array<'py>(&self, py: Python<'py>, ty: &str) -> PyResult<Bound<'py, PyAny>> {
        let (ty, matrix) = (type_of(ty)?, &*self.0);
        match (ty.kind, ty.width) {
            (Kind::Bits, 1) => numbers(py, matrix, |bit: u8| bit == 1),
            (Kind::UInt, ..=8) => numbers(py, matrix, |number: u8| number),
            (Kind::UInt, ..=16) => numbers(py, matrix, |number: u16| number),
            (Kind::UInt, ..=32) => numbers(py, matrix, |number: u32| number),
            (Kind::UInt, ..=64) => numbers(py, matrix, |number: u64| number),
            (Kind::Int, ..=8) => numbers(py, matrix, |number: i8| number),
            (Kind::Int, ..=16) => numbers(py, matrix, |number: i16| number),
            (Kind::Int, ..=32) => numbers(py, matrix, |number: i32| number),
            (Kind::Int, ..=64) => numbers(py, matrix, |number: i64| number),
            (Kind::Float { exponent: 8 }, 32) => numbers(py, matrix, f32::from_bits),
            (Kind::Float { exponent: 11 }, 64) => numbers(py, matrix, f64::from_bits),
            (Kind::Fixed { fraction }, ..=53) => {
                let unit = 2f64.powi(-(fraction as i32));
                numbers(py, matrix, move |number: i64| number as f64 * unit)
            }
            (Kind::Float { .. }, ..=64) if real::to_f64(0, ty).is_some() => {
                numbers(py, matrix, |bits: u64| real::to_f64(bits.into(), ty).unwrap_or_default())
            }
            _ => bytes(py, matrix),
        }
    }

    /// As many lanes of zeros.
    fn zeros(&self) -> Matrix {
        Matrix(BitMatrix::zeros(self.0.rows(), self.0.lanes()).into())
    }

    /// Whether two have the same lanes. That takes as long as it takes: it is for tests.
    fn equals(&self, other: &Matrix) -> bool {
        self.0 == other.0
    }
}

/// A number for each lane, made of its bits.
fn numbers<'py, N, T>(py: Python<'py>, matrix: &BitMatrix, of: impl Fn(N) -> T + Send) -> PyResult<Bound<'py, PyAny>>
where
    N: Number + Send,
    T: Element,
{
    let made = py.detach(|| Ok(matrix.to_numbers::<N>()?.into_iter().map(of).collect::<Vec<T>>()));
    Ok(PyArray1::from_vec(py, made.map_err(of_program)?).into_any())
}

/// A row of bytes for each lane, lowest bit first.
fn bytes<'py>(py: Python<'py>, matrix: &BitMatrix) -> PyResult<Bound<'py, PyAny>> {
    let made = py.detach(|| matrix.to_byte_rows());
    let rows = PyArray1::from_vec(py, made);
    Ok(rows.reshape([matrix.lanes(), matrix.rows().div_ceil(8)])?.into_any())
}

/// Packs numbers, one a lane, from a contiguous array of the machine's own byte order.
#[pyfunction]
pub fn pack_numbers(py: Python<'_>, array: &Bound<'_, PyAny>, ty: &str) -> PyResult<Matrix> {
    let ty = type_of(ty)?;
    macro_rules! whole {
        ($($number:ty),*) => {$(
            if let Ok(array) = array.cast::<PyArray1<$number>>() {
                return integers(py, array, ty);
            }
        )*};
    }
    whole!(u8, u16, u32, u64, i8, i16, i32, i64);
    if let Ok(array) = array.cast::<PyArray1<f32>>() {
        return floats(py, array, ty);
    }
    match array.cast::<PyArray1<f64>>() {
        Ok(array) => floats(py, array, ty),
        Err(_) => Err(usage("expected one row of integers or floats")),
    }
}

/// Integers of the machine.
pub trait Whole: Number + PartialOrd + Into<i128> + Send + Sync {
    /// The same bits without a sign.
    type Bits: Number + Send;

    const ENDS: (i128, i128);

    /// A number between the ends.
    fn of(number: i128) -> Self;

    fn bits(self) -> Self::Bits;
}

macro_rules! whole {
    ($($number:ty as $bits:ty),*) => {$(
        impl Whole for $number {
            type Bits = $bits;

            const ENDS: (i128, i128) = (<$number>::MIN as i128, <$number>::MAX as i128);

            fn of(number: i128) -> Self {
                number as $number
            }

            fn bits(self) -> $bits {
                self as $bits
            }
        }
    )*};
}

whole!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, i8 as u8, i16 as u16, i32 as u32, i64 as u64);

/// Numbers that are read part by part.
pub trait Source<T> {
    fn count(&self) -> usize;

    /// Copies `count` numbers from the `first` on, in place of what the part had.
    fn read(&self, first: usize, count: usize, part: &mut Vec<T>) -> PyResult<()>;
}

impl<T: Element + Copy> Source<T> for Bound<'_, PyArray1<T>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self, first: usize, count: usize, part: &mut Vec<T>) -> PyResult<()> {
        let changed = || usage("the array changed while it was read");
        let all = self.try_readonly().map_err(|_| changed())?;
        let slice = all.as_slice().map_err(|_| usage("expected a contiguous array"))?;
        part.clear();
        part.extend_from_slice(slice.get(first..first + count).ok_or_else(changed)?);
        Ok(())
    }
}

/// Slices that follow one another.
pub struct Chunks<'a, T>(pub Vec<&'a [T]>);

impl<T: Copy> Source<T> for Chunks<'_, T> {
    fn count(&self) -> usize {
        self.0.iter().map(|chunk| chunk.len()).sum()
    }

    fn read(&self, first: usize, count: usize, part: &mut Vec<T>) -> PyResult<()> {
        part.clear();
        let mut start = 0;
        for chunk in &self.0 {
            let (from, to) = (first.max(start), (first + count).min(start + chunk.len()));
            if from < to {
                part.extend_from_slice(&chunk[from - start..to - start]);
            }
            start += chunk.len();
        }
        Ok(())
    }
}

/// Integers as doubles, if they are some, for a port of this type.
pub struct Exact<'a, S>(pub &'a S, pub Type);

/// Integers up to this magnitude are doubles.
const MOST_EXACT: i128 = 1 << 53;

impl<T: Whole> Source<f64> for Exact<'_, Chunks<'_, T>> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn read(&self, first: usize, count: usize, part: &mut Vec<f64>) -> PyResult<()> {
        let mut numbers = Vec::new();
        self.0.read(first, count, &mut numbers)?;
        let beyond = |&number: &T| !(-MOST_EXACT..=MOST_EXACT).contains(&number.into());
        if let Some(row) = numbers.iter().position(beyond) {
            let (row, ty) = (first + row, self.1);
            return Err(usage(format!("row {row}: expected an integer of -2^53 to 2^53 for {ty}")));
        }
        part.clear();
        part.extend(numbers.into_iter().map(|number| number.into() as f64));
        Ok(())
    }
}

/// Packs integers.
pub fn integers<T: Whole>(py: Python<'_>, numbers: &impl Source<T>, ty: Type) -> PyResult<Matrix> {
    let (least, most) = range(ty);
    let (least, most) = (T::of(least.max(T::ENDS.0)), T::of(most.min(T::ENDS.1)));
    let fits = |number| least <= number && number <= most;
    match ty.kind {
        Kind::Int => pack(py, numbers, ty, fits, |number| number),
        // Without a sign, for which there may be no room.
        _ => pack(py, numbers, ty, fits, T::bits),
    }
}

/// The least and the greatest number of a type, as far as integers of 64 bits reach.
fn range(ty: Type) -> (i128, i128) {
    let width = ty.width.min(100);
    match ty.kind {
        Kind::Int => (-1 << (width - 1), (1 << (width - 1)) - 1),
        _ => (0, (1 << width) - 1),
    }
}

/// Packs the nearest values of the type; what is no number, or beyond the greatest, does not fit.
pub fn floats<T: Copy + Into<f64> + Send + Sync>(py: Python<'_>, array: &impl Source<T>, ty: Type) -> PyResult<Matrix> {
    match (ty.kind, ty.width) {
        (Kind::Float { exponent: 8 }, 32) => {
            let single = |number: T| number.into() as f32;
            let fits = |number: T| single(number).is_finite() || number.into().is_infinite();
            pack(py, array, ty, fits, |number| single(number).to_bits())
        }
        (Kind::Float { exponent: 11 }, 64) => {
            pack(py, array, ty, |number| !number.into().is_nan(), |number| number.into().to_bits())
        }
        (Kind::Fixed { fraction }, ..=64) => {
            let (scale, limit) = (2f64.powi(fraction as i32), 2f64.powi(ty.width as i32 - 1));
            // Exact: multiplying by a power of two only moves the exponent.
            let scaled = |number: T| (number.into() * scale).round();
            pack(py, array, ty, |number| (-limit..limit).contains(&scaled(number)), |number| scaled(number) as i64)
        }
        _ => pack(
            py,
            array,
            ty,
            |number| float(number.into(), ty).is_some(),
            |number| float(number.into(), ty).unwrap_or_default(),
        ),
    }
}

/// The bits of the nearest value of the type.
fn float(number: f64, ty: Type) -> Option<u128> {
    let bits = Some(number).filter(|number| !number.is_nan()).and_then(|number| real::from_f64(number, ty))?;
    let is_infinite = matches!(ty.kind, Kind::Float { .. }) && real::to_f64(bits, ty).is_some_and(f64::is_infinite);
    (number.is_infinite() || !is_infinite).then_some(bits)
}

/// Packs what `bits` makes of each number, part by part, if all of them fit.
fn pack<T: Copy + Send + Sync, N: Number + Send>(
    py: Python<'_>,
    source: &impl Source<T>,
    ty: Type,
    fits: impl Fn(T) -> bool + Sync,
    bits: impl Fn(T) -> N + Sync,
) -> PyResult<Matrix> {
    let lanes = source.count();
    let mut matrix = py.detach(|| BitMatrix::zeros(ty.width as usize, lanes));
    let (mut part, mut room) = (Vec::new(), Vec::new());
    for first in (0..lanes).step_by(PART) {
        source.read(first, PART.min(lanes - first), &mut part)?;
        let packed = py.detach(|| {
            // All of them at once, which is quicker; whichever does not is looked for then.
            if !part.iter().fold(true, |all, &number| all & fits(number)) {
                return Err(part.iter().position(|&number| !fits(number)).unwrap_or_default());
            }
            room.clear();
            room.extend(part.iter().map(|&number| bits(number)));
            matrix.set_numbers(first, &room).map_err(|_| 0)
        });
        packed.map_err(|row| usage(format!("row {}: {}", first + row, expected(ty))))?;
    }
    Ok(Matrix(matrix.into()))
}

/// What a row must be.
fn expected(ty: Type) -> String {
    match ty.kind {
        Kind::Bits if ty.width == 1 => "expected 0 or 1".into(),
        Kind::UInt => format!("expected a number of 0 to 2^{} - 1 for {ty}", ty.width),
        Kind::Int => format!("expected a number of -2^{0} to 2^{0} - 1 for {ty}", ty.width - 1),
        Kind::Fixed { .. } | Kind::Float { .. } => format!("expected a number that {ty} can hold, not NaN"),
        Kind::Bits => format!("expected {ty}"),
    }
}

/// Packs rows of ⌈width/8⌉ bytes, lowest bit first.
#[pyfunction]
pub fn pack_bytes(py: Python<'_>, array: &Bound<'_, PyArray2<u8>>, ty: &str) -> PyResult<Matrix> {
    let (width, bytes) = (type_of(ty)?.width as usize, rows(array)?);
    let spare = 8 * width.div_ceil(8) - width;
    let length = width.div_ceil(8).max(1);
    if let Some(row) =
        bytes.chunks(length).position(|row| u32::from(row[length - 1]).leading_zeros() < 24 + spare as u32)
    {
        return Err(usage(format!("row {row}: expected bits above the {width} of {ty} to be 0")));
    }
    py.detach(|| BitMatrix::from_byte_rows(width, &bytes)).map(|matrix| Matrix(matrix.into())).map_err(of_program)
}

/// Packs rows of 0 and 1, lowest bit first.
#[pyfunction]
pub fn pack_bits(py: Python<'_>, array: &Bound<'_, PyArray2<u8>>) -> PyResult<Matrix> {
    let (lanes, width, bits) = (array.shape()[0], array.shape()[1], rows(array)?);
    let place = bits.iter().position(|&bit| bit > 1);
    if let Some(place) = place {
        return Err(usage(format!("row {}: expected 0 or 1 in column {}", place / width, place % width)));
    }
    let matrix = py.detach(|| {
        let mut matrix = BitMatrix::zeros(width, lanes);
        let set = bits.iter().enumerate().filter(|(_, bit)| **bit == 1);
        set.for_each(|(place, _)| matrix.set(place % width, place / width, true));
        matrix
    });
    Ok(Matrix(matrix.into()))
}

fn rows(array: &Bound<'_, PyArray2<u8>>) -> PyResult<Vec<u8>> {
    let rows = array.try_readonly().map_err(|_| usage("the array changed while it was read"))?;
    rows.as_slice().map(<[u8]>::to_vec).map_err(|_| usage("expected a contiguous array"))
}

//! NumPy files: one row, or one number, for each lane.
//!
//! | port | array read | array written |
//! |---|---|---|
//! | any, of w bits | lanes × w, of 0 and 1, lowest bit first | `bits` and more than 64 bits: the same, `uint8` |
//! | `uint`, `int` | lanes, or lanes × 1, of numbers | lanes, of the smallest type that holds them |
//! | `float`, `fixed` | lanes of numbers, rounded to the nearest value | lanes, `f4` for single precision, else `f8`; more than 64 bits as rows of 0 and 1 |
//! | `bits` | lanes × ⌈w/8⌉ bytes, as `numpy.packbits(…, bitorder="little")` makes them | |
//! | one bit | lanes of 0 and 1 | the same, `uint8` |

use crate::column::put_plain;
use crate::lane::{self, Number};
use crate::rows::Rows;
use crate::{Error, Result, real};
use circuit::{BitMatrix, Kind, Type};
use ndarray::{Array1, Array2, ArrayD, ArrayView1, ArrayView2};
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadNpyExt, ReadableElement, WritableElement, WriteNpyError, WriteNpyExt};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// The lanes, or what is wrong with the file.
type Decoded = std::result::Result<BitMatrix, String>;

/// Reads the lanes of a port of this type from the file `name`, which has `length` bytes.
///
/// # Errors
/// [`Error::Malformed`] if it is no NumPy file, or its array is not of a form that the type takes.
pub fn read(from: impl Read + Seek, length: u64, name: &str, ty: Type) -> Result<BitMatrix> {
    decode(from, length, ty).map_err(|why| Error::malformed(name, why))
}

/// Reads some of the lanes, and nothing else of the file; fewer where the file has fewer.
///
/// # Errors
/// As [`read`], and if the array lies column after column, as Fortran has it.
pub fn read_rows(from: impl Read + Seek, length: u64, name: &str, ty: Type, rows: Range<u64>) -> Result<BitMatrix> {
    let part = |mut file| {
        let header = header_of(&mut file, length)?;
        let rows = rows.start.min(lanes_in(&header))..rows.end.min(lanes_in(&header));
        let part = part(file, header, rows)?;
        let length = part.len() as u64;
        decode(Cursor::new(part), length, ty)
    };
    part(from).map_err(|why| Error::malformed(name, why))
}

/// How many lanes a file has, by its header.
///
/// # Errors
/// [`Error::Malformed`] if it is no NumPy file, or has no room for them.
pub fn rows(mut from: impl Read + Seek, length: u64, name: &str) -> Result<u64> {
    let header = header_of(&mut from, length).map_err(|why| Error::malformed(name, why))?;
    Ok(lanes_in(&header))
}

/// The header, after which the file is at its first value.
fn header_of(file: &mut (impl Read + Seek), length: u64) -> std::result::Result<Header, String> {
    let header = Header::from_reader(file).map_err(|why| why.to_string())?;
    let head = file.stream_position().map_err(|why| why.to_string())?;
    // A type that is none of ours is refused by name where its values are read.
    check_length(&header.shape, size_of_value(&header).unwrap_or(1), length.saturating_sub(head))?;
    Ok(header)
}

fn lanes_in(header: &Header) -> u64 {
    header.shape.first().map_or(1, |&lanes| lanes as u64)
}

/// The bytes of a value, which the name of its type ends with.
fn size_of_value(header: &Header) -> std::result::Result<u64, String> {
    let name = header.type_descriptor.to_string();
    let digits = name.trim_matches('\'').trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok().filter(|size| (1..=8).contains(size)).ok_or_else(|| format!("its type is {name}"))
}

/// A file of some of the rows.
fn part(mut file: impl Read + Seek, header: Header, rows: Range<u64>) -> std::result::Result<Vec<u8>, String> {
    let columns = header.shape.iter().skip(1).try_fold(1u64, |all, &n| all.checked_mul(n as u64));
    let columns = columns.ok_or("its rows are too long")?;
    if header.layout.is_fortran() && header.shape.len() > 1 && columns != 1 {
        return Err("it lies column after column, so that no rows of it can be read alone: save it in C order".into());
    }
    let row = columns.checked_mul(size_of_value(&header)?).ok_or("its rows are too long")?;
    let shape = [&[(rows.end - rows.start) as usize], header.shape.get(1..).unwrap_or(&[])].concat();
    let mut bytes = Header { shape, ..header }.to_bytes().map_err(|why| why.to_string())?;
    let head = bytes.len();
    let skipped =
        row.checked_mul(rows.start).and_then(|skipped| i64::try_from(skipped).ok()).ok_or("it is too long")?;
    let read = file
        .seek(SeekFrom::Current(skipped))
        .and_then(|_| file.take(row * (rows.end - rows.start)).read_to_end(&mut bytes));
    read.map_err(|why| why.to_string())?;
    match bytes.len() as u64 - head as u64 == row * (rows.end - rows.start) {
        true => Ok(bytes),
        false => Err("it ends before its last row".into()),
    }
}

fn decode(mut file: impl Read + Seek, length: u64, ty: Type) -> Decoded {
    let header = header_of(&mut file, length)?;
    file.rewind().map_err(|why| why.to_string())?;
    let element = header.type_descriptor.to_string();
    match element.trim_matches(['\'', '|', '<', '>', '=']) {
        "b1" => decode_as::<bool>(file, ty),
        "u1" => decode_as::<u8>(file, ty),
        "i1" => decode_as::<i8>(file, ty),
        "u2" => decode_as::<u16>(file, ty),
        "i2" => decode_as::<i16>(file, ty),
        "u4" => decode_as::<u32>(file, ty),
        "i4" => decode_as::<i32>(file, ty),
        "u8" => decode_as::<u64>(file, ty),
        "i8" => decode_as::<i64>(file, ty),
        "f4" => decode_reals::<f32>(file, ty),
        "f8" => decode_reals::<f64>(file, ty),
        other => Err(format!("its type is {other}: expected integers, booleans, f4 or f8")),
    }
}

/// No header makes us allocate more than the file has: `length` bytes for values of `size` bytes.
fn check_length(shape: &[usize], size: u64, length: u64) -> std::result::Result<(), String> {
    let claimed = (shape.iter()).try_fold(size, |all, &n| all.checked_mul(n as u64));
    match claimed {
        Some(claimed) if claimed <= length => Ok(()),
        _ => Err(format!("its header says {shape:?} of {size} bytes each, but it has {length} bytes behind it")),
    }
}

fn decode_as<T>(file: impl Read, ty: Type) -> Decoded
where
    T: ReadableElement + Copy + Into<i128>,
{
    let array = ArrayD::<T>::read_npy(BufReader::new(file)).map_err(|why| why.to_string())?;
    let (shape, width) = (array.shape().to_vec(), ty.width as usize);
    let is_bytes = ty.kind == Kind::Bits && size_of::<T>() == 1;
    match shape[..] {
        [_, columns] if columns == width => bits(array.view().into_dimensionality().map_err(text)?),
        [_, columns] if is_bytes && columns == width.div_ceil(8) => {
            bytes(array.view().into_dimensionality().map_err(text)?, width)
        }
        [lanes, 1] if ty.kind != Kind::Bits => numbers(array.view().into_shape_with_order(lanes).map_err(text)?, ty),
        [_] if ty.kind != Kind::Bits || width == 1 => numbers(array.view().into_dimensionality().map_err(text)?, ty),
        _ => Err(format!("its shape is {shape:?}: expected {}", expected(ty))),
    }
}

/// Floats of the host for a port of floats or of fixed-point numbers.
fn decode_reals<T>(file: impl Read, ty: Type) -> Decoded
where
    T: ReadableElement + Copy + Into<f64>,
{
    let array = ArrayD::<T>::read_npy(BufReader::new(file)).map_err(|why| why.to_string())?;
    let shape = array.shape().to_vec();
    let (&[lanes] | &[lanes, 1], Kind::Float { .. } | Kind::Fixed { .. }) = (&shape[..], ty.kind) else {
        return Err(format!("it has floats in the shape {shape:?}: expected {}", expected(ty)));
    };
    let array = array.into_shape_with_order(lanes).map_err(text)?;
    fill(ty, array.iter(), |&value, to| real::from_f64(value.into(), ty).map(|number| lane::put_number(number, to)))
}

fn text(why: ndarray::ShapeError) -> String {
    why.to_string()
}

fn expected(ty: Type) -> String {
    let width = ty.width;
    match ty.kind {
        Kind::Bits if width == 1 => "lanes of 0 and 1".into(),
        Kind::Bits => {
            let bytes = width.div_ceil(8);
            format!("lanes × {width} of 0 and 1, or lanes × {bytes} bytes")
        }
        _ => format!("lanes, or lanes × {width} of 0 and 1"),
    }
}

/// A row of 0 and 1 for each lane. Errors do not repeat a value, which may be a secret.
fn bits<T: Copy + Into<i128>>(array: ArrayView2<'_, T>) -> Decoded {
    let mut matrix = BitMatrix::zeros(array.ncols(), array.nrows());
    for (lane, row) in array.rows().into_iter().enumerate() {
        for (place, &value) in row.iter().enumerate() {
            match value.into() {
                0 => {}
                1 => matrix.set(place, lane, true),
                _ => return Err(format!("lane {lane}, bit {place}: not 0 or 1")),
            }
        }
    }
    Ok(matrix)
}

/// A row of bytes for each lane; bits beyond the width are zero.
fn bytes<T: Copy + Into<i128>>(array: ArrayView2<'_, T>, width: usize) -> Decoded {
    let mut matrix = BitMatrix::zeros(width, array.nrows());
    for (lane, row) in array.rows().into_iter().enumerate() {
        for (place, &value) in row.iter().enumerate() {
            let byte: i128 = value.into();
            let used = (width - 8 * place).min(8);
            if !(0..1 << used).contains(&byte) {
                return Err(format!("lane {lane}, byte {place}: not a byte of {used} bits"));
            }
            (0..used).for_each(|i| matrix.set(8 * place + i, lane, byte >> i & 1 == 1));
        }
    }
    Ok(matrix)
}

/// A number for each lane.
fn numbers<T: Copy + Into<i128>>(array: ArrayView1<'_, T>, ty: Type) -> Decoded {
    fill(ty, array.iter(), |&value, to| put_plain(Number::from(value), ty, to))
}

/// The matrix of these lanes.
fn fill<T>(ty: Type, values: impl Iterator<Item = T>, put: impl Fn(T, &mut [u8]) -> Option<()>) -> Decoded {
    let mut rows = Rows::new(ty);
    for (lane, value) in values.enumerate() {
        rows.push(|to| put(value, to)).ok_or_else(|| format!("lane {lane}: expected {}", lane::expected(ty)))?;
    }
    Ok(rows.finish())
}

/// Writes the lanes of a port of this type.
///
/// # Errors
/// What the system says.
pub fn write(matrix: &BitMatrix, ty: Type, to: impl Write) -> io::Result<()> {
    let unsigned = |lane| lane::low(matrix.rows(), |i| matrix.get(i, lane)) as u64;
    let signed = |lane| lane::signed(matrix.rows(), |i| matrix.get(i, lane)) as i64;
    let real = |lane| lane::real_value(matrix, lane, ty);
    match (ty.kind, ty.width) {
        (Kind::Bits, 1) | (Kind::UInt, ..=8) => array(matrix, |lane| unsigned(lane) as u8, to),
        (Kind::UInt, ..=16) => array(matrix, |lane| unsigned(lane) as u16, to),
        (Kind::UInt, ..=32) => array(matrix, |lane| unsigned(lane) as u32, to),
        (Kind::UInt, ..=64) => array(matrix, unsigned, to),
        (Kind::Int, ..=8) => array(matrix, |lane| signed(lane) as i8, to),
        (Kind::Int, ..=16) => array(matrix, |lane| signed(lane) as i16, to),
        (Kind::Int, ..=32) => array(matrix, |lane| signed(lane) as i32, to),
        (Kind::Int, ..=64) => array(matrix, signed, to),
        (Kind::Float { exponent: 8 }, 32) => array(matrix, |lane| f32::from_bits(unsigned(lane) as u32), to),
        (Kind::Float { .. } | Kind::Fixed { .. }, ..=64) if matrix.lanes() > 0 && real(0).is_some() => {
            array(matrix, |lane| real(lane).unwrap_or_default(), to)
        }
        _ => {
            let bit = |(lane, row)| u8::from(matrix.get(row, lane));
            Array2::from_shape_fn((matrix.lanes(), matrix.rows()), bit).write_npy(to).map_err(plain)
        }
    }
}

/// Bytes that are copied at a time.
const COPIED: usize = 1 << 20;

/// Writes a file whose lanes come in parts.
pub struct Writer<W> {
    to: W,
    ty: Type,
}

impl<W: Write> Writer<W> {
    /// Begins a file of so many lanes of a port of this type.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(mut to: W, ty: Type, lanes: u64) -> io::Result<Self> {
        let mut one = Vec::new();
        write(&BitMatrix::zeros(ty.width as usize, lanes.min(1) as usize), ty, &mut one)?;
        let mut header = Header::from_reader(&mut &one[..]).map_err(io::Error::other)?;
        if let Some(first) = header.shape.first_mut() {
            *first = usize::try_from(lanes).map_err(io::Error::other)?;
        }
        header.write(&mut to).map_err(io::Error::other)?;
        Ok(Writer { to, ty })
    }

    /// The next lanes.
    ///
    /// # Errors
    /// What the system says.
    pub fn push(&mut self, lanes: &BitMatrix) -> io::Result<()> {
        let mut file = Vec::new();
        write(lanes, self.ty, &mut file)?;
        let mut values = &file[..];
        Header::from_reader(&mut values).map_err(io::Error::other)?;
        self.to.write_all(values)
    }

    /// The next lanes, as the bytes of each, where [`is_bytes`] holds.
    ///
    /// # Errors
    /// What the system says.
    pub fn copy(&mut self, mut lanes: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; COPIED];
        loop {
            match lanes.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => self.to.write_all(&buffer[..count])?,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
    }
}

/// Whether a file has for each lane of this type what [`BitMatrix::to_byte_rows`] has, the lowest byte first.
pub fn is_bytes(ty: Type) -> bool {
    match ty.kind {
        Kind::Bits => ty.width == 1,
        Kind::UInt => [1, 2, 4, 8].contains(&ty.width.div_ceil(8)),
        Kind::Int => [8, 16, 32, 64].contains(&ty.width),
        Kind::Float { exponent } => [(8, 32), (11, 64)].contains(&(exponent, ty.width)),
        Kind::Fixed { .. } => false,
    }
}

fn array<T: WritableElement>(matrix: &BitMatrix, lane: impl Fn(usize) -> T, to: impl Write) -> io::Result<()> {
    Array1::from_iter((0..matrix.lanes()).map(lane)).write_npy(to).map_err(plain)
}

/// The error of the system, if it is one.
fn plain(why: WriteNpyError) -> io::Error {
    match why {
        WriteNpyError::Io(why) => why,
        why => io::Error::other(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use circuit::{bits, int, uint};
    use ndarray::{Array, Dimension, array};
    use proptest::prelude::*;

    fn read_array<T: WritableElement, D: Dimension>(array: &Array<T, D>, ty: Type) -> Decoded {
        let mut file = Vec::new();
        array.write_npy(&mut file).unwrap();
        decode(Cursor::new(&file), file.len() as u64, ty)
    }

    fn numbers_of(matrix: &BitMatrix) -> Vec<u64> {
        matrix.to_numbers().unwrap()
    }

    #[test]
    fn rows_of_bits_numbers_and_bytes() {
        let rows = read_array(&array![[1u8, 0, 0], [0, 1, 1]], bits(3)).unwrap();
        assert_eq!(numbers_of(&rows), [1, 6]);
        let rows = read_array(&array![[true, false], [true, true]], uint(2)).unwrap();
        assert_eq!(numbers_of(&rows), [1, 3]);
        let numbers = read_array(&array![0i64, 1023], uint(10)).unwrap();
        assert_eq!(numbers_of(&numbers), [0, 1023]);
        let numbers = read_array(&array![[-1i16], [-128]], int(8)).unwrap();
        assert_eq!(numbers_of(&numbers), [255, 128]);
        let packed = read_array(&array![[0x81u8, 0x03], [0xff, 0]], bits(10)).unwrap();
        assert_eq!(numbers_of(&packed), [0x381, 0xff]);
        let transposed = array![[1u8, 0], [0, 1], [0, 1]];
        let columns = read_array(&transposed.t().to_owned(), bits(3)).unwrap();
        assert_eq!(numbers_of(&columns), [1, 6]);
    }

    fn single() -> Type {
        Type { kind: Kind::Float { exponent: 8 }, width: 32 }
    }

    #[test]
    fn real_numbers() {
        let reals = read_array(&array![0.1f64, -2.5, f64::INFINITY], single()).unwrap();
        assert_eq!(numbers_of(&reals), [0.1f32, -2.5, f32::INFINITY].map(|value| u64::from(value.to_bits())));
        let reals = read_array(&array![1i64, -3], single()).unwrap();
        assert_eq!(numbers_of(&reals), [1f32, -3.0].map(|value| u64::from(value.to_bits())));
        let wide = Type { kind: Kind::Fixed { fraction: 8 }, width: 80 };
        let exact = read_array(&array![i64::MAX, -3], wide).unwrap();
        assert_eq!(exact.to_numbers::<i128>().unwrap(), [i128::from(i64::MAX) << 8, -3 << 8]);
        let fixed = read_array(&array![0.5f32, -1.0], Type { kind: Kind::Fixed { fraction: 8 }, width: 16 }).unwrap();
        assert_eq!(numbers_of(&fixed), [0x80, 0xff00]);
    }

    #[test]
    fn errors_say_where() {
        let why = |read: Decoded| read.err().unwrap();
        assert!(why(read_array(&array![[0u8, 2]], bits(2))).contains("lane 0, bit 1: not 0 or 1"));
        assert!(
            why(read_array(&array![5u16, 1024], uint(10)))
                .contains("lane 1: expected a number of 0 to 1023 for uint(10)")
        );
        assert!(why(read_array(&array![[0u8, 4]], bits(10))).contains("lane 0, byte 1: not a byte of 2 bits"));
        assert!(why(read_array(&array![[0u8, 1, 0]], bits(2))).contains("shape is [1, 3]"));
        assert!(why(read_array(&array![[[0u8]]], bits(2))).contains("shape is [1, 1, 1]"));
        assert!(why(read_array(&array![[0.5, 1.0]], single())).contains("lanes × 32"));
        assert!(
            why(read_array(&array![f64::NAN], Type { kind: Kind::Fixed { fraction: 8 }, width: 16 }))
                .contains("lane 0")
        );
        assert!(why(read_array(&array![0.5], uint(2))).contains("has floats in the shape [1]"));
    }

    #[test]
    fn rows_of_an_array_that_lies_column_after_column_are_refused() {
        let mut file = Vec::new();
        array![[1u8, 0], [0, 1]].reversed_axes().write_npy(&mut file).unwrap();
        let why = read_rows(Cursor::new(&file), file.len() as u64, "f.npy", bits(2), 0..1).unwrap_err().to_string();
        assert!(why.contains("f.npy: it lies column after column"), "{why}");
    }

    #[test]
    fn a_header_that_lies_is_refused() {
        let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (2000000000000,), }\n";
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        let why = decode(Cursor::new(&file), file.len() as u64, uint(8)).err().unwrap();
        assert!(why.contains("its header says [2000000000000]"), "{why}");
    }

    /// A file that was cut off has no rows that could be counted; a shape that overflows makes nobody panic.
    #[test]
    fn a_file_that_ends_too_early_is_refused_before_its_rows_are_read() {
        let mut file = Vec::new();
        Array1::from_elem(10, 7u32).write_npy(&mut file).unwrap();
        let count = |file: &[u8]| rows(Cursor::new(file), file.len() as u64, "f.npy");
        assert_eq!(count(&file).unwrap(), 10);
        let why = count(&file[..file.len() - 1]).unwrap_err().to_string();
        assert!(why.contains("its header says [10] of 4 bytes each, but it has 39 bytes"), "{why}");
        let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (0, 1099511627776, 1099511627776), }\n";
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        let read = read_rows(Cursor::new(&file), file.len() as u64, "f.npy", uint(8), 0..1);
        assert!(read.unwrap_err().to_string().contains("too long"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            width in 2u32..80, lanes in 0usize..70, kind in 0..4, words in prop::collection::vec(any::<u64>(), 160)
        ) {
            let fixed = Kind::Fixed { fraction: width / 2 };
            let ty = Type { kind: [Kind::Bits, Kind::UInt, Kind::Int, fixed][kind as usize], width };
            let mut matrix = BitMatrix::zeros(width as usize, lanes);
            let count = matrix.words().len();
            matrix.words_mut().copy_from_slice(&words[..count]);
            matrix.clear_padding();
            let mut file = Vec::new();
            write(&matrix, ty, &mut file).unwrap();
            let length = file.len() as u64;
            let again = decode(Cursor::new(&file), length, ty).unwrap();
            prop_assert!(again == matrix);
            // In parts, and as bytes where these are the same.
            let rows = |matrix: &BitMatrix, rows: Range<usize>| {
                let each = width.div_ceil(8) as usize;
                let bytes = matrix.to_byte_rows()[each * rows.start..each * rows.end].to_vec();
                (BitMatrix::from_byte_rows(width as usize, &bytes).unwrap(), bytes)
            };
            let middle = lanes / 3;
            let mut parts = Vec::new();
            let mut writer = Writer::new(&mut parts, ty, lanes as u64).unwrap();
            for part in [0..middle, middle..lanes] {
                let (part, bytes) = rows(&matrix, part);
                if is_bytes(ty) { writer.copy(&bytes[..]).unwrap(); } else { writer.push(&part).unwrap(); }
            }
            prop_assert!(parts == file);
            prop_assert_eq!(super::rows(Cursor::new(&file), length, "f.npy").unwrap(), lanes as u64);
            for part in [0..middle, middle..lanes, lanes..lanes + 5] {
                let wanted = part.start as u64..part.end as u64;
                let read = read_rows(Cursor::new(&file), length, "f.npy", ty, wanted).unwrap();
                prop_assert!(read == rows(&matrix, part.start..part.end.min(lanes)).0);
            }
        }

        #[test]
        fn a_float_is_written_in_parts_as_at_once(words in prop::collection::vec(any::<u32>(), 0..9), cut in 0usize..9) {
            let matrix = BitMatrix::from_numbers(32, &words).unwrap();
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            write(&matrix, single(), &mut whole).unwrap();
            let mut writer = Writer::new(&mut parts, single(), words.len() as u64).unwrap();
            let (first, second) = words.split_at(cut.min(words.len()));
            writer.copy(&first.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()[..]).unwrap();
            writer.push(&BitMatrix::from_numbers(32, second).unwrap()).unwrap();
            prop_assert!(whole == parts);
        }
    }
}

//! Parquet and Arrow files: those of pyarrow, and our own.
#![cfg(feature = "parquet")]

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use circuit::{BitMatrix, Type, bits, int, uint};
use proptest::prelude::*;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use values::{Error, Form, Format, Wanted, Written};

fn form(text: &str) -> Form {
    if text.is_empty() { Form::default() } else { text.parse().unwrap() }
}

type Columns = Result<Vec<Option<BitMatrix>>, Error>;

fn read(file: File, name: &str, wanted: &[Wanted<'_>]) -> Columns {
    if name.ends_with(".parquet") {
        values::parquet::columns(file, name, wanted)
    } else {
        values::arrow::columns(file, name, wanted)
    }
}

fn vector(name: &str, column: &str, ty: Type, text: &str) -> Result<BitMatrix, Error> {
    let form = form(text);
    let file = File::open(format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    Ok(read(file, name, &[Wanted { column, ty, form: &form }])?.remove(0).expect("the column is there"))
}

/// What `vectors/people.py` made with pyarrow, of every type that tables have.
#[test]
fn files_of_pyarrow() {
    for name in ["people.parquet", "zstd.parquet", "people.arrow"] {
        for (column, ty, text, expected) in [
            ("u8", uint(8), "", [0, 255, 7]),
            ("i64", int(64), "", [i64::MIN, i64::MAX, -5]),
            ("bool", bits(1), "", [1, 0, 1]),
            ("f64", int(40), "decimal(2)", [1999, -50, 0]),
            ("f32", int(40), "decimal(2)", [1999, -50, 0]),
            ("f64", "fixed(32, 16)".parse().unwrap(), "", [1_310_065, -32768, 0]),
            ("decimal", int(64), "decimal(3)", [1_234_560, -10, 0]),
            ("decimal", int(64), "decimal(2)", [123_456, -1, 0]),
            ("decimal", "fixed(32, 8)".parse().unwrap(), "", [316_047, -3, 0]),
            ("date", int(32), "date", [0, 19_782, -1]),
            ("date", int(64), "time(s)", [0, 19_782 * 86_400, -86_400]),
            ("us", int(64), "time(us)", [0, 1_709_209_815_250_000, -1]),
            ("ns_utc", int(64), "time(ns)", [0, 1_709_209_815_250_000_000, -1]),
            ("null", int(32), "null=-7", [1, -7, 3]),
            ("text_of_numbers", int(32), "", [10, -20, 30]),
            ("category", bits(16), "text", [0x6261, 0x63, 0x6261]),
        ] {
            let lanes = vector(name, column, ty, text).unwrap();
            assert_eq!(lanes.to_numbers::<i64>().unwrap(), signed(expected, ty), "{name}, {column} as {ty} {text}");
        }
        let keys = vector(name, "key", bits(32), "").unwrap();
        assert_eq!(keys.to_byte_rows(), [[1, 2, 3, 4], [255, 0, 0, 1], [0, 0, 0, 0]].concat());
        let names = vector(name, "name", bits(64), "text:null=").unwrap();
        assert_eq!(names.to_byte_rows(), ["Zoë\0\0\0\0", "a,\"b\"\0\0\0", "\0\0\0\0\0\0\0\0"].concat().into_bytes());
    }
}

/// Lanes of at most 64 bits are read with their sign.
fn signed(numbers: [i64; 3], ty: Type) -> Vec<i64> {
    numbers.map(|number| number << (64 - ty.width) >> (64 - ty.width)).to_vec()
}

#[test]
fn errors_say_where_and_never_what() {
    for name in ["people.parquet", "people.arrow"] {
        for (column, ty, text, expected) in [
            ("u8", uint(7), "", "row 1, column 'u8': expected a number of 0 to 127 for uint(7)"),
            ("null", uint(7), "", "row 1, column 'null': expected a number of 0 to 127 for uint(7), not an empty cell"),
            ("f64", int(40), "decimal(1)", "row 0, column 'f64': expected a decimal number with at most 1 digit"),
            ("decimal", int(40), "decimal(1)", "row 0, column 'decimal'"),
            ("decimal", int(40), "", "row 0, column 'decimal'"),
            ("f64", int(40), "", "row 0, column 'f64'"),
            ("us", int(64), "date", "row 1, column 'us': expected a date"),
            ("date", int(64), "", "row 0, column 'date'"),
            ("name", bits(32), "text", "row 1, column 'name': expected UTF-8 text of at most 4 bytes"),
            ("key", bits(64), "", "row 0, column 'key': expected 8 bytes"),
            ("list", uint(8), "", "column 'list' has the type List"),
        ] {
            let why = vector(name, column, ty, text).unwrap_err().to_string();
            assert!(why.starts_with(name) && why.contains(expected), "{why}");
            assert!(!["255", "19.99", "123", "a,"].iter().any(|value| why.contains(value)), "{why}");
        }
    }
}

/// Types, and forms that they have.
const FORMS: [(&str, &str); 18] = [
    ("uint(7)", ""),
    ("uint(64)", ""),
    ("uint(128)", ""),
    ("int(3)", ""),
    ("int(16)", ""),
    ("int(33)", ""),
    ("bits(1)", ""),
    ("bits(13)", ""),
    ("bits(128)", ""),
    ("float(32, 8)", ""),
    ("float(64, 11)", ""),
    ("float(16, 5)", ""),
    ("fixed(32, 16)", ""),
    ("fixed(100, 16)", ""),
    ("uint(64)", "decimal(2)"),
    ("int(126)", "decimal(38)"),
    ("int(20)", "date"),
    ("int(36)", "time(ms)"),
];

/// Strings are read as cells of CSV are: none, or blanks, are an empty cell.
#[test]
fn empty_strings_are_empty_cells() {
    let strings = BitMatrix::from_numbers(16, &[0x3031u16, 0, 0x2020]).unwrap();
    let column = Written::new("s", &strings, bits(16), &form("text")).unwrap();
    for (format, name) in [(Format::Parquet, "t.parquet"), (Format::Arrow, "t.arrow")] {
        let mut file = tempfile::tempfile().unwrap();
        values::write(std::slice::from_ref(&column), format, &mut file).unwrap();
        let mut again = |text: &str, ty| {
            file.rewind().unwrap();
            let form = form(text);
            let wanted = [Wanted { column: "s", ty, form: &form }];
            read(file.try_clone().unwrap(), name, &wanted).map(|columns| columns[0].clone().unwrap().to_byte_rows())
        };
        assert_eq!(again("null=7", uint(8)).unwrap(), [10, 7, 7]);
        assert_eq!(again("text:null=x", bits(16)).unwrap(), *b"10x\0  ");
        assert!(again("text", bits(16)).unwrap_err().to_string().contains("row 1, column 's': expected UTF-8"));
    }
}

/// Days of 2^127 and more are no dates before 1970.
#[test]
fn a_number_that_no_date_has_stays_a_number() {
    let lanes = BitMatrix::from_numbers(128, &[u128::MAX, 0]).unwrap();
    let column = Written::new("d", &lanes, uint(128), &form("date")).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    values::write(&[column], Format::Parquet, &mut file).unwrap();
    file.rewind().unwrap();
    let form = form("text");
    let wanted = [Wanted { column: "d", ty: bits(320), form: &form }];
    let texts = read(file, "t.parquet", &wanted).unwrap().remove(0).unwrap().to_byte_rows();
    assert!(texts.starts_with(u128::MAX.to_string().as_bytes()) && texts[40..].starts_with(b"1970-01-01"));
}

/// So many nulls, in both formats.
fn nulls(rows: usize) -> [(&'static str, Vec<u8>); 2] {
    let nulls: ArrayRef = Arc::new(StringArray::new_null(rows));
    let batch = RecordBatch::try_from_iter([("name", nulls)]).unwrap();
    let mut parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    parquet.write(&batch).unwrap();
    arrow.write(&batch).unwrap();
    [("t.parquet", parquet.into_inner().unwrap()), ("t.arrow", arrow.into_inner().unwrap())]
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

fn read_bytes(name: &str, bytes: &[u8], wanted: Wanted<'_>) -> Columns {
    read(file_of(bytes), name, &[wanted])
}

/// A few bytes claim any number of rows: what they would take in memory is bounded before it is taken. Of another column, which is not
/// there, no row is read at all.
#[test]
fn rows_that_a_file_only_claims_are_refused() {
    let form = form("text:null=");
    let wanted = |column, width| Wanted { column, ty: bits(width), form: &form };
    for (name, bytes) in nulls(40_000) {
        let rows = read_bytes(name, &bytes, wanted("name", 8)).unwrap().remove(0).unwrap().lanes();
        assert_eq!(rows, 40_000, "{name}");
        let widest = (128 << 20) + 1000 * bytes.len() as u32;
        let refused = read_bytes(name, &bytes, wanted("name", 8 * (widest / 40_000 + 1))).unwrap_err().to_string();
        assert!(
            refused.contains("says that it has ") && refused.contains("column 'name' would take more"),
            "{refused}"
        );
        assert!(read_bytes(name, &bytes, wanted("other", 8)).unwrap()[0].is_none());
    }
}

/// The rows of a part are claimed in the footer of a Parquet file: nothing is allocated by it, nor by what else is counted there.
#[test]
fn a_claim_in_a_footer_is_refused() {
    let [(name, bytes), _] = nulls(5000);
    let (form, end) = (form("text:null="), bytes.len() - 8);
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    // 5,000 as a number of Thrift, and one of nine bytes, with which the footer grows.
    let (count, claim) = ([0x90, 0x4e], [0x90, 0xce, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f]);
    let places = (end - footer as usize..end).filter(|&at| bytes[at..at + 2] == count);
    let with_claim = |at: usize| {
        let length = (footer + (claim.len() - count.len()) as u32).to_le_bytes();
        [&bytes[..at], &claim, &bytes[at + 2..end], &length, &bytes[end + 4..]].concat()
    };
    let is_refused = |why: Option<Error>| why.is_some_and(|why| why.to_string().contains("says that it has "));
    let refused = places.map(with_claim).map(|harmed| {
        let columns = read_bytes(name, &harmed, Wanted { column: "name", ty: bits(64), form: &form });
        let keys = values::keyed::parquet_keys(file_of(&harmed), name, "name", |_| {});
        [columns.err(), keys.err()].map(is_refused)
    });
    assert!(refused.collect::<Vec<_>>().contains(&[true; 2]));
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        which in prop::collection::vec(0..FORMS.len(), 1..5), lanes in 0usize..20, words in prop::collection::vec(any::<u64>(), 200),
    ) {
        let (types, forms): (Vec<Type>, Vec<Form>) =
            which.iter().map(|&i| (FORMS[i].0.parse::<Type>().unwrap(), form(FORMS[i].1))).unzip();
        let names: Vec<String> = (0..which.len()).map(|i| format!("a \"column\", {i}")).collect();
        let matrices: Vec<BitMatrix> = types.iter().map(|ty| random(*ty, lanes, &words)).collect();
        let written: Vec<_> =
            (0..which.len()).map(|i| Written::new(&names[i], &matrices[i], types[i], &forms[i]).unwrap()).collect();
        let wanted: Vec<_> =
            (0..which.len()).map(|i| Wanted { column: &names[i], ty: types[i], form: &forms[i] }).collect();
        for (format, name) in [(Format::Parquet, "t.parquet"), (Format::Arrow, "t.arrow")] {
            let mut file = tempfile::tempfile().unwrap();
            values::write(&written, format, &mut file).unwrap();
            file.rewind().unwrap();
            let again: Vec<BitMatrix> = read(file, name, &wanted).unwrap().into_iter().map(Option::unwrap).collect();
            prop_assert_eq!(&again, &matrices);
        }
    }

    /// A file that came to harm is refused, or read as something else.
    #[test]
    fn harm_ends_in_an_error(harm in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut: bool) {
        let parquet = std::fs::read(format!("{}/tests/vectors/people.parquet", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let names = BitMatrix::from_numbers(64, &[0x6162u64, 0x63, 0]).unwrap();
        let column = Written::new("name", &names, bits(64), &form("text")).unwrap();
        let mut arrow = Vec::new();
        values::write(&[column], Format::Arrow, &mut arrow).unwrap();
        for (name, mut bytes) in [("t.parquet", parquet), ("t.arrow", arrow)] {
            for (at, byte) in &harm {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                if cut {
                    bytes.truncate(at + 1);
                }
            }
            let form = form("text:null=");
            drop(read_bytes(name, &bytes, Wanted { column: "name", ty: bits(64), form: &form }));
        }
    }
}

/// Lanes of any values, but no float that is no number.
fn random(ty: Type, lanes: usize, words: &[u64]) -> BitMatrix {
    let mut matrix = BitMatrix::zeros(ty.width as usize, lanes);
    for (i, (row, lane)) in (0..ty.width as usize).flat_map(|row| (0..lanes).map(move |lane| (row, lane))).enumerate() {
        let bit = words[i / 64 % words.len()] >> (i % 64) & 1 == 1;
        // The highest bit of an exponent is left out: there is no NaN and no infinity.
        let exponent = matches!(ty.kind, circuit::Kind::Float { .. }) && row == ty.width as usize - 2;
        matrix.set(row, lane, bit && !exponent);
    }
    matrix
}

//! Tables in CSV as people have them, against what Python's modules read in them; and what is refused, and where.

use circuit::{BitMatrix, Type, bits, int, uint};
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};
use values::{Error, Form, Format, Wanted, Written, csv};

fn form(text: &str) -> Form {
    if text.is_empty() { Form::default() } else { text.parse().unwrap() }
}

fn read(table: &[u8], column: &str, ty: Type, text: &str) -> Result<BitMatrix, Error> {
    let form = form(text);
    let mut columns = csv::columns(table, "t.csv", &[Wanted { column, ty, form: &form }])?;
    Ok(columns.remove(0).expect("the column is there"))
}

fn uints(table: &str, column: &str, ty: Type, form: &str) -> Vec<u64> {
    read(table.as_bytes(), column, ty, form).unwrap().to_numbers().unwrap()
}

fn refused(table: &[u8], column: &str, ty: Type, form: &str) -> String {
    read(table, column, ty, form).unwrap_err().to_string()
}

const PEOPLE: &str = "\u{feff}\"name\", salary ,born,fair,\"a \"\"key\"\"\"\r\n\
    \"Müller, Anna\",1200.50,1984-02-29,true,00ff\r\n\
    \"two\nlines\", 999 ,1969-12-31,0,ABCD\r\n\r\n\
    Bo,-0.01,2024-01-01,False,0000\r\n";

#[test]
fn quotes_line_ends_spaces_and_a_mark() {
    assert_eq!(uints(PEOPLE, "fair", bits(1), ""), [1, 0, 0]);
    assert_eq!(uints(PEOPLE, "a \"key\"", bits(16), ""), [0xff00, 0xcdab, 0]);
    let salaries = read(PEOPLE.as_bytes(), "salary", int(32), "decimal(2)").unwrap();
    assert_eq!(salaries.to_numbers::<i64>().unwrap(), [120_050, 99_900, -1]);
    let born = read(PEOPLE.as_bytes(), "born", int(32), "date").unwrap();
    assert_eq!(born.to_numbers::<i64>().unwrap(), [5172, -1, 19_723]);
    let names = read(PEOPLE.as_bytes(), "name", bits(128), "text").unwrap().to_byte_rows();
    assert_eq!(&names[..16], "Müller, Anna\0\0\0".as_bytes());
    assert_eq!(&names[16..32], b"two\nlines\0\0\0\0\0\0\0");
}

#[test]
fn several_columns_are_read_at_once() {
    let forms = [form("text"), form("decimal(2)"), form("")];
    let columns = ["name", "salary", "none"];
    let types = [bits(128), int(32), uint(8)];
    let wanted: Vec<_> = (0..3).map(|i| Wanted { column: columns[i], ty: types[i], form: &forms[i] }).collect();
    let read = csv::columns(PEOPLE.as_bytes(), "people.csv", &wanted).unwrap();
    assert_eq!(
        read.iter().map(|column| column.as_ref().map(BitMatrix::lanes)).collect::<Vec<_>>(),
        [Some(3), Some(3), None]
    );
}

#[test]
fn empty_sets_one_row_and_duplicates() {
    assert_eq!(uints("id", "id", uint(8), ""), [0; 0]);
    assert_eq!(uints("id\n", "id", uint(8), ""), [0; 0]);
    assert_eq!(uints("id\n7", "id", uint(8), ""), [7]);
    assert_eq!(uints("id\n7\n7\n7\n", "id", uint(8), ""), [7, 7, 7]);
}

#[test]
fn empty_cells_stand_for_what_is_said() {
    let table = "id,name\n1,a\n , \n3,\n";
    assert_eq!(uints(table, "id", uint(8), "null=9"), [1, 9, 3]);
    assert_eq!(uints(table, "name", bits(8), "text:null="), [0x61, 0x20, 0]);
    assert_eq!(uints("n,d\n1,\n2,2024-01-01\n", "d", uint(16), "date:null=1970-01-02"), [1, 19_723]);
    let why = refused(table.as_bytes(), "id", uint(8), "");
    assert_eq!(
        why,
        "t.csv, line 3, column 'id': expected a number of 0 to 255 for uint(8), not an empty cell: null=VALUE says what those \
         stand for"
    );
    assert!(refused(table.as_bytes(), "name", bits(8), "text").starts_with("t.csv, line 4, column 'name'"));
    assert!(refused(table.as_bytes(), "id", uint(8), "null=256").contains("null='256': expected a number of 0 to 255"));
}

#[test]
fn words_fill_a_port() {
    let table = "v\n1\n2\n3\n4\n5\n6\n";
    let lanes = read(table.as_bytes(), "v", bits(48), "uint(16)").unwrap();
    assert_eq!((lanes.rows(), lanes.lanes()), (48, 2));
    assert_eq!(lanes.to_numbers::<u64>().unwrap(), [0x0003_0002_0001, 0x0006_0005_0004]);
    let lanes = read(table.as_bytes(), "v", bits(9), "uint(3)").unwrap();
    assert_eq!(lanes.to_numbers::<u64>().unwrap(), [1 | 2 << 3 | 3 << 6, 4 | 5 << 3 | 6 << 6]);
    let why = refused(table.as_bytes(), "v", bits(64), "uint(16)");
    assert_eq!(why, "t.csv: column 'v' has 6 rows: expected a multiple of 4, the words of a lane");
}

/// As PostgreSQL and R write a value that is not there.
#[test]
fn an_empty_line_of_one_column_is_an_empty_cell() {
    for table in ["v\n1\n\n3\n\n\n", "v\r\n1\r\n\r\n3\r\n\r\n", "v\n1\n\"\"\n3"] {
        assert_eq!(uints(table, "v", uint(8), "null=9"), [1, 9, 3], "{table:?}");
    }
    assert_eq!(uints("v\n\n\n3", "v", uint(8), "null=9"), [9, 9, 3]);
    assert_eq!(uints("v,w\n1,1\n\n3,1\n", "v", uint(8), "null=9"), [1, 3]);
}

/// 2^127 days and more have no date.
#[test]
fn a_number_that_no_date_has_stays_a_number() {
    let numbers = [u128::MAX, i128::MAX as u128, 0];
    let lanes = BitMatrix::from_numbers(128, &numbers).unwrap();
    for unit in ["date", "time(s)"] {
        let mut table = Vec::new();
        let form = form(unit);
        values::write(&[Written::new("d", &lanes, uint(128), &form).unwrap()], Format::Csv, &mut table).unwrap();
        let table = String::from_utf8(table).unwrap();
        assert!(table.starts_with(&format!("d\n{}\n", u128::MAX)), "{table}");
        assert!(unit != "date" || table.lines().nth(2) == Some(&i128::MAX.to_string()), "{table}");
    }
}

/// The line is that of the cell, and no word of a cell is repeated.
#[test]
fn errors_say_where_and_never_what() {
    let text = |bytes: u32| format!("UTF-8 text of at most {bytes} bytes, none of them zero");
    for (table, ty, form, line, expected) in [
        ("x\n1\n256\n", uint(8), "", 3, "a number of 0 to 255 for uint(8)".into()),
        ("x,y\n1,1\n\n\n256,1\n", uint(8), "", 5, "a number of 0 to 255".into()),
        ("x,y\r\n1,1\r\n\r\n256,1\r\n", uint(8), "", 4, "a number of 0 to 255".into()),
        ("x\r\n1\r\n\r\n\r\n256\r\n", uint(8), "", 3, "not an empty cell".into()),
        ("x\n1\n\n\n256\n", uint(8), "null=7", 5, "a number of 0 to 255".into()),
        ("x,note\n10,\"secret\n20,y\n30,z\n", uint(8), "", 2, "a double quote that closes".into()),
        ("y,x\n\"a\nb\n\",1\nc,secret\n", uint(8), "", 5, "a number of 0 to 255".into()),
        ("x,y\n1,2\n1\n", uint(8), "", 3, "2 fields, as the first line has, not 1".into()),
        ("x\n1.5\n1.555\n", uint(8), "decimal(2)", 3, "at most 2 digits after the point, in range for uint(8)".into()),
        ("x\n2.56\n", uint(8), "decimal(2)", 2, "in range for uint(8)".into()),
        ("x\n2023-02-29\n", uint(32), "date", 2, "a date such as 2024-02-29".into()),
        ("x\n1969-12-31\n", uint(32), "date", 2, "in range for uint(32)".into()),
        ("x\n2024-01-01T00:00:00.5\n", uint(64), "time(s)", 2, "whole seconds".into()),
        ("x\nsecret\n", bits(40), "text", 2, text(5)),
        ("x\nse\0ret\n", bits(48), "text", 2, text(6)),
        ("x\nsecre\n", bits(40), "", 2, "5 bytes in hexadecimal".into()),
        ("x\n2\n", bits(1), "", 2, "0 or 1, false or true".into()),
    ] {
        let why = refused(table.as_bytes(), "x", ty, form);
        assert!(why.starts_with(&format!("t.csv, line {line}")) && why.contains(&expected), "{table:?}: {why}");
        assert!(!why.contains("256\n") && !why.contains("secre") && !why.contains("1.5"), "{why}");
    }
    let why = refused(b"x\nse\xffret\n", "x", bits(64), "text");
    assert!(why.starts_with("t.csv, line 2") && !why.contains("ret"), "{why}");
    for (table, expected) in [("", "t.csv: it is empty"), ("x,x\n1,2\n", "t.csv: two columns are named 'x'")] {
        assert!(refused(table.as_bytes(), "x", uint(8), "").starts_with(expected));
    }
    let why = csv::lanes(&b"1\n2\n\nsecret\n"[..], "l.csv", uint(8)).unwrap_err().to_string();
    assert_eq!(why, "l.csv, line 4, lane 2: expected a number of 0 to 255 for uint(8)");
}

/// Reads a table with Python's modules, in the order of the columns below, and prints all numbers.
const PYTHON: &str = r#"
import csv, datetime, decimal, io, sys
utc = datetime.timezone.utc
for row in csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline="")):
    moment = datetime.datetime.fromisoformat(row["when"]).replace(tzinfo=utc) - datetime.datetime(1970, 1, 1, tzinfo=utc)
    print(int.from_bytes(row["name"].encode().ljust(24, b"\0"), "little"), int(row["id"]),
          int(decimal.Decimal(row["pay"]).scaleb(3)), datetime.date.fromisoformat(row["day"]).toordinal() - 719163,
          moment // datetime.timedelta(microseconds=1))
"#;

/// What Python reads, unless there is none.
fn python(table: &[u8]) -> Option<Vec<Vec<i128>>> {
    let command = Command::new("python3").args(["-c", PYTHON]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = command else {
        assert!(std::env::var_os("CI").is_none(), "there is no python3");
        return None;
    };
    child.stdin.take().unwrap().write_all(table).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let line = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect();
    Some(String::from_utf8(output.stdout).unwrap().lines().map(line).collect())
}

/// A generator of numbers, for tables that are the same every time.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn a_table_is_read_as_python_reads_it() {
    let names = ["Anna", "", "a,b", "\"q\"", "Zoë", "x\ny", " spaced ", "日本"];
    let mut state = 1;
    let mut table = String::from("\u{feff}day,name,id,when,pay\r\n");
    for _ in 0..500 {
        let mut n = |most: u64| next(&mut state) % most;
        let (day, time) = (format!("{:04}-{:02}-{:02}", 1 + n(9999), 1 + n(12), 1 + n(28)), [n(24), n(60), n(60)]);
        let name = names[n(8) as usize].replace('"', "\"\"");
        let id = if n(2) == 0 { -(n(1 << 31) as i64) } else { n(1 << 31) as i64 };
        let pay = [format!("-{}.{:03}", n(1000), n(1000)), format!("{}", n(1000)), format!("{}.{}", n(10), n(10))];
        let [hours, minutes, seconds] = time;
        let when = format!("{day}T{hours:02}:{minutes:02}:{seconds:02}.{:06}", n(1_000_000));
        table += &format!("{day},\"{name}\",{id},{when},{}\r\n", pay[n(3) as usize]);
    }
    let Some(expected) = python(table.as_bytes()) else { return };
    let forms = ["text:null=", "", "decimal(3)", "date", "time(us)"].map(form);
    let names = ["name", "id", "pay", "day", "when"];
    let types = [bits(192), int(64), int(40), int(32), int(64)];
    let wanted: Vec<_> = (0..5).map(|i| Wanted { column: names[i], ty: types[i], form: &forms[i] }).collect();
    let columns = csv::columns(table.as_bytes(), "t.csv", &wanted).unwrap();
    let lanes: Vec<_> = columns.into_iter().map(Option::unwrap).collect();
    assert_eq!(expected.len(), 500);
    for (lane, row) in expected.iter().enumerate() {
        let name: Vec<bool> = (0..192).map(|bit| bit < 127 && row[0] >> bit & 1 == 1).collect();
        assert_eq!(lanes[0].lane(lane), name);
    }
    for (column, lanes) in lanes.iter().enumerate().skip(1) {
        let numbers = lanes.to_numbers::<i128>().unwrap();
        assert!(numbers.into_iter().eq(expected.iter().map(|row| row[column])), "{}", names[column]);
    }
}

/// Types, and forms that they have.
const FORMS: [(&str, &str); 16] = [
    ("uint(7)", ""),
    ("uint(128)", ""),
    ("uint(200)", ""),
    ("int(64)", ""),
    ("bits(1)", ""),
    ("bits(13)", ""),
    ("bits(128)", ""),
    ("float(32, 8)", ""),
    ("float(64, 11)", ""),
    ("fixed(32, 16)", ""),
    ("uint(64)", "decimal(2)"),
    ("int(128)", "decimal(38)"),
    ("int(20)", "date"),
    ("uint(34)", "time(s)"),
    ("bits(96)", "uint(32)"),
    ("bits(96)", "int(24):decimal(1)"),
];

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
        let mut table = Vec::new();
        let wanted: Vec<_> =
            (0..which.len()).map(|i| Wanted { column: &names[i], ty: types[i], form: &forms[i] }).collect();
        match values::write(&written, Format::Csv, &mut table) {
            Ok(()) => {
                let again = csv::columns(&table[..], "t.csv", &wanted).unwrap();
                let again: Vec<BitMatrix> = again.into_iter().map(Option::unwrap).collect();
                prop_assert_eq!(again, matrices);
            }
            // Words and no words do not have as many rows.
            Err(_) => prop_assert!(lanes > 0 && which.iter().any(|&i| i >= 14) && which.len() > 1),
        }
    }
}

/// Lanes of any values, but that no float is one of several that are written alike.
fn random(ty: Type, lanes: usize, words: &[u64]) -> BitMatrix {
    let mut matrix = BitMatrix::zeros(ty.width as usize, lanes);
    for (i, row) in (0..ty.width as usize).flat_map(|row| (0..lanes).map(move |lane| (row, lane))).enumerate() {
        let bit = words[i / 64 % words.len()] >> (i % 64) & 1 == 1;
        // The highest bit of an exponent is left out: there is no NaN and no infinity.
        let exponent = matches!(ty.kind, circuit::Kind::Float { .. }) && row.0 == ty.width as usize - 2;
        matrix.set(row.0, row.1, bit && !exponent);
    }
    matrix
}

#[test]
fn json_has_a_list_for_each_column() {
    let numbers = BitMatrix::from_numbers(16, &[7u16, 65535]).unwrap();
    let columns = ["plain", "pay"].map(|name| {
        let form = form(if name == "pay" { "decimal(1)" } else { "" });
        Written::new(name, &numbers, uint(16), &form).unwrap()
    });
    let mut text = Vec::new();
    values::write(&columns, Format::Json, &mut text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "{\"pay\":[\"0.7\",\"6553.5\"],\"plain\":[7,65535]}\n");
}

#[test]
fn columns_that_make_no_table_are_refused() {
    let plain = Form::default();
    let check = |columns: &[(&str, Type, u64, &Form)]| {
        values::check_columns(columns.iter().copied()).map_err(|why| why.to_string())
    };
    check(&[("a", uint(8), 3, &plain), ("b", bits(48), 1, &form("uint(16)"))]).unwrap();
    assert!(
        check(&[("a", uint(8), 3, &plain), ("b", uint(8), 4, &plain)])
            .unwrap_err()
            .contains("3 rows in 'a' and 4 in 'b'")
    );
    assert!(
        check(&[("a", uint(8), 3, &plain), ("a", uint(8), 3, &plain)])
            .unwrap_err()
            .contains("two columns are named 'a'")
    );
    assert!(check(&[("a", bits(8), 3, &form("date"))]).is_err());
}

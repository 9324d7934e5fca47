//! What the fuzz target of tables does with its bytes. It needs nothing of the library, so it is apart from the others;
//! `crates/values/tests/decoders.rs` runs it on a few thousand inputs.

use circuit::BitMatrix;
use values::{Form, Format, Location, Wanted, Written, csv};

/// Columns by name, type and form.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("id", "uint(16)", "null=0"),
    ("pay", "int(40)", "decimal(2):null=-1"),
    ("day", "int(32)", "date:null=2024-01-01"),
    ("when", "int(64)", "time(us):null=2024-01-01"),
    ("name", "bits(64)", "text:null="),
    ("real", "fixed(32, 16)", "null=0"),
    ("fair", "bit", "null=0"),
    ("words", "bits(30)", "uint(15):null=0"),
];

/// A table in CSV, lanes without a header, and a location. What is read is written and read again as the same.
pub fn table(bytes: &[u8]) {
    let forms: Vec<Form> = COLUMNS.iter().map(|(.., form)| form.parse().expect("a form")).collect();
    for ((column, ty, _), form) in COLUMNS.iter().zip(&forms) {
        let wanted = Wanted { column, ty: ty.parse().expect("a type"), form };
        if let Ok(mut columns) = csv::columns(bytes, "t.csv", &[wanted])
            && let Some(lanes) = columns.remove(0)
        {
            assert!(again(&lanes, &wanted) == lanes, "{column} is read as something else than what was written");
        }
    }
    for ty in ["uint(10)", "bits(3)", "bits(16)", "int(200)", "fixed(20, 7)"] {
        let ty = ty.parse().expect("a type");
        if let Ok(lanes) = csv::lanes(bytes, "l.csv", ty) {
            let mut text = Vec::new();
            csv::write_lanes(&lanes, ty, &mut text).expect("memory");
            assert!(csv::lanes(&text[..], "l.csv", ty).expect("what we write can be read") == lanes);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(text.parse::<Location>());
    }
}

fn again(lanes: &BitMatrix, wanted: &Wanted<'_>) -> BitMatrix {
    let column = Written::new(wanted.column, lanes, wanted.ty, wanted.form).expect("a form of this type");
    let mut text = Vec::new();
    values::write(&[column], Format::Csv, &mut text).expect("memory");
    let columns = csv::columns(&text[..], "t.csv", std::slice::from_ref(wanted));
    columns.expect("what we write can be read").remove(0).expect("it is there")
}

/// Tables with all columns, with some, and without a header.
pub fn tables() -> Vec<Vec<u8>> {
    let all = "id,pay,day,when,name,real,fair,words\r\n7,-1.50,2024-02-29,2024-02-29T12:30:15.25+05:30,\"a,\"\"b\",-0.5,true,1\r\n\
        ,,,,,,,\n65535,0,1969-12-31,0001-01-01 00:00:00Z,Z\u{f6}e,1.25,0,32767\r\n0,0,2000-01-01,2000-01-01,x,0,1,0\n";
    let some = "\u{feff}name, id\n\"two\nlines\",3\n\n";
    let none = "1\n0x2ff\n100\n\n3\n";
    let location = "a.csv:\"x:\"\"y\":decimal(2):uint(32):null=1:2";
    [all, some, none, location].map(|text| text.as_bytes().to_vec()).to_vec()
}

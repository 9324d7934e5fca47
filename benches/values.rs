//! How long a table of 10⁶ rows takes to be read and checked, each a key of 16 bytes, an integer and a decimal, on one core.

use circuit::{bits, int, uint};
use criterion::{Criterion, criterion_group, criterion_main};
use values::{Form, Format, Wanted, Written, csv};

const ROWS: usize = 1_000_000;

/// The columns: name, type and form.
fn forms() -> [(&'static str, circuit::Type, Form); 3] {
    let form = |text: &str| text.parse().expect("a form");
    [("key", bits(128), Form::default()), ("count", uint(32), Form::default()), ("pay", int(40), form("decimal(2)"))]
}

/// A table of that format, of numbers that look random.
fn table(format: Format) -> Vec<u8> {
    let number = |row: usize, k: u64| (row as u64 + 1).wrapping_mul(k).rotate_left(29).wrapping_mul(k);
    let keys: Vec<u128> = (0..ROWS).map(|row| number(row, 0x9e37_79b9_7f4a_7c15).into()).collect();
    let keys: Vec<u128> = keys.iter().map(|key| key | key.rotate_left(70)).collect();
    let counts: Vec<u32> = (0..ROWS).map(|row| number(row, 0xd6e8_feb8_6659_fd93) as u32).collect();
    let pay: Vec<i32> = (0..ROWS).map(|row| number(row, 0xa076_1d64_78bd_642f) as i32).collect();
    let matrices = [
        circuit::BitMatrix::from_numbers(128, &keys),
        circuit::BitMatrix::from_numbers(32, &counts),
        circuit::BitMatrix::from_numbers(40, &pay),
    ]
    .map(|matrix| matrix.expect("they fit"));
    let columns: Vec<_> = forms()
        .iter()
        .zip(&matrices)
        .map(|((name, ty, form), lanes)| Written::new(name, lanes, *ty, form).expect("a form of this type"))
        .collect();
    let mut bytes = Vec::new();
    values::write(&columns, format, &mut bytes).expect("memory");
    bytes
}

fn read(c: &mut Criterion) {
    let forms = forms();
    let wanted: Vec<_> = forms.iter().map(|&(column, ty, ref form)| Wanted { column, ty, form }).collect();
    let mut group = c.benchmark_group("read");
    group.sample_size(10);
    let text = table(Format::Csv);
    group.bench_function("csv", |b| b.iter(|| csv::columns(&text[..], "t.csv", &wanted).expect("a table")));
    #[cfg(feature = "parquet")]
    for format in [Format::Parquet, Format::Arrow] {
        let file = std::env::temp_dir().join(format!("duologue-bench-{}", std::process::id()));
        std::fs::write(&file, table(format)).expect("room for a file");
        let open = || std::fs::File::open(&file).expect("it was written");
        group.bench_function(format!("{format:?}").to_lowercase(), |b| {
            b.iter(|| match format {
                Format::Parquet => values::parquet::columns(open(), "t", &wanted).expect("a table"),
                _ => values::arrow::columns(open(), "t", &wanted).expect("a table"),
            })
        });
        std::fs::remove_file(&file).expect("it was written");
    }
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);

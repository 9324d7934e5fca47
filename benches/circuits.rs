//! How long it takes to build large circuits, to bind and cost a program of many lanes, and to make inputs of numbers and
//! numbers of outputs, on one core.

use apps::eigenfaces::eigenfaces;
use apps::proximity::{Metric, proximity};
use criterion::{Criterion, criterion_group, criterion_main};
use duologue::circuit::BitMatrix;
use duologue::circuit::blocks::float::Format;
use duologue::circuit::blocks::{self, Goal};
use duologue::{Options, Scheme, cost};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// The largest that people ask for at their usual widths.
const BLOCKS: [(&str, &str); 7] = [
    ("multiply", "64"),
    ("multiply", "512"),
    ("divide", "64"),
    ("fp_div_ieee", "64"),
    ("fp_exp2_ieee", "64"),
    ("fp_sin_ieee", "64"),
    ("sort_odd_even", "1024x32x0"),
];

fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    group.sample_size(10);
    for goal in GOALS {
        for (name, size) in BLOCKS {
            let block = blocks::find(name).expect("a block");
            let size = block.size(size).expect("a size");
            let label = format!("{name}:{}:{goal}", block.label(&size));
            group.bench_function(label, |b| b.iter(|| block.circuit(&size, goal).expect("in range")));
        }
        let haversine = || proximity(Metric::Haversine, Format::DOUBLE, goal);
        group.bench_function(format!("proximity_haversine:64:{goal}"), |b| b.iter(haversine));
    }
}

/// The paper's largest: 1,000 faces of 10,304 pixels, whose lanes are not unrolled.
fn bind_and_cost(c: &mut Criterion) {
    let mut group = c.benchmark_group("build, bind and cost");
    group.sample_size(10);
    for goal in GOALS {
        let eigenfaces = || {
            let binding = eigenfaces(10_304, goal).bind(&[("faces", 1000)]).expect("a size in range");
            cost::cost(&binding, &Options::new(Scheme::Gmw)).expect("a program that can be costed").ands
        };
        group.bench_function(format!("eigenfaces:10304:{goal}, 1000 faces"), |b| b.iter(eigenfaces));
    }
}

/// A million numbers of 64 bits, which are to take 10 ms each way, and others beside them.
fn numbers(c: &mut Criterion) {
    let mut group = c.benchmark_group("a million lanes");
    let lanes = 1_000_000u64;
    let numbers: Vec<u64> = (0..lanes).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let matrix = BitMatrix::from_numbers(64, &numbers).expect("64 bits");
    group.bench_function("from u64", |b| b.iter(|| BitMatrix::from_numbers(64, &numbers).expect("64 bits")));
    group.bench_function("to u64", |b| b.iter(|| matrix.to_numbers::<u64>().expect("64 bits")));
    let narrow: Vec<u8> = numbers.iter().map(|&number| number as u8).collect();
    let bytes = BitMatrix::from_numbers(8, &narrow).expect("8 bits");
    group.bench_function("from u8", |b| b.iter(|| BitMatrix::from_numbers(8, &narrow).expect("8 bits")));
    group.bench_function("to u8", |b| b.iter(|| bytes.to_numbers::<u8>().expect("8 bits")));
    let rows = matrix.to_byte_rows();
    group.bench_function("from rows of 8 bytes", |b| b.iter(|| BitMatrix::from_byte_rows(64, &rows).expect("rows")));
    group.bench_function("to rows of 8 bytes", |b| b.iter(|| matrix.to_byte_rows()));
}

criterion_group!(benches, build, bind_and_cost, numbers);
criterion_main!(benches);

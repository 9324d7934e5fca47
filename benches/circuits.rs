//! How long it takes to build large circuits, and to bind and cost a program of many lanes, on one core.

use apps::eigenfaces::eigenfaces;
use apps::proximity::{Metric, proximity};
use circuit::blocks::float::Format;
use circuit::blocks::{self, Goal};
use criterion::{Criterion, criterion_group, criterion_main};
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

criterion_group!(benches, build, bind_and_cost);
criterion_main!(benches);

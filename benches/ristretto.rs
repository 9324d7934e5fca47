//! Points of ristretto255 on one core: time a point of large batches, on each backend that computes them in a way of its
//! own. The portable one is curve25519-dalek.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use duologue_kernels::generator::Generator;
use duologue_kernels::ristretto::{FixedBase, Ristretto, Scalar, Singles, Term};
use duologue_kernels::{Backend, Block};

/// Points a call.
const COUNT: usize = 1024;

fn random() -> Vec<[u8; 64]> {
    let mut words = vec![0; 8 * COUNT];
    Generator::from_seed(Block::new(5)).words(&mut words);
    bytemuck::cast_slice::<u64, u8>(&words).as_chunks().0.to_vec()
}

fn points(c: &mut Criterion) {
    let uniform = random();
    let scalars: Vec<_> = uniform.iter().map(Scalar::from_bytes_mod_order_wide).collect();
    let mut measured = c.benchmark_group("ristretto255");
    measured.throughput(Throughput::Elements(COUNT as u64));
    for backend in [Backend::available()[0], Backend::Portable] {
        let group = Ristretto::with_backend(backend);
        let points = group.map(&uniform);
        let (encodings, table) = (points.encode(), FixedBase::new(&points.pick([0].into_iter())));
        let mut measure = |name, run: &dyn Fn()| {
            measured.bench_function(format!("{name}, {backend}"), |b| b.iter(run));
        };
        measure("one scalar times many points", &|| drop(points.multiply(&scalars[0])));
        measure("many scalars times a fixed point", &|| drop(table.multiply(&scalars)));
        measure("decode", &|| drop(group.decode(&encodings)));
        measure("encode", &|| drop(points.encode()));
        measure("encode doubles", &|| drop(points.encode_doubles()));
        measure("hash to points", &|| drop(group.map(&uniform)));
        measure("add", &|| drop(points.add(&points)));
        let mut singles = Singles::neutral(group, COUNT);
        singles.put(0..COUNT, &points);
        let term = |place: usize| Term { place: (place * 389 % COUNT) as u32, negative: place.is_multiple_of(3) };
        let lists: Vec<_> = (0..COUNT).map(|at| [at, at + 1, at + 2, at + 3].map(term)).collect();
        measure("sums of four by themselves", &|| drop(singles.sums(&lists)));
        measure("table of a fixed point, for all", &|| drop(FixedBase::new(&points.pick([0].into_iter()))));
    }
}

criterion_group!(all, points);
criterion_main!(all);

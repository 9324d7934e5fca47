//! The kernels on one core, on every backend that the processor has: ANDs, OTs, blocks or bits a second.
//! Operands stay in the second-level cache.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use duologue_kernels::aes::Aes128;
use duologue_kernels::gates::Operand;
use duologue_kernels::gates::{Gate, Numbers};
use duologue_kernels::generator::Generator;
use duologue_kernels::half_gates::HalfGates;
use duologue_kernels::local::LocalCode;
use duologue_kernels::ot_hash::OtHash;
use duologue_kernels::planes::Leaves;
use duologue_kernels::rows::{BlockRows, RowXor};
use duologue_kernels::three_halves::ThreeHalves;
use duologue_kernels::transpose::{columns, columns_streaming, transpose_128, transpose_bits};
use duologue_kernels::tree::Patch;
use duologue_kernels::tree::TreeHash;
use duologue_kernels::{Backend, Block};

const LEN: usize = 4096;
const S: Block = Block::new(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);

fn random(len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Generator::from_seed(S).fill_blocks(&mut blocks);
    blocks
}

/// Measures a kernel on each backend, with a buffer for its output.
fn each(c: &mut Criterion, name: &str, len: usize, run: impl Fn(Backend) -> Box<dyn FnMut(&mut [Block])>) {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(len as u64));
    let mut out = random(3 * len);
    for backend in Backend::available() {
        let mut kernel = run(backend);
        group.bench_function(BenchmarkId::from_parameter(backend), |b| b.iter(|| kernel(&mut out)));
    }
}

fn gates(c: &mut Criterion) {
    for (name, len) in [("garble", LEN), ("garble, 128 ANDs a call", 128), ("garble, 1 AND a call", 1)] {
        each(c, name, len, move |backend| {
            let (hash, labels) = (HalfGates::with_backend(S, backend), random(2 * len));
            let mut first = 0;
            Box::new(move |out| {
                let (out, tables) = out.split_at_mut(len);
                let tables = bytemuck::cast_slice_mut(&mut tables[..2 * len]);
                let [a, b] = [&labels[..len], &labels[len..]].map(|labels| Operand { labels, flip: false });
                hash.garble(first, S.with_lsb(true), a, b, out, tables);
                first += len as u64;
            })
        });
    }
    for (name, len) in [("evaluate", LEN), ("evaluate, 128 ANDs a call", 128), ("evaluate, 1 AND a call", 1)] {
        each(c, name, len, move |backend| {
            let (hash, labels) = (HalfGates::with_backend(S, backend), random(2 * len));
            let mut first = 0;
            Box::new(move |out| {
                let (out, tables) = out.split_at_mut(len);
                let tables = bytemuck::cast_slice(&tables[..2 * len]);
                hash.evaluate(first, &labels[..len], &labels[len..], out, tables);
                first += len as u64;
            })
        });
    }
}

/// Sixteen gates a call on so many lanes each.
fn several_gates(c: &mut Criterion) {
    const GATES: usize = 16;
    let gate = |i: usize| Gate::new((GATES + 1 + i) as u32, [(i as u32, i & 1 == 0), (i as u32 + 1, false)]);
    for lanes in [16, 32, 64, 128] {
        let (gates, step): (Vec<_>, u64) = ((0..GATES).map(gate).collect(), lanes as u64);
        for garble in [true, false] {
            let name = format!("{}, 16 gates a call on {lanes} lanes", if garble { "garble" } else { "evaluate" });
            each(c, &name, GATES * lanes, |backend| {
                let (hash, mut blocks) = (HalfGates::with_backend(S, backend), random((2 * GATES + 1) * lanes));
                let (mut first, gates) = (0, gates.clone());
                Box::new(move |out| {
                    let matrix = BlockRows { blocks: &mut blocks, len: lanes };
                    let tables = bytemuck::cast_slice_mut(&mut out[..2 * GATES * lanes]);
                    let mut rows: Vec<_> = tables.chunks_mut(lanes).collect();
                    let rows_read: Vec<_>;
                    if garble {
                        hash.garble_gates(Numbers { first, step }, S.with_lsb(true), matrix, &gates, &mut rows);
                    } else {
                        rows_read = rows.iter().map(|row| &**row).collect();
                        hash.evaluate_gates(Numbers { first, step }, matrix, &gates, &rows_read);
                    }
                    first += (GATES * lanes) as u64;
                })
            });
        }
    }
}

/// Tables of three halves begin anywhere; the buffer has room for three blocks an AND.
fn three_halves(c: &mut Criterion) {
    for (name, len) in [("three halves, garble", LEN), ("three halves, garble, 128 ANDs a call", 128)] {
        each(c, name, len, move |backend| {
            let (hash, labels) = (ThreeHalves::with_backend(S, backend), random(2 * len));
            let mut first = 0;
            Box::new(move |out| {
                let (out, tables) = out.split_at_mut(len);
                let tables = bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<_, u8>(tables)[..25 * len]);
                let [a, b] = [&labels[..len], &labels[len..]].map(|labels| Operand { labels, flip: false });
                hash.garble(first, S.with_lsb(true), a, b, out, tables);
                first += len as u64;
            })
        });
    }
    for (name, len) in [("three halves, evaluate", LEN), ("three halves, evaluate, 128 ANDs a call", 128)] {
        each(c, name, len, move |backend| {
            let (hash, labels) = (ThreeHalves::with_backend(S, backend), random(2 * len));
            let mut first = 0;
            Box::new(move |out| {
                let (out, tables) = out.split_at_mut(len);
                let tables = bytemuck::cast_slice(&bytemuck::cast_slice::<_, u8>(tables)[..25 * len]);
                hash.evaluate(first, &labels[..len], &labels[len..], out, tables);
                first += len as u64;
            })
        });
    }
}

fn ot(c: &mut Criterion) {
    each(c, "ot pairs", LEN, |backend| {
        let (hash, q) = (OtHash::with_backend(S, backend), random(LEN));
        Box::new(move |out| {
            let (m0, m1) = out.split_at_mut(LEN);
            hash.pairs(0, S, &q, m0, &mut m1[..LEN]);
        })
    });
    each(c, "ot chosen", LEN, |backend| {
        let (hash, t) = (OtHash::with_backend(S, backend), random(LEN));
        Box::new(move |out| hash.chosen(0, &t, &mut out[..LEN]))
    });
}

fn fixed_key(c: &mut Criterion) {
    each(c, "aes", LEN, |backend| {
        let aes = Aes128::with_backend(S, backend);
        Box::new(move |out| aes.encrypt(&mut out[..LEN]))
    });
    each(c, "tree", LEN, |backend| {
        let (hash, input) = (TreeHash::with_backend(S, backend), random(LEN));
        Box::new(move |out| hash.hash(&input, &mut out[..LEN]))
    });
    each(c, "ctr", LEN, |backend| {
        let mut generator = Generator::with_backend(S, backend);
        Box::new(move |out| generator.fill_blocks(&mut out[..LEN]))
    });
}

fn trees(c: &mut Criterion) {
    each(c, "half-tree, leaves", LEN, |backend| {
        let (hash, mut parents) = (TreeHash::with_backend(S, backend), random(LEN));
        Box::new(move |out| {
            for level in 2..=LEN.ilog2() {
                let children = &mut out[..1 << level];
                hash.grow(&parents[..1 << (level - 1)], Patch { at: 1, block: S }, children);
                parents[..1 << level].copy_from_slice(children);
            }
        })
    });
    for log in [6, 16, 17, 18, 19] {
        each(c, &format!("local code, 2^{log}"), LEN, move |backend| {
            let (code, table, mut first) = (LocalCode::with_backend(S, backend), random(1 << log), 0);
            Box::new(move |out| {
                code.add(first, &table, &mut out[..LEN]);
                first += LEN as u64;
            })
        });
    }
}

/// The caches' limit of the local code: ten entries of a table for each output, at indices that lie ready.
fn gathers(c: &mut Criterion) {
    let mut group = c.benchmark_group("ten entries of a table");
    group.throughput(Throughput::Elements(LEN as u64));
    let mut out = random(LEN);
    for log in [6, 16, 17, 18, 19] {
        let (table, mut source) = (random(1 << log), Generator::from_seed(S));
        let mut draw = || {
            let mut indices = vec![[0u64; 10]; LEN];
            source.words(indices.as_flattened_mut());
            indices
        };
        group.bench_function(format!("2^{log}"), |b| {
            b.iter_batched_ref(
                &mut draw,
                |indices| {
                    for (out, indices) in out.iter_mut().zip(indices) {
                        *out = indices.iter().fold(*out, |sum, &i| sum ^ table[i as usize & (table.len() - 1)]);
                    }
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
}

/// The caches' limit of XORs: labels of a gate for 128 lanes, in rows that lie in the caches or in memory.
fn rows(c: &mut Criterion) {
    const LANES: usize = 128;
    for (name, count) in [("first cache", 8), ("second cache", 512), ("memory", 1 << 16)] {
        let row = |i: u32, step: u32| i.wrapping_mul(step) % count;
        let sums: Vec<[u32; 3]> = (0..4096).map(|i| [row(i, 7919), row(i, 104_729), row(i + 1, 1_299_709)]).collect();
        each(c, &format!("xor rows, {name}"), LANES * sums.len(), |backend| {
            let (rows, mut blocks, sums) =
                (RowXor::with_backend(backend), random(LANES * count as usize), sums.clone());
            let mut add = move |sums: &[_]| rows.xor(BlockRows { blocks: &mut blocks, len: LANES }, sums);
            Box::new(move |_| sums.chunks(4).for_each(&mut add))
        });
    }
}

/// A chunk of SoftSpoken's planes, in blocks of AES.
fn planes(c: &mut Criterion) {
    const TILES: usize = 128;
    const STRIDE: usize = TILES + 4;
    for k in [1, 2, 4, 8] {
        let keys = random(1 << k);
        each(c, &format!("planes of all leaves, k = {k}"), TILES << k, |backend| {
            let (leaves, mut rows, mut sum) = (Leaves::with_backend(&keys, backend), random(k * STRIDE), random(TILES));
            Box::new(move |_| leaves.all(0, TILES, &mut rows, STRIDE, &mut sum))
        });
        each(c, &format!("planes of all leaves but one, k = {k}"), TILES << k, |backend| {
            let (leaves, mut rows, values) = (Leaves::with_backend(&keys, backend), random(k * STRIDE), random(TILES));
            Box::new(move |_| leaves.all_but_first(0, TILES, &mut rows, STRIDE, 5, Some(&values)))
        });
    }
}

fn transpose(c: &mut Criterion) {
    let mut group = c.benchmark_group("columns of a chunk");
    group.throughput(Throughput::Elements(128 * 128));
    let (chunk, mut out) = (random(128 * 132), random(128 * 128));
    group.bench_function("in the cache", |b| b.iter(|| columns(&chunk, 132, &mut out)));
    // Chunk after chunk of 32 MB.
    let (mut ring, mut at) = (random(1 << 21), 0);
    let mut next = || {
        at = (at + (1 << 14)) % (1 << 21);
        at..at + (1 << 14)
    };
    group.bench_function("in memory, read first", |b| b.iter(|| columns(&chunk, 132, &mut ring[next()])));
    group.bench_function("in memory, past the caches", |b| {
        b.iter(|| columns_streaming(&chunk, 132, &mut ring[next()]));
    });
    group.finish();
    let mut group = c.benchmark_group("transpose, bits");
    group.throughput(Throughput::Elements(128 * 128));
    let mut rows: [Block; 128] = random(128).try_into().ok().expect("128 rows");
    group.bench_function("128 × 128", |b| b.iter(|| transpose_128(&mut rows)));
    group.throughput(Throughput::Elements(128 * 65_536));
    let wide: Vec<u64> = bytemuck::cast_slice(&random(65_536)).to_vec();
    group.bench_function("128 × 65536", |b| b.iter(|| transpose_bits(&wide, 128, 65_536)));
    group.bench_function("65536 × 128", |b| b.iter(|| transpose_bits(&wide, 65_536, 128)));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = gates, several_gates, three_halves, rows, ot, fixed_key, trees, gathers, planes, transpose
}
criterion_main!(benches);

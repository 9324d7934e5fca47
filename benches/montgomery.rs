//! Products and powers modulo numbers of the lengths of keys, on one core: time a number, on each backend that multiplies
//! in a way of its own, and with crypto-bigint, one number after the other.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, Uint};
use duologue_kernels::generator::Generator;
use duologue_kernels::montgomery::{FixedBase, Modulus};
use duologue_kernels::{Backend, Block};

/// Numbers a call.
const COUNT: usize = 64;

fn random(len: usize) -> Vec<u64> {
    let mut words = vec![0; len];
    Generator::from_seed(Block::new(5)).words(&mut words);
    words
}

/// An odd number of all its words' bits.
fn modulus(len: usize) -> Vec<u64> {
    let mut n = random(len);
    n[0] |= 1;
    n[len - 1] |= 1 << 63;
    n
}

/// The fastest backend, and the portable one.
fn backends() -> [Backend; 2] {
    [Backend::available()[0], Backend::Portable]
}

fn products<const WORDS: usize>(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("{} bits", 64 * WORDS));
    group.throughput(Throughput::Elements(COUNT as u64));
    for backend in backends() {
        let n = Modulus::with_backend(&modulus(WORDS), backend).expect("odd");
        let (x, exponent) = (n.residues(&random(COUNT * WORDS)), random(4));
        group.bench_function(format!("multiply, {backend}"), |b| b.iter(|| n.multiply(&x, &x)));
        group.bench_function(format!("square 10 times, {backend}"), |b| b.iter(|| n.square(&x, 10)));
        group.bench_function(format!("power of 256 bits, {backend}"), |b| b.iter(|| n.power(&x, &exponent, 256)));
        let square = Modulus::square_of_with_backend(&modulus(WORDS / 2), backend).expect("odd");
        let y = square.residues(&random(COUNT * WORDS));
        group.bench_function(format!("multiply modulo a square, {backend}"), |b| b.iter(|| square.multiply(&y, &y)));
        group.bench_function(format!("square 10 times modulo a square, {backend}"), |b| {
            b.iter(|| square.square(&y, 10))
        });
        let fixed = FixedBase::new(&n, &random(WORDS), 512, 3000);
        let exponents = random(COUNT * 8);
        group.bench_function(format!("fixed base, 512 bits, {backend}"), |b| b.iter(|| fixed.power(&n, &exponents)));
    }
    let n = Odd::new(Uint::<WORDS>::from_words(modulus(WORDS).try_into().expect("the words"))).expect("odd");
    let params = FixedMontyParams::new_vartime(n);
    let x = FixedMontyForm::new(&Uint::from_words(random(WORDS).try_into().expect("the words")), &params);
    group.bench_function("multiply, crypto-bigint", |b| {
        b.iter(|| (0..COUNT).fold(x, |product, _| product.mul(&x)));
    });
}

criterion_group!(all, products::<16>, products::<24>, products::<32>, products::<48>, products::<64>, products::<96>);
criterion_main!(all);

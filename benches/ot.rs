//! Oblivious transfer and what is made of it, one side on one core, without any channel.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use duologue::Party;
use duologue::correlation::{Demand, Flow, Maker, Stock};
use duologue::ot::{Crop, Extension, Harvest, Makers, Setup, Side, base};

const SESSION: [u8; 32] = [1; 32];

fn makers(extension: Extension) -> [Makers; 2] {
    let (alice, from_alice) = Setup::start(Party::Alice, &SESSION).unwrap();
    let (bob, from_bob) = Setup::start(Party::Bob, &SESSION).unwrap();
    let seeds = [alice.finish(&from_bob).unwrap(), bob.finish(&from_alice).unwrap()];
    seeds.map(|seeds| extension.makers(seeds, 1).unwrap())
}

fn base_ot(c: &mut Criterion) {
    let mut group = c.benchmark_group("base OT, 128");
    let choices: Vec<_> = (0..128).map(|i| (i % 3 % 2).into()).collect();
    let (_, from_sender) = base::Sender::start(&SESSION, 128).unwrap();
    let (_, from_receiver) = base::Receiver::start(&SESSION, &choices).unwrap();
    group.bench_function("sender", |b| {
        b.iter(|| base::Sender::start(&SESSION, 128).unwrap().0.finish(&from_receiver).unwrap());
    });
    group.bench_function("receiver", |b| {
        b.iter(|| base::Receiver::start(&SESSION, &choices).unwrap().0.finish(&from_sender));
    });
    group.finish();
}

fn softspoken(c: &mut Criterion) {
    let mut group = c.benchmark_group("SoftSpoken");
    for (k, log) in [1, 2, 4, 8].into_iter().flat_map(|k| [16, 18, 19].map(|log| (k, log))) {
        let [(mut sender, _), (_, mut receiver)] = makers(Extension::SoftSpoken { k });
        let count = 1 << log;
        let mut message = Vec::new();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("both sides, k = {k}, 2^{log}"), |b| {
            b.iter(|| {
                message.clear();
                receiver.begin(Harvest::new(Side::Receiver, Crop::Bits, count)).unwrap();
                sender.begin(Harvest::new(Side::Sender, Crop::Bits, count)).unwrap();
                receiver.send(&mut message).unwrap();
                sender.receive(&message).unwrap();
                receiver.receive(&[]).unwrap();
            });
        });
    }
    group.finish();
}

/// Both parties in one thread: twice the time of one.
fn triples(c: &mut Criterion) {
    let mut makers = makers(Extension::DEFAULT).map(Maker::new);
    let count = 1 << 21;
    let mut group = c.benchmark_group("triples");
    group.sample_size(10).throughput(Throughput::Elements(count));
    group.bench_function("both parties", |b| {
        b.iter_batched_ref(
            || [Party::Alice, Party::Bob].map(Stock::new),
            |stocks| refill(&mut makers, stocks, Demand::of_triples(count)),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn refill([alice, bob]: &mut [Maker; 2], [a, b]: &mut [Stock; 2], demand: Demand) {
    let (mut alice, mut bob) = (alice.refill(a, demand), bob.refill(b, demand));
    let [mut from_alice, mut from_bob, mut to_alice, mut to_bob] = [const { Vec::new() }; 4];
    while alice.step(&from_bob, &mut to_bob).unwrap() != Flow::Done {
        bob.step(&from_alice, &mut to_alice).unwrap();
        std::mem::swap(&mut from_alice, &mut to_bob);
        std::mem::swap(&mut from_bob, &mut to_alice);
        to_alice.clear();
        to_bob.clear();
    }
    assert_eq!(bob.step(&from_alice, &mut to_alice).unwrap(), Flow::Done);
}

criterion_group!(benches, base_ot, softspoken, triples);
criterion_main!(benches);

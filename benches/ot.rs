//! Oblivious transfer and what is made of it, one side on one core, without any channel.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use duologue::Party;
use duologue::correlation::{Demand, Flow, Maker, Stock};
use duologue::ot::iknp::{SemiHonestReceiver, SemiHonestSender};
use duologue::ot::{Choices, CotReceiver, CotSender, Setup, base};

const SESSION: [u8; 32] = [1; 32];

type Extensions = (SemiHonestSender, SemiHonestReceiver);

fn extensions() -> [Extensions; 2] {
    let (alice, from_alice) = Setup::start(Party::Alice, &SESSION).unwrap();
    let (bob, from_bob) = Setup::start(Party::Bob, &SESSION).unwrap();
    [alice.finish(&from_bob).unwrap(), bob.finish(&from_alice).unwrap()]
        .map(|(s, r)| (SemiHonestSender::new(s), SemiHonestReceiver::new(r)))
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

fn iknp(c: &mut Criterion) {
    let [(mut sender, _), (_, mut receiver)] = extensions();
    let mut group = c.benchmark_group("IKNP");
    for log in [16, 18, 19, 20] {
        let count = 1 << log;
        let (mut message, mut q, mut chosen) = (Vec::new(), Vec::new(), Choices::default());
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("receiver, 2^{log}"), |b| {
            b.iter(|| {
                message.clear();
                receiver.send(count, &mut message).unwrap();
                receiver.receive(count, &[], &mut chosen).unwrap();
            });
        });
        group.bench_function(format!("sender, 2^{log}"), |b| {
            b.iter(|| sender.receive(count, &message, &mut q).unwrap());
        });
    }
    group.finish();
}

/// Both parties in one thread: twice the time of one.
fn triples(c: &mut Criterion) {
    let mut makers = extensions().map(|(sender, receiver)| Maker::new(Box::new(sender), Box::new(receiver)).unwrap());
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

criterion_group!(benches, base_ot, iknp, triples);
criterion_main!(benches);

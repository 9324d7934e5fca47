//! Oblivious transfer and what is made of it, one side on one core, without any channel.

use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use duologue::Party;
use duologue::correlation::{Demand, Maker, RefillStep, Stock};
use duologue::ot::{
    BaseOtSetup, CotBatch, CotOutput, CotReceiver, CotSender, Directions, Extension, Makers, Side, base, silent,
};

const SESSION: [u8; 32] = [1; 32];

fn makers(extension: Extension) -> [Makers; 2] {
    let [(alice, from_alice), (bob, from_bob)] =
        [Party::Alice, Party::Bob].map(|party| BaseOtSetup::start(party, &SESSION, Directions::Both).unwrap());
    let (alice, answer_of_alice) = alice.answer(&from_bob).unwrap();
    let (bob, answer_of_bob) = bob.answer(&from_alice).unwrap();
    let seeds = [alice.finish(&answer_of_bob).unwrap(), bob.finish(&answer_of_alice).unwrap()];
    seeds.map(|seeds| extension.makers(seeds.sender.zip(seeds.receiver).unwrap(), 1).unwrap())
}

fn base_ot(c: &mut Criterion) {
    let mut group = c.benchmark_group("base OT, 128");
    let choices: Vec<_> = (0..128).map(|i| (i % 3 % 2).into()).collect();
    let (_, from_receiver) = base::Receiver::start(&SESSION, &choices).unwrap();
    group.bench_function("sender", |b| {
        b.iter(|| base::Sender::start(&SESSION, 128).unwrap().0.answer(&from_receiver).unwrap());
    });
    // Each receiver needs challenges of its own: those of the sender are made outside the clock.
    group.bench_function("receiver", |b| {
        b.iter_custom(|rounds| {
            let round = || {
                let (sender, from_sender) = base::Sender::start(&SESSION, 128).unwrap();
                let start = Instant::now();
                let (receiver, from_receiver) = base::Receiver::start(&SESSION, &choices).unwrap();
                let begun = start.elapsed();
                let (_, answer) = sender.answer(&from_receiver).unwrap();
                let start = Instant::now();
                receiver.finish(&from_sender, &answer).unwrap();
                begun + start.elapsed()
            };
            (0..rounds).map(|_| round()).sum()
        });
    });
    group.finish();
}

fn softspoken(c: &mut Criterion) {
    let mut group = c.benchmark_group("SoftSpoken");
    for (k, log) in [1, 2, 4, 8].into_iter().flat_map(|k| [16, 18, 19].map(|log| (k, log))) {
        let [(mut sender, _), (_, mut receiver)] = makers(Extension::SoftSpoken { k });
        let count = 1 << log;
        let (mut message, mut proof) = (Vec::new(), Vec::new());
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("both sides, k = {k}, 2^{log}"), |b| {
            b.iter(|| {
                message.clear();
                proof.clear();
                receiver.begin(CotBatch::new(Side::Receiver, CotOutput::Bits, count)).unwrap();
                sender.begin(CotBatch::new(Side::Sender, CotOutput::Bits, count)).unwrap();
                receiver.send(&mut message).unwrap();
                sender.send(&mut proof).unwrap();
                sender.receive(&message).unwrap();
                receiver.receive(&proof).unwrap();
            });
        });
    }
    group.finish();
}

/// One side's work for a round, into memory that is there, while both take turns.
fn silent(c: &mut Criterion) {
    let mut group = c.benchmark_group("silent OT");
    group.sample_size(10);
    for (set, output) in
        silent::Set::ALL.into_iter().flat_map(|set| [CotOutput::Blocks, CotOutput::Bits].map(|output| (set, output)))
    {
        let [(mut sender, _), (_, mut receiver)] = makers(Extension::Silent(set));
        group.throughput(Throughput::Elements(set.batch() as u64));
        for side in [Side::Sender, Side::Receiver] {
            group.bench_function(format!("{side:?}, {set}, {output:?}"), |b| {
                b.iter_custom(|rounds| silent_rounds(&mut *sender, &mut *receiver, output, rounds)[side as usize]);
            });
        }
    }
    group.finish();
}

/// The times of sender and receiver for so many batches, after a few that are not counted.
fn silent_rounds(
    sender: &mut dyn CotSender,
    receiver: &mut dyn CotReceiver,
    output: CotOutput,
    rounds: u64,
) -> [Duration; 2] {
    let (mut begun, mut times, mut spare) = (0, [Duration::ZERO; 2], [const { Vec::new() }; 2]);
    let room = |spare: &mut Vec<_>, side, count| spare.pop().unwrap_or_else(|| CotBatch::new(side, output, count));
    loop {
        let begins = sender.ready() && begun < rounds + 3;
        let (mut from_sender, mut from_receiver) = (Vec::new(), Vec::new());
        let mut timed = |side: Side, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            times[side as usize] += if begun > 2 { start.elapsed() } else { Duration::ZERO };
        };
        timed(Side::Sender, &mut || {
            if begins {
                sender.begin(room(&mut spare[0], Side::Sender, sender.batch(1))).unwrap();
            }
            sender.send(&mut from_sender).unwrap();
        });
        timed(Side::Receiver, &mut || {
            if begins {
                receiver.begin(room(&mut spare[1], Side::Receiver, receiver.batch(1))).unwrap();
            }
            receiver.send(&mut from_receiver).unwrap();
        });
        timed(Side::Sender, &mut || spare[0].extend(sender.receive(&from_receiver).unwrap()));
        timed(Side::Receiver, &mut || spare[1].extend(receiver.receive(&from_sender).unwrap()));
        begun += u64::from(begins);
        if sender.idle() {
            return times;
        }
    }
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
    while alice.step(&from_bob, &mut to_bob).unwrap() != RefillStep::Done {
        bob.step(&from_alice, &mut to_alice).unwrap();
        std::mem::swap(&mut from_alice, &mut to_bob);
        std::mem::swap(&mut from_bob, &mut to_alice);
        to_alice.clear();
        to_bob.clear();
    }
    assert_eq!(bob.step(&from_alice, &mut to_alice).unwrap(), RefillStep::Done);
}

criterion_group!(benches, base_ot, softspoken, silent, triples);
criterion_main!(benches);

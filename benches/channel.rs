//! How fast channels are: two parties in two threads, over memory, TCP and TLS.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use duologue::channel::{Channel, Identity, Limits, Listener, Security};

type Pair = fn() -> (Channel, Channel);

fn over_tcp() -> (Channel, Channel) {
    over_sockets(&[Security::PlaintextForBenchmarks, Security::PlaintextForBenchmarks])
}

fn over_tls() -> (Channel, Channel) {
    let [alice, bob] = [(); 2].map(|()| Arc::new(Identity::generate().unwrap()));
    let (alices, bobs) = (alice.public(), bob.public());
    over_sockets(&[Security::Tls { identity: alice, peer: bobs }, Security::Tls { identity: bob, peer: alices }])
}

fn over_sockets([alice, bob]: &[Security; 2]) -> (Channel, Channel) {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let limits = Limits::default();
    thread::scope(|scope| {
        let alice = scope.spawn(|| Channel::connect(&address, alice, &limits).unwrap());
        let bob = listener.accept(bob, &limits).unwrap();
        (alice.join().unwrap(), bob)
    })
}

/// Runs both parties, each in a thread, until both have ended; says how long they took.
fn both(pair: Pair, alice: impl FnOnce(&mut Channel) + Send, bob: impl FnOnce(&mut Channel) + Send) -> Duration {
    let (mut a, mut b) = pair();
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            bob(&mut b);
            b.finish().unwrap();
        });
        alice(&mut a);
        a.finish().unwrap();
    });
    start.elapsed()
}

/// Gigabytes in a second, of many messages in one direction.
fn one_way(pair: Pair) -> f64 {
    const MESSAGE: usize = 4 << 20;
    const COUNT: usize = 500;
    let bytes = vec![7; MESSAGE];
    let send = |a: &mut Channel| (0..COUNT).for_each(|_| a.send(&bytes).unwrap());
    let receive = |b: &mut Channel| {
        let mut out = vec![0; MESSAGE];
        (0..COUNT).for_each(|_| b.recv_into(&mut out).unwrap());
    };
    (MESSAGE * COUNT) as f64 / both(pair, send, receive).as_secs_f64() / 1e9
}

/// Gigabytes in a second each way, of messages that cross.
fn exchange(pair: Pair) -> f64 {
    const MESSAGE: usize = 1 << 20;
    const COUNT: usize = 500;
    let bytes = vec![7; MESSAGE];
    let party = |c: &mut Channel| {
        let mut out = vec![0; MESSAGE];
        for _ in 0..COUNT {
            c.send(&bytes).unwrap();
            c.recv_into(&mut out).unwrap();
        }
    };
    (MESSAGE * COUNT) as f64 / both(pair, party, party).as_secs_f64() / 1e9
}

/// Microseconds from a question to its answer.
fn round_trip(pair: Pair) -> f64 {
    const COUNT: u32 = 20_000;
    let asks = |a: &mut Channel| {
        let mut answer = [0; 8];
        for _ in 0..COUNT {
            a.send(&[1; 8]).unwrap();
            a.recv_into(&mut answer).unwrap();
        }
    };
    let answers = |b: &mut Channel| {
        let mut question = [0; 8];
        for _ in 0..COUNT {
            b.recv_into(&mut question).unwrap();
            b.send(&question).unwrap();
            b.flush().unwrap();
        }
    };
    both(pair, asks, answers).as_secs_f64() * 1e6 / f64::from(COUNT)
}

/// Nanoseconds for 16 bytes that are sent and received alone.
fn small(pair: Pair) -> f64 {
    const COUNT: u32 = 5_000_000;
    let send = |a: &mut Channel| (0..COUNT).for_each(|_| a.send(&[1; 16]).unwrap());
    let receive = |b: &mut Channel| {
        let mut out = [0; 16];
        (0..COUNT).for_each(|_| b.recv_into(&mut out).unwrap());
    };
    both(pair, send, receive).as_secs_f64() * 1e9 / f64::from(COUNT)
}

fn main() {
    // Cargo adds flags of its own; a name picks one kind.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for (name, pair) in [("memory", Channel::pair as Pair), ("tcp", over_tcp), ("tls", over_tls)] {
        if chosen.is_empty() || chosen.iter().any(|one| one == name) {
            println!("{name:8} one way      {:6.2} GB/s", one_way(pair));
            println!("{name:8} exchange     {:6.2} GB/s each way", exchange(pair));
            println!("{name:8} round trip   {:6.1} µs", round_trip(pair));
            println!("{name:8} 16 bytes     {:6.1} ns each", small(pair));
        }
    }
}

//! Both parties over TCP and TLS, and what they say where they do not fit together.

use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::circuit::blocks::{Goal, registry};
use duologue::circuit::private::{Function, nands, thresholds};
use duologue::circuit::{Bits, Builder, Circuit};
use duologue::{Error, Result};
use pfe::{Alice, Bob, Padding, Sizes, Threads, Wired};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn channels(tls: bool) -> (Channel, Channel) {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let [ours, theirs] = [(); 2].map(|()| Arc::new(Identity::generate().unwrap()));
    let of = |identity: &Arc<Identity>, peer: &Arc<Identity>| match tls {
        true => Security::Tls { identity: identity.clone(), peer: peer.public() },
        false => Security::PlaintextForBenchmarks,
    };
    let (security, other) = (of(&ours, &theirs), of(&theirs, &ours));
    let limits = Limits::default().silence(Duration::from_secs(60));
    let waiting = thread::spawn(move || listener.accept(&security, &limits).unwrap());
    let connected = Channel::connect(&address, &other, &limits).unwrap();
    (waiting.join().unwrap(), connected)
}

fn block(name: &str, size: &[u32]) -> Circuit {
    registry::find(name).unwrap().circuit(size, Goal::Size).unwrap()
}

/// Alice's side: as many runs as Bob asks for.
fn serve(channel: Channel, function: Function, runs: u32) -> Result<u32> {
    let gates = function.gates() as u64;
    let mut wired = Wired::new(function, Padding { gates: Some(gates + 700), additions: None })?;
    let mut alice = Alice::connect(channel, &mut wired, runs)?;
    alice.compute_on(Threads::new(2)?);
    let mut served = 0;
    while alice.serve()? {
        served += 1;
    }
    alice.close().map(|_| served)
}

fn data(width: usize, seed: u64) -> Vec<bool> {
    (0..width).map(|bit| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (bit % 61) & 1 == 1).collect()
}

#[test]
fn a_function_is_run_again_and_prepared_over_sockets() {
    for (tls, circuit) in [(true, block("multiply", &[8])), (false, block("multiply", &[16]))] {
        let function = if tls { nands(&circuit).unwrap() } else { thresholds(&circuit).unwrap() };
        let width = circuit.input_width();
        let (to_bob, to_alice) = channels(tls);
        let runs = if tls { 3 } else { 1 };
        let alice = thread::spawn(move || serve(to_bob, function, runs));
        let mut bob = Bob::connect(to_alice, width as u32).unwrap();
        bob.compute_on(Threads::new(if tls { 3 } else { 1 }).unwrap());
        assert_eq!(bob.offer().sizes.outputs as usize, circuit.output_width());
        assert_eq!(bob.run(&data(width, 1)).unwrap(), circuit.evaluate(&data(width, 1)));
        if tls {
            assert!(matches!(bob.run(&[true]), Err(Error::Usage(_))), "no harm is done");
            let mut garbled = bob.prepare().unwrap();
            assert!(matches!(garbled.run(&[true]), Err(Error::Usage(_))), "it still waits");
            assert_eq!(garbled.run(&data(width, 2)).unwrap(), circuit.evaluate(&data(width, 2)));
            assert!(matches!(garbled.run(&data(width, 2)), Err(Error::Usage(_))), "it is run once");
            drop(garbled);
            assert_eq!(bob.run(&data(width, 3)).unwrap(), circuit.evaluate(&data(width, 3)));
        }
        assert!(matches!(bob.run(&data(width, 4)), Err(Error::Usage(_))), "no run is left");
        bob.close().unwrap();
        assert_eq!(alice.join().unwrap().unwrap(), runs);
    }
}

/// The peer waits for labels, and must not take another message for them.
#[test]
fn a_run_made_ahead_and_dropped_ends_the_session() {
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve(to_bob, small(), 3));
        let mut bob = Bob::connect(to_alice, 3).unwrap();
        drop(bob.prepare().unwrap());
        let why = bob.run(&[true; 3]).unwrap_err();
        assert!(matches!(&why, Error::Dead(why) if why.contains("was dropped")), "{why}");
        let why = alice.join().unwrap().unwrap_err();
        assert!(matches!(why, Error::Aborted(_)), "{why}");
    });
}

/// Fewer runs than offered: the last one keeps nothing, so that there cannot be another.
#[test]
fn runs_are_limited_by_who_asks_for_them() {
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve(to_bob, small(), 5));
        let mut bob = Bob::connect(to_alice, 3).unwrap();
        bob.limit(2);
        for x in [[true, true, false], [true, false, true]] {
            assert_eq!(bob.run(&x).unwrap(), [x[0] & x[1]]);
        }
        assert!(matches!(bob.run(&[true; 3]), Err(Error::Usage(_))));
        bob.close().unwrap();
        assert_eq!(alice.join().unwrap().unwrap(), 2);
    });
}

/// What a run takes on the wire: 131 bytes a gate, and 99 the second time.
#[test]
fn bytes_are_those_that_are_listed() {
    let circuit = block("multiply", &[8]);
    let (function, width) = (thresholds(&circuit).unwrap(), circuit.input_width());
    for runs in [1, 2] {
        let (function, (to_bob, to_alice)) = (function.clone(), Channel::pair());
        let (gates, outputs) = (function.gates() as u64 + 700, circuit.output_width() as u64);
        thread::scope(|scope| {
            scope.spawn(|| serve(to_bob, function, runs).unwrap());
            let mut bob = Bob::connect(to_alice, None).unwrap();
            for run in 0..runs {
                bob.run(&data(width, run.into())).unwrap();
            }
            let counters = bob.close().unwrap();
            let labels = u64::from(runs) * 32 * outputs;
            assert_eq!(counters.bytes_received, 72 + 32 * (gates + outputs) + labels);
            assert_eq!(counters.bytes_sent, 72 + u64::from(runs) * (1 + 32 + 32 * width as u64 + 99 * gates) + 1);
        });
    }
}

fn small() -> Function {
    let mut c = Builder::new("small");
    let x = c.bits("x", 3).0;
    let both = c.and(x[0], x[1]);
    c.output("y", &Bits(vec![both]));
    thresholds(&c.finish()).unwrap()
}

#[test]
fn parties_that_do_not_fit_together_both_hear_it() {
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve(to_bob, small(), 1));
        let bob = Bob::connect(to_alice, 4).err().unwrap();
        let numbers = |why: Error| match why {
            Error::Incompatible {
                what: "the bits of the data and of what the function takes", ours, theirs, ..
            } => [ours, theirs],
            why => panic!("{why}"),
        };
        assert_eq!(numbers(bob), ["4", "3"]);
        assert_eq!(numbers(alice.join().unwrap().unwrap_err()), ["3", "4"]);
    });
    let (one, other) = Channel::pair();
    thread::scope(|scope| {
        let first = scope.spawn(|| serve(one, small(), 1));
        let why = [serve(other, small(), 1).unwrap_err(), first.join().unwrap().unwrap_err()];
        assert!(why.iter().all(|why| matches!(why, Error::Incompatible { what: "who is who", .. })), "{why:?}");
    });
    let (one, other) = Channel::pair();
    thread::scope(|scope| {
        let first = scope.spawn(|| Bob::connect(one, 3).err().unwrap());
        let why = [Bob::connect(other, 3).err().unwrap(), first.join().unwrap()];
        assert!(why.iter().all(|why| matches!(why, Error::Incompatible { what: "who is who", .. })), "{why:?}");
    });
}

/// Bob refuses what was not announced, and Alice hears that he did, not that he went away.
#[test]
fn another_function_than_announced_is_refused_aloud() {
    for (gates, runs) in [(1, 0), (0, 1)] {
        let (to_bob, to_alice) = Channel::pair();
        thread::scope(|scope| {
            let alice = scope.spawn(|| serve(to_bob, small(), 2));
            let mut bob = Bob::connect(to_alice, None).unwrap();
            let offer = bob.offer().clone();
            bob.expect(&offer.sizes, offer.runs).unwrap();
            let announced = Sizes { gates: offer.sizes.gates + gates, ..offer.sizes };
            let why = bob.expect(&announced, offer.runs + runs).unwrap_err();
            assert!(matches!(why, Error::Peer(_)), "{why}");
            let why = alice.join().unwrap().unwrap_err();
            assert!(matches!(why, Error::Aborted(_)), "{why}");
        });
    }
}

/// The encoding of the base point.
#[rustfmt::skip]
const BASE: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// One who plays Bob by hand: says hello, and then what it is given.
fn cheat(channel: &mut Channel, bytes: &[u8]) {
    let mut hello = b"duo-priv\x01\0\x01\x01".to_vec();
    hello.resize(72, 0);
    hello[12] = 3;
    channel.send(&hello).unwrap();
    channel.send(bytes).unwrap();
    channel.flush().unwrap();
    channel.recv(72).unwrap();
}

/// Whatever Bob sends that no honest one does, he hears that Alice failed, and no more; and her session is dead.
#[test]
fn a_cheating_bob_hears_that_it_failed_and_no_more() {
    let point = BASE;
    let gates = small().gates() + 700;
    let run = |announcement: &[u8], label: &[u8], tables: usize| {
        [&[1], announcement, &label.repeat(3), &vec![0x5a; tables]].concat()
    };
    for bytes in [
        vec![9],
        run(&[0; 32], &point, 0),
        run(&[0xff; 32], &point, 0),
        run(&point, &[0; 32], 0),
        run(&point, &[0xff; 32], 0),
        run(&point, &point, 99 * gates),
    ] {
        let (to_bob, mut to_alice) = Channel::pair();
        thread::scope(|scope| {
            let alice = scope.spawn(|| {
                let mut wired = Wired::new(small(), Padding { gates: Some(gates as u64), additions: None }).unwrap();
                let mut alice = Alice::connect(to_bob, &mut wired, 5).unwrap();
                let why = alice.serve().unwrap_err();
                assert!(matches!(alice.serve(), Err(Error::Dead(_))));
                why
            });
            cheat(&mut to_alice, &bytes);
            let heard = loop {
                match to_alice.recv(32) {
                    Ok(_) => continue,
                    Err(why) => break why.to_string(),
                }
            };
            let why = alice.join().unwrap();
            assert!(matches!(why, Error::Peer(_)), "{why}");
            assert!(heard.contains("it failed") && !heard.contains("gate") && !heard.contains("table"), "{heard}");
        });
    }
}

#[test]
fn an_announcement_is_taken_once() {
    let mut wired = Wired::new(small(), Padding::default()).unwrap();
    // Two Bobs whose randomness failed: they announce the same.
    for first in [true, false] {
        let (to_bob, mut to_alice) = Channel::pair();
        let wired = &mut wired;
        thread::scope(|scope| {
            let alice = scope.spawn(move || Alice::connect(to_bob, wired, 1).and_then(|mut alice| alice.serve()));
            // With labels that are no points, so that she ends by herself: if he left, that might reach her before his bytes.
            cheat(&mut to_alice, &[&[1], &BASE[..], &[0; 96]].concat());
            while to_alice.recv(1).is_ok() {}
            let why = alice.join().unwrap().unwrap_err().to_string();
            assert_eq!(why.contains("announces a run as it announced another"), !first, "{why}");
        });
    }
}

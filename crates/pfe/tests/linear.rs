//! Katz and Malka's protocol between two parties: over TCP, in memory, and against peers who do not follow it.

use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::blocks::{Goal, registry};
use duologue::circuit::private::{nands, thresholds};
use duologue::circuit::{Bits, Builder, Circuit};
use duologue::{Error, Result};
use he::bfv::Bfv;
use he::djn::DjnOf;
use he::elgamal::ElGamal;
use he::linear::{Labels, Scheme};
use pfe::linear::{Alice, Bob, Linear, Netlist};
use pfe::{MOST_RUNS, Padding, Wired};
use std::thread;
use std::time::Duration;

type Small = DjnOf<512>;

fn sockets() -> (Channel, Channel) {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let limits = Limits::default().silence(Duration::from_secs(60));
    let waiting = thread::spawn(move || listener.accept(&Security::PlaintextForBenchmarks, &limits).unwrap());
    let limits = Limits::default().silence(Duration::from_secs(60));
    let connected = Channel::connect(&address, &Security::PlaintextForBenchmarks, &limits).unwrap();
    (waiting.join().unwrap(), connected)
}

fn netlist(circuit: &Circuit, padding: u64) -> Netlist {
    let function = nands(circuit).unwrap();
    let own = Netlist::new(&function, None).unwrap().sizes().gates;
    Netlist::new(&function, Some(own + padding)).unwrap()
}

fn block(name: &str, size: u32) -> Circuit {
    registry::find(name).unwrap().circuit(&[size], Goal::Size).unwrap()
}

fn small() -> Circuit {
    let mut c = Builder::new("small");
    let x = c.bits("x", 3).0;
    let both = c.and(x[0], x[1]);
    let odd = c.xor(both, x[2]);
    c.output("y", &Bits(vec![both, odd]));
    c.finish()
}

fn serve<S: Linear>(channel: Channel, netlist: &Netlist, runs: u32) -> Result<u32> {
    let mut alice = Alice::<S>::connect(channel, netlist, runs)?;
    let mut served = 0;
    while alice.serve()? {
        served += 1;
    }
    alice.close().map(|_| served)
}

fn data(width: usize, seed: u64) -> Vec<bool> {
    (0..width).map(|bit| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (bit % 61) & 1 == 1).collect()
}

/// Runs at once, ahead and again, of more steps than are under way at a time.
fn runs_over_sockets<S: Linear>(circuit: &Circuit, padding: u64) {
    let (width, netlist) = (circuit.input_width(), netlist(circuit, padding));
    assert!(netlist.sizes().gates as usize > 9 * S::CHUNK, "{} gates", netlist.sizes().gates);
    let (to_bob, to_alice) = sockets();
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve::<S>(to_bob, &netlist, 3));
        let mut bob = Bob::<S>::connect(to_alice, width as u32).unwrap();
        assert_eq!(bob.offer().sizes, *netlist.sizes());
        assert_eq!(bob.run(&data(width, 1)).unwrap(), circuit.evaluate(&data(width, 1)));
        assert!(matches!(bob.run(&[true]), Err(Error::Usage(_))), "no harm is done");
        let mut garbled = bob.prepare().unwrap();
        assert!(matches!(garbled.run(&[true]), Err(Error::Usage(_))), "it still waits");
        assert_eq!(garbled.run(&data(width, 2)).unwrap(), circuit.evaluate(&data(width, 2)));
        assert!(matches!(garbled.run(&data(width, 2)), Err(Error::Usage(_))), "it is run once");
        drop(garbled);
        assert_eq!(bob.run(&data(width, 3)).unwrap(), circuit.evaluate(&data(width, 3)));
        assert!(matches!(bob.run(&data(width, 4)), Err(Error::Usage(_))), "no run is left");
        bob.close().unwrap();
        assert_eq!(alice.join().unwrap().unwrap(), 3);
    });
}

#[test]
fn functions_are_run_again_and_ahead_over_sockets() {
    runs_over_sockets::<ElGamal>(&block("multiply", 8), 3500);
    runs_over_sockets::<Small>(&block("add", 8), 200);
    runs_over_sockets::<Bfv>(&block("add", 8), 550);
}

/// What the book lists: ciphertexts of wires that are read, answers, tables, labels.
fn bytes<S: Linear>(table: u64) {
    let (circuit, netlist) = (small(), netlist(&small(), 600));
    let (gates, inputs, outputs) = (netlist.sizes().gates, 3, 2);
    for runs in [1, 2] {
        let (to_bob, to_alice) = Channel::pair();
        thread::scope(|scope| {
            scope.spawn(|| serve::<S>(to_bob, &netlist, runs).unwrap());
            let mut bob = Bob::<S>::connect(to_alice, None).unwrap();
            for run in 0..runs {
                assert_eq!(bob.run(&data(3, run.into())).unwrap(), circuit.evaluate(&data(3, run.into())));
            }
            let counters = bob.close().unwrap();
            let (label, runs) = (S::Labels::BYTES as u64, u64::from(runs));
            let wires = S::ciphertexts((gates + inputs - outputs) as usize) as u64;
            let whole = gates / S::CHUNK as u64;
            let rest = (gates % S::CHUNK as u64) as usize;
            let answers = whole * S::answers(2 * S::CHUNK) as u64 + S::answers(2 * rest) as u64;
            assert_eq!(counters.bytes_received, 72 + runs * (answers + label * outputs));
            let run = 1 + label * inputs + wires + table * gates;
            assert_eq!(counters.bytes_sent, 72 + S::KEY as u64 + runs * run + 1);
        });
    }
}

#[test]
fn bytes_are_those_that_are_listed() {
    bytes::<ElGamal>(130);
    bytes::<Small>(66);
    bytes::<Bfv>(48);
    assert_eq!((Bfv::ciphertexts(1), Bfv::answers(16)), (13_824, 7_168));
    assert_eq!((ElGamal::ciphertexts(1), ElGamal::answers(2)), (64, 128));
}

#[test]
fn a_run_made_ahead_and_dropped_ends_the_session() {
    let (to_bob, to_alice) = Channel::pair();
    let netlist = netlist(&small(), 0);
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve::<ElGamal>(to_bob, &netlist, 3));
        let mut bob = Bob::<ElGamal>::connect(to_alice, 3).unwrap();
        drop(bob.prepare().unwrap());
        assert!(matches!(bob.run(&[true; 3]), Err(Error::Dead(_))));
        assert!(matches!(alice.join().unwrap().unwrap_err(), Error::Aborted(_)));
    });
}

#[test]
fn parties_of_different_methods_both_hear_it() {
    let (to_bob, to_alice) = Channel::pair();
    let netlist = netlist(&small(), 0);
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve::<ElGamal>(to_bob, &netlist, 1).unwrap_err());
        let bob = Bob::<Small>::connect(to_alice, 3).err().unwrap();
        for (why, wanted) in [(bob, ["djn", "elgamal"]), (alice.join().unwrap(), ["elgamal", "djn"])] {
            match why {
                Error::Incompatible { what: "the method", ours, theirs, .. } => assert_eq!([&*ours, &*theirs], wanted),
                why => panic!("{why}"),
            }
        }
    });
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let alice = scope.spawn(|| serve::<ElGamal>(to_bob, &netlist, 1).unwrap_err());
        let bob = pfe::Bob::connect(to_alice, 3).err().unwrap();
        assert!(matches!(bob, Error::Incompatible { what: "the method", .. }), "{bob}");
        assert!(matches!(alice.join().unwrap(), Error::Incompatible { what: "the method", .. }));
    });
}

/// A first message of a party played by hand.
fn hello(method: u8, role: u8, [inputs, outputs, gates, runs]: [u32; 4]) -> Vec<u8> {
    let mut bytes = b"duo-priv\x01\0".to_vec();
    bytes.extend([method, role]);
    bytes.extend(inputs.to_le_bytes());
    bytes.extend(outputs.to_le_bytes());
    bytes.extend(u64::from(gates).to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend(runs.to_le_bytes());
    bytes.resize(72, 0);
    bytes
}

/// What is heard until the other side ends it.
fn heard(mut channel: Channel) -> String {
    loop {
        if let Err(why) = channel.recv(1) {
            return why.to_string();
        }
    }
}

/// A point, as some honest party might send it.
const BASE: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f, 0x58, 0xe3, 0x0b,
    0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// One who plays Bob: the other side says that he is to blame, and he hears no more than that it failed.
fn cheating_bob<S: Linear>(method: u8, sent: &[u8]) {
    let (to_bob, mut to_alice) = Channel::pair();
    let netlist = netlist(&small(), 0);
    thread::scope(|scope| {
        let alice = scope.spawn(|| {
            let mut alice = Alice::<S>::connect(to_bob, &netlist, 5).unwrap();
            let why = alice.serve().unwrap_err();
            assert!(matches!(alice.serve(), Err(Error::Dead(_))));
            why
        });
        to_alice.send(&hello(method, 1, [3, 0, 0, 0])).unwrap();
        to_alice.send(sent).unwrap();
        to_alice.flush().unwrap();
        to_alice.recv(72).unwrap();
        let heard = heard(to_alice);
        let why = alice.join().unwrap();
        assert!(matches!(why, Error::Peer(_)), "{why}");
        assert!(heard.contains("it failed") && !heard.contains("gate") && !heard.contains("point"), "{heard}");
    });
}

#[test]
fn a_cheating_bob_hears_that_it_failed_and_no_more() {
    let gates = netlist(&small(), 0).sizes().gates as usize;
    let points = |key: [u8; 32], label: [u8; 32], wire: [u8; 32], tables: u8| {
        let wires = wire.repeat(2 * (gates + 3 - 2));
        [&[1][..], &key, &label.repeat(3), &wires, &vec![tables; 130 * gates]].concat()
    };
    let (none, high) = ([0; 32], [0xff; 32]);
    cheating_bob::<ElGamal>(2, &[9]);
    for bad in [none, high] {
        cheating_bob::<ElGamal>(2, &points(bad, BASE, BASE, 0));
        cheating_bob::<ElGamal>(2, &points(BASE, bad, BASE, 0));
        cheating_bob::<ElGamal>(2, &points(BASE, BASE, bad, 0));
    }
    // Rows that are no points.
    cheating_bob::<ElGamal>(2, &points(BASE, BASE, BASE, 0x5a));
    // Residues of BFV that are too large, in a key and in ciphertexts; ones that are not, and tables of nothing.
    let residues = |key: u8, wire: u8| {
        let wires = vec![wire; Bfv::ciphertexts(gates + 1)];
        [&[1][..], &vec![key; Bfv::KEY], &[7; 48], &wires, &vec![0x5a; 48 * gates]].concat()
    };
    cheating_bob::<Bfv>(3, &residues(0xff, 0));
    cheating_bob::<Bfv>(3, &residues(0, 0xff));
    // A key of Paillier's system of another length, and ciphertexts that are 0, or too large.
    let secret = Small::generate(&mut kernels::generator::Generator::from_os().unwrap()).unwrap();
    let key = Small::key(&secret);
    let mut longer = key.clone();
    longer[8] ^= 1;
    cheating_bob::<Small>(4, &[&[1][..], &longer].concat());
    for bad in [0, 0xff] {
        let wires = vec![bad; 128 * (gates + 1)];
        cheating_bob::<Small>(4, &[&[1][..], &key, &[7; 48], &wires].concat());
    }
}

/// One who plays Alice: gets what a Bob sends, and answers by hand.
fn cheating_alice<S: Linear>(method: u8, answers: &[u8], outputs: &[u8]) {
    let (gates, outputs_of) = (5, 2);
    let (mut to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let bob = scope.spawn(|| {
            let mut bob = Bob::<S>::connect(to_alice, 3).unwrap();
            let why = bob.run(&[true, false, true]).unwrap_err();
            assert!(matches!(bob.run(&[true; 3]), Err(Error::Dead(_))));
            why
        });
        to_bob.send(&hello(method, 0, [3, outputs_of, gates, 5])).unwrap();
        to_bob.recv(72 + 1 + S::KEY + 3 * S::Labels::BYTES + S::ciphertexts(6)).unwrap();
        to_bob.send(answers).unwrap();
        to_bob.send(outputs).unwrap();
        to_bob.flush().unwrap();
        let heard = heard(to_bob);
        let why = bob.join().unwrap();
        assert!(matches!(why, Error::Peer(_)), "{why}");
        assert!(heard.contains("it failed") && !heard.contains("gate"), "{heard}");
    });
}

#[test]
fn a_cheating_alice_hears_that_it_failed_and_no_more() {
    for bad in [[0; 32], [0xff; 32]] {
        cheating_alice::<ElGamal>(2, &bad.repeat(20), &[]);
    }
    // Answers that are some ciphertexts, and labels of outputs that are neither.
    cheating_alice::<ElGamal>(2, &BASE.repeat(20), &BASE.repeat(2));
    cheating_alice::<ElGamal>(2, &BASE.repeat(20), &[0; 64]);
    for bad in [0, 0xff] {
        cheating_alice::<Small>(4, &vec![bad; 4 * 128], &[]);
    }
    // Residues of BFV that are too large, and labels of outputs that are neither.
    cheating_alice::<Bfv>(3, &vec![0xff; Bfv::answers(10)], &[]);
    cheating_alice::<Bfv>(3, &vec![0; Bfv::answers(10)], &[0; 32]);
    // A plaintext that is longer than its slots: any number is some ciphertext, and few decrypt to short ones.
    cheating_alice::<Small>(4, &[vec![3; 127], vec![0]].concat().repeat(4), &[]);
}

/// Numbers of runs that no peer takes.
#[test]
fn runs_that_cannot_be_are_refused_before_anything_is_sent() {
    let netlist = netlist(&small(), 0);
    let mut wired = Wired::new(thresholds(&small()).unwrap(), Padding::default()).unwrap();
    for runs in [0, MOST_RUNS + 1, u32::MAX] {
        let refused = |connect: &mut dyn FnMut(Channel) -> Option<Error>| {
            let (to_bob, mut to_alice) = Channel::pair();
            let why = connect(to_bob).unwrap();
            assert!(matches!(&why, Error::Usage(why) if why.contains(&format!("{runs} runs"))), "{why}");
            assert!(to_alice.recv(1).is_err());
            assert_eq!(to_alice.counters().bytes_received, 0, "{runs}");
        };
        refused(&mut |channel| pfe::Alice::connect(channel, &mut wired, runs).err());
        refused(&mut |channel| Alice::<ElGamal>::connect(channel, &netlist, runs).err());
        refused(&mut |channel| Alice::<Bfv>::connect(channel, &netlist, runs).err());
    }
}

#[test]
fn functions_that_cannot_be_are_refused() {
    let (mut to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let bob = scope.spawn(|| Bob::<ElGamal>::connect(to_alice, 3).err().unwrap());
        to_bob.send(&hello(2, 0, [3, 6, 5, 1])).unwrap();
        to_bob.flush().unwrap();
        assert!(matches!(bob.join().unwrap(), Error::Peer(why) if why.contains("more outputs than gates")));
    });
}

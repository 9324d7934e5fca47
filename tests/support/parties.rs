//! Two parties in one test: their channels, their inputs, and what each must get.
#![allow(dead_code)] // each test file uses its part

use super::programs::Dice;
use circuit::program::reference::Table;
use circuit::program::{Binding, Owner, Recipient};
use circuit::{BitMatrix, Party};
use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::{Garbling, Inputs, Options, Outputs, Scheme, Session, Timing};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

/// The inputs of each party: its own, the public ones, and its share of shared ones.
pub fn split(binding: &Binding, tables: &BTreeMap<String, Table>, dice: &mut Dice) -> [Inputs; 2] {
    let mut inputs = [Inputs::new(), Inputs::new()];
    for port in binding.inputs() {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &tables[&port.name]);
        match port.who {
            Owner::Party(party) => inputs[party as usize].set(&port.name, value),
            Owner::Public => inputs.iter_mut().for_each(|inputs| inputs.set(&port.name, value.clone())),
            Owner::Shared => {
                let mask: Table = tables[&port.name].iter().map(|lane| dice.bits(lane.len())).collect();
                let mask = BitMatrix::from_lanes(port.ty.width as usize, &mask);
                inputs[0].set(&port.name, xor(&value, &mask));
                inputs[1].set(&port.name, mask);
            }
        }
    }
    inputs
}

pub fn xor(a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    let words = a.words().iter().zip(b.words()).map(|(a, b)| a ^ b).collect();
    BitMatrix::from_words(a.rows(), a.lanes(), words).unwrap()
}

/// Checks what both parties got: everybody exactly his own, and shares that add up.
pub fn check(binding: &Binding, expected: &BTreeMap<String, Table>, got: [&Outputs; 2], what: &str) {
    for port in binding.outputs() {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &expected[&port.name]);
        let [alice, bob] = got.map(|outputs| outputs.get(&port.name));
        let right = match port.who {
            Recipient::Party(Party::Alice) => alice == Some(&value) && bob.is_none(),
            Recipient::Party(Party::Bob) => bob == Some(&value) && alice.is_none(),
            Recipient::Both => alice == Some(&value) && bob == Some(&value),
            Recipient::Shared => {
                matches!((alice, bob), (Some(a), Some(b)) if xor(a, b) == value)
            }
        };
        assert!(right, "{what}: the output '{}' is wrong", port.name);
    }
}

/// Runs what each party does in a thread of its own.
pub fn both<T: Send>((alice, bob): (Channel, Channel), run: impl Fn(Session) -> duologue::Result<T> + Sync) -> [T; 2] {
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(Session::connect(bob, Party::Bob)?));
        let alice = Session::connect(alice, Party::Alice).and_then(&run);
        let bob = bob.join().expect("no panic");
        [alice.expect("alice"), bob.expect("bob")]
    })
}

/// All protocols, either garbler, both timings where there are two.
pub fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for timing in [Timing::Ahead, Timing::Streamed] {
        for garbler in [Party::Alice, Party::Bob] {
            all.push(Options::new(Scheme::Yao).garbler(garbler).timing(timing).tile(64));
        }
        let garbling = Garbling::ThreeHalves;
        all.push(Options::new(Scheme::Yao).garbling(garbling).timing(timing).tile(64));
    }
    all.extend([2, 3].map(|strands| Options::new(Scheme::Yao).timing(Timing::Streamed).tile(64).strands(strands)));
    // Masked GMW cannot be streamed; whatever is added to the list of protocols is tried as it is by default.
    all.push(Options::new(Scheme::Gmw).timing(Timing::Streamed).tile(64));
    // What is cut, and where, depends on the lanes: some of these cut any program of several steps.
    for (share_from, garbler, timing) in [
        (2, Party::Alice, Timing::Ahead),
        (30, Party::Bob, Timing::Streamed),
        (300, Party::Alice, Timing::Streamed),
        (5_000, Party::Bob, Timing::Ahead),
    ] {
        all.push(Options::new(Scheme::Mixed).share_from(share_from).garbler(garbler).timing(timing).tile(64));
    }
    let others = Scheme::ALL.into_iter().filter(|&scheme| scheme != Scheme::Yao);
    all.extend(others.map(|scheme| Options::new(scheme).tile(64)));
    all
}

/// Two ends over TCP on this machine.
pub fn tcp(limits: Limits) -> (Channel, Channel) {
    meet(Security::PlaintextForBenchmarks, Security::PlaintextForBenchmarks, limits)
}

/// Two ends over TLS on this machine, each with the other's key pinned.
pub fn tls(limits: Limits) -> (Channel, Channel) {
    tls_of(&identities(), limits)
}

/// Two parties' keys.
pub fn identities() -> [Arc<Identity>; 2] {
    [(); 2].map(|()| Arc::new(Identity::generate().unwrap()))
}

/// Two ends over TLS on this machine, of parties with these keys.
pub fn tls_of([alice, bob]: &[Arc<Identity>; 2], limits: Limits) -> (Channel, Channel) {
    let knowing = |us: &Arc<Identity>, peer: &Identity| Security::Tls { identity: us.clone(), peer: peer.public() };
    meet(knowing(alice, bob), knowing(bob, alice), limits)
}

fn meet(alice: Security, bob: Security, limits: Limits) -> (Channel, Channel) {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let client = scope.spawn(move || Channel::connect(&address, &alice, &limits).unwrap());
        let bob = listener.accept(&bob, &limits).unwrap();
        (client.join().unwrap(), bob)
    })
}

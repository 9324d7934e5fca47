//! Every block of the library, by Yao and by GMW, between two processes over TCP, against the circuit's own gates.
//!
//! The test starts itself again as Bob; both walk the registry in one session.

use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::blocks::registry;
use duologue::circuit::program::{Binding, Owner};
use duologue::circuit::{BitMatrix, Circuit, Party, Program, Simulator};
use duologue::{Inputs, Options, Scheme, Session};
use std::env;
use std::process::Command;

const LANES: u64 = 3;
const PEER: &str = "DUOLOGUE_TEST_PEER";
const PLAINTEXT: Security = Security::PlaintextForBenchmarks;

/// Everything that is built in, at its usual size, for each of its goals.
fn circuits() -> impl Iterator<Item = Circuit> {
    registry().into_iter().flat_map(|block| {
        let build = |&goal| block.circuit(&block.usual(), goal).expect("its usual size");
        block.goals.iter().map(build).collect::<Vec<_>>()
    })
}

/// Bits that both processes know: a multiplicative generator by Knuth, its high bits.
fn values(rows: usize, mut seed: u64) -> BitMatrix {
    let mut bit = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 63 == 1
    };
    let lanes: Vec<Vec<bool>> = (0..LANES).map(|_| (0..rows).map(|_| bit()).collect()).collect();
    BitMatrix::from_lanes(rows, &lanes)
}

fn bind(circuit: &Circuit) -> Binding {
    let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob)];
    Program::of_circuit(circuit, &owners).bind(&[("lanes", LANES)]).expect("a program of one map")
}

/// What a party supplies, cut from the rows of all inputs.
fn supplies(binding: &Binding, party: Party, all: &BitMatrix) -> Inputs {
    let mut first = 0;
    binding.inputs().iter().fold(Inputs::new(), |inputs, port| {
        let rows = first..first + port.ty.width as usize;
        first = rows.end;
        if port.who == party.into() { inputs.with(&port.name, cut(all, rows)) } else { inputs }
    })
}

fn cut(all: &BitMatrix, rows: std::ops::Range<usize>) -> BitMatrix {
    let words = rows.clone().flat_map(|row| all.row(row)).copied().collect();
    BitMatrix::from_words(rows.len(), all.lanes(), words).expect("rows of a matrix")
}

fn walk(channel: Channel, party: Party) -> duologue::Result<usize> {
    let mut session = Session::connect(channel, party)?;
    let mut count = 0;
    for circuit in circuits().filter(|circuit| circuit.input_width() > 0) {
        let (binding, all) = (bind(&circuit), values(circuit.input_width(), count as u64));
        let expected = Simulator::new(&circuit).run(&all);
        for scheme in Scheme::ALL {
            let outcome = session.run(&binding, &Options::new(scheme), &supplies(&binding, party, &all))?;
            let mut first = 0;
            for port in binding.outputs() {
                let rows = first..first + port.ty.width as usize;
                first = rows.end;
                let right = outcome.outputs.get(&port.name) == Some(&cut(&expected, rows));
                assert!(right, "{} by {scheme}: '{}' is wrong", circuit.name(), port.name);
            }
        }
        count += 1;
    }
    session.close()?;
    Ok(count)
}

#[test]
fn every_block_by_both_protocols_between_two_processes() {
    if let Ok(address) = env::var(PEER) {
        walk(Channel::connect(&address, &PLAINTEXT, &Limits::default()).expect("Alice listens"), Party::Bob)
            .expect("Bob");
        return;
    }
    let mut listener = Listener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let name = "every_block::every_block_by_both_protocols_between_two_processes";
    let mut command = Command::new(env::current_exe().expect("this test"));
    let mut bob = command.args(["--exact", name]).env(PEER, address).spawn().expect("a second process");
    let channel = listener.accept(&PLAINTEXT, &Limits::default()).expect("Bob calls");
    let count = walk(channel, Party::Alice).expect("Alice");
    assert!(bob.wait().expect("Bob ends").success());
    assert!(count >= registry().len(), "{count} circuits");
}
